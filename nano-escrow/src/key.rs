//! Seeds, keys and signatures: Ed25519 with BLAKE2b-512 in place of SHA-512.

use std::fmt;
use std::str::FromStr;

use blake2::Blake2b512;
use blake2::digest::Digest;
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign, raw_verify};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};
use zx1_coded::Coded;

use crate::hash::{BlockHash, HexError, blake2b_256, hex_bytes};

/// Why a signature is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum KeyError {
    /// The 32 bytes do not encode a point of the curve.
    #[code(8031)]
    #[error("the public key {0} is not a point of the curve, so nothing can be signed with it")]
    PublicKey(PublicKey),
    /// The signature does not hold.
    #[code(8032)]
    #[error("the signature does not fit the key and the hash")]
    Signature,
    /// The signature holds but is not in its one canonical form (S >= L, or a small-order key).
    #[code(8033)]
    #[error("the signature is not in its canonical form, so it does not come from this program")]
    SignatureForm,
}

/// A secret from which private keys are derived. Zeroized on drop; has no `Debug` and no `Display`.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed from its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Seed {
        Seed(bytes)
    }

    /// From 64 hexadecimal digits. The error does not repeat them.
    pub fn from_hex(text: &str) -> Result<Seed, HexError> {
        hex_bytes(text, "a seed").map(Seed)
    }

    /// The bytes, for storing them. The caller keeps them secret.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key of the standard wallet derivation: blake2b-256(seed | index as u32 big-endian).
    pub fn wallet_key(&self, index: u32) -> PrivateKey {
        self.nonce_key(&index.to_be_bytes())
    }

    /// The key of a nonce: blake2b-256(seed | nonce), decision F1. A nonce of 4 bytes is a wallet index; use
    /// 16 or 32 random bytes for accounts that no wallet should show.
    pub fn nonce_key(&self, nonce: &[u8]) -> PrivateKey {
        PrivateKey(blake2b_256(&[&self.0, nonce]))
    }

    /// The key of a domain and an index: blake2b-256(domain | seed | index as u32 big-endian), decision A2.
    pub fn domain_key(&self, domain: &[u8], index: u32) -> PrivateKey {
        PrivateKey(blake2b_256(&[domain, &self.0, &index.to_be_bytes()]))
    }
}

/// A private key. Zeroized on drop; has no `Debug` and no `Display`.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PrivateKey([u8; 32]);

impl PrivateKey {
    /// A private key from its 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> PrivateKey {
        PrivateKey(bytes)
    }

    /// From 64 hexadecimal digits. The error does not repeat them.
    pub fn from_hex(text: &str) -> Result<PrivateKey, HexError> {
        hex_bytes(text, "a private key").map(PrivateKey)
    }

    /// The bytes, for storing them. The caller keeps them secret.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key with everything prepared that signing needs.
    pub fn keypair(&self) -> Keypair {
        let wide: Zeroizing<[u8; 64]> = Zeroizing::new(Blake2b512::digest(self.0).into());
        let secret = ExpandedSecretKey::from_bytes(&wide);
        // Always from the secret: signing with a foreign public key would give the secret away.
        let verifying = VerifyingKey::from(&secret);
        Keypair { secret, verifying }
    }

    /// The public key.
    pub fn public_key(&self) -> PublicKey {
        self.keypair().public_key()
    }
}

/// A private key, expanded once, so that signing is twice as fast as from a [`PrivateKey`]. Zeroized on
/// drop; has no `Debug`.
pub struct Keypair {
    secret: ExpandedSecretKey,
    verifying: VerifyingKey,
}

impl Keypair {
    /// The public key.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.verifying.to_bytes())
    }

    /// Sign a block's hash. Deterministic: the same hash gives the same signature.
    pub fn sign(&self, hash: &BlockHash) -> Signature {
        self.sign_bytes(&hash.0)
    }

    /// Sign any bytes. Never sign 32 bytes that another party chose: they may be the hash of a block.
    pub fn sign_bytes(&self, message: &[u8]) -> Signature {
        Signature(raw_sign::<Blake2b512>(&self.secret, message, &self.verifying).to_bytes())
    }
}

/// A public key, the 32 bytes behind an address. Prints as 64 lower-case hexadecimal digits, reads either
/// case.
///
/// Any 32 bytes are accepted, because an address can hold any: whether they are a point of the curve is seen
/// when something is verified. See [`PublicKey::is_point`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// The all-zero key: the burn account.
    pub const BURN: PublicKey = PublicKey([0; 32]);

    /// Whether this is the burn account.
    pub fn is_burn(&self) -> bool {
        *self == Self::BURN
    }

    /// The 32 bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether a private key can exist for it: a point of the curve, and none of the few of small order.
    pub fn is_point(&self) -> bool {
        VerifyingKey::from_bytes(&self.0).is_ok_and(|k| !k.is_weak())
    }

    /// Verify strictly: canonical S, no small-order key or R. For our own blocks and records.
    pub fn verify_strict(&self, message: &[u8], signature: &Signature) -> Result<(), KeyError> {
        let key = VerifyingKey::from_bytes(&self.0).map_err(|_| KeyError::PublicKey(*self))?;
        if signature.reduced().is_none_or(|reduced| reduced != *signature) {
            return Err(KeyError::SignatureForm);
        }
        if key.is_weak() || signature.r_is_small() {
            return Err(KeyError::SignatureForm);
        }
        self.check(&key, message, signature)
    }

    /// Verify as the network does: S below 2^253 counts, canonical or not. For other people's blocks: the
    /// ledger holds such signatures, and a deposit is not refused for its form (decision F4).
    pub fn verify_network(&self, message: &[u8], signature: &Signature) -> Result<(), KeyError> {
        let key = VerifyingKey::from_bytes(&self.0).map_err(|_| KeyError::PublicKey(*self))?;
        // The hash does not cover S, so S and S mod L verify alike.
        let reduced = signature.reduced().ok_or(KeyError::Signature)?;
        self.check(&key, message, &reduced)
    }

    fn check(&self, key: &VerifyingKey, message: &[u8], signature: &Signature) -> Result<(), KeyError> {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        raw_verify::<Blake2b512>(key, message, &signature).map_err(|_| KeyError::Signature)
    }
}

/// A signature: R and S, 32 bytes each. Prints as 128 upper-case hexadecimal digits, reads either case.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(pub [u8; 64]);

/// The order of the group, little-endian: 2^252 + 27742317777372353535851937790883648493.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// The points of small order, as they are encoded, without the sign: with each of them, messages of others
/// verify that nobody signed. There are eight, two by two alike but for the sign.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5,
        0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a,
        0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
    {
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        minus_one[31] = 0x7f;
        minus_one
    },
];

impl Signature {
    /// Whether R is a point of small order. Other encodings of the same points need no place in the list: R
    /// is compared as bytes with a point that was computed, so only the canonical ones can verify.
    fn r_is_small(&self) -> bool {
        let (mut r, _) = self.halves();
        r[31] &= 0x7f;
        SMALL_ORDER.contains(&r)
    }

    fn halves(&self) -> ([u8; 32], [u8; 32]) {
        let (mut r, mut s) = ([0; 32], [0; 32]);
        r.copy_from_slice(&self.0[..32]);
        s.copy_from_slice(&self.0[32..]);
        (r, s)
    }

    /// The same signature with S below the group's order, or `None` when S is 2^253 or more, which the
    /// network refuses. One subtraction is enough, because 2^253 is less than twice the order.
    fn reduced(&self) -> Option<Signature> {
        let (_, s) = self.halves();
        if s[31] & 0b1110_0000 != 0 {
            return None;
        }
        let mut less = [0; 32];
        let mut borrow = false;
        for ((out, a), b) in less.iter_mut().zip(s).zip(ORDER) {
            let (first, under) = a.overflowing_sub(b);
            let (second, again) = first.overflowing_sub(u8::from(borrow));
            *out = second;
            borrow = under || again;
        }
        let mut reduced = *self;
        if !borrow {
            reduced.0[32..].copy_from_slice(&less);
        }
        Some(reduced)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        hex_bytes(text, "a public key").map(PublicKey)
    }
}

impl From<PublicKey> for BlockHash {
    /// The root of an account's first block is its key.
    fn from(key: PublicKey) -> Self {
        BlockHash(key.0)
    }
}

impl From<[u8; 32]> for PublicKey {
    fn from(bytes: [u8; 32]) -> Self {
        PublicKey(bytes)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode_upper(self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl FromStr for Signature {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        hex_bytes(text, "a signature").map(Signature)
    }
}

impl From<[u8; 64]> for Signature {
    fn from(bytes: [u8; 64]) -> Self {
        Signature(bytes)
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_points_are_those_of_the_curve() {
        for point in SMALL_ORDER {
            for sign in [0, 0x80] {
                let mut encoded = point;
                encoded[31] |= sign;
                assert!(VerifyingKey::from_bytes(&encoded).is_ok_and(|k| k.is_weak()), "{encoded:02x?}");
                let mut signature = Signature([7; 64]);
                signature.0[..32].copy_from_slice(&encoded);
                assert!(signature.r_is_small());
            }
        }
        assert!(!Signature([7; 64]).r_is_small());
    }
}
