//! What this agent decided to send and has not sent yet, or has sent.
//!
//! A signed envelope is worth nothing 30 s later, so what is kept are unsigned drafts. A draft is signed, logged
//! and sent when its recipient is reachable and its turn has come.
//!
//! # Persist, then act
//!
//! Every method that changes rows returns them; the caller has them on disk, all in one transaction, before it does
//! anything else:
//!
//! 1. [`Outbox::add`]; then the caller hears that it is queued.
//! 2. [`Outbox::due`] says whom to dial. It failed: [`Outbox::unreachable`].
//! 3. [`Outbox::begin`] **before** the draft is signed. From here on it may be on the wire.
//! 4. [`Outbox::signed`] with the signed message's name before its bytes leave. It could not be signed:
//!    [`Outbox::not_signed`] or [`Outbox::refuse`].
//! 5. [`Outbox::acknowledged`] (on a topic [`Outbox::published`]) or [`Outbox::lost`]; then the caller hears of it.
//!
//! A process that ends between 3 and 5 does not know whether the recipient has the message. [`Outbox::load`]
//! makes such rows `unanswered`, and they are not sent again: the caller decides. So a draft is signed once, and
//! its bytes go out at most once.
//!
//! # Order
//!
//! Messages of one conversation to one recipient go out in the order in which they were added, one after the
//! other's end. Behind an unanswered one the others wait until the caller [settles](Outbox::settle) it; behind
//! one that expired or was refused they are refused, because whoever did not get the ACCEPT must not get the
//! work.

mod error;
mod queue;
mod row;
mod state;

pub use error::OutboxError;
pub use queue::{Draft, Outbox};
pub use row::{ROW_VERSION, Row};
pub use state::{Input, State};
