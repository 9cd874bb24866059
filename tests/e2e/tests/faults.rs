//! The network goes away, or the process dies, at every request of every command that moves money or state.
//! A rerun of the same command pays nothing twice and ends in the right state.
//!
//! `ZX1_SOAK=1` runs every request with every disturbance; otherwise a sample whose seed is printed
//! (`ZX1_SEED`) and, always, the transactions themselves. `ZX1_SLOT_MS` is the time between empty blocks:
//! with 20 transactions die between a run and its rerun.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "chain_client/party.rs"]
#[allow(dead_code)]
mod party;
#[path = "faults/sweep.rs"]
mod sweep;
#[path = "faults/world.rs"]
mod world;

#[path = "faults/asks.rs"]
mod asks;
#[path = "faults/challenges.rs"]
mod challenges;
#[path = "faults/days.rs"]
mod days;
#[path = "faults/owners.rs"]
mod owners;
#[path = "faults/texts.rs"]
mod texts;
