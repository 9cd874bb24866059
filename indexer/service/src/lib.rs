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
//! | [`mesh`] | what an observing node hears, which proves nothing |
//! | [`reputation`] | what follows from batches and ratings: pure arithmetic over rows |
//! | [`audit`] | the index compared with the chain |
//! | [`hub`], [`http`] | the streams, the interface, the explorer |
//! | [`config`], [`cli`], [`server`] | what can be set; all of it, started and stopped |
//!
//! # How it stays complete
//!
//! It believes nothing that a websocket says. It takes the node's confirmed slot as a boundary, lists what
//! happened after its cursor up to there, and writes events, what follows from them, and the cursor in one
//! transaction, so a process that dies goes on as if it had not begun. What was announced and is not listed
//! makes it wait; what is listed and cannot be read makes it stop. When slots become final it compares: what
//! vanished is rolled back and retracted on the streams, what was missed is added, and an agent whose events
//! came out of order is computed anew from all of them. Sequence numbers prove gaps; the account's own
//! history refills them, and its state repairs what no node has any more.
//!
//! An event is unique by slot, signature and ordinal: with the slot first, what is written next lies beside
//! what was written last. The index digest is a sum, so two indexers at one slot can be compared. What
//! follows from a write is recomputed when each process starts. On Postgres a commit holds a lock that the
//! next process waits for, so it never reads before a dead one's last commit.
//!
//! A sale of an agent leaves no event of ours, so token accounts are polled. Batch data is accepted from
//! anybody if its hash and both roots are the chain's (decision C7). Markets are mirrored page by page, and
//! every public transcript is replayed by the market's own rules first.
//!
//! # The explorer
//!
//! Static files in `explorer/`, embedded; ES modules without dependencies or build step. Modules that touch
//! no document are pure and tested by `node --test`; `dom.js` makes nodes and cannot make markup of text. A
//! transcript is checked from the untouched bytes, because JSON.parse would lose `1708531200.0`. Rules that
//! need the whole rule book (windows, states, money) stay with `fix verify`, and the page says so.
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
pub mod links;
pub mod market;
pub mod merge;
pub mod mesh;
pub mod metrics;
pub mod nano;
pub mod parse;
pub mod party;
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
