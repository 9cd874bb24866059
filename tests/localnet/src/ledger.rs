//! The saved ledger: a file of checked lines that is only appended to, and a small clock file.
//!
//! Every line is one block: the accounts that it changed, its header and its transactions. It is written
//! while the chain is locked, so whoever sees a transaction as confirmed sees one that is saved. What a kill
//! leaves behind is at most half a line at the end, which the next start cuts off. The clock file holds the
//! slot and the time of every block, also of the many empty ones, in two places written in turn; so a
//! restart never goes back in time.

use std::{
    collections::{BTreeMap, VecDeque},
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, BufWriter, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use sha3::{Digest, Keccak256};
use solana_account::Account;
use solana_address::Address;
use surfpool_core::{surfnet::BlockHeader, types::SurfnetTransactionStatus};

use crate::LocalnetError;

/// Format of the folder; another one is refused.
const FORMAT: u64 = 1;
/// Transactions that survive when the file is written anew.
const KEPT_TRANSACTIONS: usize = 20_000;
/// The file is written anew when it is larger than this and four times what is needed.
const COMPACT_BYTES: u64 = 32 << 20;
const RECORD: usize = 64;

/// A moment of the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moment {
    pub(crate) slot: u64,
    /// Number of blocks so far; the blockhashes follow from it.
    pub(crate) height: u64,
    /// The chain's time in Unix milliseconds.
    pub(crate) unix_ms: u64,
    /// Transactions so far.
    pub(crate) transactions: u64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u64,
    /// Genesis hash, hex: what tells one ledger from another.
    genesis: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedAccount {
    lamports: u64,
    owner: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    executable: bool,
    #[serde(default)]
    rent_epoch: u64,
    data: String,
}

/// One line: what one block changed.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Frame {
    at: Moment,
    /// None is a closed account.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    accounts: BTreeMap<String, Option<SavedAccount>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    block: Option<(u64, BlockHeader)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    transactions: Vec<(String, SurfnetTransactionStatus)>,
}

impl Frame {
    pub(crate) fn at(at: Moment) -> Self {
        Self { at, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.block.is_none() && self.transactions.is_empty()
    }

    pub(crate) fn account(&mut self, address: &Address, account: Option<&Account>) {
        let saved = account.map(|account| SavedAccount {
            lamports: account.lamports,
            owner: account.owner.to_string(),
            executable: account.executable,
            rent_epoch: account.rent_epoch,
            data: STANDARD.encode(&account.data),
        });
        self.accounts.insert(address.to_string(), saved);
    }

    pub(crate) fn block(&mut self, slot: u64, header: BlockHeader) {
        self.block = Some((slot, header));
    }

    pub(crate) fn transaction(&mut self, signature: String, status: SurfnetTransactionStatus) {
        self.transactions.push((signature, status));
    }
}

/// What a file says in the end.
#[derive(Default)]
pub(crate) struct Saved {
    pub(crate) genesis: [u8; 32],
    pub(crate) at: Moment,
    accounts: BTreeMap<String, SavedAccount>,
    pub(crate) blocks: BTreeMap<u64, BlockHeader>,
    pub(crate) transactions: VecDeque<(String, SurfnetTransactionStatus)>,
}

impl Saved {
    fn apply(&mut self, frame: Frame) {
        self.at = frame.at;
        for (address, account) in frame.accounts {
            match account {
                Some(account) => self.accounts.insert(address, account),
                None => self.accounts.remove(&address),
            };
        }
        self.blocks.extend(frame.block);
        self.transactions.extend(frame.transactions);
    }

    /// Forgets the oldest transactions beyond [`KEPT_TRANSACTIONS`], and the blocks that held only those.
    fn shorten(&mut self) {
        let Some(excess) = self.transactions.len().checked_sub(KEPT_TRANSACTIONS).filter(|n| *n > 0) else {
            return;
        };
        self.transactions.drain(..excess);
        let oldest = self.transactions.iter().find_map(|(_, status)| match status {
            SurfnetTransactionStatus::Processed(data) => Some(data.0.slot),
            SurfnetTransactionStatus::Received => None,
        });
        if let Some(oldest) = oldest {
            self.blocks = self.blocks.split_off(&oldest);
        }
    }

    /// The accounts, decoded. An account that cannot be decoded is damage that no checksum showed.
    pub(crate) fn accounts(&self, path: &Path) -> Result<Vec<(Address, Account)>, LocalnetError> {
        let decode = |address: &String, saved: &SavedAccount| {
            Some((
                address.parse().ok()?,
                Account {
                    lamports: saved.lamports,
                    data: STANDARD.decode(&saved.data).ok()?,
                    owner: saved.owner.parse().ok()?,
                    executable: saved.executable,
                    rent_epoch: saved.rent_epoch,
                },
            ))
        };
        self.accounts
            .iter()
            .map(|(address, saved)| {
                decode(address, saved)
                    .ok_or_else(|| LocalnetError::LedgerDamaged { path: path.to_path_buf(), line: 0 })
            })
            .collect()
    }
}

/// The open files.
pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
    /// Bytes of the file now, and right after it was last written anew.
    length: u64,
    compact_length: u64,
    clock: File,
    clock_sequence: u64,
}

impl Ledger {
    /// Opens what is saved; None where there is nothing yet. The second value is what a crash cut off: bytes
    /// of an unfinished line.
    pub(crate) fn open(state: &Path) -> Result<Option<(Self, Saved, u64)>, LocalnetError> {
        let path = state.join("ledger");
        let io = |why| LocalnetError::io(&path, why);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let total = file.metadata().map_err(io)?.len();
        let (mut saved, good) = read(&file, &path, state)?;
        if good < total {
            file.set_len(good).map_err(io)?;
        }
        let mut ledger = Self {
            file: OpenOptions::new().append(true).open(&path).map_err(io)?,
            clock: clock_file(state)?,
            clock_sequence: 0,
            length: good,
            compact_length: good,
            path,
        };
        if let Some((sequence, moment)) = ledger.read_clock() {
            ledger.clock_sequence = sequence;
            // Empty blocks are in the clock file alone.
            if moment.slot >= saved.at.slot {
                saved.at = moment;
            }
        }
        if ledger.length > COMPACT_BYTES || saved.transactions.len() > 2 * KEPT_TRANSACTIONS {
            saved.shorten();
            ledger.rewrite(&saved)?;
        }
        Ok(Some((ledger, saved, total.saturating_sub(good))))
    }

    /// Begins a ledger with its first block. A crash leaves either none or a whole one.
    pub(crate) fn create(state: &Path, genesis: [u8; 32], first: Frame) -> Result<Self, LocalnetError> {
        let path = state.join("ledger");
        let _ = fs::remove_file(state.join("clock"));
        let mut saved = Saved { genesis, ..Saved::default() };
        saved.apply(first);
        let length = write_new(&path, &saved)?;
        let mut ledger = Self {
            file: OpenOptions::new().append(true).open(&path).map_err(|why| LocalnetError::io(&path, why))?,
            clock: clock_file(state)?,
            clock_sequence: 0,
            length,
            compact_length: length,
            path,
        };
        ledger.tick(saved.at)?;
        Ok(ledger)
    }

    /// Appends a block.
    pub(crate) fn append(&mut self, frame: &Frame) -> Result<(), LocalnetError> {
        let line = line(frame, &self.path)?;
        self.file.write_all(line.as_bytes()).map_err(|why| LocalnetError::io(&self.path, why))?;
        self.length = self.length.saturating_add(line.len() as u64);
        self.tick(frame.at)
    }

    /// Notes the moment of a block, empty or not.
    pub(crate) fn tick(&mut self, at: Moment) -> Result<(), LocalnetError> {
        self.clock_sequence = self.clock_sequence.wrapping_add(1);
        let mut record = [0; RECORD];
        let fields = [self.clock_sequence, at.slot, at.height, at.unix_ms, at.transactions];
        for (place, field) in record.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let sum = checksum(&record[..RECORD - 8]);
        record[RECORD - 8..].copy_from_slice(&sum);
        let at = (self.clock_sequence % 2) * RECORD as u64;
        self.clock
            .write_all_at(&record, at)
            .map_err(|why| LocalnetError::io(self.path.with_file_name("clock"), why))
    }

    /// Writes the file anew when it has grown much beyond what is needed.
    pub(crate) fn compact(&mut self) -> Result<(), LocalnetError> {
        if self.length <= COMPACT_BYTES.max(self.compact_length.saturating_mul(4)) {
            return Ok(());
        }
        let file = File::open(&self.path).map_err(|why| LocalnetError::io(&self.path, why))?;
        let state = self.path.parent().unwrap_or(Path::new("."));
        let (mut saved, _) = read(&file, &self.path, state)?;
        saved.shorten();
        self.rewrite(&saved)
    }

    /// Puts everything on the disk itself, for the orderly end.
    pub(crate) fn sync(&self) {
        let _ = self.file.sync_all();
        let _ = self.clock.sync_all();
    }

    fn rewrite(&mut self, saved: &Saved) -> Result<(), LocalnetError> {
        self.length = write_new(&self.path, saved)?;
        self.compact_length = self.length;
        self.file = OpenOptions::new()
            .append(true)
            .open(&self.path)
            .map_err(|why| LocalnetError::io(&self.path, why))?;
        Ok(())
    }

    /// The newer of the two records that are whole.
    fn read_clock(&self) -> Option<(u64, Moment)> {
        (0..2u64)
            .filter_map(|place| {
                let mut record = [0; RECORD];
                self.clock.read_exact_at(&mut record, place * RECORD as u64).ok()?;
                let (fields, sum) = record.split_last_chunk::<8>()?;
                (checksum(fields) == *sum).then_some(())?;
                let mut fields =
                    fields.chunks_exact(8).filter_map(|field| field.try_into().ok().map(u64::from_le_bytes));
                let sequence = fields.next()?;
                let (slot, height) = (fields.next()?, fields.next()?);
                let (unix_ms, transactions) = (fields.next()?, fields.next()?);
                Some((sequence, Moment { slot, height, unix_ms, transactions }))
            })
            .max_by_key(|(sequence, _)| *sequence)
    }
}

fn clock_file(state: &Path) -> Result<File, LocalnetError> {
    let path = state.join("clock");
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|why| LocalnetError::io(path, why))
}

/// Reads all whole lines; returns where they end. A line that does not fit its checksum is the torn end if
/// nothing follows it, and damage otherwise.
fn read(file: &File, path: &Path, state: &Path) -> Result<(Saved, u64), LocalnetError> {
    let io = |why| LocalnetError::io(path, why);
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut text = Vec::new();
    let mut saved = Saved::default();
    let mut good = 0u64;
    for number in 1.. {
        text.clear();
        let length = reader.read_until(b'\n', &mut text).map_err(io)?;
        if length == 0 {
            break;
        }
        let damaged = || LocalnetError::LedgerDamaged { path: path.to_path_buf(), line: number };
        let Some(body) = body(&text) else {
            let is_last = reader.fill_buf().map_err(io)?.is_empty();
            // The first line came into being together with the file, so it is never torn.
            if is_last && number > 1 {
                break;
            }
            return Err(damaged());
        };
        if number == 1 {
            let header: Header = serde_json::from_slice(body).map_err(|_| damaged())?;
            hex::decode_to_slice(&header.genesis, &mut saved.genesis).map_err(|_| damaged())?;
            if header.format != FORMAT {
                let folder = state.to_path_buf();
                return Err(LocalnetError::OtherFormat { folder, found: header.format, known: FORMAT });
            }
        } else {
            saved.apply(serde_json::from_slice(body).map_err(|_| damaged())?);
        }
        good = good.saturating_add(length as u64);
    }
    Ok((saved, good))
}

/// The JSON of a line whose checksum is right.
fn body(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n")?;
    let (sum, rest) = line.split_at_checked(16)?;
    let body = rest.strip_prefix(b" ")?;
    (hex::encode(checksum(body)).as_bytes() == sum).then_some(body)
}

fn line(value: &impl Serialize, path: &Path) -> Result<String, LocalnetError> {
    let body = serde_json::to_string(value).map_err(|why| LocalnetError::io(path, why))?;
    Ok(format!("{} {body}\n", hex::encode(checksum(body.as_bytes()))))
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut sum = [0; 8];
    sum.copy_from_slice(&Keccak256::digest(bytes)[..8]);
    sum
}

/// Writes a whole file beside the old one, then puts it in its place. Returns its length.
fn write_new(path: &Path, saved: &Saved) -> Result<u64, LocalnetError> {
    let draft = path.with_extension("new");
    let io = |why| LocalnetError::io(path, why);
    let mut out = BufWriter::new(File::create(&draft).map_err(io)?);
    let mut write = |text: String| out.write_all(text.as_bytes()).map(|()| text.len() as u64);
    let mut length =
        write(line(&Header { format: FORMAT, genesis: hex::encode(saved.genesis) }, path)?).map_err(io)?;
    let mut frame = Frame::at(saved.at);
    frame.accounts = saved.accounts.iter().map(|(a, b)| (a.clone(), Some(b.clone()))).collect();
    length += write(line(&frame, path)?).map_err(io)?;
    for block in &saved.blocks {
        let block = Frame { at: saved.at, block: Some((*block.0, block.1.clone())), ..Frame::default() };
        length += write(line(&block, path)?).map_err(io)?;
    }
    for transaction in &saved.transactions {
        let frame = Frame { at: saved.at, transactions: vec![transaction.clone()], ..Frame::default() };
        length += write(line(&frame, path)?).map_err(io)?;
    }
    let file = out.into_inner().map_err(|error| io(error.into_error()))?;
    file.sync_all().map_err(io)?;
    fs::rename(&draft, path).map_err(io)?;
    Ok(length)
}
