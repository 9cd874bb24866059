//! The client of a node: the same tests against the embedded ledger in both dialects and, with
//! `NANO_NODE_URL` (and `NANO_WS_URL`) in the environment, against a node of the dev network; then against a
//! server that misbehaves.

#![allow(clippy::unwrap_used)]

mod bodies;
mod client;
mod decoders;
#[path = "../../../tests/fuzz/harness.rs"]
mod harness;
mod support;
mod watch;
mod wire;
