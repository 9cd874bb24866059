//! Ed25519 as the protocol takes it: strict (decision A4).

use crate::error::numbered;
use ed25519_dalek::{Signature, Verifier, VerifyingKey};

/// Why 32 bytes are not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The bytes do not encode a point of the curve.
    NotAPoint,
    /// A point of small order: signatures under it prove nothing.
    SmallOrder,
}

numbered!(KeyError {
    7397 Self::NotAPoint => "The 32 bytes are not an Ed25519 public key.";
    7398 Self::SmallOrder => "The key is a point of small order, under which signatures prove nothing.";
});

/// The y coordinates of the points of small order, little-endian: 0, 1, -1 and the two of order eight.
const SMALL_ORDER_Y: [[u8; 32]; 5] = [
    [0; 32],
    one(),
    minus_one(),
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5,
        0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a,
        0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
];

const fn one() -> [u8; 32] {
    let mut y = [0; 32];
    y[0] = 1;
    y
}

const fn minus_one() -> [u8; 32] {
    let mut y = [0xff; 32];
    y[0] = 0xec;
    y[31] = 0x7f;
    y
}

/// Whether the shortest encoding is that of a point of small order, whatever its sign bit.
fn is_small_order(encoded: &[u8; 32]) -> bool {
    let mut y = *encoded;
    y[31] &= 0x7f;
    SMALL_ORDER_Y.contains(&y)
}

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
    ///
    /// The same answer as `verify_strict` of ed25519-dalek, a tenth faster: that one decompresses R to see its
    /// order. Here R is compared with the bytes of the point that it must be, so it is canonical when it is
    /// right, and its bytes tell the order. The key's order was checked when it was made.
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let signature = Signature::from_bytes(signature);
        !is_small_order(signature.r_bytes()) && self.0.verify(message, &signature).is_ok()
    }
}

/// [`PublicKey::verify`] with a key from bytes; `false` also when they do not encode a key.
pub fn verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    PublicKey::from_bytes(key).is_ok_and(|key| key.verify(message, signature))
}
