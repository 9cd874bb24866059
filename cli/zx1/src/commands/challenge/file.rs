//! A prepared challenge as a file: what `find` writes and `submit` reads.

use crate::defaults;
use crate::errors::{Error, Result, json_fault};
use crate::files;
use crate::input;
use serde::{Deserialize, Serialize};
use solana_address::Address;
use std::path::Path;
use zx1_chain::rpc::actions::ChallengeWith;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::Envelope;

const VERSION: u8 = 1;

/// Everything that a challenge needs but the challenger.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChallengeFile {
    version: u8,
    /// The challenged agent's mint.
    agent: String,
    /// The batch's epoch.
    epoch: u64,
    /// As [`super::ground_name`] writes it.
    ground: String,
    evidence: EvidenceFile,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum EvidenceFile {
    /// Evidence as the program takes it: a log entry with its proof, or two bids with theirs.
    Bytes { hex: String },
    /// A message, and the key that signed it.
    Envelope { hex: String, signer: String },
}

/// A challenge, read.
pub(super) struct Prepared {
    pub(super) agent: Address,
    pub(super) epoch: u64,
    pub(super) ground: Ground,
    pub(super) with: ChallengeWith,
}

impl ChallengeFile {
    pub(super) fn with_bytes(agent: &Address, epoch: u64, ground: Ground, bytes: &[u8]) -> Self {
        Self::new(agent, epoch, ground, EvidenceFile::Bytes { hex: hex::encode(bytes) })
    }

    pub(super) fn with_envelope(
        agent: &Address,
        epoch: u64,
        ground: Ground,
        envelope: &[u8],
        signer: &[u8; 32],
    ) -> Self {
        let signer = Address::new_from_array(*signer).to_string();
        Self::new(agent, epoch, ground, EvidenceFile::Envelope { hex: hex::encode(envelope), signer })
    }

    fn new(agent: &Address, epoch: u64, ground: Ground, evidence: EvidenceFile) -> Self {
        let ground = super::ground_name(ground as u8).to_owned();
        Self { version: VERSION, agent: agent.to_string(), epoch, ground, evidence }
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let failed = |error: serde_json::Error| Error::WriteFailed {
            path: files::shown(path),
            why: error.to_string(),
        };
        let mut text = serde_json::to_vec_pretty(self).map_err(failed)?;
        text.push(b'\n');
        files::create_private(path, &text, Error::Exists { path: files::shown(path) })
    }

    pub(super) fn read(path: &Path) -> Result<Prepared> {
        let bad = |why: String| Error::ChallengeFile { path: files::shown(path), why };
        let bytes = files::read_needed(path, defaults::MAX_INPUT)?;
        let file: Self = serde_json::from_slice(&bytes).map_err(|error| bad(json_fault(&error)))?;
        if file.version != VERSION {
            return Err(bad(format!("its version is {}, and this zx1 knows {VERSION}", file.version)).into());
        }
        let ground = (1..=5)
            .find(|number| super::ground_name(*number) == file.ground)
            .and_then(Ground::from_u8)
            .ok_or_else(|| bad(format!("there is no ground '{}'", file.ground)))?;
        let with = match &file.evidence {
            EvidenceFile::Bytes { hex } => ChallengeWith::Evidence(input::hex_bytes(hex, "The evidence")?),
            EvidenceFile::Envelope { hex, signer } => {
                let cbor = input::hex_bytes(hex, "The envelope")?;
                let envelope = Envelope::decode(&cbor).map_err(zx1_log::LogError::from)?;
                ChallengeWith::Envelope {
                    signed: envelope.signing_bytes(),
                    signature: *envelope.signature,
                    signer: input::address(signer, "The signer")?,
                }
            }
        };
        Ok(Prepared { agent: input::address(&file.agent, "The agent")?, epoch: file.epoch, ground, with })
    }
}
