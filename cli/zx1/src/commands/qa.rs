//! `zx1 qa`: the loop that looks for faults, and what a person does about what it found ([docs/qa.md]).

mod dial;
mod merge;
pub(super) mod probe;
mod propose;
mod repro;
mod review;
mod run;
mod status;
mod stop;
pub(super) mod triage;

use crate::context::Context;
use crate::errors::{Failure, Result};
use clap::Subcommand;
use std::path::PathBuf;
use zx1_operator::qa::{QaError, State};
use zx1_qa::dial::Rung;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 qa probe --suite fuzz --seed 7 --minutes 10
  zx1 qa triage --output json
  zx1 qa repro 'qa_decode({\"hex\":\"80\",\"kind\":\"envelope\"})'
  zx1 qa repro 12                              the line of entry 12
  zx1 qa run --once                            one tick at the dial's rung
  zx1 qa status
  zx1 qa stop                                  ends whatever runs
  zx1 qa dial exercise
  zx1 qa propose 12 --patch fix.patch          judge a patch, make a branch
  zx1 qa review 12
  zx1 qa merge 12                              type the number to confirm

Exit codes of repro: 0 works, 10 fails as reported, 11 not runnable, 12 flaky.
Tools run in a sandbox without a network. The dial is at observe unless you set
it; then nothing changes but the loop's own folder.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Look for faults with a suite of calls
    Probe(probe::Args),
    /// Rank the findings of the feedback log
    Triage(triage::Args),
    /// Run the line that reproduces a finding, in a sandbox
    Repro(repro::Args),
    /// Judge a patch for a finding, and make a branch of it
    Propose(propose::Args),
    /// Show the proposals that passed the gate
    Review(review::Args),
    /// Merge a proposal into the current branch
    Merge(merge::Args),
    /// Run the loop
    Run(run::Args),
    /// Show dial, kill switch, findings and proposals
    Status(status::Args),
    /// Stop the loop, and end what it runs
    Stop(stop::Args),
    /// Show or set what the loop may do unattended
    Dial(dial::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Probe(args) => probe::run(args, context),
        Action::Triage(args) => triage::run(args, context),
        Action::Repro(args) => repro::run(&args, context),
        Action::Propose(args) => propose::run(&args, context),
        Action::Review(args) => review::run(&args, context),
        Action::Merge(args) => merge::run(&args, context),
        Action::Run(args) => run::run(&args, context),
        Action::Status(args) => status::run(&args, context),
        Action::Stop(args) => stop::run(&args, context),
        Action::Dial(args) => dial::run(&args, context),
    }
}

/// The repository whose loop is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Place {
    /// Folder in the repository that the loop is about
    #[arg(long, value_name = "PATH", default_value = ".")]
    repository: PathBuf,
}

impl Place {
    fn state(&self, context: &Context) -> Result<State> {
        Ok(State::open(context.home()?, &self.repository)?)
    }
}

/// What the command line allows of the dial.
#[derive(Debug, clap::Args)]
pub(crate) struct AtMost {
    /// Highest rung of this run; never above the dial's
    #[arg(long, value_name = "RUNG", value_parser = ["observe", "exercise", "propose"])]
    autonomy: Option<String>,
}

impl AtMost {
    fn rung(&self) -> Option<Rung> {
        self.autonomy.as_deref().and_then(Rung::of)
    }
}

impl From<QaError> for Failure {
    fn from(error: QaError) -> Self {
        let next = crate::next::after_qa(&error);
        Self::of(&error, next)
    }
}

/// A seed from the system's random numbers, where none is given.
fn seed(given: Option<u64>) -> Result<u64> {
    let mut bytes = [0; 8];
    match given {
        Some(seed) => Ok(seed),
        None => {
            let failed =
                |error: getrandom::Error| crate::errors::Error::RandomFailed { why: error.to_string() };
            getrandom::fill(&mut bytes).map_err(failed)?;
            Ok(u64::from_le_bytes(bytes) >> 11)
        }
    }
}
