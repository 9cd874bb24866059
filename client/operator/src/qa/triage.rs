//! The feedback log as a list of work: parsed, made one where it is one, ranked.

use super::journal::Line;
use crate::error::Result;
use crate::operator::Operator;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use zx1_qa::finding::Text;
use zx1_qa::rank::{Item, Report, State, triage};

/// Entries that one call reads.
const PAGE: usize = 100;

/// A finding of the log with everything that is known of it.
#[derive(Clone, Debug, Serialize)]
pub struct Ranked {
    /// Numbers of its entries, the oldest first.
    pub entries: Vec<u64>,
    /// The highest severity that counts.
    pub severity: &'static str,
    /// The part of the system that it is about.
    pub surface: String,
    /// The rank, with 16 bits behind the point.
    pub rank: u64,
    /// Distinct senders with a stake.
    pub staked: u64,
    /// `needs_repro`, `new`, `reproduced`, `not_reproduced`, `flaky`, `fixed` or `regression`.
    pub state: &'static str,
    /// The line that reproduces it.
    pub repro: Option<String>,
    /// First line of its oldest entry's text.
    pub summary: String,
    /// Sender of the oldest entry in base58.
    pub sender: String,
    /// Time of the oldest entry in unix seconds.
    pub time: i64,
    /// The finding is published as a hash and sealed text.
    pub is_sealed: bool,
}

/// The log, ranked.
#[derive(Clone, Debug, Serialize)]
pub struct Triaged {
    /// Entries that were read.
    pub entries: usize,
    /// The maintainer stopped every fleet that reads the log, with this entry.
    pub halted_by: Option<u64>,
    /// Findings, the one to look at first first.
    pub findings: Vec<Ranked>,
}

/// The word of a state.
fn word(state: State) -> &'static str {
    match state {
        State::NeedsRepro => "needs_repro",
        State::New => "new",
        State::Reproduced => "reproduced",
        State::NotReproduced => "not_reproduced",
        State::Flaky => "flaky",
        State::Fixed => "fixed",
        State::Regression => "regression",
    }
}

/// What our own machine saw of calls: of the last runs of each whether it failed.
fn seen(lines: &[Line]) -> BTreeMap<&str, Vec<bool>> {
    let mut seen: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for line in lines {
        if let Line::Observed { call, ok, .. } = line {
            seen.entry(call).or_default().push(!ok);
        }
    }
    for failed in seen.values_mut() {
        let old = failed.len().saturating_sub(zx1_qa::defaults::FLAKY_RUNS);
        failed.drain(..old);
    }
    seen
}

/// An entry as it was read.
#[derive(Clone, Debug)]
pub struct Read {
    /// What is ranked.
    pub report: Report,
    /// Its time in unix seconds.
    pub time: i64,
    /// The maintainer resolved it.
    pub is_resolved: bool,
}

/// Ranks entries. `lines` is what this machine's journal has.
pub fn rank(read: &[Read], staked: &BTreeSet<[u8; 32]>, maintainer: &[u8; 32], lines: &[Line]) -> Triaged {
    let reports: Vec<Report> = read.iter().map(|it| it.report.clone()).collect();
    let by_entry: BTreeMap<u64, &Read> = read.iter().map(|it| (it.report.entry, it)).collect();
    let seen = seen(lines);
    let ranked = |item: Item| {
        let oldest = item.entries.first().and_then(|entry| by_entry.get(entry));
        let of = |entry: &u64| by_entry.get(entry);
        let is_resolved = item.entries.iter().filter_map(of).any(|it| it.is_resolved);
        let failed = seen.get(item.key.subject.as_str()).cloned().unwrap_or_default();
        let state = State::of(item.key.can_run, is_resolved, &failed);
        let summary = oldest.map(|it| match &it.report.text {
            Text::Finding(finding) => finding.summary.clone(),
            Text::Prose(prose) => prose.clone(),
            Text::Halt => String::new(),
        });
        Ranked {
            severity: item.severity.word(),
            rank: item.rank,
            staked: item.staked,
            state: word(state),
            is_sealed: zx1_qa::surface::is_sealed(&item.key.surface),
            surface: item.key.surface,
            repro: item.key.can_run.then_some(item.key.subject),
            summary: summary.unwrap_or_default().lines().next().unwrap_or_default().to_owned(),
            sender: oldest.map_or_else(String::new, |it| bs58::encode(it.report.sender).into_string()),
            time: oldest.map_or(0, |it| it.time),
            entries: item.entries,
        }
    };
    let halts =
        |it: &&Read| it.report.text == Text::Halt && it.report.sender == *maintainer && !it.is_resolved;
    Triaged {
        entries: read.len(),
        halted_by: read.iter().filter(halts).map(|it| it.report.entry).max(),
        findings: triage(&reports, staked).into_iter().map(ranked).collect(),
    }
}

impl Operator {
    /// Reads the whole feedback log and ranks it. `lines` is what this machine's journal has.
    pub async fn triage(&self, lines: &[Line]) -> Result<Triaged> {
        let config = self.client().config().await?;
        let count = self.client().feedback_log().await?.map_or(0, |log| log.count);
        let mut read = Vec::new();
        let mut end = count;
        while end > 0 {
            let page = self.client().feedback(Some(end.saturating_sub(1)), PAGE).await?;
            let got = u64::try_from(page.len()).unwrap_or(0);
            read.extend(page.into_iter().map(|item| Read {
                report: Report {
                    entry: item.entry.index,
                    sender: item.entry.sender,
                    text: Text::parse(&item.text),
                },
                time: item.entry.timestamp,
                is_resolved: item.resolution.is_some(),
            }));
            end = end.saturating_sub(got.max(1));
        }
        let staked = self.client().staked_wallets().await?;
        Ok(rank(&read, &staked, &config.maintainer, lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(entry: u64, sender: u8, text: &str) -> Read {
        let report = Report { entry, sender: [sender; 32], text: Text::parse(text) };
        Read { report, time: 7, is_resolved: false }
    }

    fn finding(sev: &str) -> String {
        format!("qa/v1 sev={sev} surface=decoder\nIt fails.\nmore\nrepro: qa_decode({{\"hex\":\"00\"}})")
    }

    fn observed(ok: bool) -> Line {
        let call = "qa_decode({\"hex\":\"00\"})".to_owned();
        Line::Observed { run: String::new(), call, ok, error: None, latency_ms: 1 }
    }

    #[test]
    fn entries_of_one_call_are_one_finding_whose_state_is_what_this_machine_saw() {
        let read = [entry(0, 1, &finding("low")), entry(1, 2, &finding("critical")), entry(2, 2, "words")];
        let staked = BTreeSet::from([[2; 32]]);
        let rank = |lines: &[Line]| rank(&read, &staked, &[9; 32], lines);
        let first = |lines: &[Line]| rank(lines).findings[0].clone();
        let found = first(&[]);
        assert_eq!(
            (found.entries.clone(), found.severity, found.staked, found.state),
            (vec![0, 1], "critical", 1, "new")
        );
        assert_eq!((found.summary.as_str(), found.repro.is_some(), found.time), ("It fails.", true, 7));
        assert_eq!(rank(&[]).findings[1].state, "needs_repro");
        assert_eq!(first(&[observed(false), observed(false), observed(false)]).state, "reproduced");
        assert_eq!(first(&[observed(false), observed(true), observed(false)]).state, "flaky");
        assert_eq!(
            first(&[observed(false), observed(true), observed(true), observed(true)]).state,
            "not_reproduced"
        );
    }

    #[test]
    fn only_the_maintainers_halt_stops_a_fleet_and_resolving_it_lets_it_go_on() {
        let halted = |sender, is_resolved| {
            let read = [Read { is_resolved, ..entry(4, sender, "qa/v1 halt\nbecause") }];
            rank(&read, &BTreeSet::new(), &[9; 32], &[]).halted_by
        };
        assert_eq!((halted(9, false), halted(8, false), halted(9, true)), (Some(4), None, None));
    }
}
