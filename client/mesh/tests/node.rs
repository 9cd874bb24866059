//! Real nodes that talk to each other, in memory and over the loopback interface.

#![allow(clippy::unwrap_used)]

mod support;

use libp2p::futures;
use libp2p::identity::Keypair;
use std::sync::Arc;
use support::{MEMORY, Plan, QUIC, TCP, by_prefix, plan, start, until, within};
use tokio::task::JoinSet;
use zx1_home::FixedClock;
use zx1_mesh::node::{Dropped, Event, NodeError, Refusal};
use zx1_mesh::validate::Verdict;
use zx1_mesh::wire::{key_of_peer, message_id};
use zx1_protocol::channel::Channel;

async fn gossip_both_ways(listen: &str) {
    let (mut one, mut two) = (start(listen).await, start(listen).await);
    one.join(&two, Channel::Broadcast).await;
    let id = one.node.publish(Channel::Broadcast, b"from one".to_vec()).await.unwrap();
    assert_eq!(id, message_id(b"from one"));
    let message = two.next().await;
    assert_eq!((&message.bytes[..], message.channel), (&b"from one"[..], Channel::Broadcast));
    assert_eq!(Some(message.author), key_of_peer(&one.id()));
    two.publish(Channel::Notary, "from two").await;
    let message = one.next().await;
    assert_eq!(
        (&message.bytes[..], message.channel, message.forwarder),
        (&b"from two"[..], Channel::Notary, two.id())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn gossip_is_accepted_both_ways_in_memory() {
    gossip_both_ways(MEMORY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gossip_is_accepted_both_ways_over_tcp() {
    gossip_both_ways(TCP).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gossip_is_accepted_both_ways_over_quic() {
    gossip_both_ways(QUIC).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_message_is_forwarded_and_a_refused_one_is_not() {
    let (one, middle, mut far) = (start(MEMORY).await, start(MEMORY).await, start(MEMORY).await);
    one.join(&middle, Channel::Broadcast).await;
    far.join(&middle, Channel::Broadcast).await;
    one.publish(Channel::Broadcast, "old news").await;
    one.publish(Channel::Broadcast, "bad news").await;
    one.publish(Channel::Broadcast, "news").await;
    let message = far.next().await;
    assert_eq!((&message.bytes[..], message.forwarder), (&b"news"[..], middle.id()));
    assert_eq!(Some(message.author), key_of_peer(&one.id()), "the author stays the author");
    assert_eq!(far.judged(), ["news"]);
    assert_eq!(middle.node.counters().refused(Refusal::Ignored), 1);
    assert_eq!(middle.node.counters().refused(Refusal::Rejected), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_forged_messages_graylist_their_sender() {
    let (forger, honest) = (start(MEMORY).await, start(MEMORY).await);
    forger.join(&honest, Channel::Broadcast).await;
    for number in 0..3 {
        forger.publish(Channel::Broadcast, &format!("bad {number}")).await;
    }
    let info = honest.until(forger.id(), |it| it.graylisted).await;
    assert!(info.score < -8_000, "{}", info.score);
    // What comes now is dropped unread, on streams as well. That the direct message behind it on the same connection was
    // cut off shows that it came.
    for number in 3..10 {
        forger.publish(Channel::Broadcast, &format!("bad {number}")).await;
    }
    assert!(forger.send(&honest, "direct").await.is_err());
    assert_eq!(honest.judged(), ["bad 0", "bad 1", "bad 2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ignored_messages_cost_their_sender_nothing() {
    let (late, honest) = (start(MEMORY).await, start(MEMORY).await);
    late.join(&honest, Channel::Broadcast).await;
    for number in 0..20 {
        late.publish(Channel::Broadcast, &format!("old {number}")).await;
    }
    until(async || (honest.node.counters().refused(Refusal::Ignored) == 20).then_some(())).await;
    assert!(honest.until(late.id(), |_| true).await.score >= 0);
}

/// The judge takes bytes only from their author, and the thief publishes the author's bytes under its own name.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_thief_pays_for_bytes_under_a_wrong_name() {
    let (author, thief) = (plan(MEMORY), plan(MEMORY));
    let name = key_of_peer(&author.settings.key.public().to_peer_id()).unwrap();
    let honest = Plan {
        rule: Box::new(move |it| {
            Some(if it.author == name { Verdict::Accept } else { Verdict::Misattributed(3) })
        }),
        ..plan(MEMORY)
    };
    let (author, thief, honest) = (author.start().await, thief.start().await, honest.start().await);
    author.join(&honest, Channel::Broadcast).await;
    thief.join(&honest, Channel::Broadcast).await;
    for number in 0..3 {
        let text = format!("bytes {number}");
        thief.publish(Channel::Broadcast, &text).await;
        until(async || (honest.node.counters().refused(Refusal::Misattributed) > number).then_some(())).await;
        // The same message id: to gossipsub this is a copy of what the thief brought.
        author.publish(Channel::Broadcast, &text).await;
    }
    honest.until(thief.id(), |it| it.graylisted).await;
    author.publish(Channel::Broadcast, "the author's own").await;
    until(async || (honest.node.counters().accepted() == 1).then_some(())).await;
    assert!(honest.until(author.id(), |_| true).await.score >= 0);
}

/// One node knows an author that the other refuses to hear; honest nodes must not punish each other for it.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_different_views_stay_friends() {
    let strict = Plan {
        rule: Box::new(
            |it| if it.bytes.starts_with(b"new") { Some(Verdict::Ignore(9)) } else { by_prefix(it) },
        ),
        ..plan(MEMORY)
    };
    let (one, strict, mut other) = (start(MEMORY).await, strict.start().await, start(MEMORY).await);
    one.join(&strict, Channel::Reputation).await;
    other.join(&strict, Channel::Reputation).await;
    one.join(&other, Channel::Reputation).await;
    for number in 0..10 {
        one.publish(Channel::Reputation, &format!("new {number}")).await;
        assert_eq!(&other.next().await.bytes[..], format!("new {number}").as_bytes());
    }
    until(async || (strict.node.counters().refused(Refusal::Ignored) == 10).then_some(())).await;
    for peer in [&one, &other] {
        assert!(strict.until(peer.id(), |_| true).await.score >= 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_message_is_acknowledged_when_it_is_on_disk_and_not_before() {
    let (one, mut two) = (start(TCP).await, Plan { permits: 0, ..plan(TCP) }.start().await);
    one.node.hint(two.id(), two.address.clone()).await.unwrap();
    let mut sent = Box::pin(one.node.send(two.id(), b"a deal".to_vec()));
    let message = {
        let got = std::pin::pin!(two.next());
        match futures::future::select(&mut sent, got).await {
            futures::future::Either::Left((sent, _)) => panic!("acknowledged before it was kept: {sent:?}"),
            futures::future::Either::Right((message, _)) => message,
        }
    };
    assert_eq!((message.channel, message.forwarder), (Channel::Direct, one.id()));
    assert!(futures::poll!(&mut sent).is_pending());
    two.shelf.permits.add_permits(1);
    sent.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_refused_or_not_kept_is_unanswered() {
    let (one, two) = (start(MEMORY).await, start(MEMORY).await);
    let full = Plan { refuses: true, ..plan(MEMORY) }.start().await;
    for peer in [&two, &full] {
        one.node.dial(peer.address.clone()).await.unwrap();
    }
    for text in ["bad", "old", "not mine"] {
        assert!(matches!(one.send(&two, text).await, Err(NodeError::Unanswered { .. })), "{text}");
    }
    assert!(matches!(one.send(&full, "good").await, Err(NodeError::Unanswered { .. })));
    assert_eq!(full.node.counters().dropped(Dropped::NotKept), 1);
    one.send(&two, "good").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_envelope_goes_through_and_a_longer_one_is_not_sent() {
    let (one, mut two) = (start(TCP).await, start(TCP).await);
    one.join(&two, Channel::Broadcast).await;
    let longest = vec![b'x'; 65_536];
    one.node.send(two.id(), longest.clone()).await.unwrap();
    assert_eq!(two.next().await.bytes.len(), 65_536);
    one.node.publish(Channel::Broadcast, vec![b'y'; 65_536]).await.unwrap();
    assert_eq!(two.next().await.bytes.len(), 65_536);
    for length in [0, 65_537] {
        let envelope = vec![b'z'; length];
        let refused = one.node.send(two.id(), envelope.clone()).await;
        assert!(matches!(refused, Err(NodeError::Length { .. })), "{refused:?}");
        let refused = one.node.publish(Channel::Broadcast, envelope).await;
        assert!(matches!(refused, Err(NodeError::Length { .. })), "{refused:?}");
    }
}

/// gossipsub's own limit counts what follows a message in the same read.
#[tokio::test(flavor = "multi_thread")]
async fn the_longest_envelopes_go_through_one_right_behind_the_other() {
    let (one, mut two) = (start(TCP).await, start(TCP).await);
    one.join(&two, Channel::Broadcast).await;
    for number in 0..20 {
        one.node.publish(Channel::Broadcast, vec![b'a' + number; 65_536]).await.unwrap();
    }
    for _ in 0..20 {
        assert_eq!(two.next().await.bytes.len(), 65_536);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_sent_says_why() {
    let (one, two) = (start(MEMORY).await, start(MEMORY).await);
    let text = || b"text".to_vec();
    assert!(matches!(one.send(&two, "text").await, Err(NodeError::Unreachable { .. })));
    assert!(matches!(one.node.publish(Channel::Broadcast, text()).await, Err(NodeError::NoPeers)));
    assert!(matches!(one.node.publish(Channel::Direct, text()).await, Err(NodeError::NoTopic)));
    assert!(matches!(one.node.dial("/memory/1".parse().unwrap()).await, Err(NodeError::Dial { .. })));
    one.join(&two, Channel::Broadcast).await;
    one.node.publish(Channel::Broadcast, text()).await.unwrap();
    assert!(matches!(one.node.publish(Channel::Broadcast, text()).await, Err(NodeError::Duplicate)));
    one.node.stop().await.unwrap();
    assert!(matches!(one.node.peers().await, Err(NodeError::Stopped)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_31st_inbound_connection_is_refused() {
    let hub = start(MEMORY).await;
    let mut others = JoinSet::new();
    for _ in 0..30 {
        let address = hub.address.clone();
        others.spawn(async move {
            let peer = start(MEMORY).await;
            peer.node.dial(address).await.unwrap();
            peer
        });
    }
    let others = within(others.join_all()).await;
    until(async || (hub.node.peers().await.unwrap().len() == 30).then_some(())).await;
    let last = start(MEMORY).await;
    // The dialler may see a connection that is closed at once.
    let _ = last.node.dial(hub.address.clone()).await;
    until(async || (hub.node.counters().dropped(Dropped::Connection) == 1).then_some(())).await;
    until(async || last.node.peers().await.unwrap().is_empty().then_some(())).await;
    assert_eq!(hub.node.peers().await.unwrap().len(), others.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_cross_leave_one_that_works() {
    let hasty = || {
        let mut plan = plan(TCP);
        plan.settings.upkeep = std::time::Duration::from_millis(20);
        plan.settings.second_connection = std::time::Duration::from_millis(100);
        plan.start()
    };
    let (mut one, two) = (hasty().await, hasty().await);
    let crossed =
        futures::future::join(one.node.dial(two.address.clone()), two.node.dial(one.address.clone()));
    let _ = within(crossed).await;
    for (from, to) in [(&one, &two), (&two, &one)] {
        from.until(to.id(), |it| it.connections == 1 && it.mesh.contains(&Channel::Broadcast)).await;
    }
    two.publish(Channel::Broadcast, "still here").await;
    assert_eq!(&one.next().await.bytes[..], b"still here");
}

/// The test of an address is a second connection to a peer that is connected.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_confirmed_by_a_peer_that_dials_it_back() {
    let (mut one, two) = (start(TCP).await, start(TCP).await);
    one.join(&two, Channel::Broadcast).await;
    let own = zx1_mesh::addresses::without_peer(&one.address);
    one.event(|it| *it == Event::External(own.clone())).await;
    one.send(&two, "still here").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_is_too_slow_misses_news_and_stops_nobody() {
    let mut small = plan(MEMORY);
    small.settings.max_events = 1;
    let (deaf, one) = (small.start().await, start(MEMORY).await);
    // Nobody reads its events: the connection and three subscriptions are more than one.
    one.join(&deaf, Channel::Broadcast).await;
    until(async || (deaf.node.counters().dropped(Dropped::EventReader) > 0).then_some(())).await;
    one.send(&deaf, "still taken").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_drops_the_loud_authors_newest_and_serves_the_quiet_one() {
    let (loud, quiet) = (start(MEMORY).await, start(MEMORY).await);
    let name = key_of_peer(&loud.id()).unwrap();
    let mut slow = plan(MEMORY);
    slow.settings.max_queued = 8;
    slow.rule = Box::new(move |it| (it.author != name).then_some(Verdict::Accept));
    slow.lookups = 0;
    let mut slow = slow.start().await;
    loud.join(&slow, Channel::Broadcast).await;
    quiet.join(&slow, Channel::Broadcast).await;
    for number in 0..20 {
        loud.publish(Channel::Broadcast, &format!("loud {number:02}")).await;
    }
    // The first waits for facts, eight wait behind it, and eleven found no place; twelve where all came before a worker
    // took the first.
    until(async || (slow.node.counters().dropped(Dropped::QueueFull) >= 11).then_some(())).await;
    quiet.publish(Channel::Broadcast, "quiet").await;
    assert_eq!(&slow.next().await.bytes[..], b"quiet");
    slow.judge.lookups.add_permits(20);
    let mut rest = Vec::new();
    while slow.node.counters().accepted() > rest.len() as u64 + 1 || rest.len() < 8 {
        rest.push(String::from_utf8(slow.next().await.bytes.to_vec()).unwrap());
    }
    let expected: Vec<_> = (0..rest.len()).map(|it| format!("loud {it:02}")).collect();
    assert_eq!(rest, expected, "in order, the oldest ones");
    assert!((8..=9).contains(&rest.len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_an_unknown_author_are_ignored_when_no_facts_come() {
    let one = start(MEMORY).await;
    let slow = Plan { rule: Box::new(|_| None), lookups: 0, ..plan(MEMORY) }.start().await;
    one.join(&slow, Channel::Broadcast).await;
    for number in 0..3 {
        one.publish(Channel::Broadcast, &format!("{number}")).await;
    }
    until(async || (slow.node.counters().dropped(Dropped::WaitExpired) == 3).then_some(())).await;
    assert!(slow.until(one.id(), |_| true).await.score >= 0);
    assert_eq!(
        slow.node.counters().dropped(Dropped::Late),
        0,
        "the verdict came while gossipsub still had them"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_peers_and_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mesh").join("peers.json");
    let (friend, enemy) = (start(TCP).await, start(TCP).await);
    let key = Keypair::generate_ed25519();
    let again = || {
        let mut plan = plan(TCP);
        plan.settings.key = key.clone();
        plan.settings.peers_file = Some(file.clone());
        plan.start()
    };
    let first = again().await;
    first.join(&friend, Channel::Broadcast).await;
    first.join(&enemy, Channel::Broadcast).await;
    first.node.block(enemy.id(), u64::MAX).await.unwrap();
    first.node.stop().await.unwrap();

    let mut second = again().await;
    second
        .event(|it| matches!(it, Event::Connected { peer, outbound: true, .. } if *peer == friend.id()))
        .await;
    let _ = enemy.node.dial(second.address.clone()).await;
    until(async || (second.node.counters().dropped(Dropped::Connection) > 0).then_some(())).await;
    assert!(second.node.peers().await.unwrap().iter().all(|it| it.peer != enemy.id()));
    assert!(matches!(second.send(&enemy, "text").await, Err(NodeError::Blocked { .. })));
    second.node.stop().await.unwrap();

    std::fs::write(&file, b"{}").unwrap();
    let refused = {
        let mut plan = plan(MEMORY);
        plan.settings.peers_file = Some(file.clone());
        let judge = Arc::clone(&second.judge);
        zx1_mesh::node::Node::start(plan.settings, judge, Arc::clone(&second.shelf), None).await
    };
    assert!(matches!(refused, Err(NodeError::PeersFormat { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_closes_the_connection_and_ends_by_the_clock() {
    let clock = FixedClock::new(1_000_000);
    let mut blocker = plan(MEMORY);
    blocker.settings.clock = Arc::new(clock.clone());
    blocker.settings.upkeep = std::time::Duration::from_millis(20);
    let (mut blocker, other) = (blocker.start().await, start(MEMORY).await);
    blocker.join(&other, Channel::Broadcast).await;
    blocker.node.block(other.id(), 2_000).await.unwrap();
    blocker.event(|it| *it == Event::Disconnected(other.id())).await;
    assert!(blocker.node.dial(other.address.clone()).await.is_err());
    clock.set(2_000_000);
    until(async || blocker.node.dial(other.address.clone()).await.ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_is_found_through_another() {
    let with_own_address = |port: u64| {
        let mut plan = plan(&format!("/memory/{port}"));
        plan.settings.external = plan.settings.listen.clone();
        plan.start()
    };
    let port = 0x7A78_0000 + u64::from(std::process::id());
    let (mut known, sought, seeker) =
        (with_own_address(port).await, with_own_address(port << 8).await, start(MEMORY).await);
    sought.node.dial(known.address.clone()).await.unwrap();
    known.event(|it| matches!(it, Event::Identified { peer, .. } if *peer == sought.id())).await;
    seeker.node.dial(known.address.clone()).await.unwrap();
    let found = until(async || {
        let found = seeker.node.find(sought.id()).await.unwrap();
        (!found.is_empty()).then_some(found)
    });
    assert_eq!(found.await, [zx1_mesh::addresses::without_peer(&sought.address)]);
    seeker.send(&sought, "found").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_reach_each_other_through_a_relay() {
    let mut relay = plan(TCP);
    relay.settings.relay_server = true;
    let mut relay = relay.start().await;
    // A relay relays once it knows an address by which others reach it.
    relay.node.confirm(zx1_mesh::addresses::without_peer(&relay.address)).await.unwrap();
    relay.event(|it| matches!(it, Event::External(_))).await;

    let circuit: libp2p::Multiaddr = format!("{}/p2p-circuit", relay.address).parse().unwrap();
    let mut hidden = plan(TCP);
    hidden.settings.listen = vec![circuit.clone()];
    let mut hidden = hidden.start().await;
    let far = start(MEMORY).await;
    let address = circuit.with_p2p(hidden.id()).unwrap();
    within(far.node.dial(address)).await.unwrap();
    far.send(&hidden, "through the relay").await.unwrap();
    assert_eq!(&hidden.next().await.bytes[..], b"through the relay");
    for (one, other) in [(&far, &hidden), (&hidden, &far)] {
        let address = one.until(other.id(), |_| true).await.address;
        assert!(zx1_mesh::addresses::is_relayed(&address), "{address}");
    }
}

#[tokio::test]
async fn a_place_that_a_relay_did_not_give_is_asked_for_again() {
    let mut relay = plan(TCP);
    relay.settings.relay_server = true;
    let relay = relay.start().await;
    let circuit: libp2p::Multiaddr = format!("{}/p2p-circuit", relay.address).parse().unwrap();
    let mut hidden = plan(MEMORY);
    hidden.settings.listen.push(circuit.clone());
    hidden.settings.upkeep = std::time::Duration::from_millis(20);
    let mut hidden = hidden.start().await;
    // The relay does not know yet that others reach it.
    hidden.event(|it| *it == Event::PlaceLost(circuit.clone())).await;
    relay.node.confirm(zx1_mesh::addresses::without_peer(&relay.address)).await.unwrap();
    hidden
        .event(|it| matches!(it, Event::Listening(address) if zx1_mesh::addresses::is_relayed(address)))
        .await;
}
