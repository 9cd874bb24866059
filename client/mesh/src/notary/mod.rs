//! Notaries of tasks (protocol.md, 6): a party looks for one ([`Search`]), an agent is one ([`Desk`]).
//!
//! 1. A party asks on the notary topic; offers are collected for 30 s and ranked by the notary's score, then by
//!    fee; the caller chooses one.
//! 2. The party sends NOTARIZE_ASSIGN to the notary, and shows offer and assignment to the other party
//!    ([`choice_payload`]), which has no other way to learn whose VERDICT counts.
//! 3. Both parties show the notary their conversation: DELIVERs whose payload is a
//!    [`Context`](zx1_protocol::context::Context).
//! 4. The notary sends its VERDICT to both within its offer's seconds, 3 600 at most. If it does not, the next
//!    offer in the ranking is assigned, once; if that one does not judge either, the task ends unjudged.
//!
//! Both sides are tables with deadlines: time is an argument, and every input first lets the time up to it
//! pass. What is to be sent is derived from the state ([`Search::tasks`], [`Desk::tasks`]), so that after a
//! restart it is derived again; each task has a name under which the outbox takes it once.

mod context;
mod desk;
mod error;
mod offers;
mod search;
mod searches;

pub use context::{Choice, Exhibit, KeysOf, choice_payload, read_choice};
pub use desk::{Desk, DeskInput, DeskStage, DeskTask};
pub use error::NotaryError;
pub use offers::{Bid, Offers};
pub use search::{Input, Judgement, Search, Stage, Task};
pub use searches::{Desks, Searches};

use crate::defaults::MAX_JUDGE_SECONDS;

const MICROS_PER_SECOND: u64 = 1_000_000;

/// When a notary's time is over that was assigned now and offered to judge within these seconds: unix
/// microseconds.
pub fn deadline(assigned_micros: u64, seconds: u32) -> u64 {
    let seconds = seconds.min(MAX_JUDGE_SECONDS);
    assigned_micros.saturating_add(u64::from(seconds).saturating_mul(MICROS_PER_SECOND))
}
