//! Which nonces of authors were accepted, so that no message is accepted twice (decisions C4 and I1).
//!
//! The rule itself is the protocol's ([`SeenNonces`]); here is the memory of many authors. What it forgets is so old
//! that rule 6 refuses any copy. The log keeps the same over restarts ([`Windows::restore`]).

use crate::defaults::{MAX_WINDOWS, WINDOW_LIFE};
use crate::lru::Lru;
use crate::reason::Reason;
use zx1_protocol::channel::Channel;
use zx1_protocol::ids::AgentId;
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::validate;

#[derive(Clone, Copy, Debug)]
struct Line {
    seen: SeenNonces,
    used_at: u64,
}

/// The nonces of authors, by channel.
#[derive(Clone, Debug)]
pub struct Windows {
    lines: Lru<(AgentId, Channel), Line>,
}

impl Default for Windows {
    fn default() -> Self {
        Self::new(MAX_WINDOWS)
    }
}

impl Windows {
    /// Of at most `most` channels of authors.
    pub fn new(most: usize) -> Self {
        Self { lines: Lru::new(most) }
    }

    /// Nonces that were accepted from this author on this channel.
    pub fn seen(&self, author: &AgentId, channel: Channel) -> SeenNonces {
        self.lines.peek(&(*author, channel)).map_or_else(|| SeenNonces::none(channel), |line| line.seen)
    }

    /// Remembers the nonce of an accepted message.
    ///
    /// # Errors
    /// The nonce was accepted before; or [`Reason::WindowsFull`], when every channel in memory was used within
    /// [`WINDOW_LIFE`], so that forgetting one would let a replay in.
    pub fn accept(&mut self, author: &AgentId, channel: Channel, nonce: u64, now: u64) -> Result<(), Reason> {
        let key = (*author, channel);
        let seen = self.seen(author, channel).accept(nonce).map_err(validate::Reason::Nonce)?;
        if let Some(line) = self.lines.get(&key) {
            *line = Line { seen, used_at: now };
            return Ok(());
        }
        if self.lines.is_full() {
            let is_old = |line: &Line| now.checked_sub(line.used_at).is_some_and(|age| age > WINDOW_LIFE);
            self.lines.oldest().filter(|(_, line)| is_old(line)).ok_or(Reason::WindowsFull)?;
        }
        self.lines.insert(key, Line { seen, used_at: now });
        Ok(())
    }

    /// Takes what the log remembers of an author, before its first message is judged. What is known already stays.
    pub fn restore(&mut self, author: &AgentId, channel: Channel, seen: SeenNonces, now: u64) {
        let key = (*author, channel);
        if self.lines.peek(&key).is_none() && !self.lines.is_full() {
            self.lines.insert(key, Line { seen, used_at: now });
        }
    }

    /// Number of channels of authors that are remembered.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}
