//! The command line, run as a process.
#![allow(clippy::unwrap_used, missing_docs)]

mod bridge;
mod chat;
mod court;
mod everyday;
mod first;
mod help;
mod hook;
mod local;
mod network;
mod offline;
mod options;
mod own;
mod registry;
mod rulings;
mod story;
mod support;
mod terminal;
mod transcripts;
mod trust;
