//! Sockets in a program's folder.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// Longest path of a socket that every system takes.
const MAX_PATH: usize = 100;

/// A path by which a socket in a folder can be reached, however long the folder's own path is. The file keeps that path
/// valid.
///
/// # Errors
/// The system's, where the folder cannot be opened.
pub fn path_in(folder: &Path, name: &str) -> io::Result<(Option<File>, PathBuf)> {
    let path = folder.join(name);
    if path.as_os_str().len() <= MAX_PATH {
        return Ok((None, path));
    }
    let folder = File::open(folder)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()));
    Ok((Some(folder), path))
}
