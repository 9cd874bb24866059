//! An agent's node of the mesh: joins it, keeps the agent's log, sends what waits, and serves the agent's programs.
//!
//! | module | what it holds |
//! |---|---|
//! | [`judge`], [`facts`], [`changes`] | verdicts on messages; what the cluster is asked for them; what changes there |
//! | [`keep`], [`inbox`] | accepted messages into the agent's log; reading them from there |
//! | [`words`], [`pen`], [`signers`] | what is to be said, signing it, who signs deals |
//! | [`outbox`], [`store`] | what waits to be sent, and where that is on disk |
//! | [`notary`] | notaries of tasks, as a party and as one; ratings |
//! | [`transcript`] | the log as the envelopes that travelled |
//! | [`heard`], [`beacon`] | adverts, names and ratings of others; this agent's own presence |
//! | [`watch`], [`departures`] | whose agents left, and what goes with them |
//! | [`walk`], [`first_peers`] | first peers from the registry |
//! | [`hosted`], [`registration`] | registration files: those of others, and the agent's own |
//! | [`agent`] | log, deals and news of one agent |
//! | [`http`], [`local`], [`metrics`] | the local API |
//! | [`observe`] | a node without an agent, which hears topics for others |
//! | [`cli`], [`server`], [`clock`], [`defaults`] | options; all of it, started and stopped |
//!
//! Errors have the numbers 7680 to 7699 ([`error::Error`]).
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic))]

pub mod agent;
pub mod beacon;
pub mod changes;
pub mod cli;
pub mod clock;
pub mod defaults;
pub mod departures;
pub mod error;
pub mod facts;
pub mod first_peers;
pub mod heard;
pub mod hosted;
pub mod http;
pub mod inbox;
pub mod judge;
pub mod keep;
pub mod local;
pub mod metrics;
pub mod notary;
pub mod observe;
pub mod outbox;
pub mod pen;
pub mod registration;
pub mod server;
pub mod signers;
pub mod store;
pub mod transcript;
pub mod walk;
pub mod watch;
pub mod words;

pub use error::{Error, Result};
pub use server::{Config, Server};
