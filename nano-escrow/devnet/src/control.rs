//! The control endpoint of the program: what tests of other languages need of the library. This machine only.
//!
//! `POST /control` with a JSON object; `do` names the command. A browser page cannot send it: the content
//! type must be `application/json`, and requests with an `Origin` are refused.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde::Deserialize;
use serde_json::{Value, json};

use super::faults::{FaultId, FaultRule};
use super::node::Node;
use super::rpc::json_of;
use super::ws::Hub;
use super::{DevnetError, Entry};
use nano_escrow::{Address, BlockHash, Raw, SignedBlock};

const MAX_BODY: usize = 256 << 10;

#[derive(Clone)]
pub(crate) struct ControlState {
    pub(crate) node: Arc<Node>,
    pub(crate) hub: Arc<Hub>,
}

/// Commands of the control endpoint.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    FaultAdd { rule: FaultRule },
    FaultRemove { id: FaultId },
    FaultClear,
    FaultList,
    Behind { on: bool },
    Faucet { account: Address, amount: Option<Raw> },
    Publish { block: SignedBlock },
    LetWin { block: SignedBlock },
    Confirm { hash: BlockHash },
    ConfirmAll,
    Epoch { account: Address },
    Account { account: Address },
    Audit,
    Status,
    Stop,
}

pub(crate) fn router(state: ControlState) -> Router {
    Router::new().route("/control", post(handle)).layer(DefaultBodyLimit::max(MAX_BODY)).with_state(state)
}

fn refusal(status: StatusCode, error: &DevnetError) -> Response {
    let body = json!({ "code": error.code(), "error": error.to_string() });
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

async fn handle(State(state): State<ControlState>, headers: HeaderMap, body: Bytes) -> Response {
    let json_type = headers
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|v| v.trim().to_ascii_lowercase().starts_with("application/json"));
    if !json_type || headers.contains_key(header::ORIGIN) {
        return refusal(StatusCode::FORBIDDEN, &DevnetError::ControlRequest);
    }
    let command: Command = match serde_json::from_slice(&body) {
        Ok(command) => command,
        Err(e) => {
            return refusal(StatusCode::BAD_REQUEST, &DevnetError::ControlCommand(e.to_string()));
        }
    };
    match run(&state, command).await {
        Ok(value) => {
            (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
        }
        Err(e) => refusal(StatusCode::UNPROCESSABLE_ENTITY, &e),
    }
}

fn entry(e: &Entry) -> Value {
    json!({
        "hash": e.block.hash(),
        "subtype": e.kind.name(),
        "amount": e.amount,
        "balance": e.balance,
        "height": e.height,
        "epoch": e.epoch.number(),
        "confirmed": e.confirmed,
        "block": json_of(&e.block),
    })
}

async fn run(state: &ControlState, command: Command) -> Result<Value, DevnetError> {
    let node = &state.node;
    let (value, number) = {
        let mut core = node.lock();
        let refused = |hash, refusal| DevnetError::Refused { hash, refusal };
        let value = match command {
            Command::FaultAdd { rule } => Ok(json!({ "id": node.faults.add(rule) })),
            Command::FaultList => Ok(json!({ "faults": node.faults.list() })),
            Command::Faucet { account, amount } => {
                let amount = amount.unwrap_or(node.options.faucet);
                node.faucet(&mut core, &account.public_key(), amount).map(|hash| json!({ "hash": hash }))
            }
            Command::Publish { block } => core
                .ledger
                .check_entry_work(&block)
                .and_then(|()| node.add(&mut core, &block))
                .map(|e| entry(&e))
                .map_err(|refusal| refused(block.hash(), refusal)),
            Command::LetWin { block } => node.force(&mut core, &block).map(|e| entry(&e)),
            Command::Confirm { hash } => match core.ledger.block(&hash) {
                None => Err(DevnetError::Unknown(hash)),
                Some(_) => Ok(json!({ "confirmed": node.confirm_now(&mut core, &hash) })),
            },
            Command::ConfirmAll => {
                let heads: Vec<BlockHash> = core.ledger.accounts().map(|(_, a)| a.head).collect();
                let count: usize = heads.iter().map(|head| node.confirm_now(&mut core, head)).sum();
                Ok(json!({ "confirmed": count }))
            }
            Command::Epoch { account } => {
                node.append_epoch(&mut core, &account.public_key()).map(|hash| json!({ "hash": hash }))
            }
            Command::Account { account } => {
                let audit = core.ledger.audit_account(&account.public_key());
                Ok(json!({
                    "balance": audit.balance,
                    "received": audit.received,
                    "receivable": audit.receivable.iter().map(|(h, a)| json!({ "hash": h, "amount": a }))
                        .collect::<Vec<_>>(),
                    "sent": audit.sent.iter().map(|(k, a)| json!({ "to": k.address(), "amount": a }))
                        .collect::<Vec<_>>(),
                    "chain": audit.chain.iter().map(entry).collect::<Vec<_>>(),
                }))
            }
            Command::Audit => core.ledger.audit().map_err(DevnetError::Audit).map(|a| {
                json!({
                    "balances": a.balances,
                    "receivable": a.receivable,
                    "blocks": a.blocks,
                    "confirmed": a.confirmed,
                })
            }),
            Command::Status => {
                let (clients, dropped) = state.hub.counts();
                Ok(json!({
                    "blocks": core.ledger.block_count(),
                    "confirmed": core.ledger.confirmed_count(),
                    "unchecked": core.unchecked.count(),
                    "ws_clients": clients,
                    "ws_dropped": dropped,
                }))
            }
            // These take the lock themselves.
            Command::FaultRemove { .. } | Command::FaultClear | Command::Behind { .. } | Command::Stop => {
                drop(core);
                return Ok(unlocked(node, &command));
            }
        };
        (value, node.commit(core))
    };
    node.kept(number).await?;
    value
}

fn unlocked(node: &Node, command: &Command) -> Value {
    match command {
        Command::FaultRemove { id } => {
            let state = node.faults.remove(*id);
            node.release();
            json!({ "fault": state })
        }
        Command::FaultClear => {
            node.faults.clear();
            node.catch_up();
            node.release();
            json!({})
        }
        Command::Behind { on } => {
            if *on {
                node.fall_behind()
            } else {
                node.catch_up()
            }
            json!({})
        }
        Command::Stop => {
            node.cancel.cancel();
            json!({ "stopping": true })
        }
        _ => Value::Null,
    }
}
