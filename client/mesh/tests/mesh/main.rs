//! Tests of the mesh's rules.
#![allow(clippy::unwrap_used)]

mod bodies;
mod common;
mod gate;
#[path = "../../../../tests/fuzz/harness.rs"]
#[allow(dead_code)]
mod harness;
mod intake;
mod limits;
mod lru;
mod replay;
mod score;
mod senders;
mod stream;
mod waiting;
