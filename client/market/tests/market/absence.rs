//! The server's absence is nobody's fault (decision E21).

use zx1_market::case::{Timer, replay};
use zx1_market::chain::{Absence, AbsenceCause, Data, Entry, EntryType, Side};
use zx1_market::defaults::MAX_ABSENCE;
use zx1_market::machine::State;
use zx1_market::*;

use crate::support::*;

impl World {
    /// The server was away for so long, and is back.
    fn away(&mut self, cause: AbsenceCause, secs: u64) {
        let from = self.now;
        self.now = from.plus(Millis::secs(secs));
        let step = self.case.resume_after(cause, from, self.now, &server()).unwrap();
        self.take(step);
    }

    fn down(&mut self, secs: u64) {
        self.away(AbsenceCause::Down, secs);
    }
}

#[test]
fn every_window_that_runs_moves_by_the_gap() {
    let worlds: Vec<(World, Timer)> = vec![
        (World::new(&paid(), &terms()), Timer::Unfunded),
        (open(), Timer::Open),
        (investigating_with(&paid()), Timer::Investigation),
        (working(), Timer::Attempt),
        (verifying(), Timer::Silence),
        (reviewing(), Timer::Silence),
        (judging(), Timer::Judge),
    ];
    for (mut world, timer) in worlds {
        let (deadline, found) = world.case.next_timer().unwrap();
        assert_eq!(found, timer);
        let before = world.case.state();
        // Long after every deadline but a review's.
        world.down(3_600);
        let (Data::Resumed(absence), _) = world.chained.last().unwrap().entry.read().unwrap() else {
            panic!("{timer:?} has not moved");
        };
        assert_eq!(world.case.state(), before, "{timer:?}");
        assert_eq!(world.case.next_timer(), Some((deadline.plus(absence.gap()), timer)));
        world.check();
    }
}

#[test]
fn a_dispute_after_an_absence_is_in_time() {
    let mut world = reviewing();
    world.secs(7_190);
    world.down(75);
    assert_eq!(world.case.state(), State::Review);
    let mut silent = world.clone();
    world.dispute(Side::Principal).unwrap();
    // And the answer: 30 s are 30 s of a server that runs.
    world.down(86_400);
    world.respond(Side::Agent).unwrap();
    world.check();
    silent.secs(10);
    assert_eq!(silent.case.state(), State::Fulfilled);
    silent.check();
}

#[test]
fn what_had_passed_before_has_passed() {
    let mut world = verifying();
    world.dispute(Side::Principal).unwrap();
    // The answer's window ended while the server still ran; nobody looked.
    let from = world.now.plus(Millis::secs(40));
    world.now = from.plus(Millis::secs(500));
    let step = world.case.resume_after(AbsenceCause::Down, from, world.now, &server()).unwrap();
    world.take(step);
    assert_eq!(code(world.respond(Side::Agent)), 9132);
    world.rule(money::Outcome::Fulfilled).unwrap();
    world.check();
}

#[test]
fn an_absent_ledger_moves_what_waits_for_it_only() {
    let mut unpaid = World::new(&paid(), &terms());
    unpaid.secs(599);
    unpaid.away(AbsenceCause::Ledger, 3_600);
    unpaid.deposit(Side::Principal).unwrap();
    assert_eq!(unpaid.case.state(), State::Open);
    unpaid.check();
    let mut world = verifying();
    let before = world.case.next_timer();
    world.away(AbsenceCause::Ledger, 60);
    assert_eq!(world.case.next_timer(), before);
    assert_ne!(world.chained.last().unwrap().entry.kind(), EntryType::Resumed);
}

#[test]
fn a_reservation_moves_without_an_entry_so_its_bond_still_fits() {
    for cause in [AbsenceCause::Down, AbsenceCause::Ledger, AbsenceCause::Clock] {
        let mut world = open();
        world.reserve(&agent()).unwrap();
        world.secs(29);
        world.away(cause, 3_600);
        assert!(world.case.reserved_for().is_some());
        world.deposit(Side::Agent).unwrap();
        assert_eq!(world.case.state(), State::Investigating);
        world.check();
    }
}

#[test]
fn a_short_silence_is_no_absence() {
    let mut world = working();
    let chained = world.chained.len();
    let from = world.now;
    world.now = from.plus(Millis(2_999));
    let step = world.case.resume_after(AbsenceCause::Down, from, world.now, &server()).unwrap();
    assert!(step.is_empty());
    world.now = from.plus(Millis(3_000));
    let step = world.case.resume_after(AbsenceCause::Down, from, world.now, &server()).unwrap();
    world.take(step);
    assert_eq!(world.chained.len(), chained + 1);
    // The party's entry before was signed at this moment; the gap is in whole milliseconds.
    let data = world.chained.last().unwrap().entry.data().canonical();
    assert!(data.starts_with("{\"cause\":\"down\",\"from\":") && data.contains("\"gap\":3.0,"), "{data}");
}

#[test]
fn resumed_beyond_its_sum_voids() {
    let mut world = verifying();
    world.down(MAX_ABSENCE.as_secs() - 100);
    let mut exact = world.clone();
    exact.down(100);
    assert_eq!(exact.case.state(), State::InProgress);
    exact.check();
    world.down(101);
    assert_eq!(world.case.state(), State::Voided);
    assert_eq!([world.got(money::Payee::Principal), world.got(money::Payee::Agent)], [xno("0.67"); 2]);
    world.check();
    // Nobody has to be paid, or only one side.
    let mut unpaid = World::new(&paid(), &terms());
    unpaid.down(MAX_ABSENCE.as_secs() + 1);
    assert_eq!(unpaid.case.state(), State::Voided);
    unpaid.check();
    let mut waiting = open();
    waiting.down(MAX_ABSENCE.as_secs() + 1);
    assert_eq!((waiting.case.state(), waiting.got(money::Payee::Principal)), (State::Voided, xno("0.67")));
    waiting.check();
}

#[test]
fn a_server_cannot_invent_an_absence() {
    let forged = |change: fn(&mut Absence), world: &World| {
        let from = world.now;
        let at = from.plus(Millis::secs(100));
        let mut absence = Absence { cause: AbsenceCause::Down, from, until: at };
        change(&mut absence);
        let entry = Entry::sign(&Data::Resumed(absence), world.case.head(), at, &server());
        code(world.case.clone().apply(&entry, at))
    };
    let world = verifying();
    assert_eq!(forged(|a| a.from = a.from.minus(Millis(1)), &world), 9134, "before the entry before");
    assert_eq!(forged(|a| a.until = a.until.minus(Millis(1)), &world), 9134, "not its own time");
    assert_eq!(forged(|a| a.from = a.until.minus(Millis(2_999)), &world), 9134, "too short");
    assert_eq!(forged(|a| a.cause = AbsenceCause::Ledger, &world), 9134, "nothing waits for the ledger");
    // A gap that is not the difference, and a moment with four decimals.
    for bad in [
        r#"{"cause":"down","from":1.5,"gap":4.0,"until":5.0}"#,
        r#"{"cause":"down","from":1.0001,"gap":3.9999,"until":5.0}"#,
        r#"{"cause":"rain","from":1.0,"gap":4.0,"until":5.0}"#,
    ] {
        assert!(Data::read(EntryType::Resumed, &Json::parse(bad.as_bytes()).unwrap()).is_err(), "{bad}");
    }
    let good = r#"{"cause":"down","from":1795352373.951,"gap":75.2,"until":1795352449.151}"#;
    let (data, _) = Data::read(EntryType::Resumed, &Json::parse(good.as_bytes()).unwrap()).unwrap();
    assert_eq!(data.to_json(&Default::default()).canonical(), good);
    // Nor does a party write one.
    let entry = Entry::sign(&data, world.case.head(), world.now, &agent());
    assert_eq!(code(world.case.clone().apply(&entry, world.now)), 9116);
}

#[test]
fn the_servers_time_never_goes_back() {
    let mut world = working();
    // The agent's clock is ahead by almost what is allowed.
    let ahead = world.now.plus(Millis(5_000));
    let data = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    let entry = Entry::sign(&data, world.case.head(), ahead, &agent());
    let step = world.case.handle(entry, world.now, &server()).unwrap();
    world.take(step);
    world.verify(true).unwrap();
    let mut free = World::new(&free(), &terms());
    free.accept(&agent()).unwrap();
    let before = world.chained.iter().map(|c| c.entry.at()).collect::<Vec<_>>();
    assert!(before.len() > 4);
    let report = replay(&world.transcript());
    assert!(report.valid, "{:?}", report.error);
    let server_entries: Vec<_> =
        world.chained.windows(2).filter(|pair| pair[1].entry.author() == server().id()).collect();
    assert!(!server_entries.is_empty());
    for pair in server_entries {
        assert!(pair[1].entry.at() > pair[0].entry.at(), "{pair:?}");
    }
}
