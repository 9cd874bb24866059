//! A map of bounded size, in order of use.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A map that knows which of its keys was used least recently. It never holds more than its bound.
#[derive(Clone, Debug)]
pub struct Lru<K, V> {
    most: usize,
    uses: u64,
    entries: HashMap<K, (u64, V)>,
    /// The keys by the number of their last use.
    order: BTreeMap<u64, K>,
}

impl<K: Clone + Eq + Hash, V> Lru<K, V> {
    /// An empty map of at most `most` entries; one at least.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), uses: 0, entries: HashMap::new(), order: BTreeMap::new() }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the next new key pushes another one out.
    pub fn is_full(&self) -> bool {
        self.len() >= self.most
    }

    /// A value, which does not count as used.
    pub fn peek(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// A value, which counts as used now.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        let (used, value) = self.entries.get_mut(key)?;
        // It would take five hundred thousand years of a million uses a second to end.
        self.uses = self.uses.saturating_add(1);
        if let Some(key) = self.order.remove(used) {
            self.order.insert(self.uses, key);
        }
        *used = self.uses;
        Some(value)
    }

    /// Puts a value, which counts as used now, and returns what had to go for it.
    pub fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        self.remove(&key);
        let gone = if self.is_full() { self.pop() } else { None };
        self.uses = self.uses.saturating_add(1);
        self.order.insert(self.uses, key.clone());
        self.entries.insert(key, (self.uses, value));
        gone
    }

    /// Changes a value, made where there is none; it counts as used now.
    pub fn update<R>(&mut self, key: &K, make: impl FnOnce() -> V, change: impl FnOnce(&mut V) -> R) -> R {
        if let Some(value) = self.get(key) {
            return change(value);
        }
        let mut value = make();
        let result = change(&mut value);
        self.insert(key.clone(), value);
        result
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (used, value) = self.entries.remove(key)?;
        self.order.remove(&used);
        Some(value)
    }

    /// Takes out the entry that was used least recently.
    pub fn pop(&mut self) -> Option<(K, V)> {
        let (_, key) = self.order.pop_first()?;
        let (_, value) = self.entries.remove(&key)?;
        Some((key, value))
    }

    /// The entry that was used least recently.
    pub fn oldest(&self) -> Option<(&K, &V)> {
        let key = self.order.first_key_value()?.1;
        self.entries.get(key).map(|(_, value)| (key, value))
    }

    /// All entries, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, (_, value))| (key, value))
    }
}
