//! Waits, pace, memory and nonces, without a connection.

use proptest::prelude::*;
use zx1_relay_client::backoff::{Backoff, Waits};
use zx1_relay_client::pace::Pace;
use zx1_relay_client::seen::Seen;
use zx1_relay_client::{ClientError, Relay, is_nonce};
use zx1_relay_rules::client::Target;
use zx1_relay_rules::defaults::Settings;
use zx1_relay_rules::event::Said;
use zx1_relay_rules::rate::{Kind, Rates, Verdict};

use crate::peer::id;

#[test]
fn waits_double_from_5_to_300_seconds_and_begin_anew_after_5_minutes() {
    let mut backoff = Backoff::new(Waits::default());
    let least: Vec<u64> = (0..9).map(|_| backoff.lost(0, 0)).collect();
    assert_eq!(least, [5_000, 7_500, 15_000, 30_000, 60_000, 120_000, 225_000, 225_000, 225_000]);
    assert_eq!(backoff.lost(299_999, 0), 225_000);
    assert_eq!(backoff.lost(300_000, 0), 5_000);
    assert_eq!(backoff.lost(0, 0), 7_500);
}

proptest! {
    #[test]
    fn every_wait_lies_between_the_first_and_the_longest(stood in prop::collection::vec(0u64..400_000, 1..20), random in any::<u64>()) {
        let mut backoff = Backoff::new(Waits::default());
        for stood in stood {
            let wait = backoff.lost(stood, random);
            prop_assert!((5_000..=300_000).contains(&wait), "{wait}");
        }
    }

    #[test]
    fn the_relay_refuses_nothing_that_leaves_at_this_pace(
        kinds in prop::collection::vec(prop::sample::select(vec![Kind::Msg, Kind::Chunk, Kind::Other, Kind::Other]), 1..300),
        late in prop::collection::vec(0u64..90, 300),
    ) {
        let (mut pace, mut rates) = (Pace::new(zx1_relay_client::pace::MSG_MS), Rates::new(&Settings::default()));
        let (mut now, mut arrived) = (0, 0);
        for (kind, late) in kinds.into_iter().zip(late) {
            now += pace.wait(kind, now);
            pace.took(kind, now);
            // The network brings frames in their order, each a little later than it left.
            arrived = arrived.max(now + late);
            prop_assert_eq!(rates.take(true, kind, arrived), Verdict::Take);
        }
    }
}

fn said(content: &str, msg_id: Option<&str>, replay: bool) -> Said {
    Said {
        from: id("@aaaaaaaa"),
        from_name: "a".into(),
        to: Target::Channel("#x".into()),
        content: content.into(),
        sig: None,
        msg_id: msg_id.map(Into::into),
        replay,
    }
}

#[test]
fn what_comes_from_the_buffer_again_is_known_by_its_id_or_else_by_sender_time_and_text() {
    let mut seen = Seen::default();
    assert!(seen.take(&said("one", Some("1"), false), 5));
    assert!(!seen.take(&said("one", Some("1"), true), 5));
    assert!(!seen.take(&said("one", Some("1"), false), 5));
    assert!(seen.take(&said("one", Some("2"), true), 5));
    assert!(seen.take(&said("two", None, false), 6));
    assert!(!seen.take(&said("two", None, true), 6));
    assert!(seen.take(&said("two", None, true), 7));
    // Without an id somebody may say the same twice.
    assert!(seen.take(&said("two", None, false), 6));
    let other = Said { to: Target::Channel("#y".into()), ..said("one", Some("1"), true) };
    assert!(seen.take(&other, 5));
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut seen = Seen::default();
    for at in 0..5_000 {
        assert!(seen.take(&said("x", None, true), at));
    }
    assert!(!seen.take(&said("x", None, true), 4_999));
    assert!(seen.take(&said("x", None, true), 0));
}

#[test]
fn only_digits_and_dashes_are_a_nonce_that_is_signed() {
    for good in ["0123456789abcdef", "DEADBEEF-0000-4000-8000-000000000000", &"f".repeat(128)] {
        assert!(is_nonce(good), "{good}");
    }
    for bad in [
        "0123456789abcde",
        &"f".repeat(129),
        "COMPLETE|prop_1|done",
        "ACCEPT|prop_1||100",
        "AGENTCHAT_AUTH|0|1|2",
        "REGISTER_SKILLS|00000000",
        r#"{"old_pubkey":"a","new_pubkey":"b"}"#,
        "@aaaaaaaa|task|5|XNO|||",
        "zx1/relay/v1|PROPOSAL|00",
        "abcdefghijklmnop",
    ] {
        assert!(!is_nonce(bad), "{bad}");
    }
}

#[test]
fn an_address_is_ws_or_wss_without_secrets() {
    for (text, shown) in [
        ("ws://127.0.0.1:6667", "ws://127.0.0.1:6667"),
        ("WSS://Relay.example/chat/", "wss://relay.example/chat"),
        (" ws://[::1]:1 ", "ws://[::1]:1"),
    ] {
        assert_eq!(Relay::parse(text).unwrap().to_string(), shown);
    }
    assert!(
        Relay::parse("wss://x").unwrap().is_encrypted() && !Relay::parse("ws://x").unwrap().is_encrypted()
    );
    for text in
        ["", "http://x", "x:6667", "ws:x", "ws://", "ws://u:p@x", "ws://x?key=1", "ws://a b", "ws://x#y"]
    {
        assert!(matches!(Relay::parse(text), Err(ClientError::Address { .. })), "{text}");
    }
}
