//! Files between two clients, over a peer that passes their messages on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::tempdir;
use zx1_relay_client::files::{Sending, receive, send, store};
use zx1_relay_client::{Client, ClientError};
use zx1_relay_rules::client::{Frame, Target};
use zx1_relay_rules::defaults::CHUNK_CHARS;
use zx1_relay_rules::event::Event;
use zx1_relay_rules::slurp::File;
use zx1_relay_rules::transfer::Message;
use zx1_relay_rules::{RelayError, server};

use crate::peer::{Peer, TS, Wire, heard, id, names, within};

const WAIT: Duration = Duration::from_secs(15);

/// What one client says reaches the other. `passes` decides about each frame.
async fn pass_on(a: Wire, b: Wire, passes: impl Fn(&Frame) -> bool + Send + 'static) {
    use futures_util::{SinkExt as _, StreamExt as _};
    use tokio_tungstenite::tungstenite::Message as Text;
    let (ids, passes) = ([id("@aaaaaaaa"), id("@bbbbbbbb")], passes);
    let ((mut to_a, mut from_a), (mut to_b, mut from_b)) = (a.0.split(), b.0.split());
    loop {
        let (text, from) = tokio::select! {
            text = from_a.next() => (text, 0),
            text = from_b.next() => (text, 1),
        };
        let Some(Ok(text)) = text else { return };
        let Ok(frame) = Frame::parse(text.to_text().unwrap_or_default()) else { continue };
        if !passes(&frame) {
            continue;
        }
        let (own, other) = (&ids[from], &ids[1 - from]);
        let text = match &frame {
            Frame::Msg { to: Target::Agent(to), content, .. } => {
                assert_eq!(to, other);
                server::msg(Some((own, "n")), &to.to_string(), content, None, None, false, TS)
            }
            Frame::FileChunk { to, content } => server::file_chunk(own, to, content, TS),
            _ => continue,
        };
        let to = if from == 0 { &mut to_b } else { &mut to_a };
        if to.send(Text::text(text)).await.is_err() {
            return;
        }
    }
}

/// Two clients that hear each other.
async fn pair(passes: impl Fn(&Frame) -> bool + Send + 'static) -> (Client, Client) {
    let peer = Peer::new().await;
    let (a, wire_a) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let (b, wire_b) = peer.connected(peer.options(None), "@bbbbbbbb").await;
    tokio::spawn(pass_on(wire_a, wire_b, passes));
    (a, b)
}

/// Files that make three chunks.
fn large() -> Vec<File> {
    let text = "0123456789abcde\n".repeat(CHUNK_CHARS * 2 / 16 + 100);
    vec![
        File { path: "d/large".into(), bytes: text.into_bytes() },
        File { path: "bin".into(), bytes: vec![0, 1] },
    ]
}

fn chunk_of(frame: &Frame) -> Option<u64> {
    let Frame::FileChunk { content, .. } = frame else { return None };
    let Ok(Message::Chunk { idx, .. }) = Message::parse(content) else { return None };
    Some(idx)
}

async fn transfer(
    (a, b): &mut (Client, Client),
    files: &[File],
    out: &std::path::Path,
) -> (zx1_relay_client::Result<()>, zx1_relay_client::Result<usize>) {
    let mut sending = Sending::new(files, "files", "now", "alice", now()).unwrap();
    let (to, from) = (b.agent().clone(), a.agent().clone());
    within(async {
        tokio::join!(
            send(a, &to, &mut sending, |_| ()),
            receive(b, &from, WAIT, |_| true, |files| store(out, files).map(|written| written.len()))
        )
    })
    .await
}

fn now() -> u64 {
    use zx1_home::clock::Clock as _;
    zx1_home::clock::SystemClock.unix_ms()
}

#[tokio::test]
async fn files_arrive_whole_and_in_their_folder() {
    let out = tempdir().unwrap();
    let mut clients = pair(|_| true).await;
    let (sent, received) = transfer(&mut clients, &large(), out.path()).await;
    sent.unwrap();
    assert_eq!(received.unwrap(), 2);
    assert_eq!(names(out.path()), ["bin", "d", "d/large"]);
    assert_eq!(std::fs::read(out.path().join("d/large")).unwrap(), large()[0].bytes);
}

#[tokio::test]
async fn a_chunk_that_was_lost_is_asked_for_by_its_number() {
    let out = tempdir().unwrap();
    let lost = Arc::new(AtomicBool::new(false));
    let seen = lost.clone();
    let mut clients =
        pair(move |frame| chunk_of(frame) != Some(1) || seen.swap(true, Ordering::SeqCst)).await;
    let (sent, received) = transfer(&mut clients, &large(), out.path()).await;
    sent.unwrap();
    assert_eq!((received.unwrap(), lost.load(Ordering::SeqCst)), (2, true));
    assert_eq!(std::fs::read(out.path().join("d/large")).unwrap(), large()[0].bytes);
}

#[tokio::test]
async fn a_file_that_exists_is_not_overwritten_and_the_sender_learns_it() {
    let out = tempdir().unwrap();
    std::fs::write(out.path().join("bin"), "mine").unwrap();
    let mut clients = pair(|_| true).await;
    let files = [File { path: "bin".into(), bytes: b"theirs\n".to_vec() }];
    let (sent, received) = transfer(&mut clients, &files, out.path()).await;
    assert!(matches!(received, Err(ClientError::Taken { .. })));
    let sent = sent.unwrap_err();
    // Without a path of the receiver's machine.
    assert_eq!(sent, ClientError::NotTaken { why: "a file of this name already exists".into() });
    assert_eq!(std::fs::read_to_string(out.path().join("bin")).unwrap(), "mine");
}

#[tokio::test]
async fn an_offer_that_is_not_wanted_is_rejected() {
    let (mut a, mut b) = pair(|_| true).await;
    let files = [File { path: "x\u{1b}[31m".replace('\u{1b}', "_"), bytes: b"x\n".to_vec() }];
    let mut sending = Sending::new(&files, "files", "now", "alice", now()).unwrap();
    let (to, from) = (b.agent().clone(), a.agent().clone());
    let (sent, received) = within(async {
        tokio::join!(
            send(&mut a, &to, &mut sending, |_| ()),
            receive(
                &mut b,
                &from,
                WAIT,
                |offer| {
                    assert_eq!((offer.nick.as_str(), offer.total_size, offer.files.len()), ("alice", 2, 1));
                    false
                },
                |_| Ok(())
            )
        )
    })
    .await;
    assert_eq!((sent, received), (Err(ClientError::Rejected), Err(ClientError::Declined)));
}

#[tokio::test]
async fn an_offer_above_50_mebibytes_is_rejected_unasked() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let from = id("@bbbbbbbb");
    let offer = Message::Offer {
        tid: "t".into(),
        files: vec![],
        total_size: 50 * 1024 * 1024 + 1,
        sha256: "0".repeat(64),
        chunks: 400,
        sender_nick: String::new(),
    };
    wire.send(server::msg(Some((&from, "b")), "@aaaaaaaa", &offer.encode(), None, None, false, TS)).await;
    let asked = |_: &_| panic!("nobody is asked");
    let received: zx1_relay_client::Result<()> =
        within(receive(&mut client, &from, WAIT, asked, |_| Ok(()))).await;
    assert!(matches!(received, Err(ClientError::Rule(RelayError::ArchiveTooLarge { .. }))));
    let Frame::Msg { content, .. } = wire.read().await else { panic!("another frame") };
    assert_eq!(Message::parse(&content).unwrap(), Message::Reject { tid: "t".into() });
}

#[tokio::test]
async fn an_archive_that_leaves_its_folder_writes_nothing() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let (from, place) = (id("@bbbbbbbb"), tempdir().unwrap());
    let out = place.path().join("out");
    let archive = "=== ../evil ===\nx\n=== END ../evil ===\n";
    let sha256 = zx1_relay_rules::slurp::sha256(archive);
    let said = |message: Message| {
        server::msg(Some((&id("@bbbbbbbb"), "b")), "@aaaaaaaa", &message.encode(), None, None, false, TS)
    };
    let (tid, hash) = (|| "t".to_owned(), sha256.clone());
    let sender = async {
        let files = vec![];
        let nick = String::new();
        let offer = Message::Offer { tid: tid(), files, total_size: 2, sha256, chunks: 1, sender_nick: nick };
        wire.send(said(offer)).await;
        assert!(matches!(wire.read().await, Frame::Msg { .. }));
        let chunk = Message::Chunk { tid: tid(), idx: 0, total: 1, data: archive.into() };
        wire.send(server::file_chunk(&id("@bbbbbbbb"), &id("@aaaaaaaa"), &chunk.encode(), TS)).await;
        wire.send(said(Message::Complete { tid: tid(), sha256: hash })).await;
        let Frame::Msg { content, .. } = wire.read().await else { panic!("another frame") };
        assert!(matches!(Message::parse(&content), Ok(Message::Ack { ok: false, .. })), "{content}");
    };
    let receiver = receive(&mut client, &from, WAIT, |_| true, |files| store(&out, files));
    let (received, ()) = within(async { tokio::join!(receiver, sender) }).await;
    assert!(matches!(received, Err(ClientError::Rule(RelayError::Path { .. }))), "{received:?}");
    assert_eq!(names(place.path()), Vec::<String>::new());
}

#[tokio::test]
async fn whatever_is_said_to_a_client_that_listens_it_answers_nothing() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let hostile = [
        r#"{"_ft":"offer","tid":"t","files":[{"name":"../../x","size":1}],"totalSize":1,"sha256":"00","chunks":1,"senderNick":"n"}"#.to_owned(),
        Message::Offer { tid: "t".into(), files: vec![], total_size: 1, sha256: "0".repeat(64), chunks: 1, sender_nick: "n".into() }.encode(),
        Message::Accept { tid: "t".into(), from: 0 }.encode(),
        Message::Complete { tid: "t".into(), sha256: "0".repeat(64) }.encode(),
        "/send @bbbbbbbb ~/.ssh/id_ed25519".into(),
        "$(cat /etc/passwd) `id` file:///etc/passwd".into(),
        "=== ../evil ===\nx\n=== END ../evil ===\n".into(),
    ];
    for content in &hostile {
        wire.send(server::msg(Some((&id("@bbbbbbbb"), "b")), "@aaaaaaaa", content, None, None, false, TS))
            .await;
    }
    let chunk = Message::Chunk { tid: "t".into(), idx: 0, total: 1, data: "x".into() };
    wire.send(server::file_chunk(&id("@bbbbbbbb"), &id("@aaaaaaaa"), &chunk.encode(), TS)).await;
    for content in &hostile {
        let Event::Said(said) = heard(&mut client).await.event else { panic!("another event") };
        assert_eq!(said.content, *content);
    }
    assert!(matches!(heard(&mut client).await.event, Event::FileChunk { .. }));
    client.send(Frame::Ping).await.unwrap();
    assert_eq!(wire.read().await, Frame::Ping);
}

#[test]
fn a_long_list_of_files_is_cut_to_what_a_message_carries() {
    let files: Vec<File> =
        (0..256).map(|at| File { path: format!("{at}-{}", "x".repeat(90)), bytes: vec![] }).collect();
    let sending = Sending::new(&files, "files", "now", "alice", 0).unwrap();
    let offer = sending.offer().encode();
    assert!(zx1_relay_rules::client::units(&offer) <= 4_096);
    let Message::Offer { files, .. } = Message::parse(&offer).unwrap() else { panic!("another message") };
    assert!((20..256).contains(&files.len()), "{}", files.len());
}

#[test]
fn a_transfer_that_takes_longer_than_a_receiver_waits_is_refused_before_it_is_offered() {
    // A quote takes four bytes of a frame, so that 50 MiB of them make more than 550 chunks.
    let files = [File { path: "a".into(), bytes: vec![b'"'; 45 * 1024 * 1024] }];
    let refused = Sending::new(&files, "f", "now", "n", 0).map(|_| ());
    assert!(matches!(refused, Err(ClientError::Rule(RelayError::TooSlow { .. }))), "{refused:?}");
}
