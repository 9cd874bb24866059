//! When the next frame may leave, so that the relay refuses none. Time is an argument.

use std::collections::VecDeque;

use zx1_relay_rules::defaults::{CHUNK_SEND_MS, WINDOW_MS};
use zx1_relay_rules::rate::Kind;

/// Frames in a window. The relay takes 60; the rest is left to pings and to frames that arrive bunched.
const MOST: usize = 50;
/// Milliseconds between two messages. The relay takes one a second, and the network may bring two closer together.
pub const MSG_MS: u64 = 1_100;

/// What has left lately.
#[derive(Debug, Clone)]
pub struct Pace {
    msg_ms: u64,
    recent: VecDeque<u64>,
    next_msg: u64,
    next_chunk: u64,
}

impl Pace {
    /// With this time between messages, in milliseconds; [`MSG_MS`] suits a relay with the usual limits.
    pub fn new(msg_ms: u64) -> Pace {
        Pace { msg_ms, recent: VecDeque::new(), next_msg: 0, next_chunk: 0 }
    }

    /// Milliseconds until a frame of this kind may leave.
    pub fn wait(&self, kind: Kind, now: u64) -> u64 {
        if kind == Kind::Chunk {
            return self.next_chunk.saturating_sub(now);
        }
        let full = self.recent.len().checked_sub(MOST).and_then(|at| self.recent.get(at));
        let window = full.map_or(0, |first| first.saturating_add(WINDOW_MS).saturating_sub(now));
        if kind == Kind::Msg { window.max(self.next_msg.saturating_sub(now)) } else { window }
    }

    /// Counts a frame that leaves now.
    pub fn took(&mut self, kind: Kind, now: u64) {
        if kind == Kind::Chunk {
            self.next_chunk = now.saturating_add(CHUNK_SEND_MS);
            return;
        }
        if kind == Kind::Msg {
            self.next_msg = now.saturating_add(self.msg_ms);
        }
        self.recent.push_back(now);
        if self.recent.len() > MOST {
            self.recent.pop_front();
        }
    }
}
