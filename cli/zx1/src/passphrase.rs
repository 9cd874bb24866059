//! Where a passphrase comes from: a file descriptor, the environment, or a prompt without echo.

use crate::confirm;
use crate::errors::{Error, Result, reason};
use crate::files;
use std::fs::File;
use std::io::ErrorKind;
use zx1_operator::backup::SecretString;

/// Shortest passphrase that a backup takes.
const MINIMUM: usize = 12;
/// Longest passphrase in bytes.
const LIMIT: u64 = 1_024;
const ENVIRONMENT: &str = "ZX1_PASSPHRASE";

/// What the passphrase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A new backup: it is typed twice and must not be short.
    Create,
    /// An existing one.
    Open,
}

/// A passphrase from the descriptor when one is named, else from ZX1_PASSPHRASE, else from the terminal.
///
/// # Errors
/// 7418 when there is none of them, 7419 when a new one is too short, 7402 when typing is broken off.
pub fn obtain(purpose: Purpose, descriptor: Option<u32>) -> Result<SecretString> {
    let text = match descriptor {
        Some(number) => from_descriptor(number)?,
        None => match std::env::var(ENVIRONMENT) {
            Ok(text) => text,
            Err(_) => prompt(purpose)?,
        },
    };
    if purpose == Purpose::Create && text.chars().count() < MINIMUM {
        return Err(Error::PassphraseShort { minimum: MINIMUM }.into());
    }
    Ok(SecretString::from(text))
}

/// The first line that the descriptor gives. The system's own path to it spares an unsafe conversion.
fn from_descriptor(number: u32) -> Result<String> {
    let path = format!("/dev/fd/{number}");
    let failed = |why: String| Error::ReadFailed { path: format!("File descriptor {number}"), why };
    let file = File::open(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => failed("it is not open".to_owned()),
        _ => failed(reason(&error)),
    })?;
    let bytes = files::read_all(file, &path, LIMIT)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = std::str::from_utf8(line).map_err(|_| failed("its content is not UTF-8".to_owned()))?;
    Ok(text.trim_end_matches('\r').to_owned())
}

fn prompt(purpose: Purpose) -> Result<String> {
    if !confirm::can_ask() {
        return Err(Error::PassphraseMissing.into());
    }
    let password =
        inquire::Password::new("Passphrase:").with_display_mode(inquire::PasswordDisplayMode::Hidden);
    let answer = match purpose {
        Purpose::Create => password.with_custom_confirmation_message("Once more:").prompt(),
        Purpose::Open => password.without_confirmation().prompt(),
    };
    answer.map_err(|error| match error {
        inquire::InquireError::OperationInterrupted => Error::Interrupted.into(),
        inquire::InquireError::OperationCanceled => Error::Declined.into(),
        other => Error::ReadFailed { path: "The terminal".to_owned(), why: other.to_string() }.into(),
    })
}
