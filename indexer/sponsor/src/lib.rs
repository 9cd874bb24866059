//! A sponsor pays rent and fees so that somebody without SOL can write to the feedback log, and pays for nothing
//! else (decision B13).
//!
//! Its key signs only transactions that it built itself; all they do is append the sender's text. What a signed
//! transaction may cost is charged to the record of the day before the signature is handed out, and given back
//! once the transaction can no longer land.
//!
//! | module | what it holds |
//! |---|---|
//! | [`ledger`] | the record of the day: caps for each sender and in all |
//! | [`sponsor`] | the next transaction of a text, built, simulated, charged and signed |
//! | [`http`] | the interface: `POST /v1/feedback`, health, metrics |
//! | [`config`], [`cli`], [`server`] | what can be set; all of it, started and stopped |
//!
//! Errors have the numbers 7574 to 7577 and 9700 to 9719 ([`error::Error`]).
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

pub mod cli;
pub mod config;
pub mod error;
pub mod http;
pub mod ledger;
pub mod metrics;
pub mod server;
pub mod sponsor;

pub use config::Config;
pub use error::{Error, Result};
pub use server::{Ready, Server};
