//! Which SATI attestation belongs to which rating: (conversation, rater) to the hash that the batch's
//! feedback event carries (protocol.md, 8.3; decision D5).

use crate::error::{LogError, Result};
use crate::frames::{FrameFile, FrameReader, Identity, Torn, peek};
use std::collections::HashMap;
use std::path::Path;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};

type Key = (ConversationId, AgentId);
const NOT_AN_ATTESTATION: &str = "a record is not an attestation";

#[derive(Debug)]
pub(crate) struct Attestations {
    file: FrameFile,
    known: HashMap<Key, Hash>,
}

impl Attestations {
    /// Opens or makes the file. Needs the folder's lock.
    pub(crate) fn open(path: &Path, identity: &Identity) -> Result<(Self, Option<Torn>)> {
        let mut known = HashMap::new();
        let (file, torn) = if path.exists() {
            FrameFile::open(path, identity, |at, record| add(&mut known, record, path, at))?
        } else {
            (FrameFile::create(path, identity)?, None)
        };
        Ok((Self { file, known }, torn))
    }

    /// Keeps the hash, durable when it returns; a later one replaces an earlier one.
    pub(crate) fn put(&mut self, conversation: &ConversationId, rater: &AgentId, hash: Hash) -> Result<()> {
        let key = (*conversation, *rater);
        if self.known.get(&key) == Some(&hash) {
            return Ok(());
        }
        let record = [conversation.as_ref(), rater.as_ref(), &hash].concat();
        self.file.append([record.as_slice()])?;
        self.known.insert(key, hash);
        Ok(())
    }

    pub(crate) fn get(&self, conversation: &ConversationId, rater: &AgentId) -> Option<Hash> {
        self.known.get(&(*conversation, *rater)).copied()
    }
}

/// All attestations, read without the lock.
pub(crate) fn read(path: &Path, identity: &Identity) -> Result<HashMap<Key, Hash>> {
    let mut known = HashMap::new();
    if path.exists() {
        let mut records = FrameReader::open(path, identity, peek(path, identity)?)?;
        let mut count = 0;
        while records.advance()? {
            add(&mut known, records.current(), path, count)?;
            count += 1;
        }
    }
    Ok(known)
}

fn add(known: &mut HashMap<Key, Hash>, record: &[u8], path: &Path, at: u64) -> Result<()> {
    let split = || {
        let (conversation, rest) = record.split_first_chunk::<16>()?;
        let (rater, hash) = rest.split_first_chunk::<32>()?;
        Some(((ConversationId(*conversation), AgentId(*rater)), *hash.as_array()?))
    };
    let (key, hash) = split().ok_or_else(|| LogError::damaged(path, at, NOT_AN_ATTESTATION))?;
    known.insert(key, hash);
    Ok(())
}
