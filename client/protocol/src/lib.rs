//! The pure rules of the zx1 protocol, shared by the programs and by everyone who talks to them.
//!
//! No clock, no I/O, no heap (outside feature `std`): time, hashes and bytes come in as arguments, a
//! verdict goes out. So the same code decides on chain (SBF, `no_std`) and in clients, and every rule is
//! tested without a virtual machine.
//!
//! * rules: [`lease`], [`unlock`], [`keys`], [`challenge`], [`amounts`], [`batch`], [`mod@derive`], [`nonce`],
//!   [`channel`]
//! * wire formats: [`envelope`], [`payload`], [`mesh_payload`], [`context`], [`beacon`], [`log_entry`],
//!   [`record`], [`evidence`], [`feedback_log`], [`interaction`]
//! * tools: [`ids`], [`units`], [`hash`], [`merkle`]
//!
//! With feature `std`, for clients only: `validate` and `draft` (messages in and out), `signature`,
//! `behavior_batch` and `bundle` (an epoch's account of itself), `finder` (what can be challenged, and
//! what answers a challenge), `reputation`.
//!
//! Refusals that a person may see are numbered from 7300 to 7399.
//!
//! # Example
//!
#![doc = concat!("```\n", include_str!("../examples/offer.rs"), "```")]
#![cfg_attr(not(any(test, feature = "std")), no_std)]

mod bytes;
mod canonical;
mod error;

pub mod amounts;
pub mod batch;
#[cfg(feature = "std")]
pub mod beacon;
#[cfg(feature = "std")]
pub mod behavior_batch;
#[cfg(feature = "std")]
pub mod bundle;
pub mod challenge;
pub mod channel;
#[cfg(feature = "std")]
pub mod context;
pub mod derive;
#[cfg(feature = "std")]
pub mod draft;
pub mod envelope;
pub mod evidence;
pub mod feedback_log;
#[cfg(feature = "std")]
pub mod finder;
pub mod hash;
pub mod ids;
pub mod interaction;
pub mod keys;
pub mod lease;
pub mod log_entry;
pub mod merkle;
#[cfg(feature = "std")]
pub mod mesh_payload;
pub mod nonce;
pub mod payload;
pub mod record;
#[cfg(feature = "std")]
pub mod reputation;
#[cfg(feature = "std")]
pub mod signature;
pub mod units;
pub mod unlock;
#[cfg(feature = "std")]
pub mod validate;
