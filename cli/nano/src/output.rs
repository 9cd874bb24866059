//! Printing results and refusals.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use zx1_coded::Coded;

use super::next;
use crate::errors::Error;

/// Prints results: text for people, or one JSON value for programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Output {
        Output { json }
    }

    /// Whether results are printed as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a result: `value` as JSON, or `text` for people, without a newline at its end.
    pub(crate) fn print(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let text = if self.json { serde_json::to_string(value).map_err(Failure::system)? } else { text() };
        let mut stdout = std::io::stdout().lock();
        match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            // `| head` closing the pipe is not a failure.
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::system(e)),
            _ => Ok(()),
        }
    }

    /// Prints a notice to standard error, unless results are printed as JSON.
    pub(crate) fn warn(&self, text: impl Display) {
        if !self.json {
            let _ = writeln!(std::io::stderr(), "warning: {text}");
        }
    }

    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        if failure.code == 0 {
            return ExitCode::from(failure.exit);
        }
        let Failure { code, name, message, next, .. } = failure;
        if self.json {
            let value = json!({ "code": code, "name": name, "message": message, "next": next });
            let _ = writeln!(std::io::stderr(), "{value}");
            let _ = writeln!(std::io::stdout(), "{}", json!({ "error": value }));
        } else {
            let _ = writeln!(std::io::stderr(), "error {code}: {message}.\n  {next}");
        }
        ExitCode::from(failure.exit)
    }
}

/// An error as people and scripts see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Stable number of the error.
    pub(crate) code: u32,
    /// Name of the error in CamelCase.
    pub(crate) name: &'static str,
    /// What is wrong, without a full stop.
    pub(crate) message: String,
    /// The next step for the user.
    pub(crate) next: &'static str,
    /// Exit code of the process: 1 for a failure, 2 for wrong usage.
    pub(crate) exit: u8,
}

impl Failure {
    /// An error of usage, with exit code 2.
    pub(crate) fn usage(error: Error) -> Failure {
        Failure { exit: 2, ..error.into() }
    }

    /// A failure whose text is already printed; only the exit code remains.
    pub(crate) fn printed(exit: u8) -> Failure {
        Failure { code: 0, name: "", message: String::new(), next: "", exit }
    }

    /// An error of the operating system (8400).
    pub(crate) fn system(error: impl Display) -> Failure {
        Error::System(error.to_string()).into()
    }
}

impl<E: Coded> From<E> for Failure {
    fn from(error: E) -> Self {
        let next = next::after(error.code()).unwrap_or_default();
        Failure { code: error.code(), name: error.name(), message: error.to_string(), next, exit: 1 }
    }
}
