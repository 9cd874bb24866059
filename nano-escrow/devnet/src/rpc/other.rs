//! Actions about the node, the network, work, and the faucet.

use serde_json::{Map, Value, json};

use super::params::Params;
use super::{Text, Twists, address};
use crate::Ledger;
use crate::node::{Core, Node, solve};
use nano_escrow::{BlockHash, Network, Raw, Thresholds, Work};

pub(super) fn version(ledger: &Ledger, twists: &Twists) -> Value {
    let (network, genesis) = match &twists.network {
        Some((name, genesis)) => (name.clone(), *genesis),
        None => (Network::Dev.name().to_owned(), ledger.genesis()),
    };
    json!({
        "rpc_version": "1",
        "store_version": "24",
        "protocol_version": "21",
        "node_vendor": concat!("nano-devnet ", env!("CARGO_PKG_VERSION")),
        "store_vendor": "nano-devnet",
        "network": network,
        "network_identifier": genesis.to_string(),
        "build_info": concat!("nano-devnet ", env!("CARGO_PKG_VERSION")),
    })
}

/// As with `raw`. It has no peers but those of a fault.
pub(super) fn telemetry(ledger: &Ledger, twists: &Twists) -> Value {
    let (blocks, peers) = twists.behind;
    let cemented = ledger.confirmed_count().saturating_add(blocks).to_string();
    let metrics = vec![json!({ "block_count": cemented, "cemented_count": cemented }); peers];
    json!({ "metrics": metrics })
}

fn multiplier(difficulty: u64, base: u64) -> String {
    // The distances to 2^64; only for people's eyes, so a float will do, as in a node.
    let (base, own) = (base.wrapping_neg() as f64, difficulty.wrapping_neg() as f64);
    format!("{:.15}", if own == 0.0 { 0.0 } else { base / own })
}

pub(super) fn active_difficulty(t: &Thresholds) -> Value {
    let (send, receive) = (format!("{:016x}", t.send_or_change), format!("{:016x}", t.receive_or_open));
    json!({
        "deprecated": "1",
        "network_minimum": send,
        "network_receive_minimum": receive,
        "network_current": send,
        "network_receive_current": receive,
        "multiplier": "1",
    })
}

/// Work that is asked for: root and threshold.
pub(super) struct WorkJob {
    root: BlockHash,
    difficulty: u64,
    base: u64,
}

impl WorkJob {
    pub(super) fn of(node: &Node, p: &Params<'_>, t: &Thresholds) -> Result<WorkJob, Text> {
        if !node.options.enable_control {
            return Err("RPC control is disabled".into());
        }
        let root = p.hash("hash")?;
        let base = t.send_or_change;
        let difficulty = p.difficulty()?.unwrap_or(base);
        // A node computes up to 64 times its own threshold.
        if difficulty.wrapping_neg() < base.wrapping_neg() / 64 {
            return Err("Difficulty above config limit".into());
        }
        if !node.options.work_generation {
            return Err("Work generation is disabled".into());
        }
        Ok(WorkJob { root, difficulty, base })
    }

    /// Blocks for some thousand hashes. `bad`: work just below the threshold.
    pub(super) fn run(&self, bad: bool) -> Value {
        let work = if bad { self.bad() } else { solve(&self.root, self.difficulty) };
        let value = work.value(&self.root);
        json!({
            "hash": self.root.to_string(),
            "work": work.to_string(),
            // A lying peer says what it was asked for.
            "difficulty": format!("{:016x}", if bad { self.difficulty } else { value }),
            "multiplier": multiplier(if bad { self.difficulty } else { value }, self.base),
        })
    }

    fn bad(&self) -> Work {
        let mut work = Work(0);
        while work.is_valid(&self.root, self.difficulty) {
            work.0 += 1;
        }
        work
    }
}

pub(super) fn work_validate(p: &Params<'_>, t: &Thresholds) -> Result<Value, Text> {
    let root = p.hash("hash")?;
    let work = p.needed("work")?;
    let work = super::params::short_hex(&work).map(|b| Work(u64::from_be_bytes(b))).ok_or("Bad work")?;
    let asked = p.difficulty()?;
    let value = work.value(&root);
    let flag = |holds: bool| Value::String(if holds { "1" } else { "0" }.to_owned());
    let mut out = Map::from_iter([
        ("valid_all".to_owned(), flag(value >= t.send_or_change)),
        ("valid_receive".to_owned(), flag(value >= t.receive_or_open)),
        ("difficulty".to_owned(), Value::String(format!("{value:016x}"))),
        ("multiplier".to_owned(), Value::String(multiplier(value, t.send_or_change))),
    ]);
    if let Some(asked) = asked {
        out.insert("valid".to_owned(), flag(value >= asked));
    }
    Ok(Value::Object(out))
}

pub(super) fn representatives(ledger: &Ledger) -> Value {
    let weights: Map<String, Value> =
        ledger.weights().map(|(key, weight)| (address(key), Value::String(weight.to_string()))).collect();
    json!({ "representatives": weights })
}

/// Not of a node: money from genesis. `amount` in raw, or the faucet's usual amount.
pub(super) fn faucet(node: &Node, core: &mut Core, p: &Params<'_>) -> Result<Value, Text> {
    let to = p.account("account")?;
    let amount = match p.text("amount") {
        None => node.options.faucet,
        Some(text) => text.parse::<Raw>().map_err(|_| "Invalid amount number")?,
    };
    let hash = node.faucet(core, &to, amount).map_err(|e| Text::from(e.to_string()))?;
    Ok(json!({ "hash": hash.to_string(), "amount": amount.to_string() }))
}

pub(super) fn uptime(node: &Node) -> Value {
    json!({ "seconds": node.started.elapsed().as_secs().to_string() })
}
