//! The agent: it finds contracts, bonds with its deposit, investigates, repairs with rules first and then a
//! model, and is paid (fix.md, "Agents").
//!
//! # What a crash can do
//!
//! Nothing twice and nothing forgotten. Before anything is sent, the entry is on disk; before a deposit is
//! paid, it is on disk, and the wallet pays one name once. Everything else stands in the contract's chain,
//! which is read again on start. A contract that was begun is found again whatever happened.
//!
//! ```no_run
//! # async fn example(market: zx1_market_client::Market) -> Result<(), zx1_agent::worker::WorkError> {
//! use zx1_agent::worker::{Config, Folder, Worker};
//!
//! let worker = Worker::new(market, Config::default(), Box::new(Folder::open("agent")?));
//! worker.run(std::future::pending()).await
//! # }
//! ```

mod announced;
mod config;
mod hooks;
mod job;
mod memory;
mod mind;
mod open;
mod store;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use zx1_coded::Coded;
use zx1_market::{ContractId, Raw, State};

pub use announced::Announced;
pub use config::{Config, DisputePolicy, Pass, Stuck, wants};
pub use hooks::{Hooks, NoHooks, SubmittedFix};
pub use memory::task;
pub use store::{Folder, Record, Stage, Store};

use self::announced::{Heard, Hearing};
use crate::bridge::{Bridge, BridgeError};
use zx1_market_client::{ClientError, Market, Purse, WatchOptions};
use zx1_model::Model;
use zx1_model::budget::{Budget, Budgeted};
use zx1_trial::Bench;

/// Why an agent cannot go on. Numbers 9388 to 9392; those of the client and of the bridge are their own.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum WorkError {
    /// Error of the market's client.
    #[code(inner)]
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The log of envelopes.
    #[code(inner)]
    #[error(transparent)]
    Bridge(#[from] BridgeError),
    /// A record cannot be read or written.
    #[code(9388)]
    #[error(
        "The agent's record {} cannot be kept: {why}. Nothing was sent; make room or correct the \
         permissions, and start again.", .path.display()
    )]
    Disk {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A paid contract, and no wallet.
    #[code(9389)]
    #[error("Contract {0} needs a deposit, and this agent has no wallet. Give it one, or set paid to false.")]
    NoPurse(ContractId),
    /// The same contract fails again and again.
    #[code(9390)]
    #[error(
        "Contract {id} could not be worked on {tries} times in a row, last because: {last} It is looked \
             at again at the next start."
    )]
    Stalled {
        /// Id of the contract.
        id: ContractId,
        /// Number of attempts.
        tries: u32,
        /// The last error.
        last: String,
    },
}

/// An agent at one market.
pub struct Worker {
    market: Market,
    config: Config,
    store: Box<dyn Store>,
    model: Option<(Arc<dyn Model>, Arc<Budget>)>,
    purse: Option<Arc<dyn Purse>>,
    bench: Option<Arc<dyn Bench>>,
    hooks: Arc<dyn Hooks>,
    bridge: Option<Arc<Bridge>>,
    /// Contracts that are announced elsewhere than at the market.
    announcements: Mutex<Option<mpsc::Receiver<Announced>>>,
    heard: Mutex<Heard>,
    began: Instant,
    /// Running contracts with what is at stake in each.
    running: Mutex<HashMap<ContractId, Raw>>,
}

impl Worker {
    /// An agent of this market's key with rules only: no model, no wallet, no disputes.
    pub fn new(market: Market, config: Config, store: Box<dyn Store>) -> Worker {
        let heard = Mutex::new(Heard::new(market.url()));
        Worker {
            market,
            config,
            store,
            model: None,
            purse: None,
            bench: None,
            hooks: Arc::new(NoHooks),
            bridge: None,
            announcements: Mutex::default(),
            heard,
            began: Instant::now(),
            running: Mutex::default(),
        }
    }

    /// Ask this model when no rule knows a failure, within this budget.
    pub fn with_model(mut self, model: Arc<dyn Model>, budget: Arc<Budget>) -> Worker {
        self.model = Some((model, budget));
        self
    }

    /// Pay deposits from this wallet.
    pub fn with_purse(mut self, purse: Arc<dyn Purse>) -> Worker {
        self.purse = Some(purse);
        self
    }

    /// Prove rejected fixes here before disputing.
    pub fn with_bench(mut self, bench: Arc<dyn Bench>) -> Worker {
        self.bench = Some(bench);
        self
    }

    /// Sets the hooks to call.
    pub fn with_hooks(mut self, hooks: Arc<dyn Hooks>) -> Worker {
        self.hooks = hooks;
        self
    }

    /// Log the 0x01 envelopes of contracts (decision G1).
    pub fn with_bridge(mut self, bridge: Arc<Bridge>) -> Worker {
        self.bridge = Some(bridge);
        self
    }

    /// Look at contracts of this market that come by this channel, too: what the agent's node heard on the mesh. They
    /// only say where to look.
    pub fn with_announcements(mut self, announcements: mpsc::Receiver<Announced>) -> Worker {
        self.announcements = Mutex::new(Some(announcements));
        self
    }

    /// Client of the market that it works at.
    pub fn market(&self) -> &Market {
        &self.market
    }

    /// Contracts that it works on now.
    pub fn running(&self) -> Vec<ContractId> {
        self.lock().keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ContractId, Raw>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an announced contract is looked at.
    fn hears(&self, announced: &Announced) -> bool {
        let contract = announced.offer.contract.contract;
        if self.lock().contains_key(&contract) {
            return false;
        }
        let (min, max) = (self.config.min_bounty, self.config.max_bounty);
        let hearing = self.heard().hear(announced, min, max, self.began.elapsed());
        match hearing {
            Hearing::Look => self.hooks.on_announced(announced),
            Hearing::Stranger => self.hooks.on_strange_market(announced),
            Hearing::Ignore => {}
        }
        hearing == Hearing::Look
    }

    /// A model for one contract.
    fn model_for(&self, id: ContractId) -> Option<Arc<dyn Model>> {
        let (model, budget) = self.model.as_ref()?;
        Some(Arc::new(Budgeted::new(model.clone(), budget.clone(), id.to_string())))
    }

    /// Work until `stop` ends. First the contracts that were begun are taken up again. What runs when it
    /// stops is taken up at the next start.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), WorkError> {
        let worker = Arc::new(self);
        let mut jobs: JoinSet<ContractId> = JoinSet::new();
        for record in worker.store.load()? {
            if record.server == worker.market.server() {
                worker.lock().insert(record.contract, record.stake);
                worker.clone().spawn_resumed(&mut jobs, record);
            }
        }
        let mut watch = worker.market.watch(WatchOptions {
            min_bounty: if worker.config.free { Raw::ZERO } else { worker.config.min_bounty },
            sse: worker.config.sse,
            poll: std::time::Duration::from_millis(worker.config.discover_ms.max(5)),
            ..WatchOptions::default()
        });
        let mut found = Found::default();
        let mut announcements = worker.announcements.lock().unwrap_or_else(PoisonError::into_inner).take();
        tokio::pin!(stop);
        loop {
            while jobs.len() < worker.config.at_once {
                let Some(id) = found.take() else { break };
                let (worker, jobs) = (worker.clone(), &mut jobs);
                if worker.lock().contains_key(&id) {
                    continue;
                }
                // From here on it is ours to look at; a second sighting changes nothing.
                worker.lock().insert(id, Raw::ZERO);
                jobs.spawn(async move {
                    worker.attempt(id).await;
                    id
                });
            }
            tokio::select! {
                () = &mut stop => break,
                Some(done) = jobs.join_next(), if !jobs.is_empty() => {
                    if let Ok(id) = done {
                        worker.lock().remove(&id);
                    }
                }
                sighting = watch.next() => {
                    let Some(sighting) = sighting else { break };
                    let open = sighting.event.as_ref().is_none_or(|e| e.status == State::Open.as_str());
                    if open {
                        worker.heard().found(sighting.contract_id, worker.began.elapsed());
                        found.add(sighting.contract_id);
                    }
                }
                announced = next_of(&mut announcements) => match announced {
                    Some(announced) if worker.hears(&announced) => found.add(announced.offer.contract.contract),
                    Some(_) => {}
                    None => announcements = None,
                },
            }
        }
        jobs.abort_all();
        while jobs.join_next().await.is_some() {}
        Ok(())
    }

    fn spawn_resumed(self: Arc<Self>, jobs: &mut JoinSet<ContractId>, record: Record) {
        let id = record.contract;
        jobs.spawn(async move {
            if let Err(error) = self.resume(record).await {
                self.tell(Some(id), &error);
            }
            id
        });
    }

    /// Look at a found contract, and work on it to its end if it is wanted.
    async fn attempt(&self, id: ContractId) {
        match self.take(id).await {
            Ok(()) => {}
            // Somebody else was faster, or it is nobody's business any more.
            Err(WorkError::Client(error)) if matches!(error.status(), Some(403 | 404 | 409)) => {
                tracing::debug!(contract = %id, code = error.server_code(), "not taken: {error}");
            }
            Err(error) => self.tell(Some(id), &error),
        }
    }

    fn tell(&self, id: Option<ContractId>, error: &WorkError) {
        let contract = id.map(|id| id.to_string()).unwrap_or_default();
        tracing::warn!(contract, code = error.code(), "{error}");
        self.hooks.on_error(id, error);
    }
}

/// The next announcement; without a channel none ever comes.
async fn next_of(announcements: &mut Option<mpsc::Receiver<Announced>>) -> Option<Announced> {
    match announcements {
        Some(announcements) => announcements.recv().await,
        None => std::future::pending().await,
    }
}

/// Contracts that were seen and wait for a free place. The newest is the likeliest to be open still.
#[derive(Default)]
struct Found {
    queue: VecDeque<ContractId>,
    queued: HashSet<ContractId>,
}

impl Found {
    const MAX: usize = 256;

    fn add(&mut self, id: ContractId) {
        if self.queued.insert(id) {
            self.queue.push_back(id);
            if self.queue.len() > Self::MAX
                && let Some(old) = self.queue.pop_front()
            {
                self.queued.remove(&old);
            }
        }
    }

    fn take(&mut self) -> Option<ContractId> {
        let id = self.queue.pop_back()?;
        self.queued.remove(&id);
        Some(id)
    }
}
