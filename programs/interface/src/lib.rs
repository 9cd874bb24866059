//! What the zx1 programs and their clients both must know: addresses, seeds, account layouts,
//! instruction data, events and refusals, each written once. No I/O, no Solana client, no Anchor: the
//! on-chain side and the off-chain side compile the same lines.
//!
//! # Example
//!
#![doc = concat!("```\n", include_str!("../examples/account.rs"), "```")]
#![no_std]

pub mod accounts;
pub mod constants;
pub mod error;
pub mod events;
pub mod external;
pub mod ids;
pub mod instruction;
mod layout;
pub mod pda;
pub mod seeds;
pub mod states;

pub use error::Error;
pub use ids::Address;
pub use layout::{EVENT_TAG, Event, Field, Layout, Scalar, discriminator};
