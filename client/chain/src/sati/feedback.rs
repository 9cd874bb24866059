//! The universal attestation layout, and what agents and counterparties sign.

use sha3::{Digest, Keccak256};
use solana_address::Address;

use super::accounts::Reader;

fn keccak(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Keccak256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// How a task went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// The task went badly.
    Negative = 0,
    /// Neither well nor badly.
    Neutral = 1,
    /// The task went well.
    Positive = 2,
}

impl Outcome {
    /// The word that a counterparty signs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Negative => "Negative",
            Self::Neutral => "Neutral",
            Self::Positive => "Positive",
        }
    }
}

/// The form of an attestation's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ContentType {
    /// There is no content.
    None = 0,
    /// The content is JSON.
    Json = 1,
    /// The content is UTF-8 text.
    Utf8 = 2,
    /// An IPFS address.
    Ipfs = 3,
    /// An Arweave address.
    Arweave = 4,
    /// The content is encrypted.
    Encrypted = 5,
}

/// An attestation in SATI's universal layout: 131 bytes, then the content without a length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attestation {
    /// The task: conversation id and zeros (decision D5).
    pub task_ref: [u8; 32],
    /// The agent it is about.
    pub agent: Address,
    /// The counterparty's wallet.
    pub counterparty: Address,
    /// How it went.
    pub outcome: Outcome,
    /// What the agent agreed to, by hash.
    pub data_hash: [u8; 32],
    /// The content's form.
    pub content_type: ContentType,
    /// Content, of the type above.
    pub content: Vec<u8>,
}

impl Attestation {
    /// The layout's version.
    pub const VERSION: u8 = 1;
    /// Bytes before the content.
    pub const BASE_LEN: usize = 131;
    /// Longest content, in bytes.
    pub const MAX_CONTENT: usize = 512;
    /// Longest content when both sign: the message has to fit the transaction too.
    pub const MAX_DUAL_CONTENT: usize = 70;

    /// Writes the layout.
    pub fn encode(&self) -> Vec<u8> {
        let parts: [&[u8]; 8] = [
            &[Self::VERSION],
            &self.task_ref,
            self.agent.as_array(),
            self.counterparty.as_array(),
            &[self.outcome as u8],
            &self.data_hash,
            &[self.content_type as u8],
            &self.content,
        ];
        parts.concat()
    }

    /// Reads the layout.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let mut r = Reader(data);
        (r.u8()? == Self::VERSION).then_some(())?;
        let (task_ref, agent, counterparty) = (r.array()?, r.address()?, r.address()?);
        let outcome = match r.u8()? {
            0 => Outcome::Negative,
            1 => Outcome::Neutral,
            2 => Outcome::Positive,
            _ => return None,
        };
        let data_hash = r.array()?;
        let content_type = match r.u8()? {
            0 => ContentType::None,
            1 => ContentType::Json,
            2 => ContentType::Utf8,
            3 => ContentType::Ipfs,
            4 => ContentType::Arweave,
            5 => ContentType::Encrypted,
            _ => return None,
        };
        let content = r.0.to_vec();
        (content.len() <= Self::MAX_CONTENT).then_some(())?;
        Some(Self { task_ref, agent, counterparty, outcome, data_hash, content_type, content })
    }
}

/// A delegation: the owner lets another key sign for the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelegateV1 {
    /// The agent's mint.
    pub agent: Address,
    /// The key that may sign.
    pub delegate: Address,
    /// The owner who gave it.
    pub delegator: Address,
}

impl DelegateV1 {
    /// The attestation that says so.
    pub fn attestation(&self) -> Attestation {
        Attestation {
            task_ref: [0; 32],
            agent: self.agent,
            counterparty: self.delegate,
            outcome: Outcome::Negative,
            data_hash: self.delegator.to_bytes(),
            content_type: ContentType::None,
            content: Vec::new(),
        }
    }

    /// Reads a delegation off the data of its account at SAS, which keeps the (empty) content with its
    /// length; the form without that length is read as well.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let data = match data.split_at_checked(Attestation::BASE_LEN) {
            Some((base, [0, 0, 0, 0])) => base,
            _ => data,
        };
        let found = Attestation::decode(data)?;
        let value = Self {
            agent: found.agent,
            delegate: found.counterparty,
            delegator: Address::new_from_array(found.data_hash),
        };
        (value.attestation() == found).then_some(value)
    }
}

/// What the rated agent's owner signs: that this task, with this data, was agreed to.
pub fn interaction_hash(sas_schema: &Address, task_ref: &[u8; 32], data_hash: &[u8; 32]) -> [u8; 32] {
    keccak(&[b"SATI:interaction:v1", sas_schema.as_array(), task_ref, data_hash])
}

/// What the counterparty's wallet shows and signs. `schema_name` is the name in the SchemaConfig.
pub fn counterparty_message(schema_name: &str, attestation: &Attestation) -> Vec<u8> {
    let details: &[u8] = if attestation.content.is_empty() { b"(none)" } else { &attestation.content };
    let head = format!(
        "SATI {schema_name}\n\nAgent: {}\nTask: {}\nOutcome: {}\nDetails: ",
        attestation.agent,
        Address::new_from_array(attestation.task_ref),
        attestation.outcome.word(),
    );
    [head.as_bytes(), details, b"\n\nSign to create this attestation."].concat()
}

/// The nonce of a compressed attestation's address: one per task, agent and counterparty.
pub fn attestation_nonce(
    task_ref: &[u8; 32],
    sas_schema: &Address,
    agent: &Address,
    counterparty: &Address,
) -> [u8; 32] {
    keccak(&[task_ref, sas_schema.as_array(), agent.as_array(), counterparty.as_array()])
}

/// The nonce of a delegation's address, as SATI verifies it.
///
/// January's sources create delegations under keccak(delegate ‖ mint), where the verification never
/// looks; zx1's programs therefore check a delegation's content and not its address.
pub fn delegation_nonce(sas_schema: &Address, delegate: &Address, agent: &Address) -> [u8; 32] {
    keccak(&[sas_schema.as_array(), delegate.as_array(), agent.as_array()])
}

/// What an EVM key signs to be linked to an agent.
pub fn evm_link_hash(agent: &Address, evm_address: &[u8; 20], chain_id: &str) -> [u8; 32] {
    keccak(&[b"SATI:evm_link:v1", agent.as_array(), evm_address, chain_id.as_bytes()])
}
