//! What the tests of evidence share: agents with batches, challenges, the feedback log.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use spl_token_2022_interface::instruction as spl;
use std::sync::{LazyLock, Mutex};
use zx1_chain::pda;
use zx1_chain::token::{self, TOKEN_PROGRAM};
use zx1_interface::accounts::{
    AskAccount, BatchAccount, ChallengeAccount, EvidenceDraft, FeedbackEntry, FeedbackLogAccount,
    StakeLockAccount,
};
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_interface::instruction::AnswerChallenge;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Hash;
use zx1_vm_tests::{
    Agent, Batch, Books, Failure, Filing, Key, Keys, Living, Receipt, Shown, World, address, events,
};

pub(crate) use crate::messages::{
    BID, BidProof, CONVERSATION, COUNTERPARTY, DOUBLE_BID, FEEDBACK, LogProof, Message, SELECTION, SLOT,
    VERIFIER, bid_payload, claim32, commit32, double_bid_bytes, double_bid_entry, keccak, next_head, rating,
    sparse,
};

/// The places of submit_challenge's accounts.
pub(crate) mod at {
    pub(crate) const DRAFT: usize = 1;
    pub(crate) const BATCH: usize = 2;
    pub(crate) const STRONGER: usize = 3;
    pub(crate) const CHALLENGE: usize = 4;
    pub(crate) const REPLACED: usize = 5;
    pub(crate) const CHALLENGER_USDC: usize = 6;
    pub(crate) const STAKE: usize = 7;
    pub(crate) const SHARD: usize = 8;
    pub(crate) const VAULT: usize = 9;
    pub(crate) const CONFIG: usize = 10;
    pub(crate) const AUTHORITY: usize = 11;
    pub(crate) const STAKE_LOCK: usize = 12;
    pub(crate) const TOKEN: usize = 13;
    pub(crate) const SYSTEM: usize = 14;
    pub(crate) const EVENT_AUTHORITY: usize = 15;
}

/// The places of the money's accounts, counted from the first of them.
pub(crate) mod money {
    pub(crate) const CONFIG: usize = 0;
    pub(crate) const STAKE: usize = 1;
    pub(crate) const SHARD: usize = 2;
    pub(crate) const VAULT: usize = 3;
    pub(crate) const FIRST: usize = 4;
    pub(crate) const SECOND: usize = 5;
    pub(crate) const AUTHORITY: usize = 6;
    pub(crate) const STAKE_LOCK: usize = 7;
    pub(crate) const STAKE_LOCK_EVENTS: usize = 8;
    pub(crate) const TOKEN: usize = 9;
    /// Where they begin in answer_challenge.
    pub(crate) const OF_ANSWER: usize = 3;
    /// Where they begin in resolve_challenge.
    pub(crate) const OF_RESOLVE: usize = 1;
    /// Where they begin in show_leaf.
    pub(crate) const OF_SHOW: usize = 4;
    /// Where they begin in settle_ask.
    pub(crate) const OF_SETTLE_ASK: usize = 5;
}

// The default amounts, written out again: micro-USDC, and lamports for the rank.
pub(crate) const MIN_STAKE: u64 = 30_000_000;
pub(crate) const CHALLENGE_STAKE: u64 = 5_000_000;
pub(crate) const LOST_TO_STAKE: u64 = 1_500_000;
pub(crate) const LOST_TO_ANSWERER: u64 = 500_000;
pub(crate) const ASK_PRICE: u64 = 500_000;
pub(crate) const ASK_TO_SHOWER: u64 = 300_000;
pub(crate) const ASK_TO_STAKE: u64 = 100_000;
pub(crate) const FINE: u64 = 10_000_000;
pub(crate) const FINE_TO_ASKER: u64 = 3_000_000;
pub(crate) const RANK_DEPOSIT: u64 = 10_000_000;
/// Slots for which a rank holds.
pub(crate) const RANK_SLOTS: u64 = 300;

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

/// A living agent whose last epoch has no batch yet, its holder and keys, and somebody who challenges.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) agent: Agent,
    pub(crate) owner: Key,
    pub(crate) keys: Keys,
    pub(crate) challenger: Key,
    /// Epoch of the next batch: the one before the present.
    pub(crate) epoch: u64,
    nonces: u64,
}

static BASE: LazyLock<Mutex<Scene>> = LazyLock::new(|| Mutex::new(Scene::of(World::configured())));

impl Scene {
    /// The scene in a world of its own.
    pub(crate) fn of(mut world: World) -> Self {
        let Living { agent, owner, keys } = world.living_agent();
        world.pay_lease(&agent, &owner, 9).unwrap();
        let challenger = Key(world.new_party());
        world.treasury_usdc();
        world.advance_epochs(1);
        let epoch = world.epoch() - 1;
        Self { world, agent, owner, keys, challenger, epoch, nonces: 0 }
    }

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

    /// Lands a batch of the scene's epoch, signed by the batch key, and goes one slot on: a rank holds for
    /// batches that landed before it.
    #[track_caller]
    pub(crate) fn submit(&mut self, messages: &[Message], records: &[Vec<u8>]) -> Batch {
        let batch = Batch {
            epoch: self.epoch,
            entries: messages.iter().map(Message::entry).collect(),
            records: records.to_vec(),
        };
        self.submit_raw(&self.world.message_of(&self.agent, &batch));
        batch
    }

    /// Lands exactly this batch, signed by the batch key, and goes one slot on.
    #[track_caller]
    pub(crate) fn submit_raw(&mut self, message: &BatchMessage) -> Receipt {
        let receipt = self.world.submit_message(&self.agent, &self.keys.batch, message).unwrap();
        self.world.advance_slots(1);
        receipt
    }

    /// The batch's address.
    pub(crate) fn batch(&self) -> Address {
        pda::batch(&self.agent.mint, self.epoch)
    }

    /// A nonce that no draft of this scene has.
    pub(crate) fn nonce(&mut self) -> u64 {
        self.nonces += 1;
        self.nonces
    }

    /// The challenger's evidence, in a draft of its own.
    pub(crate) fn filing(
        &mut self,
        ground: Ground,
        value_known: bool,
        message: Hash,
        shown: Shown,
    ) -> Filing {
        let (finder, nonce) = (self.challenger.clone(), self.nonce());
        Filing { finder, agent: self.agent, epoch: self.epoch, nonce, ground, value_known, message, shown }
    }

    /// The challenger's log entry, as evidence.
    pub(crate) fn logged(&mut self, proof: &LogProof, ground: Ground) -> Filing {
        let value_known = ground != BID || proof.shown.is_some();
        self.filing(ground, value_known, proof.message32(), Shown::Bytes(proof.bytes()))
    }

    /// The challenger's two bids, as evidence.
    pub(crate) fn double_bid(&mut self, a: &BidProof, b: &BidProof) -> Filing {
        self.filing(DOUBLE_BID, true, a.message32(), Shown::Bytes(double_bid_bytes(a, b)))
    }

    /// The challenger's envelope, signed by the agent's deal key, as evidence.
    pub(crate) fn enveloped(&mut self, message: &Message, ground: Ground) -> Filing {
        let key = self.keys.deal.clone();
        self.enveloped_by(&key, message, ground)
    }

    /// The challenger's envelope, signed by any key, as evidence.
    pub(crate) fn enveloped_by(&mut self, key: &Key, message: &Message, ground: Ground) -> Filing {
        let shown = Shown::Envelope { signed: message.signing_bytes(), key: Box::new(key.clone()) };
        self.filing(ground, true, message.message32(), shown)
    }

    /// The same evidence of somebody else's, in a draft of its own.
    pub(crate) fn by(&mut self, finder: &Key, filing: &Filing) -> Filing {
        let nonce = self.nonce();
        filing.by(finder, nonce)
    }

    /// Takes a rank, writes, seals and submits a challenge.
    #[track_caller]
    pub(crate) fn file(&mut self, filing: &Filing) -> Receipt {
        let receipt = self.world.file(filing);
        self.world.assert_books();
        receipt
    }

    /// Takes a rank and writes, so that only the sealing is left; expects that to be refused.
    #[track_caller]
    pub(crate) fn seal_refused(&mut self, filing: &Filing, error: Error) {
        self.world.begin(filing).unwrap();
        self.world.append(&filing.finder, filing.nonce, filing.written());
        let seal = self.world.sealing(filing);
        refused(&mut self.world, &seal, &filing.finder, &[], error);
    }

    /// Expects submit_challenge of a sealed draft to be refused.
    #[track_caller]
    pub(crate) fn submit_refused(&mut self, filing: &Filing, error: Error) {
        let mut submit = self.world.submitting(filing);
        // One's own open claim: Anchor would refuse one account in two places before the program looks.
        if submit.accounts[at::REPLACED].pubkey == submit.accounts[at::CHALLENGER_USDC].pubkey {
            submit.accounts[at::REPLACED].pubkey = challenge_program();
            submit.accounts[at::REPLACED].is_writable = false;
        }
        refused(&mut self.world, &[submit], &filing.finder, &[], error);
    }

    /// The claim's account.
    pub(crate) fn challenge(&self, filing: &Filing) -> ChallengeAccount {
        self.world.challenge(filing)
    }

    /// The draft's account.
    pub(crate) fn draft(&self, filing: &Filing) -> EvidenceDraft {
        self.world.draft(filing)
    }

    /// An ask against the scene's batch.
    pub(crate) fn ask(&self, tree: u8, index: u32) -> AskAccount {
        self.world.read(&self.ask_at(tree, index))
    }

    /// Address of an ask against the scene's batch.
    pub(crate) fn ask_at(&self, tree: u8, index: u32) -> Address {
        self.world.ask_address(&self.agent, self.epoch, tree, index)
    }

    /// The batch's account.
    pub(crate) fn batch_account(&self) -> BatchAccount {
        self.world.read(&self.batch())
    }

    /// The agent's stake of the first era.
    pub(crate) fn stake(&self) -> StakeLockAccount {
        self.world.stake(&self.agent, 0)
    }

    /// Answers a challenge with a record of the batch's, by somebody who pays.
    #[track_caller]
    pub(crate) fn answer(&mut self, who: &Key, filing: &Filing, answer: &AnswerChallenge) -> Receipt {
        let receipt = self.world.answer(who, &filing.challenge(), answer).unwrap();
        self.world.assert_books();
        receipt
    }

    /// Goes to the first slot after a challenge's window.
    pub(crate) fn pass_window(&mut self, filing: &Filing) {
        self.world.pass_window(&filing.challenge());
    }

    /// Lets the window pass and resolves; the faucet calls.
    #[track_caller]
    pub(crate) fn resolve(&mut self, filing: &Filing) -> Receipt {
        self.pass_window(filing);
        let receipt = self.world.resolve(&filing.challenge()).unwrap();
        self.world.assert_books();
        receipt
    }

    /// Micro-USDC of: the finder, the treasury, and the era.
    pub(crate) fn money(&mut self, filing: &Filing) -> (u64, u64, Books) {
        let treasury = self.world.treasury();
        (
            self.world.usdc_balance(&filing.finder.at()),
            self.world.usdc_balance(&treasury.pubkey()),
            self.world.books(&self.agent, 0),
        )
    }
}

/// The answer that shows the n-th record of a batch, counted without the padding.
pub(crate) fn answer_of(batch: &Batch, n: u32, bid_value: i128, attestation: Hash) -> AnswerChallenge {
    let place = batch.arrays().proof_of_entry(n).unwrap();
    AnswerChallenge { leaf_index: place.index, merkle_proof: place.path, bid_value, attestation }
}

/// The expected record, cut to its length.
pub(crate) fn expected(challenge: &ChallengeAccount) -> &[u8] {
    let (record, padding) = challenge.expected_record.split_at(usize::from(challenge.expected_len));
    assert!(padding.iter().all(|byte| *byte == 0), "the record is zero-padded");
    record
}

/// The expected record of a sealed draft, cut to its length.
pub(crate) fn sealed_record(draft: &EvidenceDraft) -> &[u8] {
    let (record, padding) = draft.expected_record.split_at(usize::from(draft.expected_len));
    assert!(padding.iter().all(|byte| *byte == 0), "the record is zero-padded");
    record
}

/// A further USDC account of a wallet.
pub(crate) fn further_account(scene: &mut Scene, owner: &Address) -> Address {
    let (faucet, account) = (scene.world.faucet.insecure_clone(), scene.world.new_keypair());
    let (rent, mint) = (scene.world.rent(token::ACCOUNT_LEN), scene.world.usdc_mint());
    let (at, len) = (account.pubkey(), token::ACCOUNT_LEN as u64);
    let create = system::create_account(&faucet.pubkey(), &at, rent, len, &TOKEN_PROGRAM);
    let init = spl::initialize_account3(&TOKEN_PROGRAM, &at, &mint, owner).unwrap();
    scene.world.send_ok(&[create, init], &faucet, &[&account]);
    at
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
