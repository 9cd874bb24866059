//! Open contracts, announced on the mesh through the node that runs beside the market (wire.md, "Announced contracts").
//!
//! Nothing of the market waits for it: a contract that opens or stops being open is noted by its id, and one task reads
//! it again when its turn comes. So what was taken meanwhile is not announced, and what has no room is found in the
//! market's list as ever.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use zx1_market::wire::advert::{Announcement, SCHEMA, UNIT};
use zx1_market::{Case, ContractId, Millis, State};
use zx1_operator::node::wire::{Fields, Send};
use zx1_operator::node::{MAX_TTL, NodeClient};
use zx1_operator::{Error as NodeError, Refusal};
use zx1_protocol::ids::AgentId;

use crate::error::{Error, Result};

/// Contracts that wait for their turn; when there are more, the one that has waited longest is left out.
pub const MAX_WAITING: usize = 1_024;
/// The pause after each announcement: five a second, of the hundred that the mesh takes of an agent. Each is an entry of
/// the agent's log.
pub const PACE: Duration = Duration::from_millis(200);
/// The pause before a node that is away is asked again.
pub const AWAY_PAUSE: Duration = Duration::from_secs(5);
/// Longest file with a token.
const MAX_TOKEN: u64 = 4_096;

/// Where the node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The folder of its agent, where it says its address and keeps its token.
    Folder(PathBuf, AgentId),
    /// The URL of its local API, and the file with the token.
    Url(String, PathBuf),
}

impl Place {
    /// From the configuration: a folder whose name is the agent's mint, or a URL with the file of the token.
    ///
    /// # Errors
    /// 9420
    pub fn read(node: &str, token: &std::path::Path) -> Result<Place> {
        if node.starts_with("http://") {
            if token.as_os_str().is_empty() {
                return Err(Error::Config(
                    "A node that is named by its URL needs its token; set mesh.token_file, or name the agent's folder."
                        .to_owned(),
                ));
            }
            return Ok(Place::Url(node.to_owned(), token.to_owned()));
        }
        let folder = PathBuf::from(node);
        let agent = folder.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
        let agent = agent.ok_or_else(|| {
            Error::Config(format!(
                "{node} is not the folder of an agent, whose name is the agent's mint; correct mesh.node."
            ))
        })?;
        Ok(Place::Folder(folder, agent))
    }

    /// The client of whoever answers there. Read anew each time: a node that was started again has another port.
    pub(crate) fn client(&self) -> std::result::Result<NodeClient, NodeError> {
        match self {
            Place::Folder(folder, agent) => NodeClient::of(folder, *agent),
            Place::Url(url, token) => {
                let broken = |why: String| Refusal::NodeBroken { why: format!("{}: {why}", token.display()) };
                let bytes =
                    zx1_home::files::read(token, MAX_TOKEN).map_err(|error| broken(error.to_string()))?;
                let bytes = bytes.ok_or_else(|| broken("it is not there".to_owned()))?;
                let text = std::str::from_utf8(&bytes).map_err(|error| broken(error.to_string()))?;
                NodeClient::at(url, text.trim(), AgentId([0; 32]))
            }
        }
    }
}

/// What waits to be announced. Clones share it.
#[derive(Debug, Clone)]
pub struct Announcer {
    pub(crate) place: Place,
    /// Address of the market, as others reach it.
    pub(crate) market: String,
    waiting: Arc<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    queue: Mutex<VecDeque<ContractId>>,
    /// Contracts that were pushed out by others since the last look.
    dropped: AtomicU64,
    more: Notify,
}

impl Announcer {
    /// Through this node, for a market with this address.
    pub fn new(place: Place, market: String) -> Announcer {
        Announcer { place, market, waiting: Arc::default() }
    }

    /// Notes what has become of a contract. It returns at once.
    pub(crate) fn moved(&self, id: ContractId, before: Option<State>, after: State) {
        if (before == Some(State::Open)) != (after == State::Open) {
            self.note(id);
        }
    }

    /// A contract's turn will come.
    pub(crate) fn note(&self, id: ContractId) {
        let mut queue = self.waiting.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.contains(&id) {
            return;
        }
        if queue.len() >= MAX_WAITING {
            queue.pop_front();
            self.waiting.dropped.fetch_add(1, Ordering::Relaxed);
        }
        queue.push_back(id);
        drop(queue);
        self.waiting.more.notify_one();
    }

    /// The contract whose turn it is.
    pub(crate) fn take(&self) -> Option<ContractId> {
        self.waiting.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Number of contracts that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.queue.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Number of contracts that were left out since the last call.
    pub(crate) fn dropped(&self) -> u64 {
        self.waiting.dropped.swap(0, Ordering::Relaxed)
    }

    /// Until a contract was noted.
    pub(crate) async fn more(&self) {
        self.waiting.more.notified().await;
    }
}

/// What came of a contract's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The node took its announcement.
    Announced,
    /// The node took the word that it is no longer open.
    Withdrawn,
    /// The node refused.
    Refused,
    /// There was no room for it.
    Dropped,
}

impl Outcome {
    pub(crate) const ALL: [Outcome; 4] =
        [Outcome::Announced, Outcome::Withdrawn, Outcome::Refused, Outcome::Dropped];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Outcome::Announced => "announced",
            Outcome::Withdrawn => "withdrawn",
            Outcome::Refused => "refused",
            Outcome::Dropped => "dropped",
        }
    }
}

/// The contracts that stand announced, until their time is over.
#[derive(Debug, Default)]
pub(crate) struct Standing(HashMap<ContractId, (Announcement, Millis)>);

impl Standing {
    /// What is to be said of a contract now.
    pub(crate) fn due(&mut self, case: &Case, market: &str, now: Millis) -> Option<(Outcome, Announcement)> {
        self.0.retain(|_, (_, ends)| *ends > now);
        match Announcement::of(case, market, now) {
            Some(_) if self.0.contains_key(&case.id()) => None,
            Some(announcement) => Some((Outcome::Announced, announcement)),
            None => {
                let (known, _) = self.0.get(&case.id())?;
                Some((Outcome::Withdrawn, known.clone().withdrawn()))
            }
        }
    }

    /// The node took it.
    pub(crate) fn said(&mut self, outcome: Outcome, announcement: Announcement, now: Millis) {
        let id = announcement.contract.contract;
        if outcome == Outcome::Announced {
            let ends = now.plus(Millis::secs(announcement.ttl.into()));
            self.0.insert(id, (announcement, ends));
        } else {
            self.0.remove(&id);
        }
    }
}

/// As the node takes it. The same under the same name is sent once, so a repeated request says nothing twice.
pub(crate) fn message(announcement: &Announcement, seq: u64) -> Send {
    let Announcement { caps, price, contract, ttl } = announcement;
    Send {
        r#type: "advertise".to_owned(),
        name: Some(format!("fix-{}-{seq}-{ttl}", contract.contract)),
        // What is late is worth nothing, and what takes an announcement back neither.
        ttl_seconds: Some((*ttl).clamp(30, MAX_TTL)),
        fields: Some(Fields::Advertise {
            caps: caps.clone(),
            schema: SCHEMA.to_owned(),
            unit: UNIT.to_owned(),
            price: price.0.to_string(),
            contract: Some(contract.to_string()),
            ttl: *ttl,
        }),
        ..Send::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: usize) -> ContractId {
        format!("{n:016x}").parse().unwrap()
    }

    #[test]
    fn a_contract_waits_once_and_the_longest_waiting_makes_room() {
        let announcer =
            Announcer::new(Place::Url("http://127.0.0.1:1".into(), "t".into()), "https://m".into());
        announcer.moved(id(0), None, State::Unfunded);
        announcer.moved(id(0), Some(State::Open), State::Open);
        assert_eq!(announcer.take(), None, "neither has begun nor ceased to be open");
        for n in 0..=MAX_WAITING {
            announcer.moved(id(n), None, State::Open);
            announcer.moved(id(n), Some(State::Open), State::Investigating);
        }
        assert_eq!(announcer.waiting.dropped.load(Ordering::Relaxed), 1);
        assert_eq!(announcer.take(), Some(id(1)));
    }

    #[test]
    fn a_node_is_named_by_the_folder_of_an_agent_or_by_url_and_token() {
        let none = std::path::Path::new("");
        let agent = AgentId([7; 32]);
        let folder = format!("/home/m/.config/zx1/agents/{agent}");
        assert_eq!(Place::read(&folder, none).unwrap(), Place::Folder(folder.clone().into(), agent));
        assert_eq!(Place::read("/home/m", none).unwrap_err().code(), 9420);
        assert_eq!(Place::read("http://127.0.0.1:4010", none).unwrap_err().code(), 9420);
        let token = std::path::Path::new("/run/token");
        let url = "http://127.0.0.1:4010";
        assert_eq!(Place::read(url, token).unwrap(), Place::Url(url.into(), token.into()));
    }
}
