//! The keys of other agents, asked for once in a while.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::signature::PublicKey;

use super::BridgeError;
use futures_util::future::BoxFuture;

/// How long an answer of the chain counts.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// How long the chain has to answer. A party waits for it at the end of a contract.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The keys that may sign for an agent id now: its owner's and those of its live delegates (decision B3); none
/// when it is not registered. The error is half a sentence.
pub type SigningKeys =
    Arc<dyn Fn(AgentId) -> BoxFuture<'static, Result<Vec<WalletKey>, String>> + Send + Sync>;

type Keys = HashMap<AgentId, Vec<PublicKey>>;

/// When the chain answered, and the keys that sign for the agent.
type Answer = (Instant, Vec<PublicKey>);

/// What the chain has said lately.
pub(super) struct Known {
    ask: SigningKeys,
    answers: Mutex<HashMap<AgentId, Answer>>,
}

impl Known {
    pub(super) fn new(ask: SigningKeys) -> Known {
        Known { ask, answers: Mutex::new(HashMap::new()) }
    }

    /// The keys of these agents, without those for whom the chain does not answer; of one of them why.
    pub(super) async fn of(&self, agents: BTreeSet<AgentId>) -> (Keys, Option<BridgeError>) {
        let (mut keys, mut unread) = (Keys::new(), None);
        let mut answers = self.answers.lock().await;
        answers.retain(|_, (asked, _)| asked.elapsed() < GOOD_FOR);
        for agent in agents {
            if let Some((_, known)) = answers.get(&agent) {
                keys.insert(agent, known.clone());
                continue;
            }
            let asked = timeout(ANSWER_WITHIN, (self.ask)(agent)).await;
            match asked.unwrap_or_else(|_| Err("the cluster does not answer in time".to_owned())) {
                Ok(found) => {
                    let found = parsed(&found);
                    answers.insert(agent, (Instant::now(), found.clone()));
                    keys.insert(agent, found);
                }
                Err(why) => unread = Some(BridgeError::Keys { agent, why }),
            }
        }
        (keys, unread)
    }
}

/// Bytes that are not a point of the curve sign nothing.
pub(super) fn parsed(keys: &[WalletKey]) -> Vec<PublicKey> {
    keys.iter().filter_map(|key| PublicKey::from_bytes(key.as_array()).ok()).collect()
}
