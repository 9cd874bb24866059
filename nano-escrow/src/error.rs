//! Errors of the types and blocks: numbers 8000 to 8099.
//!
//! Number ranges of the crate: 8000-8099 types and blocks, 8100-8149 work, 8200-8299 node, 8300-8349 binding,
//! 8400-8449 commands, 8500-8599 embedded ledger, 8600-8899 journal, escrow, wallet.

use crate::{BlockHash, Raw};

/// What every error of this crate offers: a stable number and what to do next.
pub trait Coded: std::error::Error {
    /// The stable number, 8000 to 8999. A number is never used again for something else.
    fn code(&self) -> u16;

    /// What the reader can do about it, one sentence.
    fn next(&self) -> &str;
}

/// Why a text is not an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// The text has no characters.
    #[error("the amount is empty")]
    Empty,
    /// The text starts with a minus sign.
    #[error("the amount is negative")]
    Negative,
    /// The text starts with a plus sign.
    #[error("the amount starts with a plus sign")]
    Plus,
    /// The text has an exponent, such as `1e3`.
    #[error("the amount has an exponent")]
    Exponent,
    /// The text is a number of another base, such as `0x10`.
    #[error("the amount is not a decimal number")]
    Base,
    /// The text has a comma.
    #[error("the amount has a comma; the decimal sign is a point, and digits are not grouped")]
    Comma,
    /// The text has spaces.
    #[error("the amount has a space or another blank in it")]
    Blank,
    /// The text has more than one point.
    #[error("the amount has more than one point")]
    Points,
    /// No digits before or after the point.
    #[error("the amount needs digits on both sides of the point")]
    BarePoint,
    /// A zero before other digits.
    #[error("the amount starts with a zero that means nothing")]
    LeadingZero,
    /// More than 30 digits after the point.
    #[error("the amount has more than 30 decimals, so it is not a whole number of raw")]
    Decimals,
    /// A point in an amount of raw.
    #[error("an amount of raw is a whole number, without a point")]
    Fraction,
    /// Above 2^128 - 1 raw.
    #[error("the amount is above 340282366.920938463463374607431768211455 XNO, more than there can be")]
    TooLarge,
    /// It has another character.
    #[error("the amount has a character that is not a digit from 0 to 9")]
    Character,
    /// Zero, where something must be paid.
    #[error("the amount is zero")]
    Zero,
}

impl Coded for AmountError {
    fn code(&self) -> u16 {
        match self {
            AmountError::Empty => 8000,
            AmountError::Negative => 8001,
            AmountError::Plus => 8002,
            AmountError::Exponent => 8003,
            AmountError::Base => 8004,
            AmountError::Comma => 8005,
            AmountError::Blank => 8006,
            AmountError::Points => 8007,
            AmountError::BarePoint => 8008,
            AmountError::LeadingZero => 8009,
            AmountError::Decimals => 8010,
            AmountError::Fraction => 8011,
            AmountError::TooLarge => 8012,
            AmountError::Character => 8013,
            AmountError::Zero => 8014,
        }
    }

    fn next(&self) -> &str {
        match self {
            AmountError::Fraction => "Write the amount in raw as a whole number, or give it in XNO.",
            AmountError::Zero => "Give an amount above zero.",
            _ => "Write XNO as plain digits with a point, such as 1.5, or raw as a whole number.",
        }
    }
}

/// A refusal of the types, keys and blocks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid amount: see [`AmountError`].
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// Adding two amounts passes 2^128 - 1.
    #[error("the sum of {0} and {1} raw is more than there can be")]
    SumTooLarge(Raw, Raw),
    /// Taking away more than there is.
    #[error("{1} raw cannot be taken from {0} raw")]
    NotEnough(Raw, Raw),

    /// The prefix is not `nano_` or `xrb_`.
    #[error("the address does not begin with nano_ or xrb_")]
    AddressPrefix,
    /// Not 60 characters after the prefix.
    #[error("the address has {0} characters after its prefix instead of 60")]
    AddressLength(usize),
    /// A character outside the alphabet.
    #[error("the address has a character that addresses do not have, at place {0}")]
    AddressCharacter(usize),
    /// First character after the prefix neither 1 nor 3.
    #[error("the first character after the prefix is neither 1 nor 3")]
    AddressOverflow,
    /// The checksum does not match the key.
    #[error("the address's checksum does not match: it was mistyped or changed")]
    AddressChecksum,

    /// A hexadecimal text of the wrong length or with another character.
    #[error("{what} must be {digits} hexadecimal digits")]
    Hex {
        /// Name of the value that was read.
        what: &'static str,
        /// Number of digits that it must have.
        digits: usize,
    },
    /// The 32 bytes do not encode a point of the curve.
    #[error("the public key {0} is not a point of the curve, so nothing can be signed with it")]
    PublicKey(crate::PublicKey),
    /// The signature does not hold.
    #[error("the signature does not fit the key and the hash")]
    Signature,
    /// The signature holds but is not in its one canonical form (S >= L, or a small-order key).
    #[error("the signature is not in its canonical form, so it does not come from this program")]
    SignatureForm,
    /// The private key does not belong to the block's account.
    #[error("the private key belongs to {key}, not to the block's account {account}")]
    WrongKey {
        /// The address of the key.
        key: crate::Address,
        /// The address in the block.
        account: crate::Address,
    },

    /// A send of zero raw, which the ledger does not have.
    #[error("a send of zero raw does not exist on Nano")]
    ZeroSend,
    /// A send to the all-zero account.
    #[error("a send to the burn account destroys the money for ever")]
    Burn,
    /// A send from an account without blocks.
    #[error("the account {0} has no blocks yet, so it cannot send or change")]
    Unopened(crate::Address),
    /// A receive of zero raw, which the ledger does not have.
    #[error("a receive of zero raw does not exist on Nano")]
    ZeroReceive,
    /// A receive without a source.
    #[error("a receive needs the hash of the send that it takes up")]
    NoSource,
    /// The representative is the all-zero account.
    #[error("the representative is the all-zero account, so the balance would have no vote")]
    NoRepresentative,
    /// A change that would move money.
    #[error("a change must leave the balance as it is: it goes from {before} to {after} raw")]
    ChangeMovesMoney {
        /// Balance before the block, in raw.
        before: Raw,
        /// Balance in the block.
        after: Raw,
    },
    /// A change to the representative that the account has.
    #[error("the account has this representative already")]
    SameRepresentative,
    /// A receive whose balance rises by another amount than the source's.
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
    #[error("the block follows {found}, but the account's last block is {expected}")]
    NotNext {
        /// Hash of the account's last block.
        expected: BlockHash,
        /// The block's previous.
        found: BlockHash,
    },
    /// The block is of another account.
    #[error("the block belongs to {found}, not to {expected}")]
    OtherAccount {
        /// The head's account.
        expected: crate::Address,
        /// The block's account.
        found: crate::Address,
    },
    /// The balance is unchanged but the link is not zero.
    #[error("a block that leaves the balance as it is must have a zero link")]
    LinkOnChange,
    /// Block JSON that cannot be read.
    #[error("the block's JSON cannot be read: {0}")]
    BlockJson(String),
    /// `link` and `link_as_account` differ.
    #[error("the block's link and link_as_account name different keys")]
    LinkMismatch,
    /// Not 216 bytes, or bytes that are not a block.
    #[error("a state block on the wire is 216 bytes, not {0}")]
    BlockLength(usize),
    /// A block that goes out must carry work.
    #[error("the block {0} has no proof of work yet")]
    NoWork(BlockHash),
    /// Not the name of a network.
    #[error("{0:?} is not a Nano network; the names are live, beta, dev and test")]
    NetworkName(String),
}

impl Coded for Error {
    fn code(&self) -> u16 {
        match self {
            Error::Amount(e) => e.code(),
            Error::SumTooLarge(..) => 8015,
            Error::NotEnough(..) => 8016,
            Error::AddressPrefix => 8020,
            Error::AddressLength(_) => 8021,
            Error::AddressCharacter(_) => 8022,
            Error::AddressOverflow => 8023,
            Error::AddressChecksum => 8024,
            Error::Hex { .. } => 8030,
            Error::PublicKey(_) => 8031,
            Error::Signature => 8032,
            Error::SignatureForm => 8033,
            Error::WrongKey { .. } => 8034,
            Error::ZeroSend => 8040,
            Error::Burn => 8041,
            Error::Unopened(_) => 8042,
            Error::ZeroReceive => 8043,
            Error::NoSource => 8044,
            Error::NoRepresentative => 8045,
            Error::ChangeMovesMoney { .. } => 8046,
            Error::SameRepresentative => 8047,
            Error::WrongDelta { .. } => 8048,
            Error::NotNext { .. } => 8049,
            Error::OtherAccount { .. } => 8050,
            Error::LinkOnChange => 8051,
            Error::BlockJson(_) => 8060,
            Error::LinkMismatch => 8061,
            Error::BlockLength(_) => 8062,
            Error::NoWork(_) => 8063,
            Error::NetworkName(_) => 8070,
        }
    }

    fn next(&self) -> &str {
        match self {
            Error::Amount(e) => e.next(),
            Error::SumTooLarge(..) => "Check the amounts; one of them is wrong.",
            Error::NotEnough(..) => "Check the balance, or send less.",
            Error::AddressPrefix
            | Error::AddressLength(_)
            | Error::AddressCharacter(_)
            | Error::AddressOverflow
            | Error::AddressChecksum => {
                "Copy the whole address again from where it came; do not repair it by hand."
            }
            Error::Hex { .. } => "Give exactly that many digits, without 0x and without blanks.",
            Error::PublicKey(_) => "Check the key; money sent to it would be lost.",
            Error::Signature => "Check that block, key and signature belong together.",
            Error::SignatureForm => "If the block is another's, ask the node whether it is confirmed.",
            Error::WrongKey { .. } => "Use the key of the block's account.",
            Error::ZeroSend | Error::ZeroReceive => "Give an amount above zero.",
            Error::Burn => "Give the address of a person or a contract.",
            Error::Unopened(_) => "Receive something first; the receive opens the account.",
            Error::NoSource => "Ask the node for what is receivable, and use the hash of a send.",
            Error::NoRepresentative => "Name a representative; any account that votes will do.",
            Error::ChangeMovesMoney { .. } => {
                "Use send to pay and receive to take up; a change with a lower balance burns the difference."
            }
            Error::SameRepresentative => "Nothing is to do.",
            Error::WrongDelta { .. } => {
                "Ask the node for the amount of the source, and build the block again."
            }
            Error::NotNext { .. } => "Read the account's frontier again, and build the block on it.",
            Error::OtherAccount { .. } => "Use the head of the block's own account.",
            Error::LinkOnChange => "Set the link to zero, or the balance to what the block should move.",
            Error::BlockJson(_) => "Give a state block as a node prints it with json_block.",
            Error::LinkMismatch => "Do not trust this block; ask where it came from.",
            Error::BlockLength(_) => "Give the whole block, and nothing but the block.",
            Error::NoWork(_) => "Solve the work for the block's root first.",
            Error::NetworkName(_) => "Use one of these names.",
        }
    }
}
