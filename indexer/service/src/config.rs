//! What can be set: a TOML file, over it the environment, over it the command line. `--print-config` writes
//! every value out.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zx1_server::serve::Bounds;

pub use zx1_server::limits::Rate;

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where to listen.
    pub bind: SocketAddr,
    /// Where the database (unless `db` says otherwise) and the batches' data lie.
    pub data: PathBuf,
    /// A path, or `postgres://…`. Empty: `index.db` in `data`.
    pub db: String,
    /// The Solana side.
    pub chain: ChainConfig,
    /// The Nano side.
    pub nano: NanoConfig,
    /// Addresses of the markets whose contracts are shown.
    pub markets: Vec<String>,
    /// How often the markets are asked, in seconds.
    pub market_secs: u64,
    /// How often the index is compared with the chain, in seconds; 0 never.
    pub audit_secs: u64,
    /// How long the streams' events are kept, in days.
    pub stream_days: u64,
    /// When the health is bad.
    pub health: HealthConfig,
    /// Bounds of the interface.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 8910)),
            data: "zx1-indexer-data".into(),
            db: String::new(),
            chain: ChainConfig::default(),
            nano: NanoConfig::default(),
            markets: Vec::new(),
            market_secs: 10,
            audit_secs: 3_600,
            stream_days: 30,
            health: HealthConfig::default(),
            limits: Limits::default(),
        }
    }
}

/// How the chain is followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainConfig {
    /// The RPC: a URL, or localhost, devnet, testnet, mainnet-beta.
    pub rpc: String,
    /// The websocket. Empty: no subscription, only polling. `auto`: the RPC's address with `ws`, and one port
    /// higher where a port is named, as validators have it.
    pub ws: String,
    /// How long a question may take, in milliseconds.
    pub timeout_ms: u64,
    /// How often a question is asked in all.
    pub attempts: usize,
    /// How often the confirmed slot is looked at, in milliseconds; announcements wake earlier.
    pub poll_ms: u64,
    /// Transactions that are asked for at the same time.
    pub concurrency: usize,
    /// Transactions in one database transaction.
    pub chunk: usize,
    /// Slots after which the finalized history is compared.
    pub finalize_every_slots: u64,
    /// How often the registry is asked for new agents, in seconds.
    pub registry_secs: u64,
    /// After how long an agent's owner and delegates are asked for again, in seconds.
    pub owners_secs: u64,
    /// How often agents' token accounts are looked at, in seconds, so that a sale is seen soon; 0 never.
    pub owner_check_secs: u64,
    /// Token accounts in one look, a hundred a question; more agents than that take turns.
    pub owner_checks: u32,
}

impl Default for ChainConfig {
    fn default() -> Self {
        Self {
            rpc: "localhost".to_owned(),
            ws: "auto".to_owned(),
            timeout_ms: 20_000,
            attempts: 4,
            poll_ms: 1_000,
            concurrency: 8,
            chunk: 512,
            finalize_every_slots: 8,
            registry_secs: 15,
            owners_secs: 300,
            owner_check_secs: 3,
            owner_checks: 1_000,
        }
    }
}

/// How balances are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NanoConfig {
    /// The node's RPC. Empty: no balances.
    pub rpc: String,
    /// How often balances are read, in seconds.
    pub poll_secs: u64,
}

impl Default for NanoConfig {
    fn default() -> Self {
        Self { rpc: String::new(), poll_secs: 30 }
    }
}

/// When `/healthz` says no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HealthConfig {
    /// Slots behind the node.
    pub max_lag_slots: u64,
    /// Seconds since the node's slot was reached last.
    pub max_lag_secs: u64,
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self { max_lag_slots: 150, max_lag_secs: 60 }
    }
}

/// All bounds of the interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest body but for a batch's data.
    pub body_bytes: usize,
    /// The largest batch data.
    pub bundle_bytes: usize,
    /// How long a body may take, in milliseconds; a batch's data may take ten times as long.
    pub body_ms: u64,
    /// How long a request's head may take, in milliseconds.
    pub head_ms: u64,
    /// How long a client may take nothing of an answer, in milliseconds.
    pub write_ms: u64,
    /// Connections at once.
    pub connections: usize,
    /// Streams at once.
    pub streams: usize,
    /// Streams at once from one address.
    pub streams_per_address: usize,
    /// Events that are kept in memory for streams that are behind.
    pub stream_ring: usize,
    /// A silent stream hears from the server after this, in milliseconds.
    pub keepalive_ms: u64,
    /// Proxies whose `X-Forwarded-For` is believed: the last address in it that is none of them is the
    /// client's then.
    pub proxies: Vec<IpAddr>,
    /// Requests of one address.
    pub address: Rate,
    /// Batch data, envelopes and bindings from one address.
    pub uploads: Rate,
    /// Bytes of batches' data that may be arriving at the same time, on disk; the others wait.
    pub arriving_bytes: usize,
    /// Batches' data that are checked or read at the same time.
    pub bundles: usize,
    /// Records of a batch that are indexed for counterparties and bindings; all of them are served.
    pub indexed_records: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 64 << 10,
            bundle_bytes: zx1_protocol::bundle::MAX_BUNDLE_BYTES,
            body_ms: 10_000,
            head_ms: 10_000,
            write_ms: 30_000,
            connections: 25_000,
            streams: 20_000,
            streams_per_address: 2_048,
            stream_ring: 1_024,
            keepalive_ms: 15_000,
            proxies: Vec::new(),
            address: Rate { burst: 1_000, per_second: 200 },
            uploads: Rate { burst: 100, per_second: 5 },
            arriving_bytes: 1 << 30,
            bundles: 4,
            indexed_records: 100_000,
        }
    }
}

impl Limits {
    pub(crate) fn body_time(&self) -> Duration {
        Duration::from_millis(self.body_ms)
    }

    pub(crate) fn keepalive(&self) -> Duration {
        Duration::from_millis(self.keepalive_ms.max(100))
    }

    pub(crate) fn write_time(&self) -> Duration {
        Duration::from_millis(self.write_ms)
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            connections: self.connections,
            head: Duration::from_millis(self.head_ms),
            write: self.write_time(),
        }
    }
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// 9610
    pub fn load(path: &Path) -> Result<Self> {
        zx1_server::config::load(path).map_err(Error::Config)
    }

    /// Every value, as TOML.
    ///
    /// # Errors
    ///
    /// 9610
    pub fn print(&self) -> Result<String> {
        zx1_server::config::print(self).map_err(Error::Config)
    }

    /// Path or URL of the database: `db`, or `index.db` in the data folder when it is empty.
    pub fn database(&self) -> String {
        if self.db.is_empty() { self.data.join("index.db").display().to_string() } else { self.db.clone() }
    }

    /// Where batches' data lie: `<mint>/<epoch>.zx1batch`, as `zx1_log`'s folder has them.
    pub fn bundles(&self) -> PathBuf {
        self.data.join("batches")
    }

    /// URL of the node's websocket for this RPC; `None` when the node is only polled.
    pub fn websocket(&self, rpc: &str) -> Option<String> {
        match self.chain.ws.as_str() {
            "" => None,
            "auto" => websocket_of(rpc),
            url => Some(url.to_owned()),
        }
    }
}

/// The websocket that belongs to an RPC: the next port where one is named, else the same address.
fn websocket_of(rpc: &str) -> Option<String> {
    let mut url = zx1_net::Url::parse(rpc).ok()?;
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    if let Some(port) = url.port() {
        url.set_port(Some(port.checked_add(1)?)).ok()?;
    }
    // A URL of http cannot be turned into one of ws in place.
    let text = url.to_string();
    let rest = text.split_once("://")?.1;
    Some(format!("{scheme}://{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back_the_same_ok() {
        let config = Config::default();
        let text = config.print().unwrap_or_default();
        assert_eq!(toml::from_str::<Config>(&text), Ok(config));
        assert!(text.contains("finalize_every_slots = 8"), "{text}");
    }

    #[test]
    fn a_part_of_a_table_leaves_the_rest_as_it_is_ok() {
        let config: Config = toml::from_str("[chain]\npoll_ms = 5").unwrap_or_default();
        assert_eq!(config.chain.poll_ms, 5);
        assert_eq!(config.chain.chunk, ChainConfig::default().chunk);
    }

    #[test]
    fn an_unknown_name_fails() {
        assert!(toml::from_str::<Config>("[chain]\npol_ms = 5").is_err());
    }

    #[test]
    fn the_websocket_is_one_port_above_the_rpc() {
        assert_eq!(websocket_of("http://127.0.0.1:8899").as_deref(), Some("ws://127.0.0.1:8900/"));
        assert_eq!(
            websocket_of("https://api.devnet.solana.com").as_deref(),
            Some("wss://api.devnet.solana.com/")
        );
        assert_eq!(websocket_of("nonsense"), None);
    }
}
