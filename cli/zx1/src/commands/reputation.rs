//! `zx1 reputation`: what an agent's past says, side by side and never as one number (decisions D1 to D5).

use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::{Page, Report};
use crate::words;
use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use zx1_operator::reputation::{self, Note, Reputation, Scores, Standings};
use zx1_protocol::ids::AgentId;
use zx1_protocol::lease::LeaseState;
use zx1_protocol::units::MicroUsdc;

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

/// Runs `zx1 reputation` for the chosen agent and source.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let Action::Show { source, data } = args.action;
    let agent = context.agent()?;
    let store = agent_files::store(context, data.as_deref())?;
    let own = context
        .config()?
        .agents
        .into_values()
        .map(|entry| input::address(&entry.mint, "The mint of an agent in the configuration"));
    let own = own.map(|mint| mint.map(AgentId::from)).collect::<Result<Vec<_>>>()?;
    let from = match source {
        Source::Batch => reputation::Source::Batch(store.as_ref()),
        Source::Sati => reputation::Source::Sati,
        Source::Gossip => reputation::Source::Gossip,
    };
    let found = context
        .wait(async { Ok(context.operator_of(&agent).await?.reputation(&agent, from, &own).await?) })?;
    context.print(&shown(agent.shown(), source, found))
}

fn draw_scores(scores: &Scores, page: &mut Page) {
    page.field("reliability", milli(scores.reliability_milli))
        .field("cooperation", milli(scores.cooperation_milli))
        .field("as a notary", milli(scores.notary_milli))
        .field("tasks rated", scores.tasks)
        .field("notarizations rated", scores.notarized)
        .field("disputes", scores.disputes);
}

/// Thousandths as a decimal, sign included.
fn milli(score: i64) -> String {
    let sign = if score < 0 { "-" } else { "" };
    let score = score.unsigned_abs();
    format!("{sign}{}.{:03}", score / 1_000, score % 1_000)
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
    stake_micro_usdc: MicroUsdc,
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
        draw_scores(&self.scores, page);
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
            draw_scores(unbound, page);
        }
        page.heading("On chain");
        page.field("stake", self.stake_micro_usdc)
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

fn in_words(note: &Note) -> String {
    match *note {
        Note::Closed(1) => {
            "1 older batch is closed and not read here; an indexer that saw them has their ratings."
                .to_owned()
        }
        Note::Closed(closed) => format!(
            "{closed} older batches are closed and not read here; an indexer that saw them has their ratings."
        ),
        Note::NoMessages => {
            "No rater's signed message is on this machine, so every rating stands apart (decision D2)."
                .to_owned()
        }
        Note::MostRaters { read, of } => format!("Only {read} of {of} raters' batches were read."),
        Note::RealTime => "Real-time: what this machine has heard, in the order in which it came.".to_owned(),
        Note::Filed(0) => "No rating is filed at SATI.".to_owned(),
        Note::Filed(1) => "1 rating is filed at SATI, signed by both sides.".to_owned(),
        Note::Filed(many) => format!("{many} ratings are filed at SATI, each signed by both sides."),
        Note::WithoutScore { ratings, of } => {
            format!("Without a score, {ratings} of {of}: their outcome stands for it.")
        }
    }
}

fn shown(agent: String, source: Source, found: Reputation) -> Shown {
    Shown {
        agent,
        source: match source {
            Source::Batch => "batch",
            Source::Sati => "sati",
            Source::Gossip => "gossip (real-time, not authoritative)",
        },
        epoch: found.epoch,
        scores: found.scores,
        unbound: found.unbound,
        ratings: found.ratings,
        epochs: found.epochs,
        withheld: found.withheld,
        untrue: found.untrue,
        stake_micro_usdc: found.stake_micro_usdc,
        lease: match found.lease {
            None => "never paid",
            Some(LeaseState::Active) => "paid",
            Some(LeaseState::Grace) => "in grace",
            Some(LeaseState::Deactivated) => "deactivated",
        },
        batches_submitted: found.batches_submitted,
        challenges_open: found.challenges_open,
        challenges_lost: found.challenges_lost,
        notes: found.notes.iter().map(in_words).collect(),
    }
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
