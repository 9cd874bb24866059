//! Nonces: which one comes next, and which one is a replay (protocol.md, 5.2; decision C4).

use crate::error::numbered;

/// Why a nonce is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonceError {
    /// The last nonce was the largest that there is.
    Exhausted,
    /// The nonce is not above the last one.
    NotIncreasing {
        /// The last one that was accepted.
        last: u64,
    },
}

numbered!(NonceError {
    7390 Self::Exhausted => "The last nonce was the largest that there is; register a new agent.";
    7391 Self::NotIncreasing { last } => "The nonce is not above {last}, the last one of this sender and channel.";
});

/// The nonce for the next message: the one after the saved one, or the time in unix microseconds if that
/// is more. So a sender that has lost its file goes on above what it has used, as long as its clock is
/// right. The caller saves the result **before** it uses it.
pub fn next_nonce(saved: Option<u64>, now_micros: u64) -> Result<u64, NonceError> {
    let after = match saved {
        None => 0,
        Some(saved) => saved.checked_add(1).ok_or(NonceError::Exhausted)?,
    };
    Ok(after.max(now_micros))
}

/// The last nonce that was accepted from one sender on one channel; none at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LastNonce(pub Option<u64>);

impl LastNonce {
    /// Whether a message with this nonce is new: strictly above the last one.
    pub fn accepts(self, nonce: u64) -> bool {
        self.0.is_none_or(|last| nonce > last)
    }

    /// What to remember after a message with this nonce; refuses a replay.
    pub fn accept(self, nonce: u64) -> Result<Self, NonceError> {
        match self.0 {
            Some(last) if nonce <= last => Err(NonceError::NotIncreasing { last }),
            _ => Ok(Self(Some(nonce))),
        }
    }
}
