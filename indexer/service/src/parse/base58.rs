//! Bytes as text.

use serde::{Serialize, Serializer};
use solana_address::Address;
use solana_signature::Signature;
use std::fmt;

/// Bytes in base58. Of addresses (32 bytes) and signatures (64) a page has hundreds, so they go the way that is
/// made for their length.
#[derive(Debug, Clone, Copy)]
pub struct Base58<'a>(pub &'a [u8]);

impl fmt::Display for Base58<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Ok(address) = <[u8; 32]>::try_from(self.0) {
            return Address::new_from_array(address).fmt(f);
        }
        match <[u8; 64]>::try_from(self.0) {
            Ok(signature) => Signature::from(signature).fmt(f),
            Err(_) => f.write_str(&bs58::encode(self.0).into_string()),
        }
    }
}

impl Serialize for Base58<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Bytes in base58.
pub fn base58(bytes: &[u8]) -> String {
    Base58(bytes).to_string()
}
