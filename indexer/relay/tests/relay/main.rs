//! The relay as a process, walked by clients that know nothing but the wire.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, unreachable_pub)]

mod harness;
mod limits;
mod proposals;
mod stores;
mod wire;
