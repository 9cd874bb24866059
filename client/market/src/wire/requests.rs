//! Bodies of requests.

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::chain::{Data, Entry, ReexecutionData, RulingData, Side};
use crate::{Address, PartyId, Reason, Refusal, Result};

/// POST /contracts. The contract may be left out when the entry is there: it holds it, and input files need
/// not be sent twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PostRequest {
    /// The whole contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<Json>,
    /// Who posts it.
    pub principal_pubkey: PartyId,
    /// Where the principal's money goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payout_address: Option<Address>,
    /// The signed `post`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_entry: Option<Entry>,
}

macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* } => $data:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// The party's signed entry; without it only a server with `--compat` takes the request.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub chain_entry: Option<Entry>,
        }

        impl $name {
            /// What an entry that the server signs for the party says (decision E13).
            #[allow(clippy::redundant_closure_call)]
            pub fn data(&self) -> Data {
                ($data)(self)
            }
        }
    )*};
}

bodies! {
    /// POST /contracts/{id}/bond
    BondRequest {
        /// Who bonds.
        agent_pubkey: PartyId,
        /// Where the agent's money goes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payout_address: Option<Address>,
    } => |b: &Self| Data::Bond { agent: b.agent_pubkey, payout: b.payout_address };
    /// POST /contracts/{id}/accept
    AcceptRequest {
        /// Who accepts.
        agent_pubkey: PartyId,
    } => |b: &Self| Data::Accept { agent: b.agent_pubkey };
    /// POST /contracts/{id}/decline
    DeclineRequest {
        /// Why.
        #[serde(default)]
        reason: String,
    } => |b: &Self| Data::Decline { reason: b.reason.clone() };
    /// POST /contracts/{id}/investigate
    InvestigateRequest {
        /// The read-only command.
        command: String,
    } => |b: &Self| Data::Investigate { command: b.command.clone() };
    /// POST /contracts/{id}/result
    ResultRequest {
        /// The command that was asked for.
        command: String,
        /// What it printed, scrubbed.
        output: String,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// Whether the client did not run it.
        #[serde(default)]
        refused: bool,
    } => |b: &Self| Data::Result {
        command: b.command.clone(),
        output: b.output.clone(),
        exit_code: b.exit_code,
        refused: b.refused,
    };
    /// POST /contracts/{id}/fix
    FixRequest {
        /// A shell command.
        fix: String,
        /// For people and judges.
        #[serde(default)]
        explanation: String,
        /// What to run in place of the contract's command, when that one itself was wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corrected_command: Option<String>,
    } => |b: &Self| Data::Fix {
        fix: b.fix.clone(),
        explanation: b.explanation.clone(),
        corrected_command: b.corrected_command.clone(),
    };
    /// POST /contracts/{id}/verify
    VerifyRequest {
        /// Whether it works.
        success: bool,
        /// For people and judges.
        #[serde(default)]
        explanation: String,
        /// How the verification ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// What it printed, scrubbed.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
    } => |b: &Self| Data::Verify {
        success: b.success,
        explanation: b.explanation.clone(),
        exit_code: b.exit_code,
        output: b.output.clone(),
    };
    /// POST /contracts/{id}/review
    ReviewRequest {
        /// What the principal decides.
        action: ReviewAction,
        /// Why; the argument of a dispute.
        #[serde(default)]
        argument: String,
    } => |b: &Self| match b.action {
        ReviewAction::Accept => Data::ReviewAccept { explanation: b.argument.clone() },
        ReviewAction::Reject => Data::ReviewReject { reason: b.argument.clone() },
        ReviewAction::Dispute => Data::DisputeFiled { argument: b.argument.clone(), side: Side::Principal },
    };
    /// POST /contracts/{id}/dispute
    DisputeRequest {
        /// Why.
        argument: String,
        /// The filer's side.
        side: Side,
    } => |b: &Self| Data::DisputeFiled { argument: b.argument.clone(), side: b.side };
    /// POST /contracts/{id}/respond
    RespondRequest {
        /// The counter-argument.
        argument: String,
        /// The side that answers.
        side: Side,
    } => |b: &Self| Data::DisputeResponse { argument: b.argument.clone(), side: b.side };
    /// POST /contracts/{id}/appeal
    AppealRequest {
        /// Why.
        argument: String,
        /// The side that appeals.
        side: Side,
    } => |b: &Self| Data::Appeal { argument: b.argument.clone(), side: b.side };
    /// POST /contracts/{id}/waive
    WaiveRequest {
        /// The side that gives up its appeal or objection.
        side: Side,
    } => |b: &Self| Data::Waive { side: b.side };
    /// POST /contracts/{id}/chat
    ChatRequest {
        /// The words.
        message: String,
        /// The sender's side.
        from_side: Side,
        /// Which kind of words.
        #[serde(default)]
        msg_type: MessageKind,
    } => |b: &Self| match b.msg_type {
        MessageKind::Ask => Data::Ask { message: b.message.clone() },
        MessageKind::Answer => Data::Answer { message: b.message.clone() },
        MessageKind::Message => Data::Message { message: b.message.clone() },
    };
    /// POST /contracts/{id}/halt
    HaltRequest {
        /// Why.
        #[serde(default)]
        reason: String,
    } => |b: &Self| Data::Halt { reason: b.reason.clone() };
    /// POST /contracts/{id}/resume
    ResumeRequest {
        /// Why.
        #[serde(default)]
        reason: String,
    } => |b: &Self| Data::Resume { reason: b.reason.clone() };
    /// POST /contracts/{id}/back_out
    BackOutRequest {
        /// Why.
        #[serde(default)]
        reason: String,
    } => |b: &Self| Data::BackOut { reason: b.reason.clone() };
    /// DELETE /contracts/{id}
    CancelRequest {
        /// Why.
        #[serde(default)]
        reason: String,
    } => |b: &Self| Data::Cancel { reason: b.reason.clone() };
    /// POST /contracts/{id}/accounts
    AccountsRequest {
        /// Where the sender's money goes.
        #[serde(alias = "address", alias = "nano_address", alias = "account")]
        payout_address: Address,
    } => |b: &Self| Data::Accounts { payout: b.payout_address };
}

/// What a principal decides about a fix that waits for review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewAction {
    /// It works.
    Accept,
    /// It does not.
    Reject,
    /// A court shall decide.
    Dispute,
}

/// The kind of words in a chat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// A question of the agent.
    Ask,
    /// An answer of the principal.
    Answer,
    /// Anything else.
    #[default]
    Message,
}

/// POST /contracts/{id}/feedback: only as a signed entry, since it carries the party's envelope (decision
/// G1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackRequest {
    /// The signed `feedback`.
    pub chain_entry: Entry,
}

/// POST /contracts/{id}/ruling, from a judge's process (decision E6): its signature is in the data, the
/// server's entry goes around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeRequest {
    /// The machine's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reexecution: Option<ReexecutionData>,
    /// The ruling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<RulingData>,
}

impl JudgeRequest {
    /// What the server chains. Exactly one of both, signed by a judge.
    pub fn data(self) -> Result<Data> {
        match (self.reexecution, self.ruling) {
            (Some(data), None) if data.signature.is_some() => Ok(Data::Reexecution(Box::new(data))),
            (None, Some(data)) if data.signature.is_some() => Ok(Data::Ruling(Box::new(data))),
            _ => Err(Refusal::with(Reason::JudgeSignature, "judge_signature")),
        }
    }
}
