//! Files that a crash leaves whole: with the old bytes or with the new ones.
//!
//! New files and folders are for their owner only (0600 and 0700 on Unix), unless a function says otherwise.
//! When a function that writes returns `Ok`, the result outlives a loss of power.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use zeroize::Zeroizing;

/// The ending of files that are being written. One that is left by a crash is never read, and
/// [`remove_unfinished`] removes it.
pub const UNFINISHED: &str = "unfinished";

/// Bytes beyond a limit that are counted for a message.
const COUNTED: u64 = 64 << 20;

/// Makes a folder and those above it. Folders that exist stay as they are.
///
/// # Errors
/// The system's, also when a file is in the way.
pub fn make_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let above = folder_of(path);
    if above != path {
        make_folder(above)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => sync_folder(above),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// [`make_folder`]; takes the rights of others away from a folder that exists.
///
/// # Errors
/// The system's.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    make_folder(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// The folder that a path is in; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes names that were added to or removed from a folder durable.
///
/// # Errors
/// The system's.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened, and names are durable by themselves.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// A file under another name until it is complete: nobody ever sees half of it. Dropped without
/// [`replace`](Draft::replace) or [`create`](Draft::create), it is removed.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Begins the file that will be `path`, whose folder must exist.
    ///
    /// # Errors
    /// The system's; [`ErrorKind::InvalidInput`] when the path names no file.
    pub fn new(path: &Path) -> io::Result<Draft> {
        Draft::begin(folder_of(path), path, 0o600)
    }

    /// The same, but for everybody whom the process's umask lets read it.
    ///
    /// # Errors
    /// As [`Draft::new`].
    pub fn shared(path: &Path) -> io::Result<Draft> {
        Draft::begin(folder_of(path), path, 0o666)
    }

    /// As [`Draft::new`], with the unfinished file in another folder of the same file system.
    ///
    /// # Errors
    /// As [`Draft::new`].
    pub fn new_in(folder: &Path, path: &Path) -> io::Result<Draft> {
        Draft::begin(folder, path, 0o600)
    }

    fn begin(folder: &Path, path: &Path, mode: u32) -> io::Result<Draft> {
        if path.file_name().is_none() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it names no file"));
        }
        let ending = format!(".{UNFINISHED}");
        let mut builder = tempfile::Builder::new();
        builder.prefix(".").suffix(&ending);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = mode;
        Ok(Draft { file: builder.tempfile_in(folder)?, path: path.to_owned() })
    }

    /// Gives the file its name, in place of a file that has it.
    ///
    /// # Errors
    /// The system's; then what was there before still is.
    pub fn replace(self) -> io::Result<()> {
        let folder = folder_of(&self.path).to_owned();
        self.replace_before_sync()?;
        sync_folder(&folder)
    }

    /// As [`Draft::replace`], but the name becomes durable only with the next [`sync_folder`]: for several
    /// files of one folder.
    ///
    /// # Errors
    /// As [`Draft::replace`].
    pub fn replace_before_sync(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path).map(drop).map_err(|failed| failed.error)
    }

    /// Gives the file its name, unless a file has it.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] when the name is taken; the system's.
    pub fn create(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist_noclobber(&self.path).map_err(|failed| failed.error)?;
        sync_folder(folder_of(&self.path))
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// Writes a whole file in place of one that is there, or a new one. Its folder must exist.
///
/// # Errors
/// The system's; then what was there before still is.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    draft.write_all(bytes)?;
    draft.replace()
}

/// [`replace`], but everybody whom the process's umask lets may read the file.
///
/// # Errors
/// As [`replace`].
pub fn replace_shared(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::shared(path)?;
    draft.write_all(bytes)?;
    draft.replace()
}

/// Writes a new file. Its folder must exist.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`] when the path is taken, and the file there stays as it is; the system's.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::new(path)?;
    draft.write_all(bytes)?;
    draft.create()
}

/// Gives a file that is complete another name, in place of a file that has it.
///
/// # Errors
/// The system's.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    File::open(from)?.sync_all()?;
    fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Makes an empty file where there is none, so that a database that opens it later keeps its mode. Its folder
/// must exist.
///
/// # Errors
/// The system's.
pub fn create_if_missing(path: &Path) -> io::Result<()> {
    match create(path, &[]) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
}

/// Removes a file for good; whether there was one.
///
/// # Errors
/// The system's.
pub fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => sync_folder(folder_of(path)).map(|()| true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what crashes left half-written in a folder, itself excluded from what others are writing: the
/// caller holds the folder's lock.
///
/// # Errors
/// The system's; a folder that is not there has nothing to remove.
pub fn remove_unfinished(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        if is_unfinished(&path) && path.is_file() {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Whether a path has the name of a file that is being written.
pub fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == UNFINISHED)
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is larger than the caller's limit.
    #[error("it has {size} bytes, and at most {limit} are read")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
}

/// The bytes of a file, wiped when dropped; `None` when there is no file.
///
/// # Errors
/// [`ReadError::TooLarge`] for more than `limit` bytes; the system's.
pub fn read(path: &Path, limit: u64) -> Result<Option<Zeroizing<Vec<u8>>>, ReadError> {
    match File::open(path) {
        Ok(file) => read_all(file, limit).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The content of a file that this program wrote itself, without a limit on its size; `None` when there is no
/// file.
///
/// # Errors
/// The operating system's.
pub fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Everything that a reader gives, wiped when dropped. A reader that never ends is left 64 MiB after the limit.
///
/// # Errors
/// [`ReadError::TooLarge`] for more than `limit` bytes; the reader's.
pub fn read_all(mut from: impl Read, limit: u64) -> Result<Zeroizing<Vec<u8>>, ReadError> {
    // A buffer that grows leaves copies behind, so a key's size is there from the start.
    let mut bytes = Zeroizing::new(Vec::with_capacity(8 << 10));
    let size = (&mut from).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(size).is_ok_and(|size| size <= limit) {
        return Ok(bytes);
    }
    // The message says how large it is, not only that it is too large; of endless input only the lower bound.
    let rest = io::copy(&mut from.take(COUNTED), &mut io::sink())?;
    Err(ReadError::TooLarge { size: rest.saturating_add(limit).saturating_add(1), limit })
}
