//! A judge that signs what its machine found, and then says nothing (decision E20): only an unqualified "passed" with a
//! failed control, really signed by a judge that the terms name, pays the agent. Any other silence voids.

use serde_json::json;
use zx1_market::chain::{ReexecutionData, Side};
use zx1_market::contract::{
    ChangeClass, Changed, Contract, Ending, Runs, SignedTrial, TrialResult, Verdict, Verification,
};
use zx1_market::{ContractId, EntryType, Millis, PartyKey};

use crate::support::{Got, Market, key, xno};

/// A disputed contract whose judge's time runs, and the entry of its fix.
async fn judging(m: &Market) -> (ContractId, u64) {
    judging_over(m, &m.contract("0.5")).await
}

async fn judging_over(m: &Market, contract: &Contract) -> (ContractId, u64) {
    let id = m.working(contract).await;
    m.fix(id).await.ok();
    let seq = m.client.head(id, &m.agent).await.seq - 1;
    m.dispute(id, Side::Principal).await.ok();
    m.respond(id, Side::Agent).await.ok();
    (id, seq)
}

fn trial(control: Ending, verdict: Verdict) -> TrialResult {
    let after = if verdict == Verdict::Failed { Ending::One } else { Ending::Zero };
    let classes = match verdict {
        Verdict::PassedWith => [ChangeClass::OwnCommand].into(),
        _ => Default::default(),
    };
    TrialResult {
        after: Runs { outcome: after, runs: 2 },
        changes: Changed { classes, created: 1, deleted: 0, modified: 1 },
        control: Runs { outcome: control, runs: 1 },
        verdict,
    }
}

/// What a machine found, as a judge chains it. `trial`: the part of it that the judge signs.
fn found(result: &TrialResult, trial: Option<SignedTrial>) -> ReexecutionData {
    ReexecutionData {
        ran: !matches!(result.verdict, Verdict::NotRun),
        success: Some(result.verdict == Verdict::Passed),
        exit_code: Some(0),
        output: "it works".into(),
        note: String::new(),
        trial,
        signature: None,
    }
}

async fn chain(m: &Market, id: ContractId, data: ReexecutionData, by: &PartyKey) -> Got {
    let head = m.client.head(id, &m.judge).await;
    let body = json!({"reexecution": data.sign(id, &head.hash, by)});
    m.client.post(&format!("/contracts/{id}/ruling"), &body, by).await
}

/// The judge has its minute, and says nothing.
async fn silent(m: &Market, id: ContractId, state: &str, scenario: &str) {
    m.pass(Millis(59_999)).await;
    assert_eq!(m.client.view(id, &m.judge).await["status"], "disputed");
    m.pass(Millis(1)).await;
    m.client.until(id, &m.judge, state).await;
    m.paid_as(scenario, None, "0.5").await;
    m.sound(id, state).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_unqualified_pass_with_a_failed_control_pays_to_the_raw() {
    for control in [Ending::One, Ending::Signal, Ending::Timeout] {
        let m = Market::start().await;
        let (id, seq) = judging(&m).await;
        let result = trial(control, Verdict::Passed);
        let signed = SignedTrial::sign(result.clone(), id, seq, &m.judge);
        chain(&m, id, found(&result, Some(signed)), &m.judge).await.ok();
        silent(&m, id, "fulfilled", "fulfilled").await;
    }
}

/// How a failed control ends is the contract's to say: a wrong output comes with exit code 0 too, and what is wanted may be
/// another code than 0. A principal could else ask for its repair in such words, and get it for nothing from a silent judge.
#[tokio::test(flavor = "multi_thread")]
async fn a_control_fails_by_the_conditions_of_its_contract() {
    let output = Verification::OutputMatch { pattern: "works".into() };
    let exit = |expected| Verification::ExitCode { expected };
    for (conditions, control, is_paid) in [
        (vec![output.clone()], Ending::Zero, true),
        (vec![exit(0), output], Ending::Zero, true),
        (vec![exit(3)], Ending::Zero, true),
        (vec![exit(3)], Ending::Other, true),
        (vec![exit(1)], Ending::Zero, true),
        // It ended as the contract wants it, so it has not failed, whatever the judge says.
        (vec![exit(1)], Ending::One, false),
        (vec![exit(0)], Ending::Zero, false),
    ] {
        let m = Market::start().await;
        let mut builder = Contract::builder("gcc foo.c", "undefined reference").bounty(xno("0.5"));
        for condition in conditions {
            builder = builder.verification(condition);
        }
        let (id, seq) = judging_over(&m, &builder.build(&m.client.terms).unwrap()).await;
        let result = trial(control, Verdict::Passed);
        let signed = SignedTrial::sign(result.clone(), id, seq, &m.judge);
        chain(&m, id, found(&result, Some(signed)), &m.judge).await.ok();
        let end = if is_paid { "fulfilled" } else { "voided" };
        silent(&m, id, end, end).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_qualified_flaky_or_missing_pass_voids() {
    let of = [
        (Ending::One, Verdict::PassedWith),
        (Ending::One, Verdict::Flaky),
        (Ending::One, Verdict::Failed),
        (Ending::Zero, Verdict::NotReproduced),
        (Ending::Other, Verdict::NotRun),
        // A judge that contradicts itself: the control held.
        (Ending::Zero, Verdict::Passed),
    ];
    for (control, verdict) in of {
        let m = Market::start().await;
        let (id, seq) = judging(&m).await;
        let result = trial(control, verdict);
        let signed = SignedTrial::sign(result.clone(), id, seq, &m.judge);
        chain(&m, id, found(&result, Some(signed)), &m.judge).await.ok();
        silent(&m, id, "voided", "voided").await;
    }
    // Nothing was chained at all: the first minute is that of the trial.
    let m = Market::start().await;
    let (id, _) = judging(&m).await;
    m.pass(Millis::secs(600)).await;
    silent(&m, id, "voided", "voided").await;
}

/// What somebody else says of a trial, or the judge of another one, is refused or pays nobody.
#[tokio::test(flavor = "multi_thread")]
async fn an_unsigned_or_forged_pass_pays_nobody() {
    let m = Market::start().await;
    let (id, seq) = judging(&m).await;
    let passed = trial(Ending::One, Verdict::Passed);
    let sign = |key: &PartyKey, id, seq| SignedTrial::sign(passed.clone(), id, seq, key);
    let entries = m.client.view(id, &m.judge).await["transcript"].as_array().unwrap().len();
    // The agent signs for itself, under its own name and under the judge's.
    let own = found(&passed, Some(sign(&m.agent, id, seq)));
    chain(&m, id, own.clone(), &m.agent).await.refused(403, 9138);
    chain(&m, id, own, &m.judge).await.refused(403, 9138);
    let forged = SignedTrial { judge: m.judge.id(), ..sign(&m.agent, id, seq) };
    chain(&m, id, found(&passed, Some(forged)), &m.judge).await.refused(400, 9053);
    // The judge's own signature, under another result, another fix, another contract.
    let qualified = trial(Ending::One, Verdict::PassedWith);
    let other = SignedTrial { result: passed.clone(), ..SignedTrial::sign(qualified, id, seq, &m.judge) };
    chain(&m, id, found(&passed, Some(other)), &m.judge).await.refused(400, 9053);
    chain(&m, id, found(&passed, Some(sign(&m.judge, id, seq - 1))), &m.judge).await.refused(400, 9033);
    let elsewhere = sign(&m.judge, "0011223344556677".parse().unwrap(), seq);
    chain(&m, id, found(&passed, Some(elsewhere)), &m.judge).await.refused(400, 9053);
    // The words say what the signed trial does not.
    let failed = SignedTrial::sign(trial(Ending::One, Verdict::Failed), id, seq, &m.judge);
    chain(&m, id, found(&passed, Some(failed)), &m.judge).await.refused(400, 9033);
    let now = m.client.view(id, &m.judge).await["transcript"].as_array().unwrap().len();
    assert_eq!(now, entries, "nothing of it is chained");
    // Words without a signed trial are taken, and pay nobody.
    chain(&m, id, found(&passed, None), &m.judge).await.ok();
    silent(&m, id, "voided", "voided").await;
}

/// The server's key counts as a judge's, but the terms name no such judge: a server does not decide whom silence pays.
#[tokio::test(flavor = "multi_thread")]
async fn a_pass_that_the_server_signs_pays_nobody() {
    let m = Market::start().await;
    let (id, seq) = judging(&m).await;
    let server = key(7);
    assert_eq!(server.id(), m.client.terms.server);
    let passed = trial(Ending::One, Verdict::Passed);
    let signed = SignedTrial::sign(passed.clone(), id, seq, &server);
    chain(&m, id, found(&passed, Some(signed)), &server).await.ok();
    silent(&m, id, "voided", "voided").await;
    let chained = m.sound(id, "voided").await.entries;
    assert!(chained.iter().any(|entry| entry.kind() == EntryType::Reexecution));
}
