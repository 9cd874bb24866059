//! What has to be done now, and what is coming: a pure function of what is known.

use crate::words::{self, count};
use serde::Serialize;
use zx1_interface::constants::{LEASE_COST_PER_EPOCH, MAX_BATCH_AGE_EPOCHS, MIN_STAKE};
use zx1_protocol::challenge::Clock;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::units::{Epoch, Slot};

/// Slots in an hour, at 400 ms each: only for warnings.
const SLOTS_PER_HOUR: u64 = 9_000;
/// Hours before the end of a challenge's window from which an unanswered one is an alarm.
const ALARM_HOURS: u64 = 12;

/// What the chain and the agent's files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The chain's epoch.
    pub(crate) epoch: Epoch,
    /// The chain's slot.
    pub(crate) slot: Slot,
    /// Last epoch that is paid; None without a lease.
    pub(crate) paid_through: Option<Epoch>,
    /// The stake in micro-USDC; None without one.
    pub(crate) stake: Option<u64>,
    /// Whether an unlock of the stake is queued: the owner is leaving.
    pub(crate) unlocking: bool,
    /// The wallet's USDC in micro-USDC.
    pub(crate) usdc: u64,
    /// The wallet's lamports.
    pub(crate) lamports: u64,
    /// Epoch of the last batch on chain.
    pub(crate) last_batch: Option<Epoch>,
    /// A batch that was signed here, is not on chain, and still may be submitted.
    pub(crate) signed: Option<Epoch>,
    /// The first epoch with entries that no batch on chain covers.
    pub(crate) first_unbatched: Option<Epoch>,
    /// Batches on chain whose data the place does not serve although it is here.
    pub(crate) not_served: Vec<Epoch>,
    /// Challenges against the agent.
    pub(crate) challenges: Vec<Challenge>,
    /// Own challenges against others, by address.
    pub(crate) own_challenges: Vec<Challenge>,
    /// Batches on chain whose rent this wallet paid.
    pub(crate) batches: Vec<Batch>,
    /// Micro-USDC that the keeper spent today.
    pub(crate) spent_usdc: u64,
    /// Lamports by which the wallet shrank today.
    pub(crate) spent_lamports: u64,
}

/// A challenge that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Challenge {
    /// Its address in base58.
    pub(crate) address: String,
    /// When it was submitted.
    pub(crate) submitted: Slot,
    /// Whether the record was shown.
    pub(crate) answered: bool,
    /// Whether it is settled.
    pub(crate) resolved: bool,
}

/// A batch that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Its epoch.
    pub(crate) epoch: Epoch,
    /// When it was submitted.
    pub(crate) submitted: Slot,
}

/// What the owner allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Most micro-USDC a day.
    pub(crate) cap_usdc: u64,
    /// Most lamports a day.
    pub(crate) cap_lamports: u64,
    /// Epochs that the lease is kept paid beyond the present one.
    pub(crate) ahead: u64,
    /// Whether a place for batch data is known.
    pub(crate) uploads: bool,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Action {
    /// Show the record that a challenge asks for.
    Answer { challenge: String },
    /// Pay the lease.
    PayLease { epochs: u64, cost_micro_usdc: u64 },
    /// Build and sign if need be, submit, upload.
    SubmitBatch { epoch: u64 },
    /// Upload the data of a batch that is on chain.
    Upload { epoch: u64 },
    /// Settle a challenge.
    Resolve { challenge: String },
    /// Get a settled challenge's rent back.
    CloseChallenge { challenge: String },
    /// Get a batch's rent back.
    CloseBatch { epoch: u64 },
}

impl Action {
    /// For people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Answer { challenge } => format!("answer {challenge}"),
            Self::PayLease { epochs, cost_micro_usdc } => {
                format!("pay {} of lease, {}", days(*epochs), crate::amount::usdc(*cost_micro_usdc))
            }
            Self::SubmitBatch { epoch } => format!("submit the batch of epoch {epoch}"),
            Self::Upload { epoch } => format!("upload the data of epoch {epoch}"),
            Self::Resolve { challenge } => format!("resolve {challenge}"),
            Self::CloseChallenge { challenge } => format!("close {challenge}"),
            Self::CloseBatch { epoch } => format!("close the batch of epoch {epoch}"),
        }
    }

    /// Whether waiting a day costs more than doing it: such work ignores the cap on fees.
    pub(crate) fn is_urgent(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::PayLease { .. } | Self::SubmitBatch { .. })
    }
}

/// Something that the owner should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Warning {
    /// Whether money is lost if nobody acts.
    pub(crate) alarm: bool,
    /// A full sentence.
    pub(crate) text: String,
    /// The command that helps.
    pub(crate) next: String,
}

/// Actions in the order in which they are to be done, and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Plan {
    /// What to do.
    pub(crate) actions: Vec<Action>,
    /// What to say.
    pub(crate) warnings: Vec<Warning>,
}

impl Plan {
    fn warn(&mut self, alarm: bool, text: impl Into<String>, next: impl Into<String>) {
        self.warnings.push(Warning { alarm, text: text.into(), next: next.into() });
    }
}

fn days(number: u64) -> String {
    count(number, "day", "days")
}

/// What has to be done. Answers come first: they have the deadline that costs the whole stake. Then the lease,
/// which a batch needs alive, then batches, then what only brings money back.
pub(crate) fn plan(facts: &Facts, policy: &Policy) -> Plan {
    let mut plan = Plan::default();
    challenges(facts, &mut plan);
    let alive = lease(facts, policy, &mut plan);
    batch(facts, policy, alive, &mut plan);
    settle(facts, &mut plan);
    fees(facts, policy, &mut plan);
    plan
}

fn challenges(facts: &Facts, plan: &mut Plan) {
    for challenge in facts.challenges.iter().filter(|it| !it.answered && !it.resolved) {
        let clock = Clock { submitted: challenge.submitted };
        if !clock.is_open(facts.slot) {
            continue;
        }
        let left = clock.deadline().0.saturating_sub(facts.slot.0);
        let hours = left / SLOTS_PER_HOUR;
        plan.actions.push(Action::Answer { challenge: challenge.address.clone() });
        plan.warn(
            hours < ALARM_HOURS,
            format!(
                "{} challenges a batch of yours. Unanswered for {} more ({}), it costs the whole stake.",
                challenge.address,
                count(left, "slot", "slots"),
                words::slots(left),
            ),
            format!("zx1 challenge answer {}", challenge.address),
        );
    }
}

/// Plans the lease; returns whether it is alive once that is done.
fn lease(facts: &Facts, policy: &Policy, plan: &mut Plan) -> bool {
    if facts.unlocking {
        plan.warn(false, "An unlock of the stake is queued, so the lease is left to die.", "zx1 stake show");
        return false;
    }
    let state = facts.paid_through.map(|paid_through| Lease { paid_through }.state(facts.epoch));
    let Some(paid) = facts.paid_through else {
        plan.warn(false, "The agent never paid a lease, and the keeper does not begin one.", "zx1 lease pay");
        return false;
    };
    if state == Some(LeaseState::Deactivated) {
        plan.warn(
            true,
            "The lease is deactivated. The keeper does not bring it back by itself: it costs four epochs.",
            "zx1 lease pay",
        );
        return false;
    }
    let wanted = facts.epoch.0.saturating_add(policy.ahead);
    let missing = wanted.saturating_sub(paid.0);
    let behind = facts.epoch.0.saturating_sub(paid.0);
    if behind > 0 {
        let left = zx1_interface::constants::GRACE_PERIOD_EPOCHS.saturating_sub(behind);
        plan.warn(
            left == 0,
            match left {
                0 => format!("The lease is {} behind. Tomorrow the agent is deactivated.", days(behind)),
                left => format!(
                    "The lease is {} behind; in {} the agent is deactivated.",
                    days(behind),
                    days(left.saturating_add(1))
                ),
            },
            "zx1 lease pay",
        );
    }
    if missing == 0 {
        return true;
    }
    let allowed = policy.cap_usdc.saturating_sub(facts.spent_usdc) / LEASE_COST_PER_EPOCH;
    let affordable = facts.usdc / LEASE_COST_PER_EPOCH;
    let epochs = missing.min(allowed).min(affordable);
    if epochs > 0 {
        let cost_micro_usdc = epochs.saturating_mul(LEASE_COST_PER_EPOCH);
        plan.actions.push(Action::PayLease { epochs, cost_micro_usdc });
    }
    if epochs < missing && affordable < missing.min(allowed) {
        plan.warn(
            behind > 0,
            format!("The wallet has {}, too little for the lease.", crate::amount::usdc(facts.usdc)),
            "send USDC to the wallet that zx1 status names",
        );
    } else if epochs < missing {
        let spent = crate::amount::usdc(facts.spent_usdc);
        let cap = crate::amount::usdc(policy.cap_usdc);
        plan.warn(
            behind > epochs,
            format!(
                "The cap of {cap} a day leaves {} of lease unpaid ({spent} spent today).",
                days(missing.saturating_sub(epochs))
            ),
            "raise --cap",
        );
    }
    // Even one epoch paid keeps a lease in grace alive.
    true
}

fn batch(facts: &Facts, policy: &Policy, alive: bool, plan: &mut Plan) {
    let last_over = Epoch(facts.epoch.0.saturating_sub(1));
    let oldest = Epoch(facts.epoch.0.saturating_sub(MAX_BATCH_AGE_EPOCHS));
    let covered = facts.last_batch.is_some_and(|last| last >= last_over);
    let epoch = facts.signed.unwrap_or(last_over);
    if !covered && facts.stake.is_some() {
        let blocked = if !alive {
            Some("the lease is not alive")
        } else if facts.stake.is_none_or(|stake| stake < MIN_STAKE) {
            Some("the stake is below 10 USDC")
        } else {
            None
        };
        match blocked {
            None => plan.actions.push(Action::SubmitBatch { epoch: epoch.0 }),
            Some(why) => {
                let losing = facts.first_unbatched.is_some_and(|first| first <= oldest);
                plan.warn(losing, format!("No batch can be submitted: {why}."), "zx1 doctor");
            }
        }
    }
    // The first batch covers its own epoch only; messages before it are accounted for by none.
    if let Some(first) = facts.first_unbatched.filter(|first| *first < oldest && facts.last_batch.is_none()) {
        let text = format!("Messages of epoch {} are too old for any batch.", first.0);
        plan.warn(false, text, "zx1 log list");
    }
    if policy.uploads {
        let uploads = facts.not_served.iter().map(|epoch| Action::Upload { epoch: epoch.0 });
        plan.actions.extend(uploads);
    } else {
        plan.warn(
            false,
            "No place for batch data is set, so batches count as withheld.",
            "zx1 config set upload FOLDER_OR_URL",
        );
    }
}

fn settle(facts: &Facts, plan: &mut Plan) {
    let over = |submitted: Slot| Clock { submitted }.is_over(facts.slot);
    for challenge in facts.challenges.iter().chain(&facts.own_challenges) {
        // Whoever lost has no hurry; but an answered one against us holds up closing, and one of ours is
        // money.
        if !challenge.resolved && over(challenge.submitted) {
            plan.actions.push(Action::Resolve { challenge: challenge.address.clone() });
        }
    }
    for challenge in facts.own_challenges.iter().filter(|it| it.resolved) {
        plan.actions.push(Action::CloseChallenge { challenge: challenge.address.clone() });
    }
    let none_open = facts.challenges.iter().all(|challenge| challenge.resolved);
    if none_open {
        let closable = facts.batches.iter().filter(|batch| over(batch.submitted));
        plan.actions.extend(closable.map(|batch| Action::CloseBatch { epoch: batch.epoch.0 }));
    }
}

fn fees(facts: &Facts, policy: &Policy, plan: &mut Plan) {
    if facts.lamports < crate::defaults::LOW_LAMPORTS {
        plan.warn(
            facts.lamports < crate::defaults::LOW_LAMPORTS / 10,
            format!("The wallet has {}, little for fees.", crate::amount::sol(facts.lamports)),
            "send SOL to the wallet that zx1 status names",
        );
    }
    if facts.spent_lamports >= policy.cap_lamports {
        let before = plan.actions.len();
        plan.actions.retain(Action::is_urgent);
        let left_out = before.saturating_sub(plan.actions.len());
        let spent = crate::amount::sol(facts.spent_lamports);
        plan.warn(
            false,
            format!("{spent} went today, which reaches the cap; {left_out} things that can wait do."),
            "raise --fee-cap",
        );
    }
}

#[cfg(test)]
mod tests;
