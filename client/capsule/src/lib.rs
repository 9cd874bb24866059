//! The capsule ([docs/capsule.md](../../../docs/capsule.md)): an agent that rewrites itself, with git as its only way
//! to the world, and a watcher outside of it.
//!
//! Pure, with time as an argument:
//!
//! | module | what it holds |
//! |---|---|
//! | [`machine`] | what the watcher does next: generations, fall back to main, back-off |
//! | [`refname`] | names of refs, of branches, and of their folders |
//! | [`signal`] | what a signal file may say |
//! | [`policy`] | who may move which ref |
//! | [`directives`] | what of COMMS.md only the person edits |
//! | [`audit`] | the chained log of ref updates |
//! | [`caps`] | limits of pushes and of models |
//! | [`bootlog`], [`status`] | lines of bootstrap.log, what `status` shows |
//! | [`defaults`] | every limit |
//!
//! On disk and with processes: [`repository`] makes and checks a bare repository, [`ledger`] keeps the audit log,
//! [`broker`] serves git over sockets, [`helper`] is git's hook, [`spool`] reads signal files.
//!
//! Errors are numbered from 7900 to 7999.

pub mod audit;
pub mod bootlog;
pub mod broker;
pub mod caps;
pub mod defaults;
pub mod directives;
mod error;
pub mod helper;
pub mod jail;
mod judge;
pub mod ledger;
pub mod listen;
pub mod machine;
pub mod model;
pub mod native;
mod objects;
pub mod policy;
mod processes;
pub mod refname;
mod report;
pub mod repository;
mod request;
pub mod signal;
pub mod spool;
pub mod status;
pub mod template;
mod volume;
pub mod watcher;

pub use error::{CapsuleError, Result};
