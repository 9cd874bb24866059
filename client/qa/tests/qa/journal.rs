use proptest::prelude::*;
use std::collections::BTreeSet;
use zx1_qa::journal::{Input, Point, Recovery, State, TABLE};

#[test]
fn the_table_has_each_step_once_and_nothing_leaves_an_end() {
    let steps: BTreeSet<_> = TABLE.iter().map(|(state, input, _)| (*state, *input)).collect();
    assert_eq!(steps.len(), TABLE.len());
    for (state, input, _) in TABLE {
        assert!(!state.is_over(), "{state:?} {input:?}");
    }
    for state in State::ALL {
        for input in Input::ALL {
            assert_eq!(state.after(input).is_ok(), steps.contains(&(state, input)), "{state:?} {input:?}");
        }
    }
}

#[test]
fn every_state_can_be_reached_and_can_end() {
    let mut reached = BTreeSet::from([State::Found]);
    let mut ends: BTreeSet<State> = State::ALL.into_iter().filter(|state| state.is_over()).collect();
    for _ in State::ALL {
        for (from, _, to) in TABLE {
            if reached.contains(&from) {
                reached.insert(to);
            }
            if ends.contains(&to) {
                ends.insert(from);
            }
        }
    }
    assert_eq!((reached.len(), ends.len()), (State::ALL.len(), State::ALL.len()));
}

#[test]
fn ten_places_of_a_crash_are_named_and_each_ends_with_the_locks_release() {
    let points: BTreeSet<Point> = Point::TABLE.iter().map(|row| row.0).collect();
    assert_eq!(points.len(), 10);
    for (point, recovery) in Point::TABLE {
        assert_eq!(recovery.last(), Some(&Recovery::Release), "{point:?}");
        let settles = recovery.iter().filter(|it| matches!(it, Recovery::Refund | Recovery::Charge)).count();
        assert_eq!(settles, usize::from(point >= Point::Reserved), "{point:?} settles a reservation once");
        if matches!(point, Point::FindingWritten | Point::ReportSent) {
            assert!(recovery.contains(&Recovery::LookForEntry), "{point:?} sends no second report");
        }
    }
}

proptest! {
    /// The model: what a careful clerk would remember of a finding, without a table.
    #[test]
    fn nothing_is_merged_that_no_gate_and_no_person_saw(
        inputs in prop::collection::vec(prop::sample::select(&Input::ALL[..]), 0..60), alone: bool,
    ) {
        let mut state = State::Found;
        let (mut can_run, mut paid, mut patch, mut gated, mut yes) = (false, false, false, false, false);
        for input in inputs {
            if alone && input.is_a_persons() {
                continue;
            }
            let Ok(next) = state.after(input) else { continue };
            match input {
                Input::Triage => can_run = true,
                Input::Post => { prop_assert!(can_run); paid = true; }
                Input::Propose => { prop_assert!(paid); (patch, gated, yes) = (true, false, false); }
                Input::Pass => { prop_assert!(patch && !gated); gated = true; }
                Input::Accept => { prop_assert!(gated); yes = true; }
                Input::Merge => prop_assert!(gated && yes),
                Input::Refuse => (patch, gated, yes) = (false, false, false),
                Input::Lapse => (paid, patch, gated, yes) = (false, false, false, false),
                Input::Resolve => prop_assert_eq!(state, State::Merged),
                Input::LackRepro => prop_assert!(!can_run),
                Input::Drop => prop_assert!(next.is_over()),
            }
            state = next;
        }
        if alone {
            prop_assert!(!matches!(state, State::Reviewed | State::Merged | State::Resolved));
        }
    }
}
