//! Every refusal of this crate, with its number.

use zx1_coded::Coded;
use zx1_sandbox::SandboxError;

/// What this crate's functions return.
pub type Result<T, E = CapsuleError> = std::result::Result<T, E>;

/// Why the capsule refuses something.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
#[allow(missing_docs)] // The sentences say it.
pub enum CapsuleError {
    #[code(7900)]
    #[error("Invalid name of a ref: {why}.")]
    RefName { why: &'static str },
    #[code(7901)]
    #[error("Invalid branch of the capsule: expected `main` or `bot/` and a name, {why}.")]
    Branch { why: &'static str },
    #[code(7902)]
    #[error("The folder {folder} belongs to no branch.")]
    Folder { folder: String },
    #[code(7910)]
    #[error("The signal has {bytes} bytes; at most {most} are read.")]
    SignalTooLarge { bytes: u64, most: u64 },
    #[code(7911)]
    #[error("The signal `{name}` is not an ordinary file with one name.")]
    SignalKind { name: &'static str },
    #[code(7912)]
    #[error("The signal `{name}` is not one line of text.")]
    SignalText { name: &'static str },
    #[code(7913, transient)]
    #[error("The signals cannot be read: {detail}.")]
    SignalIo { detail: String },
    #[code(7920)]
    #[error("Only the person may change {name}.")]
    NotYours { name: String },
    #[code(7921)]
    #[error("The branch main of a product repository is merged by the person.")]
    MainIsThePersons,
    #[code(7922)]
    #[error("The branch main only moves forward; it is not rewound, replaced or deleted.")]
    NotForward,
    #[code(7923)]
    #[error("Generation {generation} is over; generation {current} runs now.")]
    OldGeneration { generation: u64, current: u64 },
    #[code(7924)]
    #[error("Nobody may change {name} here.")]
    NoSuchRef { name: String },
    #[code(7925)]
    #[error("The capsule is stopped by refs/zx1/stop.")]
    Stopped,
    #[code(7930)]
    #[error("Commit {commit} changes COMMS.md between its directives markers, where only the person writes.")]
    Directives { commit: String },
    #[code(7931)]
    #[error("COMMS.md does not have one pair of directives markers.")]
    Markers,
    #[code(7932)]
    #[error("COMMS.md of commit {commit} is not an ordinary file of at most {most} bytes.")]
    CommsFile { commit: String, most: u64 },
    #[code(7933)]
    #[error("The push has more than {most} new commits.")]
    TooManyCommits { most: usize },
    #[code(7940)]
    #[error("The audit log is broken at line {line}: {why}.")]
    AuditBroken { line: u64, why: &'static str },
    #[code(7941)]
    #[error("The audit log cannot be written: {detail}.")]
    AuditIo { detail: String },
    #[code(7950)]
    #[error("The push has more than {most} bytes.")]
    PushTooLarge { most: u64 },
    #[code(7951)]
    #[error("The repository would have {bytes} bytes; at most {most} are kept.")]
    RepositoryFull { bytes: u64, most: u64 },
    #[code(7952, transient)]
    #[error("{most} pushes were made within the hour; the next is taken in {wait_s} seconds.")]
    TooManyPushes { most: usize, wait_s: u64 },
    #[code(7953)]
    #[error("The budget of {most} tokens is used up.")]
    TokensSpent { most: u64 },
    #[code(7954)]
    #[error("The model was used for {most_s} seconds, which is all that it may.")]
    TimeSpent { most_s: u64 },
    #[code(7955, transient)]
    #[error("{most} requests were sent within the minute; the next is taken in {wait_s} seconds.")]
    TooManySends { most: usize, wait_s: u64 },
    #[code(7960)]
    #[error("The request is not one of the git protocol that is served here.")]
    Request,
    #[code(7961)]
    #[error("No repository {name} is served.")]
    NoRepository { name: String },
    #[code(7962)]
    #[error("The repository is not as it was made, at {path}: {why}. Nothing of it is served.")]
    Tampered { path: String, why: &'static str },
    #[code(7963)]
    #[error("git {what} failed: {detail}.")]
    Git { what: &'static str, detail: String },
    #[code(7964, transient)]
    #[error("{most} connections are open already.")]
    TooManyConnections { most: usize },
    #[code(7965)]
    #[error("The repository cannot be used, {step}: {detail}.")]
    RepositoryIo { step: &'static str, detail: String },
    #[code(7966)]
    #[error("The repository {path} already exists.")]
    RepositoryExists { path: String },
    #[code(7967)]
    #[error("The hook said something that it never says.")]
    Hook,
    #[code(7970)]
    #[error("The jail cannot keep a bound that it was asked for: {bound}.")]
    BoundNotGiven { bound: &'static str },
    #[code(7971)]
    #[error("The image {path} is not a root for a capsule: {why}.")]
    Image { path: String, why: &'static str },
    #[code(7980)]
    #[error("This capsule is watched already: {detail}.")]
    Watched { detail: String },
    #[code(7981)]
    #[error("The watcher's journal cannot be read: {detail}.")]
    Journal { detail: String },
    #[code(7982, transient)]
    #[error("The watcher cannot write: {detail}.")]
    WatcherIo { detail: String },
    #[code(7983)]
    #[error("There is no commit {target} to start.")]
    NoTarget { target: String },
    #[code(inner)]
    #[error(transparent)]
    Sandbox {
        #[from]
        source: SandboxError,
    },
}

impl CapsuleError {
    pub(crate) fn repository(step: &'static str) -> impl Fn(std::io::Error) -> CapsuleError {
        move |error| CapsuleError::RepositoryIo { step, detail: error.to_string() }
    }
}
