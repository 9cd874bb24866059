//! Errors of the types and blocks.

use zx1_coded::Coded;

use crate::{BlockHash, Raw};

/// Why a text is not an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum AmountError {
    /// The text has no characters.
    #[code(8000)]
    #[error("the amount is empty")]
    Empty,
    /// The text starts with a minus sign.
    #[code(8001)]
    #[error("the amount is negative")]
    Negative,
    /// The text starts with a plus sign.
    #[code(8002)]
    #[error("the amount starts with a plus sign")]
    Plus,
    /// The text has an exponent, such as `1e3`.
    #[code(8003)]
    #[error("the amount has an exponent")]
    Exponent,
    /// The text is a number of another base, such as `0x10`.
    #[code(8004)]
    #[error("the amount is not a decimal number")]
    Base,
    /// The text has a comma.
    #[code(8005)]
    #[error("the amount has a comma; the decimal sign is a point, and digits are not grouped")]
    Comma,
    /// The text has spaces.
    #[code(8006)]
    #[error("the amount has a space or another blank in it")]
    Blank,
    /// The text has more than one point.
    #[code(8007)]
    #[error("the amount has more than one point")]
    Points,
    /// No digits before or after the point.
    #[code(8008)]
    #[error("the amount needs digits on both sides of the point")]
    BarePoint,
    /// A zero before other digits.
    #[code(8009)]
    #[error("the amount starts with a zero that means nothing")]
    LeadingZero,
    /// More than 30 digits after the point.
    #[code(8010)]
    #[error("the amount has more than 30 decimals, so it is not a whole number of raw")]
    Decimals,
    /// A point in an amount of raw.
    #[code(8011)]
    #[error("an amount of raw is a whole number, without a point")]
    Fraction,
    /// Above 2^128 - 1 raw.
    #[code(8012)]
    #[error("the amount is above 340282366.920938463463374607431768211455 XNO, more than there can be")]
    TooLarge,
    /// It has another character.
    #[code(8013)]
    #[error("the amount has a character that is not a digit from 0 to 9")]
    Character,
    /// Zero, where something must be paid.
    #[code(8014)]
    #[error("the amount is zero")]
    Zero,
}

/// A refusal of the types, keys and blocks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum Error {
    /// An invalid amount: see [`AmountError`].
    #[code(inner)]
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// Adding two amounts passes 2^128 - 1.
    #[code(8015)]
    #[error("the sum of {0} and {1} raw is more than there can be")]
    SumTooLarge(Raw, Raw),
    /// Taking away more than there is.
    #[code(8016)]
    #[error("{1} raw cannot be taken from {0} raw")]
    NotEnough(Raw, Raw),

    /// The prefix is not `nano_` or `xrb_`.
    #[code(8020)]
    #[error("the address does not begin with nano_ or xrb_")]
    AddressPrefix,
    /// Not 60 characters after the prefix.
    #[code(8021)]
    #[error("the address has {0} characters after its prefix instead of 60")]
    AddressLength(usize),
    /// A character outside the alphabet.
    #[code(8022)]
    #[error("the address has a character that addresses do not have, at place {0}")]
    AddressCharacter(usize),
    /// First character after the prefix neither 1 nor 3.
    #[code(8023)]
    #[error("the first character after the prefix is neither 1 nor 3")]
    AddressOverflow,
    /// The checksum does not match the key.
    #[code(8024)]
    #[error("the address's checksum does not match: it was mistyped or changed")]
    AddressChecksum,

    /// A hexadecimal text of the wrong length or with another character.
    #[code(8030)]
    #[error("{what} must be {digits} hexadecimal digits")]
    Hex {
        /// Name of the value that was read.
        what: &'static str,
        /// Number of digits that it must have.
        digits: usize,
    },
    /// The 32 bytes do not encode a point of the curve.
    #[code(8031)]
    #[error("the public key {0} is not a point of the curve, so nothing can be signed with it")]
    PublicKey(crate::PublicKey),
    /// The signature does not hold.
    #[code(8032)]
    #[error("the signature does not fit the key and the hash")]
    Signature,
    /// The signature holds but is not in its one canonical form (S >= L, or a small-order key).
    #[code(8033)]
    #[error("the signature is not in its canonical form, so it does not come from this program")]
    SignatureForm,
    /// The private key does not belong to the block's account.
    #[code(8034)]
    #[error("the private key belongs to {key}, not to the block's account {account}")]
    WrongKey {
        /// The address of the key.
        key: crate::Address,
        /// The address in the block.
        account: crate::Address,
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
    Unopened(crate::Address),
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
        expected: crate::Address,
        /// The block's account.
        found: crate::Address,
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
