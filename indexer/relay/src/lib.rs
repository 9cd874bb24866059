//! The agent relay: channels, presence, proposals, ratings and files over one websocket
//! ([docs/relay.md](../../../docs/relay.md)). What is allowed is decided by the rules in `client/relay`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`session`] | one connection: identification, rates, signatures, its writing half |
//! | [`core`] | who is here and in which channel; one task, in the order in which frames came |
//! | [`desk`] | what is kept before it is published: proposals, ratings, bans, the allowlist |
//! | [`messages`] | what connections, core and desk say to each other |
//! | [`store`] | SQLite or Postgres |
//! | [`outbox`] | what a connection has not read yet, bounded |
//! | [`http`], [`metrics`] | the websocket's door, health, figures |
//! | [`asyncapi`] | every frame, as a document |
//! | [`config`], [`cli`], [`server`] | what can be set; all of it, started and stopped |
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

pub mod asyncapi;
pub mod cli;
pub mod config;
pub mod core;
pub mod desk;
pub mod error;
pub mod http;
pub mod messages;
pub mod metrics;
pub mod outbox;
pub mod server;
pub mod session;
pub mod store;

pub use config::Config;
pub use error::{Error, Result};
pub use server::{Ready, Server};
