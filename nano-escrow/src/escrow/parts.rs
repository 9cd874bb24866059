//! What an escrow is put together from: keys, clock, options.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use zx1_home::Clock;

use futures_util::future::BoxFuture;

use crate::journal::CrashPoints;
use crate::node::{Call, NodeApi, NodeError};
use crate::{Address, Keypair, Network, Raw, Seed, blake2b_256};

/// The secret that the private keys of accounts are derived from.
pub trait Keys: Send + Sync {
    /// Derives the key pair of a nonce: 32 bytes for an escrow account, 4 bytes (an index, big-endian) for a
    /// wallet's.
    fn keypair(&self, nonce: &[u8]) -> Keypair;

    /// A public identifier of the secret. The journal keeps it, so that a wrong secret is noticed.
    fn fingerprint(&self) -> String;

    /// A key, known only to who knows the secret, that seals exports against changes.
    fn seal(&self) -> [u8; 32];
}

impl Keys for Seed {
    fn keypair(&self, nonce: &[u8]) -> Keypair {
        self.nonce_key(nonce).keypair()
    }

    fn fingerprint(&self) -> String {
        hex::encode(&blake2b_256(&[b"nano-escrow/fingerprint/v1", self.expose()])[..8])
    }

    fn seal(&self) -> [u8; 32] {
        blake2b_256(&[b"nano-escrow/seal/v1", self.expose()])
    }
}

/// Wallet keys of a domain (decision A2): `blake2b-256(domain | seed | index)`. Escrow nonces are hashed into the
/// domain's first key.
pub struct DomainKeys {
    domain: Vec<u8>,
    seed: Seed,
}

impl DomainKeys {
    /// The keys of `seed` under `domain`.
    pub fn new(domain: impl Into<Vec<u8>>, seed: Seed) -> DomainKeys {
        DomainKeys { domain: domain.into(), seed }
    }
}

impl Keys for DomainKeys {
    fn keypair(&self, nonce: &[u8]) -> Keypair {
        match nonce.try_into() {
            Ok(index) => self.seed.domain_key(&self.domain, u32::from_be_bytes(index)).keypair(),
            Err(_) => {
                let first = self.seed.domain_key(&self.domain, 0);
                Seed::from_bytes(*first.expose()).nonce_key(nonce).keypair()
            }
        }
    }

    fn fingerprint(&self) -> String {
        let parts: [&[u8]; 3] = [b"nano-escrow/fingerprint/v1", self.seed.expose(), &self.domain];
        hex::encode(&blake2b_256(&parts)[..8])
    }

    fn seal(&self) -> [u8; 32] {
        blake2b_256(&[b"nano-escrow/seal/v1", self.seed.expose(), &self.domain])
    }
}

/// Source of nonces: the system's random number generator, or fixed values in tests.
pub type Nonces = Arc<dyn Fn() -> Result<[u8; 32], super::EscrowError> + Send + Sync>;

/// Limits and intervals of an escrow or a wallet.
#[derive(Debug, Clone)]
pub struct Options {
    /// The network; checked against the node before the first decision.
    pub network: Network,
    /// Representative that the accounts' blocks name: it votes with the money that is held.
    pub representative: Address,
    /// Smallest amount in raw that is considered as a deposit or refunded. Each of them costs a proof of
    /// work.
    pub dust: Raw,
    /// Maximum number of deposits that are considered for one escrow account, the largest first. A deposit
    /// that alone fills what is missing is always considered.
    pub max_deposits: usize,
    /// Receive deposits when they are confirmed, instead of with the settlement, which is then quicker.
    pub receive_eagerly: bool,
    /// Give excess and late deposits back without being asked.
    pub refund_automatically: bool,
    /// Least excess of a source, in raw, that goes back without being asked. A refund costs a send's work; what is
    /// smaller waits for [`sweep`](super::Escrow::sweep).
    pub refund_min: Raw,
    /// Maximum number of refunds in an hour that are decided without being asked.
    pub refunds_per_hour: u32,
    /// Compute work in the background before it is needed (decision F5). Off in simulations.
    pub prefetch_work: bool,
    /// A published block that is not confirmed after this is voted on and published again.
    pub nudge_after: Duration,
    /// Interval at which the node is polled while the websocket reports nothing.
    pub poll: Duration,
    /// Maximum number of accounts that are driven concurrently.
    pub parallel: usize,
    /// Maximum number of foreign blocks of one account that are read when adopting.
    pub max_walk: usize,
}

impl Options {
    /// The defaults for a network: dust below 0.0001 XNO, refunds from 0.01 XNO on and at most 60 an hour, 8 accounts
    /// at once, a poll every 2 seconds, a nudge after 5.
    pub fn new(network: Network, representative: Address) -> Options {
        Options {
            network,
            representative,
            dust: Raw(Raw::XNO.get() / 10_000),
            max_deposits: 16,
            receive_eagerly: true,
            refund_automatically: true,
            refund_min: Raw(Raw::XNO.get() / 100),
            refunds_per_hour: 60,
            prefetch_work: true,
            nudge_after: Duration::from_secs(5),
            poll: Duration::from_secs(2),
            parallel: 8,
            max_walk: 10_000,
        }
    }
}

/// Whether the node answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerState {
    /// It was not asked yet.
    Unknown,
    /// It has answered the last request.
    Up,
    /// It has answered no request since this moment, in Unix milliseconds.
    Away {
        /// When the first request failed.
        since: i64,
    },
}

/// A node that passes a crash point before and after each call, and remembers whether it answers.
pub(crate) struct ProbedNode {
    pub(crate) node: Arc<dyn NodeApi>,
    pub(crate) points: CrashPoints,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) state: Arc<watch::Sender<LedgerState>>,
}

impl ProbedNode {
    fn note(&self, answered: bool) {
        self.state.send_if_modified(|state| match (answered, *state) {
            (true, LedgerState::Up) | (false, LedgerState::Away { .. }) => false,
            (true, _) => {
                *state = LedgerState::Up;
                true
            }
            (false, _) => {
                *state = LedgerState::Away { since: i64::try_from(self.clock.unix_ms()).unwrap_or(i64::MAX) };
                true
            }
        });
    }
}

impl NodeApi for ProbedNode {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<Value, NodeError>> {
        Box::pin(async move {
            let action = call.action;
            self.points.pass("before", "rpc", action).await;
            let answer = self.node.call(call).await;
            self.points.pass("after", "rpc", action).await;
            self.note(answer.is_ok());
            answer
        })
    }
}
