//! Nonces: which one comes next, and which one is a replay (protocol.md, 5.2; decisions C4 and I1).

use crate::channel::Channel;
use crate::error::numbered;

/// Width of the replay window on the topics, in nonces (decision I1).
pub const REPLAY_WINDOW: u32 = u128::BITS;

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
    /// The nonce is in the window and was accepted before, or lies below the window.
    Replayed {
        /// The highest one that was accepted.
        highest: u64,
    },
}

numbered!(NonceError {
    7390 Self::Exhausted => "The last nonce was the largest that there is; register a new agent.";
    7391 Self::NotIncreasing { last } => "The nonce is not above {last}, the last one of this sender and channel.";
    7399 Self::Replayed { highest } =>
        "The nonce was used before, or is {REPLAY_WINDOW} or more below {highest}, the highest one of this \
        sender and channel.";
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

/// The nonces that were accepted from one sender on one topic: the highest, and which of the
/// [`REPLAY_WINDOW`] up to it. Gossip brings messages out of order; what lies below the window counts as
/// accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReplayWindow {
    highest: u64,
    /// Bit n: whether `highest - n` was accepted. Zero only while nothing was.
    accepted: u128,
}

impl ReplayWindow {
    /// A window in which every nonce up to `last` counts as accepted: what a [`LastNonce`] turns into.
    pub fn up_to(last: u64) -> Self {
        Self { highest: last, accepted: u128::MAX }
    }

    /// The highest nonce that was accepted; `None` at first.
    pub fn highest(self) -> Option<u64> {
        (self.accepted != 0).then_some(self.highest)
    }

    /// The bit of a nonce that is in the window.
    fn bit(self, nonce: u64) -> Option<u128> {
        let below = self.highest.checked_sub(nonce)?;
        u32::try_from(below).ok().and_then(|below| 1u128.checked_shl(below))
    }

    /// Whether this nonce is in the window and was accepted.
    pub fn has(self, nonce: u64) -> bool {
        self.bit(nonce).is_some_and(|bit| self.accepted & bit != 0)
    }

    /// Whether a message with this nonce is new.
    pub fn accepts(self, nonce: u64) -> bool {
        let above = self.highest().is_none_or(|highest| nonce > highest);
        above || self.bit(nonce).is_some_and(|bit| self.accepted & bit == 0)
    }

    /// What to remember after a message with this nonce; refuses a replay.
    pub fn accept(self, nonce: u64) -> Result<Self, NonceError> {
        if self.accepts(nonce) {
            Ok(self.with(nonce))
        } else {
            Err(NonceError::Replayed { highest: self.highest })
        }
    }

    /// The window with this nonce accepted, whether it was before or not: for what a log remembers.
    #[must_use]
    pub fn with(self, nonce: u64) -> Self {
        let Some(highest) = self.highest() else { return Self { highest: nonce, accepted: 1 } };
        match nonce.checked_sub(highest).filter(|above| *above > 0) {
            None => Self { accepted: self.accepted | self.bit(nonce).unwrap_or_default(), ..self },
            Some(above) => {
                let moved = u32::try_from(above).ok().and_then(|above| self.accepted.checked_shl(above));
                Self { highest: nonce, accepted: moved.unwrap_or_default() | 1 }
            }
        }
    }

    /// 24 bytes for a file: the highest nonce and the window's bits, big-endian.
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        let (highest, accepted) = bytes.split_at_mut(8);
        highest.copy_from_slice(&self.highest.to_be_bytes());
        accepted.copy_from_slice(&self.accepted.to_be_bytes());
        bytes
    }

    /// What [`Self::to_bytes`] wrote; `None` for bytes that it never writes.
    pub fn from_bytes(bytes: &[u8; 24]) -> Option<Self> {
        let (highest, accepted) = bytes.split_first_chunk::<8>()?;
        let accepted = u128::from_be_bytes(*accepted.first_chunk()?);
        let window = Self { highest: u64::from_be_bytes(*highest), accepted };
        // The highest one was accepted itself; nothing at all is kept as nothing.
        (window == Self::default() || accepted & 1 == 1).then_some(window)
    }
}

/// What a receiver remembers of one sender's nonces on one channel: the last one on the direct stream
/// (decision C4), a window on the topics (decision I1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeenNonces {
    /// Strictly increasing, on the direct stream.
    Strict(LastNonce),
    /// Any order within the window.
    Window(ReplayWindow),
}

impl SeenNonces {
    /// Before the first message on this channel.
    pub fn none(channel: Channel) -> Self {
        match channel {
            Channel::Direct => Self::Strict(LastNonce::default()),
            Channel::Broadcast | Channel::Notary | Channel::Reputation => {
                Self::Window(ReplayWindow::default())
            }
        }
    }

    /// Every nonce up to `last` counts as accepted.
    pub fn up_to(channel: Channel, last: u64) -> Self {
        match Self::none(channel) {
            Self::Strict(_) => Self::Strict(LastNonce(Some(last))),
            Self::Window(_) => Self::Window(ReplayWindow::up_to(last)),
        }
    }

    /// The highest nonce that was accepted; `None` at first.
    pub fn highest(self) -> Option<u64> {
        match self {
            Self::Strict(last) => last.0,
            Self::Window(window) => window.highest(),
        }
    }

    /// Whether it is known that this very nonce was accepted. Of most older ones that is not known: they are
    /// refused by their order.
    pub fn has(self, nonce: u64) -> bool {
        match self {
            Self::Strict(last) => last.0 == Some(nonce),
            Self::Window(window) => window.has(nonce),
        }
    }

    /// Whether a message with this nonce is new.
    pub fn accepts(self, nonce: u64) -> bool {
        match self {
            Self::Strict(last) => last.accepts(nonce),
            Self::Window(window) => window.accepts(nonce),
        }
    }

    /// What to remember after a message with this nonce; refuses a replay.
    pub fn accept(self, nonce: u64) -> Result<Self, NonceError> {
        Ok(match self {
            Self::Strict(last) => Self::Strict(last.accept(nonce)?),
            Self::Window(window) => Self::Window(window.accept(nonce)?),
        })
    }

    /// With this nonce accepted, whether it would be or not: for what a log remembers.
    #[must_use]
    pub fn with(self, nonce: u64) -> Self {
        match self {
            Self::Strict(last) => Self::Strict(LastNonce(last.0.max(Some(nonce)))),
            Self::Window(window) => Self::Window(window.with(nonce)),
        }
    }
}
