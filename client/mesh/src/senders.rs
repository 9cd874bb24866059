//! When the chain is asked about authors, and what is remembered of its answers: a state machine without I/O.
//!
//! Whoever talks to the cluster takes [`Senders::due`] batches, reads the accounts, and gives [`Senders::answer`] or
//! [`Senders::failed`] back. Facts serve for 60 seconds; only while the cluster does not answer, for ten minutes.

mod waiting;

pub use waiting::{Line, Waiting};

use crate::defaults::{
    ABSENT_LIFE, ACCOUNTS_PER_AUTHOR, ACCOUNTS_PER_BATCH, FACTS_LIFE, FACTS_LIFE_AWAY, FACTS_REFRESH,
    LOOKUP_PAUSE, LOOKUP_RATE, LOOKUP_TIMEOUT, MAX_ABSENT, MAX_BATCHES_IN_FLIGHT, MAX_KEYS_LOOKED_FOR,
    MAX_LOOKUP_PAUSE, MAX_NEW_KEYS, MAX_PRESENT, MAX_QUEUED_LOOKUPS,
};
use crate::facts::{Facts, Known, Need};
use crate::limits::Bucket;
use crate::lru::Lru;
use crate::reason::Reason;
use std::collections::{BTreeMap, HashMap, VecDeque};
use zx1_protocol::ids::{AgentId, WalletKey};

/// What is to be read of one author.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    /// Keys whose accounts are to be read.
    pub keys: Vec<WalletKey>,
    /// Whether all of the author's key accounts are to be listed, with a call of its own.
    pub all_keys: bool,
}

impl Lookup {
    /// Accounts in the larger of the two rounds of calls.
    pub fn accounts(&self) -> usize {
        ACCOUNTS_PER_AUTHOR.saturating_add(self.keys.len())
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::AllKeys => self.all_keys,
            Need::Key(key) => self.keys.contains(&key) || self.all_keys,
        }
    }

    fn add(&mut self, need: Need) {
        match need {
            Need::AllKeys => self.all_keys = true,
            Need::Key(key) if self.keys.contains(&key) => {}
            Need::Key(key) if self.keys.len() < MAX_KEYS_LOOKED_FOR => self.keys.push(key),
            Need::Key(_) => {}
        }
    }
}

/// Authors whose accounts fit into one call of getMultipleAccounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// To be given back with the answer.
    pub id: u64,
    /// What to read of whom.
    pub lookups: Vec<(AgentId, Lookup)>,
}

#[derive(Clone, Debug)]
struct Present {
    facts: Facts,
    read_at: u64,
    /// Keys that nobody knew and that were asked for, and since when that is counted.
    new_keys: usize,
    new_keys_since: u64,
}

#[derive(Clone, Debug)]
struct Flight {
    since: u64,
    lookups: Vec<(AgentId, Lookup)>,
}

/// What is remembered of authors, and what is to be asked.
#[derive(Clone, Debug)]
pub struct Senders {
    present: Lru<AgentId, Present>,
    /// When it was read that there is no such agent. Apart, so that made-up authors push no real one out.
    absent: Lru<AgentId, u64>,
    queue: VecDeque<AgentId>,
    wanted: HashMap<AgentId, Lookup>,
    flights: BTreeMap<u64, Flight>,
    next_id: u64,
    rate: Bucket,
    /// Failures since the last answer.
    failures: u32,
    /// No batch before this time.
    paused_until: u64,
    paused_at: u64,
}

impl Default for Senders {
    fn default() -> Self {
        Self {
            present: Lru::new(MAX_PRESENT),
            absent: Lru::new(MAX_ABSENT),
            queue: VecDeque::new(),
            wanted: HashMap::new(),
            flights: BTreeMap::new(),
            next_id: 0,
            rate: Bucket::default(),
            failures: 0,
            paused_until: 0,
            paused_at: 0,
        }
    }
}

/// Whether something of this time is at most `life` old. What lies in the future is not: the clock jumped back.
fn is_within(at: u64, life: u64, now: u64) -> bool {
    now.checked_sub(at).is_some_and(|age| age <= life)
}

impl Senders {
    /// What is known of an author, for a message that needs these keys. Where that is nothing, or soon will be, the
    /// cluster is asked.
    ///
    /// # Errors
    /// [`Reason::LookupsFull`] when nothing is known and no more can be asked.
    pub fn ask(&mut self, author: &AgentId, need: Need, now: u64) -> Result<Known<'_>, Reason> {
        let is_away = self.is_away();
        if let Some(present) = self.present.get(author) {
            let knows = match need {
                Need::Key(key) => present.facts.knows(&key),
                Need::AllKeys => present.facts.has_all_keys,
            };
            let is_fresh = is_within(present.read_at, FACTS_LIFE, now);
            let is_young = is_within(present.read_at, FACTS_REFRESH, now);
            let serves = knows && (is_fresh || (is_away && is_within(present.read_at, FACTS_LIFE_AWAY, now)));
            if is_fresh && !knows {
                return self.ask_for_key(author, need, now);
            }
            if !is_young {
                // A full queue refuses nobody whose facts still serve.
                let asked = self.want(author, need);
                if !serves && !is_away {
                    asked?;
                }
            }
            if !serves {
                return Ok(if is_away && knows { Known::TooOld } else { Known::Asked });
            }
            return Ok(self
                .present
                .peek(author)
                .map_or(Known::Asked, |present| Known::Present(&present.facts)));
        }
        if let Some(read_at) = self.absent.get(author).copied() {
            let serves =
                is_within(read_at, ABSENT_LIFE, now) || (is_away && is_within(read_at, FACTS_LIFE_AWAY, now));
            if serves {
                return Ok(Known::Absent);
            }
        }
        self.want(author, need)?;
        Ok(Known::Asked)
    }

    /// An author that is known, under a key that is not. A few such keys are looked for by address; when there are
    /// more, the author's keys are listed once, and then every other key is known to be none of them. So nobody has
    /// the cluster asked for any number of keys in another's name, nor keeps a new key of it from being found.
    fn ask_for_key(&mut self, author: &AgentId, need: Need, now: u64) -> Result<Known<'_>, Reason> {
        let is_asked = self.is_asked(author, need);
        if let Some(present) = self.present.get(author).filter(|_| !is_asked) {
            if !is_within(present.new_keys_since, ABSENT_LIFE, now) {
                (present.new_keys, present.new_keys_since) = (0, now);
            }
            let need = if present.new_keys < MAX_NEW_KEYS { need } else { Need::AllKeys };
            present.new_keys = present.new_keys.saturating_add(1);
            self.want(author, need)?;
        }
        Ok(Known::Asked)
    }

    /// Whether this is in the queue or on its way.
    fn is_asked(&self, author: &AgentId, need: Need) -> bool {
        let flying = self.flights.values().flat_map(|flight| &flight.lookups);
        let mut flying = flying.filter(|(other, _)| other == author).map(|(_, lookup)| lookup);
        self.wanted.get(author).is_some_and(|lookup| lookup.has(need))
            || flying.any(|lookup| lookup.has(need))
    }

    fn want(&mut self, author: &AgentId, need: Need) -> Result<(), Reason> {
        if self.is_asked(author, need) {
            return Ok(());
        }
        if let Some(lookup) = self.wanted.get_mut(author) {
            lookup.add(need);
            return Ok(());
        }
        if self.wanted.len() >= MAX_QUEUED_LOOKUPS {
            return Err(Reason::LookupsFull);
        }
        let mut lookup = Lookup::default();
        // All that is known is read again: an answer replaces what was there.
        if let Some(Present { facts, .. }) = self.present.peek(author) {
            lookup.all_keys = facts.has_all_keys;
            for key in &facts.keys {
                lookup.add(Need::Key(key.key.to_bytes().into()));
            }
        }
        lookup.add(need);
        self.wanted.insert(*author, lookup);
        self.queue.push_back(*author);
        Ok(())
    }

    /// The next batch to read, when one is due. To be asked again until there is none, at least each 100 ms.
    pub fn due(&mut self, now: u64) -> Option<Batch> {
        self.expire_flights(now);
        if self.queue.is_empty() || self.flights.len() >= MAX_BATCHES_IN_FLIGHT || self.is_paused(now) {
            return None;
        }
        let mut lookups: Vec<(AgentId, Lookup)> = Vec::new();
        let mut accounts = 0usize;
        if !self.rate.has(LOOKUP_RATE, now) {
            return None;
        }
        let mut rate = self.rate;
        rate.take(LOOKUP_RATE, 1, now);
        while let Some(author) = self.queue.front().copied() {
            let Some(lookup) = self.wanted.get(&author) else {
                self.queue.pop_front();
                continue;
            };
            let more = accounts.saturating_add(lookup.accounts());
            if more > ACCOUNTS_PER_BATCH {
                break;
            }
            // Listing keys is a call of its own.
            if lookup.all_keys && !rate.take(LOOKUP_RATE, 1, now) {
                break;
            }
            accounts = more;
            self.queue.pop_front();
            if let Some(lookup) = self.wanted.remove(&author) {
                lookups.push((author, lookup));
            }
        }
        if lookups.is_empty() {
            return None;
        }
        self.rate = rate;
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        self.flights.insert(id, Flight { since: now, lookups: lookups.clone() });
        Some(Batch { id, lookups })
    }

    /// Takes the answer to a batch: facts, or that there is no such agent. Returns the authors of whom more is known
    /// now; their messages are to be judged again. An answer that comes too late, or of an author that was not asked
    /// for, counts for nothing.
    pub fn answer(&mut self, id: u64, found: Vec<(AgentId, Option<Facts>)>, now: u64) -> Vec<AgentId> {
        let Some(flight) = self.flights.remove(&id) else { return Vec::new() };
        self.failures = 0;
        self.paused_until = 0;
        // As old as the question, which is when the cluster may have looked.
        let read_at = flight.since.min(now);
        let mut asked: HashMap<AgentId, Lookup> = flight.lookups.into_iter().collect();
        let mut known = Vec::new();
        for (author, facts) in found {
            let Some(lookup) = asked.remove(&author) else { continue };
            match facts {
                None => {
                    self.present.remove(&author);
                    self.absent.insert(author, read_at);
                }
                Some(mut facts) => {
                    self.absent.remove(&author);
                    facts.other_keys =
                        lookup.keys.into_iter().filter(|key| facts.key(key).is_none()).collect();
                    let before = self.present.peek(&author);
                    let (new_keys, new_keys_since) =
                        before.map_or((0, now), |before| (before.new_keys, before.new_keys_since));
                    self.present.insert(author, Present { facts, read_at, new_keys, new_keys_since });
                }
            }
            known.push(author);
        }
        // Whom the answer leaves out is asked for again.
        self.put_back(asked);
        known
    }

    /// The batch was not answered. Its authors are asked for again, after a pause.
    pub fn failed(&mut self, id: u64, now: u64) {
        let Some(flight) = self.flights.remove(&id) else { return };
        self.put_back(flight.lookups);
        let pause = LOOKUP_PAUSE.saturating_mul(1u64.checked_shl(self.failures).unwrap_or(u64::MAX));
        self.failures = self.failures.saturating_add(1).min(u64::BITS);
        self.paused_at = now;
        self.paused_until = now.saturating_add(pause.min(MAX_LOOKUP_PAUSE));
    }

    /// An account of this agent changed on chain: what was known does not serve any more.
    pub fn changed(&mut self, author: &AgentId) {
        self.absent.remove(author);
        if let Some(Present { facts, .. }) = self.present.peek(author) {
            let keys: Vec<WalletKey> = facts.keys.iter().map(|key| key.key.to_bytes().into()).collect();
            let all_keys = facts.has_all_keys;
            self.present.remove(author);
            // In advance, where there is room: it was heard before.
            for need in keys.into_iter().map(Need::Key).chain(all_keys.then_some(Need::AllKeys)) {
                let _ = self.want(author, need);
            }
        }
        // What is on its way may have been read before.
        for flight in self.flights.values_mut() {
            let mut again = Vec::new();
            flight.lookups.retain(|(other, lookup)| {
                let keep = other != author;
                if !keep {
                    again.push((*other, lookup.clone()));
                }
                keep
            });
            for (author, lookup) in again {
                merge(&mut self.wanted, &mut self.queue, author, lookup);
            }
        }
    }

    /// Whether it is known if this author has what a message needs, be it in old facts.
    pub fn has(&self, author: &AgentId, need: Need) -> bool {
        self.present.peek(author).is_some_and(|present| match need {
            Need::Key(key) => present.facts.knows(&key),
            Need::AllKeys => present.facts.has_all_keys,
        })
    }

    /// The facts of an author, be they old ones.
    pub fn facts(&self, author: &AgentId) -> Option<&Facts> {
        self.present.peek(author).map(|present| &present.facts)
    }

    /// Whether the cluster does not answer.
    pub fn is_away(&self) -> bool {
        self.failures > 0
    }

    /// Authors that wait to be asked for.
    pub fn queued(&self) -> usize {
        self.wanted.len()
    }

    /// Authors whose facts are remembered.
    pub fn known(&self) -> usize {
        self.present.len()
    }

    fn is_paused(&self, now: u64) -> bool {
        now < self.paused_until && now >= self.paused_at
    }

    fn expire_flights(&mut self, now: u64) {
        let is_late = |flight: &Flight| !is_within(flight.since, LOOKUP_TIMEOUT, now);
        let late: Vec<(u64, bool)> = self
            .flights
            .iter()
            .filter(|(_, flight)| is_late(flight))
            .map(|(id, flight)| (*id, flight.since > now))
            .collect();
        for (id, is_jump) in late {
            if !is_jump {
                self.failed(id, now);
            } else if let Some(flight) = self.flights.remove(&id) {
                // The clock jumped back, and the cluster did nothing wrong.
                self.put_back(flight.lookups);
            }
        }
    }

    fn put_back(&mut self, lookups: impl IntoIterator<Item = (AgentId, Lookup)>) {
        for (author, lookup) in lookups {
            merge(&mut self.wanted, &mut self.queue, author, lookup);
        }
    }
}

/// Asks again for what was asked for; at most what was in flight comes on top of the queue's bound.
fn merge(
    wanted: &mut HashMap<AgentId, Lookup>,
    queue: &mut VecDeque<AgentId>,
    author: AgentId,
    lookup: Lookup,
) {
    match wanted.get_mut(&author) {
        Some(present) => {
            present.all_keys |= lookup.all_keys;
            lookup.keys.into_iter().for_each(|key| present.add(Need::Key(key)));
        }
        None => {
            wanted.insert(author, lookup);
            queue.push_back(author);
        }
    }
}
