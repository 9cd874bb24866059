//! The queue in front of the validator: pure, keyed by author.
//!
//! Authors take turns, and one author's messages come out in order, one at a time. When it is full, the newest
//! message of the author with the most goes, so a loud author crowds out itself and nobody else.

use std::collections::{BTreeSet, HashMap, VecDeque};
use zx1_protocol::ids::WalletKey;

/// How much fits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueLimits {
    /// Messages of all authors together.
    pub(crate) messages: usize,
    /// Bytes of all of them.
    pub(crate) bytes: usize,
}

struct Lane<T> {
    items: VecDeque<(T, usize)>,
    /// How loud it is: see [`Queue::weight`].
    weight: usize,
    /// Its turn is being worked on, or it waits: nothing comes out.
    busy: bool,
}

/// Messages by author.
pub(crate) struct Queue<T> {
    limits: QueueLimits,
    lanes: HashMap<WalletKey, Lane<T>>,
    /// Who is next. Holds each author with a message that is not busy, once.
    turns: VecDeque<WalletKey>,
    /// By weight, the largest last.
    loudest: BTreeSet<(usize, WalletKey)>,
    messages: usize,
    bytes: usize,
}

impl<T> Queue<T> {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            lanes: HashMap::new(),
            turns: VecDeque::new(),
            loudest: BTreeSet::new(),
            messages: 0,
            bytes: 0,
        }
    }

    /// Adds a message of this many bytes. Returns what had to go.
    pub(crate) fn push(&mut self, author: WalletKey, item: T, length: usize) -> Vec<T> {
        let lane = self.lanes.entry(author).or_insert_with(|| Lane {
            items: VecDeque::new(),
            weight: 0,
            busy: false,
        });
        if lane.items.is_empty() && !lane.busy {
            self.turns.push_back(author);
        }
        lane.items.push_back((item, length));
        self.messages = self.messages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(length);
        let weight = self.weight(length);
        self.weigh(author, |before| before.saturating_add(weight));
        let mut gone = Vec::new();
        while self.messages > self.limits.messages || self.bytes > self.limits.bytes {
            match self.drop_newest_of_loudest() {
                Some(item) => gone.push(item),
                None => break,
            }
        }
        gone
    }

    /// The next message of the author whose turn it is. Nothing more of the author comes out before
    /// [`Self::done`].
    pub(crate) fn pop(&mut self) -> Option<(WalletKey, T)> {
        let author = self.turns.pop_front()?;
        let lane = self.lanes.get_mut(&author)?;
        let (item, length) = lane.items.pop_front()?;
        lane.busy = true;
        self.taken(author, length);
        Some((author, item))
    }

    /// The author's last message is dealt with, and the next may come out.
    pub(crate) fn done(&mut self, author: WalletKey) {
        let Some(lane) = self.lanes.get_mut(&author) else { return };
        lane.busy = false;
        if lane.items.is_empty() {
            self.lanes.remove(&author);
        } else {
            self.turns.push_back(author);
        }
    }

    /// Takes out all messages of an author that is not done yet.
    pub(crate) fn take_all(&mut self, author: WalletKey) -> Vec<T> {
        let Some(lane) = self.lanes.get_mut(&author) else { return Vec::new() };
        let items = std::mem::take(&mut lane.items);
        items.iter().for_each(|(_, length)| self.taken(author, *length));
        items.into_iter().map(|(item, _)| item).collect()
    }

    /// Messages in it.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.messages
    }

    fn drop_newest_of_loudest(&mut self) -> Option<T> {
        let (_, author) = *self.loudest.last()?;
        let lane = self.lanes.get_mut(&author)?;
        let (item, length) = lane.items.pop_back()?;
        if lane.items.is_empty() && !lane.busy {
            self.turns.retain(|it| *it != author);
        }
        self.taken(author, length);
        if self.lanes.get(&author).is_some_and(|lane| lane.items.is_empty() && !lane.busy) {
            self.lanes.remove(&author);
        }
        Some(item)
    }

    fn taken(&mut self, author: WalletKey, length: usize) {
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(length);
        let weight = self.weight(length);
        self.weigh(author, |before| before.saturating_sub(weight));
    }

    /// What a message counts for: its share of the bytes and of the places together.
    fn weight(&self, length: usize) -> usize {
        length.saturating_add(self.limits.bytes / self.limits.messages.max(1))
    }

    fn weigh(&mut self, author: WalletKey, change: impl FnOnce(usize) -> usize) {
        let Some(lane) = self.lanes.get_mut(&author) else { return };
        let (before, after) = (lane.weight, change(lane.weight));
        lane.weight = after;
        self.loudest.remove(&(before, author));
        if after > 0 {
            self.loudest.insert((after, author));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(number: u8) -> WalletKey {
        WalletKey::from([number; 32])
    }

    fn of(messages: usize) -> Queue<(u8, u32)> {
        Queue::new(QueueLimits { messages, bytes: 1 << 30 })
    }

    #[test]
    fn authors_take_turns_and_each_keeps_its_order() {
        let mut queue = of(100);
        for number in 0..3 {
            queue.push(key(1), (1, number), 10);
        }
        queue.push(key(2), (2, 0), 10);
        let mut out = Vec::new();
        while let Some((author, item)) = queue.pop() {
            out.push(item);
            queue.done(author);
        }
        assert_eq!(out, [(1, 0), (2, 0), (1, 1), (1, 2)]);
        assert!(queue.lanes.is_empty() && queue.loudest.is_empty() && queue.bytes == 0);
    }

    #[test]
    fn an_author_at_work_gives_nothing_more() {
        let mut queue = of(100);
        queue.push(key(1), (1, 0), 10);
        queue.push(key(1), (1, 1), 10);
        assert_eq!(queue.pop(), Some((key(1), (1, 0))));
        assert_eq!(queue.pop(), None);
        queue.done(key(1));
        assert_eq!(queue.pop(), Some((key(1), (1, 1))));
    }

    #[test]
    fn a_full_queue_drops_the_newest_of_the_loudest() {
        let mut queue = of(4);
        for number in 0..3 {
            assert!(queue.push(key(1), (1, number), 10).is_empty());
        }
        assert!(queue.push(key(2), (2, 0), 10).is_empty());
        assert_eq!(queue.push(key(3), (3, 0), 10), [(1, 2)], "a quiet author finds a place");
        assert_eq!(queue.push(key(1), (1, 9), 10), [(1, 9)], "the loud one does not");
        assert_eq!(queue.len(), 4);
    }

    #[test]
    fn bytes_are_bounded_as_well() {
        let mut queue: Queue<u8> = Queue::new(QueueLimits { messages: 1_000, bytes: 10_000 });
        assert!(queue.push(key(1), 1, 6_000).is_empty());
        assert_eq!(queue.push(key(2), 2, 5_000), [1], "the author with the most bytes pays");
        assert_eq!(queue.push(key(3), 3, 100_000), [3], "what can never fit goes at once");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_doubled_or_reordered(
            steps in prop::collection::vec((0_u8..4, 0_u8..6, 1_usize..500), 0..400),
            limit in 1_usize..20,
        ) {
            let mut queue = of(limit);
            let (mut pushed, mut seen, mut open) = (0_u32, Vec::new(), Vec::new());
            for (action, author, length) in steps {
                match action {
                    0 | 1 => {
                        seen.extend(queue.push(key(author), (author, pushed), length).into_iter().map(|it| it.1));
                        pushed += 1;
                    }
                    2 => if let Some((author, item)) = queue.pop() {
                        prop_assert!(!open.contains(&author));
                        open.push(author);
                        seen.push(item.1);
                    },
                    _ => if let Some(author) = open.pop() { queue.done(author) },
                }
                prop_assert!(queue.len() <= limit);
            }
            let mut last = [None; 6];
            while !open.is_empty() || queue.len() > 0 {
                for author in open.drain(..) { queue.done(author) }
                while let Some((author, item)) = queue.pop() {
                    open.push(author);
                    prop_assert!(last[usize::from(item.0)] < Some(item.1));
                    last[usize::from(item.0)] = Some(item.1);
                    seen.push(item.1);
                }
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..pushed).collect::<Vec<_>>());
            prop_assert!(queue.lanes.is_empty() && queue.loudest.is_empty() && queue.bytes == 0);
        }
    }
}
