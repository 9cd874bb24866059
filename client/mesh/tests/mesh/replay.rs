use crate::common::{NOW, SECOND, agent};
use proptest::prelude::*;
use std::collections::HashSet;
use zx1_mesh::Reason;
use zx1_mesh::defaults::WINDOW_LIFE;
use zx1_mesh::replay::Windows;
use zx1_protocol::channel::Channel;
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::validate::Reason as Rule;

#[test]
fn each_author_and_channel_has_nonces_of_its_own() {
    let mut windows = Windows::default();
    for (author, channel) in [(1, Channel::Broadcast), (2, Channel::Broadcast), (1, Channel::Direct)] {
        assert_eq!(windows.accept(&agent(author), channel, 50, NOW), Ok(()));
        assert!(matches!(
            windows.accept(&agent(author), channel, 50, NOW),
            Err(Reason::Rule(Rule::Nonce(_)))
        ));
    }
    assert_eq!(windows.len(), 3);
    assert_eq!(windows.accept(&agent(1), Channel::Broadcast, 49, NOW), Ok(()), "late on a topic");
    assert!(windows.accept(&agent(1), Channel::Direct, 49, NOW).is_err(), "late on the stream");
}

#[test]
fn what_a_copy_could_still_be_accepted_of_is_never_forgotten() {
    let mut windows = Windows::new(2);
    windows.accept(&agent(1), Channel::Notary, 1, NOW).unwrap();
    windows.accept(&agent(2), Channel::Notary, 1, NOW + SECOND).unwrap();
    let third = |windows: &mut Windows, now| windows.accept(&agent(3), Channel::Notary, 1, now);
    assert_eq!(third(&mut windows, NOW + WINDOW_LIFE), Err(Reason::WindowsFull));
    assert_eq!(third(&mut windows, NOW - WINDOW_LIFE), Err(Reason::WindowsFull), "the clock jumped back");
    assert!(!windows.seen(&agent(1), Channel::Notary).accepts(1));
    assert_eq!(third(&mut windows, NOW + WINDOW_LIFE + 1), Ok(()));
    assert_eq!(windows.len(), 2);
    assert!(!windows.seen(&agent(2), Channel::Notary).accepts(1), "the more recent one stayed");
}

#[test]
fn what_the_log_remembers_counts_after_a_restart() {
    let mut windows = Windows::default();
    let seen = SeenNonces::none(Channel::Reputation).with(900).with(1_000);
    windows.restore(&agent(1), Channel::Reputation, seen, NOW);
    assert!(windows.accept(&agent(1), Channel::Reputation, 900, NOW).is_err());
    assert_eq!(windows.accept(&agent(1), Channel::Reputation, 950, NOW), Ok(()));
    // What happened since is newer than the log.
    windows.restore(&agent(1), Channel::Reputation, SeenNonces::none(Channel::Reputation), NOW);
    assert!(windows.accept(&agent(1), Channel::Reputation, 950, NOW).is_err());
}

proptest! {
    #[test]
    fn nothing_is_accepted_twice_while_its_time_would_let_it_in(
        messages in prop::collection::vec((0u8..6, 0u8..4, 0u64..40, 0u64..4 * SECOND), 0..300),
        most in 1usize..12,
    ) {
        let mut windows = Windows::new(most);
        let mut accepted: HashSet<(u8, u8, u64)> = HashSet::new();
        let mut now = NOW;
        for (author, number, nonce, step) in messages {
            // Never so long that any copy would fail by its time.
            now += if now + step > NOW + WINDOW_LIFE { 0 } else { step };
            let channel = Channel::from_number(number).unwrap();
            if windows.accept(&agent(author), channel, nonce, now).is_ok() {
                prop_assert!(accepted.insert((author, number, nonce)));
            }
            prop_assert!(windows.len() <= most);
        }
    }
}
