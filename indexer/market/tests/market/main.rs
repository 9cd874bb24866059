//! The market server over real HTTP: in this process where a test looks inside, as a process of its own where
//! it is killed.

#![allow(clippy::unwrap_used)]

mod absence;
mod announce;
mod attacks;
mod counts;
mod court;
mod crash;
mod dead_letters;
mod escrow;
mod hooks;
mod inputs;
mod lifecycle;
mod long;
mod node;
mod older;
mod openapi;
mod operator;
mod outage;
mod parties;
mod plans;
mod rows;
mod silence;
mod store;
mod stream;
#[allow(missing_docs, unreachable_pub)]
mod support;
mod web;
