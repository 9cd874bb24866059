//! Runs R0 to R4 of a proposal. What they have to show is [`zx1_qa::gate`]'s; here they are made: each in a fresh sandbox
//! over one warm build of the base commit, without a network.
//!
//! The commands that build, test, lint and ask are the settings' ([`Recipe`]), never the patch's: a patch that touches a
//! file that they name is refused.

use super::error::{QaError, Result, at};
use super::outcomes::{Printed, read};
use super::run::{Run, sandbox};
use super::settings::Recipe;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zx1_home::files::make_private_folder;
use zx1_qa::budget::Amounts;
use zx1_qa::defaults::{FLAKY_RUNS, SIBLINGS};
use zx1_qa::gate::{GateError, Mutation, Passed, Record, Tests};
use zx1_qa::journal::Point;
use zx1_qa::patch::{Class, Patch, PatchError};
use zx1_qa::repro::Repro;
use zx1_qa::sibling::siblings;
use zx1_sandbox::{Class as Kind, Command, Consents, DEFAULT_PATH, Limits, Outcome, Records, Sandbox};

/// It works, by the exit code of what answers a line.
const WORKS: i32 = 0;
/// It fails as reported.
const FAILS: i32 = 10;
/// Output of a test run that is kept, in bytes.
const OUTPUT: usize = 8 << 20;

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// The line that reproduces the finding.
    pub call: &'a Repro,
    /// The patch as it came.
    pub patch: &'a [u8],
    /// The commit that it is for.
    pub commit: &'a str,
}

/// A proposal that passed.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The patch, as it was read.
    pub patch: Patch,
    /// What the runs showed.
    pub record: Record,
    /// That it is enough.
    pub passed: Passed,
    /// Wall time of all runs.
    pub took: Duration,
}

/// Judges a proposal. What cannot be judged because of the base commit or of this machine is not the patch's fault.
///
/// # Errors
/// [`PatchError`], [`GateError`], [`QaError::Apply`]: the patch is refused. [`QaError::Base`] and others: it was not
/// judged.
pub fn judge(run: &mut Run<'_>, proposal: &Proposal<'_>) -> Result<Judged> {
    let recipe = run.state().settings().gate.clone();
    let patch = Patch::parse(proposal.patch, None)?;
    for file in patch.files() {
        if recipe.own_files().any(|own| own == file.path) {
            return Err(PatchError::Protected(file.path.clone()).into());
        }
    }
    let git = run.state().git().clone();
    git.tree(proposal.commit, proposal.patch, &run.folder().join("index"))?;
    let amounts = Amounts { wall_ms: recipe.seconds.saturating_mul(1_000), ..Amounts::default() };
    let began = Instant::now();
    run.within(amounts, |run| {
        run.reach(Point::GateRunning)?;
        let bench = Bench::build(run, &recipe, proposal.commit)?;
        let record = bench.record(run, proposal, &patch)?;
        let passed = record.judge(&patch)?;
        let took = began.elapsed();
        let wall_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Ok((Judged { patch, record, passed, took }, Amounts { wall_ms, ..Amounts::default() }))
    })
}

/// The base commit, built, and how to run something over it.
struct Bench<'a> {
    recipe: &'a Recipe,
    /// What the sandboxes may change, and forget: the tree and a home.
    place: PathBuf,
    tree: PathBuf,
    until: Instant,
}

/// What a patch says about lines of the whole patch.
const FORWARD: bool = false;
const BACKWARD: bool = true;

impl<'a> Bench<'a> {
    fn build(run: &Run<'_>, recipe: &'a Recipe, commit: &str) -> Result<Self> {
        let place = run.folder().join("gate");
        let tree = place.join("tree");
        for folder in [&place, &tree, &place.join("home")] {
            make_private_folder(folder).map_err(at(folder))?;
        }
        run.state().git().export(commit, &tree, &run.folder().join("index"))?;
        let bench = Self { recipe, place, tree, until: Instant::now() + recipe.time() };
        bench.warm(run)?;
        Ok(bench)
    }

    /// Builds the base commit once; what that leaves lies under all further sandboxes.
    fn warm(&self, run: &Run<'_>) -> Result<()> {
        if self.recipe.build.is_empty() {
            return Ok(());
        }
        let base = |why: String| QaError::Base { why };
        let mut sandbox = self.fresh()?;
        let outcome = self.run(run, &mut sandbox, &self.recipe.build, &[])?;
        if !outcome.success() {
            return Err(base(format!("its build fails ({})", last_line(&outcome))));
        }
        let changes = sandbox.changes()?;
        let kinds = [
            Kind::Tests,
            Kind::OwnCommand,
            Kind::Dotfile,
            Kind::Executable,
            Kind::Link,
            Kind::Binary,
            Kind::Ci,
            Kind::StartUpFile,
        ];
        let consents = kinds.into_iter().fold(Consents::none(), Consents::with);
        if let Some(kind) = changes.classes().into_iter().find(|kind| !consents.allow(*kind)) {
            return Err(base(format!("its build changes {kind}")));
        }
        let records = Records::open(run.folder().join("undo"))?;
        sandbox.commit(&changes, &consents, &records)?;
        Ok(())
    }

    fn fresh(&self) -> Result<Sandbox> {
        let shown: Vec<&Path> = self.recipe.show.iter().map(PathBuf::as_path).collect();
        sandbox(&self.place, &shown)
    }

    /// A fresh sandbox with patches on the tree.
    fn with(&self, run: &Run<'_>, patches: &[(&str, bool)]) -> Result<Sandbox> {
        let mut sandbox = self.fresh()?;
        for (patch, is_backward) in patches {
            let mut argv = vec!["git", "apply", "--whitespace=nowarn"];
            argv.extend(is_backward.then_some("--reverse"));
            argv.push("-");
            let command = self.command(&argv).stdin(patch.as_bytes());
            let outcome = run.jailed(&mut sandbox, &command, &self.limits()?)?;
            if !outcome.success() {
                return Err(QaError::Apply { why: last_line(&outcome) });
            }
        }
        Ok(sandbox)
    }

    fn command<S: AsRef<str>>(&self, argv: &[S]) -> Command {
        let ceiling = self.place.as_os_str().to_owned();
        let path = OsString::from(DEFAULT_PATH);
        let command = Command::argv(argv.iter().map(|word| -> &str { word.as_ref() }))
            .cwd(&self.tree)
            .env("PATH", path)
            .env("HOME", self.place.join("home"))
            .env("LC_ALL", "C.UTF-8")
            .env("CARGO_NET_OFFLINE", "true")
            .env("GIT_CEILING_DIRECTORIES", ceiling)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        self.recipe.environment.iter().fold(command, |command, (name, value)| command.env(name, value))
    }

    fn limits(&self) -> Result<Limits> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(QaError::Ended { what: "The gate".to_owned(), limit: "wall time".to_owned() });
        }
        Ok(Limits { time: left, memory: self.recipe.memory, output: OUTPUT, ..Limits::default() })
    }

    fn run(&self, run: &Run<'_>, sandbox: &mut Sandbox, argv: &[String], more: &[&str]) -> Result<Outcome> {
        let argv: Vec<&str> = argv.iter().map(String::as_str).chain(more.iter().copied()).collect();
        run.jailed(sandbox, &self.command(&argv), &self.limits()?)
    }

    fn tests(&self, run: &Run<'_>, sandbox: &mut Sandbox) -> Result<Tests> {
        let outcome = self.run(run, sandbox, &self.recipe.test, &[])?;
        let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
        let is_cut = outcome.stdout.truncated || outcome.stderr.truncated;
        let exit = if outcome.limit_hit.is_some() { None } else { outcome.exit };
        Ok(read(self.recipe.form, &Printed { exit, stdout: &stdout, stderr: &stderr, is_cut }))
    }

    /// Whether a line fails as reported; `None` for an answer that says neither.
    fn fails(&self, run: &Run<'_>, sandbox: &mut Sandbox, line: &str) -> Result<Option<bool>> {
        let outcome = self.run(run, sandbox, &self.recipe.repro, &[line])?;
        Ok(match (outcome.limit_hit, outcome.exit) {
            (None, Some(WORKS)) => Some(false),
            (None, Some(FAILS)) => Some(true),
            _ => None,
        })
    }

    fn record(&self, run: &Run<'_>, proposal: &Proposal<'_>, patch: &Patch) -> Result<Record> {
        let line = proposal.call.to_string();
        let whole = std::str::from_utf8(proposal.patch).map_err(|_| PatchError::Binary)?;
        let mut record = Record {
            commit: proposal.commit.to_owned(),
            patch_sha256: patch.sha256(),
            repro: line.clone(),
            ..Record::default()
        };

        let mut base = self.fresh()?;
        for _ in 0..FLAKY_RUNS {
            let answer = self.fails(run, &mut base, &line)?;
            let cannot = || QaError::Base { why: "the line that reproduces cannot run there".to_owned() };
            record.r0.push(answer.ok_or_else(cannot)?);
        }
        if !record.r0.contains(&true) {
            return Err(GateError::NotReproduced.into());
        }
        let mut near = BTreeMap::new();
        for sibling in siblings(proposal.call, SIBLINGS) {
            let sibling = sibling.to_string();
            if self.fails(run, &mut base, &sibling)? == Some(true) {
                near.insert(sibling, true);
            }
        }
        record.base = self.tests(run, &mut self.fresh()?)?;
        if !record.base.is_complete {
            return Err(QaError::Base {
                why: "its tests do not build, or not all were collected".to_owned(),
            });
        }

        let tests_alone = patch.only(Class::Test);
        record.r1 = self.tests(run, &mut self.with(run, &[(&tests_alone, FORWARD)])?)?;
        so_far(&record, patch)?;

        let mut fixed = self.with(run, &[(whole, FORWARD)])?;
        for _ in 0..FLAKY_RUNS {
            // Whoever breaks what answers has not fixed anything.
            record.r2_repro.push(self.fails(run, &mut fixed, &line)?.unwrap_or(true));
        }
        for (sibling, fails) in &mut near {
            *fails = self.fails(run, &mut fixed, sibling)?.unwrap_or(true);
        }
        record.siblings = near;
        let mut fixed = self.with(run, &[(whole, FORWARD)])?;
        record.r2 = self.tests(run, &mut fixed)?;
        so_far(&record, patch)?;

        // The test files are our side's: the patch's source over the base commit's tests.
        let source_alone = patch.only(Class::Source);
        record.r3 = self.tests(run, &mut self.with(run, &[(&source_alone, FORWARD)])?)?;
        record.lints_clean = self.recipe.lint.is_empty() || {
            let mut linted = self.with(run, &[(whole, FORWARD)])?;
            self.run(run, &mut linted, &self.recipe.lint, &[])?.success()
        };

        so_far(&record, patch)?;
        for (path, hunk, undone) in patch.source_hunks() {
            let mut without = self.with(run, &[(whole, FORWARD), (&undone, BACKWARD)])?;
            let tests = self.tests(run, &mut without)?;
            record.r4.push(Mutation { path, hunk, tests });
        }
        Ok(record)
    }
}

/// Whether nothing is wrong yet: what was not run is missing, and only that may be. What is refused already needs no
/// further runs.
fn so_far(record: &Record, patch: &Patch) -> Result<()> {
    let ran = |tests: &Tests| *tests != Tests::default();
    match record.judge(patch) {
        Ok(_) => Ok(()),
        Err(GateError::Aborted { run: "R2" }) if !ran(&record.r2) && record.r2_repro.is_empty() => Ok(()),
        Err(GateError::Aborted { run: "R3" }) if !ran(&record.r3) => Ok(()),
        Err(GateError::MutationMissing { .. }) if record.r4.is_empty() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The last thing that a command said, as a clause.
fn last_line(outcome: &Outcome) -> String {
    let text = outcome.stderr.text();
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    let line: String =
        line.trim().trim_end_matches('.').chars().filter(|c| !c.is_control()).take(200).collect();
    match outcome.limit_hit {
        Some(limit) => format!("{line}; ended by a limit: {limit:?}"),
        None => line,
    }
}
