//! A process that serves: its log, its ready line, the signals that stop it, its exit code.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error.

use serde::Serialize;
use std::fmt::Display;
use std::future::Future;
use std::io;
use std::process::ExitCode;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::EnvFilter;
use zx1_home::config::environment;

/// Runs a server's process to its end. The log goes to standard error; `variable` of the environment says
/// what goes into it, and `usual` when it does not. `served` is made when the log is there, and may end the
/// process itself, as a wrong option does. `code` is an error's number, `next` the step after it where its sentence does
/// not say one.
pub fn run<F, E>(
    variable: &str,
    usual: &str,
    served: impl FnOnce() -> F,
    code: impl FnOnce(&E) -> u32,
    next: impl FnOnce(&E) -> Option<&'static str>,
) -> ExitCode
where
    F: Future<Output = Result<(), E>>,
    E: Display,
{
    let filter = environment(variable).and_then(|filter| EnvFilter::try_new(filter).ok());
    let filter = filter.unwrap_or_else(|| EnvFilter::new(usual));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let served = served();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: no threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(served) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let next = next(&error).map(|next| format!(". {next}")).unwrap_or_default();
            eprintln!("error {}: {error}{next}", code(&error));
            ExitCode::FAILURE
        }
    }
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
