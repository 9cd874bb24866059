//! A prepared challenge as a file: [`super::Found`] has it, [`Operator::submit_challenge`] takes it.
//!
//! [`Operator::submit_challenge`]: crate::Operator::submit_challenge

use serde::{Deserialize, Serialize};
use solana_address::Address;
use zx1_chain::rpc::actions::{ChallengeWith, ClaimWith};
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::Envelope;
use zx1_protocol::ids::AgentId;

const VERSION: u8 = 2;
/// More grounds than these no message gives.
const MOST_CLAIMS: usize = 4;

/// Everything that a challenge needs but the challenger. The file is its JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChallengeFile {
    version: u8,
    /// The challenged agent's mint.
    agent: String,
    /// The batch's epoch.
    epoch: u64,
    /// What is claimed of one message: all of it, or a copier takes what was left out.
    claims: Vec<ClaimFile>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimFile {
    /// The ground's name, as [`Ground::name`] returns it.
    ground: String,
    evidence: EvidenceFile,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum EvidenceFile {
    /// Evidence as the program takes it: a log entry with its proof, or two bids with theirs.
    Bytes { hex: String },
    /// A message, and the deal key that signed it.
    Envelope { hex: String, signer: String },
}

/// A challenge that can be submitted.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Prepared {
    pub agent: AgentId,
    pub epoch: u64,
    /// What the batch is said to lack, each with its evidence.
    pub claims: Vec<ClaimWith>,
}

impl ClaimFile {
    pub(super) fn with_bytes(ground: Ground, bytes: &[u8]) -> Self {
        Self { ground: ground.name().to_owned(), evidence: EvidenceFile::Bytes { hex: hex::encode(bytes) } }
    }

    pub(super) fn with_envelope(ground: Ground, envelope: &[u8], signer: &Address) -> Self {
        let (hex, signer) = (hex::encode(envelope), signer.to_string());
        Self { ground: ground.name().to_owned(), evidence: EvidenceFile::Envelope { hex, signer } }
    }

    fn prepare(&self) -> Result<ClaimWith, String> {
        let bytes = |text: &str| {
            let digits = text.trim();
            let digits = digits.strip_prefix("0x").unwrap_or(digits);
            hex::decode(digits).map_err(|_| "the evidence is not hexadecimal".to_owned())
        };
        let ground = &self.ground;
        let ground = Ground::from_name(ground).ok_or_else(|| format!("there is no ground '{ground}'"))?;
        let with = match &self.evidence {
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
        Ok(ClaimWith { ground, with })
    }
}

fn address(text: &str, what: &str) -> Result<Address, String> {
    text.parse().map_err(|_| format!("{what} '{text}' is not a Solana address"))
}

impl ChallengeFile {
    pub(super) fn new(agent: &AgentId, epoch: u64, claims: Vec<ClaimFile>) -> Self {
        Self { version: VERSION, agent: agent.to_string(), epoch, claims }
    }

    /// Checks the fields.
    ///
    /// # Errors
    /// What is wrong, as a clause.
    pub fn prepare(&self) -> Result<Prepared, String> {
        let Self { version, agent, epoch, claims } = self;
        if *version != VERSION {
            return Err(format!("its version is {version}, and this zx1 knows {VERSION}"));
        }
        if claims.is_empty() || claims.len() > MOST_CLAIMS {
            return Err(format!("it has {} claims instead of 1 to {MOST_CLAIMS}", claims.len()));
        }
        let prepared: Vec<ClaimWith> = claims.iter().map(ClaimFile::prepare).collect::<Result<_, _>>()?;
        let twice = |at: usize, claim: &ClaimWith| {
            prepared.iter().skip(at.saturating_add(1)).any(|other| other.ground == claim.ground)
        };
        if let Some((_, claim)) = prepared.iter().enumerate().find(|(at, claim)| twice(*at, claim)) {
            return Err(format!("the ground '{}' is in it twice", claim.ground.name()));
        }
        Ok(Prepared { agent: address(agent, "the agent")?.into(), epoch: *epoch, claims: prepared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_another_version_is_not() {
        let agent = AgentId([9; 32]);
        let claims =
            vec![ClaimFile::with_bytes(Ground::Bid, &[1, 2]), ClaimFile::with_bytes(Ground::Selection, &[3])];
        let text = serde_json::to_string(&ChallengeFile::new(&agent, 7, claims)).unwrap();
        let read: ChallengeFile = serde_json::from_str(&text).unwrap();
        let prepared = read.prepare().unwrap();
        assert_eq!((prepared.agent, prepared.epoch, prepared.claims.len()), (agent, 7, 2));
        let old: ChallengeFile =
            serde_json::from_str(&text.replace("\"version\":2", "\"version\":1")).unwrap();
        assert!(old.prepare().unwrap_err().contains("version is 1"));
        let none = ChallengeFile::new(&agent, 7, Vec::new());
        assert!(none.prepare().unwrap_err().contains("0 claims"));
        let twice = vec![ClaimFile::with_bytes(Ground::Bid, &[1]), ClaimFile::with_bytes(Ground::Bid, &[2])];
        assert!(ChallengeFile::new(&agent, 7, twice).prepare().unwrap_err().contains("twice"));
    }
}
