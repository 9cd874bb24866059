//! The server, its clock or its node is away, and nobody loses money to it (decision E21).

use nano_devnet::{Devnet, Effect, FaultRule, On};
use serde_json::{Value, json};
use zx1_market::Millis;
use zx1_market::chain::{Data, Side};
use zx1_market_server::clock::DrivenClock;

use crate::support::live::{agent, client, contract, folder, principal};
use crate::support::process::Process;
use crate::support::{self, Market, START, address, body_with, boot, eventually, xno};

/// What was chained last, and its data.
fn last(view: &Value) -> (String, Value) {
    let entry = view["transcript"].as_array().unwrap().last().unwrap();
    (entry["type"].as_str().unwrap().to_owned(), entry["data"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_gives_every_window_back() {
    let mut m = Market::with_absences(|_| {}).await;
    let id = m.working(&m.contract_with("0.5", |e| e.review_window = 60, true)).await;
    m.fix(id).await.says("review");
    let disputed = m.working(&m.contract_with("0.5", |e| e.max_attempts = 1, false)).await;
    m.fix(disputed).await.ok();
    m.dispute(disputed, Side::Principal).await.ok();
    // Away for longer than the review and the answer may take.
    m.server.take().unwrap().stop().await.unwrap();
    m.clock.advance(Millis::secs(75));
    m.restart_stopped().await;
    let view = m.client.view(id, &m.principal).await;
    assert_eq!(view["status"], "review", "{view}");
    let (kind, data) = last(&view);
    assert_eq!(
        (kind.as_str(), &data["cause"], &data["gap"]),
        ("resumed", &json!("down"), &json!(75.0)),
        "{data}"
    );
    // Both are in time.
    m.dispute(id, Side::Principal).await.says("awaiting_response");
    m.respond(disputed, Side::Agent).await.ok();
    // And silence still accepts, by the windows that have moved.
    let silent = m.working(&m.contract_with("0.5", |e| e.review_window = 60, true)).await;
    m.fix(silent).await.says("review");
    m.pass(Millis::secs(60)).await;
    m.client.until(silent, &m.principal, "fulfilled").await;
    m.sound(silent, "fulfilled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_gives_every_window_back() {
    let folder = folder(|_| {});
    let clock = DrivenClock::new(START);
    let options = ["--auto-fund", "--test-absences"];
    let mut process = Process::start(folder.path(), START, &options);
    let mut live = client(process.url(), clock.clone()).await;
    let made = contract(&live.terms, "0.5", true);
    let entry = live.post_entry(&made, &principal(), Some(address("principal")));
    let id = entry.contract_id().unwrap();
    live.send("POST", "/contracts", body_with(&entry, &[]), Some(&principal())).await.ok();
    live.until(id, &principal(), "open").await;
    let bond = Data::Bond { agent: agent().id(), payout: Some(address("agent")) };
    live.act(id, "bond", bond, &agent()).await.ok();
    live.until(id, &agent(), "investigating").await;
    live.act(id, "accept", Data::Accept { agent: agent().id() }, &agent()).await.ok();
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    live.act(id, "fix", fix, &agent()).await.says("review");
    process.kill();
    let now = clock.advance(Millis::secs(75));
    process = Process::start(folder.path(), now, &options);
    live.url = process.url();
    let dispute = Data::DisputeFiled { argument: "it does nothing".into(), side: Side::Principal };
    live.act(id, "dispute", dispute, &principal()).await.says("awaiting_response");
    drop(process);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_takes_no_window_away() {
    let m = Market::with_absences(|_| {}).await;
    let id = m.working(&m.contract_with("0.5", |e| e.review_window = 60, true)).await;
    m.fix(id).await.says("review");
    m.clock.jump(Millis::secs(3_600));
    let view = eventually("its windows have moved", || async {
        // Until then the server's time stands still, and a signature of the new time is ahead of it.
        let got = m.client.get(&format!("/contracts/{id}"), Some(&m.principal)).await;
        (got.status == 200 && last(&got.body).0 == "resumed").then_some(got.body)
    })
    .await;
    assert_eq!((&view["status"], &last(&view).1["cause"]), (&json!("review"), &json!("clock")));
    m.dispute(id, Side::Principal).await.says("awaiting_response");
    let text = m.client.get("/metrics", None).await.text;
    assert!(text.contains("fix_market_absences_total{cause=\"clock\"} 1"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_node_a_market_starts_and_serves_what_is_free() {
    let m = Market::with(|config| {
        // Nobody listens there.
        config.nano.ledger = "http://127.0.0.1:9".into();
        config.nano.network = "dev".into();
    })
    .await;
    let ready = eventually("it says what it can", || async {
        let ready = m.client.get("/readyz", None).await.ok();
        (ready["status"] == "held").then_some(ready)
    })
    .await;
    assert_eq!((&ready["free"], &ready["paid"]), (&json!(true), &json!(false)));
    assert_eq!(m.client.get("/readyz?for=paid", None).await.status, 503);
    let entry = m.client.post_entry(&m.contract("0.5"), &m.principal, Some(address("principal")));
    let got = m.client.send("POST", "/contracts", body_with(&entry, &[]), Some(&m.principal)).await;
    got.refused(503, 9429);
    let id = m.working(&m.contract("")).await;
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    assert!(m.client.get("/metrics", None).await.text.contains("\nfix_market_ledger_live 0\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_that_wait_for_the_ledger_stand_still_without_it() {
    let devnet = Devnet::builder().start().await.unwrap();
    let folder = folder(|_| {});
    let mut config = support::config(&folder.path().join("data"));
    config.nano.ledger = devnet.rpc_url();
    config.nano.ws = devnet.ws_url();
    config.nano.network = "dev".into();
    let clock = DrivenClock::new(START).with_absences();
    let server = boot(&config, &clock).await;
    let live = client(server.url().to_owned(), clock.clone()).await;
    let post = async |n: &str| {
        let made = contract(&live.terms, n, false);
        let entry = live.post_entry(&made, &principal(), Some(address("principal")));
        let got = live.send("POST", "/contracts", body_with(&entry, &[]), Some(&principal())).await;
        (entry.contract_id().unwrap(), got.says("unfunded")["deposit"].clone())
    };
    let pay = async |deposit: &Value| {
        let account = deposit["address"].as_str().unwrap().parse().unwrap();
        devnet.faucet(account, xno(deposit["amount"].as_str().unwrap())).await.unwrap();
    };
    let (reserved, deposit) = post("0.5").await;
    pay(&deposit).await;
    live.until(reserved, &principal(), "open").await;
    let bond = Data::Bond { agent: agent().id(), payout: Some(address("agent")) };
    let bonded = live.act(reserved, "bond", bond, &agent()).await.says("reserved")["deposit"].clone();
    let (unpaid, deposit) = post("1").await;
    // The node is gone for an hour.
    let fault =
        devnet.faults().add(FaultRule::new(On::default(), Effect::Status { code: 502, body: "gone".into() }));
    eventually("the server notices", || async {
        (live.get("/readyz", None).await.ok()["status"] == "held").then_some(())
    })
    .await;
    clock.advance(Millis::secs(3_600));
    for id in [reserved, unpaid] {
        assert!(!server.engine().run(id).await.unwrap().state().is_terminal());
    }
    assert!(
        server.engine().read(reserved).await.unwrap().reserved_for().is_some(),
        "the agent may still pay"
    );
    devnet.faults().remove(fault);
    eventually("the server sees it", || async {
        (live.get("/readyz?for=paid", None).await.status == 200).then_some(())
    })
    .await;
    // Both pay, and nobody has lost anything.
    pay(&bonded).await;
    pay(&deposit).await;
    live.until(reserved, &agent(), "investigating").await;
    live.until(unpaid, &principal(), "open").await;
    let view = live.view(unpaid, &principal()).await;
    let kinds: Vec<_> = view["transcript"].as_array().unwrap().iter().map(|e| e["type"].clone()).collect();
    assert_eq!(kinds, ["post", "resumed", "opened"], "{view}");
    server.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_lags_behind_its_peers_counts_as_away_until_it_has_caught_up() {
    let devnet = Devnet::builder().start().await.unwrap();
    let lag = |blocks| FaultRule::new(On::action("telemetry"), Effect::Behind { blocks, peers: 3 });
    let far = devnet.faults().add(lag(100_000));
    let folder = folder(|_| {});
    let mut config = support::config(&folder.path().join("data"));
    config.nano.ledger = devnet.rpc_url();
    config.nano.ws = devnet.ws_url();
    config.nano.network = "dev".into();
    let clock = DrivenClock::new(START).with_absences();
    let server = boot(&config, &clock).await;
    let live = client(server.url().to_owned(), clock.clone()).await;
    eventually("the server notices", || async {
        (live.get("/readyz?for=paid", None).await.status == 503).then_some(())
    })
    .await;
    let ready = live.get("/readyz", None).await.ok();
    assert_eq!((&ready["status"], &ready["free"]), (&json!("held"), &json!(true)));
    let made = contract(&live.terms, "0.5", false);
    let post = async || {
        let entry = live.post_entry(&made, &principal(), Some(address("principal")));
        live.send("POST", "/contracts", body_with(&entry, &[]), Some(&principal())).await
    };
    post().await.refused(503, 9429);
    let metrics = live.get("/metrics", None).await.text;
    assert!(metrics.contains("\nfix_market_ledger_live 0\n"), "{metrics}");
    assert!(metrics.contains("\nfix_market_ledger_lacks_blocks 100000\n"), "{metrics}");
    devnet.faults().remove(far);
    let level = devnet.faults().add(lag(10));
    eventually("the server sees that it has caught up", || async {
        (live.get("/readyz?for=paid", None).await.status == 200).then_some(())
    })
    .await;
    let deposit = post().await.says("unfunded")["deposit"].clone();
    devnet.faults().remove(level);
    // It falls behind again: what waits for the ledger keeps its time.
    devnet.faults().add(lag(100_000));
    eventually("the server notices again", || async {
        (live.get("/readyz?for=paid", None).await.status == 503).then_some(())
    })
    .await;
    clock.advance(Millis::secs(3_600));
    devnet.faults().clear();
    eventually("the server sees it", || async {
        (live.get("/readyz?for=paid", None).await.status == 200).then_some(())
    })
    .await;
    let account = deposit["address"].as_str().unwrap().parse().unwrap();
    devnet.faucet(account, xno(deposit["amount"].as_str().unwrap())).await.unwrap();
    let id = live.get("/contracts?mine=1", Some(&principal())).await.ok()["contracts"][0]["id"].clone();
    let id = id.as_str().unwrap().parse().unwrap();
    let view = live.until(id, &principal(), "open").await;
    let kinds: Vec<_> = view["transcript"].as_array().unwrap().iter().map(|e| e["type"].clone()).collect();
    assert_eq!(kinds, ["post", "resumed", "opened"], "{view}");
    server.stop().await.unwrap();
}
