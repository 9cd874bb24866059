//! The seats before the judges: whoever brings many cases keeps nobody else from being heard, and who waits loses
//! nothing (decision E5).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use zx1_market::chain::{Data, Side};
use zx1_market::money::{Court, Outcome};
use zx1_market::{ContractId, Millis};
use zx1_market_server::clock::Clock as _;

use crate::support::{Market, key};

/// What a judge's machine can do at the same time.
const AT_ONCE: usize = 4;
/// How long one trial takes: the court's whole time, because the parties chose a command that sleeps.
const TRIAL: Millis = Millis::secs(600);

/// A case of these two that waits for its judge.
async fn case(m: &mut Market, principal: u8, agent: u8) -> ContractId {
    (m.principal, m.agent) = (key(principal), key(agent));
    // Two posts of one moment are one contract.
    m.pass(Millis(1)).await;
    let id = m.working(&m.contract("0.5")).await;
    m.fix(id).await.ok();
    m.dispute(id, Side::Principal).await.ok();
    m.respond(id, Side::Agent).await.ok();
    id
}

async fn tasks(m: &Market) -> Vec<ContractId> {
    let got = m.client.get("/judge/tasks", Some(&m.judge)).await.ok();
    let tasks = got["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["contract_id"].as_str().unwrap().parse().unwrap()).collect()
}

async fn state(m: &Market, id: ContractId) -> String {
    m.client.view(id, &m.judge).await["status"].as_str().unwrap().to_owned()
}

/// A judge works: what it can do at once, in the server's order, each for as long as a trial may take.
async fn judge(m: &Market) -> Vec<ContractId> {
    let mut sits = tasks(m).await;
    sits.truncate(AT_ONCE);
    m.pass(TRIAL).await;
    for id in &sits {
        m.client.rule(*id, &m.judge, Outcome::Impossible, Court::District).await.ok();
    }
    sits
}

fn waits(view: &Value) -> Vec<Value> {
    let entries = view["transcript"].as_array().unwrap().iter();
    let resumed = entries.filter(|entry| entry["type"] == "resumed").map(|entry| &entry["data"]);
    resumed.filter(|data| data["cause"] == "court").cloned().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_seats_one_party_s_cases_void_those_of_others() {
    let mut m =
        Market::with(|config| (config.court_seats, config.court_seats_per_key) = (1_000, 1_000)).await;
    for _ in 0..27 {
        case(&mut m, 1, 2).await;
    }
    let victim = case(&mut m, 11, 12).await;
    assert_eq!(tasks(&m).await.len(), 28);
    judge(&m).await;
    m.pass(Millis::secs(60)).await;
    m.client.until(victim, &m.judge, "voided").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cases_of_one_party_keep_nobody_else_from_being_heard() {
    let mut m = Market::start().await;
    let mut all = BTreeSet::new();
    for _ in 0..27 {
        all.insert(case(&mut m, 1, 2).await);
    }
    let victim = case(&mut m, 11, 12).await;
    let seated = tasks(&m).await;
    assert!(seated.len() == AT_ONCE && seated.contains(&victim), "{victim} sits down at once: {seated:?}");
    assert!(judge(&m).await.contains(&victim), "and is heard within one window of a judge");
    assert!(waits(&m.client.view(victim, &m.judge).await).is_empty());
    all.insert(victim);
    let mut heard = 4;
    while heard < all.len() {
        m.until_seated(1).await;
        // Who waits and who sits is known after a restart too.
        if heard == 4 {
            m.restart().await;
        }
        heard += judge(&m).await.len();
    }
    m.pass(Millis::secs(120)).await;
    let mut waited = 0;
    for id in &all {
        m.client.until(*id, &m.judge, "resolved").await;
        m.sound(*id, "resolved").await;
        waited += waits(&m.client.view(*id, &m.judge).await).len();
    }
    assert_eq!(waited, 24, "all but the first four");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_behind_others_is_not_voided() {
    let mut m = Market::start().await;
    let mut all = Vec::new();
    for n in 0..6 {
        all.push(case(&mut m, 20 + n, 40 + n).await);
    }
    let victim = case(&mut m, 11, 12).await;
    let sits = tasks(&m).await;
    assert_eq!(sits.len(), AT_ONCE);
    assert!(!sits.contains(&victim));
    let status = m.client.get(&format!("/contracts/{victim}/dispute_status"), Some(&m.judge)).await.ok();
    assert!(status["status"] == "judging" && status["response_deadline"].is_null(), "{status}");
    m.client.post(&format!("/contracts/{victim}/void"), &json!({}), &key(12)).await.refused(409, 9141);
    // No judge comes, for as long as a seated case has.
    m.pass(Millis::secs(659)).await;
    assert_eq!(tasks(&m).await.len(), AT_ONCE);
    m.pass(Millis::secs(1)).await;
    for id in &sits {
        m.client.until(*id, &m.judge, "voided").await;
    }
    m.until_seated(3).await;
    assert!(judge(&m).await.contains(&victim));
    m.pass(Millis::secs(120)).await;
    m.client.until(victim, &m.judge, "resolved").await;
    let view = m.client.view(victim, &m.judge).await;
    assert_eq!(waits(&view).iter().map(|wait| wait["gap"].as_f64().unwrap()).collect::<Vec<_>>(), [660.0]);
    m.sound(victim, "resolved").await;
    for id in all {
        assert_ne!(state(&m, id).await, "disputed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absence_takes_no_time_from_a_judge_whose_seat_was_waited_for() {
    let mut m = Market::with_absences(|_| {}).await;
    let mut all = Vec::new();
    for n in 0..5 {
        all.push(case(&mut m, 20 + n, 40 + n).await);
    }
    let last = all[4];
    assert_eq!(tasks(&m).await, all[..4]);
    // Longer than a seated case has.
    m.server.take().unwrap().stop().await.unwrap();
    m.clock.advance(Millis::secs(1_000));
    m.restart_stopped().await;
    assert_eq!(tasks(&m).await, all[..4], "nobody has lost a seat, and nobody is voided");
    m.client.rule(all[0], &m.judge, Outcome::Fulfilled, Court::District).await.ok();
    m.until_seated(4).await;
    let got = m.client.get("/judge/tasks", Some(&m.judge)).await.ok();
    let of = |id: &ContractId| {
        let mut tasks = got["tasks"].as_array().unwrap().iter();
        tasks.find(|task| task["contract_id"] == id.to_string()).unwrap()["deadline"].as_f64().unwrap()
    };
    assert_eq!(of(&last), m.clock.now().plus(Millis::secs(660)).as_secs_f64(), "{got}");
    m.client.rule(last, &m.judge, Outcome::Fulfilled, Court::District).await.ok();
    m.client.act(last, "waive", Data::Waive { side: Side::Principal }, &key(24)).await.says("resolved");
    m.sound(last, "resolved").await;
}

impl Market {
    /// Waits until so many cases at least sit before the judges.
    async fn until_seated(&self, least: usize) {
        crate::support::eventually("cases are seated", || async {
            (tasks(self).await.len() >= least).then_some(())
        })
        .await;
    }
}
