//! The fix market's server: it relays signed chains, keeps the time, and holds the escrow.
//!
//! The rules are in [`zx1_market`], the money in [`nano_escrow`]; here are the store, the timers, the HTTP
//! interface and what ties them together; what every server does is in [`zx1_server`].
//!
//! Every action goes one way: take the contract's lock, read the case, commit whatever the clock demands,
//! act, commit, then do the effects. One transaction holds the request's replay key, the entries, the
//! snapshot with its next deadline, deposits to wait for, decided payouts (the outbox) and public events. So
//! a crash leaves the state before, or the state after with its effects still to do. After a restart the
//! outbox is handed to the escrow again, and the plan's key makes that harmless; what the escrow refuses for
//! good becomes a dead letter. One task sleeps until the earliest deadline of all contracts. SQLite (WAL,
//! `synchronous=FULL`) and Postgres run the same statements and pass the same suite. A stream's reader that
//! is a whole ring behind is dropped, and resumes with `Last-Event-ID`.
//!
//! The embedded ledger (`--nano embedded`, `--auto-fund`) is in builds with the feature `devnet`, which is a
//! default one. A server for real money is built without: `--no-default-features --features postgres`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`store`] | SQLite and Postgres behind one trait, and the suite that both pass |
//! | [`engine`] | one contract at a time: time, action, commit, effects |
//! | [`escrow`] | accounts, deposits, payouts |
//! | [`orders`] | what an operator orders of a running server |
//! | [`events`] | the public stream's events |
//! | [`http`] | the interface, its bounds, OpenAPI |
//! | [`config`], [`cli`], [`keys`] | what can be set, and the secrets |
//! | `crash` | where a test lets the process die (feature `testing`) |
//! | [`server`] | all of it, started and stopped |
//!
//! Errors have the numbers 9400 to 9499 ([`error::Error`]).

pub mod announce;
pub mod cli;
pub mod clock;
pub mod config;
#[cfg(feature = "testing")]
pub mod crash;
pub mod dead_letters;
mod embedded;
pub mod engine;
pub mod error;
pub mod escrow;
pub mod events;
pub mod http;
pub mod import;
pub mod keys;
pub mod metrics;
pub mod next;
pub mod orders;
pub mod server;
mod shown;
pub mod store;
pub mod view;

pub use config::Config;
pub use error::{Error, Result};
pub use server::{Options, Ready, Server};
