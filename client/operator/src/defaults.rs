//! Thresholds of the judgements, one line each.

/// Lamports below which an operator is warned: about 1 000 transactions.
pub const LOW_LAMPORTS: u64 = 5_000_000;
/// Days of paid lease below which an operator is warned.
pub const LEASE_WARN_DAYS: u64 = 2;
/// Seconds between this machine's clock and the chain's that are harmless: the tolerance of envelope timestamps
/// (protocol.md, 11).
pub const CLOCK_SKEW_SECONDS: u64 = 30;
