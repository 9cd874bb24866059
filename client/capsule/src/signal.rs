//! What a signal file may say.

use serde::{Deserialize, Serialize};

use crate::defaults::SIGNAL_MAX;
use crate::error::{CapsuleError, Result};
use crate::refname::{Branch, Revision};

/// Which signal; the name of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Start a branch: `.signal/bootstrap`.
    Bootstrap,
    /// Start a revision: `.signal/rollback`.
    Rollback,
}

impl Kind {
    /// Both, in the order in which they are looked for: a rollback comes first.
    pub const ALL: [Kind; 2] = [Kind::Rollback, Kind::Bootstrap];

    /// The file's name.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Kind::Bootstrap => "bootstrap",
            Kind::Rollback => "rollback",
        }
    }
}

/// A signal that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Start this branch.
    Bootstrap(Branch),
    /// Start this commit, detached.
    Rollback(Revision),
}

impl Signal {
    /// Reads a file's content: one line of text, with or without its end.
    ///
    /// # Errors
    /// 7910, 7912, and 7900 or 7901 for the name in it.
    pub fn parse(kind: Kind, bytes: &[u8]) -> Result<Signal> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if length > SIGNAL_MAX {
            return Err(CapsuleError::SignalTooLarge { bytes: length, most: SIGNAL_MAX });
        }
        let text = std::str::from_utf8(bytes).map_err(|_| CapsuleError::SignalText { name: kind.file() })?;
        let line = text.strip_suffix('\n').unwrap_or(text);
        if line.is_empty() || line.contains(['\n', '\r', '\0']) {
            return Err(CapsuleError::SignalText { name: kind.file() });
        }
        match kind {
            Kind::Bootstrap => Branch::parse(line).map(Signal::Bootstrap),
            Kind::Rollback => Revision::parse(line).map(Signal::Rollback),
        }
    }
}
