//! `zx1 reputation`: what an agent's past says, side by side and never as one number (decisions D1 to D5).

use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::{Page, Report};
use crate::words::{self, count};
use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use zx1_operator::reputation::{self, Note, Reputation, Scores};
use zx1_protocol::ids::AgentId;
use zx1_protocol::lease::LeaseState;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 reputation show                          your agent, from its batches
  zx1 reputation show --agent AGENT --data URL
  zx1 reputation show --source sati            ratings filed at SATI
  zx1 reputation show --source gossip          ratings received by your own log

Scores range from -100 to 100; 0 is neutral. From batches, a rating counts only
if the rater's signed message is at hand and its task is in either party's
batches; other ratings are shown separately. Gossip is what this machine happens
to have received: fine for a first look, not for decisions about money.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Show an agent's reputation
    Show {
        /// Source of the ratings
        #[arg(long, value_enum, default_value = "batch")]
        source: Source,
        /// Place that serves batch data: a folder or an http(s) URL [setting: upload]
        #[arg(long, value_name = "PLACE")]
        data: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// The agent's batches, recomputed
    Batch,
    /// Ratings filed at SATI
    Sati,
    /// Ratings received by the log on this machine
    Gossip,
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    let Action::Show { source, data } = action;
    let agent = context.agent()?;
    let store = agent_files::store(context, data.as_deref())?;
    let own = context.config()?.agents.into_values().map(|entry| {
        input::address(&entry.mint, "The mint of an agent in the configuration").map(AgentId::from)
    });
    let own = own.collect::<Result<Vec<_>>>()?;
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
    #[serde(flatten)]
    found: Reputation,
    lease: &'static str,
    notes: Vec<String>,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.agent)
            .field("source", self.source)
            .field("epoch", words::epoch(self.found.epoch))
            .maybe("tenure", self.found.tenure);
        page.heading("Scores, -100 to 100");
        draw_scores(&self.found.scores, page);
        if let Some(ratings) = &self.found.ratings {
            page.field(
                "ratings",
                format!(
                    "{} bound, {} omitted by the agent, {} unbound, {} repeated",
                    ratings.bound, ratings.left_out, ratings.unbound, ratings.repeated
                ),
            );
        }
        if let Some(unbound) = &self.found.unbound {
            page.heading("Unconfirmed ratings, not counted");
            draw_scores(unbound, page);
        }
        page.heading("On chain");
        page.field("stake", self.found.stake_micro_usdc)
            .field("lease", self.lease)
            .field("batches submitted", self.found.batches_submitted)
            .field("challenges lost", self.found.challenges_lost)
            .field("challenges open", self.found.challenges_open);
        for (label, epochs) in [("withheld", &self.found.withheld), ("untrue", &self.found.untrue)] {
            if !epochs.is_empty() {
                let epochs: Vec<String> = epochs.iter().map(u64::to_string).collect();
                let counts = if epochs.len() == 1 { "epoch {}" } else { "epochs {}" };
                page.field(label, format!("{}, not counted", counts.replace("{}", &epochs.join(", "))));
            }
        }
        if self.found.uncovered_epochs > 0 {
            page.field("uncovered", count(self.found.uncovered_epochs, "epoch", "epochs"));
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
        Note::Closed(1) => "1 older batch is closed and was not read; an indexer has its ratings.".to_owned(),
        Note::Closed(closed) => {
            format!("{closed} older batches are closed and were not read; an indexer has their ratings.")
        }
        Note::FormerTenures(batches) => format!(
            "{} of former holders' tenures: their scores are not this agent's any more.",
            count(batches, "batch is", "batches are")
        ),
        Note::NoMessages => {
            "No rater's signed message is on this machine, so no rating is counted (decision D2).".to_owned()
        }
        Note::MostRaters { read, of } => format!("Only {read} of {of} raters' batches were read."),
        Note::RealTime => "Real-time: ratings in the order in which this machine received them.".to_owned(),
        Note::Filed(0) => "No rating is filed at SATI.".to_owned(),
        Note::Filed(1) => "1 rating is filed at SATI, signed by both sides.".to_owned(),
        Note::Filed(many) => format!("{many} ratings are filed at SATI, each signed by both sides."),
        Note::WithoutScore { ratings, of } => {
            format!("{ratings} of {of} ratings have no score; their outcome is used instead.")
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
        lease: match found.lease {
            None => "never paid",
            Some(LeaseState::Active) => "paid",
            Some(LeaseState::Grace) => "in grace",
            Some(LeaseState::Deactivated) => "deactivated",
        },
        notes: found.notes.iter().map(in_words).collect(),
        found,
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
