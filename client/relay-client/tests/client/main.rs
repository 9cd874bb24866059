//! The client against a peer on loopback that speaks the relay's frames: what goes over the wire, what comes of
//! losses, and what stays on disk.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod disk;
mod files;
mod lasting;
mod peer;
mod pure;
mod talk;
mod tls;
