//! Nonces (decisions C4 and I1): one's own, kept before they are used, and those seen of every sender.
//!
//! One file of records. One's own are reserved in blocks, so that a sync serves a thousand messages and a
//! crash skips numbers instead of using one twice. The file is written anew when most of it is out of date.

use crate::error::{LogError, Result};
use crate::frames::{FrameFile, Identity, Torn};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use zx1_protocol::channel::Channel;
use zx1_protocol::ids::AgentId;
use zx1_protocol::nonce::{NonceError, ReplayWindow, SeenNonces, next_nonce};

/// Numbers that one sync reserves.
const BLOCK: u64 = 1024;
/// Out-of-date records that are not worth a new file.
const SLACK: usize = 4096;
const KIND_OWN: u8 = 1;
/// Everything up to a nonce was seen: of the direct stream, and of topics before they had windows.
const KIND_SEEN: u8 = 2;
/// The window of a topic.
const KIND_WINDOW: u8 = 3;
const NOT_A_NONCE: &str = "a record is not a nonce";

/// An own channel: `next` is free up to `reserved`, both included.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// The last one that was given out in this run.
    used: Option<u64>,
    /// The last one that is on disk as used.
    reserved: u64,
}

#[derive(Debug)]
pub(crate) struct Nonces {
    file: FrameFile,
    path: PathBuf,
    identity: Identity,
    own: HashMap<Channel, Own>,
    seen: HashMap<Line, SeenNonces>,
}

/// A sender and a channel: what nonces count for.
pub(crate) type Line = (AgentId, Channel);

/// What a record says.
enum Kept {
    Own(Channel, u64),
    Seen(Line, SeenNonces),
}

impl Nonces {
    /// Opens or makes the file. Needs the folder's lock.
    pub(crate) fn open(path: &Path, identity: Identity) -> Result<(Self, Option<Torn>)> {
        let (mut own, mut seen) = (HashMap::new(), HashMap::new());
        let (file, torn) = if path.exists() {
            FrameFile::open(path, &identity, |at, record| match decode(record) {
                Some(Kept::Own(channel, reserved)) => {
                    let last = own.entry(channel).or_insert(reserved);
                    *last = reserved.max(*last);
                    Ok(())
                }
                // Each record is all that was seen by then, so the last one holds.
                Some(Kept::Seen(line, nonces)) => {
                    seen.insert(line, nonces);
                    Ok(())
                }
                None => Err(LogError::damaged(path, at, NOT_A_NONCE)),
            })?
        } else {
            (FrameFile::create(path, &identity)?, None)
        };
        let own =
            own.into_iter().map(|(channel, reserved)| (channel, Own { used: None, reserved })).collect();
        let mut nonces = Self { file, path: path.to_owned(), identity, own, seen };
        nonces.compact()?;
        Ok((nonces, torn))
    }

    /// A number that was never given out before. It is on disk as used before it is returned.
    pub(crate) fn reserve(&mut self, channel: Channel, now_micros: u64) -> Result<u64> {
        let own = self.own.get(&channel).copied();
        if let Some(Own { used: Some(used), reserved }) = own
            && used < reserved
        {
            let next = used + 1;
            self.own.insert(channel, Own { used: Some(next), reserved });
            return Ok(next);
        }
        let next = match own {
            // Within a run they go on by one, so that a burst fits into a receiver's window (decision I1).
            Some(Own { used: Some(used), .. }) => used.checked_add(1).ok_or(NonceError::Exhausted)?,
            _ => next_nonce(own.map(|own| own.reserved), now_micros)?,
        };
        // Near the largest number there is, a shorter block.
        let reserved = next.saturating_add(BLOCK - 1);
        self.file.append([encode(&Kept::Own(channel, reserved)).as_slice()])?;
        self.own.insert(channel, Own { used: Some(next), reserved });
        self.compact()?;
        Ok(next)
    }

    /// What was seen of this sender on this channel.
    pub(crate) fn seen(&self, sender: &AgentId, channel: Channel) -> SeenNonces {
        self.seen.get(&(*sender, channel)).copied().unwrap_or_else(|| SeenNonces::none(channel))
    }

    /// Keeps nonces of messages that are in the log. Not synced: the log is, and it is read at the next open
    /// ([`Self::restore`]). [`Self::sync`] comes before the log's file is left behind.
    pub(crate) fn saw_logged(&mut self, seen: impl IntoIterator<Item = (Line, u64)>) {
        let mut lines = HashSet::new();
        for ((sender, channel), nonce) in seen {
            self.restore(&sender, channel, nonce);
            lines.insert((sender, channel));
        }
        let records = self.records(lines);
        // For the same reason a failure loses nothing; the next synced write reports it.
        let _ = self.file.append_unsynced(records.iter().map(Vec::as_slice));
        let _ = self.compact();
    }

    /// Keeps nonces of messages that no log has. On disk when it returns; after an error none is kept.
    pub(crate) fn saw_unlogged(&mut self, seen: &[(Line, u64)]) -> Result<()> {
        if seen.is_empty() {
            return Ok(());
        }
        let before: Vec<(Line, Option<SeenNonces>)> =
            seen.iter().map(|(line, _)| (*line, self.seen.get(line).copied())).collect();
        seen.iter().for_each(|((sender, channel), nonce)| self.restore(sender, *channel, *nonce));
        let records = self.records(seen.iter().map(|(line, _)| *line).collect());
        let written = self.file.append(records.iter().map(Vec::as_slice));
        if written.is_err() {
            // The first of a line's is what it was before all of them.
            for (line, old) in before.into_iter().rev() {
                match old {
                    Some(old) => self.seen.insert(line, old),
                    None => self.seen.remove(&line),
                };
            }
            return written;
        }
        self.compact()
    }

    /// The present record of each of these.
    fn records(&self, lines: HashSet<Line>) -> Vec<Vec<u8>> {
        let kept = lines.into_iter().filter_map(|line| Some(Kept::Seen(line, *self.seen.get(&line)?)));
        kept.map(|kept| encode(&kept)).collect()
    }

    /// As the log has it, which is synced where this file may not be.
    pub(crate) fn restore(&mut self, sender: &AgentId, channel: Channel, nonce: u64) {
        let seen = self.seen.entry((*sender, channel)).or_insert_with(|| SeenNonces::none(channel));
        *seen = seen.with(nonce);
    }

    /// The same for one's own: a number that the log has is used, whatever this file says.
    pub(crate) fn restore_own(&mut self, channel: Channel, nonce: u64) {
        let own = self.own.entry(channel).or_insert(Own { used: None, reserved: nonce });
        if own.reserved < nonce {
            *own = Own { used: None, reserved: nonce };
        } else if own.used.is_some_and(|used| used < nonce) {
            // Signed elsewhere, with a number of this run's block.
            own.used = Some(nonce);
        }
    }

    /// Makes all of it durable, also what was restored from the log.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.rewrite()
    }

    /// Writes the file anew once most of its records are out of date, so that it grows with the number of
    /// senders and not with that of messages.
    fn compact(&mut self) -> Result<()> {
        let live = self.own.len() + self.seen.len();
        let records = usize::try_from(self.file.count()).unwrap_or(usize::MAX);
        if records <= live.saturating_mul(2).saturating_add(SLACK) { Ok(()) } else { self.rewrite() }
    }

    fn rewrite(&mut self) -> Result<()> {
        let own = self.own.iter().map(|(channel, own)| encode(&Kept::Own(*channel, own.reserved)));
        let seen = self.seen.iter().map(|(line, seen)| encode(&Kept::Seen(*line, *seen)));
        self.file = FrameFile::create_with(&self.path, &self.identity, own.chain(seen))?;
        Ok(())
    }
}

/// kind | channel | sender 32 (only of another's) | nonce u64, or of a window its 24 bytes.
fn encode(kept: &Kept) -> Vec<u8> {
    match kept {
        Kept::Own(channel, nonce) => [[KIND_OWN, channel.number()].as_slice(), &nonce.to_be_bytes()].concat(),
        Kept::Seen((sender, channel), SeenNonces::Strict(last)) => {
            // Nothing is kept before there was a first one.
            let last = last.0.unwrap_or_default().to_be_bytes();
            [[KIND_SEEN, channel.number()].as_slice(), sender.as_ref(), &last].concat()
        }
        Kept::Seen((sender, channel), SeenNonces::Window(window)) => {
            [[KIND_WINDOW, channel.number()].as_slice(), sender.as_ref(), &window.to_bytes()].concat()
        }
    }
}

fn decode(record: &[u8]) -> Option<Kept> {
    let ([kind, channel], rest) = record.split_first_chunk::<2>()?;
    let channel = Channel::from_number(*channel)?;
    if *kind == KIND_OWN {
        return Some(Kept::Own(channel, u64::from_be_bytes(*rest.as_array()?)));
    }
    let (sender, rest) = rest.split_first_chunk::<32>()?;
    let seen = match *kind {
        KIND_SEEN => SeenNonces::up_to(channel, u64::from_be_bytes(*rest.as_array()?)),
        KIND_WINDOW => SeenNonces::Window(ReplayWindow::from_bytes(rest.as_array()?)?),
        _ => return None,
    };
    Some(Kept::Seen((AgentId(*sender), channel), seen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::nonce::LastNonce;

    fn open(path: &Path) -> Nonces {
        Nonces::open(path, crate::layout::nonces_identity(&AgentId([1; 32]))).unwrap().0
    }

    #[test]
    fn the_file_grows_with_the_senders_and_not_with_the_messages() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("nonces");
        let mut nonces = open(&path);
        for nonce in 0..50_000 {
            nonces.saw_logged([((AgentId([(nonce % 10) as u8; 32]), Channel::Direct), nonce)]);
        }
        let most = (SLACK as u64 + 100) * 60;
        assert!(std::fs::metadata(&path).unwrap().len() < most);
        nonces.sync().unwrap();
        drop(nonces);
        let nonces = open(&path);
        assert_eq!(nonces.seen(&AgentId([3; 32]), Channel::Direct).highest(), Some(49_993));
        assert!(std::fs::metadata(&path).unwrap().len() < 1_000);
    }

    #[test]
    fn a_block_is_one_record() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("nonces");
        let mut nonces = open(&path);
        for expected in 500..500 + BLOCK {
            assert_eq!(nonces.reserve(Channel::Notary, 500).unwrap(), expected);
        }
        assert_eq!(nonces.file.count(), 1);
        assert_eq!(nonces.reserve(Channel::Notary, 500).unwrap(), 500 + BLOCK);
        assert_eq!(nonces.file.count(), 2);
    }

    #[test]
    fn windows_come_back_and_older_files_count_as_seen_up_to_their_last_nonce() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("nonces");
        let mut nonces = open(&path);
        let line = (AgentId([5; 32]), Channel::Notary);
        nonces.saw_unlogged(&[(line, 900), (line, 1_000)]).unwrap();
        let old = encode(&Kept::Seen(
            (AgentId([6; 32]), Channel::Reputation),
            SeenNonces::Strict(LastNonce(Some(77))),
        ));
        nonces.file.append([old.as_slice()]).unwrap();
        drop(nonces);
        for _ in 0..2 {
            let mut nonces = open(&path);
            let seen = nonces.seen(&AgentId([5; 32]), Channel::Notary);
            assert!(!seen.accepts(900) && !seen.accepts(1_000) && seen.accepts(950) && !seen.accepts(872));
            let seen = nonces.seen(&AgentId([6; 32]), Channel::Reputation);
            assert!((0..78).all(|nonce| !seen.accepts(nonce)) && seen.accepts(78));
            nonces.sync().unwrap();
        }
    }
}
