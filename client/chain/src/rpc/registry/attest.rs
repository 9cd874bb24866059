//! FeedbackV1 attestations at SATI (decision D5): the rated agent's owner signs at ACCEPT that this task is
//! agreed to; the counterparty signs the words and files the attestation.
//!
//! SATI keeps FeedbackV1 in compressed accounts of the Light protocol, which need a prover and an indexer of
//! their own. What is written here is what SATI's stand-in on local and test clusters takes, with the same
//! data, signatures and nonce; only the accounts behind the program's differ.

use super::super::draft::{Draft, Intent, ed25519};
use super::super::error::{ChainError, Result};
use super::super::read::RawAccount;
use super::{Sati, need};
use crate::sati::{self, Attestation, ContentType, Outcome};
use solana_address::Address;
use solana_signature::Signature;
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::interaction::{interaction_hash, task_ref};
use zx1_protocol::units::Slot;

/// The schema of FeedbackV1 at SAS under SATI's credential, as both public clusters have it.
const FEEDBACK_SCHEMA: (&str, u8) = ("SATIFeedbackV1", 1);
/// First eight bytes of the stand-in's attestation accounts.
const STORED: [u8; 8] = [0xb3, 0x88, 0x3a, 0xc5, 0xe4, 0x78, 0xdc, 0x32];

/// What was agreed to at ACCEPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The agent that will be rated.
    pub agent: AgentId,
    /// The wallet that will rate it.
    pub counterparty: Address,
    /// conversation id ‖ 16 zero bytes (`zx1_protocol::interaction::task_ref`).
    pub task_ref: [u8; 32],
    /// The interaction hash of protocol.md, 7.2 (`zx1_protocol::interaction::interaction_hash`).
    pub data_hash: [u8; 32],
}

impl Agreement {
    /// Of a task in the protocol's own words (decision D5): `counterparty` is the agent that will rate,
    /// `wallet` its owner's, which files the rating, `accepted` the `block_ref` of the ACCEPT.
    pub fn of_task(
        agent: AgentId,
        counterparty: AgentId,
        wallet: Address,
        conversation: &ConversationId,
        accepted: Slot,
    ) -> Self {
        Self {
            agent,
            counterparty: wallet,
            task_ref: task_ref(conversation),
            data_hash: interaction_hash::<Sha3>(conversation, &counterparty, accepted),
        }
    }
}

/// A rating to be filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The agreement that the rating is about.
    pub agreement: Agreement,
    /// The outcome of the task.
    pub outcome: Outcome,
    /// 0 to 100; goes into the content as JSON.
    pub score: u8,
    /// The owner's signature from ACCEPT, over [`Sati::agreement_message`].
    pub agent_signature: [u8; 64],
    /// The counterparty's signature over [`Sati::rating_message`].
    pub counterparty_signature: [u8; 64],
    /// The wallet that pays the fee and the rent.
    pub payer: Address,
}

/// A filed rating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadAttestation {
    /// Address of the attestation.
    pub address: Address,
    /// The attestation's content.
    pub attestation: Attestation,
    /// keccak256 of that address: what a batch's feedback record holds (protocol.md, 8.3).
    pub hash: [u8; 32],
}

impl Sati {
    /// FeedbackV1's schema at SAS on this cluster.
    pub fn feedback_schema(&self) -> Address {
        let (name, version) = FEEDBACK_SCHEMA;
        sati::sas_schema_address(&self.credential(), name, version).0
    }

    /// What the rated agent's owner signs at ACCEPT: 32 bytes. Only the owner's signature counts, not a
    /// delegate's (decision D5).
    pub fn agreement_message(&self, agreement: &Agreement) -> [u8; 32] {
        sati::interaction_hash(&self.feedback_schema(), &agreement.task_ref, &agreement.data_hash)
    }

    /// Whether the agent's present owner signed this agreement. To be asked before the work begins.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAnAgent`] and [`ChainError::AgentBurned`].
    pub async fn check_agreement(&self, agreement: &Agreement, signature: &[u8; 64]) -> Result<bool> {
        let agent = need(self, agreement.agent).await?;
        let owner = agent.owner.ok_or(ChainError::AgentBurned { mint: agreement.agent })?;
        Ok(Signature::from(*signature).verify(owner.as_ref(), &self.agreement_message(agreement)))
    }

    /// The attestation of a rating.
    fn rating(agreement: &Agreement, outcome: Outcome, score: u8) -> Attestation {
        Attestation {
            task_ref: agreement.task_ref,
            agent: agreement.agent.into(),
            counterparty: agreement.counterparty,
            outcome,
            data_hash: agreement.data_hash,
            content_type: ContentType::Json,
            content: format!("{{\"score\":{score}}}").into_bytes(),
        }
    }

    /// The words that the counterparty's wallet shows and signs.
    ///
    /// # Errors
    ///
    /// Also [`ChainError::Invalid`] for a score above 100.
    pub async fn rating_message(
        &self,
        agreement: &Agreement,
        outcome: Outcome,
        score: u8,
    ) -> Result<Vec<u8>> {
        if score > 100 {
            return Err(ChainError::Invalid(format!("A score is 0 to 100, not {score}.")));
        }
        // The name is part of what is signed and differs between clusters.
        let name = self.schema(self.feedback_schema()).await?.name;
        Ok(sati::counterparty_message(&name, &Self::rating(agreement, outcome, score)))
    }

    /// A draft that files a rating. Both signatures are checked first.
    ///
    /// # Errors
    ///
    /// [`ChainError::BadSignature`] names whose does not fit.
    pub async fn attest(&self, feedback: &Feedback) -> Result<Draft> {
        let agreement = &feedback.agreement;
        let agent = need(self, agreement.agent).await?;
        let owner = agent.owner.ok_or(ChainError::AgentBurned { mint: agreement.agent })?;
        let interaction = self.agreement_message(agreement);
        let words = self.rating_message(agreement, feedback.outcome, feedback.score).await?;
        let holds = |signature: &[u8; 64], key: &Address, message: &[u8]| {
            Signature::from(*signature).verify(key.as_ref(), message)
        };
        if !holds(&feedback.agent_signature, &owner, &interaction) {
            return Err(ChainError::BadSignature { address: owner });
        }
        if !holds(&feedback.counterparty_signature, &agreement.counterparty, &words) {
            return Err(ChainError::BadSignature { address: agreement.counterparty });
        }
        let schema = self.feedback_schema();
        let subject = Self::rating(agreement, feedback.outcome, feedback.score);
        let nonce = sati::attestation_nonce(
            &agreement.task_ref,
            &schema,
            &agreement.agent.into(),
            &agreement.counterparty,
        );
        let actors = self.actors(feedback.payer, schema, agent.addresses()?.token);
        let create = sati::create_compressed_attestation(&actors, &subject, &nonce);
        let check = ed25519;
        Ok(Draft::new(
            Intent::new(
                "attest",
                &[&agreement.agent, &agreement.counterparty, &Address::new_from_array(agreement.task_ref)],
            ),
            format!("Attest how the task with {} went: {}", agreement.agent, feedback.outcome.word()),
            feedback.payer,
            vec![
                check(&owner, &feedback.agent_signature, &interaction)?,
                check(&agreement.counterparty, &feedback.counterparty_signature, &words)?,
                self.edition.accounts(create),
            ],
        ))
    }

    /// A filed rating, read back.
    pub async fn read_attestation(
        &self,
        task_ref: &[u8; 32],
        agent: AgentId,
        counterparty: Address,
    ) -> Result<Option<ReadAttestation>> {
        let (agent, schema) = (agent.into(), self.feedback_schema());
        let nonce = sati::attestation_nonce(task_ref, &schema, &agent, &counterparty);
        let address = sati::attestation_address(&schema, &agent, &nonce).0;
        let Some(account) = self.client.account(address).await? else { return Ok(None) };
        let size = account.data.len();
        let fits = |found: &ReadAttestation| {
            found.attestation.agent == agent && found.attestation.counterparty == counterparty
        };
        let found = stored(&account).filter(fits);
        found.map(Some).ok_or(ChainError::MalformedAccount { what: "attestation".into(), address, size })
    }

    /// All ratings of an agent that are filed here, by address. On the public clusters there are none to be
    /// read so: SATI keeps them compressed there, and only an indexer of the Light protocol lists them.
    ///
    /// # Errors
    ///
    /// Also when an account of SATI's does not hold an attestation.
    pub async fn attestations_of(&self, agent: AgentId) -> Result<Vec<ReadAttestation>> {
        let schema = self.feedback_schema();
        // Discriminator, schema, mint: then the bytes.
        let filters: [(usize, &[u8]); 3] = [(0, &STORED), (8, schema.as_ref()), (40, agent.as_ref())];
        let addresses = self.client.program_addresses(sati::PROGRAM, &filters).await?;
        let accounts = self.client.accounts(&addresses).await?;
        let malformed = |account: &RawAccount| ChainError::MalformedAccount {
            what: "attestation".into(),
            address: account.address,
            size: account.data.len(),
        };
        let found =
            accounts.iter().flatten().map(|account| stored(account).ok_or_else(|| malformed(account)));
        found.collect()
    }
}

/// An attestation as the stand-in keeps it: discriminator, schema, mint, the bytes with their count.
fn stored(account: &RawAccount) -> Option<ReadAttestation> {
    (account.owner == sati::PROGRAM).then_some(())?;
    let rest = account.data.strip_prefix(&STORED)?.get(64..)?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let bytes = rest.get(..usize::try_from(u32::from_le_bytes(*count)).ok()?)?;
    let attestation = Attestation::decode(bytes)?;
    let address = account.address;
    Some(ReadAttestation { address, hash: keccak(address.as_ref()), attestation })
}

fn keccak(bytes: &[u8]) -> [u8; 32] {
    use sha3::Digest;
    sha3::Keccak256::digest(bytes).into()
}
