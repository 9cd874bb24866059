//! Messages of authors of whom nothing is known yet, in their order and within bounds.

use crate::defaults::{MAX_WAITING, MAX_WAITING_BYTES, MAX_WAITING_PER_PEER, WAITING_LIFE};
use crate::reason::Reason;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use zx1_protocol::ids::{AgentId, WalletKey};

#[derive(Clone, Debug)]
struct Waiter<P, M> {
    line: WalletKey,
    peer: P,
    since: u64,
    bytes: usize,
    message: M,
}

/// What keeps its order: the messages of one author by one source. By source, because anybody can name any author:
/// what others sign in an author's name does not hold up its own.
pub type Line = (AgentId, WalletKey);

/// Messages that wait. `P` is the peer that forwarded a message.
#[derive(Clone, Debug)]
pub struct Waiting<P, M> {
    of_author: HashMap<AgentId, VecDeque<Waiter<P, M>>>,
    of_peer: HashMap<P, usize>,
    messages: usize,
    bytes: usize,
}

impl<P, M> Default for Waiting<P, M> {
    fn default() -> Self {
        Self { of_author: HashMap::new(), of_peer: HashMap::new(), messages: 0, bytes: 0 }
    }
}

impl<P: Clone + Eq + Hash, M> Waiting<P, M> {
    /// Whether there is room for a message of this many bytes that came by this peer.
    ///
    /// # Errors
    /// [`Reason::WaitingPeerFull`], [`Reason::WaitingFull`].
    pub fn check_room(&self, peer: &P, bytes: usize) -> Result<(), Reason> {
        if self.of_peer.get(peer).is_some_and(|count| *count >= MAX_WAITING_PER_PEER) {
            return Err(Reason::WaitingPeerFull);
        }
        if self.messages >= MAX_WAITING || self.bytes.saturating_add(bytes) > MAX_WAITING_BYTES {
            return Err(Reason::WaitingFull);
        }
        Ok(())
    }

    /// Puts a message of `bytes` bytes, which has waited since `since`, behind the others of its author. The message
    /// comes back where there is no room for it.
    ///
    /// # Errors
    /// As [`Self::check_room`].
    pub fn push(
        &mut self,
        (author, line): Line,
        peer: P,
        message: M,
        bytes: usize,
        since: u64,
    ) -> Result<(), (P, M, Reason)> {
        if let Err(reason) = self.check_room(&peer, bytes) {
            return Err((peer, message, reason));
        }
        let of_peer = self.of_peer.entry(peer.clone()).or_default();
        *of_peer = of_peer.saturating_add(1);
        self.messages = self.messages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        let waiter = Waiter { line, peer, since, bytes, message };
        self.of_author.entry(author).or_default().push_back(waiter);
        Ok(())
    }

    /// Whether messages of this line wait, so that a later one must not pass them.
    pub fn has(&self, (author, line): &Line) -> bool {
        self.of_author.get(author).is_some_and(|all| all.iter().any(|waiter| waiter.line == *line))
    }

    /// Authors of messages that wait.
    pub fn authors(&self) -> Vec<AgentId> {
        self.of_author.keys().copied().collect()
    }

    /// Takes the messages of an author out, in the order in which they came, each with its peer and the time since
    /// when it waits.
    pub fn release(&mut self, author: &AgentId) -> Vec<(P, M, u64)> {
        let waiters = self.of_author.remove(author).unwrap_or_default();
        let with_since = waiters.into_iter().map(|waiter| {
            let since = waiter.since;
            let (peer, message) = self.left(waiter);
            (peer, message, since)
        });
        with_since.collect()
    }

    /// Takes out what has waited too long, or since a time that the clock has yet to reach again.
    pub fn expire(&mut self, now: u64) -> Vec<(P, M)> {
        let is_late =
            |waiter: &Waiter<P, M>| now.checked_sub(waiter.since).is_none_or(|waited| waited >= WAITING_LIFE);
        let mut late = Vec::new();
        self.of_author.retain(|_, waiters| {
            // An author's messages wait in the order of their times, but for jumps of the clock.
            while waiters.front().is_some_and(is_late) {
                late.extend(waiters.pop_front());
            }
            !waiters.is_empty()
        });
        late.into_iter().map(|waiter| self.left(waiter)).collect()
    }

    /// Messages that wait.
    pub fn len(&self) -> usize {
        self.messages
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Bytes of all messages that wait.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn left(&mut self, waiter: Waiter<P, M>) -> (P, M) {
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(waiter.bytes);
        if let Some(count) = self.of_peer.get_mut(&waiter.peer) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.of_peer.remove(&waiter.peer);
            }
        }
        (waiter.peer, waiter.message)
    }
}
