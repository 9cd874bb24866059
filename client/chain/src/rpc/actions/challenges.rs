//! Challenges (decisions B10, B11 and P4). The flow of one: ranks for all its claims in a transaction that
//! shows nothing of the evidence; the evidence into drafts; seals; all claims opened at once.

use super::drafts::Pieces;
use super::{Actions, nonce, receiving};
use crate::instructions::challenge::{self as build, ChallengeAddresses, Money};
use crate::rpc::client::Client;
use crate::rpc::draft::ed25519;
use crate::rpc::draft::{Asked, Draft, Flow, Intent, Step};
use crate::rpc::error::{ChainError, Result};
use crate::rpc::intents;
use crate::rpc::read::Stored;
use crate::rpc::refusal::Refusal;
use crate::rpc::sizes::fits;
use crate::{claim, pda};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use solana_signature::Signature;
use zx1_interface::Error;
use zx1_interface::accounts::{BatchAccount, ChallengeAccount, EvidenceDraft};
use zx1_interface::constants::MAX_EVIDENCE_BYTES;
use zx1_interface::instruction::{AnswerChallenge, BeginEvidence};
use zx1_interface::states::{outcome, rank};
use zx1_protocol::batch::Covered;
use zx1_protocol::challenge::{Clock, Ground, rank_holds};
use zx1_protocol::derive;
use zx1_protocol::envelope::parse_signing_bytes;
use zx1_protocol::evidence::Evidence;
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::{self, Scopes};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::units::{Epoch, Slot};

/// What a claim rests on.
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
        /// The deal key that signed.
        signer: Address,
    },
}

/// One claim of a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimWith {
    /// What the batch is said to lack.
    pub ground: Ground,
    /// What it rests on.
    pub with: ChallengeWith,
}

/// What to challenge, and with which evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeRequest {
    /// Who challenges; pays the stakes, the ranks' deposits and the rent.
    pub challenger: Address,
    /// Agent id of the challenged agent.
    pub agent: AgentId,
    /// The batch's epoch.
    pub epoch: u64,
    /// Every claim that the evidence gives: one that is left out is somebody else's.
    pub claims: Vec<ClaimWith>,
}

/// What evidence obliges to, as the program derives it.
struct Obliged {
    value_known: bool,
    message: Hash,
}

impl ClaimWith {
    /// The bytes that a rank commits to.
    fn committed(&self) -> &[u8] {
        match &self.with {
            ChallengeWith::Evidence(bytes) => bytes,
            ChallengeWith::Envelope { signed, .. } => signed,
        }
    }

    fn obliged(&self, agent: &AgentId) -> Result<Obliged> {
        let (agent, ground) = (agent.as_bytes(), self.ground);
        let found = match &self.with {
            ChallengeWith::Evidence(bytes) => match Evidence::parse(bytes).map_err(invalid)? {
                Evidence::DoubleBid(a, b) => {
                    if ground != Ground::DoubleBid {
                        return Err(foreseen(Error::NoGround));
                    }
                    derive::double_bid(&a.bid, &b.bid).map_err(invalid)?;
                    return Ok(Obliged { value_known: true, message: a.bid.message });
                }
                Evidence::LogEntry(evidence) => {
                    let entry = LogEntry::decode::<Sha3>(evidence.entry).map_err(invalid)?;
                    derive::from_log_entry::<Sha3>(&entry, agent, ground, evidence.shown_payload)
                }
            },
            ChallengeWith::Envelope { signed, .. } => {
                let fields = parse_signing_bytes(signed).map_err(invalid)?;
                fields.check_payload::<Sha3>().map_err(invalid)?;
                derive::from_envelope::<Sha3>(&fields, agent, ground)
            }
        };
        let expected = found.map_err(invalid)?;
        Ok(Obliged { value_known: expected.value_known, message: *expected.record.message() })
    }
}

fn invalid(error: impl std::fmt::Display) -> ChainError {
    ChainError::Invalid(error.to_string())
}

/// A refusal that the program would give, before a rank is paid for.
fn foreseen(error: Error) -> ChainError {
    Refusal::foreseen(error).into()
}

/// Where a challenge's claims will be, in their order.
///
/// # Errors
///
/// [`ChainError::Invalid`] for evidence that does not parse or proves nothing on its ground.
pub fn challenge_addresses(request: &ChallengeRequest) -> Result<Vec<Address>> {
    let batch = pda::batch(&request.agent, request.epoch);
    let address = |with: &ClaimWith| {
        let obliged = with.obliged(&request.agent)?;
        Ok(pda::challenge(&batch, &claim::claim(with.ground, obliged.value_known, &obliged.message)))
    };
    request.claims.iter().map(address).collect()
}

impl Actions<'_> {
    /// A flow that submits a challenge. What the program would refuse is refused before a rank is paid for,
    /// as the deposit of one that is not used is burnt.
    ///
    /// # Errors
    ///
    /// [`ChainError::Invalid`] for evidence that does not parse or is too long, [`ChainError::BadSignature`]
    /// for an envelope that its signer did not sign, [`ChainError::AccountMissing`] without such a batch,
    /// [`ChainError::Refused`] with the program's own number.
    pub async fn challenge(&self, request: &ChallengeRequest) -> Result<Box<dyn Flow>> {
        let addresses = challenge_addresses(request)?;
        if addresses.is_empty() {
            return Err(ChainError::Invalid("invalid challenge: no claims".to_owned()));
        }
        let batch = self.batch(request.agent, request.epoch).await?;
        let challenger_usdc = self.paying(request.challenger).await?;
        let there = self.client.accounts(&addresses).await?;
        if there.iter().any(Option::is_none) {
            self.check_era(request.agent, &batch).await?;
        }
        let mut claims = Vec::with_capacity(addresses.len());
        for ((with, address), there) in request.claims.iter().zip(&addresses).zip(&there) {
            if there.is_none() {
                self.check_evidence(request.agent, &batch, with).await?;
            }
            let obliged = with.obliged(&request.agent)?;
            let ground = with.ground;
            let nonce = nonce(&[b"evidence", batch.address.as_ref(), &[ground as u8], with.committed()]);
            let addresses = ChallengeAddresses {
                challenger: request.challenger,
                challenger_usdc,
                agent: request.agent,
                epoch_number: request.epoch,
                era: batch.era,
                ground,
                value_known: obliged.value_known,
                message: obliged.message,
                nonce,
                replaced: None,
            };
            claims.push(Claim::new(addresses, *address, with, self.tables.clone())?);
        }
        // One name for the same claims.
        let names: Vec<[u8; 32]> = claims.iter().map(|claim| claim.addresses.claim()).collect();
        let name = Address::new_from_array(Sha3::hashv(&[names.as_flattened()]));
        Ok(Box::new(Challenging {
            intent: Intent::new("challenge", &[&request.challenger, &batch.address, &name]),
            title: format!("Challenge the batch of epoch {} of {}", request.epoch, request.agent),
            challenger: request.challenger,
            usdc_mint: self.usdc_mint(),
            batch_slot: batch.submitted_slot,
            claims,
            tables: self.tables.clone(),
        }))
    }

    /// Whether a batch can be challenged, and anything can be won.
    async fn check_era(&self, agent: AgentId, batch: &BatchAccount) -> Result<()> {
        let now = Slot(self.client.time().await?.slot);
        let clock = Clock { submitted: Slot(batch.submitted_slot) };
        if clock.is_over(now) {
            return Err(foreseen(Error::ChallengeWindowOver));
        }
        let stake = self.client.stake(agent, batch.era).await?;
        if stake.is_none_or(|stake| stake.stake_usdc == 0 && stake.pot_usdc == 0) {
            return Err(foreseen(Error::EraEmpty));
        }
        Ok(())
    }

    /// Whether the program would seal this evidence.
    async fn check_evidence(&self, agent: AgentId, batch: &BatchAccount, with: &ClaimWith) -> Result<()> {
        match &with.with {
            ChallengeWith::Evidence(bytes) => {
                if bytes.len() > MAX_EVIDENCE_BYTES {
                    let length = bytes.len();
                    return Err(invalid(format!(
                        "invalid evidence: {length} bytes, at most {MAX_EVIDENCE_BYTES} fit a draft"
                    )));
                }
                let arrays = (&batch.arrays_root, batch.arrays_len);
                match Evidence::parse(bytes).map_err(invalid)? {
                    Evidence::LogEntry(evidence) => {
                        evidence.verify::<Sha3>(&batch.log_merkle_root, batch.log_len).map_err(invalid)
                    }
                    Evidence::DoubleBid(a, b) => {
                        a.verify::<Sha3>(arrays.0, arrays.1).map_err(invalid)?;
                        b.verify::<Sha3>(arrays.0, arrays.1).map_err(invalid)
                    }
                }
            }
            ChallengeWith::Envelope { signed, signature, signer } => {
                if !Signature::from(*signature).verify(signer.as_ref(), signed) {
                    return Err(ChainError::BadSignature { address: *signer });
                }
                let epoch = parse_signing_bytes(signed).map_err(invalid)?.header.epoch();
                let (from, to) = (Epoch(batch.covers_from_epoch), Epoch(batch.epoch_number));
                if !(Covered { from, to }).contains(epoch) {
                    return Err(foreseen(Error::EnvelopeOutsideEpochs));
                }
                let key = self.client.key(agent, *signer).await?;
                let counts = key.is_some_and(|key| {
                    Scopes(key.scopes).has(Scopes::DEAL)
                        && keys::counts(Epoch(key.from_epoch), key.until_epoch, epoch)
                });
                if counts { Ok(()) } else { Err(foreseen(Error::WrongEnvelopeSigner)) }
            }
        }
    }

    /// Answers a challenge with the record that it asks for, which settles it: a part of the challenger's
    /// stake goes to the answerer. Anyone may. With a proof of more than 16 hashes it fits a transaction only
    /// with a lookup table ([`crate::rpc::lookup::roomy`]).
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn answer(
        &self,
        answerer: Address,
        challenge: Address,
        answer: &AnswerChallenge,
    ) -> Result<Draft> {
        let found = self.client.need::<ChallengeAccount>(challenge).await?;
        let batch = Address::new_from_array(found.batch);
        let (first, make_first) = self.receiving(answerer, answerer).await?;
        let (second, make_second) = self.treasury(answerer).await?;
        let money = Money { agent: AgentId(found.agent_id), era: found.era, first, second };
        let answering = build::answer_challenge(answerer, challenge, batch, &money, answer);
        let list = make_first.into_iter().chain(make_second).chain([answering]).collect();
        let intent = intents::answer(&challenge);
        Ok(self.draft(intent, format!("Answer the challenge {challenge}"), answerer, list))
    }

    /// Settles a challenge that nothing answered, once its rank is first. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn resolve(&self, challenge: Address, payer: Address) -> Result<Draft> {
        let found = self.client.need::<ChallengeAccount>(challenge).await?;
        let challenger = Address::new_from_array(found.challenger);
        let (first, make_first) = self.receiving(payer, challenger).await?;
        let (second, make_second) = self.treasury(payer).await?;
        let money = Money { agent: AgentId(found.agent_id), era: found.era, first, second };
        let resolve = build::resolve_challenge(challenge, &money);
        let list = make_first.into_iter().chain(make_second).chain([resolve]).collect();
        let intent = intents::resolve(&challenge);
        Ok(self.draft(intent, format!("Resolve the challenge {challenge}"), payer, list))
    }

    /// Moves an era's order past a settled challenge or a lapsed draft. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`], and [`ChainError::MalformedAccount`] for another account.
    pub async fn pass_rank(&self, account: Address, payer: Address) -> Result<Draft> {
        let what = "challenge or draft";
        let found = self.client.account(account).await?;
        let found = found.ok_or(ChainError::AccountMissing { what: what.into(), address: account })?;
        let (agent, era) = match Stored::<ChallengeAccount>::decode(&found) {
            Ok(challenge) => (challenge.agent_id, challenge.era),
            Err(_) => {
                let draft = Stored::<EvidenceDraft>::decode(&found)?;
                (draft.agent, draft.era)
            }
        };
        let pass = build::pass_rank(account, AgentId(agent), era);
        let title = format!("Pass the rank of {account} in era {era} of {}", AgentId(agent));
        Ok(self.draft(intents::pass_rank(&account), title, payer, vec![pass]))
    }

    /// Closes a settled challenge whose rank was passed; its rent goes to whoever paid it. Anyone may.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn close_challenge(&self, challenge: Address, payer: Address) -> Result<Draft> {
        let found = self.client.need::<ChallengeAccount>(challenge).await?;
        let rent_to = Address::new_from_array(found.payer);
        let close = build::close_challenge(challenge, rent_to, AgentId(found.agent_id), found.era);
        let intent = intents::close_challenge(&challenge);
        Ok(self.draft(intent, format!("Close the challenge {challenge}"), payer, vec![close]))
    }

    /// Pays what is left of an era's finders' part to the treasury, once nobody can claim it. Anyone may.
    pub async fn settle_era(&self, agent: AgentId, era: u32, payer: Address) -> Result<Draft> {
        let (treasury, create) = self.treasury(payer).await?;
        let settle = build::settle_era(agent, era, treasury);
        let list = create.into_iter().chain([settle]).collect();
        let title = format!("Settle era {era} of the agent {agent}");
        Ok(self.draft(intents::settle_era(&agent, era), title, payer, list))
    }

    /// Takes a draft back; its rent returns to its owner, and the deposit of a rank that was used or could
    /// not be.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn cancel_evidence(&self, owner: Address, nonce: u64) -> Result<Draft> {
        let address = pda::evidence_draft(&owner, nonce);
        let found = self.client.need::<EvidenceDraft>(address).await?;
        let stake = (found.agent != [0; 32]).then(|| pda::stake(&AgentId(found.agent), found.era));
        // A lower rank that holds the same claim brings the deposit back.
        let mut rival = None;
        if found.ground != 0 && found.used == 0 {
            let challenge = pda::challenge(&Address::new_from_array(found.batch), &found.claim);
            rival = self.client.challenge(challenge).await?.map(|challenge| challenge.address);
        }
        let cancel = build::cancel_evidence(owner, nonce, stake, rival);
        let intent = intents::cancel_evidence(&owner, nonce);
        Ok(self.draft(intent, "Cancel an evidence draft".to_owned(), owner, vec![cancel]))
    }
}

/// How a claim's evidence gets into its draft.
enum Content {
    Bytes(Pieces),
    Envelope {
        /// The Ed25519 check.
        check: Instruction,
        /// The signer's key account.
        key: Address,
    },
}

struct Claim {
    addresses: ChallengeAddresses,
    challenge: Address,
    commit: Hash,
    content: Content,
}

impl Claim {
    fn new(
        addresses: ChallengeAddresses,
        challenge: Address,
        with: &ClaimWith,
        tables: Vec<AddressLookupTableAccount>,
    ) -> Result<Self> {
        let (owner, nonce) = (addresses.challenger, addresses.nonce);
        let content = match &with.with {
            ChallengeWith::Evidence(bytes) => {
                Content::Bytes(Pieces { owner, nonce, bytes: bytes.clone(), tables })
            }
            ChallengeWith::Envelope { signed, signature, signer } => Content::Envelope {
                check: ed25519(signer, signature, signed)?,
                key: pda::key(&addresses.agent, signer),
            },
        };
        let commit = claim::commit(&owner, &addresses.batch(), with.committed());
        Ok(Self { addresses, challenge, commit, content })
    }

    fn begin(&self) -> Instruction {
        let at = &self.addresses;
        let len = match &self.content {
            Content::Bytes(pieces) => pieces.len(),
            Content::Envelope { .. } => 0,
        };
        let begin = BeginEvidence {
            nonce: at.nonce,
            len,
            agent_id: at.agent.into(),
            era: at.era,
            commit: self.commit,
        };
        build::begin_evidence(at.challenger, &begin)
    }

    fn seal(&self) -> Vec<Instruction> {
        let at = &self.addresses;
        let (check, key) = match &self.content {
            Content::Bytes(_) => (None, None),
            Content::Envelope { check, key } => (Some(check.clone()), Some(*key)),
        };
        let seal = build::seal_evidence(at.challenger, at.nonce, at.ground, at.batch(), key);
        check.into_iter().chain([seal]).collect()
    }
}

/// A claim that is still to be opened, or taken over.
struct Open<'a> {
    claim: &'a Claim,
    draft: Option<Stored<EvidenceDraft>>,
    /// The challenger of a higher rank.
    replaced: Option<Address>,
}

/// Instructions that stay together, and their name among the steps.
struct Group {
    name: String,
    list: Vec<Instruction>,
}

struct Challenging {
    intent: Intent,
    title: String,
    challenger: Address,
    usdc_mint: Address,
    /// Slot in which the batch landed.
    batch_slot: u64,
    claims: Vec<Claim>,
    tables: Vec<AddressLookupTableAccount>,
}

impl Challenging {
    fn fits(&self, list: &[Instruction]) -> bool {
        fits(list, &self.challenger, &self.tables)
    }

    fn send(&self, intent: Intent, title: &str, list: Vec<Instruction>, last: bool) -> Step {
        let draft = Draft::new(intent, title, self.challenger, list).with_tables(self.tables.clone());
        Step::Send { draft, last }
    }

    /// The claims that can still be opened by this challenger.
    async fn open(&self, client: &Client) -> Result<Vec<Open<'_>>> {
        let now = Slot(client.time().await?.slot);
        let mut open = Vec::new();
        for claim in &self.claims {
            let found = client.challenge(claim.challenge).await?;
            let draft = client.evidence_draft(self.challenger, claim.addresses.nonce).await?;
            let replaced = match found {
                None => None,
                Some(found) => {
                    let challenger = Address::new_from_array(found.challenger);
                    // Only a rank that was taken before the other one, and holds, takes a claim over.
                    let is_before = draft.as_ref().is_some_and(|draft| {
                        draft.state == rank::HELD
                            && draft.used == 0
                            && rank_holds(Slot(draft.begin_slot), now)
                            && self.batch_slot < draft.begin_slot
                            && draft.rank < found.rank
                    });
                    if found.outcome != outcome::OPEN || challenger == self.challenger || !is_before {
                        continue;
                    }
                    Some(challenger)
                }
            };
            open.push(Open { claim, draft, replaced });
        }
        Ok(open)
    }

    async fn step(&self, client: &Client) -> Result<Step> {
        let open = self.open(client).await?;
        match self.before_writing(&open) {
            Some(step) => Ok(step),
            None => self.write(client, &open).await,
        }
    }

    /// What comes before the evidence is shown.
    fn before_writing(&self, open: &[Open<'_>]) -> Option<Step> {
        if open.is_empty() {
            let names: Vec<String> = self.claims.iter().map(|claim| claim.challenge.to_string()).collect();
            return Some(Step::Done(format!("Every claim is open or settled: {}.", names.join(", "))));
        }
        // A draft of an earlier challenge with the same evidence, which was settled and closed since.
        let spent = |open: &&Open<'_>| open.draft.as_ref().is_some_and(|draft| draft.used == 1);
        if let Some(Open { claim, .. }) = open.iter().find(spent) {
            let at = &claim.addresses;
            let stake = Some(pda::stake(&at.agent, at.era));
            let cancel = build::cancel_evidence(at.challenger, at.nonce, stake, None);
            let intent = self.intent.step(&format!("cancel {}", at.nonce));
            return Some(self.send(intent, "Cancel a draft that was used", vec![cancel], false));
        }
        // The ranks first, in a transaction that shows nothing.
        let mut begins: Vec<Instruction> = Vec::new();
        for open in open.iter().filter(|open| open.draft.is_none()) {
            begins.push(open.claim.begin());
            if !self.fits(&begins) && begins.len() > 1 {
                begins.pop();
                break;
            }
        }
        if begins.is_empty() {
            return None;
        }
        let missing = open.iter().filter(|open| open.draft.is_none()).count();
        let intent = self.intent.step(&format!("begin {missing}"));
        Some(self.send(intent, "Take ranks for a challenge", begins, false))
    }

    /// As many of the remaining instructions as fit.
    async fn write(&self, client: &Client, open: &[Open<'_>]) -> Result<Step> {
        let mut groups: Vec<Group> = Vec::new();
        let mut first_piece = None;
        for (number, open) in open.iter().enumerate() {
            let Some(draft) = open.draft.as_ref().filter(|draft| draft.ground == 0) else { continue };
            if let Content::Bytes(pieces) = &open.claim.content {
                let written = pieces.written(draft)?;
                if written < pieces.bytes.len() {
                    if groups.is_empty() {
                        first_piece = Some((pieces, written));
                    }
                    let name = format!("append {number} at {written}");
                    groups.push(Group { name, list: pieces.rest(written).into_iter().collect() });
                }
            }
            groups.push(Group { name: format!("seal {number}"), list: open.claim.seal() });
        }
        groups.extend(self.submissions(client, open).await?);
        let count = groups.len();
        let (mut list, mut name, mut taken) = (Vec::new(), String::new(), 0_usize);
        for group in groups {
            let longer = [list.as_slice(), group.list.as_slice()].concat();
            let must = list.is_empty() && first_piece.is_none();
            if !must && !self.fits(&longer) {
                break;
            }
            list = longer;
            taken = taken.saturating_add(1);
            if name.is_empty() {
                name = group.name;
            }
        }
        let write = "Write evidence of a challenge";
        if taken == 0
            && let Some((pieces, written)) = first_piece
        {
            let intent = self.intent.step(&format!("append {} at {written}", pieces.nonce));
            return Ok(self.send(intent, write, pieces.piece(written, &[])?, false));
        }
        Ok(match taken == count {
            true => self.send(self.intent.clone(), &self.title, list, true),
            false => self.send(self.intent.step(&name), write, list, false),
        })
    }

    /// All claims in one group where they fit, so that a copier finds none left.
    async fn submissions(&self, client: &Client, open: &[Open<'_>]) -> Result<Vec<Group>> {
        let mut groups: Vec<Group> = Vec::new();
        for (number, open) in open.iter().enumerate() {
            let mut list = Vec::new();
            let mut addresses = open.claim.addresses;
            if let Some(wallet) = open.replaced {
                let made = receiving(client, &self.usdc_mint, self.challenger, wallet).await?;
                addresses.replaced = Some(made.0);
                list.extend(made.1);
            }
            list.push(build::submit_challenge(&addresses));
            groups.push(Group { name: format!("submit {number} of {}", open_name(open)), list });
        }
        let all: Vec<Instruction> = groups.iter().flat_map(|group| group.list.clone()).collect();
        match groups.first() {
            Some(first) if self.fits(&all) => Ok(vec![Group { name: first.name.clone(), list: all }]),
            _ => Ok(groups),
        }
    }
}

/// Tells a submission apart from the one that takes the same claim over.
fn open_name(open: &Open<'_>) -> String {
    open.replaced.map_or_else(|| open.claim.challenge.to_string(), |wallet| wallet.to_string())
}

impl Flow for Challenging {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step> {
        Box::pin(self.step(client))
    }

    fn is_race(&self, refusal: &Refusal) -> bool {
        // Somebody opened the claim meanwhile, or took it over.
        matches!(
            refusal.of_zx1(),
            Some(
                Error::AccountExists
                    | Error::AccountMissing
                    | Error::ChallengeExists
                    | Error::WrongTokenAccountOwner
                    | Error::AlreadySealed
                    | Error::AlreadyUsed
            )
        )
    }
}

#[cfg(test)]
#[path = "challenges_tests.rs"]
mod tests;
