//! A server that says what the test wants: dialects, and everything that a node should not do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use nano_escrow::node::rpc::*;
use nano_escrow::node::{Fault, HttpNode, HttpOptions, NodeCalls, NodeError};
use nano_escrow::{Address, BlockHash, PrivateKey, PublicKey, Raw, SignedBlock, StateBlock, Work};
use serde_json::{Value, json};
use zx1_coded::Coded as _;

#[derive(Clone)]
enum Say {
    Status(u16, String),
    /// It never answers.
    Nothing,
}

#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Say>>>,
    requests: Arc<Mutex<Vec<(Value, HeaderMap)>>>,
}

impl Script {
    fn asked(&self) -> Vec<Value> {
        self.requests.lock().unwrap().iter().map(|(body, _)| body.clone()).collect()
    }
}

async fn answer(State(script): State<Script>, headers: HeaderMap, body: String) -> Response {
    let body = serde_json::from_str(&body).unwrap();
    script.requests.lock().unwrap().push((body, headers));
    let say = script.answers.lock().unwrap().pop_front();
    match say.expect("the client asked once more than the test expects") {
        Say::Status(status, body) => {
            let location = [("location", "http://elsewhere.invalid/")];
            (StatusCode::from_u16(status).unwrap(), location, body).into_response()
        }
        Say::Nothing => std::future::pending().await,
    }
}

fn options() -> HttpOptions {
    HttpOptions {
        timeout: Duration::from_secs(20),
        retries: 3,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(2),
        authorization: Some("secret token".into()),
    }
}

async fn serve(answers: impl IntoIterator<Item = Say>, options: HttpOptions) -> (HttpNode, Script) {
    let script = Script { answers: Arc::new(Mutex::new(answers.into_iter().collect())), ..Script::default() };
    let app = Router::new().fallback(answer).with_state(script.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (HttpNode::new(&url, options).unwrap(), script)
}

fn ok(body: Value) -> Say {
    Say::Status(200, body.to_string())
}

fn hash(n: u8) -> BlockHash {
    BlockHash([n; 32])
}

fn address(n: u8) -> Address {
    PublicKey([n; 32]).address()
}

fn block() -> SignedBlock {
    let key = PrivateKey::from_bytes([1; 32]);
    let block = StateBlock {
        account: key.public_key(),
        previous: hash(1),
        representative: PublicKey([2; 32]),
        balance: Raw(5),
        link: [3; 32],
    };
    block.sign(&key.keypair()).unwrap().with_work(Work(1))
}

#[tokio::test]
async fn empty_lists_of_every_dialect_are_empty_ok() {
    for empty in [json!([]), json!({}), json!("")] {
        let answer = json!({ "blocks": empty, "frontiers": empty, "balances": empty, "history": empty });
        let (node, script) = serve(std::iter::repeat_n(ok(answer), 5), options()).await;
        assert_eq!(node.receivable(Receivable::all(address(1))).await.unwrap(), []);
        let accounts = vec![address(1)];
        let many = AccountsReceivable {
            accounts: accounts.clone(),
            count: 1,
            threshold: None,
            confirmed_only: true,
        };
        assert!(node.ask(many).await.unwrap().is_empty());
        assert!(node.ask(AccountsFrontiers { accounts: accounts.clone() }).await.unwrap().is_empty());
        assert!(node.ask(AccountsBalances { accounts, confirmed_only: true }).await.unwrap().is_empty());
        assert!(node.account_history(AccountHistory::whole(address(1))).await.unwrap().entries.is_empty());
        let asked = script.asked();
        assert_eq!(asked[0]["action"], "receivable");
        assert_eq!(asked[0]["include_only_confirmed"], "false", "nodes want texts");
        assert_eq!(asked[4]["count"], "-1");
    }
}

#[tokio::test]
async fn receivable_is_read_in_every_shape_ok() {
    let (lower, upper) = (hash(0xab).to_string().to_lowercase(), hash(0xcd).to_string());
    let shapes = [
        json!({ "blocks": [lower, upper] }),
        json!({ "blocks": { lower.clone(): "7", upper.clone(): "8" } }),
        json!({ "blocks": {
            lower.clone(): { "amount": "7", "source": address(1).to_string().replace("nano_", "xrb_") },
            upper.clone(): { "amount": "8", "source": address(2).to_string() },
        }}),
    ];
    let (node, _) = serve(shapes.map(ok), options()).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut blocks = node.receivable(Receivable::all(address(9))).await.unwrap();
        blocks.sort_by_key(|b| b.hash);
        assert_eq!(blocks.iter().map(|b| b.hash).collect::<Vec<_>>(), [hash(0xab), hash(0xcd)]);
        seen.push(blocks[0]);
    }
    assert_eq!((seen[0].amount, seen[0].source), (None, None));
    assert_eq!((seen[1].amount, seen[1].source), (Some(Raw(7)), None));
    assert_eq!((seen[2].amount, seen[2].source), (Some(Raw(7)), Some(address(1))));
}

#[tokio::test]
async fn refusals_are_understood_with_any_status_and_in_any_case_ok() {
    let say = |status, text: &str| Say::Status(status, json!({ "error": text }).to_string());
    let answers = [
        say(200, "Block not found"),
        say(404, "block not found."),
        say(500, "Block not found"),
        say(200, "Fork"),
        say(400, "fork"),
        say(422, "Gap previous block"),
        say(200, "Something new"),
    ];
    let (node, script) = serve(answers, options()).await;
    for _ in 0..3 {
        assert_eq!(node.block_info(hash(1)).await.unwrap(), None);
    }
    for fault in [Fault::Fork, Fault::Fork, Fault::GapPrevious, Fault::Other("Something new".into())] {
        let error = node.process(block(), None).await.unwrap_err();
        assert_eq!((error.fault(), error.code()), (Some(&fault), 8200));
    }
    assert_eq!(script.asked().len(), 7, "a refusal is an answer and is not asked for again");
}

#[tokio::test]
async fn a_question_is_asked_again_but_never_a_payment_ok() {
    let fail = || Say::Status(503, "<html>busy</html>".into());
    let info = json!({
        "frontier": hash(1), "open_block": hash(2), "balance": "5", "block_count": "1",
        "account_version": "2", "representative": address(3), "pending": "6", "confirmation_height": "1",
        "confirmation_height_frontier": hash(1),
    });
    let (node, script) = serve([fail(), fail(), ok(info), fail()], options()).await;
    let state = node.account_info(address(1)).await.unwrap().unwrap();
    assert_eq!((state.balance, state.receivable, state.confirmed.height), (Raw(5), Some(Raw(6)), 1));
    assert_eq!(script.asked().len(), 3);
    let error = node.process(block(), None).await.unwrap_err();
    assert_eq!((error.code(), error.transient()), (8203, true));
    assert_eq!(script.asked().len(), 4, "one more request, no second try");
    // Four tries of a question, and not a fifth.
    let (node, script) = serve([fail(), fail(), fail(), fail()], options()).await;
    assert_eq!(node.version().await.unwrap_err().code(), 8203);
    assert_eq!(script.asked().len(), 4);
}

#[tokio::test]
async fn silence_ends_with_a_time_out_fails() {
    let quick = HttpOptions { timeout: Duration::from_millis(50), retries: 1, ..options() };
    let (node, script) = serve([Say::Nothing, Say::Nothing, Say::Nothing], quick).await;
    assert_eq!(node.process(block(), None).await.unwrap_err().code(), 8201);
    assert_eq!(script.asked().len(), 1);
    assert_eq!(node.version().await.unwrap_err().code(), 8201);
    assert_eq!(script.asked().len(), 3);
}

#[tokio::test]
async fn nobody_there_fails() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let node = HttpNode::new(&url, options()).unwrap();
    let error = node.version().await.unwrap_err();
    assert_eq!((error.code(), error.transient()), (8202, true));
}

#[tokio::test]
async fn answers_that_make_no_sense_fails() {
    let other = serde_json::to_value(block()).unwrap();
    let contents = |hash: BlockHash, contents: Value| {
        json!({
            "block_account": address(1), "hash": hash, "confirmed": "true", "contents": contents,
        })
    };
    let bodies = [
        "".to_owned(),
        "<html></html>".into(),
        "[]".into(),
        "{}".into(),
        json!({ "block_account": "nano_1" }).to_string(),
        json!({ "block_account": address(1), "confirmed": "perhaps" }).to_string(),
        json!({ "block_account": address(1), "amount": "1e3" }).to_string(),
        json!({ "block_account": address(1), "balance": "-1" }).to_string(),
        // Another block than the one that was asked for.
        contents(hash(1), other).to_string(),
        contents(hash(1), json!({ "type": "state" })).to_string(),
        contents(hash(1), json!("{not json")).to_string(),
    ];
    let count = bodies.len();
    let (node, script) = serve(bodies.map(|b| Say::Status(200, b)), options()).await;
    for _ in 0..count {
        let error = node.block_info(hash(1)).await.unwrap_err();
        assert_eq!((error.code(), error.transient()), (8204, false), "{error}");
    }
    assert_eq!(script.asked().len(), count);
    let (node, _) = serve([ok(json!({ "hash": hash(7) }))], options()).await;
    assert_eq!(node.process(block(), None).await.unwrap_err().code(), 8204, "the hash of another block");
}

#[tokio::test]
async fn contents_in_a_text_and_blocks_of_old_times_ok() {
    let inner = serde_json::to_string(&block()).unwrap();
    let new = json!({ "block_account": address(1), "confirmed": true, "contents": inner, "subtype": "send" });
    let old = json!({
        "block_account": address(1), "confirmed": "true",
        "contents": { "type": "send", "previous": hash(1), "destination": address(2), "balance": "FF" },
    });
    let (node, _) = serve([ok(new), ok(old)], options()).await;
    let state = node.block_info(block().hash()).await.unwrap().unwrap();
    assert_eq!((state.contents, state.confirmed), (Some(block()), true));
    let state = node.block_info(hash(1)).await.unwrap().unwrap();
    assert_eq!((state.contents, state.confirmed, state.subtype), (None, true, None));
}

#[tokio::test]
async fn a_redirection_is_not_followed_fails() {
    let (node, script) = serve([Say::Status(302, String::new())], options()).await;
    let error = node.process(block(), None).await.unwrap_err();
    assert!(matches!(error, NodeError::Http { status: 302, .. }), "{error}");
    assert_eq!(script.asked().len(), 1);
}

#[tokio::test]
async fn the_token_is_sent_and_not_shown_ok() {
    let count = json!({ "count": "1", "unchecked": "0", "cemented": "1" });
    let (node, script) = serve([ok(count)], options()).await;
    node.ask(BlockCount).await.unwrap();
    let sent =
        script.requests.lock().unwrap()[0].1.get("authorization").unwrap().to_str().unwrap().to_owned();
    assert_eq!(sent, "secret token");
    assert!(!format!("{node:?}").contains("secret"));
    let with_password = HttpNode::new("http://me:secret@127.0.0.1:1", HttpOptions::default()).unwrap();
    assert!(!with_password.url().contains("secret"));
}

#[test]
fn what_is_no_url_fails() {
    for url in ["", "127.0.0.1:7076", "ftp://127.0.0.1", "ws://127.0.0.1:7078", "http://"] {
        assert_eq!(HttpNode::new(url, HttpOptions::default()).unwrap_err().code(), 8206, "{url}");
    }
}
