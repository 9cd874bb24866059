//! The local cluster in this process: what it begins with, its clock, its money, its RPC, and what a folder
//! keeps. Processes that are killed are in `tests/e2e/tests/localnet.rs`.
#![allow(clippy::unwrap_used)]

mod common;
mod genesis;
mod ledger;
mod nano;
mod refusals;
mod rpc;
mod time;
mod websocket;
