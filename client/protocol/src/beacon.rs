//! The BEACON payload: agent id ‖ verifying key ‖ name (decision C3).

use crate::bytes::Reader;
use crate::error::numbered;
use crate::ids::{AgentId, WalletKey};

/// Length of a beacon with an empty name.
pub const BEACON_MIN_LEN: usize = 64;

/// Why a beacon tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeaconError {
    /// Fewer than [`BEACON_MIN_LEN`] bytes.
    TooShort,
    /// The name is not UTF-8.
    NameNotUtf8,
    /// The beacon speaks of another agent than the one that sent it.
    OtherAgent,
    /// The envelope was signed by another key than the one that the beacon names.
    OtherKey,
    /// The chain does not show that the key owns the agent or is its live delegate.
    KeyNotOnChain,
}

numbered!(BeaconError {
    7392 Self::TooShort => "A BEACON payload has at least {BEACON_MIN_LEN} bytes: agent id and verifying key.";
    7393 Self::NameNotUtf8 => "The name in the BEACON payload is not UTF-8.";
    7394 Self::OtherAgent => "The BEACON speaks of another agent than the one that sent it.";
    7395 Self::OtherKey => "The BEACON names another key than the one that signed it.";
    7396 Self::KeyNotOnChain => "On chain the BEACON's key neither owns the agent nor is its live delegate.";
});

/// A BEACON payload, borrowed from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// The agent: its SATI mint.
    pub agent_id: AgentId,
    /// The Ed25519 key that the agent says it signs with.
    pub verifying_key: WalletKey,
    /// What the agent calls itself; may be empty. Whoever prints it must escape control characters.
    pub name: &'a str,
}

impl<'a> Beacon<'a> {
    /// Reads the packed bytes.
    pub fn parse(payload: &'a [u8]) -> Result<Self, BeaconError> {
        let mut packed = Reader::new(payload);
        let agent_id = AgentId(*packed.array().ok_or(BeaconError::TooShort)?);
        let verifying_key = WalletKey::from(*packed.array().ok_or(BeaconError::TooShort)?);
        let name = core::str::from_utf8(packed.rest()).map_err(|_| BeaconError::NameNotUtf8)?;
        Ok(Self { agent_id, verifying_key, name })
    }

    /// The packed bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.agent_id.as_ref(), self.verifying_key.as_ref(), self.name.as_bytes()].concat()
    }

    /// Whether the key counts (decision C3): the envelope is the agent's own, its signature held under this
    /// very key, and the key is one of those that the chain shows for the agent (its owner's or a live
    /// delegate's). `sender` and `signer` are those of the validated envelope.
    pub fn check(
        &self,
        sender: AgentId,
        signer: WalletKey,
        chain_keys: &[WalletKey],
    ) -> Result<(), BeaconError> {
        if self.agent_id != sender {
            return Err(BeaconError::OtherAgent);
        }
        if self.verifying_key != signer {
            return Err(BeaconError::OtherKey);
        }
        if !chain_keys.contains(&self.verifying_key) {
            return Err(BeaconError::KeyNotOnChain);
        }
        Ok(())
    }
}
