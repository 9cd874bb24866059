//! A running server: everything put together, started and stopped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "devnet")]
use nano_devnet::Devnet;
use nano_escrow::Seed;
use nano_escrow::journal::CrashPoints;
use serde::Serialize;
use zx1_market::{PartyId, PartyKey};
use zx1_server::jobs::Jobs;
use zx1_server::serve::listen;

#[cfg(feature = "testing")]
use crate::clock::DrivenClock;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::engine::{Engine, EngineParts, Habits};
use crate::error::{Error, Result};
use crate::escrow::{Desk, DeskOptions, LedgerProbe, NodeProbe};
use crate::http::App;
use crate::metrics::Metrics;
use crate::{events, keys, store};

/// Connections of those who read /metrics.
const METRICS_CONNECTIONS: usize = 64;

/// What is not in the configuration: secrets and the clock.
#[derive(Default)]
pub struct Options {
    /// The server's key instead of the file's.
    pub key: Option<PartyKey>,
    /// The escrow's seed in 64 hexadecimal digits (FIX_NANO_SEED) instead of the file's.
    pub nano_seed: Option<zeroize::Zeroizing<String>>,
    /// The nonce secret in 64 hexadecimal digits (FIX_NANO_NONCE_SECRET) instead of the file's.
    pub nonce_secret: Option<zeroize::Zeroizing<String>>,
    /// Take over the journal of the data folder, whatever the database knows.
    pub adopt_journal: bool,
    /// A clock that a test drives, also through /test/clock. Refused unless the server listens on loopback.
    #[cfg(feature = "testing")]
    pub test_clock: Option<DrivenClock>,
    /// Where a test lets the process die; see `crate::crash`. Nothing without the feature `testing`.
    pub points: CrashPoints,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").finish_non_exhaustive()
    }
}

/// The line of JSON that a server prints when it is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// Always true; it tells this line from others.
    pub ready: bool,
    /// The URL on which the server listens.
    pub url: String,
    /// The id of the server's process.
    pub pid: u32,
    /// The server's public key.
    pub server: PartyId,
    /// The URL of the ledger's RPC; absent without an escrow.
    pub nano_rpc: Option<String>,
    /// The URL of the ledger's websocket, if it has one.
    pub nano_ws: Option<String>,
    /// Whether the ledger is the embedded one.
    pub embedded: bool,
}

/// A running server. Dropping it without [`stop`](Server::stop) cuts everything, as a crash does.
pub struct Server {
    engine: Engine,
    ready: Ready,
    address: SocketAddr,
    jobs: Jobs,
}

impl Server {
    /// Start it: open the store, finish what an earlier process has decided, then listen.
    pub async fn start(config: &Config, options: Options) -> Result<Server> {
        #[cfg(feature = "testing")]
        if options.test_clock.is_some() && !config.bind.ip().is_loopback() {
            return Err(Error::TestClock);
        }
        config.check_money()?;
        let folder = &config.data;
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::Config(format!("The folder {} cannot be made: {e}.", folder.display())))?;
        let key = match options.key {
            Some(key) => key,
            None => keys::server_key(&config.key_path())?,
        };
        let ledger = config.ledger()?;
        let seed = match &ledger {
            Some(_) => {
                let given = options.nano_seed.as_ref().map(|seed| seed.as_str());
                keys::nano_seed(given, &config.seed_path())?
            }
            // Nothing is ever paid; the address of the platform is a formality then.
            None => Seed::from_bytes([1; 32]),
        };
        let terms = config.terms(key.id(), seed.wallet_key(0).address())?;
        let store = store::open(&config.database()).await?;
        store.lease().await?;
        let points = options.points;
        let desk = match &ledger {
            Some(ledger) => {
                let representative = match config.representative()? {
                    None if matches!(ledger, crate::escrow::Ledger::Node { .. }) => Some(terms.charity),
                    other => other,
                };
                let given = options.nonce_secret.as_ref().map(|secret| secret.as_str());
                let mut secrets = vec![keys::nonce_secret(given, &config.nonce_path())?];
                for path in &config.nano.former_nonce_files {
                    secrets.push(keys::former_secret(path)?);
                }
                let open = DeskOptions {
                    folder,
                    ledger,
                    server: key.id(),
                    seed,
                    secrets,
                    representative,
                    budget: config.budget(),
                    points: points.clone(),
                };
                Some(Desk::open(open).await?)
            }
            None => None,
        };
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        #[cfg(feature = "testing")]
        let clock: Arc<dyn Clock> = match &options.test_clock {
            Some(driven) => Arc::new(driven.clone()),
            None => clock,
        };
        let events = events::stream(store.clone(), config.limits.stream_ring).await?;
        let metrics = Metrics::default();
        let habits = Habits {
            deposit_poll: Duration::from_millis(config.nano.deposit_poll_ms.max(1)),
            ..Habits::default()
        };
        let probe = match &ledger {
            Some(crate::escrow::Ledger::Node { rpc, network, .. }) => {
                Some(Arc::new(NodeProbe::new(rpc, *network, metrics.clone())?) as Arc<dyn LedgerProbe>)
            }
            _ => None,
        };
        let parts = EngineParts {
            store,
            key,
            terms,
            clock,
            desk,
            ledger: probe,
            events,
            metrics: metrics.clone(),
            habits,
            seats: config.seats(),
            points,
        };
        let engine = Engine::new(parts).await?;
        // Before any timer runs: what was missed moves every window.
        engine.wake().await?;
        engine.open_desk(options.adopt_journal).await?;
        let listener = listen(config.bind).map_err(|error| Error::Listen(config.bind.to_string(), error))?;
        let address = listener.local_addr().map_err(|error| Error::Listen(config.bind.to_string(), error))?;
        if let Some(announcer) = config.announcer(&format!("http://{address}"))? {
            engine.announce_by(announcer);
        }

        let mut jobs = Jobs::new();
        jobs.spawn(|ending| engine.events().clone().run(ending));
        engine.start(jobs.tracker(), jobs.ending());
        let limits = &config.limits;
        if let Some(address) = config.metrics {
            let listener = listen(address).map_err(|error| Error::Listen(address.to_string(), error))?;
            let bounds = zx1_server::serve::Bounds { connections: METRICS_CONNECTIONS, ..limits.bounds() };
            let (router, figures) = (crate::http::metrics_router(engine.clone()), metrics.http.clone());
            jobs.spawn(|ending| zx1_server::serve::serve(listener, router, bounds, figures, ending));
        }
        let app = App::new(engine.clone(), limits.clone(), jobs.stopping().clone());
        let metrics_elsewhere = config.metrics.is_some() || !config.bind.ip().is_loopback();
        let app = App { metrics_elsewhere, ..app };
        #[cfg(feature = "testing")]
        let app = App { test_clock: options.test_clock, ..app };
        jobs.serve(listener, app.router(), limits.bounds(), metrics.http);
        let embedded = engine.desk().and_then(Desk::embedded);
        let ready = Ready {
            ready: true,
            url: format!("http://{address}"),
            pid: std::process::id(),
            server: engine.terms().server,
            nano_rpc: match (embedded, &ledger) {
                (Some(embedded), _) => Some(embedded.rpc_url()),
                (None, Some(crate::escrow::Ledger::Node { rpc, .. })) => Some(rpc.clone()),
                _ => None,
            },
            nano_ws: match (embedded, &ledger) {
                (Some(embedded), _) => Some(embedded.ws_url()),
                (None, Some(crate::escrow::Ledger::Node { ws, .. })) => ws.clone(),
                _ => None,
            },
            embedded: embedded.is_some(),
        };
        Ok(Server { engine, ready, address, jobs })
    }

    /// The line that the server prints when it is ready.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Where it serves, such as `http://127.0.0.1:8000`.
    pub fn url(&self) -> &str {
        &self.ready.url
    }

    /// The address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The market behind it.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The embedded ledger.
    #[cfg(feature = "devnet")]
    pub fn devnet(&self) -> Option<&Arc<Devnet>> {
        self.engine.desk().and_then(Desk::devnet)
    }

    /// Stop: streams end, requests and their commits are finished, then everything is closed.
    pub async fn stop(self) -> Result<()> {
        let Server { engine, jobs, .. } = self;
        jobs.stop().await;
        engine.beat().await?;
        engine.store().close().await;
        let embedded = match engine.desk() {
            Some(desk) => {
                desk.close().await;
                desk.embedded().cloned()
            }
            None => None,
        };
        drop(engine);
        // The last one turns the ledger off, and waits until its folder is free.
        if let Some(embedded) = embedded {
            embedded.stop().await?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("ready", &self.ready).finish_non_exhaustive()
    }
}
