//! A node of an agent that says what it is given to say, so that the command line's side of the local API is
//! tested without a mesh.

use crate::support::Home;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Request, Response, StatusCode, header};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The agent of these tests, a counterparty, and a conversation.
pub(crate) const AGENT: &str = "11111111111111111111111111111112";
pub(crate) const OTHER: &str = "11111111111111111111111111111113";
pub(crate) const CONVERSATION: &str = "000102030405060708090a0b0c0d0e0f";

/// Answers by method and path with query, in their order; the last one of a path stays.
type Answers = HashMap<String, Vec<(u16, Value)>>;

struct Shared {
    token: String,
    answers: Mutex<Answers>,
    asked: Mutex<Vec<(String, Value)>>,
    stop: Mutex<Option<tokio::sync::oneshot::Sender<()>>>,
}

/// A server in a thread, which ends with its process or with `POST /v1/stop`.
#[derive(Clone)]
pub(crate) struct Node {
    shared: Arc<Shared>,
    port: u16,
}

impl Node {
    /// Starts one and writes its files into the agent's folder, as a node does.
    pub(crate) fn start(home: &Home) -> Self {
        Self::start_with(home, "token of a node")
    }

    /// The same with this token: on another port, too, as after a restart.
    pub(crate) fn start_with(home: &Home, token: &str) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let shared = Arc::new(Shared {
            token: token.to_owned(),
            answers: Mutex::default(),
            asked: Mutex::default(),
            stop: Mutex::new(Some(stop)),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = shared.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let router = axum::Router::new().fallback(answer).with_state(served);
                tokio::select! {
                    served = axum::serve(listener, router) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        let node = Self { shared, port };
        node.write_files(home, AGENT);
        node
    }

    /// The files of a node that serves here, of this agent.
    pub(crate) fn write_files(&self, home: &Home, agent: &str) {
        let place = json!({
            "ready": true,
            "url": format!("http://127.0.0.1:{}", self.port),
            "pid": 1,
            "agent": agent,
            "peer": "12D3KooWPeer",
        });
        home.file(&file("node.json"), place.to_string());
        home.file(&file("node.token"), format!("{}\n", self.shared.token));
    }

    /// What it answers from now on, such as to `GET /v1/status`.
    pub(crate) fn says(&self, to: &str, answer: Value) -> &Self {
        self.answers(to, 200, answer)
    }

    /// A refusal as a server writes one.
    pub(crate) fn refuses(&self, to: &str, status: u16, code: u32, detail: &str) -> &Self {
        let problem = json!({ "code": code, "name": "Name", "detail": detail, "next": "Ask again." });
        self.answers(to, status, problem)
    }

    fn answers(&self, to: &str, status: u16, answer: Value) -> &Self {
        self.shared.answers.lock().unwrap().entry(to.to_owned()).or_default().push((status, answer));
        self
    }

    /// What it was asked, with the bodies.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// Bodies of the requests of this method and path.
    pub(crate) fn bodies(&self, to: &str) -> Vec<Value> {
        self.asked().into_iter().filter(|(asked, _)| asked == to).map(|(_, body)| body).collect()
    }

    /// Ends it at once, without an answer to anybody.
    pub(crate) fn end(&self) {
        stop(&self.shared);
    }
}

fn stop(shared: &Shared) {
    if let Some(stop) = shared.stop.lock().unwrap().take() {
        stop.send(()).unwrap();
    }
}

/// A file of the agent's folder, below the home.
pub(crate) fn file(name: &str) -> String {
    let folder = zx1_log::agent_dir(&PathBuf::from(".config/zx1"), &AGENT.parse().unwrap());
    folder.join(name).to_str().unwrap().to_owned()
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response<Body> {
    let asked = format!("{} {}", request.method(), request.uri());
    let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let is_known = token == Some(&format!("Bearer {}", shared.token));
    let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let problem = |code: u32, detail: &str| json!({ "code": code, "name": "Name", "detail": detail });
    let (status, answer) = if is_known {
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        shared.asked.lock().unwrap().push((asked.clone(), body));
        let mut answers = shared.answers.lock().unwrap();
        match answers.get_mut(&asked) {
            Some(left) if left.len() > 1 => left.remove(0),
            Some(left) => left[0].clone(),
            None => (404, problem(9801, &format!("There is no {asked}"))),
        }
    } else {
        (401, problem(9800, "The token is wrong"))
    };
    if asked == "POST /v1/stop" && is_known {
        // Once the answer is out.
        let shared = shared.clone();
        tokio::spawn(async move {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            stop(&shared);
        });
    }
    let mut response = Response::new(Body::from(answer.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

/// A home with a key and the agent.
pub(crate) fn home() -> Home {
    let home = Home::with_key();
    home.zx1(["config", "set", "agent", AGENT]).ok();
    home
}

pub(crate) fn status() -> Value {
    json!({
        "identity": {
            "agent": AGENT,
            "peer": "12D3KooWGRUVh6Gr5DqVvXc3UEpQ7ZmVq4dR7yFyBgtUyt1mVXbm",
            "key": OTHER,
            "listening": ["/ip4/127.0.0.1/tcp/4001", "/ip4/127.0.0.1/udp/4001/quic-v1"],
            "external": [],
        },
        "version": "0.1.0",
        "started_micros": 1_700_000_000_000_000_u64,
        "gates": "enforced",
        "cluster": { "genesis": "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY", "slot": 4_242, "age_seconds": 2, "is_away": false },
        "clock_ahead_seconds": 0,
        "standing": { "is_good": true },
        "peers": 7,
        "messages": { "accepted": 120, "ignored": 3, "rejected": 0, "waiting": 1 },
        "outbox": { "queued": 1, "sent": 0, "unanswered": 0 },
        "signer": true,
        "owns_log": true,
        "registration": { "file": "/home/a/alice.json", "addresses": [], "hosted": "unknown" },
    })
}

/// A message of the outbox, number 7.
pub(crate) fn draft(state: &str, is_over: bool) -> Value {
    json!({
        "draft": 7,
        "name": "offer-1",
        "type": "propose",
        "recipient": OTHER,
        "conversation": CONVERSATION,
        "state": state,
        "created_micros": 1_700_000_000_000_000_u64,
        "expires_micros": 1_700_003_600_000_000_u64,
        "tries": 0,
        "is_over": is_over,
    })
}

pub(crate) fn conversation(phase: &str) -> Value {
    let line = |kind: &str, sender: &str, recipient: &str, is_out_of_order: bool| {
        json!({
            "message": "ab".repeat(32), "type": kind, "sender": sender, "recipient": recipient,
            "timestamp_micros": 1_700_000_000_000_000_u64, "payload_hash": "cd".repeat(32),
            "is_out_of_order": is_out_of_order,
        })
    };
    json!({
        "conversation": CONVERSATION,
        "proposer": OTHER,
        "responder": AGENT,
        "phase": phase,
        "value": "300",
        "lines": [line("propose", OTHER, AGENT, false), line("deliver", OTHER, AGENT, true)],
    })
}

/// A received message with this place.
pub(crate) fn message(id: &str, kind: &str, payload: Value) -> Value {
    json!({
        "id": id,
        "message": "ab".repeat(32),
        "type": kind,
        "sender": OTHER,
        "conversation": CONVERSATION,
        "timestamp_micros": 1_700_000_000_000_000_u64,
        "arrival_micros": 1_700_000_001_000_000_u64,
        "block_ref": 4_242,
        "nonce": 9,
        "payload_hash": "cd".repeat(32),
        "payload_len": 33,
        "payload": payload,
    })
}
