//! The client, the agent, the judge and the bridge, against the real server in this process.

#![allow(clippy::unwrap_used)]

mod announced;
mod bridge;
mod client;
mod courtroom;
mod crash;
mod faults;
mod support;
mod work;
mod worker;
