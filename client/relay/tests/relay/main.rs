//! The relay's rules: vectors, limits at both sides, random clients.
#![allow(clippy::unwrap_used)]

mod archives;
mod bodies;
mod decoders;
mod events;
mod frames;
#[path = "../../../../tests/fuzz/harness.rs"]
#[allow(dead_code)]
mod harness;
mod proposals;
mod rooms;
mod spoken;
mod vectors;
