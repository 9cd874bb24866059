//! The rules, tried on failures that really happen: every case makes a folder, runs a command that fails,
//! answers the rules' questions, applies the fix, and runs the command again.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod cases;
mod catalogue;
mod declined;
mod harness;
mod hostile;
