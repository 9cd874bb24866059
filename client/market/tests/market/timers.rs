//! Every window, on both sides of its end.

use zx1_market::case::{CourtStep, Effect, Timer};
use zx1_market::chain::{Data, Side};
use zx1_market::machine::State;
use zx1_market::money::{Outcome, Payee};
use zx1_market::*;

use crate::support::*;

#[test]
fn an_agent_that_looks_for_too_long_declines() {
    let mut world = investigating_with(&paid());
    world.pass(179_999);
    assert_eq!(world.case.state(), State::Investigating);
    world.pass(1);
    assert_eq!(world.case.state(), State::Open);
    assert_eq!(world.got(Payee::Agent), xno("0.67"));
    world.check();
}

#[test]
fn an_agent_that_stalls_fails_its_attempts() {
    let mut world = working();
    for attempt in 1..=4 {
        world.pass(299_999);
        assert_eq!(world.case.attempts(), attempt - 1);
        world.pass(1);
        assert_eq!(world.case.attempts(), attempt);
    }
    world.secs(300);
    assert!(world.case.closing_at().is_some());
    world.secs(120);
    assert_eq!(world.case.state(), State::Canceled);
    world.check();
}

#[test]
fn a_principal_that_is_silent_can_be_disputed_and_pays_in_the_end() {
    let mut world = verifying();
    world.pass(299_999);
    assert_eq!(code(world.dispute(Side::Agent)), 9130);
    world.pass(1);
    let mut disputed = world.clone();
    disputed.dispute(Side::Agent).unwrap();
    disputed.check();
    world.pass(7_199_999);
    assert_eq!(world.case.state(), State::InProgress);
    world.pass(1);
    assert_eq!(world.case.state(), State::Fulfilled);
    assert_eq!(world.got(Payee::Agent), xno("1.12"));
    world.check();
}

#[test]
fn a_judge_that_is_silent_voids_the_contract() {
    let mut world = judging();
    world.reexecute().unwrap();
    world.pass(59_999);
    assert_eq!(code(world.case.voidable(world.now)), 9141);
    world.pass(1);
    assert_eq!(world.case.state(), State::Voided);
    assert_eq!([world.got(Payee::Principal), world.got(Payee::Agent)], [xno("0.67"); 2]);
    world.check();
    // Nothing came from the machine either.
    let mut silent = judging();
    silent.pass(659_999);
    assert_eq!(silent.case.state(), State::Disputed);
    silent.pass(1);
    assert_eq!(silent.case.state(), State::Voided);
    silent.check();
    // The same after a halt.
    let mut halted = verifying();
    halted.halt().unwrap();
    halted.secs(30);
    halted.secs(30);
    halted.reexecute().unwrap();
    halted.secs(60);
    assert_eq!(halted.case.state(), State::Voided);
    halted.check();
}

#[test]
fn a_higher_court_that_fails_leaves_the_ruling_standing() {
    let mut world = judging();
    world.rule(Outcome::Canceled).unwrap();
    world.appeal(Side::Agent).unwrap();
    world.secs(30);
    let mut unreadable = world.clone();
    world.reexecute().unwrap();
    world.secs(59);
    assert_eq!(world.case.state(), State::Disputed);
    assert_eq!(code(world.case.voidable(world.now)), 9136);
    world.secs(1);
    assert_eq!(world.case.state(), State::Resolved);
    assert_eq!(world.got(Payee::Agent), xno("0.65"), "the district court's fee");
    world.check();
    unreadable.reexecute().unwrap();
    let mut ruling = chain::RulingData::new(Outcome::Canceled, money::Court::Appeals, "?");
    ruling.flags.push(chain::RulingData::UNPARSABLE.into());
    ruling.is_final = true;
    let head = unreadable.case.head().hash;
    let ruling = ruling.sign(unreadable.case.id(), &head, &judge());
    unreadable.by_server(Data::Ruling(Box::new(ruling))).unwrap();
    assert_eq!(unreadable.case.state(), State::Resolved);
    assert_eq!(unreadable.got(Payee::Agent), xno("0.65"));
    unreadable.check();
}

#[test]
fn an_unreadable_first_ruling_is_impossible_and_can_be_appealed() {
    let mut world = judging();
    world.reexecute().unwrap();
    let mut ruling = chain::RulingData::new(Outcome::Impossible, money::Court::District, "?");
    ruling.flags.push(chain::RulingData::UNPARSABLE.into());
    let head = world.case.head().hash;
    let ruling = ruling.sign(world.case.id(), &head, &judge());
    world.by_server(Data::Ruling(Box::new(ruling))).unwrap();
    let mut both = world.clone();
    both.appeal(Side::Agent).unwrap();
    world.secs(120);
    // A judge that cannot be read is nobody's fault: the fee goes back.
    assert_eq!([world.got(Payee::Principal), world.got(Payee::Agent)], [xno("0.67"); 2]);
    world.check();
    // The appeal was ruled on, so who called that court pays it.
    both.respond(Side::Principal).unwrap();
    both.rule(Outcome::Impossible).unwrap();
    both.secs(120);
    assert_eq!(both.got(Payee::Agent), xno("0.62"));
    assert_eq!([both.got(Payee::Principal), both.got(Payee::Platform)], [xno("0.67"), xno("0.05")]);
    both.check();
}

#[test]
fn who_does_not_answer_is_judged_in_absentia() {
    let mut world = verifying();
    world.dispute(Side::Principal).unwrap();
    world.pass(29_999);
    assert!(world.case.judge_task().is_none());
    world.pass(1);
    assert!(world.effects.iter().any(|e| matches!(e, Effect::CourtOpens { .. })));
    let task = world.case.judge_task().unwrap();
    assert_eq!((task.court, task.reexecuted), (money::Court::District, false));
    assert_eq!(code(world.respond(Side::Agent)), 9132);
    assert!(!world.case.proceedings().unwrap().responded);
    world.rule(Outcome::Fulfilled).unwrap();
    assert!(matches!(world.case.proceedings().unwrap().step, CourtStep::Appealable { .. }));
    world.secs(120);
    assert_eq!(world.case.state(), State::Resolved);
    world.check();
}

#[test]
fn an_unpaid_reservation_lapses_and_the_open_window_goes_on() {
    let mut world = open();
    world.secs(10);
    world.reserve(&agent()).unwrap();
    assert_eq!(world.case.reserved_for(), Some((agent().id(), world.now.plus(Millis::secs(30)))));
    assert_eq!(world.case.next_timer().unwrap().1, Timer::Reservation);
    assert_eq!(code(world.reserve(&stranger())), 9120);
    assert_eq!(code(world.act(&principal(), Data::Cancel { reason: String::new() })), 9120);
    assert_eq!(code(world.act(&principal(), Data::Accounts { payout: address(5) })), 9120);
    world.pass(29_999);
    assert!(world.case.reserved_for().is_some());
    world.pass(1);
    assert!(world.effects.iter().any(|e| matches!(e, Effect::Lapsed { .. })));
    assert_eq!(code(world.deposit(Side::Agent)), 9104);
    assert_eq!(code(world.reserve(&agent())), 9119, "who did not pay may not reserve again");
    world.secs(19);
    assert_eq!(world.case.state(), State::Open);
    world.secs(1);
    assert_eq!(world.case.state(), State::Canceled);
    world.check();
}

#[test]
fn reservations_cannot_hold_a_contract_up_for_ever() {
    let mut world = open();
    for n in 0..=defaults::MAX_LAPSED_RESERVATIONS {
        world.reserve(&key(20 + n as u8)).unwrap();
        world.secs(30);
        if n < defaults::MAX_LAPSED_RESERVATIONS {
            assert_eq!(world.case.state(), State::Open, "{n}");
        }
    }
    assert_eq!(world.case.state(), State::Canceled);
}

#[test]
fn a_deposit_that_was_seen_extends_the_window_once() {
    let mut world = open();
    world.reserve(&agent()).unwrap();
    world.secs(29);
    let effects = world.case.deposit_seen(Side::Agent, world.now).unwrap();
    assert!(matches!(effects.as_slice(), [Effect::StartWork { side: Side::Agent, round: 0 }]));
    world.case.deposit_seen(Side::Agent, world.now).unwrap();
    world.secs(30);
    let mut paid = world.clone();
    paid.deposit(Side::Agent).unwrap();
    assert_eq!(paid.case.state(), State::Investigating);
    paid.check();
    world.secs(1);
    assert_eq!(world.case.reserved_for(), None);
    assert_eq!(code(world.case.deposit_seen(Side::Agent, world.now)), 9104);
    let mut unfunded = World::new(&self::paid_contract(), &terms());
    unfunded.secs(599);
    unfunded.case.deposit_seen(Side::Principal, unfunded.now).unwrap();
    unfunded.secs(600);
    unfunded.deposit(Side::Principal).unwrap();
    assert_eq!(unfunded.case.state(), State::Open);
}

fn paid_contract() -> Contract {
    paid()
}

#[test]
fn a_contract_that_nobody_keeps_ends() {
    let mut world = open();
    for n in 0..=defaults::MAX_REOPENINGS {
        let agent = key(20 + n as u8);
        world.bond(&agent).unwrap();
        world.act(&agent, Data::Decline { reason: String::new() }).unwrap();
    }
    assert_eq!(world.case.state(), State::Canceled);
    world.check();
}

#[test]
fn halting_for_ever_is_not_possible() {
    let mut world = working();
    for _ in 0..defaults::MAX_RESUMES {
        world.halt().unwrap();
        world.resume().unwrap();
    }
    world.halt().unwrap();
    assert_eq!(code(world.resume()), 9109);
    world.secs(30);
    world.rule(Outcome::Impossible).unwrap();
    world.secs(120);
    assert_eq!(world.case.state(), State::Resolved);
    world.check();
}

#[test]
fn a_server_cannot_act_before_a_window_has_passed() {
    let mut world = investigating_with(&paid());
    assert_eq!(code(world.by_server(Data::AutoDecline { reason: String::new() })), 9141);
    let mut world = working();
    assert_eq!(code(world.by_server(Data::AttemptTimeout { attempt: 1 })), 9141);
    world.fix().unwrap();
    assert_eq!(code(world.by_server(Data::AutoFulfill { reason: String::new() })), 9141);
    let mut world = judging();
    assert_eq!(code(world.by_server(Data::Voided { reason: String::new() })), 9141);
    world.rule(Outcome::Canceled).unwrap();
    let closed = Data::Closed { reason: chain::CloseReason::NoAppeal };
    assert_eq!(code(world.by_server(closed)), 9141);
    assert_eq!(code(world.by_server(Data::Reopened { round: 1, grace: true })), 9111);
    let mut world = open();
    assert_eq!(code(world.by_server(Data::Closed { reason: chain::CloseReason::NoAgent })), 9141);
}

#[test]
fn a_restart_at_a_late_moment_catches_up() {
    // The server was down over several windows: the first overdue entry is chained, the next window starts
    // now.
    let mut world = working();
    world.secs(100_000);
    assert_eq!(world.case.attempts(), 1);
    world.check();
}
