//! Starting a ledger.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::control::{self, ControlState};
use super::doors::{Doors, Gate};
use super::handle::{Devnet, Running};
use super::node::{Node, load};
use super::options::{Confirm, Dialect, ForkRule, LOCAL, Options, Order};
use super::ws::{Hub, WsState};
use super::{DevnetError, Epoch, server, ws};
use nano_escrow::Raw;

/// The options of a ledger. By default it lives in memory, makes every block final at once, listens on free
/// ports of this machine, and has no control endpoint.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Builder {
    options: Options,
}

impl Devnet {
    /// Set the options of a new one.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Keep the blocks in this folder; what is there is read and checked. Without it they are kept in memory.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Builder {
        self.options.folder = Some(folder.into());
        self
    }

    /// When blocks become final.
    pub fn confirm(mut self, confirm: Confirm) -> Builder {
        self.options.confirm = confirm;
        self
    }

    /// In which order.
    pub fn order(mut self, order: Order) -> Builder {
        self.options.order = order;
        self
    }

    /// Who wins a fork.
    pub fn forks(mut self, rule: ForkRule) -> Builder {
        self.options.forks = rule;
        self
    }

    /// Whose habits the RPC has.
    pub fn dialect(mut self, dialect: Dialect) -> Builder {
        self.options.dialect = dialect;
        self
    }

    /// The epoch of genesis when the ledger is new, and so of all money: 2 as on the live network. With 0 or
    /// 1, epoch blocks can be appended to open accounts, and every block needs the work of old accounts.
    pub fn genesis_epoch(mut self, epoch: Epoch) -> Builder {
        self.options.genesis_epoch = epoch;
        self
    }

    /// Where the RPC listens. Port 0 takes one that is free.
    pub fn rpc(mut self, address: SocketAddr) -> Builder {
        self.options.rpc = address;
        self
    }

    /// Where the websocket listens.
    pub fn ws(mut self, address: SocketAddr) -> Builder {
        self.options.ws = address;
        self
    }

    /// Listen for control commands on any free port of this machine.
    pub fn control(self) -> Builder {
        self.control_at(LOCAL)
    }

    /// Listen for control commands here. Only an address of this machine is taken (8511).
    pub fn control_at(mut self, address: SocketAddr) -> Builder {
        self.options.control = Some(address);
        self
    }

    /// What the RPC action `faucet` sends when no amount is named. By default 1000 XNO.
    pub fn faucet_amount(mut self, amount: Raw) -> Builder {
        self.options.faucet = amount;
        self
    }

    /// A node's `enable_control`: without it `work_generate` is refused.
    pub fn enable_control(mut self, on: bool) -> Builder {
        self.options.enable_control = on;
        self
    }

    /// Whether `work_generate` works.
    pub fn work_generation(mut self, on: bool) -> Builder {
        self.options.work_generation = on;
        self
    }

    /// The longest body of a request in bytes; by default 1 MiB.
    pub fn max_body(mut self, bytes: usize) -> Builder {
        self.options.max_body = bytes;
        self
    }

    /// How many messages wait for a client of the websocket before it is dropped; by default 1024.
    pub fn ws_queue(mut self, messages: usize) -> Builder {
        self.options.ws_queue = messages;
        self
    }

    /// How often a client of the websocket is pinged; two pings without a word from it, and it is dropped.
    pub fn keepalive(mut self, every: Duration) -> Builder {
        self.options.keepalive = every.max(Duration::from_millis(1));
        self
    }

    /// Read the folder, listen, and run until [`Devnet::stop`] or until the handle is dropped.
    pub async fn start(self) -> Result<Devnet, DevnetError> {
        let options = self.options;
        if let Some(address) = options.control.filter(|a| !a.ip().is_loopback()) {
            return Err(DevnetError::ControlAddress(address));
        }
        // Reading and replaying a long file would hold up the runtime.
        let (options, loaded) = tokio::task::spawn_blocking(move || load(&options).map(|l| (options, l)))
            .await
            .map_err(|_| DevnetError::Stopped)??;
        let (replayed, cut) = (loaded.replayed, loaded.cut);
        let rpc = bind(options.rpc).await?;
        let ws = bind(options.ws).await?;
        let control = match options.control {
            Some(address) => Some(bind(address).await?),
            None => None,
        };
        let address = |l: &TcpListener, asked| {
            l.local_addr().map_err(|source| DevnetError::Bind { address: asked, source })
        };
        let rpc_at = address(&rpc, options.rpc)?;
        let ws_at = address(&ws, options.ws)?;
        let control_at = match &control {
            Some(l) => Some(address(l, LOCAL)?),
            None => None,
        };

        let (events, receiver) = mpsc::unbounded_channel();
        let node = Arc::new(Node::new(options, loaded, events)?);
        // Nobody is answered before genesis is as it will be.
        let number = node.commit(node.lock());
        node.kept(number).await?;
        let hub = Arc::new(Hub::default());
        let mut tasks = JoinSet::new();
        tasks.spawn({
            let node = node.clone();
            async move { node.run_elections().await }
        });
        tasks.spawn({
            let (node, hub) = (node.clone(), hub.clone());
            async move { hub.run(&node, receiver).await }
        });
        let cancel = node.cancel.clone();
        serve(&mut tasks, Doors(rpc), server::router(node.clone()), &cancel);
        serve(&mut tasks, Doors(ws), ws::router(WsState { node: node.clone(), hub: hub.clone() }), &cancel);
        let state = ControlState { node: node.clone(), hub: hub.clone() };
        if let Some(listener) = control {
            serve(&mut tasks, Doors(listener), control::router(state), &cancel);
        }
        Ok(Devnet::new(Running {
            node,
            hub,
            tasks,
            rpc: rpc_at,
            ws: ws_at,
            control: control_at,
            replayed,
            cut,
        }))
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, DevnetError> {
    TcpListener::bind(address).await.map_err(|source| DevnetError::Bind { address, source })
}

fn serve(tasks: &mut JoinSet<()>, doors: Doors, router: Router, cancel: &CancellationToken) {
    let cancel = cancel.clone();
    tasks.spawn(async move {
        let service = router.into_make_service_with_connect_info::<Gate>();
        let served = axum::serve(doors, service).with_graceful_shutdown(cancel.cancelled_owned()).await;
        if let Err(e) = served {
            tracing::error!(error = %e, "a listener of the ledger ended");
        }
    });
}
