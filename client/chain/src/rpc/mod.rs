//! The client of a cluster: reading accounts, building, sending and confirming transactions.
//!
//! The way of a command: [`Client`] reads, [`actions`] builds a [`Flow`], [`Sender`] prepares, simulates,
//! lets the caller agree to the [`Prepared`] transaction, signs, writes it to the [`Outbox`] and only then
//! sends it. A command that is run again finds its transaction in the outbox and never pays twice.
//!
//! An [`Intent`] is the name of what a command wants; it is the same when the command is run again. The same
//! bytes are sent until the chain has decided or the blockhash can no longer land; meanwhile nothing else is
//! signed for this intent. A rerun finds the record: landed means done, still valid means the same bytes
//! again, expired means built anew. Long texts and long evidence take several transactions; how far they are
//! is read from the chain before each. Transactions are version 0, with a lookup table where one is given.

pub mod actions;
pub mod audit;
mod blocks;
mod client;
mod cluster;
mod compute;
mod draft;
mod error;
pub mod events;
mod history;
pub mod idl;
pub mod intents;
pub mod lookup;
mod message;
mod moves;
mod outbox;
mod partial;
mod prepare;
mod read;
mod refusal;
pub mod registry;
mod roles;
mod send;
mod sizes;
mod standing;
pub mod summary;
mod wire;
mod words;

pub use client::{Client, ClientOptions};
pub use cluster::{Cluster, Identity, LOCALHOST, Public};
pub use compute::{MAX_UNITS, table_units};
pub use draft::{Asked, Draft, Flow, Intent, Step, is_race};
pub use error::{ChainError, Result};
pub use events::Event;
pub use history::{Called, HistoryEntry, LandedTransaction, READS_VERSION};
pub use message::Key;
pub use moves::{Call, Money, Move};
pub use outbox::{Outbox, Record};
pub use partial::PartialTransaction;
pub use prepare::{FeePolicy, Prepared, Simulation};
pub use read::{
    AskFilter, ChainTime, ChallengeFilter, DraftFilter, FeedbackItem, RawAccount, RecentBlockhash, Stored,
    UsdcAccount,
};
pub use refusal::{Circumstances, Foreign, Refusal};
pub use roles::{Role, Roles};
pub use send::{Approve, Landed, Outcome, Progress, Sender, SenderOptions};
pub use sizes::{MAX_TRANSACTION, fits, transaction_size};
pub use standing::{PresentStake, Standing, Wanted};
pub use summary::{Line, Summary};
