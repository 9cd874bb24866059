//! What the tests of evidence share: agents with batches, challenges, the feedback log.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::sync::{LazyLock, Mutex};
use zx1_chain::instructions::behavior_log;
use zx1_chain::instructions::challenge::{
    ChallengeAddresses, EvidenceSource, append_evidence, begin_evidence, record_envelope, resolve_challenge,
    submit_challenge,
};
use zx1_chain::pda;
use zx1_interface::accounts::{
    BatchAccount, ChallengeAccount, FeedbackEntry, FeedbackLogAccount, StakeLockAccount,
};
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, EPOCH_SECONDS};
use zx1_interface::instruction::SubmitBatch;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Hash;
use zx1_vm_tests::{Agent, Batch, Failure, Receipt, World, address, ed25519_instruction, events, message_of};

pub(crate) use crate::messages::{
    BID, BidProof, CONVERSATION, COUNTERPARTY, DOUBLE_BID, FEEDBACK, LogProof, Message, SELECTION, SLOT,
    VERIFIER, bid_payload, double_bid_bytes, double_bid_entry, evidence_hash, keccak, next_head, rating,
    sparse,
};

/// A challenge to be submitted.
#[derive(Clone, Debug)]
pub(crate) struct Filing {
    pub(crate) addresses: ChallengeAddresses,
    pub(crate) source: EvidenceSource,
    pub(crate) evidence_hash: Hash,
}

impl Filing {
    /// The instruction submit_challenge.
    pub(crate) fn instruction(&self) -> Instruction {
        submit_challenge(&self.addresses, &self.source)
    }

    /// The challenge's account.
    pub(crate) fn challenge(&self) -> Address {
        self.addresses.challenge()
    }

    /// Address of the challenge's vault.
    pub(crate) fn vault(&self) -> Address {
        pda::challenge_vault(&self.challenge())
    }
}

/// The places of submit_challenge's accounts.
pub(crate) mod at {
    pub(crate) const CONFIG: usize = 1;
    pub(crate) const BATCH: usize = 2;
    pub(crate) const STAKE: usize = 3;
    pub(crate) const CHALLENGE: usize = 4;
    pub(crate) const VAULT: usize = 5;
    pub(crate) const USDC_MINT: usize = 6;
    pub(crate) const CHALLENGER_USDC: usize = 7;
    pub(crate) const AUTHORITY: usize = 8;
    pub(crate) const STAKE_LOCK: usize = 9;
    pub(crate) const EVIDENCE: usize = 10;
    pub(crate) const TOKEN: usize = 13;
    pub(crate) const SYSTEM: usize = 14;
    pub(crate) const EVENT_AUTHORITY: usize = 15;
}

/// An instruction with another account in one place.
pub(crate) fn with_account(mut instruction: Instruction, place: usize, account: Address) -> Instruction {
    instruction.accounts[place].pubkey = account;
    instruction
}

/// Expects the last instruction to be refused by its own program with this error, and nothing to change.
#[track_caller]
pub(crate) fn refused(
    world: &mut World,
    instructions: &[Instruction],
    payer: &Keypair,
    signers: &[&Keypair],
    error: Error,
) -> Failure {
    let failure = world.send_refused(instructions, payer, signers);
    failure.expect_code(error.code());
    let last = instructions.last().unwrap();
    assert_eq!(failure.program(), Some(last.program_id), "another program refused: {failure:?}");
    failure
}

/// The only event that a program emitted.
#[track_caller]
pub(crate) fn only_event(receipt: &Receipt, program: [u8; 32]) -> Vec<u8> {
    let mut all = events(receipt, &address(program));
    assert_eq!(all.len(), 1, "one event: {receipt:?}");
    all.remove(0)
}

/// An agent with stake and lease, its owner, somebody who challenges, and the epoch of the next batch.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) agent: Agent,
    pub(crate) owner: Key,
    pub(crate) challenger: Key,
    pub(crate) epoch: u64,
}

/// A key pair that can be cloned with its scene.
pub(crate) struct Key(pub Keypair);

impl Clone for Key {
    fn clone(&self) -> Self {
        Self(self.0.insecure_clone())
    }
}

impl std::ops::Deref for Key {
    type Target = Keypair;
    fn deref(&self) -> &Keypair {
        &self.0
    }
}

impl Key {
    /// Address of the account.
    pub(crate) fn at(&self) -> Address {
        self.0.pubkey()
    }
}

static BASE: LazyLock<Mutex<Scene>> = LazyLock::new(|| {
    let mut world = World::configured();
    let (agent, owner) = world.living_agent();
    let challenger = world.new_party();
    world.treasury_usdc();
    let epoch = world.epoch() - 1;
    Mutex::new(Scene { world, agent, owner: Key(owner), challenger: Key(challenger), epoch })
});

impl Scene {
    /// A fork of the one base scene.
    pub(crate) fn new() -> Self {
        BASE.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// A key pair without anything.
    pub(crate) fn stranger(&mut self) -> Key {
        Key(self.world.new_wallet(10))
    }

    /// A wallet with SOL and USDC.
    pub(crate) fn party(&mut self) -> Key {
        Key(self.world.new_party())
    }

    /// The agent's id.
    pub(crate) fn id(&self) -> [u8; 32] {
        self.agent.mint.0
    }

    /// A message of the agent to [`COUNTERPARTY`] in the batch's epoch.
    pub(crate) fn message(&self, kind: MsgType) -> Message {
        Message {
            version: 1,
            kind,
            sender: self.id(),
            recipient: COUNTERPARTY,
            timestamp: (self.epoch * EPOCH_SECONDS + 1_000) * 1_000_000,
            slot: SLOT,
            nonce: 1,
            conversation: CONVERSATION,
            payload: bid_payload(1_234_567),
        }
    }

    /// A FEEDBACK of [`COUNTERPARTY`] about the agent.
    pub(crate) fn feedback(&self) -> Message {
        Message {
            sender: COUNTERPARTY,
            recipient: self.id(),
            payload: rating(self.id()),
            ..self.message(MsgType::Feedback)
        }
    }

    /// Entries that have nothing to do with anything.
    pub(crate) fn chatter(&self, count: u64) -> Vec<Message> {
        let one = |n| Message { nonce: 1_000 + n, ..self.message(MsgType::Deliver) };
        (0..count).map(one).collect()
    }

    /// Submits a batch of the scene's epoch, signed by the owner.
    pub(crate) fn submit(&mut self, messages: &[Message], records: &[Vec<u8>]) -> Batch {
        let batch = Batch {
            epoch: self.epoch,
            entries: messages.iter().map(Message::entry).collect(),
            records: records.to_vec(),
        };
        self.submit_raw(batch.arguments(&self.agent.mint));
        batch
    }

    /// Submits a batch of exactly these arguments, signed by the owner.
    pub(crate) fn submit_raw(&mut self, arguments: SubmitBatch) {
        let signature = ed25519_instruction(&self.owner, &message_of(&arguments));
        let submit = behavior_log::submit_batch(&self.agent.addresses(), self.owner.at(), None, &arguments);
        self.world.send_ok(&[signature, submit], &self.owner, &[]);
    }

    /// The batch's address.
    pub(crate) fn batch(&self) -> Address {
        pda::batch(&self.agent.mint, self.epoch)
    }

    /// Where a challenge by somebody goes.
    pub(crate) fn addresses(&mut self, who: &Keypair, ground: u8, hash: &Hash) -> ChallengeAddresses {
        let (agent, epoch) = (self.agent, self.epoch);
        self.world.challenge_addresses(who, &agent, epoch, ground, hash)
    }

    /// A challenge by somebody.
    pub(crate) fn filing_by(
        &mut self,
        who: &Keypair,
        ground: u8,
        hash: Hash,
        source: EvidenceSource,
    ) -> Filing {
        Filing { addresses: self.addresses(who, ground, &hash), source, evidence_hash: hash }
    }

    /// A challenge by the challenger with an inline log entry.
    pub(crate) fn inline(&mut self, proof: &LogProof, ground: u8) -> Filing {
        let who = self.challenger.clone();
        self.filing_by(&who, ground, proof.hash(), EvidenceSource::Inline(proof.bytes()))
    }

    /// A challenge by the challenger with two bids inline.
    pub(crate) fn double_bid(&mut self, a: &BidProof, b: &BidProof) -> Filing {
        let who = self.challenger.clone();
        let hash = evidence_hash(2, &double_bid_entry(a, b), false);
        self.filing_by(&who, DOUBLE_BID, hash, EvidenceSource::Inline(double_bid_bytes(a, b)))
    }

    /// A challenge by the challenger with an envelope that is recorded under this nonce.
    pub(crate) fn enveloped(&mut self, message: &Message, ground: u8, nonce: u64) -> Filing {
        let who = self.challenger.clone();
        let hash = evidence_hash(3, &keccak(&[&message.signing_bytes()]), true);
        let record = pda::recorded_envelope(&who.at(), nonce);
        let source = EvidenceSource::Envelope { record, agent_token: None, delegation: None };
        self.filing_by(&who, ground, hash, source)
    }

    /// The two instructions that record an envelope for the challenger.
    pub(crate) fn recording(
        &self,
        signer: &Keypair,
        message: &Message,
        ground: u8,
        nonce: u64,
    ) -> [Instruction; 2] {
        [
            ed25519_instruction(signer, &message.signing_bytes()),
            record_envelope(self.challenger.at(), ground, nonce),
        ]
    }

    /// Records an envelope for the challenger.
    #[track_caller]
    pub(crate) fn record(&mut self, signer: &Keypair, message: &Message, ground: u8, nonce: u64) -> Receipt {
        let instructions = self.recording(signer, message, ground, nonce);
        self.world.send_ok(&instructions, &self.challenger, &[])
    }

    /// Writes bytes into a draft of somebody's in several transactions; returns the draft and the largest
    /// transaction's size.
    pub(crate) fn draft(&mut self, who: &Keypair, nonce: u64, bytes: &[u8]) -> (Address, usize) {
        let len = u32::try_from(bytes.len()).unwrap();
        let mut largest = self.world.send_ok(&[begin_evidence(who.pubkey(), nonce, len)], who, &[]).size;
        for (n, part) in bytes.chunks(APPEND_BYTES).enumerate() {
            let offset = u32::try_from(n * APPEND_BYTES).unwrap();
            let append = append_evidence(who.pubkey(), nonce, offset, part.to_vec());
            largest = largest.max(self.world.send_ok(&[append], who, &[]).size);
        }
        (pda::evidence_draft(&who.pubkey(), nonce), largest)
    }

    /// Submits a challenge of the challenger.
    #[track_caller]
    pub(crate) fn file(&mut self, filing: &Filing) -> Receipt {
        self.world.send_ok(&[filing.instruction()], &self.challenger, &[])
    }

    /// Expects a challenge of the challenger to be refused.
    #[track_caller]
    pub(crate) fn refuse(&mut self, filing: &Filing, error: Error) {
        refused(&mut self.world, &[filing.instruction()], &self.challenger, &[], error);
    }

    /// The challenge's account.
    pub(crate) fn challenge(&self, filing: &Filing) -> ChallengeAccount {
        self.world.read(&filing.challenge())
    }

    /// The batch's account.
    pub(crate) fn batch_account(&self) -> BatchAccount {
        self.world.read(&self.batch())
    }

    /// The agent's stake.
    pub(crate) fn stake(&self) -> StakeLockAccount {
        self.world.read(&pda::stake(&self.agent.mint))
    }

    /// The instruction resolve_challenge.
    pub(crate) fn resolving(&mut self, filing: &Filing) -> Instruction {
        let treasury = self.world.treasury_usdc();
        resolve_challenge(&filing.addresses, treasury)
    }

    /// Goes to the first slot after a challenge's window.
    pub(crate) fn pass_window(&mut self, filing: &Filing) {
        let submitted = self.challenge(filing).submitted_slot;
        self.world.warp_to_slot(submitted + CHALLENGE_WINDOW_SLOTS + 1);
    }

    /// Lets the window pass and resolves; a stranger pays.
    #[track_caller]
    pub(crate) fn resolve(&mut self, filing: &Filing) -> Receipt {
        self.pass_window(filing);
        let instruction = self.resolving(filing);
        let faucet = self.world.faucet.insecure_clone();
        self.world.send_ok(&[instruction], &faucet, &[])
    }

    /// Micro-USDC of: the challenger, the treasury, the stake's vault, the challenge's vault.
    pub(crate) fn money(&mut self, filing: &Filing) -> [u64; 4] {
        let challenger = self.challenger.at();
        let treasury = self.world.treasury().pubkey();
        [
            self.world.usdc_balance(&challenger),
            self.world.usdc_balance(&treasury),
            self.world.stake_vault_balance(&self.agent),
            self.world.token_balance(&filing.vault()),
        ]
    }
}

/// Bytes that one append carries.
pub(crate) const APPEND_BYTES: usize = 900;

/// The expected record, cut to its length.
pub(crate) fn expected(challenge: &ChallengeAccount) -> &[u8] {
    let (record, padding) = challenge.expected_record.split_at(usize::from(challenge.expected_len));
    assert!(padding.iter().all(|byte| *byte == 0), "the record is zero-padded");
    record
}

/// Bytes of an account of a layout.
pub(crate) const fn size<T: Layout>() -> usize {
    T::SIZE
}

/// The program's address.
pub(crate) fn challenge_program() -> Address {
    address(ids::CHALLENGE)
}

/// The feedback log.
pub(crate) fn feedback_log(world: &World) -> FeedbackLogAccount {
    world.read(&pda::feedback_log())
}

/// An entry with its text.
pub(crate) fn feedback_entry(world: &World, index: u64) -> (FeedbackEntry, Vec<u8>) {
    let at = pda::feedback_entry(index);
    (world.read(&at), world.data(&at)[FeedbackEntry::SIZE..].to_vec())
}

/// A fork of the one base world, and two wallets: who speaks and who pays.
pub(crate) fn speakers() -> (World, Key, Key) {
    let mut scene = Scene::new();
    let (sender, sponsor) = (scene.stranger(), scene.stranger());
    (scene.world, sender, sponsor)
}
