//! What the tests of this binary share: scenes, single events, refusals, and a real challenge.

use sha3::{Digest, Keccak256};
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_message::{Message, VersionedMessage};
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use solana_transaction::versioned::VersionedTransaction;
use zx1_chain::instructions::challenge::{
    ChallengeAddresses, EvidenceSource, resolve_challenge, submit_challenge,
};
use zx1_chain::pda;
use zx1_interface::Error;
use zx1_interface::accounts::{BatchAccount, HeadAccount, LeaseAccount, StakeLockAccount};
use zx1_interface::constants::MIN_STAKE;
use zx1_protocol::challenge::evidence_hash;
use zx1_protocol::envelope::{EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::evidence::{Evidence, KIND_LOG_ENTRY, LogEvidence};
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::units::Slot;
use zx1_vm_tests::{Agent, Batch, Failure, Inner, Receipt, Sent, World, address, events};

/// How a missing signature is refused, before a handler runs.
pub(crate) const MISSING_SIGNATURE: InstructionError = InstructionError::MissingRequiredSignature;
/// How a writable account that is passed twice is refused, before a handler runs.
pub(crate) const DUPLICATE_MUTABLE: InstructionError = InstructionError::Custom(2040);
/// Bytes of a legacy token account, whose rent a vault holds.
pub(crate) const VAULT_BYTES: usize = 165;
/// Slots of a zx1 epoch: 86 400 s at 400 ms.
pub(crate) const EPOCH_SLOTS: u64 = 216_000;
/// The challenge window and the unlock delay, written out again so that a changed constant shows.
pub(crate) const WINDOW: u64 = 432_000;

/// A world with an agent, its owner, and somebody else with SOL and USDC.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) agent: Agent,
    pub(crate) owner: Keypair,
    pub(crate) stranger: Keypair,
}

impl Scene {
    /// The agent is registered; it has neither stake nor lease.
    pub(crate) fn registered() -> Self {
        let mut world = World::configured();
        let owner = world.new_party();
        let stranger = world.new_party();
        let agent = world.register_agent(&owner);
        Self { world, agent, owner, stranger }
    }

    /// The agent has the minimum stake and no lease.
    pub(crate) fn staked() -> Self {
        let mut scene = Self::registered();
        scene.world.lock_stake(&scene.agent, &scene.owner, MIN_STAKE).unwrap();
        scene
    }

    /// The agent has the minimum stake and a lease that is paid through the current epoch.
    pub(crate) fn living() -> Self {
        let mut scene = Self::staked();
        scene.world.pay_lease(&scene.agent, &scene.owner, None, 1).unwrap();
        scene
    }

    /// The agent has the minimum stake and a deactivated lease.
    pub(crate) fn dead() -> Self {
        let mut scene = Self::living();
        scene.world.advance_epochs(4);
        scene
    }

    /// The agent's lease is deactivated and its unlock queued in the present slot.
    pub(crate) fn queued() -> Self {
        let mut scene = Self::dead();
        scene.world.queue_unlock(&scene.agent, &scene.owner).unwrap();
        scene
    }

    /// The same scene on a fork of the chain.
    pub(crate) fn fork(&self) -> Self {
        let (owner, stranger) = (self.owner.insecure_clone(), self.stranger.insecure_clone());
        Self { world: self.world.clone(), agent: self.agent, owner, stranger }
    }

    /// The agent's stake as it is now.
    pub(crate) fn stake(&self) -> StakeLockAccount {
        self.world.read(&pda::stake(&self.agent.mint))
    }

    /// The agent's lease as it is now.
    pub(crate) fn lease(&self) -> LeaseAccount {
        self.world.read(&pda::lease(&self.agent.mint))
    }

    /// The agent's head as it is now.
    pub(crate) fn head(&self) -> HeadAccount {
        self.world.read(&pda::head(&self.agent.mint))
    }

    /// The agent's batch of an epoch as it is now.
    pub(crate) fn batch(&self, epoch: u64) -> BatchAccount {
        self.world.read(&pda::batch(&self.agent.mint, epoch))
    }

    /// Hands the agent to somebody new with SOL and USDC; the owner keeps its key.
    pub(crate) fn sell(&mut self) -> (Agent, Keypair) {
        let buyer = self.world.new_party();
        let agent = self.world.transfer_agent(&self.agent, &self.owner, &buyer.pubkey());
        (agent, buyer)
    }

    /// Another agent of the stranger's, with its own stake and a lease paid through the current epoch.
    pub(crate) fn other_agent(&mut self) -> Agent {
        let other = self.world.register_agent(&self.stranger);
        self.world.lock_stake(&other, &self.stranger, MIN_STAKE).unwrap();
        self.world.pay_lease(&other, &self.stranger, None, 1).unwrap();
        other
    }

    /// Expects that the owner is refused with this error.
    #[track_caller]
    pub(crate) fn owner_refused(&mut self, instructions: &[Instruction], error: Error) {
        self.world.send_refused(instructions, &self.owner, &[]).expect_code(error.code());
    }

    /// Expects that the stranger is refused with this error.
    #[track_caller]
    pub(crate) fn stranger_refused(&mut self, instructions: &[Instruction], error: Error) {
        self.world.send_refused(instructions, &self.stranger, &[]).expect_code(error.code());
    }
}

/// The only event that a program emitted in a transaction.
#[track_caller]
pub(crate) fn only_event<T>(receipt: &Receipt, program: [u8; 32], read: fn(&[u8]) -> Option<T>) -> T {
    let all = events(receipt, &address(program));
    assert_eq!(all.len(), 1, "one event is emitted: {receipt:?}");
    read(&all[0]).expect("the event is of this type")
}

/// The instruction with another account at one place, used in the same way.
pub(crate) fn with_account(mut instruction: Instruction, place: usize, at: Address) -> Instruction {
    instruction.accounts[place].pubkey = at;
    instruction
}

/// The instruction without the signature of the account at one place.
pub(crate) fn unsigned(mut instruction: Instruction, place: usize) -> Instruction {
    assert!(instruction.accounts[place].is_signer, "there is a signature to take away");
    instruction.accounts[place].is_signer = false;
    instruction
}

/// A stranger sends lamports to an address, by a real transfer.
pub(crate) fn gift(world: &mut World, to: &Address, lamports: u64) {
    let faucet = world.faucet.insecure_clone();
    world.send_ok(&[system::transfer(&faucet.pubkey(), to, lamports)], &faucet, &[]);
}

/// keccak256 of the parts, one after the other.
pub(crate) fn keccak(parts: &[&[u8]]) -> [u8; 32] {
    Keccak256::digest(parts.concat()).into()
}

/// A transaction of the faucet's whose signatures are all zeros.
pub(crate) fn forged_transaction(world: &mut World, instruction: &Instruction) -> VersionedTransaction {
    world.svm.expire_blockhash();
    let (payer, blockhash) = (world.faucet.pubkey(), world.svm.latest_blockhash());
    let message = Message::new_with_blockhash(std::slice::from_ref(instruction), Some(&payer), &blockhash);
    let signatures = vec![Default::default(); usize::from(message.header.num_required_signatures)];
    VersionedTransaction { signatures, message: VersionedMessage::Legacy(message) }
}

/// Sends an instruction whose signature nobody can make: that of Challenge's authority, a derived address.
///
/// On chain only Challenge, by `invoke_signed`, makes that address sign; its own tests show when it does.
/// Here the machine's signature check is off for one transaction, so that the called instruction sees the
/// same thing that it sees in such a call: the right address, marked as a signer. Everything that the
/// program itself checks, and the token program's authority over the vault, stays in force.
pub(crate) fn send_unsigned(world: &mut World, instruction: &Instruction) -> Result<Receipt, Failure> {
    let transaction = forged_transaction(world, instruction);
    let accounts = transaction.message.static_account_keys().to_vec();
    world.svm = std::mem::take(&mut world.svm).with_sigverify(false);
    let result = world.svm.send_transaction(transaction);
    world.svm = std::mem::take(&mut world.svm).with_sigverify(true);
    let sent = |meta: litesvm::types::TransactionMetadata| {
        let name = |index: u8| accounts[usize::from(index)];
        let calls = meta.inner_instructions.into_iter().enumerate();
        let inner = calls.flat_map(|(outer, calls)| calls.into_iter().map(move |call| (outer, call)));
        let inner = inner.map(|(outer, call)| Inner {
            outer,
            depth: call.stack_height,
            program: name(call.instruction.program_id_index),
            accounts: call.instruction.accounts.iter().map(|index| name(*index)).collect(),
            data: call.instruction.data,
        });
        Sent { inner: inner.collect(), logs: meta.logs, fee: meta.fee, ..Sent::default() }
    };
    match result {
        Ok(meta) => Ok(Receipt(sent(meta))),
        Err(failed) => Err(Failure { error: failed.err, sent: sent(failed.meta) }),
    }
}

/// Expects that such a transaction is refused and changes nothing but the payer's balance.
#[track_caller]
pub(crate) fn unsigned_refused(world: &mut World, instruction: &Instruction) -> Failure {
    let before = world.snapshot();
    let failure = send_unsigned(world, instruction).expect_err("it is refused");
    before.assert_only_changed(world, &[world.faucet.pubkey()]);
    failure
}

/// A batch whose log holds a PROPOSE of the agent, and whose arrays do not hold the bid.
pub(crate) fn dishonest_batch(agent: &Agent, epoch: u64) -> Batch {
    let payload = [0; 16];
    let header = EnvelopeHeader {
        version: PROTOCOL_VERSION,
        msg_type: MsgType::Propose,
        sender: &agent.mint.0,
        recipient: &[9; 32],
        timestamp: epoch * 86_400_000_000,
        block_ref: Slot(1),
        nonce: 1,
        conversation_id: &[4; 16],
        payload_hash: &keccak(&[&payload]),
        payload_len: 16,
    };
    let entry = LogEntry { header, signature: &[5; 64], payload: &[] };
    Batch { epoch, entries: vec![entry.to_cbor::<Sha3>().unwrap()], records: Vec::new() }
}

/// An open challenge, really submitted to Challenge by the stranger, that the agent cannot answer.
pub(crate) struct OpenChallenge {
    addresses: ChallengeAddresses,
}

impl Scene {
    /// Challenges a [`dishonest_batch`].
    pub(crate) fn challenge(&mut self, batch: &Batch) -> OpenChallenge {
        let proof = batch.log().proof_of_entry(0).unwrap();
        let evidence = Evidence::LogEntry(LogEvidence {
            leaf_index: proof.index,
            proof: &proof.path,
            entry: &batch.entries[0],
            shown_payload: None,
        });
        let leaf = LogEntry::leaf::<Sha3>(&batch.entries[0]);
        let hash = evidence_hash::<Sha3>(KIND_LOG_ENTRY, &leaf, false);
        let addresses = self.world.challenge_addresses(&self.stranger, &self.agent, batch.epoch, 1, &hash);
        let inline = EvidenceSource::Inline(evidence.to_bytes().unwrap());
        self.world.send_ok(&[submit_challenge(&addresses, &inline)], &self.stranger, &[]);
        OpenChallenge { addresses }
    }

    /// Settles it after its window: the agent loses its whole stake.
    pub(crate) fn resolve(&mut self, challenge: &OpenChallenge) {
        let treasury = self.world.treasury_usdc();
        self.world.send_ok(&[resolve_challenge(&challenge.addresses, treasury)], &self.stranger, &[]);
    }
}
