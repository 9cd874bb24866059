//! Actions about blocks.

use serde_json::{Map, Value, json};

use super::params::{Params, short_hex};
use super::process::read_block;
use super::{Text, address, json_of};
use crate::node::{Core, Node};
use crate::{Block, Entry, Ledger};
use nano_escrow::BlockHash;

pub(super) const NOT_FOUND: &str = "Block not found";

/// The block as JSON, or as a text of JSON when `json_block` is not asked for.
fn contents(block: &Block, as_json: bool) -> Value {
    let json = json_of(block);
    if as_json { json } else { Value::String(serde_json::to_string_pretty(&json).unwrap_or_default()) }
}

fn info(entry: &Entry, as_json: bool) -> Map<String, Value> {
    let text = |t: String| Value::String(t);
    let mut out = Map::from_iter([
        ("block_account".to_owned(), text(address(&entry.account))),
        ("amount".to_owned(), text(entry.amount.to_string())),
        ("balance".to_owned(), text(entry.balance.to_string())),
        ("height".to_owned(), text(entry.height.to_string())),
        ("local_timestamp".to_owned(), text(entry.timestamp.to_string())),
        ("successor".to_owned(), text(entry.successor.to_string())),
        ("confirmed".to_owned(), text(entry.confirmed.to_string())),
        ("contents".to_owned(), contents(&entry.block, as_json)),
    ]);
    if entry.block.state().is_some() {
        out.insert("subtype".to_owned(), text(entry.kind.name().to_owned()));
    }
    out
}

pub(super) fn block_info(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let entry = ledger.block(&p.hash("hash")?).ok_or(NOT_FOUND)?;
    Ok(Value::Object(info(entry, p.flag("json_block", false))))
}

fn listed_hash(text: &str) -> Result<BlockHash, Text> {
    short_hex(text).map(BlockHash).ok_or_else(|| "Bad hash number".into())
}

pub(super) fn blocks_info(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let receivable = p.flag("receivable", p.flag("pending", false));
    let receive_hash = p.flag("receive_hash", false);
    let source = p.flag("source", false);
    let as_json = p.flag("json_block", false);
    let include_not_found = p.flag("include_not_found", false);
    let (mut blocks, mut missing) = (Map::new(), Vec::new());
    for text in p.list("hashes")? {
        let hash = listed_hash(&text)?;
        let Some(entry) = ledger.block(&hash) else {
            if !include_not_found {
                return Err(NOT_FOUND.into());
            }
            missing.push(Value::String(text));
            continue;
        };
        let mut out = info(entry, as_json);
        let waits = entry.destination().is_some_and(|to| ledger.receivable(&to, &hash).is_some());
        if receivable {
            let one = Value::String(if waits { "1" } else { "0" }.to_owned());
            out.insert("pending".to_owned(), one.clone());
            out.insert("receivable".to_owned(), one);
        }
        if receive_hash {
            let receive = ledger.receive_of(&hash).unwrap_or(BlockHash::ZERO);
            out.insert("receive_hash".to_owned(), Value::String(receive.to_string()));
        }
        if source {
            let from = entry.source().and_then(|s| ledger.block(&s)).map(|s| address(&s.account));
            let from = from.unwrap_or_else(|| "0".to_owned());
            out.insert("source_account".to_owned(), Value::String(from));
        }
        blocks.insert(text, Value::Object(out));
    }
    let mut out = json!({ "blocks": blocks });
    if include_not_found && let Some(map) = out.as_object_mut() {
        map.insert("blocks_not_found".to_owned(), Value::Array(missing));
    }
    Ok(out)
}

pub(super) fn blocks(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let as_json = p.flag("json_block", false);
    let mut blocks = Map::new();
    for text in p.list("hashes")? {
        let entry = ledger.block(&listed_hash(&text)?).ok_or(NOT_FOUND)?;
        blocks.insert(text, contents(&entry.block, as_json));
    }
    Ok(json!({ "blocks": blocks }))
}

pub(super) fn block_account(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let entry = ledger.block(&p.hash("hash")?).ok_or(NOT_FOUND)?;
    Ok(json!({ "account": address(&entry.account) }))
}

pub(super) fn block_hash(p: &Params<'_>) -> Result<Value, Text> {
    Ok(json!({ "hash": read_block(p)?.hash().to_string() }))
}

pub(super) fn block_count(core: &Core) -> Value {
    let ledger = core.reading();
    json!({
        "count": ledger.block_count().to_string(),
        "unchecked": core.unchecked.count().to_string(),
        "cemented": ledger.confirmed_count().to_string(),
    })
}

pub(super) fn block_confirm(node: &Node, core: &mut Core, p: &Params<'_>) -> Result<Value, Text> {
    let hash = p.hash("hash")?;
    // A node that is behind does not know the block, so it starts nothing.
    if core.reading().block(&hash).is_none() || !node.elect(core, &hash) {
        return Err(NOT_FOUND.into());
    }
    Ok(json!({ "started": "1" }))
}
