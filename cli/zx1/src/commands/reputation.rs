//! `zx1 reputation`: what an agent's past says, side by side and never as one number (decisions D1 to D5).

mod batch;
mod gossip;
mod sati;

use crate::agent_files::{self, Now};
use crate::amount;
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::Result;
use crate::output::{Page, Report};
use crate::words;
use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use zx1_chain::rpc::ChallengeFilter;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::reputation::{State, Tally, Vector};
use zx1_protocol::units::Epoch;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 reputation show                          your own agent, from its batches
  zx1 reputation show --agent AGENT --data URL
  zx1 reputation show --source sati            ratings filed at SATI
  zx1 reputation show --source gossip          ratings that your own log has received

Scores go from -100 to 100, 0 is neutral. From batches a rating counts only with
the rater's signed message at hand and when its task stands in either party's
batches; the rest is shown apart. Gossip is what you happen to have heard: good
for a first look, never for a decision about money.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show an agent's reputation
    Show {
        /// Where it comes from
        #[arg(long, value_enum, default_value = "batch")]
        source: Source,
        /// Where batch data is served: a folder or an http(s) address [setting: upload]
        #[arg(long, value_name = "PLACE")]
        data: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    /// Recomputed from the agent's batches
    Batch,
    /// Ratings filed at SATI
    Sati,
    /// Ratings that this machine's log has received
    Gossip,
}

/// Does it.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let Action::Show { source, data } = args.action;
    let agent = context.agent()?;
    let store = agent_files::store(context, data.as_deref())?;
    let shown = context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let found = match source {
            Source::Batch => batch::read(context, &chain, &agent, store.as_ref()).await?,
            Source::Sati => sati::read(&chain, &agent).await?,
            Source::Gossip => gossip::read(context, &chain, &agent).await?,
        };
        show(&chain, &agent, source, found).await
    })?;
    context.print(&shown)
}

/// What a source says.
#[derive(Default)]
struct Found {
    /// What counts.
    counted: State,
    /// What is shown apart, where the source tells it apart.
    apart: Option<State>,
    tally: Option<Tally>,
    /// Epochs of batches that were read.
    epochs: Vec<u64>,
    /// Epochs of batches whose data nobody serves (decision C7).
    withheld: Vec<u64>,
    /// Epochs of batches whose data is served and shows that the batch is not true: its counters or arrays
    /// are not those of its own records.
    untrue: Vec<u64>,
    /// What the reader should know.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Scores {
    reliability_milli: i64,
    cooperation_milli: i64,
    notary_milli: i64,
    tasks: u32,
    notarized: u32,
    disputes: u32,
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

    fn draw(&self, page: &mut Page) {
        page.field("reliability", milli(self.reliability_milli))
            .field("cooperation", milli(self.cooperation_milli))
            .field("as a notary", milli(self.notary_milli))
            .field("tasks rated", self.tasks)
            .field("notarizations rated", self.notarized)
            .field("disputes", self.disputes);
    }
}

/// Thousandths as a decimal, sign included.
fn milli(score: i64) -> String {
    let sign = if score < 0 { "-" } else { "" };
    let score = score.unsigned_abs();
    format!("{sign}{}.{:03}", score / 1_000, score % 1_000)
}

#[derive(Serialize)]
struct Standings {
    bound: u32,
    left_out: u32,
    unbound: u32,
    repeated: u32,
}

#[derive(Serialize)]
struct Shown {
    agent: String,
    source: &'static str,
    epoch: u64,
    scores: Scores,
    #[serde(skip_serializing_if = "Option::is_none")]
    unbound: Option<Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratings: Option<Standings>,
    epochs: Vec<u64>,
    withheld: Vec<u64>,
    untrue: Vec<u64>,
    stake_micro_usdc: u64,
    lease: &'static str,
    batches_submitted: u64,
    challenges_open: usize,
    challenges_lost: usize,
    notes: Vec<String>,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.agent)
            .field("source", self.source)
            .field("epoch", words::epoch(self.epoch));
        page.heading("Scores, -100 to 100");
        self.scores.draw(page);
        if let Some(ratings) = &self.ratings {
            page.field(
                "ratings",
                format!(
                    "{} bound, {} that the agent left out, {} unbound, {} repeated",
                    ratings.bound, ratings.left_out, ratings.unbound, ratings.repeated
                ),
            );
        }
        if let Some(unbound) = &self.unbound {
            page.heading("Apart: ratings that nothing confirms");
            unbound.draw(page);
        }
        page.heading("On chain");
        page.field("stake", amount::usdc(self.stake_micro_usdc))
            .field("lease", self.lease)
            .field("batches submitted", self.batches_submitted)
            .field("challenges lost", self.challenges_lost)
            .field("challenges open", self.challenges_open);
        for (label, epochs) in [("withheld", &self.withheld), ("untrue", &self.untrue)] {
            if !epochs.is_empty() {
                let epochs: Vec<String> = epochs.iter().map(u64::to_string).collect();
                let counts = if epochs.len() == 1 { "epoch {} counts" } else { "epochs {} count" };
                page.field(label, format!("{} for nothing", counts.replace("{}", &epochs.join(", "))));
            }
        }
        if !self.notes.is_empty() {
            page.blank();
        }
        for note in &self.notes {
            page.line(note);
        }
    }
}

async fn show(chain: &Chain, agent: &Agent, source: Source, found: Found) -> Result<Shown> {
    let client = &chain.client;
    let now = Now::ask(chain).await?;
    let lease = client.lease(agent.mint).await?;
    let lease = lease.map(|lease| Lease { paid_through: Epoch(lease.paid_through_epoch) }.state(now.epoch));
    let challenges = client.challenges(ChallengeFilter::Agent(agent.mint)).await?;
    let tally = found.tally.map(|tally| Standings {
        bound: tally.bound,
        left_out: tally.left_out,
        unbound: tally.unbound,
        repeated: tally.repeated,
    });
    Ok(Shown {
        agent: agent.shown(),
        source: match source {
            Source::Batch => "batch",
            Source::Sati => "sati",
            Source::Gossip => "gossip (real-time, not authoritative)",
        },
        epoch: now.epoch.0,
        scores: Scores::of(&found.counted.at(now.epoch).vector()),
        unbound: found.apart.map(|apart| Scores::of(&apart.vector())),
        ratings: tally,
        epochs: found.epochs,
        withheld: found.withheld,
        untrue: found.untrue,
        stake_micro_usdc: client.stake(agent.mint).await?.map_or(0, |stake| stake.stake_usdc),
        lease: match lease {
            None => "never paid",
            Some(LeaseState::Active) => "paid",
            Some(LeaseState::Grace) => "in grace",
            Some(LeaseState::Deactivated) => "deactivated",
        },
        batches_submitted: client.head(agent.mint).await?.map_or(0, |head| head.count),
        challenges_open: challenges.iter().filter(|it| it.resolved == 0).count(),
        challenges_lost: challenges.iter().filter(|it| it.succeeded != 0).count(),
        notes: found.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::milli;

    #[test]
    fn thousandths_keep_their_sign() {
        assert_eq!(
            [0, 1, -1, 45_500, -100_000].map(milli),
            ["0.000", "0.001", "-0.001", "45.500", "-100.000"]
        );
    }
}
