//! The embedded Nano ledger beside the chain (decision F6).

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{Mutex, PoisonError},
};

use nano_devnet::{Devnet, DevnetError};
use tokio::runtime::{Builder, Runtime};

use crate::LocalnetError;

/// Default port of the Nano ledger's RPC, a node's own.
pub const NANO_RPC_PORT: u16 = 7076;
/// Default port of its websocket, a node's own.
pub const NANO_WS_PORT: u16 = 7078;

/// A running ledger, and the threads that it runs on.
pub(crate) struct Nano {
    pub(crate) rpc_url: String,
    pub(crate) ws_url: String,
    running: Mutex<Option<(Devnet, Runtime)>>,
}

impl Nano {
    /// Goes on from what the folder holds. Not to be called on an async worker.
    pub(crate) fn start(folder: &Path, rpc: u16, ws: u16) -> Result<Self, LocalnetError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("zx1-nano")
            .enable_all()
            .build()
            .map_err(|why| LocalnetError::Nano(why.to_string()))?;
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let start = Devnet::builder().folder(folder).rpc(at(rpc)).ws(at(ws)).start();
        let devnet = runtime.block_on(start).map_err(|error| match error {
            DevnetError::Bind { address, .. } => {
                let what = if address.port() == rpc { "Nano RPC" } else { "Nano websocket" };
                LocalnetError::PortTaken { what, port: address.port() }
            }
            // A sentence of its own already.
            other => LocalnetError::Nano(other.to_string().trim_end_matches('.').to_owned()),
        })?;
        let (rpc_url, ws_url) = (devnet.rpc_url(), devnet.ws_url());
        Ok(Self { rpc_url, ws_url, running: Mutex::new(Some((devnet, runtime))) })
    }

    /// Ends it when everything is on the disk. Not to be called on an async worker.
    pub(crate) fn stop(&self) -> Result<(), LocalnetError> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((devnet, runtime)) = running else { return Ok(()) };
        let stopped = runtime.block_on(devnet.stop());
        runtime.shutdown_background();
        stopped.map_err(|why| LocalnetError::Nano(why.to_string().trim_end_matches('.').to_owned()))
    }
}

impl Drop for Nano {
    fn drop(&mut self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((devnet, runtime)) = running {
            drop(devnet);
            // It may be dropped on an async worker, where waiting is not allowed.
            runtime.shutdown_background();
        }
    }
}
