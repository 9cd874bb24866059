//! What the loop's acts fail with.

use std::path::PathBuf;
use zx1_coded::Coded;
use zx1_qa::budget::BudgetError;
use zx1_qa::dial::DialError;
use zx1_qa::finding::FindingError;
use zx1_qa::gate::GateError;
use zx1_qa::journal::JournalError;
use zx1_qa::patch::PatchError;
use zx1_qa::repro::ReproError;
use zx1_sandbox::SandboxError;

/// What acts of the loop return.
pub type Result<T, E = QaError> = std::result::Result<T, E>;

/// Error of an act of the loop. Numbers of its own: 7835 to 7839 and 7880 to 7889.
#[derive(Debug, thiserror::Error, Coded)]
pub enum QaError {
    /// The folder of the repository is not one.
    #[code(7835)]
    #[error("{} is not in a git repository with a commit.", path.display())]
    NoRepository {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// What git itself refuses to do.
    #[code(7836)]
    #[error("git {act} failed: {why}.")]
    Git {
        /// Name of the subcommand of git.
        act: &'static str,
        /// What git said, its first line.
        why: String,
    },
    /// A file or folder of the loop's own state.
    #[code(7837)]
    #[error("{} cannot be used: {}.", path.display(), reason(source))]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The configuration of the loop.
    #[code(7838)]
    #[error("The settings {} cannot be used: {why}.", path.display())]
    Settings {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong, as a clause.
        why: String,
    },
    /// Another process runs the loop for this repository.
    #[code(7839, transient)]
    #[error("Another process runs the loop for this repository{}.", owner.map_or_else(String::new, |id| format!(": {id}")))]
    Busy {
        /// Its process id, where it could be read.
        owner: Option<u32>,
    },
    /// A tool of the table that this program does not have, or not here.
    #[code(7880)]
    #[error("{tool} cannot run here: {why}.")]
    Unavailable {
        /// Name of the tool.
        tool: &'static str,
        /// Why, as a clause.
        why: String,
    },
    /// A text without a line that runs.
    #[code(7881)]
    #[error("Entry {entry} has no line that can run.")]
    NoRepro {
        /// Number of the entry.
        entry: u64,
    },
    /// The base commit does not stand by itself.
    #[code(7882)]
    #[error("The base commit cannot be judged: {why}.")]
    Base {
        /// Why, as a clause.
        why: String,
    },
    /// A patch of another commit.
    #[code(7883)]
    #[error("The patch does not apply to the base commit: {why}.")]
    Apply {
        /// What git said, its first line.
        why: String,
    },
    /// Nothing of this number.
    #[code(7884)]
    #[error("There is no proposal for entry {entry}.")]
    NoProposal {
        /// Number of the entry.
        entry: u64,
    },
    /// A branch of this name exists and holds something else.
    #[code(7885)]
    #[error("The branch {branch} exists and holds something else.")]
    BranchTaken {
        /// Name of the branch.
        branch: String,
    },
    /// The kill switch, a budget, a limit.
    #[code(7886)]
    #[error("{what} was ended by a limit of the run: {limit}.")]
    Ended {
        /// What was ended.
        what: String,
        /// Name of the limit.
        limit: String,
    },
    /// The dial or the kill switch forbids it.
    #[code(inner)]
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The run's budget does not allow it.
    #[code(inner)]
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A line that is prose.
    #[code(inner)]
    #[error(transparent)]
    Repro(#[from] ReproError),
    /// A finding that cannot be written.
    #[code(inner)]
    #[error(transparent)]
    Finding(#[from] FindingError),
    /// A patch that is refused.
    #[code(inner)]
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// A proposal that is refused.
    #[code(inner)]
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A step that the table does not have.
    #[code(inner)]
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A sandbox that cannot be made.
    #[code(inner)]
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// Names the path of an error of the operating system.
pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> QaError + '_ {
    move |source| QaError::File { path: path.to_owned(), source }
}

/// A reason without the operating system's number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
