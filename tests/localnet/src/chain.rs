//! The running chain: Surfpool's machine and servers, and our own block production.
//!
//! Surfpool could make the blocks itself, with one of two clocks: a block every slot, so that a transaction
//! waits for its confirmation, or a block for every transaction, so that time stands still between them. Here
//! one thread makes both: a block for every transaction at once, and an empty one every slot. Each takes its
//! time from the wall clock, and is saved before anybody can see it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use solana_account::{Account, AccountSharedData, ReadableAccount};
use solana_address::Address;
use solana_sdk_ids::sysvar;
use solana_transaction::versioned::VersionedTransaction;
use surfpool_core::surfnet::{
    GeyserEvent,
    locker::SurfnetSvmLocker,
    svm::{SurfnetSvm, SurfnetSvmConfig},
};
use surfpool_types::{
    BlockProductionMode, RpcConfig, SimnetCommand, SimnetConfig, SimnetEvent, SurfpoolConfig,
    TransactionConfirmationStatus, TransactionStatusEvent,
};
use zx1_fixtures::control::Jump;

use crate::{
    LocalnetError,
    clock::{self, ChainTime},
    ledger::{Frame, Ledger, Moment},
};

/// How long starting, stopping and one transaction may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Ports of the chain's servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) rpc: u16,
    pub(crate) ws: u16,
}

/// A simulated machine before its RPC is served.
pub(crate) struct Machine {
    pub(crate) svm: SurfnetSvm,
    simnet_events: Receiver<SimnetEvent>,
    geyser_events: Receiver<GeyserEvent>,
    /// The accounts that need no saving: at first those that Surfpool itself puts on every chain.
    saved: HashMap<Address, AccountSharedData>,
    slot_time: Duration,
}

impl Machine {
    pub(crate) fn new(slot_time: Duration) -> Result<Self, LocalnetError> {
        let (svm, simnet_events, geyser_events) = SurfnetSvm::new(SurfnetSvmConfig {
            slot_time: millis(slot_time),
            // It runs every transaction several times over, for a page that is not served here.
            instruction_profiling_enabled: false,
            ..SurfnetSvmConfig::default()
        })
        .map_err(|why| LocalnetError::Cluster(why.to_string()))?;
        let mut machine = Self { svm, simnet_events, geyser_events, saved: HashMap::new(), slot_time };
        machine.mark_saved();
        Ok(machine)
    }

    /// The accounts as they are now are in the ledger.
    pub(crate) fn mark_saved(&mut self) {
        self.saved = self.svm.inner.svm.accounts_db().inner.iter().map(|(a, b)| (*a, b.clone())).collect();
    }

    /// Everything that is not saved yet, as one block.
    pub(crate) fn frame(&self) -> Frame {
        let mut frame = Frame::at(clock::moment(&self.svm));
        for (address, account) in changes(&self.svm, &self.saved) {
            frame.account(&address, account.as_ref());
        }
        frame
    }

    /// Serves the chain, and makes its blocks.
    pub(crate) fn serve(self, ports: Ports, ledger: Option<Ledger>) -> Result<Chain, LocalnetError> {
        let Self { svm, simnet_events, geyser_events, saved, slot_time } = self;
        let now = svm.updated_at;
        let locker = SurfnetSvmLocker::new(svm);
        let (commands, commands_rx) = crossbeam_channel::unbounded();
        let (news, news_rx) = crossbeam_channel::unbounded();
        let (wake, wake_rx) = crossbeam_channel::bounded(1);
        watch_events(simnet_events, news.clone())?;
        watch_transactions(geyser_events, wake)?;
        run_surfpool(locker.clone(), config(ports, slot_time), commands.clone(), commands_rx, news)?;
        wait_until_ready(&news_rx)?;
        let keeper = Keeper { time: ChainTime::from(now), ledger, saved, unsaved: false, failed: None };
        let keeper = Arc::new(Mutex::new(keeper));
        let producer = Producer { locker: locker.clone(), keeper: keeper.clone(), slot_time };
        let (stop, stop_rx) = crossbeam_channel::bounded(0);
        let thread = spawn("zx1-blocks", move || producer.run(&wake_rx, &stop_rx))?;
        Ok(Chain { locker, keeper, commands, news: news_rx, blocks: Mutex::new(Some((stop, thread))) })
    }
}

/// A chain that is served.
pub(crate) struct Chain {
    locker: SurfnetSvmLocker,
    keeper: Arc<Mutex<Keeper>>,
    commands: Sender<SimnetCommand>,
    news: Receiver<News>,
    blocks: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

impl Chain {
    pub(crate) fn moment(&self) -> Moment {
        clock::moment(&self.locker.0.blocking_read())
    }

    pub(crate) fn account(&self, address: &Address) -> Option<Account> {
        self.locker.0.blocking_read().inner.svm.get_account(address)
    }

    /// Jumps ahead. Slot and time change in one step, so nobody sees one without the other.
    pub(crate) fn jump(&self, jump: Jump) -> Result<Moment, LocalnetError> {
        let mut keeper = lock(&self.keeper);
        let mut svm = self.locker.0.blocking_write();
        // First the block that is open, so that transactions keep the slot in which they ran.
        keeper.block(&mut svm)?;
        let to = clock::after_jump(clock::moment(&svm), jump)?;
        clock::set_moment(&mut svm, to);
        keeper.time = ChainTime::from(to.unix_ms);
        keeper.block(&mut svm)?;
        Ok(clock::moment(&svm))
    }

    /// A blockhash for a transaction of our own.
    pub(crate) fn blockhash(&self) -> solana_message::Hash {
        self.locker.0.blocking_read().latest_blockhash()
    }

    /// Runs a transaction as `sendTransaction` would, and waits until it is confirmed.
    pub(crate) fn send(&self, what: &str, transaction: VersionedTransaction) -> Result<(), LocalnetError> {
        let failed = |why: String| LocalnetError::Transaction { what: what.to_owned(), why };
        let (status, answers) = crossbeam_channel::unbounded();
        self.commands
            .send(SimnetCommand::ProcessTransaction(None, transaction, status, false, None))
            .map_err(|_| failed("the cluster has stopped".into()))?;
        loop {
            match answers.recv_timeout(PATIENCE) {
                Ok(TransactionStatusEvent::Success(TransactionConfirmationStatus::Processed)) => {}
                Ok(TransactionStatusEvent::Success(_)) => return Ok(()),
                Ok(TransactionStatusEvent::VerificationFailure(why)) => return Err(failed(why)),
                Ok(
                    TransactionStatusEvent::SimulationFailure((why, meta))
                    | TransactionStatusEvent::ExecutionFailure((why, meta)),
                ) => return Err(failed(format!("{why} ({})", meta.logs.join("; ")))),
                Err(_) => return Err(failed("no answer came".into())),
            }
        }
    }

    /// What went wrong since the start, if anything did: the chain makes no blocks any more.
    pub(crate) fn failure(&self) -> Option<LocalnetError> {
        lock(&self.keeper).failed.take()
    }

    /// Saves, ends the servers and frees the ports.
    pub(crate) fn stop(&self) -> Result<(), LocalnetError> {
        let blocks = lock(&self.blocks).take();
        let Some((stop, thread)) = blocks else { return Ok(()) };
        drop(stop);
        let _ = thread.join();
        let saved = self.save();
        let _ = self.commands.send(SimnetCommand::Terminate(None));
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut servers = 2;
        while servers > 0 {
            match self.news.recv_deadline(deadline) {
                Ok(News::ServerClosed) => servers -= 1,
                Ok(_) => {}
                Err(_) => break,
            }
        }
        saved
    }

    fn save(&self) -> Result<(), LocalnetError> {
        let mut keeper = lock(&self.keeper);
        let mut svm = self.locker.0.blocking_write();
        keeper.unsaved = true;
        keeper.block(&mut svm)?;
        if let Some(ledger) = &keeper.ledger {
            ledger.sync();
        }
        Ok(())
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, LocalnetError> {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(work)
        .map_err(|why| LocalnetError::Cluster(format!("no thread could be started: {why}")))
}

/// The thread that makes blocks.
struct Producer {
    locker: SurfnetSvmLocker,
    keeper: Arc<Mutex<Keeper>>,
    slot_time: Duration,
}

impl Producer {
    fn run(self, wake: &Receiver<()>, stop: &Receiver<()>) {
        let mut next_slot = Instant::now() + self.slot_time;
        loop {
            crossbeam_channel::select! {
                recv(wake) -> message => if message.is_err() { return },
                recv(stop) -> _ => return,
                recv(crossbeam_channel::at(next_slot)) -> _ => {
                    next_slot = (next_slot + self.slot_time).max(Instant::now());
                }
            }
            if let Err(error) = self.block() {
                tracing::error!("no more blocks: {error}");
                lock(&self.keeper).failed = Some(error);
                return;
            }
        }
    }

    fn block(&self) -> Result<(), LocalnetError> {
        let mut keeper = lock(&self.keeper);
        // Surfpool runs a transaction and notes it under two locks. A block in between would hold what the
        // transaction did and not the transaction, which could then be sent again after a crash.
        for _ in 0..1_000 {
            let mut svm = self.locker.0.blocking_write();
            if !is_inside_a_transaction(&svm) {
                return keeper.block(&mut svm);
            }
            drop(svm);
            std::thread::sleep(Duration::from_micros(200));
        }
        keeper.block(&mut self.locker.0.blocking_write())
    }
}

fn is_inside_a_transaction(svm: &SurfnetSvm) -> bool {
    let last = svm.inner.svm.transaction_history_entries().last();
    last.is_some_and(|(signature, _)| matches!(svm.transactions.get(&signature.to_string()), Ok(None)))
}

/// What is kept beside the machine. Lock it before the machine.
struct Keeper {
    time: ChainTime,
    /// None keeps nothing.
    ledger: Option<Ledger>,
    /// The accounts as the ledger has them. Their data is shared with the machine's.
    saved: HashMap<Address, AccountSharedData>,
    /// Accounts changed without a transaction, by a cheatcode: saved with the next block.
    unsaved: bool,
    failed: Option<LocalnetError>,
}

impl Keeper {
    /// Makes a block of what was run since the last one, and saves it.
    fn block(&mut self, svm: &mut SurfnetSvm) -> Result<(), LocalnetError> {
        let slot = svm.latest_epoch_info.absolute_slot;
        let signatures: Vec<String> = svm
            .transactions_queued_for_confirmation
            .iter()
            .filter_map(|(transaction, ..)| transaction.signatures.first().map(ToString::to_string))
            .collect();
        // Surfpool adds the time of a slot.
        svm.updated_at = self.time.now_ms(svm.updated_at).saturating_sub(svm.slot_time);
        svm.confirm_current_block().map_err(|why| LocalnetError::Cluster(why.to_string()))?;
        clock::set_clock(svm);
        self.save(svm, slot, signatures)
    }

    fn save(&mut self, svm: &SurfnetSvm, slot: u64, signatures: Vec<String>) -> Result<(), LocalnetError> {
        let Some(ledger) = &mut self.ledger else { return Ok(()) };
        let at = clock::moment(svm);
        let changed = changes(svm, &self.saved);
        if signatures.is_empty() && (changed.is_empty() || !self.unsaved) {
            self.unsaved = !changed.is_empty();
            return ledger.tick(at);
        }
        self.unsaved = false;
        let mut frame = Frame::at(at);
        for (address, account) in changed {
            frame.account(&address, account.as_ref());
            match account {
                // The machine's own value, so that an unchanged account is seen by its pointer.
                Some(_) => svm
                    .inner
                    .svm
                    .accounts_db()
                    .get_account_ref(&address)
                    .map(|account| self.saved.insert(address, account.clone())),
                None => Some(self.saved.remove(&address)),
            };
        }
        let store = |why: surfpool_core::storage::StorageError| LocalnetError::Cluster(why.to_string());
        if let Some(header) = svm.blocks.get(&slot).map_err(store)? {
            frame.block(slot, header);
        }
        for signature in signatures {
            if let Some(status) = svm.transactions.get(&signature).map_err(store)? {
                frame.transaction(signature, status);
            }
        }
        ledger.append(&frame)?;
        ledger.compact()
    }
}

/// What differs from `saved`, but for sysvars and the purse of airdrops, which every start makes anew. None
/// is an account that is gone.
fn changes(svm: &SurfnetSvm, saved: &HashMap<Address, AccountSharedData>) -> Vec<(Address, Option<Account>)> {
    let now = &svm.inner.svm.accounts_db().inner;
    let purse = svm.inner.svm.airdrop_pubkey();
    let there = now
        .iter()
        .filter(|(address, account)| {
            *account.owner() != sysvar::ID && **address != purse && saved.get(*address) != Some(*account)
        })
        .map(|(address, account)| (*address, Some(account.clone().into())));
    let gone = saved
        .iter()
        .filter(|(address, account)| *account.owner() != sysvar::ID && !now.contains_key(*address))
        .map(|(address, _)| (*address, None));
    there.chain(gone).collect()
}

/// What Surfpool tells about itself.
enum News {
    Ready,
    Failed(String),
    ServerClosed,
}

fn config(ports: Ports, slot_time: Duration) -> SurfpoolConfig {
    SurfpoolConfig {
        simnets: vec![SimnetConfig {
            offline_mode: true,
            remote_rpc_url: None,
            // Its clock only wakes it; we make the blocks.
            slot_time: millis(slot_time).max(1_000),
            block_production_mode: BlockProductionMode::Manual,
            instruction_profiling_enabled: false,
            ..SimnetConfig::default()
        }],
        rpc: RpcConfig {
            bind_host: "127.0.0.1".into(),
            bind_port: ports.rpc,
            ws_port: ports.ws,
            ..RpcConfig::default()
        },
        ..SurfpoolConfig::default()
    }
}

/// Its events must be taken, or it stands still.
fn watch_events(events: Receiver<SimnetEvent>, news: Sender<News>) -> Result<(), LocalnetError> {
    spawn("zx1-events", move || {
        for event in events {
            let told = match event {
                SimnetEvent::CoreStarted(_) => news.send(News::Ready),
                SimnetEvent::Aborted(why) => news.send(News::Failed(why)),
                SimnetEvent::Shutdown => news.send(News::ServerClosed),
                SimnetEvent::ErrorLog(_, text) => {
                    tracing::debug!("surfpool: {text}");
                    Ok(())
                }
                SimnetEvent::WarnLog(_, text) | SimnetEvent::InfoLog(_, text) => {
                    tracing::trace!("surfpool: {text}");
                    Ok(())
                }
                _ => Ok(()),
            };
            // Nobody listens after the end; go on taking events.
            drop(told);
        }
    })
    .map(drop)
}

/// Wakes the block producer for every transaction.
fn watch_transactions(events: Receiver<GeyserEvent>, wake: Sender<()>) -> Result<(), LocalnetError> {
    spawn("zx1-transactions", move || {
        for event in events {
            if matches!(event, GeyserEvent::NotifyTransaction(..)) {
                // Full: it is awake already and takes this one along.
                let _ = wake.try_send(());
            }
        }
    })
    .map(drop)
}

fn run_surfpool(
    locker: SurfnetSvmLocker,
    config: SurfpoolConfig,
    commands: Sender<SimnetCommand>,
    commands_rx: Receiver<SimnetCommand>,
    news: Sender<News>,
) -> Result<(), LocalnetError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|why| LocalnetError::Cluster(why.to_string()))?;
    spawn("zx1-surfpool", move || {
        // No plugins: its own receiver of their events stays silent, and must stay open.
        let (plugins, plugins_rx) = crossbeam_channel::bounded(1);
        let run = surfpool_core::runloops::start_local_surfnet_runloop(
            locker,
            config,
            commands,
            commands_rx,
            plugins_rx,
        );
        if let Err(why) = runtime.block_on(run) {
            let _ = news.send(News::Failed(why.to_string()));
        }
        drop(plugins);
    })
    .map(drop)
}

fn wait_until_ready(news: &Receiver<News>) -> Result<(), LocalnetError> {
    match news.recv_timeout(PATIENCE) {
        Ok(News::Ready) => Ok(()),
        Ok(News::Failed(why)) => Err(LocalnetError::Cluster(why)),
        Ok(News::ServerClosed) => Err(LocalnetError::Cluster("a server closed at once".into())),
        Err(RecvTimeoutError::Timeout) => Err(LocalnetError::Cluster("it took too long".into())),
        Err(RecvTimeoutError::Disconnected) => Err(LocalnetError::Cluster("it ended at once".into())),
    }
}
