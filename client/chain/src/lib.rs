//! What a client needs to talk to the chain: addresses, instructions and account layouts. No I/O, but for
//! the feature `rpc`, which adds the client of a cluster ([`rpc`]).
//!
//! # Example
//!
#![doc = concat!("```\n", include_str!("../examples/addresses.rs"), "```")]

pub mod claim;
pub mod instructions;
pub mod pda;
#[cfg(feature = "rpc")]
pub mod rpc;
pub mod sati;
pub mod token;
