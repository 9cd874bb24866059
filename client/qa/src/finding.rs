//! The `qa/v1` text of an entry of the feedback log: a first line of `key=value` pairs, prose, and as last line the one
//! that reproduces it.

use crate::defaults::{MAX_FINDING, MAX_OTHER_KEYS, SUMMARY_FINDINGS};
use crate::hex::{is_commit, is_hex};
use crate::repro::Repro;
use crate::severity::Severity;
use zx1_coded::Coded;

const TAG: &str = "qa/v1";
const REPRO: &str = "repro: ";
const HALT: &str = "halt";

/// Why a finding cannot be written. Numbers 7810 to 7819.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum FindingError {
    /// More than one transaction carries.
    #[code(7810)]
    #[error("The finding has {found} bytes, more than {limit}; shorten its text, or name its input by hash.")]
    Long {
        /// Bytes of the text.
        found: usize,
        /// Most bytes that it may have.
        limit: usize,
    },
    /// A value that would not be read back as it is.
    #[code(7811)]
    #[error("The value of `{0}` is not one word of the form that it must have.")]
    Value(String),
    /// Prose that would not be read back as it is.
    #[code(7812)]
    #[error(
        "The finding's text is empty, begins or ends with white space, or ends as a line that reproduces."
    )]
    Prose,
    /// A key twice, or too many.
    #[code(7813)]
    #[error("The first line has the key `{0}` twice, or too many keys.")]
    Key(String),
}

/// What an entry says. Everything in it is a stranger's word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// Name of the agent that found it.
    pub source: Option<String>,
    /// The word of its severity as written; [`Self::severity`] reads it.
    pub sev: Option<String>,
    /// Part of the system that it is about.
    pub surface: Option<String>,
    /// Seed of the run that found it.
    pub seed: Option<u64>,
    /// The commit on which it was found: 40 or 64 hex digits.
    pub version: Option<String>,
    /// sha256 of longer input or output, which is served by this hash: 64 hex digits.
    pub evidence: Option<String>,
    /// Number of the entry that was resolved and is there again.
    pub regression_of: Option<u64>,
    /// Pairs whose meaning this version does not know, in the order in which they stand.
    pub other: Vec<(String, String)>,
    /// Prose that describes it.
    pub summary: String,
    /// What reproduces it, if the last line is such a line.
    pub repro: Option<Repro>,
}

/// Keys with a meaning, in the order in which they are written.
const KEYS: [&str; 7] = ["source", "sev", "surface", "seed", "version", "evidence", "regression-of"];

/// An entry of the log, as the loop reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    /// Stops every fleet that reads the log, when the maintainer sent it.
    Halt,
    /// A finding of this form.
    Finding(Box<Finding>),
    /// Something that people wrote for people. It is ranked as unknown and never executed.
    Prose(String),
}

impl Text {
    /// Reads any text.
    pub fn parse(text: &str) -> Self {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        if first.trim_end() == "qa/v1 halt" {
            return Self::Halt;
        }
        match Finding::read(first, rest) {
            Some(finding) => Self::Finding(Box::new(finding)),
            None => Self::Prose(text.trim().to_owned()),
        }
    }
}

/// The text that stops every fleet, with the reason for people on its further lines.
pub fn halt(reason: &str) -> String {
    format!("{TAG} {HALT}\n{}", reason.trim()).trim_end().to_owned()
}

/// Whether a text of this sender stops a fleet whose configuration names this maintainer.
pub fn is_halt(text: &str, sender: &[u8; 32], maintainer: &[u8; 32]) -> bool {
    sender == maintainer && Text::parse(text) == Text::Halt
}

/// A word of the first line.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=')
}

/// A number in its one spelling.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

impl Finding {
    /// How bad its reporter says it is.
    pub fn severity(&self) -> Severity {
        self.sev.as_deref().map_or(Severity::Unknown, Severity::of)
    }

    /// A finding from its first line and the rest. A value that is not of its key's form is left out;
    /// `None` when the first line does not begin with `qa/v1`.
    fn read(first: &str, rest: &str) -> Option<Self> {
        let mut words = first.split_whitespace();
        if words.next() != Some(TAG) {
            return None;
        }
        let mut finding = Self::default();
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            if is_word(key) && is_word(value) {
                finding.set(key, value);
            }
        }
        let rest = rest.trim();
        let (prose, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
        finding.repro = last.strip_prefix(REPRO).and_then(|line| Repro::parse(line.trim()).ok());
        finding.summary = if finding.repro.is_some() { prose.trim() } else { rest }.to_owned();
        Some(finding)
    }

    /// Sets a key; the first of two stands. Whether it was taken.
    fn set(&mut self, key: &str, value: &str) -> bool {
        let word = || Some(value.to_owned());
        let known = match key {
            "source" if self.source.is_none() => {
                self.source = word();
                true
            }
            "sev" if self.sev.is_none() => {
                self.sev = word();
                true
            }
            "surface" if self.surface.is_none() => {
                self.surface = word();
                true
            }
            "version" if self.version.is_none() && is_commit(value) => {
                self.version = word();
                true
            }
            "evidence" if self.evidence.is_none() && is_hex(value) && value.len() == 64 => {
                self.evidence = word();
                true
            }
            "seed" if self.seed.is_none() && number(value).is_some() => {
                self.seed = number(value);
                true
            }
            "regression-of" if self.regression_of.is_none() && number(value).is_some() => {
                self.regression_of = number(value);
                true
            }
            _ => false,
        };
        let is_new = !KEYS.contains(&key) && self.other.iter().all(|(other, _)| other != key);
        if !known && is_new && self.other.len() < MAX_OTHER_KEYS {
            self.other.push((key.to_owned(), value.to_owned()));
            return true;
        }
        known
    }

    /// The text that [`Text::parse`] reads back as this finding.
    pub fn build(&self) -> Result<String, FindingError> {
        let numbers = (self.seed.map(|n| n.to_string()), self.regression_of.map(|n| n.to_string()));
        let known = [
            self.source.as_deref(),
            self.sev.as_deref(),
            self.surface.as_deref(),
            numbers.0.as_deref(),
            self.version.as_deref(),
            self.evidence.as_deref(),
            numbers.1.as_deref(),
        ];
        let known = KEYS.into_iter().zip(known).filter_map(|(key, value)| value.map(|value| (key, value)));
        let other = self.other.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let mut text = TAG.to_owned();
        let mut check = Self::default();
        for (key, value) in known.chain(other) {
            if !is_word(key) || !is_word(value) {
                return Err(FindingError::Value(key.to_owned()));
            }
            if !check.set(key, value) {
                let twice = check.other.iter().any(|(other, _)| other == key);
                let key = key.to_owned();
                let full = twice || !KEYS.contains(&key.as_str());
                return Err(if full { FindingError::Key(key) } else { FindingError::Value(key) });
            }
            text.push_str(&format!(" {key}={value}"));
        }
        text.push_str(&format!("\n{}", self.summary));
        if let Some(repro) = &self.repro {
            text.push_str(&format!("\n{REPRO}{repro}"));
        }
        if text.len() > MAX_FINDING {
            return Err(FindingError::Long { found: text.len(), limit: MAX_FINDING });
        }
        // The one rule of what is exact: it is read back as it is.
        match Text::parse(&text) {
            Text::Finding(read) if !self.summary.is_empty() && *read == *self => Ok(text),
            _ => Err(FindingError::Prose),
        }
    }
}

/// The daily summary of a triage: names the first three of a ranked list, by their entries and surfaces.
pub fn summary(source: &str, first: &[(u64, &str)], open: usize) -> Result<String, FindingError> {
    let named = first.iter().take(SUMMARY_FINDINGS);
    let named: Vec<String> = named.map(|(entry, surface)| format!("{entry} ({surface})")).collect();
    let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
    let finding = Finding {
        source: Some(source.to_owned()),
        sev: Some(Severity::Meta.word().to_owned()),
        summary: format!("Open findings: {open}. First: {named}."),
        ..Finding::default()
    };
    finding.build()
}

/// Whether another summary may be filed: one a day at most, days of unix time.
pub fn may_summarize(last: Option<i64>, now: i64) -> bool {
    last.is_none_or(|last| now.div_euclid(86_400) > last.div_euclid(86_400))
}
