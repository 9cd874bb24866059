//! One tick of the loop: whatever persona is due runs its suite, once.

use super::error::Result;
use super::journal::Line;
use super::probe::{Probed, Wanted, probe};
use super::run::Run;
use super::state::State;
use super::tools::Tools;
use std::time::Duration;
use zx1_home::{Clock as _, SystemClock};
use zx1_qa::budget::Amounts;
use zx1_qa::dial::Rung;
use zx1_qa::suite::{PERSONAS, Persona, Suite};

/// What the journal calls a persona's run.
const PERSONA: &str = "persona ";

/// What a tick did.
#[derive(Clone, Debug, Default)]
pub struct Ticked {
    /// The personas that ran, with what they saw and used.
    pub ran: Vec<(&'static str, Probed, Amounts)>,
    /// When the next one is due, in unix seconds.
    pub next: i64,
}

/// When a persona ran last, in unix seconds, and how often in a row without a finding.
fn history(lines: &[Line], persona: &Persona) -> (Option<i64>, u32) {
    let name = format!("{PERSONA}{}", persona.name);
    let (mut last, mut quiet, mut current) = (None, 0u32, None::<&str>);
    for line in lines {
        match line {
            Line::Begun { run, at, what, .. } if *what == name => {
                last = i64::try_from(at / 1_000).ok();
                quiet = quiet.saturating_add(1);
                current = Some(run);
            }
            Line::Found { run, .. } if current == Some(run) => quiet = 0,
            _ => {}
        }
    }
    // The first run without a finding is followed by the usual pause.
    (last, quiet.saturating_sub(1))
}

/// The personas that are due, and when the next one is.
pub fn due(lines: &[Line], now: i64) -> (Vec<&'static Persona>, i64) {
    let at = |persona: &Persona| {
        let (last, quiet) = history(lines, persona);
        persona.due(last, quiet)
    };
    let due = PERSONAS.iter().filter(|persona| at(persona) <= now).collect();
    let later = PERSONAS.iter().map(at).filter(|at| *at > now).min();
    (due, later.unwrap_or(i64::MAX))
}

/// Runs whatever is due. At `observe` nothing is changed but the loop's own state.
///
/// # Errors
/// The first error of a persona's run; those before it are in the journal.
pub fn tick(
    state: &State,
    tools: &Tools,
    at_most: Option<Rung>,
    seed: u64,
    time: Duration,
) -> Result<Ticked> {
    let now = i64::try_from(SystemClock.unix_secs()).unwrap_or(i64::MAX);
    let (personas, _) = due(&state.lines()?, now);
    let mut ticked = Ticked::default();
    for persona in personas {
        let Some(suite) = Suite::of(persona.suite) else { continue };
        let mut run = Run::begin(state, &format!("{PERSONA}{}", persona.name), at_most)?;
        let wanted = Wanted { suite, source: persona.name.to_owned(), seed, time, calls: 200 };
        let probed = probe(tools, &mut run, &wanted)?;
        let used = run.end("done")?;
        ticked.ran.push((persona.name, probed, used));
    }
    ticked.next = due(&state.lines()?, now).1;
    Ok(ticked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(run: &str, at: u64) -> Line {
        let what = "persona qa-fuzz".to_owned();
        Line::Begun {
            run: run.to_owned(),
            at: at * 1_000,
            pid: 1,
            what,
            rung: String::new(),
            commit: String::new(),
        }
    }

    fn is_due(lines: &[Line], now: i64) -> bool {
        due(lines, now).0.iter().any(|persona| persona.name == "qa-fuzz")
    }

    #[test]
    fn a_persona_is_due_after_its_pause_which_grows_while_it_finds_nothing() {
        assert!(is_due(&[], 0));
        assert_eq!((is_due(&[begun("a", 1_000)], 1_059), is_due(&[begun("a", 1_000)], 1_060)), (false, true));
        let quiet = [begun("a", 1_000), begun("b", 2_000)];
        assert_eq!((is_due(&quiet, 2_119), is_due(&quiet, 2_120)), (false, true));
        let found = Line::Found { run: "b".to_owned(), finding: String::new(), text: String::new() };
        assert!(is_due(&[quiet.to_vec(), vec![found]].concat(), 2_060));
        assert!(due(&quiet, 2_000).1 > 2_000);
    }
}
