//! Fixes that failed outside of the sandbox are counted for both sides of the contract, once, and for nobody else.

use serde_json::{Value, json};
use zx1_market::chain::Data;
use zx1_market::contract::{Ending, FailedStep, Failure, FailureClass};
use zx1_market::{ContractId, Millis, PartyKey};
use zx1_market_server::Config;

use crate::support::live::{self, Live};
use crate::support::process::Process;
use crate::support::{Client, Got, Market, address, key};

fn failed(step: FailedStep) -> Data {
    let class = match step {
        FailedStep::Outside => FailureClass::OutsideFailed,
        _ => FailureClass::WrongExit,
    };
    Data::Verify {
        success: false,
        explanation: String::new(),
        exit_code: None,
        output: String::new(),
        failure: Some(Failure::new(step, Ending::One, class)),
    }
}

async fn reject(m: &Market, id: ContractId, step: FailedStep) -> Got {
    m.client.act(id, "verify", failed(step), &m.principal).await
}

/// What is said of a party: fixes and those that failed outside, as agent and as principal.
async fn said(client: &Client, kind: &str, party: &PartyKey) -> [u64; 4] {
    let got = client.get(&format!("/reputation/{}", party.id()), None).await.ok();
    let number = |side: &str, name: &str| got[kind][side][name].as_u64().unwrap();
    [
        number("agent", "fixes"),
        number("agent", "failed_outside"),
        number("principal", "fixes"),
        number("principal", "failed_outside"),
    ]
}

async fn counts_over(change: impl FnOnce(&mut Config)) {
    let mut m = Market::with(change).await;
    let stranger = key(5);
    let id = m.working(&m.contract("0.5")).await;
    m.fix(id).await.ok();
    assert_eq!(said(&m.client, "paid", &m.agent).await, [1, 0, 0, 0]);
    assert_eq!(said(&m.client, "paid", &m.principal).await, [0, 0, 1, 0]);
    // Nobody else says it: not a stranger, and not the agent of itself.
    for liar in [&stranger, &m.agent] {
        let got = m.client.act(id, "verify", failed(FailedStep::Outside), liar).await;
        assert_eq!(got.status, 403, "{}", got.body);
    }
    assert_eq!(said(&m.client, "paid", &m.agent).await, [1, 0, 0, 0]);
    reject(&m, id, FailedStep::Outside).await.ok();
    assert_eq!(said(&m.client, "paid", &m.agent).await, [1, 1, 0, 0]);
    assert_eq!(said(&m.client, "paid", &m.principal).await, [0, 0, 1, 1]);
    // Of one fix it is said once, and a restart says nothing again.
    reject(&m, id, FailedStep::Outside).await.refused(409, 9127);
    m.restart().await;
    // Who fails in the sandbox fails without being counted.
    m.fix(id).await.ok();
    reject(&m, id, FailedStep::Check).await.ok();
    assert_eq!(said(&m.client, "paid", &m.agent).await, [2, 1, 0, 0]);
    assert_eq!(said(&m.client, "paid", &m.principal).await, [0, 0, 2, 1]);
    assert_eq!(said(&m.client, "paid", &stranger).await, [0; 4]);
    assert_eq!(said(&m.client, "free", &m.agent).await, [0; 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_that_fails_outside_moves_both_counts_by_exactly_one() {
    counts_over(|_| {}).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn a_fix_that_fails_outside_moves_both_counts_by_exactly_one_over_postgres() {
    let cluster = zx1_server::testing::Cluster::start();
    let url = cluster.database("market");
    counts_over(|config| config.db = url).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fix_counts_for_the_agent_that_proposed_it_and_not_for_the_one_before() {
    let m = Market::start().await;
    let id = m.open(&m.contract("0.5")).await;
    let first = key(3);
    m.bond(id, &first, "first").await;
    m.accept(id, &first).await;
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    m.client.act(id, "fix", fix, &first).await.ok();
    reject(&m, id, FailedStep::Outside).await.ok();
    m.client.act(id, "back_out", Data::BackOut { reason: String::new() }, &first).await.ok();
    m.client.until(id, &m.principal, "open").await;
    m.bond(id, &m.agent, "agent").await;
    m.accept(id, &m.agent).await;
    m.fix(id).await.ok();
    // A fix that is paid does not count, whatever else is said of it.
    let Data::Verify { failure, .. } = failed(FailedStep::Outside) else { unreachable!() };
    let paid = Data::Verify {
        success: true,
        explanation: String::new(),
        exit_code: None,
        output: String::new(),
        failure,
    };
    m.client.act(id, "verify", paid, &m.principal).await.says("fulfilled");
    assert_eq!(said(&m.client, "paid", &first).await, [1, 1, 0, 0]);
    assert_eq!(said(&m.client, "paid", &m.agent).await, [1, 0, 0, 0]);
    assert_eq!(said(&m.client, "paid", &m.principal).await, [0, 0, 2, 1]);
}

/// In a free contract a reject costs nothing, so whoever wants to blacken an agent moves another count.
#[tokio::test(flavor = "multi_thread")]
async fn what_costs_nothing_is_counted_apart() {
    let m = Market::start().await;
    let id = m.open(&m.contract("")).await;
    m.accept(id, &m.agent).await;
    m.fix(id).await.ok();
    reject(&m, id, FailedStep::Outside).await.ok();
    assert_eq!(said(&m.client, "free", &m.agent).await, [1, 1, 0, 0]);
    assert_eq!(said(&m.client, "free", &m.principal).await, [0, 0, 1, 1]);
    for party in [&m.agent, &m.principal] {
        assert_eq!(said(&m.client, "paid", party).await, [0; 4]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_rejects_because_of_the_real_machine_counts_too() {
    let m = Market::start().await;
    let autonomous = m.contract_with("0.5", |execution| execution.review_window = 60, true);
    let id = m.working(&autonomous).await;
    m.fix(id).await.says("review");
    let failure = Failure::new(FailedStep::Outside, Ending::One, FailureClass::OutsideFailed);
    let data = Data::ReviewReject { reason: "not here".into(), failure: Some(failure.clone()) };
    m.client.act(id, "review", data, &m.principal).await.ok();
    assert_eq!(said(&m.client, "paid", &m.agent).await, [1, 1, 0, 0]);
    assert_eq!(said(&m.client, "paid", &m.principal).await, [0, 0, 1, 1]);
    m.pass(Millis::secs(120)).await;
    m.client.until(id, &m.principal, "canceled").await;
    let transcript = m.sound(id, "canceled").await;
    let told = transcript.entries.iter().find_map(|entry| match entry.read().unwrap().0 {
        Data::ReviewReject { failure, .. } => failure,
        _ => None,
    });
    assert_eq!(told, Some(failure));
}

/// The database is lost: the transcripts give the same counts, however often they are imported.
#[tokio::test(flavor = "multi_thread")]
async fn counts_are_rebuilt_from_transcripts_and_not_doubled() {
    let mut live = Live::start(false).await;
    let saved = tempfile::tempdir().unwrap();
    live.post(&["0.5", "1", ""], false).await;
    for (id, bounty) in live.ids.clone() {
        let agent = live::agent();
        if !bounty.is_empty() {
            let bond = Data::Bond { agent: agent.id(), payout: Some(address("agent")) };
            live.client.act(id, "bond", bond, &agent).await.ok();
            live.client.until(id, &agent, "investigating").await;
        }
        live.client.act(id, "accept", Data::Accept { agent: agent.id() }, &agent).await.ok();
        let fix = || Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
        live.client.act(id, "fix", fix(), &agent).await.ok();
        live.client.act(id, "verify", failed(FailedStep::Outside), &live::principal()).await.ok();
        live.client.act(id, "fix", fix(), &agent).await.ok();
        let got = live.client.get(&format!("/contracts/{id}"), Some(&agent)).await;
        std::fs::write(saved.path().join(format!("{id}.json")), got.text).unwrap();
    }
    let all = async |live: &Live| {
        let mut all = Vec::new();
        for kind in ["paid", "free"] {
            for party in [live::agent(), live::principal()] {
                all.push(said(&live.client, kind, &party).await);
            }
        }
        all
    };
    let before = all(&live).await;
    assert_eq!(before, [[4, 2, 0, 0], [0, 0, 4, 2], [2, 1, 0, 0], [0, 0, 2, 1]]);
    live.process.kill();
    live.database.lose();
    let import = saved.path().to_str().unwrap().to_owned();
    for _ in 0..2 {
        live.process.kill();
        let options = ["--auto-fund", "--import", &import];
        live.process =
            Process::start(live.folder.path(), zx1_market_server::clock::Clock::now(&live.clock), &options);
        live.client.url = live.process.url();
        assert_eq!(all(&live).await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_none_has_no_counts() {
    let m = Market::start().await;
    for bad in ["nobody", "fix_", &"0".repeat(63)] {
        let got = m.client.get(&format!("/reputation/{bad}"), None).await;
        assert_eq!((got.status, got.body["paid"].clone()), (400, Value::Null), "{}", got.body);
    }
    let zero =
        json!({"agent": {"fixes": 0, "failed_outside": 0}, "principal": {"fixes": 0, "failed_outside": 0}});
    let got = m.client.get(&format!("/reputation/{}", key(77).id().hex()), None).await.ok();
    assert_eq!((&got["paid"], &got["free"]), (&zero, &zero));
}
