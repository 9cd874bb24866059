//! Reputation: pure arithmetic over ratings and batches (protocol.md, 7; decisions D1 to D4).
//!
//! A [`State`] takes ratings. A [`Ledger`] keeps two of them for each tenure: what counts, recomputed from
//! batches, and what is shown apart because nobody vouches for it. What is heard by gossip goes into a
//! [`State`] of its own.

use crate::batch::Covered;
use crate::behavior_batch::BehaviorBatch;
use crate::error::numbered;
use crate::ids::{AgentId, ConversationId};
use crate::payload::{self, MAX_SCORE, PayloadError, check_rating};
use crate::record;
use crate::units::{Epoch, Slot};
use std::collections::{BTreeMap, BTreeSet};
use zx1_interface::accounts::BatchAccount;

/// Scores are thousandths (decision D1).
pub const SCALE: i64 = 1_000;
/// The best score, and negated the worst. Neutral is 0.
pub const MAX_REPUTATION: i64 = MAX_SCORE as i64 * SCALE;
/// Epochs without a batch before decay begins (protocol.md, 11).
pub const DECAY_WINDOW_EPOCHS: u64 = 6;
/// What an idle epoch leaves of a positive score: 95/100 (protocol.md, 11).
pub const DECAY_FACTOR: (i64, i64) = (95, 100);

/// Why a rating or a batch is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReputationError {
    /// A score, outcome or role out of range.
    Rating(PayloadError),
    /// A batch that is not later than the last one.
    NotIncreasing {
        /// The epoch of the last batch.
        last: Epoch,
    },
}

numbered!(ReputationError {
    7334 Self::Rating(error) => "The rating is out of range. {error}";
    7335 Self::NotIncreasing { last } =>
        "Batches count in the order of their epochs, and one of epoch {} was counted already.", last.0;
});

/// One rating, whoever gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating {
    /// -100 to 100.
    pub score: i8,
    /// 0 negative, 1 neutral, 2 positive.
    pub outcome: u8,
    /// 0 rated as participant, 1 as notary.
    pub role: u8,
    /// Whether the outcome is contested. A batch's feedback events do not tell; the batch's own counter of
    /// disputes stands for them.
    pub is_dispute: bool,
}

impl From<&payload::Feedback> for Rating {
    fn from(feedback: &payload::Feedback) -> Self {
        let payload::Feedback { score, outcome, role, is_dispute, .. } = *feedback;
        Self { score, outcome, role, is_dispute }
    }
}

impl From<&record::Feedback> for Rating {
    fn from(event: &record::Feedback) -> Self {
        Self { score: event.score, outcome: event.outcome, role: event.role, is_dispute: false }
    }
}

/// An agent's scores and what they rest on. Everything at 0 to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    reliability: i64,
    cooperation: i64,
    notary: i64,
    tasks: u32,
    notarized: u32,
    disputes: u32,
    batches: u32,
    last_batch: Option<Epoch>,
    last_active_slot: Slot,
}

/// What is shown of an agent, side by side and never merged (decision D4), as far as this crate knows it.
/// Scores are thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vector {
    /// Mean score as participant.
    pub reliability_score: i64,
    /// Mean outcome in both roles, of -100, 0 and +100.
    pub cooperation_index: i64,
    /// Mean score as notary.
    pub notary_accuracy: i64,
    /// Ratings as participant.
    pub total_tasks: u32,
    /// Ratings as notary.
    pub total_notarized: u32,
    /// Disputes involved in.
    pub total_disputes: u32,
    /// Number of batches that count.
    pub batches: u32,
    /// The slot up to which the last batch in which the agent sent anything reaches.
    pub last_active_slot: Slot,
}

/// What counts of a batch besides its ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchFacts {
    /// Epoch of the batch.
    pub epoch: Epoch,
    /// Number of the tenure in which it landed.
    pub tenure: u32,
    /// Last slot of the batch's epochs.
    pub slot_end: Slot,
    /// Number of messages sent.
    pub message_count: u32,
    /// Disputes sent or received.
    pub disputes: u32,
}

impl BatchFacts {
    /// Those of a batch and its account; `None` for one that withholds a leaf, which counts for nothing
    /// (decision P4).
    pub fn of(batch: &BehaviorBatch, account: &BatchAccount) -> Option<Self> {
        (account.withheld == 0).then_some(Self {
            epoch: batch.epoch_number,
            tenure: account.tenure,
            slot_end: batch.slot_end,
            message_count: batch.message_count,
            disputes: batch.disputes,
        })
    }
}

impl State {
    /// Takes one rating (decision D1).
    pub fn rate(&mut self, rating: &Rating) -> Result<(), ReputationError> {
        check_rating(rating.score, rating.outcome, rating.role).map_err(ReputationError::Rating)?;
        let (score, count) = match rating.role {
            0 => (&mut self.reliability, &mut self.tasks),
            _ => (&mut self.notary, &mut self.notarized),
        };
        *count = count.saturating_add(1);
        *score = averaged(*score, u64::from(*count), i64::from(rating.score));
        let ratings = u64::from(self.tasks).saturating_add(u64::from(self.notarized));
        let outcome = i64::from(rating.outcome).saturating_sub(1).saturating_mul(i64::from(MAX_SCORE));
        self.cooperation = averaged(self.cooperation, ratings, outcome);
        self.disputes = self.disputes.saturating_add(u32::from(rating.is_dispute));
        Ok(())
    }

    /// Takes a batch: the decay of the idle epochs before it, then its counters. Its ratings follow with
    /// [`Self::rate`].
    pub fn begin_batch(&mut self, batch: &BatchFacts) -> Result<(), ReputationError> {
        if let Some(last) = self.last_batch.filter(|last| batch.epoch <= *last) {
            return Err(ReputationError::NotIncreasing { last });
        }
        *self = self.at(batch.epoch);
        self.last_batch = Some(batch.epoch);
        self.batches = self.batches.saturating_add(1);
        self.disputes = self.disputes.saturating_add(batch.disputes);
        if batch.message_count > 0 {
            self.last_active_slot = self.last_active_slot.max(batch.slot_end);
        }
        Ok(())
    }

    /// The state as it is in `epoch`, when no batch has come since: positive reliability and cooperation
    /// lose a part for each idle epoch after the first [`DECAY_WINDOW_EPOCHS`] (decision D3). Idle epochs
    /// are those between the last batch's and this one.
    #[must_use]
    pub fn at(&self, epoch: Epoch) -> Self {
        let idle = self.last_batch.map_or(0, |last| epoch.since(last).saturating_sub(1));
        let decays = idle.saturating_sub(DECAY_WINDOW_EPOCHS);
        Self {
            reliability: decayed(self.reliability, decays),
            cooperation: decayed(self.cooperation, decays),
            ..*self
        }
    }

    /// The scores, in thousandths.
    pub fn vector(&self) -> Vector {
        Vector {
            reliability_score: self.reliability,
            cooperation_index: self.cooperation,
            notary_accuracy: self.notary,
            total_tasks: self.tasks,
            total_notarized: self.notarized,
            total_disputes: self.disputes,
            batches: self.batches,
            last_active_slot: self.last_active_slot,
        }
    }

    /// The epoch of the last batch.
    pub fn last_batch(&self) -> Option<Epoch> {
        self.last_batch
    }
}

/// (old × (n − 1) + score) / n in thousandths, toward zero (decision D1); `n` counts the new score.
fn averaged(old: i64, n: u64, score: i64) -> i64 {
    // n is at most 2^33 and old at most 10^5, so nothing saturates.
    let n = i64::try_from(n).unwrap_or(i64::MAX);
    let sum = old.saturating_mul(n.saturating_sub(1)).saturating_add(score.saturating_mul(SCALE));
    sum.checked_div(n).unwrap_or(old).clamp(-MAX_REPUTATION, MAX_REPUTATION)
}

/// × 95/100 for each decay, toward zero, as long as the score is positive (decision D3).
fn decayed(score: i64, decays: u64) -> i64 {
    let (numerator, denominator) = DECAY_FACTOR;
    let mut score = score;
    let mut left = decays;
    // A positive score is gone after some 200 steps, however many are left.
    while left > 0 && score > 0 {
        score = score.saturating_mul(numerator).checked_div(denominator).unwrap_or(0);
        left = left.saturating_sub(1);
    }
    score
}

/// Where a rating's conversation is found (decision D2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// In either party's selections.
    Selection,
    /// In either party's verifiers.
    Verifier,
    /// It is a settled contract of the fix market (decision G1).
    Contract,
}

/// A rating of an agent, with what is known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Score, outcome and role.
    pub rating: Rating,
    /// Agent id of the rater.
    pub from: AgentId,
    /// Conversation id of the task.
    pub conversation: ConversationId,
    /// block_ref of the FEEDBACK.
    pub slot: Slot,
    /// Whether the rated agent's batch holds it.
    pub in_batch: bool,
    /// Whether the rater's signed envelope is at hand, and holds.
    pub envelope_at_hand: bool,
    /// What ties the task to both.
    pub binding: Option<Binding>,
}

/// What a rating is worth (decision D2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It counts: the batch holds it, and its task is confirmed.
    Bound,
    /// It counts although the agent's batch left it out.
    LeftOut,
    /// It is shown apart: without the rater's envelope, or of a task that nothing confirms.
    Unbound,
    /// It is shown apart: the rater has rated this agent for this task in this role before. As with SATI's
    /// attestations, the first one stands, so that one task is not rated a thousand times.
    Repeated,
}

impl Standing {
    /// Whether a rating of this standing moves the scores that count.
    pub fn counts(self) -> bool {
        matches!(self, Self::Bound | Self::LeftOut)
    }
}

impl Event {
    /// What the rating is worth on its own; only a [`Ledger`] knows about repetitions.
    pub fn standing(&self) -> Standing {
        match (self.envelope_at_hand && self.binding.is_some(), self.in_batch) {
            (false, _) => Standing::Unbound,
            (true, true) => Standing::Bound,
            (true, false) => Standing::LeftOut,
        }
    }
}

/// How many ratings had which standing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Ratings that are [`Standing::Bound`].
    pub bound: u32,
    /// Ratings that are [`Standing::LeftOut`].
    pub left_out: u32,
    /// Ratings that are [`Standing::Unbound`].
    pub unbound: u32,
    /// Ratings that are [`Standing::Repeated`].
    pub repeated: u32,
}

/// The reputation of one tenure: who sells an agent takes none of it along, and who buys one gets none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The scores that count.
    pub counted: State,
    /// The scores of all other ratings, to be shown apart as "unbound".
    pub apart: State,
    /// How many ratings had which standing.
    pub tally: Tally,
}

/// The reputation of one agent, recomputed from its batches (decision D2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    turns: BTreeMap<u32, Turn>,
    last: Option<Epoch>,
    seen: BTreeSet<(AgentId, ConversationId, u8)>,
}

impl Ledger {
    /// Takes the agent's next batch with its ratings: first those that it holds, in its order, then those
    /// that it left out, by slot, rater, task and content, so that everyone who knows the same ratings
    /// computes the same scores. Nothing changes when any of them is refused. They count for the batch's
    /// tenure; that a rater has rated a task is remembered beyond it.
    pub fn apply_batch(&mut self, batch: &BatchFacts, events: &[Event]) -> Result<(), ReputationError> {
        for Event { rating, .. } in events {
            check_rating(rating.score, rating.outcome, rating.role).map_err(ReputationError::Rating)?;
        }
        if let Some(last) = self.last.filter(|last| batch.epoch <= *last) {
            return Err(ReputationError::NotIncreasing { last });
        }
        let turn = self.turns.entry(batch.tenure).or_default();
        turn.counted.begin_batch(batch)?;
        self.last = Some(batch.epoch);
        let (held, mut left_out): (Vec<&Event>, Vec<&Event>) =
            events.iter().partition(|event| event.in_batch);
        left_out.sort_by_key(|event| {
            let Rating { score, outcome, role, is_dispute } = event.rating;
            (event.slot, event.from, event.conversation, role, score, outcome, is_dispute)
        });
        held.into_iter().chain(left_out).try_for_each(|event| turn.take(event, &mut self.seen))
    }

    /// What the tenure of this number has; nothing when no batch of it was taken.
    pub fn turn(&self, tenure: u32) -> Turn {
        self.turns.get(&tenure).copied().unwrap_or_default()
    }

    /// Tenures with batches, in order.
    pub fn turns(&self) -> impl Iterator<Item = (u32, &Turn)> {
        self.turns.iter().map(|(tenure, turn)| (*tenure, turn))
    }
}

impl Turn {
    fn take(
        &mut self,
        event: &Event,
        seen: &mut BTreeSet<(AgentId, ConversationId, u8)>,
    ) -> Result<(), ReputationError> {
        let mut standing = event.standing();
        if standing.counts() && !seen.insert((event.from, event.conversation, event.rating.role)) {
            standing = Standing::Repeated;
        }
        let Tally { bound, left_out, unbound, repeated } = &mut self.tally;
        let counter = match standing {
            Standing::Bound => bound,
            Standing::LeftOut => left_out,
            Standing::Unbound => unbound,
            Standing::Repeated => repeated,
        };
        *counter = counter.saturating_add(1);
        // The batch's own counter stands for the disputes.
        let rating = Rating { is_dispute: false, ..event.rating };
        if standing.counts() { self.counted.rate(&rating) } else { self.apart.rate(&rating) }
    }
}

/// How many epochs no batch covers, from `first` up to the last one that some batch does: shown as "uncovered N
/// epochs" (decision P1). `batches` are all that ever landed and were not withheld, in the order of their
/// epochs; `first` is the first epoch that one could cover, which is the one after the opened head's.
pub fn uncovered(first: Epoch, batches: impl IntoIterator<Item = Covered>) -> u64 {
    let mut next = first;
    let mut count = 0u64;
    for Covered { from, to } in batches {
        count = count.saturating_add(from.since(next));
        next = next.max(Epoch(to.0.saturating_add(1)));
    }
    count
}
