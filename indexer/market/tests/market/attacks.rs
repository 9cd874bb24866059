//! What hostile or broken clients send.

use std::time::Duration;

use crate::support::{Headers, address};
use crate::support::{Market, body_with, key};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zx1_market::chain::{Data, Head, Side};
use zx1_market::money::{Court, Outcome};
use zx1_market::{Entry, Json, Millis, request};
use zx1_market_server::clock::Clock;
use zx1_market_server::http::Rate;
use zx1_market_server::store::OutboxState;

/// Without an escrow: what these tests are about has nothing to do with money.
async fn free() -> Market {
    Market::with(|config| config.nano.ledger = "none".into()).await
}

fn headers(m: &Market, method: &str, path: &str, body: &[u8]) -> Headers {
    request::sign(&m.client.terms.server, method, path, body, m.clock.now(), &m.agent).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_taken_once_also_after_a_restart() {
    let mut m = free().await;
    let id = m.open(&m.contract("")).await;
    m.accept(id, &m.agent).await;
    let chat = Data::Chat { message: "hello".into() };
    let entry = Entry::sign(&chat, m.client.head(id, &m.agent).await, m.clock.now(), &m.agent);
    let (path, body) = (format!("/contracts/{id}/chat"), body_with(&entry, &[]));
    let signed = headers(&m, "POST", &path, &body);
    m.client.send_with("POST", &path, body.clone(), Some(signed.clone())).await.says("sent");
    m.client.send_with("POST", &path, body.clone(), Some(signed.clone())).await.refused(401, 9095);
    m.restart().await;
    m.client.send_with("POST", &path, body.clone(), Some(signed.clone())).await.refused(401, 9095);
    m.clock.advance(Millis::secs(61));
    m.client.send_with("POST", &path, body, Some(signed)).await.refused(401, 9092);
    assert_eq!(m.client.view(id, &m.agent).await["transcript"].as_array().unwrap().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_is_for_one_method_path_body_and_time() {
    let m = free().await;
    let id = m.open(&m.contract("")).await;
    let path = format!("/contracts/{id}/accept");
    let signed = headers(&m, "POST", &path, b"{}");
    let send = async |path: &str, body: &[u8], signed| {
        m.client.send_with("POST", path, body.to_vec(), Some(signed)).await
    };
    send(&format!("/contracts/{id}/halt"), b"{}", signed.clone()).await.refused(401, 9094);
    send(&path, b"{ }", signed.clone()).await.refused(401, 9094);
    let later = Headers { timestamp: "1800000001".to_owned(), ..signed.clone() };
    send(&path, b"{}", later).await.refused(401, 9094);
    let other = Headers { pubkey: key(3).id().hex(), ..signed.clone() };
    send(&path, b"{}", other).await.refused(401, 9094);
    m.client.send("POST", &path, b"{}".to_vec(), None).await.refused(401, 9090);
    // Without an entry nobody signs for the party.
    let body = json!({"agent_pubkey": m.agent.id().to_string()});
    m.client.post(&path, &body, &m.agent).await.refused(400, 9049);
    assert_eq!(m.client.view(id, &m.principal).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_another_contract_or_key_fails() {
    let m = free().await;
    let (a, b) = (m.open(&m.contract("")).await, {
        m.clock.advance(Millis(1));
        m.open(&m.contract("")).await
    });
    let accept = |key: &zx1_market::PartyKey| Data::Accept { agent: key.id() };
    let of_b = Entry::sign(&accept(&m.agent), m.client.head(b, &m.agent).await, m.clock.now(), &m.agent);
    let got = m.client.send_entry(a, "accept", &of_b, &m.agent).await.refused(409, 9050);
    assert_eq!(got["name"], "ChainConflict");
    let head = m.client.head(a, &m.agent).await;
    assert_eq!((got["seq"].as_u64(), got["chain_head"].as_str()), (Some(head.seq), Some(&*head.hex())));
    // Somebody else's entry under one's own request.
    let other = Entry::sign(&accept(&key(3)), head, m.clock.now(), &key(3));
    m.client.send_entry(a, "accept", &other, &m.agent).await.refused(403, 9046);
    // An entry of the wrong type for the call.
    let entry = Entry::sign(&accept(&m.agent), head, m.clock.now(), &m.agent);
    m.client.send_entry(a, "decline", &entry, &m.agent).await.refused(400, 9047);
    // A server's entry by a party.
    let data = Data::Voided { reason: "mine".into() };
    let forged = Entry::sign(&data, head, m.clock.now(), &m.agent);
    m.client.send_entry(a, "accept", &forged, &m.agent).await.refused(400, 9047);
    // Old, and from the future.
    for (at, code) in
        [(m.clock.now().minus(Millis::secs(61)), 9043), (m.clock.now().plus(Millis::secs(6)), 9043)]
    {
        let entry = Entry::sign(&accept(&m.agent), head, at, &m.agent);
        m.client.send_entry(a, "accept", &entry, &m.agent).await.refused(400, code);
    }
    assert_eq!(m.client.view(a, &m.principal).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_says_something_else_than_its_entry_fails() {
    let m = free().await;
    let id = m.open(&m.contract("")).await;
    m.accept(id, &m.agent).await;
    let fix = Data::Fix { fix: "true".into(), explanation: "so".into(), corrected_command: None };
    let entry = Entry::sign(&fix, m.client.head(id, &m.agent).await, m.clock.now(), &m.agent);
    let path = format!("/contracts/{id}/fix");
    for field in [
        ("fix", Json::from("rm -rf /")),
        ("explanation", "no".into()),
        ("agent_pubkey", key(3).id().to_string().into()),
    ] {
        m.client.send("POST", &path, body_with(&entry, &[field]), Some(&m.agent)).await.refused(400, 9045);
    }
    let same = [
        ("fix", Json::from("true")),
        ("_nonce", "1".into()),
        ("agent_pubkey", m.agent.id().to_string().into()),
    ];
    m.client.send("POST", &path, body_with(&entry, &same), Some(&m.agent)).await.says("pending_verification");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_clients_at_once_exactly_one_wins_each_seq() {
    let m = free().await;
    let id = m.open(&m.contract("")).await;
    m.accept(id, &m.agent).await;
    let first = m.client.head(id, &m.agent).await.seq;
    const ROUNDS: u64 = 4;
    for round in 0..ROUNDS {
        let head = m.client.head(id, &m.agent).await;
        assert_eq!(head.seq, first + round);
        let clients: Vec<_> = (0..50)
            .map(|n| {
                let (client, agent) = (m.client.clone(), m.agent.clone());
                tokio::spawn(async move {
                    let data = Data::Chat { message: format!("{round} {n}") };
                    let entry = Entry::sign(&data, head, client.clock.now(), &agent);
                    client.send_entry(id, "chat", &entry, &agent).await
                })
            })
            .collect();
        let mut won = 0;
        for client in clients {
            let got = client.await.unwrap();
            match got.status {
                200 => won += 1,
                409 => assert_eq!(got.body["seq"], head.seq + 1),
                other => panic!("{other} {}", got.body),
            }
        }
        assert_eq!(won, 1);
    }
    m.sound(id, "in_progress").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn oversized_and_deep_bodies_fail_without_harm() {
    let m = free().await;
    let id = m.open(&m.contract("")).await;
    let path = format!("/contracts/{id}/accept");
    let send = async |body: Vec<u8>| m.client.send("POST", &path, body, Some(&m.agent)).await;
    send(vec![b' '; 512 * 1024 + 1]).await.refused(413, 9407);
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    send(deep).await.refused(422, 9434);
    let deep = format!("{{\"chain_entry\":{}{}}}", "{\"a\":".repeat(40) + "1", "}".repeat(40));
    assert_eq!(send(deep.into_bytes()).await.status, 422);
    for bad in [
        "",
        "null",
        "[]",
        "{",
        "{\"a\":1,\"a\":2}",
        "\u{0}",
        "{\"chain_entry\":1e999}",
        "{\"a\":\"\\ud800\"}",
    ] {
        let got = send(bad.as_bytes().to_vec()).await;
        assert!([400, 422].contains(&got.status), "{bad}: {} {}", got.status, got.body);
    }
    for bad in ["{\"chain_entry\":7}", "{\"chain_entry\":{\"type\":\"accept\"}}"] {
        assert_eq!(send(bad.as_bytes().to_vec()).await.status, 400, "{bad}");
    }
    assert_eq!(m.client.get("/contracts/nonsense", None).await.status, 404);
    assert_eq!(m.client.get("/contracts/0000000000000000", None).await.status, 404);
    m.client.get("/nowhere", None).await.refused(404, 9402);
    assert_eq!(m.client.send("PUT", "/contracts", vec![], None).await.status, 405);
    m.accept(id, &m.agent).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_see_only_the_offer() {
    let m = free().await;
    let id = m.open(&m.contract("")).await;
    let view = m.client.get(&format!("/contracts/{id}"), Some(&key(3))).await.ok();
    assert_eq!(view["transcript"].as_array().unwrap().len(), 2);
    m.accept(id, &m.agent).await;
    for page in ["", "/verify_chain", "/dispute_status", "/ruling", "/review_status", "/escrow"] {
        let path = format!("/contracts/{id}{page}");
        m.client.get(&path, Some(&key(3))).await.refused(403, 9401);
        m.client.get(&path, None).await.refused(403, 9401);
        m.client.get(&path, Some(&m.agent)).await.ok();
        m.client.get(&path, Some(&m.judge)).await.ok();
    }
    let listed = m.client.get("/contracts", None).await;
    assert!(!listed.text.contains("foo.c"), "{}", listed.text);
    m.client.get("/contracts?mine=1", None).await.refused(403, 9401);
    let mine = m.client.get("/contracts?mine=1", Some(&m.agent)).await.ok();
    assert_eq!(mine["contracts"].as_array().unwrap().len(), 1);
    m.client.get("/judge/tasks", Some(&m.agent)).await.refused(403, 9138);
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    let view = m.client.get(&format!("/contracts/{id}"), None).await.ok();
    assert_eq!(view["transcript"].as_array().unwrap().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_contract_stays_among_its_parties() {
    let m = free().await;
    let contract =
        zx1_market::Contract::builder("gcc foo.c", "error").private().build(&m.client.terms).unwrap();
    let id = m.open(&contract).await;
    m.accept(id, &m.agent).await;
    m.fix(id).await.ok();
    m.verify(id, true).await.ok();
    m.client.get(&format!("/contracts/{id}"), Some(&key(3))).await.refused(403, 9401);
    m.client.get(&format!("/contracts/{id}"), Some(&m.agent)).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_deals_with_itself_or_rules_without_being_a_judge() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let bond = |key: &zx1_market::PartyKey| Data::Bond { agent: key.id(), payout: Some(address("x")) };
    m.client.act(id, "bond", bond(&m.principal), &m.principal).await.refused(403, 9117);
    m.client.act(id, "bond", bond(&m.judge), &m.judge).await.refused(403, 9118);
    m.bond(id, &m.agent, "agent").await;
    m.accept(id, &m.agent).await;
    m.fix(id).await.ok();
    m.dispute(id, Side::Principal).await.ok();
    m.respond(id, Side::Agent).await.ok();
    let got = m.client.ruling(id, &m.agent, Outcome::Fulfilled, Court::District).await;
    assert_eq!(got.status, 403, "{}", got.body);
    // A judge cannot void what it still may rule on, and a party cannot force it.
    m.client.post(&format!("/contracts/{id}/void"), &json!({}), &m.agent).await.refused(409, 9141);
    // A ruling over an old head does not count.
    let stale = Head { seq: 0, ..m.client.head(id, &m.judge).await };
    let data = zx1_market::chain::RulingData::new(Outcome::Fulfilled, Court::District, "x")
        .sign(id, &[0; 32], &m.judge);
    assert_eq!(stale.seq, 0);
    let path = format!("/contracts/{id}/ruling");
    let got = m.client.post(&path, &json!({"ruling": data}), &m.judge).await;
    assert_ne!(got.status, 200, "{}", got.body);
    m.client.rule(id, &m.judge, Outcome::Fulfilled, Court::District).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_terms_fail() {
    let m = free().await;
    let good = m.contract("").json().clone();
    let change = |path: &[&str], value: Json| {
        fn set(json: &mut Json, path: &[&str], value: Json) {
            let Json::Object(fields) = json else { panic!() };
            match path {
                [name] => drop(fields.insert((*name).to_owned(), value)),
                [name, rest @ ..] => set(fields.get_mut(*name).unwrap(), rest, value),
                [] => {}
            }
        }
        let mut contract = good.clone();
        set(&mut contract, path, value);
        contract
    };
    for contract in [
        change(&["execution", "timeout"], 1u64.into()),
        change(&["execution", "max_attempts"], 1_000u64.into()),
        change(&["execution", "review_window"], 1u64.into()),
        change(&["terms", "cancellation", "grace_period"], 1_000_000u64.into()),
        change(&["judge", "pubkey"], m.principal.id().to_string().into()),
        change(&["escrow", "bounty"], "1000000".into()),
        change(&["task", "command"], "".into()),
        change(&["capabilities", "gpu"], Json::object([("available", true)])),
        change(&["surprise"], "x".repeat(20_000).into()),
    ] {
        let (contract_json, market) = (contract.clone(), Some(m.client.terms.market()));
        let principal = m.principal.id();
        let data = Data::Post { contract: contract_json, principal, payout: None, market };
        let entry = Entry::sign(&data, Head::GENESIS, m.clock.now(), &m.principal);
        let got = m.client.send("POST", "/contracts", body_with(&entry, &[]), Some(&m.principal)).await;
        assert_eq!(got.status, 400, "{contract}: {}", got.body);
    }
    let entry = m.client.post_entry(&m.contract(""), &m.principal, None);
    let post = async || m.client.send("POST", "/contracts", body_with(&entry, &[]), Some(&m.principal)).await;
    post().await.says("open");
    m.clock.advance(Millis(10));
    post().await.refused(409, 9412);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_too_often_waits() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.key = Rate { burst: 5, per_second: 1 };
        config.limits.address = Rate { burst: 30, per_second: 1 };
    })
    .await;
    let mut refused = None;
    for _ in 0..20 {
        let got = m.client.get("/contracts?mine=1", Some(&m.agent)).await;
        if got.status == 429 {
            refused = Some(got);
            break;
        }
    }
    let refused = refused.expect("the sixth is too much for a key");
    assert_eq!(refused.body["code"], 9404);
    assert!(refused.retry_after.unwrap().parse::<u64>().unwrap() >= 1);
    // Another key is another bucket; the address has one for all.
    m.client.get("/contracts?mine=1", Some(&key(3))).await.ok();
    let mut last = 0;
    for _ in 0..30 {
        last = m.client.get("/stats", None).await.status;
    }
    assert_eq!(last, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_posts_too_many_contracts_waits_and_a_proxy_tells_clients_apart() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.posts = Rate { burst: 3, per_second: 1 };
        config.limits.proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let post = async |client: &str| {
        m.clock.advance(Millis(1));
        let entry = m.client.post_entry(&m.contract(""), &m.principal, None);
        let body = body_with(&entry, &[]);
        let server = m.client.terms.server;
        let signed = request::sign(&server, "POST", "/contracts", &body, m.clock.now(), &m.principal);
        let request = m.client.http.post(format!("{}/contracts", m.client.url)).body(body);
        let request = request
            .header("X-Fix-Auth", signed.auth)
            .header("X-Fix-Pubkey", signed.pubkey)
            .header("X-Fix-Signature", signed.signature)
            .header("X-Fix-Timestamp", signed.timestamp)
            .header("X-Forwarded-For", client);
        request.send().await.unwrap().status().as_u16()
    };
    let mut first = Vec::new();
    for n in 0..6 {
        // What the client writes before the proxy's own word helps it nothing.
        first.push(post(&format!("203.0.113.{n}, 198.51.100.1")).await);
    }
    assert_eq!(first[..3], [200, 200, 200]);
    assert!(first[3..].contains(&429), "{first:?}");
    assert_eq!(post("198.51.100.2").await, 200);
}

async fn raw(m: &Market) -> tokio::net::TcpStream {
    tokio::net::TcpStream::connect(m.server().address()).await.unwrap()
}

/// What comes until the connection ends.
async fn rest(mut stream: tokio::net::TcpStream) -> String {
    let mut out = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut out)).await;
    // A reset is an end as well.
    let _ = read.expect("the server ends it");
    String::from_utf8_lossy(&out).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_cut_and_others_are_served() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.head_ms = 300;
        config.limits.body_ms = 300;
    })
    .await;
    let mut slow_head = raw(&m).await;
    slow_head.write_all(b"GET /stats HTTP/1.1\r\nHost: x\r\nX-Slow: ").await.unwrap();
    let silent = raw(&m).await;
    let mut slow_body = raw(&m).await;
    slow_body
        .write_all(b"POST /contracts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        .await
        .unwrap();
    m.client.get("/healthz", None).await.says("ok");
    let answer = rest(slow_body).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(!rest(slow_head).await.contains("200 OK"));
    rest(silent).await;
    // Heads without end.
    let mut endless = raw(&m).await;
    let line = [b"X-A: ".as_slice(), &[b'a'; 8_000], b"\r\n"].concat();
    let _ = endless.write_all(b"GET /stats HTTP/1.1\r\n").await;
    for _ in 0..40 {
        if endless.write_all(&line).await.is_err() {
            break;
        }
    }
    assert!(!rest(endless).await.contains("200 OK"));
    // On a connection of its own: the client's idle one may be ending at this moment, for its head is late too.
    let mut other = raw(&m).await;
    other.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(rest(other).await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_shown_to_its_depositor_only_until_it_is_paid() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let bond = Data::Bond { agent: m.agent.id(), payout: Some(address("agent")) };
    let got = m.client.act(id, "bond", bond, &m.agent).await.says("reserved");
    let account = got["deposit"]["address"].clone();
    let shown = async |key| {
        let escrow = m.client.get(&format!("/contracts/{id}/escrow"), Some(key)).await.ok();
        escrow["accounts"].as_array().unwrap().iter().any(|shown| shown["address"] == account)
    };
    assert!(shown(&m.agent).await);
    assert!(!shown(&m.principal).await, "the other side could be first with a little money");
    m.pay(&got["deposit"]).await;
    m.client.until(id, &m.agent, "investigating").await;
    assert!(shown(&m.principal).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thief_that_pays_first_gets_nothing() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let bond = Data::Bond { agent: m.agent.id(), payout: Some(address("agent")) };
    let got = m.client.act(id, "bond", bond, &m.agent).await.says("reserved");
    // The devnet's faucet is the only sender here; who is paid is what was signed, whoever sent it.
    m.pay(&got["deposit"]).await;
    m.client.until(id, &m.agent, "investigating").await;
    m.client.act(id, "decline", Data::Decline { reason: "no".into() }, &m.agent).await.ok();
    crate::support::eventually("the bond is back with its agent", || async {
        (m.balance("agent") == crate::support::xno("0.67")).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn above_its_daily_number_an_address_works_for_each_post() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.posts_per_day = 2;
        config.limits.proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    let server = m.client.terms.server;
    let post = async |client: &str, work: bool| {
        m.clock.advance(Millis(1));
        let entry = m.client.post_entry(&m.contract(""), &m.principal, None);
        let body = body_with(&entry, &[]);
        let signed = request::sign(&server, "POST", "/contracts", &body, m.clock.now(), &m.principal);
        let work = if work { zx1_market::work::solve(&server, &body) } else { "0".repeat(16) };
        let request = m.client.http.post(format!("{}/contracts", m.client.url)).body(body);
        let request = request
            .header("X-Fix-Auth", signed.auth)
            .header("X-Fix-Pubkey", signed.pubkey)
            .header("X-Fix-Signature", signed.signature)
            .header("X-Fix-Timestamp", signed.timestamp)
            .header("X-Fix-Work", work)
            .header("X-Forwarded-For", client);
        request.send().await.unwrap().status().as_u16()
    };
    let one = "198.51.100.1";
    assert_eq!([post(one, false).await, post(one, false).await, post(one, false).await], [200, 200, 429]);
    assert_eq!(post(one, true).await, 200);
    // Of IPv6 a customer's whole network counts, and nobody else's.
    let v6 = ["2001:db8::1", "2001:db8::2", "2001:db8::3"];
    let mut answers = Vec::new();
    for client in v6 {
        answers.push(post(client, false).await);
    }
    assert_eq!(answers, [200, 200, 429]);
    assert_eq!(post("2001:db8:0:1::1", false).await, 200);
    // The next day.
    m.clock.advance(Millis::secs(86_400));
    assert_eq!(post(one, false).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_paid_is_deleted_and_a_late_payment_still_has_a_payee() {
    let m = Market::start().await;
    let entry = m.client.post_entry(&m.contract("0.5"), &m.principal, Some(address("principal")));
    let body = body_with(&entry, &[]);
    m.client.send("POST", "/contracts", body, Some(&m.principal)).await.says("unfunded");
    let id = entry.contract_id().unwrap();
    let paid = m.open(&m.contract("1")).await;
    m.clock.advance(m.client.terms.windows.unfunded);
    m.client.until(id, &m.principal, "canceled").await;
    let engine = m.server().engine();
    m.clock.advance(Millis::secs(6 * 86_400));
    // What is still handed over to the escrow would keep the contract too.
    crate::support::eventually("the outbox is empty", || async {
        engine.store().outbox(OutboxState::Open).await.unwrap().is_empty().then_some(())
    })
    .await;
    assert_eq!(
        engine.forget_unpaid().await.unwrap(),
        0,
        "not while late payments still go back by themselves"
    );
    m.clock.advance(Millis::secs(86_401));
    let forgotten = crate::support::eventually("it is deleted", || async {
        let forgotten = engine.forget_unpaid().await.unwrap();
        (forgotten > 0).then_some(forgotten)
    })
    .await;
    assert_eq!(forgotten, 1);
    m.client.get(&format!("/contracts/{id}"), Some(&m.principal)).await.refused(404, 9400);
    assert_eq!(
        m.client.view(paid, &m.principal).await["status"],
        "canceled",
        "nobody took it, but it was paid"
    );
    let hash: String = entry.hash().iter().map(|b| format!("{b:02x}")).collect();
    let late = engine.store().late_payees(&hash).await.unwrap();
    assert_eq!(late.len(), 1);
    assert_eq!(late[0].payout, address("principal").to_string());
    assert_eq!(late[0].depositor, m.principal.id().to_string());
    assert_eq!(m.client.get("/stats", None).await.ok()["canceled"], 1);
    let days = |days: u64| i64::try_from(m.clock.now().plus(Millis::secs(days * 86_400)).0).unwrap();
    engine.store().prune(days(89), 0).await.unwrap();
    assert_eq!(engine.store().late_payees(&hash).await.unwrap().len(), 1);
    engine.store().prune(days(91), 0).await.unwrap();
    assert!(engine.store().late_payees(&hash).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_has_its_share_of_connections() {
    let m = Market::with(|config| {
        config.nano.ledger = "none".into();
        config.limits.connections_per_address = 3;
    })
    .await;
    let address = m.server().address();
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(tokio::net::TcpStream::connect(address).await.unwrap());
    }
    // The fourth is closed at once, without an answer.
    let closed = crate::support::eventually("one more is closed", || async {
        use tokio::io::AsyncReadExt;
        let mut more = tokio::net::TcpStream::connect(address).await.unwrap();
        let read = tokio::time::timeout(std::time::Duration::from_millis(200), more.read(&mut [0; 1])).await;
        matches!(read, Ok(Ok(0) | Err(_))).then_some(())
    });
    closed.await;
    drop(held);
    crate::support::eventually("there is room again", || async {
        let url = format!("{}/healthz", m.client.url);
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        http.get(url).send().await.ok().filter(|answer| answer.status() == 200).map(drop)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_transcript_is_streamed_as_it_is_kept() {
    let m = Market::with(|config| config.nano.ledger = "none".into()).await;
    let id = m.working(&m.contract("")).await;
    // A text that looks like the end of the answer.
    let text = format!("\"transcript\":[],\"received_at\":[]{}", "x".repeat(15_000));
    for n in 0..40 {
        m.clock.advance(Millis(1));
        let chat = Data::Chat { message: format!("{n}{text}") };
        m.client.act(id, "chat", chat, &m.agent).await.says("sent");
    }
    let view = m.client.view(id, &m.principal).await;
    let (entries, times) = (view["transcript"].as_array().unwrap(), view["received_at"].as_array().unwrap());
    assert_eq!((entries.len(), times.len()), (44, 44));
    assert!(view["briefing"].as_str().is_some());
    m.sound_so_far(id).await;
    // Talk is bounded in bytes, not only in entries.
    let mut answers = Vec::new();
    for n in 0..40 {
        m.clock.advance(Millis(1));
        let chat = Data::Chat { message: format!("{n}{text}") };
        answers.push(m.client.act(id, "chat", chat, &m.agent).await);
    }
    answers.pop().unwrap().refused(409, 9057);
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    m.sound(id, "fulfilled").await;
}
