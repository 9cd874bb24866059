//! The fix agent and its judge.
//!
//! - [`worker`]: finds contracts, bonds, investigates, proposes repairs, is paid.
//! - [`judge`]: the three courts (spec, "Three-tier court system"; decisions E5, E6).
//! - [`courtroom`]: a judge's process: re-execution first, then the ruling.
//! - [`bridge`]: a contract's 0x01 envelopes in the party's log (decision G1).

pub mod bridge;
pub mod courtroom;
pub mod defaults;
pub mod judge;
pub mod worker;
