//! A state block without signature and work: what its hash covers.

use std::fmt;
use std::str::FromStr;

use crate::{Address, BlockHash, Error, PublicKey, Raw, WorkKind, blake2b_256};

/// What stands before a state block's fields in its hash: 31 zero bytes and the block type 6.
const PREAMBLE: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[31] = 6;
    bytes
};

const fn padded(text: &[u8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < text.len() {
        bytes[i] = text[i];
        i += 1;
    }
    bytes
}

/// The link of a block of the first epoch.
pub const EPOCH_1_LINK: [u8; 32] = padded(b"epoch v1 block");
/// The link of a block of the second epoch.
pub const EPOCH_2_LINK: [u8; 32] = padded(b"epoch v2 block");

/// What a block does. It is not part of the block: it follows from the balance before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subtype {
    /// The first block of an account, a receive.
    Open,
    /// Lowers the balance; the link is the receiver's key.
    Send,
    /// Raises the balance; the link is the hash of the send.
    Receive,
    /// Leaves the balance, changes the representative.
    Change,
    /// Appended by the network itself; see [`EPOCH_2_LINK`].
    Epoch,
}

impl Subtype {
    /// As `process` takes it: `open`, `send`, `receive`, `change`, `epoch`.
    pub const fn name(self) -> &'static str {
        match self {
            Subtype::Open => "open",
            Subtype::Send => "send",
            Subtype::Receive => "receive",
            Subtype::Change => "change",
            Subtype::Epoch => "epoch",
        }
    }

    /// The kind of work that a block of this subtype needs.
    pub const fn work_kind(self) -> WorkKind {
        match self {
            Subtype::Send | Subtype::Change => WorkKind::SendOrChange,
            Subtype::Open | Subtype::Receive | Subtype::Epoch => WorkKind::ReceiveOrOpen,
        }
    }
}

impl fmt::Display for Subtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Subtype {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Subtype::Open, Subtype::Send, Subtype::Receive, Subtype::Change, Subtype::Epoch]
            .into_iter()
            .find(|s| s.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| Error::BlockJson(format!("{text:?} is not a subtype of a block")))
    }
}

/// A state block as its hash covers it. Neither signature nor work is in here: see [`SignedBlock`].
///
/// Build it with [`Head`](crate::Head), which refuses what burns money by accident. The fields are public for
/// readers of other people's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateBlock {
    /// The account whose chain the block belongs to.
    pub account: PublicKey,
    /// The block before it; zero for an account's first.
    pub previous: BlockHash,
    /// Representative that votes with the account's balance.
    pub representative: PublicKey,
    /// Balance of the account after the block, in raw.
    pub balance: Raw,
    /// Send: the receiver's key. Receive and open: the hash of the send. Change: zero.
    pub link: [u8; 32],
}

impl StateBlock {
    /// The 144 bytes that are hashed after the preamble, also the beginning of the wire form.
    pub fn to_bytes(&self) -> [u8; 144] {
        let mut out = [0; 144];
        out[..32].copy_from_slice(&self.account.0);
        out[32..64].copy_from_slice(&self.previous.0);
        out[64..96].copy_from_slice(&self.representative.0);
        out[96..112].copy_from_slice(&self.balance.to_be_bytes());
        out[112..].copy_from_slice(&self.link);
        out
    }

    /// The reverse of [`to_bytes`](Self::to_bytes). Any bytes are some block.
    pub fn from_bytes(bytes: &[u8; 144]) -> StateBlock {
        fn part<const N: usize>(bytes: &[u8; 144], at: usize) -> [u8; N] {
            let mut out = [0; N];
            out.copy_from_slice(&bytes[at..at + N]);
            out
        }
        StateBlock {
            account: PublicKey(part(bytes, 0)),
            previous: BlockHash(part(bytes, 32)),
            representative: PublicKey(part(bytes, 64)),
            balance: Raw::from_be_bytes(part(bytes, 96)),
            link: part(bytes, 112),
        }
    }

    /// The block's hash.
    pub fn hash(&self) -> BlockHash {
        BlockHash(blake2b_256(&[&PREAMBLE, &self.to_bytes()]))
    }

    /// What the work is made for: the previous block, or the account's key when there is none.
    pub fn root(&self) -> BlockHash {
        if self.previous.is_zero() { BlockHash::from(self.account) } else { self.previous }
    }

    /// The link as the address of a receiver.
    pub fn link_address(&self) -> Address {
        Address::from(PublicKey(self.link))
    }

    /// The link as the hash of a send.
    pub fn link_hash(&self) -> BlockHash {
        BlockHash(self.link)
    }

    /// Whether the link is that of an epoch block.
    pub fn is_epoch_link(&self) -> bool {
        self.link == EPOCH_1_LINK || self.link == EPOCH_2_LINK
    }

    /// What the block does, given the balance before it. The same rule as a node's.
    pub fn subtype(&self, balance_before: Raw) -> Subtype {
        if self.balance < balance_before {
            Subtype::Send
        } else if self.balance == balance_before && self.is_epoch_link() {
            // An epoch block leaves the balance as it is, also when it opens the account.
            Subtype::Epoch
        } else if self.previous.is_zero() {
            Subtype::Open
        } else if self.balance == balance_before && self.link == [0; 32] {
            Subtype::Change
        } else {
            Subtype::Receive
        }
    }
}
