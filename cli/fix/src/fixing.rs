//! What happens between a command that fails and one that works.
//!
//! * [`real`]: the command on the real machine, its output kept while it streams
//! * [`apply`]: the consent screens, the commit and its undo record (decision E11)
//! * [`payload`]: what leaves this machine, scrubbed, and the screen that shows it (decision E10)
//! * [`local`]: the built-in rules, without any market
//! * [`hire`], [`follow`], [`narrate`]: the market: offer a contract, see it through, tell what happens
//! * [`talk`]: what the agent asks, and what is said to it
//! * [`record`]: what is under way, on disk before it is sent
//! * [`interrupt`]: what Ctrl+C does
//!
//! All of it runs on the main thread and may block there; the runtime's threads carry the network and watch
//! for Ctrl+C.

pub mod apply;
pub mod bill;
pub mod follow;
pub mod hire;
pub mod interrupt;
pub mod local;
pub mod narrate;
pub mod payload;
pub mod real;
pub mod record;
pub mod talk;

use crate::context::{Context, Who};
use crate::errors::{Error, Failure, Result, reason};
use crate::flags::Fixing;
use crate::screen::{Screen, Tone};
use interrupt::Interrupts;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use zx1_agent::bridge::Bridge;
use zx1_cli_common::{Exit, confirm};
use zx1_market::contract::{Unmet, Verification};
use zx1_market::defaults::TIMEOUT;
use zx1_trial::{Attempt, Ran, WorkingFolder};

/// Interval between two polls of a contract.
const POLL: Duration = Duration::from_millis(300);

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The command line as a shell reads it.
    pub line: String,
    /// The folder in which it ran, with links resolved.
    pub folder: PathBuf,
    /// What it wrote to standard output and error, without styles. Not scrubbed.
    pub output: String,
    /// The command's exit code, or 128 and the signal that ended it.
    pub exit: u8,
}

/// One run of fix over one failure.
#[derive(Debug)]
pub struct Session<'a> {
    context: &'a Context,
    /// Runtime for the network.
    runtime: &'a Runtime,
    /// Options of the command line.
    options: Fixing,
    /// Where progress is reported.
    screen: Screen,
    /// Watches for Ctrl+C.
    interrupts: Interrupts,
    /// The command to be fixed.
    failed: Failed,
    /// The folder over which fixes are tried.
    folder: WorkingFolder,
    /// The log of this party's 0x01 envelopes, if it has an agent id.
    bridge: Option<Arc<Bridge>>,
    /// Sequence number of the agent's last question that was shown here.
    asked: Option<u64>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The command works now.
    Fixed,
    /// Nothing was changed: the fix was only shown (--dry-run), or there is none.
    AsBefore,
}

fn no_threads(error: &std::io::Error) -> Failure {
    Error::CannotRun { program: "fix".to_owned(), why: reason(error) }.into()
}

/// A runtime for a service, with one thread per core.
pub fn threads() -> Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| no_threads(&error))
}

/// A runtime for one run of fix, and the watch over Ctrl+C.
pub fn start() -> Result<(Runtime, Interrupts)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| no_threads(&error))?;
    let interrupts = runtime.block_on(async { Interrupts::watch() }).map_err(|error| no_threads(&error))?;
    Ok((runtime, interrupts))
}

impl<'a> Session<'a> {
    /// Gets ready to fix a failure.
    ///
    /// # Errors
    /// 9508, 9520: fix's own folder; 9240: an allowed host that is not a host name.
    pub fn new(
        failed: Failed,
        options: Fixing,
        context: &'a Context,
        runtime: &'a Runtime,
        interrupts: Interrupts,
    ) -> Result<Self> {
        let hosts = hire::together(&options.allow_host, &context.config()?.allow_hosts);
        // What no sandbox takes is refused before anything is sent.
        zx1_sandbox::Network::Hosts(hosts.clone()).check()?;
        let masks = context.secret_places(Who::Principal)?;
        let watch = Box::new(interrupts.clone());
        let folder = WorkingFolder::new(failed.folder.clone(), failed.line.clone(), hosts, masks, watch);
        let screen = context.screen(options.explain);
        Ok(Self { context, runtime, options, screen, interrupts, failed, folder, bridge: None, asked: None })
    }

    /// Runs the failing command alone in the sandbox, to see what it says.
    ///
    /// # Errors
    /// 9200 to 9299: the sandbox.
    pub fn rehearse(&self) -> Result<Ran> {
        Ok(self.folder.rehearse(Duration::from_secs(TIMEOUT.into()))?)
    }

    /// Asks a question that --yes answers; Ctrl+C breaks it off.
    ///
    /// # Errors
    /// 9501 when nobody can be asked, 9502 when the answer is no, 9503 for Ctrl+C.
    pub fn ask(&self, question: &str) -> Result<()> {
        if self.context.yes() {
            return Ok(());
        }
        if self.screen.is_json() {
            return Err(Error::NeedsYes.into());
        }
        self.ask_always(question)
    }

    /// Asks a question that --yes does not answer.
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub fn ask_always(&self, question: &str) -> Result<()> {
        let question = zx1_cli_common::words::plain(question).into_owned();
        Ok(self.unless_interrupted(move || confirm::ask(&question))??)
    }

    /// A question whose answer may be no; --yes does not answer it.
    ///
    /// # Errors
    /// 9503 for Ctrl+C.
    pub fn confirms(&self, question: &str) -> Result<bool> {
        match self.ask_always(question) {
            Ok(()) => Ok(true),
            Err(failure) if failure.code == Error::Interrupted.code() => Err(failure),
            Err(_) => Ok(false),
        }
    }

    /// Asks for a line of text.
    ///
    /// # Errors
    /// 9503 for Ctrl+C.
    pub fn prompt(&self, question: &str) -> Result<String> {
        let question = format!("{} ", zx1_cli_common::words::plain(question));
        self.unless_interrupted(move || confirm::read_line(&question))
    }

    /// Waits for something that may be left at any moment, until Ctrl+C.
    ///
    /// # Errors
    /// 9503 for Ctrl+C, else its own.
    pub fn wait<T, E: Into<Failure>>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.interrupts.pressed() => Err(Error::Interrupted.into()),
                done = work => done.map_err(Into::into),
            }
        })
    }

    /// Before something that cannot be left any more: whether Ctrl+C was pressed on the way.
    ///
    /// # Errors
    /// 9503.
    pub fn unless_pressed(&self) -> Result<()> {
        if self.interrupts.was_pressed() { Err(Error::Interrupted.into()) } else { Ok(()) }
    }

    /// Waits for an answer on a thread of its own: Ctrl+C must be able to leave it behind.
    fn unless_interrupted<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (sender, answer) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(ask()));
        let answer = self.runtime.block_on(async {
            tokio::select! {
                () = self.interrupts.pressed() => None,
                answer = answer => answer.ok(),
            }
        });
        answer.ok_or_else(|| {
            zx1_cli_common::output::write_err("\n");
            Error::Interrupted.into()
        })
    }
}

/// Fixes a failure. The exit code is 0 when the command works now, 130 after Ctrl+C, else the command's own.
pub fn fix(
    failed: Failed,
    options: Fixing,
    context: &Context,
    runtime: &Runtime,
    interrupts: Interrupts,
) -> ExitCode {
    let screen = context.screen(options.explain);
    let exit = failed.exit;
    let text = format!("Exit code {exit}: {} failed.", failed.line);
    screen.tell(Tone::Bad, "failed", json!({ "command": failed.line, "exit_code": exit }), &text);
    let session = Session::new(failed, options, context, runtime, interrupts);
    let ended = session.and_then(|mut session| {
        if session.options.local { local::fix(&mut session) } else { hire::fix(&mut session) }
    });
    if let Err(failure) = &ended {
        failure.show(context.format());
    }
    let fixed = matches!(ended, Ok(Ended::Fixed));
    let stopped = ended.as_ref().is_err_and(|failure| failure.code == Error::Interrupted.code());
    let code = match (fixed, stopped) {
        (true, _) => 0,
        (false, true) => Exit::Interrupted as u8,
        (false, false) => exit,
    };
    if screen.is_json() {
        screen.step("end", json!({ "fixed": fixed, "exit_code": code }), "");
    }
    ExitCode::from(code)
}

/// What an agent or a rule proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The fix as a shell command.
    pub fix: String,
    /// What takes the place of the command that failed, if that was wrong.
    pub corrected_command: Option<String>,
    /// Why the fix should work, for people.
    pub explanation: String,
}

/// Shows a proposal: what is run, what it corrects, and why.
fn show_proposal(session: &Session<'_>, proposal: &Proposal) {
    let screen = session.screen;
    let Proposal { fix, corrected_command: corrected, explanation } = proposal;
    if screen.is_json() {
        let data = json!({ "fix": fix, "corrected_command": corrected, "explanation": explanation });
        return screen.step("proposal", data, "");
    }
    screen.heading("The proposal");
    screen.prose(explanation, 12);
    if fix != "true" {
        screen.heading("It runs");
        screen.block(fix, 40);
    }
    if let Some(corrected) = corrected {
        screen.heading("It corrects your command");
        screen.block(&format!("- {}\n+ {corrected}", session.failed.line), 40);
    }
    screen.raw("\n");
}

/// Tries a fix in the sandbox and says how it went: the attempt, and the first condition that it does not meet.
/// What only the principal can say is asked for here.
///
/// # Errors
/// 9503 for Ctrl+C, 9200 to 9299 from the sandbox.
pub fn attempt(
    session: &Session<'_>,
    proposal: &Proposal,
    conditions: &[Verification],
    seconds: u32,
) -> Result<(Attempt, Option<Unmet>)> {
    show_proposal(session, proposal);
    let screen = session.screen;
    screen.step("verifying", json!({}), "Trying it in the sandbox …");
    let time = Duration::from_secs(seconds.into());
    let attempt = session.folder.attempt(&proposal.fix, proposal.corrected_command.as_deref(), time)?;
    session.unless_pressed()?;
    let unmet = attempt.trial.unmet(conditions);
    let ran = attempt.trial.last();
    let passed = matches!(unmet, None | Some(Unmet::Principal));
    let tone = if passed { Tone::Good } else { Tone::Bad };
    let exit = ran.run.status();
    let (data, text) = match &attempt.trial.check {
        None => (
            json!({ "passed": passed, "step": "fix", "exit_code": exit }),
            format!("The fix itself does not run through in the sandbox: {}.", ran.run),
        ),
        Some(check) => (
            json!({ "passed": passed, "step": "command", "command": check.line, "exit_code": exit }),
            format!("In the sandbox, {}: {}.", check.line, check.run),
        ),
    };
    screen.tell(tone, "verified", data, &text);
    let asks = unmet == Some(Unmet::Principal);
    if asks {
        screen.block(&ran.output(), 40);
    } else if !passed || screen.explains() {
        screen.block(&ran.output(), 12);
    }
    let unmet = match asks && session.confirms("Is this what you wanted?")? {
        true => None,
        false => unmet,
    };
    Ok((attempt, unmet))
}

/// Says that it is done, shows the command's output, and how to take it back.
pub fn show_fixed(session: &Session<'_>, output: &str, undo: Option<&str>) {
    session.screen.block(output, 20);
    let folder = session.failed.folder.display().to_string();
    let text = match undo {
        Some(_) => "Fixed. To take it back, byte for byte: fix undo",
        None => "Fixed. No file was changed.",
    };
    session.screen.good("applied", json!({ "undo": undo, "folder": folder }), text);
}
