//! Models over real HTTP, pools and budgets.

#![allow(clippy::unwrap_used)]

mod budget;
mod http;
mod pool;
mod server;
