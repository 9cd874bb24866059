//! The explorer in a real Chromium, over the real thing: a local Solana cluster, the market's server with
//! its embedded Nano ledger, an agent that repairs a build, the indexer that mirrors it all, and the command
//! lines `zx1` and `fix`. This is the harness; the tests are in `tests/explorer`.
//!
//! [`Browser`] speaks the DevTools protocol over a pipe, because all that the tests ask about (console,
//! content security policy, emulation, the accessibility tree, files) is only there, and a client of it for
//! a pipe is shorter than the generated code of any crate. [`Page`] is what a reader does with a page;
//! [`World`] is what the page tells of. All is blocking, and panics where a test would be wrong to go on.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod browser;
mod page;
mod world;

pub use browser::{Browser, CHROMIUM, Session, find};
pub use page::{Page, Seen};
pub use world::{Deals, Fix, HOSTILE, Party, World};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// How often a condition is looked at.
pub(crate) const LOOK: std::time::Duration = std::time::Duration::from_millis(25);
