//! An append-only file of checksummed records, and how it tells a torn tail from damage.
//!
//! ```text
//! header (68 bytes)  magic 8 | agent 32 | number u64 | crc32 of these 48
//!                    synced length u64 | synced count u32 | crc32 of these 12      "the watermark"
//! record             crc32 | length u32 | body                                     integers big-endian
//! ```
//!
//! A record's checksum covers the 48 header bytes, the record's offset, its length and its body. So bytes
//! of another file or of another place, which a file system may show after a crash, never pass.
//!
//! The watermark is written after each sync, without a sync of its own: it is never ahead of what is on
//! disk. What lies before it was acknowledged, so anything unreadable there is damage and an error. What
//! lies behind it was never acknowledged, so an unreadable rest is a torn tail and is cut off. Without the
//! watermark a flipped bit in the last record would look like a torn write and would be dropped silently.

use crate::disk::{Pending, sync_dir};
use crate::error::{LogError, Result};
use crc32fast::Hasher;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zx1_protocol::ids::AgentId;

pub(crate) const MAGIC_LEN: usize = 8;
const IDENTITY_LEN: usize = MAGIC_LEN + 32 + 8;
const WATERMARK_AT: u64 = IDENTITY_LEN as u64 + 4;
const WATERMARK_LEN: usize = 16;
/// Where the first record begins.
pub(crate) const HEADER_LEN: u64 = WATERMARK_AT + WATERMARK_LEN as u64;
const RECORD_HEAD_LEN: usize = 8;
/// Longest body. A log entry has less than [`zx1_protocol::validate::MAX_MESSAGE_SIZE`] bytes.
pub(crate) const MAX_BODY: usize = 1 << 17;
const READ_BUFFER: usize = 1 << 18;
const WRITE_BUFFER: usize = 1 << 20;
const SYNCED_LOST: &str = "records that had been synced are missing or unreadable";

/// What to say of a file with another magic than the expected one.
pub(crate) fn wrong_magic(found: &[u8], expected: &[u8; MAGIC_LEN], path: &Path) -> LogError {
    let path = path.to_owned();
    let (of_this_kind, version) = match (found.split_last(), expected.split_last()) {
        (Some((version, kind)), Some((_, expected))) => (kind == expected, *version),
        _ => (false, 0),
    };
    if of_this_kind && version == 1 { LogError::OldFormat { path } } else { LogError::WrongFormat { path } }
}

/// What a file is, of whom, and which one: the first 48 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity([u8; IDENTITY_LEN]);

impl Identity {
    pub(crate) fn new(magic: &[u8; MAGIC_LEN], agent: &AgentId, number: u64) -> Self {
        let mut bytes = [0; IDENTITY_LEN];
        let (first, rest) = bytes.split_at_mut(MAGIC_LEN);
        let (second, third) = rest.split_at_mut(32);
        first.copy_from_slice(magic);
        second.copy_from_slice(agent.as_bytes());
        third.copy_from_slice(&number.to_be_bytes());
        Self(bytes)
    }

    /// The checksum of everything that this file's records have in common.
    fn hasher(&self) -> Hasher {
        let mut hasher = Hasher::new();
        hasher.update(&self.0);
        hasher
    }

    fn header(&self, mark: Watermark) -> Vec<u8> {
        let crc = self.hasher().finalize().to_be_bytes();
        [self.0.as_slice(), &crc, &mark.to_bytes()].concat()
    }

    /// Whether `header` is this file's; a specific error if not.
    fn check(&self, header: &[u8], path: &Path) -> Result<()> {
        let (identity, rest) = header.split_at_checked(IDENTITY_LEN).unwrap_or((header, &[]));
        let crc = rest.first_chunk::<4>().map(|crc| u32::from_be_bytes(*crc));
        if let (Some(found), Some(expected)) = (identity.get(..MAGIC_LEN), self.0.first_chunk())
            && found != expected
        {
            return Err(wrong_magic(found, expected, path));
        }
        if crc != Some(crc32fast::hash(identity)) {
            return Err(LogError::damaged(path, 0, "the header does not have its checksum"));
        }
        if identity != self.0 {
            return Err(LogError::WrongOwner { path: path.to_owned() });
        }
        Ok(())
    }
}

/// How much of the file is known to be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watermark {
    /// Bytes from the beginning of the file.
    pub(crate) len: u64,
    /// Records in them.
    pub(crate) count: u32,
}

impl Watermark {
    const EMPTY: Self = Self { len: HEADER_LEN, count: 0 };

    fn to_bytes(self) -> [u8; WATERMARK_LEN] {
        let mut bytes = [0; WATERMARK_LEN];
        let (fields, crc) = bytes.split_at_mut(WATERMARK_LEN - 4);
        let (len, count) = fields.split_at_mut(8);
        len.copy_from_slice(&self.len.to_be_bytes());
        count.copy_from_slice(&self.count.to_be_bytes());
        let sum = crc32fast::hash(fields);
        crc.copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; WATERMARK_LEN]) -> Option<Self> {
        let (len, rest) = bytes.split_first_chunk::<8>()?;
        let (count, crc) = rest.split_first_chunk::<4>()?;
        let fields = bytes.get(..WATERMARK_LEN - 4)?;
        let mark = Self { len: u64::from_be_bytes(*len), count: u32::from_be_bytes(*count) };
        (crc == crc32fast::hash(fields).to_be_bytes() && mark.len >= HEADER_LEN).then_some(mark)
    }
}

/// A tail that was cut off: bytes of a write that had not been acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Path of the file.
    pub file: PathBuf,
    /// Where it ends now.
    pub offset: u64,
    /// How many bytes were cut off.
    pub bytes: u64,
}

/// Reads records one after the other through a buffer.
struct Scan {
    input: BufReader<File>,
    hasher: Hasher,
    /// Where the next record begins.
    at: u64,
    count: u32,
    body: Vec<u8>,
}

/// What stands at the scan's position.
enum Next {
    Record,
    End,
    Bad,
}

impl Scan {
    fn new(mut file: File, identity: &Identity) -> io::Result<Self> {
        file.seek(SeekFrom::Start(HEADER_LEN))?;
        let input = BufReader::with_capacity(READ_BUFFER, file);
        Ok(Self { input, hasher: identity.hasher(), at: HEADER_LEN, count: 0, body: Vec::new() })
    }

    /// Reads the record at the position into `body`. Reads nothing at or behind `end`.
    fn next(&mut self, end: u64) -> io::Result<Next> {
        let left = end.saturating_sub(self.at);
        if left == 0 {
            return Ok(Next::End);
        }
        let mut head = [0; RECORD_HEAD_LEN];
        if left < RECORD_HEAD_LEN as u64 || !filled(&mut self.input, &mut head)? {
            return Ok(Next::Bad);
        }
        let [c0, c1, c2, c3, l0, l1, l2, l3] = head;
        let (crc, len) = (u32::from_be_bytes([c0, c1, c2, c3]), u32::from_be_bytes([l0, l1, l2, l3]));
        let size = RECORD_HEAD_LEN as u64 + u64::from(len);
        let Some(len) = usize::try_from(len).ok().filter(|len| *len <= MAX_BODY && size <= left) else {
            return Ok(Next::Bad);
        };
        self.body.resize(len, 0);
        if !filled(&mut self.input, &mut self.body)? || record_crc(&self.hasher, self.at, &self.body) != crc {
            return Ok(Next::Bad);
        }
        self.at += size;
        self.count = self.count.saturating_add(1);
        Ok(Next::Record)
    }
}

/// Fills the target; false when the file ends before.
fn filled(input: &mut impl Read, target: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(target) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn record_crc(identity: &Hasher, offset: u64, body: &[u8]) -> u32 {
    let mut hasher = identity.clone();
    hasher.update(&offset.to_be_bytes());
    // A body is at most MAX_BODY long; another length would fail the comparison, as it should.
    hasher.update(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    hasher.update(body);
    hasher.finalize()
}

/// The header of an open file: checked identity, and the watermark if it is readable.
fn read_header(file: &File, path: &Path, identity: &Identity) -> Result<Option<Watermark>> {
    let mut header = [0; HEADER_LEN as usize];
    match file.read_exact_at(&mut header, 0) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(LogError::damaged(path, 0, "the header is not complete"));
        }
        Err(error) => return Err(LogError::io("read", path)(error)),
    }
    identity.check(&header, path)?;
    Ok(header.last_chunk().and_then(Watermark::from_bytes))
}

/// The records up to the watermark. Needs no lock: what is written meanwhile lies behind it.
pub(crate) struct FrameReader {
    scan: Scan,
    path: PathBuf,
    mark: Watermark,
}

impl FrameReader {
    /// A reader of the records up to `mark`, which [`peek`] gave.
    pub(crate) fn open(path: &Path, identity: &Identity, mark: Watermark) -> Result<Self> {
        let file = File::open(path).map_err(LogError::io("open", path))?;
        let scan = Scan::new(file, identity).map_err(LogError::io("read", path))?;
        Ok(Self { scan, path: path.to_owned(), mark })
    }

    /// Reads the next record; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        let (begin, path) = (self.scan.at, &self.path);
        match self.scan.next(self.mark.len).map_err(LogError::io("read", path))? {
            Next::Record => Ok(true),
            Next::End if self.scan.count == self.mark.count => Ok(false),
            Next::End => Err(LogError::damaged(path, begin, "the number of records is not what was synced")),
            Next::Bad => Err(LogError::damaged(path, begin, SYNCED_LOST)),
        }
    }

    /// The body of the record that was read last.
    pub(crate) fn current(&self) -> &[u8] {
        &self.scan.body
    }
}

/// The watermark and nothing else: (bytes, records) without reading the records.
pub(crate) fn peek(path: &Path, identity: &Identity) -> Result<Watermark> {
    let file = File::open(path).map_err(LogError::io("open", path))?;
    read_watermark(&file, path, identity)
}

/// Reads the watermark of a file that may be written to at this moment.
fn read_watermark(file: &File, path: &Path, identity: &Identity) -> Result<Watermark> {
    // A reader can see half of a watermark while it is replaced; the next look shows all of it.
    const LOOKS: usize = 100;
    for _ in 0..LOOKS {
        if let Some(mark) = read_header(file, path, identity)? {
            return Ok(mark);
        }
        std::thread::yield_now();
    }
    Err(LogError::damaged(path, WATERMARK_AT, "the length in the header does not have its checksum"))
}

/// Whether the file needs [`FrameFile::open`]: it does not end where the watermark says.
pub(crate) fn has_open_tail(path: &Path, identity: &Identity) -> Result<bool> {
    let file = File::open(path).map_err(LogError::io("open", path))?;
    let len = file.metadata().map_err(LogError::io("read", path))?.len();
    Ok(read_header(&file, path, identity)?.is_none_or(|mark| mark.len != len))
}

/// A file that records are added to.
#[derive(Debug)]
pub(crate) struct FrameFile {
    file: File,
    path: PathBuf,
    hasher: Hasher,
    /// All that has been written; equals the watermark unless `append_unsynced` was used.
    written: Watermark,
    failed: bool,
}

impl FrameFile {
    /// Makes an empty file, durable with its name.
    pub(crate) fn create(path: &Path, identity: &Identity) -> Result<Self> {
        Self::create_with(path, identity, std::iter::empty())
    }

    /// Makes the file with these records, replacing the one that there may be: all or nothing.
    pub(crate) fn create_with(
        path: &Path,
        identity: &Identity,
        bodies: impl Iterator<Item = Vec<u8>> + Clone,
    ) -> Result<Self> {
        let hasher = identity.hasher();
        let mut written = Watermark::EMPTY;
        for body in bodies.clone() {
            written = advance(written, &body).ok_or_else(|| too_large(path))?;
        }
        let mut pending = Pending::new(path)?;
        pending.write(&identity.header(written))?;
        let (mut at, mut buffer) = (HEADER_LEN, Vec::new());
        for body in bodies {
            at += put_record(&mut buffer, &hasher, at, &body);
            if buffer.len() >= WRITE_BUFFER {
                pending.write(&buffer)?;
                buffer.clear();
            }
        }
        pending.write(&buffer)?;
        pending.finish()?;
        path.parent().map_or(Ok(()), sync_dir)?;
        let file = open_for_writing(path)?;
        Ok(Self { file, path: path.to_owned(), hasher, written, failed: false })
    }

    /// Opens the file, shows every record to `visit`, cuts off a torn tail and makes the rest durable.
    pub(crate) fn open(
        path: &Path,
        identity: &Identity,
        mut visit: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<(Self, Option<Torn>)> {
        let file = open_for_writing(path)?;
        let mark = read_header(&file, path, identity)?;
        let file_len = file.metadata().map_err(LogError::io("read", path))?.len();
        let reading = file.try_clone().map_err(LogError::io("read", path))?;
        let mut scan = Scan::new(reading, identity).map_err(LogError::io("read", path))?;
        loop {
            let begin = scan.at;
            match scan.next(file_len).map_err(LogError::io("read", path))? {
                Next::Record => visit(begin, &scan.body)?,
                Next::End | Next::Bad => break,
            }
            let at_mark = mark.filter(|mark| mark.len == scan.at);
            if at_mark.is_some_and(|mark| mark.count != scan.count) {
                return Err(LogError::damaged(path, scan.at, "the number of records is not what was synced"));
            }
        }
        let written = Watermark { len: scan.at, count: scan.count };
        // A bad watermark is one accident. With an unreadable rest it would take two, and nothing says
        // whether that rest had been acknowledged; so it is not cut off.
        let synced = mark.map_or(file_len, |mark| mark.len);
        if written.len < synced {
            return Err(LogError::damaged(path, written.len, SYNCED_LOST));
        }
        let hasher = identity.hasher();
        let mut frames = Self { file, path: path.to_owned(), hasher, written, failed: false };
        let torn = frames.settle(mark, file_len)?;
        Ok((frames, torn))
    }

    /// After a crash: cuts what is torn, and makes sure of what is not.
    fn settle(&mut self, mark: Option<Watermark>, file_len: u64) -> Result<Option<Torn>> {
        let written = self.written;
        if mark == Some(written) && file_len == written.len {
            return Ok(None);
        }
        // Records behind the watermark were read, perhaps only from the page cache: a sync that failed
        // before the crash may have marked their pages as clean. So they are written once more.
        let from = mark.map_or(HEADER_LEN, |mark| mark.len);
        self.rewrite(from, written.len)?;
        self.file.set_len(written.len).map_err(LogError::io("shorten", &self.path))?;
        self.sync()?;
        self.file.sync_data().map_err(LogError::io("sync", &self.path))?;
        let bytes = file_len.saturating_sub(written.len);
        Ok((bytes > 0).then(|| Torn { file: self.path.clone(), offset: written.len, bytes }))
    }

    fn rewrite(&self, mut from: u64, to: u64) -> Result<()> {
        let mut buffer = vec![0; WRITE_BUFFER];
        while from < to {
            let len = usize::try_from(to - from).unwrap_or(WRITE_BUFFER).min(WRITE_BUFFER);
            let part = buffer.get_mut(..len).unwrap_or_default();
            self.file.read_exact_at(part, from).map_err(LogError::io("read", &self.path))?;
            self.file.write_all_at(part, from).map_err(LogError::io("write", &self.path))?;
            from += len as u64;
        }
        Ok(())
    }

    /// How many records the file has.
    pub(crate) fn count(&self) -> u32 {
        self.written.count
    }

    /// Adds the records with one sync. They are on disk when it returns; after an error none is.
    pub(crate) fn append<'b>(&mut self, bodies: impl IntoIterator<Item = &'b [u8]>) -> Result<()> {
        let before = self.written;
        self.append_unsynced(bodies)?;
        self.sync().inspect_err(|_| {
            // Not acknowledged, so it must not turn up later. The file takes nothing more anyway.
            let _ = self.file.set_len(before.len);
            self.written = before;
        })
    }

    /// Adds the records without a sync: a crash may take them back.
    pub(crate) fn append_unsynced<'b>(&mut self, bodies: impl IntoIterator<Item = &'b [u8]>) -> Result<()> {
        if self.failed {
            return Err(LogError::WriteFailedBefore { path: self.path.clone() });
        }
        let before = self.written;
        self.write_records(bodies).inspect_err(|_| {
            self.written = before;
            // If even this fails the file's end is unknown until it is opened again.
            self.failed |= self.file.set_len(before.len).is_err();
        })
    }

    fn write_records<'b>(&mut self, bodies: impl IntoIterator<Item = &'b [u8]>) -> Result<()> {
        let (mut buffer, mut at) = (Vec::new(), self.written.len);
        for body in bodies {
            let next = advance(self.written, body).ok_or_else(|| too_large(&self.path))?;
            put_record(&mut buffer, &self.hasher, self.written.len, body);
            self.written = next;
            if buffer.len() >= WRITE_BUFFER {
                self.file.write_all_at(&buffer, at).map_err(LogError::io("write", &self.path))?;
                at = next.len;
                buffer.clear();
            }
        }
        self.file.write_all_at(&buffer, at).map_err(LogError::io("write", &self.path))
    }

    /// Makes everything that was added durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        if self.failed {
            return Err(LogError::WriteFailedBefore { path: self.path.clone() });
        }
        if let Err(error) = self.file.sync_data() {
            // What a failed sync has written is unknown, and a second one may falsely succeed.
            self.failed = true;
            return Err(LogError::io("sync", &self.path)(error));
        }
        // The records are on disk; a watermark that stays behind only makes the next open more careful.
        let mark = self.written.to_bytes();
        self.failed = self.file.write_all_at(&mark, WATERMARK_AT).is_err();
        Ok(())
    }
}

/// A file of one record that never changes.
pub(crate) fn write_one(path: &Path, identity: &Identity, body: &[u8]) -> Result<()> {
    FrameFile::create_with(path, identity, std::iter::once(body.to_vec())).map(|_| ())
}

/// The record of [`write_one`]; `None` when there is no file. A file with none, or one of another length, is
/// damaged.
pub(crate) fn read_one<const N: usize>(path: &Path, identity: &Identity) -> Result<Option<[u8; N]>> {
    if !path.exists() {
        return Ok(None);
    }
    let mut records = FrameReader::open(path, identity, peek(path, identity)?)?;
    let damaged = || LogError::damaged(path, HEADER_LEN, "it does not hold the one record that it should");
    let found = if records.advance()? { records.current().as_array().copied() } else { None };
    found.map(Some).ok_or_else(damaged)
}

fn too_large(path: &Path) -> LogError {
    LogError::io("write", path)(ErrorKind::FileTooLarge.into())
}

fn advance(mark: Watermark, body: &[u8]) -> Option<Watermark> {
    let len = u64::try_from(body.len().checked_add(RECORD_HEAD_LEN)?).ok()?;
    let (len, count) = (mark.len.checked_add(len)?, mark.count.checked_add(1)?);
    (body.len() <= MAX_BODY).then_some(Watermark { len, count })
}

/// Puts the record of `body` behind the buffer; returns its size.
fn put_record(buffer: &mut Vec<u8>, identity: &Hasher, offset: u64, body: &[u8]) -> u64 {
    buffer.extend_from_slice(&record_crc(identity, offset, body).to_be_bytes());
    buffer.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    buffer.extend_from_slice(body);
    (RECORD_HEAD_LEN + body.len()) as u64
}

fn open_for_writing(path: &Path) -> Result<File> {
    OpenOptions::new().read(true).write(true).open(path).map_err(LogError::io("open", path))
}

/// Shows every readable record to `visit`, whatever lies between them. Returns how many bytes belong to no
/// readable record.
pub(crate) fn salvage(path: &Path, identity: &Identity, mut visit: impl FnMut(&[u8])) -> Result<u64> {
    let file = File::open(path).map_err(LogError::io("open", path))?;
    let end = file.metadata().map_err(LogError::io("read", path))?.len();
    let hasher = identity.hasher();
    let (mut at, mut lost) = (HEADER_LEN, 0);
    // A window that holds the longest record, moved along the file.
    let mut window = Vec::new();
    let mut window_at = at;
    while at < end {
        let place = usize::try_from(at - window_at).unwrap_or(usize::MAX);
        let needed = MAX_BODY + RECORD_HEAD_LEN;
        let have = window.len().saturating_sub(place);
        if have < needed && window_at + (window.len() as u64) < end {
            window = read_window(&file, at, end, needed * 8).map_err(LogError::io("read", path))?;
            window_at = at;
            continue;
        }
        match record_at(window.get(place..).unwrap_or_default(), &hasher, at) {
            Some(body) => {
                visit(body);
                at += (RECORD_HEAD_LEN + body.len()) as u64;
            }
            None => {
                at += 1;
                lost += 1;
            }
        }
    }
    Ok(lost)
}

fn read_window(file: &File, at: u64, end: u64, most: usize) -> io::Result<Vec<u8>> {
    let len = usize::try_from(end - at).unwrap_or(most).min(most);
    let mut window = vec![0; len];
    file.read_exact_at(&mut window, at)?;
    Ok(window)
}

fn record_at<'w>(window: &'w [u8], identity: &Hasher, at: u64) -> Option<&'w [u8]> {
    let (crc, rest) = window.split_first_chunk::<4>()?;
    let (len, rest) = rest.split_first_chunk::<4>()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok().filter(|len| *len <= MAX_BODY)?;
    let body = rest.get(..len)?;
    (record_crc(identity, at, body) == u32::from_be_bytes(*crc)).then_some(body)
}
