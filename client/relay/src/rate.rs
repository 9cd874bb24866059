//! How often a connection may speak. Refused messages count as well.

use std::collections::VecDeque;

use crate::code::Close;
use crate::defaults::{CHUNK_SPACING_MS, Settings, WINDOW_MS};
use crate::{RelayError, Result};

/// At most `most` in any `span` milliseconds. Holds `most` times at most.
#[derive(Debug, Clone)]
pub struct Window {
    most: usize,
    span: u64,
    taken: VecDeque<u64>,
}

impl Window {
    /// An empty one.
    pub fn new(most: usize, span: u64) -> Window {
        Window { most, span, taken: VecDeque::new() }
    }

    /// Counts one more at this time. `Err` is how long until the next one is taken.
    pub fn take(&mut self, now: u64) -> Result<(), u64> {
        while self.taken.front().is_some_and(|first| first.saturating_add(self.span) <= now) {
            self.taken.pop_front();
        }
        let full = self.taken.len() >= self.most;
        if full {
            // What is refused counts too: it takes the place of the oldest.
            self.taken.pop_front();
        }
        if self.most > 0 {
            self.taken.push_back(now);
        }
        if !full {
            return Ok(());
        }
        Err(self.taken.front().map_or(self.span, |first| first.saturating_add(self.span).saturating_sub(now)))
    }
}

/// What a message counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// MSG: one a second, and one of the window.
    Msg,
    /// FILE_CHUNK: a window of its own.
    Chunk,
    /// Every other one, unreadable frames and pings of the protocol included.
    Other,
}

/// What to do with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is handled.
    Take,
    /// It is answered with this error.
    Refuse(RelayError),
    /// The connection is closed.
    Close(Close),
}

/// The windows of one connection.
#[derive(Debug, Clone)]
pub struct Rates {
    before: Window,
    after: Window,
    chunks: Window,
    msg_ms: u64,
    next_msg: u64,
    next_chunk: u64,
}

impl Rates {
    /// As the settings say.
    pub fn new(settings: &Settings) -> Rates {
        Rates {
            before: Window::new(settings.before_auth, WINDOW_MS),
            after: Window::new(settings.after_auth, WINDOW_MS),
            chunks: Window::new(settings.chunks, 1_000),
            msg_ms: settings.msg_ms,
            next_msg: 0,
            next_chunk: 0,
        }
    }

    /// Counts one message at this time.
    pub fn take(&mut self, identified: bool, kind: Kind, now: u64) -> Verdict {
        let refuse = |wait_ms| Verdict::Refuse(RelayError::TooFast { wait_ms });
        if !identified {
            return match self.before.take(now) {
                Ok(()) => Verdict::Take,
                Err(_) => Verdict::Close(Close::RateLimit),
            };
        }
        if kind == Kind::Chunk {
            if let Err(wait) = self.chunks.take(now) {
                return refuse(wait);
            }
            if now < self.next_chunk {
                return refuse(self.next_chunk - now);
            }
            self.next_chunk = now.saturating_add(CHUNK_SPACING_MS);
            return Verdict::Take;
        }
        if let Err(wait) = self.after.take(now) {
            return refuse(wait);
        }
        if kind == Kind::Msg {
            if now < self.next_msg {
                return refuse(self.next_msg - now);
            }
            self.next_msg = now.saturating_add(self.msg_ms);
        }
        Verdict::Take
    }
}
