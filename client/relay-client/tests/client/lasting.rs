//! Losses of the connection.

use zx1_relay_client::{ClientError, News};
use zx1_relay_rules::client::{Frame, Presence, Target};
use zx1_relay_rules::event::Event;
use zx1_relay_rules::{RelayError, server};

use crate::peer::{Peer, TS, heard, id, identity, within};

fn msg(content: &str, msg_id: Option<&str>, replay: bool, ts: u64) -> String {
    server::msg(Some((&id("@bbbbbbbb"), "b")), "#x", content, None, msg_id, replay, ts)
}

async fn content(client: &mut zx1_relay_client::Client) -> String {
    loop {
        if let Some(News::Heard(heard)) = within(client.next()).await
            && let Event::Said(said) = heard.event
        {
            return said.content;
        }
    }
}

#[tokio::test]
async fn a_lost_connection_comes_back_and_loses_and_doubles_no_message() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(Some(identity(1))), "@3d4c0305").await;
    wire.send(server::joined("#x", &[], 0, TS)).await;
    wire.send(server::joined("#y", &[], 0, TS)).await;
    wire.send(server::left("#y", TS)).await;
    client.send(Frame::SetPresence { status: Presence::Busy, status_text: None }).await.unwrap();
    assert!(matches!(wire.read().await, Frame::SetPresence { .. }));
    wire.send(msg("1", None, false, TS + 1)).await;
    wire.send(msg("2", Some("id2"), false, TS + 2)).await;
    assert_eq!((content(&mut client).await, content(&mut client).await), ("1".into(), "2".into()));
    drop(wire);
    let Some(News::Lost { wait_ms, .. }) = within(client.next()).await else { panic!("another") };
    assert!((1..=4).contains(&wait_ms));
    // What is said meanwhile waits.
    let waiting = Frame::Msg { to: Target::Channel("#x".into()), content: "mine".into(), sig: None };
    let (sent, mut wire) = tokio::join!(client.send(waiting), async {
        let mut wire = peer.accept().await;
        wire.identify("@3d4c0305").await;
        assert_eq!(wire.read().await, Frame::Join { channel: "#x".into() });
        assert!(matches!(wire.read().await, Frame::SetPresence { status: Presence::Busy, .. }));
        assert!(matches!(wire.read().await, Frame::Msg { content, .. } if content == "mine"));
        wire
    });
    sent.unwrap();
    assert!(matches!(within(client.next()).await, Some(News::Back(welcome)) if welcome.verified));
    wire.send(server::joined("#x", &[], 0, TS)).await;
    for (text, msg_id, at) in [("1", None, 1), ("2", Some("id2"), 2), ("3", None, 3), ("4", Some("id4"), 4)] {
        wire.send(msg(text, msg_id, true, TS + at)).await;
    }
    wire.send(msg("5", None, false, TS + 5)).await;
    for text in ["3", "4", "5"] {
        assert_eq!(content(&mut client).await, text);
    }
}

#[tokio::test]
async fn it_is_tried_until_the_relay_is_back_and_a_refusal_ends_it() {
    let peer = Peer::new().await;
    let (mut client, wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    drop(wire);
    // Twice the relay hangs up before it welcomes; then it refuses.
    for _ in 0..2 {
        drop(peer.accept().await);
    }
    let mut wire = peer.accept().await;
    wire.read().await;
    wire.send(server::error(&RelayError::Banned, TS)).await;
    let mut lost = 0;
    let end = loop {
        match within(client.next()).await {
            Some(News::Lost { .. }) => lost += 1,
            Some(News::Ended(error)) => break error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(&end, ClientError::Refused { code, .. } if code == "BANNED"), "{end}");
    assert_eq!(lost, 3);
    assert_eq!(within(client.next()).await, None);
    assert_eq!(client.send(Frame::Ping).await, Err(ClientError::Ended));
}

#[tokio::test]
async fn who_was_displaced_or_removed_does_not_come_back() {
    for (frame, is_displaced) in
        [(server::displaced("r", "::1", TS), true), (server::removed(true, "spam", TS), false)]
    {
        let peer = Peer::new().await;
        let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
        wire.send(frame).await;
        drop(heard(&mut client).await);
        match within(client.next()).await {
            Some(News::Ended(ClientError::Displaced)) => assert!(is_displaced),
            Some(News::Ended(ClientError::Removed { reason })) => assert!(!is_displaced && reason == "spam"),
            other => panic!("{other:?}"),
        }
        assert_eq!(within(client.next()).await, None);
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_stops_reading_and_loses_nothing() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let many = 2_000;
    let sender = tokio::spawn(async move {
        for at in 0..many {
            wire.send(msg(&at.to_string(), None, false, TS)).await;
        }
        wire
    });
    for at in 0..many {
        assert_eq!(content(&mut client).await, at.to_string());
    }
    within(sender).await.unwrap();
}
