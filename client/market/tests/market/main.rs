//! Tests of the market's rules. One binary, so that it is linked once.
#![allow(clippy::unwrap_used)]

mod actions;
mod canonical;
mod chain;
mod contract;
mod hostile;
mod lifecycle;
mod machine;
mod model;
mod money;
mod refusals;
mod replay;
mod request;
mod support;
mod timers;
mod wire;
