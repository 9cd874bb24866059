//! Events in the order of their times; those of one time in the order in which they were put in.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// 1 024 microseconds share a slot of the wheel.
const SLOT_BITS: u32 = 10;
/// The wheel reaches four seconds ahead.
const SLOTS: u64 = 4_096;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    at: u64,
    order: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl<E> Eq for Entry<E> {}

impl<E> Ord for Entry<E> {
    /// The earliest is the greatest, because a heap gives out the greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A queue that is fast where most events lie within the next seconds: they wait unsorted in slots of about a
/// millisecond, and only the present slot is sorted. Times are microseconds since the start.
#[derive(Clone, Debug)]
pub struct Queue<E> {
    /// The slot whose events are given out now.
    slot: u64,
    due: BinaryHeap<Entry<E>>,
    wheel: Vec<Vec<Entry<E>>>,
    in_wheel: usize,
    far: BinaryHeap<Entry<E>>,
    pushed: u64,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self {
            slot: 0,
            due: BinaryHeap::new(),
            wheel: (0..SLOTS).map(|_| Vec::new()).collect(),
            in_wheel: 0,
            far: BinaryHeap::new(),
            pushed: 0,
        }
    }
}

impl<E> Queue<E> {
    /// Puts an event in. One of a time that has passed comes out next.
    pub fn push(&mut self, at: u64, event: E) {
        self.pushed += 1;
        self.sort_in(Entry { at, order: self.pushed, event });
    }

    fn sort_in(&mut self, entry: Entry<E>) {
        let slot = entry.at >> SLOT_BITS;
        if slot <= self.slot {
            self.due.push(entry);
        } else if slot < self.slot + SLOTS {
            self.wheel[(slot % SLOTS) as usize].push(entry);
            self.in_wheel += 1;
        } else {
            self.far.push(entry);
        }
    }

    /// Takes the next event out, with its time.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        loop {
            if let Some(entry) = self.due.pop() {
                return Some((entry.at, entry.event));
            }
            self.turn()?;
        }
    }

    /// Goes on to the next slot that may have events.
    fn turn(&mut self) -> Option<()> {
        self.slot = if self.in_wheel > 0 { self.slot + 1 } else { self.far.peek()?.at >> SLOT_BITS };
        let slot = &mut self.wheel[(self.slot % SLOTS) as usize];
        self.in_wheel -= slot.len();
        self.due.extend(slot.drain(..));
        while self.far.peek().is_some_and(|entry| entry.at >> SLOT_BITS < self.slot + SLOTS) {
            if let Some(entry) = self.far.pop() {
                self.sort_in(entry);
            }
        }
        Some(())
    }

    /// Events that were put in so far.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The model is a list that is sorted by time, stably.
        #[test]
        fn events_come_out_by_time_and_then_in_the_order_of_their_arrival(
            steps in prop::collection::vec(prop::option::of(0_u64..12_000_000), 0..300),
        ) {
            let (mut queue, mut model, mut now) = (Queue::default(), Vec::new(), 0);
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Some(delay) => {
                        queue.push(now + delay, number);
                        model.push((now + delay, number));
                        model.sort_by_key(|it| it.0);
                    }
                    None => {
                        let next = if model.is_empty() { None } else { Some(model.remove(0)) };
                        prop_assert_eq!(queue.pop(), next);
                        now = next.map_or(now, |it| it.0);
                    }
                }
            }
            for next in model {
                prop_assert_eq!(queue.pop(), Some(next));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn an_event_of_the_past_comes_out_next() {
        let mut queue = Queue::default();
        queue.push(5_000_000, 'a');
        assert_eq!(queue.pop(), Some((5_000_000, 'a')));
        queue.push(6_000_000, 'b');
        queue.push(10, 'c');
        assert_eq!((queue.pop(), queue.pop()), (Some((10, 'c')), Some((6_000_000, 'b'))));
        assert_eq!(queue.pushed(), 3);
    }
}
