//! Every refusal of this crate: a number from 9200 to 9299 and a sentence that says what to do next.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::consent::Class;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, SandboxError>;

/// Why the sandbox refused. Nothing has been run outside of it, whatever the number (decision E11).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SandboxError {
    /// 9201: the kernel gives this user no user namespace.
    #[error(
        "error 9201: this system gives no user namespace ({detail}), so nothing can be isolated and nothing \
         was run; raise user.max_user_namespaces or allow unprivileged user namespaces (in a container: run it \
         with them), or use `sudo fix`"
    )]
    NoUserNamespace {
        /// What the kernel said.
        detail: String,
    },
    /// 9202: the helper program was not found or could not be started.
    #[error(
        "error 9202: the sandbox's helper could not be started ({detail}); install zx1-sandbox-init beside \
         this \
         program"
    )]
    NoHelper {
        /// What failed.
        detail: String,
    },
    /// 9203: the working tree cannot be covered by an overlay.
    #[error(
        "error 9203: no overlay can be laid over {path} ({detail}), so nothing was run; load the overlay \
         module, \
         or move the working tree to a local filesystem"
    )]
    NoOverlay {
        /// Where it failed.
        path: String,
        /// What the kernel said.
        detail: String,
    },
    /// 9204: tmpfs keeps no user attributes (kernels before 6.6), which an ordinary user's overlay needs.
    #[error(
        "error 9204: this kernel keeps no user attributes in tmpfs, which overlays of ordinary users need \
         (Linux \
         6.6 or newer has them), so nothing was run; use `sudo fix` or a newer kernel"
    )]
    NoTmpfsAttributes,
    /// 9205: /proc cannot be mounted for the sandbox's own processes.
    #[error(
        "error 9205: /proc cannot be mounted for the sandbox alone ({detail}), so nothing was run; a \
         container \
         that hides parts of /proc forbids it: run it with its /proc unmasked"
    )]
    NoProc {
        /// What the kernel said.
        detail: String,
    },
    /// 9206: a namespace other than the user namespace is missing.
    #[error(
        "error 9206: the kernel refuses a namespace ({detail}), so nothing was run; the sandbox needs \
         mount, pid, \
         ipc, uts, cgroup and network namespaces"
    )]
    NoNamespace {
        /// What the kernel said.
        detail: String,
    },
    /// 9207: system calls cannot be filtered.
    #[error(
        "error 9207: system calls cannot be filtered ({detail}), so nothing was run; the kernel needs \
         CONFIG_SECCOMP_FILTER"
    )]
    NoSeccomp {
        /// What the kernel said.
        detail: String,
    },
    /// 9208: another step of the set-up failed.
    #[error(
        "error 9208: the sandbox could not be set up: {step} failed ({detail}), so nothing was run; this is \
         not \
         expected, please report it with this text"
    )]
    Setup {
        /// Which step.
        step: String,
        /// What the kernel said.
        detail: String,
    },
    /// 9209: the helper ended before it answered.
    #[error(
        "error 9209: the sandbox's helper ended unexpectedly ({detail}); its changes are gone, start again"
    )]
    HelperDied {
        /// What was seen.
        detail: String,
    },
    /// 9210: the working tree is not a directory that can be used.
    #[error(
        "error 9210: {path} is no directory that can be used as working tree ({detail}); name another one"
    )]
    WorkTree {
        /// The path.
        path: String,
        /// Why.
        detail: String,
    },
    /// 9212: the command cannot be passed to the kernel.
    #[error("error 9212: the command cannot be run: {detail}; change the command")]
    BadCommand {
        /// Why.
        detail: String,
    },
    /// 9213: the command's directory does not exist inside the sandbox.
    #[error("error 9213: the directory {path} cannot be entered in the sandbox ({detail}); name another one")]
    BadDirectory {
        /// The path.
        path: String,
        /// Why.
        detail: String,
    },
    /// 9220: the change set could not be read.
    #[error(
        "error 9220: the changes at {path} could not be read ({detail}); discard the sandbox and start again"
    )]
    Scan {
        /// Where.
        path: String,
        /// Why.
        detail: String,
    },
    /// 9221: the overlay differs from the change set that was shown and verified.
    #[error(
        "error 9221: the sandbox has other changes now than the ones that were verified, first at {path}; \
         look at \
         the changes again and verify again"
    )]
    ChangedSinceVerification {
        /// First path that differs.
        path: String,
    },
    /// 9222: classes of change that need their own consent.
    #[error(
        "error 9222: the changes need a consent of their own for: {classes}; first at {path}; look at the \
         diff and \
         agree to each kind, or discard (`--yes` never agrees to these)"
    )]
    NeedsConsent {
        /// The missing consents, readable.
        classes: String,
        /// The classes themselves.
        missing: Vec<Class>,
        /// The first path.
        path: String,
    },
    /// 9223: a file changed on the real filesystem since the sandbox started.
    #[error(
        "error 9223: {path} was changed outside of the sandbox since it started, so the fix was tried on \
         something \
         else; run it again in a new sandbox"
    )]
    LowerChanged {
        /// The file.
        path: String,
    },
    /// 9224: the change needs root.
    #[error("error 9224: {path} cannot be changed by this user ({detail}); run it again with `sudo fix`")]
    NeedsRoot {
        /// The file.
        path: String,
        /// What is missing.
        detail: String,
    },
    /// 9225: too little space.
    #[error(
        "error 9225: the commit needs {needed} bytes at {path} and {free} are free; make room and try again"
    )]
    NoSpace {
        /// Bytes needed, backups included.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// A path on that filesystem.
        path: String,
    },
    /// 9226: a kind of file that is never committed.
    #[error("error 9226: {path} is {what}, which is never committed; let the fix do without it")]
    NeverCommitted {
        /// The file.
        path: String,
        /// What it is.
        what: String,
    },
    /// 9227: the path of a secret.
    #[error(
        "error 9227: {path} is a place of secrets, which no fix may change; change it by hand if you must"
    )]
    SecretPath {
        /// The file.
        path: String,
    },
    /// 9228: the changed files are larger than the limit, because they have holes.
    #[error(
        "error 9228: the changed files hold more than the {limit} bytes that changes may take, first at \
         {path}; \
         let the fix make no files with holes, or raise the limit"
    )]
    TooLarge {
        /// The file with which the limit was passed.
        path: String,
        /// Bytes allowed.
        limit: u64,
    },
    /// 9230: reading or writing the records failed.
    #[error(
        "error 9230: the records of commits at {path} cannot be used ({detail}); free the folder or name \
         another"
    )]
    Records {
        /// The path.
        path: String,
        /// Why.
        detail: String,
    },
    /// 9231: no such record.
    #[error("error 9231: there is no record {id}; `fix undo --list` shows what can be undone")]
    NoRecord {
        /// What was asked for.
        id: String,
    },
    /// 9232: the record is not of a finished commit.
    #[error(
        "error 9232: record {id} cannot be undone, it is {state}; `fix undo --list` shows what can be undone"
    )]
    NotUndoable {
        /// The record.
        id: String,
        /// Its state.
        state: String,
    },
    /// 9233: what the commit wrote has been changed since.
    #[error(
        "error 9233: {path} has been changed since the commit, so undoing would lose that change; undo \
         nothing was \
         done; move the file away first"
    )]
    UndoConflict {
        /// The file.
        path: String,
    },
    /// 9234: another process is committing or undoing with the same records.
    #[error(
        "error 9234: another process is committing or undoing with the records at {path}; wait for its end"
    )]
    Locked {
        /// The folder.
        path: String,
    },
    /// 9235: a crashed commit could not be repaired.
    #[error(
        "error 9235: the unfinished commit {id} could not be repaired at {path} ({detail}); remove the \
         obstacle and \
         start again, nothing else is changed until then"
    )]
    Repair {
        /// The record.
        id: String,
        /// Where.
        path: String,
        /// Why.
        detail: String,
    },
    /// 9236: applying a change failed; the tree is as it was before.
    #[error("error 9236: the commit failed at {path} ({detail}) and was rolled back; nothing is changed")]
    Apply {
        /// Where.
        path: String,
        /// Why.
        detail: String,
    },
    /// 9240: an entry of the list of hosts is no host name.
    #[error(
        "error 9240: {host:?} is no host name that can be allowed; write a name such as mirror.example.org or \
         *.example.net"
    )]
    BadHost {
        /// The entry.
        host: String,
    },
    /// 9241: the proxy could not be started.
    #[error("error 9241: the proxy for allowed hosts could not be started ({detail}); try without network")]
    Proxy {
        /// Why.
        detail: String,
    },
}

impl SandboxError {
    /// The number of the refusal, 9200 to 9299.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Self::NoUserNamespace { .. } => 9201,
            Self::NoHelper { .. } => 9202,
            Self::NoOverlay { .. } => 9203,
            Self::NoTmpfsAttributes => 9204,
            Self::NoProc { .. } => 9205,
            Self::NoNamespace { .. } => 9206,
            Self::NoSeccomp { .. } => 9207,
            Self::Setup { .. } => 9208,
            Self::HelperDied { .. } => 9209,
            Self::WorkTree { .. } => 9210,
            Self::BadCommand { .. } => 9212,
            Self::BadDirectory { .. } => 9213,
            Self::Scan { .. } => 9220,
            Self::ChangedSinceVerification { .. } => 9221,
            Self::NeedsConsent { .. } => 9222,
            Self::LowerChanged { .. } => 9223,
            Self::NeedsRoot { .. } => 9224,
            Self::NoSpace { .. } => 9225,
            Self::NeverCommitted { .. } => 9226,
            Self::SecretPath { .. } => 9227,
            Self::TooLarge { .. } => 9228,
            Self::Records { .. } => 9230,
            Self::NoRecord { .. } => 9231,
            Self::NotUndoable { .. } => 9232,
            Self::UndoConflict { .. } => 9233,
            Self::Locked { .. } => 9234,
            Self::Repair { .. } => 9235,
            Self::Apply { .. } => 9236,
            Self::BadHost { .. } => 9240,
            Self::Proxy { .. } => 9241,
        }
    }

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
