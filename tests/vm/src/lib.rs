//! The harness of every test that runs programs: a chain in the process (LiteSVM), with money, agents,
//! time and transactions. Tests live in `tests/`; nothing here is part of the product.
//!
//! A helper panics where a test would be wrong to go on: that is how a test fails.
#![allow(clippy::unwrap_used)]

mod agents;
mod attestations;
mod ed25519;
mod game;
mod keys;
mod money;
mod protocol;
mod send;
mod snapshot;
mod world;

pub use agents::{Agent, ForeignMint};
pub use ed25519::{Ed25519Entry, ed25519_custom, ed25519_instruction, ed25519_pair, sign};
pub use game::{APPEND_BYTES, ARRAYS, Filing, LOG, Shown};
pub use keys::{Key, Keys};
pub use money::Books;
pub use protocol::{BATCH_HASH, Batch, Living, NETWORK, USDC};
pub use send::{
    EVENT_TAG, Failure, Inner, MAX_TRANSACTION, Receipt, Sent, compute_limit, events, transaction_size,
};
pub use snapshot::Snapshot;
pub use world::{START_SLOT, START_TIME, World, address, deploy_folder};
pub use zx1_fixtures::{DELEGATE_SCHEMA_NAME, FEEDBACK_SCHEMA_NAME, Schemas, keypair};
