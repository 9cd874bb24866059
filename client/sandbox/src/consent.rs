//! The classes of changes, and which of them a person agreed to (decision E11).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a change belongs. One path can belong to several classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Inside the working tree. Needs no consent.
    InTree,
    /// Outside of the working tree.
    OutsideTree,
    /// Run when a shell, a session, a service or an interpreter starts, or by tools that read it as settings.
    StartUpFile,
    /// Run by git or a package manager on some event.
    Hook,
    /// Becomes a program that runs with another user's rights.
    SetuidBit,
    /// The executable of the failed command, or one that would be found in its place.
    OwnCommand,
    /// A test of the working tree was changed or removed.
    Tests,
}

impl Class {
    /// Whether a commit needs a consent for this class.
    #[must_use]
    pub fn needs_consent(self) -> bool {
        self != Self::InTree
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InTree => "files of the working tree",
            Self::OutsideTree => "files outside of the working tree",
            Self::StartUpFile => "files that are run or read at start-up",
            Self::Hook => "hooks",
            Self::SetuidBit => "programs with another user's rights (setuid, setgid, capabilities)",
            Self::OwnCommand => "the executable of the failed command itself",
            Self::Tests => "tests",
        })
    }
}

/// The classes that a person agreed to. `--yes` agrees to none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consents(BTreeSet<Class>);

impl Consents {
    /// Only ordinary changes inside the working tree.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// One more class.
    #[must_use]
    pub fn with(mut self, class: Class) -> Self {
        self.0.insert(class);
        self
    }

    /// Whether this class may be committed.
    #[must_use]
    pub fn allow(&self, class: Class) -> bool {
        !class.needs_consent() || self.0.contains(&class)
    }
}
