//! Limits of pushes and of the model.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::defaults::{PUSH_MAX, PUSHES_AN_HOUR, REPOSITORY_MAX, SENDS_A_MINUTE, SESSION_S, TOKENS};
use crate::error::{CapsuleError, Result};

/// Events within a sliding time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Window(VecDeque<u64>);

impl Window {
    /// Takes one more, or says in how many seconds there is room.
    fn take(&mut self, now_ms: u64, span_ms: u64, most: usize) -> Result<(), u64> {
        // What lies ahead was taken before the clock was set back; it must not block for longer than the span.
        self.0.retain(|&at| at <= now_ms && now_ms - at < span_ms);
        if self.0.len() < most {
            self.0.push_back(now_ms);
            return Ok(());
        }
        let oldest = self.0.front().copied().unwrap_or(now_ms);
        Err(oldest.saturating_add(span_ms).saturating_sub(now_ms).div_ceil(1_000))
    }
}

/// What an agent may push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushCaps {
    /// One push, bytes.
    pub push: u64,
    /// The repository, bytes.
    pub repository: u64,
    /// Pushes in an hour.
    pub an_hour: usize,
}

impl Default for PushCaps {
    fn default() -> Self {
        PushCaps { push: PUSH_MAX, repository: REPOSITORY_MAX, an_hour: PUSHES_AN_HOUR }
    }
}

impl PushCaps {
    /// Whether a push of `pushed` bytes into a repository of `there` bytes fits.
    ///
    /// # Errors
    /// 7950, 7951.
    pub fn fits(&self, there: u64, pushed: u64) -> Result<()> {
        if pushed > self.push {
            return Err(CapsuleError::PushTooLarge { most: self.push });
        }
        let bytes = there.saturating_add(pushed);
        if bytes > self.repository {
            return Err(CapsuleError::RepositoryFull { bytes, most: self.repository });
        }
        Ok(())
    }
}

/// The pushes of the last hour.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pushes(Window);

impl Pushes {
    /// Counts one more push.
    ///
    /// # Errors
    /// 7952, and nothing is counted.
    pub fn take(&mut self, now_ms: u64, caps: &PushCaps) -> Result<()> {
        let taken = self.0.take(now_ms, 3_600_000, caps.an_hour);
        taken.map_err(|wait_s| CapsuleError::TooManyPushes { most: caps.an_hour, wait_s })
    }
}

/// What a capsule's model may use, and has used. It belongs to the capsule, not to a process in it: a second runner
/// gains nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    tokens: u64,
    tokens_max: u64,
    session_s: u64,
    a_minute: usize,
    began_ms: Option<u64>,
    sends: Window,
}

impl Default for Budget {
    fn default() -> Self {
        Budget::new(TOKENS, SESSION_S, SENDS_A_MINUTE)
    }
}

impl Budget {
    /// A budget of which nothing is used.
    #[must_use]
    pub fn new(tokens_max: u64, session_s: u64, a_minute: usize) -> Budget {
        Budget { tokens: 0, tokens_max, session_s, a_minute, began_ms: None, sends: Window::default() }
    }

    /// Takes one request. The session's time begins with the first.
    ///
    /// # Errors
    /// 7953 to 7955, and nothing is counted.
    pub fn send(&mut self, now_ms: u64) -> Result<()> {
        if self.tokens >= self.tokens_max {
            return Err(CapsuleError::TokensSpent { most: self.tokens_max });
        }
        if self.seconds_left(now_ms) == 0 {
            return Err(CapsuleError::TimeSpent { most_s: self.session_s });
        }
        let taken = self.sends.take(now_ms, 60_000, self.a_minute);
        taken.map_err(|wait_s| CapsuleError::TooManySends { most: self.a_minute, wait_s })?;
        self.began_ms.get_or_insert(now_ms);
        Ok(())
    }

    /// Counts the tokens of an answer.
    pub fn spend(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Begins a new session: its time is whole again, its tokens are not.
    pub fn renew(&mut self) {
        self.began_ms = None;
    }

    /// Tokens that are left.
    #[must_use]
    pub fn tokens_left(&self) -> u64 {
        self.tokens_max.saturating_sub(self.tokens)
    }

    /// Seconds of the session that are left.
    #[must_use]
    pub fn seconds_left(&self, now_ms: u64) -> u64 {
        let used = self.began_ms.map_or(0, |began| now_ms.saturating_sub(began));
        self.session_s.saturating_sub(used / 1_000)
    }
}
