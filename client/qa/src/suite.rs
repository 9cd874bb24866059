//! What the loop runs by itself, and when: suites of calls, and personas, each a suite with a cadence.

use crate::dial::Rung;
use crate::tool::named;

/// A suite: tools that look at one part of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its word on command lines.
    pub word: &'static str,
    /// The surface that its findings are about.
    pub surface: &'static str,
    /// Names of its tools.
    pub tools: &'static [&'static str],
}

/// All suites by their words.
pub static SUITES: [Suite; 5] = [
    Suite { word: "smoke", surface: "cli", tools: &["qa_decode", "qa_cli"] },
    Suite { word: "fuzz", surface: "decoder", tools: &["qa_decode"] },
    Suite { word: "ux", surface: "ux", tools: &["qa_cli"] },
    Suite { word: "jail", surface: "sandbox", tools: &["qa_attack"] },
    Suite { word: "perf", surface: "perf", tools: &["qa_decode"] },
];

impl Suite {
    /// The suite that a word names.
    pub fn of(word: &str) -> Option<&'static Self> {
        SUITES.iter().find(|suite| suite.word == word)
    }

    /// Its tools that a rung may call.
    pub fn tools_at(&self, rung: Rung) -> impl Iterator<Item = &'static str> {
        let tools = self.tools.iter().copied();
        tools.filter(move |tool| named(tool).is_some_and(|tool| rung.allows(tool.rung).is_ok()))
    }
}

/// A persona of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Persona {
    /// Its name: the source of its findings.
    pub name: &'static str,
    /// The suite that it runs.
    pub suite: &'static str,
    /// Seconds from one run to the next.
    pub every: u64,
    /// Longest pause in seconds, to which runs without a finding double it.
    pub at_most: u64,
}

/// All personas. Another one is another row.
pub static PERSONAS: [Persona; 5] = [
    Persona { name: "qa-smoke", suite: "smoke", every: 1_800, at_most: 1_800 },
    Persona { name: "qa-security", suite: "jail", every: 3_600, at_most: 3_600 },
    Persona { name: "qa-fuzz", suite: "fuzz", every: 60, at_most: 3_600 },
    Persona { name: "qa-ux", suite: "ux", every: 21_600, at_most: 21_600 },
    Persona { name: "qa-perf", suite: "perf", every: 86_400, at_most: 86_400 },
];

impl Persona {
    /// When it runs next: `last` ended without a finding this many times in a row. Missed runs are one.
    pub fn due(&self, last: Option<i64>, quiet: u32) -> i64 {
        let Some(last) = last else { return i64::MIN };
        let pause = self.every.saturating_mul(1 << quiet.min(20)).min(self.at_most.max(self.every));
        last.saturating_add(i64::try_from(pause).unwrap_or(i64::MAX))
    }
}
