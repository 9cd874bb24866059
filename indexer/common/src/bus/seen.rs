//! Which ids were there within a time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The ids of a time, each with a value. Of too many the oldest leave first.
#[derive(Debug)]
pub struct Seen<V = ()> {
    window: Duration,
    most: usize,
    values: HashMap<Arc<str>, V>,
    order: VecDeque<(Instant, Arc<str>)>,
}

impl<V> Seen<V> {
    /// Remembers at most `most` ids, each for `window`.
    #[must_use]
    pub fn new(window: Duration, most: usize) -> Seen<V> {
        Seen { window, most, values: HashMap::new(), order: VecDeque::new() }
    }

    /// The value of an id that was there.
    pub fn get(&mut self, id: &str, now: Instant) -> Option<&V> {
        while self.order.front().is_some_and(|(at, _)| now.duration_since(*at) >= self.window) {
            self.forget();
        }
        self.values.get(id)
    }

    /// Remembers an id. `false`, and nothing changes, when it was there.
    pub fn insert(&mut self, id: &str, value: V, now: Instant) -> bool {
        if self.get(id, now).is_some() {
            return false;
        }
        let id: Arc<str> = id.into();
        self.values.insert(id.clone(), value);
        self.order.push_back((now, id));
        if self.order.len() > self.most {
            self.forget();
        }
        true
    }

    fn forget(&mut self) {
        if let Some((_, id)) = self.order.pop_front() {
            self.values.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_counts_once_within_the_window_and_of_too_many_the_oldest_leave() {
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        let mut seen = Seen::new(Duration::from_secs(10), 2);
        assert!(seen.insert("a", 1, begin) && !seen.insert("a", 2, begin));
        assert_eq!(seen.get("a", after(9)), Some(&1));
        assert!(!seen.insert("a", 3, after(9)), "a duplicate does not extend the window");
        let end = after(10);
        assert!(seen.insert("a", 4, end) && seen.insert("b", 5, end) && seen.insert("c", 6, end));
        let left = ["a", "b", "c"].map(|id| seen.get(id, end).copied());
        assert_eq!(left, [None, Some(5), Some(6)]);
    }
}
