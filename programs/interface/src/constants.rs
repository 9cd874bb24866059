//! The protocol's constants (protocol.md, 11), each with its unit.

/// The layout version of accounts that the programs write and read; any other is refused.
pub const LAYOUT_VERSION: u8 = 2;
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
/// What a batch key signs begins with this (decision P2).
pub const BATCH_MESSAGE_PREFIX: &[u8] = b"zx1/behavior-batch/v2";
/// Most epochs that one batch covers; older ones stay uncovered (decision P1).
pub const MAX_COVERED_EPOCHS: u64 = 30;
/// Most live keys of an agent: `take_over` names them all (decision P1).
pub const MAX_LIVE_KEYS: u8 = 8;
/// Epochs between listing a key and its first valid one (decision P1).
pub const KEY_NOTICE_EPOCHS: u64 = 2;
/// Epochs after a deal key's last in which a batch may still cover that one and be challenged: a batch covers
/// [`MAX_COVERED_EPOCHS`], lands up to [`MAX_BATCH_AGE_EPOCHS`] late and is open for two more.
pub const DEAL_KEY_EPOCHS: u64 = 35;
/// Slots for which a rank taken by `begin_evidence` holds (decision P4).
pub const RANK_SLOTS: u64 = 300;
/// First slots of a batch's window in which leaves may be asked for (decision P4).
pub const ASK_SLOTS: u64 = 216_000;
/// Slots in which an ask must be answered (decision P4).
pub const SHOW_SLOTS: u64 = 108_000;
/// Number of vaults that the money is spread over: one for each first byte of an agent's id (decision P5).
pub const SHARDS: usize = 256;
