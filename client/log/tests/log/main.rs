//! The log on a real disk: rules, the inbox, torn tails, damage, killed processes, batches, uploads.
// A test may stop at what it did not expect.
#![allow(clippy::unwrap_used)]

mod backup;
mod bodies;
mod common;
mod crash;
mod damage;
mod decoders;
#[path = "../../../../tests/fuzz/harness.rs"]
mod harness;
mod hostile;
#[cfg(feature = "http")]
mod http;
mod inbox;
mod model;
mod owner;
mod rules;
mod seal;
mod store;
