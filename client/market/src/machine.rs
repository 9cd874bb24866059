//! The states of a contract and every way from one to another (fix.md, "States"; decision E4).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Reason, Refusal, Result};

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident $text:literal;)*) => {
        /// Where a contract stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum State { $($(#[$doc])* $name,)* }

        impl State {
            /// All states, in the order of their declaration.
            pub const ALL: &'static [State] = &[$(State::$name),*];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(State::$name => $text,)* }
            }
        }

        impl FromStr for State {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<State> {
                match text {
                    $($text => Ok(State::$name),)*
                    _ => Err(Refusal::with(Reason::StateWord, crate::canonical::clip(text))),
                }
            }
        }
    };
}

states! {
    /// Posted, not paid, shown to nobody (decision E8).
    Unfunded "unfunded";
    /// Waits for an agent.
    Open "open";
    /// An agent looks.
    Investigating "investigating";
    /// An agent works.
    InProgress "in_progress";
    /// A fix waits for the principal (autonomous mode).
    Review "review";
    /// A party left; the next entry reopens or ends the contract.
    BackedOut "backed_out";
    /// Before a court.
    Disputed "disputed";
    /// Stopped by the principal.
    Halted "halted";
    /// Ended: the agent did it.
    Fulfilled "fulfilled";
    /// Ended without a fix.
    Canceled "canceled";
    /// Ended by a ruling.
    Resolved "resolved";
    /// Ended because the judge or the server failed: everything goes back.
    Voided "voided";
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An input that moves a contract from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// The principal's deposit was confirmed, or none is needed.
    Fund,
    /// Nobody paid, or nobody took the contract.
    Expire,
    /// The principal took the contract back.
    Cancel,
    /// An agent took the contract to look at it.
    Bond,
    /// The agent committed itself.
    Accept,
    /// The agent gave the contract back, or its time was up.
    Decline,
    /// The principal stopped everything.
    Halt,
    /// The principal went on.
    Resume,
    /// The fix was submitted for review.
    Submit,
    /// The fix works: verified or accepted.
    Succeed,
    /// The principal was silent for the whole window; or the judge was, after a fix that its machine found to work.
    AutoFulfill,
    /// A window passed without objection: the contract ends without a fix.
    Close,
    /// A party left.
    BackOut,
    /// The contract waits for another agent.
    Reopen,
    /// A dispute was filed.
    Dispute,
    /// A ruling became final.
    Resolve,
    /// The judge did not rule in time, or the server was away for too long.
    Void,
}

/// The table: every transition there is.
pub const TABLE: &[(State, Event, State)] = {
    use Event::*;
    use State::*;
    &[
        (Unfunded, Fund, Open),
        (Unfunded, Expire, Canceled),
        (Unfunded, Cancel, Canceled),
        (Open, Bond, Investigating),
        // Free mode only (decision E3); [`crate::case`] sees to it.
        (Open, Accept, InProgress),
        (Open, Expire, Canceled),
        (Open, Cancel, Canceled),
        (Investigating, Accept, InProgress),
        (Investigating, Decline, Open),
        (Investigating, Halt, Halted),
        (InProgress, Succeed, Fulfilled),
        (InProgress, AutoFulfill, Fulfilled),
        (InProgress, Close, Canceled),
        (InProgress, BackOut, BackedOut),
        (InProgress, Submit, Review),
        (InProgress, Dispute, Disputed),
        (InProgress, Halt, Halted),
        (Review, Succeed, Fulfilled),
        (Review, AutoFulfill, Fulfilled),
        (Review, Dispute, Disputed),
        (Review, Close, Canceled),
        (Review, Halt, Halted),
        (BackedOut, Reopen, Open),
        (BackedOut, Close, Canceled),
        (Disputed, Resolve, Resolved),
        (Disputed, Void, Voided),
        (Halted, Resolve, Resolved),
        (Halted, Resume, InProgress),
        (Halted, Void, Voided),
        // The judge was silent, but its machine found the fix to work (decision E20).
        (Disputed, AutoFulfill, Fulfilled),
        (Halted, AutoFulfill, Fulfilled),
        // The server was away for too long (decision E21).
        (Unfunded, Void, Voided),
        (Open, Void, Voided),
        (Investigating, Void, Voided),
        (InProgress, Void, Voided),
        (Review, Void, Voided),
        // Free mode only.
        (Halted, Close, Canceled),
    ]
};

impl State {
    /// The state after `event`; `None` when the event cannot happen in this state.
    pub fn after(self, event: Event) -> Option<State> {
        TABLE.iter().find(|(from, what, _)| *from == self && *what == event).map(|(_, _, to)| *to)
    }

    /// Whether some event leads from here to `to`.
    pub fn leads_to(self, to: State) -> bool {
        TABLE.iter().any(|(from, _, target)| *from == self && *target == to)
    }

    /// Whether the contract has ended: nothing leads out of here.
    pub const fn is_terminal(self) -> bool {
        matches!(self, State::Fulfilled | State::Canceled | State::Resolved | State::Voided)
    }

    /// Whether agents may take it.
    pub const fn is_open(self) -> bool {
        matches!(self, State::Open)
    }

    /// Whether an agent holds it.
    pub const fn has_agent(self) -> bool {
        !matches!(self, State::Unfunded | State::Open | State::Canceled)
    }

    /// Whether the principal may take it back without cost.
    pub fn can_cancel(self) -> bool {
        self.after(Event::Cancel).is_some()
    }

    /// Whether a dispute may be filed here, by one party or the other.
    pub fn can_dispute(self) -> bool {
        self.after(Event::Dispute).is_some()
    }

    /// Whether the principal may stop it.
    pub fn can_halt(self) -> bool {
        self.after(Event::Halt).is_some()
    }

    /// Whether a party may leave.
    pub fn can_back_out(self) -> bool {
        self.after(Event::BackOut).is_some()
    }

    /// Whether a court may end it.
    pub fn can_rule(self) -> bool {
        self.after(Event::Resolve).is_some()
    }

    /// Whether the parties may talk.
    pub const fn can_talk(self) -> bool {
        matches!(
            self,
            State::Investigating | State::InProgress | State::Review | State::Halted | State::Disputed
        )
    }
}
