//! Crash-safe files, with this command line's refusals for paths that are taken.

pub use zx1_cli_common::files::{
    folder, lock_folder, make_private_folder, missing, read_all, read_failed, read_limited, read_needed,
    replace_private, shown, sync_folder_of, write_failed,
};

use crate::errors::{Error, Result};
use std::path::Path;
use zx1_cli_common::Fault;

/// Writes a new file that only this user can read, and flushes it to the disk.
///
/// # Errors
/// The given refusal when the path is taken; 7405 when the system refuses.
pub fn create_private(path: &Path, bytes: &[u8], taken: Error) -> Result<()> {
    unless_taken(zx1_cli_common::files::create_private(path, bytes), taken)
}

/// Makes sure that a new file can be written there, before work is done whose result it is to hold. Nothing
/// stays on the disk.
///
/// # Errors
/// The given refusal when the path is taken; 7405 when nothing can be written there.
pub fn check_writable(path: &Path, taken: Error) -> Result<()> {
    unless_taken(zx1_cli_common::files::check_writable(path), taken)
}

fn unless_taken(done: Result<(), Fault>, taken: Error) -> Result<()> {
    done.map_err(|fault| match fault {
        Fault::Exists { .. } => taken.into(),
        other => other.into(),
    })
}
