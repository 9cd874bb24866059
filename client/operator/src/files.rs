//! Whole files, written so that a crash leaves the old bytes or the new ones.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

fn failed(write: bool, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { write, path, source }
}

/// A file's bytes; `None` when there is none. More than `limit` bytes are refused.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(failed(false, path))?,
    };
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed(false, path))?;
    if u64::try_from(bytes.len()).is_ok_and(|found| found > limit) {
        return Err(failed(false, path)(io::ErrorKind::FileTooLarge.into()));
    }
    Ok(Some(bytes))
}

/// Replaces a file that only this user can read, or makes it and its folder.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temporary = path.with_extension(format!("{}.new", std::process::id()));
    let write = || -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(failed(true, path))
}
