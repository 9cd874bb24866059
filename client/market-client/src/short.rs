//! One call for each thing that a party says.

use zx1_market::chain::{Common, Data, Side};
use zx1_market::wire::{MessageKind, ReviewAction};
use zx1_market::{Address, ContractId};

use super::error::{ClientError, Result};
use super::{Acted, Market};
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
        self.act(id, Data::Verify { success, explanation, exit_code, output }).await
    }

    /// Act on a fix that waits for review.
    pub async fn review(&self, id: ContractId, action: ReviewAction, argument: &str) -> Result<Acted> {
        let text = words(argument);
        let data = match action {
            ReviewAction::Accept => Data::ReviewAccept { explanation: text },
            ReviewAction::Reject => Data::ReviewReject { reason: text },
            ReviewAction::Dispute => Data::DisputeFiled { argument: text, side: Side::Principal },
        };
        self.act(id, data).await
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

    /// Say something.
    pub async fn chat(&self, id: ContractId, kind: MessageKind, message: &str) -> Result<Acted> {
        let message = words(message);
        let data = match kind {
            MessageKind::Ask => Data::Ask { message },
            MessageKind::Answer => Data::Answer { message },
            MessageKind::Message => Data::Message { message },
        };
        self.act(id, data).await
    }

    /// Stop everything (spec, "Emergency halt").
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

    /// Say where one's money goes.
    pub async fn accounts(&self, id: ContractId, payout: Address) -> Result<Acted> {
        self.act(id, Data::Accounts { payout }).await
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
