//! Thresholds of the judgements, one line each.

/// Lamports below which an operator is warned: about 1 000 transactions.
pub const LOW_LAMPORTS: u64 = 5_000_000;
