//! Nonces (decision C4): one's own, kept before they are used, and the last one seen of every sender.
//!
//! One file of records. One's own are reserved in blocks, so that a sync serves a thousand messages and a
//! crash skips numbers instead of using one twice. The file is written anew when most of it is out of date.

use crate::error::{LogError, Result};
use crate::frames::{FrameFile, Identity, Torn};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use zx1_protocol::channel::Channel;
use zx1_protocol::nonce::{LastNonce, next_nonce};

/// Numbers that one sync reserves.
const BLOCK: u64 = 1024;
/// Out-of-date records that are not worth a new file.
const SLACK: usize = 4096;
const KIND_OWN: u8 = 1;
const KIND_SEEN: u8 = 2;
const NOT_A_NONCE: &str = "a record is not a nonce";

/// One channel of one's own: `next` is free up to `reserved`, both included.
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
    seen: HashMap<([u8; 32], Channel), u64>,
}

impl Nonces {
    /// Opens or makes the file. Needs the folder's lock.
    pub(crate) fn open(path: &Path, identity: Identity) -> Result<(Self, Option<Torn>)> {
        let (mut own, mut seen) = (HashMap::new(), HashMap::new());
        let (file, torn) = if path.exists() {
            FrameFile::open(path, &identity, |at, record| match decode(record) {
                Some((None, channel, reserved)) => {
                    raise(&mut own, channel, reserved);
                    Ok(())
                }
                Some((Some(sender), channel, nonce)) => {
                    raise(&mut seen, (sender, channel), nonce);
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
        let next = next_nonce(own.map(|own| own.reserved), now_micros)?;
        // Near the largest number there is, a shorter block.
        let reserved = next.saturating_add(BLOCK - 1);
        self.file.append([encode(None, channel, reserved).as_slice()])?;
        self.own.insert(channel, Own { used: Some(next), reserved });
        self.compact()?;
        Ok(next)
    }

    /// The last one seen of this sender on this channel.
    pub(crate) fn last(&self, sender: &[u8; 32], channel: Channel) -> LastNonce {
        LastNonce(self.seen.get(&(*sender, channel)).copied())
    }

    /// Keeps that this nonce was seen. Not synced: the log entry is, and the log is read at the next open
    /// ([`Self::restore`]). [`Self::sync`] comes before the log's file is left behind.
    pub(crate) fn saw(&mut self, sender: &[u8; 32], channel: Channel, nonce: u64) {
        self.restore(sender, channel, nonce);
        // For the same reason a failure loses nothing; the next synced write reports it.
        let _ = self.file.append_unsynced([encode(Some(sender), channel, nonce).as_slice()]);
        let _ = self.compact();
    }

    /// As the log has it, which is synced where this file may not be.
    pub(crate) fn restore(&mut self, sender: &[u8; 32], channel: Channel, nonce: u64) {
        raise(&mut self.seen, (*sender, channel), nonce);
    }

    /// The same for one's own: a number that the log has is used, whatever this file says.
    pub(crate) fn restore_own(&mut self, channel: Channel, nonce: u64) {
        let own = self.own.entry(channel).or_insert(Own { used: None, reserved: nonce });
        if own.reserved < nonce {
            *own = Own { used: None, reserved: nonce };
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
        let own = self.own.iter().map(|(channel, own)| encode(None, *channel, own.reserved));
        let seen = self.seen.iter().map(|((sender, channel), nonce)| encode(Some(sender), *channel, *nonce));
        self.file = FrameFile::create_with(&self.path, &self.identity, own.chain(seen))?;
        Ok(())
    }
}

fn raise<K: std::hash::Hash + Eq>(map: &mut HashMap<K, u64>, key: K, nonce: u64) {
    let last = map.entry(key).or_insert(nonce);
    *last = nonce.max(*last);
}

/// kind | channel | sender 32 (only of another's) | nonce u64.
fn encode(sender: Option<&[u8; 32]>, channel: Channel, nonce: u64) -> Vec<u8> {
    let kind = if sender.is_some() { KIND_SEEN } else { KIND_OWN };
    let sender = sender.map_or(&[][..], |sender| sender);
    [&[kind, channel.number()], sender, &nonce.to_be_bytes()].concat()
}

fn decode(record: &[u8]) -> Option<(Option<[u8; 32]>, Channel, u64)> {
    let ([kind, channel], rest) = record.split_first_chunk::<2>()?;
    let channel = Channel::from_number(*channel)?;
    let (sender, nonce) = match *kind {
        KIND_OWN => (None, rest),
        KIND_SEEN => rest.split_first_chunk::<32>().map(|(sender, nonce)| (Some(*sender), nonce))?,
        _ => return None,
    };
    Some((sender, channel, u64::from_be_bytes(*nonce.as_array()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Nonces {
        Nonces::open(path, crate::layout::nonces_identity(&[1; 32])).unwrap().0
    }

    #[test]
    fn the_file_grows_with_the_senders_and_not_with_the_messages() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("nonces");
        let mut nonces = open(&path);
        for nonce in 0..50_000 {
            nonces.saw(&[(nonce % 10) as u8; 32], Channel::Direct, nonce);
        }
        let most = (SLACK as u64 + 100) * 60;
        assert!(std::fs::metadata(&path).unwrap().len() < most);
        nonces.sync().unwrap();
        drop(nonces);
        let nonces = open(&path);
        assert_eq!(nonces.last(&[3; 32], Channel::Direct), LastNonce(Some(49_993)));
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
}
