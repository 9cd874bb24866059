//! Challenges: their windows, their grounds and what makes one unique (decision B10).

use crate::hash::{Hash, Keccak};
use crate::units::Slot;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;

/// The domain of [`evidence_hash`].
pub const EVIDENCE_HASH_PREFIX: &[u8] = b"zx1/evidence/v1";

/// The window that begins with a batch (to challenge it) or with a challenge (to answer it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// When the batch or the challenge was submitted.
    pub submitted: Slot,
}

impl Clock {
    /// The last slot of the window.
    pub fn deadline(&self) -> Slot {
        self.submitted.saturating_add(CHALLENGE_WINDOW_SLOTS)
    }

    /// Whether the window is still open at `now` (protocol.md, 10.4: `now <= submitted + window`).
    pub fn is_open(&self, now: Slot) -> bool {
        now <= self.deadline()
    }

    /// Whether the window has passed at `now`: exactly when it is not open.
    pub fn is_over(&self, now: Slot) -> bool {
        !self.is_open(now)
    }
}

/// Which of the batch's arrays is said to lack a record (decisions B10, B11).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A bid: from PROPOSE, COUNTER or ACCEPT.
    Bid = 1,
    /// A task selection: from ACCEPT.
    Selection = 2,
    /// A verifier: from NOTARIZE_ASSIGN.
    Verifier = 3,
    /// A feedback event: from FEEDBACK about the agent.
    Feedback = 4,
    /// Two bids for the same thing with different values; it has no answer.
    DoubleBid = 5,
}

impl Ground {
    /// The ground with this number, if there is one.
    pub fn from_u8(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Bid),
            2 => Some(Self::Selection),
            3 => Some(Self::Verifier),
            4 => Some(Self::Feedback),
            5 => Some(Self::DoubleBid),
            _ => None,
        }
    }

    /// Whether a record under the batch's arrays root can answer it.
    pub fn can_be_answered(self) -> bool {
        !matches!(self, Self::DoubleBid)
    }
}

/// What identifies a piece of evidence: a challenger may use one only once per batch and ground
/// (decision B10). `kind` is the kind of evidence, `subject` the hash of the thing shown, and
/// `payload_shown` says whether the payload came with it, since that makes a stronger claim: the same
/// entry may first be challenged without and then with its value.
pub fn evidence_hash<K: Keccak>(kind: u8, subject: &Hash, payload_shown: bool) -> Hash {
    K::hashv(&[EVIDENCE_HASH_PREFIX, &[kind], subject, &[u8::from(payload_shown)]])
}

/// The seed that stands for evidence and ground in a challenge's address (decision B10):
/// keccak(evidence hash ‖ ground).
pub fn claim_seed<K: Keccak>(evidence_hash: &Hash, ground: u8) -> Hash {
    K::hashv(&[evidence_hash, &[ground]])
}
