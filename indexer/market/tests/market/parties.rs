//! Parties that play by the interface and against each other: what each can do to the other, and what it
//! costs.

use std::collections::BTreeMap;

use nano_escrow::Raw;
use serde_json::json;
use zx1_market::case::{Transcript, replay};
use zx1_market::chain::{Data, Head, Side};
use zx1_market::money::{Court, Outcome};
use zx1_market::{Entry, Millis, PartyKey, request};
use zx1_market_server::clock::Clock;

use crate::support::live::{Live, agent, contract, principal};
use crate::support::{self, Market, address, body_with, key, xno};

fn cancel() -> Data {
    Data::Cancel { reason: "never mind".into() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_principal_that_rejects_a_working_fix_loses_in_court() {
    for autonomous in [false, true] {
        let mut live = Live::start(false).await;
        live.post(&["0.5"], autonomous).await;
        live.bond(&agent(), "agent").await;
        live.accept().await;
        let id = live.ids[0].0;
        if autonomous {
            live.fix("review").await;
            live.act(
                "review",
                Data::ReviewReject { reason: "no".into(), failure: None },
                &principal(),
                "review",
            )
            .await;
        } else {
            for _ in 0..2 {
                live.fix("in_progress").await;
                live.verify(false, "in_progress").await;
            }
        }
        // It cannot get away while the agent may object.
        for (action, data) in [
            ("back_out", Data::BackOut { reason: String::new() }),
            ("halt", Data::Halt { reason: String::new() }),
            ("", cancel()),
            ("waive", Data::Waive { side: Side::Principal }),
        ] {
            let got = live.client.act(id, action, data, &principal()).await;
            assert!([403, 409].contains(&got.status), "{action}: {} {}", got.status, got.text);
        }
        live.dispute(Side::Agent).await;
        live.respond(Side::Principal).await;
        live.rule(Outcome::EvilPrincipal, Court::District, "disputed").await;
        live.act("waive", Data::Waive { side: Side::Principal }, &principal(), "resolved").await;
        live.paid_as("ruling_evil_principal", Some("district"), &[]).await;
        live.sound("resolved").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_anothers_deposit() {
    let m = Market::start().await;
    let post = m.client.post_entry(&m.contract("0.5"), &m.principal, Some(address("principal")));
    let got =
        m.client.send("POST", "/contracts", body_with(&post, &[]), Some(&m.principal)).await.says("unfunded");
    let id = post.contract_id().unwrap();
    // Somebody else's contract over the same text is another contract with another account, and this one pays
    // for this one only.
    let (thief, devnet) = (key(66), m.devnet());
    let data = Data::Post {
        contract: m.contract("0.5").json().clone(),
        principal: thief.id(),
        payout: Some(address("thief")),
        market: Some(m.client.terms.market()),
    };
    let copy = Entry::sign(&data, Head::GENESIS, m.clock.now(), &thief);
    let other =
        m.client.send("POST", "/contracts", body_with(&copy, &[]), Some(&thief)).await.says("unfunded");
    assert_ne!(got["deposit"]["address"], other["deposit"]["address"]);
    let again = m.client.send("POST", "/contracts", body_with(&post, &[]), Some(&thief)).await;
    assert_eq!(again.status, 403, "{}", again.text);
    // Half is not enough; what is too much goes back.
    let account: nano_escrow::Address = got["deposit"]["address"].as_str().unwrap().parse().unwrap();
    devnet.faucet(account, xno("0.335")).await.unwrap();
    support::eventually("the first half is seen", || async {
        let escrow = m.client.get(&format!("/contracts/{id}/escrow"), Some(&m.principal)).await.ok();
        (escrow["accounts"][0]["received"] == "0.335").then_some(())
    })
    .await;
    assert_eq!(m.client.view(id, &m.principal).await["status"], "unfunded");
    devnet.faucet(account, xno("1.335")).await.unwrap();
    m.client.until(id, &m.principal, "open").await;
    let theirs = copy.contract_id().unwrap();
    assert_eq!(m.client.view(theirs, &thief).await["status"], "unfunded");
    // The bond's account is the agent's own as well: while it is reserved nobody else can take it.
    let bond = |key: &PartyKey, to: &str| Data::Bond { agent: key.id(), payout: Some(address(to)) };
    let reserved = m.client.act(id, "bond", bond(&m.agent, "agent"), &m.agent).await.says("reserved");
    m.client.act(id, "bond", bond(&thief, "thief"), &thief).await.refused(409, 9120);
    // Nor can the money be sent round in a circle: the escrow's own account is refused as a payout address.
    m.pay(&reserved["deposit"]).await;
    m.client.until(id, &m.agent, "investigating").await;
    let to = |name: &str| Data::Accounts { payout: address(name) };
    let own = Data::Accounts { payout: account };
    m.client.act(id, "accounts", own, &m.principal).await.refused(400, 9105);
    m.client.act(id, "accounts", to("thief"), &thief).await.refused(403, 9115);
    m.accept(id, &m.agent).await;
    m.client.act(id, "accounts", to("agent"), &m.agent).await.says("ok");
    m.fix(id).await.ok();
    m.dispute(id, Side::Principal).await.ok();
    for key in [&m.principal, &m.agent] {
        m.client.act(id, "accounts", to("thief"), key).await.refused(409, 9146);
    }
    m.respond(id, Side::Agent).await.ok();
    m.client.rule(id, &m.judge, Outcome::Fulfilled, Court::District).await.ok();
    m.client.act(id, "waive", Data::Waive { side: Side::Principal }, &m.principal).await.says("resolved");
    support::eventually("the row is paid", || async {
        (m.balance("agent") == xno("1.12") && m.balance("principal") == xno("0.15")).then_some(())
    })
    .await;
    assert_eq!(m.balance("thief"), Raw::ZERO);
    // What was too much goes back to its source.
    support::eventually("the excess is refunded", || async {
        let escrow = m.client.get(&format!("/contracts/{id}/escrow"), None).await.ok();
        let payments = escrow["payments"].as_array().unwrap().clone();
        payments.iter().any(|p| p["kind"] == "refund" && p["amount"] == "1").then_some(())
    })
    .await;
    m.sound(id, "resolved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_decline_for_ever_end_the_contract_and_cost_nothing() {
    let m = Market::with(|config| config.nano.ledger = "none".into()).await;
    let id = m.open(&m.contract("")).await;
    let mut agents = 0;
    let state = loop {
        let agent = key(100 + agents);
        let bond = Data::Bond { agent: agent.id(), payout: None };
        let got = m.client.act(id, "bond", bond, &agent).await;
        if got.status != 200 {
            break m.client.view(id, &m.principal).await["status"].clone();
        }
        m.client.act(id, "decline", Data::Decline { reason: "no".into() }, &agent).await.ok();
        // Not twice.
        let bond = Data::Bond { agent: agent.id(), payout: None };
        assert!([403, 409].contains(&m.client.act(id, "bond", bond, &agent).await.status));
        agents += 1;
    };
    assert_eq!((agents, state), (17, json!("canceled")));
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_disputes_everything_is_heard_once_and_pays() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let disputes = async |who: &PartyKey, side| {
        let data = Data::DisputeFiled { argument: "give me the money".into(), side };
        m.client.act(id, "dispute", data, who).await
    };
    assert_eq!(disputes(&m.agent, Side::Agent).await.status, 403, "nobody's agent");
    m.bond(id, &m.agent, "agent").await;
    assert_eq!(disputes(&m.agent, Side::Agent).await.status, 409, "only looking");
    m.accept(id, &m.agent).await;
    assert_eq!(disputes(&m.agent, Side::Principal).await.status, 400, "for the other side");
    assert_eq!(disputes(&key(66), Side::Agent).await.status, 403, "a stranger");
    m.fix(id).await.ok();
    // The principal's time to verify is not over.
    assert_eq!(disputes(&m.agent, Side::Agent).await.status, 409);
    m.verify(id, false).await.says("retry");
    assert_eq!(disputes(&m.agent, Side::Agent).await.status, 200);
    assert_eq!(disputes(&m.agent, Side::Agent).await.status, 409, "once");
    m.respond(id, Side::Principal).await.ok();
    m.client.rule(id, &m.judge, Outcome::EvilAgent, Court::District).await.ok();
    for court in [Court::Appeals, Court::Supreme] {
        let data = Data::Appeal { argument: "again".into(), side: Side::Agent };
        m.client.act(id, "appeal", data, &m.agent).await.ok();
        assert_eq!(disputes(&m.agent, Side::Agent).await.status, 409);
        m.respond(id, Side::Principal).await.ok();
        m.client.rule(id, &m.judge, Outcome::EvilAgent, court).await.ok();
    }
    m.client.until(id, &m.agent, "resolved").await;
    assert_eq!(disputes(&m.agent, Side::Agent).await.status, 409);
    m.paid_as("ruling_evil_agent", Some("supreme"), "0.5").await;
    m.sound(id, "resolved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loser_cannot_force_a_void() {
    let mut live = Live::start(false).await;
    live.post(&["0.5"], false).await;
    live.bond(&agent(), "agent").await;
    live.accept().await;
    live.fix("in_progress").await;
    live.verify(false, "in_progress").await;
    live.dispute(Side::Principal).await;
    let id = live.ids[0].0;
    let path = format!("/contracts/{id}/void");
    let void = async |live: &Live| live.client.post(&path, &json!({}), &agent()).await;
    void(&live).await.refused(409, 9131);
    live.respond(Side::Agent).await;
    void(&live).await.refused(409, 9141);
    live.rule(Outcome::Canceled, Court::District, "disputed").await;
    void(&live).await.refused(409, 9131);
    live.appeal(Side::Agent).await;
    void(&live).await.refused(409, 9131);
    // The loser does not answer its own appeal, and the higher court's judge never comes: the ruling stands.
    live.pass(live.client.terms.windows.response).await;
    void(&live).await.refused(409, 9136);
    let windows = live.client.terms.windows;
    live.pass(windows.reexecution.plus(windows.judge)).await;
    live.reach("resolved").await;
    let got = void(&live).await;
    assert_eq!(got.status, 409, "{}", got.text);
    live.client.post(&path, &json!({}), &key(66)).await.refused(403, 9115);
    live.paid_as("ruling_canceled", Some("district"), &[]).await;
    live.sound("resolved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_taken_once_also_after_a_kill() {
    let mut live = Live::start(false).await;
    live.post(&[""], false).await;
    live.accept().await;
    let id = live.ids[0].0;
    let chat = Data::Chat { message: "hello".into() };
    let entry = Entry::sign(&chat, live.client.head(id, &agent()).await, live.clock.now(), &agent());
    let (path, body) = (format!("/contracts/{id}/chat"), body_with(&entry, &[]));
    let server = live.client.terms.server;
    let h = request::sign(&server, "POST", &path, &body, live.clock.now(), &agent());
    let headers = Some(crate::support::Headers::from(h));
    live.client.send_with("POST", &path, body.clone(), headers.clone()).await.says("sent");
    live.die().await;
    live.client.send_with("POST", &path, body, headers).await.refused(401, 9095);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_agents_at_once_one_gets_the_contract() {
    let m = Market::start().await;
    for bounty in ["", "0.5"] {
        let id = m.open(&m.contract(bounty)).await;
        let head = m.client.head(id, &m.principal).await;
        let action = if bounty.is_empty() { "accept" } else { "bond" };
        let racers: Vec<_> = (0..50)
            .map(|n| {
                let (client, agent) = (m.client.clone(), key(150 + n));
                tokio::spawn(async move {
                    let data = match action {
                        "accept" => Data::Accept { agent: agent.id() },
                        _ => Data::Bond { agent: agent.id(), payout: Some(address("racer")) },
                    };
                    let entry = Entry::sign(&data, head, client.clock.now(), &agent);
                    client.send_entry(id, action, &entry, &agent).await
                })
            })
            .collect();
        let mut answers: BTreeMap<u16, u32> = BTreeMap::new();
        for racer in racers {
            *answers.entry(racer.await.unwrap().status).or_default() += 1;
        }
        assert_eq!(answers, BTreeMap::from([(200, 1), (409, 49)]), "{action}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_that_was_reordered_truncated_or_mended_is_found_out() {
    let m = Market::with(|config| config.nano.ledger = "none".into()).await;
    let id = m.open(&m.contract("")).await;
    m.accept(id, &m.agent).await;
    for message in ["one", "two"] {
        m.client.act(id, "chat", Data::Ask { message: message.into() }, &m.agent).await.says("sent");
    }
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    let good = m.sound(id, "fulfilled").await;
    let head = m.client.head(id, &m.agent).await.hex();
    assert_eq!(replay(&good).chain_head, head);
    let spoil = |spoil: &dyn Fn(&mut Transcript)| {
        let mut bad = good.clone();
        spoil(&mut bad);
        bad
    };
    let last = good.entries.len() - 1;
    // Without its end it holds, but its head is not the one that the server and the other party have.
    let short = replay(&spoil(&|t| {
        t.entries.pop();
        t.received_at.pop();
    }));
    assert!(short.valid && short.chain_head != head && short.state != replay(&good).state);
    for bad in [
        spoil(&|t| t.entries.swap(3, 4)),
        spoil(&|t| {
            t.entries.remove(3);
            t.received_at.remove(3);
        }),
        spoil(&|t| {
            t.entries.remove(0);
            t.received_at.remove(0);
        }),
        spoil(&|t| t.entries[last] = t.entries[last - 1].clone()),
        spoil(&|t| {
            // The loser signs another end with its own key over the right head.
            let head = Head { seq: last as u64, hash: t.entries[last - 1].hash() };
            let data = Data::Verify {
                success: false,
                explanation: String::new(),
                exit_code: None,
                output: String::new(),
                failure: None,
            };
            t.entries[last] = Entry::sign(&data, head, t.entries[last].at(), &m.agent);
        }),
    ] {
        let report = replay(&bad);
        assert!(!report.valid && report.error.is_some(), "{report:?}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bad.json"), bad.to_json().canonical()).unwrap();
        let engine = m.server().engine();
        let refused = zx1_market_server::import::folder(engine, folder.path()).await.unwrap_err();
        assert_eq!(refused.code(), 9427, "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_stalls_loses_the_contract_and_its_time_is_bounded() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    let windows = m.client.terms.windows;
    // Two attempts without a fix; every other word of it buys no time.
    for _ in 0..2 {
        m.pass(Millis::secs(299)).await;
        m.client.act(id, "chat", Data::Ask { message: "soon".into() }, &m.agent).await.says("sent");
        m.pass(Millis::secs(1)).await;
        assert_eq!(m.client.view(id, &m.agent).await["status"], "in_progress");
    }
    let got = m.fix(id).await;
    assert_eq!(got.status, 409, "{}", got.text);
    m.pass(windows.objection).await;
    m.client.until(id, &m.agent, "canceled").await;
    m.paid_as("canceled_attempts_exhausted", None, "0.5").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn contracts_of_hostile_terms_with_money_fail() {
    let m = Market::start().await;
    let good = contract(&m.client.terms, "0.5", false).json().canonical();
    for (from, to, code) in [
        ("\"bounty\":\"0.5\"", "\"bounty\":\"0.18\"", 9062),
        ("\"bounty\":\"0.5\"", "\"bounty\":\"100.1\"", 9063),
        ("\"bounty\":\"0.5\"", "\"bounty\":0.5", 9023),
        ("\"bounty\":\"0.5\"", "\"bounty\":\"-1\"", 9028),
        ("\"currency\":\"XNO\"", "\"currency\":\"BTC\"", 9064),
        ("\"fee\":\"0.17\"", "\"fee\":\"0\"", 9066),
        ("\"grace_period\":30", "\"grace_period\":3000", 9067),
        ("\"max_attempts\":2", "\"max_attempts\":0", 9069),
        ("\"investigation_rate\":0", "\"investigation_rate\":100000", 9071),
        ("\"review_window\":60", "\"review_window\":999999999", 9073),
    ] {
        assert!(good.contains(from), "{from} in {good}");
        let contract = zx1_market::Json::parse(good.replace(from, to).as_bytes()).unwrap();
        let (principal, market) = (m.principal.id(), Some(m.client.terms.market()));
        let data = Data::Post { contract, principal, payout: Some(address("p")), market };
        let entry = Entry::sign(&data, Head::GENESIS, m.clock.now(), &m.principal);
        let got = m.client.send("POST", "/contracts", body_with(&entry, &[]), Some(&m.principal)).await;
        got.refused(400, code);
    }
    assert!(m.server().engine().store().waiting().await.unwrap().is_empty(), "no account was made for any");
}
