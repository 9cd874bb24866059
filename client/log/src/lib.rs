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
//! ```
//! use std::time::Duration;
//! use zx1_log::{LogHandle, Next, Seen, View, agent_dir};
//! use zx1_protocol::batch::{check_epoch, open_digest};
//! use zx1_protocol::channel::Channel;
//! use zx1_protocol::draft::Draft;
//! use zx1_protocol::envelope::{Envelope, MsgType};
//! use zx1_protocol::hash::Sha3;
//! use zx1_protocol::ids::{AgentId, ConversationId};
//! use zx1_protocol::payload::bid_payload;
//! use zx1_protocol::units::{Epoch, Slot};
//!
//! # let home = tempfile::tempdir()?;
//! # let home = home.path();
//! # let key = ed25519_dalek::SigningKey::from_bytes(&[5; 32]);
//! # let sign = |bytes: &[u8]| ed25519_dalek::Signer::sign(&key, bytes).to_bytes();
//! # let (network, signer) = ([9; 32], key.verifying_key().to_bytes().into());
//! let (agent, peer) = (AgentId([1; 32]), AgentId([2; 32]));
//! let now_micros = 1_790_000_000_000_000;
//! let log = LogHandle::open(agent_dir(home, &agent), agent, Duration::from_secs(10))?;
//!
//! // A nonce that no crash can give out twice, then the message.
//! let nonce = log.reserve_nonce(Channel::Direct, now_micros)?;
//! let cbor = Draft {
//!     msg_type: MsgType::Propose,
//!     sender: agent,
//!     recipient: peer,
//!     timestamp: now_micros,
//!     block_ref: Slot(1_000),
//!     nonce,
//!     conversation_id: ConversationId([3; 16]),
//!     payload: &bid_payload(5_000_000, b"CBOR..."),
//! }
//! .sign(sign)?;
//! let envelope = Envelope::decode(&cbor)?;
//!
//! // On disk when it returns; only now may the message leave.
//! let place = log.append_own(&envelope, now_micros)?;
//! assert!(place.new);
//!
//! // After the epoch, with the head that is final on chain: build the batch, sign it, save it, and only then
//! // publish it.
//! let current = Epoch(place.epoch.0 + 1);
//! let (last_epoch, digest) = (Epoch(place.epoch.0 - 1), open_digest::<Sha3>(&network, &agent.0));
//! let view = View { last_epoch, digest, current };
//! let seen = Seen { network, tenure_from: view.last_epoch, views: vec![view] };
//! let Next::Sign(head) = log.next_batch(&seen)? else { panic!("nothing was signed before") };
//! let covered = check_epoch(place.epoch, head.current, head.last_epoch, seen.tenure_from)?;
//! let built = log.build(covered, Slot(900), Slot(216_900))?;
//! let message = built.commitment().message(&network, covered.from, &head.digest);
//! log.seal(&built.bundle()?, &message, signer, sign(&message.to_bytes()), &seen)?;
//! // Until it lands or is void there is nothing else to sign.
//! assert_eq!(log.next_batch(&seen)?, Next::Send(place.epoch));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
