//! Whole contracts over real HTTP, with the embedded ledger: after each the transcript verifies offline and
//! the balances are the money table's, to the raw.

use crate::support;
use crate::support::{Market, START, address, key, xno};
use serde_json::json;
use zx1_market::chain::{Data, Side};
use zx1_market::money::{Court, Outcome};
use zx1_market::{Millis, State};
use zx1_market_server::clock::Clock;

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_supervised_contract_is_fulfilled_ok() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let listed = m.client.get("/contracts?status=open", None).await.ok();
    assert_eq!(listed["contracts"][0]["id"], id.to_string());
    assert_eq!(listed["contracts"][0]["contract"]["task"]["command"], "gcc foo.c");
    m.bond(id, &m.agent, "agent").await;
    let data = Data::Investigate { command: "cat foo.c".into() };
    let got = m.client.act(id, "investigate", data, &m.agent).await.says("pending_result");
    assert_eq!(got["command"], "cat foo.c");
    let data = Data::Result {
        command: "cat foo.c".into(),
        output: "int main".into(),
        exit_code: Some(0),
        refused: false,
    };
    m.client.act(id, "result", data, &m.principal).await.says("ok");
    m.accept(id, &m.agent).await;
    m.client.act(id, "chat", Data::Ask { message: "which bar?".into() }, &m.agent).await.says("sent");
    m.client.act(id, "chat", Data::Answer { message: "that one".into() }, &m.principal).await.says("sent");
    m.fix(id).await.says("pending_verification");
    m.verify(id, false).await.says("retry");
    m.fix(id).await.says("pending_verification");
    m.verify(id, true).await.says("fulfilled");
    m.paid_as("fulfilled", None, "0.5").await;
    m.sound(id, "fulfilled").await;
    let escrow = m.client.get(&format!("/contracts/{id}/escrow"), Some(&m.agent)).await.ok();
    assert_eq!(escrow["inclusive_bond"], "0.67");
    assert_eq!(escrow["accounts"].as_array().unwrap().len(), 2);
    let stats = m.client.get("/stats", None).await.ok();
    assert_eq!((&stats["fulfilled"], &stats["total"]), (&json!(1), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_free_contract_needs_no_money_ok() {
    let m = Market::with(|config| config.nano.ledger = "none".into()).await;
    let id = m.open(&m.contract("")).await;
    m.accept(id, &m.agent).await;
    let data = Data::DisputeFiled { argument: "no".into(), side: Side::Agent };
    m.client.act(id, "dispute", data, &m.agent).await.refused(501, 9129);
    m.fix(id).await.says("pending_verification");
    m.verify(id, true).await.says("fulfilled");
    m.sound(id, "fulfilled").await;
    let paid = m.client.post_entry(&m.contract("0.5"), &m.principal, Some(support::address("principal")));
    let body = support::body_with(&paid, &[]);
    m.client.send("POST", "/contracts", body, Some(&m.principal)).await.refused(501, 9409);
}

#[tokio::test(flavor = "multi_thread")]
async fn exhausted_attempts_end_after_the_objection_window() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    for word in ["retry", "pending"] {
        m.fix(id).await.ok();
        m.verify(id, false).await.says(word);
    }
    let windows = m.client.terms.windows;
    m.pass(windows.objection.minus(Millis(1))).await;
    assert_eq!(m.client.view(id, &m.agent).await["status"], "in_progress");
    m.pass(Millis(1)).await;
    m.client.until(id, &m.agent, "canceled").await;
    m.paid_as("canceled_attempts_exhausted", None, "0.5").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_contract_reopens_for_another_agent_ok() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let other = key(3);
    m.bond(id, &other, "other").await;
    m.client.act(id, "decline", Data::Decline { reason: "too hard".into() }, &other).await.says("open");
    support::eventually("the bond is back", || async { (m.balance("other") == xno("0.67")).then_some(()) })
        .await;
    let data = Data::Bond { agent: other.id(), payout: Some(address("other")) };
    m.client.act(id, "bond", data, &other).await.refused(403, 9119);
    m.bond(id, &m.agent, "agent").await;
    m.accept(id, &m.agent).await;
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    m.paid_as("fulfilled", None, "0.5").await;
    m.sound(id, "fulfilled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_takes_it_and_everything_goes_back() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    m.pass(m.client.terms.windows.open).await;
    m.client.until(id, &m.principal, "canceled").await;
    m.paid("0.67", "0", "0", "0").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_contract_can_be_taken_back() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    m.client.act(id, "", Data::Cancel { reason: "solved".into() }, &m.agent).await.refused(403, 9113);
    m.client.act(id, "", Data::Cancel { reason: "solved".into() }, &m.principal).await.says("canceled");
    m.paid("0.67", "0", "0", "0").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_in_the_grace_period_costs_nothing() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    m.client
        .act(id, "back_out", Data::BackOut { reason: "sorry".into() }, &m.principal)
        .await
        .says("canceled");
    m.paid_as("grace_cancel", None, "0.5").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_principal_that_leaves_late_pays() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    m.pass(m.client.terms.windows.grace).await;
    m.client
        .act(id, "back_out", Data::BackOut { reason: "sorry".into() }, &m.principal)
        .await
        .says("canceled");
    m.paid_as("late_cancel_by_principal", None, "0.5").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_principal_that_leaves_after_reading_a_fix_pays_also_within_the_grace_period() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    m.fix(id).await.ok();
    m.client
        .act(id, "back_out", Data::BackOut { reason: "thanks".into() }, &m.principal)
        .await
        .says("in_progress");
    // The agent has its time to dispute.
    m.pass(m.client.terms.windows.objection).await;
    m.client.until(id, &m.principal, "canceled").await;
    m.paid_as("late_cancel_after_fix", None, "0.5").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_leaves_late_pays_and_the_contract_reopens() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    m.pass(m.client.terms.windows.grace).await;
    m.client.act(id, "back_out", Data::BackOut { reason: "sorry".into() }, &m.agent).await.says("open");
    m.client.until(id, &m.principal, "open").await;
    m.pass(m.client.terms.windows.open).await;
    m.client.until(id, &m.principal, "canceled").await;
    m.paid_as("late_cancel_by_agent", None, "0.5").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halt_can_be_taken_back_and_a_second_one_goes_to_the_judge() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    m.fix(id).await.ok();
    let halt = || Data::Halt { reason: "rm -rf".into() };
    m.client.act(id, "halt", halt(), &m.agent).await.refused(403, 9113);
    let got = m.client.act(id, "halt", halt(), &m.principal).await.says("halted");
    assert!(got["ruling"].is_null() && got["resume_until"].is_number(), "{got}");
    m.client
        .act(id, "resume", Data::Resume { reason: "my mistake".into() }, &m.principal)
        .await
        .says("in_progress");
    m.client.act(id, "halt", halt(), &m.principal).await.says("halted");
    m.pass(m.client.terms.windows.halt).await;
    // The agent, whose fix was read, has the word first.
    let tasks = m.client.get("/judge/tasks", Some(&m.judge)).await.ok();
    assert_eq!(tasks["tasks"], serde_json::json!([]));
    m.respond(id, Side::Agent).await.ok();
    let tasks = m.client.get("/judge/tasks", Some(&m.judge)).await.ok();
    assert_eq!(tasks["tasks"][0]["contract_id"], id.to_string(), "{tasks}");
    m.client.rule(id, &m.judge, Outcome::EvilAgent, Court::District).await.ok();
    let waive = Data::Waive { side: Side::Agent };
    m.client.act(id, "waive", waive, &m.agent).await.says("resolved");
    m.paid_as("ruling_evil_agent", Some("district"), "0.5").await;
    m.sound(id, "resolved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_goes_through_all_courts_ok() {
    let m = Market::start().await;
    let id = m.working(&m.contract("1")).await;
    m.fix(id).await.ok();
    m.verify(id, false).await.says("retry");
    let got = m.dispute(id, Side::Agent).await.says("awaiting_response");
    assert_eq!(
        (&got["court"], &got["fee"], &got["response_window"]),
        (&json!("district"), &json!("0.02"), &json!(30))
    );
    m.respond(id, Side::Principal).await.says("judging");
    m.client.rule(id, &m.judge, Outcome::Canceled, Court::District).await.ok();
    let ruling = m.client.get(&format!("/contracts/{id}/ruling"), Some(&m.agent)).await.ok();
    assert_eq!((&ruling["outcome"], &ruling["can_appeal"]), (&json!("canceled"), &json!(true)));
    assert_eq!((&ruling["next_court"], &ruling["next_fee"]), (&json!("appeals"), &json!("0.05")));
    let appeal = |side| Data::Appeal { argument: "look again".into(), side };
    m.client.act(id, "appeal", appeal(Side::Principal), &m.principal).await.refused(403, 9133);
    m.client.act(id, "appeal", appeal(Side::Agent), &m.agent).await.says("awaiting_response");
    // In absentia: nobody answers.
    m.pass(m.client.terms.windows.response).await;
    m.client.rule(id, &m.judge, Outcome::Fulfilled, Court::Appeals).await.ok();
    m.client.act(id, "appeal", appeal(Side::Principal), &m.principal).await.says("awaiting_response");
    m.respond(id, Side::Agent).await.says("judging");
    let got = m.client.rule(id, &m.judge, Outcome::EvilPrincipal, Court::Supreme).await.ok();
    assert_eq!((&got["final"], &got["can_appeal"]), (&json!(true), &json!(false)));
    m.client.until(id, &m.agent, "resolved").await;
    m.paid_as("ruling_evil_principal", Some("supreme"), "1").await;
    m.sound(id, "resolved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_ruling_pays_its_row_after_the_appeal_window() {
    for (outcome, n) in Outcome::ALL.into_iter().zip(0..) {
        let m = Market::start().await;
        let id = m.working(&m.contract("0.5")).await;
        m.fix(id).await.ok();
        m.verify(id, false).await.ok();
        let filer = if n % 2 == 0 { Side::Principal } else { Side::Agent };
        m.dispute(id, filer).await.ok();
        m.pass(m.client.terms.windows.response).await;
        m.client.rule(id, &m.judge, outcome, Court::District).await.ok();
        assert_eq!(m.client.view(id, &m.agent).await["status"], "disputed");
        m.pass(m.client.terms.windows.appeal).await;
        m.client.until(id, &m.agent, "resolved").await;
        let called = match outcome {
            Outcome::Impossible => format!("district/{filer}"),
            _ => "district".to_owned(),
        };
        m.paid_as(&format!("ruling_{outcome}"), Some(&called), "0.5").await;
        m.sound(id, "resolved").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_that_is_late_voids_the_contract() {
    let m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    m.fix(id).await.ok();
    m.dispute(id, Side::Principal).await.ok();
    m.respond(id, Side::Agent).await.ok();
    let void = format!("/contracts/{id}/void");
    m.client.post(&void, &json!({}), &m.principal).await.refused(409, 9141);
    let windows = m.client.terms.windows;
    m.pass(windows.reexecution.plus(windows.judge)).await;
    m.client.post(&void, &json!({}), &m.principal).await.says("voided");
    m.client.until(id, &m.agent, "voided").await;
    m.paid_as("voided", None, "0.5").await;
    m.sound(id, "voided").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_nobody_makes_fulfills() {
    let m = Market::start().await;
    let contract = m.contract_with("0.5", |execution| execution.review_window = 60, true);
    let id = m.working(&contract).await;
    let got = m.fix(id).await.says("review");
    assert!(got["review_expires_at"].is_number());
    let status = m.client.get(&format!("/contracts/{id}/review_status"), Some(&m.agent)).await.ok();
    assert_eq!((&status["status"], &status["remaining"]), (&json!("review"), &json!(60.0)));
    m.pass(Millis::secs(60)).await;
    m.client.until(id, &m.agent, "fulfilled").await;
    m.paid_as("fulfilled", None, "0.5").await;
    m.sound(id, "fulfilled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_review_waits_for_an_objection() {
    let m = Market::start().await;
    let id = m.working(&m.contract_with("0.5", |_| {}, true)).await;
    m.fix(id).await.says("review");
    let data = Data::ReviewReject { reason: "no".into(), failure: None };
    let got = m.client.act(id, "review", data, &m.principal).await.ok();
    assert!(got["closing_at"].is_number(), "{got}");
    m.client.act(id, "waive", Data::Waive { side: Side::Agent }, &m.agent).await.says("canceled");
    m.paid_as("canceled_attempts_exhausted", None, "0.5").await;
    m.sound(id, "canceled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unpaid_contract_expires_and_late_money_goes_back() {
    let m = Market::start().await;
    let entry = m.client.post_entry(&m.contract("0.5"), &m.principal, Some(support::address("principal")));
    let body = support::body_with(&entry, &[]);
    let got = m.client.send("POST", "/contracts", body, Some(&m.principal)).await.says("unfunded");
    let id = entry.contract_id().unwrap();
    assert_eq!(m.client.get("/contracts", None).await.ok()["contracts"], json!([]));
    m.client.get(&format!("/contracts/{id}"), Some(&m.agent)).await.refused(404, 9400);
    m.pass(m.client.terms.windows.unfunded).await;
    m.client.until(id, &m.principal, "canceled").await;
    // Late: what a stranger's wallet sends goes back to it.
    let (payer, devnet) = (nano_escrow::PrivateKey::from_bytes([77; 32]), m.devnet());
    let _ = payer;
    let hash = devnet
        .faucet(got["deposit"]["address"].as_str().unwrap().parse().unwrap(), xno("0.67"))
        .await
        .unwrap();
    let refund = support::eventually("the late deposit is refunded", || async {
        let escrow = m.client.get(&format!("/contracts/{id}/escrow"), Some(&m.principal)).await.ok();
        escrow["payments"]
            .as_array()
            .unwrap()
            .iter()
            .find(|p| p["kind"] == "refund" && p["confirmed"] == true)
            .cloned()
    })
    .await;
    assert_eq!(refund["amount"], "0.67", "{hash}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bond_that_is_not_paid_lapses_and_its_late_money_goes_back() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let data = Data::Bond { agent: m.agent.id(), payout: Some(address("agent")) };
    let got = m.client.act(id, "bond", data, &m.agent).await.says("reserved");
    assert_eq!(
        got["bond"],
        json!({"status": "awaiting_deposit", "inclusive_bond": "0.67", "judge_fee": "0.17"})
    );
    let other = key(3);
    let data = Data::Bond { agent: other.id(), payout: Some(address("other")) };
    m.client.act(id, "bond", data, &other).await.refused(409, 9120);
    m.pass(m.client.terms.windows.reservation).await;
    support::eventually("the reservation has lapsed", || async {
        let rows = m.server().engine().store().deposits(&id.to_string()).await.unwrap();
        rows.iter().any(|row| row.status == "lapsed").then_some(())
    })
    .await;
    m.pay(&got["deposit"]).await;
    m.bond(id, &other, "other").await;
    support::eventually("the late bond is refunded", || async {
        let escrow = m.client.get(&format!("/contracts/{id}/escrow"), Some(&m.principal)).await.ok();
        escrow["payments"].as_array().unwrap().iter().any(|p| p["kind"] == "refund").then_some(())
    })
    .await;
    assert_eq!(m.client.view(id, &other).await["agent_pubkey"], other.id().to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn with_auto_fund_nobody_has_to_pay() {
    let m = Market::with(|config| config.nano.auto_fund = true).await;
    let entry = m.client.post_entry(&m.contract("0.5"), &m.principal, Some(address("principal")));
    let body = support::body_with(&entry, &[]);
    m.client.send("POST", "/contracts", body, Some(&m.principal)).await.ok();
    let id = entry.contract_id().unwrap();
    m.client.until(id, &m.principal, "open").await;
    let data = Data::Bond { agent: m.agent.id(), payout: Some(address("agent")) };
    m.client.act(id, "bond", data, &m.agent).await.ok();
    m.client.until(id, &m.agent, "investigating").await;
    m.accept(id, &m.agent).await;
    m.fix(id).await.ok();
    m.verify(id, true).await.says("fulfilled");
    m.paid_as("fulfilled", None, "0.5").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_goes_on_where_it_was() {
    let mut m = Market::start().await;
    let id = m.working(&m.contract("0.5")).await;
    m.restart().await;
    assert_eq!(m.client.view(id, &m.agent).await["status"], State::InProgress.as_str());
    // A window that ends while the server is down takes effect when it is back.
    m.clock.advance(m.client.terms.windows.grace);
    m.restart().await;
    m.client
        .act(id, "back_out", Data::BackOut { reason: String::new() }, &m.principal)
        .await
        .says("canceled");
    m.restart().await;
    m.paid_as("late_cancel_by_principal", None, "0.5").await;
    m.sound(id, "canceled").await;
    assert!(m.clock_now() > START);
}

impl Market {
    fn clock_now(&self) -> Millis {
        use zx1_market_server::clock::Clock;
        self.clock.now()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_is_read_page_by_page_to_its_end() {
    let m = Market::start().await;
    let mut posted = std::collections::BTreeSet::new();
    for number in 0..5 {
        let contract = zx1_market::contract::Contract::builder(format!("gcc {number}.c"), "no bar");
        posted.insert(m.open(&contract.build(&m.client.terms).unwrap()).await.to_string());
    }
    let (mut seen, mut pages, mut cursor) = (std::collections::BTreeSet::new(), 0, String::new());
    loop {
        let page = m.client.get(&format!("/contracts?limit=2&cursor={cursor}"), None).await.ok();
        pages += 1;
        for it in page["contracts"].as_array().unwrap() {
            assert!(seen.insert(it["id"].as_str().unwrap().to_owned()), "twice: {it}");
        }
        match page["next"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!((seen, pages), (posted, 3));
    // A list that fits a page has the form that it always had.
    let whole = m.client.get("/contracts", None).await.ok();
    assert_eq!(whole.as_object().unwrap().keys().collect::<Vec<_>>(), ["contracts"]);
    let id = whole["contracts"][0]["id"].as_str().unwrap().parse().unwrap();
    m.pass(Millis::secs(10)).await;
    m.client.act(id, "cancel", Data::Cancel { reason: String::new() }, &m.principal).await.ok();
    let since = m.clock.now().0;
    let changed = m.client.get(&format!("/contracts?updated_since={since}"), None).await.ok();
    assert_eq!(changed["contracts"].as_array().unwrap().len(), 1, "{changed}");
    for wrong in ["cursor=x", "cursor=1.zz", "updated_since=x", "cursor=1%27.0123456789abcdef"] {
        m.client.get(&format!("/contracts?{wrong}"), None).await.refused(400, 9403);
    }
}
