//! Tests of the tables: what an agent says, agrees to, sends, and has judged. No network, no clock.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod conversation;
mod desk;
mod outbox;
mod outbox_model;
mod payload;
mod search;
mod search_model;
mod support;
