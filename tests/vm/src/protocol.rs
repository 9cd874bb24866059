//! The five programs' everyday life, for tests that are about something else: configuration, stakes,
//! leases, batches, challenges. Every step is a real transaction that must succeed.

use crate::{Agent, Failure, Receipt, World, ed25519_instruction, keypair};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::challenge::ChallengeAddresses;
use zx1_chain::instructions::lease::LeasePayment;
use zx1_chain::instructions::stake_lock::ConfigAddresses;
use zx1_chain::instructions::{AgentAddresses, behavior_log, lease, stake_lock};
use zx1_chain::{claim, pda};
use zx1_interface::Layout;
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::ids;
use zx1_interface::instruction::SubmitBatch;
use zx1_protocol::batch::batch_message;
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::merkle::Tree;
use zx1_protocol::units::{Epoch, MicroUsdc};

/// One USDC in micro-USDC.
pub const USDC: u64 = 1_000_000;

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
    /// The tree of the log.
    pub fn log(&self) -> Tree<Sha3> {
        Tree::of_entries(&self.entries).unwrap()
    }

    /// The tree of the records.
    pub fn arrays(&self) -> Tree<Sha3> {
        Tree::of_entries(&self.records).unwrap()
    }

    /// The arguments of submit_batch.
    pub fn arguments(&self, agent: &AgentId) -> SubmitBatch {
        SubmitBatch {
            agent_id: agent.0,
            epoch_number: self.epoch,
            log_merkle_root: self.log().root(),
            log_len: self.log().len(),
            batch_hash: [7; 32],
            arrays_root: self.arrays().root(),
            arrays_len: self.arrays().len(),
        }
    }
}

/// The bytes that an agent's key signs for these arguments.
pub fn message_of(batch: &SubmitBatch) -> Vec<u8> {
    batch_message(
        &batch.agent_id,
        Epoch(batch.epoch_number),
        &batch.log_merkle_root,
        batch.log_len,
        &batch.batch_hash,
        &batch.arrays_root,
        batch.arrays_len,
    )
    .to_vec()
}

impl Agent {
    /// The addresses that prove its ownership.
    pub fn addresses(&self) -> AgentAddresses {
        AgentAddresses { mint: self.mint, index: self.agent_index, token: self.token_account }
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

    /// What [`World::init_config`] writes.
    pub fn config_addresses(&mut self) -> ConfigAddresses {
        let schemas = self.schemas();
        ConfigAddresses {
            usdc_mint: self.usdc_mint(),
            treasury: self.treasury().pubkey(),
            maintainer: self.maintainer().pubkey(),
            registry: self.init_registry(),
            delegate_credential: schemas.credential,
            delegate_schema: schemas.delegate,
        }
    }

    /// Writes the configuration.
    pub fn init_config(&mut self) -> Receipt {
        let authority = self.upgrade_authority();
        let addresses = self.config_addresses();
        let instruction = stake_lock::initialize_config(authority.pubkey(), &addresses);
        let maintainer = self.maintainer().pubkey();
        self.svm.airdrop(&maintainer, 10_000_000_000).unwrap();
        self.send_ok(&[instruction], &authority, &[])
    }

    /// A world with the programs and their configuration.
    pub fn configured() -> Self {
        let mut world = Self::new();
        world.init_config();
        world
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

    /// An agent with owner, minimum stake and one epoch of lease.
    pub fn living_agent(&mut self) -> (Agent, Keypair) {
        let owner = self.new_party();
        let agent = self.register_agent(&owner);
        self.lock_stake(&agent, &owner, MIN_STAKE).unwrap();
        self.pay_lease(&agent, &owner, None, 1).unwrap();
        (agent, owner)
    }

    /// lock_stake by the owner.
    pub fn lock_stake(&mut self, agent: &Agent, owner: &Keypair, amount: u64) -> Result<Receipt, Failure> {
        let (mint, from) = (self.usdc_mint(), self.usdc_account(&owner.pubkey()));
        let instruction =
            stake_lock::lock_stake(&agent.addresses(), owner.pubkey(), mint, from, MicroUsdc(amount));
        self.send(&[instruction], owner, &[])
    }

    /// queue_unlock by the owner.
    pub fn queue_unlock(&mut self, agent: &Agent, owner: &Keypair) -> Result<Receipt, Failure> {
        self.send(&[stake_lock::queue_unlock(&agent.addresses(), owner.pubkey())], owner, &[])
    }

    /// claim_stake by the owner.
    pub fn claim_stake(&mut self, agent: &Agent, owner: &Keypair) -> Result<Receipt, Failure> {
        let to = self.usdc_account(&owner.pubkey());
        self.send(&[stake_lock::claim_stake(&agent.addresses(), owner.pubkey(), to)], owner, &[])
    }

    /// pay_lease by the owner or a delegate.
    pub fn pay_lease(
        &mut self,
        agent: &Agent,
        authority: &Keypair,
        delegation: Option<Address>,
        epochs: u32,
    ) -> Result<Receipt, Failure> {
        let payment = LeasePayment {
            authority: authority.pubkey(),
            delegation,
            authority_usdc: self.usdc_account(&authority.pubkey()),
            treasury_usdc: self.treasury_usdc(),
            epochs,
        };
        self.send(&[lease::pay_lease(&agent.addresses(), &payment)], authority, &[])
    }

    /// submit_batch signed by `signer`, who also pays.
    pub fn submit_batch(
        &mut self,
        agent: &Agent,
        signer: &Keypair,
        batch: &Batch,
    ) -> Result<Receipt, Failure> {
        let arguments = batch.arguments(&agent.mint);
        let signature = ed25519_instruction(signer, &message_of(&arguments));
        let submit = behavior_log::submit_batch(&agent.addresses(), signer.pubkey(), None, &arguments);
        self.send(&[signature, submit], signer, &[])
    }

    /// The addresses of a challenge.
    pub fn challenge_addresses(
        &mut self,
        challenger: &Keypair,
        agent: &Agent,
        epoch: u64,
        ground: u8,
        evidence_hash: &Hash,
    ) -> ChallengeAddresses {
        ChallengeAddresses {
            challenger: challenger.pubkey(),
            challenger_usdc: self.usdc_account(&challenger.pubkey()),
            usdc_mint: self.usdc_mint(),
            agent: agent.mint,
            epoch_number: epoch,
            ground,
            claim: claim::seed(evidence_hash, ground),
        }
    }

    /// The account of a layout at this address; fails the test when it is absent or another.
    pub fn read<T: Layout>(&self, at: &Address) -> T {
        let account = self.account(at).unwrap_or_else(|| panic!("there is no account at {at}"));
        assert_eq!(account.owner.to_bytes(), T::PROGRAM, "{} has another owner", T::NAME);
        T::read(&account.data).unwrap_or_else(|| panic!("{at} is not a {}", T::NAME))
    }

    /// The vault's balance of an agent's stake.
    pub fn stake_vault_balance(&self, agent: &Agent) -> u64 {
        self.token_balance(&pda::stake_vault(&agent.mint))
    }
}
