//! The five programs' everyday life, for tests that are about something else: configuration, stakes,
//! leases, heads, batches. Every step is a real transaction. What begins with a verb in -ing builds an
//! instruction, for tests that change or count it; the plain verb sends it.

use crate::{Agent, Failure, Key, Keys, Receipt, World, ed25519_instruction, keypair};
use solana_account::ReadableAccount;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::lease::LeasePayment;
use zx1_chain::instructions::stake_lock::ConfigAddresses;
use zx1_chain::instructions::{AgentAddresses, behavior_log, lease, stake_lock};
use zx1_chain::pda;
use zx1_interface::accounts::{BatchAccount, HeadAccount, LeaseAccount, ShardAccount, StakeLockAccount};
use zx1_interface::{Layout, ids};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::batch::{BatchMessage, covers_from};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::merkle::Tree;
use zx1_protocol::units::{Epoch, MicroUsdc};

/// One USDC in micro-USDC.
pub const USDC: u64 = 1_000_000;
/// What every world's configuration has for the cluster's genesis hash.
pub const NETWORK: Hash = *b"genesis hash of the worlds in VM";
/// What a batch of [`Batch`] has for the hash of its CBOR, which no program reads.
pub const BATCH_HASH: Hash = [7; 32];

/// What a batch commits to, with the trees to prove it.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Epoch of the batch.
    pub epoch: u64,
    /// The log's entries, encoded.
    pub entries: Vec<Vec<u8>>,
    /// The packed records of its arrays.
    pub records: Vec<Vec<u8>>,
}

impl Batch {
    /// A batch without anything in it.
    pub fn empty(epoch: u64) -> Self {
        Self { epoch, entries: Vec::new(), records: Vec::new() }
    }

    /// The tree of the log.
    pub fn log(&self) -> Tree<Sha3> {
        Tree::of_entries(&self.entries).unwrap()
    }

    /// The tree of the records.
    pub fn arrays(&self) -> Tree<Sha3> {
        Tree::of_entries(&self.records).unwrap()
    }
}

/// An agent with everything that a batch needs but a past epoch: tenure, keys that count at once, minimum
/// stake, lease and head.
#[derive(Clone, Debug)]
pub struct Living {
    /// The agent, registered and held by `owner`.
    pub agent: Agent,
    /// Its holder, with SOL and USDC.
    pub owner: Key,
    /// One key of each scope that a batch or evidence needs.
    pub keys: Keys,
}

impl Agent {
    /// The addresses that prove its ownership.
    pub fn addresses(&self) -> AgentAddresses {
        AgentAddresses { mint: self.mint, index: self.agent_index, token: self.token_account }
    }

    /// The shard of the vault that holds its stakes.
    pub fn shard(&self) -> u8 {
        pda::shard_of(&self.mint)
    }
}

impl World {
    /// StakeLock's upgrade authority.
    pub fn upgrade_authority(&mut self) -> Keypair {
        let key = keypair("upgrade authority");
        self.svm.airdrop(&key.pubkey(), 10_000_000_000).unwrap();
        self.set_program_data(&Address::new_from_array(ids::STAKE_LOCK), Some(key.pubkey()));
        key
    }

    /// The maintainer of the feedback log.
    pub fn maintainer(&self) -> Keypair {
        keypair("maintainer")
    }

    /// The treasury's wallet.
    pub fn treasury(&self) -> Keypair {
        keypair("treasury")
    }

    /// What [`World::init_config`] writes: [`NETWORK`] and [`Amounts::DEFAULT`].
    pub fn config_addresses(&mut self) -> ConfigAddresses {
        let schemas = self.schemas();
        ConfigAddresses {
            usdc_mint: self.usdc_mint(),
            treasury: self.treasury().pubkey(),
            maintainer: self.maintainer().pubkey(),
            registry: self.init_registry(),
            delegate_credential: schemas.credential,
            delegate_schema: schemas.delegate,
            network: NETWORK,
            amounts: Amounts::DEFAULT,
        }
    }

    /// Writes the configuration with these amounts.
    pub fn init_config_with(&mut self, amounts: Amounts) -> Receipt {
        let authority = self.upgrade_authority();
        let addresses = ConfigAddresses { amounts, ..self.config_addresses() };
        let instruction = stake_lock::initialize_config(authority.pubkey(), &addresses);
        let maintainer = self.maintainer().pubkey();
        self.svm.airdrop(&maintainer, 10_000_000_000).unwrap();
        self.send_ok(&[instruction], &authority, &[])
    }

    /// Writes the configuration with [`Amounts::DEFAULT`].
    pub fn init_config(&mut self) -> Receipt {
        self.init_config_with(Amounts::DEFAULT)
    }

    /// A world with the programs and their configuration.
    pub fn configured() -> Self {
        let mut world = Self::new();
        world.init_config();
        world
    }

    /// The same with other amounts.
    pub fn configured_with(amounts: Amounts) -> Self {
        let mut world = Self::new();
        world.init_config_with(amounts);
        world
    }

    /// The configured amounts.
    pub fn amounts(&self) -> Amounts {
        Amounts::of(&self.read(&pda::config()))
    }

    /// A wallet with 100 SOL and 1 000 USDC.
    pub fn new_party(&mut self) -> Keypair {
        let wallet = self.new_wallet(100);
        self.fund_usdc(&wallet.pubkey(), 1_000 * USDC);
        wallet
    }

    /// The treasury's USDC account.
    pub fn treasury_usdc(&mut self) -> Address {
        let treasury = self.treasury().pubkey();
        self.fund_usdc(&treasury, 0)
    }

    /// An agent that can land a batch of the present epoch once that is over; its lease is paid through it.
    #[track_caller]
    pub fn living_agent(&mut self) -> Living {
        let owner = Key(self.new_party());
        let agent = self.register_agent(&owner);
        self.open_tenure(&agent, &owner).unwrap();
        let keys = self.new_keys(&agent, &owner);
        self.lock_stake(&agent, &owner, self.amounts().min_stake).unwrap();
        self.pay_lease(&agent, &owner, 1).unwrap();
        self.open_head(&agent).unwrap();
        Living { agent, owner, keys }
    }

    /// open_vault of a shard; the faucet pays.
    pub fn open_vault(&mut self, shard: u8) -> Result<Receipt, Failure> {
        let (mint, faucet) = (self.usdc_mint(), self.faucet.insecure_clone());
        self.send(&[stake_lock::open_vault(faucet.pubkey(), mint, shard)], &faucet, &[])
    }

    /// Makes the vault of the agent's shard unless it is there.
    #[track_caller]
    pub fn ensure_vault(&mut self, agent: &Agent) {
        if self.find::<ShardAccount>(&pda::shard(agent.shard())).is_none() {
            self.open_vault(agent.shard()).unwrap();
        }
    }

    /// lock_stake in an era; the present era's stake is passed along where the era is the next.
    pub fn locking(&mut self, agent: &Agent, owner: &Address, era: u32, amount: u64) -> Instruction {
        let (from, present) = (self.usdc_account(owner), self.era(agent));
        let previous = (era == present.wrapping_add(1)).then_some(present);
        stake_lock::lock_stake(&agent.addresses(), *owner, from, era, previous, MicroUsdc(amount))
    }

    /// lock_stake in an era; the shard's vault is made if need be.
    pub fn lock_stake_in(
        &mut self,
        agent: &Agent,
        owner: &Keypair,
        era: u32,
        amount: u64,
    ) -> Result<Receipt, Failure> {
        self.ensure_vault(agent);
        let instruction = self.locking(agent, &owner.pubkey(), era, amount);
        self.send(&[instruction], owner, &[])
    }

    /// lock_stake in the present era, or in the next while the present one is challenged or over.
    pub fn lock_stake(&mut self, agent: &Agent, owner: &Keypair, amount: u64) -> Result<Receipt, Failure> {
        let present = self.era(agent);
        let stake = self.find::<StakeLockAccount>(&pda::stake(&agent.mint, present));
        let next = stake.is_some_and(|stake| stake.ended_slot != 0 || stake.open_challenges != 0);
        self.lock_stake_in(agent, owner, present + u32::from(next), amount)
    }

    /// queue_unlock of an era by a wallet.
    pub fn queue_unlock(&mut self, agent: &Agent, owner: &Keypair, era: u32) -> Result<Receipt, Failure> {
        self.send(&[stake_lock::queue_unlock(&agent.addresses(), owner.pubkey(), era)], owner, &[])
    }

    /// cancel_unlock of an era by a wallet.
    pub fn cancel_unlock(&mut self, agent: &Agent, owner: &Keypair, era: u32) -> Result<Receipt, Failure> {
        self.send(&[stake_lock::cancel_unlock(&agent.addresses(), owner.pubkey(), era)], owner, &[])
    }

    /// claim_stake of an era by a wallet.
    pub fn claim_stake(&mut self, agent: &Agent, owner: &Keypair, era: u32) -> Result<Receipt, Failure> {
        let to = self.usdc_account(&owner.pubkey());
        self.send(&[stake_lock::claim_stake(&agent.addresses(), owner.pubkey(), to, era)], owner, &[])
    }

    /// An agent's stake of an era.
    #[track_caller]
    pub fn stake(&self, agent: &Agent, era: u32) -> StakeLockAccount {
        self.read(&pda::stake(&agent.mint, era))
    }

    /// pay_lease by a wallet; one that is not the agent's owner shows its key account.
    pub fn paying_lease(&mut self, agent: &Agent, authority: &Address, epochs: u32) -> Instruction {
        let key = (*authority != agent.owner).then(|| pda::key(&agent.mint, authority));
        let payment = LeasePayment {
            authority: *authority,
            key,
            authority_usdc: self.usdc_account(authority),
            treasury_usdc: self.treasury_usdc(),
            epochs,
        };
        lease::pay_lease(&agent.addresses(), &payment)
    }

    /// Sends [`World::paying_lease`]; the authority pays.
    pub fn pay_lease(&mut self, agent: &Agent, authority: &Keypair, epochs: u32) -> Result<Receipt, Failure> {
        let instruction = self.paying_lease(agent, &authority.pubkey(), epochs);
        self.send(&[instruction], authority, &[])
    }

    /// The agent's lease.
    #[track_caller]
    pub fn lease(&self, agent: &Agent) -> LeaseAccount {
        self.read(&pda::lease(&agent.mint))
    }

    /// open_head; the faucet pays.
    pub fn open_head(&mut self, agent: &Agent) -> Result<Receipt, Failure> {
        let faucet = self.faucet.insecure_clone();
        self.send(&[behavior_log::open_head(&agent.addresses(), faucet.pubkey())], &faucet, &[])
    }

    /// The agent's head.
    #[track_caller]
    pub fn head(&self, agent: &Agent) -> HeadAccount {
        self.read(&pda::head(&agent.mint))
    }

    /// What the batch key signs now for a batch: it follows the head and covers what it must.
    #[track_caller]
    pub fn message_of(&self, agent: &Agent, batch: &Batch) -> BatchMessage {
        let (head, epoch) = (self.head(agent), Epoch(batch.epoch));
        let from = Epoch(self.tenure(agent).from_epoch);
        BatchMessage {
            network: NETWORK,
            agent: agent.mint.0,
            covers_from: covers_from(epoch, Epoch(head.last_epoch), from),
            epoch,
            previous_digest: head.digest,
            log_merkle_root: batch.log().root(),
            log_len: batch.log().len(),
            batch_hash: BATCH_HASH,
            arrays_root: batch.arrays().root(),
            arrays_len: batch.arrays().len(),
        }
    }

    /// The Ed25519 check of the message and submit_batch in the present era.
    pub fn landing(
        &self,
        agent: &Agent,
        payer: &Address,
        key: &Keypair,
        message: &BatchMessage,
    ) -> [Instruction; 2] {
        let (era, epoch) = (self.era(agent), message.epoch.0);
        [
            ed25519_instruction(key, &message.to_bytes()),
            behavior_log::submit_batch(&agent.addresses(), *payer, key.pubkey(), era, epoch),
        ]
    }

    /// Lands exactly this message, signed by a key; the faucet pays.
    pub fn submit_message(
        &mut self,
        agent: &Agent,
        key: &Keypair,
        message: &BatchMessage,
    ) -> Result<Receipt, Failure> {
        let faucet = self.faucet.insecure_clone();
        self.send(&self.landing(agent, &faucet.pubkey(), key, message), &faucet, &[])
    }

    /// Lands a batch on the head as it is now, signed by a key; the faucet pays.
    pub fn submit_batch(&mut self, agent: &Agent, key: &Keypair, batch: &Batch) -> Result<Receipt, Failure> {
        self.submit_message(agent, key, &self.message_of(agent, batch))
    }

    /// The agent's batch of an epoch.
    #[track_caller]
    pub fn batch(&self, agent: &Agent, epoch: u64) -> BatchAccount {
        self.read(&pda::batch(&agent.mint, epoch))
    }

    /// Builds the instruction close_batch, for who paid.
    #[track_caller]
    pub fn closing_batch(&self, agent: &Agent, epoch: u64) -> Instruction {
        let batch = self.batch(agent, epoch);
        behavior_log::close_batch(agent.mint, epoch, batch.era, Address::new_from_array(batch.payer))
    }

    /// Sends [`World::closing_batch`]; the faucet calls.
    #[track_caller]
    pub fn close_batch(&mut self, agent: &Agent, epoch: u64) -> Result<Receipt, Failure> {
        let faucet = self.faucet.insecure_clone();
        self.send(&[self.closing_batch(agent, epoch)], &faucet, &[])
    }

    /// The account of a layout at this address; fails the test when it is absent or another.
    #[track_caller]
    pub fn read<T: Layout>(&self, at: &Address) -> T {
        let account = self.account(at).unwrap_or_else(|| panic!("there is no account at {at}"));
        assert_eq!(account.owner.to_bytes(), T::PROGRAM, "{} has another owner", T::NAME);
        T::read(&account.data).unwrap_or_else(|| panic!("{at} is not a {}", T::NAME))
    }

    /// The same, or `None` where there is no account.
    #[track_caller]
    pub fn find<T: Layout>(&self, at: &Address) -> Option<T> {
        self.account(at).filter(|account| !account.data.is_empty()).map(|_| self.read(at))
    }

    /// Every account of a layout, by address.
    pub fn all<T: Layout>(&self) -> Vec<(Address, T)> {
        let accounts = self.svm.accounts_db().inner.iter();
        let own = accounts.filter(|(_, account)| account.owner().to_bytes() == T::PROGRAM);
        let mut all: Vec<(Address, T)> =
            own.filter_map(|(at, account)| Some((*at, T::read(account.data())?))).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all
    }
}
