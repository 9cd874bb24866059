//! The table of actions.

use zx1_market::chain::{Common, Data, Head, Side};
use zx1_market::wire::{ACTIONS, Action, Method};
use zx1_market::{Entry, EntryType, Json, Millis};

use crate::support::{key, said};

fn signed(data: &Data) -> Entry {
    let head = Head { seq: 3, hash: [9; 32] };
    Entry::sign_json(data.kind(), data.to_json(&Common::default()), head, Millis(1_800_000_000_000), &key(7))
}

#[test]
fn every_type_of_a_party_has_an_action_and_the_server_s_have_none() {
    for kind in EntryType::ALL.iter().copied() {
        assert_eq!(Action::of(kind).is_some(), !kind.is_server_only(), "{kind}");
    }
    assert_eq!(
        Action::of(EntryType::Cancel).map(|it| (it.method(), it.path())),
        Some((Method::Delete, "/contracts/{id}"))
    );
    assert_eq!(Action::of(EntryType::DisputeFiled), Some(Action::Dispute));
}

#[test]
fn no_two_actions_have_the_same_method_and_path() {
    for (nth, action) in ACTIONS.iter().enumerate() {
        let same = |other: &&Action| (other.method(), other.path()) == (action.method(), action.path());
        assert_eq!(ACTIONS.iter().skip(nth + 1).find(same), None, "{action:?}");
    }
}

#[test]
fn a_body_carries_its_entry_unchanged_and_says_the_same_beside_it() {
    for data in said(key(7).id(), Side::Principal) {
        let entry = signed(&data);
        let action = Action::of(entry.kind()).unwrap();
        let body = action.body(&entry).unwrap();
        let json = Json::parse(body.as_bytes()).unwrap();
        assert_eq!(Entry::from_json(json.get("chain_entry").unwrap()).unwrap(), entry, "{body}");
        zx1_market::wire::check_entry(&json, &entry, action.entries(), &key(7).id()).unwrap();
        // What a server with --compat would sign for the same body without the entry.
        let meant = match data {
            Data::Chat { message } => Data::Message { message },
            data => data,
        };
        assert_eq!(action.data(body.as_bytes()).unwrap().unwrap(), meant, "{body}");
    }
}

#[test]
fn a_body_of_another_action_fails() {
    let entry = signed(&Data::Halt { reason: String::new() });
    assert_eq!(Action::Resume.body(&entry).unwrap_err().code(), 9047);
    assert_eq!(Action::Ruling.body(&entry).unwrap_err().code(), 9047);
    assert_eq!(Action::Feedback.data(b"{}").unwrap().unwrap_err().code(), 9049);
    assert!(Action::Bond.data(b"{}").is_err());
}
