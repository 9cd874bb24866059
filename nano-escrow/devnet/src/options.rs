//! How a ledger runs.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::Epoch;
use nano_escrow::Raw;

/// When blocks become final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirm {
    /// At once, before `process` answers.
    AtOnce,
    /// This long after a block came.
    After(Duration),
    /// Only when a test or `block_confirm` asks for it.
    OnDemand,
}

/// In which order blocks become final that are due together. What a block depends on is always first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As they came.
    #[default]
    Arrival,
    /// The last first.
    Reverse,
    /// Each block's delay is drawn between half and one and a half of the delay, from this seed.
    Random(u64),
}

/// Who wins when two blocks follow the same block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForkRule {
    /// The one that came first; the other stays out.
    #[default]
    FirstSeen,
    /// The one that came last: after the delay of confirmation the first is rolled back and it takes its
    /// place, unless the first is final by then.
    LastSeen,
}

/// Whose habits the RPC has. Both kinds of node are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The C++ node: an empty list or map is an empty text.
    Cpp,
    /// The Rust node: an empty list is `[]`, an empty map `{}`.
    #[default]
    Rust,
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpp" => Ok(Dialect::Cpp),
            "rust" => Ok(Dialect::Rust),
            _ => Err(format!("{text:?} is not a dialect; the dialects are cpp and rust")),
        }
    }
}

/// All options of the embedded ledger.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) confirm: Confirm,
    pub(crate) order: Order,
    pub(crate) forks: ForkRule,
    pub(crate) dialect: Dialect,
    pub(crate) genesis_epoch: Epoch,
    pub(crate) rpc: SocketAddr,
    pub(crate) ws: SocketAddr,
    pub(crate) control: Option<SocketAddr>,
    pub(crate) faucet: Raw,
    pub(crate) enable_control: bool,
    pub(crate) work_generation: bool,
    pub(crate) max_body: usize,
    pub(crate) ws_queue: usize,
    pub(crate) keepalive: Duration,
}

/// Any free port of this machine.
pub(crate) const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

impl Default for Options {
    fn default() -> Options {
        Options {
            folder: None,
            confirm: Confirm::AtOnce,
            order: Order::Arrival,
            forks: ForkRule::FirstSeen,
            dialect: Dialect::Rust,
            genesis_epoch: Epoch::Two,
            rpc: LOCAL,
            ws: LOCAL,
            control: None,
            // 1000 XNO.
            faucet: Raw(1000 * Raw::XNO.0),
            enable_control: true,
            work_generation: true,
            max_body: 1 << 20,
            ws_queue: 1024,
            keepalive: Duration::from_secs(30),
        }
    }
}
