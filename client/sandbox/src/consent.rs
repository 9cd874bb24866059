//! The classes of changes, and which of them a person agreed to (decisions E11, E18).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a change belongs. One path can belong to several classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// An existing text file of the working tree, or a new plain one of an ordinary kind. Needs no consent.
    InTree,
    /// Outside of the working tree.
    OutsideTree,
    /// Folders of the system.
    System,
    /// Run when a shell, a session, a service or an interpreter starts, or by tools that read it as settings.
    StartUpFile,
    /// Run by git or a package manager on some event; all of what is, or becomes, a git directory.
    Hook,
    /// Becomes a program that runs with another user's rights.
    SetuidBit,
    /// What the failed command runs or obeys: its executable, its script, its makefile.
    OwnCommand,
    /// A test of the working tree was changed or removed, or what steers tests.
    Tests,
    /// What continuous integration and coding agents obey.
    Ci,
    /// Below a name that begins with a dot.
    Dotfile,
    /// A program, or a new file of a kind that tools run by its name.
    Executable,
    /// A symbolic or hard link.
    Link,
    /// A file whose content is not UTF-8 text.
    Binary,
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
            Self::System => "folders of the system",
            Self::StartUpFile => "files that are run or read at start-up",
            Self::Hook => "hooks and git directories",
            Self::SetuidBit => "programs with another user's rights (setuid, setgid, capabilities)",
            Self::OwnCommand => "the executable of the failed command itself, or what it obeys",
            Self::Tests => "tests",
            Self::Ci => "files that continuous integration or coding agents obey",
            Self::Dotfile => "dot files",
            Self::Executable => "programs, and files that tools run by their names",
            Self::Link => "links",
            Self::Binary => "files that are not text",
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
