//! The audit log: every move of a ref, each entry with the hash of all before it.
//!
//! A line is 64 hexadecimal digits, a space, and a JSON object. The digits are
//! SHA-256(`zx1/capsule/audit/v1` ‖ hash of the line before, 32 bytes ‖ the JSON's bytes); before the first line the
//! hash is zero. So nothing in the middle can be changed, added or left out. A chain alone does not show that its end
//! was cut off: who needs that keeps the last hash elsewhere.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{CapsuleError, Result};

const DOMAIN: &[u8] = b"zx1/capsule/audit/v1";

/// What happened to a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The ref moves. Written before anybody can see it.
    Update,
    /// The update before did not happen.
    Undone,
    /// A person cleared the stop.
    Cleared,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Counts from 0.
    pub seq: u64,
    /// Unix time, milliseconds.
    pub at_ms: u64,
    /// Who: `agent/<generation>`, `person`, `broker`.
    pub who: String,
    /// The repository's name.
    pub repository: String,
    /// What happened to a ref.
    pub event: Event,
    /// The ref's whole name.
    pub name: String,
    /// What it pointed to; zeros when it is new.
    pub old: String,
    /// What it points to; zeros when it is gone.
    pub new: String,
}

/// The end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Number of the next entry.
    pub next: u64,
    /// Hash of the last line.
    pub hash: [u8; 32],
}

impl Head {
    /// The line of the next entry, with its end; its `seq` is set. Advances the head.
    #[must_use]
    pub fn append(&mut self, mut entry: Entry) -> String {
        entry.seq = self.next;
        // A struct of numbers and strings always has a JSON form.
        let body = serde_json::to_string(&entry).unwrap_or_default();
        self.hash = link(&self.hash, body.as_bytes());
        self.next = self.next.saturating_add(1);
        format!("{} {body}\n", hex::encode(self.hash))
    }
}

fn link(before: &[u8; 32], body: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(DOMAIN).chain_update(before).chain_update(body).finalize().into()
}

/// A log that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Entries in their order.
    pub entries: Vec<Entry>,
    /// Where the chain ends.
    pub head: Head,
    /// Bytes that belong to whole lines. What follows is the beginning of a line that a crash tore.
    pub whole: usize,
}

/// Checks a whole log.
///
/// # Errors
/// 7940 with the number of the first line that does not fit. A last line without its end is not an error.
pub fn check(log: &[u8]) -> Result<Checked> {
    let whole = log.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at.saturating_add(1));
    let mut checked = Checked { entries: Vec::new(), head: Head::default(), whole };
    let lines = log.get(..whole).unwrap_or_default().split_inclusive(|&byte| byte == b'\n');
    for (number, line) in (1u64..).zip(lines) {
        let broken = |why| CapsuleError::AuditBroken { line: number, why };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (digits, rest) = line.split_at_checked(64).ok_or(broken("it is too short"))?;
        let body = rest.strip_prefix(b" ").ok_or(broken("it has no space after the hash"))?;
        let hash = link(&checked.head.hash, body);
        if hex::encode(hash).as_bytes() != digits {
            return Err(broken("its hash does not follow from the lines before"));
        }
        let entry: Entry = serde_json::from_slice(body).map_err(|_| broken("it is not an entry"))?;
        if entry.seq != checked.head.next {
            return Err(broken("its number is not the next"));
        }
        checked.head = Head { next: entry.seq.saturating_add(1), hash };
        checked.entries.push(entry);
    }
    Ok(checked)
}
