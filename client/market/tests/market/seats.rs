//! While all seats before a judge are taken, the judge's time stands still, and a replay comes to the same deadlines.

use zx1_market::case::{Timer, replay};
use zx1_market::chain::{Absence, AbsenceCause, Data, Entry, EntryType, Side};
use zx1_market::defaults::MAX_ABSENCE;
use zx1_market::machine::State;
use zx1_market::money::{Outcome, Payee};
use zx1_market::*;

use crate::support::*;

/// The judge's turn has come, and all seats are taken.
fn waiting() -> World {
    let mut world = judging();
    world.case.wait_for_seat();
    world
}

impl World {
    fn deadline(&self) -> Option<(Millis, Timer)> {
        self.case.next_timer()
    }

    /// The deadline of whoever replays the transcript.
    fn replayed(&self) -> Option<(Millis, Timer)> {
        case::rebuild(&self.transcript()).unwrap().next_timer()
    }
}

#[test]
fn a_judges_time_begins_when_its_seat_is_taken() {
    let mut world = waiting();
    assert!(world.case.waits_for_seat() && world.case.judge_task().is_none());
    // Long after the 660 s of a seated case.
    world.secs(4_000);
    assert_eq!(world.case.state(), State::Disputed);
    assert_eq!(code(world.case.voidable(world.now)), 9141);
    assert_eq!(world.chained.last().unwrap().entry.kind(), EntryType::DisputeResponse, "nothing is chained");
    world.check();
    world.seat();
    let data = world.chained.last().unwrap().entry.data().canonical();
    assert!(data.starts_with(r#"{"cause":"court","from":"#) && data.contains(r#""gap":4000.0,"#), "{data}");
    let until = world.now.plus(Millis::secs(660));
    assert_eq!(world.deadline(), Some((until, Timer::Judge)));
    assert_eq!(world.replayed(), world.deadline(), "who replays it comes to the same deadline");
    assert_eq!(world.case.judge_task().unwrap().deadline, until);
    let mut silent = world.clone();
    world.secs(600);
    world.rule(Outcome::Fulfilled).unwrap();
    world.secs(120);
    assert_eq!(world.case.state(), State::Resolved);
    world.check();
    silent.pass(659_999);
    assert_eq!(silent.case.state(), State::Disputed);
    silent.pass(1);
    assert_eq!(silent.case.state(), State::Voided, "the judge was silent");
    silent.check();
}

#[test]
fn who_does_not_answer_waits_from_the_end_of_its_window() {
    let mut world = verifying();
    world.dispute(Side::Principal).unwrap();
    world.secs(31);
    world.case.wait_for_seat();
    world.secs(999);
    world.seat();
    let (Data::Resumed(absence), _) = world.chained.last().unwrap().entry.read().unwrap() else { panic!() };
    assert_eq!(absence.gap(), Millis::secs(1_000));
    assert_eq!(world.replayed(), world.deadline());
    world.rule(Outcome::Canceled).unwrap();
    world.secs(120);
    world.check();
}

#[test]
fn a_short_wait_is_none() {
    let mut world = waiting();
    let before = judging().deadline();
    world.pass(2_999);
    world.seat();
    assert_eq!(world.chained.last().unwrap().entry.kind(), EntryType::DisputeResponse);
    assert_eq!(world.deadline(), before);
    world.check();
}

#[test]
fn a_judge_that_is_faster_than_its_seat_is_heard() {
    let mut world = waiting();
    world.secs(1_000);
    world.reexecute().unwrap();
    assert!(!world.case.waits_for_seat());
    world.seat();
    world.rule_as(Outcome::Fulfilled, money::Court::District).unwrap();
    world.case.wait_for_seat();
    assert!(!world.case.waits_for_seat(), "there is nothing to wait for");
    world.secs(120);
    assert_eq!(world.case.state(), State::Resolved);
    world.check();
}

#[test]
fn an_absence_while_it_waits_takes_nothing_from_the_judge() {
    for before in [300, 900] {
        let mut world = waiting();
        world.secs(before);
        let from = world.now;
        world.now = from.plus(Millis::secs(100));
        let step = world.case.resume_after(AbsenceCause::Down, from, world.now, &server()).unwrap();
        world.take(step);
        // A moment after it is back.
        world.pass(1_000);
        world.seat();
        assert_eq!(world.deadline(), Some((world.now.plus(Millis::secs(660)), Timer::Judge)), "{before}");
        assert_eq!(world.replayed(), world.deadline(), "{before}");
        world.check();
    }
}

#[test]
fn the_appeals_court_has_seats_too() {
    let mut world = judging();
    world.rule(Outcome::Canceled).unwrap();
    world.appeal(Side::Agent).unwrap();
    assert!(world.case.seat_wanted().is_none(), "its turn has not come");
    world.respond(Side::Principal).unwrap();
    let wanted = world.case.seat_wanted().unwrap();
    assert_eq!((wanted.court, wanted.filer), (money::Court::Appeals, agent().id()));
    world.case.wait_for_seat();
    let mut never = world.clone();
    world.secs(10_000);
    world.seat();
    world.rule(Outcome::Fulfilled).unwrap();
    world.secs(120);
    assert_eq!(world.case.state(), State::Resolved);
    world.check();
    // Nobody ever sits there: the ruling before stands.
    never.secs(MAX_ABSENCE.as_secs() + 1);
    assert_eq!(never.got(Payee::Agent), xno("0.65"), "the district court's fee alone");
    never.check();
}

#[test]
fn nobody_waits_for_longer_than_a_contract_outlives() {
    let mut world = waiting();
    world.secs(MAX_ABSENCE.as_secs());
    assert_eq!(world.case.state(), State::Disputed);
    let mut last = world.clone();
    last.seat();
    assert_eq!(last.replayed(), last.deadline());
    last.rule(Outcome::Fulfilled).unwrap();
    last.check();
    world.pass(1);
    assert_eq!(world.case.state(), State::Voided);
    assert_eq!([world.got(Payee::Principal), world.got(Payee::Agent)], [xno("0.67"); 2]);
    world.check();
    // Absences before it count.
    let mut away = waiting();
    let from = away.now;
    away.now = from.plus(MAX_ABSENCE).minus(Millis::secs(100));
    let step = away.case.resume_after(AbsenceCause::Down, from, away.now, &server()).unwrap();
    away.take(step);
    away.secs(101);
    away.seat();
    assert_eq!(away.case.state(), State::Voided);
    away.check();
}

#[test]
fn a_server_cannot_invent_a_wait() {
    let forged = |world: &World, from: Millis, at: Millis| {
        let absence = Absence { cause: AbsenceCause::Court, from, until: at };
        let entry = Entry::sign(&Data::Resumed(absence), world.case.head(), at, &server());
        code(world.case.clone().apply(&entry, at))
    };
    let later = |world: &World| world.now.plus(Millis::secs(100));
    let no_court = verifying();
    assert_eq!(forged(&no_court, no_court.now, later(&no_court)), 9134, "no court");
    let mut early = verifying();
    early.dispute(Side::Principal).unwrap();
    assert_eq!(forged(&early, early.now, early.now.plus(Millis::secs(20))), 9134, "its answer may come");
    assert_eq!(forged(&early, early.now.plus(Millis::secs(29)), later(&early)), 9134, "before the turn");
    let mut world = judging();
    assert_eq!(forged(&world, world.now, world.now.plus(Millis(2_999))), 9134, "too short");
    let week = world.now.plus(MAX_ABSENCE).plus(Millis(1));
    assert_eq!(forged(&world, week.minus(Millis::secs(3)), week), 9134, "what moves counts, not the gap");
    world.reexecute().unwrap();
    assert_eq!(forged(&world, world.now, later(&world)), 9134, "the judge sits already");
}

#[test]
fn a_transcript_with_waits_verifies_without_times() {
    let mut world = verifying();
    world.dispute(Side::Principal).unwrap();
    world.secs(30);
    world.case.wait_for_seat();
    world.secs(5_000);
    world.seat();
    world.secs(500);
    world.rule(Outcome::Impossible).unwrap();
    world.secs(120);
    world.check();
    let report = replay(&case::Transcript { received_at: Vec::new(), ..world.transcript() });
    assert_eq!(report.state, Some(State::Resolved), "{:?}", report.error);
}
