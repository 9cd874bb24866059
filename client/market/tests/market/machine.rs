//! The table of states against the vectors, every pair.

use std::collections::BTreeSet;

use zx1_market::chain::{Author, EntryType};
use zx1_market::machine::{Event, State, TABLE};
use zx1_market::*;

use crate::support::*;

#[test]
fn every_pair_of_states_is_as_the_vectors_say() {
    let vectors = Json::parse(vectors("state_machine").as_bytes()).unwrap();
    let state = |v: &Json| -> State { v.as_str().unwrap().parse().unwrap() };
    let states: Vec<State> = vectors.get("states").unwrap().as_array().unwrap().iter().map(state).collect();
    assert_eq!(states, State::ALL);
    let pairs = vectors.get("pairs").unwrap().as_array().unwrap();
    assert_eq!(pairs.len(), 144);
    for pair in pairs {
        let (from, to) = (state(pair.get("from").unwrap()), state(pair.get("to").unwrap()));
        assert_eq!(from.leads_to(to), pair.get("allowed").unwrap().as_bool().unwrap(), "{from} -> {to}");
    }
    let terminal: Vec<State> =
        vectors.get("terminal").unwrap().as_array().unwrap().iter().map(state).collect();
    for state in State::ALL {
        assert_eq!(state.is_terminal(), terminal.contains(state));
        assert_eq!(state.is_terminal(), TABLE.iter().all(|(from, _, _)| from != state));
    }
}

#[test]
fn a_state_and_an_event_lead_to_one_state_only() {
    let pairs: BTreeSet<(State, Event)> = TABLE.iter().map(|(from, event, _)| (*from, *event)).collect();
    assert_eq!(pairs.len(), TABLE.len());
}

#[test]
fn the_questions_follow_the_table() {
    use State::*;
    let those = |ask: fn(State) -> bool| State::ALL.iter().copied().filter(|s| ask(*s)).collect::<Vec<_>>();
    assert_eq!(those(State::can_cancel), [Unfunded, Open]);
    assert_eq!(those(State::can_dispute), [InProgress, Review]);
    assert_eq!(those(State::can_halt), [Investigating, InProgress, Review]);
    assert_eq!(those(State::can_back_out), [InProgress]);
    assert_eq!(those(State::can_rule), [Disputed, Halted]);
}

#[test]
fn entry_types_and_their_authors_are_as_the_vectors_say() {
    let vectors = Json::parse(vectors("state_machine").as_bytes()).unwrap();
    let list = |name: &str| -> Vec<String> {
        let items = vectors.get(name).unwrap().as_array().unwrap();
        items.iter().map(|v| v.as_str().unwrap().to_owned()).collect()
    };
    for name in list("entry_types") {
        assert_eq!(name.parse::<EntryType>().unwrap().as_str(), name);
    }
    for name in list("server_only") {
        assert!(name.parse::<EntryType>().unwrap().is_server_only());
    }
    for (name, role) in vectors.get("entry_type_roles").unwrap().as_object().unwrap() {
        let author = match role.as_str().unwrap() {
            "principal" => Author::Principal,
            "agent" => Author::Agent,
            _ => Author::Either,
        };
        assert_eq!(name.parse::<EntryType>().unwrap().author(), author, "{name}");
    }
    for kind in EntryType::ALL {
        assert_eq!(kind.as_str().parse::<EntryType>().unwrap(), *kind);
    }
}
