//! The envelope log of an agent (protocol.md, 8.1): append-only files, nonces, payloads and saved batches,
//! safe against crashes.
//!
//! [`zx1_protocol`] has the rules and does no I/O; this crate has the disk. [`LogHandle`] is an agent's log
//! for a program that runs beside others: the first of them owns it, the next ones go through the first.
//! [`Inbox`] is the one door for messages that others sent. [`AgentLog`] is the log for whoever wants it
//! alone. [`LogReader`] reads it at any time, also beside the writer. [`BatchStore`] is where
//! batch data is uploaded to (decision C7): a [`Folder`], or a server with feature `http`.
//!
//! | in the folder | what |
//! |---|---|
//! | `lock` | held by the one writer |
//! | `log.sock` | where other programs reach the writer |
//! | `log/<epoch>.log` | the entries of an epoch, in the order of the Merkle leaves |
//! | `payloads/<keccak256 in hex>` | what the entries leave out (decision C2) |
//! | `nonces` | one's own, reserved before use, and those seen of every sender (decisions C4 and I1) |
//! | `id` | drawn when the log was made: two logs of one agent differ in it (decision P2) |
//! | `adopted` | the head that a person has said to go on from |
//! | `attestations` | which SATI attestation belongs to which rating |
//! | `batches/<epoch>.zx1batch`, `.sig` | batches that were signed: data, and message with signature |
//!
//! Files of the first edition are refused (7207).
//!
//! # What a crash can do
//!
//! Nothing, to what was acknowledged. [`LogHandle::append_own`] returns when payload and entry are on disk, and
//! [`LogHandle::reserve_nonce`] when the number is; so log first, then send. A write that was under way is
//! cut off at the next open and told in [`AgentLog::recovery`], or kept if it was complete. Each file knows
//! how far it was synced, so damage within that part is told apart from a torn tail: it is an error with
//! the place and what to do, and nothing is dropped ([`repair::salvage`] saves the rest when told to).
//!
//! # Example
//!
#![doc = concat!("```\n", include_str!("../examples/epoch.rs"), "```")]

mod agent_log;
mod any_store;
mod attestations;
pub mod backup;
mod batches;
mod disk;
mod error;
mod frames;
mod head;
#[cfg(feature = "http")]
mod http;
mod inbox;
mod index;
mod layout;
mod limits;
mod nonces;
mod owner;
mod payloads;
mod reader;
mod record;
pub mod repair;
mod store;

pub use agent_log::{AgentLog, Append, Appended, Recovery};
pub use any_store::AnyStore;
pub use batches::{SavedBatch, SavedBatches};
pub use error::{LogError, OwnerRefusal, Result};
pub use frames::Torn;
pub use head::{Next, Seen, View};
#[cfg(feature = "http")]
pub use http::{Http, HttpOptions};
pub use inbox::{Admitted, Inbox, Key, Keys, Origin, Received, Waiver};
pub use layout::agent_dir;
pub use limits::{MAX_FROM_SENDER, RESERVED_FOR_SENT};
pub use owner::LogHandle;
#[cfg(feature = "unchecked")]
pub use owner::read_frames;
pub use reader::{Entries, EpochSummary, Found, LogReader};
pub use record::StoredEntry;
pub use store::{BatchStore, Folder, Put};
