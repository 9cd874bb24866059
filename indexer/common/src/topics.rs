//! Topics: the newest events of each of many topics, and all of them in order for whoever follows.
//!
//! One counter numbers the events of all topics, so numbers ascend within a topic and may skip. A follower that names
//! the last number that it has seen gets what is still kept after it, and hears of a [`Heard::Gap`] when something may
//! be missing. A follower that is slower than the queue hears that it [`Heard::Lagged`]; nobody waits for it.

mod ring;

pub use ring::{Feed, Follower, Lagged, Ring};

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What topics may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of topics. Above it the topic is forgotten that was silent longest.
    pub topics: usize,
    /// Maximum number of events that are kept of a topic.
    pub kept: usize,
    /// Maximum bytes of all events that are kept, topics' names included. Above it topics are forgotten as above.
    pub bytes: usize,
    /// Maximum age of an event that is kept.
    pub age: Duration,
    /// Maximum number of events, of all topics, by which a follower may be behind.
    pub queue: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            topics: 10_000,
            kept: 20,
            bytes: 256 << 20,
            age: Duration::from_secs(24 * 3_600),
            queue: 1 << 14,
        }
    }
}

/// An event of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<E> {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The event's number.
    pub sequence: u64,
    /// The event itself.
    pub event: E,
}

/// Where a follower begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With what comes from now on.
    Now,
    /// With what is kept after this number; 0 for all that is kept.
    After(u64),
}

/// What a follower hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard<E> {
    /// An event of a topic that is followed.
    Item(Item<E>),
    /// Events of this topic may be missing here; of any topic, where none is named.
    Gap(Option<Arc<str>>),
    /// The follower was too slow and has missed this number of events, of any topic.
    Lagged(u64),
}

/// What is kept of a topic after a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past<E> {
    /// The events, oldest first.
    pub items: Vec<Item<E>>,
    /// Whether it is certain that none is missing.
    pub is_whole: bool,
}

#[derive(Debug)]
struct State<E> {
    kept: HashMap<Arc<str>, Ring<(Instant, E)>>,
    /// The topics by the number of their newest event.
    by_newest: BTreeMap<u64, Arc<str>>,
    bytes: usize,
    /// The last number that was given.
    last: u64,
    /// The highest number of an event of a forgotten topic.
    forgotten: u64,
}

/// A topic's name and what is kept of it.
type Kept<'k, E> = (&'k Arc<str>, &'k Ring<(Instant, E)>);

/// Many topics. Clones share them.
#[derive(Debug)]
pub struct Topics<E> {
    bounds: Bounds,
    state: Arc<Mutex<State<E>>>,
    feed: Feed<Heard<E>>,
}

impl<E> Clone for Topics<E> {
    fn clone(&self) -> Topics<E> {
        Topics { bounds: self.bounds, state: self.state.clone(), feed: self.feed.clone() }
    }
}

/// Whether a topic is this one or one below it: `rooms` has `rooms` and `rooms.a.b`; the empty prefix has all.
#[must_use]
pub fn has(prefix: &str, topic: &str) -> bool {
    prefix.is_empty()
        || topic.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// What an event weighs beside its own bytes.
const OVERHEAD: usize = 64;

impl<E: Clone> Topics<E> {
    /// Without any topic.
    #[must_use]
    pub fn new(bounds: Bounds) -> Topics<E> {
        let state =
            State { kept: HashMap::new(), by_newest: BTreeMap::new(), bytes: 0, last: 0, forgotten: 0 };
        let feed = Feed::new(bounds.queue, bounds.bytes);
        Topics { bounds, state: Arc::new(Mutex::new(state)), feed }
    }

    fn state(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event of `size` bytes. Its number.
    pub fn push(&self, topic: &str, size: usize, event: E) -> u64 {
        let mut state = self.state();
        let sequence = state.last.saturating_add(1);
        self.add(&mut state, topic, (sequence, size, event), Instant::now());
        sequence
    }

    /// Adds an event that somebody else has numbered. `false` when its number is not above the last: then it is
    /// known already.
    pub fn push_at(&self, topic: &str, sequence: u64, size: usize, event: E) -> bool {
        let mut state = self.state();
        let is_new = sequence > state.last;
        if is_new {
            self.add(&mut state, topic, (sequence, size, event), Instant::now());
        }
        is_new
    }

    fn add(&self, state: &mut State<E>, topic: &str, event: (u64, usize, E), now: Instant) {
        let (sequence, size, event) = event;
        let size = size.saturating_add(topic.len()).saturating_add(OVERHEAD);
        let name = match state.kept.get_key_value(topic) {
            Some((name, _)) => name.clone(),
            None => Arc::from(topic),
        };
        let ring =
            state.kept.entry(name.clone()).or_insert_with(|| Ring::new(self.bounds.kept, self.bounds.bytes));
        let (newest, before) = (ring.newest().map(|(sequence, _)| sequence), ring.bytes());
        ring.push(sequence, size, (now, event.clone()));
        let after = ring.bytes();
        state.bytes = state.bytes.saturating_sub(before).saturating_add(after);
        if let Some(newest) = newest {
            state.by_newest.remove(&newest);
        }
        state.by_newest.insert(sequence, name.clone());
        state.last = sequence;
        self.trim(state, now);
        self.feed.push(sequence, size, Heard::Item(Item { topic: name, sequence, event }));
    }

    /// Forgets what is too much and what is too old, the topic first that was silent longest.
    fn trim(&self, state: &mut State<E>, now: Instant) {
        while let Some((newest, name)) = state.by_newest.first_key_value() {
            let (newest, name) = (*newest, name.clone());
            let Some(ring) = state.kept.get_mut(&name) else { break };
            let is_old = ring.newest().is_some_and(|(_, (at, _))| now.duration_since(*at) >= self.bounds.age);
            let is_too_much = state.bytes > self.bounds.bytes || state.by_newest.len() > self.bounds.topics;
            if is_old || (is_too_much && state.by_newest.len() > 1) {
                state.bytes = state.bytes.saturating_sub(ring.bytes());
                state.kept.remove(&name);
                state.by_newest.remove(&newest);
                state.forgotten = state.forgotten.max(newest);
            } else {
                break;
            }
        }
    }

    /// Says that events of a topic, or of any, may be missing here.
    pub fn gap(&self, topic: Option<&str>) {
        let state = self.state();
        self.feed.push(state.last, OVERHEAD, Heard::Gap(topic.map(Arc::from)));
    }

    /// Forgets everything, also the numbers, which begin anew. Followers hear of a gap.
    pub fn reset(&self) {
        let mut state = self.state();
        state.kept.clear();
        state.by_newest.clear();
        (state.bytes, state.last, state.forgotten) = (0, 0, 0);
        self.feed.push(0, OVERHEAD, Heard::Gap(None));
    }

    /// The last number that was given.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.state().last
    }

    /// The number of a topic's newest event; at least that of every event that is forgotten.
    #[must_use]
    pub fn newest(&self, topic: &str) -> u64 {
        let state = self.state();
        let newest = state.kept.get(topic).and_then(Ring::newest).map(|(newest, _)| newest);
        newest.unwrap_or(state.forgotten)
    }

    /// Number of topics of which something is kept, and the bytes of all that is kept.
    #[must_use]
    pub fn weight(&self) -> (usize, usize) {
        let state = self.state();
        (state.kept.len(), state.bytes)
    }

    /// The last events of a topic, at most `most`, oldest first.
    #[must_use]
    pub fn last(&self, topic: &str, most: usize) -> Vec<Item<E>> {
        self.last_at(topic, most, Instant::now())
    }

    fn last_at(&self, topic: &str, most: usize, now: Instant) -> Vec<Item<E>> {
        let state = self.state();
        let Some((name, ring)) = state.kept.get_key_value(topic) else { return Vec::new() };
        self.fresh(name, ring.last(most), now)
    }

    /// What is kept of a topic after a number.
    #[must_use]
    pub fn after(&self, topic: &str, sequence: u64) -> Past<E> {
        self.after_at(topic, sequence, Instant::now())
    }

    fn after_at(&self, topic: &str, sequence: u64, now: Instant) -> Past<E> {
        let state = self.state();
        let mut past = match state.kept.get_key_value(topic) {
            Some((name, ring)) => self.past(&state, (name, ring), sequence, now),
            None => Past { items: Vec::new(), is_whole: state.forgotten <= sequence },
        };
        past.is_whole &= sequence <= state.last;
        past
    }

    fn past(&self, state: &State<E>, topic: Kept<'_, E>, sequence: u64, now: Instant) -> Past<E> {
        let (name, ring) = topic;
        let items = self.fresh(name, ring.after(sequence), now);
        let is_fresh = items.len() == ring.after(sequence).count();
        // A topic that was forgotten and came back does not know what it had before.
        let covers = ring.after(0).next().is_some_and(|(oldest, _)| oldest <= sequence);
        let had_none = ring.evicted() > 0 || state.forgotten <= sequence;
        Past { items, is_whole: is_fresh && ring.evicted() <= sequence && (covers || had_none) }
    }

    fn fresh<'r>(
        &self,
        name: &Arc<str>,
        entries: impl Iterator<Item = (u64, &'r (Instant, E))>,
        now: Instant,
    ) -> Vec<Item<E>>
    where
        E: 'r,
    {
        let fresh = entries.filter(|(_, (at, _))| now.duration_since(*at) < self.bounds.age);
        let item = |(sequence, (_, event)): (u64, &(Instant, E))| Item {
            topic: name.clone(),
            sequence,
            event: event.clone(),
        };
        fresh.map(item).collect()
    }

    /// Follows the topics that `prefix` [has](has).
    #[must_use]
    pub fn follow(&self, prefix: &str, start: Start) -> Following<E> {
        // Under the lock: what is added afterwards is in the feed and not in the backlog.
        let state = self.state();
        let (mut backlog, now) = (VecDeque::new(), Instant::now());
        if let Start::After(sequence) = start {
            let mut is_whole = sequence <= state.last && state.forgotten <= sequence;
            let mut items = Vec::new();
            for (name, ring) in state.kept.iter().filter(|(name, _)| has(prefix, name)) {
                let past = self.past(&state, (name, ring), sequence, now);
                is_whole &= past.is_whole;
                items.extend(past.items);
            }
            items.sort_unstable_by_key(|item| item.sequence);
            if !is_whole && sequence > 0 {
                backlog.push_back(Heard::Gap(None));
            }
            backlog.extend(items.into_iter().map(Heard::Item));
        }
        Following { prefix: prefix.into(), backlog, follower: self.feed.follow() }
    }
}

/// A follower of topics.
#[derive(Debug)]
pub struct Following<E> {
    prefix: Box<str>,
    backlog: VecDeque<Heard<E>>,
    follower: Follower<Heard<E>>,
}

impl<E: Clone> Following<E> {
    /// Waits for the next event. Cancel-safe: nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Heard<E> {
        if let Some(heard) = self.backlog.pop_front() {
            return heard;
        }
        loop {
            return match self.follower.next().await {
                Err(Lagged { missed }) => return Heard::Lagged(missed),
                Ok(heard) => match &heard {
                    Heard::Item(item) if !has(&self.prefix, &item.topic) => continue,
                    Heard::Gap(Some(topic)) if !has(&self.prefix, topic) => continue,
                    _ => heard,
                },
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Topics<u32> {
        Topics::new(Bounds { topics: 3, kept: 4, bytes: 1_000, age: Duration::from_secs(60), queue: 8 })
    }

    fn numbers(items: &[Item<u32>]) -> Vec<u64> {
        items.iter().map(|item| item.sequence).collect()
    }

    async fn hears(following: &mut Following<u32>) -> String {
        match following.next().await {
            Heard::Item(item) => format!("{} {} {}", item.topic, item.sequence, item.event),
            Heard::Gap(topic) => format!("gap in {}", topic.as_deref().unwrap_or("any")),
            Heard::Lagged(missed) => format!("lagged {missed}"),
        }
    }

    #[test]
    fn a_topic_keeps_its_newest_and_says_whether_something_is_missing() {
        let topics = small();
        for event in 1..=6 {
            topics.push("a", 1, event);
        }
        assert_eq!(topics.push("b", 1, 7), 7);
        assert_eq!(numbers(&topics.last("a", 9)), [3, 4, 5, 6]);
        assert_eq!(numbers(&topics.last("a", 2)), [5, 6]);
        let past = |topic, sequence| {
            let past = topics.after(topic, sequence);
            (numbers(&past.items), past.is_whole)
        };
        assert_eq!(past("a", 4), (vec![5, 6], true));
        assert_eq!(past("a", 2), (vec![3, 4, 5, 6], true));
        assert_eq!(past("a", 1), (vec![3, 4, 5, 6], false));
        assert_eq!(past("b", 6), (vec![7], true));
        assert_eq!(past("c", 6), (vec![], true));
        assert_eq!(past("a", 8), (vec![], false), "a number that was never given");
    }

    #[test]
    fn the_topic_that_was_silent_longest_is_forgotten_first() {
        let topics = small();
        for topic in ["a", "b", "c", "a"] {
            topics.push(topic, 1, 0);
        }
        topics.push("d", 1, 0);
        assert_eq!(topics.weight().0, 3);
        assert_eq!((topics.last("b", 9), numbers(&topics.last("a", 9))), (vec![], vec![1, 4]));
        assert!(!topics.after("b", 1).is_whole, "2 is forgotten");
        assert_eq!((topics.newest("a"), topics.newest("b")), (4, 2));
        assert!(topics.after("b", 2).is_whole);
        topics.push("b", 1, 0);
        assert!(!topics.after("b", 1).is_whole, "its new ring does not have 2");
        topics.push("e", 900, 0);
        assert_eq!(topics.weight(), (1, 900 + 1 + OVERHEAD));
        topics.push("e", 2_000, 0);
        assert_eq!(topics.weight(), (1, 2_000 + 1 + OVERHEAD), "the newest event stays");
    }

    #[test]
    fn what_is_too_old_is_not_given_any_more() {
        let topics = small();
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        topics.add(&mut topics.state(), "a", (1, 1, 0), begin);
        topics.add(&mut topics.state(), "b", (2, 1, 0), after(1));
        let kept = |topic, seconds| topics.last_at(topic, 9, after(seconds)).len();
        assert_eq!((kept("a", 59), kept("a", 60)), (1, 0));
        assert_eq!((kept("b", 60), kept("b", 61)), (1, 0));
        assert!(topics.after_at("a", 0, after(59)).is_whole && !topics.after_at("a", 0, after(60)).is_whole);
        topics.add(&mut topics.state(), "b", (3, 1, 0), after(60));
        assert_eq!(topics.weight().0, 1, "the topic that only had what is too old is forgotten");
        assert_eq!((kept("b", 60), kept("b", 61)), (2, 1));
    }

    #[tokio::test]
    async fn a_follower_hears_what_is_kept_then_what_comes_of_its_topics() {
        let topics = small();
        for topic in ["rooms.a", "roomsize", "rooms.b", "rooms"] {
            topics.push(topic, 1, 0);
        }
        let mut all = topics.follow("rooms", Start::After(0));
        let mut now = topics.follow("rooms.b", Start::Now);
        let mut late = topics.follow("", Start::After(4));
        let mut unknown = topics.follow("", Start::After(9));
        topics.push("rooms.b", 1, 1);
        topics.gap(Some("roomsize"));
        topics.gap(Some("rooms.b"));
        // The first was forgotten: three topics are kept.
        for heard in ["rooms.b 3 0", "rooms 4 0", "rooms.b 5 1", "gap in rooms.b"] {
            assert_eq!(hears(&mut all).await, heard);
        }
        for heard in ["rooms.b 5 1", "gap in rooms.b"] {
            assert_eq!(hears(&mut now).await, heard);
        }
        for heard in ["rooms.b 5 1", "gap in roomsize", "gap in rooms.b"] {
            assert_eq!(hears(&mut late).await, heard);
        }
        assert_eq!(hears(&mut unknown).await, "gap in any");
    }

    #[tokio::test]
    async fn a_slow_follower_hears_that_it_lagged() {
        let topics = small();
        let mut following = topics.follow("a", Start::Now);
        for event in 0..11 {
            topics.push("a", 1, event);
        }
        assert_eq!(hears(&mut following).await, "lagged 3");
        assert_eq!(hears(&mut following).await, "a 4 3");
        let last = topics.sequence();
        let mut resumed = topics.follow("a", Start::After(last - 6));
        assert_eq!(hears(&mut resumed).await, "gap in any");
        assert_eq!(hears(&mut resumed).await, "a 8 7");
    }

    #[tokio::test]
    async fn numbers_of_somebody_else_are_taken_once_and_begin_anew_after_a_reset() {
        let topics = small();
        let mut following = topics.follow("", Start::Now);
        assert!(
            topics.push_at("a", 7, 1, 1) && !topics.push_at("a", 7, 1, 1) && !topics.push_at("b", 3, 1, 2)
        );
        topics.reset();
        assert!(topics.push_at("b", 1, 1, 3));
        for heard in ["a 7 1", "gap in any", "b 1 3"] {
            assert_eq!(hears(&mut following).await, heard);
        }
    }
}
