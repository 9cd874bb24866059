//! Peers that are remembered over restarts: addresses, scores, when they were last seen, and blocks.
//!
//! Pure but for [`load`] and [`save`]. Times are unix seconds.

use super::error::NodeError;
use crate::addresses::without_peer;
use crate::defaults::{
    CARRIED_HALF_LIFE, MAX_ADDRESS_BYTES, MAX_BLOCKED, MAX_FORGOTTEN, MAX_PEERS, MAX_PEERS_FILE,
    PEER_ADDRESSES,
};
use libp2p::{Multiaddr, PeerId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use zx1_home::files;

/// The version of the file.
const VERSION: u32 = 1;

/// What is known of a peer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// Where it can be dialled, the latest first.
    pub(crate) addresses: Vec<Multiaddr>,
    /// Its last score in hundredths.
    pub(crate) score: i64,
    /// When it was last connected.
    pub(crate) seen: u64,
    /// A penalty from before a restart, in hundredths, zero or less, and when it was so high.
    carried: (i64, u64),
}

/// The peers of a node.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    known: BTreeMap<PeerId, Known>,
    /// Until when they are blocked.
    blocked: BTreeMap<PeerId, u64>,
    /// Peers whose addresses were forgotten, and of whom none are learned until they are welcome again.
    forgotten: BTreeSet<PeerId>,
    changed: bool,
}

impl Peers {
    /// Remembers where a peer can be dialled.
    pub(crate) fn learn(&mut self, peer: PeerId, address: &Multiaddr) {
        let address = without_peer(address);
        if address.len() > MAX_ADDRESS_BYTES || self.is_forgotten(&peer) {
            return;
        }
        let known = self.entry(peer);
        if known.addresses.first() == Some(&address) {
            return;
        }
        known.addresses.retain(|it| *it != address);
        known.addresses.insert(0, address);
        known.addresses.truncate(PEER_ADDRESSES);
        self.changed = true;
    }

    /// The peer is connected now, or was until now.
    pub(crate) fn saw(&mut self, peer: PeerId, now: u64) {
        self.entry(peer).seen = now;
        self.changed = true;
    }

    /// The peer's present score, in hundredths.
    pub(crate) fn score(&mut self, peer: PeerId, score: i64) {
        if let Some(known) = self.known.get_mut(&peer) {
            self.changed |= known.score != score;
            known.score = score;
        }
    }

    /// What of a penalty from before the restart is left, in hundredths: half after each
    /// [`CARRIED_HALF_LIFE`].
    pub(crate) fn carried(&self, peer: &PeerId, now: u64) -> i64 {
        let Some(Known { carried: (penalty, since), .. }) = self.known.get(peer) else { return 0 };
        let halvings = now.saturating_sub(*since) / CARRIED_HALF_LIFE.as_secs().max(1);
        u32::try_from(halvings).ok().and_then(|it| 1_i64.checked_shl(it.min(62))).map_or(0, |it| penalty / it)
    }

    /// Addresses of a peer.
    pub(crate) fn addresses(&self, peer: &PeerId) -> &[Multiaddr] {
        self.known.get(peer).map_or(&[], |known| &known.addresses)
    }

    /// Peers with an address that are not blocked: the best scores first, then those seen last.
    pub(crate) fn to_dial(&self, now: u64) -> Vec<PeerId> {
        let mut peers: Vec<_> = self
            .known
            .iter()
            .filter(|(peer, known)| !known.addresses.is_empty() && !self.is_blocked(peer, now))
            .collect();
        peers.sort_by_key(|(_, known)| std::cmp::Reverse((known.score.min(0), known.seen)));
        peers.into_iter().map(|(peer, _)| *peer).collect()
    }

    /// Forgets a peer, but not that it is blocked. What it says of itself while it stays connected is not learned.
    pub(crate) fn forget(&mut self, peer: &PeerId) {
        self.changed |= self.known.remove(peer).is_some();
        self.forgotten.insert(*peer);
        while self.forgotten.len() > MAX_FORGOTTEN {
            self.forgotten.pop_first();
        }
    }

    /// The peer's addresses are learned again.
    pub(crate) fn welcome(&mut self, peer: &PeerId) {
        self.forgotten.remove(peer);
    }

    /// Whether no addresses of a peer are learned.
    pub(crate) fn is_forgotten(&self, peer: &PeerId) -> bool {
        self.forgotten.contains(peer)
    }

    /// Blocks a peer. Returns the peers whose blocks had to give way: those that would have ended first.
    pub(crate) fn block(&mut self, peer: PeerId, until: u64) -> Vec<PeerId> {
        self.blocked.insert(peer, until);
        self.changed = true;
        let mut gone = Vec::new();
        while self.blocked.len() > MAX_BLOCKED {
            let Some(first) = self.blocked.iter().min_by_key(|(_, until)| **until).map(|it| *it.0) else {
                break;
            };
            self.blocked.remove(&first);
            gone.push(first);
        }
        gone
    }

    /// Lifts a block; whether there was one.
    pub(crate) fn unblock(&mut self, peer: &PeerId) -> bool {
        let was = self.blocked.remove(peer).is_some();
        self.changed |= was;
        was
    }

    /// Whether a peer is blocked.
    pub(crate) fn is_blocked(&self, peer: &PeerId, now: u64) -> bool {
        self.blocked.get(peer).is_some_and(|until| *until > now)
    }

    /// Everyone who is blocked.
    pub(crate) fn blocked(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.blocked.keys().copied()
    }

    /// Takes out the blocks that have ended.
    pub(crate) fn lift_ended(&mut self, now: u64) -> Vec<PeerId> {
        let ended: Vec<_> = self.blocked.iter().filter(|(_, until)| **until <= now).map(|it| *it.0).collect();
        for peer in &ended {
            self.unblock(peer);
        }
        ended
    }

    /// What was to be saved was not: it is to be saved again.
    pub(crate) fn touch(&mut self) {
        self.changed = true;
    }

    /// The file's bytes, when anything has changed since the last call.
    pub(crate) fn take_unsaved(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let peers = self.known.iter().map(|(peer, known)| SavedPeer {
            peer: peer.to_string(),
            addresses: known.addresses.iter().map(Multiaddr::to_string).collect(),
            score: known.score,
            seen: known.seen,
        });
        let blocked = self.blocked.iter();
        let blocked = blocked.map(|(peer, until)| SavedBlock { peer: peer.to_string(), until: *until });
        let saved = Saved { version: VERSION, peers: peers.collect(), blocked: blocked.collect() };
        serde_json::to_vec(&saved).ok()
    }

    /// Reads the file's bytes. A penalty counts on from the time at which the peer was last seen.
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let saved: Saved = serde_json::from_slice(bytes).map_err(|it| it.to_string())?;
        if saved.version != VERSION {
            return Err(format!("its version is {}, and this program knows {VERSION}", saved.version));
        }
        let mut peers = Self::default();
        for it in saved.peers.into_iter().take(MAX_PEERS) {
            let mut addresses = Vec::new();
            for text in it.addresses.iter().take(PEER_ADDRESSES) {
                addresses.push(text.parse().map_err(|_| format!("invalid address {text}"))?);
            }
            let carried = (it.score.min(0), it.seen);
            let known = Known { addresses, score: it.score, seen: it.seen, carried };
            peers.known.insert(peer_of(&it.peer)?, known);
        }
        for it in saved.blocked.into_iter().take(MAX_BLOCKED) {
            peers.blocked.insert(peer_of(&it.peer)?, it.until);
        }
        Ok(peers)
    }

    fn entry(&mut self, peer: PeerId) -> &mut Known {
        if !self.known.contains_key(&peer) && self.known.len() >= MAX_PEERS {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.seen).map(|it| *it.0);
            if let Some(oldest) = oldest {
                self.known.remove(&oldest);
            }
        }
        self.known.entry(peer).or_default()
    }
}

/// Reads the file of peers. Without a file there are none.
///
/// # Errors
/// [`NodeError::PeersFile`], [`NodeError::PeersFormat`].
pub(crate) fn load(path: &Path) -> Result<Peers, NodeError> {
    let read = files::read(path, MAX_PEERS_FILE).map_err(|error| match error {
        files::ReadError::Io(source) => NodeError::PeersFile { action: "read", path: path.into(), source },
        too_large @ files::ReadError::TooLarge { .. } => {
            NodeError::PeersFormat { path: path.into(), reason: too_large.to_string() }
        }
    })?;
    let Some(bytes) = read else { return Ok(Peers::default()) };
    Peers::parse(&bytes).map_err(|reason| NodeError::PeersFormat { path: path.into(), reason })
}

/// Writes the file of peers in place of the old one. Blocks the thread.
///
/// # Errors
/// [`NodeError::PeersFile`].
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), NodeError> {
    let written = files::make_folder(files::folder_of(path)).and_then(|()| files::replace(path, bytes));
    written.map_err(|source| NodeError::PeersFile { action: "write", path: path.into(), source })
}

fn peer_of(text: &str) -> Result<PeerId, String> {
    text.parse().map_err(|_| format!("invalid peer id {text}"))
}

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    peers: Vec<SavedPeer>,
    blocked: Vec<SavedBlock>,
}

#[derive(Serialize, Deserialize)]
struct SavedPeer {
    peer: String,
    addresses: Vec<String>,
    score: i64,
    seen: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedBlock {
    peer: String,
    until: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(port: u16) -> Multiaddr {
        format!("/ip4/9.9.9.9/tcp/{port}").parse().unwrap()
    }

    fn written_and_read(peers: &mut Peers) -> Peers {
        Peers::parse(&peers.take_unsaved().unwrap()).unwrap()
    }

    #[test]
    fn addresses_scores_and_blocks_survive_the_file() {
        let (one, two) = (PeerId::random(), PeerId::random());
        let mut peers = Peers::default();
        peers.learn(one, &address(1));
        peers.learn(one, &address(2));
        peers.saw(one, 1_000);
        peers.score(one, 250);
        peers.block(two, 5_000);
        let back = written_and_read(&mut peers);
        assert_eq!(back.addresses(&one), [address(2), address(1)]);
        assert_eq!((back.known[&one].score, back.known[&one].seen), (250, 1_000));
        assert!(back.is_blocked(&two, 4_999) && !back.is_blocked(&two, 5_000));
        assert_eq!(peers.take_unsaved(), None, "nothing has changed since");
    }

    #[test]
    fn a_penalty_is_carried_over_and_halves() {
        let peer = PeerId::random();
        let mut peers = Peers::default();
        peers.learn(peer, &address(1));
        peers.saw(peer, 1_000);
        peers.score(peer, -8_000);
        assert_eq!(peers.carried(&peer, 1_000), 0, "before a restart gossipsub itself remembers");
        let back = written_and_read(&mut peers);
        let after = |seconds| back.carried(&peer, 1_000 + seconds);
        assert_eq!(
            [0, 599, 600, 1_200, 60_000, u64::MAX / 2].map(after),
            [-8_000, -8_000, -4_000, -2_000, 0, 0]
        );
    }

    #[test]
    fn honest_peers_are_dialled_first_and_blocked_ones_never() {
        let [bad, old, new, blocked] = std::array::from_fn(|_| PeerId::random());
        let mut peers = Peers::default();
        for (peer, seen, score) in [(bad, 900, -100), (old, 100, 10), (new, 800, 0), (blocked, 950, 90)] {
            peers.learn(peer, &address(1));
            peers.saw(peer, seen);
            peers.score(peer, score);
        }
        peers.block(blocked, 2_000);
        assert_eq!(peers.to_dial(1_000), [new, old, bad]);
        assert_eq!(peers.lift_ended(2_000), [blocked]);
        assert_eq!(peers.to_dial(2_000)[0], blocked);
    }

    #[test]
    fn of_a_forgotten_peer_nothing_is_learned_until_it_is_welcome() {
        let peer = PeerId::random();
        let mut peers = Peers::default();
        peers.learn(peer, &address(1));
        peers.forget(&peer);
        peers.learn(peer, &address(2));
        peers.saw(peer, 1_000);
        assert!(
            peers.addresses(&peer).is_empty() && written_and_read(&mut peers).addresses(&peer).is_empty()
        );
        peers.welcome(&peer);
        peers.learn(peer, &address(3));
        assert_eq!(peers.addresses(&peer), [address(3)]);
        (0..=MAX_FORGOTTEN).for_each(|_| peers.forget(&PeerId::random()));
        assert_eq!(peers.forgotten.len(), MAX_FORGOTTEN);
    }

    #[test]
    fn peers_addresses_and_blocks_are_bounded() {
        let mut peers = Peers::default();
        let first = PeerId::random();
        for port in 0..20 {
            peers.learn(first, &address(port));
        }
        assert_eq!(peers.addresses(&first).len(), PEER_ADDRESSES);
        for seen in 1..=MAX_PEERS as u64 {
            peers.saw(PeerId::random(), seen);
        }
        assert_eq!((peers.known.len(), peers.known.contains_key(&first)), (MAX_PEERS, false));
        let blocks: Vec<_> = (0..=MAX_BLOCKED as u64).map(|it| (PeerId::random(), 10 + it)).collect();
        let gone: Vec<_> = blocks.iter().flat_map(|(peer, until)| peers.block(*peer, *until)).collect();
        assert_eq!((gone, peers.blocked.len()), (vec![blocks[0].0], MAX_BLOCKED));
    }

    #[test]
    fn the_largest_file_that_is_written_is_read_again() {
        let mut peers = Peers::default();
        for _ in 0..MAX_PEERS {
            let peer = PeerId::random();
            for port in 0..PEER_ADDRESSES {
                // Bytes that need most room as text.
                let host = "\u{1}".repeat(MAX_ADDRESS_BYTES - 8);
                let port = u16::try_from(port).unwrap();
                let host = libp2p::multiaddr::Protocol::Dns4(host.into());
                peers
                    .learn(peer, &Multiaddr::empty().with(host).with(libp2p::multiaddr::Protocol::Tcp(port)));
            }
            peers.score(peer, i64::MIN);
            peers.saw(peer, u64::MAX);
        }
        for _ in 0..MAX_BLOCKED {
            peers.block(PeerId::random(), u64::MAX);
        }
        assert!(peers.known.values().all(|it| it.addresses.len() == PEER_ADDRESSES));
        let bytes = peers.take_unsaved().unwrap();
        assert!(bytes.len() as u64 <= MAX_PEERS_FILE, "{}", bytes.len());
        let longer = Multiaddr::empty().with(libp2p::multiaddr::Protocol::Dns4("x".repeat(300).into()));
        let peer = PeerId::random();
        peers.learn(peer, &longer);
        assert!(peers.addresses(&peer).is_empty());
    }

    #[test]
    fn a_file_of_another_version_is_refused() {
        let refused = Peers::parse(br#"{"version":2,"peers":[],"blocked":[]}"#).unwrap_err();
        assert_eq!(refused, "its version is 2, and this program knows 1");
    }

    proptest! {
        #[test]
        fn a_damaged_file_is_an_error_and_never_a_panic(at in 0_usize..400, byte: u8) {
            let mut peers = Peers::default();
            peers.learn(PeerId::random(), &address(1));
            peers.block(PeerId::random(), 1);
            let mut bytes = peers.take_unsaved().unwrap();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = Peers::parse(&bytes);
        }
    }
}
