//! The principal's side of the fix market, for every front end: from a command that failed to one that works.
//!
//! Requests and results are typed, errors are numbered ([`Error`], [`Refusal`]), progress is an [`Event`], and
//! what only a person can decide is a [`Question`] to the [`Front`] end. This crate prints nothing and reads no
//! arguments, settings or terminal.
//!
//! * [`Session`]: one failed command; its methods look for a fix with the built-in rules, a model of the user's own, or the market ([`Ways`])
//! * [`Party`]: a party of this machine, with its key, wallet and envelope log; agents and judges are parties too
//! * [`command`]: runs the command on the real machine and keeps its output
//! * [`record`]: contracts under way, on disk before they are sent
//! * [`undo`]: reverts an applied fix
//! * [`health`]: whether what a session needs is there
//!
//! A session runs on the caller's thread and may block there; the runtime's threads carry the network.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

pub mod command;
pub mod envelopes;
pub mod health;
pub mod record;
pub mod undo;

mod act;
mod consent;
mod error;
mod event;
mod follow;
mod gather;
mod interrupts;
mod local;
mod model;
mod offer;
mod own;
mod party;
mod payload;
mod session;
mod talk;
mod ways;

pub use act::{Acted, Resumed, act, resume, review};
pub use error::{Error, Refusal, Result, Stopped};
pub use event::{Answer, Event, Front, Outcome, Prompt, Proposal, Question, Way};
pub use interrupts::Interrupts;
pub use model::{Own, Settings as OwnSettings};
pub use party::{Ledger, Party, Role, is_this_machine, nano_address};
pub use payload::Payload;
pub use session::{Ended, Failed, Options, Session};
pub use ways::{AtMarket, Ways};
