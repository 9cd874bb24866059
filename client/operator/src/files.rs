//! Whole files of an agent's folder.

use crate::error::{Error, Result};
use std::io;
use std::path::Path;
use zx1_home::files::{self, ReadError};

/// A file's bytes; `None` when there is none. More than `limit` bytes are refused.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let read = files::read(path, limit).map_err(|error| match error {
        ReadError::Io(source) => source,
        large @ ReadError::TooLarge { .. } => io::Error::other(large),
    });
    Ok(read
        .map_err(|source| Error::ReadFailed { path: path.to_owned(), source })?
        .map(|bytes| bytes.to_vec()))
}

/// Replaces a file that only this user can read, or makes it and its folder.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = files::make_private_folder(files::folder_of(path));
    made.and_then(|()| files::replace(path, bytes))
        .map_err(|source| Error::WriteFailed { path: path.to_owned(), source })
}

/// Finds out whether files can be made in a folder; none stays.
pub(crate) fn probe(folder: &Path) -> Result<()> {
    let begun = files::Draft::new(&folder.join("probe"));
    begun.map(drop).map_err(|source| Error::WriteFailed { path: folder.to_owned(), source })
}
