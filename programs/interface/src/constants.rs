//! The protocol's constants (protocol.md, 11), each with its unit.

/// Length of a zx1 epoch in seconds (decision B1). Not Solana's validator epoch.
pub const EPOCH_SECONDS: u64 = 86_400;
/// Slots during which a batch can be challenged and a challenge answered (decision B1).
pub const CHALLENGE_WINDOW_SLOTS: u64 = 432_000;
/// Slots between queueing an unlock and claiming the stake (decision B1).
pub const UNLOCK_DELAY_SLOTS: u64 = 432_000;
/// Price of one epoch of lease, in micro-USDC.
pub const LEASE_COST_PER_EPOCH: u64 = 1_000_000;
/// Unpaid epochs that an agent may be behind before its lease is deactivated.
pub const GRACE_PERIOD_EPOCHS: u64 = 3;
/// The smallest stake that counts, in micro-USDC.
pub const MIN_STAKE: u64 = 10_000_000;
/// What a challenger puts up, in micro-USDC.
pub const CHALLENGE_STAKE: u64 = 10_000_000;
/// The challenger's share of a slashed stake, in percent; the rest goes to the treasury.
pub const CHALLENGE_REWARD_PERCENT: u64 = 50;
/// Epochs that a batch may be older than the current one when it is submitted (decision B7).
pub const MAX_BATCH_AGE_EPOCHS: u64 = 3;
/// Most leaves of a log or of the economic arrays: 2^20 (decision B7).
pub const MAX_TREE_LEN: u32 = 1 << 20;
/// Longest payload, in bytes, of the four envelope types that a challenge can rest on (decision B11).
pub const MAX_EVIDENCE_PAYLOAD: usize = 400;
/// Longest text of a feedback entry, in bytes of UTF-8 (decision B13).
pub const MAX_FEEDBACK_BYTES: usize = 2_048;
/// Largest evidence draft, in bytes (decision B10).
pub const MAX_EVIDENCE_BYTES: usize = 8_192;
/// What an agent's key signs to submit a batch begins with this (decision B7).
pub const BATCH_MESSAGE_PREFIX: &[u8] = b"zx1/behavior-batch/v1";
