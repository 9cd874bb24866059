//! The world in which the calls are made: the agent whose calls they are, another agent with everything
//! that the first one has, and a pool of accounts to swap in.

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::feedback_log;
use zx1_chain::token::TOKEN_PROGRAM;
use zx1_chain::{pda, token};
use zx1_interface::ids;
use zx1_interface::instruction::AnswerChallenge;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::evidence::{Evidence, LogEvidence, ProvenBid};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::bid_payload;
use zx1_protocol::record::{Bid, Record};
use zx1_protocol::units::Slot;
use zx1_vm_tests::{ARRAYS, Agent, Batch, Filing, Key, LOG, Living, Shown, World, address, keypair};

/// The value of every bid here; the second bid of a message is one more.
pub(crate) const VALUE: i128 = 77;
const CONVERSATION: ConversationId = ConversationId([5; 16]);
const COUNTERPARTY: [u8; 32] = [6; 32];
const BLOCK_REF: u64 = 399_000_000;

/// What is shown of the one proposal that every batch here is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Evident {
    /// Its log entry: a bid whose value is not known.
    Entry,
    /// Its envelope: a bid whose value is known.
    Envelope,
    /// Two records of it with different values.
    Bids,
}

/// Everything that the calls have in common.
pub(crate) struct Stage {
    /// Before the configuration was written.
    pub(crate) empty: World,
    /// With both agents, their batches, and what a stranger has against the other one.
    pub(crate) world: World,
    /// Whose calls they are.
    pub(crate) living: Living,
    pub(crate) challenger: Key,
    pub(crate) sponsor: Key,
    /// A key that no agent has listed.
    pub(crate) spare: Key,
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
        let (living, other) = (world.living_agent(), world.living_agent());
        let mut party = || Key(world.new_party());
        let (challenger, sponsor, spare, stranger) = (party(), party(), party(), party());
        for key in [&living.keys.pay, &living.keys.batch, &living.keys.deal] {
            world.set_lamports(&key.at(), 100_000_000_000);
            world.fund_usdc(&key.at(), 1_000_000_000);
        }
        let epoch = world.epoch();
        world.advance_epochs(1);
        let mut stage = Self {
            empty,
            world: World::empty(),
            living,
            challenger,
            sponsor,
            spare,
            epoch,
            usdc_mint,
            fee_payer,
            keys: Vec::new(),
            pool: Vec::new(),
        };
        for one in [&stage.living, &other] {
            world.submit_batch(&one.agent, &one.keys.batch, &stage.batch(&one.agent)).unwrap();
        }
        world.advance_slots(1);

        // The stranger has one of everything that the calls are about.
        let claim = stage.filing(&stranger, &other, 0, Evident::Entry);
        let held = stage.filing(&stranger, &other, 1, Evident::Bids);
        world.file(&claim);
        world.prepare(&held);
        world.draft_of(&stranger, 2, b"some leaf");
        world.ask_leaf(&stranger, &other.agent, epoch, LOG, 0).unwrap();
        let me = stranger.at();
        let instructions = [
            feedback_log::submit_feedback(me, me, 0, b"a text".to_vec()),
            feedback_log::begin_draft(me, me, 0, 10, [1; 32]),
        ];
        world.send_ok(&instructions, &stranger, &[]);
        let foreign_mint = keypair("foreign mint");
        world.create_mint(&foreign_mint, 6, &TOKEN_PROGRAM);
        let owner = stage.living.owner.at();
        let foreign_account = world.fund_token(&owner, &foreign_mint.pubkey(), 1, &TOKEN_PROGRAM);

        let Living { owner, keys, .. } = &stage.living;
        stage.keys = [owner, &keys.pay, &keys.batch, &keys.deal, &stage.challenger, &stage.sponsor]
            .into_iter()
            .chain([&stage.spare, &other.owner, &other.keys.batch, &stranger])
            .map(|key| key.0.insecure_clone())
            .chain([authority, treasury, world.maintainer()])
            .collect();
        let mut pool = vec![
            usdc_mint,
            foreign_mint.pubkey(),
            foreign_account,
            claim.challenge(),
            claim.draft(),
            held.draft(),
            pda::evidence_draft(&me, 2),
            pda::feedback_log(),
            pda::feedback_entry(0),
            pda::feedback_draft(&me, 0),
            pda::config(),
            pda::challenge_authority(),
            pda::program_data(ids::STAKE_LOCK),
            address(ids::INSTRUCTIONS_SYSVAR),
            address(ids::INCINERATOR),
            solana_sdk_ids::sysvar::clock::ID,
            world.init_registry(),
            Address::new_from_array([42; 32]),
        ];
        for one in [&stage.living, &other] {
            let (mint, shard) = (&one.agent.mint, one.agent.shard());
            pool.extend([(*mint).into(), one.agent.agent_index, one.agent.token_account]);
            pool.extend([pda::tenure(mint), pda::stake(mint, 0), pda::stake(mint, 1)]);
            pool.extend(
                [&one.keys.pay, &one.keys.batch, &one.keys.deal].map(|key| pda::key(mint, &key.at())),
            );
            pool.extend([pda::shard(shard), pda::vault(shard), pda::lease(mint), pda::head(mint)]);
            pool.extend([pda::batch(mint, epoch), world.ask_address(&one.agent, epoch, LOG, 0)]);
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

    /// The batch of the stage's epoch: its log holds the proposal, and its arrays two bids on it, one of them
    /// honest.
    pub(crate) fn batch(&self, agent: &Agent) -> Batch {
        let proposal = self.proposal(agent);
        Batch {
            epoch: self.epoch,
            entries: vec![proposal.with(|envelope| LogEntry::of(envelope).to_cbor::<Sha3>().unwrap())],
            records: vec![proposal.record(VALUE), proposal.record(VALUE + 1)],
        }
    }

    fn proposal(&self, agent: &Agent) -> Proposal {
        Proposal { sender: agent.mint.0, timestamp: self.epoch * 86_400_000_000 }
    }

    /// A finder's evidence against an agent's batch.
    pub(crate) fn filing(&self, finder: &Key, living: &Living, nonce: u64, evident: Evident) -> Filing {
        let (agent, proposal) = (living.agent, self.proposal(&living.agent));
        let batch = self.batch(&agent);
        let arrays = batch.arrays();
        let bid = |n: u32| {
            let place = arrays.proof_of_entry(n).unwrap();
            (batch.records[n as usize].as_slice().try_into().unwrap(), place)
        };
        let (ground, value_known, shown) = match evident {
            Evident::Entry => {
                let proof = batch.log().proof_of_entry(0).unwrap();
                let evidence = LogEvidence {
                    leaf_index: proof.index,
                    proof: &proof.path,
                    entry: &batch.entries[0],
                    shown_payload: None,
                };
                let bytes = Evidence::LogEntry(evidence).to_bytes().unwrap();
                (Ground::Bid, false, Shown::Bytes(bytes))
            }
            Evident::Envelope => {
                let signed = proposal.with(|envelope| envelope.signing_bytes());
                let key = Box::new(living.keys.deal.clone());
                (Ground::Bid, true, Shown::Envelope { signed, key })
            }
            Evident::Bids => {
                let [(one, first), (two, second)] = [bid(0), bid(1)];
                let one = ProvenBid::new(one, first.index, &first.path).unwrap();
                let two = ProvenBid::new(two, second.index, &second.path).unwrap();
                let bytes = Evidence::DoubleBid(one, two).to_bytes().unwrap();
                (Ground::DoubleBid, true, Shown::Bytes(bytes))
            }
        };
        let (finder, epoch, message) = (finder.clone(), self.epoch, proposal.message32());
        Filing { finder, agent, epoch, nonce, ground, value_known, message, shown }
    }

    /// The challenger's evidence against the stage's agent.
    pub(crate) fn mine(&self, nonce: u64, evident: Evident) -> Filing {
        self.filing(&self.challenger, &self.living, nonce, evident)
    }

    /// The right answer to a bid whose value is not known.
    pub(crate) fn answer(&self) -> AnswerChallenge {
        let place = self.batch(&self.living.agent).arrays().proof_of_entry(0).unwrap();
        AnswerChallenge {
            leaf_index: place.index,
            merkle_proof: place.path,
            bid_value: VALUE,
            attestation: [0; 32],
        }
    }

    /// Address of the ask for the first record of the stage's agent.
    pub(crate) fn ask(&self) -> Address {
        self.world.ask_address(&self.living.agent, self.epoch, ARRAYS, 0)
    }
}

/// A PROPOSE message.
struct Proposal {
    sender: [u8; 32],
    timestamp: u64,
}

impl Proposal {
    fn with<T>(&self, then: impl FnOnce(&Envelope<'_>) -> T) -> T {
        let payload = bid_payload(VALUE, b"content");
        let header = EnvelopeHeader {
            version: PROTOCOL_VERSION,
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

    fn message32(&self) -> Hash {
        self.with(|envelope| envelope.header.message32::<Sha3>())
    }

    fn record(&self, value: i128) -> Vec<u8> {
        let (conversation, counterparty, slot) = (CONVERSATION, AgentId(COUNTERPARTY), Slot(BLOCK_REF));
        let bid = Bid { conversation, counterparty, value, slot, message: self.message32() };
        Record::Bid(bid).to_bytes().to_vec()
    }
}
