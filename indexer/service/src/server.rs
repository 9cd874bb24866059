//! A running indexer: everything put together, started and stopped.

use crate::audit;
use crate::bundles::Bundles;
use crate::chain::{Announcements, Ledger, RpcLedger};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::http::App;
use crate::index::{Index, now_ms};
use crate::ingest::{Ingest, Registry};
use crate::links;
use crate::market::Markets;
use crate::mesh::Mesh;
use crate::metrics::Metrics;
use crate::nano::{Balances, Node};
use crate::store::{Commit, Remove, signed};
use crate::{store, store::Store};
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use zx1_server::jobs::Jobs;
use zx1_server::serve::listen;

/// What a started indexer says, as one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// Always `true`, for scripts that wait.
    pub ready: bool,
    /// Where it serves.
    pub url: String,
    /// Process id of the server.
    pub pid: u32,
    /// The cluster that it follows.
    pub cluster: String,
    /// The cursor with which it began.
    pub slot: u64,
}

/// A running indexer. Dropping it without [`Server::stop`] cuts everything, as a crash does.
pub struct Server {
    index: Arc<Index>,
    ready: Ready,
    address: SocketAddr,
    jobs: Jobs,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("ready", &self.ready).finish_non_exhaustive()
    }
}

impl Server {
    /// Starts it on a cluster's RPC: opens the store, listens, and follows the chain.
    ///
    /// # Errors
    ///
    /// 9600 to 9604, 9610 to 9612, the chain's.
    pub async fn start(config: Config) -> Result<Self> {
        let timeout = Duration::from_millis(config.chain.timeout_ms.max(1));
        let ledger = RpcLedger::new(&config.chain.rpc, timeout, config.chain.attempts)?;
        let cluster = ledger.url().to_owned();
        let websocket = config.websocket(&cluster);
        Self::start_on(config, Arc::new(ledger), cluster, websocket).await
    }

    /// As [`Self::start`], on any ledger. `websocket` announces transactions; without one the chain is polled.
    ///
    /// # Errors
    ///
    /// As [`Self::start`].
    pub async fn start_on(
        config: Config,
        ledger: Arc<dyn Ledger>,
        cluster: String,
        websocket: Option<String>,
    ) -> Result<Self> {
        let made = std::fs::create_dir_all(&config.data);
        made.map_err(|error| {
            Error::Config(format!("The folder {} cannot be made ({error}).", config.data.display()))
        })?;
        links::check(&config.explorer)?;
        let node = Node::new(&config.nano.rpc)?;
        let store: Arc<dyn Store> = store::open(&config.database()).await?;
        let metrics = Metrics::default();
        let index = Index::open(store, ledger, config.clone(), metrics.clone()).await?;
        let limits = &config.limits;
        let bundles = Arc::new(Bundles::new(config.bundles(), limits));
        let listener = listen(config.bind).map_err(|error| Error::Listen(config.bind.to_string(), error))?;
        let address = listener.local_addr().map_err(|error| Error::Listen(config.bind.to_string(), error))?;

        let mut jobs = Jobs::new();
        jobs.spawn(|ending| index.hub.clone().run(ending));
        let announcements = Announcements::default();
        if let Some(url) = websocket {
            // Subscribe first: what is announced from here on is held against the lists.
            jobs.spawn(|ending| announcements.clone().run(url, Duration::from_secs(2), ending));
        }
        jobs.spawn(|ending| Ingest::new(index.clone(), announcements).run(ending));
        jobs.spawn(|ending| Registry::new(index.clone()).run(ending));
        if let Some(node) = node.clone() {
            jobs.spawn(|ending| Balances::new(index.clone(), node).run(ending));
        }
        if !config.markets.is_empty() {
            let markets = Markets::new(index.clone(), node)?;
            jobs.spawn(|ending| markets.run(ending));
        }
        let map = Arc::new(RwLock::new(None));
        if !config.mesh.folder.as_os_str().is_empty() {
            let mesh = Mesh::new(index.clone(), map.clone());
            jobs.spawn(|ending| mesh.run(ending));
        }
        let last_audit = Arc::new(RwLock::new(None));
        jobs.spawn(|ending| audit::run(index.clone(), last_audit.clone(), ending));
        jobs.spawn(|ending| forget(index.clone(), ending));
        let app = App::new(index.clone(), bundles, last_audit, map, jobs.stopping().clone(), cluster.clone());
        jobs.serve(listener, app.router(), limits.bounds(), metrics.http);
        let ready = Ready {
            ready: true,
            url: format!("http://{address}"),
            pid: std::process::id(),
            cluster,
            slot: index.status.get().slot,
        };
        Ok(Self { index, ready, address, jobs })
    }

    /// What it says when it serves.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Where it serves, such as `http://127.0.0.1:8910`.
    pub fn url(&self) -> &str {
        &self.ready.url
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The index behind it.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Stops: streams end, requests and the transaction under way are finished, then everything is closed.
    pub async fn stop(self) {
        let Self { index, jobs, .. } = self;
        jobs.stop().await;
        // A database transaction that was begun is finished first.
        drop(index.writer().await);
        index.store.close().await;
    }
}

/// Forgets events of the streams that are too old.
async fn forget(index: Arc<Index>, cancel: CancellationToken) {
    let kept_ms = signed(index.config.stream_days.saturating_mul(86_400_000));
    loop {
        let before = now_ms().saturating_sub(kept_ms);
        let heard_ms = signed(index.config.mesh.keep_hours.saturating_mul(3_600_000));
        let messages = Remove::MessagesBefore(now_ms().saturating_sub(heard_ms));
        let commit = Commit { remove: vec![Remove::StreamBefore(before), messages], ..Commit::default() };
        {
            let _writer = index.writer().await;
            if let Err(error) = index.write_rows(commit).await {
                tracing::warn!(code = error.code(), %error, "old events could not be forgotten");
            }
        }
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(Duration::from_secs(3_600)) => {}
        }
    }
}
