//! BLAKE2b and block hashes.

use std::fmt;
use std::str::FromStr;

use blake2::Blake2b256;
use blake2::digest::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zx1_coded::Coded;

/// Why a text is not a value in hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum HexError {
    /// A hexadecimal text of the wrong length or with another character.
    #[code(8030)]
    #[error("{what} must be {digits} hexadecimal digits")]
    Digits {
        /// Name of the value that was read.
        what: &'static str,
        /// Number of digits that it must have.
        digits: usize,
    },
}

/// BLAKE2b with 32 bytes of output over the parts, one after another.
pub fn blake2b_256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Blake2b256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Read exactly `N` bytes as hexadecimal digits of either case.
pub(crate) fn hex_bytes<const N: usize>(text: &str, what: &'static str) -> Result<[u8; N], HexError> {
    let mut out = [0; N];
    hex::decode_to_slice(text, &mut out).map_err(|_| HexError::Digits { what, digits: N * 2 })?;
    Ok(out)
}

/// The hash of a block, also the name of a send to be received. Prints as 64 upper-case hexadecimal digits,
/// reads either case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BlockHash(pub [u8; 32]);

impl BlockHash {
    /// What stands for "no block": the `previous` of an account's first block.
    pub const ZERO: BlockHash = BlockHash([0; 32]);

    /// Whether it stands for "no block".
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// The 32 bytes of the hash.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for BlockHash {
    fn from(bytes: [u8; 32]) -> Self {
        BlockHash(bytes)
    }
}

impl fmt::Display for BlockHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode_upper(self.0))
    }
}

impl fmt::Debug for BlockHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlockHash({self})")
    }
}

impl FromStr for BlockHash {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        hex_bytes(text, "a block hash").map(BlockHash)
    }
}

impl Serialize for BlockHash {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlockHash {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}
