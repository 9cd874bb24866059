//! Everyday failures, really met in a clean home (`tests/vectors/fix/everyday.toml`): what the rules repair, and what a
//! model of the user's own adds. Both tests print a table with `--no-capture`.

use crate::own::{KEY, Model, investigate, propose};
use crate::support::{Home, said};
use crate::terminal::Terminal;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use zx1_cli_common::testing::Said;
use zx1_market::contract::ChangeClass;

#[derive(Deserialize)]
struct List {
    failure: Vec<Failure>,
}

/// The fields are explained at the head of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    name: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    repository: bool,
    #[serde(default)]
    setup: String,
    command: String,
    check: String,
    #[serde(default)]
    keeps: Vec<String>,
    repair: Option<String>,
    correct: Option<String>,
    rule: Option<String>,
    #[serde(default)]
    model: Answer,
    wrong: Option<String>,
    expect: Option<String>,
    see: Option<String>,
}

/// What the scripted model does about a failure.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    /// Looks around, then proposes what a person would do.
    #[default]
    Repairs,
    /// Proposes something wrong, then what a person would do.
    RepairsLater,
    /// The same, but it needs a secret that no fix sees.
    Masked,
    /// Has no fix.
    Refuses,
    /// Does not speak the protocol.
    Babbles,
    /// Asks for commands that change, reach out or read secrets, then proposes something that does not help.
    Misuses,
    /// Proposes a command that always works, in place of the user's.
    Cheats,
    /// Proposes something that makes the command end well and is wrong.
    Misleads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Repaired,
    Declined,
    Wrong,
}

/// How a failure ended.
struct Seen<'a> {
    failure: &'a Failure,
    outcome: Outcome,
    said: String,
}

/// A failure in a clean home.
struct Met<'a> {
    failure: &'a Failure,
    home: Home,
    /// The files of the list, as they are before the command runs.
    before: Vec<Option<Vec<u8>>>,
}

const REPOSITORY: &str = "git init -q -b main && git config user.name Ada && git config user.email ada@example.com \
                          && git add . && git commit -qm Start";

static LIST: LazyLock<Vec<Failure>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/fix/everyday.toml");
    let list: List = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    list.failure
});

/// Programs behind a version manager's stand-in first: the stand-ins need the real home.
static SEARCH_PATH: LazyLock<OsString> = LazyLock::new(|| {
    let ask = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
    };
    let python = ask("python3", &["-c", "import os, sys; print(os.path.dirname(sys.executable))"]);
    let rust = ask("rustc", &["--print", "sysroot"]).map(|root| root.join("bin"));
    let path = std::env::var_os("PATH").unwrap();
    std::env::join_paths(python.into_iter().chain(rust).chain(std::env::split_paths(&path))).unwrap()
});

impl Failure {
    fn tool(&self) -> &str {
        self.name.split(':').next().unwrap()
    }

    fn meet(&self) -> Met<'_> {
        let home = Home::new();
        for (name, content) in &self.files {
            std::fs::create_dir_all(home.work().join(name).parent().unwrap()).unwrap();
            home.file(name, content);
        }
        let mut met = Met { failure: self, home, before: Vec::new() };
        let repository = if self.repository { REPOSITORY } else { "true" };
        let made = met.shell(&format!("set -e; {repository}\n{}", self.setup));
        assert_eq!(made.code, 0, "{}: {made:?}", self.name);
        met.before = met.now();
        met
    }

    /// What the model answers, one after the other.
    fn answers(&self) -> Vec<Value> {
        let wrong = || self.wrong.clone().unwrap_or_else(|| "echo 'This should do.'".to_owned());
        let right = json!({
            "action": "propose", "fix": self.repair.as_deref().unwrap_or("true"), "explanation": "It was wrong.",
            "corrected_command": self.correct,
        });
        let always = json!({
            "action": "propose", "fix": "true", "explanation": "This works.", "corrected_command": "true",
        });
        match self.model {
            Answer::Repairs | Answer::Masked => vec![investigate("ls"), right],
            Answer::RepairsLater => vec![propose(&wrong()), right],
            Answer::Refuses => Vec::new(),
            Answer::Babbles => vec![json!("Sure, just run it again!"), json!("```sh\nsudo reboot\n```")],
            Answer::Misuses => ["rm -rf .", "curl http://127.0.0.1/", "cat ../.fix/model.key"]
                .map(investigate)
                .into_iter()
                .chain([propose("rm -rf ./* ../*"), propose("rm -rf ./*")])
                .collect(),
            Answer::Cheats => vec![always.clone(), always],
            Answer::Misleads => vec![propose(&wrong())],
        }
    }
}

impl<'a> Met<'a> {
    fn shell(&self, script: &str) -> Said {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).current_dir(self.home.work()).env_clear().env("PATH", &*SEARCH_PATH);
        said(shell.env("HOME", self.home.path()).env("OUT", self.home.path().join("out")))
    }

    /// `fix` with these options on the command: as words, or as one line where it takes a shell to read it.
    fn fix(&self, options: &[&str]) -> Command {
        let line = self.failure.command.as_str();
        let words = if line.contains(['\'', '*']) { vec![line] } else { line.split(' ').collect() };
        let mut command = self.home.command(options.iter().copied().chain(["run", "--"]).chain(words));
        command.env("PATH", &*SEARCH_PATH);
        command
    }

    fn now(&self) -> Vec<Option<Vec<u8>>> {
        self.failure.files.keys().map(|name| std::fs::read(self.home.work().join(name)).ok()).collect()
    }

    fn keeps_its_files(&self) -> bool {
        let now = self.now();
        let kept = self.failure.files.keys().zip(self.before.iter().zip(&now));
        kept.filter(|(name, _)| self.failure.keeps.contains(name)).all(|(_, (before, now))| before == now)
    }

    /// How it ended. `said`: all that was printed.
    fn judge(&self, fixed: bool, said: String) -> Seen<'a> {
        let lines: Vec<&str> = said.lines().map(str::trim).collect();
        std::fs::write(self.home.path().join("out"), lines.join("\n")).unwrap();
        let outcome = match fixed {
            true if self.keeps_its_files() && self.shell(&self.failure.check).code == 0 => Outcome::Repaired,
            false if self.now() == self.before => Outcome::Declined,
            _ => Outcome::Wrong,
        };
        Seen { failure: self.failure, outcome, said }
    }
}

impl Seen<'_> {
    /// Name of the rule that proposed something.
    fn rule(&self) -> Option<String> {
        let said = self.said.replace("\n     ", " ");
        let line = said.split("Known problem: ").nth(1)?.lines().next()?;
        Some(line.rsplit_once('(')?.1.trim_end_matches(").").to_owned())
    }
}

/// Tries each, a few at a time, in the list's order.
fn each<'a>(failures: &[&'a Failure], attempt: impl Fn(&'a Failure) -> Seen<'a> + Sync) -> Vec<Seen<'a>> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8));
    let mut seen: Vec<(usize, Seen<'a>)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let (number, Some(failure)) = {
                let number = next.fetch_add(1, Ordering::SeqCst);
                (number, failures.get(number))
            } {
                done.push((number, attempt(failure)));
            }
            done
        };
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    seen.sort_by_key(|(number, _)| *number);
    seen.into_iter().map(|(_, seen)| seen).collect()
}

/// Prints the table and says how many ended in each way.
fn table(seen: &[Seen<'_>], by: impl Fn(&Seen<'_>) -> String) -> BTreeMap<Outcome, usize> {
    let mut counts = BTreeMap::new();
    for one in seen {
        *counts.entry(one.outcome).or_insert(0) += 1;
        println!("{:<9} {:<28} {}", format!("{:?}", one.outcome), by(one), one.failure.name);
    }
    let tools: BTreeSet<&str> = seen.iter().map(|one| one.failure.tool()).collect();
    println!("{} failures of {} tools: {counts:?}", seen.len(), tools.len());
    counts
}

/// Whoever agrees to everything that can be agreed to gets nothing wrong.
#[test]
fn the_rules_repair_half_of_everyday_failures_and_none_wrong() {
    let tools: BTreeSet<&str> = LIST.iter().map(Failure::tool).collect();
    assert!(LIST.len() >= 60 && tools.len() >= 12, "{} of {tools:?}", LIST.len());
    let classes = ChangeClass::ALL.iter().flat_map(|class| ["--allow", class.as_str()]);
    let options: Vec<&str> = ["--local", "--yes"].into_iter().chain(classes).collect();
    let seen = each(&LIST.iter().collect::<Vec<_>>(), |failure| {
        let met = failure.meet();
        let said = said(&mut met.fix(&options));
        met.judge(said.code == 0, said.out + &said.err)
    });
    let counts = table(&seen, |one| one.rule().unwrap_or_default());
    let share = counts[&Outcome::Repaired] * 100 / seen.len();
    println!("{share} % repaired");
    let differs = |one: &&Seen<'_>| match (&one.failure.rule, one.outcome) {
        (Some(rule), Outcome::Repaired) => one.rule().as_ref() != Some(rule),
        (None, Outcome::Declined) => false,
        _ => true,
    };
    let differing: Vec<_> = seen.iter().filter(differs).map(|one| (&one.failure.name, &one.said)).collect();
    assert!(differing.is_empty(), "{} differ from the list: {differing:#?}", differing.len());
    assert!(share >= 50, "{share} %");
}

/// What the rules decline goes to a model, good answers and bad ones. A person looks at the good ones, and agrees;
/// where the answers are bad nobody looks, and all that --yes covers is agreed to.
#[test]
fn a_model_of_ones_own_repairs_what_it_answers_well_and_none_wrong() {
    let left: Vec<&Failure> = LIST.iter().filter(|failure| failure.rule.is_none()).collect();
    let seen = each(&left, |failure| {
        let met = failure.meet();
        let model = Model::start(failure.answers());
        let name = model.name();
        let mut options = vec!["--yes", "--model", &name];
        options.extend(failure.expect.iter().flat_map(|pattern| ["--expect", pattern]));
        options.extend(failure.see.iter().flat_map(|path| ["--see", path]));
        let mut command = met.fix(&options);
        command.env("OPENAI_API_KEY", KEY);
        let is_good = matches!(failure.model, Answer::Repairs | Answer::RepairsLater);
        let (code, said) = if is_good {
            Terminal::start(command).answer(&[("[y/N]", "y\r"), ("it all the same:", "send\r")])
        } else {
            let said = said(&mut command);
            (said.code, said.out + &said.err)
        };
        assert!(!model.asked().is_empty(), "{}: {said}", failure.name);
        let seen = met.judge(code == 0, said);
        if seen.said.contains("Undo with: fix undo") {
            met.home.fix(["undo"]).ok();
            assert!(met.now() == met.before, "{}: not undone", failure.name);
        }
        seen
    });
    let counts = table(&seen, |one| format!("{:?}", one.failure.model));
    let repaired = LIST.len() - left.len() + counts[&Outcome::Repaired];
    println!("{repaired} of {} repaired by rules and model", LIST.len());
    let good = |one: &Seen<'_>| matches!(one.failure.model, Answer::Repairs | Answer::RepairsLater);
    let expected = |one: &Seen<'_>| if good(one) { Outcome::Repaired } else { Outcome::Declined };
    let differing: Vec<_> = seen
        .iter()
        .filter(|one| one.outcome != expected(one))
        .map(|one| (&one.failure.name, &one.said))
        .collect();
    assert!(differing.is_empty(), "{} differ: {differing:#?}", differing.len());
}
