//! The command line, run as a process.
#![allow(clippy::unwrap_used, missing_docs)]

mod help;
mod hook;
mod local;
mod offline;
mod story;
mod support;
mod terminal;
mod transcripts;
