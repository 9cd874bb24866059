//! A prepared challenge as a file: [`super::Found`] has it, [`Operator::submit_challenge`] takes it.
//!
//! [`Operator::submit_challenge`]: crate::Operator::submit_challenge

use serde::{Deserialize, Serialize};
use solana_address::Address;
use zx1_chain::rpc::actions::ChallengeWith;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::Envelope;
use zx1_protocol::ids::AgentId;

const VERSION: u8 = 1;

/// Everything that a challenge needs but the challenger. The file is its JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChallengeFile {
    version: u8,
    /// The challenged agent's mint.
    agent: String,
    /// The batch's epoch.
    epoch: u64,
    /// The ground's name, as [`Ground::name`] returns it.
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

/// A challenge that can be submitted.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Prepared {
    pub agent: AgentId,
    pub epoch: u64,
    /// What the batch is said to lack.
    pub ground: Ground,
    pub with: ChallengeWith,
}

impl ChallengeFile {
    pub(super) fn with_bytes(agent: &AgentId, epoch: u64, ground: Ground, bytes: &[u8]) -> Self {
        Self::new(agent, epoch, ground, EvidenceFile::Bytes { hex: hex::encode(bytes) })
    }

    pub(super) fn with_envelope(
        agent: &AgentId,
        epoch: u64,
        ground: Ground,
        envelope: &[u8],
        signer: &Address,
    ) -> Self {
        let signer = signer.to_string();
        Self::new(agent, epoch, ground, EvidenceFile::Envelope { hex: hex::encode(envelope), signer })
    }

    fn new(agent: &AgentId, epoch: u64, ground: Ground, evidence: EvidenceFile) -> Self {
        let ground = ground.name().to_owned();
        Self { version: VERSION, agent: agent.to_string(), epoch, ground, evidence }
    }

    /// Checks the fields.
    ///
    /// # Errors
    /// What is wrong, as a clause.
    pub fn prepare(&self) -> Result<Prepared, String> {
        let Self { version, agent, epoch, ground, evidence } = self;
        if *version != VERSION {
            return Err(format!("its version is {version}, and this zx1 knows {VERSION}"));
        }
        let address = |text: &str, what: &str| {
            text.parse::<Address>().map_err(|_| format!("{what} '{text}' is not a Solana address"))
        };
        let bytes = |text: &str| {
            let digits = text.trim();
            let digits = digits.strip_prefix("0x").unwrap_or(digits);
            hex::decode(digits).map_err(|_| "the evidence is not hexadecimal".to_owned())
        };
        let ground = Ground::from_name(ground).ok_or_else(|| format!("there is no ground '{ground}'"))?;
        let with = match evidence {
            EvidenceFile::Bytes { hex } => ChallengeWith::Evidence(bytes(hex)?),
            EvidenceFile::Envelope { hex, signer } => {
                let cbor = bytes(hex)?;
                let envelope = Envelope::decode(&cbor)
                    .map_err(|error| format!("the envelope does not decode ({error})"))?;
                ChallengeWith::Envelope {
                    signed: envelope.signing_bytes(),
                    signature: *envelope.signature,
                    signer: address(signer, "the signer")?,
                }
            }
        };
        Ok(Prepared { agent: address(agent, "the agent")?.into(), epoch: *epoch, ground, with })
    }
}
