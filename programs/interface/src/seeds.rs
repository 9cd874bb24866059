//! Seeds of every program-derived address (protocol.md, 10; decisions B2 to B14). A seed that is an
//! integer is little-endian.

/// StakeLock `["config"]`: the configuration.
pub const CONFIG: &[u8] = b"config";
/// StakeLock `["tenure", agent_mint]`: whose turn it is (decision P1).
pub const TENURE: &[u8] = b"tenure";
/// StakeLock `["key", agent_mint, key]` (decision P1).
pub const KEY: &[u8] = b"key";
/// StakeLock `["stake", agent_mint, era u32]`.
pub const STAKE: &[u8] = b"stake";
/// StakeLock `["shard", shard u8]`: the total of a pooled vault, and its authority (decision P5).
pub const SHARD: &[u8] = b"shard";
/// StakeLock `["vault", shard u8]`: a pooled token account; shard is the first byte of the agent's id.
pub const VAULT: &[u8] = b"vault";
/// Lease `["lease", agent_id]`.
pub const LEASE: &[u8] = b"lease";
/// BehaviorLog `["head", agent_id]`.
pub const HEAD: &[u8] = b"head";
/// BehaviorLog `["batch", agent_id, epoch_number]`.
pub const BATCH: &[u8] = b"batch";
/// Challenge `["challenge", batch, claim32]` (decision P4).
pub const CHALLENGE: &[u8] = b"challenge";
/// Challenge `["authority"]`: the only signer that StakeLock and BehaviorLog obey for
/// ranks, money and marks.
pub const AUTHORITY: &[u8] = b"authority";
/// Challenge and FeedbackLog `["draft", owner, nonce]`.
pub const DRAFT: &[u8] = b"draft";
/// Challenge `["ask", batch, tree u8, index u32]` (decision P4).
pub const ASK: &[u8] = b"ask";
/// FeedbackLog `["feedback_log"]`: the log's head.
pub const FEEDBACK_LOG: &[u8] = b"feedback_log";
/// FeedbackLog `["entry", index]`.
pub const ENTRY: &[u8] = b"entry";
/// FeedbackLog `["resolution", index]`.
pub const RESOLUTION: &[u8] = b"resolution";
/// Every program's `["__event_authority"]`, which signs its self-CPI events (decision B14).
pub const EVENT_AUTHORITY: &[u8] = b"__event_authority";
/// SATI `["registry"]`: the RegistryConfig account.
pub const SATI_REGISTRY: &[u8] = b"registry";
/// SATI `["agent_index", member_number]`.
pub const SATI_AGENT_INDEX: &[u8] = b"agent_index";
