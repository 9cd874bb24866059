//! What holds when nobody says anything else. One line each.

/// The cluster: this machine's. Never mainnet.
pub const URL: &str = "http://127.0.0.1:8899";
/// The relay: this machine's.
pub const RELAY: &str = "ws://127.0.0.1:6667";
/// zx1's folder below the home folder.
pub const HOME: &str = ".config/zx1";
/// The names of keypair and configuration in zx1's folder.
pub use zx1_operator::backup::{CONFIG, KEYPAIR};
/// The Solana command line's configuration below the home folder (decision A1).
pub const SOLANA_CONFIG: &str = ".config/solana/cli/config.yml";
/// The Solana command line's keypair below the home folder.
pub const SOLANA_KEYPAIR: &str = ".config/solana/id.json";
/// The key of `fix` below the home folder (decision A1).
pub const FIX_KEYPAIR: &str = ".fix/key.ed25519";
/// Largest input of `inspect`, but for batches, in bytes.
pub const MAX_INPUT: u64 = 1 << 20;
/// Largest file with a batch or with Merkle entries, in bytes: 2^20 leaves and as many records fit.
pub const MAX_LARGE_INPUT: u64 = 1 << 28;
/// Largest envelope in bytes (protocol.md, 11, MAX_MESSAGE_SIZE).
pub const MAX_MESSAGE: usize = 65_536;
