//! An address that posts more than its daily number of free or unpaid contracts works for each further one. The server
//! counts by address and leaves out its own machine, so the clients here come through a proxy that it believes.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use zx1_market::contract::Contract;
use zx1_market::{Entry, Millis, State, request, work};
use zx1_market_client::{ClientError, ListFilter, Market, Pin};

use crate::support::*;

const UNPAID_POSTS: u32 = 9430;

/// Passes every request on to a server as one of this client, with or without its work.
async fn proxy(server: &str, client: &'static str, works: bool) -> String {
    let (server, http) = (server.to_owned(), reqwest::Client::builder().no_proxy().build().unwrap());
    let pass = move |request: Request| {
        let (server, http) = (server.clone(), http.clone());
        async move {
            let (mut parts, body) = request.into_parts();
            if !works {
                parts.headers.remove("x-fix-work");
            }
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            let request = http.request(parts.method, format!("{server}{}", parts.uri)).headers(parts.headers);
            let answer = request.header("X-Forwarded-For", client).body(body).send().await.unwrap();
            let (status, bytes) = (answer.status(), answer.bytes().await.unwrap());
            let built = Response::builder().status(status).header("content-type", "application/json");
            built.body(Body::from(bytes)).unwrap()
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(pass);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

/// A server that takes so many posts a day, and its client at another address.
async fn world(posts_per_day: u32) -> (World, Market) {
    let world = World::with(|config| {
        config.limits.posts_per_day = posts_per_day;
        config.limits.proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let url = proxy(world.url(), "198.51.100.7", true).await;
    let market = Market::connect(&url, key(3), Pin::Any, options(&world.clock)).await.unwrap();
    (world, market)
}

async fn contract(world: &World, bounty: &str) -> Contract {
    // Two posts of one moment with the same words are one contract.
    world.clock.advance(Millis(1));
    Bench::lacks_folder().contract(&world.terms().await, bounty, &[], |_| {})
}

async fn open(world: &World) -> usize {
    let filter = ListFilter { status: Some(State::Open), limit: Some(200), ..ListFilter::default() };
    world.principal.list(filter).await.unwrap().len()
}

#[tokio::test]
async fn above_the_daily_number_the_client_works_and_its_post_lands() {
    // The daily number is the server's own default.
    let (world, market) = world(zx1_market_server::http::Limits::default().posts_per_day).await;
    for _ in 0..100 {
        market.post(&contract(&world, "").await, None).await.unwrap();
    }
    // The next one is refused without work, at the real server.
    let refused = send(&world, &market, &body(&world).await, None).await;
    assert_eq!(refused, (429, Some(UNPAID_POSTS)));
    assert_eq!(open(&world).await, 100);
    // The client reads why, works, and posts.
    let posted = market.post(&contract(&world, "").await, None).await.unwrap();
    assert_eq!(world.principal.view(posted.id).await.unwrap().state(), State::Open);
    let paid = market.post(&contract(&world, "0.5").await, Some(address("principal"))).await.unwrap();
    assert_eq!(paid.status, State::Unfunded);
    assert_eq!(open(&world).await, 101);
}

/// A signed post.
async fn body(world: &World) -> Vec<u8> {
    let terms = world.terms().await;
    let contract = contract(world, "").await;
    let data = zx1_market::chain::Data::Post {
        contract: contract.json().clone(),
        principal: key(3).id(),
        payout: None,
        market: Some(terms.market()),
    };
    let now = zx1_market_server::clock::Clock::now(&world.clock);
    let entry = Entry::sign(&data, zx1_market::chain::Head::GENESIS, now, &key(3));
    format!("{{\"principal_pubkey\":\"{}\",\"chain_entry\":{}}}", key(3).id(), entry.canonical()).into_bytes()
}

async fn send(world: &World, market: &Market, body: &[u8], work: Option<&str>) -> (u16, Option<u32>) {
    let now = zx1_market_server::clock::Clock::now(&world.clock);
    let signed = request::sign(&market.server(), "POST", "/contracts", body, now, &key(3));
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = http
        .post(format!("{}/contracts", market.url()))
        .header("X-Fix-Auth", signed.auth)
        .header("X-Fix-Pubkey", signed.pubkey)
        .header("X-Fix-Signature", signed.signature)
        .header("X-Fix-Timestamp", signed.timestamp);
    if let Some(work) = work {
        request = request.header("X-Fix-Work", work);
    }
    let answer = request.body(body.to_vec()).send().await.unwrap();
    let status = answer.status().as_u16();
    let json: serde_json::Value = answer.json().await.unwrap();
    (status, json["code"].as_u64().and_then(|code| u32::try_from(code).ok()))
}

#[tokio::test]
async fn wrong_weak_or_used_work_is_refused_with_its_number() {
    let (world, market) = world(1).await;
    market.post(&contract(&world, "").await, None).await.unwrap();
    let server = market.server();
    let first = body(&world).await;
    let good = work::solve(&server, &first);
    // Too weak: a nonce whose hash begins with fewer zero bits; and texts of another form.
    let next = format!("{:016x}", u64::from_str_radix(&good, 16).unwrap() + 1);
    assert!(!work::is_enough(&server, &first, &next));
    let upper = good.to_uppercase();
    let bad =
        [next.as_str(), "0000000000000000", "", "x", &good[..15], &format!("{good}0"), "-000000000000001"];
    for bad in bad.into_iter().chain((upper != good).then_some(upper.as_str())) {
        assert_eq!(send(&world, &market, &first, Some(bad)).await, (429, Some(UNPAID_POSTS)), "{bad:?}");
    }
    // Work for another server.
    let elsewhere = work::solve(&key(8).id(), &first);
    assert_eq!(send(&world, &market, &first, Some(&elsewhere)).await, (429, Some(UNPAID_POSTS)));
    assert_eq!(send(&world, &market, &first, Some(&good)).await, (200, None));
    assert_eq!(open(&world).await, 2);
    // Used: for the same post, whose request was taken, whether or not it is signed anew; and for another one.
    assert_eq!(send(&world, &market, &first, Some(&good)).await, (401, Some(9095)));
    world.clock.advance(Millis(1_000));
    assert_eq!(send(&world, &market, &first, Some(&good)).await, (409, Some(9412)));
    let second = body(&world).await;
    assert_eq!(send(&world, &market, &second, Some(&good)).await, (429, Some(UNPAID_POSTS)));
    assert_eq!(open(&world).await, 2);
    // Another address has its own day.
    let other = proxy(world.url(), "198.51.100.8", true).await;
    let other = Market::connect(&other, key(3), Pin::Any, options(&world.clock)).await.unwrap();
    assert_eq!(send(&world, &other, &second, None).await, (200, None));
    assert_eq!(open(&world).await, 3);
}

/// A server that wants work and then takes none: the client says so instead of working for ever.
#[tokio::test]
async fn a_server_that_takes_no_work_is_given_up_ok() {
    let (world, market) = world(1).await;
    market.post(&contract(&world, "").await, None).await.unwrap();
    let url = proxy(world.url(), "198.51.100.7", false).await;
    let cut = Market::connect(&url, key(3), Pin::Any, options(&world.clock)).await.unwrap();
    let error = cut.post(&contract(&world, "").await, None).await.unwrap_err();
    assert!(matches!(&error, ClientError::Refused(refused) if refused.code == Some(UNPAID_POSTS)), "{error}");
    assert_eq!(open(&world).await, 1);
}
