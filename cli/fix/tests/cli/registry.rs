//! A cluster that answers what a party with an agent id asks of it: the slot, and whose agent is whose.

use crate::support::Http;
use serde_json::{Value, json};
use solana_address::Address;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use zx1_chain::{pda, sati, token};
use zx1_interface::Layout as _;
use zx1_interface::accounts::Config;
use zx1_protocol::ids::AgentId;

/// The registry's group of agents.
const GROUP: [u8; 32] = [0x61; 32];
/// Ends in what tells token accounts from agents.
const TOKEN_MARK: u8 = 0x70;

type Owners = Arc<Mutex<BTreeMap<[u8; 32], [u8; 32]>>>;

/// The cluster. Its slot moves on each time that it is asked.
pub(crate) struct Cluster {
    pub(crate) url: String,
    owners: Owners,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        let (slot, owners) = (AtomicU64::new(1_000), Owners::default());
        let known = owners.clone();
        let http = Http::serve(move |body| {
            let question: Value = serde_json::from_str(body).unwrap();
            let of: Option<Address> = question["params"][0].as_str().and_then(|text| text.parse().ok());
            let context = json!({ "slot": 1_000 });
            let result = match question["method"].as_str().unwrap() {
                "getSlot" => json!(slot.fetch_add(1, Ordering::SeqCst)),
                "getAccountInfo" => json!({ "context": context, "value": account(&known, of.unwrap()) }),
                "getTokenLargestAccounts" => {
                    let token = Address::new_from_array(token_of(of.unwrap().to_bytes()));
                    let amount = json!({
                        "address": token.to_string(), "amount": "1", "decimals": 0, "uiAmount": 1.0,
                        "uiAmountString": "1",
                    });
                    json!({ "context": context, "value": [amount] })
                }
                // Nobody has delegated.
                "getProgramAccounts" => json!([]),
                _ => {
                    let error = json!({ "code": -32601, "message": "Method not found" });
                    let answer = json!({ "jsonrpc": "2.0", "error": error, "id": question["id"] });
                    return Some(answer.to_string());
                }
            };
            Some(json!({ "jsonrpc": "2.0", "result": result, "id": question["id"] }).to_string())
        });
        Self { url: http.url, owners }
    }

    /// From now on this agent's NFT is in this wallet.
    pub(crate) fn registers(&self, agent: AgentId, wallet: [u8; 32]) {
        self.owners.lock().unwrap().insert(agent.0, wallet);
    }
}

/// Of each agent its first byte: enough for tests.
fn number_of(agent: [u8; 32]) -> u64 {
    u64::from(agent[0])
}

fn token_of(agent: [u8; 32]) -> [u8; 32] {
    let mut token = agent;
    token[31] = TOKEN_MARK;
    token
}

fn account(owners: &Owners, address: Address) -> Value {
    let owners = owners.lock().unwrap();
    if address == pda::config() {
        let mut data = vec![0; Config::SIZE];
        data[..8].copy_from_slice(&Config::DISCRIMINATOR);
        // Behind two numbers and four addresses stands the group; the version is behind two more addresses.
        let group = 8 + 16 + 4 * 32;
        data[group..group + 32].copy_from_slice(&GROUP);
        data[group + 3 * 32] = 1;
        return shown(&data, Address::new_from_array(Config::PROGRAM));
    }
    for (agent, wallet) in owners.iter() {
        if address.to_bytes() == *agent {
            let mut data = vec![0; 165];
            (data[36], data[45]) = (1, 1);
            data.push(1);
            data.extend([23u16.to_le_bytes(), 72u16.to_le_bytes()].concat());
            data.extend([agent.as_slice(), &GROUP, &number_of(*agent).to_le_bytes()].concat());
            return shown(&data, token::TOKEN_2022_PROGRAM);
        }
        let (index, bump) = sati::agent_index_address(number_of(*agent));
        if address == index {
            let kind = [0xf1, 0x9a, 0x23, 0x67, 0xb4, 0x8d, 0x31, 0xb3];
            return shown(&[kind.as_slice(), agent, &[bump]].concat(), sati::PROGRAM);
        }
        if address.to_bytes() == token_of(*agent) {
            let mut data = [agent.as_slice(), wallet, &1u64.to_le_bytes()].concat();
            data.resize(165, 0);
            data[108] = 1;
            return shown(&data, token::TOKEN_2022_PROGRAM);
        }
    }
    Value::Null
}

fn shown(data: &[u8], owner: Address) -> Value {
    json!({
        "lamports": 1, "data": [bs58::encode(data).into_string(), "base58"], "owner": owner.to_string(),
        "executable": false, "rentEpoch": 0, "space": data.len(),
    })
}
