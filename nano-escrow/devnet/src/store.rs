//! Blocks on disk: one file that only grows.
//!
//! The file is a header and frames. A frame holds the records of one write, has one checksum over all of it,
//! and is followed by another only after it was synced. So a frame that is not whole can only be the last
//! one: it was never answered to anybody, and is cut away on opening. A broken frame with a whole one behind
//! it is damage, and refused.
//!
//! ```text
//! header  "nano-devnet\0" | version u32 | genesis epoch u8 | 0 0 0 | genesis hash 32 | checksum 16
//! frame   "NdvF" | length of the records u32 | number of the first record u64 | records | checksum 16
//! record  1 | block 216 | seconds since 1970 u64      a block was added
//!         2 | hash 32                                 a block became final
//!         3 | hash 32                                 a block and all that depends on it was rolled back
//! ```
//!
//! Numbers are little-endian. A checksum is BLAKE2b with 16 bytes of output over all bytes of the header or
//! frame before it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use blake2::Blake2b;
use blake2::digest::Digest;
use blake2::digest::consts::U16;
use zx1_home::{Lock, LockError, files};

use super::{DevnetError, Epoch};
use nano_escrow::{BlockHash, Network, SignedBlock};

const MAGIC: &[u8; 12] = b"nano-devnet\0";
const VERSION: u32 = 1;
const HEADER: usize = 68;
const FRAME: &[u8; 4] = b"NdvF";
const FRAME_HEAD: usize = 16;
const SUM: usize = 16;
/// Records of one write; a bound against a length field of rubbish.
const MAX_FRAME: usize = 64 << 20;

/// What happened, as the file keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    Added(SignedBlock, u64),
    Confirmed(BlockHash),
    RolledBack(BlockHash),
}

fn checksum(bytes: &[u8]) -> [u8; SUM] {
    Blake2b::<U16>::digest(bytes).into()
}

impl Record {
    fn put(&self, out: &mut Vec<u8>) -> Result<(), DevnetError> {
        match self {
            Record::Added(block, timestamp) => {
                out.push(1);
                out.extend(block.to_bytes().map_err(|e| DevnetError::Write(e.to_string()))?);
                out.extend(timestamp.to_le_bytes());
            }
            Record::Confirmed(hash) => {
                out.push(2);
                out.extend(hash.0);
            }
            Record::RolledBack(hash) => {
                out.push(3);
                out.extend(hash.0);
            }
        }
        Ok(())
    }

    fn take(bytes: &[u8]) -> Option<(Record, &[u8])> {
        let (tag, rest) = bytes.split_first()?;
        match tag {
            1 => {
                let (block, rest) = rest.split_first_chunk::<{ SignedBlock::BYTES }>()?;
                let (timestamp, rest) = rest.split_first_chunk::<8>()?;
                let block = SignedBlock::from_bytes(block).ok()?;
                Some((Record::Added(block, u64::from_le_bytes(*timestamp)), rest))
            }
            2 | 3 => {
                let (hash, rest) = rest.split_first_chunk::<32>()?;
                let hash = BlockHash(*hash);
                Some((if *tag == 2 { Record::Confirmed(hash) } else { Record::RolledBack(hash) }, rest))
            }
            _ => None,
        }
    }
}

fn header(epoch: Epoch) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER);
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
    out.extend([epoch.number(), 0, 0, 0]);
    out.extend(Network::Dev.genesis().0);
    let sum = checksum(&out);
    out.extend(sum);
    out
}

/// A whole frame at the beginning of `bytes`: its records and its length.
fn frame(bytes: &[u8], first: u64) -> Option<(Vec<Record>, usize)> {
    let (number, length) = frame_head(bytes)?;
    if number != first {
        return None;
    }
    let mut rest = bytes.get(FRAME_HEAD..length.checked_sub(SUM)?)?;
    let mut records = Vec::new();
    while !rest.is_empty() {
        let (record, after) = Record::take(rest)?;
        records.push(record);
        rest = after;
    }
    Some((records, length))
}

/// The number of the first record and the whole length of a frame whose checksum holds.
fn frame_head(bytes: &[u8]) -> Option<(u64, usize)> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (number, _) = rest.split_first_chunk::<8>()?;
    let body = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    if magic != FRAME || body > MAX_FRAME {
        return None;
    }
    let covered = FRAME_HEAD.checked_add(body)?;
    let whole = covered.checked_add(SUM)?;
    let sum = bytes.get(covered..whole)?;
    (checksum(bytes.get(..covered)?) == sum).then_some((u64::from_le_bytes(*number), whole))
}

/// Whether a whole frame with a number not before `first` begins anywhere in `bytes` but at its beginning.
fn later_frame(bytes: &[u8], first: u64) -> bool {
    (1..bytes.len()).any(|at| {
        bytes
            .get(at..)
            .is_some_and(|b| b.starts_with(FRAME) && frame_head(b).is_some_and(|(n, _)| n >= first))
    })
}

/// What a file said on opening.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) records: Vec<Record>,
    /// How many bytes of a torn end were cut away.
    pub(crate) cut: u64,
}

/// The open file. Holds the folder's lock as long as it lives.
#[derive(Debug)]
pub(crate) struct Store {
    file: File,
    _lock: Lock,
    /// The number of the next record.
    next: u64,
    /// Set when a write failed: what the file holds behind is unknown, so nothing may follow.
    broken: bool,
}

/// The name of the block file in its folder.
pub(crate) const FILE: &str = "blocks";

impl Store {
    /// Open the file of a folder, or make it. Cuts a torn end.
    pub(crate) fn open(folder: &Path, epoch: Epoch) -> Result<Opened, DevnetError> {
        let wrong = |path: &Path, source| DevnetError::Folder { path: path.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(|e| wrong(folder, e))?;
        let lock = Lock::try_take(&folder.join("lock")).map_err(|error| match error {
            LockError::Held { .. } => DevnetError::Locked(folder.to_owned()),
            LockError::Io { path, source } => wrong(&path, source),
        })?;

        let path = folder.join(FILE);
        if !path.exists() {
            // Whole or not at all: a file with half a header never exists.
            files::replace(&path, &header(epoch)).map_err(|e| wrong(&path, e))?;
        }
        let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(|e| wrong(&path, e))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| wrong(&path, e))?;
        check_header(&path, &bytes, epoch)?;

        let mut records = Vec::new();
        let mut at = HEADER;
        while let Some((more, length)) = bytes.get(at..).and_then(|b| frame(b, records.len() as u64)) {
            records.extend(more);
            at += length;
        }
        let tail = bytes.get(at..).unwrap_or_default();
        if later_frame(tail, records.len() as u64) {
            return Err(DevnetError::Damaged { offset: at as u64 });
        }
        if !tail.is_empty() {
            file.set_len(at as u64).and_then(|()| file.sync_all()).map_err(|e| wrong(&path, e))?;
        }
        file.seek(SeekFrom::Start(at as u64)).map_err(|e| wrong(&path, e))?;
        let next = records.len() as u64;
        let store = Store { file, _lock: lock, next, broken: false };
        Ok(Opened { store, records, cut: tail.len() as u64 })
    }

    /// Append the records as one frame and sync it. When this returns, they outlive the machine's death.
    pub(crate) fn append(&mut self, records: &[Record]) -> Result<(), DevnetError> {
        if records.is_empty() {
            return Ok(());
        }
        if self.broken {
            return Err(DevnetError::Write("an earlier write failed".into()));
        }
        let mut out = Vec::with_capacity(FRAME_HEAD + SUM + records.len() * 225);
        out.extend(FRAME);
        out.extend([0; 4]);
        out.extend(self.next.to_le_bytes());
        for record in records {
            record.put(&mut out)?;
        }
        let body = u32::try_from(out.len() - FRAME_HEAD).map_err(|e| DevnetError::Write(e.to_string()))?;
        if let Some(place) = out.get_mut(4..8) {
            place.copy_from_slice(&body.to_le_bytes());
        }
        let sum = checksum(&out);
        out.extend(sum);
        let written = self.file.write_all(&out).and_then(|()| self.file.sync_data());
        if let Err(e) = written {
            self.broken = true;
            return Err(DevnetError::Write(e.to_string()));
        }
        self.next += records.len() as u64;
        Ok(())
    }
}

fn check_header(path: &Path, bytes: &[u8], epoch: Epoch) -> Result<(), DevnetError> {
    let not_ours = || DevnetError::NotOurs(path.to_owned());
    let (head, _) = bytes.split_at_checked(HEADER).ok_or_else(not_ours)?;
    let (covered, sum) = head.split_at_checked(HEADER - SUM).ok_or_else(not_ours)?;
    let version = covered.get(12..).and_then(|b| b.first_chunk::<4>()).ok_or_else(not_ours)?;
    if !covered.starts_with(MAGIC) || checksum(covered) != sum {
        return Err(not_ours());
    }
    let found = u32::from_le_bytes(*version);
    if found != VERSION {
        return Err(DevnetError::Version { found, expected: VERSION });
    }
    if head == header(epoch) {
        return Ok(());
    }
    match covered.get(16) {
        Some(found) if *found != epoch.number() => {
            Err(DevnetError::GenesisEpoch { found: *found, asked: epoch.number() })
        }
        _ => Err(not_ours()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nano_escrow::{PublicKey, Raw, Signature, StateBlock, Work};

    fn block(n: u8) -> SignedBlock {
        let block = StateBlock {
            account: PublicKey([n; 32]),
            previous: BlockHash([1; 32]),
            representative: PublicKey([2; 32]),
            balance: Raw(u128::from(n)),
            link: [3; 32],
        };
        SignedBlock { block, signature: Signature([4; 64]), work: Some(Work(5)) }
    }

    /// Three writes: two records, one, one.
    fn written(folder: &Path) -> Vec<Record> {
        let mut store = Store::open(folder, Epoch::Two).unwrap().store;
        let all = vec![
            Record::Added(block(1), 7),
            Record::Confirmed(BlockHash([8; 32])),
            Record::Added(block(2), 9),
            Record::RolledBack(BlockHash([10; 32])),
        ];
        store.append(&all[..2]).unwrap();
        store.append(&all[2..3]).unwrap();
        store.append(&all[3..]).unwrap();
        all
    }

    #[test]
    fn what_was_appended_comes_back_ok() {
        let folder = tempfile::tempdir().unwrap();
        let all = written(folder.path());
        let opened = Store::open(folder.path(), Epoch::Two).unwrap();
        assert_eq!(opened.records, all);
        assert_eq!(opened.cut, 0);
    }

    #[test]
    fn a_file_torn_at_any_byte_opens_with_the_whole_frames_before_it_ok() {
        let folder = tempfile::tempdir().unwrap();
        let all = written(folder.path());
        let bytes = std::fs::read(folder.path().join(FILE)).unwrap();
        let first = HEADER + FRAME_HEAD + SUM + 225 + 33;
        let ends = [HEADER, first, first + FRAME_HEAD + SUM + 225, bytes.len()];
        let counts = [0, 2, 3, 4];
        for length in HEADER..=bytes.len() {
            let torn = tempfile::tempdir().unwrap();
            std::fs::write(torn.path().join(FILE), &bytes[..length]).unwrap();
            let whole = ends.iter().rposition(|end| *end <= length).unwrap();
            let mut opened = Store::open(torn.path(), Epoch::Two).unwrap();
            assert_eq!(opened.records, all[..counts[whole]], "{length} bytes");
            assert_eq!(opened.cut, (length - ends[whole]) as u64);
            // And it goes on from there.
            opened.store.append(&[Record::Confirmed(BlockHash([11; 32]))]).unwrap();
            drop(opened);
            let again = Store::open(torn.path(), Epoch::Two).unwrap();
            assert_eq!(again.records.len(), counts[whole] + 1);
            assert_eq!(again.cut, 0);
        }
        for length in 0..HEADER {
            let torn = tempfile::tempdir().unwrap();
            std::fs::write(torn.path().join(FILE), &bytes[..length]).unwrap();
            assert!(matches!(Store::open(torn.path(), Epoch::Two), Err(DevnetError::NotOurs(_))), "{length}");
        }
    }

    #[test]
    fn zeros_behind_the_last_frame_are_cut_ok() {
        let folder = tempfile::tempdir().unwrap();
        let all = written(folder.path());
        let path = folder.path().join(FILE);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend([0; 4096]);
        std::fs::write(&path, bytes).unwrap();
        let opened = Store::open(folder.path(), Epoch::Two).unwrap();
        assert_eq!((opened.records, opened.cut), (all, 4096));
    }

    #[test]
    fn a_flipped_bit_in_the_middle_fails_and_leaves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let all = written(folder.path());
        let path = folder.path().join(FILE);
        let bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - (FRAME_HEAD + SUM + 33);
        for at in HEADER..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            std::fs::write(&path, &bad).unwrap();
            match Store::open(folder.path(), Epoch::Two) {
                Err(DevnetError::Damaged { .. }) => {
                    assert!(at < last, "byte {at}");
                    assert_eq!(std::fs::read(&path).unwrap(), bad);
                }
                // The last frame alone cannot be told from a torn one.
                Ok(opened) => {
                    assert!(at >= last, "byte {at}");
                    assert_eq!(opened.records, all[..3]);
                }
                Err(e) => panic!("byte {at}: {e}"),
            }
        }
    }

    #[test]
    fn a_second_process_or_another_epoch_fails() {
        let folder = tempfile::tempdir().unwrap();
        let first = Store::open(folder.path(), Epoch::Two).unwrap();
        assert!(matches!(Store::open(folder.path(), Epoch::Two), Err(DevnetError::Locked(_))));
        drop(first);
        let other = Store::open(folder.path(), Epoch::One);
        assert!(matches!(other, Err(DevnetError::GenesisEpoch { found: 2, asked: 1 })));
    }
}
