//! What can be set: a TOML file, over it the environment, over it the command line. `--print-config` writes
//! every value out.

use crate::error::{Error, Result};
use crate::outbox::Bounds as Unsent;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use zx1_relay_rules::Settings;
use zx1_server::limits::Rate;
use zx1_server::serve::{Bounds, CONNECTIONS};

/// Connections of one address where the relay is open to strangers.
const PER_ADDRESS: usize = 64;

/// Configuration of the relay. Every field has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on. With 127.0.0.1 also the loopback of IPv6, where there is one.
    pub bind: SocketAddr,
    /// What the relay calls itself.
    pub name: String,
    /// A sentence in every WELCOME.
    pub motd: Option<String>,
    /// Folder of the database.
    pub data: PathBuf,
    /// A Postgres in place of the folder: a URL that begins with `postgres:`.
    pub database: Option<String>,
    /// Channels that exist from the start; empty for the usual ones.
    pub channels: Vec<String>,
    /// Whether the older server's eight channels and 60 s for a challenge are used.
    pub older: bool,
    /// Hexadecimal digits of an agent's id: 8, or 16 as agentchat 0.24.3 itself uses.
    pub id_digits: usize,
    /// Messages kept for who joins.
    pub message_buffer_size: usize,
    /// Time between two messages of an agent, in milliseconds.
    pub rate_limit_ms: u64,
    /// Time to answer a challenge, in milliseconds; 30 000, with `older` 60 000.
    pub challenge_timeout_ms: Option<u64>,
    /// Time to answer a verification request, in milliseconds.
    pub verification_timeout_ms: u64,
    /// Age that a proposal must have before it is completed, in milliseconds.
    pub min_proposal_age_ms: u64,
    /// Whether a dispute alone moves ratings, for who filed it, as on the older server.
    pub dispute_moves: bool,
    /// Whether keys have to be on the allowlist.
    pub allowlist_enabled: bool,
    /// Whether agents without a key are refused as well.
    pub allowlist_strict: bool,
    /// A file of PEM keys that come onto the allowlist at the start.
    pub allowlist_file: Option<PathBuf>,
    /// File with the admin's key; without one there is no admin.
    pub admin_key_file: Option<PathBuf>,
    /// Whether messages are redacted of secrets. Signed ones that hold one are refused.
    pub redact: bool,
    /// Limits on connections.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        let rules = Settings::default();
        Self {
            bind: SocketAddr::from(([127, 0, 0, 1], 6_667)),
            name: "zx1-relay".to_owned(),
            motd: None,
            data: "zx1-relay-data".into(),
            database: None,
            channels: Vec::new(),
            older: false,
            id_digits: rules.id_hex,
            message_buffer_size: rules.buffer,
            rate_limit_ms: rules.msg_ms,
            challenge_timeout_ms: None,
            verification_timeout_ms: rules.verify_ms,
            min_proposal_age_ms: rules.min_proposal_ms,
            dispute_moves: rules.dispute_moves,
            allowlist_enabled: false,
            allowlist_strict: false,
            allowlist_file: None,
            admin_key_file: None,
            redact: false,
            limits: Limits::default(),
        }
    }
}

/// Limits on connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum number of open websockets.
    pub connections: usize,
    /// Maximum number of open websockets from one address; 0 means any number on loopback, and 64 elsewhere.
    pub connections_per_ip: usize,
    /// Maximum number of keys whose ids are remembered; those of later ones end with their connections.
    pub identities: usize,
    /// Trusted proxies. The client is the last address in `X-Forwarded-For` that is not one of them.
    pub proxies: Vec<IpAddr>,
    /// Rate limit for requests, opened websockets included, from one address.
    pub address: Rate,
    /// Time between two pings of the websocket, in milliseconds.
    pub heartbeat_interval_ms: u64,
    /// Time for a pong, in milliseconds.
    pub heartbeat_timeout_ms: u64,
    /// Timeout for receiving a request's head, in milliseconds.
    pub head_ms: u64,
    /// How long a reader may take nothing before its connection is closed, in milliseconds.
    pub write_ms: u64,
    /// Maximum number of bytes that a connection has not read.
    pub unsent_bytes: usize,
    /// Maximum number of frames that a connection has not read.
    pub unsent_frames: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            connections_per_ip: 0,
            identities: 1_000_000,
            proxies: Vec::new(),
            address: Rate { burst: 1_000, per_second: 100 },
            heartbeat_interval_ms: 30_000,
            heartbeat_timeout_ms: 30_000,
            head_ms: 10_000,
            write_ms: 5_000,
            unsent_bytes: 1 << 20,
            unsent_frames: 2_048,
        }
    }
}

impl Limits {
    /// Of requests: websockets, and as many again that only read.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            connections: self.connections.saturating_add(1_024).min(CONNECTIONS.max(self.connections)),
            per_address: usize::MAX,
            proxies: self.proxies.clone(),
            head: Duration::from_millis(self.head_ms),
            write: Duration::from_millis(self.write_ms),
        }
    }

    pub(crate) fn unsent(&self) -> Unsent {
        // A frame of the largest size always fits.
        let bytes = self.unsent_bytes.max(zx1_relay_rules::defaults::MAX_FRAME);
        Unsent { bytes, frames: self.unsent_frames.max(64) }
    }
}

impl Config {
    /// The settings of the rules.
    ///
    /// # Errors
    ///
    /// 7770
    pub fn rules(&self) -> Result<Settings> {
        let mut rules = if self.older { Settings::older() } else { Settings::default() };
        if !self.channels.is_empty() {
            rules.channels.clone_from(&self.channels);
        }
        if let Some(wrong) = rules.channels.iter().find(|name| !zx1_relay_rules::id::is_channel(name)) {
            return Err(Error::Config(format!(
                "Invalid channel '{wrong}': # and 1 to 31 letters, digits, - and _."
            )));
        }
        if !matches!(self.id_digits, 8 | 16) {
            return Err(Error::Config(format!(
                "Invalid number of digits of an id: {}, not 8 or 16.",
                self.id_digits
            )));
        }
        if self.limits.heartbeat_interval_ms == 0 || self.limits.heartbeat_timeout_ms == 0 {
            return Err(Error::Config("The heartbeat's times must be above 0.".to_owned()));
        }
        rules.id_hex = self.id_digits;
        rules.buffer = self.message_buffer_size;
        rules.msg_ms = self.rate_limit_ms;
        if let Some(ms) = self.challenge_timeout_ms {
            rules.challenge_ms = ms;
        }
        rules.verify_ms = self.verification_timeout_ms;
        rules.min_proposal_ms = self.min_proposal_age_ms;
        rules.dispute_moves = self.dispute_moves;
        rules.identities = self.limits.identities;
        Ok(rules)
    }

    /// How many websockets one address may have.
    pub fn per_address(&self) -> usize {
        let is_local = self.bind.ip().is_loopback();
        match self.limits.connections_per_ip {
            0 if is_local => usize::MAX,
            0 => PER_ADDRESS,
            most => most,
        }
    }

    /// Every value, as TOML.
    ///
    /// # Errors
    ///
    /// 7770
    pub fn print(&self) -> Result<String> {
        zx1_server::config::print(self).map_err(Error::Config)
    }
}
