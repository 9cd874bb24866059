//! What the ledger holds.

use nano_escrow::block::{EPOCH_1_LINK, EPOCH_2_LINK};
use nano_escrow::{BlockHash, PublicKey, Raw, Signature, SignedBlock, Work, blake2b_256};

/// The version of an account, of a receivable, or of an epoch block: 0, 1 or 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Epoch {
    /// Before any epoch block.
    #[default]
    Zero = 0,
    /// After "epoch v1 block".
    One = 1,
    /// After "epoch v2 block"; the present one of the live network.
    Two = 2,
}

impl Epoch {
    /// As a number: `account_version` of a node.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Of a number, if it is one of the three.
    pub const fn from_number(number: u8) -> Option<Epoch> {
        match number {
            0 => Some(Epoch::Zero),
            1 => Some(Epoch::One),
            2 => Some(Epoch::Two),
            _ => None,
        }
    }

    /// The one after it.
    pub const fn next(self) -> Option<Epoch> {
        Epoch::from_number(self.number() + 1)
    }

    /// Of an epoch block's link.
    pub fn of_link(link: &[u8; 32]) -> Option<Epoch> {
        match link {
            l if *l == EPOCH_1_LINK => Some(Epoch::One),
            l if *l == EPOCH_2_LINK => Some(Epoch::Two),
            _ => None,
        }
    }

    /// The link of its epoch block.
    pub const fn link(self) -> Option<[u8; 32]> {
        match self {
            Epoch::Zero => None,
            Epoch::One => Some(EPOCH_1_LINK),
            Epoch::Two => Some(EPOCH_2_LINK),
        }
    }
}

/// The first block of all. It is of the old kind "open", which no client of this crate builds or reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Genesis {
    /// Its own key, in place of the send that an open block names.
    pub source: BlockHash,
    /// Who votes with it.
    pub representative: PublicKey,
    /// Account that signed it.
    pub account: PublicKey,
    /// Of its account over its hash.
    pub signature: Signature,
    /// Proof of work for the account's key.
    pub work: Work,
}

impl Genesis {
    /// blake2b-256(source | representative | account), the hash of an old open block.
    pub fn hash(&self) -> BlockHash {
        BlockHash(blake2b_256(&[&self.source.0, &self.representative.0, &self.account.0]))
    }
}

/// A block of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// The genesis block.
    Genesis(Genesis),
    /// Every other one.
    State(SignedBlock),
}

impl Block {
    /// Hash of the block.
    pub fn hash(&self) -> BlockHash {
        match self {
            Block::Genesis(g) => g.hash(),
            Block::State(s) => s.hash(),
        }
    }

    /// The block before it, zero for an account's first.
    pub fn previous(&self) -> BlockHash {
        match self {
            Block::Genesis(_) => BlockHash::ZERO,
            Block::State(s) => s.block.previous,
        }
    }

    /// Who votes from this block on.
    pub fn representative(&self) -> PublicKey {
        match self {
            Block::Genesis(g) => g.representative,
            Block::State(s) => s.block.representative,
        }
    }

    /// The state block, unless it is genesis.
    pub fn state(&self) -> Option<&SignedBlock> {
        match self {
            Block::Genesis(_) => None,
            Block::State(s) => Some(s),
        }
    }
}

/// What a block did. `Receive` with a zero previous is what [`Kind::name`] calls "receive" too: so do nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Lowered the balance.
    Send,
    /// Raised the balance; also an account's first block.
    Receive,
    /// Changed the representative, or nothing at all.
    Change,
    /// Raised the account's version.
    Epoch,
}

impl Kind {
    /// `subtype` of a node's `block_info`. A node says "receive" of an open block.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Send => "send",
            Kind::Receive => "receive",
            Kind::Change => "change",
            Kind::Epoch => "epoch",
        }
    }
}

/// A block and what the ledger knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The block itself.
    pub block: Block,
    /// Account that the block belongs to.
    pub account: PublicKey,
    /// What it did.
    pub kind: Kind,
    /// By how much it changed the balance.
    pub amount: Raw,
    /// The balance after it.
    pub balance: Raw,
    /// Place in the chain, from 1.
    pub height: u64,
    /// The account's version after it.
    pub epoch: Epoch,
    /// The block after it, zero for the head.
    pub successor: BlockHash,
    /// Whether it is final.
    pub confirmed: bool,
    /// Seconds since 1970 when this ledger saw it.
    pub timestamp: u64,
}

impl Entry {
    /// Receiver of a send.
    pub fn destination(&self) -> Option<PublicKey> {
        match (self.kind, self.block.state()) {
            (Kind::Send, Some(s)) => Some(PublicKey(s.block.link)),
            _ => None,
        }
    }

    /// The send that a receive took up.
    pub fn source(&self) -> Option<BlockHash> {
        match (self.kind, self.block.state()) {
            (Kind::Receive, Some(s)) => Some(s.block.link_hash()),
            _ => None,
        }
    }
}

/// An account that has blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// The last block.
    pub head: BlockHash,
    /// The first block.
    pub open_block: BlockHash,
    /// The last block that set the representative (every state block does).
    pub representative_block: BlockHash,
    /// Who votes with the balance.
    pub representative: PublicKey,
    /// The balance after the last block.
    pub balance: Raw,
    /// How many blocks.
    pub block_count: u64,
    /// Epoch that the source had.
    pub epoch: Epoch,
    /// When the last block came, seconds since 1970.
    pub modified: u64,
    /// How many blocks are confirmed.
    pub confirmed_height: u64,
    /// The last confirmed block, zero when none is.
    pub confirmed_frontier: BlockHash,
}

/// A send that is not received yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receivable {
    /// Amount in raw.
    pub amount: Raw,
    /// Who sent it.
    pub source: PublicKey,
    /// The sender's version: the receiver gets at least this one.
    pub epoch: Epoch,
}
