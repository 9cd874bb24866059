//! Bodies of answers.

use serde::{Deserialize, Serialize};

use super::{Seconds, Xno};
use crate::canonical::Json;
use crate::case::{Case, CourtStep, DepositWanted};
use crate::chain::{Entry, Head, Side};
use crate::contract::Mode;
use crate::counts::FixCounts;
use crate::machine::State;
use crate::money::{Court, Outcome};
use crate::{Address, ContractId, Millis, NetworkId, PartyId, Raw, Reason, Refusal};

/// Answers of which a call gives one: on the wire just that one.
macro_rules! one_of {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident($type:ty),)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum $name { $($(#[$variant_doc])* $variant($type),)* }

        $(impl From<$type> for $name {
            fn from(answer: $type) -> $name {
                $name::$variant(answer)
            }
        })*

        // By hand: utoipa makes `oneOf` of such an enum, but an answer may have the fields of another one too.
        #[cfg(feature = "openapi")]
        super::schema::any_of!($name: $($type),*);
    )*};
}

one_of! {
    /// POST dispute, respond and appeal.
    CourtAnswer {
        /// The case is before a court, and the other side may answer.
        Filed(DisputeAnswer),
        /// The court has ruled.
        Ruled(RulingAnswer),
        /// Where the dispute stands.
        Stands(DisputeStatus),
    }
    /// POST review: the state, or what a dispute answers.
    ReviewAnswer {
        /// The fix is disputed, and the other side may answer.
        Filed(DisputeAnswer),
        /// Where the dispute stands.
        Stands(DisputeStatus),
        /// The fix is accepted or rejected.
        Status(StatusAnswer),
    }
    /// POST ruling: the last ruling, if there is one.
    JudgeAnswer {
        /// The ruling of the court.
        Ruled(RulingAnswer),
        /// `ok`: the re-execution is chained.
        Status(StatusAnswer),
    }
}

/// A 409 as older clients know it: `{"detail": ...}`. Others are problem details (wire.md, "Market HTTP").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// A sentence, or where the chain stands.
    pub detail: ErrorDetail,
    /// The number of the refusal. Older clients do not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
}

/// What `detail` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ErrorDetail {
    /// The chain has moved on.
    Conflict {
        /// Always `chain_conflict`: the transcript has moved on.
        error: String,
        /// The hash that the next entry must carry.
        chain_head: String,
        /// The number that it must carry.
        seq: u64,
    },
    /// What is wrong, and what to do.
    Text(String),
}

impl ErrorBody {
    /// The body for a refusal.
    pub fn of(refusal: &Refusal) -> ErrorBody {
        let detail = match refusal.head().filter(|_| refusal.reason() == Reason::ChainConflict) {
            Some(Head { seq, hash }) => ErrorDetail::Conflict {
                error: "chain_conflict".to_owned(),
                chain_head: hex::encode(hash),
                seq,
            },
            None => ErrorDetail::Text(refusal.to_string()),
        };
        ErrorBody { detail, code: Some(refusal.code()) }
    }
}

/// A deposit that a party is to make (decision E8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DepositAnswer {
    /// The escrow account.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub address: Address,
    /// What to send.
    pub amount: Xno,
    /// The same in raw.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub amount_raw: Raw,
    /// For wallets and QR codes.
    pub uri: String,
    /// The ledger to pay on: the hash of its genesis block. The addresses of two networks look alike.
    #[serde(default)]
    pub network: NetworkId,
    /// When the offer to pay ends.
    pub expires_at: Seconds,
}

impl DepositAnswer {
    /// For a deposit that a case waits for.
    pub fn new(wanted: &DepositWanted, address: Address, network: NetworkId) -> DepositAnswer {
        DepositAnswer {
            address,
            amount: wanted.amount.into(),
            amount_raw: wanted.amount,
            uri: address.uri(Some(wanted.amount)),
            network,
            expires_at: wanted.until.into(),
        }
    }
}

/// Answer to POST /contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PostAnswer {
    /// The new contract.
    pub contract_id: ContractId,
    /// `open`, or `unfunded` until the deposit is confirmed.
    pub status: State,
    /// The server's key, 64 hexadecimal digits.
    pub server_pubkey: String,
    /// What the principal is to pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<DepositAnswer>,
}

/// Answer to POST bond.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BondAnswer {
    /// `investigating`; `reserved` until the deposit is confirmed.
    pub status: String,
    /// What is locked.
    pub bond: BondState,
    /// What the agent is to pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposit: Option<DepositAnswer>,
}

/// The escrow's part of [`BondAnswer`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BondState {
    /// `agent_locked`, `awaiting_deposit`, or `no_escrow` in free mode.
    pub status: String,
    /// Bounty and judge fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inclusive_bond: Option<Xno>,
    /// The judge fee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_fee: Option<Xno>,
}

/// Most actions: the state, or a word for what follows (`pending_result`, `sent`, `retry`, `pending`, `ok`,
/// ...).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StatusAnswer {
    /// The state, or the word for what follows.
    pub status: String,
    /// Of investigate: the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Of a fix in autonomous mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_expires_at: Option<Seconds>,
    /// Of a verify or a review that ends the contract unless the agent objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing_at: Option<Seconds>,
}

impl StatusAnswer {
    /// A word alone.
    pub fn of(status: impl ToString) -> StatusAnswer {
        StatusAnswer { status: status.to_string(), ..StatusAnswer::default() }
    }

    /// After a fix.
    pub fn fix(case: &Case) -> StatusAnswer {
        let review_expires_at = case.review_expires_at().map(Seconds);
        let status = if review_expires_at.is_some() { "review" } else { "pending_verification" };
        StatusAnswer { review_expires_at, ..StatusAnswer::of(status) }
    }

    /// After a verify or a rejected review: `fulfilled`, `retry`, `canceled`, or `pending` while the agent
    /// may object (with --compat `canceled`, decision E5).
    pub fn verify(case: &Case) -> StatusAnswer {
        let closing_at = case.closing_at().map(Seconds);
        let status = match (case.state(), closing_at) {
            (_, Some(_)) if case.terms().compat => "canceled",
            (_, Some(_)) => "pending",
            (State::InProgress, None) => "retry",
            (state, None) => state.as_str(),
        };
        StatusAnswer { closing_at, ..StatusAnswer::of(status) }
    }
}

/// Answer to a dispute or an appeal that has come before a court.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DisputeAnswer {
    /// Always `awaiting_response`: the other side may answer.
    pub status: String,
    /// The court that rules, or has ruled.
    pub court: Court,
    /// 0, 1 or 2.
    pub level: u32,
    /// What the court costs the loser.
    pub fee: Xno,
    /// When the time of the other side to answer ends.
    pub response_deadline: Seconds,
    /// The same as a span, in seconds.
    pub response_window: u64,
    /// The same in a sentence.
    pub message: String,
}

impl DisputeAnswer {
    /// For a case that has just come before a court.
    pub fn of(case: &Case, now: Millis) -> Option<DisputeAnswer> {
        let proceedings = case.proceedings()?;
        let CourtStep::Responding { until, by } = proceedings.step else { return None };
        Some(DisputeAnswer {
            status: "awaiting_response".to_owned(),
            court: proceedings.court,
            level: proceedings.court.level(),
            fee: proceedings.court.fee(&case.terms().fees).into(),
            response_deadline: until.into(),
            // The whole window, as older clients show it: what is left of it is in the deadline.
            response_window: until.minus(now).0.div_ceil(1_000),
            message: format!(
                "The {by} may answer until {until}; then the {} court rules.",
                proceedings.court
            ),
        })
    }
}

/// Answer to GET dispute_status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DisputeStatus {
    /// `no_pending_dispute`, `awaiting_response`, `judging` or `appealable`.
    pub status: String,
    /// Who filed the dispute or the appeal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filer: Option<Side>,
    /// The court that rules, or has ruled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub court: Option<Court>,
    /// 0, 1 or 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// The end of the present step; absent while all seats before a judge are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_deadline: Option<Seconds>,
    /// How long until then, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<Seconds>,
    /// Whether the other side has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responded: Option<bool>,
}

impl DisputeStatus {
    /// Of a case. Call [`Case::run`] first.
    pub fn of(case: &Case, now: Millis) -> DisputeStatus {
        let Some(p) = case.proceedings() else {
            return DisputeStatus {
                status: "no_pending_dispute".to_owned(),
                filer: None,
                court: None,
                level: None,
                response_deadline: None,
                remaining: None,
                responded: None,
            };
        };
        let status = match p.step {
            CourtStep::Responding { .. } => "awaiting_response",
            CourtStep::Judging { .. } => "judging",
            CourtStep::Appealable { .. } => "appealable",
        };
        let deadline = case.next_deadline().filter(|_| !case.waits_for_seat());
        DisputeStatus {
            status: status.to_owned(),
            filer: Some(p.filer),
            court: Some(p.court),
            level: Some(p.court.level()),
            response_deadline: deadline.map(Seconds),
            remaining: deadline.map(|at| Seconds(at.minus(now))),
            responded: Some(p.responded),
        }
    }
}

/// GET ruling (or `null`), and what respond answers once there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RulingAnswer {
    /// The outcome that the court decided.
    pub outcome: Outcome,
    /// Why the court decided so.
    pub reasoning: String,
    /// The court that rules, or has ruled.
    pub court: Court,
    /// 0, 1 or 2.
    pub level: u32,
    /// Whether nobody can appeal any more.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Whether the loser may appeal now.
    pub can_appeal: bool,
    /// The next court.
    pub next_court: Option<Court>,
    /// What it costs.
    pub next_fee: Option<Xno>,
    /// Remarks of the judge.
    pub flags: Vec<String>,
}

impl RulingAnswer {
    /// The last ruling in a transcript, seen with the case as it stands.
    pub fn of(case: &Case, ruling: &crate::chain::RulingData) -> RulingAnswer {
        let can_appeal = case.proceedings().is_some_and(|p| {
            matches!(p.step, CourtStep::Appealable { .. })
                && p.last.is_some_and(|(_, court)| court == ruling.court)
        });
        let next = ruling.court.next().filter(|_| can_appeal);
        RulingAnswer {
            outcome: ruling.outcome,
            reasoning: ruling.reasoning.clone(),
            court: ruling.court,
            level: ruling.court.level(),
            is_final: ruling.is_final || case.state().is_terminal(),
            can_appeal,
            next_court: next,
            next_fee: next.map(|court| court.fee(&case.terms().fees).into()),
            flags: ruling.flags.clone(),
        }
    }
}

/// Answer to POST halt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HaltAnswer {
    /// The state of the contract.
    pub status: State,
    /// Always null: there is no ruling yet.
    pub ruling: Option<RulingAnswer>,
    /// Until when the halt can be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_until: Option<Seconds>,
}

/// Answer to GET chain_head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChainHeadAnswer {
    /// The `prev_hash` of the next entry.
    pub chain_head: String,
    /// The `seq` of the next entry.
    pub seq: u64,
}

impl From<Head> for ChainHeadAnswer {
    fn from(head: Head) -> ChainHeadAnswer {
        ChainHeadAnswer { chain_head: head.hex(), seq: head.seq }
    }
}

/// Answer to GET verify_chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct VerifyChainAnswer {
    /// Whether all of it holds.
    pub valid: bool,
    /// How many entries hold.
    pub entries: usize,
    /// How many there are.
    pub total_transcript: usize,
    /// What does not hold.
    pub error: Option<String>,
    /// The hash of the last one that holds.
    pub chain_head: String,
}

impl From<&crate::case::Report> for VerifyChainAnswer {
    fn from(report: &crate::case::Report) -> VerifyChainAnswer {
        VerifyChainAnswer {
            valid: report.valid,
            entries: report.entries,
            total_transcript: report.total,
            error: report.error.clone(),
            chain_head: report.chain_head.clone(),
        }
    }
}

/// Answer to GET /contracts/{id}.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContractView {
    /// The id of the contract.
    pub id: ContractId,
    /// Where it stands.
    pub status: State,
    /// The contract as it was posted.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub contract: Json,
    /// The principal, who posted it.
    pub principal_pubkey: PartyId,
    /// The agent, while there is one.
    pub agent_pubkey: Option<PartyId>,
    /// The judge; empty in free mode.
    pub judge_pubkey: String,
    /// Who watches the fix.
    pub execution_mode: Mode,
    /// Until when a fix waits for review.
    pub review_expires_at: Option<Seconds>,
    /// Until when the agent may object.
    #[serde(default)]
    pub closing_at: Option<Seconds>,
    /// When the last investigation was asked for.
    pub last_investigation_at: Option<Seconds>,
    /// The entries; empty for whoever may not read them (decision E14).
    pub transcript: Vec<Entry>,
    /// When each was taken, in milliseconds.
    #[serde(default)]
    pub received_at: Vec<Millis>,
    /// The `prev_hash` of the next entry.
    pub chain_head: String,
    /// The server's key, 64 hexadecimal digits.
    pub server_pubkey: String,
    /// When it was posted.
    pub created_at: Seconds,
    /// When it changed last.
    pub updated_at: Seconds,
    /// For agents: command and error in a few words.
    pub briefing: String,
}

impl ContractView {
    /// Of a case. The transcript is the caller's to give or to leave out.
    pub fn new(case: &Case, transcript: Vec<Entry>, received_at: Vec<Millis>) -> ContractView {
        let contract = case.contract();
        ContractView {
            id: case.id(),
            status: case.state(),
            contract: contract.json().clone(),
            principal_pubkey: case.principal(),
            agent_pubkey: case.agent(),
            judge_pubkey: contract.judge.as_ref().map(|judge| judge.pubkey.to_string()).unwrap_or_default(),
            execution_mode: contract.execution.mode,
            review_expires_at: case.review_expires_at().map(Seconds),
            closing_at: case.closing_at().map(Seconds),
            last_investigation_at: case.last_investigation_at().map(Seconds),
            transcript,
            received_at,
            chain_head: case.head().hex(),
            server_pubkey: case.terms().server.hex(),
            created_at: case.created_at().into(),
            updated_at: case.updated_at().into(),
            briefing: format!("{}\n{}", contract.task.command, contract.task.error),
        }
    }
}

/// Answer to GET /contracts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListAnswer {
    /// The contracts, without their transcripts.
    pub contracts: Vec<ContractView>,
    /// What to give as `cursor` for the next page; absent on the last one, and from older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Answer to GET review_status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReviewStatus {
    /// The state of the contract.
    pub status: State,
    /// Until when a fix waits for review.
    pub review_expires_at: Option<Seconds>,
    /// The same, as older clients read it.
    pub expires_at: Option<Seconds>,
    /// How long until then; 0 when no fix waits for review.
    pub remaining: Seconds,
    /// Until when the agent may object.
    pub closing_at: Option<Seconds>,
}

/// GET escrow: deposits and payments (decision E4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EscrowAnswer {
    /// What each side has to pay in.
    pub inclusive_bond: Xno,
    /// The escrow accounts of both sides.
    pub accounts: Vec<EscrowAccount>,
    /// The payments, planned and done.
    pub payments: Vec<EscrowPayment>,
}

/// One escrow account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EscrowAccount {
    /// The side that pays into it.
    pub side: Side,
    /// The deposit round, from 0.
    pub round: u32,
    /// The Nano address of the account.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub address: Address,
    /// What it should hold.
    pub expected: Xno,
    /// What has arrived.
    pub received: Xno,
    /// Whether the ledger has confirmed all of it.
    pub confirmed: bool,
}

/// One payment out of an escrow account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EscrowPayment {
    /// Why: the settlement's word, or `refund`.
    pub kind: String,
    /// The escrow account that pays.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub from: Address,
    /// The Nano address that is paid.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub to: Address,
    /// The amount in XNO.
    pub amount: Xno,
    /// The block, once signed.
    pub hash: Option<String>,
    /// Whether the ledger has confirmed it.
    pub confirmed: bool,
}

/// Answer to GET /server_pubkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerKeyAnswer {
    /// 64 hexadecimal digits.
    pub pubkey: String,
    /// The same with `fix_`.
    pub fix_id: PartyId,
}

/// Answer to GET /reputation/{pubkey}.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReputationAnswer {
    /// The party, 64 hexadecimal digits.
    pub pubkey: String,
    /// Where reputation stands: on the ledgers.
    pub note: String,
    /// Its fixes in contracts with a bounty; absent from older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<PartyCounts>,
    /// Its fixes in free contracts, where a reject costs nothing; absent from older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<PartyCounts>,
}

impl ReputationAnswer {
    /// Its fixes on one side, in free contracts or in those with a bounty. `None` when the server does not count them.
    pub fn fixes(&self, side: Side, free: bool) -> Option<FixCounts> {
        let counts = if free { self.free } else { self.paid }?;
        Some(match side {
            Side::Principal => counts.principal,
            Side::Agent => counts.agent,
        })
    }
}

/// A party's fixes on both sides, as this server has counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PartyCounts {
    /// Those that it proposed.
    pub agent: FixCounts,
    /// Those that it received.
    pub principal: FixCounts,
}

/// Answer to GET /readyz.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReadyAnswer {
    /// `ready`; `held` while the ledger does not answer; `stopping` or `no database`.
    pub status: String,
    /// Whether free contracts are taken, and those that run go on.
    pub free: bool,
    /// Whether paid contracts and bonds are taken.
    pub paid: bool,
}

/// Answer to GET /judge/tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TasksAnswer {
    /// The most urgent first.
    pub tasks: Vec<JudgeTask>,
    /// What to give as `cursor` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A contract that waits for a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JudgeTask {
    /// The id of the contract.
    pub contract_id: ContractId,
    /// The court that is to rule.
    pub court: Court,
    /// Whether the verification was run again already.
    pub reexecuted: bool,
    /// Until when the judge may rule.
    pub deadline: Seconds,
    /// The `prev_hash` of the next entry.
    pub chain_head: String,
    /// The `seq` of the next entry.
    pub seq: u64,
}
