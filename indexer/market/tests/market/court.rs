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
        // All that find a seat, of which the last is kept for others: who sits down later would have less time.
        m.until_seated((AT_ONCE - 1).min(all.len() - heard)).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_reads_what_it_has_to_do_page_by_page_the_most_urgent_first() {
    let mut m = Market::with(|config| (config.court_seats, config.court_seats_per_key) = (100, 100)).await;
    let mut all = Vec::new();
    for n in 0..5 {
        all.push(case(&mut m, 20 + n, 40 + n).await);
        m.pass(Millis::secs(1)).await;
    }
    // Before another court, and not before a judge yet.
    let waits = m.working(&m.contract("0.5")).await;
    m.fix(waits).await.ok();
    m.dispute(waits, Side::Principal).await.ok();
    let pages = async |m: &Market| {
        let (mut found, mut cursor, mut sizes) = (Vec::new(), String::new(), Vec::new());
        loop {
            let path = format!("/judge/tasks?limit=2{cursor}");
            let got = m.client.get(&path, Some(&m.judge)).await.ok();
            let tasks = got["tasks"].as_array().unwrap().clone();
            sizes.push(tasks.len());
            found.extend(tasks);
            let Some(next) = got["next"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        let ids = found.iter().map(|task| task["contract_id"].as_str().unwrap().parse().unwrap());
        (ids.collect::<Vec<ContractId>>(), sizes)
    };
    assert_eq!(pages(&m).await, (all.clone(), vec![2, 2, 1]));
    assert_eq!(tasks(&m).await, all);
    // A task names the head that the judge signs over, also after the machine's result.
    let first = async |m: &Market| m.client.get("/judge/tasks?limit=1", Some(&m.judge)).await.ok();
    let task = first(&m).await["tasks"][0].clone();
    let head = m.client.head(all[0], &m.judge).await;
    assert_eq!((&task["chain_head"], &task["seq"]), (&json!(head.hex()), &json!(head.seq)));
    assert_eq!(task["reexecuted"], false);
    let data = crate::support::nothing_to_run().sign(all[0], &head.hash, &m.judge);
    m.client
        .post(&format!("/contracts/{}/ruling", all[0]), &json!({"reexecution": data}), &m.judge)
        .await
        .ok();
    let task = first(&m).await["tasks"][0].clone();
    let head = m.client.head(all[0], &m.judge).await;
    assert_eq!((&task["chain_head"], &task["seq"]), (&json!(head.hex()), &json!(head.seq)));
    assert_eq!(task["reexecuted"], true);
    // What is ruled is not to be done any more, until the next court.
    m.client.ruling(all[0], &m.judge, Outcome::Fulfilled, Court::District).await.ok();
    assert_eq!(pages(&m).await.0, all[1..]);
    // The server's own key is a judge too. Nobody else is, and bad queries say what is wrong.
    let server = m.client.get("/judge/tasks", Some(&key(7))).await.ok();
    assert_eq!(server["tasks"].as_array().unwrap().len(), 4);
    m.client.get("/judge/tasks", Some(&m.agent)).await.refused(403, 9138);
    m.client.get("/judge/tasks", None).await.refused(403, 9401);
    for bad in ["limit=0", "limit=-1", "limit=x", "cursor=x", "cursor=1.", "cursor=.0011223344556677"] {
        m.client.get(&format!("/judge/tasks?{bad}"), Some(&m.judge)).await.refused(400, 9403);
    }
}

/// A database that an older version has made holds no list of tasks.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_from_before_they_were_kept_are_found_at_the_start() {
    let mut m = Market::start().await;
    let id = case(&mut m, 1, 2).await;
    let store = m.server().engine().store().clone();
    store.set_tasks(&id.to_string(), Vec::new()).await.unwrap();
    store.set_meta("judge_tasks", "").await.unwrap();
    assert!(tasks(&m).await.is_empty());
    m.restart().await;
    assert_eq!(tasks(&m).await, [id]);
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
