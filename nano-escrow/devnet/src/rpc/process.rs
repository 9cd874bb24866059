//! `process`: from JSON to the ledger, in a node's order: read, subtype, entry work, ledger.

use serde_json::{Map, Value, json};

use super::Text;
use super::params::{Params, account, short_hex, text_of};
use crate::Refusal;
use crate::node::{Core, Node};
use nano_escrow::{BlockHash, Raw, Signature, SignedBlock, StateBlock, Work};

const INVALID: &str = "Block is invalid";

/// The block of a request: an object with `json_block`, otherwise a text that holds one.
pub(super) fn read_block(p: &Params<'_>) -> Result<SignedBlock, Text> {
    let invalid = || Text::from(INVALID);
    let value = p.0.get("block").ok_or(super::params::UNREADABLE)?;
    if p.flag("json_block", false) {
        return value.as_object().and_then(state_block).ok_or_else(invalid);
    }
    let text = value.as_str().ok_or_else(invalid)?;
    let parsed: Value = serde_json::from_str(text).map_err(|_| invalid())?;
    parsed.as_object().and_then(state_block).ok_or_else(invalid)
}

/// As tolerant as a node: digits of either case, with leading zeros left out, and a link that may be an
/// address. `link_as_account` is not read. Blocks of the old kinds are not state blocks: `None`.
fn state_block(fields: &Map<String, Value>) -> Option<SignedBlock> {
    let text = |name: &str| fields.get(name).and_then(text_of);
    if text("type")? != "state" {
        return None;
    }
    let link = text("link")?;
    let link = match account(&link) {
        Some(key) => key.0,
        None => short_hex(&link)?,
    };
    Some(SignedBlock {
        block: StateBlock {
            account: account(&text("account")?)?,
            previous: BlockHash(short_hex(&text("previous")?)?),
            representative: account(&text("representative")?)?,
            balance: text("balance")?.parse::<Raw>().ok()?,
            link,
        },
        signature: Signature(short_hex(&text("signature")?)?),
        work: Some(Work(u64::from_be_bytes(short_hex(&text("work")?)?))),
    })
}

pub(super) fn process(node: &Node, core: &mut Core, p: &Params<'_>) -> Result<Value, Text> {
    let signed = read_block(p)?;
    let refused = |refusal: Refusal| Text::from(refusal.text());
    if let Some(subtype) = p.text("subtype").filter(|s| !s.is_empty()) {
        core.reading().check_subtype(&signed, &subtype).map_err(refused)?;
    }
    let hash = signed.hash().to_string();
    if p.flag("async", false) {
        core.reading().check_entry_work(&signed).map_err(refused)?;
        // Whatever the ledger says, the client does not hear it.
        let _ = node.process(core, &signed);
        return Ok(json!({ "started": "1" }));
    }
    match node.process(core, &signed) {
        Ok(()) => Ok(json!({ "hash": hash })),
        Err(Refusal::Fork) if p.flag("force", false) => {
            // A node answers the hash before it tries, and tells nobody when it fails.
            if let Err(e) = node.force(core, &signed) {
                tracing::info!(error = %e, "a forced block was refused");
            }
            Ok(json!({ "hash": hash }))
        }
        Err(refusal) => Err(refused(refusal)),
    }
}
