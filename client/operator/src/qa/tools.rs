//! The tools of the table as they run here: each in a sandbox of its own, with no network but its own loopback. What a
//! tool answers is one [`Observation`].
//!
//! A tool takes the rung that it needs by value, so a call above the rung does not compile:
//!
//! ```compile_fail,E0308
//! # use zx1_operator::qa::{Run, Tools};
//! # use zx1_qa::{dial::Observe, repro::Repro};
//! fn unattended(tools: &Tools, run: &mut Run<'_>, rung: Observe, call: &Repro) {
//!     let _ = tools.exercise(rung, run, call);
//! }
//! ```

use super::attack;
use super::command_lines;
use super::decode;
use super::error::{QaError, Result, at};
use super::journal::Line;
use super::run::{Run, sandbox};
use super::version::of_this_program;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_home::files::make_private_folder;
use zx1_market::Json;
use zx1_qa::budget::Amounts;
use zx1_qa::dial::{Exercise, Given, Observe, Rung};
use zx1_qa::journal::Point;
use zx1_qa::observation::Observation;
use zx1_qa::repro::Repro;
use zx1_qa::tool::Tool;
use zx1_sandbox::{Command, LimitKind, Limits, Outcome};

/// The word behind a program's name that makes it answer a call as a tool.
pub const ARGUMENT: &str = "qa-tool";
/// Memory of a tool in bytes.
const MEMORY: u64 = 1 << 30;

/// The programs that tools run.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The program that is its own tool when it is called with [`ARGUMENT`].
    own: PathBuf,
    /// Where the programs of this installation are.
    folder: PathBuf,
}

impl Tools {
    /// The tools of the running program and of the programs beside it.
    ///
    /// # Errors
    /// The operating system does not say which program runs.
    pub fn of_this_program() -> Result<Self> {
        let path = PathBuf::from("/proc/self/exe");
        let own = std::fs::canonicalize(&path).map_err(at(&path))?;
        let folder = own.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Self { own, folder })
    }

    /// The same with programs from another folder.
    #[must_use]
    pub fn with_programs(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..self }
    }

    /// Runs a call with whatever the dial gives.
    ///
    /// # Errors
    /// [`zx1_qa::dial::DialError::Rung`] where that is not enough, [`QaError::Unavailable`] for a tool that does not run
    /// here.
    pub fn run(&self, given: Given, run: &mut Run<'_>, call: &Repro) -> Result<Observation> {
        match call.tool().rung {
            Rung::Observe => self.observe(given.observe(), run, call),
            Rung::Exercise => self.exercise(given.exercise()?, run, call),
            Rung::Propose => given
                .propose()
                .map_err(QaError::from)
                .and_then(|_| unavailable(call.tool(), "no line reaches it")),
        }
    }

    /// Runs a tool that only looks.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn observe(&self, _: Observe, run: &mut Run<'_>, call: &Repro) -> Result<Observation> {
        match call.tool().name {
            "qa_decode" => self.decode(run, call),
            "qa_cli" => self.command_line(run, call),
            _ => unavailable(call.tool(), "this program does not have it"),
        }
    }

    /// Runs a tool that writes to what the run itself made.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn exercise(&self, _: Exercise, run: &mut Run<'_>, call: &Repro) -> Result<Observation> {
        match call.tool().name {
            "qa_attack" if !attack::has(call) => unavailable(call.tool(), "there is no scene of this name"),
            "qa_attack" => self.within(run, call, |tools, run, call| tools.answered_inside(run, call)),
            _ => unavailable(call.tool(), "this program does not have it"),
        }
    }

    fn decode(&self, run: &mut Run<'_>, call: &Repro) -> Result<Observation> {
        let kind = call.arguments().get("kind").and_then(Json::as_str);
        if kind.is_some_and(|kind| decode::decoders().all(|(name, _)| name != kind)) {
            return unavailable(call.tool(), "there is no decoder of this kind");
        }
        if call.arguments().get("evidence").is_some() {
            return unavailable(call.tool(), "the evidence that it names is not here");
        }
        self.within(run, call, |tools, run, call| tools.answered_inside(run, call))
    }

    /// The tool itself in the jail: this program, called with [`ARGUMENT`].
    fn answered_inside(&self, run: &mut Run<'_>, call: &Repro) -> Result<Observation> {
        let request = Json::object([("call", call.to_string())]).canonical();
        let command = Command::argv([self.own.as_os_str(), ARGUMENT.as_ref()]).stdin(request);
        let outcome = self.jailed(run, call.tool(), command)?;
        Ok(inside(&outcome, call.tool()))
    }

    fn command_line(&self, run: &mut Run<'_>, call: &Repro) -> Result<Observation> {
        let (path, words) = self.words(call)?;
        self.within(run, call, |tools, run, call| {
            let outcome = tools.program(run, call.tool(), &path, &words)?;
            Ok(command_lines::judge(&outcome, of_this_program()))
        })
    }

    /// The program of a call, and its words.
    fn words(&self, call: &Repro) -> Result<(PathBuf, Vec<String>)> {
        let arguments = call.arguments();
        let program = arguments.get("program").and_then(Json::as_str).unwrap_or("zx1");
        let path = self.folder.join(program);
        if !path.is_file() {
            return unavailable(call.tool(), &format!("there is no program {program} beside this one"));
        }
        let words = arguments.get("arguments").and_then(Json::as_array).unwrap_or_default();
        let words: Vec<String> = words.iter().filter_map(Json::as_str).map(str::to_owned).collect();
        Ok((path, words))
    }

    /// What the command line of a call prints, for whoever looks for more calls. It is not judged.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) fn help(&self, run: &mut Run<'_>, call: &Repro) -> Result<String> {
        let (path, words) = self.words(call)?;
        let outcome = self.program(run, call.tool(), &path, &words)?;
        Ok(outcome.stdout.text().into_owned())
    }

    /// A program of this installation in the jail, in an empty home.
    pub(crate) fn program(
        &self,
        run: &mut Run<'_>,
        tool: &'static Tool,
        path: &Path,
        words: &[String],
    ) -> Result<Outcome> {
        let argv = std::iter::once(path.as_os_str().to_owned()).chain(words.iter().map(Into::into));
        self.jailed(run, tool, Command::argv(argv))
    }

    fn jailed(&self, run: &mut Run<'_>, tool: &'static Tool, command: Command) -> Result<Outcome> {
        let home = run.folder().join("home");
        make_private_folder(&home).map_err(at(&home))?;
        let own = [self.own.as_path()];
        let programs: Vec<PathBuf> =
            ["zx1", "fix", "nano-escrow"].iter().map(|name| self.folder.join(name)).collect();
        let shown: Vec<&Path> = own.into_iter().chain(programs.iter().map(PathBuf::as_path)).collect();
        let mut sandbox = sandbox(&home, &shown)?;
        let command = command.env("HOME", &home).env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").cwd(&home);
        let limits = Limits {
            time: Duration::from_secs(tool.seconds),
            memory: MEMORY,
            processes: 64,
            output: tool.output,
            ..Limits::default()
        };
        run.reach(Point::ToolRunning)?;
        run.jailed(&mut sandbox, &command, &limits)
    }

    /// Reserves what a call may use, runs it, writes what it answered into the journal.
    fn within(
        &self,
        run: &mut Run<'_>,
        call: &Repro,
        act: impl FnOnce(&Self, &mut Run<'_>, &Repro) -> Result<Observation>,
    ) -> Result<Observation> {
        let tool = call.tool();
        let bytes = u64::try_from(tool.output).unwrap_or(u64::MAX);
        let amounts = Amounts { wall_ms: tool.seconds.saturating_mul(1_000), bytes, ..Amounts::default() };
        let began = std::time::Instant::now();
        let answer = run.within(amounts, |run| {
            let answer = act(self, run, call)?;
            let wall_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let bytes = u64::try_from(answer.json().canonical().len()).unwrap_or(u64::MAX);
            Ok((answer, Amounts { wall_ms, bytes, ..Amounts::default() }))
        })?;
        let (call, ok, error, latency_ms) =
            (call.to_string(), answer.ok, answer.error.clone(), answer.latency_ms);
        run.write(|run| Line::Observed { run, call, ok, error, latency_ms })?;
        Ok(answer)
    }
}

fn unavailable<T>(tool: &'static Tool, why: &str) -> Result<T> {
    Err(QaError::Unavailable { tool: tool.name, why: why.to_owned() })
}

/// The answer of a tool that ran inside: what it printed, or that it could not print anything.
fn inside(outcome: &Outcome, tool: &Tool) -> Observation {
    let latency_ms = u64::try_from(outcome.wall.as_millis()).unwrap_or(u64::MAX);
    let wrong = |why: String| Observation { latency_ms, ..Observation::wrong(of_this_program(), &why) };
    match outcome.limit_hit {
        Some(LimitKind::Time) => return wrong(format!("it does not end within {} s", tool.seconds)),
        Some(limit) => return wrong(format!("it passes a limit ({limit:?})")),
        None => {}
    }
    match (outcome.exit, outcome.signal) {
        (Some(0), _) => {}
        (_, Some(signal)) => return wrong(format!("it ends by signal {signal}")),
        (exit, _) => return wrong(format!("it ends with the exit code {}", exit.unwrap_or(-1))),
    }
    match Observation::parse(&outcome.stdout.bytes) {
        Some(answer) => answer,
        None => wrong("it answers something else than an observation".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_qa::tool::named;
    use zx1_sandbox::Output;

    #[test]
    fn a_tool_that_is_ended_or_answers_nonsense_has_failed() {
        let outcome = |exit, stdout: &str| Outcome {
            exit,
            signal: None,
            stdout: Output { bytes: stdout.into(), total: 1, truncated: false },
            stderr: Output::default(),
            wall: Duration::from_millis(5),
            limit_hit: None,
        };
        let tool = named("qa_decode").unwrap();
        let good = Observation::fine("v");
        assert_eq!(inside(&outcome(Some(0), &good.json().canonical()), tool), good);
        let hit = Outcome { limit_hit: Some(LimitKind::Time), ..outcome(None, "") };
        for (outcome, part) in [
            (outcome(Some(0), "hello"), "something else"),
            (outcome(Some(101), &good.json().canonical()), "exit code 101"),
            (Outcome { signal: Some(6), ..outcome(None, "") }, "signal 6"),
            (hit, "within 10 s"),
        ] {
            let answer = inside(&outcome, tool);
            assert!(!answer.ok && answer.error.unwrap().contains(part), "{part}");
        }
    }
}
