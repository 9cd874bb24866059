//! The keys of other agents, asked for once in a while.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use zx1_log::Key;
use zx1_market::{PartyId, PartyKey};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::{OPEN, Scopes};
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::Epoch;

use super::BridgeError;
use futures_util::future::BoxFuture;

/// How long an answer of the chain counts.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// How long the chain has to answer. A party waits for it at the end of a contract.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The key accounts of an agent id as the finalized slot has them, ended ones too (decision P1): a transcript is
/// also read after a key was ended, and what it signed before counts. None when it has none. The error is half a
/// sentence.
pub type SigningKeys = Arc<dyn Fn(AgentId) -> BoxFuture<'static, Result<Vec<Key>, String>> + Send + Sync>;

type Keys = HashMap<AgentId, Vec<Key>>;

/// When the chain answered, and the agent's keys.
type Answer = (Instant, Vec<Key>);

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
                    answers.insert(agent, (Instant::now(), found.clone()));
                    keys.insert(agent, found);
                }
                Err(why) => unread = Some(BridgeError::Keys { agent, why }),
            }
        }
        (keys, unread)
    }
}

/// The keys of this party itself, whatever the chain says: its market key, and its deal key if it has another.
pub(super) fn own(key: &PartyKey, deal: Option<&PartyKey>) -> Vec<Key> {
    let scopes = if deal.is_some() { Scopes::PEER } else { Scopes::PEER.and(Scopes::DEAL) };
    let account = |key: &PartyKey, scopes| {
        let key = PublicKey::from_bytes(key.id().as_bytes()).ok()?;
        Some(Key { key, scopes, from: Epoch(0), until: OPEN })
    };
    account(key, scopes).into_iter().chain(deal.and_then(|deal| account(deal, Scopes::DEAL))).collect()
}

/// Whether receivers take a message of this type and epoch from this key now.
pub(super) fn signs(id: &PartyId, keys: &[Key], msg_type: MsgType, epoch: Epoch) -> bool {
    let takes = |key: &&Key| key.until == OPEN && key.counts_in(epoch) && key.scopes.sign(msg_type);
    keys.iter().filter(takes).any(|key| key.key.to_bytes() == *id.as_bytes())
}

/// Whether a party of the market is one of an agent's keys in this epoch: so an entry of its stands for the
/// agent, whichever key signed the envelope in it.
pub(super) fn stands_for(party: &PartyId, keys: &[Key], epoch: Epoch) -> bool {
    keys.iter().any(|key| key.key.to_bytes() == *party.as_bytes() && key.counts_in(epoch))
}
