//! The signed chain of a contract: entries, their data, and the links between them.

mod data;
mod entry;
mod kind;
mod server_data;

pub use self::data::{Common, Data};
pub use self::entry::{Entry, SignatureForm};
pub use self::kind::{Author, EntryType};
pub use self::server_data::{
    Absence, AbsenceCause, CloseReason, DepositData, DisputeMetadata, JudgeSignature, ReexecutionData,
    RulingData,
};
pub use crate::head::{GENESIS, Head};
pub use crate::parties::Side;
use crate::{Reason, Refusal, Result};

/// Check that `entry` is the next one after `head`, and what the head is behind it. A conflict is
/// [`Reason::ChainConflict`] with the present head, so that the author can sign anew (fix.md, "Transcript").
pub fn follows(head: Head, entry: &Entry) -> Result<Head> {
    if entry.seq() != head.seq || *entry.prev_hash() != head.hash {
        return Err(Refusal::conflict(head));
    }
    Ok(Head { seq: head.seq + 1, hash: entry.hash() })
}

/// A list of entries that was verified: every signature holds, and each entry hangs on the one before.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    entries: Vec<Entry>,
    head: Head,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { entries: Vec::new(), head: Head::GENESIS }
    }
}

impl Chain {
    /// Verify a list of entries. The refusal names the first entry that does not hold.
    pub fn verify(entries: Vec<Entry>, form: SignatureForm) -> Result<Chain> {
        let mut chain = Chain::default();
        for entry in entries {
            let seq = chain.head.seq;
            chain.append(entry, form).map_err(|refusal| match refusal.reason() {
                // Nobody can sign a past entry anew.
                Reason::ChainConflict => Refusal::with(Reason::ChainBroken, seq),
                _ => refusal,
            })?;
        }
        Ok(chain)
    }

    /// Add an entry: 9050 (chain_conflict, with head and seq) when it is not the next one, 9044 when its
    /// signature does not hold.
    pub fn append(&mut self, entry: Entry, form: SignatureForm) -> Result<Head> {
        let head = follows(self.head, &entry)?;
        entry.verify(form)?;
        self.entries.push(entry);
        self.head = head;
        Ok(head)
    }

    /// Hash and sequence number that the next entry must carry.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
