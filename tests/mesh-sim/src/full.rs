//! Nodes that keep a whole intake: the real one, with every message's real bytes, facts that have to be read from the
//! cluster first, and messages that wait for them. Only the cluster is simulated: it answers each batch after a time.

use crate::agents::{Agents, START, chain_at};
use crate::ruling::Ruling;
use crate::spread::Carried;
use std::collections::{BTreeMap, HashMap};
use zx1_mesh::facts::Facts;
use zx1_mesh::gate::{Gate, Mode};
use zx1_mesh::intake::{Intake, Outcome};
use zx1_mesh::senders::Batch;
use zx1_protocol::ids::AgentId;

/// Interval in which an intake is asked what is due, as its documentation wants it.
pub const TICK: u64 = 100_000;

/// A decision: the message, the link by which it came, and what happens to it.
pub type Decided = (u32, u32, Ruling);

/// Nodes with an intake of their own.
#[derive(Debug, Default)]
pub struct FullNodes {
    intakes: BTreeMap<u32, Intake<u32, Carried>>,
    registered: HashMap<AgentId, Facts>,
    flights: BTreeMap<u64, (u32, Batch)>,
    flown: u64,
}

fn decided(outcome: Outcome<u32, Carried>) -> Decided {
    match outcome {
        Outcome::Accepted(link, copy, _) => (copy.spread, link, Ruling::Accept),
        Outcome::Ignored(link, copy, reason) => (copy.spread, link, Ruling::Ignore(reason)),
        Outcome::Rejected(link, copy, reason) => (copy.spread, link, Ruling::Reject(reason)),
    }
}

impl FullNodes {
    /// Makes an intake for each of these nodes.
    pub fn new(nodes: impl IntoIterator<Item = u32>, agents: &Agents) -> Self {
        let intakes = nodes.into_iter().map(|node| {
            let gate = Gate::new(agents.id(u64::from(node)), Mode::Enforced);
            (node, Intake::new(gate))
        });
        Self { intakes: intakes.collect(), ..Self::default() }
    }

    /// Whether the node is one of them.
    pub fn has(&self, node: u32) -> bool {
        self.intakes.contains_key(&node)
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.intakes.is_empty()
    }

    /// The cluster now knows this agent.
    pub fn register(&mut self, agent: AgentId, facts: impl FnOnce() -> Facts) {
        self.registered.entry(agent).or_insert_with(facts);
    }

    /// A copy reaches a node by a link. `None` while it waits.
    pub fn receive(&mut self, node: u32, link: u32, copy: Carried, now: u64) -> Option<Decided> {
        let intake = self.intakes.get_mut(&node)?;
        intake.receive(link, copy, START + now).map(decided)
    }

    /// Batches that a node has to send to the cluster now, by the number under which it is answered.
    pub fn ask(&mut self, node: u32, now: u64) -> Vec<u64> {
        let Some(intake) = self.intakes.get_mut(&node) else { return Vec::new() };
        let mut asked = Vec::new();
        while let Some(batch) = intake.due(START + now) {
            self.flights.insert(self.flown, (node, batch));
            asked.push(self.flown);
            self.flown += 1;
        }
        asked
    }

    /// The node that sent a batch, and the batch.
    pub fn flight(&mut self, flight: u64) -> Option<(u32, Batch)> {
        self.flights.remove(&flight)
    }

    /// The cluster answers a node's batch: what is decided by it.
    pub fn answer(&mut self, node: u32, batch: Batch, now: u64) -> Vec<Decided> {
        let authors = batch.lookups.into_iter().map(|(author, _)| author);
        let found = authors.map(|author| (author, self.registered.get(&author).cloned())).collect();
        let Some(intake) = self.intakes.get_mut(&node) else { return Vec::new() };
        let outcomes = intake.answer(batch.id, found, START + now);
        outcomes.into_iter().map(decided).collect()
    }

    /// Lets the time pass at a node: what waited too long.
    pub fn tick(&mut self, node: u32, now: u64) -> Vec<Decided> {
        let Some(intake) = self.intakes.get_mut(&node) else { return Vec::new() };
        let mut outcomes = intake.set_chain(chain_at(now), START + now);
        outcomes.extend(intake.tick(START + now));
        outcomes.into_iter().map(decided).collect()
    }

    /// Numbers of the nodes, ascending.
    pub fn nodes(&self) -> Vec<u32> {
        self.intakes.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_mesh::gate::Path;
    use zx1_protocol::channel::Channel;
    use zx1_protocol::envelope::MsgType;

    #[test]
    fn a_message_waits_for_the_cluster_and_is_accepted_when_it_answers() {
        let mut agents = Agents::new(1, 3);
        let mut nodes = FullNodes::new([0], &agents);
        assert!(nodes.tick(0, 0).is_empty());
        let facts = agents.facts(2).unwrap();
        nodes.register(agents.id(2), || facts);
        let mut copy = |agent, spread| {
            let signed = agents.sign(agent, MsgType::Beacon, 0).unwrap();
            let path = Path { channel: Channel::Broadcast, source: Some(signed.signer) };
            Carried::of(spread, signed.bytes.into(), path)
        };
        assert_eq!(nodes.receive(0, 7, copy(2, 0), 1_000), None);
        assert_eq!(nodes.receive(0, 7, copy(1, 1), 1_000), None);
        let flights = nodes.ask(0, 1_000);
        assert_eq!(flights.len(), 1);
        let (node, batch) = nodes.flight(flights[0]).unwrap();
        let outcomes = nodes.answer(node, batch, 201_000);
        assert_eq!((node, outcomes[0]), (0, (0, 7, Ruling::Accept)));
        assert!(matches!(outcomes[1], (1, 7, Ruling::Ignore(_))), "no registry knows agent 1");
    }
}
