//! The audit log on disk: an entry is durable before its ref moves.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use zx1_home::files;

use crate::audit::{self, Entry, Head};
use crate::error::{CapsuleError, Result};

/// The open log.
#[derive(Debug)]
pub struct Ledger {
    file: File,
    head: Head,
    /// Bytes of whole lines.
    length: u64,
    /// A write failed, so the end of the file is not known.
    broken: bool,
}

impl Ledger {
    /// Opens or makes it, checks all of it, and cuts off a line that a crash tore. Gives its entries too.
    ///
    /// # Errors
    /// 7940, 7941.
    pub fn open(path: &Path) -> Result<(Ledger, Vec<Entry>)> {
        let failed = |error: std::io::Error| CapsuleError::AuditIo { detail: error.to_string() };
        files::make_private_folder(files::folder_of(path)).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let checked = audit::check(&bytes)?;
        let length = u64::try_from(checked.whole).unwrap_or(u64::MAX);
        if checked.whole != bytes.len() {
            file.set_len(length).map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        files::sync_folder(files::folder_of(path)).map_err(failed)?;
        Ok((Ledger { file, head: checked.head, length, broken: false }, checked.entries))
    }

    /// Appends entries; durable when it returns.
    ///
    /// # Errors
    /// 7941, and nothing is appended.
    pub fn append(&mut self, entries: &[Entry]) -> Result<()> {
        if self.broken {
            return Err(CapsuleError::AuditIo { detail: "an earlier write failed".to_owned() });
        }
        let mut head = self.head;
        let text: String = entries.iter().map(|entry| head.append(entry.clone())).collect();
        let done = self
            .file
            .seek(SeekFrom::Start(self.length))
            .and_then(|_| self.file.write_all(text.as_bytes()))
            .and_then(|()| self.file.sync_data());
        if let Err(error) = done {
            // What was written of it must not look like the beginning of the next line.
            self.broken = self.file.set_len(self.length).and_then(|()| self.file.sync_all()).is_err();
            return Err(CapsuleError::AuditIo { detail: error.to_string() });
        }
        self.head = head;
        self.length = self.length.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Where the chain ends.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }
}
