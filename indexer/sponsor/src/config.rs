//! What can be set: a TOML file, over it the environment, over it the command line. `--print-config` writes
//! every value out.

use crate::error::{Error, Result};
use crate::ledger::Caps;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use zx1_server::limits::Rate;
use zx1_server::serve::Bounds;

/// Configuration of the sponsor. Every field has a default; only the key has to be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on.
    pub bind: SocketAddr,
    /// RPC of the node: a URL, or `localhost`, `devnet`, `testnet` or `mainnet-beta`.
    pub url: String,
    /// The key file that pays.
    pub keypair: PathBuf,
    /// Folder of the record of what was spent.
    pub data: PathBuf,
    /// Maximum number of texts per sender and day.
    pub per_sender: u32,
    /// Maximum number of lamports to spend per day, fees and rent together.
    pub per_day_lamports: u64,
    /// Limits on requests.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 8895)),
            url: "localhost".to_owned(),
            keypair: PathBuf::new(),
            data: "zx1-sponsor-data".into(),
            per_sender: 5,
            per_day_lamports: 100_000_000,
            limits: Limits::default(),
        }
    }
}

/// Limits on requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Timeout for receiving a body, in milliseconds.
    pub body_ms: u64,
    /// Timeout for receiving a request's head, in milliseconds.
    pub head_ms: u64,
    /// How long a client may read nothing of an answer before its connection is closed, in milliseconds.
    pub write_ms: u64,
    /// Timeout for building and signing a transaction, in milliseconds.
    pub answer_ms: u64,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of transactions that are built concurrently; further requests are refused.
    pub concurrency: usize,
    /// Trusted proxies. The client is the last address in `X-Forwarded-For` that is not one of them.
    pub proxies: Vec<IpAddr>,
    /// Rate limit for requests from one address.
    pub address: Rate,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_ms: 10_000,
            head_ms: 10_000,
            write_ms: 30_000,
            answer_ms: 20_000,
            connections: 1_000,
            concurrency: 32,
            proxies: Vec::new(),
            address: Rate { burst: 100, per_second: 20 },
        }
    }
}

impl Limits {
    pub(crate) fn body_time(&self) -> Duration {
        Duration::from_millis(self.body_ms)
    }

    pub(crate) fn answer_time(&self) -> Duration {
        Duration::from_millis(self.answer_ms)
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            connections: self.connections,
            per_address: self.connections,
            proxies: Vec::new(),
            head: Duration::from_millis(self.head_ms),
            write: Duration::from_millis(self.write_ms),
        }
    }
}

impl Config {
    /// Every value, as TOML.
    ///
    /// # Errors
    ///
    /// 9700
    pub fn print(&self) -> Result<String> {
        zx1_server::config::print(self).map_err(Error::Config)
    }

    /// The caps of the record.
    pub fn caps(&self) -> Caps {
        Caps { per_sender: self.per_sender, per_day: self.per_day_lamports }
    }
}
