//! The errors of this crate: numbers 9200 to 9299.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zx1_coded::Coded;

use crate::consent::Class;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, SandboxError>;

/// Why the sandbox refused. Nothing has been run outside of it, whatever the number (decision E11).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SandboxError {
    /// The kernel gives this user no user namespace.
    #[code(9201)]
    #[error(
        "This system gives no user namespace ({detail}), so nothing can be isolated and nothing was run."
    )]
    NoUserNamespace {
        /// What the kernel said.
        detail: String,
    },
    /// The helper program was not found or could not be started.
    #[code(9202)]
    #[error("The sandbox's helper zx1-sandbox-init could not be started ({detail}).")]
    NoHelper {
        /// Reason of the failure.
        detail: String,
    },
    /// The working tree cannot be covered by an overlay.
    #[code(9203)]
    #[error("No overlay can be laid over {path} ({detail}), so nothing was run.")]
    NoOverlay {
        /// Where it failed.
        path: String,
        /// What the kernel said.
        detail: String,
    },
    /// Tmpfs keeps no user attributes (kernels before 6.6), which an ordinary user's overlay needs.
    #[code(9204)]
    #[error(
        "This kernel keeps no user attributes in tmpfs, which overlays of ordinary users need (Linux 6.6 or \
         newer has them), so nothing was run."
    )]
    NoTmpfsAttributes,
    /// 9205: /proc cannot be mounted for the sandbox's own processes.
    #[code(9205)]
    #[error("/proc cannot be mounted for the sandbox alone ({detail}), so nothing was run.")]
    NoProc {
        /// What the kernel said.
        detail: String,
    },
    /// A namespace other than the user namespace is missing.
    #[code(9206)]
    #[error(
        "The kernel refuses a namespace ({detail}), so nothing was run; the sandbox needs mount, pid, ipc, \
         uts, cgroup and network namespaces."
    )]
    NoNamespace {
        /// What the kernel said.
        detail: String,
    },
    /// System calls cannot be filtered.
    #[code(9207)]
    #[error(
        "System calls cannot be filtered ({detail}), so nothing was run; the kernel needs \
         CONFIG_SECCOMP_FILTER."
    )]
    NoSeccomp {
        /// What the kernel said.
        detail: String,
    },
    /// Another step of the set-up failed.
    #[code(9208)]
    #[error("The sandbox could not be set up: {step} failed ({detail}), so nothing was run.")]
    Setup {
        /// Step of the set-up.
        step: String,
        /// What the kernel said.
        detail: String,
    },
    /// The helper ended before it answered.
    #[code(9209)]
    #[error("The sandbox's helper ended unexpectedly ({detail}); its changes are gone.")]
    HelperDied {
        /// What was seen.
        detail: String,
    },
    /// The working tree is not a directory that can be used.
    #[code(9210)]
    #[error("{path} cannot be used as working directory ({detail}).")]
    WorkTree {
        /// The path that was given.
        path: String,
        /// Reason of the failure.
        detail: String,
    },
    /// The command cannot be passed to the kernel.
    #[code(9212)]
    #[error("The command cannot be run: {detail}.")]
    BadCommand {
        /// Reason of the failure.
        detail: String,
    },
    /// The command's directory does not exist inside the sandbox.
    #[code(9213)]
    #[error("The directory {path} cannot be entered in the sandbox ({detail}).")]
    BadDirectory {
        /// The path that was given.
        path: String,
        /// Reason of the failure.
        detail: String,
    },
    /// 9214: a sealed root lacks something, or the kernel refuses to lay it.
    #[code(9214)]
    #[error("The sealed root cannot be laid at {path} ({detail}), so nothing was run.")]
    BadRoot {
        /// Where it failed.
        path: String,
        /// What is wrong.
        detail: String,
    },
    /// The change set could not be read.
    #[code(9220)]
    #[error("The changes at {path} could not be read ({detail}).")]
    Scan {
        /// Path of the failure.
        path: String,
        /// Reason of the failure.
        detail: String,
    },
    /// The overlay differs from the change set that was shown and verified.
    #[code(9221)]
    #[error("The sandbox has other changes now than the ones that were verified, first at {path}.")]
    ChangedSinceVerification {
        /// First path that differs.
        path: String,
    },
    /// Classes of change that need their own consent.
    #[code(9222)]
    #[error("The changes need explicit consent for: {classes}; first at {path}.")]
    NeedsConsent {
        /// The missing consents, readable.
        classes: String,
        /// The classes themselves.
        missing: Vec<Class>,
        /// The first path.
        path: String,
    },
    /// A file changed on the real filesystem since the sandbox started.
    #[code(9223)]
    #[error(
        "{path} was changed outside of the sandbox since it started, so the fix was tried on something \
         else."
    )]
    LowerChanged {
        /// Path of the file.
        path: String,
    },
    /// The change needs root.
    #[code(9224)]
    #[error("{path} cannot be changed by this user ({detail}).")]
    NeedsRoot {
        /// Path of the file.
        path: String,
        /// What is missing.
        detail: String,
    },
    /// Too little space.
    #[code(9225)]
    #[error("The commit needs {needed} bytes at {path}, and {free} are free.")]
    NoSpace {
        /// Bytes needed, backups included.
        needed: u64,
        /// Free bytes on that filesystem.
        free: u64,
        /// A path on that filesystem.
        path: String,
    },
    /// A kind of file that is never committed.
    #[code(9226)]
    #[error("{path} is {what}, which is never committed.")]
    NeverCommitted {
        /// Path of the file.
        path: String,
        /// What it is.
        what: String,
    },
    /// The path of a secret.
    #[code(9227)]
    #[error("{path} is a place of secrets, which no fix may change.")]
    SecretPath {
        /// Path of the file.
        path: String,
    },
    /// The changed files are larger than the limit, because they have holes.
    #[code(9228)]
    #[error("The changed files hold more than the {limit} bytes that changes may take, first at {path}.")]
    TooLarge {
        /// The file with which the limit was passed.
        path: String,
        /// Largest size in bytes.
        limit: u64,
    },
    /// The fix replaces what it could not see.
    #[code(9229)]
    #[error("{path} exists, and was hidden from the fix, so it is not replaced.")]
    Unseen {
        /// Path of the file.
        path: String,
    },
    /// Reading or writing the records failed.
    #[code(9230)]
    #[error("The records of commits at {path} cannot be used ({detail}).")]
    Records {
        /// The path that was given.
        path: String,
        /// Reason of the failure.
        detail: String,
    },
    /// No such record.
    #[code(9231)]
    #[error("There is no record {id}.")]
    NoRecord {
        /// What was asked for.
        id: String,
    },
    /// The record is not of a finished commit.
    #[code(9232)]
    #[error("Record {id} cannot be undone: it is {state}.")]
    NotUndoable {
        /// Id of the record.
        id: String,
        /// State of the record.
        state: String,
    },
    /// What the commit wrote has been changed since.
    #[code(9233)]
    #[error(
        "{path} has been changed since the commit, and undoing would lose that change, so nothing was \
         undone."
    )]
    UndoConflict {
        /// Path of the file.
        path: String,
    },
    /// Another process is committing or undoing with the same records.
    #[code(9234, transient)]
    #[error("Another process is committing or undoing with the records at {path}.")]
    Locked {
        /// Path of the folder.
        path: String,
    },
    /// A crashed commit could not be repaired.
    #[code(9235)]
    #[error(
        "The unfinished commit {id} could not be repaired at {path} ({detail}); nothing else is changed \
         until it is."
    )]
    Repair {
        /// Id of the record.
        id: String,
        /// Path of the failure.
        path: String,
        /// Reason of the failure.
        detail: String,
    },
    /// Applying a change failed; the tree is as it was before.
    #[code(9236)]
    #[error("The commit failed at {path} ({detail}) and was rolled back; nothing is changed.")]
    Apply {
        /// Path of the failure.
        path: String,
        /// Reason of the failure.
        detail: String,
    },
    /// An entry of the list of hosts is not a host name.
    #[code(9240)]
    #[error("{host:?} is not a host name that can be allowed.")]
    BadHost {
        /// The entry as it was given.
        host: String,
    },
    /// The proxy could not be started.
    #[code(9241)]
    #[error("The proxy for allowed hosts could not be started ({detail}).")]
    Proxy {
        /// Reason of the failure.
        detail: String,
    },
}

impl SandboxError {
    pub(crate) fn setup(step: impl Into<String>, error: impl std::fmt::Display) -> Self {
        Self::Setup { step: step.into(), detail: error.to_string() }
    }

    pub(crate) fn scan(path: &Path, error: impl std::fmt::Display) -> Self {
        Self::Scan { path: show(path), detail: error.to_string() }
    }

    pub(crate) fn records(path: &Path, error: impl std::fmt::Display) -> Self {
        Self::Records { path: show(path), detail: error.to_string() }
    }
}

/// A path as text for people; what steers a terminal or hides text is shown as escapes.
pub(crate) fn show(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let text = String::from_utf8_lossy(path.as_os_str().as_bytes());
    text.chars()
        .map(|c| match c {
            c if c.is_control() => c.escape_default().to_string(),
            c if hides(c) => c.escape_unicode().to_string(),
            c => c.to_string(),
        })
        .collect()
}

/// First and last of: soft hyphen, joiners, Arabic and Syriac signs, fillers, Mongolian selectors, marks of direction,
/// separators, variation selectors, musical and shorthand controls, tags.
const HIDING: [(u32, u32); 20] = [
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
];

/// Characters that are not seen, that join others, or that reverse the order of what is seen.
pub(crate) fn hides(c: char) -> bool {
    let code = u32::from(c);
    HIDING.iter().any(|(first, last)| (*first..=*last).contains(&code))
}
