//! A call, as often as it takes to know whether it works, fails, or does both.

use super::error::Result;
use super::run::Run;
use super::tools::Tools;
use zx1_qa::defaults::FLAKY_RUNS;
use zx1_qa::finding::Text;
use zx1_qa::observation::Observation;
use zx1_qa::repro::{Repro, ReproError};

/// What all runs of a call showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It worked every time.
    Works,
    /// It failed every time.
    Fails,
    /// It did both.
    Flaky,
}

impl Verdict {
    fn of(failed: &[bool]) -> Self {
        match (failed.contains(&true), failed.contains(&false)) {
            (true, true) => Self::Flaky,
            (true, false) => Self::Fails,
            _ => Self::Works,
        }
    }

    /// Its word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Fails => "fails",
            Self::Flaky => "flaky",
        }
    }
}

/// Runs a call [`FLAKY_RUNS`] times.
///
/// # Errors
/// As [`Tools::run`].
pub fn repeat(tools: &Tools, run: &mut Run<'_>, call: &Repro) -> Result<(Verdict, Vec<Observation>)> {
    let mut answers = Vec::new();
    for _ in 0..FLAKY_RUNS {
        let given = run.given()?;
        answers.push(tools.run(given, run, call)?);
    }
    let failed: Vec<bool> = answers.iter().map(|answer| !answer.ok).collect();
    Ok((Verdict::of(&failed), answers))
}

/// The call of a text: a line alone, or the last line of an entry. All else is prose.
///
/// # Errors
/// Why it is prose.
pub fn call_of(text: &str) -> Result<Repro> {
    match Text::parse(text) {
        Text::Finding(finding) => finding.repro.ok_or(ReproError::Form.into()),
        Text::Prose(_) | Text::Halt => Ok(Repro::parse(text)?),
    }
}
