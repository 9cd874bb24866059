//! The watcher's machine: each time-out on both sides, and random lives.

use proptest::prelude::*;
use zx1_capsule::machine::{Action, Event, Machine, State, Target};
use zx1_capsule::refname::{Branch, Revision};
use zx1_capsule::signal::Signal;

/// A machine with a clock, and the jails that it asked for.
struct World {
    machine: Machine,
    now: u64,
    alive: Option<(u64, Target)>,
    /// Told to end; gone at the next look.
    ending: bool,
    started: Vec<(u64, String)>,
    reports: Vec<String>,
    cuts: usize,
}

impl World {
    fn up() -> World {
        let mut world = World {
            machine: Machine::default(),
            now: 5_000_000,
            alive: None,
            ending: false,
            started: Vec::new(),
            reports: Vec::new(),
            cuts: 0,
        };
        world.tell(Event::Up);
        world
    }

    fn tell(&mut self, event: Event) {
        // The journal is read back before every step: a killed watcher knows nothing else.
        let journal = serde_json::to_string(&self.machine).unwrap();
        self.machine = serde_json::from_str(&journal).unwrap();
        for action in self.machine.step(self.now, event) {
            match action {
                Action::Start { generation, target } => {
                    assert!(self.alive.is_none(), "two generations");
                    assert!(
                        self.started.last().is_none_or(|(last, _)| *last < generation),
                        "a number came twice"
                    );
                    self.started.push((generation, target.to_string()));
                    self.alive = Some((generation, target));
                    self.ending = false;
                }
                Action::End { generation } => {
                    assert_eq!(self.alive.as_ref().map(|(alive, _)| *alive), Some(generation));
                    self.ending = true;
                }
                Action::Report { text } => self.reports.push(text),
                Action::CutLog { .. } => self.cuts += 1,
            }
        }
    }

    fn generation(&self) -> u64 {
        self.alive.as_ref().expect("one runs").0
    }

    fn succeed(&mut self) {
        let generation = self.generation();
        self.tell(Event::Launched { generation, commit: "c".into() });
        self.tell(Event::Success { generation });
    }

    fn crash(&mut self) {
        let (generation, _) = self.alive.take().expect("one runs");
        self.ending = false;
        self.tell(Event::Ended { generation, why: "exit code 1".into() });
    }

    fn bury(&mut self) {
        if self.ending {
            self.crash();
        }
    }

    fn wait(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.now += 1_000;
            self.tell(Event::Time);
            self.bury();
        }
    }

    fn signal(&mut self, branch: &str) {
        self.tell(Event::Signal(Signal::Bootstrap(Branch::parse(branch).unwrap())));
    }

    fn last(&self) -> &str {
        &self.started.last().unwrap().1
    }
}

#[test]
fn main_starts_and_is_healthy_after_success() {
    let mut world = World::up();
    assert_eq!((world.machine.state(), world.last()), (State::Starting, "main"));
    world.succeed();
    assert_eq!((world.machine.state(), world.machine.commit()), (State::Healthy, Some("c")));
}

#[test]
fn a_generation_without_success_is_ended_after_120_seconds_and_not_before() {
    let mut world = World::up();
    world.succeed();
    world.signal("bot/x");
    world.crash();
    assert_eq!((world.machine.state(), world.last()), (State::Bootstrapping, "bot/x"));
    world.wait(119);
    assert_eq!(world.last(), "bot/x");
    world.wait(1);
    assert_eq!((world.machine.state(), world.last()), (State::Starting, "main"));
    assert!(world.machine.last_error().unwrap().contains("no SUCCESS"), "{:?}", world.machine.last_error());
    assert_eq!(world.reports.len(), 1, "{:?}", world.reports);
}

#[test]
fn a_crash_during_work_brings_main_back_at_once() {
    let mut world = World::up();
    world.succeed();
    world.signal("bot/x");
    world.crash();
    world.succeed();
    world.crash();
    assert_eq!((world.machine.state(), world.last()), (State::Starting, "main"));
    assert_eq!(world.machine.last_error(), Some("exit code 1"));
}

#[test]
fn repeated_crashes_pause_from_5_to_300_seconds() {
    let mut world = World::up();
    world.crash();
    let mut pauses = Vec::new();
    for _ in 0..9 {
        world.crash();
        assert_eq!(world.machine.state(), State::BackingOff);
        let mut pause = 0;
        while world.alive.is_none() {
            world.wait(1);
            pause += 1;
        }
        pauses.push(pause);
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
    assert_eq!(world.last(), "main");
    assert_eq!(world.reports.len(), 1, "a crash loop does not fill COMMS.md");
}

#[test]
fn failures_are_forgotten_after_five_healthy_minutes_and_not_before() {
    for (healthy, pauses) in [(299, true), (300, false)] {
        let mut world = World::up();
        world.crash();
        world.succeed();
        world.wait(healthy);
        world.crash();
        assert_eq!(world.machine.state() == State::BackingOff, pauses, "{healthy}");
    }
}

#[test]
fn a_bootstrap_waits_ten_seconds_for_the_running_one_to_leave() {
    let mut world = World::up();
    world.succeed();
    world.signal("bot/x");
    assert_eq!(world.machine.state(), State::Bootstrapping);
    world.wait(9);
    assert_eq!(world.last(), "main", "it may still push");
    world.wait(1);
    assert_eq!(world.last(), "bot/x");
    world.succeed();
    assert_eq!(world.machine.state(), State::Healthy);
    assert_eq!(world.machine.target().to_string(), "bot/x");
}

#[test]
fn a_rollback_starts_the_revision_detached() {
    let mut world = World::up();
    world.succeed();
    let revision = Revision::parse("0123456789abcdef0123456789abcdef01234567").unwrap();
    world.tell(Event::Signal(Signal::Rollback(revision.clone())));
    assert_eq!(world.machine.state(), State::RollingBack);
    world.crash();
    assert_eq!(world.alive.as_ref().unwrap().1, Target::Detached(revision));
    world.succeed();
    assert_eq!(world.machine.state(), State::Healthy);
}

#[test]
fn a_branch_that_signals_and_crashes_for_ever_is_paused_like_main() {
    let mut world = World::up();
    world.succeed();
    let mut starts = Vec::new();
    for _ in 0..12 {
        while world.alive.is_none() {
            world.wait(1);
        }
        starts.push(world.now);
        if world.last() == "main" {
            world.succeed();
            world.signal("bot/x");
        }
        world.crash();
    }
    assert!(starts[11] - starts[0] > 60_000, "{starts:?}");
}

#[test]
fn a_stop_ends_what_runs_and_nothing_starts_until_up() {
    let mut world = World::up();
    world.succeed();
    world.signal("bot/x");
    world.tell(Event::Down);
    assert!(world.ending);
    world.bury();
    world.signal("bot/x");
    world.wait(2_000);
    assert_eq!((world.machine.state(), world.started.len()), (State::Stopped, 1));
    world.tell(Event::Up);
    assert_eq!((world.machine.state(), world.last()), (State::Starting, "main"));
}

#[test]
fn up_while_it_still_stops_waits_for_the_end() {
    let mut world = World::up();
    world.tell(Event::Down);
    world.tell(Event::Up);
    assert_eq!(world.started.len(), 1);
    world.bury();
    assert_eq!(world.started.len(), 2);
}

#[test]
fn a_whole_processor_for_ten_minutes_is_a_runaway_and_a_rest_in_between_is_not() {
    for rests in [false, true] {
        let mut world = World::up();
        world.succeed();
        let generation = world.generation();
        for second in 0..=600u64 {
            let permille = if rests && second == 300 { 949 } else { 950 };
            world.now += 1_000;
            world.tell(Event::Cpu { generation, permille });
        }
        assert_eq!(world.ending, !rests);
        world.bury();
        assert_eq!(world.machine.generation(), if rests { 1 } else { 2 });
    }
}

#[test]
fn a_log_that_explodes_is_cut_once_and_ends_its_generation_the_second_time() {
    let mut world = World::up();
    world.succeed();
    let generation = world.generation();
    world.tell(Event::Log { generation, bytes: 64 << 20 });
    assert_eq!(world.cuts, 0);
    world.tell(Event::Log { generation, bytes: (64 << 20) + 1 });
    assert_eq!((world.cuts, world.ending), (1, false));
    world.wait(599);
    world.tell(Event::Log { generation, bytes: (64 << 20) + 1 });
    assert!(world.ending);
}

#[test]
fn a_jump_of_the_clock_lets_no_time_run_out() {
    let mut world = World::up();
    world.now += 86_400_000;
    world.tell(Event::Time);
    assert!(!world.ending, "a machine that slept");
    world.now -= 80_000_000;
    world.tell(Event::Time);
    world.wait(100);
    assert!(!world.ending);
    world.wait(20);
    assert_eq!(world.started.len(), 2, "time goes on after the jump");
}

#[test]
fn events_of_another_generation_change_nothing() {
    let mut world = World::up();
    world.succeed();
    let before = world.machine.clone();
    for generation in [0, 2, u64::MAX] {
        world.tell(Event::Ended { generation, why: String::new() });
        world.tell(Event::Success { generation });
        world.tell(Event::Cpu { generation, permille: 1_000 });
        world.tell(Event::Log { generation, bytes: u64::MAX });
        world.tell(Event::Launched { generation, commit: "z".into() });
    }
    assert_eq!(world.machine, before);
}

#[derive(Debug, Clone)]
enum Act {
    Wait(u64),
    Jump(i64),
    Succeed,
    Crash,
    Bootstrap(u8),
    Rollback,
    Down,
    Up,
    Kill,
    Hot,
    Log,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (1u64..400).prop_map(Act::Wait),
        (-100_000_000i64..100_000_000).prop_map(Act::Jump),
        Just(Act::Succeed),
        Just(Act::Crash),
        (0u8..3).prop_map(Act::Bootstrap),
        Just(Act::Rollback),
        Just(Act::Down),
        Just(Act::Up),
        Just(Act::Kill),
        Just(Act::Hot),
        Just(Act::Log),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// `World::tell` refuses a second generation and a number that comes again.
    #[test]
    fn whatever_happens_it_ends_on_main_or_on_a_healthy_branch(acts in proptest::collection::vec(act(), 0..60)) {
        let mut world = World::up();
        for act in acts {
            match act {
                Act::Wait(seconds) => world.wait(seconds),
                Act::Jump(ms) => world.now = world.now.saturating_add_signed(ms),
                Act::Succeed => if world.alive.is_some() { world.succeed() },
                Act::Crash => if world.alive.is_some() { world.crash() },
                Act::Bootstrap(n) => world.signal(["main", "bot/x", "bot/y"][usize::from(n)]),
                Act::Rollback => {
                    world.tell(Event::Signal(Signal::Rollback(Revision::parse("refs/tags/v1").unwrap())));
                }
                Act::Down => world.tell(Event::Down),
                Act::Up => world.tell(Event::Up),
                // kill -9 of the watcher takes the jail with it.
                Act::Kill => {
                    world.alive = None;
                    world.ending = false;
                    world.tell(Event::Recovered);
                }
                Act::Hot => if let Some(generation) = world.machine.running() {
                    world.tell(Event::Cpu { generation, permille: 1_000 });
                },
                Act::Log => if let Some(generation) = world.machine.running() {
                    world.tell(Event::Log { generation, bytes: u64::MAX });
                },
            }
            prop_assert_eq!(world.machine.running(), world.alive.as_ref().map(|(generation, _)| *generation));
        }
        // From here on only main works.
        world.tell(Event::Up);
        world.bury();
        let was_healthy = world.machine.state() == State::Healthy;
        for _ in 0..1_000 {
            if world.alive.as_ref().is_some_and(|(_, target)| target.is_main()) {
                world.succeed();
            }
            world.wait(1);
        }
        prop_assert_eq!(world.machine.state(), State::Healthy);
        prop_assert!(world.machine.target().is_main() || was_healthy, "{}", world.machine.target());
    }
}
