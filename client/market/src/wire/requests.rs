//! Bodies of requests. Their fields are named as those of [`Data`], and on the wire as those of the entry, so
//! that a body can be made from an entry and, for older clients, an entry from a body.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::chain::{Data, Entry, ReexecutionData, RulingData, Side};
use crate::contract::Failure;
use crate::{Address, PartyId, Reason, Refusal, Result};

/// The data of an entry that its body does not carry.
fn other<T>(entry: &Entry) -> Result<T> {
    Err(Refusal::with(Reason::EntryKind, entry.kind()))
}

/// The body of an action.
pub trait Body: Serialize + DeserializeOwned {
    /// The body that carries an entry; beside it, for older servers, the fields of its data.
    ///
    /// # Errors
    ///
    /// 9047 for an entry that this body does not carry, and what [`Entry::read`] refuses.
    fn of(entry: &Entry) -> Result<Self> {
        Err(Refusal::with(Reason::EntryKind, entry.kind()))
    }

    /// What the server chains for a body without an entry (decision E13).
    ///
    /// # Errors
    ///
    /// 9049 where only a signed entry is taken, 9020 for a field that is missing.
    fn data(self) -> Result<Data> {
        Err(Reason::EntryNeeded.into())
    }
}

/// Body of POST /contracts. The contract may be left out when the entry is there: it holds it, and input files need
/// not be sent twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PostRequest {
    /// The whole contract as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub contract: Option<Json>,
    /// The principal, who posts and signs it.
    pub principal_pubkey: PartyId,
    /// Where the principal's money goes: a Nano address. Paid contracts need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub payout_address: Option<Address>,
    /// The signed `post`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_entry: Option<Entry>,
}

impl Body for PostRequest {
    fn of(entry: &Entry) -> Result<PostRequest> {
        let Data::Post { principal, payout, .. } = entry.read()?.0 else { return other(entry) };
        let chain_entry = Some(entry.clone());
        Ok(PostRequest { contract: None, principal_pubkey: principal, payout_address: payout, chain_entry })
    }

    fn data(self) -> Result<Data> {
        let contract = self.contract.ok_or_else(|| Refusal::with(Reason::FieldMissing, "contract"))?;
        // The server that signs it for the party puts its own market in.
        Ok(Data::Post {
            contract,
            principal: self.principal_pubkey,
            payout: self.payout_address,
            market: None,
        })
    }
}

macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// The party's signed entry; without it only a server with `--compat` takes the request.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub chain_entry: Option<Entry>,
        }
    )*};
}

/// Bodies whose fields are those of one type of entry.
macro_rules! plain_bodies {
    ($($(#[$doc:meta])* $name:ident = $kind:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        bodies! { $($(#[$doc])* $name { $($(#[$field_doc])* $field: $type,)* })* }

        $(impl Body for $name {
            fn of(entry: &Entry) -> Result<$name> {
                let Data::$kind { $($field),* } = entry.read()?.0 else { return other(entry) };
                Ok($name { $($field,)* chain_entry: Some(entry.clone()) })
            }

            fn data(self) -> Result<Data> {
                Ok(Data::$kind { $($field: self.$field),* })
            }
        })*
    };
}

plain_bodies! {
    /// Body of POST /contracts/{id}/bond.
    BondRequest = Bond {
        /// The agent, who signs the request.
        #[serde(rename = "agent_pubkey")]
        agent: PartyId,
        /// Where the agent's money goes: a Nano address. Paid contracts need it.
        #[serde(default, rename = "payout_address", skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        payout: Option<Address>,
    }
    /// Body of POST /contracts/{id}/accept.
    AcceptRequest = Accept {
        /// The agent, who signs the request.
        #[serde(rename = "agent_pubkey")]
        agent: PartyId,
    }
    /// Body of POST /contracts/{id}/decline.
    DeclineRequest = Decline {
        /// Why the agent gives the contract back.
        #[serde(default)]
        reason: String,
    }
    /// Body of POST /contracts/{id}/investigate.
    InvestigateRequest = Investigate {
        /// The read-only command.
        command: String,
    }
    /// Body of POST /contracts/{id}/result.
    ResultRequest = Result {
        /// The command that was asked for.
        command: String,
        /// What it printed, scrubbed.
        output: String,
        /// The exit status of the command, if it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// Whether the client did not run it.
        #[serde(default)]
        refused: bool,
    }
    /// Body of POST /contracts/{id}/fix.
    FixRequest = Fix {
        /// A shell command.
        fix: String,
        /// An explanation for people and judges.
        #[serde(default)]
        explanation: String,
        /// What to run in place of the contract's command, when that one itself was wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corrected_command: Option<String>,
    }
    /// Body of POST /contracts/{id}/verify.
    VerifyRequest = Verify {
        /// Whether the fix works.
        success: bool,
        /// An explanation for people and judges.
        #[serde(default)]
        explanation: String,
        /// The exit status of the verification, if it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        /// What it printed, scrubbed.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
        /// Why it does not, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    }
    /// Body of POST /contracts/{id}/dispute.
    DisputeRequest = DisputeFiled {
        /// Why the filer disputes, for the judge.
        argument: String,
        /// The filer's side.
        side: Side,
    }
    /// Body of POST /contracts/{id}/respond.
    RespondRequest = DisputeResponse {
        /// The counter-argument, for the judge.
        argument: String,
        /// The side that answers.
        side: Side,
    }
    /// Body of POST /contracts/{id}/appeal.
    AppealRequest = Appeal {
        /// Why the ruling is wrong, for the next court.
        argument: String,
        /// The side that appeals.
        side: Side,
    }
    /// Body of POST /contracts/{id}/waive.
    WaiveRequest = Waive {
        /// The side that gives up its appeal or objection.
        side: Side,
    }
    /// Body of POST /contracts/{id}/halt.
    HaltRequest = Halt {
        /// Why the principal stops everything.
        #[serde(default)]
        reason: String,
    }
    /// Body of POST /contracts/{id}/resume.
    ResumeRequest = Resume {
        /// Why the principal takes the halt back.
        #[serde(default)]
        reason: String,
    }
    /// Body of POST /contracts/{id}/back_out.
    BackOutRequest = BackOut {
        /// Why the party leaves.
        #[serde(default)]
        reason: String,
    }
    /// Body of DELETE /contracts/{id}.
    CancelRequest = Cancel {
        /// Why the principal takes the contract back.
        #[serde(default)]
        reason: String,
    }
    /// Body of POST /contracts/{id}/accounts.
    AccountsRequest = Accounts {
        /// Where the sender's money goes: a Nano address.
        #[serde(rename = "payout_address", alias = "address", alias = "nano_address", alias = "account", alias = "principal_account", alias = "agent_account")]
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        payout: Address,
    }
}

bodies! {
    /// Body of POST /contracts/{id}/review.
    ReviewRequest {
        /// What the principal decides.
        action: ReviewAction,
        /// Why; the argument of a dispute.
        #[serde(default)]
        argument: String,
        /// Why a fix is rejected, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    }
    /// Body of POST /contracts/{id}/chat.
    ChatRequest {
        /// The text of the message.
        message: String,
        /// The sender's side; nothing is decided by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_side: Option<Side>,
        /// The kind of message.
        #[serde(default)]
        msg_type: MessageKind,
    }
}

impl Body for ReviewRequest {
    fn of(entry: &Entry) -> Result<ReviewRequest> {
        let (action, argument, failure) = match entry.read()?.0 {
            Data::ReviewAccept { explanation } => (ReviewAction::Accept, explanation, None),
            Data::ReviewReject { reason, failure } => (ReviewAction::Reject, reason, failure),
            Data::DisputeFiled { argument, .. } => (ReviewAction::Dispute, argument, None),
            _ => return other(entry),
        };
        Ok(ReviewRequest { action, argument, failure, chain_entry: Some(entry.clone()) })
    }

    fn data(self) -> Result<Data> {
        Ok(match self.action {
            ReviewAction::Accept => Data::ReviewAccept { explanation: self.argument },
            ReviewAction::Reject => Data::ReviewReject { reason: self.argument, failure: self.failure },
            ReviewAction::Dispute => Data::DisputeFiled { argument: self.argument, side: Side::Principal },
        })
    }
}

impl Body for ChatRequest {
    fn of(entry: &Entry) -> Result<ChatRequest> {
        let (data, common) = entry.read()?;
        let (msg_type, message) = match data {
            Data::Ask { message } => (MessageKind::Ask, message),
            Data::Answer { message } => (MessageKind::Answer, message),
            Data::Chat { message } | Data::Message { message } => (MessageKind::Message, message),
            _ => return other(entry),
        };
        Ok(ChatRequest { message, from_side: common.from, msg_type, chain_entry: Some(entry.clone()) })
    }

    fn data(self) -> Result<Data> {
        let message = self.message;
        Ok(match self.msg_type {
            MessageKind::Ask => Data::Ask { message },
            MessageKind::Answer => Data::Answer { message },
            MessageKind::Message => Data::Message { message },
        })
    }
}

/// What a principal decides about a fix that waits for review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ReviewAction {
    /// The fix works.
    Accept,
    /// The fix does not work.
    Reject,
    /// A court shall decide.
    Dispute,
}

/// The kind of a chat message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MessageKind {
    /// A question of the agent.
    Ask,
    /// An answer of the principal.
    Answer,
    /// Any other message.
    #[default]
    Message,
}

/// Body of POST /contracts/{id}/feedback: only as a signed entry, since it carries the party's envelope (decision
/// G1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FeedbackRequest {
    /// The signed `feedback`.
    #[cfg_attr(feature = "openapi", schema(value_type = Entry))]
    pub chain_entry: Option<Entry>,
}

impl Body for FeedbackRequest {
    fn of(entry: &Entry) -> Result<FeedbackRequest> {
        Ok(FeedbackRequest { chain_entry: Some(entry.clone()) })
    }
}

/// Body of POST /contracts/{id}/void, empty: the clock decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VoidRequest {}

impl Body for VoidRequest {}

/// Body of POST /contracts/{id}/ruling, from a judge's process (decision E6): its signature is in the data, the
/// server's entry goes around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JudgeRequest {
    /// The result of running the verification again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reexecution: Option<ReexecutionData>,
    /// The ruling of the court.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<RulingData>,
}

impl Body for JudgeRequest {
    /// Exactly one of both, signed by a judge.
    fn data(self) -> Result<Data> {
        match (self.reexecution, self.ruling) {
            (Some(data), None) if data.signature.is_some() => Ok(Data::Reexecution(Box::new(data))),
            (None, Some(data)) if data.signature.is_some() => Ok(Data::Ruling(Box::new(data))),
            _ => Err(Refusal::with(Reason::JudgeSignature, "judge_signature")),
        }
    }
}
