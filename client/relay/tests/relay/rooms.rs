//! Channels: orders, limits, random clients.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use zx1_relay_rules::client::Presence;
use zx1_relay_rules::defaults::Settings;
use zx1_relay_rules::hub::{Hub, Out};
use zx1_relay_rules::json::Value;
use zx1_relay_rules::{AgentId, RelayError};

fn id(n: usize) -> AgentId {
    AgentId::parse(&format!("@a{n:04}"), "to").unwrap()
}

fn hub(agents: usize) -> Hub {
    let mut hub = Hub::new(Settings::default());
    (0..agents).for_each(|n| hub.enter(id(n), format!("n{n}"), true));
    hub
}

fn kinds(out: &[Out], to: &AgentId) -> Vec<String> {
    let own = out.iter().filter(|out| out.to.contains(to));
    own.map(|out| Value::parse(&out.frame, 8).unwrap().get("type").unwrap().as_text().unwrap().to_owned())
        .collect()
}

#[test]
fn a_join_goes_to_the_others_then_the_joiner_then_the_last_twenty_then_a_welcome() {
    let mut hub = hub(2);
    hub.join(&id(0), "#general", 0).unwrap();
    for n in 0..21 {
        let out = hub.say(&id(0), "#general", &n.to_string(), None, None, n).unwrap();
        assert_eq!(out[0].to, [id(0)], "the sender gets its own message");
    }
    let out = hub.join(&id(1), "#general", 30).unwrap();
    assert_eq!((&out[0].to, kinds(&out[..1], &id(0))), (&vec![id(0)], vec!["AGENT_JOINED".to_owned()]));
    let own = kinds(&out, &id(1));
    assert_eq!((own.len(), own[0].as_str()), (22, "JOINED"));
    assert!(
        out[2].frame.contains(r#""content":"1","replay":true"#)
            && out[21].frame.contains(r#""content":"20""#)
    );
    assert!(out[22].frame.contains("@server") && !out[22].frame.contains("replay"));
    let again = hub.join(&id(1), "#general", 31).unwrap();
    assert_eq!((again.len(), kinds(&again, &id(0)).len()), (21, 0));
}

#[test]
fn who_is_not_in_a_channel_cannot_speak_and_who_is_not_invited_cannot_join() {
    let mut hub = hub(3);
    assert!(matches!(hub.say(&id(0), "#general", "x", None, None, 0), Err(RelayError::NotAMember { .. })));
    assert!(matches!(hub.join(&id(0), "#nowhere", 0), Err(RelayError::NoChannel { .. })));
    hub.create(&id(0), "#club", true, 0).unwrap();
    assert!(matches!(hub.create(&id(1), "#club", false, 0), Err(RelayError::ChannelExists { .. })));
    assert!(matches!(hub.join(&id(1), "#club", 0), Err(RelayError::InviteOnly { .. })));
    assert!(hub.agents(&id(1), "#club", None, 0).is_err());
    assert!(!hub.channels(0).contains("#club"));
    hub.invite(&id(0), "#club", &id(1), 0).unwrap();
    hub.join(&id(1), "#club", 0).unwrap();
    assert!(matches!(hub.tell(&id(0), &id(9), "x", None, None, 0), Err(RelayError::NoAgent { .. })));
    assert_eq!(hub.tell(&id(0), &id(2), "x", None, None, 0).unwrap()[0].to, [id(0), id(2)]);
}

#[test]
fn thirty_two_channels_are_the_most_and_a_left_channel_ends() {
    let mut hub = hub(1);
    for n in 0..32 {
        hub.create(&id(0), &format!("#c{n}"), false, 0).unwrap();
    }
    assert_eq!(hub.create(&id(0), "#more", false, 0), Err(RelayError::TooManyJoined { most: 32 }));
    hub.leave(&id(0), "#c0", 0).unwrap();
    assert!(matches!(hub.join(&id(0), "#c0", 0), Err(RelayError::NoChannel { .. })));
}

#[test]
fn presence_goes_once_to_whoever_shares_a_channel_and_a_nick_waits_30_seconds() {
    let mut hub = hub(3);
    for channel in ["#general", "#agents"] {
        (0..2).for_each(|n| drop(hub.join(&id(n), channel, 0).unwrap()));
    }
    let out = hub.presence(&id(0), Presence::Busy, None, 0).unwrap();
    assert_eq!((out.len(), &out[0].to), (1, &vec![id(1)]));
    hub.nick(&id(0), "x", 0).unwrap();
    assert_eq!(hub.nick(&id(0), "y", 29_999), Err(RelayError::TooFast { wait_ms: 1 }));
    assert!(hub.nick(&id(0), "y", 30_000).is_ok());
}

#[test]
fn above_256_members_joins_wait_for_the_tick_and_lists_have_pages() {
    let mut hub = hub(1_102);
    for n in 0..256 {
        let out = hub.join(&id(n), "#general", 0).unwrap();
        assert_eq!(out.iter().any(|out| out.frame.contains("AGENT_JOINED")), n > 0);
    }
    assert!(hub.tick(0).is_empty());
    for n in 256..1_101 {
        assert!(
            !hub.join(&id(n), "#general", 0).unwrap().iter().any(|out| out.frame.contains("AGENT_JOINED"))
        );
    }
    let ticked = hub.tick(0);
    assert_eq!((ticked.len(), ticked[0].to.len()), (1, 1_101));
    assert!(hub.tick(0).is_empty());
    let joined = hub.join(&id(1_101), "#general", 0).unwrap();
    let list = Value::parse(&joined[0].frame, 8).unwrap();
    assert_eq!(list.get("agents").unwrap().as_list().unwrap().len(), 1_000);
    assert_eq!(list.get("total").unwrap().as_whole(), Some(1_102));
    let page = |after: Option<AgentId>| {
        Value::parse(&hub.agents(&id(0), "#general", after.as_ref(), 0).unwrap(), 8).unwrap()
    };
    let first = page(None);
    let next = AgentId::parse(first.get("next").unwrap().as_text().unwrap(), "after").unwrap();
    let second = page(Some(next));
    assert_eq!((second.get("list").unwrap().as_list().unwrap().len(), second.get("next")), (102, None));
}

proptest! {
    /// Random clients against a set of members a channel: who speaks is heard by exactly the members.
    #[test]
    fn everybody_in_a_channel_and_nobody_else_hears(steps in prop::collection::vec((0usize..5, 0usize..6, 0usize..4), 1..120)) {
        let mut hub = hub(6);
        let mut model: BTreeMap<&str, BTreeSet<AgentId>> = BTreeMap::from([("#general", BTreeSet::new()), ("#agents", BTreeSet::new()), ("#discovery", BTreeSet::new())]);
        let names = ["#general", "#agents", "#discovery", "#made"];
        for (now, (act, who, which)) in steps.into_iter().enumerate() {
            let (agent, name, now) = (id(who), names[which], now as u64);
            let inside = model.get(name).is_some_and(|members| members.contains(&agent));
            match act {
                0 => {
                    let joined = hub.join(&agent, name, now);
                    prop_assert_eq!(joined.is_ok(), model.contains_key(name));
                    if let Some(members) = model.get_mut(name) { members.insert(agent); }
                }
                1 => {
                    prop_assert_eq!(hub.leave(&agent, name, now).is_ok(), inside);
                    if let Some(members) = model.get_mut(name) { members.remove(&agent); }
                }
                2 => {
                    let said = hub.say(&agent, name, "x", None, None, now);
                    prop_assert_eq!(said.is_ok(), inside);
                    if let Ok(said) = said { prop_assert_eq!(said[0].to.iter().cloned().collect::<BTreeSet<_>>(), model[name].clone()); }
                }
                3 => {
                    let made = hub.create(&agent, "#made", false, now);
                    prop_assert_eq!(made.is_ok(), !model.contains_key("#made"));
                    if made.is_ok() { model.insert("#made", BTreeSet::from([agent])); }
                }
                _ => {
                    hub.gone(&agent, now);
                    model.values_mut().for_each(|members| members.retain(|other| *other != agent));
                    hub.enter(agent, "again".into(), false);
                }
            }
            if model.get("#made").is_some_and(BTreeSet::is_empty) { model.remove("#made"); }
        }
    }
}
