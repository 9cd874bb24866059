//! One call for each thing that a party says.

use zx1_market::chain::{Common, Data, Side};
use zx1_market::contract::Failure;
use zx1_market::money::Court;
use zx1_market::wire::{MessageKind, ReviewAction};
use zx1_market::{Address, ContractId, Millis, Raw};

use super::error::{ClientError, Result};
use super::{Acted, Market, View};
use zx1_scrub::neutral::one_line;

/// Short forms of [`Market::act`].
impl Market {
    /// The contract's own side, for entries that name it.
    async fn sided(&self, id: ContractId, data: impl FnOnce(Side) -> Data) -> Result<Acted> {
        let view = self.view(id).await?;
        let Some(side) = view.side() else { return Err(ClientError::NotWhole { id }) };
        self.act_on(&view, data(side), Common::default()).await
    }

    /// Take a contract.
    pub async fn accept(&self, id: ContractId) -> Result<Acted> {
        self.act(id, Data::Accept { agent: self.id() }).await
    }

    /// Give a contract back before accepting it.
    pub async fn decline(&self, id: ContractId, reason: &str) -> Result<Acted> {
        self.act(id, Data::Decline { reason: words(reason) }).await
    }

    /// Ask for the output of a read-only command.
    pub async fn investigate(&self, id: ContractId, command: &str) -> Result<Acted> {
        self.act(id, Data::Investigate { command: command.to_owned() }).await
    }

    /// Answer an investigation. The output is scrubbed already.
    pub async fn result(
        &self,
        id: ContractId,
        command: &str,
        output: String,
        exit_code: Option<i64>,
        refused: bool,
    ) -> Result<Acted> {
        self.act(id, Data::Result { command: command.to_owned(), output, exit_code, refused }).await
    }

    /// Propose a fix.
    pub async fn fix(
        &self,
        id: ContractId,
        fix: String,
        explanation: String,
        corrected_command: Option<String>,
    ) -> Result<Acted> {
        self.act(id, Data::Fix { fix, explanation, corrected_command }).await
    }

    /// Say whether a fix worked. The output is scrubbed already.
    pub async fn verify(
        &self,
        id: ContractId,
        success: bool,
        explanation: String,
        exit_code: Option<i64>,
        output: String,
    ) -> Result<Acted> {
        self.act(id, Data::Verify { success, explanation, exit_code, output, failure: None }).await
    }

    /// Say that a fix does not work, and why, in words. Exit code and output only when a person has seen them, or from a
    /// second run that the failure names.
    pub async fn verify_failed(
        &self,
        id: ContractId,
        failure: Failure,
        explanation: String,
        exit_code: Option<i64>,
        output: String,
    ) -> Result<Acted> {
        let failure = Some(failure);
        self.act(id, Data::Verify { success: false, explanation, exit_code, output, failure }).await
    }

    /// Act on a fix that waits for review.
    pub async fn review(&self, id: ContractId, action: ReviewAction, argument: &str) -> Result<Acted> {
        let text = words(argument);
        let data = match action {
            ReviewAction::Accept => Data::ReviewAccept { explanation: text },
            ReviewAction::Reject => Data::ReviewReject { reason: text, failure: None },
            ReviewAction::Dispute => Data::DisputeFiled { argument: text, side: Side::Principal },
        };
        self.act(id, data).await
    }

    /// Reject a fix that waits for review, and say why in words.
    pub async fn review_failed(&self, id: ContractId, failure: Failure, reason: &str) -> Result<Acted> {
        self.act(id, Data::ReviewReject { reason: words(reason), failure: Some(failure) }).await
    }

    /// File a dispute.
    pub async fn dispute(&self, id: ContractId, argument: &str) -> Result<Acted> {
        let argument = words(argument);
        self.sided(id, |side| Data::DisputeFiled { argument, side }).await
    }

    /// Answer a dispute or an appeal.
    pub async fn respond(&self, id: ContractId, argument: &str) -> Result<Acted> {
        let argument = words(argument);
        self.sided(id, |side| Data::DisputeResponse { argument, side }).await
    }

    /// Call the next court.
    pub async fn appeal(&self, id: ContractId, argument: &str) -> Result<Acted> {
        let argument = words(argument);
        self.sided(id, |side| Data::Appeal { argument, side }).await
    }

    /// Give up an appeal or an objection.
    pub async fn waive(&self, id: ContractId) -> Result<Acted> {
        self.sided(id, |side| Data::Waive { side }).await
    }

    /// Send a message to the other side.
    pub async fn chat(&self, id: ContractId, kind: MessageKind, message: &str) -> Result<Acted> {
        let message = words(message);
        let data = match kind {
            MessageKind::Ask => Data::Ask { message },
            MessageKind::Answer => Data::Answer { message },
            MessageKind::Message => Data::Message { message },
        };
        self.act(id, data).await
    }

    /// Stop everything (fix.md, "Emergency halt").
    pub async fn halt(&self, id: ContractId, reason: &str) -> Result<Acted> {
        self.act(id, Data::Halt { reason: words(reason) }).await
    }

    /// Take a halt back.
    pub async fn resume(&self, id: ContractId, reason: &str) -> Result<Acted> {
        self.act(id, Data::Resume { reason: words(reason) }).await
    }

    /// Leave in the middle of the work.
    pub async fn back_out(&self, id: ContractId, reason: &str) -> Result<Acted> {
        self.act(id, Data::BackOut { reason: words(reason) }).await
    }

    /// Take back a contract that nobody has taken.
    pub async fn cancel(&self, id: ContractId, reason: &str) -> Result<Acted> {
        self.act(id, Data::Cancel { reason: words(reason) }).await
    }

    /// Name the account that this party's money goes to.
    pub async fn accounts(&self, id: ContractId, payout: Address) -> Result<Acted> {
        self.act(id, Data::Accounts { payout }).await
    }
}

/// An act of a party on a contract that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Take back a contract that no agent has taken.
    Cancel,
    /// Stop all work at once.
    Halt,
    /// Leave in the middle of the work.
    BackOut,
    /// Take the contract to the district court.
    Dispute,
    /// Answer the other side's dispute.
    Respond,
    /// Appeal to the next court.
    Appeal,
    /// Accept a ruling at once, without an appeal.
    Waive,
}

/// What an act may cost who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// A share of the bounty, for leaving after the grace period.
    Share {
        /// Percentage of the bounty.
        percent: u64,
        /// The whole bounty.
        bounty: Raw,
    },
    /// The fee of a court, for whoever loses there.
    Loser {
        /// Court that decides next.
        court: Court,
        /// The court's fee.
        fee: Raw,
    },
}

impl Act {
    /// What it may cost now; `None` where it costs nothing.
    pub fn price(self, view: &View, now: Millis) -> Option<Price> {
        let case = view.case();
        let fees = &case.terms().fees;
        if case.contract().is_free() {
            return None;
        }
        let loser = |court: Court| Some(Price::Loser { court, fee: court.fee(fees) });
        match self {
            // Half to the agent whose fix was read, and the platform's fee.
            Self::BackOut if view.side() == Some(Side::Principal) && case.fix_was_read() => {
                let percent = 50 + u64::from(fees.platform_fee_bp / 100);
                Some(Price::Share { percent, bounty: case.contract().bounty })
            }
            Self::BackOut if case.grace_until().is_none_or(|until| now >= until) => {
                let percent = u64::from(fees.cancel_fee_bp / 100);
                Some(Price::Share { percent, bounty: case.contract().bounty })
            }
            Self::Dispute => loser(Court::District),
            Self::Appeal => loser(case.proceedings()?.court.next()?),
            _ => None,
        }
    }

    /// Sends it. `text` is the reason or the argument, scrubbed already; [`Act::Waive`] has none.
    pub async fn send(self, market: &Market, id: ContractId, text: &str) -> Result<Acted> {
        match self {
            Self::Cancel => market.cancel(id, text).await,
            Self::Halt => market.halt(id, text).await,
            Self::BackOut => market.back_out(id, text).await,
            Self::Dispute => market.dispute(id, text).await,
            Self::Respond => market.respond(id, text).await,
            Self::Appeal => market.appeal(id, text).await,
            Self::Waive => market.waive(id).await,
        }
    }
}

/// A text of a bounded length.
fn words(text: &str) -> String {
    if text.len() <= zx1_market::defaults::MAX_TEXT {
        text.to_owned()
    } else {
        one_line(text, zx1_market::defaults::MAX_TEXT - 8)
    }
}
