//! What nodes do each second, as gossipsub's heartbeat does it: scores, meshes, and messages that were missed. The figures
//! are the mesh's own.

use crate::network::{CUT, MESHED, OUTBOUND, UNPUBLISHED, UNREAD};
use crate::setup::Attack;
use crate::sim::{Event, SECOND, Sim};
use crate::spread::{Kind, NEVER};
use std::collections::{BTreeSet, HashMap};
use zx1_mesh::score::{MESH, THRESHOLDS};

/// gossipsub's defaults, which the mesh leaves as they are: how long two peers that parted stay apart, how many of the
/// best are spared when a mesh is too large, and for how many heartbeats a message is named to others.
const BACKOFF: u64 = 60 * SECOND;
const SPARED: usize = 4;
const NAMED_FOR: u64 = 3;
/// A message that is younger is still on its way.
const YOUNG: u64 = SECOND / 2;

/// Meshes that are to be looked at, and peers that parted.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    restless: BTreeSet<u32>,
    backoff: HashMap<usize, u64>,
}

/// The meshes as they are when a run begins.
pub(crate) fn first_heartbeat(sim: &mut Sim) {
    for link in 0..sim.network.links.len() {
        if sim.network.links[link].is(MESHED) {
            sim.scores.meshed(link, 0);
        }
    }
    sim.upkeep.restless = (0..sim.setup.agents).collect();
    sim.queue.push(sim.begin, Event::Heartbeat);
}

impl Sim {
    /// Everything that is due each second.
    pub(crate) fn heartbeat(&mut self, now: u64) {
        for link in self.scores.watched() {
            self.reconsider(link, now);
            if self.scores.of(&self.network, link, now) < 0 && self.network.links[link].is(MESHED) {
                self.count_pruned(link);
                self.part(link, now);
            }
            self.scores.forget_if_clean(&self.network, link, now);
        }
        if self.setup.attackers.attack == Attack::Silent {
            self.attackers_graft(now);
        }
        for node in std::mem::take(&mut self.upkeep.restless) {
            self.mend_mesh(node, now);
        }
        if self.setup.rules.repair {
            self.repair(now);
        }
    }

    /// What a node's score of a peer means for what is sent between them.
    pub(crate) fn reconsider(&mut self, link: usize, now: u64) {
        if !self.scores.is_on() || self.setup.is_attacker(self.network.owner(link)) {
            return;
        }
        let score = self.scores.of(&self.network, link, now);
        let back = self.network.links[link].back as usize;
        let is_graylisted = score < THRESHOLDS.graylist.0;
        if is_graylisted && !self.network.links[back].is(UNREAD) {
            if self.setup.is_attacker(self.network.links[link].to) {
                self.tally.sums.attackers_graylisted += 1;
                let after = self.since_attack(now);
                self.tally.sums.graylisted_after_millis.get_or_insert(after);
            } else {
                self.tally.sums.honest_graylisted += 1;
            }
        }
        self.network.set(back, UNREAD, is_graylisted);
        self.network.set(link, UNPUBLISHED, score < THRESHOLDS.publish.0);
    }

    fn count_pruned(&mut self, link: usize) {
        if !self.setup.is_attacker(self.network.owner(link)) {
            let is_attacker = self.setup.is_attacker(self.network.links[link].to);
            self.tally.sums.attackers_pruned += u64::from(is_attacker);
            self.tally.sums.honest_pruned += u64::from(!is_attacker);
        }
    }

    /// A node takes a peer out of its mesh.
    fn part(&mut self, link: usize, now: u64) {
        let (peer, back) = (self.network.links[link].to, self.network.links[link].back as usize);
        let owner = self.network.owner(link);
        self.network.set_meshed(link, false);
        for end in [link, back] {
            self.upkeep.backoff.insert(end, now + BACKOFF);
        }
        self.upkeep.restless.extend([owner, peer]);
    }

    fn graft(&mut self, link: usize, now: u64) {
        let (peer, back) = (self.network.links[link].to, self.network.links[link].back as usize);
        self.network.set_meshed(link, true);
        for end in [link, back] {
            self.scores.meshed(end, now);
        }
        self.upkeep.restless.insert(peer);
    }

    /// Whether the peer at the other end may be taken into the mesh, and agrees.
    fn can_graft(&mut self, link: usize, now: u64) -> bool {
        let it = self.network.links[link];
        let back = it.back as usize;
        let is_apart = self.upkeep.backoff.get(&link).is_some_and(|until| now < *until);
        if it.is(MESHED | CUT) || is_apart || self.scores.of(&self.network, link, now) < 0 {
            return false;
        }
        // A full mesh takes only peers in that this side dialled.
        let has_room = self.network.mesh_size(it.to) < MESH.high || self.network.links[back].is(OUTBOUND);
        let is_attacker = self.setup.is_attacker(it.to);
        is_attacker || (has_room && self.scores.of(&self.network, back, now) >= 0)
    }

    fn attackers_graft(&mut self, now: u64) {
        for attacker in self.setup.agents..self.setup.nodes() {
            for link in self.network.links_of(attacker) {
                if self.can_graft(link, now) {
                    self.graft(link, now);
                }
            }
        }
    }

    /// A mesh that is too small grows, one that is too large shrinks, and one without peers that the node dialled itself
    /// gets some.
    fn mend_mesh(&mut self, node: u32, now: u64) {
        if self.setup.is_attacker(node) {
            return;
        }
        let size = self.network.mesh_size(node);
        if size < MESH.low && self.grow(node, MESH.peers - size, 0, now) {
            // Those that are apart may come back.
            self.upkeep.restless.insert(node);
        }
        if size >= MESH.high {
            self.shrink(node, now);
        }
        let outbound = self.outbound_in_mesh(node);
        if outbound < MESH.outbound && self.network.mesh_size(node) >= MESH.low {
            self.grow(node, MESH.outbound - outbound, OUTBOUND, now);
        }
    }

    fn outbound_in_mesh(&self, node: u32) -> usize {
        let links = &self.network.links[self.network.links_of(node)];
        links.iter().filter(|link| link.is(MESHED) && link.is(OUTBOUND)).count()
    }

    /// Takes peers whose links have this flag into the mesh; whether some are missing still.
    fn grow(&mut self, node: u32, missing: usize, flag: u8, now: u64) -> bool {
        let mut links: Vec<_> = self.network.links_of(node).collect();
        links.retain(|link| flag == 0 || self.network.links[*link].is(flag));
        self.random.shuffle(&mut links);
        let mut left = missing;
        for link in links {
            if left > 0 && self.can_graft(link, now) {
                self.graft(link, now);
                left -= 1;
            }
        }
        left > 0
    }

    /// Lets go of peers until the mesh has its size: never of the last that this node dialled, and not of the best.
    fn shrink(&mut self, node: u32, now: u64) {
        let mut links: Vec<_> =
            self.network.links_of(node).filter(|link| self.network.links[*link].is(MESHED)).collect();
        let excess = links.len().saturating_sub(MESH.peers);
        self.random.shuffle(&mut links);
        let mut scored: Vec<_> =
            links.into_iter().map(|link| (self.scores.of(&self.network, link, now), link)).collect();
        scored.sort_by_key(|(score, _)| *score);
        let spared = scored.len().saturating_sub(SPARED);
        self.random.shuffle(&mut scored[..spared]);
        let mut outbound = self.outbound_in_mesh(node);
        let mut gone = 0;
        for (_, link) in scored {
            if gone == excess {
                break;
            }
            if self.network.links[link].is(OUTBOUND) {
                if outbound <= MESH.outbound {
                    continue;
                }
                outbound -= 1;
            }
            self.part(link, now);
            gone += 1;
        }
    }

    /// Nodes name the messages of the last heartbeats to peers outside their meshes, and those ask for what they miss.
    fn repair(&mut self, now: u64) {
        let recent: Vec<_> = self.spreads.since(now.saturating_sub(NAMED_FOR * SECOND)).collect();
        for number in recent {
            let is_missing = self.spreads.get(number).is_some_and(|it| {
                it.kind == Kind::Honest && it.published + YOUNG <= now && it.is_incomplete()
            });
            if is_missing {
                (0..self.setup.agents).for_each(|node| self.ask_for(node, number, now));
            }
        }
    }

    fn ask_for(&mut self, node: u32, number: u32, now: u64) {
        let gossip = THRESHOLDS.gossip.0;
        for link in self.network.links_of(node) {
            let it = self.network.links[link];
            let back = it.back as usize;
            let Some(spread) = self.spreads.get_mut(number) else { return };
            if spread.arrives[node as usize] != NEVER && link == self.network.links_of(node).start {
                return;
            }
            let has_it = spread.accepted_at(it.to).is_some_and(|at| at <= now);
            let is_closed = it.is(MESHED | CUT | UNREAD) || self.network.links[back].is(UNREAD);
            if !has_it || is_closed || self.setup.is_attacker(it.to) {
                continue;
            }
            let there = self.scores.of(&self.network, back, now);
            if there < gossip || self.scores.of(&self.network, link, now) < gossip {
                continue;
            }
            let arrives = now + 2 * u64::from(self.network.links[back].latency) + u64::from(it.latency);
            if spread.reaches(node, arrives) {
                self.tally.sums.repaired += 1;
                self.queue.push(arrives, Event::Arrive { spread: number, link: back as u32 });
            }
        }
    }
}
