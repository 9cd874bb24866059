//! Ids, names and keys of agents and channels.

use std::collections::HashMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::defaults::MAX_PEM;
use crate::{RelayError, Result};

/// What stands before the 32 bytes of a key in its SubjectPublicKeyInfo (RFC 8410).
const SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const BEGIN: &str = "-----BEGIN PUBLIC KEY-----";
const END: &str = "-----END PUBLIC KEY-----";

/// Nicks that nobody takes, in lower case.
pub const RESERVED: &[&str] =
    &["server", "admin", "administrator", "system", "root", "moderator", "mod", "agentchat"];

/// An agent's id without its `@`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentId(String);

impl AgentId {
    /// The id of a key: the first `digits` hex digits of SHA-256 over the PEM text exactly as it was received.
    pub fn of_pem(pem: &str, digits: usize) -> AgentId {
        let mut id = hex::encode(Sha256::digest(pem.as_bytes()));
        id.truncate(digits);
        AgentId(id)
    }

    /// An id without a key: 8 letters and digits, from random bytes.
    pub fn ephemeral(random: [u8; 8]) -> AgentId {
        const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        AgentId(random.map(|byte| char::from(LETTERS[usize::from(byte) % 36])).iter().collect())
    }

    /// Reads `@id`: 1 to 64 letters and digits.
    ///
    /// # Errors
    ///
    /// None of the text's characters are repeated in the error.
    pub fn parse(text: &str, field: &'static str) -> Result<AgentId> {
        let id = text.strip_prefix('@').ok_or(RelayError::Field { field })?;
        let fits = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if fits { Ok(AgentId(id.to_owned())) } else { Err(RelayError::Field { field }) }
    }

    /// The id without the `@`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentId {
    /// With the `@`, as on the wire.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// An Ed25519 public key without points of small order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// From its 32 bytes.
    ///
    /// # Errors
    ///
    /// No point, or one under which signatures prove nothing.
    pub fn new(bytes: [u8; 32]) -> Result<PublicKey> {
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| RelayError::PublicKey)?;
        if key.is_weak() { Err(RelayError::PublicKey) } else { Ok(PublicKey(key)) }
    }

    /// Reads PEM in any spelling: white space around it, CRLF, any line length.
    ///
    /// # Errors
    ///
    /// Other armour, other algorithms, text above [`MAX_PEM`] bytes.
    pub fn from_pem(pem: &str) -> Result<PublicKey> {
        let body = (pem.len() <= MAX_PEM)
            .then_some(pem.trim())
            .and_then(|pem| pem.strip_prefix(BEGIN)?.strip_suffix(END))
            .ok_or(RelayError::PublicKey)?;
        let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let der = STANDARD.decode(body).map_err(|_| RelayError::PublicKey)?;
        let bytes =
            der.strip_prefix(&SPKI).and_then(|key| key.try_into().ok()).ok_or(RelayError::PublicKey)?;
        PublicKey::new(bytes)
    }

    /// The one canonical PEM text, with its last newline.
    pub fn to_pem(&self) -> String {
        let der = [SPKI.as_slice(), self.0.as_bytes()].concat();
        format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode(der))
    }

    /// The 32 bytes, under which state is kept.
    pub fn bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Whether the base64 signature over this text holds.
    ///
    /// # Errors
    ///
    /// [`RelayError::Signature`] for everything else, invalid base64 included.
    pub fn verify(&self, text: &str, signature: &str) -> Result<()> {
        let bytes = STANDARD.decode(signature).map_err(|_| RelayError::Signature)?;
        let signature = ed25519_dalek::Signature::from_slice(&bytes).map_err(|_| RelayError::Signature)?;
        self.0.verify_strict(text.as_bytes(), &signature).map_err(|_| RelayError::Signature)
    }
}

/// Which key has which id. The first spelling of a key decides its id (decision J).
#[derive(Debug, Clone, Default)]
pub struct Keys {
    by_key: HashMap<[u8; 32], AgentId>,
    by_id: HashMap<AgentId, [u8; 32]>,
}

impl Keys {
    /// The id of this key, taken now when it has none.
    ///
    /// # Errors
    ///
    /// [`RelayError::IdTaken`] when another key has the id, and for PEM that is none.
    pub fn claim(&mut self, pem: &str, digits: usize) -> Result<(AgentId, PublicKey)> {
        let key = PublicKey::from_pem(pem)?;
        if let Some(id) = self.by_key.get(&key.bytes()) {
            return Ok((id.clone(), key));
        }
        let id = AgentId::of_pem(pem, digits);
        if self.by_id.contains_key(&id) {
            return Err(RelayError::IdTaken);
        }
        self.by_key.insert(key.bytes(), id.clone());
        self.by_id.insert(id.clone(), key.bytes());
        Ok((id, key))
    }

    /// Whether [`Keys::claim`] would be the first of this key.
    pub fn is_new(&self, key: &PublicKey) -> bool {
        !self.by_key.contains_key(&key.bytes())
    }

    /// How many keys are known.
    pub fn count(&self) -> usize {
        self.by_key.len()
    }

    /// Frees an id. The key's next spelling decides anew.
    pub fn forget(&mut self, id: &AgentId) {
        if let Some(key) = self.by_id.remove(id) {
            self.by_key.remove(&key);
        }
    }

    /// Puts back what a store kept.
    pub fn restore(&mut self, key: [u8; 32], id: AgentId) {
        self.by_key.insert(key, id.clone());
        self.by_id.insert(id, key);
    }

    /// The key behind an id.
    pub fn key(&self, id: &AgentId) -> Option<[u8; 32]> {
        self.by_id.get(id).copied()
    }
}

/// Letters, digits, dashes and underscores, 1 to `most` of them.
fn word(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Whether an agent may have this name.
pub fn is_name(text: &str) -> bool {
    word(text, 32)
}

/// Whether it is a channel's name.
pub fn is_channel(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|rest| word(rest, 31))
}

/// Whether an agent may take this nick.
pub fn is_nick(text: &str) -> bool {
    word(text, 24) && !RESERVED.contains(&text.to_ascii_lowercase().as_str())
}
