//! The RPC of a node: one JSON object in, one out. Refusals are `{"error": "..."}` with HTTP status 200.

mod accounts;
mod blocks;
mod other;
mod params;
mod process;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use self::params::Params;
use super::faults::{Effect, Seen};
use super::node::{Core, Node, solve};
use super::options::Dialect;
use super::{Block, DevnetError};
use nano_escrow::{BlockHash, Network, PrivateKey, PublicKey, SignedBlock, StateBlock};

/// A node's text of refusal.
pub(crate) type Text = Cow<'static, str>;

/// The deepest nesting that a node reads.
const MAX_DEPTH: usize = 20;

/// An address in any of the forms that a node takes.
pub(super) fn read_account(text: &str) -> Option<PublicKey> {
    params::account(text)
}

pub(super) fn address(key: &PublicKey) -> String {
    key.address().to_string()
}

/// A block as a node prints it.
pub(super) fn json_of(block: &Block) -> Value {
    match block {
        Block::State(signed) => serde_json::to_value(signed).unwrap_or(Value::Null),
        Block::Genesis(g) => json!({
            "type": "open",
            "source": g.source.to_string(),
            "representative": address(&g.representative),
            "account": address(&g.account),
            "signature": g.signature.to_string(),
            "work": g.work.to_string(),
        }),
    }
}

/// What faults change inside an answer.
#[derive(Debug, Default)]
pub(super) struct Twists {
    old_frontier: u64,
    false_frontier: Option<BlockHash>,
    network: Option<(String, BlockHash)>,
    bad_work: bool,
    behind: (u64, usize),
}

/// How a request ends.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With an answer.
    Answer(Value),
    /// With the first half of one.
    Cut(Value),
    /// Close the connection without an answer.
    Close,
    /// With what a proxy says.
    Status(u16, String),
}

fn error(text: impl Into<String>) -> Value {
    json!({ "error": text.into() })
}

/// Whether the nesting is within what a node reads. Brackets in texts do not count.
fn shallow(bytes: &[u8]) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return false;
        }
    }
    true
}

/// Answer the bytes of a request.
pub(crate) async fn answer_bytes(node: &Arc<Node>, body: &[u8]) -> Outcome {
    if !shallow(body) {
        return Outcome::Answer(error("Max JSON depth exceeded"));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(request)) => answer(node, request).await,
        _ => Outcome::Answer(error(params::UNREADABLE)),
    }
}

/// What rules look at.
fn seen(action: &str, request: &Map<String, Value>) -> (Seen, Option<SignedBlock>) {
    let p = Params(request);
    let mut seen = Seen { action: action.to_owned(), subtype: p.text("subtype"), ..Seen::default() };
    let block = if action == "process" { process::read_block(&p).ok() } else { None };
    if let Some(signed) = &block {
        seen.hashes.push(signed.hash());
        seen.accounts.extend([signed.block.account, PublicKey(signed.block.link)]);
    }
    seen.accounts.extend(p.text("account").and_then(|t| params::account(&t)));
    seen.hashes.extend(p.text("hash").and_then(|t| params::short_hex(&t)).map(BlockHash));
    for (name, list) in [("accounts", true), ("hashes", false)] {
        for text in request.get(name).and_then(Value::as_array).into_iter().flatten() {
            let Some(text) = text.as_str() else { continue };
            if list {
                seen.accounts.extend(params::account(text));
            } else {
                seen.hashes.extend(params::short_hex(text).map(BlockHash));
            }
        }
    }
    (seen, block)
}

/// Answer a request, faults included.
pub(crate) async fn answer(node: &Arc<Node>, request: Map<String, Value>) -> Outcome {
    let Some(action) = Params(&request).text("action") else {
        return Outcome::Answer(error(params::UNREADABLE));
    };
    let (seen, block) = seen(&action, &request);
    let effects = node.faults.strike(&seen);
    let mut twists = Twists::default();
    for effect in &effects {
        match effect {
            Effect::Drop => return Outcome::Close,
            Effect::Error { text } => return finish(node, error(text.as_str())),
            Effect::Status { code, body } => return Outcome::Status(*code, body.clone()),
            Effect::Delay { ms } => pause(node, *ms).await,
            Effect::RivalBefore { key } => {
                if let Some(rival) = block.as_ref().and_then(|b| rival(node, &key.0, b)) {
                    from_network(node, &rival);
                }
            }
            Effect::RivalBlock { block, before: true } => from_network(node, block),
            Effect::EpochBlock { account } => {
                let key = account.map(|a| a.public_key()).or_else(|| seen.accounts.first().copied());
                if let Some(key) = key {
                    let mut core = node.lock();
                    report(node.append_epoch(&mut core, &key));
                    node.commit(core);
                }
            }
            Effect::OldFrontier { blocks } => twists.old_frontier = *blocks,
            Effect::FalseFrontier { hash } => twists.false_frontier = Some(*hash),
            Effect::OtherNetwork { network, genesis } => twists.network = Some((network.clone(), *genesis)),
            Effect::BadWork => twists.bad_work = true,
            Effect::Behind { blocks, peers } => twists.behind = (*blocks, *peers),
            _ => {}
        }
    }

    let mut answer = perform(node, &action, &request, &twists).await;
    if effects.iter().any(|e| matches!(e, Effect::DoTwice)) {
        answer = perform(node, &action, &request, &twists).await;
    }
    let earlier = node.faults.last_answer(&action);
    node.faults.remember(&action, &answer);

    for effect in effects {
        match effect {
            Effect::RivalAfter { key } => {
                if let Some(rival) = block.as_ref().and_then(|b| rival(node, &key.0, b)) {
                    wins(node, &rival);
                }
            }
            Effect::RivalBlock { block, before: false } => wins(node, &block),
            Effect::LoseAnswer { ms } => {
                pause(node, ms).await;
                return Outcome::Close;
            }
            Effect::DelayAnswer { ms } => pause(node, ms).await,
            Effect::DoneButError { text } => answer = error(text),
            Effect::RepeatAnswer => {
                if let Some(earlier) = &earlier {
                    answer = earlier.clone();
                }
            }
            Effect::CutAnswer => return Outcome::Cut(answer),
            _ => {}
        }
    }
    finish(node, answer)
}

fn finish(node: &Node, answer: Value) -> Outcome {
    Outcome::Answer(match node.options.dialect {
        Dialect::Rust => answer,
        Dialect::Cpp => without_empty(answer),
    })
}

/// A property tree knows no empty list and no empty map: both are an empty text.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::String(String::new()),
        Value::Object(map) if map.is_empty() => Value::String(String::new()),
        Value::Array(items) => items.into_iter().map(without_empty).collect(),
        Value::Object(map) => Value::Object(map.into_iter().map(|(k, v)| (k, without_empty(v))).collect()),
        other => other,
    }
}

async fn pause(node: &Node, ms: u64) {
    tokio::select! {
        () = tokio::time::sleep(Duration::from_millis(ms)) => {}
        () = node.cancel.cancelled() => {}
    }
}

fn report<T>(result: Result<T, DevnetError>) {
    if let Err(e) = result {
        tracing::warn!(error = %e, "a fault on order could not be carried out");
    }
}

/// A block with the same previous as `victim`. `None` when the key is not the account's.
fn rival(node: &Node, key: &PrivateKey, victim: &SignedBlock) -> Option<SignedBlock> {
    let pair = key.keypair();
    let mut block: StateBlock = victim.block;
    if pair.public_key() != block.account {
        tracing::warn!("a rival was ordered with a key that is not the account's");
        return None;
    }
    let own = block.account;
    let other = if block.representative == own { Network::DEV_GENESIS_ACCOUNT } else { own };
    block.representative = other;
    let core = node.lock();
    if !block.previous.is_zero() {
        block.balance = core.ledger.block(&block.previous)?.balance;
        block.link = [0; 32];
    }
    let t = core.ledger.thresholds();
    let work = solve(&block.root(), t.send_or_change.max(t.old_account));
    drop(core);
    block.sign(&pair).ok().map(|signed| signed.with_work(work))
}

fn from_network(node: &Node, block: &SignedBlock) {
    let mut core = node.lock();
    let hash = block.hash();
    report(node.add(&mut core, block).map_err(|refusal| DevnetError::Refused { hash, refusal }));
    node.commit(core);
}

fn wins(node: &Node, block: &SignedBlock) {
    let mut core = node.lock();
    report(node.force(&mut core, block));
    node.commit(core);
}

/// Do a request and wait until what it saw is kept.
async fn perform(node: &Arc<Node>, action: &str, request: &Map<String, Value>, twists: &Twists) -> Value {
    let p = Params(request);
    let result = if action == "work_generate" {
        let job = {
            let core = node.lock();
            other::WorkJob::of(node, &p, core.ledger.thresholds())
        };
        match job {
            Ok(job) => {
                let bad = twists.bad_work;
                tokio::task::spawn_blocking(move || job.run(bad)).await.map_err(|_| Text::from("Stopped"))
            }
            Err(text) => Err(text),
        }
    } else {
        let (result, number) = {
            let mut core = node.lock();
            let result = dispatch(node, &mut core, action, &p, twists);
            (result, node.commit(core))
        };
        match node.kept(number).await {
            Ok(()) => result,
            Err(e) => {
                tracing::error!(error = %e, "a request is not answered as done");
                Err("Stopped".into())
            }
        }
    };
    result.unwrap_or_else(error)
}

fn dispatch(
    node: &Node,
    core: &mut Core,
    action: &str,
    p: &Params<'_>,
    twists: &Twists,
) -> Result<Value, Text> {
    let deprecated = |value: Value| match value {
        Value::Object(mut map) => {
            map.insert("deprecated".into(), "1".into());
            Value::Object(map)
        }
        other => other,
    };
    match action {
        "process" => process::process(node, core, p),
        "block_confirm" => blocks::block_confirm(node, core, p),
        "block_count" => Ok(blocks::block_count(core)),
        "faucet" => other::faucet(node, core, p),
        "uptime" => Ok(other::uptime(node)),
        _ => {
            let ledger = core.reading();
            match action {
                "version" => Ok(other::version(ledger, twists)),
                "account_info" => accounts::account_info(ledger, p, twists),
                "account_balance" => accounts::account_balance(ledger, p),
                "account_block_count" => accounts::account_block_count(ledger, p),
                "account_history" => accounts::account_history(ledger, p),
                "account_representative" => accounts::account_representative(ledger, p),
                "account_weight" => accounts::account_weight(ledger, p),
                "accounts_balances" => accounts::accounts_balances(ledger, p),
                "accounts_frontiers" => accounts::accounts_frontiers(ledger, p, twists),
                "accounts_representatives" => accounts::accounts_representatives(ledger, p),
                "receivable" => accounts::receivable(ledger, p),
                "pending" => accounts::receivable(ledger, p).map(deprecated),
                "accounts_receivable" => accounts::accounts_receivable(ledger, p),
                "accounts_pending" => accounts::accounts_receivable(ledger, p).map(deprecated),
                "receivable_exists" => accounts::receivable_exists(ledger, p),
                "pending_exists" => accounts::receivable_exists(ledger, p).map(deprecated),
                "block_info" => blocks::block_info(ledger, p),
                "blocks_info" => blocks::blocks_info(ledger, p),
                "blocks" => blocks::blocks(ledger, p),
                "block_account" => blocks::block_account(ledger, p),
                "block_hash" => blocks::block_hash(p),
                "active_difficulty" => Ok(other::active_difficulty(ledger.thresholds())),
                "work_validate" => other::work_validate(p, ledger.thresholds()),
                "telemetry" => Ok(other::telemetry(ledger, twists)),
                "representatives" => Ok(other::representatives(ledger)),
                _ => Err("Unknown command".into()),
            }
        }
    }
}
