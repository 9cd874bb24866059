//! A run: nodes, messages and events in the order of a simulated clock.

mod speak;
mod upkeep;

use crate::agents::{Agents, BadMessage};
use crate::full::{Decided, FullNodes, TICK};
use crate::judge::Judge;
use crate::network::{CUT, MESHED, Network, UNREAD, random_dials};
use crate::outcome::{Outcome, Tally};
use crate::queue::Queue;
use crate::random::{Random, mix};
use crate::ruling::Ruling;
use crate::scores::Scores;
use crate::setup::{Attack, Blame, Setup};
use crate::spread::{Carried, Kind, Spread, Spreads};
use std::collections::HashSet;
use upkeep::Upkeep;
use zx1_mesh::defaults::{DUPLICATE_TIME, FORWARD_QUEUE_TIME, MAX_QUEUED};
use zx1_mesh::gate::{Gate, Mode};
use zx1_protocol::ids::AgentId;

/// A second in microseconds.
pub(crate) const SECOND: u64 = 1_000_000;
/// How long a run goes on after its last message, so that what is on its way arrives.
const REST: u64 = 8 * SECOND;
/// An aged network begins this long after its meshes were formed.
const AGE: u64 = 3_600 * SECOND;
const MICROS_PER_MILLI: u64 = 1_000;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A copy of a message reaches the other end of a link.
    Arrive { spread: u32, link: u32 },
    /// An agent sends its BEACON.
    Beacon(u32),
    /// Some agent says something.
    Chatter,
    /// The loud agent says something.
    Burst,
    /// An attacker acts.
    Strike(u32),
    /// An attacker publishes a message once more.
    Replay { attacker: u32, spread: u32 },
    /// All nodes look after their meshes.
    Heartbeat,
    /// Intakes are asked what is due.
    Tick,
    /// The cluster answers.
    Answer(u32),
    /// The network is split, or healed.
    Split(bool),
}

/// A run, from its first event to its last.
#[derive(Debug)]
pub struct Sim {
    pub(crate) setup: Setup,
    pub(crate) network: Network,
    pub(crate) agents: Agents,
    pub(crate) queue: Queue<Event>,
    pub(crate) spreads: Spreads,
    pub(crate) judge: Judge,
    pub(crate) full: FullNodes,
    pub(crate) scores: Scores,
    pub(crate) upkeep: Upkeep,
    pub(crate) tally: Tally,
    pub(crate) random: Random,
    /// Until when each node judges what it has taken already.
    busy: Vec<u64>,
    gate: Gate,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) made_up: u64,
}

impl Sim {
    /// A network as the setup wants it, with its first events.
    pub fn new(setup: Setup) -> Self {
        let network = network_of(&setup);
        Self::over(setup, network)
    }

    /// The same over given connections and meshes.
    pub fn over(setup: Setup, network: Network) -> Self {
        let nodes = network.nodes();
        let standing =
            (0..nodes).map(|node| !setup.is_attacker(node) || setup.attackers.registered).collect();
        let subnet = |node: u32| match node.checked_sub(setup.agents) {
            // Honest nodes are spread over as many networks as there are nodes.
            None => u32::MAX - node,
            Some(attacker) => attacker / setup.attackers.subnet_size.max(1),
        };
        let scores = Scores::new(setup.rules.scoring, &network, subnet, standing);
        let agents = Agents::new(setup.seed, nodes);
        let full = FullNodes::new(0..setup.full.min(setup.agents), &agents);
        let begin = if setup.aged { AGE } else { 0 };
        let mut sim = Self {
            network,
            judge: Judge::new(setup.rules.order, nodes),
            full,
            agents,
            queue: Queue::default(),
            spreads: Spreads::default(),
            scores,
            upkeep: Upkeep::default(),
            tally: Tally::default(),
            random: Random::new(setup.seed, "events"),
            busy: vec![0; nodes as usize],
            gate: Gate::new(AgentId([0xEE; 32]), Mode::Enforced),
            begin,
            end: begin + u64::from(setup.seconds) * SECOND,
            made_up: 0,
            setup,
        };
        sim.first_events();
        sim
    }

    /// Runs it.
    ///
    /// # Errors
    /// The simulation made a message that nobody may send, which is a mistake of its own.
    pub fn run(mut self) -> Result<Outcome, BadMessage> {
        while let Some((now, event)) = self.queue.pop() {
            self.happen(now, event)?;
        }
        self.forget(u64::MAX / 2);
        self.tally.sums.events = self.queue.pushed();
        self.tally.sums.gate_calls = self.judge.calls.first + self.judge.calls.compared;
        self.tally.sums.compared = self.judge.calls.compared;
        self.tally.sums.differed = self.judge.calls.differed;
        Ok(self.tally.close())
    }

    fn happen(&mut self, now: u64, event: Event) -> Result<(), BadMessage> {
        match event {
            Event::Arrive { spread, link } => self.arrive(spread, link as usize, now),
            Event::Beacon(agent) => self.beacon(agent, now)?,
            Event::Chatter => self.chatter(now)?,
            Event::Burst => self.burst(now)?,
            Event::Strike(attacker) => self.strike(attacker, now)?,
            Event::Replay { attacker, spread } => self.replay(attacker, spread, now),
            Event::Heartbeat => {
                self.heartbeat(now);
                self.forget(now);
                self.again(now + SECOND, Event::Heartbeat);
            }
            Event::Tick => {
                for node in self.full.nodes() {
                    let clock = self.clock(node, now);
                    for decided in self.full.tick(node, clock) {
                        self.settle(node, decided, clock);
                    }
                    self.ask_cluster(node, clock);
                }
                self.again(now + TICK, Event::Tick);
            }
            Event::Answer(flight) => {
                if let Some((node, batch)) = self.full.flight(u64::from(flight)) {
                    let clock = self.clock(node, now);
                    for decided in self.full.answer(node, batch, clock) {
                        self.settle(node, decided, clock);
                    }
                    self.ask_cluster(node, clock);
                }
            }
            Event::Split(split) => self.split(split),
        }
        Ok(())
    }

    /// A node's clock never goes back: it is where the last message was judged.
    fn clock(&self, node: u32, now: u64) -> u64 {
        now.max(self.busy[node as usize])
    }

    /// An event that comes again and again, until nothing is on its way any more.
    fn again(&mut self, at: u64, event: Event) {
        if at <= self.end + REST {
            self.queue.push(at, event);
        }
    }

    fn split(&mut self, split: bool) {
        for link in 0..self.network.links.len() {
            let owner = self.network.owner(link);
            if owner % 2 != self.network.links[link].to % 2 {
                self.network.set(link, CUT, split);
            }
        }
    }

    /// Lets go of messages that no rule asks about any more.
    fn forget(&mut self, now: u64) {
        while let Some((number, spread)) = self.spreads.forget(now) {
            self.judge.forget(spread.author, number);
            if spread.kind == Kind::Honest {
                self.tally.ended(&spread);
            }
        }
    }

    /// A copy leaves by a link.
    pub(crate) fn send(&mut self, number: u32, link: usize, at: u64) {
        let Some(spread) = self.spreads.get_mut(number) else { return };
        let it = self.network.links[link];
        let sums = &mut self.tally.sums;
        if it.is(CUT) {
            return;
        }
        sums.copies += 1;
        if it.is(UNREAD) {
            sums.unread += 1;
            return;
        }
        let loss = u64::from(self.setup.loss);
        if loss > 0 && mix(self.setup.seed ^ (u64::from(number) << 32) ^ link as u64) % SECOND < loss {
            sums.lost += 1;
            return;
        }
        if self.busy[it.to as usize] > at + FORWARD_QUEUE_TIME.as_micros() as u64 {
            sums.too_slow += 1;
            self.scores.slow(link, at);
            return;
        }
        let arrives = at + u64::from(it.latency);
        if spread.reaches(it.to, arrives) || spread.arrives.is_empty() {
            self.queue.push(arrives, Event::Arrive { spread: number, link: link as u32 });
        } else {
            sums.duplicates += 1;
        }
    }

    fn forward(&mut self, node: u32, number: u32, at: u64, except: usize) {
        for link in self.network.links_of(node) {
            if link != except && self.network.links[link].is(MESHED) {
                self.send(number, link, at);
            }
        }
    }

    fn arrive(&mut self, number: u32, link: usize, now: u64) {
        let (node, back) = (self.network.links[link].to, self.network.links[link].back);
        let Some(spread) = self.spreads.get(number) else { return };
        if !spread.arrives.is_empty() && !spread.is_first(node, now) {
            self.tally.sums.duplicates += 1;
            return;
        }
        if self.setup.is_attacker(node) {
            self.overhear(node, number, now);
            return;
        }
        if spread.original.is_some_and(|original| self.is_remembered(original, node, now)) {
            self.tally.sums.duplicates += 1;
            return;
        }
        let Some(done) = self.work(node, now) else { return };
        self.tally.sums.judged += 1;
        let Some(spread) = self.spreads.get(number) else { return };
        if self.full.has(node) {
            let copy = Carried::of(number, spread.bytes.clone(), spread.path);
            if let Some(decided) = self.full.receive(node, back, copy, done) {
                self.settle(node, decided, done);
            }
            self.ask_cluster(node, done);
            return;
        }
        let lookup = u64::from(self.setup.lookup);
        let has_facts = lookup == 0 || self.judge.has_facts(spread.author, &self.spreads, node, now);
        let done = if has_facts { done } else { done + lookup };
        let ruling = self.judge.decide(self.gate, &mut self.spreads, number, node, done);
        self.settle(node, (number, back, ruling), done);
    }

    /// Whether a node still has the id of a message among those that it saw.
    fn is_remembered(&self, original: u32, node: u32, now: u64) -> bool {
        self.spreads.get(original).is_some_and(|spread| {
            let first = spread.arrives.get(node as usize).copied().unwrap_or(u32::MAX);
            let seen_at = spread.published + u64::from(first);
            first != u32::MAX && now.saturating_sub(seen_at) < DUPLICATE_TIME.as_micros() as u64
        })
    }

    /// When a node has judged a message that comes now; `None` when its queue is full.
    fn work(&mut self, node: u32, now: u64) -> Option<u64> {
        let own = if self.setup.is_watched(node) { self.setup.watched.work } else { 0 };
        let work = u64::from(if own > 0 { own } else { self.setup.work });
        let busy = &mut self.busy[node as usize];
        let begins = now.max(*busy);
        if begins - now > work * MAX_QUEUED as u64 {
            self.tally.sums.queue_full += 1;
            return None;
        }
        *busy = begins + work;
        Some(*busy)
    }

    fn ask_cluster(&mut self, node: u32, now: u64) {
        for flight in self.full.ask(node, now) {
            self.queue.push(now + u64::from(self.setup.lookup), Event::Answer(flight as u32));
        }
    }

    /// A node has decided about a message that came by a link.
    fn settle(&mut self, node: u32, (number, link, ruling): Decided, at: u64) {
        let link = link as usize;
        self.tally.refused(ruling);
        let Some(spread) = self.spreads.get_mut(number) else { return };
        let channel = spread.path.channel;
        match ruling {
            Ruling::Accept => {
                let after = at - spread.published;
                if let Some(accepted) = spread.accepted.get_mut(node as usize) {
                    *accepted = u32::try_from(after).unwrap_or(u32::MAX);
                }
                match spread.kind {
                    Kind::Honest => {
                        let watched = usize::from(self.setup.is_watched(node));
                        spread.delivered[watched] += 1;
                        self.tally.times[watched].add(after);
                    }
                    Kind::Replay => self.tally.sums.accepted_twice += 1,
                    Kind::Spam | Kind::Forged | Kind::Unregistered => self.tally.sums.attack_accepted += 1,
                }
                self.scores.delivered_first(link, channel, at);
                self.forward(node, number, at, link);
            }
            Ruling::Ignore(reason) => {
                let is_author = spread.author == self.network.links[link].to;
                if reason.is_excess()
                    && (self.setup.rules.blame == Blame::Bringer
                        || is_author
                        || !reason.is_excess_of_author())
                {
                    self.scores.exceeded(&self.network, link, at);
                    self.reconsider(link, at);
                }
            }
            Ruling::Reject(_) => {
                self.scores.rejected(link, channel, at);
                self.reconsider(link, at);
            }
        }
    }

    /// Milliseconds since the attack began.
    pub(crate) fn since_attack(&self, now: u64) -> u64 {
        let from = self.begin + u64::from(self.setup.attackers.from) * SECOND;
        now.saturating_sub(from) / MICROS_PER_MILLI
    }

    /// Adds a message and gives it a number. Rates and nonces of its author count where the message can be accepted.
    pub(crate) fn add(&mut self, spread: Spread) -> u32 {
        let (author, kind) = (spread.author, spread.kind);
        let number = self.spreads.add(spread);
        if !matches!(kind, Kind::Forged | Kind::Unregistered) {
            self.judge.published(author, number, &self.spreads);
        }
        number
    }
}

/// Connections and meshes before the first message.
fn network_of(setup: &Setup) -> Network {
    let mut random = Random::new(setup.seed, "dials");
    let mut dials = random_dials(setup.agents, setup.degree, &mut random);
    let watched = setup.watched;
    if watched.full {
        dials.retain(|(from, to)| *to >= watched.number || *from < watched.number);
    }
    let aims = if setup.attackers.aim_at_watched { watched.number } else { setup.agents };
    let mut known = HashSet::new();
    for attacker in setup.agents..setup.nodes() {
        for _ in 0..setup.attackers.dials.min(aims) {
            // A place is tried anew a few times; then the attacker has one connection less.
            let mut tries = (0..8).map(|_| random.below(u64::from(aims)) as u32);
            if let Some(to) = tries.find(|to| known.insert((attacker, *to))) {
                dials.push((attacker, to));
            }
        }
    }
    let mut random = Random::new(setup.seed, "latency");
    let (low, high) = (u64::from(setup.latency.0), u64::from(setup.latency.1));
    let mut network = Network::of(setup.nodes(), &dials, |_, _| {
        let latency = random.between(low, high) as u32;
        (latency, latency)
    });
    let is_greedy = |node| setup.is_attacker(node) && setup.attackers.attack == Attack::Silent;
    network.form_meshes(&mut Random::new(setup.seed, "meshes"), is_greedy);
    network
}
