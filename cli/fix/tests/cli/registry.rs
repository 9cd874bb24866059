//! A cluster that answers what a party with an agent id asks of it: the slot, whose agent is whose, and its keys.

use crate::support::Http;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use solana_address::Address;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use zx1_chain::{pda, sati, token};
use zx1_interface::Layout as _;
use zx1_interface::accounts::{Config, KeyAccount};
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::{OPEN, Scopes};

/// The registry's group of agents.
const GROUP: [u8; 32] = [0x61; 32];
/// Ends in what tells token accounts from agents.
const TOKEN_MARK: u8 = 0x70;

/// By agent: its wallet, and its keys.
type Owners = Arc<Mutex<BTreeMap<[u8; 32], Registered>>>;

struct Registered {
    wallet: [u8; 32],
    keys: Vec<([u8; 32], Scopes)>,
}

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
                // The configuration's network is all zeros.
                "getGenesisHash" => json!(Address::default().to_string()),
                "getSlot" => json!(slot.fetch_add(1, Ordering::SeqCst)),
                "getAccountInfo" => json!({ "context": context, "value": account(&known, of.unwrap()) }),
                "getMultipleAccounts" => {
                    let asked = question["params"][0].as_array().unwrap().iter();
                    let found = asked.map(|it| account(&known, it.as_str().unwrap().parse().unwrap()));
                    json!({ "context": context, "value": found.collect::<Vec<_>>() })
                }
                "getTokenLargestAccounts" => {
                    let token = Address::new_from_array(token_of(of.unwrap().to_bytes()));
                    let amount = json!({
                        "address": token.to_string(), "amount": "1", "decimals": 0, "uiAmount": 1.0,
                        "uiAmountString": "1",
                    });
                    json!({ "context": context, "value": [amount] })
                }
                "getProgramAccounts" => key_accounts(&known, &question["params"][1]["filters"]),
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

    /// From now on this agent's NFT is in this wallet, which is its key as well.
    pub(crate) fn registers(&self, agent: AgentId, wallet: [u8; 32]) {
        self.registers_with(agent, wallet, &[(wallet, Scopes::ALL)]);
    }

    /// The same with these keys.
    pub(crate) fn registers_with(&self, agent: AgentId, wallet: [u8; 32], keys: &[([u8; 32], Scopes)]) {
        let registered = Registered { wallet, keys: keys.to_vec() };
        self.owners.lock().unwrap().insert(agent.0, registered);
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
        data[Config::VERSION_AT] = LAYOUT_VERSION;
        let group = 8 + offset_of!(Config, registry_group);
        data[group..group + 32].copy_from_slice(&GROUP);
        return shown(&data, Address::new_from_array(Config::PROGRAM));
    }
    for (agent, Registered { wallet, keys }) in owners.iter() {
        if address.to_bytes() == *agent {
            let mut data = vec![0; 165];
            (data[36], data[45]) = (1, 1);
            data.push(1);
            data.extend([23u16.to_le_bytes(), 72u16.to_le_bytes()].concat());
            data.extend([agent.as_slice(), &GROUP, &number_of(*agent).to_le_bytes()].concat());
            return shown(&data, token::TOKEN_2022_PROGRAM);
        }
        if let Some((key, scopes)) = keys.iter().find(|(key, _)| address == key_address(agent, key)) {
            return key_account(agent, wallet, key, *scopes);
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

/// The key accounts of the agent that these filters name.
fn key_accounts(owners: &Owners, filters: &Value) -> Value {
    let asked = filters.to_string();
    let owners = owners.lock().unwrap();
    let named = owners.iter().filter(|(agent, _)| asked.contains(&STANDARD.encode(agent)));
    let mut found = Vec::new();
    for (agent, Registered { wallet, keys }) in named {
        for (key, scopes) in keys {
            let account = key_account(agent, wallet, key, *scopes);
            found.push(json!({ "pubkey": key_address(agent, key).to_string(), "account": account }));
        }
    }
    Value::Array(found)
}

fn key_address(agent: &[u8; 32], key: &[u8; 32]) -> Address {
    pda::key(&AgentId(*agent), &Address::new_from_array(*key))
}

/// The account of a key that counts in all epochs.
fn key_account(agent: &[u8; 32], wallet: &[u8; 32], key: &[u8; 32], scopes: Scopes) -> Value {
    let mut data = vec![0; KeyAccount::SIZE];
    data[..8].copy_from_slice(&KeyAccount::DISCRIMINATOR);
    data[KeyAccount::VERSION_AT] = LAYOUT_VERSION;
    let mut put = |at: usize, bytes: &[u8]| data[8 + at..8 + at + bytes.len()].copy_from_slice(bytes);
    put(offset_of!(KeyAccount, until_epoch), &OPEN.to_le_bytes());
    put(offset_of!(KeyAccount, scopes), &[scopes.0]);
    put(offset_of!(KeyAccount, agent), agent);
    put(offset_of!(KeyAccount, key), key);
    put(offset_of!(KeyAccount, owner), wallet);
    shown(&data, Address::new_from_array(KeyAccount::PROGRAM))
}

fn shown(data: &[u8], owner: Address) -> Value {
    json!({
        "lamports": 1, "data": [bs58::encode(data).into_string(), "base58"], "owner": owner.to_string(),
        "executable": false, "rentEpoch": 0, "space": data.len(),
    })
}
