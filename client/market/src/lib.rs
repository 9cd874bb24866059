//! The pure rules of the fix market: contracts, signed transcripts, states, the money table.
//!
//! Nothing here reads a clock, a disk or a network. Time is an argument ([`time::Millis`]), keys are handed
//! in, and every answer follows from what was passed. So the market's server, the clients, the judge and
//! `fix verify` decide alike, and every rule is tested without a process.
//!
//! | module | what it holds |
//! |---|---|
//! | [`id`] | parties (`fix_<64 hex>`), contracts (16 hex), signing keys |
//! | [`canonical`] | JSON exactly as Python's `json.dumps(sort_keys=True, separators=(",",":"))` |
//! | [`chain`] | signed entries, their typed data, the hash chain |
//! | [`contract`] | the contract's shape, its bounds, a builder |
//! | [`request`] | request signatures |
//! | [`machine`] | the states, and the table of every transition |
//! | [`parties`], [`court`] | the two sides; the three courts and their outcomes |
//! | [`money`] | the money table |
//! | [`case`] | one contract's whole life: entries and time in, effects and deadlines out; replay |
//! | [`wire`] | bodies, answers and events of the HTTP interface |
//! | [`counts`] | how often a party's fixes failed outside of the sandbox |
//! | [`work`] | what posts above an address's daily number cost |
//! | [`bridge`] | a contract as a task of the 0x01 protocol |
//! | [`defaults`] | every default and bound |
//!
//! Every refusal is a [`Refusal`]: a number from 9000 on, a class that a server turns into a status, and a
//! sentence that says what to do next.
//!
//! # Example
//!
#![doc = concat!("```\n", include_str!("../examples/contract.rs"), "```")]

pub mod bridge;
pub mod canonical;
pub mod case;
pub mod chain;
pub mod contract;
pub mod counts;
pub mod court;
pub mod defaults;
mod digits;
mod error;
mod fees;
mod fields;
mod head;
pub mod id;
pub mod machine;
mod market_id;
pub mod money;
mod network;
pub mod parties;
pub mod request;
pub mod terms;
pub mod time;
pub mod wire;
pub mod work;

pub use canonical::Json;
pub use case::Case;
pub use chain::{Entry, EntryType};
pub use contract::Contract;
pub use error::{Class, Reason, Refusal, Result};
pub use id::{ContractId, PartyId, PartyKey};
pub use machine::State;
pub use market_id::MarketId;
pub use nano_escrow::{Address, Raw};
pub use network::NetworkId;
pub use terms::Terms;
pub use time::Millis;
