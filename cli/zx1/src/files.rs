//! Files that a crash leaves whole.

pub use zx1_cli_common::files::{
    check_writable, create_private, folder, lock_folder, make_private_folder, missing, read_all, read_failed,
    read_limited, read_needed, replace_private, shown, sync_folder_of, write_failed,
};

use crate::errors::Result;
use std::path::Path;

/// Makes sure that a file that was asked for can be written, before work is done whose result it is to hold.
///
/// # Errors
/// 7407 when the path is taken, 7405 when nothing can be written there.
pub fn check_wanted(path: Option<&Path>) -> Result<()> {
    Ok(path.map_or(Ok(()), check_writable)?)
}
