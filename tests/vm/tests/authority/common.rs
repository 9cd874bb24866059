//! What the tests of this binary share: scenes, single events, refusals, and a real challenge.

use sha3::{Digest, Keccak256};
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_message::{Message, VersionedMessage};
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use solana_transaction::versioned::VersionedTransaction;
use zx1_interface::Error;
use zx1_interface::accounts::{
    BatchAccount, HeadAccount, KeyAccount, LeaseAccount, StakeLockAccount, TenureAccount,
};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::{EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::evidence::{Evidence, LogEvidence};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::keys::Scopes;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::units::Slot;
use zx1_vm_tests::{
    Agent, Batch, Failure, Filing, Inner, Key, Keys, Living, Receipt, Sent, Shown, World, address, events,
};

/// How a missing signature is refused, before a handler runs.
pub(crate) const MISSING_SIGNATURE: InstructionError = InstructionError::MissingRequiredSignature;
/// How a writable account that is passed twice is refused, before a handler runs.
pub(crate) const DUPLICATE_MUTABLE: InstructionError = InstructionError::Custom(2040);
/// Bytes of a legacy token account, which a vault is.
pub(crate) const VAULT_BYTES: usize = 165;
/// Slots of a zx1 epoch: 86 400 s at 400 ms.
pub(crate) const EPOCH_SLOTS: u64 = 216_000;
/// The challenge window and the unlock delay, written out again so that a changed constant shows.
pub(crate) const WINDOW: u64 = 432_000;

/// A world with an agent, its owner and keys, and somebody else with SOL and USDC.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) agent: Agent,
    pub(crate) owner: Key,
    /// The agent's keys; nothing knows them before [`Scene::tenured`].
    pub(crate) keys: Keys,
    pub(crate) stranger: Key,
}

/// What a world's configuration has for the smallest stake, written out again so that a changed value shows.
pub(crate) const MIN_STAKE: u64 = 30_000_000;

impl Scene {
    /// The agent is registered; it has neither tenure nor stake nor lease.
    pub(crate) fn registered() -> Self {
        let mut world = World::configured();
        let (owner, stranger) = (Key(world.new_party()), Key(world.new_party()));
        let agent = world.register_agent(&owner);
        let mut key = || Key(world.new_keypair());
        let keys = Keys { pay: key(), batch: key(), deal: key() };
        Self { world, agent, owner, keys, stranger }
    }

    /// The agent has its first tenure, without keys.
    pub(crate) fn opened() -> Self {
        let mut scene = Self::registered();
        scene.world.open_tenure(&scene.agent, &scene.owner).unwrap();
        scene
    }

    /// The agent's three keys are listed; as a first use they act at once.
    pub(crate) fn tenured() -> Self {
        let mut scene = Self::opened();
        let Keys { pay, batch, deal } = scene.keys.clone();
        for (key, scopes) in [(pay, Scopes::PAY), (batch, Scopes::BATCH), (deal, Scopes::DEAL)] {
            scene.world.add_key(&scene.agent, &scene.owner, &key, scopes).unwrap();
        }
        scene
    }

    /// The agent has the minimum stake and no lease.
    pub(crate) fn staked() -> Self {
        let mut scene = Self::tenured();
        scene.world.lock_stake(&scene.agent, &scene.owner, MIN_STAKE).unwrap();
        scene
    }

    /// The agent has the minimum stake and a lease that is paid through the current epoch.
    pub(crate) fn living() -> Self {
        let mut scene = Self::staked();
        scene.world.pay_lease(&scene.agent, &scene.owner, 1).unwrap();
        scene
    }

    /// The agent has a head too, of the epoch before, and its lease is paid through the current one: a batch
    /// of [`Scene::last_epoch`] can land.
    pub(crate) fn landing() -> Self {
        let mut scene = Self::living();
        scene.world.open_head(&scene.agent).unwrap();
        scene.world.pay_lease(&scene.agent, &scene.owner, 1).unwrap();
        scene.world.advance_epochs(1);
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
        scene.world.queue_unlock(&scene.agent, &scene.owner, 0).unwrap();
        scene
    }

    /// The same scene on a fork of the chain.
    pub(crate) fn fork(&self) -> Self {
        let (owner, keys, stranger) = (self.owner.clone(), self.keys.clone(), self.stranger.clone());
        Self { world: self.world.clone(), agent: self.agent, owner, keys, stranger }
    }

    /// The epoch before the current one.
    pub(crate) fn last_epoch(&self) -> u64 {
        self.world.epoch() - 1
    }

    /// The agent's tenure as it is now.
    pub(crate) fn tenure(&self) -> TenureAccount {
        self.world.tenure(&self.agent)
    }

    /// A key account of the agent's as it is now.
    pub(crate) fn key(&self, key: &Key) -> KeyAccount {
        self.world.key(&self.agent, &key.at())
    }

    /// The agent's stake of the first era as it is now.
    pub(crate) fn stake(&self) -> StakeLockAccount {
        self.stake_of(0)
    }

    /// The agent's stake of an era as it is now.
    pub(crate) fn stake_of(&self, era: u32) -> StakeLockAccount {
        self.world.stake(&self.agent, era)
    }

    /// The agent's lease as it is now.
    pub(crate) fn lease(&self) -> LeaseAccount {
        self.world.lease(&self.agent)
    }

    /// The agent's head as it is now.
    pub(crate) fn head(&self) -> HeadAccount {
        self.world.head(&self.agent)
    }

    /// The agent's batch of an epoch as it is now.
    pub(crate) fn batch(&self, epoch: u64) -> BatchAccount {
        self.world.batch(&self.agent, epoch)
    }

    /// The total of the agent's shard, in micro-USDC.
    pub(crate) fn shard_total(&self) -> u64 {
        self.world.books(&self.agent, 0).shard
    }

    /// Micro-USDC in the vault of the agent's shard.
    pub(crate) fn vault(&self) -> u64 {
        self.world.books(&self.agent, 0).vault
    }

    /// Lands an empty batch of an epoch, signed by the batch key.
    #[track_caller]
    pub(crate) fn land(&mut self, epoch: u64) -> Receipt {
        self.land_batch(&Batch::empty(epoch))
    }

    /// Lands a batch, signed by the batch key.
    #[track_caller]
    pub(crate) fn land_batch(&mut self, batch: &Batch) -> Receipt {
        self.world.submit_batch(&self.agent, &self.keys.batch, batch).unwrap()
    }

    /// What the batch key signs now for a batch whose every field has another value.
    pub(crate) fn message(&self, epoch: u64) -> BatchMessage {
        BatchMessage {
            log_merkle_root: keccak(&[b"log", &epoch.to_le_bytes()]),
            log_len: 1_234,
            batch_hash: keccak(&[b"batch", &epoch.to_le_bytes()]),
            arrays_root: keccak(&[b"arrays", &epoch.to_le_bytes()]),
            arrays_len: 567,
            ..self.world.message_of(&self.agent, &Batch::empty(epoch))
        }
    }

    /// Hands the agent to somebody new with SOL and USDC, who has not taken over; the owner keeps its key.
    pub(crate) fn sell(&mut self) -> (Agent, Key) {
        let buyer = Key(self.world.new_party());
        let agent = self.world.transfer_agent(&self.agent, &self.owner, &buyer.at());
        (agent, buyer)
    }

    /// Another agent, the stranger's, with everything that a living one has.
    pub(crate) fn other_agent(&mut self) -> Living {
        let owner = self.stranger.clone();
        let agent = self.world.register_agent(&owner);
        self.world.open_tenure(&agent, &owner).unwrap();
        let keys = self.world.new_keys(&agent, &owner);
        self.world.lock_stake(&agent, &owner, MIN_STAKE).unwrap();
        self.world.pay_lease(&agent, &owner, 1).unwrap();
        self.world.open_head(&agent).unwrap();
        Living { agent, owner, keys }
    }

    /// Another agent whose money lies in the same vault, in its owner's tenure.
    pub(crate) fn neighbor(&mut self) -> (Agent, Key) {
        let owner = Key(self.world.new_party());
        let mint = std::iter::repeat_with(|| self.world.new_keypair())
            .find(|mint| mint.pubkey().to_bytes()[0] == self.agent.shard());
        let agent = self.world.register_agent_at(&mint.unwrap(), &owner);
        self.world.open_tenure(&agent, &owner).unwrap();
        (agent, owner)
    }

    /// Gives a key of the agent's 10 SOL and 1 000 USDC.
    pub(crate) fn fund(&mut self, key: &Key) {
        self.world.set_lamports(&key.at(), 10_000_000_000);
        self.world.fund_usdc(&key.at(), 1_000_000_000);
    }

    /// Expects that the owner is refused with this error.
    #[track_caller]
    pub(crate) fn owner_refused(&mut self, instructions: &[Instruction], error: Error) {
        let keys = self.keys.clone();
        let signers: [&Keypair; 3] = [&keys.pay, &keys.batch, &keys.deal];
        self.world.send_refused(instructions, &self.owner, &signers).expect_code(error.code());
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

/// A batch whose log holds a PROPOSE of the agent, and whose arrays do not hold the bid; and the hash of that
/// message's header.
pub(crate) fn dishonest_batch(agent: &Agent, epoch: u64) -> (Batch, Hash) {
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
    let message = header.message32::<Sha3>();
    let entry = LogEntry { header, signature: &[5; 64], payload: &[] };
    let entries = vec![entry.to_cbor::<Sha3>().unwrap()];
    (Batch { epoch, entries, records: Vec::new() }, message)
}

impl Scene {
    /// Lands a [`dishonest_batch`] of the epoch before; returns the stranger's evidence against it.
    #[track_caller]
    pub(crate) fn dishonest(&mut self) -> Filing {
        let (batch, message) = dishonest_batch(&self.agent, self.last_epoch());
        self.land_batch(&batch);
        let proof = batch.log().proof_of_entry(0).unwrap();
        let evidence = Evidence::LogEntry(LogEvidence {
            leaf_index: proof.index,
            proof: &proof.path,
            entry: &batch.entries[0],
            shown_payload: None,
        });
        Filing {
            finder: self.stranger.clone(),
            agent: self.agent,
            epoch: batch.epoch,
            nonce: 0,
            ground: Ground::Bid,
            value_known: false,
            message,
            shown: Shown::Bytes(evidence.to_bytes().unwrap()),
        }
    }

    /// An open challenge, really submitted to Challenge by the stranger, that the agent cannot answer. Needs
    /// a [`Scene::landing`]; returns the challenge's address.
    #[track_caller]
    pub(crate) fn challenged(&mut self) -> Address {
        let filing = self.dishonest();
        // A rank counts for batches that landed before it.
        self.world.advance_slots(1);
        self.world.file(&filing);
        filing.challenge()
    }

    /// Settles it after its window: the era is slashed.
    #[track_caller]
    pub(crate) fn resolve(&mut self, challenge: &Address) -> Receipt {
        self.world.pass_window(challenge);
        self.world.resolve(challenge).unwrap()
    }
}
