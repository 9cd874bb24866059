//! Suites of calls that the loop makes by itself. Only what fails every time is a finding.

use super::command_lines::{PROGRAMS, examples, refusals, subcommands};
use super::error::{QaError, Result};
use super::repeat::{Verdict, repeat};
use super::run::{Run, hash_of};
use super::tools::Tools;
use std::time::{Duration, Instant};
use zx1_market::Json;
use zx1_qa::budget::BudgetError;
use zx1_qa::finding::Finding;
use zx1_qa::observation::Observation;
use zx1_qa::repro::Repro;
use zx1_qa::sibling::Random;
use zx1_qa::suite::Suite;

/// Deepest subcommand whose help is read.
const DEPTH: usize = 3;

/// What a probe looks at, and how long.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The suite that is run.
    pub suite: &'static Suite,
    /// The name that findings carry as their source.
    pub source: String,
    /// Seed of everything that is chosen.
    pub seed: u64,
    /// Wall time after which nothing new begins.
    pub time: Duration,
    /// Most calls of each tool.
    pub calls: u64,
}

/// What a probe saw.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    /// Calls that were made.
    pub calls: u64,
    /// Findings, and whether the journal did not have them before.
    pub findings: Vec<(Finding, bool)>,
    /// Calls that failed once and worked once.
    pub flaky: u64,
    /// Tools of the suite that the rung does not allow, or that do not run here, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Why it ended before its calls were made.
    pub ended_by: Option<String>,
}

/// Runs a suite. What it finds is in the journal when this returns.
///
/// # Errors
/// The dial's when somebody stopped the loop, the sandbox's. An exceeded budget ends the probe and is a finding.
pub fn probe(tools: &Tools, run: &mut Run<'_>, wanted: &Wanted) -> Result<Probed> {
    let mut probe = Probe {
        tools,
        wanted,
        until: Instant::now() + wanted.time,
        seen: Probed::default(),
        commit: run.state().git().commit("HEAD")?,
    };
    let rung = run.given()?.rung();
    let allowed: Vec<&str> = wanted.suite.tools_at(rung).collect();
    for tool in wanted.suite.tools {
        if !allowed.contains(tool) {
            probe.seen.left_out.push(((*tool).to_owned(), format!("the dial is at {rung}")));
            continue;
        }
        let done = match *tool {
            "qa_cli" => probe.command_lines(run),
            _ => probe.seeds(run, tool),
        };
        match done {
            Ok(()) => {}
            Err(QaError::Unavailable { tool, why }) => probe.seen.left_out.push((tool.to_owned(), why)),
            Err(QaError::Budget(error @ BudgetError::Exceeded { what, .. })) => {
                probe.seen.ended_by = Some(error.to_string());
                let finding = Finding {
                    source: Some(wanted.source.clone()),
                    sev: Some("low".to_owned()),
                    surface: Some("perf".to_owned()),
                    summary: format!("budget-exceeded: {what} in the suite {}", wanted.suite.word),
                    ..Finding::default()
                };
                probe.keep(run, finding)?;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(probe.seen)
}

struct Probe<'a> {
    tools: &'a Tools,
    wanted: &'a Wanted,
    until: Instant,
    seen: Probed,
    commit: String,
}

impl Probe<'_> {
    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Calls with one seed after the other.
    fn seeds(&mut self, run: &mut Run<'_>, tool: &str) -> Result<()> {
        for n in 0..self.wanted.calls {
            if self.is_over() {
                break;
            }
            let seed = self.wanted.seed.wrapping_add(n);
            let call = Repro::new(tool, Json::object([("seed", seed)]))?;
            self.look(run, &call)?;
        }
        Ok(())
    }

    /// Every example and refusal of every command, from a place that the seed chooses.
    fn command_lines(&mut self, run: &mut Run<'_>) -> Result<()> {
        let mut calls = Vec::new();
        for program in PROGRAMS {
            let mut todo: Vec<Vec<String>> = vec![Vec::new()];
            while let Some(path) = todo.pop() {
                if self.is_over() {
                    break;
                }
                let Some(help) = self.help(run, program, &path)? else { continue };
                if path.len() < DEPTH {
                    let below = subcommands(&help).into_iter().filter(|name| name != "help");
                    todo.extend(below.map(|name| path.iter().cloned().chain([name]).collect()));
                }
                let lines = examples(program, &help).into_iter().chain(refusals(&path));
                calls.extend(lines.filter_map(|words| line(program, words)));
            }
        }
        let mut random = Random::new(self.wanted.seed);
        let start = random.below(calls.len());
        calls.rotate_left(start);
        let most = usize::try_from(self.wanted.calls).unwrap_or(usize::MAX);
        for call in calls.iter().take(most) {
            if self.is_over() {
                break;
            }
            self.look(run, call)?;
        }
        Ok(())
    }

    /// The help text of a command; nothing where the program is not here.
    fn help(&mut self, run: &mut Run<'_>, program: &str, path: &[String]) -> Result<Option<String>> {
        let words: Vec<String> = path.iter().cloned().chain(["--help".to_owned()]).collect();
        let Some(call) = line(program, words) else { return Ok(None) };
        match self.tools.help(run, &call) {
            Ok(text) => Ok(Some(text)),
            Err(QaError::Unavailable { tool, why }) => {
                if path.is_empty() {
                    self.seen.left_out.push((format!("{tool} of {program}"), why));
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// One call; when it fails, the smaller one that it names, as often as it takes.
    fn look(&mut self, run: &mut Run<'_>, call: &Repro) -> Result<()> {
        self.seen.calls = self.seen.calls.saturating_add(1);
        let given = run.given()?;
        let answer = self.tools.run(given, run, call)?;
        if answer.ok {
            return Ok(());
        }
        let smaller = answer.smaller.as_deref().and_then(|line| Repro::parse(line).ok());
        for call in smaller.iter().chain([call]) {
            let (verdict, answers) = repeat(self.tools, run, call)?;
            match verdict {
                Verdict::Fails => {
                    let finding = self.finding(call, answers.first());
                    return self.keep(run, finding);
                }
                Verdict::Flaky => {
                    self.seen.flaky = self.seen.flaky.saturating_add(1);
                    return Ok(());
                }
                Verdict::Works => {}
            }
        }
        self.seen.flaky = self.seen.flaky.saturating_add(1);
        Ok(())
    }

    fn finding(&self, call: &Repro, answer: Option<&Observation>) -> Finding {
        let error = answer.and_then(|answer| answer.error.clone()).unwrap_or_default();
        let sev = if error.contains("panic") || error.contains("signal") { "high" } else { "low" };
        let sev = if self.wanted.suite.surface == "sandbox" { "critical" } else { sev };
        let surface = match call.tool().name {
            "qa_decode" => "decoder",
            "qa_cli" => "cli",
            _ => self.wanted.suite.surface,
        };
        Finding {
            source: Some(self.wanted.source.clone()),
            sev: Some(sev.to_owned()),
            surface: Some(surface.to_owned()),
            seed: Some(self.wanted.seed),
            version: Some(self.commit.clone()),
            summary: shortened(&format!("{}: {error}", call.tool().name)),
            repro: Some(call.clone()),
            ..Finding::default()
        }
    }

    fn keep(&mut self, run: &mut Run<'_>, finding: Finding) -> Result<()> {
        let hash = hash_of(&finding);
        if self.seen.findings.iter().any(|(other, _)| hash_of(other) == hash) {
            return Ok(());
        }
        let is_new = run.found(&finding)?;
        self.seen.findings.push((finding, is_new));
        Ok(())
    }
}

/// Leaves room in an entry for a call of the longest kind.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short = String::new();
    for letter in line.chars() {
        if short.len().saturating_add(letter.len_utf8()) > 180 {
            break;
        }
        short.push(letter);
    }
    short.trim_end().to_owned()
}

/// A call of a command line; nothing where it is longer than a line may be.
fn line(program: &str, words: Vec<String>) -> Option<Repro> {
    let words: Vec<Json> = words.into_iter().map(Json::from).collect();
    let arguments = Json::object([("program", Json::from(program)), ("arguments", Json::Array(words))]);
    Repro::new("qa_cli", arguments).ok()
}
