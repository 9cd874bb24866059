//! Which messages were seen, so that the buffer that comes with a join doubles none.

use std::collections::hash_map::RandomState;
use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher;

use zx1_relay_rules::event::Said;

/// Messages that are remembered.
const MOST: usize = 4_096;

/// Hashes of the last messages, under a secret of the process, so that nobody can make two of one hash.
#[derive(Debug, Default)]
pub struct Seen {
    secret: RandomState,
    order: VecDeque<u64>,
    known: HashSet<u64>,
}

impl Seen {
    /// Remembers a message; whether it is new. One without an id that does not come from the buffer always is.
    pub fn take(&mut self, said: &Said, ts: u64) -> bool {
        let place = (said.from.as_str(), said.to.to_string());
        let key = match &said.msg_id {
            Some(id) => self.secret.hash_one((place, id)),
            None => self.secret.hash_one((place, ts, &said.content)),
        };
        if !self.known.insert(key) {
            return said.msg_id.is_none() && !said.replay;
        }
        self.order.push_back(key);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}
