//! Rows as they are shown. Addresses and signatures are base58, hashes hexadecimal, amounts decimal strings.

use crate::bundles::Content;
use crate::index::ShownDelegate;
use crate::market::Summary;
use crate::merge::ground_name;
use crate::parse::{Base58, EventFields, Program, base58};
use crate::reputation::{Scores, StoredReputation, StoredTally};
use crate::status::Standing;
use crate::store::{
    AgentRow, BatchRow, ChallengeRow, ContractRow, EnvelopeRow, FeedbackRow, GapRow, StoredEvent, signed,
    unsigned,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_protocol::ids::AgentId;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::units::Epoch;

fn base58_of(bytes: Option<&Vec<u8>>) -> Option<String> {
    bytes.map(|bytes| base58(bytes))
}

fn hex_of(bytes: Option<&Vec<u8>>) -> Option<String> {
    bytes.map(hex::encode)
}

/// JSON that this server has stored.
fn parsed<T: DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

/// The word for a lease's state now, and how many epochs it is behind.
pub(super) fn lease_state(paid_through: Option<i64>, epoch: u64) -> (&'static str, u64) {
    let Some(paid) = paid_through else { return ("none", 0) };
    let lease = Lease { paid_through: Epoch(unsigned(paid)) };
    let word = match lease.state(Epoch(epoch)) {
        LeaseState::Active => "active",
        LeaseState::Grace => "grace",
        LeaseState::Deactivated => "deactivated",
    };
    (word, Epoch(epoch).since(lease.paid_through))
}

/// An agent's scores from its batches.
fn scores(row: &AgentRow) -> Scores {
    Scores {
        reliability: row.reliability,
        cooperation: row.cooperation,
        notary: row.notary,
        tasks: row.tasks,
        notarized: row.notarized,
        disputes: row.disputes,
        batches: row.counted_batches,
        last_active_slot: row.reputation_slot,
    }
}

/// An agent in a list.
#[derive(Serialize, ToSchema)]
pub(super) struct Agent {
    mint: String,
    number: i64,
    name: String,
    symbol: String,
    uri: String,
    soulbound: bool,
    owner: Option<String>,
    registered_slot: Option<i64>,
    stake: Option<AgentStake>,
    lease: AgentLease,
    batches: AgentBatches,
    challenges: AgentChallenges,
    slashed_micro_usdc: String,
    reputation: Scores,
    nano: Option<AgentNano>,
    last_active_slot: Option<i64>,
}

/// An agent's stake.
#[derive(Serialize, ToSchema)]
struct AgentStake {
    micro_usdc: String,
    locked_since_slot: Option<i64>,
    unlock_available_slot: Option<i64>,
    open_challenges: i64,
    created_slot: Option<i64>,
}

/// An agent's lease.
#[derive(Serialize, ToSchema)]
struct AgentLease {
    /// `active`, `grace`, `deactivated` or `none`
    state: &'static str,
    paid_through_epoch: Option<i64>,
    /// how many epochs it is behind
    behind: u64,
    last_paid_slot: Option<i64>,
}

/// How many batches an agent has submitted.
#[derive(Serialize, ToSchema)]
struct AgentBatches {
    count: i64,
    last_epoch: Option<i64>,
    last_slot: Option<i64>,
    /// batches whose data nobody has uploaded
    withheld: i64,
    digest: String,
}

/// Challenges against an agent.
#[derive(Serialize, ToSchema)]
struct AgentChallenges {
    open: i64,
    answered: i64,
    lost: i64,
}

/// The Nano account that is bound to an agent's owner.
#[derive(Serialize, ToSchema)]
struct AgentNano {
    address: String,
    balance_raw: Option<String>,
    receivable_raw: Option<String>,
    /// when the balance was read, in Unix seconds
    checked: Option<i64>,
}

impl Agent {
    pub(super) fn new(row: &AgentRow, standing: &Standing) -> Self {
        let (state, behind) = lease_state(row.paid_through, standing.epoch);
        let stake = row.stake.map(|stake| AgentStake {
            micro_usdc: stake.0.to_string(),
            locked_since_slot: row.stake_since,
            unlock_available_slot: row.unlock_slot,
            open_challenges: row.open_challenges,
            created_slot: row.stake_created,
        });
        let nano = row.nano_address.clone().map(|address| AgentNano {
            address,
            balance_raw: row.nano_balance.clone(),
            receivable_raw: row.nano_receivable.clone(),
            checked: row.nano_checked,
        });
        Self {
            mint: row.mint.to_string(),
            number: row.number,
            name: row.name.clone(),
            symbol: row.symbol.clone(),
            uri: row.uri.clone(),
            soulbound: row.soulbound != 0,
            owner: base58_of(row.owner.as_ref()),
            registered_slot: row.registered_slot,
            stake,
            lease: AgentLease {
                state,
                paid_through_epoch: row.paid_through,
                behind,
                last_paid_slot: row.lease_paid_slot,
            },
            batches: AgentBatches {
                count: row.batches,
                last_epoch: row.last_epoch,
                last_slot: row.last_batch_slot,
                withheld: row.withheld,
                digest: hex::encode(&row.head_digest),
            },
            challenges: AgentChallenges {
                open: row.open_challenges,
                answered: row.challenges_answered,
                lost: row.challenges_lost,
            },
            slashed_micro_usdc: row.slashed.0.to_string(),
            reputation: scores(row),
            nano,
            last_active_slot: row.last_active,
        }
    }
}

/// An agent's page.
#[derive(Serialize, ToSchema)]
pub(super) struct AgentDetail {
    #[serde(flatten)]
    agent: Agent,
    /// name and value of further entries of the token's metadata
    #[schema(value_type = Vec<Vec<String>>)]
    metadata: Vec<(String, String)>,
    token_account: Option<String>,
    member_index: Option<String>,
    delegates: Vec<ShownDelegate>,
    /// always null: there is no tournament yet
    elo: Option<i64>,
    reputation_detail: ReputationDetail,
}

/// An agent's reputation by what vouches for it.
#[derive(Serialize, ToSchema)]
struct ReputationDetail {
    batch: Scores,
    unbound: Scores,
    real_time: Scores,
    tally: StoredTally,
    as_of_epoch: u64,
}

impl AgentDetail {
    pub(super) fn new(row: &AgentRow, standing: &Standing) -> Self {
        let stored: StoredReputation = parsed(&row.reputation);
        Self {
            agent: Agent::new(row, standing),
            metadata: parsed(&row.metadata),
            token_account: base58_of(row.token.as_ref()),
            member_index: base58_of(row.member_index.as_ref()),
            delegates: parsed(&row.delegates),
            elo: None,
            reputation_detail: ReputationDetail {
                batch: scores(row),
                unbound: stored.unbound,
                real_time: stored.real_time,
                tally: stored.tally,
                as_of_epoch: stored.as_of_epoch.unwrap_or(standing.epoch),
            },
        }
    }
}

/// An event of the programs.
#[derive(Serialize, ToSchema)]
pub(super) struct Event<'a> {
    id: i64,
    slot: i64,
    block_time: Option<i64>,
    #[schema(value_type = String)]
    signature: Base58<'a>,
    ordinal: i64,
    program: Option<&'static str>,
    name: &'a str,
    #[schema(value_type = Option<String>)]
    agent: Option<AgentId>,
    #[schema(value_type = String)]
    account: Base58<'a>,
    account_created_slot: i64,
    sequence: i64,
    finalized: bool,
    /// the fields of the event as the program's IDL names them
    #[schema(value_type = Object)]
    fields: EventFields<'a>,
}

impl<'a> Event<'a> {
    pub(super) fn new(stored: &'a StoredEvent, standing: &Standing) -> Self {
        let row = &stored.row;
        Self {
            id: stored.id,
            slot: row.slot,
            block_time: row.block_time,
            signature: Base58(&row.signature),
            ordinal: row.ordinal,
            program: Program::of_number(row.program).map(Program::name),
            name: &row.name,
            agent: row.agent,
            account: Base58(&row.account),
            account_created_slot: row.created_slot,
            sequence: row.sequence,
            finalized: row.slot <= signed(standing.finalized),
            fields: EventFields(row),
        }
    }
}

/// A behaviour batch.
#[derive(Serialize, ToSchema)]
pub(super) struct Batch {
    agent: String,
    agent_name: Option<String>,
    epoch: i64,
    covers_from_epoch: i64,
    submitted_slot: i64,
    block_time: Option<i64>,
    signature: String,
    signer: String,
    payer: String,
    batch_hash: String,
    log_merkle_root: String,
    log_len: i64,
    arrays_root: String,
    arrays_len: i64,
    open: bool,
    window_ends_slot: u64,
    challenges: i64,
    /// `served` or `withheld`
    data: &'static str,
    data_bytes: Option<i64>,
    message: String,
}

impl Batch {
    pub(super) fn new(row: &BatchRow, name: Option<&String>) -> Self {
        Self {
            agent: row.agent.to_string(),
            agent_name: name.cloned(),
            epoch: row.epoch,
            covers_from_epoch: row.covers_from,
            submitted_slot: row.submitted_slot,
            block_time: row.block_time,
            signature: base58(&row.signature),
            signer: base58(&row.signer),
            payer: base58(&row.payer),
            batch_hash: hex::encode(&row.batch_hash),
            log_merkle_root: hex::encode(&row.log_root),
            log_len: row.log_len,
            arrays_root: hex::encode(&row.arrays_root),
            arrays_len: row.arrays_len,
            open: row.open != 0,
            window_ends_slot: unsigned(row.submitted_slot).saturating_add(CHALLENGE_WINDOW_SLOTS),
            challenges: row.challenges,
            data: if row.data_bytes.is_some() { "served" } else { "withheld" },
            data_bytes: row.data_bytes,
            message: hex::encode(crate::bundles::commitment(row).message()),
        }
    }
}

/// A batch's page.
#[derive(Serialize, ToSchema)]
pub(super) struct BatchDetail {
    #[serde(flatten)]
    batch: Batch,
    /// what the batch says of itself; null while its data is withheld
    #[schema(value_type = Option<Content>)]
    content: Value,
}

impl BatchDetail {
    pub(super) fn new(row: &BatchRow, name: Option<&String>) -> Self {
        Self { batch: Batch::new(row, name), content: content(row) }
    }
}

/// What a batch says of itself; null while its data is withheld.
pub(super) fn content(row: &BatchRow) -> Value {
    row.content.as_deref().map(parsed).unwrap_or_default()
}

/// A challenge of a batch.
#[derive(Serialize, ToSchema)]
pub(super) struct Challenge {
    address: String,
    agent: String,
    agent_name: Option<String>,
    epoch: i64,
    challenger: String,
    ground: i64,
    ground_name: &'static str,
    entry_hash: String,
    evidence_hash: String,
    evidence_account: Option<String>,
    submitted_slot: i64,
    answer_until_slot: u64,
    answered_slot: Option<i64>,
    answerer: Option<String>,
    leaf_index: Option<i64>,
    resolved_slot: Option<i64>,
    succeeded: Option<bool>,
    slashed_micro_usdc: Option<String>,
    reward_micro_usdc: Option<String>,
    closed: bool,
    /// `open`, `answered`, `unanswered`, `succeeded` or `failed`
    state: &'static str,
    expected_record: Option<String>,
    signature: String,
}

impl Challenge {
    pub(super) fn new(row: &ChallengeRow, name: Option<&String>, standing: &Standing) -> Self {
        let until = unsigned(row.submitted_slot).saturating_add(CHALLENGE_WINDOW_SLOTS);
        let state = match row.succeeded {
            Some(0) => "failed",
            Some(_) => "succeeded",
            None if row.answered_slot.is_some() => "answered",
            None if standing.slot > until => "unanswered",
            None => "open",
        };
        Self {
            address: base58(&row.address),
            agent: row.agent.to_string(),
            agent_name: name.cloned(),
            epoch: row.epoch,
            challenger: base58(&row.challenger),
            ground: row.ground,
            ground_name: ground_name(row.ground),
            entry_hash: hex::encode(&row.entry_hash),
            evidence_hash: hex::encode(&row.evidence_hash),
            evidence_account: base58_of(row.evidence_account.as_ref()),
            submitted_slot: row.submitted_slot,
            answer_until_slot: until,
            answered_slot: row.answered_slot,
            answerer: base58_of(row.answerer.as_ref()),
            leaf_index: row.leaf_index,
            resolved_slot: row.resolved_slot,
            succeeded: row.succeeded.map(|it| it != 0),
            slashed_micro_usdc: row.slashed.map(|it| it.0.to_string()),
            reward_micro_usdc: row.reward.map(|it| it.0.to_string()),
            closed: row.closed != 0,
            state,
            expected_record: hex_of(row.expected.as_ref()),
            signature: base58(&row.signature),
        }
    }
}

/// An entry of the feedback log.
#[derive(Serialize, ToSchema)]
pub(super) struct Entry {
    index: i64,
    timestamp: i64,
    slot: i64,
    sender: String,
    payer: String,
    text: Option<String>,
    previous_head: Option<String>,
    head: String,
    signature: Option<String>,
    resolution: Option<Resolution>,
}

/// How a maintainer has resolved an entry.
#[derive(Serialize, ToSchema)]
struct Resolution {
    slot: i64,
    contract_hash: Option<String>,
    commit: String,
    maintainer: Option<String>,
}

impl Entry {
    pub(super) fn new(row: &FeedbackRow) -> Self {
        let resolution = row.resolution_slot.map(|slot| {
            let commit = row.fix_commit.as_deref().unwrap_or_default();
            // A SHA-1 id is followed by 12 zero bytes.
            let commit = match commit.split_last_chunk::<12>() {
                Some((id, zeros)) if *zeros == [0; 12] => id,
                _ => commit,
            };
            Resolution {
                slot,
                contract_hash: hex_of(row.contract_hash.as_ref()),
                commit: hex::encode(commit),
                maintainer: row.maintainer.map(|key| key.to_string()),
            }
        });
        Self {
            index: row.number,
            timestamp: row.timestamp,
            slot: row.slot,
            sender: row.sender.to_string(),
            payer: row.payer.to_string(),
            text: row.text.clone(),
            previous_head: hex_of(row.previous_head.as_ref()),
            head: hex::encode(&row.head),
            signature: base58_of(row.signature.as_ref()),
            resolution,
        }
    }
}

/// A market's contract, as it was stored.
#[derive(Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = Summary)]
pub(super) struct Contract(Value);

impl Contract {
    pub(super) fn new(row: &ContractRow) -> Self {
        Self(parsed(&row.summary))
    }
}

/// A signed rating.
#[derive(Serialize, ToSchema)]
pub(super) struct Rating {
    hash: String,
    from: String,
    target: String,
    conversation: String,
    score: i64,
    outcome: i64,
    role: i64,
    is_dispute: bool,
    slot: i64,
    timestamp_micros: String,
    in_batch: bool,
    /// what ties it to a task: `selection`, `verifier` or `contract`
    binding: Option<&'static str>,
}

impl Rating {
    pub(super) fn new(row: &EnvelopeRow, in_batch: bool, binding: Option<&'static str>) -> Self {
        Self {
            hash: hex::encode(&row.hash),
            from: row.rater.to_string(),
            target: row.target.to_string(),
            conversation: row.conversation.to_string(),
            score: row.score,
            outcome: row.outcome,
            role: row.role,
            is_dispute: row.is_dispute != 0,
            slot: row.slot,
            timestamp_micros: row.timestamp.to_string(),
            in_batch,
            binding,
        }
    }
}

/// Missing sequence numbers of an account's events.
#[derive(Serialize, ToSchema)]
pub(super) struct Gap {
    account: String,
    account_created_slot: i64,
    first: i64,
    last: i64,
    found_slot: i64,
    /// `open`, `refilled` or `from_state`
    state: String,
}

impl Gap {
    pub(super) fn new(row: &GapRow) -> Self {
        Self {
            account: base58(&row.account),
            account_created_slot: row.created_slot,
            first: row.first,
            last: row.last,
            found_slot: row.found_slot,
            state: row.state.clone(),
        }
    }
}
