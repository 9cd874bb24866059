//! How a connection identifies: once, by a challenge where it brings a key.

use crate::defaults::Settings;
use crate::id::PublicKey;
use crate::server;
use crate::signing;
use crate::{RelayError, Result};

/// What a connection has shown of itself.
#[derive(Debug, Clone, Default)]
pub enum Login {
    /// Neither a name nor a key came yet.
    #[default]
    New,
    /// It brought a key and has to prove it.
    Challenged(Box<Challenge>),
    /// The relay has welcomed it.
    Done,
}

/// An open challenge.
#[derive(Debug, Clone)]
pub struct Challenge {
    id: String,
    nonce: [u8; 16],
    /// Milliseconds of Unix time at which it ends.
    pub expires_at: u64,
    proven: Proven,
}

/// What a connection proved.
#[derive(Debug, Clone)]
pub struct Proven {
    /// The name that it asked for.
    pub name: String,
    /// The key's text exactly as it came, over which the id is made.
    pub pem: String,
    /// The key that signed the challenge.
    pub key: PublicKey,
}

impl Login {
    /// Begins with a key: the text of the frame CHALLENGE.
    ///
    /// # Errors
    ///
    /// A second IDENTIFY, or PEM that is none.
    pub fn challenge(
        &mut self,
        name: String,
        pem: String,
        random: [u8; 20],
        settings: &Settings,
        now: u64,
    ) -> Result<String> {
        self.is_new()?;
        let key = PublicKey::from_pem(&pem)?;
        let (mut short, mut nonce) = ([0; 4], [0; 16]);
        let (head, tail) = random.split_at(4);
        short.copy_from_slice(head);
        nonce.copy_from_slice(tail);
        let id = server::challenge_id(now, short);
        let expires_at = now.saturating_add(settings.challenge_ms);
        let frame = server::challenge(&id, nonce, expires_at, now);
        let proven = Proven { name, pem, key };
        *self = Login::Challenged(Box::new(Challenge { id, nonce, expires_at, proven }));
        Ok(frame)
    }

    /// Whether IDENTIFY is still open.
    ///
    /// # Errors
    ///
    /// [`RelayError::IdentifiedAlready`]
    pub fn is_new(&self) -> Result<()> {
        if matches!(self, Login::New) { Ok(()) } else { Err(RelayError::IdentifiedAlready) }
    }

    /// Whether the connection is identified.
    pub fn is_done(&self) -> bool {
        matches!(self, Login::Done)
    }

    /// Takes the answer to the challenge. A wrong signature leaves it open.
    ///
    /// # Errors
    ///
    /// No challenge or another one, one that ended, a signature that does not hold.
    pub fn prove(&mut self, id: &str, signature: &str, timestamp: f64, now: u64) -> Result<Proven> {
        let Login::Challenged(challenge) = self else { return Err(RelayError::WrongChallenge) };
        if challenge.id != id {
            return Err(RelayError::WrongChallenge);
        }
        if now >= challenge.expires_at {
            return Err(RelayError::VerificationExpired);
        }
        let text = signing::auth(&hex::encode(challenge.nonce), id, timestamp);
        challenge.proven.key.verify(&text, signature)?;
        let proven = challenge.proven.clone();
        *self = Login::Done;
        Ok(proven)
    }

    /// When the open challenge ends.
    pub fn expires_at(&self) -> Option<u64> {
        if let Login::Challenged(challenge) = self { Some(challenge.expires_at) } else { None }
    }
}
