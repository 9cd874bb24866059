//! The capsule's rules and its broker.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod attacks;
mod limits;
mod logs;
mod names;
mod pushes;
mod refs;
mod scenario;
mod signals;
mod watcher;
mod world;
