//! Ed25519 as the protocol takes it: strict (decision A4).

use crate::error::numbered;
use ed25519_dalek::{Signature, VerifyingKey};

/// Why 32 bytes are not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The bytes are no point of the curve.
    NotAPoint,
    /// A point of small order: signatures under it prove nothing.
    SmallOrder,
}

numbered!(KeyError {
    7397 Self::NotAPoint => "The 32 bytes are not an Ed25519 public key.";
    7398 Self::SmallOrder => "The key is a point of small order, under which signatures prove nothing.";
});

/// An Ed25519 public key, ready to verify with. Making one costs a tenth of a verification, so whoever
/// hears from the same agents again keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads a key; refuses what no honest key can be.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::NotAPoint)?;
        if key.is_weak() { Err(KeyError::SmallOrder) } else { Ok(Self(key)) }
    }

    /// The 32 bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Whether the signature holds: canonical S, no point of small order (decision A4).
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
    }
}

/// [`PublicKey::verify`] with a key from bytes; `false` also when they are no key.
pub fn verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    PublicKey::from_bytes(key).is_ok_and(|key| key.verify(message, signature))
}
