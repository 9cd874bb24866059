//! The scenarios: what each runs, and what must hold of it.

mod attacks;
mod peace;

use crate::agents::BadMessage;
use crate::cartel::{Cartel, Refused};
use crate::outcome::Outcome;
use crate::report::{Check, Measured, Report};
use crate::setup::Setup;
use crate::sim::Sim;
use std::fmt;

/// How large a scenario is run.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of honest agents.
    pub agents: u32,
    /// Simulated seconds of traffic.
    pub seconds: u32,
    /// From which everything random follows.
    pub seed: u64,
}

/// What a variant runs.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// A run of the mesh.
    Mesh(Setup),
    /// A market of notaries.
    Notaries(Cartel),
}

/// What can happen to the mesh, in variants that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Its name, for the command line.
    pub name: &'static str,
    /// What happens in it, in whole sentences.
    pub about: &'static str,
    /// Agents and seconds unless the caller says otherwise.
    pub usual: (u32, u32),
    /// Agents and seconds that a test can afford.
    pub small: (u32, u32),
    /// Variants by their names.
    pub variants: fn(Size) -> Vec<(&'static str, Run)>,
    /// What must hold of their results, which are in the same order.
    pub checks: fn(&[Measured]) -> Vec<Check>,
}

/// All scenarios, those without attackers first.
pub const SCENARIOS: &[Scenario] = &[
    peace::HONEST_HOUR,
    peace::LOOKUPS,
    peace::LOSSY_BURST,
    peace::PARTITION,
    peace::SLOW_PEERS,
    attacks::SPAM_AT_THE_LIMIT,
    attacks::SPAM_ABOVE_THE_LIMIT,
    attacks::SPLIT_SPAM,
    attacks::FORGERIES,
    attacks::UNREGISTERED,
    attacks::SYBILS,
    attacks::ECLIPSE,
    attacks::REPLAY,
    attacks::NOTARY_CARTEL,
];

/// The scenario of this name.
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|it| it.name == name)
}

/// The simulation itself is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// It made a message that nobody may send.
    Message(BadMessage),
    /// Tables of notaries refused what they should take.
    Notaries(Refused),
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(error) => error.fmt(f),
            Self::Notaries(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SimulationError {}

impl Scenario {
    /// Its own size, with this seed.
    pub fn usual_size(&self, seed: u64) -> Size {
        Size { agents: self.usual.0, seconds: self.usual.1, seed }
    }

    /// Runs all variants.
    ///
    /// # Errors
    /// The simulation itself is wrong.
    pub fn run(&self, size: Size) -> Result<Report, SimulationError> {
        let mut variants = Vec::new();
        for (name, run) in (self.variants)(size) {
            let measured = match run {
                Run::Mesh(setup) => {
                    let outcome = Sim::new(setup).run().map_err(SimulationError::Message)?;
                    Measured::Mesh(Box::new(outcome))
                }
                Run::Notaries(cartel) => Measured::Notaries(cartel.run().map_err(SimulationError::Notaries)?),
            };
            variants.push((name, measured));
        }
        let measured: Vec<_> = variants.iter().map(|(_, measured)| measured.clone()).collect();
        let mut checks = (self.checks)(&measured);
        let differed: u64 = measured.iter().filter_map(mesh).map(|it| it.differed).sum();
        checks.push(check("no verdict differs from what the gate says of the very same view", differed == 0));
        let Size { agents, seconds, seed } = size;
        Ok(Report { scenario: self.name, agents, seconds, seed, variants, checks })
    }
}

fn mesh(measured: &Measured) -> Option<&Outcome> {
    match measured {
        Measured::Mesh(outcome) => Some(outcome),
        Measured::Notaries(_) => None,
    }
}

fn check(claim: &str, holds: bool) -> Check {
    Check { claim: claim.to_owned(), holds }
}

/// Checks of results of the mesh.
fn checks_of(
    measured: &[Measured],
    claims: impl FnOnce(&[&Outcome]) -> Vec<(&'static str, bool)>,
) -> Vec<Check> {
    let outcomes: Vec<_> = measured.iter().filter_map(mesh).collect();
    claims(&outcomes).into_iter().map(|(claim, holds)| check(claim, holds)).collect()
}
