//! Reputation, recomputed from what is served (decisions D1 to D4), for each tenure by itself (decision P1). The
//! arithmetic is `zx1_protocol`'s; here is what it is fed with: batches whose data is here and holds and that
//! withhold no leaf, their feedback events, signed ratings that were heard, and what ties a rating to a task.

use crate::error::Result;
use crate::index::{Index, chunks, now_ms};
use crate::merge::{epoch_row, number, stream_row};
use crate::store::{
    AgentRow, BatchRow, Commit, ContractRow, ConversationRow, EnvelopeRow, Find, RatingRow, signed, unsigned,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use utoipa::ToSchema;
use zx1_protocol::batch::Covered;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::record::{KIND_SELECTION, KIND_VERIFIER};
use zx1_protocol::reputation::{
    BatchFacts, Binding, Event, Ledger, Rating, Standing, State, Tally, Turn, Vector,
};
use zx1_protocol::units::{Epoch, Slot};

/// Everything that an agent's reputation is computed from.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// All batches of the agent.
    pub batches: Vec<BatchRow>,
    /// Feedback events of those batches whose data is served.
    pub ratings: Vec<RatingRow>,
    /// Signed ratings of the agent that the indexer has received.
    pub envelopes: Vec<EnvelopeRow>,
    /// Conversations in any agent's batches that those ratings are about.
    pub conversations: Vec<ConversationRow>,
    /// Settled contracts with those conversations.
    pub contracts: Vec<ContractRow>,
    /// Number of the present tenure.
    pub tenure: u32,
    /// First epoch of the present tenure.
    pub tenure_from: Epoch,
}

/// A computed reputation: vectors that are never merged (decision D4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reputation {
    /// What each tenure has, by its number: the scores that count, computed batch by batch and decayed up to the
    /// current epoch, and those from ratings whose task nothing binds to its parties (decision D2).
    pub turns: BTreeMap<u32, Turn>,
    /// Number of the present tenure.
    pub tenure: u32,
    /// Scores from all signed ratings of the present tenure, bound or not, in the order of their own times.
    pub real_time: Vector,
    /// The standing of each rating of a served batch that counts, by epoch and entry.
    pub standings: BTreeMap<(i64, i64), Standing>,
}

impl Reputation {
    /// What the present tenure has.
    pub fn present(&self) -> Turn {
        self.turns.get(&self.tenure).copied().unwrap_or_default()
    }
}

/// A vector on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Scores {
    /// mean score as participant
    pub reliability: i64,
    /// mean outcome in both roles, from -100 to 100
    pub cooperation: i64,
    /// mean score as notary
    pub notary: i64,
    /// ratings as participant
    pub tasks: i64,
    /// ratings as notary
    pub notarized: i64,
    /// disputes involved in
    pub disputes: i64,
    /// batches that count
    pub batches: i64,
    /// the last slot of the last batch in which the agent sent anything
    pub last_active_slot: i64,
}

impl From<&Vector> for Scores {
    fn from(vector: &Vector) -> Self {
        Self {
            reliability: vector.reliability_score,
            cooperation: vector.cooperation_index,
            notary: vector.notary_accuracy,
            tasks: vector.total_tasks.into(),
            notarized: vector.total_notarized.into(),
            disputes: vector.total_disputes.into(),
            batches: vector.batches.into(),
            last_active_slot: signed(vector.last_active_slot.0),
        }
    }
}

/// How many ratings had which standing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredTally {
    bound: u32,
    left_out: u32,
    unbound: u32,
    repeated: u32,
}

impl From<Tally> for StoredTally {
    fn from(Tally { bound, left_out, unbound, repeated }: Tally) -> Self {
        Self { bound, left_out, unbound, repeated }
    }
}

/// What is kept of a tenure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTurn {
    /// Scores of the ratings that count.
    pub batch: Scores,
    /// Ratings that nobody vouches for.
    pub unbound: Scores,
    /// How many ratings had which standing.
    pub tally: StoredTally,
}

impl From<&Turn> for StoredTurn {
    fn from(turn: &Turn) -> Self {
        Self {
            batch: Scores::from(&turn.counted.vector()),
            unbound: Scores::from(&turn.apart.vector()),
            tally: turn.tally.into(),
        }
    }
}

/// What is kept of a reputation beside the present tenure's scores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredReputation {
    /// Each tenure with batches, by number.
    pub turns: BTreeMap<u32, StoredTurn>,
    /// Everything of the present tenure that was heard, as it came.
    pub real_time: Scores,
    /// The epoch that it was computed in.
    pub as_of_epoch: Option<u64>,
}

fn byte(number: i64) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn rating(score: i64, outcome: i64, role: i64, is_dispute: i64) -> Rating {
    Rating {
        score: i8::try_from(score).unwrap_or(0),
        outcome: byte(outcome),
        role: byte(role),
        is_dispute: is_dispute != 0,
    }
}

/// What makes an envelope the one behind a feedback event of a batch.
type Same = (AgentId, ConversationId, i64, i64, i64, i64);

fn of_event(it: &RatingRow) -> Same {
    (it.rater, it.conversation, it.score, it.outcome, it.role, it.slot)
}

fn of_envelope(it: &EnvelopeRow) -> Same {
    (it.rater, it.conversation, it.score, it.outcome, it.role, it.slot)
}

/// The batch's own facts, where its data is here and holds. One that withholds a leaf counts for nothing
/// (decision P4).
fn batch_facts(batch: &BatchRow) -> Option<BatchFacts> {
    let content: Value = serde_json::from_str(batch.content.as_deref()?).ok()?;
    content.get("holds")?.as_bool()?.then_some(())?;
    batch.withheld_slot.is_none().then_some(())?;
    let small = |name: &str| u32::try_from(content.get(name)?.as_u64()?).ok();
    Some(BatchFacts {
        epoch: Epoch(unsigned(batch.epoch)),
        tenure: number(batch.tenure),
        slot_end: Slot(content.get("slot_end")?.as_u64()?),
        message_count: small("message_count")?,
        disputes: small("disputes")?,
    })
}

/// How many epochs no batch covers, of those from `first` on and before `end`; both the agent's head and the
/// tenures begin with an epoch of their own.
pub fn uncovered(batches: &[BatchRow], first: Epoch, end: Option<Epoch>) -> u64 {
    let covering = batches.iter().filter(|batch| batch.withheld_slot.is_none());
    let covered = covering.map(|batch| Covered {
        from: Epoch(unsigned(batch.covers_from)).max(first),
        to: Epoch(unsigned(batch.epoch)),
    });
    let mine = covered.filter(|covered| covered.to >= first && end.is_none_or(|end| covered.to < end));
    // What a former tenure left uncovered up to its end is known as soon as the next one begins.
    let end = end.map(|end| Covered { from: end, to: end });
    zx1_protocol::reputation::uncovered(first, mine.chain(end))
}

/// What ties conversations to parties.
struct Bound {
    by_party: HashMap<(ConversationId, AgentId), Binding>,
    settled: HashSet<ConversationId>,
}

impl Bound {
    fn of(facts: &Facts) -> Self {
        let mut by_party = HashMap::new();
        for it in &facts.conversations {
            let binding = match byte(it.kind) {
                KIND_SELECTION => Binding::Selection,
                KIND_VERIFIER => Binding::Verifier,
                _ => continue,
            };
            by_party.entry((it.conversation, it.agent)).or_insert(binding);
        }
        let settled = facts.contracts.iter().filter_map(|contract| contract.conversation).collect();
        Self { by_party, settled }
    }

    /// Either party's selections or verifiers, or a settled contract (decision D2).
    fn binding(&self, agent: AgentId, conversation: ConversationId, rater: AgentId) -> Option<Binding> {
        let of = |party: AgentId| self.by_party.get(&(conversation, party)).copied();
        let settled = || self.settled.contains(&conversation).then_some(Binding::Contract);
        of(agent).or_else(|| of(rater)).or_else(settled)
    }
}

/// What ties a rating's conversation to its parties.
pub fn binding_of(
    agent: AgentId,
    facts: &Facts,
    conversation: ConversationId,
    rater: AgentId,
) -> Option<Binding> {
    Bound::of(facts).binding(agent, conversation, rater)
}

/// Computes it. Pure; `now` is the current epoch, for decay.
pub fn compute(agent: &AgentId, facts: &Facts, now: Epoch) -> Reputation {
    let bound = Bound::of(facts);
    let binding = |conversation, rater| bound.binding(*agent, conversation, rater);
    let heard: HashSet<Same> = facts.envelopes.iter().map(of_envelope).collect();
    let mut by_epoch: BTreeMap<i64, Vec<&RatingRow>> = BTreeMap::new();
    for it in &facts.ratings {
        by_epoch.entry(it.epoch).or_default().push(it);
    }
    let in_batches: HashSet<Same> = facts.ratings.iter().map(of_event).collect();
    let mut batches: Vec<&BatchRow> = facts.batches.iter().collect();
    batches.sort_by_key(|batch| batch.epoch);
    let epoch_of = |it: &EnvelopeRow| Epoch::from_unix_micros(unsigned(it.timestamp));
    let mut ledger = Ledger::default();
    let mut standings = BTreeMap::new();
    let mut seen: HashSet<(AgentId, ConversationId, i64)> = HashSet::new();
    for batch in batches {
        let Some(facts_of_batch) = batch_facts(batch) else { continue };
        let mut events = Vec::new();
        let held = by_epoch.get(&batch.epoch).map(Vec::as_slice).unwrap_or_default();
        for it in held {
            let event = Event {
                rating: rating(it.score, it.outcome, it.role, 0),
                from: it.rater,
                conversation: it.conversation,
                slot: Slot(unsigned(it.slot)),
                in_batch: true,
                envelope_at_hand: heard.contains(&of_event(it)),
                binding: binding(it.conversation, it.rater),
            };
            let mut standing = event.standing();
            let task = (it.rater, it.conversation, it.role);
            if standing.counts() && !seen.insert(task) {
                standing = Standing::Repeated;
            }
            standings.insert((it.epoch, it.entry), standing);
            events.push(event);
        }
        let covered = batch.covers_from..=batch.epoch;
        let left_out = facts
            .envelopes
            .iter()
            .filter(|it| covered.contains(&signed(epoch_of(it).0)) && !in_batches.contains(&of_envelope(it)));
        for it in left_out {
            let task = (it.rater, it.conversation, it.role);
            let binding = binding(it.conversation, it.rater);
            if binding.is_some() {
                seen.insert(task);
            }
            events.push(Event {
                rating: rating(it.score, it.outcome, it.role, it.is_dispute),
                from: it.rater,
                conversation: it.conversation,
                slot: Slot(unsigned(it.slot)),
                in_batch: false,
                envelope_at_hand: true,
                binding,
            });
        }
        // Epochs rise and ratings were checked when they came; what does not fit is left out.
        if let Err(error) = ledger.apply_batch(&facts_of_batch, &events) {
            tracing::warn!(code = error.code(), %error, "a batch does not count");
        }
    }
    let mut real_time = State::default();
    let mut envelopes: Vec<&EnvelopeRow> =
        facts.envelopes.iter().filter(|it| epoch_of(it) >= facts.tenure_from).collect();
    envelopes.sort_by(|a, b| (a.timestamp, &a.hash).cmp(&(b.timestamp, &b.hash)));
    for it in envelopes {
        let _ = real_time.rate(&rating(it.score, it.outcome, it.role, it.is_dispute));
    }
    let turns =
        ledger.turns().map(|(tenure, turn)| (tenure, Turn { counted: turn.counted.at(now), ..*turn }));
    let turns = turns.collect();
    Reputation { turns, tenure: facts.tenure, real_time: real_time.vector(), standings }
}

/// Reads what an agent's reputation rests on.
///
/// # Errors
///
/// The store's.
pub async fn facts(index: &Index, agent: &AgentId) -> Result<Facts> {
    let store = &index.store;
    let row = index.agent_row(agent).await?;
    let tenure = row.as_ref().and_then(|row| row.tenure).map_or(0, number);
    let tenure_from = Epoch(row.and_then(|row| row.tenure_from).map_or(0, unsigned));
    let batches = store.batches(Find::by("agent", *agent).order(&["epoch"])).await?;
    let ratings = store.ratings(Find::by("agent", *agent).order(&["epoch", "entry"])).await?;
    let envelopes = store.envelopes(Find::by("target", *agent)).await?;
    let mut wanted: BTreeSet<ConversationId> = ratings.iter().map(|it| it.conversation).collect();
    wanted.extend(envelopes.iter().map(|it| it.conversation));
    let (mut conversations, mut contracts) = (Vec::new(), Vec::new());
    for chunk in chunks(&wanted) {
        let find = Find::any("conversation", chunk.iter().copied());
        conversations.extend(store.conversations(find.clone()).await?);
        contracts.extend(store.contracts(find.and("settled", "=", 1)).await?);
    }
    // A batch that withholds a leaf binds nothing either.
    let parties: BTreeSet<AgentId> = conversations.iter().map(|it: &ConversationRow| it.agent).collect();
    let mut marked: HashSet<(AgentId, i64)> = HashSet::new();
    for chunk in chunks(&parties) {
        let find = Find::any("agent", chunk).sure("withheld_slot IS NOT NULL");
        marked.extend(store.batches(find).await?.iter().map(|batch| (batch.agent, batch.epoch)));
    }
    conversations.retain(|it| !marked.contains(&(it.agent, it.epoch)));
    Ok(Facts { batches, ratings, envelopes, conversations, contracts, tenure, tenure_from })
}

/// Takes a reputation into an agent's row. Whether anything changed.
pub fn take(row: &mut AgentRow, reputation: &Reputation, epoch: u64) -> bool {
    let Vector {
        reliability_score,
        cooperation_index,
        notary_accuracy,
        total_tasks,
        total_notarized,
        total_disputes,
        batches,
        last_active_slot,
    } = reputation.present().counted.vector();
    let before = row.clone();
    row.reliability = reliability_score;
    row.cooperation = cooperation_index;
    row.notary = notary_accuracy;
    row.tasks = i64::from(total_tasks);
    row.notarized = i64::from(total_notarized);
    row.disputes = i64::from(total_disputes);
    row.counted_batches = i64::from(batches);
    row.reputation_slot = signed(last_active_slot.0);
    let stored = StoredReputation {
        turns: reputation.turns.iter().map(|(tenure, turn)| (*tenure, turn.into())).collect(),
        real_time: Scores::from(&reputation.real_time),
        as_of_epoch: Some(epoch),
    };
    row.reputation = json!(stored).to_string();
    let changed = |row: &AgentRow| {
        (
            row.reliability,
            row.cooperation,
            row.notary,
            row.tasks,
            row.notarized,
            row.disputes,
            row.counted_batches,
        )
    };
    changed(&before) != changed(row) || without_epoch(&before.reputation) != without_epoch(&row.reputation)
}

/// The text up to the epoch, which alone is no news.
fn without_epoch(text: &str) -> StoredReputation {
    let stored: StoredReputation = serde_json::from_str(text).unwrap_or_default();
    StoredReputation { as_of_epoch: None, ..stored }
}

/// Computes these agents' reputations anew and tells what changed. `cause` is `batch`, `rating`, `binding`,
/// `chain` or `decay`; `origin` makes the news one.
///
/// # Errors
///
/// The store's.
pub async fn refresh(index: &Index, agents: &BTreeSet<AgentId>, cause: &str, origin: &str) -> Result<()> {
    let epoch = index.status.get().epoch;
    for mint in agents {
        let _refreshing = index.refreshing.lock().await;
        let facts = facts(index, mint).await?;
        let reputation = compute(mint, &facts, Epoch(epoch));
        let _writer = index.writer().await;
        let Some(mut row) = index.agent_row(mint).await? else { continue };
        if !take(&mut row, &reputation, epoch) {
            continue;
        }
        let mut commit = Commit::default();
        commit.epochs.push(epoch_row(&row, signed(epoch)));
        let fields = json!({
            "cause": cause,
            "epoch": epoch,
            "batch": Scores::from(&reputation.present().counted.vector()),
            "real_time": Scores::from(&reputation.real_time),
        });
        let origin = format!("reputation/{mint}/{cause}/{origin}");
        commit.stream.push(stream_row("reputation_update", origin, Some(&row), None, now_ms(), fields));
        commit.agents.push(row);
        index.write_rows(commit).await?;
    }
    Ok(())
}

/// A new epoch, or a new process: positive scores of idle agents have decayed (decision D3), and an earlier
/// process may have ended between keeping a batch's data and computing what follows from it.
///
/// # Errors
///
/// The store's.
pub async fn epoch_began(index: &Index) -> Result<()> {
    let epoch = index.status.get().epoch;
    let find = Find::all().sure("(counted_batches > 0 OR missing < batches)");
    let agents = index.store.agents(find).await?.iter().map(|row| row.mint).collect();
    refresh(index, &agents, "decay", &epoch.to_string()).await
}

#[cfg(test)]
mod tests;
