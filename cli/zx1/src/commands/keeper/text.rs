//! The keeper's actions and warnings in words.

use crate::amount::sol;
use crate::words::{self, count};
use serde::Serialize;
use zx1_operator::keeper::{Action, Concern, Warning};

fn days(number: u64) -> String {
    count(number, "day", "days")
}

/// An action as one line for people.
pub(super) fn shown(action: &Action) -> String {
    match action {
        Action::Answer { challenge } => format!("answer {challenge}"),
        Action::Show { ask } => format!("show the leaf of {ask}"),
        Action::OpenHead => "open the chain of batches".to_owned(),
        Action::SettleAsk { ask } => format!("settle {ask}"),
        Action::PayLease { epochs, cost_micro_usdc } => {
            format!("pay {} of lease, {}", days(*epochs), cost_micro_usdc)
        }
        Action::SubmitBatch { epoch } => format!("submit the batch of epoch {epoch}"),
        Action::Upload { epoch } => format!("upload the data of epoch {epoch}"),
        Action::Resolve { challenge } => format!("resolve {challenge}"),
        Action::CloseChallenge { challenge } => format!("close {challenge}"),
        Action::CloseBatch { epoch } => format!("close the batch of epoch {epoch}"),
    }
}

/// A warning with the command that helps.
#[derive(Serialize)]
pub(super) struct Told {
    pub(super) alarm: bool,
    pub(super) text: String,
    pub(super) next: String,
}

impl Told {
    pub(super) fn of(warning: &Warning) -> Self {
        let (text, next) = words(&warning.what);
        Self { alarm: warning.alarm, text, next }
    }
}

fn words(concern: &Concern) -> (String, String) {
    let (text, next) = match concern {
        Concern::Challenged { challenge, slots } => {
            let text = format!(
                "{challenge} challenges one of your batches. If it is not answered within {} ({}), the whole stake is lost.",
                count(*slots, "slot", "slots"),
                words::slots(*slots),
            );
            return (text, format!("zx1 challenge answer {challenge}"));
        }
        Concern::Unanswerable { challenge } => {
            let text = format!(
                "{challenge} challenges one of your batches, and nothing answers it: two of its bids contradict each other. The whole stake is lost."
            );
            return (text, format!("zx1 inspect account {challenge}"));
        }
        Concern::Asked { ask, slots } => {
            let text = format!(
                "{ask} asks for a leaf of one of your batches. If it is not shown within {} ({}), the batch counts for nothing, and the stake pays a fine.",
                count(*slots, "slot", "slots"),
                words::slots(*slots),
            );
            return (text, format!("zx1 ask show {ask}"));
        }
        Concern::CannotPay { why } => {
            let text = format!("The keeper's key cannot pay the lease: {why}.");
            return (text, "zx1 keys list; or have the owner run zx1 lease pay".to_owned());
        }
        Concern::CannotBatch { why } => {
            let text = format!("The keeper's key cannot sign batches: {why}.");
            return (text, "zx1 keys add FILE --scopes pay,batch".to_owned());
        }
        Concern::BatchNeedsStake { min_micro_usdc } => {
            let text = format!("No batch can be submitted: the stake is below {min_micro_usdc}.");
            return (text, "zx1 doctor".to_owned());
        }
        Concern::EraEnded => (
            "The era has ended, so no batch can be submitted until a stake is locked in the next one."
                .to_owned(),
            "zx1 doctor",
        ),
        Concern::EraChallenged => (
            "No batch can be submitted while a challenge against the era is open.".to_owned(),
            "zx1 challenge list",
        ),
        Concern::Leaving => {
            ("An unlock of the stake is queued, so the lease is not paid.".to_owned(), "zx1 stake show")
        }
        Concern::NoLease => {
            ("The agent has no lease, and the keeper does not start one.".to_owned(), "zx1 lease pay")
        }
        Concern::Deactivated => (
            "The lease is deactivated. The keeper does not reactivate it, which costs four epochs."
                .to_owned(),
            "zx1 lease pay",
        ),
        Concern::LeaseBehind { days: behind, left: 0 } => (
            format!("The lease is {} behind. The agent will be deactivated tomorrow.", days(*behind)),
            "zx1 lease pay",
        ),
        Concern::LeaseBehind { days: behind, left } => (
            format!(
                "The lease is {} behind. The agent will be deactivated in {}.",
                days(*behind),
                days(left.saturating_add(1))
            ),
            "zx1 lease pay",
        ),
        Concern::LittleUsdc { micro_usdc } => (
            format!("The wallet has {}, which is not enough for the lease.", micro_usdc),
            "send USDC to the wallet shown by zx1 status",
        ),
        Concern::Capped { cap_micro_usdc, spent_micro_usdc, days: unpaid } => (
            format!(
                "The cap of {} per day leaves {} of lease unpaid ({} spent today).",
                cap_micro_usdc,
                days(*unpaid),
                spent_micro_usdc
            ),
            "raise --cap",
        ),
        Concern::BatchNeedsLease => {
            ("No batch can be submitted: the lease is not active.".to_owned(), "zx1 doctor")
        }
        Concern::TooOld(epoch) => {
            (format!("Messages of epoch {} are too old for any batch.", epoch.0), "zx1 log list")
        }
        Concern::NoPlace => (
            "No place for batch data is configured, so batches count as withheld.".to_owned(),
            "zx1 config set upload FOLDER_OR_URL",
        ),
        Concern::LittleSol { lamports } => (
            format!("The wallet has {}, which is low for fees.", sol(*lamports)),
            "send SOL to the wallet shown by zx1 status",
        ),
        Concern::FeesCapped { spent_lamports, left_out } => (
            format!(
                "{} was spent today, which reaches the fee cap; {left_out} actions that can wait are postponed.",
                sol(*spent_lamports)
            ),
            "raise --fee-cap",
        ),
    };
    (text, next.to_owned())
}
