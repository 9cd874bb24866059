//! What a bridge needs to know of Solana: the id of an agent, and the present slot (`block_ref`, decision
//! G1). One JSON-RPC call, so that trading needs no library of Solana's.

use std::time::Duration;

use serde::Deserialize;
use zx1_net::{Endpoint, Fetcher, Limit, Options};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Slot;

use super::{BridgeError, Slots};
use zx1_scrub::neutral::one_line;

/// Time for one answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer in bytes; a slot takes less than 100.
const MAX_ANSWER: usize = 16 << 10;
/// Letters of a node's own words that a message shows.
const MOST: usize = 120;

/// The agent id (the mint of its NFT) that a base58 text names.
///
/// # Errors
/// 9397 when it is not the base58 of 32 bytes.
pub fn agent_id(text: &str) -> Result<AgentId, BridgeError> {
    text.parse().map_err(|_| BridgeError::Id { text: one_line(text, 60) })
}

/// Asks a cluster for its confirmed slot each time. `cluster` is an http(s) address or one of the names
/// `localhost`, `devnet`, `testnet`, `mainnet-beta` and their first letters, as `zx1 --url` takes them.
///
/// # Errors
/// 9398 when it is neither. Nothing is asked here yet.
pub fn slots_of(cluster: &str) -> Result<Slots, BridgeError> {
    let bad = |why: String| BridgeError::Cluster { text: one_line(cluster, MOST), why };
    let named = match cluster {
        "l" | "localhost" => "http://127.0.0.1:8899",
        "d" | "devnet" => "https://api.devnet.solana.com",
        "t" | "testnet" => "https://api.testnet.solana.com",
        "m" | "mainnet-beta" => "https://api.mainnet-beta.solana.com",
        url => url,
    };
    let endpoint = Endpoint::parse_with_secrets(named).map_err(|error| bad(error.to_string()))?;
    let options = Options { timeout: TIMEOUT, ..Options::default() };
    let fetcher = Fetcher::new(endpoint, options).map_err(|error| bad(error.to_string()))?;
    Ok(std::sync::Arc::new(move || {
        let fetcher = fetcher.clone();
        Box::pin(async move { ask(&fetcher).await.map(|slot| slot.0) })
    }))
}

#[derive(Deserialize)]
struct Answer {
    result: Option<u64>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}

/// One question. The error is half a sentence; an address may hold a key, so none is named.
async fn ask(fetcher: &Fetcher) -> Result<Slot, String> {
    let question = r#"{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"commitment":"confirmed"}]}"#;
    let request = fetcher.post_to_endpoint().header("Content-Type", "application/json").body(question);
    let answer = fetcher.fetch(request, Limit::Whole(MAX_ANSWER)).await;
    let answer = answer.map_err(|error| error.to_string())?;
    read(answer.status.as_u16(), &answer.body)
}

fn read(status: u16, body: &[u8]) -> Result<Slot, String> {
    let unreadable = || format!("it answers with status {status} and no slot");
    let answer: Answer = serde_json::from_slice(body).map_err(|_| unreadable())?;
    match (answer.result, answer.error) {
        (Some(slot), None) => Ok(Slot(slot)),
        (_, Some(refusal)) => Err(format!("it says: {}", one_line(&refusal.message, MOST))),
        (None, None) => Err(unreadable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_id_is_the_base58_of_32_bytes() {
        assert_eq!(agent_id("11111111111111111111111111111111").unwrap(), AgentId::default());
        let id = agent_id("So11111111111111111111111111111111111111112").unwrap();
        assert_eq!(id.to_string(), "So11111111111111111111111111111111111111112");
        for wrong in ["", "1", "0OIl", "1111111111111111111111111111111", "fix_00", &"z".repeat(44)] {
            assert_eq!(agent_id(wrong).unwrap_err().code(), 9397, "{wrong}");
        }
    }

    #[test]
    fn a_cluster_is_an_address_or_a_name() {
        for right in ["localhost", "d", "https://rpc.example.org/path?key=1", "http://[::1]:8899"] {
            assert!(slots_of(right).is_ok(), "{right}");
        }
        for wrong in ["", "nowhere", "ftp://example.org", "http://"] {
            assert_eq!(slots_of(wrong).err().map(|error| error.code()), Some(9398), "{wrong}");
        }
    }

    #[test]
    fn a_slot_is_read_strictly() {
        assert_eq!(read(200, br#"{"jsonrpc":"2.0","result":77,"id":1}"#).unwrap(), Slot(77));
        let refused = r#"{"error":{"code":-32005,"message":"Node is behind"},"id":1}"#;
        assert_eq!(read(503, refused.as_bytes()).unwrap_err(), "it says: Node is behind");
        for wrong in ["", "{}", r#"{"result":"77"}"#, r#"{"result":-1}"#, r#"{"result":1.5}"#, "[77]"] {
            assert!(read(200, wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
