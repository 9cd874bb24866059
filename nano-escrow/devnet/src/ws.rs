//! The websocket: confirmations and new blocks for whoever subscribes.
//!
//! A client that does not read is dropped when its queue is full; nothing waits for it and nothing grows.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use zx1_home::{Clock as _, SystemClock};

use super::Entry;
use super::node::{Event, Node};
use super::options::Dialect;
use super::rpc::{address, json_of};
use nano_escrow::PublicKey;

/// The longest message of a client.
const MAX_MESSAGE: usize = 64 << 10;
/// The most accounts that one client can filter by.
const MAX_ACCOUNTS: usize = 100_000;
/// "Policy violation": the client does not read.
const TOO_SLOW: u16 = 1008;
/// Close code of RFC 6455: going away.
const STOPPING: u16 = 1001;
/// Close code of RFC 6455: a message of the right form with the wrong contents.
const NOT_UNDERSTOOD: u16 = 1007;
/// Options that are true or false.
const FLAGS: [&str; 4] =
    ["all_local_accounts", "include_block", "include_election_info", "include_election_info_with_votes"];

fn millis() -> String {
    SystemClock.unix_ms().to_string()
}

/// What a client wants to hear.
#[derive(Debug, Default)]
struct Wants {
    confirmations: Option<Confirmations>,
    new_blocks: bool,
}

#[derive(Debug)]
struct Confirmations {
    /// None: all accounts.
    accounts: Option<HashSet<PublicKey>>,
    include_block: bool,
    include_election: bool,
    /// Only what was voted on, or only what became final with it.
    active: Option<bool>,
}

impl Confirmations {
    fn of(options: &Value) -> Confirmations {
        let given = options.get("accounts").and_then(Value::as_array);
        let local_only = flag(options, "all_local_accounts", false);
        Confirmations {
            // This ledger has no wallets, so no account is local.
            accounts: given.map(|list| keys(list)).or_else(|| local_only.then(HashSet::new)),
            include_block: flag(options, "include_block", true),
            include_election: flag(options, "include_election_info", false)
                || flag(options, "include_election_info_with_votes", false),
            active: match options.get("confirmation_type").and_then(Value::as_str) {
                Some("active" | "active_quorum") => Some(true),
                Some("inactive" | "active_confirmation_height") => Some(false),
                _ => None,
            },
        }
    }

    fn wants(&self, entry: &Entry, active: bool) -> bool {
        self.active.is_none_or(|wanted| wanted == active)
            && self.accounts.as_ref().is_none_or(|keys| {
                keys.contains(&entry.account) || entry.destination().is_some_and(|to| keys.contains(&to))
            })
    }
}

fn keys(list: &[Value]) -> HashSet<PublicKey> {
    let known = list.iter().filter_map(Value::as_str).filter_map(super::rpc::read_account);
    known.take(MAX_ACCOUNTS).collect()
}

fn flag(options: &Value, name: &str, default: bool) -> bool {
    match options.get(name) {
        Some(Value::Bool(b)) => *b,
        Some(Value::String(s)) if s == "true" => true,
        Some(Value::String(s)) if s == "false" => false,
        _ => default,
    }
}

#[derive(Debug)]
struct Client {
    id: u64,
    queue: mpsc::Sender<Utf8Bytes>,
    kick: CancellationToken,
    wants: Wants,
}

#[derive(Debug, Default)]
struct Clients {
    next: u64,
    list: Vec<Client>,
    /// Clients that were dropped because they did not read.
    dropped: u64,
}

/// All connected clients.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    clients: Mutex<Clients>,
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connected clients, and how many were dropped because they did not read.
    pub(crate) fn counts(&self) -> (usize, u64) {
        let clients = self.lock();
        (clients.list.len(), clients.dropped)
    }

    fn join(&self, queue: mpsc::Sender<Utf8Bytes>, kick: CancellationToken) -> u64 {
        let mut clients = self.lock();
        clients.next += 1;
        let id = clients.next;
        clients.list.push(Client { id, queue, kick, wants: Wants::default() });
        id
    }

    fn leave(&self, id: u64) {
        self.lock().list.retain(|c| c.id != id);
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut Wants)) {
        if let Some(client) = self.lock().list.iter_mut().find(|c| c.id == id) {
            change(&mut client.wants);
        }
    }

    fn tell(&self, message: impl Fn(&Wants) -> Option<Value>) {
        let mut clients = self.lock();
        let before = clients.list.len();
        clients.list.retain(|client| {
            let Some(value) = message(&client.wants) else { return true };
            match client.queue.try_send(Utf8Bytes::from(value.to_string())) {
                Ok(()) => true,
                Err(mpsc::error::TrySendError::Full(_)) => {
                    client.kick.cancel();
                    false
                }
                // It left by itself.
                Err(mpsc::error::TrySendError::Closed(_)) => true,
            }
        });
        clients.dropped += (before - clients.list.len()) as u64;
    }

    /// Pass events on once the disk holds what they tell.
    pub(crate) async fn run(&self, node: &Node, mut events: mpsc::UnboundedReceiver<(u64, Event)>) {
        loop {
            let next = tokio::select! {
                () = node.cancel.cancelled() => return,
                next = events.recv() => next,
            };
            let Some((number, event)) = next else { return };
            if node.kept(number).await.is_err() {
                return;
            }
            match event {
                Event::Added(entry) => {
                    self.tell(|wants| wants.new_blocks.then(|| new_block(&entry)));
                }
                Event::Confirmed(entry, active) => {
                    for _ in 0..node.faults.tellings(&entry) {
                        self.tell(|wants| {
                            let wanted = wants.confirmations.as_ref().filter(|c| c.wants(&entry, active))?;
                            Some(confirmation(&entry, active, wanted))
                        });
                    }
                }
            }
        }
    }
}

/// The subtype as the websocket says it; an open block is a receive here too.
fn with_subtype(entry: &Entry) -> Value {
    let mut block = json_of(&entry.block);
    if entry.block.state().is_some()
        && let Some(map) = block.as_object_mut()
    {
        map.insert("subtype".into(), Value::String(entry.kind.name().to_owned()));
    }
    block
}

fn new_block(entry: &Entry) -> Value {
    json!({ "topic": "new_unconfirmed_block", "time": millis(), "message": with_subtype(entry) })
}

fn confirmation(entry: &Entry, active: bool, wanted: &Confirmations) -> Value {
    let mut message = Map::from_iter([
        ("account".to_owned(), Value::String(address(&entry.account))),
        ("amount".to_owned(), Value::String(entry.amount.to_string())),
        ("hash".to_owned(), Value::String(entry.block.hash().to_string())),
        (
            "confirmation_type".to_owned(),
            Value::String(if active { "active_quorum" } else { "active_confirmation_height" }.to_owned()),
        ),
    ]);
    if wanted.include_block {
        message.insert("block".to_owned(), with_subtype(entry));
    }
    if wanted.include_election {
        let election = json!({
            "duration": "0", "time": millis(), "tally": u128::MAX.to_string(),
            "blocks": "1", "voters": "1", "request_count": "1",
        });
        message.insert("election_info".to_owned(), election);
    }
    json!({ "topic": "confirmation", "time": millis(), "message": message })
}

/// What the clients' handler needs.
#[derive(Clone)]
pub(crate) struct WsState {
    pub(crate) node: Arc<Node>,
    pub(crate) hub: Arc<Hub>,
}

/// Any path, as a node.
pub(crate) fn router(state: WsState) -> Router {
    Router::new().fallback(upgrade).with_state(state)
}

async fn upgrade(State(state): State<WsState>, upgrade: WebSocketUpgrade) -> Response {
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .on_upgrade(move |socket| client(state, socket))
}

async fn client(state: WsState, mut socket: WebSocket) {
    let (queue, mut messages) = mpsc::channel(state.node.options.ws_queue.max(1));
    let kick = CancellationToken::new();
    let id = state.hub.join(queue, kick.clone());
    let close = serve(&state, &mut socket, &mut messages, &kick, id).await;
    state.hub.leave(id);
    if let Some((code, reason)) = close {
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        // The client may not read this either.
        let goodbye = socket.send(Message::Close(Some(frame)));
        let _ = tokio::time::timeout(Duration::from_millis(200), goodbye).await;
    }
}

/// Returns how to say goodbye, or `None` when the client is gone.
async fn serve(
    state: &WsState,
    socket: &mut WebSocket,
    messages: &mut mpsc::Receiver<Utf8Bytes>,
    kick: &CancellationToken,
    id: u64,
) -> Option<(u16, &'static str)> {
    let keepalive = state.node.options.keepalive;
    let mut ticks = tokio::time::interval(keepalive);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    let mut silent = 0;
    let strict = state.node.options.dialect == Dialect::Rust;
    let slow = Some((TOO_SLOW, "the client does not read"));
    loop {
        let out = tokio::select! {
            biased;
            () = state.node.cancel.cancelled() => return Some((STOPPING, "the ledger stops")),
            () = kick.cancelled() => return slow,
            message = socket.recv() => {
                silent = 0;
                match message? {
                    Ok(Message::Text(text)) if strict && !is_strict(&text) => {
                        return Some((NOT_UNDERSTOOD, "invalid type: string, expected a boolean"));
                    }
                    Ok(Message::Text(text)) => match handle(&state.hub, id, &text) {
                        Some(ack) => Message::Text(Utf8Bytes::from(ack.to_string())),
                        None => continue,
                    },
                    Ok(Message::Close(_)) | Err(_) => return None,
                    Ok(_) => continue,
                }
            }
            message = messages.recv() => Message::Text(message?),
            _ = ticks.tick() => {
                silent += 1;
                if silent > 2 {
                    return slow;
                }
                Message::Ping(Default::default())
            }
        };
        tokio::select! {
            sent = socket.send(out) => sent.ok()?,
            () = kick.cancelled() => return slow,
            () = state.node.cancel.cancelled() => return Some((STOPPING, "the ledger stops")),
        }
    }
}

/// Whether the flags are booleans. The Rust node ends the connection of whoever writes a text there.
fn is_strict(text: &str) -> bool {
    let Ok(request) = serde_json::from_str::<Value>(text) else { return true };
    let Some(options) = request.get("options") else { return true };
    FLAGS.iter().filter_map(|name| options.get(*name)).all(Value::is_boolean)
}

/// Do what a client says; returns the acknowledgement, if it asked for one.
fn handle(hub: &Hub, id: u64, text: &str) -> Option<Value> {
    let request: Value = serde_json::from_str(text).ok()?;
    let action = request.get("action").and_then(Value::as_str)?;
    let topic = request.get("topic").and_then(Value::as_str);
    let none = Value::Null;
    let options = request.get("options").unwrap_or(&none);
    let name = match (action, topic) {
        ("ping", _) => "pong",
        ("subscribe", Some("confirmation")) => {
            hub.change(id, |wants| wants.confirmations = Some(Confirmations::of(options)));
            action
        }
        ("update", Some("confirmation")) => {
            hub.change(id, |wants| {
                let Some(accounts) = wants.confirmations.as_mut().and_then(|c| c.accounts.as_mut()) else {
                    return;
                };
                for (name, add) in [("accounts_add", true), ("accounts_del", false)] {
                    for key in
                        options.get(name).and_then(Value::as_array).map(|l| keys(l)).unwrap_or_default()
                    {
                        if !add {
                            accounts.remove(&key);
                        } else if accounts.len() < MAX_ACCOUNTS {
                            accounts.insert(key);
                        }
                    }
                }
            });
            action
        }
        ("unsubscribe", Some("confirmation")) => {
            hub.change(id, |wants| wants.confirmations = None);
            action
        }
        ("subscribe" | "unsubscribe", Some("new_unconfirmed_block")) => {
            hub.change(id, |wants| wants.new_blocks = action == "subscribe");
            action
        }
        // A node says nothing to what it does not know.
        _ => return None,
    };
    let asked = action == "ping" || flag(&request, "ack", false);
    asked.then(|| {
        let mut ack = json!({ "ack": name, "time": millis() });
        if let (Some(map), Some(id)) = (ack.as_object_mut(), request.get("id")) {
            map.insert("id".into(), id.clone());
        }
        ack
    })
}
