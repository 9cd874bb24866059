//! What the server answers to wrong requests, to browsers, and to who asks too often.

use serde_json::json;
use zx1_market::{PartyKey, request};
use zx1_server::limits::Rate;
use zx1_server::testing::web::{
    Request, compresses, holds_against_its_document, lets_every_origin, refuses, tells_its_rate,
};

use zx1_market_server::clock::Clock as _;

use crate::support::{Headers, Market, START};

/// A signed request's headers.
fn signed(m: &Market, method: &str, path: &str, body: &[u8], key: &PartyKey) -> Headers {
    request::sign(&m.client.terms.server, method, path, body, m.clock.now(), key).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_request_is_answered_with_problem_details() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let accept = format!("/contracts/{id}/accept");
    let json = ("content-type", "application/json");
    let post = |path: &'static str| -> Request<'static> {
        ("POST", path, &[("content-type", "application/json")], b"{}")
    };
    let get = |path: &'static str| -> Request<'static> { ("GET", path, &[], b"") };
    let bad = signed(&m, "POST", &accept, b"nonsense", &m.agent);
    let bad = [
        json,
        ("x-fix-auth", bad.auth.unwrap()),
        ("x-fix-pubkey", &*bad.pubkey),
        ("x-fix-signature", &*bad.signature),
        ("x-fix-timestamp", &*bad.timestamp),
    ];
    let told = refuses(
        m.server().url(),
        &[
            (get("/contracts?status=nonsense"), 400, 9403),
            (get("/contracts/stream?status=opened"), 400, 9403),
            (get("/readyz?for=nothing"), 400, 9403),
            (get("/contracts?limit=0"), 400, 9403),
            (get("/contracts?limit="), 400, 9403),
            (get("/contracts?updated_since=-1"), 400, 9403),
            (get("/contracts?mine=perhaps"), 400, 9403),
            (get("/no/such/page"), 404, 9402),
            (get("/contracts/%ff"), 404, 9402),
            (get("/contracts/nonsense"), 404, 9005),
            (("PATCH", "/contracts", &[], b""), 405, 9432),
            (post("/server_pubkey"), 405, 9432),
            (post("/contracts"), 401, 9090),
            (("POST", &accept, &bad, b"nonsense"), 422, 9434),
            (("POST", &accept, &[json, ("content-length", "99999999")], b""), 413, 9407),
            (("POST", &accept, &[("content-type", "text/plain")], b"{}"), 415, 9433),
        ],
    )
    .await;
    let expected = |nth: usize| told[nth]["detail"].as_str().unwrap().to_owned();
    assert!(expected(0).contains("one of unfunded, open, investigating"), "{}", expected(0));
    assert!(expected(1).ends_with("retry."), "{}", expected(1));
    assert!(expected(2).ends_with("one of free, paid."), "{}", expected(2));
    assert_eq!(m.client.view(id, &m.principal).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_origin_may_read_and_send_what_is_signed() {
    let m = Market::start().await;
    let url = m.server().url();
    lets_every_origin(url, "/stats", &["GET"], "if-none-match").await;
    let signed = "content-type,x-fix-auth,x-fix-pubkey,x-fix-signature,x-fix-timestamp,x-fix-work";
    lets_every_origin(url, "/contracts", &["GET", "POST", "DELETE"], signed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_texts_are_compressed_and_streams_are_not() {
    let m = Market::start().await;
    compresses(m.server().url(), "/openapi.json", "/healthz").await;
    let stream = m.client.http.get(format!("{}/contracts/stream", m.client.url));
    let stream = stream.header("accept-encoding", "gzip, br").send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert!(!stream.headers().contains_key("content-encoding"), "{:?}", stream.headers());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_too_often_is_told_how_long_to_wait() {
    let m = Market::with(|config| config.limits.address = Rate { burst: 3, per_second: 1 }).await;
    tells_its_rate(m.server().url(), "/stats", 3, 9404).await;
}

/// Every other request is about a contract that an agent works on, and most are signed by its principal.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_does_what_its_document_says() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    let known = json!({ "id": id.to_string(), "pubkey": m.agent.id().hex() });
    // The seed of `m.principal`.
    let seed = hex::encode([1; 32]);
    let sign = json!({ "server": m.client.terms.server.hex(), "seed": seed, "now": START.0 / 1_000 });
    holds_against_its_document(m.server().url(), known, Some(sign)).await;
}
