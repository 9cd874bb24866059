//! Runs a command over an overlay of the whole filesystem, lists what it changed, commits or discards it.
//!
//! A stranger's fix runs here (decision E11). It sees the whole filesystem and may change all of it that its
//! user may change, but every change goes to a layer in memory. What it changed can be read as a diff,
//! committed with an undo record, or forgotten.
//!
//! ```standalone_crate
//! use zx1_sandbox::{Command, Consents, Limits, Records, Sandbox};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     zx1_sandbox::helper_main_if_asked(); // first line of main
//!     let folder = tempfile::tempdir()?;
//!     let tree = folder.path().join("project");
//!     std::fs::create_dir(&tree)?;
//!
//!     // A command that fails, and a stranger's fix.
//!     let (failing, fix) = ("ls build", "mkdir -p build");
//!     let mut sandbox = Sandbox::builder().work_tree(&tree).command_line(failing).build()?;
//!     sandbox.run(&Command::shell(fix).env_from_current(), &Limits::default())?;
//!     let verified = sandbox.run(&Command::shell(failing).env_from_current(), &Limits::default())?;
//!     assert!(verified.success() && !tree.join("build").exists());
//!
//!     let changes = sandbox.changes()?;
//!     assert_eq!(changes.to_string(), "A build/\n");
//!     let records = Records::open(folder.path().join("undo"))?;
//!     let record = sandbox.commit(&changes, &Consents::none(), &records)?;
//!     assert!(tree.join("build").exists());
//!     records.undo(record.id())?;
//!     assert!(!tree.join("build").exists());
//!     Ok(())
//! }
//! ```
//!
//! # How it isolates
//!
//! A single-threaded helper is exec'ed, because namespaces are made by processes and a process with threads
//! cannot be forked safely. It takes a mount namespace (as an ordinary user inside a user namespace), covers
//! every mount with an overlay whose upper layer is a tmpfs of its own, masks secrets and makes /dev, /run
//! and /sys anew. Every run gets new pid, ipc, uts, cgroup and network namespaces; as root also a user
//! namespace. The command has no capabilities (root: those over files only), cannot gain any, cannot mount,
//! and its system calls are filtered. When a run ends the kernel kills all that it left. When the helper ends
//! the layer is gone.
//!
//! # Why own code
//!
//! bubblewrap makes the same namespaces, but Debian 12's version knows no overlays, none keeps one overlay
//! over several runs, none can cover subtrees with change detection, and users' machines may not have it. No
//! crate does this either. So the kernel is called through `rustix`, filters are compiled by `seccompiler`,
//! and `unsafe` is confined to one file of short functions.
//!
//! # Limits
//!
//! Time: the helper's clock. Changes: the size of the tmpfs. Memory and processes: cgroup v2 where this user
//! may make groups with both controllers. The changes lie in memory, so the group's limit is that of memory and
//! that of changes together; threads count as processes there. Elsewhere the run's first process counts every
//! 10 ms and ends the run, with `RLIMIT_NPROC` (ordinary user) and the pid namespace's own `pid_max` (Linux 6.14)
//! as hard bounds. Memory that no process maps is then seen in the machine's totals only: a run ends when the
//! machine's shared memory grew by more than the run may use, or when less than 1/32 of all memory is left. Where
//! the group of one run cannot be made, that run is watched.
//! [`Info::limits_by`] says which.
//!
//! # What an ordinary user cannot try
//!
//! Only the user's own id and primary group are mapped, and the kernel copies nothing up that belongs to
//! others. Inside the sandbox a change of a file of root, or of a file of another of the user's groups, fails
//! (EACCES or EOVERFLOW), also where the rights would allow it outside. [`Sandbox::notice`] says so
//! beforehand.

mod changes;
mod command;
mod commit;
mod consent;
mod error;
mod hash;
mod helper;
mod proxy;
mod raw;
mod root;
mod sandbox;
mod secrets;
mod wire;

pub use changes::{ChangeSet, Class, Consents, Entry, FileType, Kind, Meta};
pub use command::{Command, DEFAULT_PATH, LimitKind, Limits, Outcome, Output, Stream};
pub use commit::{RecordInfo, RecordState, Records, Repaired, UndoRecord};
pub use error::{Result, SandboxError};
pub use root::Sealed;
pub use sandbox::{Builder, Canceller, Info, Network, Sandbox};

#[doc(hidden)]
pub use commit::testing;

/// Becomes the sandbox's helper if this process was started as one, and does not return then. Call it in the
/// first line of `main`, before threads exist; afterwards this program is its own helper.
pub fn helper_main_if_asked() {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == helper::ARGUMENT) {
        helper::main()
    }
    sandbox::use_own_program();
}
