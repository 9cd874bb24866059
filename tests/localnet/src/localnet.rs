//! A local cluster as a value: build it, start it, move its clock, stop it.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use sha3::{Digest, Keccak256};
use solana_address::Address;
use solana_message::{VersionedMessage, legacy::Message};
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use surfpool_core::types::SurfnetTransactionStatus;
use zx1_chain::{pda, sati, token};
use zx1_fixtures::control::{Balance, Env, Jump, Status};
use zx1_interface::constants::EPOCH_SECONDS;

use crate::{
    LocalnetError,
    chain::{Chain, Machine},
    clock,
    folder::{self, Folder},
    genesis,
    ledger::{Ledger, Saved},
    nano::{NANO_RPC_PORT, NANO_WS_PORT, Nano},
    ports::{self, Wanted},
    programs::{self, Program},
    wallets::Wallets,
};

/// What a slot takes by default, as on the main network. A transaction does not wait for it, so nothing is
/// gained by less, and blockhashes live as long as they do there.
pub const DEFAULT_SLOT_TIME: Duration = Duration::from_millis(clock::SLOT_MS);

/// How a local cluster is to be.
#[derive(Clone, Debug)]
pub struct Builder {
    state: Option<PathBuf>,
    reset: bool,
    wanted: Wanted,
    slot_time: Duration,
    wallets: usize,
    programs: Option<PathBuf>,
    nano: bool,
    nano_ports: (Option<u16>, Option<u16>),
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            state: None,
            reset: false,
            wanted: Wanted::default(),
            slot_time: DEFAULT_SLOT_TIME,
            wallets: 4,
            programs: None,
            nano: true,
            nano_ports: (None, None),
        }
    }
}

impl Builder {
    /// Keeps keys and ledger in this folder. Without it they are in a temporary one and end with the
    /// process.
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Forgets the saved ledger before it starts. The keys stay, so addresses stay.
    pub fn reset(mut self, reset: bool) -> Self {
        self.reset = reset;
        self
    }

    /// Port of the RPC; 0 is any free one, the default 8899.
    pub fn port(mut self, port: u16) -> Self {
        self.wanted.rpc = Some(port);
        self
    }

    /// Port of the websocket; the default is the one above the RPC's, where every Solana tool looks.
    pub fn ws_port(mut self, port: u16) -> Self {
        self.wanted.ws = Some(port);
        self
    }

    /// Port of the control endpoint; 0 is any free one, the default 8897, or any when the RPC's is.
    pub fn control_port(mut self, port: u16) -> Self {
        self.wanted.control = Some(port);
        self
    }

    /// Time between two empty blocks, 1 ms at least.
    pub fn slot_time(mut self, time: Duration) -> Self {
        self.slot_time = time.max(Duration::from_millis(1));
        self
    }

    /// How many wallets have SOL and USDC.
    pub fn wallets(mut self, count: usize) -> Self {
        self.wallets = count;
        self
    }

    /// The folder of the built programs; by default `ZX1_DEPLOY_DIR`, else `deploy` in the build folder
    /// that this program lies in.
    pub fn programs(mut self, folder: impl Into<PathBuf>) -> Self {
        self.programs = Some(folder.into());
        self
    }

    /// Whether the Nano ledger runs too; it does by default.
    pub fn nano(mut self, nano: bool) -> Self {
        self.nano = nano;
        self
    }

    /// Port of the Nano ledger's RPC; 0 is any free one, the default 7076, or any when the chain's RPC port is.
    pub fn nano_port(mut self, port: u16) -> Self {
        self.nano_ports.0 = Some(port);
        self
    }

    /// Port of the Nano ledger's websocket; 0 is any free one, the default 7078, or any when the chain's RPC
    /// port is.
    pub fn nano_ws_port(mut self, port: u16) -> Self {
        self.nano_ports.1 = Some(port);
        self
    }

    /// Starts it. It serves when this returns. Blocks for about half a second; not for an async worker.
    pub fn start(self) -> Result<Localnet, LocalnetError> {
        Localnet::start(self)
    }
}

/// A running cluster. It ends when this is dropped.
pub struct Localnet {
    // The order is the order in which they are dropped: first the chain, last the folder.
    chain: Chain,
    nano: Option<Nano>,
    control: Option<TcpListener>,
    wallets: Wallets,
    env: Env,
    started: Instant,
    restored: Restored,
    folder: Folder,
}

/// Whether the start went on from a saved ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// A new ledger.
    New,
    /// A saved one, with this number of bytes of an unfinished block cut off.
    Saved {
        /// Bytes that a kill had left unfinished.
        cut_bytes: u64,
    },
}

impl Localnet {
    /// A cluster to be configured.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn start(builder: Builder) -> Result<Self, LocalnetError> {
        let started = Instant::now();
        let folder = Folder::open(builder.state.as_deref())?;
        let state = folder.path();
        let programs = programs::read(&programs::folder(builder.programs.as_deref())?)?;
        let (listener, ports) = ports::choose(builder.wanted)?;
        if builder.reset {
            folder.forget_ledgers()?;
        }
        let wallets = Wallets::open(state, builder.wallets, builder.reset)?;
        let nano = if builder.nano {
            // Whoever asks for any RPC port runs several.
            let default = |port| if builder.wanted.rpc == Some(0) { 0 } else { port };
            let rpc = builder.nano_ports.0.unwrap_or(default(NANO_RPC_PORT));
            let ws = builder.nano_ports.1.unwrap_or(default(NANO_WS_PORT));
            Some(Nano::start(&state.join("nano"), rpc, ws)?)
        } else {
            None
        };
        let mut machine = Machine::new(builder.slot_time)?;
        let (ledger, restored) = match Ledger::open(state)? {
            Some((ledger, saved, cut_bytes)) => {
                restore(&mut machine, state, saved)?;
                upgrade(&mut machine, state, &programs, &wallets)?;
                genesis::endow_new_wallets(&mut machine.svm, &wallets)?;
                let mut ledger = ledger;
                let frame = machine.frame();
                if !frame.is_empty() {
                    ledger.append(&frame)?;
                }
                (ledger, Restored::Saved { cut_bytes })
            }
            None => {
                clock::set_moment(&mut machine.svm, clock::first_moment()?);
                let mut genesis = [0; 32];
                getrandom::fill(&mut genesis).map_err(|why| LocalnetError::Cluster(why.to_string()))?;
                genesis::build(&mut machine.svm, &programs, &wallets, genesis)?;
                machine.svm.cached_genesis_hash = Some(genesis.into());
                (Ledger::create(state, genesis, machine.frame())?, Restored::New)
            }
        };
        remember_programs(state, &programs)?;
        machine.mark_saved();
        let chain = machine.serve(ports, Some(ledger))?;
        let control = listener.local_addr().map_err(|why| LocalnetError::Cluster(why.to_string()))?;
        let mut env = describe(state, &wallets, ports, control.port());
        env.nano_rpc_url = nano.as_ref().map(|nano| nano.rpc_url.clone());
        env.nano_ws_url = nano.as_ref().map(|nano| nano.ws_url.clone());
        folder.publish(&env)?;
        tracing::info!("ready in {} ms", started.elapsed().as_millis());
        Ok(Self { chain, nano, control: Some(listener), wallets, env, started, restored, folder })
    }

    /// Where everything is.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Whether this went on from a saved ledger.
    pub fn restored(&self) -> Restored {
        self.restored
    }

    /// How long the start took.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The bound listener of the control endpoint, for [`crate::control::serve`]; there is one.
    pub fn take_control_listener(&mut self) -> Option<TcpListener> {
        self.control.take()
    }

    /// Where the chain stands.
    pub fn status(&self) -> Status {
        self.status_at(self.chain.moment())
    }

    fn status_at(&self, at: crate::ledger::Moment) -> Status {
        let unix = clock::seconds(at.unix_ms);
        Status {
            slot: at.slot,
            unix,
            epoch: u64::try_from(unix).unwrap_or(0) / EPOCH_SECONDS,
            block_height: at.height,
            transactions: at.transactions,
            uptime_seconds: self.started.elapsed().as_secs(),
        }
    }

    /// Jumps ahead; returns where the chain stands then. Errors 9811, 9812 and 9815.
    pub fn jump(&self, jump: Jump) -> Result<Status, LocalnetError> {
        self.chain.jump(jump).map(|at| self.status_at(at))
    }

    /// Jumps so many zx1 epochs (days) ahead.
    pub fn travel_epochs(&self, epochs: u64) -> Result<Status, LocalnetError> {
        self.jump(Jump { epochs: Some(epochs), ..Jump::default() })
    }

    /// Jumps this number of slots ahead.
    pub fn travel_slots(&self, slots: u64) -> Result<Status, LocalnetError> {
        self.jump(Jump { slots: Some(slots), ..Jump::default() })
    }

    /// Adds lamports and micro-USDC to an address, in one confirmed transaction.
    pub fn fund(&self, address: &Address, lamports: u64, usdc_micro: u64) -> Result<Balance, LocalnetError> {
        let faucet = self.wallets.faucet();
        let instructions = genesis::fund_instructions(&faucet.pubkey(), address, lamports, usdc_micro)?;
        if !instructions.is_empty() {
            let message =
                Message::new_with_blockhash(&instructions, Some(&faucet.pubkey()), &self.chain.blockhash());
            let message = VersionedMessage::Legacy(message);
            let signatures = vec![faucet.sign_message(&message.serialize())];
            self.chain.send(&format!("fund {address}"), VersionedTransaction { signatures, message })?;
        }
        Ok(self.balance(address))
    }

    /// What an address holds.
    pub fn balance(&self, address: &Address) -> Balance {
        let mint = zx1_fixtures::usdc_mint_key().pubkey();
        let account = token::associated_address(address, &mint, &token::TOKEN_PROGRAM);
        Balance {
            address: address.to_string(),
            lamports: self.chain.account(address).map_or(0, |account| account.lamports),
            usdc_micro: self
                .chain
                .account(&account)
                .and_then(|account| token::TokenAccount::decode(&account.data))
                .map_or(0, |account| account.amount),
        }
    }

    /// What went wrong since the start, if anything: the chain has stopped then.
    pub fn failure(&self) -> Option<LocalnetError> {
        self.chain.failure()
    }

    /// Saves everything and frees the ports.
    pub fn stop(self) -> Result<(), LocalnetError> {
        self.shut_down()
    }

    /// As [`Localnet::stop`], for one that others hold too; the second time it does nothing.
    pub fn shut_down(&self) -> Result<(), LocalnetError> {
        // Both, whatever the first one says.
        let chain = self.chain.stop();
        let nano = self.nano.as_ref().map_or(Ok(()), Nano::stop);
        self.folder.retract();
        chain.and(nano)
    }
}

fn describe(state: &Path, wallets: &Wallets, ports: crate::chain::Ports, control: u16) -> Env {
    let schemas = genesis::schemas();
    let host = "127.0.0.1";
    Env {
        rpc_url: format!("http://{host}:{}", ports.rpc),
        ws_url: format!("ws://{host}:{}", ports.ws),
        control_url: format!("http://{host}:{control}"),
        nano_rpc_url: None,
        nano_ws_url: None,
        state: state.to_path_buf(),
        pid: std::process::id(),
        usdc_mint: zx1_fixtures::usdc_mint_key().pubkey().to_string(),
        config: pda::config().to_string(),
        treasury: wallets.treasury().to_string(),
        maintainer: wallets.maintainer().to_string(),
        sponsor: wallets.sponsor().to_string(),
        upgrade_authority: wallets.upgrade_authority().pubkey().to_string(),
        sati_registry: sati::registry_address().0.to_string(),
        group_mint: zx1_fixtures::group_mint_key().pubkey().to_string(),
        credential: schemas.credential.to_string(),
        feedback_schema: schemas.feedback.to_string(),
        delegate_schema: schemas.delegate.to_string(),
        wallets: wallets.describe(),
    }
}

/// Puts a saved ledger into the machine.
fn restore(machine: &mut Machine, state: &Path, saved: Saved) -> Result<(), LocalnetError> {
    let svm = &mut machine.svm;
    let cluster = |why: String| LocalnetError::Cluster(format!("the saved ledger does not load: {why}"));
    // The clock goes first: a program that is deployed in the future cannot be called.
    clock::set_moment(svm, saved.at);
    svm.cached_genesis_hash = Some(saved.genesis.into());
    let mut accounts = saved.accounts(&state.join("ledger"))?;
    // Programs last: the machine loads one from its data account.
    accounts.sort_by_key(|(_, account)| account.executable);
    for (address, account) in accounts {
        svm.set_account(&address, account).map_err(|why| cluster(format!("{address}: {why}")))?;
    }
    for (slot, header) in saved.blocks {
        svm.blocks.store(slot, header).map_err(|why| cluster(why.to_string()))?;
    }
    for (signature, status) in saved.transactions {
        if matches!(status, SurfnetTransactionStatus::Processed(_)) {
            svm.transactions.store(signature, status).map_err(|why| cluster(why.to_string()))?;
        }
    }
    machine.mark_saved();
    Ok(())
}

/// What was last put on the chain from files: name to hash.
#[derive(Default, Serialize, Deserialize)]
struct Installed(BTreeMap<String, String>);

fn hash(program: &Program) -> String {
    hex::encode(Keccak256::digest(&program.elf))
}

/// Puts programs that were built anew since the last start on the chain. One that was upgraded on the chain
/// itself, and whose file did not change, stays as it is.
fn upgrade(
    machine: &mut Machine,
    state: &Path,
    programs: &[Program],
    wallets: &Wallets,
) -> Result<(), LocalnetError> {
    let text = fs::read(state.join("programs.json")).unwrap_or_default();
    let installed: Installed = serde_json::from_slice(&text).unwrap_or_default();
    for program in programs {
        if installed.0.get(program.name) != Some(&hash(program)) {
            tracing::info!("{} was built anew and is upgraded", program.name);
            genesis::install(&mut machine.svm, program, &wallets.upgrade_authority().pubkey())?;
        }
    }
    Ok(())
}

fn remember_programs(state: &Path, programs: &[Program]) -> Result<(), LocalnetError> {
    let installed =
        Installed(programs.iter().map(|program| (program.name.to_owned(), hash(program))).collect());
    folder::write(&state.join("programs.json"), &installed)
}
