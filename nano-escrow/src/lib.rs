//! Nano money, exactly once.
//!
//! Keys, blocks, proof of work, a node client, a journalled escrow and wallet. The crate stands alone: other
//! projects can use it for any contract that holds money for two parties. The commands are `cli/nano`, the
//! embedded ledger to test against is the crate `nano-devnet`.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | [`Raw`], [`Address`], [`PrivateKey`], [`StateBlock`], [`Network`], checking work |
//! | `work` (default) | the CPU solver |
//! | `binding` (default) | the record that binds an Ed25519 key and a Nano key to one party |
//! | `node` | the client of a Nano node: RPC, websocket, remote work |
//! | `escrow` | journal, escrow, wallet (SQLite) |
//!
//! Every error has a number (`zx1_coded::Coded`); the next step is the front end's.
//!
//! # Example
//!
#![doc = concat!("```\n", include_str!("../examples/blocks.rs"), "```")]

mod address;
#[cfg(feature = "binding")]
pub mod binding;
pub mod block;
mod error;
#[cfg(feature = "escrow")]
pub mod escrow;
mod hash;
#[cfg(feature = "escrow")]
pub mod journal;
mod key;
mod network;
#[cfg(feature = "node")]
pub mod node;
mod raw;
#[cfg(feature = "escrow")]
pub mod wallet;
pub mod work;

pub use address::{Address, AddressError};
pub use block::{Head, SignedBlock, StateBlock, Subtype};
pub use error::Error;
pub use hash::{BlockHash, HexError, blake2b_256};
pub use key::{KeyError, Keypair, PrivateKey, PublicKey, Seed, Signature};
pub use network::{Network, Ports};
pub use raw::{AmountError, Raw};
pub use work::{Thresholds, Work, WorkKind};

/// The examples of the README are compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
