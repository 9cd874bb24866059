//! Errors of the types and blocks.

use zx1_coded::Coded;

use crate::{Address, AddressError, AmountError, BlockHash, HexError, KeyError, Raw};

/// A refusal of the types, keys and blocks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Error {
    /// An invalid amount.
    #[code(inner)]
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// An invalid address.
    #[code(inner)]
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Invalid hexadecimal digits.
    #[code(inner)]
    #[error(transparent)]
    Hex(#[from] HexError),
    /// A key or a signature that does not hold.
    #[code(inner)]
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The private key does not belong to the block's account.
    #[code(8034)]
    #[error("the private key belongs to {key}, not to the block's account {account}")]
    WrongKey {
        /// The address of the key.
        key: Address,
        /// The address in the block.
        account: Address,
    },

    /// A send of zero raw, which the ledger does not have.
    #[code(8040)]
    #[error("a send of zero raw does not exist on Nano")]
    ZeroSend,
    /// A send to the all-zero account.
    #[code(8041)]
    #[error("a send to the burn account destroys the money for ever")]
    Burn,
    /// A send from an account without blocks.
    #[code(8042)]
    #[error("the account {0} has no blocks yet, so it cannot send or change")]
    Unopened(Address),
    /// A receive of zero raw, which the ledger does not have.
    #[code(8043)]
    #[error("a receive of zero raw does not exist on Nano")]
    ZeroReceive,
    /// A receive without a source.
    #[code(8044)]
    #[error("a receive needs the hash of the send that it takes up")]
    NoSource,
    /// The representative is the all-zero account.
    #[code(8045)]
    #[error("the representative is the all-zero account, so the balance would have no vote")]
    NoRepresentative,
    /// A change that would move money.
    #[code(8046)]
    #[error("a change must leave the balance as it is: it goes from {before} to {after} raw")]
    ChangeMovesMoney {
        /// Balance before the block, in raw.
        before: Raw,
        /// Balance in the block.
        after: Raw,
    },
    /// A change to the representative that the account has.
    #[code(8047)]
    #[error("the account has this representative already")]
    SameRepresentative,
    /// A receive whose balance rises by another amount than the source's.
    #[code(8048)]
    #[error("the balance must rise by {expected} raw, from {before}, but the block says {after}")]
    WrongDelta {
        /// The amount of the source.
        expected: Raw,
        /// Balance before the block, in raw.
        before: Raw,
        /// Balance in the block.
        after: Raw,
    },
    /// The block does not follow the head.
    #[code(8049)]
    #[error("the block follows {found}, but the account's last block is {expected}")]
    NotNext {
        /// Hash of the account's last block.
        expected: BlockHash,
        /// The block's previous.
        found: BlockHash,
    },
    /// The block is of another account.
    #[code(8050)]
    #[error("the block belongs to {found}, not to {expected}")]
    OtherAccount {
        /// The head's account.
        expected: Address,
        /// The block's account.
        found: Address,
    },
    /// The balance is unchanged but the link is not zero.
    #[code(8051)]
    #[error("a block that leaves the balance as it is must have a zero link")]
    LinkOnChange,
    /// Block JSON that cannot be read.
    #[code(8060)]
    #[error("the block's JSON cannot be read: {0}")]
    BlockJson(String),
    /// `link` and `link_as_account` differ.
    #[code(8061)]
    #[error("the block's link and link_as_account name different keys")]
    LinkMismatch,
    /// Not 216 bytes, or bytes that are not a block.
    #[code(8062)]
    #[error("a state block on the wire is 216 bytes, not {0}")]
    BlockLength(usize),
    /// A block that goes out must carry work.
    #[code(8063)]
    #[error("the block {0} has no proof of work yet")]
    NoWork(BlockHash),
    /// Not the name of a network.
    #[code(8070)]
    #[error("{0:?} is not a Nano network; the names are live, beta, dev and test")]
    NetworkName(String),
}
