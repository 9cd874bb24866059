//! Tests of the market's rules. One binary, so that it is linked once.
#![allow(clippy::unwrap_used)]

mod absence;
mod actions;
mod advert;
mod bodies;
mod canonical;
mod chain;
mod contract;
mod decoders;
#[path = "../../../../tests/fuzz/harness.rs"]
mod harness;
mod hostile;
mod lifecycle;
mod machine;
mod model;
mod money;
mod payee;
mod refusals;
mod replay;
mod request;
mod seats;
mod support;
mod timers;
mod wire;
