//! An agent's mesh node, as the agent's other programs see it: the local API and its client.
//!
//! The node is a process of its own (`zx1-node`). It listens on loopback and on a socket in the agent's folder; a file
//! there says where, another holds the token that requests carry.

mod client;
pub mod signer;
pub mod wire;

pub use client::NodeClient;

use std::path::{Path, PathBuf};

/// The file in an agent's folder that says where its node serves: [`wire::Place`] as JSON.
pub const PLACE_FILE: &str = "node.json";
/// The file in an agent's folder with the token of the local API.
pub const TOKEN_FILE: &str = "node.token";
/// The socket in an agent's folder, on which no token is asked for.
pub const SOCKET: &str = "node.sock";
/// The lock that a running node holds.
pub const LOCK_FILE: &str = "node.lock";
/// Where the local API listens unless told otherwise.
pub const DEFAULT_API: &str = "127.0.0.1:4010";

/// Longest name of a message that is to be sent, in bytes.
pub const MAX_NAME: usize = 128;
/// Longest time to live of a message that is to be sent, in seconds.
pub const MAX_TTL: u32 = 86_400;

/// The place file of the agent with this folder.
pub fn place_file(folder: &Path) -> PathBuf {
    folder.join(PLACE_FILE)
}
