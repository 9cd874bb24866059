//! Servers that answer garbage, nothing, too much, too late, or half: what no real server does on purpose.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use zx1_market::ContractId;
use zx1_market_client::{ClientError, ListFilter, Market, Options, Pin, WatchOptions};

use crate::support::*;

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

fn json(text: impl Into<String>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.into()).into_response()
}

fn server_key() -> Response {
    let id = key(8).id();
    json(format!(r#"{{"pubkey":"{}","fix_id":"{id}"}}"#, id.hex()))
}

fn quick() -> Options {
    Options {
        timeout: Duration::from_millis(300),
        pause: Duration::from_millis(1),
        max_body: 100_000,
        attempts: 3,
        ..Options::default()
    }
}

/// A server that has a key and answers everything else in one way.
async fn answering(answer: impl Fn() -> Response + Clone + Send + Sync + 'static) -> Market {
    let router =
        Router::new().route("/server_pubkey", get(|| async { server_key() })).fallback(any(move || {
            let answer = answer();
            async move { answer }
        }));
    Market::connect(&serve(router).await, key(1), Pin::Any, quick()).await.unwrap()
}

fn id() -> ContractId {
    "0011223344556677".parse().unwrap()
}

#[tokio::test]
async fn garbage_is_a_numbered_error_whatever_it_is() {
    let garbage: [&'static str; 8] = [
        "",
        "null",
        "[]",
        "{}",
        "<html>",
        "{\"contracts\":[{}]}",
        "{\"id\":\"0011223344556677\"}",
        "{\"chain_head\":\"zz\",\"seq\":1}",
    ];
    for text in garbage {
        let market = answering(move || json(text)).await;
        let codes = [
            market.view(id()).await.unwrap_err().code(),
            market.list(ListFilter::default()).await.unwrap_err().code(),
            market.chain_head(id()).await.unwrap_err().code(),
            market.terms().await.unwrap_err().code(),
        ];
        assert_eq!(codes, [9372; 4], "{text}");
    }
}

#[tokio::test]
async fn a_failing_server_is_asked_again_and_a_refusal_is_not() {
    let count = |status: u16| async move {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        let market = answering(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            (StatusCode::from_u16(status).unwrap(), "{\"detail\":\"x\",\"code\":9111}").into_response()
        })
        .await;
        let error = market.chain_head(id()).await.unwrap_err();
        assert_eq!((error.code(), error.status()), (9374, Some(status)));
        asked.load(Ordering::SeqCst)
    };
    assert_eq!(count(500).await, 3);
    assert_eq!(count(429).await, 3);
    assert_eq!(count(409).await, 1);
    assert_eq!(count(404).await, 1);
}

#[tokio::test]
async fn a_silent_server_and_an_endless_answer_end_in_time() {
    let silent = Router::new()
        .route("/server_pubkey", get(|| async { server_key() }))
        .fallback(any(|| async { std::future::pending::<Response>().await }));
    let options = Options { attempts: 1, ..quick() };
    let market = Market::connect(&serve(silent).await, key(1), Pin::Any, options).await.unwrap();
    assert_eq!(market.chain_head(id()).await.unwrap_err().code(), 9371);
    let endless = answering(|| {
        let chunk = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 10_000]));
        Response::new(Body::from_stream(chunk))
    })
    .await;
    assert_eq!(endless.view(id()).await.unwrap_err().code(), 9373);
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_a_signature() {
    let market =
        answering(|| (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response())
            .await;
    let error = market.chain_head(id()).await.unwrap_err();
    assert_eq!(error.status(), Some(307));
}

#[tokio::test]
async fn nobody_there_is_said_so() {
    let error = Market::connect("http://127.0.0.1:1", key(1), Pin::Any, quick()).await.unwrap_err();
    assert_eq!(error.code(), 9369, "{error}");
    let two = serve(Router::new().route(
        "/server_pubkey",
        get(|| async { json(format!(r#"{{"pubkey":"{}","fix_id":"{}"}}"#, key(8).id().hex(), key(7).id())) }),
    ))
    .await;
    assert_eq!(Market::connect(&two, key(1), Pin::Any, quick()).await.unwrap_err().code(), 9372);
}

#[tokio::test]
async fn the_answer_of_another_contract_or_server_is_refused() {
    let world = World::start().await;
    let bench = Bench::lacks_folder();
    let contract = bench.contract(&world.terms().await, "", &[], |_| {});
    let real = world.open(&contract).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let got = http.get(format!("{}/contracts/{real}", world.url())).send().await.unwrap();
    let text = got.text().await.unwrap();
    let other = id().to_string();
    // The right id on a wrong transcript, a wrong id, another server's key, a changed byte.
    let cases = [
        (text.replace(&format!("\"id\":\"{real}\""), &format!("\"id\":\"{other}\"")), real, 9377),
        (text.replace(&format!("\"id\":\"{real}\""), &format!("\"id\":\"{other}\"")), id(), 9376),
        (text.clone(), real, 9377),
        (
            text.replace("gcc a.c", "gcc b.c").replace(&world.principal.server().hex(), &key(8).id().hex()),
            real,
            9376,
        ),
    ];
    for (n, (body, asked, code)) in cases.into_iter().enumerate() {
        // The first two keep the real server's key, so that they are read at all.
        let body =
            if n < 2 { body.replace(&world.principal.server().hex(), &key(8).id().hex()) } else { body };
        let market = answering(move || json(body.clone())).await;
        let error = market.view(asked).await.unwrap_err();
        assert_eq!(error.code(), code, "case {n}: {error}");
    }
}

#[tokio::test]
async fn a_cut_stream_is_resumed_and_without_one_it_polls() {
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = asked.clone();
    let event = |n: u64| {
        format!(
            "id: {n}\ndata: \
                 {{\"event\":\"contract_posted\",\"contract_id\":\"{n:016x}\",\"status\":\"open\",\"bounty\":\"1\",\"command\":\"x\"}}\n\n"
        )
    };
    let stream = move |request: axum::extract::Request| {
        let last = request.headers().get("last-event-id").and_then(|v| v.to_str().ok()).map(str::to_owned);
        let first = last.as_deref().map_or(1, |last| last.parse::<u64>().unwrap() + 1);
        log.lock().unwrap().push(last);
        // One event and a half, then the end.
        let half = event(first + 1);
        let body = format!(": hello\n\n{}{}", event(first), &half[..half.len() / 2]);
        async move { ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response() }
    };
    let router = Router::new()
        .route("/server_pubkey", get(|| async { server_key() }))
        .route("/contracts", get(|| async { json("{\"contracts\":[]}") }))
        .route("/contracts/stream", get(stream));
    let market = Market::connect(&serve(router).await, key(1), Pin::Any, quick()).await.unwrap();
    let mut watch = market.watch(WatchOptions { poll: Duration::from_millis(5), ..WatchOptions::default() });
    for n in 1..=3 {
        let sighting = tokio::time::timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
        assert_eq!((sighting.id, sighting.contract_id.to_string()), (Some(n), format!("{n:016x}")));
    }
    let asked = asked.lock().unwrap().clone();
    assert_eq!(&asked[..3], [None, Some("1".to_owned()), Some("2".to_owned())]);
}

#[tokio::test]
async fn an_entry_whose_answer_got_lost_is_found_in_the_chain_and_not_sent_twice() {
    let world = World::start().await;
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    // A proxy that hands everything on, and loses every other answer to a POST.
    let target = world.url().to_owned();
    let posts = Arc::new(AtomicUsize::new(0));
    let counter = posts.clone();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let router = Router::new().fallback(any(move |request: axum::extract::Request| {
        let (target, http, posts) = (target.clone(), http.clone(), counter.clone());
        async move {
            let (parts, body) = request.into_parts();
            let path = parts.uri.path_and_query().unwrap().as_str();
            let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
            let mut onward = http.request(parts.method.clone(), format!("{target}{path}")).body(body);
            for (name, value) in parts.headers.iter().filter(|(n, _)| n.as_str().starts_with("x-fix")) {
                onward = onward.header(name, value);
            }
            let got = onward.send().await.unwrap();
            let status = got.status();
            let bytes = got.bytes().await.unwrap();
            if parts.method == axum::http::Method::POST && posts.fetch_add(1, Ordering::SeqCst) % 2 == 0 {
                return (StatusCode::BAD_GATEWAY, "lost").into_response();
            }
            (StatusCode::from_u16(status.as_u16()).unwrap(), bytes).into_response()
        }
    }));
    let url = serve(router).await;
    let agent = connect(&url, &world.clock, key(2), world.folder.path()).await;
    let bonded = agent.bond(id, None).await.unwrap();
    assert!(bonded.deposit.is_none());
    let accepted = agent.accept(id).await.unwrap();
    let fixed = agent.fix(id, "mkdir -p build/bin".into(), String::new(), None).await.unwrap();
    assert!(accepted.answer.is_some() != fixed.answer.is_some(), "one of both answers was lost");
    let view = agent.view(id).await.unwrap();
    let kinds: Vec<_> = view.entries().iter().map(|e| e.kind().as_str()).collect();
    assert_eq!(kinds, ["post", "opened", "bond", "accept", "fix"]);
    let lost = matches!(agent.accept(id).await.unwrap_err(), ClientError::Refused(_));
    assert!(lost);
}
