//! Tests of the mesh's rules.
#![allow(clippy::unwrap_used)]

mod common;
mod gate;
mod intake;
mod limits;
mod lru;
mod replay;
mod score;
mod senders;
mod waiting;
