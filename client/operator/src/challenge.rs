//! Challenges: answer or lose (protocol.md, 8.6; decisions B10 to B12 and P4).

mod answer;
mod cancel;
mod file;
mod find;
mod list;
mod rank;
mod settle;
mod submit;
mod watch;

pub use answer::Answered;
pub use cancel::{Cancelled, DraftReport, DraftState};
pub use file::{ChallengeFile, Prepared};
pub use find::{Claim, Evidence, Found, FoundPresence, Preferences, Request};
pub use list::{Listed, State};
pub use settle::{Closed, Resolved, Settled};
pub use submit::{Opened, Submitted};
pub use watch::{Event, Watch};

use crate::error::{Refusal, Result};
use crate::operator::Operator;
use solana_address::Address;
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::ChallengeAccount;
use zx1_protocol::challenge::{Clock, Ground};
use zx1_protocol::units::Slot;

pub use zx1_interface::states::outcome::{ANSWERED, OPEN, SUCCEEDED};

impl Operator {
    /// The challenge at an address.
    ///
    /// # Errors
    /// 7543 when there is none.
    async fn challenge_at(&self, address: Address) -> Result<Stored<ChallengeAccount>> {
        let found = self.client().challenge(address).await?;
        found.ok_or_else(|| Refusal::NoChallenge { address: address.to_string() }.into())
    }
}

/// The window in which it can be answered.
pub fn clock(challenge: &ChallengeAccount) -> Clock {
    Clock { submitted: Slot(challenge.submitted_slot) }
}

/// Whether it can be settled as one that nothing answered, but for lower ranks: its window is over, or nothing
/// can answer it.
pub fn is_ripe(challenge: &ChallengeAccount, now: Slot) -> bool {
    challenge.outcome == OPEN && (challenge.expected_len == 0 || clock(challenge).is_over(now))
}

/// A ground's name, also of one that this version does not know.
pub fn ground_name(ground: u8) -> &'static str {
    Ground::from_u8(ground).map_or("unknown", Ground::name)
}

/// An outcome in words.
pub fn outcome_name(outcome: u8) -> &'static str {
    match outcome {
        OPEN => "open",
        ANSWERED => "answered",
        SUCCEEDED => "succeeded",
        _ => "nothing was left",
    }
}
