//! What an entry says: one shape for each type, read strictly.

use super::kind::EntryType;
use super::server_data::{
    Absence, CloseReason, DepositData, DisputeMetadata, ReexecutionData, RulingData, is_lower_hex,
};
use crate::canonical::Json;
use crate::contract::Failure;
use crate::defaults::{MAX_COMMAND, MAX_ENVELOPE, MAX_FIX, MAX_OUTPUT, MAX_TEXT, MAX_WORD};
use crate::fields::{Builder, Fields};
use crate::parties::Side;
use crate::terms::Terms;
use crate::{Address, MarketId, PartyId, Reason, Result};

/// Fields that any party's entry may carry beside its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    /// `from`: the author's side. Must be true.
    pub from: Option<Side>,
    /// `on_behalf_of`: the party for whom the server signed. Only with `--compat` (decision E13).
    pub on_behalf_of: Option<PartyId>,
    /// `envelope`: the 0x01 envelope of the same act in lower-case hexadecimal digits (decision G1). Not read
    /// here.
    pub envelope: Option<String>,
}

/// What an entry says. The variants are named as the types are.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // Every field is a field of the wire with the same name, or is explained.
pub enum Data {
    /// `contract` is the whole contract as JSON; [`crate::Contract`] reads it. `payout` is where the principal's
    /// money goes; absent in free mode. `market` is where it is posted.
    Post {
        contract: Json,
        principal: PartyId,
        payout: Option<Address>,
        market: Option<MarketId>,
    },
    Cancel {
        reason: String,
    },
    /// `payout` is where the agent's money goes; absent in free mode.
    Bond {
        agent: PartyId,
        payout: Option<Address>,
    },
    Accept {
        agent: PartyId,
    },
    Decline {
        reason: String,
    },
    Investigate {
        command: String,
    },
    /// `exit_code` when the command ended; `refused` when the principal's client did not run it.
    Result {
        command: String,
        output: String,
        exit_code: Option<i64>,
        refused: bool,
    },
    /// `corrected_command` when the failing command itself was wrong: the verification and a judge's
    /// re-execution run it in place of the contract's. One line; absent on the wire when there is none.
    Fix {
        fix: String,
        explanation: String,
        corrected_command: Option<String>,
    },
    /// `exit_code` and `output` of the verification, when a person has seen them. Of an attempt that failed
    /// unattended only `failure` is posted (decision E17), and output of a second run that saw no more than an
    /// investigation.
    Verify {
        success: bool,
        explanation: String,
        exit_code: Option<i64>,
        output: String,
        failure: Option<Failure>,
    },
    ReviewAccept {
        explanation: String,
    },
    /// `failure` as in [`Data::Verify`].
    ReviewReject {
        reason: String,
        failure: Option<Failure>,
    },
    DisputeFiled {
        argument: String,
        side: Side,
    },
    DisputeResponse {
        argument: String,
        side: Side,
    },
    Appeal {
        argument: String,
        side: Side,
    },
    Waive {
        side: Side,
    },
    Chat {
        message: String,
    },
    Ask {
        message: String,
    },
    Answer {
        message: String,
    },
    Message {
        message: String,
    },
    Halt {
        reason: String,
    },
    Resume {
        reason: String,
    },
    BackOut {
        reason: String,
    },
    Accounts {
        payout: Address,
    },
    /// The envelope is in [`Common`].
    Feedback {},
    /// The principal's deposit is absent in free mode.
    Opened {
        terms: Box<Terms>,
        deposit: Option<DepositData>,
    },
    /// `round` counts agents from 0.
    Bonded {
        round: u32,
        deposit: DepositData,
    },
    AutoDecline {
        reason: String,
    },
    /// `attempt` counts from 1.
    AttemptTimeout {
        attempt: u32,
    },
    AutoFulfill {
        reason: String,
    },
    DisputeMetadata(DisputeMetadata),
    Reexecution(Box<ReexecutionData>),
    Ruling(Box<RulingData>),
    Voided {
        reason: String,
    },
    Resumed(Absence),
    /// `grace`: the agent left for free.
    Reopened {
        round: u32,
        grace: bool,
    },
    Closed {
        reason: CloseReason,
    },
}

fn side(fields: &mut Fields<'_>) -> Result<Side> {
    match Side::from_word(fields.text("side", MAX_WORD)?) {
        Some(side) => Ok(side),
        None => fields.refuse("side", Reason::FieldWord),
    }
}

impl Data {
    /// The type of entry that says this.
    pub fn kind(&self) -> EntryType {
        match self {
            Data::Post { .. } => EntryType::Post,
            Data::Cancel { .. } => EntryType::Cancel,
            Data::Bond { .. } => EntryType::Bond,
            Data::Accept { .. } => EntryType::Accept,
            Data::Decline { .. } => EntryType::Decline,
            Data::Investigate { .. } => EntryType::Investigate,
            Data::Result { .. } => EntryType::Result,
            Data::Fix { .. } => EntryType::Fix,
            Data::Verify { .. } => EntryType::Verify,
            Data::ReviewAccept { .. } => EntryType::ReviewAccept,
            Data::ReviewReject { .. } => EntryType::ReviewReject,
            Data::DisputeFiled { .. } => EntryType::DisputeFiled,
            Data::DisputeResponse { .. } => EntryType::DisputeResponse,
            Data::Appeal { .. } => EntryType::Appeal,
            Data::Waive { .. } => EntryType::Waive,
            Data::Chat { .. } => EntryType::Chat,
            Data::Ask { .. } => EntryType::Ask,
            Data::Answer { .. } => EntryType::Answer,
            Data::Message { .. } => EntryType::Message,
            Data::Halt { .. } => EntryType::Halt,
            Data::Resume { .. } => EntryType::Resume,
            Data::BackOut { .. } => EntryType::BackOut,
            Data::Accounts { .. } => EntryType::Accounts,
            Data::Feedback {} => EntryType::Feedback,
            Data::Opened { .. } => EntryType::Opened,
            Data::Bonded { .. } => EntryType::Bonded,
            Data::AutoDecline { .. } => EntryType::AutoDecline,
            Data::AttemptTimeout { .. } => EntryType::AttemptTimeout,
            Data::AutoFulfill { .. } => EntryType::AutoFulfill,
            Data::DisputeMetadata(_) => EntryType::DisputeMetadata,
            Data::Reexecution(_) => EntryType::Reexecution,
            Data::Ruling(_) => EntryType::Ruling,
            Data::Voided { .. } => EntryType::Voided,
            Data::Resumed(_) => EntryType::Resumed,
            Data::Reopened { .. } => EntryType::Reopened,
            Data::Closed { .. } => EntryType::Closed,
        }
    }

    /// The `data` of an entry.
    pub fn to_json(&self, common: &Common) -> Json {
        let b = Builder::new();
        let b = match self {
            Data::Post { contract, principal, payout, market } => b
                .put("contract", contract.clone())
                .opt("market", market.map(MarketId::to_json))
                .text("principal_pubkey", principal)
                .opt_text("payout_address", *payout),
            Data::Bond { agent, payout } => b.text("agent_pubkey", agent).opt_text("payout_address", *payout),
            Data::Accept { agent } => b.text("agent_pubkey", agent),
            Data::Cancel { reason }
            | Data::Decline { reason }
            | Data::Halt { reason }
            | Data::Resume { reason }
            | Data::BackOut { reason }
            | Data::AutoDecline { reason }
            | Data::AutoFulfill { reason }
            | Data::Voided { reason } => b.put("reason", reason.as_str()),
            Data::Investigate { command } => b.put("command", command.as_str()),
            Data::Result { command, output, exit_code, refused } => b
                .put("command", command.as_str())
                .put("output", output.as_str())
                .opt("exit_code", *exit_code)
                .opt("refused", refused.then_some(true)),
            Data::Fix { fix, explanation, corrected_command } => b
                .put("fix", fix.as_str())
                .put("explanation", explanation.as_str())
                .opt("corrected_command", corrected_command.as_deref()),
            Data::Verify { success, explanation, exit_code, output, failure } => b
                .put("success", *success)
                .put("explanation", explanation.as_str())
                .opt("exit_code", *exit_code)
                .filled("output", output)
                .opt("failure", failure.as_ref().map(Failure::to_json)),
            Data::ReviewAccept { explanation } => b.filled("explanation", explanation),
            Data::ReviewReject { reason, failure } => {
                b.put("reason", reason.as_str()).opt("failure", failure.as_ref().map(Failure::to_json))
            }
            Data::DisputeFiled { argument, side }
            | Data::DisputeResponse { argument, side }
            | Data::Appeal { argument, side } => b.put("argument", argument.as_str()).text("side", side),
            Data::Waive { side } => b.text("side", side),
            Data::Chat { message }
            | Data::Ask { message }
            | Data::Answer { message }
            | Data::Message { message } => b.put("message", message.as_str()),
            Data::Accounts { payout } => b.text("payout_address", payout),
            Data::Feedback {} => b,
            Data::Opened { terms, deposit } => {
                b.put("terms", terms.to_json()).opt("deposit", deposit.map(DepositData::to_json))
            }
            Data::Bonded { round, deposit } => b.put("round", *round).put("deposit", deposit.to_json()),
            Data::AttemptTimeout { attempt } => b.put("attempt", *attempt),
            Data::DisputeMetadata(metadata) => metadata.to_json(),
            Data::Reexecution(data) => data.to_json(),
            Data::Ruling(data) => data.to_json(),
            Data::Resumed(absence) => absence.to_json(),
            Data::Reopened { round, grace } => b.put("round", *round).put("grace", *grace),
            Data::Closed { reason } => b.put("reason", reason.as_str()),
        };
        b.opt_text("from", common.from)
            .opt_text("on_behalf_of", common.on_behalf_of)
            .opt_text("envelope", common.envelope.as_ref())
            .build()
    }

    /// Read the `data` of an entry of this type: nothing missing, nothing else, every text within its bound.
    pub fn read(kind: EntryType, value: &Json) -> Result<(Data, Common)> {
        let mut fields = Fields::of(value, kind.as_str())?;
        let f = &mut fields;
        let data = match kind {
            EntryType::Post => Data::Post {
                contract: f.need("contract")?.clone(),
                principal: f.party("principal_pubkey")?,
                payout: f.opt_address("payout_address")?,
                market: f.opt_object("market")?.map(MarketId::read).transpose()?,
            },
            EntryType::Cancel => Data::Cancel { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::Bond => {
                Data::Bond { agent: f.party("agent_pubkey")?, payout: f.opt_address("payout_address")? }
            }
            EntryType::Accept => Data::Accept { agent: f.party("agent_pubkey")? },
            EntryType::Decline => Data::Decline { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::Investigate => Data::Investigate { command: f.filled("command", MAX_COMMAND)? },
            EntryType::Result => Data::Result {
                command: f.filled("command", MAX_COMMAND)?,
                output: f.text("output", MAX_OUTPUT)?.to_owned(),
                exit_code: f.opt_status("exit_code")?,
                refused: f.flag_or("refused", false)?,
            },
            EntryType::Fix => Data::Fix {
                fix: f.filled("fix", MAX_FIX)?,
                explanation: f.text_or_empty("explanation", MAX_TEXT)?,
                corrected_command: f.opt_line("corrected_command", MAX_COMMAND)?,
            },
            EntryType::Verify => Data::Verify {
                success: f.flag("success")?,
                explanation: f.text_or_empty("explanation", MAX_TEXT)?,
                exit_code: f.opt_status("exit_code")?,
                output: f.text_or_empty("output", MAX_OUTPUT)?,
                failure: f.opt_object("failure")?.map(Failure::read).transpose()?,
            },
            EntryType::ReviewAccept => {
                Data::ReviewAccept { explanation: f.text_or_empty("explanation", MAX_TEXT)? }
            }
            EntryType::ReviewReject => Data::ReviewReject {
                reason: f.text_or_empty("reason", MAX_TEXT)?,
                failure: f.opt_object("failure")?.map(Failure::read).transpose()?,
            },
            EntryType::DisputeFiled => {
                Data::DisputeFiled { argument: f.filled("argument", MAX_TEXT)?, side: side(f)? }
            }
            EntryType::DisputeResponse => {
                Data::DisputeResponse { argument: f.filled("argument", MAX_TEXT)?, side: side(f)? }
            }
            EntryType::Appeal => Data::Appeal { argument: f.filled("argument", MAX_TEXT)?, side: side(f)? },
            EntryType::Waive => Data::Waive { side: side(f)? },
            EntryType::Chat => Data::Chat { message: f.filled("message", MAX_TEXT)? },
            EntryType::Ask => Data::Ask { message: f.filled("message", MAX_TEXT)? },
            EntryType::Answer => Data::Answer { message: f.filled("message", MAX_TEXT)? },
            EntryType::Message => Data::Message { message: f.filled("message", MAX_TEXT)? },
            EntryType::Halt => Data::Halt { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::Resume => Data::Resume { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::BackOut => Data::BackOut { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::Accounts => Data::Accounts { payout: f.address("payout_address")? },
            EntryType::Feedback => Data::Feedback {},
            EntryType::Opened => Data::Opened {
                terms: Box::new(Terms::from_json(f.need("terms")?)?),
                deposit: f.opt_object("deposit")?.map(DepositData::read).transpose()?,
            },
            EntryType::Bonded => {
                Data::Bonded { round: f.small("round")?, deposit: DepositData::read(f.object("deposit")?)? }
            }
            EntryType::AutoDecline => Data::AutoDecline { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::AttemptTimeout => Data::AttemptTimeout { attempt: f.small("attempt")? },
            EntryType::AutoFulfill => Data::AutoFulfill { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::DisputeMetadata => Data::DisputeMetadata(DisputeMetadata::read(f)?),
            EntryType::Reexecution => Data::Reexecution(Box::new(ReexecutionData::read(f)?)),
            EntryType::Ruling => Data::Ruling(Box::new(RulingData::read(f)?)),
            EntryType::Voided => Data::Voided { reason: f.text_or_empty("reason", MAX_TEXT)? },
            EntryType::Resumed => Data::Resumed(Absence::read(f)?),
            EntryType::Reopened => Data::Reopened { round: f.small("round")?, grace: f.flag("grace")? },
            EntryType::Closed => match CloseReason::from_word(f.text("reason", MAX_WORD)?) {
                Some(reason) => Data::Closed { reason },
                None => return f.refuse("reason", Reason::FieldWord),
            },
        };
        let common = if kind.is_server_only() { Common::default() } else { Common::read(f)? };
        if kind == EntryType::Feedback && common.envelope.is_none() {
            return fields.refuse("envelope", Reason::FieldMissing);
        }
        fields.done()?;
        Ok((data, common))
    }
}

impl Common {
    fn read(fields: &mut Fields<'_>) -> Result<Common> {
        let from = match fields.opt_text("from", MAX_WORD)? {
            None => None,
            Some(word) => match Side::from_word(word) {
                Some(side) => Some(side),
                None => return fields.refuse("from", Reason::FieldWord),
            },
        };
        let envelope = fields.opt_text("envelope", MAX_ENVELOPE)?;
        if envelope.is_some_and(|text| !is_lower_hex(text)) {
            return fields.refuse("envelope", Reason::FieldNotHex);
        }
        Ok(Common {
            from,
            on_behalf_of: fields.opt_party("on_behalf_of")?,
            envelope: envelope.map(str::to_owned),
        })
    }

    /// The author's side, for [`Data::to_json`].
    pub fn from(side: Side) -> Common {
        Common { from: Some(side), ..Common::default() }
    }
}
