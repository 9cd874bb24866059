//! How peers are scored: gossipsub's parameters as plain numbers, and the part of the score that is ours.
//!
//! gossipsub adds up, for each peer, P1 to P4 of every topic and P5 to P7. P5 is what [`AppScores`] says.

use crate::defaults::{
    EXCESS_RECOVERY, MAX_EXCESS_POINTS, MAX_SCORED_PEERS, SCORE_SUBNET, STANDING_POINTS, SUBNET_PEERS,
};
use crate::limits::Debt;
use crate::lru::Lru;
use std::hash::Hash;

/// A number in thousandths: gossipsub's own are floating-point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Milli(pub i64);

impl Milli {
    /// A whole number.
    pub const fn whole(number: i64) -> Self {
        Self(number.saturating_mul(1_000))
    }
}

/// What a peer gains and loses on one topic; the same on all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicScore {
    /// Part of the topic in the score.
    pub weight: Milli,
    /// P1: points for each second in the mesh.
    pub mesh_second: Milli,
    /// P1: seconds that count at most, so that it gives three points.
    pub mesh_seconds_cap: u32,
    /// P2: points for each message that the peer was the first to bring.
    pub first_delivery: Milli,
    /// P2: what is left of the number of first deliveries after a second.
    pub first_delivery_decay: Milli,
    /// P2: first deliveries that count at most.
    pub first_delivery_cap: u32,
    /// P3 and P3b: points for deliveries that are missing. Off: agents send irregularly, and quiet honest peers would
    /// be pruned.
    pub mesh_deliveries: Milli,
    /// P4: points for the square of the number of rejected messages.
    pub rejected: Milli,
    /// P4: what is left of that number after a second.
    pub rejected_decay: Milli,
}

/// What a peer gains and loses apart from topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerScore {
    /// P5: what a point of [`AppScores`] counts.
    pub app: Milli,
    /// P6: points for the square of the number of peers above the threshold behind one address.
    pub same_address: Milli,
    /// P6: peers of one /24, or of one /64, that cost nothing. Loopback never does.
    pub same_address_threshold: u32,
    /// P7: points for the square of the number of breaches of the protocol above the threshold.
    pub behaviour: Milli,
    /// P7: breaches that cost nothing.
    pub behaviour_threshold: u32,
    /// P7: what is left of the number of breaches after a second.
    pub behaviour_decay: Milli,
    /// Points for each message that the peer was too slow to take, of which some are forgotten each second.
    pub slow_peer: Milli,
    /// Time after which numbers decay, in milliseconds.
    pub decay_interval_ms: u32,
    /// Below this a decaying number is zero.
    pub decay_to_zero: Milli,
}

/// Scores from which on a peer is treated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Below: no gossip to it, and none of it is taken.
    pub gossip: Milli,
    /// Below: own messages are not sent to it.
    pub publish: Milli,
    /// Below: nothing of it is read.
    pub graylist: Milli,
    /// From here on: peers that it names are connected to.
    pub accept_px: Milli,
    /// When the mesh's median is below: better peers are taken in.
    pub opportunistic_graft: Milli,
}

/// The shape of the mesh on each topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mesh {
    /// Peers that are aimed at.
    pub peers: usize,
    /// With fewer, more are taken in.
    pub low: usize,
    /// With more, some are let go.
    pub high: usize,
    /// Of them at least, connections that this side opened.
    pub outbound: usize,
    /// Time between two heartbeats, in milliseconds.
    pub heartbeat_ms: u32,
    /// Heartbeats for which messages can be asked for.
    pub history_length: usize,
    /// Whether own messages go to all peers with a score above [`Thresholds::publish`].
    pub flood_publish: bool,
}

/// Parameters of every topic.
pub const TOPIC: TopicScore = TopicScore {
    weight: Milli::whole(1),
    mesh_second: Milli(10),
    mesh_seconds_cap: 300,
    first_delivery: Milli(100),
    first_delivery_decay: Milli(990),
    first_delivery_cap: 100,
    mesh_deliveries: Milli(0),
    rejected: Milli::whole(-20),
    rejected_decay: Milli(980),
};

/// Parameters of every peer.
pub const PEER: PeerScore = PeerScore {
    app: Milli::whole(1),
    same_address: Milli::whole(SCORE_SUBNET),
    same_address_threshold: SUBNET_PEERS as u32,
    behaviour: Milli::whole(-10),
    behaviour_threshold: 6,
    behaviour_decay: Milli(900),
    slow_peer: Milli(-200),
    decay_interval_ms: 1_000,
    decay_to_zero: Milli(10),
};

/// Where a peer begins to be treated worse, or better.
pub const THRESHOLDS: Thresholds = Thresholds {
    gossip: Milli::whole(-20),
    publish: Milli::whole(-50),
    graylist: Milli::whole(-80),
    accept_px: Milli::whole(20),
    opportunistic_graft: Milli::whole(2),
};

/// Shape of the mesh on every topic.
pub const MESH: Mesh = Mesh {
    peers: 6,
    low: 5,
    high: 12,
    outbound: 2,
    heartbeat_ms: 1_000,
    history_length: 5,
    flood_publish: true,
};

#[derive(Clone, Copy, Debug, Default)]
struct App {
    has_standing: bool,
    /// Points lost to excess, as the time in which they come back.
    lost: Debt,
}

/// Our part of peers' scores: ten points for an agent with stake and lease, less one for each message beyond a rate.
/// Points come back, one a second. `P` is a peer, known by the key that it was authenticated with.
#[derive(Clone, Debug)]
pub struct AppScores<P> {
    peers: Lru<P, App>,
}

impl<P: Clone + Eq + Hash> Default for AppScores<P> {
    fn default() -> Self {
        Self { peers: Lru::new(MAX_SCORED_PEERS) }
    }
}

impl<P: Clone + Eq + Hash> AppScores<P> {
    /// The peer's agent has stake and lease, or lost them.
    pub fn set_standing(&mut self, peer: &P, has_standing: bool) {
        self.peers.update(peer, App::default, |app| app.has_standing = has_standing);
    }

    /// A message of this peer exceeded a rate.
    pub fn exceeded(&mut self, peer: &P, now: u64) {
        self.peers.update(peer, App::default, |app| {
            let most = EXCESS_RECOVERY.saturating_mul(MAX_EXCESS_POINTS.unsigned_abs());
            app.lost.add(EXCESS_RECOVERY, most, now);
        });
    }

    /// Points of a peer.
    pub fn points(&mut self, peer: &P, now: u64) -> i64 {
        let Some(app) = self.peers.get(peer) else { return 0 };
        let points = app.lost.left(now).div_ceil(EXCESS_RECOVERY);
        let lost = i64::try_from(points).unwrap_or(MAX_EXCESS_POINTS);
        let standing = if app.has_standing { STANDING_POINTS } else { 0 };
        standing.saturating_sub(lost)
    }

    /// Peers that are remembered.
    pub fn len(&self) -> usize {
        self.peers.len()
    }

    /// Whether no peer is remembered.
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }
}
