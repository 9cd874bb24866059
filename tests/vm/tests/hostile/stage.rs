//! The world in which the calls are made: the agent whose calls they are, another agent with everything
//! that the first one has, and a pool of accounts to swap in.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::challenge::{self, ChallengeAddresses, EvidenceSource};
use zx1_chain::instructions::{behavior_log, feedback_log};
use zx1_chain::token::TOKEN_PROGRAM;
use zx1_chain::{pda, token};
use zx1_interface::ids;
use zx1_interface::instruction::{AnswerChallenge, SubmitBatch};
use zx1_protocol::challenge::evidence_hash;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType};
use zx1_protocol::evidence::{Evidence, KIND_LOG_ENTRY, LogEvidence};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle;
use zx1_protocol::payload::bid_payload;
use zx1_protocol::record::{Bid, Record};
use zx1_protocol::units::Slot;
use zx1_vm_tests::{Agent, World, address, ed25519_instruction, keypair, message_of};

/// The value of every bid here.
pub(crate) const VALUE: i128 = 77;
const CONVERSATION: ConversationId = ConversationId([5; 16]);
const COUNTERPARTY: [u8; 32] = [6; 32];
const BLOCK_REF: u64 = 399_000_000;

/// Everything that the calls have in common.
pub(crate) struct Stage {
    /// Before the configuration was written.
    pub(crate) empty: World,
    /// With both agents, their batches, and the other one's challenge, drafts and entries.
    pub(crate) world: World,
    pub(crate) agent: Agent,
    pub(crate) owner: Keypair,
    pub(crate) hot: Keypair,
    /// The hot key's delegation.
    pub(crate) delegation: Address,
    pub(crate) challenger: Keypair,
    pub(crate) sponsor: Keypair,
    pub(crate) epoch: u64,
    pub(crate) usdc_mint: Address,
    /// Pays for transactions and stands in none of the calls.
    pub(crate) fee_payer: Keypair,
    /// Every wallet that can sign.
    pub(crate) keys: Vec<Keypair>,
    /// Accounts to swap in.
    pub(crate) pool: Vec<Address>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let mut empty = World::new();
        let authority = empty.upgrade_authority();
        let usdc_mint = empty.usdc_mint();
        empty.schemas();
        let fee_payer = keypair("fee payer");
        empty.set_lamports(&fee_payer.pubkey(), 1_000_000_000_000);

        let mut world = empty.clone();
        world.init_config();
        world.treasury_usdc();
        let treasury = world.treasury();
        world.set_lamports(&treasury.pubkey(), 1_000_000_000);
        let ((agent, owner), (other, other_owner)) = (world.living_agent(), world.living_agent());
        let (hot, challenger, sponsor) = (world.new_party(), world.new_party(), world.new_party());
        let stranger = world.new_party();
        let delegation = world.create_delegate(&owner, &hot.pubkey(), &agent, 0);
        let other_delegation = world.create_delegate(&other_owner, &hot.pubkey(), &other, 0);
        let epoch = world.epoch() - 1;
        let mut stage = Self {
            empty,
            world: World::empty(),
            agent,
            owner,
            hot,
            delegation,
            challenger,
            sponsor,
            epoch,
            usdc_mint,
            fee_payer,
            keys: Vec::new(),
            pool: Vec::new(),
        };
        stage.submit_batch(&mut world, &agent, &stage.owner);
        stage.submit_batch(&mut world, &other, &other_owner);

        // The stranger has one of everything that the calls are about.
        let at = stage.challenge_of(&stranger, &other);
        stage.open_challenge(&mut world, &stranger, &at, &other);
        let me = stranger.pubkey();
        let signed = stage.proposal(&other).signing_bytes();
        let instructions = [
            vec![challenge::begin_evidence(me, 0, 10)],
            vec![ed25519_instruction(&other_owner, &signed), challenge::record_envelope(me, 1, 0)],
            vec![feedback_log::submit_feedback(me, me, 0, b"a text".to_vec())],
            vec![feedback_log::begin_draft(me, me, 0, 10, [1; 32])],
        ];
        instructions.iter().for_each(|some| drop(world.send_ok(some, &stranger, &[])));
        let foreign_mint = keypair("foreign mint");
        world.create_mint(&foreign_mint, 6, &TOKEN_PROGRAM);
        let foreign_account =
            world.fund_token(&stage.owner.pubkey(), &foreign_mint.pubkey(), 1, &TOKEN_PROGRAM);

        stage.keys = [&stage.owner, &stage.hot, &stage.challenger, &stage.sponsor, &other_owner, &stranger]
            .into_iter()
            .chain([&authority, &treasury, &world.maintainer()])
            .map(Keypair::insecure_clone)
            .collect();
        let mut pool = vec![
            usdc_mint,
            foreign_mint.pubkey(),
            foreign_account,
            delegation,
            other_delegation,
            at.challenge(),
            pda::challenge_vault(&at.challenge()),
            pda::evidence_draft(&me, 0),
            pda::recorded_envelope(&me, 0),
            pda::feedback_log(),
            pda::feedback_entry(0),
            pda::feedback_draft(&me, 0),
            pda::config(),
            pda::challenge_authority(),
            pda::program_data(ids::STAKE_LOCK),
            address(ids::INSTRUCTIONS_SYSVAR),
            solana_sdk_ids::sysvar::clock::ID,
            world.init_registry(),
            Address::new_from_array([42; 32]),
        ];
        for one in [&agent, &other] {
            pool.extend([one.mint.into(), one.agent_index, one.token_account]);
            pool.extend([pda::stake(&one.mint), pda::stake_vault(&one.mint), pda::lease(&one.mint)]);
            pool.extend([pda::head(&one.mint), pda::batch(&one.mint, epoch)]);
        }
        for program in [ids::STAKE_LOCK, ids::LEASE, ids::BEHAVIOR_LOG, ids::CHALLENGE, ids::FEEDBACK_LOG] {
            pool.extend([address(program), pda::event_authority(program)]);
        }
        pool.extend([ids::TOKEN, ids::TOKEN_2022, ids::SATI, ids::SAS].map(address));
        for wallet in &stage.keys {
            pool.extend([wallet.pubkey(), stage.usdc_account(&wallet.pubkey())]);
        }
        stage.pool = pool;
        stage.world = world;
        stage
    }

    /// A wallet's USDC account.
    pub(crate) fn usdc_account(&self, wallet: &Address) -> Address {
        token::associated_address(wallet, &self.usdc_mint, &TOKEN_PROGRAM)
    }

    /// The treasury's USDC account.
    pub(crate) fn treasury_usdc(&self) -> Address {
        self.usdc_account(&self.world.treasury().pubkey())
    }

    /// A PROPOSE of an agent in the batch's epoch.
    pub(crate) fn proposal(&self, agent: &Agent) -> Proposal {
        Proposal { sender: agent.mint.0, timestamp: self.epoch * 86_400_000_000 }
    }

    /// The arguments of a batch whose log holds the proposal and whose arrays hold its bid.
    pub(crate) fn batch(&self, agent: &Agent, epoch: u64) -> SubmitBatch {
        SubmitBatch {
            agent_id: agent.mint.0,
            epoch_number: epoch,
            log_merkle_root: merkle::leaf::<Sha3>(&self.proposal(agent).entry()),
            log_len: 1,
            batch_hash: [7; 32],
            arrays_root: record().leaf::<Sha3>(),
            arrays_len: 1,
        }
    }

    fn submit_batch(&self, world: &mut World, agent: &Agent, owner: &Keypair) {
        let batch = self.batch(agent, self.epoch);
        let signature = ed25519_instruction(owner, &message_of(&batch));
        let submit = behavior_log::submit_batch(&agent.addresses(), owner.pubkey(), None, &batch);
        world.send_ok(&[signature, submit], owner, &[]);
    }

    /// The evidence of the proposal in the log.
    pub(crate) fn evidence(&self, agent: &Agent) -> Vec<u8> {
        let entry = self.proposal(agent).entry();
        let evidence = LogEvidence { leaf_index: 0, proof: &[], entry: &entry, shown_payload: None };
        Evidence::LogEntry(evidence).to_bytes().unwrap()
    }

    /// The challenge with that evidence.
    pub(crate) fn challenge_of(&self, challenger: &Keypair, agent: &Agent) -> ChallengeAddresses {
        let subject = merkle::leaf::<Sha3>(&self.proposal(agent).entry());
        let hash = evidence_hash::<Sha3>(KIND_LOG_ENTRY, &subject, false);
        ChallengeAddresses {
            challenger: challenger.pubkey(),
            challenger_usdc: self.usdc_account(&challenger.pubkey()),
            usdc_mint: self.usdc_mint,
            agent: agent.mint,
            epoch_number: self.epoch,
            ground: 1,
            claim: zx1_chain::claim::seed(&hash, 1),
        }
    }

    pub(crate) fn open_challenge(
        &self,
        world: &mut World,
        challenger: &Keypair,
        at: &ChallengeAddresses,
        agent: &Agent,
    ) {
        let source = EvidenceSource::Inline(self.evidence(agent));
        world.send_ok(&[challenge::submit_challenge(at, &source)], challenger, &[]);
    }

    /// The right answer to it.
    pub(crate) fn answer(&self, at: &ChallengeAddresses, answerer: &Address) -> Instruction {
        let answer = AnswerChallenge {
            leaf_index: 0,
            merkle_proof: Vec::new(),
            bid_value: VALUE,
            attestation: [0; 32],
        };
        challenge::answer_challenge(*answerer, at.challenge(), at.batch(), &answer)
    }
}

/// A PROPOSE message.
pub(crate) struct Proposal {
    sender: [u8; 32],
    timestamp: u64,
}

impl Proposal {
    fn with<T>(&self, then: impl FnOnce(&Envelope<'_>) -> T) -> T {
        let payload = bid_payload(VALUE, b"content");
        let header = EnvelopeHeader {
            version: 1,
            msg_type: MsgType::Propose,
            sender: &self.sender,
            recipient: &COUNTERPARTY,
            timestamp: self.timestamp,
            block_ref: Slot(BLOCK_REF),
            nonce: 1,
            conversation_id: CONVERSATION.as_bytes(),
            payload_hash: &Sha3::hashv(&[&payload]),
            payload_len: u32::try_from(payload.len()).unwrap(),
        };
        then(&Envelope { header, payload: &payload, signature: &[8; 64] })
    }

    /// As the log keeps it.
    pub(crate) fn entry(&self) -> Vec<u8> {
        self.with(|envelope| LogEntry::of(envelope).to_cbor::<Sha3>().unwrap())
    }

    /// As its sender signs it.
    pub(crate) fn signing_bytes(&self) -> Vec<u8> {
        self.with(|envelope| envelope.signing_bytes())
    }
}

fn record() -> Record {
    Record::Bid(Bid {
        conversation: CONVERSATION,
        counterparty: AgentId(COUNTERPARTY),
        value: VALUE,
        slot: Slot(BLOCK_REF),
    })
}
