//! Proof of work: checking it, and (feature `work`) solving it.

#[cfg(feature = "node")]
mod cache;
mod error;
#[cfg(feature = "node")]
mod peers;
#[cfg(feature = "node")]
mod service;
#[cfg(feature = "work")]
mod simd;
#[cfg(feature = "work")]
mod solver;

#[cfg(feature = "node")]
pub use cache::{MemoryCache, WorkCache};
pub use error::WorkError;
#[cfg(feature = "node")]
pub use peers::{PeerRecord, WorkPeers};
#[cfg(feature = "node")]
pub use service::{Urgency, WorkService};
#[cfg(feature = "work")]
pub use simd::Path;
#[cfg(feature = "work")]
pub use solver::{Cancel, Solver};

use std::fmt;
use std::str::FromStr;

use blake2::Blake2b;
use blake2::digest::Digest;
use blake2::digest::consts::U8;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{BlockHash, HexError};

/// Proof of work: a nonce. Prints as 16 lower-case hexadecimal digits (the nonce, big-endian), reads either
/// case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Work(pub u64);

impl Work {
    /// The value that is compared with a threshold: blake2b-8 of nonce (little-endian) and root, as a
    /// little-endian number.
    pub fn value(&self, root: &BlockHash) -> u64 {
        let mut hasher = Blake2b::<U8>::new();
        hasher.update(self.0.to_le_bytes());
        hasher.update(root.0);
        u64::from_le_bytes(hasher.finalize().into())
    }

    /// Whether the value reaches the threshold.
    pub fn is_valid(&self, root: &BlockHash, threshold: u64) -> bool {
        self.value(root) >= threshold
    }

    /// The same, with the reason (8100).
    pub fn check(&self, root: &BlockHash, threshold: u64) -> Result<(), WorkError> {
        let value = self.value(root);
        if value < threshold { Err(WorkError::Invalid { value, threshold }) } else { Ok(()) }
    }
}

/// What kind of block the work is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkKind {
    /// Send or change.
    SendOrChange,
    /// Receive, open or epoch.
    ReceiveOrOpen,
    /// Any block of an account that is not upgraded to the second epoch (`account_version` 0 or 1).
    OldAccount,
}

/// The thresholds of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// For send and change.
    pub send_or_change: u64,
    /// For receive, open and epoch; also the entry check of a node.
    pub receive_or_open: u64,
    /// For every block of an account of an older epoch.
    pub old_account: u64,
}

impl Thresholds {
    /// Of the live network: 2^29 hashes for a send, 2^23 for a receive.
    pub const LIVE: Thresholds = Thresholds {
        send_or_change: 0xffff_fff8_0000_0000,
        receive_or_open: 0xffff_fe00_0000_0000,
        old_account: 0xffff_ffc0_0000_0000,
    };
    /// Of the beta network.
    pub const BETA: Thresholds = Thresholds {
        send_or_change: 0xffff_f000_0000_0000,
        receive_or_open: 0xffff_e000_0000_0000,
        old_account: 0xffff_f000_0000_0000,
    };
    /// Of the dev network: 2^10 hashes for a send, 2^4 for a receive.
    pub const DEV: Thresholds = Thresholds {
        send_or_change: 0xffc0_0000_0000_0000,
        receive_or_open: 0xf000_0000_0000_0000,
        old_account: 0xfe00_0000_0000_0000,
    };

    /// The threshold of a kind.
    pub const fn of(&self, kind: WorkKind) -> u64 {
        match kind {
            WorkKind::SendOrChange => self.send_or_change,
            WorkKind::ReceiveOrOpen => self.receive_or_open,
            WorkKind::OldAccount => self.old_account,
        }
    }

    /// What any block must reach, or a node refuses it at the door.
    pub fn entry(&self) -> u64 {
        self.receive_or_open.min(self.send_or_change).min(self.old_account)
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Work({self})")
    }
}

impl FromStr for Work {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        crate::hash::hex_bytes(text, "work").map(|b| Work(u64::from_be_bytes(b)))
    }
}

impl Serialize for Work {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Work {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}
