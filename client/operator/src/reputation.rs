//! What an agent's past says, side by side and never as one number (decisions D1 to D5).

mod batch;
mod gossip;
mod sati;

use crate::challenge;
use crate::error::Result;
use crate::operator::{Agent, Operator};
use serde::Serialize;
use zx1_chain::rpc::ChallengeFilter;
use zx1_log::AnyStore;
use zx1_protocol::ids::AgentId;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::reputation::{State, Tally, Vector};
use zx1_protocol::units::{Epoch, MicroUsdc};

/// Source of a reputation.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Recomputed from the agent's batches; their data is saved here or served at the place.
    Batch(Option<&'a AnyStore>),
    /// Ratings filed at SATI.
    Sati,
    /// Ratings that the logs on this machine have received: in real time, not authoritative.
    Gossip,
}

/// Ratings of one agent as one source has them.
#[derive(Default)]
struct Found {
    /// Ratings that count towards the score.
    counted: State,
    /// Ratings that are shown separately, where the source distinguishes them.
    apart: Option<State>,
    tally: Option<Tally>,
    /// Epochs of batches that were read.
    epochs: Vec<u64>,
    /// Epochs of batches whose data is not served (decision C7).
    withheld: Vec<u64>,
    /// Epochs of batches whose data is served and shows that the batch is not true: its counters or arrays
    /// are not those of its own records.
    untrue: Vec<u64>,
    /// The tenure whose batches were read.
    tenure: Option<u32>,
    /// Epochs between batches that none of them covers.
    uncovered: u64,
    notes: Vec<Note>,
}

/// What the reader of a reputation should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Number of older batches that are closed and were not read.
    Closed(u64),
    /// Number of batches of former holders' tenures, which were not read.
    FormerTenures(usize),
    /// No rater's signed message is on this machine, so every rating stands apart (decision D2).
    NoMessages,
    /// Only some raters' batches were read.
    MostRaters {
        /// Number of raters whose batches were read.
        read: usize,
        /// Number of raters that there are.
        of: usize,
    },
    /// Ratings in the order in which this machine heard them.
    RealTime,
    /// Number of ratings that are filed at SATI.
    Filed(usize),
    /// Some ratings have no score, and their outcome stands for it.
    WithoutScore {
        /// Number of ratings without a score.
        ratings: u32,
        /// Number of ratings in all.
        of: usize,
    },
}

/// Scores in thousandths, from -100 000 to 100 000.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are those of decision D1")]
pub struct Scores {
    pub reliability_milli: i64,
    pub cooperation_milli: i64,
    pub notary_milli: i64,
    pub tasks: u32,
    pub notarized: u32,
    pub disputes: u32,
}

impl Scores {
    fn of(vector: &Vector) -> Self {
        Self {
            reliability_milli: vector.reliability_score,
            cooperation_milli: vector.cooperation_index,
            notary_milli: vector.notary_accuracy,
            tasks: vector.total_tasks,
            notarized: vector.total_notarized,
            disputes: vector.total_disputes,
        }
    }
}

/// How many ratings of each kind there are.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are those of decision D2")]
pub struct Standings {
    pub bound: u32,
    pub left_out: u32,
    pub unbound: u32,
    pub repeated: u32,
}

/// An agent's reputation beside what the chain shows of it.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Reputation {
    pub epoch: u64,
    pub scores: Scores,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbound: Option<Scores>,
    /// How many ratings of each kind there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratings: Option<Standings>,
    /// Epochs of batches that were read.
    pub epochs: Vec<u64>,
    /// Epochs of batches whose data is not served (decision C7).
    pub withheld: Vec<u64>,
    /// Epochs of batches that are not true.
    pub untrue: Vec<u64>,
    /// The tenure whose batches were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenure: Option<u32>,
    /// Epochs between batches that none of them covers.
    pub uncovered_epochs: u64,
    pub stake_micro_usdc: MicroUsdc,
    /// The lease, if one was ever paid.
    #[serde(skip)]
    pub lease: Option<LeaseState>,
    /// Batches that were ever submitted.
    pub batches_submitted: u64,
    /// Challenges that are not settled.
    pub challenges_open: usize,
    /// Challenges that the agent lost.
    pub challenges_lost: usize,
    /// Reservations that a reader has to know.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

impl Operator {
    /// An agent's reputation. `own` are the agents whose logs may be on this machine.
    ///
    /// # Errors
    /// 7583 when the source has nothing to say.
    pub async fn reputation(&self, agent: &Agent, source: Source<'_>, own: &[AgentId]) -> Result<Reputation> {
        let found = match source {
            Source::Batch(store) => batch::read(self, agent, own, store).await?,
            Source::Sati => sati::read(self, agent).await?,
            Source::Gossip => gossip::read(self, agent, own).await?,
        };
        let client = self.client();
        let epoch = self.now().await?.epoch;
        let lease = client.lease(agent.mint).await?;
        let lease = lease.map(|lease| Lease { paid_through: Epoch(lease.paid_through_epoch) }.state(epoch));
        let challenges = client.challenges(ChallengeFilter::Agent(agent.mint)).await?;
        let stake = client.present_stake(agent.mint).await?;
        let ratings = found.tally.map(|tally| Standings {
            bound: tally.bound,
            left_out: tally.left_out,
            unbound: tally.unbound,
            repeated: tally.repeated,
        });
        Ok(Reputation {
            epoch: epoch.0,
            scores: Scores::of(&found.counted.at(epoch).vector()),
            unbound: found.apart.map(|apart| Scores::of(&apart.vector())),
            ratings,
            epochs: found.epochs,
            withheld: found.withheld,
            untrue: found.untrue,
            tenure: found.tenure,
            uncovered_epochs: found.uncovered,
            stake_micro_usdc: MicroUsdc(stake.map_or(0, |stake| stake.stake_usdc)),
            lease,
            batches_submitted: client.head(agent.mint).await?.map_or(0, |head| head.count),
            challenges_open: challenges.iter().filter(|it| it.outcome == challenge::OPEN).count(),
            challenges_lost: challenges.iter().filter(|it| it.outcome == challenge::SUCCEEDED).count(),
            notes: found.notes,
        })
    }
}
