//! Challenges (decisions B10 and B11): evidence inline where it fits a transaction, else in a draft; an
//! envelope is recorded first.

use super::{Actions, nonce};
use crate::claim;
use crate::instructions::challenge::{self as build, ChallengeAddresses, EvidenceSource};
use crate::pda;
use crate::rpc::client::Client;
use crate::rpc::draft::ed25519;
use crate::rpc::draft::{Asked, Draft, Flow, Intent, Step};
use crate::rpc::error::{ChainError, Result};
use crate::rpc::intents;
use crate::rpc::read::Stored;
use crate::rpc::refusal::Refusal;
use crate::rpc::sizes::{fits, largest_chunk};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use solana_signature::Signature;
use zx1_interface::Error;
use zx1_interface::accounts::{BatchAccount, ChallengeAccount};
use zx1_interface::constants::MAX_EVIDENCE_BYTES;
use zx1_interface::instruction::AnswerChallenge;
use zx1_protocol::challenge::{Ground, evidence_hash};
use zx1_protocol::envelope::parse_signing_bytes;
use zx1_protocol::evidence::{Evidence, KIND_DOUBLE_BID, KIND_ENVELOPE, KIND_LOG_ENTRY};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::AgentId;

/// What a challenge rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeWith {
    /// Evidence bytes: a log entry with its proof, or a double bid ([`Evidence::to_bytes`]).
    Evidence(Vec<u8>),
    /// A signed envelope.
    Envelope {
        /// The signed bytes: header and payload (decision C1).
        signed: Vec<u8>,
        /// Ed25519 signature of the envelope.
        signature: [u8; 64],
        /// The key that signed: the agent's owner, its delegate, or the batch's signer.
        signer: Address,
    },
}

/// What to challenge, and with which evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeRequest {
    /// Who challenges; pays the stake of 10 USDC and the rent.
    pub challenger: Address,
    /// Agent id of the challenged agent.
    pub agent: AgentId,
    /// The batch's epoch.
    pub epoch: u64,
    /// Ground on which the batch is challenged.
    pub ground: Ground,
    /// What it rests on.
    pub with: ChallengeWith,
}

impl ChallengeWith {
    /// The hash that makes the challenge unique, as the program computes it.
    ///
    /// # Errors
    ///
    /// [`ChainError::Invalid`] for evidence that does not parse.
    pub fn hash(&self) -> Result<Hash> {
        match self {
            Self::Evidence(bytes) => match Evidence::parse(bytes) {
                Ok(Evidence::LogEntry(entry)) => Ok(evidence_hash::<Sha3>(
                    KIND_LOG_ENTRY,
                    &entry.leaf::<Sha3>(),
                    entry.shown_payload.is_some(),
                )),
                Ok(Evidence::DoubleBid(a, b)) => {
                    // In one order, so that the same pair the other way round is the same challenge.
                    let (first, second) = if a.record <= b.record { (a, b) } else { (b, a) };
                    let subject = Sha3::hashv(&[first.record, second.record]);
                    Ok(evidence_hash::<Sha3>(KIND_DOUBLE_BID, &subject, false))
                }
                Err(error) => Err(ChainError::Invalid(error.to_string())),
            },
            Self::Envelope { signed, .. } => {
                Ok(evidence_hash::<Sha3>(KIND_ENVELOPE, &Sha3::hashv(&[signed]), true))
            }
        }
    }
}

/// Where a challenge will be.
///
/// # Errors
///
/// As [`ChallengeWith::hash`].
pub fn challenge_address(request: &ChallengeRequest) -> Result<Address> {
    let claim = claim::seed(&request.with.hash()?, request.ground as u8);
    Ok(pda::challenge(&pda::batch(&request.agent, request.epoch), &request.challenger, &claim))
}

impl Actions<'_> {
    /// A flow that submits a challenge.
    ///
    /// # Errors
    ///
    /// [`ChainError::Invalid`] for evidence that does not parse or is too long, [`ChainError::BadSignature`]
    /// for an envelope that its signer did not sign, [`ChainError::AccountMissing`] without such a batch.
    pub async fn challenge(&self, request: &ChallengeRequest) -> Result<Box<dyn Flow>> {
        let evidence_hash = request.with.hash()?;
        let batch = self.client.batch(request.agent, request.epoch).await?;
        let address = pda::batch(&request.agent, request.epoch);
        let what = format!("batch of epoch {}", request.epoch).into();
        let batch = batch.ok_or(ChainError::AccountMissing { what, address })?;
        let addresses = ChallengeAddresses {
            challenger: request.challenger,
            challenger_usdc: self.paying(request.challenger).await?,
            usdc_mint: self.usdc_mint(),
            agent: request.agent,
            epoch_number: request.epoch,
            ground: request.ground as u8,
            claim: claim::seed(&evidence_hash, request.ground as u8),
        };
        let hash = Address::new_from_array(evidence_hash);
        let challenge = Challenging {
            addresses,
            intent: Intent::new(
                "challenge",
                &[&request.challenger, &address, &(request.ground as u8), &hash],
            ),
            tables: self.tables.clone(),
        };
        match &request.with {
            ChallengeWith::Evidence(bytes) => {
                if bytes.len() > MAX_EVIDENCE_BYTES {
                    return Err(ChainError::Invalid(format!(
                        "The evidence has {} bytes, a draft takes at most {MAX_EVIDENCE_BYTES}.",
                        bytes.len()
                    )));
                }
                let nonce = nonce(&[b"evidence", addresses.batch().as_ref(), &[addresses.ground], bytes]);
                Ok(Box::new(WithEvidence { challenge, bytes: bytes.clone(), nonce }))
            }
            ChallengeWith::Envelope { signed, signature, signer } => {
                if !Signature::from(*signature).verify(signer.as_ref(), signed) {
                    return Err(ChainError::BadSignature { address: *signer });
                }
                parse_signing_bytes(signed).map_err(|error| ChainError::Invalid(error.to_string()))?;
                let (agent_token, delegation) = self.signer_proof(&batch, request.agent, *signer).await?;
                let nonce = nonce(&[b"envelope", addresses.batch().as_ref(), &[addresses.ground], signed]);
                let check = ed25519(signer, signature, signed)?;
                Ok(Box::new(WithEnvelope { challenge, check, nonce, agent_token, delegation }))
            }
        }
    }

    /// What proves that an envelope's signer spoke for the agent: nothing for the batch's own signer.
    async fn signer_proof(
        &self,
        batch: &BatchAccount,
        agent: AgentId,
        signer: Address,
    ) -> Result<(Option<Address>, Option<Address>)> {
        if batch.signer == signer.to_bytes() {
            return Ok((None, None));
        }
        let record = self.agent(agent).await?;
        let delegation = self.delegation(&record, signer).await?;
        Ok((Some(record.addresses()?.token), delegation))
    }

    /// Answers a challenge with the record that it asks for. Anyone may. Even a proof of depth 20 fits one
    /// transaction.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`], [`ChainError::TooLarge`] for a longer proof.
    pub async fn answer(
        &self,
        answerer: Address,
        challenge: Address,
        answer: &AnswerChallenge,
    ) -> Result<Draft> {
        let found = self.client.need::<ChallengeAccount>(challenge).await?;
        let batch = Address::new_from_array(found.batch);
        let answering = build::answer_challenge(answerer, challenge, batch, answer);
        let intent = intents::answer(&challenge);
        Ok(self.draft(intent, format!("Answer the challenge {challenge}"), answerer, vec![answering]))
    }

    /// Settles a challenge whose window is over. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn resolve(&self, challenge: Address, payer: Address) -> Result<Draft> {
        let found = self.client.need::<ChallengeAccount>(challenge).await?;
        let challenger = Address::new_from_array(found.challenger);
        let (treasury_usdc, make_treasury) = self.treasury(payer).await?;
        let (challenger_usdc, make_challenger) = self.usdc_or_create(payer, challenger).await?;
        let addresses = ChallengeAddresses {
            challenger,
            challenger_usdc,
            usdc_mint: self.usdc_mint(),
            agent: AgentId(found.agent_id),
            epoch_number: found.epoch_number,
            ground: found.ground,
            claim: claim::seed(&found.evidence_hash, found.ground),
        };
        let resolve = build::resolve_challenge(&addresses, treasury_usdc);
        let list = make_treasury.into_iter().chain(make_challenger).chain([resolve]).collect();
        let intent = intents::resolve(&challenge);
        Ok(self.draft(intent, format!("Resolve the challenge {challenge}"), payer, list))
    }

    /// Closes a settled challenge; its rent goes to the challenger. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn close_challenge(&self, challenge: Address, payer: Address) -> Result<Draft> {
        let found = self.client.need::<ChallengeAccount>(challenge).await?;
        let close = build::close_challenge(challenge, Address::new_from_array(found.challenger));
        let intent = intents::close_challenge(&challenge);
        Ok(self.draft(intent, format!("Close the challenge {challenge}"), payer, vec![close]))
    }

    /// Takes an unused evidence draft back; its rent returns to its owner.
    pub fn cancel_evidence(&self, owner: Address, nonce: u64) -> Draft {
        let cancel = build::cancel_evidence(owner, nonce);
        let intent = Intent::new("cancel-evidence", &[&owner, &nonce]);
        self.draft(intent, "Cancel an evidence draft".to_owned(), owner, vec![cancel])
    }

    /// Takes an unused recorded envelope back; its rent returns to its owner.
    pub fn discard_envelope(&self, owner: Address, nonce: u64) -> Draft {
        let discard = build::discard_envelope(owner, nonce);
        let intent = Intent::new("discard-envelope", &[&owner, &nonce]);
        self.draft(intent, "Discard a recorded envelope".to_owned(), owner, vec![discard])
    }
}

/// What all challenges have in common.
struct Challenging {
    addresses: ChallengeAddresses,
    intent: Intent,
    tables: Vec<AddressLookupTableAccount>,
}

impl Challenging {
    fn payer(&self) -> &Address {
        &self.addresses.challenger
    }

    fn draft(&self, intent: Intent, title: &str, list: Vec<Instruction>) -> Draft {
        Draft::new(intent, title, self.addresses.challenger, list).with_tables(self.tables.clone())
    }

    fn title(&self) -> String {
        format!("Challenge the batch of epoch {} of {}", self.addresses.epoch_number, self.addresses.agent)
    }

    fn submit(&self, source: &EvidenceSource) -> Draft {
        let submit = build::submit_challenge(&self.addresses, source);
        self.draft(self.intent.clone(), &self.title(), vec![submit])
    }

    async fn exists(&self, client: &Client) -> Result<Option<Step>> {
        let address = self.addresses.challenge();
        let found: Option<Stored<ChallengeAccount>> = client.challenge(address).await?;
        Ok(found.map(|challenge| {
            Step::Done(format!("The challenge {address} exists since slot {}.", challenge.submitted_slot))
        }))
    }
}

/// A log entry or a double bid.
struct WithEvidence {
    challenge: Challenging,
    bytes: Vec<u8>,
    nonce: u64,
}

impl WithEvidence {
    fn append(&self, at: usize, count: usize) -> Option<Instruction> {
        let bytes = self.bytes.get(at..at.checked_add(count)?)?.to_vec();
        Some(build::append_evidence(*self.challenge.payer(), self.nonce, u32::try_from(at).ok()?, bytes))
    }

    /// The next piece, with `before` in the same transaction.
    fn piece(&self, at: usize, before: &[Instruction]) -> Result<Vec<Instruction>> {
        let with = |count: usize| {
            let mut list = before.to_vec();
            list.extend(self.append(at, count));
            list
        };
        let rest = self.bytes.len().saturating_sub(at);
        largest_chunk(rest, self.challenge.payer(), &self.challenge.tables, with)
            .map(with)
            .ok_or_else(|| ChainError::Invalid("Not even one byte of the evidence fits.".to_owned()))
    }

    async fn step(&self, client: &Client) -> Result<Step> {
        if let Some(done) = self.challenge.exists(client).await? {
            return Ok(done);
        }
        let inline = self.challenge.submit(&EvidenceSource::Inline(self.bytes.clone()));
        if fits(&inline.instructions, self.challenge.payer(), &self.challenge.tables) {
            return Ok(Step::Send { draft: inline, last: true });
        }
        let (owner, intent) = (*self.challenge.payer(), &self.challenge.intent);
        let step = |name: &str, title: &str, list| Step::Send {
            draft: self.challenge.draft(intent.step(name), title, list),
            last: false,
        };
        let Some(found) = client.evidence_draft(owner, self.nonce).await? else {
            // At most 8192 bytes, as was checked.
            let len = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
            let begin = build::begin_evidence(owner, self.nonce, len);
            return Ok(step("begin", "Begin a draft of evidence", self.piece(0, &[begin])?));
        };
        let written = usize::try_from(found.written).unwrap_or(usize::MAX);
        let same = usize::try_from(found.len) == Ok(self.bytes.len())
            && self.bytes.get(..written).is_some_and(|mine| found.tail.get(..written) == Some(mine));
        if !same {
            let cancel = build::cancel_evidence(owner, self.nonce);
            return Ok(step("cancel", "Cancel a draft that holds other bytes", vec![cancel]));
        }
        if written < self.bytes.len() {
            let name = format!("append at {written}");
            return Ok(step(&name, "Write more evidence", self.piece(written, &[])?));
        }
        let draft = pda::evidence_draft(&owner, self.nonce);
        Ok(Step::Send { draft: self.challenge.submit(&EvidenceSource::Draft(draft)), last: true })
    }
}

impl Flow for WithEvidence {
    fn intent(&self) -> &Intent {
        &self.challenge.intent
    }

    fn title(&self) -> String {
        self.challenge.title()
    }

    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step> {
        Box::pin(self.step(client))
    }

    fn is_race(&self, refusal: &Refusal) -> bool {
        refusal.of_zx1() == Some(Error::AccountExists)
    }
}

/// The steps for evidence that is an envelope.
struct WithEnvelope {
    challenge: Challenging,
    check: Instruction,
    nonce: u64,
    agent_token: Option<Address>,
    delegation: Option<Address>,
}

impl WithEnvelope {
    async fn step(&self, client: &Client) -> Result<Step> {
        if let Some(done) = self.challenge.exists(client).await? {
            return Ok(done);
        }
        let owner = *self.challenge.payer();
        if client.recorded_envelope(owner, self.nonce).await?.is_none() {
            let record = build::record_envelope(owner, self.challenge.addresses.ground, self.nonce);
            let list = vec![self.check.clone(), record];
            let intent = self.challenge.intent.step("record");
            let draft = self.challenge.draft(intent, "Record the envelope as evidence", list);
            return Ok(Step::Send { draft, last: false });
        }
        let source = EvidenceSource::Envelope {
            record: pda::recorded_envelope(&owner, self.nonce),
            agent_token: self.agent_token,
            delegation: self.delegation,
        };
        Ok(Step::Send { draft: self.challenge.submit(&source), last: true })
    }
}

impl Flow for WithEnvelope {
    fn intent(&self) -> &Intent {
        &self.challenge.intent
    }

    fn title(&self) -> String {
        self.challenge.title()
    }

    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step> {
        Box::pin(self.step(client))
    }

    fn is_race(&self, refusal: &Refusal) -> bool {
        refusal.of_zx1() == Some(Error::AccountExists)
    }
}
