//! What can be set: a TOML file, over it the environment, over it the command line. `--print-config` writes
//! every value out.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use zx1_server::serve::Bounds;

pub use zx1_server::limits::Rate;

/// Configuration of the indexer. Every field has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on.
    pub bind: SocketAddr,
    /// Folder of the batches' data, and of the database unless `db` is set.
    pub data: PathBuf,
    /// Path of an SQLite file, or a `postgres://…` URL. Empty: `index.db` in `data`.
    pub db: String,
    /// How the Solana cluster is followed.
    pub chain: ChainConfig,
    /// How Nano balances are read.
    pub nano: NanoConfig,
    /// Addresses of the market servers whose contracts are indexed.
    pub markets: Vec<String>,
    /// Interval at which the market servers are polled, in seconds.
    pub market_secs: u64,
    /// How the mesh is heard.
    pub mesh: MeshConfig,
    /// Interval at which the index is compared with the chain, in seconds; 0 disables the audit.
    pub audit_secs: u64,
    /// How long stream events are kept, in days.
    pub stream_days: u64,
    /// Lag at which `/healthz` fails.
    pub health: HealthConfig,
    /// Links out of the explorer.
    pub explorer: ExplorerConfig,
    /// Limits on requests, uploads and streams.
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
            mesh: MeshConfig::default(),
            audit_secs: 3_600,
            stream_days: 30,
            health: HealthConfig::default(),
            explorer: ExplorerConfig::default(),
            limits: Limits::default(),
        }
    }
}

/// How the Solana cluster is followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainConfig {
    /// RPC of the node: a URL, or `localhost`, `devnet`, `testnet` or `mainnet-beta`.
    pub rpc: String,
    /// URL of the node's websocket. Empty: poll only. `auto`: the RPC's address with `ws`, and one port
    /// higher where a port is named, as validators have it.
    pub ws: String,
    /// Timeout of one RPC call, in milliseconds.
    pub timeout_ms: u64,
    /// Maximum number of attempts for one RPC call.
    pub attempts: usize,
    /// Interval at which the confirmed slot is polled, in milliseconds. Announcements on the websocket
    /// trigger a poll earlier.
    pub poll_ms: u64,
    /// Maximum number of transactions that are fetched concurrently.
    pub concurrency: usize,
    /// Maximum number of transactions that are written in one database transaction.
    pub chunk: usize,
    /// Number of slots after which the finalized history is compared again.
    pub finalize_every_slots: u64,
    /// Interval at which the registry is asked for new agents, in seconds.
    pub registry_secs: u64,
    /// Age at which an agent's owner and delegates are read again, in seconds.
    pub owners_secs: u64,
    /// Interval at which agents' token accounts are read to notice sales, in seconds; 0 disables it.
    pub owner_check_secs: u64,
    /// Maximum number of token accounts in one such round, a hundred in one call. More agents than that take
    /// turns.
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

/// How Nano balances are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NanoConfig {
    /// URL of the Nano node's RPC. Empty: balances are not read.
    pub rpc: String,
    /// Interval at which balances are read, in seconds.
    pub poll_secs: u64,
}

impl Default for NanoConfig {
    fn default() -> Self {
        Self { rpc: String::new(), poll_secs: 30 }
    }
}

/// How the mesh is heard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MeshConfig {
    /// Folder of a node on this machine that observes (`zx1-node --observe`). Empty: the mesh is not heard.
    pub folder: PathBuf,
    /// Maximum number of messages that are taken per second, averaged over 200 seconds; others are left out.
    pub per_second: u32,
    /// How long messages stay in the streams, in hours. Ratings stay.
    pub keep_hours: u64,
}

impl Default for MeshConfig {
    fn default() -> Self {
        Self { folder: PathBuf::new(), per_second: 10, keep_hours: 24 }
    }
}

/// Links out of the explorer: URLs in which `{}` stands for what they lead to. Empty: no link. `auto`: by the
/// cluster's genesis, or the address of the Nano node; none for a local one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExplorerConfig {
    /// URL of a transaction by its signature.
    pub transaction: String,
    /// URL of an account by its address.
    pub account: String,
    /// URL of a Nano block by its hash.
    pub nano_block: String,
    /// URL of a Nano account by its address.
    pub nano_account: String,
}

impl Default for ExplorerConfig {
    fn default() -> Self {
        let auto = || "auto".to_owned();
        Self { transaction: auto(), account: auto(), nano_block: auto(), nano_account: auto() }
    }
}

/// Lag at which `/healthz` fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HealthConfig {
    /// Maximum number of slots behind the node.
    pub max_lag_slots: u64,
    /// Maximum number of seconds since the index last reached the node's slot.
    pub max_lag_secs: u64,
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self { max_lag_slots: 150, max_lag_secs: 60 }
    }
}

/// Limits on requests, uploads and streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum size of a request's body in bytes, batch data excepted.
    pub body_bytes: usize,
    /// Maximum size of a batch's data in bytes.
    pub bundle_bytes: usize,
    /// Timeout for receiving a body, in milliseconds. A batch's data may take ten times as long.
    pub body_ms: u64,
    /// Timeout for receiving a request's head, in milliseconds.
    pub head_ms: u64,
    /// How long a client may read nothing of an answer before its connection is closed, in milliseconds.
    pub write_ms: u64,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of open streams.
    pub streams: usize,
    /// Maximum number of open streams from one address.
    pub streams_per_address: usize,
    /// Number of events that are kept in memory for subscribers that are behind.
    pub stream_ring: usize,
    /// Interval of keep-alives on a stream without events, in milliseconds.
    pub keepalive_ms: u64,
    /// Trusted proxies. The client is the last address in `X-Forwarded-For` that is not one of them.
    pub proxies: Vec<IpAddr>,
    /// Rate limit for requests from one address.
    pub address: Rate,
    /// Rate limit for batch data, envelopes and binding records from one address.
    pub uploads: Rate,
    /// Disk space for uploads that are arriving, in bytes; further uploads wait.
    pub arriving_bytes: usize,
    /// Maximum number of batches' data that are checked or read concurrently.
    pub bundles: usize,
    /// Maximum number of records of a batch that are indexed for counterparties and bindings. All of them are
    /// served.
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
            connections: zx1_server::serve::CONNECTIONS,
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
            per_address: self.connections,
            proxies: Vec::new(),
            head: Duration::from_millis(self.head_ms),
            write: self.write_time(),
        }
    }
}

impl Config {
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
