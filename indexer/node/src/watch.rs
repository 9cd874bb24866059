//! Which agents were heard, until when their leases are paid, and whose turn it is to be read again. Pure: time is an
//! argument, unix microseconds.
//!
//! A lease ends by the clock alone, so whoever is silent is known to have left when the epoch begins; the chain is asked
//! once more, as it may have been paid since. Saved, because the transport remembers peers over a restart and not whose
//! they are.

use crate::defaults::{MAX_BACK, MAX_HEARD, MAX_LEFT, MAX_PEERS, MAX_SAVED_AGENTS, WATCH_AGE, WATCH_SOONEST};
use libp2p::PeerId;
use serde::{Deserialize, Serialize};
use zx1_mesh::lru::Lru;
use zx1_protocol::ids::AgentId;
use zx1_protocol::lease::Lease;
use zx1_protocol::units::Epoch;

#[derive(Clone, Debug, Default)]
struct Row {
    peers: Vec<PeerId>,
    lease: Option<Lease>,
    /// When the chain was read, and when it was last asked.
    read_at: u64,
    asked_at: u64,
}

/// The agents whose messages were taken, and those that left.
#[derive(Debug)]
pub struct Watch {
    here: Lru<AgentId, Row>,
    /// Agents that left.
    left: Lru<AgentId, Row>,
    /// Peers that were heard for the first time, or again.
    back: Vec<PeerId>,
}

/// The version of the saved form.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    agents: Vec<SavedAgent>,
}

#[derive(Serialize, Deserialize)]
struct SavedAgent {
    agent: String,
    peers: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paid_through: Option<u64>,
}

impl Default for Watch {
    fn default() -> Self {
        Self { here: Lru::new(MAX_HEARD), left: Lru::new(MAX_LEFT), back: Vec::new() }
    }
}

impl Watch {
    /// A message of this agent was taken, that this peer published: it is here, or back.
    pub fn heard(&mut self, agent: AgentId, peer: Option<PeerId>, now: u64) {
        self.back.extend(self.left.remove(&agent).into_iter().flat_map(|row| row.peers));
        let new = || Row { read_at: now, ..Row::default() };
        let is_new = self.here.update(&agent, new, |row| {
            let Some(peer) = peer else { return false };
            let is_new = !row.peers.contains(&peer);
            row.peers.retain(|known| *known != peer);
            row.peers.insert(0, peer);
            row.peers.truncate(MAX_PEERS);
            is_new
        });
        self.back.extend(peer.filter(|_| is_new));
        // Whoever takes them is a second behind at most.
        self.back.truncate(MAX_BACK);
    }

    /// Peers that were heard for the first time, or again, since the last call.
    pub fn take_back(&mut self) -> Vec<PeerId> {
        std::mem::take(&mut self.back)
    }

    /// Agents whose leases have ended by what is known of them; `most` is the maximum number of them.
    pub fn ended(&mut self, epoch: Epoch, now: u64, most: usize) -> Vec<AgentId> {
        let is_due = |row: &Row| {
            row.lease.is_some_and(|lease| !lease.is_live(epoch)) && is_past(row.asked_at, WATCH_SOONEST, now)
        };
        let due = self.here.iter().filter(|(_, row)| is_due(row)).map(|(agent, _)| *agent);
        let due: Vec<AgentId> = due.take(most).collect();
        self.asked(&due, now);
        due
    }

    /// Agents of whom nothing is known, or nothing recent, the oldest knowledge first; `most` is the maximum number of
    /// them.
    pub fn others(&mut self, now: u64, most: usize) -> Vec<AgentId> {
        let is_due = |row: &Row| {
            (row.lease.is_none() || is_past(row.read_at, WATCH_AGE, now))
                && is_past(row.asked_at, WATCH_SOONEST, now)
        };
        let mut due: Vec<(u64, AgentId)> = self
            .here
            .iter()
            .filter(|(_, row)| is_due(row))
            .map(|(agent, row)| (if row.lease.is_none() { 0 } else { row.read_at }, *agent))
            .collect();
        due.sort_unstable();
        due.truncate(most);
        let due: Vec<AgentId> = due.into_iter().map(|(_, agent)| agent).collect();
        self.asked(&due, now);
        due
    }

    fn asked(&mut self, agents: &[AgentId], now: u64) {
        for agent in agents {
            if let Some(row) = self.here.get(agent) {
                row.asked_at = now;
            }
        }
    }

    /// The agent has stake and lease.
    pub fn stands(&mut self, agent: &AgentId, lease: Option<Lease>, now: u64) {
        if let Some(row) = self.here.get(agent) {
            (row.lease, row.read_at) = (lease, now);
        }
    }

    /// The agent has lost its stake or its lease, or is burned. Its peers.
    pub fn leaves(&mut self, agent: &AgentId) -> Vec<PeerId> {
        let Some(row) = self.here.remove(agent) else { return Vec::new() };
        let peers = row.peers.clone();
        self.back.retain(|peer| !peers.contains(peer));
        self.left.insert(*agent, row);
        peers
    }

    /// What is to be remembered over a restart: agents with peers, those that were read last.
    pub fn save(&self) -> Vec<u8> {
        let all = self.here.iter().chain(self.left.iter()).filter(|(_, row)| !row.peers.is_empty());
        let mut all: Vec<(&AgentId, &Row)> = all.collect();
        all.sort_unstable_by_key(|(agent, row)| (std::cmp::Reverse(row.read_at), **agent));
        all.truncate(MAX_SAVED_AGENTS);
        let agents = all.into_iter().map(|(agent, row)| SavedAgent {
            agent: agent.to_string(),
            peers: row.peers.iter().map(ToString::to_string).collect(),
            paid_through: row.lease.map(|lease| lease.paid_through.0),
        });
        // What is serialized here always can be.
        serde_json::to_vec(&Saved { version: VERSION, agents: agents.collect() }).unwrap_or_default()
    }

    /// What was saved, as of agents that were just heard; those that have left are found out anew.
    ///
    /// # Errors
    /// Why it is not the saved form, as a clause.
    pub fn load(&mut self, bytes: &[u8], now: u64) -> Result<(), String> {
        let saved: Saved = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if saved.version != VERSION {
            return Err(format!("its version is {}, and this program knows {VERSION}", saved.version));
        }
        for SavedAgent { agent, peers, paid_through } in saved.agents.into_iter().take(MAX_SAVED_AGENTS).rev()
        {
            let agent = agent.parse().map_err(|_| format!("invalid agent {agent}"))?;
            let peers = peers.iter().take(MAX_PEERS).map(|peer| peer.parse());
            let peers: Vec<PeerId> = peers.collect::<Result<_, _>>().map_err(|_| "an invalid peer id")?;
            let lease = paid_through.map(|epoch| Lease { paid_through: Epoch(epoch) });
            self.here.insert(agent, Row { peers, lease, read_at: now, asked_at: 0 });
        }
        Ok(())
    }

    /// Agents whose messages were taken and that did not leave.
    pub fn len(&self) -> usize {
        self.here.len()
    }

    /// Whether nobody was heard.
    pub fn is_empty(&self) -> bool {
        self.here.is_empty()
    }
}

/// Whether it is longer ago than this. A time in the future is: the clock was put back.
fn is_past(at: u64, span: u64, now: u64) -> bool {
    now.checked_sub(at).is_none_or(|age| age >= span)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000_000;
    const SECOND: u64 = 1_000_000;
    const A: AgentId = AgentId([1; 32]);
    const B: AgentId = AgentId([2; 32]);

    fn paid(epoch: u64) -> Option<Lease> {
        Some(Lease { paid_through: Epoch(epoch) })
    }

    #[test]
    fn whose_lease_ends_by_the_clock_is_read_at_once_and_leaves_with_its_peers() {
        let mut watch = Watch::default();
        let (first, second) = (PeerId::random(), PeerId::random());
        watch.heard(A, Some(first), NOW);
        watch.heard(A, Some(second), NOW);
        watch.heard(B, None, NOW);
        assert_eq!(watch.others(NOW, 10), [A, B], "nothing is known of them");
        watch.stands(&A, paid(10), NOW);
        watch.stands(&B, paid(20), NOW);
        assert_eq!(watch.ended(Epoch(13), NOW, 10), [], "three epochs are grace");
        assert_eq!(watch.ended(Epoch(14), NOW + 5 * SECOND, 10), [A]);
        assert_eq!(watch.ended(Epoch(14), NOW + 6 * SECOND, 10), [], "it is being read");
        assert_eq!(watch.ended(Epoch(14), NOW + 10 * SECOND, 10), [A], "without an answer, again");
        assert_eq!(watch.leaves(&A), [second, first]);
        assert_eq!(watch.take_back(), [], "what it said before it left does not bring it back");
        assert_eq!((watch.leaves(&A), watch.ended(Epoch(14), NOW + 60 * SECOND, 10)), (vec![], vec![]));
        watch.heard(A, Some(first), NOW + 61 * SECOND);
        assert_eq!(watch.take_back(), [second, first, first], "it is back");
    }

    #[test]
    fn who_paid_since_stays_and_all_are_read_again_in_turn() {
        let mut watch = Watch::default();
        watch.heard(A, None, NOW);
        watch.stands(&A, paid(10), NOW);
        assert_eq!(watch.ended(Epoch(14), NOW + 5 * SECOND, 10), [A]);
        watch.stands(&A, paid(14), NOW + 5 * SECOND);
        assert_eq!(watch.ended(Epoch(14), NOW + 60 * SECOND, 10), []);
        assert_eq!(watch.others(NOW + 34 * SECOND, 10), []);
        watch.heard(B, None, NOW + 34 * SECOND);
        watch.stands(&B, paid(14), NOW + 34 * SECOND);
        assert_eq!(watch.others(NOW + 70 * SECOND, 1), [A], "the oldest first");
        assert_eq!(watch.others(NOW + 70 * SECOND, 1), [B]);
    }

    #[test]
    fn whose_peers_they_are_is_known_after_a_restart() {
        let mut watch = Watch::default();
        let [one, two, three] = std::array::from_fn(|_| PeerId::random());
        watch.heard(A, Some(one), NOW);
        watch.heard(A, Some(two), NOW);
        watch.heard(B, Some(three), NOW);
        watch.heard(AgentId([3; 32]), None, NOW);
        watch.stands(&A, paid(10), NOW);
        watch.stands(&B, paid(5), NOW);
        watch.leaves(&B);
        let mut again = Watch::default();
        again.load(&watch.save(), NOW + 60 * SECOND).unwrap();
        assert_eq!(again.len(), 2);
        assert_eq!(again.ended(Epoch(9), NOW + 60 * SECOND, 10), [B]);
        assert_eq!(again.leaves(&B), [three]);
        assert_eq!(again.leaves(&A), [two, one]);
        for bad in
            ["", "[]", r#"{"version":2,"agents":[]}"#, r#"{"version":1,"agents":[{"agent":"x","peers":[]}]}"#]
        {
            assert!(Watch::default().load(bad.as_bytes(), NOW).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_saved_form_is_bounded() {
        let mut watch = Watch::default();
        for number in 0..3_000u64 {
            let mut id = [0xff; 32];
            id[..8].copy_from_slice(&number.to_le_bytes());
            for _ in 0..MAX_PEERS {
                watch.heard(AgentId(id), Some(PeerId::random()), NOW);
            }
            watch.stands(&AgentId(id), paid(u64::MAX), NOW + number);
        }
        let bytes = watch.save();
        assert!(bytes.len() as u64 <= crate::defaults::MAX_AGENTS_FILE, "{}", bytes.len());
        let mut again = Watch::default();
        again.load(&bytes, NOW).unwrap();
        assert_eq!(again.len(), MAX_SAVED_AGENTS);
    }

    #[test]
    fn a_crowd_is_read_within_a_minute_and_costs_a_bounded_number_at_once() {
        let mut watch = Watch::default();
        for number in 0..6_000u64 {
            let mut id = [0; 32];
            id[..8].copy_from_slice(&number.to_le_bytes());
            watch.heard(AgentId(id), None, NOW);
            watch.stands(&AgentId(id), paid(1), NOW);
        }
        let mut now = NOW + 10 * SECOND;
        let mut reads = 0;
        for _ in 0..61 {
            let due = watch.ended(Epoch(5), now, crate::defaults::MAX_ENDED_READ);
            assert!(due.len() <= crate::defaults::MAX_ENDED_READ);
            reads += due.len();
            due.iter().for_each(|agent| drop(watch.leaves(agent)));
            now += SECOND;
        }
        assert_eq!((reads, watch.len()), (6_000, 0));
    }
}
