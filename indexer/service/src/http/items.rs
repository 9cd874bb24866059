//! Rows as they are shown. Addresses and signatures are base58, hashes hexadecimal, amounts decimal strings.

use super::standing;
use crate::bundles::Content;
use crate::index::ShownDelegate;
use crate::market::Summary;
use crate::merge::{ground_name, number, scope_names, tree_name};
use crate::parse::{Base58, EventFields, Program, base58};
use crate::party;
use crate::reputation::{Scores, StoredReputation, StoredTally, uncovered};
use crate::status::Standing;
use crate::store::{
    AgentRow, Alike, AskRow, BatchRow, ChallengeRow, ContractRow, EnvelopeRow, FeedbackRow, GapRow, KeyRow,
    StakeRow, StoredEvent, TenureRow, signed, unsigned,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use utoipa::ToSchema;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_market::State;
use zx1_protocol::challenge::show_deadline;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::record::Record;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

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
    /// `slashed`, `slashed_before` (under a former holder), `challenged`, `no_stake`, `not_taken_over`, `unlocking`,
    /// `inactive` (no paid lease) or `good`: the gravest that holds
    standing: &'static str,
    /// of the last slash; null without one, or when it was not seen
    slashed_slot: Option<i64>,
    /// whose turn it is; null before the first stake or key
    tenure: Option<AgentTenure>,
    /// of all eras that are not claimed
    staked_micro_usdc: String,
    /// by era; claimed ones are left out
    stakes: Vec<AgentStake>,
    /// by age; ended ones too, closed ones are left out
    keys: Vec<AgentKey>,
    lease: AgentLease,
    batches: AgentBatches,
    challenges: AgentChallenges,
    asks: AgentAsks,
    slashed_micro_usdc: String,
    fined_micro_usdc: String,
    /// of the present tenure
    reputation: Scores,
    nano: Option<AgentNano>,
    /// the keys as which it is known at markets
    parties: Vec<String>,
    work: AgentWork,
    last_active_slot: Option<i64>,
}

/// What an agent's parties have done at markets.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(super) struct AgentWork {
    /// contracts that it took
    contracts: i64,
    repaired: i64,
    not_repaired: i64,
    under_way: i64,
    /// what it was paid out of principals' deposits, in raw
    earned_raw: String,
}

impl AgentWork {
    /// Of contracts that are all of this agent.
    pub(super) fn of(contracts: &[Alike]) -> Self {
        let count = |is: &dyn Fn(&Alike) -> bool| {
            contracts.iter().filter(|it| is(it)).fold(0_i64, |sum, it| sum.saturating_add(it.count))
        };
        let has_ended = |it: &Alike| it.state.parse::<State>().is_ok_and(State::is_terminal);
        Self {
            contracts: count(&|_| true),
            repaired: count(&|it| it.success == Some(1)),
            not_repaired: count(&|it| it.success == Some(0)),
            under_way: count(&|it| !has_ended(it)),
            earned_raw: Alike::earned(contracts),
        }
    }
}

/// An agent's present tenure.
#[derive(Serialize, ToSchema)]
struct AgentTenure {
    number: i64,
    /// the era in which stakes are locked and batches land
    era: i64,
    /// the wallet whose turn it is; a new holder's only when it has taken over
    owner: Option<String>,
    from_epoch: Option<i64>,
    since_slot: Option<i64>,
}

/// An agent's stake of an era.
#[derive(Serialize, ToSchema)]
struct AgentStake {
    era: i64,
    owner: String,
    micro_usdc: String,
    /// what is left of the finders' part after a slash
    pot_micro_usdc: String,
    locked_since_slot: Option<i64>,
    unlock_available_slot: Option<i64>,
    ended: bool,
    ended_slot: Option<i64>,
    slashed_slot: Option<i64>,
    open_challenges: i64,
    /// the unlock was queued and its delay has passed
    claimable: bool,
    created_slot: Option<i64>,
}

impl AgentStake {
    fn new(row: &StakeRow, now: &Standing) -> Self {
        Self {
            era: row.era,
            owner: base58(&row.owner),
            micro_usdc: row.stake.0.to_string(),
            pot_micro_usdc: row.pot.0.to_string(),
            locked_since_slot: row.since,
            unlock_available_slot: row.unlock_slot,
            ended: row.ended_slot.is_some(),
            ended_slot: row.ended_slot,
            slashed_slot: row.slashed_slot,
            open_challenges: row.open_challenges,
            claimable: standing::is_claimable(row, now),
            created_slot: row.created_slot,
        }
    }
}

/// A key of an agent.
#[derive(Serialize, ToSchema)]
struct AgentKey {
    key: String,
    /// sum of 1 pay, 2 batch, 4 deal, 8 peer
    scopes: u8,
    scope_names: Vec<&'static str>,
    /// the first epoch in which it acts and counts
    from_epoch: i64,
    /// the last epoch in which its signatures count; null while it has not ended
    until_epoch: Option<i64>,
    ended_slot: Option<i64>,
    tenure: i64,
    owner: String,
    created_slot: i64,
}

impl AgentKey {
    fn new(row: &KeyRow) -> Self {
        let scopes = u8::try_from(row.scopes).unwrap_or(0);
        Self {
            key: base58(&row.key),
            scopes,
            scope_names: scope_names(scopes),
            from_epoch: row.from_epoch,
            until_epoch: row.until_epoch,
            ended_slot: row.ended_slot,
            tenure: row.tenure,
            owner: base58(&row.owner),
            created_slot: row.created_slot,
        }
    }
}

/// What belongs to an agent beside its row.
#[derive(Default)]
pub(super) struct Belongings {
    /// Its stakes that are not claimed, by era.
    pub(super) stakes: Vec<StakeRow>,
    /// Its keys that are not closed, by age.
    pub(super) keys: Vec<KeyRow>,
    /// Slot of the last slash of any of its stakes, claimed ones too.
    pub(super) slashed_slot: Option<i64>,
    /// The parties as which it acts at markets.
    pub(super) parties: Vec<String>,
    /// What these have done.
    pub(super) work: AgentWork,
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
    /// the first epoch that a batch could cover
    first_epoch: Option<i64>,
    last_epoch: Option<i64>,
    last_slot: Option<i64>,
    /// batches whose data nobody has uploaded
    missing: i64,
    /// batches that are marked on chain: a leaf that was asked for was not shown
    withheld: i64,
    digest: String,
}

/// Asks for leaves of an agent's batches.
#[derive(Serialize, ToSchema)]
struct AgentAsks {
    open: i64,
    shown: i64,
    /// nobody answered in time
    withheld: i64,
}

/// Challenges against an agent.
#[derive(Serialize, ToSchema)]
struct AgentChallenges {
    open: i64,
    answered: i64,
    /// settled without an answer
    lost: i64,
}

/// The Nano account that is bound to an agent's owner.
#[derive(Serialize, ToSchema)]
struct AgentNano {
    address: String,
    balance_raw: Option<String>,
    receivable_raw: Option<String>,
    /// both together; null until the node was asked
    total_raw: Option<String>,
    /// when the balance was read, in Unix seconds
    checked: Option<i64>,
}

impl Agent {
    pub(super) fn new(row: &AgentRow, belongings: &Belongings, standing: &Standing) -> Self {
        let (state, behind) = lease_state(row.paid_through, standing.epoch);
        let word = standing::word(row, &belongings.stakes, belongings.slashed_slot, state);
        let tenure = row.tenure.map(|number| AgentTenure {
            number,
            era: row.era,
            owner: base58_of(row.tenure_owner.as_ref()),
            from_epoch: row.tenure_from,
            since_slot: row.tenure_slot,
        });
        let nano = row.nano_address.clone().map(|address| AgentNano {
            address,
            balance_raw: row.nano_balance.clone(),
            receivable_raw: row.nano_receivable.clone(),
            total_raw: crate::nano::total(std::slice::from_ref(row)),
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
            standing: word,
            slashed_slot: belongings.slashed_slot,
            tenure,
            staked_micro_usdc: row.stake.unwrap_or_default().0.to_string(),
            stakes: belongings.stakes.iter().map(|stake| AgentStake::new(stake, standing)).collect(),
            keys: belongings.keys.iter().map(AgentKey::new).collect(),
            lease: AgentLease {
                state,
                paid_through_epoch: row.paid_through,
                behind,
                last_paid_slot: row.lease_paid_slot,
            },
            batches: AgentBatches {
                count: row.batches,
                first_epoch: row.first_epoch,
                last_epoch: row.last_epoch,
                last_slot: row.last_batch_slot,
                missing: row.missing,
                withheld: row.withheld,
                digest: hex::encode(&row.head_digest),
            },
            challenges: AgentChallenges {
                open: row.open_challenges,
                answered: row.challenges_answered,
                lost: row.challenges_lost,
            },
            asks: AgentAsks { open: row.asks_open, shown: row.asks_shown, withheld: row.asks_withheld },
            slashed_micro_usdc: row.slashed.0.to_string(),
            fined_micro_usdc: row.fined.0.to_string(),
            reputation: scores(row),
            nano,
            parties: belongings.parties.clone(),
            work: belongings.work.clone(),
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
    /// for information: they give no authority, keys do
    delegates: Vec<ShownDelegate>,
    /// in ascending order of `number`
    tenures: Vec<Tenure>,
    /// epochs that no batch covers, one that is marked counted as none
    uncovered_epochs: u64,
    /// always null: there is no tournament yet
    elo: Option<i64>,
    reputation_detail: ReputationDetail,
}

/// A tenure of an agent, and what it has earned.
#[derive(Serialize, ToSchema)]
struct Tenure {
    number: i64,
    owner: String,
    from_epoch: i64,
    /// the last epoch; null for the present tenure
    to_epoch: Option<i64>,
    slot: Option<i64>,
    /// epochs of it that no batch covers
    uncovered_epochs: u64,
    /// what counts; null without a batch that does
    reputation: Option<Scores>,
    unbound: Option<Scores>,
    tally: Option<StoredTally>,
}

/// The tenures of an agent. `batches` are all of its batches, by epoch.
fn tenures(
    row: &AgentRow,
    tenures: &[TenureRow],
    batches: &[BatchRow],
    stored: &StoredReputation,
) -> Vec<Tenure> {
    let opened = Epoch(row.first_epoch.map_or(0, unsigned));
    let mut shown = Vec::with_capacity(tenures.len());
    for (at, tenure) in tenures.iter().enumerate() {
        let next = tenures.get(at.saturating_add(1)).map(|next| Epoch(unsigned(next.from_epoch)));
        let first = Epoch(unsigned(tenure.from_epoch)).max(opened);
        let turn = stored.turns.get(&number(tenure.number));
        shown.push(Tenure {
            number: tenure.number,
            owner: base58(&tenure.owner),
            from_epoch: tenure.from_epoch,
            to_epoch: next.map(|next| signed(next.0.saturating_sub(1))),
            slot: tenure.slot,
            // Without a head no epoch can be covered.
            uncovered_epochs: if row.first_epoch.is_some() { uncovered(batches, first, next) } else { 0 },
            reputation: turn.map(|turn| turn.batch),
            unbound: turn.map(|turn| turn.unbound),
            tally: turn.map(|turn| turn.tally),
        });
    }
    shown
}

/// An agent's reputation by what vouches for it, in the present tenure.
#[derive(Serialize, ToSchema)]
struct ReputationDetail {
    batch: Scores,
    unbound: Scores,
    real_time: Scores,
    tally: StoredTally,
    as_of_epoch: u64,
}

impl AgentDetail {
    /// `tenures` by number, `batches` by epoch: all that the agent has.
    pub(super) fn new(
        row: &AgentRow,
        belongings: &Belongings,
        of: &[TenureRow],
        batches: &[BatchRow],
        standing: &Standing,
    ) -> Self {
        let stored: StoredReputation = parsed(&row.reputation);
        let turn = row.tenure.and_then(|tenure| stored.turns.get(&number(tenure)));
        let turn = turn.copied().unwrap_or_default();
        let first = row.first_epoch.or_else(|| batches.first().map(|batch| batch.covers_from));
        let uncovered_epochs = first.map_or(0, |first| uncovered(batches, Epoch(unsigned(first)), None));
        Self {
            agent: Agent::new(row, belongings, standing),
            metadata: parsed(&row.metadata),
            token_account: base58_of(row.token.as_ref()),
            member_index: base58_of(row.member_index.as_ref()),
            delegates: parsed(&row.delegates),
            tenures: tenures(row, of, batches, &stored),
            uncovered_epochs,
            elo: None,
            reputation_detail: ReputationDetail {
                batch: scores(row),
                unbound: turn.unbound,
                real_time: stored.real_time,
                tally: turn.tally,
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
    agent_name: Option<String>,
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
    pub(super) fn new(stored: &'a StoredEvent, name: Option<&String>, standing: &Standing) -> Self {
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
            agent_name: name.cloned(),
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
    /// the era whose stake answers for it
    era: i64,
    tenure: i64,
    submitted_slot: i64,
    block_time: Option<i64>,
    signature: String,
    signer: String,
    payer: String,
    /// the digest of the agent's head before it
    previous_digest: String,
    batch_hash: String,
    log_merkle_root: String,
    log_len: i64,
    arrays_root: String,
    arrays_len: i64,
    /// whether it can be challenged now: `window_ends_slot` has not passed
    open: bool,
    /// whether its account is still there
    account_open: bool,
    /// the last slot in which it can be challenged
    window_ends_slot: u64,
    challenges: i64,
    /// marked on chain: a leaf that was asked for was not shown, and the batch counts for nothing
    withheld: bool,
    /// null also when that was not seen
    withheld_slot: Option<i64>,
    /// `served` or `missing`
    data: &'static str,
    data_bytes: Option<i64>,
    /// what the signer has signed
    message: String,
}

impl Batch {
    pub(super) fn new(row: &BatchRow, name: Option<&String>, network: &Hash, now: &Standing) -> Self {
        let (account_open, ends) =
            (row.open != 0, unsigned(row.submitted_slot).saturating_add(CHALLENGE_WINDOW_SLOTS));
        Self {
            agent: row.agent.to_string(),
            agent_name: name.cloned(),
            epoch: row.epoch,
            covers_from_epoch: row.covers_from,
            era: row.era,
            tenure: row.tenure,
            submitted_slot: row.submitted_slot,
            block_time: row.block_time,
            signature: base58(&row.signature),
            signer: base58(&row.signer),
            payer: base58(&row.payer),
            previous_digest: hex::encode(&row.previous_digest),
            batch_hash: hex::encode(&row.batch_hash),
            log_merkle_root: hex::encode(&row.log_root),
            log_len: row.log_len,
            arrays_root: hex::encode(&row.arrays_root),
            arrays_len: row.arrays_len,
            open: standing::is_window_open(account_open, ends, now),
            account_open,
            window_ends_slot: ends,
            challenges: row.challenges,
            withheld: row.withheld_slot.is_some(),
            withheld_slot: row.withheld_slot.filter(|slot| *slot != 0),
            data: if row.data_bytes.is_some() { "served" } else { "missing" },
            data_bytes: row.data_bytes,
            message: hex::encode(row.message(network).to_bytes()),
        }
    }
}

/// A batch's page.
#[derive(Serialize, ToSchema)]
pub(super) struct BatchDetail {
    #[serde(flatten)]
    batch: Batch,
    /// what the batch says of itself; null while its data is missing
    #[schema(value_type = Option<Content>)]
    content: Value,
}

impl BatchDetail {
    pub(super) fn new(row: &BatchRow, name: Option<&String>, network: &Hash, now: &Standing) -> Self {
        Self { batch: Batch::new(row, name, network, now), content: content(row) }
    }
}

/// What a batch says of itself; null while its data is missing.
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
    /// the era whose stake answers for it
    era: i64,
    /// its place in the era's order
    rank: i64,
    claim: String,
    value_known: bool,
    challenger: String,
    /// who opened the claim
    first_challenger: String,
    /// whether a lower rank has taken the claim over
    taken_over: bool,
    ground: i64,
    ground_name: &'static str,
    entry_hash: String,
    /// the draft that was used
    draft: String,
    submitted_slot: i64,
    answer_until_slot: u64,
    /// 0 open, 1 answered, 2 succeeded: the agent was slashed, 3 nothing was left
    outcome: i64,
    /// `open`, `unanswered`, `answered`, `succeeded` or `empty`
    state: &'static str,
    settled_slot: Option<i64>,
    answerer: Option<String>,
    leaf_index: Option<i64>,
    to_stake_micro_usdc: Option<String>,
    to_answerer_micro_usdc: Option<String>,
    slashed_micro_usdc: Option<String>,
    reward_micro_usdc: Option<String>,
    closed: bool,
    expected_record: Option<String>,
    /// what the batch leaves out; null until the challenge's account was read
    hidden: Option<Hidden>,
    signature: String,
}

/// A record that a batch does not hold, as the challenger's evidence determines it.
#[derive(Serialize, ToSchema)]
struct Hidden {
    /// `bid`, `selection`, `verifier` or `feedback`
    kind: &'static str,
    conversation: String,
    /// the other agent: the counterparty, the verifier, or who rated
    other: String,
    other_name: Option<String>,
    /// the contract of a market that the conversation is; the value is in raw then
    contract: Option<String>,
    /// of a bid, in units that the two agents agreed on; null also when the evidence leaves it open
    value: Option<String>,
    /// of a rating
    score: Option<i8>,
    slot: u64,
}

impl Hidden {
    fn new(row: &ChallengeRow) -> Option<Self> {
        let record = Record::parse(row.expected.as_deref()?).ok()?;
        let known = row.value_known != 0;
        let of = |kind, conversation: ConversationId, other: AgentId, slot: Slot| Self {
            kind,
            conversation: conversation.to_string(),
            other: other.to_string(),
            other_name: None,
            contract: None,
            value: None,
            score: None,
            slot: slot.0,
        };
        Some(match record {
            Record::Bid(it) => Self {
                value: known.then(|| it.value.to_string()),
                ..of("bid", it.conversation, it.counterparty, it.slot)
            },
            Record::Selection(it) => of("selection", it.conversation, it.counterparty, it.slot),
            Record::Verifier(it) => of("verifier", it.conversation, it.verifier, it.slot),
            Record::Feedback(it) => {
                Self { score: Some(it.score), ..of("feedback", it.conversation, it.from, it.slot) }
            }
        })
    }
}

/// `ground` of a double bid, which nothing can answer, so that it is settled at once.
pub(super) const DOUBLE_BID: i64 = 5;

impl Challenge {
    /// Whom and which conversation the hidden record is about.
    pub(super) fn hidden(&self) -> Option<(AgentId, ConversationId)> {
        let hidden = self.hidden.as_ref()?;
        Some((hidden.other.parse().ok()?, hidden.conversation.parse().ok()?))
    }

    /// What the index knows of them.
    pub(super) fn tell(&mut self, other_name: Option<String>, contract: Option<String>) {
        if let Some(hidden) = &mut self.hidden {
            (hidden.other_name, hidden.contract) = (other_name, contract);
        }
    }

    pub(super) fn new(row: &ChallengeRow, name: Option<&String>, standing: &Standing) -> Self {
        let until = unsigned(row.submitted_slot).saturating_add(CHALLENGE_WINDOW_SLOTS);
        let state = match row.outcome {
            0 if row.ground == DOUBLE_BID || standing.slot > until => "unanswered",
            0 => "open",
            1 => "answered",
            2 => "succeeded",
            _ => "empty",
        };
        let amount = |amount: Option<MicroUsdc>| amount.map(|it| it.0.to_string());
        Self {
            address: base58(&row.address),
            agent: row.agent.to_string(),
            agent_name: name.cloned(),
            epoch: row.epoch,
            era: row.era,
            rank: row.rank,
            claim: hex::encode(&row.claim),
            value_known: row.value_known != 0,
            challenger: base58(&row.challenger),
            first_challenger: base58(&row.first_challenger),
            taken_over: row.challenger != row.first_challenger,
            ground: row.ground,
            ground_name: ground_name(row.ground),
            entry_hash: hex::encode(&row.entry_hash),
            draft: base58(&row.draft),
            submitted_slot: row.submitted_slot,
            answer_until_slot: until,
            outcome: row.outcome,
            state,
            settled_slot: row.settled_slot,
            answerer: base58_of(row.answerer.as_ref()),
            leaf_index: row.leaf_index,
            to_stake_micro_usdc: amount(row.to_stake),
            to_answerer_micro_usdc: amount(row.to_answerer),
            slashed_micro_usdc: amount(row.slashed),
            reward_micro_usdc: amount(row.reward),
            closed: row.closed != 0,
            expected_record: hex_of(row.expected.as_ref()),
            hidden: Hidden::new(row),
            signature: base58(&row.signature),
        }
    }
}

/// An ask for a leaf of a batch.
#[derive(Serialize, ToSchema)]
pub(super) struct Ask {
    address: String,
    agent: String,
    agent_name: Option<String>,
    epoch: i64,
    /// the era whose stake answers for it
    era: i64,
    /// its place in the era's order of asks
    rank: i64,
    /// 0 the log, 1 the arrays
    tree: i64,
    tree_name: &'static str,
    /// the leaf, counted in the tree without padding
    index: i64,
    asker: String,
    created_slot: i64,
    show_until_slot: u64,
    /// 0 open, 1 shown, 2 withheld: the batch is marked and the money waits, 3 settled
    state: i64,
    /// `open`, `overdue`, `shown`, `withheld` or `settled`
    state_name: &'static str,
    shower: Option<String>,
    leaf_hash: Option<String>,
    settled_slot: Option<i64>,
    fine_micro_usdc: Option<String>,
    /// the price among it
    to_asker_micro_usdc: Option<String>,
    closed: bool,
    signature: String,
}

impl Ask {
    pub(super) fn new(row: &AskRow, name: Option<&String>, standing: &Standing) -> Self {
        let until = show_deadline(Slot(unsigned(row.created_slot))).0;
        let state_name = match row.state {
            0 if standing.slot > until => "overdue",
            0 => "open",
            1 => "shown",
            2 => "withheld",
            _ => "settled",
        };
        Self {
            address: base58(&row.address),
            agent: row.agent.to_string(),
            agent_name: name.cloned(),
            epoch: row.epoch,
            era: row.era,
            rank: row.rank,
            tree: row.tree,
            tree_name: tree_name(row.tree),
            index: row.leaf_index,
            asker: base58(&row.asker),
            created_slot: row.created_slot,
            show_until_slot: until,
            state: row.state,
            state_name,
            shower: base58_of(row.shower.as_ref()),
            leaf_hash: hex_of(row.leaf_hash.as_ref()),
            settled_slot: row.settled_slot,
            fine_micro_usdc: row.fine.map(|it| it.0.to_string()),
            to_asker_micro_usdc: row.to_asker.map(|it| it.0.to_string()),
            closed: row.closed != 0,
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

/// A market's contract.
#[derive(Serialize, ToSchema)]
pub(super) struct Contract {
    #[serde(flatten)]
    #[schema(value_type = Summary)]
    summary: Value,
    /// the agent on chain that the principal is, if it is one
    principal_agent: Option<KnownAs>,
    /// the agent on chain that the contract's agent is
    agent_agent: Option<KnownAs>,
}

/// An agent on chain behind a party of a market.
#[derive(Serialize, ToSchema)]
struct KnownAs {
    mint: String,
    number: i64,
    name: String,
    /// convicted of leaving something out of a batch
    slashed: bool,
}

impl Contract {
    /// `known` are agents by the party that they act as.
    pub(super) fn new(row: &ContractRow, known: &HashMap<[u8; 32], AgentRow>) -> Self {
        let of = |party: &str| {
            let agent = known.get(&party::key_of(party)?)?;
            Some(KnownAs {
                mint: agent.mint.to_string(),
                number: agent.number,
                name: agent.name.clone(),
                slashed: standing::is_slashed(agent),
            })
        };
        Self {
            summary: parsed(&row.summary),
            principal_agent: of(&row.principal),
            agent_agent: row.agent.as_deref().and_then(of),
        }
    }
}

/// A signed rating.
#[derive(Serialize, ToSchema)]
pub(super) struct Rating {
    hash: String,
    from: String,
    from_name: Option<String>,
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
    pub(super) fn new(
        row: &EnvelopeRow,
        name: Option<&String>,
        in_batch: bool,
        binding: Option<&'static str>,
    ) -> Self {
        Self {
            hash: hex::encode(&row.hash),
            from: row.rater.to_string(),
            from_name: name.cloned(),
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
