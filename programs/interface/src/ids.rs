//! Addresses of programs. `scripts/deploy keys` rewrites the five of ours here, in the programs'
//! `declare_id!` and in Anchor.toml at once; tests pin that they agree. Addresses that derive from them
//! are computed by build.rs (see [`crate::pda`]).

use five8_const::decode_32_const as address;

/// A Solana address.
pub type Address = [u8; 32];

/// StakeLock: stakes and the protocol's configuration.
pub const STAKE_LOCK: Address = address("5mcuH9RPxQCtLdK41VAbrTQZKnEkZtfPzjiKJ3b3ZrwK");
/// Lease: the daily fee that keeps an agent alive.
pub const LEASE: Address = address("A1NMXJ3mAyRfRWXBv7EpMy2MMToNpRdYGStzFVw7kB2q");
/// BehaviorLog: one batch an epoch and agent.
pub const BEHAVIOR_LOG: Address = address("6fCEMaficSjaoK96uUFTTZoWVb3EYUgyZcHpmEWRY8A6");
/// Challenge: answer or lose.
pub const CHALLENGE: Address = address("C2TcF7GNezwzpG3TS85i9AKqKNmeWpJr85VZHWqeRvD1");
/// FeedbackLog: the append-only log of feedback.
pub const FEEDBACK_LOG: Address = address("BEU1rk9Q3d6t1GB6mhVngjHDWizLFQMhrvWncPgJg1jj");

/// SATI, the registry of agents.
pub const SATI: Address = address("satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe");
/// The Solana Attestation Service, which owns DelegateV1 accounts.
pub const SAS: Address = address("22zoJMtdu4tQc2PzL74ZUT7FrwgB1Udec8DdW4yw4BdG");
/// The system program.
pub const SYSTEM: Address = [0; 32];
/// The legacy SPL Token program: the only one whose mints are accepted as USDC.
pub const TOKEN: Address = address("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/// Token-2022: the program of agents' mints.
pub const TOKEN_2022: Address = address("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
/// The Ed25519 precompile.
pub const ED25519: Address = address("Ed25519SigVerify111111111111111111111111111");
/// The sysvar that shows a transaction's instructions.
pub const INSTRUCTIONS_SYSVAR: Address = address("Sysvar1nstructions1111111111111111111111111");
/// The upgradeable loader, which owns ProgramData accounts.
pub const UPGRADEABLE_LOADER: Address = address("BPFLoaderUpgradeab1e11111111111111111111111");
/// Nobody's account: lamports sent here are burnt.
pub const INCINERATOR: Address = address("1nc1nerator11111111111111111111111111111111");
