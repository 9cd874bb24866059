//! Who is paid, and what it costs to leave with the fix in one's hands (decisions E19, E20).

use zx1_market::chain::{Data, Head, Side};
use zx1_market::court::Court;
use zx1_market::machine::State;
use zx1_market::money::{Outcome, Payee};
use zx1_market::*;

use crate::support::*;

fn ended(world: &World, state: State, money: [&str; 4]) {
    world.check();
    assert_eq!(world.case.state(), state);
    let payees = [Payee::Principal, Payee::Agent, Payee::Platform, Payee::Charity];
    let got = payees.map(|payee| world.got(payee).xno());
    assert_eq!(got, money, "principal, agent, platform, charity");
}

#[test]
fn a_paid_post_and_a_paid_bond_name_where_the_money_goes() {
    let mut data = posting(&paid(), &principal(), None);
    let entry = |data: &Data| Entry::sign(data, Head::GENESIS, START, &principal());
    assert_eq!(code(Case::start(entry(&data), &terms(), START, &server())), 9056);
    data = posting(&free(), &principal(), None);
    Case::start(entry(&data), &terms(), START, &server()).unwrap();
    let mut world = open();
    let bond = world.entry(&agent(), &Data::Bond { agent: agent().id(), payout: None });
    assert_eq!(code(world.case.reserve(bond, world.now)), 9056);
    assert_eq!(world.case.reserved_for(), None);
}

#[test]
fn a_strangers_deposit_changes_no_payee() {
    // The escrow names the sender of the first deposit as its source: here a thief.
    let mut world = verifying();
    assert_eq!(world.case.payout_address(Side::Agent), Some(address(12)));
    world.verify(true).unwrap();
    ended(&world, State::Fulfilled, ["0.17", "1.12", "0.05", "0"]);
    assert!(!world.paid_out.contains_key(&address(66)), "nobody pays a deposit's source");
}

#[test]
fn a_principal_that_leaves_with_the_fix_waits_and_pays_half() {
    let mut world = verifying();
    world.back_out(Side::Principal).unwrap();
    assert_eq!(world.case.state(), State::InProgress, "nothing is final yet");
    assert_eq!(world.case.closing_at(), Some(world.now.plus(Millis::secs(120))));
    assert_eq!(code(world.clone().verify(true)), 9128);
    assert_eq!(code(world.clone().halt()), 9128);
    let mut waived = world.clone();
    waived.waive(Side::Agent).unwrap();
    ended(&waived, State::Canceled, ["0.37", "0.92", "0.05", "0"]);
    world.pass(119_999);
    assert_eq!(world.case.state(), State::InProgress);
    world.pass(1);
    ended(&world, State::Canceled, ["0.37", "0.92", "0.05", "0"]);
    // The same between two attempts: what was read is read.
    let mut between = verifying();
    between.verify(false).unwrap();
    between.back_out(Side::Principal).unwrap();
    between.secs(120);
    ended(&between, State::Canceled, ["0.37", "0.92", "0.05", "0"]);
}

#[test]
fn an_agent_disputes_the_leaving_and_the_last_fix_is_judged() {
    let mut world = verifying();
    world.back_out(Side::Principal).unwrap();
    world.secs(119);
    world.dispute(Side::Agent).unwrap();
    world.respond(Side::Principal).unwrap();
    world.rule(Outcome::Fulfilled).unwrap();
    world.secs(120);
    ended(&world, State::Resolved, ["0.15", "1.12", "0.07", "0"]);
}

#[test]
fn after_a_fix_a_halt_gives_the_agent_a_response() {
    let mut world = verifying();
    world.halt().unwrap();
    world.secs(30);
    let proceedings = world.case.proceedings().unwrap();
    assert!(
        matches!(proceedings.step, case::CourtStep::Responding { by: Side::Agent, .. }),
        "{proceedings:?}"
    );
    assert_eq!(proceedings.filer, Side::Principal);
    assert!(world.case.judge_task().is_none());
    world.respond(Side::Agent).unwrap();
    world.rule(Outcome::Fulfilled).unwrap();
    world.secs(120);
    ended(&world, State::Resolved, ["0.15", "1.12", "0.07", "0"]);
    // Without a fix there is nothing to answer for.
    let mut unread = working();
    unread.halt().unwrap();
    unread.secs(30);
    assert!(unread.case.judge_task().is_some());
}

#[test]
fn a_silent_judge_pays_only_what_its_machine_has_found() {
    let mut world = judging();
    world.reexecute().unwrap();
    // What a named judge's signed, unqualified "passed" leaves in the case.
    let text = serde_json::to_string(&world.case).unwrap();
    assert!(text.contains("\"passed\":false"), "what could not be run has not passed");
    let mut passed = world.clone();
    passed.case = serde_json::from_str(&text.replace("\"passed\":false", "\"passed\":true")).unwrap();
    assert_eq!(code(passed.case.voidable(passed.now.plus(Millis::secs(60)))), 9111);
    passed.secs(60);
    assert_eq!(passed.case.state(), State::Fulfilled);
    let payees = [Payee::Principal, Payee::Agent, Payee::Platform, Payee::Charity];
    assert_eq!(payees.map(|payee| passed.got(payee).xno()), ["0.17", "1.12", "0.05", "0"]);
    // Any other silence voids, and a server cannot say otherwise.
    let reason = "it works".to_owned();
    let mut forged = world.clone();
    forged.now = forged.now.plus(Millis::secs(60));
    assert_eq!(code(forged.by_server(chain::Data::AutoFulfill { reason })), 9111);
    world.secs(60);
    ended(&world, State::Voided, ["0.67", "0.67", "0", "0"]);
}

#[test]
fn an_unreadable_answer_takes_nothing_from_a_fix_that_has_passed() {
    for (has_passed, expected, other) in
        [(true, Outcome::Fulfilled, Outcome::Impossible), (false, Outcome::Impossible, Outcome::Fulfilled)]
    {
        let mut world = judging();
        world.reexecute().unwrap();
        let text = serde_json::to_string(&world.case).unwrap();
        let text = text.replace("\"passed\":false", &format!("\"passed\":{has_passed}"));
        world.case = serde_json::from_str(&text).unwrap();
        let head = world.case.head().hash;
        let unreadable = |outcome| {
            let mut data = chain::RulingData::new(outcome, Court::District, "unreadable");
            data.flags.push(chain::RulingData::UNPARSABLE.into());
            chain::Data::Ruling(Box::new(data.sign(world.case.id(), &head, &judge())))
        };
        let (wrong, right) = (unreadable(other), unreadable(expected));
        assert_eq!(code(world.by_server(wrong)), 9107);
        world.by_server(right).unwrap();
        assert_eq!(world.case.proceedings().unwrap().last, Some((expected, Court::District)));
    }
}
