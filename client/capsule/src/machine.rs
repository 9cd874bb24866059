//! What the watcher does next, as a machine: time and events in, actions out. It is also the watcher's journal, so that
//! a watcher that was killed goes on where it was.
//!
//! A generation is one life of the agent, in one jail. [`Action::Start`] comes only while none is there, and one counts
//! as there from its start until [`Event::Ended`] says that its jail is gone. Whatever fails, the next is main.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::defaults::{
    BACK_OFF_S, HEALTHY_S, LEAVE_S, LOG_AGAIN_S, LOG_MAX, RUNAWAY, STEP_MAX_MS, SUCCESS_S, TICK_S,
};
use crate::refname::{Branch, Revision};
use crate::signal::Signal;

/// What the watcher does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing is to run.
    Stopped,
    /// Main is started.
    Starting,
    /// A generation has written SUCCESS.
    Healthy,
    /// A branch that a signal named is started.
    Bootstrapping,
    /// A revision that a signal named is started.
    RollingBack,
    /// It failed repeatedly; main is started after a pause.
    BackingOff,
}

/// What a generation runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A branch, in its folder.
    Branch(Branch),
    /// A revision, detached, in main's folder.
    Detached(Revision),
}

impl Target {
    fn main() -> Target {
        Target::Branch(Branch::main())
    }

    /// Whether it is the branch main.
    #[must_use]
    pub fn is_main(&self) -> bool {
        matches!(self, Target::Branch(branch) if branch.is_main())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Branch(branch) => branch.fmt(f),
            Target::Detached(revision) => revision.fmt(f),
        }
    }
}

/// What the machine takes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A person wants it to run.
    Up,
    /// A person wants it to stop, or the stop ref is there.
    Down,
    /// Nothing but time passed.
    Time,
    /// A generation's jail runs this commit.
    Launched {
        /// The generation's number.
        generation: u64,
        /// The commit that runs.
        commit: String,
    },
    /// bootstrap.log has its SUCCESS.
    Success {
        /// The generation's number.
        generation: u64,
    },
    /// Its jail is gone, with every process in it, or was never made.
    Ended {
        /// The generation's number.
        generation: u64,
        /// How it ended.
        why: String,
    },
    /// A signal was read.
    Signal(Signal),
    /// Use of a processor, thousandths, since the last time.
    Cpu {
        /// The generation's number.
        generation: u64,
        /// 1000 is one whole processor.
        permille: u32,
    },
    /// Size of its log.
    Log {
        /// The generation's number.
        generation: u64,
        /// Size in bytes.
        bytes: u64,
    },
    /// The watcher is a new process. What ran under the one before is gone.
    Recovered,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Start a generation. Older ones are nobody from now on.
    Start {
        /// The generation's number.
        generation: u64,
        /// What it runs.
        target: Target,
    },
    /// End a generation, with everything in its jail.
    End {
        /// The generation's number.
        generation: u64,
    },
    /// Cut a generation's log to its head and tail.
    CutLog {
        /// The generation's number.
        generation: u64,
    },
    /// Append a line to the reports of COMMS.md.
    Report {
        /// The line without markup.
        text: String,
    },
}

/// A generation that is there. Times are the machine's own, milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    generation: u64,
    began: u64,
    healthy: Option<u64>,
    /// It was asked to make room, and is ended then.
    leaves_by: Option<u64>,
    /// When it had the order to end.
    told: Option<u64>,
    why: Option<String>,
    hot_since: Option<u64>,
    log_cut: Option<u64>,
}

/// The watcher's machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    state: State,
    target: Target,
    commit: Option<String>,
    generation: u64,
    run: Option<Run>,
    /// What follows the generation that leaves.
    next: Option<(Target, State)>,
    failures: u32,
    /// When a pause ends.
    pause_until: u64,
    /// When it looks next whether anything runs.
    tick: u64,
    /// The machine's own time, and the clock when it was last moved.
    time: u64,
    clock: Option<u64>,
    last_error: Option<String>,
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            state: State::Stopped,
            target: Target::main(),
            commit: None,
            generation: 0,
            run: None,
            next: None,
            failures: 0,
            pause_until: 0,
            tick: 0,
            time: 0,
            clock: None,
            last_error: None,
        }
    }
}

const fn ms(seconds: u64) -> u64 {
    seconds.saturating_mul(1_000)
}

impl Machine {
    /// What the watcher does.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// What runs, or is to run.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The commit that runs.
    #[must_use]
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }

    /// The number of the last generation; 0 before the first.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The generation that is there.
    #[must_use]
    pub fn running(&self) -> Option<u64> {
        self.run.as_ref().map(|run| run.generation)
    }

    /// Why the last generation failed.
    #[must_use]
    pub fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }

    /// Takes one event at a time of any clock that goes forward, milliseconds. Called at least every few seconds, if
    /// only with [`Event::Time`]. The machine is to be on disk before the actions are carried out.
    #[must_use]
    pub fn step(&mut self, now_ms: u64, event: Event) -> Vec<Action> {
        let passed = now_ms.saturating_sub(self.clock.unwrap_or(now_ms)).min(STEP_MAX_MS);
        self.clock = Some(now_ms);
        self.time = self.time.saturating_add(passed);
        let mut actions = Vec::new();
        match event {
            Event::Time => {}
            Event::Up => self.up(&mut actions),
            Event::Down => self.down(&mut actions),
            Event::Launched { generation, commit } => {
                if self.running() == Some(generation) {
                    self.commit = Some(commit);
                }
            }
            Event::Success { generation } => self.success(generation),
            Event::Ended { generation, why } => self.ended(generation, why, &mut actions),
            Event::Signal(signal) => self.signal(signal, &mut actions),
            Event::Cpu { generation, permille } => self.cpu(generation, permille, &mut actions),
            Event::Log { generation, bytes } => self.log(generation, bytes, &mut actions),
            Event::Recovered => {
                if let Some(generation) = self.running() {
                    self.ended(generation, "the watcher itself was ended".to_owned(), &mut actions);
                }
            }
        }
        self.due(&mut actions);
        actions
    }

    fn up(&mut self, actions: &mut Vec<Action>) {
        if self.state != State::Stopped {
            return;
        }
        self.state = State::Starting;
        if self.run.is_some() {
            self.next = Some((Target::main(), State::Starting));
        } else {
            self.start(Target::main(), State::Starting, actions);
        }
    }

    fn down(&mut self, actions: &mut Vec<Action>) {
        self.state = State::Stopped;
        self.next = None;
        self.failures = 0;
        let time = self.time;
        if let Some(run) = self.run.as_mut().filter(|run| run.told.is_none()) {
            run.told = Some(time);
            actions.push(Action::End { generation: run.generation });
        }
    }

    fn success(&mut self, generation: u64) {
        let time = self.time;
        let Some(run) = self.run.as_mut().filter(|run| run.generation == generation) else { return };
        if run.told.is_none() {
            run.healthy.get_or_insert(time);
            if self.next.is_none() {
                self.state = State::Healthy;
            }
        }
    }

    fn ended(&mut self, generation: u64, why: String, actions: &mut Vec<Action>) {
        if self.running() != Some(generation) {
            return;
        }
        let run = self.run.take();
        self.commit = None;
        if let Some((target, state)) = self.next.take() {
            self.start(target, state, actions);
        } else if self.state != State::Stopped {
            self.failed(run.and_then(|run| run.why).unwrap_or(why), actions);
        }
    }

    fn failed(&mut self, why: String, actions: &mut Vec<Action>) {
        self.failures = self.failures.saturating_add(1);
        if self.failures == 1 {
            let text = format!("generation {} ({}) ended: {why}; main follows", self.generation, self.target);
            actions.push(Action::Report { text });
        }
        self.last_error = Some(why);
        self.target = Target::main();
        // The first time main follows at once.
        let (first, most) = BACK_OFF_S;
        match self.failures.checked_sub(2) {
            None => self.start(Target::main(), State::Starting, actions),
            Some(doublings) => {
                let pause = first.checked_shl(doublings.min(16)).unwrap_or(most).min(most);
                self.state = State::BackingOff;
                self.pause_until = self.time.saturating_add(ms(pause));
            }
        }
    }

    fn signal(&mut self, signal: Signal, actions: &mut Vec<Action>) {
        if self.state == State::Stopped {
            return;
        }
        let (target, state) = match signal {
            Signal::Bootstrap(branch) => (Target::Branch(branch), State::Bootstrapping),
            Signal::Rollback(revision) => (Target::Detached(revision), State::RollingBack),
        };
        let leaves_by = self.time.saturating_add(ms(LEAVE_S));
        match &mut self.run {
            Some(run) => {
                run.leaves_by.get_or_insert(leaves_by);
                self.next = Some((target, state));
                self.state = state;
            }
            // A branch that fails again and again pauses like main.
            None if self.state == State::BackingOff => self.next = Some((target, state)),
            None => self.start(target, state, actions),
        }
    }

    fn cpu(&mut self, generation: u64, permille: u32, actions: &mut Vec<Action>) {
        let time = self.time;
        let Some(run) = self.run.as_mut().filter(|run| run.generation == generation) else { return };
        if permille < RUNAWAY.0 {
            run.hot_since = None;
            return;
        }
        let since = *run.hot_since.get_or_insert(time);
        if time.saturating_sub(since) >= ms(RUNAWAY.1) {
            self.end(format!("it used a whole processor for {} seconds", RUNAWAY.1), actions);
        }
    }

    fn log(&mut self, generation: u64, bytes: u64, actions: &mut Vec<Action>) {
        let time = self.time;
        let Some(run) = self.run.as_mut().filter(|run| run.generation == generation) else { return };
        if bytes <= LOG_MAX {
            return;
        }
        let again = run.log_cut.is_some_and(|cut| time.saturating_sub(cut) < ms(LOG_AGAIN_S));
        if again {
            self.end(format!("its log passed {LOG_MAX} bytes twice"), actions);
        } else {
            run.log_cut = Some(time);
            actions.push(Action::CutLog { generation });
            let text = format!("the log of generation {generation} passed {LOG_MAX} bytes and was cut");
            actions.push(Action::Report { text });
        }
    }

    /// Ends what runs because of what it did.
    fn end(&mut self, why: String, actions: &mut Vec<Action>) {
        let time = self.time;
        if let Some(run) = self.run.as_mut().filter(|run| run.told.is_none()) {
            run.told = Some(time);
            actions.push(Action::End { generation: run.generation });
            if self.failures > 0 {
                // The first failure is reported when it is over.
                let text = format!("generation {} was ended: {why}", run.generation);
                actions.push(Action::Report { text });
            }
            run.why = Some(why);
        }
    }

    fn start(&mut self, target: Target, state: State, actions: &mut Vec<Action>) {
        debug_assert!(self.run.is_none(), "never two generations");
        self.generation = self.generation.saturating_add(1);
        self.state = state;
        self.target = target.clone();
        self.tick = self.time.saturating_add(ms(TICK_S));
        self.run = Some(Run {
            generation: self.generation,
            began: self.time,
            healthy: None,
            leaves_by: None,
            told: None,
            why: None,
            hot_since: None,
            log_cut: None,
        });
        actions.push(Action::Start { generation: self.generation, target });
    }

    /// What time alone brings.
    fn due(&mut self, actions: &mut Vec<Action>) {
        let time = self.time;
        let Some(run) = &mut self.run else {
            match self.state {
                State::Stopped => {}
                State::BackingOff if time >= self.pause_until => {
                    let (target, state) = self.next.take().unwrap_or((Target::main(), State::Starting));
                    self.start(target, state, actions);
                }
                State::BackingOff => {}
                _ if time >= self.tick => self.start(Target::main(), State::Starting, actions),
                _ => {}
            }
            return;
        };
        if run.healthy.is_some_and(|since| time.saturating_sub(since) >= ms(HEALTHY_S)) {
            self.failures = 0;
        }
        if let Some(told) = run.told {
            // Nothing in a jail can refuse to end; said again in case that it was not heard.
            if time.saturating_sub(told) >= ms(LEAVE_S) {
                run.told = Some(time);
                actions.push(Action::End { generation: run.generation });
            }
        } else if run.leaves_by.is_some_and(|by| time >= by) {
            run.told = Some(time);
            actions.push(Action::End { generation: run.generation });
        } else if run.healthy.is_none() && time.saturating_sub(run.began) >= ms(SUCCESS_S) {
            self.end(format!("it wrote no SUCCESS within {SUCCESS_S} seconds"), actions);
        }
    }
}
