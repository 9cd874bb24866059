//! The binding record: an Ed25519 key (Solana's kind) and a Nano key belong to one party.
//!
//! Nano signs with BLAKE2b, so one seed has two public keys. The record names both and is signed by both, so
//! that anybody can check it offline. Packed it is 200 bytes: the Ed25519 key, the Nano key, the time (Unix
//! seconds, big-endian), the Ed25519 signature, the Nano signature. What is signed is [`DOMAIN`] and the
//! first 72 bytes: no transaction of the one network and no block hash of the other looks like that.

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use zx1_coded::Coded;

use crate::{Address, Keypair, PrivateKey, PublicKey, Seed, Signature};

/// What stands before the signed bytes.
pub const DOMAIN: &[u8] = b"zx1/binding/v1";
/// What stands before the seed when the Nano key is derived from it, decision A2.
pub const KEY_DOMAIN: &[u8] = b"zx1/nano/v1";

/// The Nano key of a party's seed: blake2b-256(`zx1/nano/v1` | seed | index as u32 big-endian), decision A2.
pub fn nano_key(seed: &Seed, index: u32) -> PrivateKey {
    seed.domain_key(KEY_DOMAIN, index)
}

/// Why a record is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum BindingError {
    /// The Ed25519 signature does not hold.
    #[code(8300)]
    #[error("the Ed25519 signature does not fit the record")]
    Ed25519Signature,
    /// The Nano signature does not hold.
    #[code(8301)]
    #[error("the Nano signature does not fit the record")]
    NanoSignature,
    /// A key that cannot sign.
    #[code(8302)]
    #[error("the Ed25519 key {0} cannot sign")]
    Ed25519Key(String),
    /// The record cannot be read.
    #[code(8303)]
    #[error("the record cannot be read: {0}")]
    Unreadable(String),
    /// The packed form does not have 200 bytes; carries its length.
    #[code(8304)]
    #[error("a packed record is 200 bytes, not {0}")]
    Length(usize),
}

/// An Ed25519 public key. Prints as base58; reads base58 or 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ed25519Key(pub [u8; 32]);

impl std::fmt::Display for Ed25519Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&bs58::encode(self.0).into_string())
    }
}

impl std::str::FromStr for Ed25519Key {
    type Err = BindingError;

    fn from_str(text: &str) -> Result<Self, BindingError> {
        let wrong = || BindingError::Ed25519Key(text.chars().take(80).collect());
        let mut key = [0; 32];
        if text.len() == 64 && hex::decode_to_slice(text, &mut key).is_ok() {
            return Ok(Ed25519Key(key));
        }
        match bs58::decode(text).onto(&mut key) {
            Ok(32) => Ok(Ed25519Key(key)),
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for Ed25519Key {
    type Error = BindingError;

    fn try_from(text: String) -> Result<Self, BindingError> {
        text.parse()
    }
}

impl From<Ed25519Key> for String {
    fn from(key: Ed25519Key) -> String {
        key.to_string()
    }
}

/// A binding record with both signatures. Reading it verifies nothing: call [`verify`](Self::verify).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The Ed25519 key: the Solana wallet.
    pub solana: Ed25519Key,
    /// The Nano key, as an address.
    pub nano: Address,
    /// When it was made, Unix seconds. Of two records of one Solana key the later one counts.
    pub created: u64,
    /// Signature of the Ed25519 key over [`Binding::message`].
    pub solana_signature: Signature,
    /// Signature of the Nano key over [`Binding::message`].
    pub nano_signature: Signature,
}

impl Binding {
    /// Bytes of the packed form.
    pub const BYTES: usize = 200;

    /// Make the record of a party whose Ed25519 secret is `seed`, for the Nano key `nano`; usually that is
    /// [`nano_key`]`(seed, 0)`.
    pub fn make(seed: &Seed, nano: &Keypair, created: u64) -> Binding {
        let solana = SigningKey::from_bytes(seed.expose());
        let key = Ed25519Key(solana.verifying_key().to_bytes());
        let message = Self::message(&key, &nano.public_key(), created);
        Binding {
            solana: key,
            nano: nano.address(),
            created,
            solana_signature: Signature(solana.sign(&message).to_bytes()),
            nano_signature: nano.sign_bytes(&message),
        }
    }

    /// The message that both keys sign.
    pub fn message(solana: &Ed25519Key, nano: &PublicKey, created: u64) -> Vec<u8> {
        [DOMAIN, &solana.0, &nano.0, &created.to_be_bytes()].concat()
    }

    /// Verify both signatures strictly, offline. Fails with 8300, 8301 or 8302.
    pub fn verify(&self) -> Result<(), BindingError> {
        let nano = self.nano.public_key();
        let message = Self::message(&self.solana, &nano, self.created);
        let key = VerifyingKey::from_bytes(&self.solana.0)
            .map_err(|_| BindingError::Ed25519Key(self.solana.to_string()))?;
        key.verify_strict(&message, &ed25519_dalek::Signature::from_bytes(&self.solana_signature.0))
            .map_err(|_| BindingError::Ed25519Signature)?;
        nano.verify_strict(&message, &self.nano_signature).map_err(|_| BindingError::NanoSignature)
    }

    /// The record in its packed form.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..32].copy_from_slice(&self.solana.0);
        out[32..64].copy_from_slice(&self.nano.public_key().0);
        out[64..72].copy_from_slice(&self.created.to_be_bytes());
        out[72..136].copy_from_slice(&self.solana_signature.0);
        out[136..].copy_from_slice(&self.nano_signature.0);
        out
    }

    /// The reverse of [`to_bytes`](Self::to_bytes). Fails with 8304.
    pub fn from_bytes(bytes: &[u8]) -> Result<Binding, BindingError> {
        fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
            let (part, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(part)
        }
        let read = |mut rest: &[u8]| {
            let binding = Binding {
                solana: Ed25519Key(*take(&mut rest)?),
                nano: PublicKey(*take(&mut rest)?).address(),
                created: u64::from_be_bytes(*take(&mut rest)?),
                solana_signature: Signature(*take(&mut rest)?),
                nano_signature: Signature(*take(&mut rest)?),
            };
            rest.is_empty().then_some(binding)
        };
        read(bytes).ok_or(BindingError::Length(bytes.len()))
    }

    /// Read JSON. Fails with 8303. Nothing is verified.
    pub fn from_json(text: &str) -> Result<Binding, BindingError> {
        serde_json::from_str(text).map_err(|e| BindingError::Unreadable(e.to_string()))
    }
}
