//! The one ring: a bounded sequence of entries, and followers that each hold a place in it.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::Notify;

/// An entry of a [`Ring`].
#[derive(Debug, Clone)]
struct Entry<E> {
    sequence: u64,
    size: usize,
    event: E,
}

/// The newest entries of something, within a bound of entries and one of bytes. Sequence numbers ascend; they need not
/// be contiguous.
#[derive(Debug)]
pub struct Ring<E> {
    entries: VecDeque<Entry<E>>,
    most: usize,
    most_bytes: usize,
    bytes: usize,
    /// Number of entries that were evicted: the place of the first that is left.
    first: u64,
    /// Sequence number of the last that was evicted.
    evicted: u64,
}

impl<E> Ring<E> {
    /// An empty ring. The newest entry stays also where it alone has more than `most_bytes`.
    #[must_use]
    pub fn new(most: usize, most_bytes: usize) -> Ring<E> {
        Ring { entries: VecDeque::new(), most: most.max(1), most_bytes, bytes: 0, first: 0, evicted: 0 }
    }

    /// Adds an entry of `size` bytes.
    pub fn push(&mut self, sequence: u64, size: usize, event: E) {
        self.entries.push_back(Entry { sequence, size, event });
        self.bytes = self.bytes.saturating_add(size);
        while self.entries.len() > self.most || (self.bytes > self.most_bytes && self.entries.len() > 1) {
            self.evict();
        }
    }

    /// Removes the oldest entry.
    pub fn evict(&mut self) -> Option<E> {
        let gone = self.entries.pop_front()?;
        self.bytes = self.bytes.saturating_sub(gone.size);
        self.first = self.first.saturating_add(1);
        self.evicted = gone.sequence;
        Some(gone.event)
    }

    /// The oldest entry.
    pub fn oldest(&self) -> Option<&E> {
        self.entries.front().map(|entry| &entry.event)
    }

    /// The newest entry with its sequence number.
    pub fn newest(&self) -> Option<(u64, &E)> {
        self.entries.back().map(|entry| (entry.sequence, &entry.event))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of all entries.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sequence number of the last entry that was evicted, or 0: whoever resumes before it misses something.
    #[must_use]
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// The entries after this sequence number, oldest first.
    pub fn after(&self, sequence: u64) -> impl Iterator<Item = (u64, &E)> {
        let from = self.entries.partition_point(|entry| entry.sequence <= sequence);
        self.entries.range(from..).map(|entry| (entry.sequence, &entry.event))
    }

    /// The last entries, at most `most`, oldest first.
    pub fn last(&self, most: usize) -> impl Iterator<Item = (u64, &E)> {
        let from = self.entries.len().saturating_sub(most);
        self.entries.range(from..).map(|entry| (entry.sequence, &entry.event))
    }

    /// The place behind the newest entry.
    fn end(&self) -> u64 {
        self.first.saturating_add(u64::try_from(self.entries.len()).unwrap_or(u64::MAX))
    }

    /// The entry in this place; an error with the number of entries that are missing when it was evicted.
    fn at(&self, place: u64) -> Result<Option<&E>, u64> {
        let index = place.checked_sub(self.first).ok_or_else(|| self.first.saturating_sub(place))?;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        Ok(self.entries.get(index).map(|entry| &entry.event))
    }
}

#[derive(Debug)]
struct Shared<E> {
    ring: RwLock<Ring<E>>,
    news: Notify,
}

/// A [`Ring`] that is followed. Clones share it.
#[derive(Debug)]
pub struct Feed<E>(Arc<Shared<E>>);

impl<E> Clone for Feed<E> {
    fn clone(&self) -> Feed<E> {
        Feed(self.0.clone())
    }
}

impl<E> Feed<E> {
    /// An empty feed with the bounds of a [`Ring`].
    #[must_use]
    pub fn new(most: usize, most_bytes: usize) -> Feed<E> {
        Feed(Arc::new(Shared { ring: RwLock::new(Ring::new(most, most_bytes)), news: Notify::new() }))
    }

    /// Adds an entry of `size` bytes and wakes whoever follows.
    pub fn push(&self, sequence: u64, size: usize, event: E) {
        self.0.ring.write().unwrap_or_else(PoisonError::into_inner).push(sequence, size, event);
        self.0.news.notify_waiters();
    }

    /// Follows what is added from now on.
    #[must_use]
    pub fn follow(&self) -> Follower<E> {
        let place = self.0.ring.read().unwrap_or_else(PoisonError::into_inner).end();
        Follower { shared: self.0.clone(), place }
    }
}

/// Whoever follows was slower than the ring is long; it goes on with the oldest entry that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lagged {
    /// Number of entries that it missed.
    pub missed: u64,
}

/// A place in a [`Feed`].
#[derive(Debug)]
pub struct Follower<E> {
    shared: Arc<Shared<E>>,
    place: u64,
}

impl<E: Clone> Follower<E> {
    /// Waits for the next entry. Cancel-safe: nothing is lost when the future is dropped.
    ///
    /// # Errors
    ///
    /// Once, when entries were missed.
    pub async fn next(&mut self) -> Result<E, Lagged> {
        let shared = self.shared.clone();
        loop {
            // It hears of what is added after this line, also before it is polled.
            let news = shared.news.notified();
            if let Some(next) = self.try_next() {
                return next;
            }
            news.await;
        }
    }

    /// The next entry, if there is one.
    pub fn try_next(&mut self) -> Option<Result<E, Lagged>> {
        let ring = self.shared.ring.read().unwrap_or_else(PoisonError::into_inner);
        match ring.at(self.place) {
            Ok(event) => {
                let event = event?.clone();
                self.place = self.place.saturating_add(1);
                Some(Ok(event))
            }
            Err(missed) => {
                self.place = ring.first;
                Some(Err(Lagged { missed }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(ring: &Ring<u64>, after: u64) -> Vec<u64> {
        ring.after(after).map(|(sequence, _)| sequence).collect()
    }

    #[test]
    fn a_ring_keeps_the_newest_within_both_bounds() {
        let mut ring = Ring::new(3, 100);
        for sequence in [2, 4, 6, 8] {
            ring.push(sequence, 10, sequence);
        }
        assert_eq!((sequences(&ring, 0), ring.evicted(), ring.bytes()), (vec![4, 6, 8], 2, 30));
        ring.push(9, 80, 9);
        assert_eq!((sequences(&ring, 0), ring.evicted(), ring.bytes()), (vec![6, 8, 9], 4, 100));
        ring.push(10, 0, 10);
        ring.push(11, 21, 11);
        assert_eq!((sequences(&ring, 0), ring.evicted(), ring.bytes()), (vec![10, 11], 9, 21));
        ring.push(12, 101, 12);
        assert_eq!((sequences(&ring, 0), ring.evicted(), ring.bytes()), (vec![12], 11, 101));
    }

    #[test]
    fn entries_are_found_after_a_number_that_no_entry_has() {
        let mut ring = Ring::new(9, 100);
        for sequence in [2, 4, 6] {
            ring.push(sequence, 1, sequence);
        }
        assert_eq!(sequences(&ring, 3), [4, 6]);
        assert_eq!(sequences(&ring, 4), [6]);
        assert_eq!(sequences(&ring, 6), [0; 0]);
        assert_eq!(ring.last(2).map(|(sequence, _)| sequence).collect::<Vec<_>>(), [4, 6]);
        assert_eq!(ring.last(9).count(), 3);
    }

    #[tokio::test]
    async fn a_slow_follower_is_told_once_how_much_it_missed_and_goes_on() {
        let feed = Feed::new(2, usize::MAX);
        feed.push(1, 1, 1);
        let mut follower = feed.follow();
        assert_eq!(follower.try_next(), None);
        for sequence in 2..=6 {
            feed.push(sequence, 1, sequence);
        }
        assert_eq!(follower.next().await, Err(Lagged { missed: 3 }));
        assert_eq!((follower.next().await, follower.next().await), (Ok(5), Ok(6)));
        let waits = tokio::spawn(async move { follower.next().await });
        tokio::task::yield_now().await;
        feed.push(7, 1, 7);
        assert_eq!(waits.await.ok(), Some(Ok(7)));
    }
}
