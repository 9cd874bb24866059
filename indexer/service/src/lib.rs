//! The indexer: what off-chain clients need is rebuilt from the ledgers, kept, and served.
//!
//! It holds no secrets (decision G2): whatever it says can be checked against the chain, and every answer
//! says up to which slot it is complete and which digest it rests on. Deleting its database loses nothing but
//! time, and the ratings and batch data that agents would have to bring again.
//!
//! | module | what it holds |
//! |---|---|
//! | [`parse`] | transactions to events, accounts to states: pure |
//! | [`merge`] | events and states to rows and news: pure |
//! | [`chain`] | the cluster behind one trait; what its websocket announces |
//! | [`ingest`] | ranges of slots, the finalized history, gaps, the registry |
//! | [`store`] | SQLite and Postgres behind one trait, and the suite that both pass |
//! | [`bundles`], [`ratings`], [`nano`], [`market`] | what does not stand on Solana |
//! | [`reputation`] | what follows from batches and ratings: pure arithmetic over rows |
//! | [`audit`] | the index compared with the chain |
//! | [`hub`], [`http`] | the streams, the interface, the explorer |
//! | [`config`], [`cli`], [`server`] | what can be set; all of it, started and stopped |
//!
//! Errors have the numbers 9600 to 9699 ([`error::Error`]).

pub mod audit;
pub mod bundles;
pub mod chain;
pub mod cli;
pub mod config;
pub mod error;
pub mod http;
pub mod hub;
pub mod index;
pub mod ingest;
pub mod market;
pub mod merge;
pub mod metrics;
pub mod nano;
pub mod parse;
pub mod ratings;
pub mod reputation;
pub mod server;
pub mod status;
pub mod store;
#[cfg(test)]
mod testing;

pub use config::Config;
pub use error::{Error, Result};
pub use server::{Ready, Server};
