//! All five programs in LiteSVM beside an independent model: random actions of three agents and six wallets
//! over weeks: tenures and keys, eras, batches over gaps, ranks, challenges, asks. The model (`model/state.rs`,
//! `rules*.rs`, `effects*.rs`, and the bytes in `wire.rs`) is written from the decisions and shares no code with the programs or with client/protocol. It foretells of every
//! action whether it succeeds, and by which error numbers it may be refused; after every action the chain
//! must be as the model says, down to each wallet's lamports; at the end everything closable is closed.
//!
//! By default 160 cases of up to 240 actions with a fixed seed. `ZX1_SOAK=1` runs 1 000 cases of up to 300
//! actions with a new seed, which it prints; `ZX1_MODEL_SEED=<number>` repeats one, `ZX1_MODEL_CASES` and
//! `ZX1_MODEL_STEPS` set other bounds. A failure prints the shortest sequence of actions that still fails.
// Helpers outside of #[test] functions panic as tests do.
#![allow(clippy::unwrap_used)]

#[path = "model/actions.rs"]
mod actions;
#[path = "model/check.rs"]
mod check;
#[path = "model/draws.rs"]
mod draws;
#[path = "model/effects.rs"]
mod effects;
#[path = "model/effects_game.rs"]
mod effects_game;
#[path = "model/rules.rs"]
mod rules;
#[path = "model/rules_game.rs"]
mod rules_game;
#[path = "model/state.rs"]
mod state;
#[path = "model/system.rs"]
mod system;
#[path = "model/system_game.rs"]
mod system_game;
#[path = "model/turns.rs"]
mod turns;
#[path = "model/wire.rs"]
mod wire;

use std::{cell::RefCell, collections::BTreeMap};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use actions::Action;
use state::State;
use system::System;
use turns::Turn;

struct Model;

impl ReferenceStateMachine for Model {
    type State = State;
    type Transition = Action;

    fn init_state() -> BoxedStrategy<State> {
        let empty = system::initial_state();
        let living =
            system::coming_to_life().fold(empty.clone(), |state, action| Self::apply(state, &action));
        let lying = system::lying().fold(living.clone(), |state, action| Self::apply(state, &action));
        prop_oneof![4 => Just(lying), 3 => Just(living), 1 => Just(empty)].boxed()
    }

    fn transitions(state: &State) -> BoxedStrategy<Action> {
        draws::next(state)
    }

    fn preconditions(state: &State, action: &Action) -> bool {
        action.is_possible(state)
    }

    fn apply(mut state: State, action: &Action) -> State {
        state.reasons = rules::reasons(&state, action);
        if state.reasons.is_empty() {
            effects::perform(&mut state, action);
        }
        state
    }
}

thread_local! {
    /// Successes and refusals of each kind of action.
    static COUNTS: RefCell<BTreeMap<String, (u64, u64)>> = const { RefCell::new(BTreeMap::new()) };
    /// How often each turn was taken.
    static TURNS: RefCell<BTreeMap<Turn, u64>> = const { RefCell::new(BTreeMap::new()) };
    /// Refusals by error number, where it was the only one expected.
    static ERRORS: RefCell<BTreeMap<u32, u64>> = const { RefCell::new(BTreeMap::new()) };
}

struct Programs;

impl StateMachineTest for Programs {
    type SystemUnderTest = System;
    type Reference = Model;

    fn init_test(state: &State) -> System {
        System::new(state)
    }

    fn apply(mut system: System, state: &State, action: Action) -> System {
        let result = system.execute(&action);
        COUNTS.with_borrow_mut(|counts| {
            let (succeeded, refused) = counts.entry(action.name()).or_default();
            *(if result.is_ok() { succeeded } else { refused }) += 1;
        });
        match result {
            Ok(()) => {
                assert!(
                    state.reasons.is_empty(),
                    "{action:?} succeeded, though it is to be refused with one of {:?}",
                    state.reasons
                );
                let turns = turns::of(&system.before, state, &action);
                TURNS.with_borrow_mut(|counts| {
                    turns.into_iter().for_each(|turn| *counts.entry(turn).or_default() += 1);
                });
            }
            Err(failure) => {
                let code = failure.code().unwrap_or_else(|| panic!("{action:?}: {failure:?}"));
                assert!(
                    state.reasons.contains(&code),
                    "{action:?} is refused with {code}, expected was one of {:?}: {failure:?}",
                    state.reasons
                );
                let alone = u64::from(state.reasons.len() == 1);
                ERRORS.with_borrow_mut(|errors| *errors.entry(code).or_default() += alone);
            }
        }
        system.before = state.clone();
        system
    }

    fn check_invariants(system: &System, state: &State) {
        check::check(system, state);
    }

    fn teardown(system: System, state: State) {
        check::take_down(system, state);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// The usual sequences are worth something only if they reach everything.
fn every_action_went_both_ways(counts: &BTreeMap<String, (u64, u64)>) {
    const NEVER_REFUSED: [&str; 5] = ["Advance", "Burn", "Give", "OpenVault", "Transfer"];
    const ACTIONS: usize = 39;
    assert_eq!(counts.len(), ACTIONS, "every kind of action took place");
    for (name, (succeeded, refused)) in counts {
        assert!(*succeeded > 0, "{name} never succeeded");
        assert!(*refused > 0 || NEVER_REFUSED.contains(&name.as_str()), "{name} was never refused");
    }
}

#[test]
fn the_programs_do_what_the_model_says() {
    let soak = std::env::var_os("ZX1_SOAK").is_some();
    let fresh = || std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs());
    let seed = number("ZX1_MODEL_SEED").unwrap_or_else(|| if soak { fresh() } else { 1 });
    let cases = number("ZX1_MODEL_CASES").unwrap_or(if soak { 1_000 } else { 160 });
    let steps = number("ZX1_MODEL_STEPS").unwrap_or(if soak { 300 } else { 240 });
    println!("seed {seed}, {cases} cases of up to {steps} actions");
    let config = Config {
        cases: u32::try_from(cases).unwrap(),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    let sequences = Model::sequential_strategy(1..usize::try_from(steps).unwrap() + 1);
    let outcome = TestRunner::new(config.clone()).run(&sequences, |(state, actions, seen)| {
        Programs::test_sequential(config.clone(), state, actions, seen);
        Ok(())
    });
    COUNTS.with_borrow(|counts| {
        println!("{:<20} {:>9} {:>9}", "action", "succeeded", "refused");
        for (name, (succeeded, refused)) in counts {
            println!("{name:<20} {succeeded:>9} {refused:>9}");
        }
    });
    TURNS.with_borrow(|counts| println!("turns: {counts:?}"));
    ERRORS.with_borrow(|errors| println!("refusals for one reason alone: {errors:?}"));
    if let Err(error) = outcome {
        panic!("seed {seed}: {error}");
    }
    if seed == 1 && cases >= 160 && steps >= 240 {
        COUNTS.with_borrow(every_action_went_both_ways);
        TURNS.with_borrow(|counts| {
            Turn::ALL.iter().for_each(|turn| assert!(counts.contains_key(turn), "{turn:?} never happened"));
        });
    }
}
