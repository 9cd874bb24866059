//! Transcripts that were changed, and what a report says.

use zx1_market::case::{Role, Transcript, rebuild, replay};
use zx1_market::chain::{Data, Side};
use zx1_market::machine::State;
use zx1_market::money::{Outcome, Settlement};
use zx1_market::*;

use crate::support::*;

fn life() -> World {
    let mut world = judging();
    world.rule(Outcome::EvilBoth).unwrap();
    world.secs(120);
    world
}

#[test]
fn a_report_says_who_signed_what_and_what_was_to_be_paid() {
    let world = life();
    let report = replay(&world.transcript());
    assert!(report.valid && report.exact_times);
    assert_eq!(report.contract_id, Some(world.case.id()));
    assert_eq!((report.principal, report.agent), (Some(principal().id()), Some(agent().id())));
    let states: Vec<State> = report.states.iter().map(|(_, state)| *state).collect();
    use State::*;
    assert_eq!(states, [Unfunded, Open, Investigating, InProgress, Disputed, Resolved]);
    let settlements: Vec<Settlement> = report.settlements.iter().map(|s| s.settlement).collect();
    assert_eq!(settlements, [Settlement::Ruling(Outcome::EvilBoth, money::Court::District)]);
    let signers: Vec<(String, Role, bool)> =
        report.signers.iter().map(|s| (s.entry.clone(), s.role, s.judge == Some(judge().id()))).collect();
    let expected = [
        ("post", Role::Principal, false),
        ("opened", Role::Server, false),
        ("bond", Role::Agent, false),
        ("bonded", Role::Server, false),
        ("accept", Role::Agent, false),
        ("fix", Role::Agent, false),
        ("dispute_filed", Role::Principal, false),
        ("dispute_response", Role::Agent, false),
        ("reexecution", Role::Server, true),
        ("ruling", Role::Server, true),
        ("closed", Role::Server, false),
    ];
    assert_eq!(signers, expected.map(|(entry, role, judge)| (entry.to_owned(), role, judge)));
    serde_json::to_string(&report).unwrap();
}

#[test]
fn a_rebuilt_case_is_the_case_and_goes_on() {
    for world in [working(), verifying(), reviewing(), judging(), life()] {
        let case = rebuild(&world.transcript()).unwrap();
        assert_eq!(case, world.case);
    }
    let mut world = verifying();
    world.case = rebuild(&world.transcript()).unwrap();
    world.verify(true).unwrap();
    world.check();
}

#[test]
fn changed_transcripts_are_refused() {
    let good = life().transcript();
    let fails = |change: &dyn Fn(&mut Transcript)| {
        let mut transcript = good.clone();
        change(&mut transcript);
        let report = replay(&transcript);
        assert!(!report.valid && report.error.is_some());
        report.code.unwrap()
    };
    assert_eq!(fails(&|t| t.entries.swap(5, 6)), 9051);
    assert_eq!(fails(&|t| drop(t.entries.remove(4))), 9051);
    assert_eq!(fails(&|t| drop(t.entries.remove(0))), 9143);
    assert_eq!(fails(&|t| t.entries.clear()), 9143);
    assert_eq!(fails(&|t| t.server = Some(stranger().id())), 9149);
    assert_eq!(fails(&|t| t.contract_id = Some("0123456789abcdef".parse().unwrap())), 9005);
    // Times that the entries themselves contradict.
    assert_eq!(fails(&|t| t.received_at[5] = t.received_at[5].plus(Millis::secs(3600))), 9043);
    assert_eq!(fails(&|t| t.received_at[3] = Millis(0)), 9051);
    // The ruling closed before its appeal window was over.
    let mut world = judging();
    world.rule(Outcome::Canceled).unwrap();
    let early = Data::Closed { reason: chain::CloseReason::NoAppeal };
    let mut transcript = world.transcript();
    transcript.entries.push(Entry::sign(&early, world.case.head(), world.now, &server()));
    transcript.received_at.push(world.now);
    assert_eq!(replay(&transcript).code, Some(9141));
    // A truncated transcript is sound as far as it goes.
    let mut cut = good.clone();
    cut.entries.truncate(8);
    cut.received_at.truncate(8);
    let report = replay(&cut);
    assert!(report.valid);
    assert_eq!(report.state, Some(State::Disputed));
}

#[test]
fn an_entry_of_another_contract_fits_nowhere() {
    let one = verifying();
    let other = builder().bounty(xno("0.6")).build(&terms()).unwrap();
    let mut two = working_with(&other);
    two.fix().unwrap();
    assert_ne!(one.case.id(), two.case.id());
    let mut mixed = one.transcript();
    mixed.entries[5] = two.chained[5].entry.clone();
    assert_eq!(replay(&mixed).code, Some(9051));
}

#[test]
fn a_late_leaving_stays_late_without_arrival_times() {
    let mut world = working();
    world.secs(31);
    world.back_out(Side::Principal).unwrap();
    world.check();
    // Ten minutes later the server cannot call it grace.
    let mut world = working();
    world.secs(250);
    let mut forged = world.clone();
    forged.back_out(Side::Principal).unwrap();
    let mut transcript = forged.transcript();
    transcript.entries.pop();
    let before = rebuild(&transcript).unwrap();
    let grace = Data::Closed { reason: chain::CloseReason::BackedOutInGrace };
    transcript.entries.push(Entry::sign(&grace, before.head(), world.now, &server()));
    transcript.received_at.clear();
    assert_eq!(replay(&transcript).code, Some(9111));
}

#[test]
fn malformed_transcript_files_fail_by_number() {
    let parse = |text: &str| code(Transcript::parse(text.as_bytes()));
    assert_eq!(parse("{}"), 9020);
    assert_eq!(parse(r#"{"transcript":[{}]}"#), 9020);
    assert_eq!(parse(r#"{"transcript":[],"received_at":[1]}"#), 9031);
    assert_eq!(parse(r#"{"transcript":[],"received_at":["a"]}"#), 9026);
    assert_eq!(parse(r#"{"transcript":[],"server_pubkey":"00"}"#), 9002);
}

#[test]
fn a_server_signs_for_older_clients_only_with_compat() {
    let mut compat = terms();
    compat.compat = true;
    let mut world = World::new(&free(), &compat);
    let accept = world
        .case
        .sign_for(agent().id(), &Data::Accept { agent: agent().id() }, world.now, &server())
        .unwrap();
    let step = world.case.handle(accept, world.now, &server()).unwrap();
    world.chained.extend(step.entries);
    assert_eq!(world.case.agent(), Some(agent().id()));
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    let by_stranger = world.case.sign_for(stranger().id(), &fix, world.now, &server()).unwrap();
    assert_eq!(code(world.case.handle(by_stranger, world.now, &server())), 9114);
    world.fix().unwrap();
    world.check();
    let report = replay(&world.transcript());
    assert_eq!(report.signers[2].role, Role::ServerForAgent);
    // A post that the server signs for its principal.
    let data = posting(&free(), &principal(), None);
    let common = chain::Common { on_behalf_of: Some(principal().id()), ..Default::default() };
    let json = data.to_json(&common);
    let post = Entry::sign_json(data.kind(), json, chain::Head::GENESIS, START, &server());
    Case::start(post.clone(), &compat, START, &server()).unwrap();
    assert_eq!(code(Case::start(post, &terms(), START, &server()).map(|_| ())), 9144);
}

/// Until the deposit is there the server has signed nothing: its terms are known from the contract only.
#[test]
fn an_unpaid_contract_of_a_market_with_terms_of_its_own_is_sound() {
    let mut own = terms();
    own.windows.grace = Millis::secs(7);
    own.fees.min_bounty = xno("0.1");
    own.fees.judge_fee = xno("0.2");
    let contract = builder().bounty(xno("0.12")).build(&own).unwrap();
    let world = World::new(&contract, &own);
    assert_eq!(world.case.state(), State::Unfunded);
    let transcript = world.transcript();
    assert!(replay(&transcript).valid, "{:?}", replay(&transcript).error);
    assert_eq!(rebuild(&transcript).unwrap().state(), State::Unfunded);
}
