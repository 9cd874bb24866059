//! What a node that keeps no intake of its own decides about a message.
//!
//! The gate is the real one and judges the real envelope, once for each kind of view on it: whether the author is
//! known, whether the clock allows it, whether its nonce is new. Nothing else of a view changes its verdict, and every
//! few thousand verdicts one is compared with what the gate says of that very view. Rates and nonces are the real
//! types too; only where they are kept differs: with the author, not with each node. Whoever was not heard for a
//! minute has a full bucket and a window below which every copy is too old, so nothing needs to be kept of it.

use crate::agents::{START, chain_at};
use crate::random::mix;
use crate::ruling::{Ruling, ViewKind};
use crate::spread::{Spread, Spreads};
use std::collections::{HashMap, VecDeque};
use zx1_mesh::Reason;
use zx1_mesh::defaults::FACTS_LIFE;
use zx1_mesh::facts::{Facts, Known};
use zx1_mesh::gate::{Gate, Verdict, View};
use zx1_mesh::limits::AuthorRates;
use zx1_protocol::channel::Channel;
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::validate::{Reason as Rule, TIMESTAMP_TOLERANCE_MICROS};

/// Of an author with more messages than this within a minute, what each node remembers is kept, and not derived anew
/// from those messages.
const FEW: usize = 3;
/// One verdict in this many is compared with the gate's own.
const COMPARED: u64 = 4_096;

/// What nodes remember of nonces on topics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// A window, as decision I1 has it.
    #[default]
    Window,
    /// Strictly increasing nonces, as before that decision.
    Strict,
    /// Nothing at all: every nonce is new.
    Off,
}

/// How often the gate was called.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateCalls {
    /// For a first view of its kind.
    pub first: u64,
    /// To compare a verdict.
    pub compared: u64,
    /// Comparisons that failed.
    pub differed: u64,
}

/// What a node remembers of one author.
#[derive(Clone, Copy, Debug)]
struct Memory {
    rates: AuthorRates,
    seen: [SeenNonces; 3],
}

fn nothing_seen(order: Order, channel: Channel) -> SeenNonces {
    // The strict kind is that of the direct stream.
    SeenNonces::none(if order == Order::Strict { Channel::Direct } else { channel })
}

impl Memory {
    fn new(order: Order) -> Self {
        let topics = [Channel::Broadcast, Channel::Notary, Channel::Reputation];
        Self { rates: AuthorRates::default(), seen: topics.map(|channel| nothing_seen(order, channel)) }
    }

    fn take(&mut self, spread: &Spread, at: u64, order: Order) -> Result<(), Reason> {
        self.rates.take(spread.msg_type, START + at)?;
        let seen = &mut self.seen[usize::from(spread.path.channel.number())];
        if order != Order::Off {
            *seen = seen.accept(spread.nonce).map_err(Rule::Nonce)?;
        }
        Ok(())
    }
}

/// One author's messages of the last minute, and what nodes remember of a loud one.
#[derive(Debug, Default)]
struct Author {
    recent: VecDeque<u32>,
    by_node: Option<Vec<Memory>>,
}

impl Author {
    /// Derived from its few messages, in the order in which this node accepted them.
    fn derive(&self, spreads: &Spreads, node: u32, order: Order, except: u32) -> Memory {
        let mut memory = Memory::new(order);
        let others = self.recent.iter().filter(|number| **number != except);
        let accepted = others.filter_map(|number| {
            let spread = spreads.get(*number)?;
            Some((spread.accepted_at(node)?, spread))
        });
        let mut accepted: Vec<_> = accepted.collect();
        accepted.sort_by_key(|(at, _)| *at);
        for (at, spread) in accepted {
            // It was accepted then, so it is now.
            let _ = memory.take(spread, at, order);
        }
        memory
    }
}

/// The memory of all nodes without an intake of their own.
#[derive(Debug)]
pub struct Judge {
    order: Order,
    nodes: u32,
    authors: HashMap<u32, Author>,
    facts: HashMap<u32, Facts>,
    /// How often the gate was called.
    pub calls: GateCalls,
}

impl Judge {
    /// Of this many nodes, which remember nonces in this way.
    pub fn new(order: Order, nodes: u32) -> Self {
        Self { order, nodes, authors: HashMap::new(), facts: HashMap::new(), calls: GateCalls::default() }
    }

    /// Takes what the chain says of a registered author.
    pub fn know(&mut self, author: u32, facts: impl FnOnce() -> Facts) {
        self.facts.entry(author).or_insert_with(facts);
    }

    /// A new message of an author; from now on it counts.
    pub fn published(&mut self, author: u32, number: u32, spreads: &Spreads) {
        let (order, nodes) = (self.order, self.nodes);
        let it = self.authors.entry(author).or_default();
        if it.recent.len() >= FEW && it.by_node.is_none() {
            let by_node = (0..nodes).map(|node| it.derive(spreads, node, order, number)).collect();
            it.by_node = Some(by_node);
        }
        it.recent.push_back(number);
    }

    /// A message is over. Of an author without any nothing is kept.
    pub fn forget(&mut self, author: u32, number: u32) {
        if let Some(it) = self.authors.get_mut(&author) {
            it.recent.retain(|recent| *recent != number);
            if it.recent.is_empty() {
                self.authors.remove(&author);
            }
        }
    }

    /// Whether a node still has the facts about an author: it accepted a message of it within their life.
    pub fn has_facts(&self, author: u32, spreads: &Spreads, node: u32, now: u64) -> bool {
        let Some(it) = self.authors.get(&author) else { return false };
        let heard = |number: &u32| spreads.get(*number).and_then(|spread| spread.accepted_at(node));
        it.recent.iter().rev().filter_map(heard).any(|at| now.saturating_sub(at) <= FACTS_LIFE)
    }

    /// A node's decision about a message. What is accepted is remembered when [`Spread::accepted`] has it.
    pub fn decide(&mut self, gate: Gate, spreads: &mut Spreads, number: u32, node: u32, at: u64) -> Ruling {
        let order = self.order;
        let Some(spread) = spreads.get(number) else { return Ruling::Accept };
        let channel = usize::from(spread.path.channel.number());
        let author = self.authors.get(&spread.author);
        let mut memory = match author {
            Some(Author { by_node: Some(by_node), .. }) => by_node[node as usize],
            Some(author) if author.recent.len() > 1 => author.derive(spreads, node, order, number),
            _ => Memory::new(order),
        };
        let seen = memory.seen[channel];
        let ruling = self.gate_says(gate, spread, seen, at, node);
        let (ruling, verdict) = match ruling {
            (Ruling::Accept, verdict) => match memory.take(spread, at, order) {
                Ok(()) => (Ruling::Accept, verdict),
                Err(reason) => (Ruling::refused(reason), verdict),
            },
            refused => refused,
        };
        let author = spread.author;
        if let (Some(verdict), Some(spread)) = (verdict, spreads.get_mut(number)) {
            spread.verdicts.0.push(verdict);
        }
        if ruling == Ruling::Accept
            && let Some(Author { by_node: Some(by_node), .. }) = self.authors.get_mut(&author)
        {
            by_node[node as usize] = memory;
        }
        ruling
    }

    /// The gate's verdict, and what is to be remembered of it when the view was the first of its kind.
    fn gate_says(
        &mut self,
        gate: Gate,
        spread: &Spread,
        seen: SeenNonces,
        at: u64,
        node: u32,
    ) -> (Ruling, Option<(ViewKind, Ruling)>) {
        // All clocks are right.
        let (clock, signed_at) = (START + at, START + spread.signed);
        let kind = ViewKind {
            is_timely: clock.abs_diff(signed_at) <= TIMESTAMP_TOLERANCE_MICROS,
            is_new: seen.accepts(spread.nonce),
        };
        let ask = || {
            let author = self.facts.get(&spread.author).map_or(Known::Absent, Known::Present);
            let view = View { now: clock, chain: Some(chain_at(at)), author, seen };
            match gate.verdict(&spread.bytes, spread.path, &view) {
                Verdict::Accept(_) => Ruling::Accept,
                Verdict::Ignore(reason) => Ruling::Ignore(reason),
                Verdict::Reject(reason) => Ruling::Reject(reason),
                Verdict::Wait(_) => Ruling::Ignore(Reason::WaitedTooLong),
            }
        };
        let Some((_, ruling)) = spread.verdicts.0.iter().find(|(other, _)| *other == kind).copied() else {
            let ruling = ask();
            self.calls.first += 1;
            return (ruling, Some((kind, ruling)));
        };
        if mix(at ^ u64::from(node)).is_multiple_of(COMPARED) {
            let is_same = std::mem::discriminant(&ask()) == std::mem::discriminant(&ruling);
            self.calls.compared += 1;
            self.calls.differed += u64::from(!is_same);
        }
        (ruling, None)
    }
}
