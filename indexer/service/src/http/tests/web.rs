//! What the server answers to wrong requests, to browsers, and to who asks too often.

use super::{Live, world};
use crate::testing::mint;
use serde_json::json;
use zx1_server::limits::Rate;
use zx1_server::testing::web::{
    Request, ask, compresses, holds_against_its_document, lets_every_origin, refuses, tells_its_rate,
};

#[tokio::test]
async fn every_wrong_request_is_answered_with_problem_details() {
    let live = Live::start(world()).await;
    let get = |path: &'static str| -> Request<'static> { ("GET", path, &[], b"") };
    let told = refuses(
        live.server.url(),
        &[
            (get("/v1/agents?sort=nonsense"), 400, 9630),
            (get("/v1/contracts?state=nonsense"), 400, 9630),
            (get("/v1/stream?types=nonsense"), 400, 9630),
            (get("/v1/agents?staked="), 400, 9630),
            (get("/v1/agents?limit="), 400, 9630),
            (get("/v1/agents?qery=x"), 400, 9631),
            (get("/v1/ws"), 400, 9666),
            (get("/no/such/page"), 404, 9640),
            (get("/v1/agents/%ff"), 404, 9640),
            (("PATCH", "/v1/agents", &[], b""), 405, 9647),
            (("POST", "/v1/envelopes", &[("content-length", "99999999")], b""), 413, 9648),
            (("POST", "/v1/envelopes", &[("content-type", "text/plain")], b"x"), 415, 9665),
            (("PUT", "/v1/bindings", &[("content-type", "application/cbor")], b"{}"), 415, 9665),
            (("PUT", "/v1/bindings", &[("content-type", "application/json")], b"nonsense"), 422, 9652),
        ],
    )
    .await;
    let expected = |nth: usize| told[nth]["detail"].as_str().unwrap().to_owned();
    assert!(expected(0).contains("one of number, name, stake"), "{}", expected(0));
    assert!(expected(1).contains("one of unfunded, open, investigating"), "{}", expected(1));
    assert!(expected(2).contains("message, reputation_update"), "{}", expected(2));
    live.server.stop().await;
}

#[tokio::test]
async fn a_page_of_another_origin_may_read_and_bring() {
    let live = Live::start(world()).await;
    lets_every_origin(live.server.url(), "/v1/agents", &["GET"], "if-none-match").await;
    lets_every_origin(live.server.url(), "/v1/bindings", &["PUT"], "content-type").await;
    live.server.stop().await;
}

#[tokio::test]
async fn long_texts_are_compressed_and_streams_are_not() {
    let live = Live::start(world()).await;
    for long in ["/openapi.json", "/v1/agents", "/"] {
        compresses(live.server.url(), long, "/readyz").await;
    }
    let stream =
        live.http.get(live.url("/v1/stream")).header("accept-encoding", "gzip, br").send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert!(!stream.headers().contains_key("content-encoding"), "{:?}", stream.headers());
    // One tag for the text, however it travels.
    let mut tags = Vec::new();
    for encoding in ["identity", "gzip"] {
        let headers = [("accept-encoding", encoding)];
        let answer = ask(live.server.url(), ("GET", "/v1/agents", &headers, b"")).await;
        tags.push(answer.header("etag").to_owned());
    }
    assert!(tags[0].starts_with("W/") && tags[0] == tags[1], "{tags:?}");
    live.server.stop().await;
}

#[tokio::test]
async fn who_asks_too_often_is_told_how_long_to_wait() {
    let live = Live::with(world(), |config| config.limits.address = Rate { burst: 3, per_second: 1 }).await;
    tells_its_rate(live.server.url(), "/v1/agents", 3, 9655).await;
    live.server.stop().await;
}

/// Every other request is about something of the made-up chain.
#[tokio::test]
async fn the_server_does_what_its_document_says() {
    // So that no request meets a limit instead of its handler.
    let often = Rate { burst: 100_000, per_second: 100_000 };
    let live = Live::with(world(), |config| {
        (config.limits.address, config.limits.uploads) = (often, often);
    })
    .await;
    let known = json!({ "mint": mint(1).to_string(), "epoch": 19_999, "index": 0 });
    holds_against_its_document(live.server.url(), known, None).await;
    live.server.stop().await;
}
