//! What a state does not say: since when, until when, and what for.

use serde::{Deserialize, Serialize};

use crate::chain::{CloseReason, Entry, Side};
use crate::money::{Court, Outcome};
use crate::{Millis, PartyId};

/// A bond that waits for its deposit (decision E8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reservation {
    /// The bond, signed, not chained.
    pub(super) entry: Entry,
    pub(super) agent: PartyId,
    pub(super) until: Millis,
    /// Whether a deposit was seen, which extends it once.
    pub(super) extended: bool,
    /// What is left of the open window; it stands still meanwhile.
    pub(super) left: Millis,
}

/// What a halt has interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Interrupted {
    Investigation,
    /// So much of the attempt's time was left.
    Work {
        left: Millis,
    },
    Verification,
    Review,
}

/// Where a case stands within its state. Each phase has at most one deadline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Phase {
    Unfunded {
        until: Millis,
        extended: bool,
    },
    Open {
        until: Millis,
        reservation: Option<Box<Reservation>>,
    },
    Investigating {
        until: Millis,
    },
    /// The agent prepares a fix.
    Working {
        until: Millis,
    },
    /// A fix waits for its verification. From `dispute_at` on the agent may dispute; at `until` silence
    /// accepts.
    Verifying {
        dispute_at: Millis,
        until: Millis,
    },
    /// Ends at `until` unless the agent objects (decision E5).
    Closing {
        until: Millis,
        reason: CloseReason,
    },
    Reviewing {
        until: Millis,
    },
    Halted {
        until: Millis,
        interrupted: Interrupted,
    },
    Court(Proceedings),
    /// A party has left; the server's next entry says what follows. `unsure`: the moment is too close to the
    /// end of the grace period to be told from a transcript without arrival times.
    Left {
        by: Side,
        grace: bool,
        unsure: bool,
    },
    Ended,
}

/// A case before a court.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proceedings {
    /// Court that has the case.
    pub court: Court,
    /// Who filed the dispute or the present appeal, or halted the contract.
    pub filer: Side,
    /// The step that the proceedings have reached.
    pub step: CourtStep,
    /// The last ruling.
    pub last: Option<(Outcome, Court)>,
    /// Whether the other side has answered in the present court.
    pub responded: bool,
    /// The sides that have given up their appeal.
    pub waived: Vec<Side>,
    /// Who called the court of the last ruling; nobody when its judge's answer could not be read.
    #[serde(default)]
    pub charged: Option<Side>,
    /// Whether all seats before a judge are taken, so that the judge's time has not begun. Only a server knows.
    #[serde(default)]
    pub waits: bool,
}

impl Proceedings {
    /// The first court is called.
    pub(super) fn filed(filer: Side, step: CourtStep) -> Proceedings {
        Proceedings {
            court: Court::District,
            filer,
            step,
            last: None,
            responded: false,
            waived: Vec::new(),
            charged: None,
            waits: false,
        }
    }
}

/// Whose turn it is before a court.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CourtStep {
    /// The other side may answer.
    Responding {
        /// End of the window.
        until: Millis,
        /// Side whose turn it is.
        by: Side,
    },
    /// The judge re-executes, then rules.
    Judging {
        /// Beginning of the judge's time.
        since: Millis,
        /// When the re-execution's result was chained.
        reexecuted_at: Option<Millis>,
    },
    /// The loser may appeal.
    Appealable {
        /// End of the window.
        until: Millis,
    },
}

/// What happens at a case's next deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The principal did not pay.
    Unfunded,
    /// No agent took it.
    Open,
    /// A bond was not paid.
    Reservation,
    /// The agent is taken to decline.
    Investigation,
    /// The attempt has failed.
    Attempt,
    /// The principal's silence accepts the fix.
    Silence,
    /// The agent did not object.
    Objection,
    /// The judge takes over from a halt; in free mode the contract ends.
    Halt,
    /// The judge goes on without the other side.
    Response,
    /// The judge did not rule.
    Judge,
    /// The loser did not appeal.
    Appeal,
    /// The server's next entry is due now.
    Now,
}
