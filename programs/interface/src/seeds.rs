//! Seeds of every program-derived address (spec section 10, decisions B2 to B14). A seed that is an
//! integer is little-endian.

/// StakeLock `["config"]`: the configuration.
pub const CONFIG: &[u8] = b"config";
/// StakeLock `["stake", agent_mint]`.
pub const STAKE: &[u8] = b"stake";
/// StakeLock `["vault", agent_mint]` and Challenge `["vault", challenge]`: token accounts.
pub const VAULT: &[u8] = b"vault";
/// Lease `["lease", agent_id]`.
pub const LEASE: &[u8] = b"lease";
/// BehaviorLog `["head", agent_id]`.
pub const HEAD: &[u8] = b"head";
/// BehaviorLog `["batch", agent_id, epoch_number]`.
pub const BATCH: &[u8] = b"batch";
/// Challenge `["challenge", batch, challenger, claim]`, where claim = keccak(evidence hash ‖ ground).
pub const CHALLENGE: &[u8] = b"challenge";
/// Challenge `["authority"]`: the only signer that StakeLock obeys for slashing and counting.
pub const AUTHORITY: &[u8] = b"authority";
/// Challenge and FeedbackLog `["draft", owner, nonce]`.
pub const DRAFT: &[u8] = b"draft";
/// Challenge `["evidence", owner, nonce]`: a recorded envelope.
pub const EVIDENCE: &[u8] = b"evidence";
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
