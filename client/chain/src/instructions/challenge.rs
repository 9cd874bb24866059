//! Builds the instructions of Challenge.

use super::accounts;
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;
use zx1_protocol::ids::AgentId;

/// Who challenges what.
#[derive(Clone, Copy, Debug)]
pub struct ChallengeAddresses {
    /// Who challenges; pays stake and rent.
    pub challenger: Address,
    /// The challenger's USDC account.
    pub challenger_usdc: Address,
    /// The USDC mint.
    pub usdc_mint: Address,
    /// Agent id: the mint of the agent's NFT.
    pub agent: AgentId,
    /// The batch's epoch.
    pub epoch_number: u64,
    /// Ground: 1 bid, 2 selection, 3 verifier, 4 feedback, 5 double bid.
    pub ground: u8,
    /// [`crate::claim::seed`] of evidence hash and ground.
    pub claim: [u8; 32],
}

impl ChallengeAddresses {
    /// Address of the challenged batch.
    pub fn batch(&self) -> Address {
        pda::batch(&self.agent, self.epoch_number)
    }

    /// Address of the challenge.
    pub fn challenge(&self) -> Address {
        pda::challenge(&self.batch(), &self.challenger, &self.claim)
    }
}

/// Where the evidence of a challenge lies.
#[derive(Clone, Debug)]
pub enum EvidenceSource {
    /// In the instruction.
    Inline(Vec<u8>),
    /// In a complete draft.
    Draft(Address),
    /// In a recorded envelope, with what proves its signer when that is not the batch's signer.
    Envelope {
        /// The recording account.
        record: Address,
        /// The account that holds the agent's NFT.
        agent_token: Option<Address>,
        /// The signer's DelegateV1 attestation.
        delegation: Option<Address>,
    },
}

/// Builds the instruction submit_challenge.
pub fn submit_challenge(addresses: &ChallengeAddresses, source: &EvidenceSource) -> Instruction {
    let (inline, evidence, agent_token, delegation) = match source {
        EvidenceSource::Inline(bytes) => (bytes.clone(), None, None, None),
        EvidenceSource::Draft(draft) => (Vec::new(), Some(*draft), None, None),
        EvidenceSource::Envelope { record, agent_token, delegation } => {
            (Vec::new(), Some(*record), *agent_token, *delegation)
        }
    };
    let challenge = addresses.challenge();
    accounts::SubmitChallenge {
        challenger: addresses.challenger,
        batch: addresses.batch(),
        stake: pda::stake(&addresses.agent),
        challenge,
        vault: pda::challenge_vault(&challenge),
        usdc_mint: addresses.usdc_mint,
        challenger_usdc: addresses.challenger_usdc,
        evidence,
        agent_token,
        delegation,
    }
    .with(&data::SubmitChallenge {
        agent_id: addresses.agent.into(),
        epoch_number: addresses.epoch_number,
        ground: addresses.ground,
        contradicting_entry: inline,
    })
}

/// record_envelope. The Ed25519 check of the envelope's signed bytes must be the instruction right before.
pub fn record_envelope(owner: Address, ground: u8, nonce: u64) -> Instruction {
    accounts::RecordEnvelope { owner, record: pda::recorded_envelope(&owner, nonce) }
        .with(&data::RecordEnvelope { ground, nonce })
}

/// Builds the instruction discard_envelope.
pub fn discard_envelope(owner: Address, nonce: u64) -> Instruction {
    accounts::DiscardEnvelope { owner, record: pda::recorded_envelope(&owner, nonce) }
        .with(&data::DiscardEnvelope { nonce })
}

/// Builds the instruction begin_evidence.
pub fn begin_evidence(owner: Address, nonce: u64, len: u32) -> Instruction {
    accounts::BeginEvidence { owner, draft: pda::evidence_draft(&owner, nonce) }
        .with(&data::BeginEvidence { nonce, len })
}

/// Builds the instruction append_evidence.
pub fn append_evidence(owner: Address, nonce: u64, offset: u32, bytes: Vec<u8>) -> Instruction {
    accounts::AppendEvidence { owner, draft: pda::evidence_draft(&owner, nonce) }
        .with(&data::AppendEvidence { nonce, offset, bytes })
}

/// Builds the instruction cancel_evidence.
pub fn cancel_evidence(owner: Address, nonce: u64) -> Instruction {
    accounts::CancelEvidence { owner, draft: pda::evidence_draft(&owner, nonce) }
        .with(&data::CancelEvidence { nonce })
}

/// Builds the instruction answer_challenge.
pub fn answer_challenge(
    answerer: Address,
    challenge: Address,
    batch: Address,
    answer: &data::AnswerChallenge,
) -> Instruction {
    accounts::AnswerChallenge { answerer, challenge, batch }.with(answer)
}

/// Builds the instruction resolve_challenge.
pub fn resolve_challenge(addresses: &ChallengeAddresses, treasury_usdc: Address) -> Instruction {
    let challenge = addresses.challenge();
    accounts::ResolveChallenge {
        challenge,
        challenger: addresses.challenger,
        challenger_usdc: addresses.challenger_usdc,
        treasury_usdc,
        vault: pda::challenge_vault(&challenge),
        stake: pda::stake(&addresses.agent),
        stake_vault: pda::stake_vault(&addresses.agent),
    }
    .with(&data::ResolveChallenge {})
}

/// Builds the instruction close_challenge.
pub fn close_challenge(challenge: Address, challenger: Address) -> Instruction {
    accounts::CloseChallenge { challenge, challenger }.with(&data::CloseChallenge {})
}
