//! What nodes think of their peers. The tables and the part of applications are the mesh's own ([`zx1_mesh::score`]);
//! adding them up is gossipsub's, which cannot be run without its clock, so it is done here as gossipsub does it.
//!
//! Numbers are thousandths of a point. A peer's number of first deliveries fades on each link; penalties are rare and
//! kept apart.

use crate::agents::START;
use crate::network::{MESHED, Network};
use std::collections::{BTreeSet, HashMap};
use zx1_mesh::defaults::{SCORE_SUBNET, STANDING_POINTS, SUBNET_PEERS};
use zx1_mesh::score::{AppScores, Milli, PEER, TOPIC};
use zx1_protocol::channel::Channel;

const TOPICS: usize = 3;
const SECOND: u64 = 1_000_000;
/// gossipsub's own default, which the mesh leaves as it is: what remains of the number of slow messages.
const SLOW_DECAY: Milli = Milli(200);

/// Powers of a decay, as parts of 2^32, until nothing is left.
#[derive(Clone, Debug)]
struct Decay(Vec<u64>);

impl Decay {
    fn of(each_second: Milli) -> Self {
        let factor = each_second.0.unsigned_abs().min(999);
        let mut powers = vec![1 << 32];
        while let Some(last) = powers.last().copied().filter(|last| *last > 0) {
            powers.push(last * factor / 1_000);
        }
        Self(powers)
    }
}

/// A number of events in thousandths, which fades.
#[derive(Clone, Copy, Debug, Default)]
struct Fading {
    value: u32,
    second: u32,
}

impl Fading {
    fn at(self, decay: &Decay, second: u32) -> u32 {
        let passed = second.saturating_sub(self.second) as usize;
        let power = decay.0.get(passed).copied().unwrap_or_default();
        let left = ((u64::from(self.value) * power) >> 32) as u32;
        if i64::from(left) < PEER.decay_to_zero.0 { 0 } else { left }
    }

    fn add(&mut self, decay: &Decay, second: u32, most: u32) {
        if self.second != second {
            *self = Self { value: self.at(decay, second), second };
        }
        self.value = (self.value + 1_000).min(most);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Penalties {
    rejected: [Fading; TOPICS],
    slow: Fading,
}

/// The scores that all nodes keep of their peers, by link.
#[derive(Debug)]
pub struct Scores {
    /// Whether anything is counted.
    is_on: bool,
    first: Vec<[Fading; TOPICS]>,
    /// The second in which the peer came into the mesh.
    meshed_since: Vec<u32>,
    penalties: HashMap<u32, Penalties>,
    /// P6, where it is not zero.
    of_subnet: HashMap<u32, i64>,
    /// The part of applications, of nodes that heard an excess.
    apps: HashMap<u32, AppScores<u32>>,
    has_standing: Vec<bool>,
    /// Links whose score may be below zero.
    watched: BTreeSet<u32>,
    first_decay: Decay,
    rejected_decay: Decay,
    slow_decay: Decay,
}

/// Minus a weight times the square of a number of thousandths.
fn squared(weight: Milli, number: u32) -> i64 {
    let number = i64::from(number);
    weight.0 * number / 1_000 * number / 1_000
}

fn second_of(now: u64) -> u32 {
    (now / SECOND) as u32
}

impl Scores {
    /// `subnet` gives each node's network; `has_standing` says whose agents have stake and lease.
    pub fn new(is_on: bool, network: &Network, subnet: impl Fn(u32) -> u32, has_standing: Vec<bool>) -> Self {
        let links = network.links.len();
        let mut scores = Self {
            is_on,
            first: vec![[Fading::default(); TOPICS]; links],
            meshed_since: vec![0; links],
            penalties: HashMap::new(),
            of_subnet: HashMap::new(),
            apps: HashMap::new(),
            has_standing,
            watched: BTreeSet::new(),
            first_decay: Decay::of(TOPIC.first_delivery_decay),
            rejected_decay: Decay::of(TOPIC.rejected_decay),
            slow_decay: Decay::of(SLOW_DECAY),
        };
        if is_on {
            (0..network.nodes()).for_each(|node| scores.count_subnets(network, node, &subnet));
        }
        scores
    }

    fn count_subnets(&mut self, network: &Network, node: u32, subnet: &impl Fn(u32) -> u32) {
        let mut counts = HashMap::new();
        for link in network.links_of(node) {
            *counts.entry(subnet(network.links[link].to)).or_insert(0_usize) += 1;
        }
        for link in network.links_of(node) {
            let count = counts.get(&subnet(network.links[link].to)).copied().unwrap_or_default();
            let excess = count.saturating_sub(SUBNET_PEERS) as i64;
            if excess > 0 {
                self.of_subnet.insert(link as u32, SCORE_SUBNET * 1_000 * excess * excess);
                self.watched.insert(link as u32);
            }
        }
    }

    /// Whether anything is counted.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// P2: the peer was the first to bring a message that was accepted.
    pub fn delivered_first(&mut self, link: usize, channel: Channel, now: u64) {
        if let Some(first) = self.first[link].get_mut(usize::from(channel.number())).filter(|_| self.is_on) {
            first.add(&self.first_decay, second_of(now), TOPIC.first_delivery_cap * 1_000);
        }
    }

    /// P4: the peer brought a message that is rejected.
    pub fn rejected(&mut self, link: usize, channel: Channel, now: u64) {
        if self.is_on {
            let penalties = self.penalties.entry(link as u32).or_default();
            if let Some(rejected) = penalties.rejected.get_mut(usize::from(channel.number())) {
                rejected.add(&self.rejected_decay, second_of(now), u32::MAX - 1_000);
            }
            self.watched.insert(link as u32);
        }
    }

    /// The peer did not take a message in time.
    pub fn slow(&mut self, link: usize, now: u64) {
        if self.is_on {
            let penalties = self.penalties.entry(link as u32).or_default();
            penalties.slow.add(&self.slow_decay, second_of(now), u32::MAX - 1_000);
            self.watched.insert(link as u32);
        }
    }

    /// P5: a message beyond a rate.
    pub fn exceeded(&mut self, network: &Network, link: usize, now: u64) {
        if self.is_on {
            let owner = network.owner(link);
            let app = self.apps.entry(owner).or_insert_with(|| {
                let mut app = AppScores::default();
                for link in network.links_of(owner) {
                    let peer = network.links[link].to;
                    app.set_standing(&peer, self.has_standing[peer as usize]);
                }
                app
            });
            app.exceeded(&network.links[link].to, START + now);
            self.watched.insert(link as u32);
        }
    }

    /// The peer came into the mesh.
    pub fn meshed(&mut self, link: usize, now: u64) {
        self.meshed_since[link] = second_of(now);
    }

    /// The score of the peer at the other end; zero where nothing is counted.
    pub fn of(&mut self, network: &Network, link: usize, now: u64) -> i64 {
        if !self.is_on {
            return 0;
        }
        let (second, key, peer) = (second_of(now), link as u32, network.links[link].to);
        let mut score = self.of_subnet.get(&key).copied().unwrap_or_default();
        if network.links[link].is(MESHED) {
            // One mesh stands for those of the three topics.
            let seconds = second.saturating_sub(self.meshed_since[link]).min(TOPIC.mesh_seconds_cap);
            score += TOPICS as i64 * TOPIC.mesh_second.0 * i64::from(seconds);
        }
        for first in self.first[link] {
            score += TOPIC.first_delivery.0 * i64::from(first.at(&self.first_decay, second)) / 1_000;
        }
        if let Some(penalties) = self.penalties.get(&key) {
            for rejected in penalties.rejected {
                score += squared(TOPIC.rejected, rejected.at(&self.rejected_decay, second));
            }
            score += PEER.slow_peer.0 * i64::from(penalties.slow.at(&self.slow_decay, second)) / 1_000;
        }
        let points = match self.apps.get_mut(&network.owner(link)) {
            Some(app) => app.points(&peer, START + now),
            None if self.has_standing[peer as usize] => STANDING_POINTS,
            None => 0,
        };
        score + PEER.app.0 * points
    }

    /// Links whose score may be below zero.
    pub fn watched(&self) -> Vec<usize> {
        self.watched.iter().map(|link| *link as usize).collect()
    }

    /// Stops watching a link whose penalties have all faded.
    pub fn forget_if_clean(&mut self, network: &Network, link: usize, now: u64) {
        let (key, peer) = (link as u32, network.links[link].to);
        let second = second_of(now);
        let is_faded = self.penalties.get(&key).is_none_or(|it| {
            it.slow.at(&self.slow_decay, second) == 0
                && it.rejected.iter().all(|rejected| rejected.at(&self.rejected_decay, second) == 0)
        });
        let owes = self.apps.get_mut(&network.owner(link)).is_some_and(|app| {
            let full = if self.has_standing[peer as usize] { STANDING_POINTS } else { 0 };
            app.points(&peer, START + now) < full
        });
        if is_faded && !owes && !self.of_subnet.contains_key(&key) {
            self.watched.remove(&key);
            self.penalties.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_mesh::score::THRESHOLDS;

    fn pair(is_on: bool) -> (Network, Scores) {
        let network = Network::of(2, &[(0, 1)], |_, _| (1, 1));
        let scores = Scores::new(is_on, &network, |node| node, vec![true; 2]);
        (network, scores)
    }

    #[test]
    fn three_rejected_messages_graylist_and_a_minute_later_they_are_forgiven() {
        let (network, mut scores) = pair(true);
        assert_eq!(scores.of(&network, 0, 0), 10_000);
        let after = |scores: &mut Scores| {
            scores.rejected(0, Channel::Broadcast, 0);
            scores.of(&network, 0, 0)
        };
        assert_eq!(
            [after(&mut scores), after(&mut scores), after(&mut scores)],
            [-10_000, -70_000, -170_000]
        );
        const { assert!(-170_000 < THRESHOLDS.graylist.0) };
        assert!(scores.of(&network, 0, 60 * SECOND) > THRESHOLDS.gossip.0);
        assert_eq!(scores.watched(), [0]);
        scores.forget_if_clean(&network, 0, 60 * SECOND);
        assert_eq!(scores.watched(), [0]);
        scores.forget_if_clean(&network, 0, 1_000 * SECOND);
        assert!(scores.watched().is_empty());
    }

    #[test]
    fn an_excess_costs_a_point_for_a_second() {
        let (network, mut scores) = pair(true);
        (0..4).for_each(|_| scores.exceeded(&network, 0, 0));
        assert_eq!(scores.of(&network, 0, 0), 6_000);
        assert_eq!(scores.of(&network, 0, SECOND), 7_000);
        assert_eq!(scores.of(&network, 1, SECOND), 10_000, "the other side heard nothing");
    }

    #[test]
    fn first_deliveries_and_time_in_the_mesh_give_points_up_to_a_cap() {
        let (mut network, mut scores) = pair(true);
        (0..500).for_each(|_| scores.delivered_first(0, Channel::Notary, 0));
        assert_eq!(scores.of(&network, 0, 0), 20_000);
        network.set_meshed(0, true);
        scores.meshed(0, 0);
        let later = scores.of(&network, 0, 1_000 * SECOND);
        assert_eq!(later, 19_000, "three points a topic; the deliveries have faded");
    }

    #[test]
    fn more_than_ten_peers_of_one_network_cost_the_square_of_the_excess() {
        let dials: Vec<_> = (1..14).map(|peer| (peer, 0)).collect();
        let network = Network::of(14, &dials, |_, _| (1, 1));
        let mut scores = Scores::new(true, &network, |node| u32::from(node != 0), vec![false; 14]);
        let link = network.links_of(0).start;
        assert_eq!(scores.of(&network, link, 0), -45_000);
        assert_eq!(scores.watched().len(), 13);
    }

    #[test]
    fn nothing_is_counted_when_scores_are_off() {
        let (network, mut scores) = pair(false);
        scores.rejected(0, Channel::Broadcast, 0);
        scores.exceeded(&network, 0, 0);
        scores.slow(0, 0);
        assert_eq!((scores.of(&network, 0, 0), scores.watched().len()), (0, 0));
    }
}
