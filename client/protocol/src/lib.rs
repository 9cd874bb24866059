//! The pure rules of the zx1 protocol, shared by the programs and by everyone who talks to them.
//!
//! No clock, no I/O, no heap (outside feature `std`): time, hashes and bytes come in as arguments, a
//! verdict goes out. So the same code decides on chain (SBF, `no_std`) and in clients, and every rule is
//! tested without a virtual machine.
//!
//! * rules: [`lease`], [`unlock`], [`challenge`], [`slash`], [`batch`], [`derive`]
//! * wire formats: [`envelope`], [`payload`], [`log_entry`], [`record`], [`evidence`], [`feedback_log`]
//! * tools: [`units`], [`hash`], [`merkle`]
#![cfg_attr(not(any(test, feature = "std")), no_std)]

mod bytes;
mod canonical;
mod error;

pub mod batch;
pub mod challenge;
pub mod derive;
pub mod envelope;
pub mod evidence;
pub mod feedback_log;
pub mod hash;
pub mod lease;
pub mod log_entry;
pub mod merkle;
pub mod payload;
pub mod record;
pub mod slash;
#[cfg(feature = "std")]
mod tree;
pub mod units;
pub mod unlock;
