//! The chain itself: programs, time, wallets, accounts.

use std::{fs, path::PathBuf};

use agave_feature_set::FeatureSet;
use litesvm::LiteSVM;
use solana_account::Account;
use solana_address::Address;
use solana_clock::Clock;
use solana_keypair::Keypair;
use solana_loader_v3_interface::{get_program_data_address, state::UpgradeableLoaderState};
use solana_sdk_ids::{bpf_loader_upgradeable, system_program};
use solana_signer::Signer;
use zx1_fixtures::{PROGRAMS, STAND_INS};
use zx1_interface::constants::EPOCH_SECONDS;

use crate::{Schemas, keypair};

/// The slot in which every world begins.
pub const START_SLOT: u64 = 400_000_000;
/// The Unix time at which every world begins: in the evening of a zx1 epoch.
pub const START_TIME: i64 = 1_772_313_600;

/// An address from the bytes that `zx1_interface` keeps.
pub fn address(bytes: [u8; 32]) -> Address {
    Address::new_from_array(bytes)
}

/// Where the built programs are: `ZX1_DEPLOY_DIR`, else the checkout's `target/deploy`.
pub fn deploy_folder() -> PathBuf {
    zx1_fixtures::deploy_folder(env!("CARGO_MANIFEST_DIR"))
}

/// The registry of a world.
#[derive(Debug)]
pub(crate) struct Registry {
    pub(crate) authority: Keypair,
    pub(crate) group_mint: Address,
}

impl Clone for Registry {
    fn clone(&self) -> Self {
        Self { authority: self.authority.insecure_clone(), group_mint: self.group_mint }
    }
}

/// A chain with programs, money and agents. Cloning it forks the chain.
pub struct World {
    /// The virtual machine, for what the helpers do not cover.
    pub svm: LiteSVM,
    /// Pays for what the helpers themselves send; rich.
    pub faucet: Keypair,
    pub(crate) registry: Option<Registry>,
    pub(crate) schemas: Option<Schemas>,
    names: u64,
}

impl Clone for World {
    fn clone(&self) -> Self {
        Self {
            svm: self.svm.clone(),
            faucet: self.faucet.insecure_clone(),
            registry: self.registry.clone(),
            schemas: self.schemas,
            names: self.names,
        }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// A chain with zx1's five programs and the stand-ins for SATI and SAS.
    pub fn new() -> Self {
        let mut world = Self::with_stand_ins();
        for (name, id) in PROGRAMS {
            world.load_program(name, address(id));
        }
        world
    }

    /// A chain with the stand-ins for SATI and SAS, and without zx1's programs.
    pub fn with_stand_ins() -> Self {
        let mut world = Self::empty();
        for (name, id) in STAND_INS {
            world.load_program(name, address(id));
        }
        world
    }

    /// A chain with Solana's and SPL's programs only. Signatures and the age of the blockhash are
    /// checked; the features are those that are active on the main network, or every one if
    /// `ZX1_VM_FEATURES=all`.
    pub fn empty() -> Self {
        let svm = LiteSVM::default();
        let svm = match std::env::var("ZX1_VM_FEATURES").as_deref() {
            Ok("all") => svm.with_feature_set(FeatureSet::all_enabled()),
            _ => svm.with_mainnet_features(),
        };
        let mut svm = svm.with_builtins().with_lamports(u64::MAX / 4).with_sysvars().with_feature_accounts();
        // The clock goes first: a program that is deployed in the future cannot be called.
        svm.set_sysvar(&clock_at(START_SLOT));
        let svm = svm
            .with_default_programs()
            .with_sigverify(true)
            .with_blockhash_check(true)
            .with_precompiles()
            .with_log_bytes_limit(None);
        let mut world = Self { svm, faucet: keypair("faucet"), registry: None, schemas: None, names: 0 };
        let faucet = world.faucet.pubkey();
        world.svm.airdrop(&faucet, 1_000_000_000_000_000).unwrap();
        world
    }

    /// Loads `target/deploy/<name>.so` at an address.
    pub fn load_program(&mut self, name: &str, id: Address) {
        let path = deploy_folder().join(format!("{name}.so"));
        let bytes = fs::read(&path).unwrap_or_else(|error| {
            panic!("{} cannot be read ({error}): run scripts/build-programs first", path.display())
        });
        self.svm
            .add_program(id, &bytes)
            .unwrap_or_else(|error| panic!("{} does not load: {error}", path.display()));
    }

    /// Makes a program look deployed by this upgrade authority; none is a final program.
    pub fn set_program_data(&mut self, program: &Address, upgrade_authority: Option<Address>) {
        let at = get_program_data_address(program);
        let mut account = self.svm.get_account(&at).expect("the program is loaded");
        let length = UpgradeableLoaderState::size_of_programdata_metadata();
        let slot = self.slot();
        let mut header = Vec::with_capacity(length);
        header.extend(3u32.to_le_bytes());
        header.extend(slot.to_le_bytes());
        match upgrade_authority {
            None => header.push(0),
            Some(authority) => {
                header.push(1);
                header.extend(authority.to_bytes());
            }
        }
        header.resize(length, 0);
        account.data[..length].copy_from_slice(&header);
        assert_eq!(account.owner, bpf_loader_upgradeable::ID, "the program is an upgradeable one");
        self.svm.set_account(at, account).unwrap();
    }

    /// The current slot.
    pub fn slot(&self) -> u64 {
        self.svm.get_sysvar::<Clock>().slot
    }

    /// The Unix time in seconds.
    pub fn time(&self) -> i64 {
        self.svm.get_sysvar::<Clock>().unix_timestamp
    }

    /// The zx1 epoch (a day), not the validators'.
    pub fn epoch(&self) -> u64 {
        u64::try_from(self.time()).unwrap() / EPOCH_SECONDS
    }

    /// Goes to a slot, and to the time that 400 ms a slot give it. Backwards works too.
    pub fn warp_to_slot(&mut self, slot: u64) {
        self.svm.set_sysvar(&clock_at(slot));
        self.svm.expire_blockhash();
    }

    /// Moves ahead by a number of slots.
    pub fn advance_slots(&mut self, slots: u64) {
        self.warp_to_slot(self.slot().checked_add(slots).unwrap());
    }

    /// Goes so many zx1 epochs ahead, to the same time of day.
    pub fn advance_epochs(&mut self, epochs: u64) {
        self.advance_slots(epochs * EPOCH_SECONDS * 5 / 2);
    }

    /// Goes to the first slot whose time is this or later.
    pub fn warp_to_time(&mut self, time: i64) {
        let seconds = u64::try_from(time - START_TIME).expect("a time after the world's beginning");
        self.warp_to_slot(START_SLOT + (seconds * 5).div_ceil(2));
    }

    /// Goes to the first slot of a zx1 epoch.
    pub fn warp_to_epoch(&mut self, epoch: u64) {
        self.warp_to_time(i64::try_from(epoch * EPOCH_SECONDS).unwrap());
    }

    /// A new wallet with so many whole SOL; the same keys in every run.
    pub fn new_wallet(&mut self, sol: u64) -> Keypair {
        let wallet = self.new_keypair();
        if sol > 0 {
            self.set_lamports(&wallet.pubkey(), sol * 1_000_000_000);
        }
        wallet
    }

    /// A key pair that this world has not given out yet; the same in every run.
    pub fn new_keypair(&mut self) -> Keypair {
        self.names += 1;
        keypair(&format!("key {}", self.names))
    }

    /// Lamports of an account; 0 where there is none.
    pub fn lamports(&self, at: &Address) -> u64 {
        self.svm.get_balance(at).unwrap_or(0)
    }

    /// Sets the lamports of an account, which becomes a wallet where there was none.
    pub fn set_lamports(&mut self, at: &Address, lamports: u64) {
        let mut account =
            self.account(at).unwrap_or(Account { owner: system_program::ID, ..Account::default() });
        account.lamports = lamports;
        self.set_account(at, account);
    }

    /// The lamports that make a number of bytes rent-exempt.
    pub fn rent(&self, length: usize) -> u64 {
        self.svm.minimum_balance_for_rent_exemption(length)
    }

    /// An account, if it exists. LiteSVM keeps closed accounts as empty ones; these count as none.
    pub fn account(&self, at: &Address) -> Option<Account> {
        self.svm.get_account(at).filter(|a| a.lamports > 0 || !a.data.is_empty())
    }

    /// An account's data; empty where there is no account.
    pub fn data(&self, at: &Address) -> Vec<u8> {
        self.account(at).map(|a| a.data).unwrap_or_default()
    }

    /// Writes an account, past every program.
    pub fn set_account(&mut self, at: &Address, account: Account) {
        self.svm.set_account(*at, account).unwrap();
    }

    /// Writes a rent-exempt account, past every program.
    pub fn set_data(&mut self, at: &Address, owner: &Address, data: &[u8]) {
        let account = Account {
            lamports: self.rent(data.len()),
            data: data.to_vec(),
            owner: *owner,
            ..Account::default()
        };
        self.set_account(at, account);
    }

    /// Changes an existing account's data, past every program.
    pub fn edit_data(&mut self, at: &Address, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut account = self.account(at).expect("the account exists");
        edit(&mut account.data);
        self.set_account(at, account);
    }
}

fn clock_at(slot: u64) -> Clock {
    let since = i64::try_from(slot).unwrap() - i64::try_from(START_SLOT).unwrap();
    Clock {
        slot,
        epoch_start_timestamp: START_TIME,
        epoch: slot / 432_000,
        leader_schedule_epoch: slot / 432_000 + 1,
        unix_timestamp: START_TIME + (since * 2).div_euclid(5),
    }
}
