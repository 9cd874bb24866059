//! Who is connected with whom, and how long a message takes from one to the other.

use crate::random::Random;
use std::collections::HashSet;
use std::ops::Range;
use zx1_mesh::score::MESH;

/// The peer at the other end is in this end's mesh, and gets what this end forwards.
pub const MESHED: u8 = 1;
/// Nothing passes by this link.
pub const CUT: u8 = 2;
/// The peer at the other end has graylisted this end, and drops what comes unread.
pub const UNREAD: u8 = 4;
/// This end does not send its own messages to the other one, whose score is too low.
pub const UNPUBLISHED: u8 = 8;
/// This end dialled.
pub const OUTBOUND: u8 = 16;

/// One end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The node at the other end.
    pub to: u32,
    /// The other end itself.
    pub back: u32,
    /// Microseconds to the other end.
    pub latency: u32,
    /// [`MESHED`] and others.
    pub flags: u8,
}

impl Link {
    /// Whether this flag is set.
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// All connections. The links of a node lie side by side.
#[derive(Clone, Debug)]
pub struct Network {
    first: Vec<u32>,
    /// Both ends of every connection.
    pub links: Vec<Link>,
}

impl Network {
    /// Connections as (who dialled, whom). `latency` is of both directions.
    pub fn of(nodes: u32, dials: &[(u32, u32)], mut latency: impl FnMut(u32, u32) -> (u32, u32)) -> Self {
        let mut first = vec![0_u32; nodes as usize + 1];
        for (from, to) in dials {
            first[*from as usize + 1] += 1;
            first[*to as usize + 1] += 1;
        }
        for node in 0..nodes as usize {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut take = |node: u32| {
            let link = next[node as usize];
            next[node as usize] += 1;
            link
        };
        let mut links = vec![Link { to: 0, back: 0, latency: 0, flags: 0 }; dials.len() * 2];
        for (from, to) in dials.iter().copied() {
            let (there, back) = (take(from), take(to));
            let (out, home) = latency(from, to);
            links[there as usize] = Link { to, back, latency: out, flags: OUTBOUND };
            links[back as usize] = Link { to: from, back: there, latency: home, flags: 0 };
        }
        Self { first, links }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// The links of a node.
    pub fn links_of(&self, node: u32) -> Range<usize> {
        self.first[node as usize] as usize..self.first[node as usize + 1] as usize
    }

    /// The node at this end of a link.
    pub fn owner(&self, link: usize) -> u32 {
        self.links[self.links[link].back as usize].to
    }

    /// Peers in a node's mesh.
    pub fn mesh_size(&self, node: u32) -> usize {
        self.links[self.links_of(node)].iter().filter(|link| link.is(MESHED)).count()
    }

    /// Puts both ends into each other's mesh, or takes them out.
    pub fn set_meshed(&mut self, link: usize, meshed: bool) {
        self.set_both(link, MESHED, meshed);
    }

    /// Sets a flag at both ends of a connection.
    pub fn set_both(&mut self, link: usize, flag: u8, value: bool) {
        let back = self.links[link].back as usize;
        self.set(link, flag, value);
        self.set(back, flag, value);
    }

    /// Sets a flag at one end.
    pub fn set(&mut self, link: usize, flag: u8, value: bool) {
        let flags = &mut self.links[link].flags;
        *flags = if value { *flags | flag } else { *flags & !flag };
    }

    /// Whether the peer at the other end is not in the mesh and agrees: a full mesh takes only peers that its node
    /// dialled.
    fn can_join(&self, link: usize) -> bool {
        let it = self.links[link];
        let is_dialled_by_it = self.links[it.back as usize].is(OUTBOUND);
        !it.is(MESHED) && (self.mesh_size(it.to) < MESH.high || is_dialled_by_it)
    }

    /// Meshes as they are when all nodes have found each other. Greedy nodes come first and take every place that
    /// there is; then the others, in some order, fill up meshes with fewer than
    /// [`MESH.low`](zx1_mesh::score::Mesh::low) peers.
    pub fn form_meshes(&mut self, random: &mut Random, greedy: impl Fn(u32) -> bool) {
        let (mut eager, mut others): (Vec<_>, Vec<_>) = (0..self.nodes()).partition(|node| greedy(*node));
        random.shuffle(&mut eager);
        random.shuffle(&mut others);
        for node in eager {
            for link in self.links_of(node) {
                if self.mesh_size(self.links[link].to) < MESH.high {
                    self.set_meshed(link, true);
                }
            }
        }
        for node in others {
            let missing = MESH.peers - self.mesh_size(node).min(MESH.peers);
            if self.mesh_size(node) < MESH.low {
                let mut links: Vec<_> = self.links_of(node).filter(|link| self.can_join(*link)).collect();
                random.shuffle(&mut links);
                links.into_iter().take(missing).for_each(|link| self.set_meshed(link, true));
            }
        }
    }
}

/// Dials of which every node makes `degree / 2`, to others that it is not connected with; so that it has `degree`
/// connections on average. Only nodes below `nodes` take part.
pub fn random_dials(nodes: u32, degree: u32, random: &mut Random) -> Vec<(u32, u32)> {
    let (mut dials, mut known) = (Vec::new(), HashSet::new());
    let out = (degree / 2).max(1).min(nodes.saturating_sub(1) / 2);
    for from in 0..nodes {
        let mut made = 0;
        while made < out {
            let to = random.below(u64::from(nodes)) as u32;
            if to != from && known.insert((from.min(to), from.max(to))) {
                dials.push((from, to));
                made += 1;
            }
        }
    }
    dials
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(nodes: u32) -> Network {
        let dials = random_dials(nodes, 8, &mut Random::new(1, "dials"));
        Network::of(nodes, &dials, |from, to| (from * 10, to * 10))
    }

    #[test]
    fn both_ends_of_a_link_know_each_other() {
        let network = network(100);
        for node in 0..100 {
            for link in network.links_of(node) {
                let it = network.links[link];
                assert_eq!(network.links[it.back as usize].back as usize, link);
                assert_eq!((network.owner(link), network.owner(it.back as usize)), (node, it.to));
                assert_ne!(it.is(OUTBOUND), network.links[it.back as usize].is(OUTBOUND));
                assert_eq!(it.latency, node * 10);
            }
        }
    }

    #[test]
    fn every_node_dials_four_others_and_nobody_twice() {
        let network = network(100);
        assert_eq!(network.links.len(), 800);
        for node in 0..100 {
            let links = &network.links[network.links_of(node)];
            assert_eq!(links.iter().filter(|link| link.is(OUTBOUND)).count(), 4);
            let others: HashSet<_> = links.iter().map(|link| link.to).collect();
            assert!(others.len() == links.len() && !others.contains(&node));
        }
    }

    #[test]
    fn everybody_has_a_mesh_of_five_at_least_where_it_has_as_many_peers() {
        let mut network = network(200);
        network.form_meshes(&mut Random::new(2, "meshes"), |_| false);
        for node in 0..200 {
            assert!(network.mesh_size(node) >= MESH.low.min(network.links_of(node).len()));
        }
        let link = network.links_of(5).find(|link| network.links[*link].is(MESHED)).unwrap();
        network.set_meshed(link, false);
        assert!(!network.links[network.links[link].back as usize].is(MESHED));
    }

    #[test]
    fn greedy_nodes_take_every_place_that_there_is() {
        let dials: Vec<_> = (1..31).map(|peer| (peer, 0)).collect();
        let mut network = Network::of(31, &dials, |_, _| (1, 1));
        network.form_meshes(&mut Random::new(2, "meshes"), |node| node > 10);
        assert_eq!(network.mesh_size(0), MESH.high);
    }
}
