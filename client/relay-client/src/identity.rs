//! The key that an agent proves to a relay.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use zx1_home::keys::{self, Seed};
use zx1_relay_rules::{AgentId, PublicKey};

use crate::{ClientError, Result};

/// Hex digits of an id on relays with the usual settings.
const ID_HEX: usize = 8;

/// A key with its public half as the relay wants it. The secret is wiped when dropped, and never shown.
pub struct Identity {
    key: SigningKey,
    public: PublicKey,
    pem: String,
}

impl Identity {
    /// The identity of a secret.
    ///
    /// # Errors
    ///
    /// None of a secret that the system's random numbers gave.
    pub fn of_seed(seed: &Seed) -> Result<Identity> {
        let key = SigningKey::from_bytes(seed);
        let public = PublicKey::new(key.verifying_key().to_bytes())?;
        Ok(Identity { key, public, pem: public.to_pem() })
    }

    /// Reads a key file in any of its forms.
    ///
    /// # Errors
    ///
    /// [`ClientError::KeyFile`]
    pub fn read(path: &Path) -> Result<Identity> {
        let failed = |error: keys::KeyFileError| ClientError::KeyFile {
            path: path.display().to_string(),
            why: error.to_string(),
        };
        Identity::of_seed(&keys::read(path).map_err(failed)?.seed)
    }

    /// The public key as SPKI in PEM, which is what the id is made of.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The id that a relay with the usual settings gives it. WELCOME has the real one.
    pub fn id(&self) -> AgentId {
        AgentId::of_pem(&self.pem, ID_HEX)
    }

    /// The signature over a text, base64.
    pub fn sign(&self, text: &str) -> String {
        STANDARD.encode(self.key.sign(text.as_bytes()).to_bytes())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// Whether a nonce of VERIFY_REQUEST may be signed. The signature is over the nonce alone, so a nonce that could be
/// one of the other signed texts would let its author act in this key's name. Digits and dashes are none of them.
pub fn is_nonce(text: &str) -> bool {
    (16..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
