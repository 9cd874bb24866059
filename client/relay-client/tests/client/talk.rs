//! What is asked, and what comes back.

use std::time::Duration;

use base64::Engine as _;
use zx1_relay_client::{Answer, Client, ClientError, News};
use zx1_relay_rules::client::{Frame, Presence, Target};
use zx1_relay_rules::event::Event;
use zx1_relay_rules::hub::Hub;
use zx1_relay_rules::json::Value;
use zx1_relay_rules::proposal::{Act, Party, Proposal, State};
use zx1_relay_rules::server::{self, Member};
use zx1_relay_rules::signing::{self, Terms};
use zx1_relay_rules::{RelayError, Settings};

use crate::peer::{Peer, TS, heard, id, identity, within};

fn member(text: &str) -> Member {
    Member { id: id(text), name: "n".into(), verified: true, presence: Presence::Online, status_text: None }
}

#[tokio::test]
async fn a_key_is_proven_and_an_ephemeral_agent_needs_none() {
    let peer = Peer::new().await;
    let own = identity(1);
    let (client, key) = tokio::join!(Client::connect(peer.options(Some(own.clone()))), async {
        let mut wire = peer.accept().await;
        (wire.identify("@3d4c0305").await, wire)
    });
    let client = client.unwrap();
    assert_eq!(key.0.unwrap(), *own.public());
    assert_eq!((client.agent(), client.welcome().verified), (&id("@3d4c0305"), true));
    // The id of the key's canonical PEM, as the vectors have it.
    assert_eq!(own.id(), id("@3d4c0305"));
    let (client, _wire) = peer.connected(peer.options(None), "@abcdefgh").await;
    assert!(!client.welcome().verified);
}

#[tokio::test]
async fn an_older_relay_that_knows_no_subprotocol_is_spoken_to_as_well() {
    let peer = Peer::older().await;
    let (client, _wire) = tokio::join!(Client::connect(peer.options(None)), peer.accept());
    assert_eq!(client.unwrap().welcome().server, "older");
}

#[tokio::test]
async fn a_refused_identification_is_an_error_with_the_relays_words() {
    let peer = Peer::new().await;
    let (client, ()) = tokio::join!(Client::connect(peer.options(Some(identity(1)))), async {
        let mut wire = peer.accept().await;
        wire.read().await;
        wire.send(server::error(&RelayError::NotAllowed, TS)).await;
    });
    let error = client.unwrap_err();
    assert!(matches!(&error, ClientError::Refused { code, .. } if code == "NOT_ALLOWED"), "{error}");
    let options = zx1_relay_client::Options { name: "a b".into(), ..peer.options(None) };
    assert_eq!(Client::connect(options).await.unwrap_err(), RelayError::Name.into());
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_an_error() {
    let peer = Peer::new().await;
    let options = peer.options(None);
    drop(peer);
    assert!(matches!(Client::connect(options).await, Err(ClientError::Unreachable { .. })));
}

#[tokio::test]
async fn joining_saying_and_leaving_wait_for_the_relays_answers() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    // The rules themselves answer.
    let mut hub = Hub::new(Settings::default());
    hub.enter(id("@aaaaaaaa"), "tester".into(), false);
    let relay = tokio::spawn(async move {
        let own = id("@aaaaaaaa");
        let mut read = Vec::new();
        while let Some(text) = wire.raw().await {
            let frame = Frame::parse(&text).unwrap();
            let out = match &frame {
                Frame::Join { channel } => hub.join(&own, channel, TS),
                Frame::Leave { channel } => hub.leave(&own, channel, TS),
                Frame::CreateChannel { channel, invite_only } => hub.create(&own, channel, *invite_only, TS),
                Frame::Msg { to: Target::Channel(channel), content, sig } => {
                    hub.say(&own, channel, content, sig.as_deref(), Some("m1"), TS)
                }
                _ => Ok(Vec::new()),
            };
            match out {
                Ok(out) => {
                    for out in out {
                        wire.send(out.frame.to_string()).await;
                    }
                }
                Err(refusal) => wire.send(server::error(&refusal, TS)).await,
            }
            match &frame {
                Frame::ListChannels => wire.send(hub.channels(TS)).await,
                Frame::ListAgents { channel, .. } => {
                    wire.send(hub.agents(&own, channel, None, TS).unwrap()).await
                }
                Frame::Ping => wire.send(server::pong(TS)).await,
                _ => {}
            }
            read.push(frame);
        }
        read
    });
    let (listed, total) = client.join("#general").await.unwrap();
    assert_eq!((listed[0].id.clone(), total), (id("@aaaaaaaa"), 1));
    client.create("#own", true).await.unwrap();
    let general = Target::Channel("#general".into());
    let (said, at) = client.say(&general, "hello").await.unwrap();
    assert_eq!((said.content.as_str(), said.msg_id.as_deref(), at), ("hello", Some("m1"), TS));
    let refused = client.say(&Target::Channel("#agents".into()), "hello").await.unwrap_err();
    assert!(matches!(&refused, ClientError::Refused { code, .. } if code == "NOT_INVITED"), "{refused}");
    assert_eq!(client.channels().await.unwrap()[2], ("#general".into(), 1));
    assert_eq!(client.agents("#general").await.unwrap().len(), 1);
    client.set_presence(Presence::Away, Some("lunch".into())).await.unwrap();
    client.leave("#general").await.unwrap();
    for (wrong, why) in [
        (client.join("general").await.map(|_| ()), RelayError::ChannelName),
        (client.say(&general, "").await.map(|_| ()), RelayError::Field { field: "content" }),
        (
            client.say(&general, &"x".repeat(4_097)).await.map(|_| ()),
            RelayError::ContentTooLong { units: 4_097, most: 4_096 },
        ),
        (client.set_nick("Server").await, RelayError::Nick),
    ] {
        assert_eq!(wrong.unwrap_err(), why.into());
    }
    // The relay's welcome came between, and is still there.
    let Event::Said(welcome) = heard(&mut client).await.event else { panic!("another event") };
    assert!(welcome.is_from_relay());
    client.close().await;
    let words = within(relay).await.unwrap();
    assert_eq!(words.len(), 9, "{words:?}");
}

#[tokio::test]
async fn messages_leave_no_closer_than_they_may() {
    let peer = Peer::new().await;
    let options = zx1_relay_client::Options { msg_ms: 60, ..peer.options(None) };
    let (client, mut wire) = peer.connected(options, "@aaaaaaaa").await;
    let begun = std::time::Instant::now();
    for content in ["1", "2", "3"] {
        let to = Target::Channel("#x".into());
        client.send(Frame::Msg { to, content: content.into(), sig: None }).await.unwrap();
    }
    assert!(begun.elapsed() >= Duration::from_millis(118), "{:?}", begun.elapsed());
    for content in ["1", "2", "3"] {
        assert!(matches!(wire.read().await, Frame::Msg { content: read, .. } if read == content));
    }
}

#[tokio::test]
async fn a_frame_that_is_too_large_is_refused_here_and_ends_nothing() {
    let peer = Peer::new().await;
    let (client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let large = Frame::FileChunk { to: id("@b"), content: "x".repeat(262_144) };
    let refused = client.send(large).await.unwrap_err();
    assert!(matches!(refused, ClientError::Rule(RelayError::FrameTooLarge { .. })), "{refused}");
    client.send(Frame::Ping).await.unwrap();
    assert_eq!(wire.read().await, Frame::Ping);
}

fn terms() -> Terms {
    Terms {
        to: String::new(),
        task: "fix the build".into(),
        amount: Some(2.5),
        currency: Some("XNO".into()),
        payment_code: None,
        terms: Some("when it is green".into()),
        expires: Some(3_600.0),
        elo_stake: None,
        contract: None,
        conversation: None,
    }
}

#[tokio::test]
async fn proposals_and_answers_are_signed_over_both_strings() {
    let peer = Peer::new().await;
    let own = identity(1);
    let (mut client, mut wire) = peer.connected(peer.options(Some(own.clone())), "@3d4c0305").await;
    let to = id("@bbbbbbbb");
    let terms = terms();
    let (filed, ()) = tokio::join!(client.propose(&to, &terms, None), async {
        let Frame::Proposal { to, terms, sig, zx1_sig, envelope } = wire.read().await else {
            panic!("another frame")
        };
        own.public().verify(&signing::proposal(&terms), sig.as_deref().unwrap()).unwrap();
        own.public().verify(&signing::zx1_proposal(&terms), zx1_sig.as_deref().unwrap()).unwrap();
        let party = |key, id| Party { key: [key; 32], id };
        let proposal = Proposal {
            id: "prop_1".into(),
            from: party(1, id("@3d4c0305")),
            to: party(2, to),
            terms: *terms,
            state: State::Pending,
            created_at: TS,
            expires_at: Some(TS + 3_600_000),
            updated_at: TS,
            acceptor_stake: 0,
            completed_by: None,
            settlement: None,
        };
        let text = server::proposal(&proposal, &sig.unwrap(), zx1_sig.as_deref(), envelope.as_deref(), TS);
        wire.send(text).await;
    });
    let filed = filed.unwrap();
    assert_eq!(filed.id, "prop_1");
    filed.check(own.public()).unwrap();

    let with = Answer { reason: Some("late".into()), proof: Some("p".into()), ..Answer::default() };
    for (act, content) in [
        (Act::Accept, "ACCEPT|prop_1||"),
        (Act::Reject, "REJECT|prop_1|late"),
        (Act::Complete, "COMPLETE|prop_1|p"),
        (Act::Dispute, "DISPUTE|prop_1|late"),
    ] {
        let (changed, ()) = tokio::join!(client.act(act, "prop_1", &with), async {
            let text = wire.raw().await.unwrap();
            let value = Value::parse(&text, 8).unwrap();
            let field = |name: &str| value.get(name).and_then(Value::as_text).unwrap().to_owned();
            own.public().verify(content, &field("sig")).unwrap();
            let kind = field("type");
            wire.send(format!(
                r#"{{"type":"{kind}","ts":1,"proposal_id":"prop_1","status":"s","from":"@3d4c0305","to":"@bbbbbbbb"}}"#
            ))
            .await;
        });
        assert_eq!(changed.unwrap().act, act);
    }
}

#[tokio::test]
async fn without_a_key_nothing_that_is_signed_leaves() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let needed = || ClientError::from(RelayError::SignatureNeeded);
    assert_eq!(client.propose(&id("@b"), &terms(), None).await.unwrap_err(), needed());
    assert_eq!(client.act(Act::Accept, "p", &Answer::default()).await.unwrap_err(), needed());
    assert_eq!(client.register_skills(Value::List(vec![])).await.unwrap_err(), needed());
    client.send(Frame::Ping).await.unwrap();
    assert_eq!(wire.read().await, Frame::Ping);
}

#[tokio::test]
async fn what_the_relay_would_refuse_is_refused_before_it_leaves() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(Some(identity(1))), "@3d4c0305").await;
    let bad = Terms { contract: Some("http://x".into()), ..terms() };
    let refused = client.propose(&id("@b"), &bad, None).await.unwrap_err();
    assert_eq!(refused, RelayError::Field { field: "contract" }.into());
    let refused = client.act(Act::Dispute, "p", &Answer::default()).await.unwrap_err();
    assert_eq!(refused, RelayError::Field { field: "reason" }.into());
    client.send(Frame::Ping).await.unwrap();
    assert_eq!(wire.read().await, Frame::Ping);
}

#[tokio::test]
async fn skills_are_signed_as_they_are_sent() {
    let peer = Peer::new().await;
    let own = identity(1);
    let (mut client, mut wire) = peer.connected(peer.options(Some(own.clone())), "@3d4c0305").await;
    let skills = Value::parse(r#"[{"rate":5,"capability":"code"}]"#, 4).unwrap();
    let (count, ()) = tokio::join!(client.register_skills(skills), async {
        let Frame::RegisterSkills { sent, sig, .. } = wire.read().await else { panic!("another frame") };
        own.public().verify(&signing::skills(&sent), sig.as_deref().unwrap()).unwrap();
        wire.send(server::skills_registered(&id("@3d4c0305"), 1, TS)).await;
    });
    assert_eq!(count.unwrap(), 1);
}

#[tokio::test]
async fn a_nonce_is_signed_and_what_could_be_another_text_is_not() {
    let peer = Peer::new().await;
    let own = identity(1);
    let (mut client, mut wire) = peer.connected(peer.options(Some(own.clone())), "@3d4c0305").await;
    let asked = |request: &str, nonce: &str| {
        format!(
            r#"{{"type":"VERIFY_REQUEST","ts":1,"request_id":"{request}","from":"@b","nonce":"{nonce}"}}"#
        )
    };
    wire.send(asked("r1", "COMPLETE|prop_1|done")).await;
    let nonce = "0123456789abcdef0123456789abcdef";
    wire.send(asked("r2", nonce)).await;
    let Frame::VerifyResponse { request_id, nonce: answered, sig } = wire.read().await else {
        panic!("another frame")
    };
    assert_eq!((request_id.as_str(), answered.as_str()), ("r2", nonce));
    own.public().verify(nonce, &sig).unwrap();
    assert!(base64::engine::general_purpose::STANDARD.decode(sig).is_ok());
    // Both are shown.
    for request in ["r1", "r2"] {
        let Event::VerifyAsked { request_id, .. } = heard(&mut client).await.event else { panic!("another") };
        assert_eq!(request_id, request);
    }
}

#[tokio::test]
async fn another_agents_key_is_what_the_relay_vouches_for() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let other = identity(2);
    for is_good in [true, false] {
        let (key, ()) = tokio::join!(
            async {
                let target = id("@bbbbbbbb");
                client.verify(&target).await
            },
            async {
                let Frame::VerifyRequest { target, nonce } = wire.read().await else {
                    panic!("another frame")
                };
                assert!((16..=128).contains(&nonce.len()));
                let head = format!(
                    r#""ts":1,"request_id":"r","{}":"{target}""#,
                    if is_good { "agent" } else { "target" }
                );
                let pem = Value::from(other.pem()).stringify();
                wire.send(if is_good {
                    format!(r#"{{"type":"VERIFY_SUCCESS",{head},"pubkey":{pem}}}"#)
                } else {
                    format!(r#"{{"type":"VERIFY_FAILED",{head},"reason":"no answer"}}"#)
                })
                .await;
            }
        );
        match key {
            Ok(key) => assert!(is_good && key == *other.public()),
            Err(error) => assert!(!is_good && matches!(error, ClientError::NotVerified { .. }), "{error}"),
        }
    }
}

#[tokio::test]
async fn frames_that_cannot_be_read_are_passed_over_and_unknown_types_are_shown() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    for text in ["null", "{", r#"{"type":"MSG"}"#, r#"{"type":"NEWS","ts":1}"#] {
        wire.send(text.to_owned()).await;
    }
    assert!(matches!(heard(&mut client).await.event, Event::Other { kind, .. } if kind == "NEWS"));
}

#[tokio::test]
async fn a_member_list_is_read_page_after_page() {
    let peer = Peer::new().await;
    let (mut client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    let (all, ()) = tokio::join!(client.agents("#x"), async {
        for (after, page, next) in [(None, "@a", Some(id("@a"))), (Some("@a"), "@b", None)] {
            let Frame::ListAgents { after: asked, .. } = wire.read().await else { panic!("another frame") };
            assert_eq!(asked.as_deref(), after);
            wire.send(server::agents("#x", &[member(page)], next.as_ref(), 2, TS)).await;
        }
    });
    let ids: Vec<String> = all.unwrap().into_iter().map(|listed| listed.id.to_string()).collect();
    assert_eq!(ids, ["@a", "@b"]);
}

#[tokio::test]
async fn a_client_that_is_dropped_hangs_up() {
    let peer = Peer::new().await;
    let (client, mut wire) = peer.connected(peer.options(None), "@aaaaaaaa").await;
    drop(client);
    assert_eq!(wire.raw().await, None);
    let (mut client, wire) =
        peer.connected(zx1_relay_client::Options { waits: None, ..peer.options(None) }, "@aaaaaaaa").await;
    drop(wire);
    assert!(matches!(within(client.next()).await, Some(News::Ended(ClientError::Lost { .. }))));
    assert_eq!(within(client.next()).await, None);
}
