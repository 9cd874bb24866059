//! Open contracts are announced through the market's node: here one that writes down what it is asked to send.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use zx1_market::contract::Contract;
use zx1_market::{ContractId, Millis};
use zx1_market_server::Config;

use crate::support::{Market, eventually, xno};

const TOKEN: &str = "the token";

/// What the node is asked to send, and whether it takes it.
#[derive(Clone, Default)]
struct Node {
    sent: Arc<Mutex<Vec<Value>>>,
    refuses: Arc<Mutex<bool>>,
}

impl Node {
    /// Serves on this port of loopback; 0 takes a free one. The URL, and what ends it.
    async fn serve(&self, port: u16) -> (String, tokio::task::AbortHandle) {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = axum::Router::new().route("/v1/send", post(send)).with_state(self.clone());
        let task = tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        (url, task.abort_handle())
    }

    /// What it was asked to say of a contract, as (price, seconds), in order.
    fn said(&self, id: ContractId) -> Vec<(String, u64)> {
        let sent = self.sent.lock().unwrap();
        let fields = sent.iter().map(|message| &message["fields"]);
        let of = fields.filter(|it| it["contract"].as_str().unwrap().ends_with(&format!("#{id}")));
        of.map(|it| (it["price"].as_str().unwrap().to_owned(), it["ttl"].as_u64().unwrap())).collect()
    }

    /// Waits until it was asked this many times to say something of a contract.
    async fn hears(&self, id: ContractId, times: usize) {
        eventually("the node is asked", || async { (self.said(id).len() >= times).then_some(()) }).await;
    }
}

async fn send(State(node): State<Node>, headers: HeaderMap, body: String) -> Response {
    assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"));
    if *node.refuses.lock().unwrap() {
        let problem = json!({ "code": 7652, "detail": "The outbox is full." });
        return (StatusCode::SERVICE_UNAVAILABLE, problem.to_string()).into_response();
    }
    let message: Value = serde_json::from_str(&body).unwrap();
    let draft = json!({
        "draft": 1, "name": message["name"], "type": "advertise", "conversation": "00", "state": "queued",
        "created_micros": 1, "expires_micros": 2, "tries": 0, "is_over": false,
    });
    node.sent.lock().unwrap().push(message);
    (StatusCode::ACCEPTED, draft.to_string()).into_response()
}

/// A market beside this node.
fn beside(url: &str, token: &std::path::Path) -> impl FnOnce(&mut Config) {
    std::fs::write(token, format!("{TOKEN}\n")).unwrap();
    let (url, token) = (url.to_owned(), token.to_owned());
    move |config| {
        (config.mesh.node, config.mesh.token_file) = (url, token);
        config.mesh.public_url = "https://fix.example.org".into();
    }
}

fn bounty() -> String {
    xno("0.5").0.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_contract_is_announced_once_and_taken_back_when_it_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::default();
    let (url, _serving) = node.serve(0).await;
    let market = Market::with(beside(&url, &folder.path().join("token"))).await;
    let id = market.open(&market.contract("0.5")).await;
    node.hears(id, 1).await;
    assert_eq!(node.said(id), [(bounty(), 30)]);
    {
        let sent = node.sent.lock().unwrap();
        let fields = &sent[0]["fields"];
        assert_eq!(fields["contract"], format!("https://fix.example.org#{id}"));
        assert_eq!((&fields["schema"], &fields["unit"]), (&"zx1/fix/contract/v1".into(), &"raw".into()));
        assert_eq!((&fields["caps"][0], &fields["caps"][1]), (&"fix".into(), &"paid".into()));
        // Nothing that the principal wrote is in it.
        let whole = sent[0].to_string();
        assert!(!whole.contains("gcc") && !whole.contains("undefined"), "{whole}");
    }
    market.bond(id, &market.agent, "agent").await;
    node.hears(id, 2).await;
    // What happens afterwards is nobody's to hear.
    market.accept(id, &market.agent).await;
    let other = market.open(&market.contract("0.6")).await;
    node.hears(other, 1).await;
    assert_eq!(node.said(id), [(bounty(), 30), (bounty(), 0)]);
    let metrics = market.server().engine().metrics().text();
    assert!(metrics.contains("fix_market_announcements_total{outcome=\"withdrawn\"} 1"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_contract_is_not_announced() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::default();
    let (url, _serving) = node.serve(0).await;
    let market = Market::with(beside(&url, &folder.path().join("token"))).await;
    let private = Contract::builder("gcc foo.c", "undefined reference to `bar'").private();
    let private = market.open(&private.build(&market.client.terms).unwrap()).await;
    let open = market.open(&market.contract("0.5")).await;
    node.hears(open, 1).await;
    assert!(node.said(private).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_market_goes_on_without_its_node_and_announces_what_is_still_open_when_that_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::default();
    // A port on which nobody listens yet.
    let (url, serving) = node.serve(0).await;
    serving.abort();
    let mut market = Market::with(beside(&url, &folder.path().join("token"))).await;
    let (taken, open) =
        (market.open(&market.contract("0.5")).await, market.open(&market.contract("0.6")).await);
    market.bond(taken, &market.agent, "agent").await;
    eventually("it is known that the node is away", || async {
        let metrics = market.server().engine().metrics().text();
        metrics.contains("fix_market_mesh_node_live 0").then_some(())
    })
    .await;
    assert!(node.sent.lock().unwrap().is_empty());
    // Seconds of its life are over when the market is started again.
    market.pass(Millis::secs(10)).await;
    let port = url.rsplit_once(':').unwrap().1.parse().unwrap();
    let (_, _serving) = node.serve(port).await;
    market.restart().await;
    node.hears(open, 1).await;
    assert_eq!(node.said(open), [(xno("0.6").0.to_string(), 20)]);
    assert!(node.said(taken).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_node_refuses_is_left_out_and_the_next_contract_is_announced() {
    let folder = tempfile::tempdir().unwrap();
    let node = Node::default();
    *node.refuses.lock().unwrap() = true;
    let (url, _serving) = node.serve(0).await;
    let market = Market::with(beside(&url, &folder.path().join("token"))).await;
    let refused = market.open(&market.contract("0.5")).await;
    eventually("the node has refused", || async {
        let metrics = market.server().engine().metrics().text();
        metrics.contains("fix_market_announcements_total{outcome=\"refused\"} 1").then_some(())
    })
    .await;
    *node.refuses.lock().unwrap() = false;
    let next = market.open(&market.contract("0.6")).await;
    node.hears(next, 1).await;
    assert!(node.said(refused).is_empty());
}
