//! Challenges and asks: their windows, their grounds and what makes one unique (decisions B10 and P4).

use crate::hash::{Hash, Keccak};
use crate::units::Slot;
use zx1_interface::constants::{ASK_SLOTS, CHALLENGE_WINDOW_SLOTS, RANK_SLOTS, SHOW_SLOTS};

/// The domain of [`claim32`].
pub const CLAIM_PREFIX: &[u8] = b"zx1/claim/v2";
/// The domain of [`commit32`].
pub const COMMIT_PREFIX: &[u8] = b"zx1/commit/v2";

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
    /// Two bids of one message with different values; it has no answer.
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

    /// All grounds, by number.
    pub const ALL: [Self; 5] = [Self::Bid, Self::Selection, Self::Verifier, Self::Feedback, Self::DoubleBid];

    /// Its name in files and JSON, in snake_case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bid => "bid",
            Self::Selection => "selection",
            Self::Verifier => "verifier",
            Self::Feedback => "feedback",
            Self::DoubleBid => "double_bid",
        }
    }

    /// The ground with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ground| ground.name() == name)
    }

    /// Whether a record under the batch's arrays root can answer it.
    pub fn can_be_answered(self) -> bool {
        !matches!(self, Self::DoubleBid)
    }
}

/// What is claimed, and the seed of a challenge's address: that a batch lacks the record which this message
/// obliges it to. Whatever shows the message, the claim is the same. `value_known` is true on every ground but
/// [`Ground::Bid`], where a claim without the value is another, weaker one.
pub fn claim32<K: Keccak>(ground: Ground, value_known: bool, message: &Hash) -> Hash {
    K::hashv(&[CLAIM_PREFIX, &[ground as u8], &[u8::from(value_known)], message])
}

/// What a finder commits to before it shows anything. `evidence` is what the draft will hold, or for an
/// envelope the signed bytes.
pub fn commit32<K: Keccak>(challenger: &[u8; 32], batch: &[u8; 32], evidence: &[u8]) -> Hash {
    K::hashv(&[COMMIT_PREFIX, challenger, batch, evidence])
}

/// Whether a rank that was taken in `begin` still holds.
pub fn rank_holds(begin: Slot, now: Slot) -> bool {
    now <= begin.saturating_add(RANK_SLOTS)
}

/// Whether leaves of a batch may still be asked for.
pub fn may_ask(batch_submitted: Slot, now: Slot) -> bool {
    now <= ask_deadline(batch_submitted)
}

/// The last slot in which a leaf of a batch can be asked for.
pub fn ask_deadline(batch_submitted: Slot) -> Slot {
    batch_submitted.saturating_add(ASK_SLOTS)
}

/// Whether a leaf that was asked for may still be shown.
pub fn may_show(asked: Slot, now: Slot) -> bool {
    now <= show_deadline(asked)
}

/// The last slot in which a leaf that was asked for can be shown.
pub fn show_deadline(asked: Slot) -> Slot {
    asked.saturating_add(SHOW_SLOTS)
}
