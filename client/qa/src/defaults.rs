//! Bounds of the QA loop.

/// Longest text of a finding in bytes, so that one transaction carries it.
pub const MAX_FINDING: usize = 768;
/// Longest line that reproduces a finding in bytes, without its `repro: `.
pub const MAX_REPRO: usize = 400;
/// Most entries that the first line of a finding may have beside the ones with a meaning.
pub const MAX_OTHER_KEYS: usize = 16;
/// Findings that the daily summary names.
pub const SUMMARY_FINDINGS: usize = 3;
/// Longest time for which a signed line allows proposals, in seconds: 30 days.
pub const MAX_PROPOSE_SECONDS: i64 = 30 * 86_400;
/// Longest file of the dial in bytes.
pub const MAX_DIAL: usize = 1024;
/// Longest patch in bytes, where the contract names no other bound.
pub const MAX_PATCH: usize = 65_536;
/// Longest subject of a proposed commit in characters.
pub const MAX_SUBJECT: usize = 72;
/// How often each run of a gate that can be flaky is repeated.
pub const FLAKY_RUNS: usize = 3;
/// Wall time of the gate in seconds.
pub const GATE_SECONDS: u64 = 3600;
/// Memory of one run of the gate in bytes.
pub const GATE_MEMORY: u64 = 8 << 30;
/// Longest error of an observation in characters.
pub const MAX_OBSERVED_ERROR: usize = 300;
/// Calls near the reported one that the gate tries on the base commit.
pub const SIBLINGS: usize = 12;
