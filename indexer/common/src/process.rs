//! A process that serves: its log, its ready line, the signals that stop it, its exit code.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error.

use serde::Serialize;
use std::fmt::Display;
use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;
use zx1_home::config::environment;

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Lines for people; with colours on a terminal.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// A server's log: it goes to standard error.
#[derive(Debug, Clone, Copy)]
pub struct Log {
    /// The environment variable that says what goes into it.
    pub variable: &'static str,
    /// What goes into it where the variable does not say.
    pub usual: &'static str,
    /// How it is written.
    pub format: LogFormat,
}

impl Log {
    fn start(self) {
        let filter = environment(self.variable).and_then(|filter| EnvFilter::try_new(filter).ok());
        let filter = filter.unwrap_or_else(|| EnvFilter::new(self.usual));
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
        match self.format {
            LogFormat::Text => {
                // Colour codes are for eyes, not for files.
                let colours = io::stderr().is_terminal() && environment("NO_COLOR").is_none();
                log.with_ansi(colours).init();
            }
            LogFormat::Json => log.json().flatten_event(true).init(),
        }
    }
}

/// Runs a server's process to its end. `code` is an error's number, `next` the step after it where its sentence does
/// not say one.
pub fn run<E: Display>(
    log: Log,
    served: impl Future<Output = Result<(), E>>,
    code: impl FnOnce(&E) -> u32,
    next: impl FnOnce(&E) -> Option<&'static str>,
) -> ExitCode {
    log.start();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: no threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    let Err(error) = runtime.block_on(served) else { return ExitCode::SUCCESS };
    let next = next(&error);
    match log.format {
        LogFormat::Text => {
            let next = next.map(|next| format!(". {next}")).unwrap_or_default();
            eprintln!("error {}: {error}{next}", code(&error));
        }
        LogFormat::Json => tracing::error!(code = code(&error), next, "{error}"),
    }
    ExitCode::FAILURE
}

/// SIGINT and SIGTERM, caught from here on: whoever reads the ready line may stop the process at once, so
/// they are caught before it is written.
#[derive(Debug)]
pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// Catches them.
    ///
    /// # Errors
    ///
    /// A sentence.
    pub fn catch() -> Result<StopSignals, String> {
        let catch = |kind| signal(kind).map_err(|error| format!("Signals cannot be caught: {error}."));
        Ok(StopSignals {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
        })
    }

    /// Waits for one of them.
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Writes the line that says that a server is ready: one line of JSON on standard output.
///
/// # Errors
///
/// A sentence, if it cannot be written. A closed standard output is not an error.
pub fn say_ready(ready: &impl Serialize) -> Result<(), String> {
    use io::Write as _;
    let line = serde_json::to_string(ready)
        .map_err(|error| format!("The ready line cannot be written ({error})."))?;
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    Ok(())
}
