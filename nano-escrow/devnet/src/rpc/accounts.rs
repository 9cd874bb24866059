//! Actions about accounts.

use serde_json::{Map, Value, json};

use super::params::{Params, listed};
use super::{Text, Twists, address, json_of};
use crate::{Account, Entry, Kind, Ledger, Receivable};
use nano_escrow::{BlockHash, PublicKey, Raw};

const NOT_FOUND: &str = "Account not found";

/// An account as the node tells it: the truth, or what a fault makes of it.
fn told(ledger: &Ledger, key: &PublicKey, twists: &Twists) -> Option<Account> {
    let mut account = *ledger.account(key)?;
    if let Some(hash) = twists.false_frontier {
        account.head = hash;
        account.representative_block = hash;
    }
    for _ in 0..twists.old_frontier {
        let previous = ledger.block(&account.head).map(|e| e.block.previous());
        let entry = previous.and_then(|hash| ledger.block(&hash))?;
        account = Account {
            head: entry.block.hash(),
            representative_block: entry.block.hash(),
            representative: entry.block.representative(),
            balance: entry.balance,
            block_count: entry.height,
            epoch: entry.epoch,
            modified: entry.timestamp,
            ..account
        };
        if account.confirmed_height > entry.height {
            account.confirmed_height = entry.height;
            account.confirmed_frontier = account.head;
        }
    }
    Some(account)
}

pub(super) fn account_info(ledger: &Ledger, p: &Params<'_>, twists: &Twists) -> Result<Value, Text> {
    let key = p.account("account")?;
    let representative = p.flag("representative", false);
    let weight = p.flag("weight", false);
    let receivable = p.flag("receivable", p.flag("pending", false));
    let confirmed = p.flag("include_confirmed", false);
    // Without blocks there is nothing to tell, also when money waits.
    let a = told(ledger, &key, twists).ok_or(NOT_FOUND)?;
    let last = ledger.block(&a.confirmed_frontier);
    let mut out = json!({
        "frontier": a.head.to_string(),
        "open_block": a.open_block.to_string(),
        "representative_block": a.representative_block.to_string(),
        "balance": a.balance.to_string(),
        "modified_timestamp": a.modified.to_string(),
        "block_count": a.block_count.to_string(),
        "account_version": a.epoch.number().to_string(),
        "confirmation_height": a.confirmed_height.to_string(),
        "confirmation_height_frontier": a.confirmed_frontier.to_string(),
    });
    let mut put = |name: &str, text: String| {
        if let Some(map) = out.as_object_mut() {
            map.insert(name.to_owned(), Value::String(text));
        }
    };
    if confirmed {
        put("confirmed_balance", last.map_or(Raw::ZERO, |e| e.balance).to_string());
        put("confirmed_height", a.confirmed_height.to_string());
        put("confirmed_frontier", a.confirmed_frontier.to_string());
    }
    if representative {
        put("representative", address(&a.representative));
        if confirmed {
            put(
                "confirmed_representative",
                address(&last.map_or(PublicKey::BURN, |e| e.block.representative())),
            );
        }
    }
    if weight {
        put("weight", ledger.weight(&key).to_string());
    }
    if receivable {
        let sum = ledger.receivable_sum(&key, false).to_string();
        put("pending", sum.clone());
        put("receivable", sum);
        if confirmed {
            let sum = ledger.receivable_sum(&key, true).to_string();
            put("confirmed_pending", sum.clone());
            put("confirmed_receivable", sum);
        }
    }
    Ok(out)
}

fn balances_of(ledger: &Ledger, key: &PublicKey, only_confirmed: bool) -> Value {
    let balance = if only_confirmed { ledger.confirmed_balance(key) } else { ledger.balance(key) };
    let receivable = ledger.receivable_sum(key, only_confirmed).to_string();
    json!({ "balance": balance.to_string(), "pending": receivable, "receivable": receivable })
}

pub(super) fn account_balance(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    Ok(balances_of(ledger, &p.account("account")?, p.flag("include_only_confirmed", true)))
}

/// Answers by account and errors by account; either is left out when it is empty.
fn split<T>(
    p: &Params<'_>,
    name: &str,
    answer: impl Fn(PublicKey) -> Result<T, Text>,
    show: impl Fn(T) -> Value,
) -> Result<Value, Text> {
    let (mut found, mut errors) = (Map::new(), Map::new());
    for text in p.list("accounts")? {
        match listed(&text).and_then(&answer) {
            Ok(value) => found.insert(text, show(value)),
            Err(error) => errors.insert(text, Value::String(error.into_owned())),
        };
    }
    let mut out = Map::new();
    if !found.is_empty() {
        out.insert(name.to_owned(), Value::Object(found));
    }
    if !errors.is_empty() {
        out.insert("errors".to_owned(), Value::Object(errors));
    }
    Ok(Value::Object(out))
}

pub(super) fn accounts_balances(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let only_confirmed = p.flag("include_only_confirmed", true);
    split(p, "balances", Ok, |key| balances_of(ledger, &key, only_confirmed))
}

pub(super) fn accounts_frontiers(ledger: &Ledger, p: &Params<'_>, twists: &Twists) -> Result<Value, Text> {
    split(
        p,
        "frontiers",
        |key| told(ledger, &key, twists).map(|a| a.head).ok_or_else(|| NOT_FOUND.into()),
        |head| Value::String(head.to_string()),
    )
}

pub(super) fn accounts_representatives(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    split(
        p,
        "representatives",
        |key| ledger.account(&key).map(|a| a.representative).ok_or_else(|| NOT_FOUND.into()),
        |key| Value::String(address(&key)),
    )
}

pub(super) fn account_representative(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let account = ledger.account(&p.account("account")?).ok_or(NOT_FOUND)?;
    Ok(json!({ "representative": address(&account.representative) }))
}

pub(super) fn account_weight(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    Ok(json!({ "weight": ledger.weight(&p.account("account")?).to_string() }))
}

pub(super) fn account_block_count(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let account = ledger.account(&p.account("account")?).ok_or(NOT_FOUND)?;
    Ok(json!({ "block_count": account.block_count.to_string() }))
}

/// How receivables are asked for.
struct Wanted {
    count: usize,
    offset: usize,
    threshold: Raw,
    source: bool,
    min_version: bool,
    sorting: bool,
    only_confirmed: bool,
}

impl Wanted {
    fn of(p: &Params<'_>) -> Result<Wanted, Text> {
        Ok(Wanted {
            count: p.count("count")?.unwrap_or(usize::MAX),
            offset: p.count("offset").map_err(|_| Text::from("Invalid offset"))?.unwrap_or(0),
            threshold: p.threshold()?,
            source: p.flag("source", false),
            min_version: p.flag("min_version", false),
            sorting: p.flag("sorting", false),
            only_confirmed: p.flag("include_only_confirmed", true),
        })
    }

    /// A list of hashes, unless more than the hashes is asked for.
    fn simple(&self) -> bool {
        self.threshold.is_zero() && !self.source && !self.min_version && !self.sorting
    }

    fn show(&self, ledger: &Ledger, key: &PublicKey) -> Value {
        let mut found: Vec<(BlockHash, &Receivable)> = ledger
            .receivables(key)
            .filter(|(hash, _)| !self.only_confirmed || ledger.is_confirmed(hash))
            .filter(|(_, r)| r.amount >= self.threshold)
            .collect();
        if self.sorting {
            found.sort_by_key(|(_, r)| std::cmp::Reverse(r.amount));
        }
        let found = found.into_iter().skip(self.offset).take(self.count);
        if self.simple() {
            return found.map(|(hash, _)| Value::String(hash.to_string())).collect();
        }
        let show = |r: &Receivable| {
            if !self.source && !self.min_version {
                return Value::String(r.amount.to_string());
            }
            let mut entry = Map::from_iter([("amount".to_owned(), Value::String(r.amount.to_string()))]);
            if self.source {
                entry.insert("source".to_owned(), Value::String(address(&r.source)));
            }
            if self.min_version {
                entry.insert("min_version".to_owned(), Value::String(r.epoch.number().to_string()));
            }
            Value::Object(entry)
        };
        Value::Object(found.map(|(hash, r)| (hash.to_string(), show(r))).collect())
    }
}

pub(super) fn receivable(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let key = p.account("account")?;
    Ok(json!({ "blocks": Wanted::of(p)?.show(ledger, &key) }))
}

/// An account with nothing receivable is left out; a wrong address fails the whole call.
pub(super) fn accounts_receivable(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let wanted = Wanted { offset: 0, min_version: false, ..Wanted::of(p)? };
    let mut blocks = Map::new();
    for text in p.list("accounts")? {
        let key = listed(&text)?;
        let shown = wanted.show(ledger, &key);
        if shown != json!([]) && shown != json!({}) {
            blocks.insert(address(&key), shown);
        }
    }
    Ok(json!({ "blocks": blocks }))
}

pub(super) fn receivable_exists(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let hash = p.hash("hash")?;
    let only_confirmed = p.flag("include_only_confirmed", true);
    let entry = ledger.block(&hash).ok_or("Block not found")?;
    let waits = entry.destination().is_some_and(|to| ledger.receivable(&to, &hash).is_some());
    let exists = waits && (!only_confirmed || entry.confirmed);
    Ok(json!({ "exists": if exists { "1" } else { "0" } }))
}

pub(super) fn account_history(ledger: &Ledger, p: &Params<'_>) -> Result<Value, Text> {
    let head = if p.text("head").is_some() { Some(p.hash("head")?) } else { None };
    let reverse = p.flag("reverse", false);
    let raw = p.flag("raw", false);
    let mut count = p.count("count")?.ok_or(super::params::UNREADABLE)?;
    let mut offset = p.count("offset").map_err(|_| Text::from("Invalid offset"))?.unwrap_or(0);
    let (key, mut hash) = match head {
        Some(head) => (ledger.block(&head).ok_or("Block not found")?.account, head),
        None => {
            let key = p.account("account")?;
            let account = ledger.account(&key);
            (key, account.map_or(BlockHash::ZERO, |a| if reverse { a.open_block } else { a.head }))
        }
    };
    let mut history = Vec::new();
    while count > 0
        && let Some(entry) = ledger.block(&hash)
    {
        if offset > 0 {
            offset -= 1;
        } else if let Some(shown) = in_history(ledger, &hash, entry, raw) {
            history.push(shown);
            count -= 1;
        }
        hash = if reverse { entry.successor } else { entry.block.previous() };
    }
    let mut out = json!({ "account": address(&key), "history": history });
    if !hash.is_zero()
        && let Some(map) = out.as_object_mut()
    {
        map.insert(if reverse { "next" } else { "previous" }.to_owned(), Value::String(hash.to_string()));
    }
    Ok(out)
}

/// A block in a history. Without `raw` only what moves money is shown.
fn in_history(ledger: &Ledger, hash: &BlockHash, entry: &Entry, raw: bool) -> Option<Value> {
    let other = match entry.kind {
        Kind::Send => entry.destination(),
        // Genesis received from nobody; a node names the account itself.
        Kind::Receive => match entry.source() {
            Some(source) => ledger.block(&source).map(|s| s.account),
            None => Some(entry.account),
        },
        Kind::Change | Kind::Epoch => None,
    };
    if !raw && other.is_none() {
        return None;
    }
    let mut out = Map::new();
    let mut put = |name: &str, text: String| out.insert(name.to_owned(), Value::String(text));
    match (raw, entry.block.state()) {
        (true, Some(s)) => {
            let open = s.block.previous.is_zero() && entry.kind == Kind::Receive;
            put("type", "state".into());
            put("subtype", if open { "open" } else { entry.kind.name() }.into());
            put("representative", address(&s.block.representative));
            put("link", hex::encode_upper(s.block.link));
            put("balance", s.block.balance.to_string());
            put("previous", s.block.previous.to_string());
            put("signature", s.signature.to_string());
            put("work", s.work.map(|w| w.to_string()).unwrap_or_default());
        }
        (true, None) => {
            put("type", "open".into());
            if let Some(contents) = json_of(&entry.block).as_object() {
                for name in ["representative", "source", "opened", "signature", "work"] {
                    if let Some(Value::String(text)) = contents.get(name) {
                        put(name, text.clone());
                    }
                }
            }
        }
        (false, _) => {
            put("type", entry.kind.name().into());
        }
    }
    if let Some(other) = other {
        put("account", address(&other));
        put("amount", entry.amount.to_string());
    }
    put("local_timestamp", entry.timestamp.to_string());
    put("height", entry.height.to_string());
    put("hash", hash.to_string());
    put("confirmed", entry.confirmed.to_string());
    Some(Value::Object(out))
}
