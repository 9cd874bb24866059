//! Tests of zx1-protocol: the rules as properties, the wire formats against vectors, against a second
//! implementation in Python (`tests/vectors/make.py`) and against other libraries.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod amounts;
mod batch;
mod batch_vectors;
mod beacon;
mod behavior_batch;
mod bodies;
mod bundle;
mod challenge;
mod common;
mod decoders;
mod derive;
mod envelope;
mod errors;
mod evidence;
mod feedback_log;
mod finder;
#[path = "../../../../tests/fuzz/harness.rs"]
mod harness;
mod ids;
mod keys;
mod lease;
mod life;
mod log_entry;
mod merkle;
mod mesh_payload;
mod nonce;
mod payload;
mod python;
mod record;
mod reputation;
mod rule_vectors;
mod signature;
mod units;
mod unlock;
mod validate;
mod vectors;
