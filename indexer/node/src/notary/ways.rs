//! What the notary's part needs of the rest of the node.

use crate::agent::Agent;
use crate::error::Result;
use crate::facts::Cluster;
use crate::judge::{Judge, of_any_scope};
use crate::outbox::Sender;
use crate::words::Words;
use std::sync::Arc;
use zx1_mesh::gate::Mode;
use zx1_mesh::wire::key_of_peer;
use zx1_operator::node::wire;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::AgentKey;

/// Sending, and the keys of those who signed what is shown.
pub trait Ways: std::fmt::Debug + Send + Sync + 'static {
    /// Puts a message into the outbox, on disk; the same one under the same name is taken once.
    fn add(
        &self,
        name: &str,
        words: &Words,
        ttl_micros: u64,
    ) -> impl Future<Output = Result<wire::Draft>> + Send;

    /// The message of this name.
    fn named(&self, name: &str) -> impl Future<Output = Option<wire::Draft>> + Send;

    /// The keys of an agent, also those that have ended; none of one that is not registered.
    ///
    /// # Errors
    /// When nobody can say now.
    fn keys(&self, agent: AgentId) -> impl Future<Output = Result<Vec<AgentKey>>> + Send;
}

/// The running node.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Live {
    pub agent: Arc<Agent>,
    pub sender: Arc<Sender>,
    pub cluster: Arc<Cluster>,
    pub judge: Arc<Judge>,
}

impl Ways for Live {
    async fn add(&self, name: &str, words: &Words, ttl_micros: u64) -> Result<wire::Draft> {
        self.sender.add(name, words, ttl_micros).await
    }

    async fn named(&self, name: &str) -> Option<wire::Draft> {
        self.sender.named(name).await
    }

    async fn keys(&self, agent: AgentId) -> Result<Vec<AgentKey>> {
        match self.judge.mode() {
            Mode::Enforced => self.cluster.keys_of(agent).await,
            // Without gates a key is whoever published for the agent.
            Mode::Dev => {
                let peers = self.agent.heard().peers_of(&agent);
                let keys = peers.iter().filter_map(|peer| key_of_peer(&peer.parse().ok()?));
                Ok(keys.filter_map(|key| of_any_scope(&key)).collect())
            }
        }
    }
}
