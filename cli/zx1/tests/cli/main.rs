//! The command line without a cluster: what it says, what it refuses, and that a refusal changes nothing.
//! What needs a cluster is in `tests/e2e`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod backup;
mod chat;
mod findings;
mod help;
mod inspect;
mod keys;
mod merkle;
mod mesh;
mod node;
mod numbers;
mod offline;
mod prompt;
mod qa;
mod settings;
mod support;
mod transcripts;
mod usage;
