//! The pure rules of the agent relay ([docs/relay.md](../../../docs/relay.md)).
//!
//! Nothing here reads a clock, a disk or a network: time (milliseconds) and random bytes are arguments. So the
//! relay and its clients decide alike, and every rule is tested without a process.
//!
//! | module | what it holds |
//! |---|---|
//! | [`client`], [`server`], [`json`] | frames that clients send, frames that the relay sends |
//! | [`event`] | the relay's frames as clients read them |
//! | [`code`], [`RelayError`] | words of ERROR frames, closes, numbers 7700 to 7799 |
//! | [`id`], [`signing`] | ids, names, keys; the texts that signatures cover |
//! | [`login`], [`access`], [`verify`] | how a connection identifies, who may, how agents verify each other |
//! | [`rate`] | windows of messages |
//! | [`hub`] | channels, members, presence, skills: commands in, frames out |
//! | [`proposal`], [`elo`] | states of proposals as a table; stakes and ratings |
//! | [`slurp`], [`transfer`] | archives of files, and how they travel |
//! | [`defaults`] | every limit, and what an operator can set |

pub mod access;
pub mod client;
pub mod code;
pub mod defaults;
pub mod elo;
mod encode;
mod error;
pub mod event;
pub mod hub;
pub mod id;
pub mod json;
pub mod login;
pub mod proposal;
pub mod rate;
pub mod server;
pub mod signing;
pub mod slurp;
pub mod transfer;
pub mod verify;

pub use code::{Close, Code};
pub use defaults::Settings;
pub use error::{RelayError, Result};
pub use id::{AgentId, PublicKey};
