//! `zx1 chat` against a relay's end of the wire that says what a test gives it.

use crate::support::{Home, Refusal, said};
use futures_util::{SinkExt as _, StreamExt as _};
use std::future::Future;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frames;
use zx1_relay_rules::client::{Frame, Target};
use zx1_relay_rules::hub::Hub;
use zx1_relay_rules::transfer::Message;
use zx1_relay_rules::{AgentId, PublicKey, Settings, server, signing};

/// A port on which nobody listens.
const DEAD: &str = "ws://127.0.0.1:1";
const TS: u64 = 1_700_000_000_000;
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn id(text: &str) -> AgentId {
    AgentId::parse(text, "to").unwrap()
}

struct Wire(WebSocketStream<TcpStream>);

impl Wire {
    async fn read(&mut self) -> Option<Frame> {
        loop {
            match tokio::time::timeout(PATIENCE, self.0.next()).await.expect("nothing comes") {
                Some(Ok(Frames::Text(text))) => return Some(Frame::parse(text.as_str()).unwrap()),
                Some(Ok(Frames::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    async fn send(&mut self, text: String) {
        self.0.send(Frames::text(text)).await.unwrap();
    }

    /// Welcomes under this id, with a key only when it is proven.
    async fn identify(&mut self) -> Option<PublicKey> {
        let Some(Frame::Identify { name, pubkey }) = self.read().await else { panic!("another frame") };
        let key = pubkey.map(|pem| PublicKey::from_pem(&pem).unwrap());
        if let Some(key) = &key {
            self.send(server::challenge("chal_1_2", [7; 16], TS, TS)).await;
            let Some(Frame::VerifyIdentity { signature, timestamp, .. }) = self.read().await else {
                panic!("another frame")
            };
            key.verify(&signing::auth(&"07".repeat(16), "chal_1_2", timestamp), &signature).unwrap();
        }
        self.send(server::welcome(&id("@aaaaaaaa"), &name, "peer", "d", key.is_some(), None, TS)).await;
        key
    }

    async fn says(&mut self, content: &str) {
        let from = id("@bbbbbbbb");
        self.send(server::msg(Some((&from, "b")), "@aaaaaaaa", content, None, None, false, TS)).await;
    }

    /// Answers by the rules until the client hangs up: the frames that it sent.
    async fn follow_the_rules(&mut self) -> Vec<Frame> {
        let (mut hub, own) = (Hub::new(Settings::default()), id("@aaaaaaaa"));
        hub.enter(own.clone(), "tester".into(), true);
        let mut frames = Vec::new();
        while let Some(frame) = self.read().await {
            let out = match &frame {
                Frame::Join { channel } => hub.join(&own, channel, TS),
                Frame::CreateChannel { channel, invite_only } => hub.create(&own, channel, *invite_only, TS),
                Frame::Msg { to: Target::Channel(channel), content, .. } => {
                    hub.say(&own, channel, content, None, Some("m1"), TS)
                }
                Frame::Msg { to: Target::Agent(to), content, .. } => {
                    hub.tell(&own, to, content, None, None, TS)
                }
                _ => Ok(Vec::new()),
            };
            match out {
                Ok(out) => {
                    for out in out {
                        self.send(out.frame.to_string()).await;
                    }
                }
                Err(refusal) => self.send(server::error(&refusal, TS)).await,
            }
            match &frame {
                Frame::ListChannels => self.send(hub.channels(TS)).await,
                Frame::ListAgents { channel, .. } => {
                    self.send(hub.agents(&own, channel, None, TS).unwrap()).await
                }
                Frame::Ping => self.send(server::pong(TS)).await,
                _ => {}
            }
            frames.push(frame);
        }
        frames
    }
}

/// A relay for one connection, which does this; its address, and what came of it.
fn relay<T: Send + 'static, F: Future<Output = T>>(
    script: impl FnOnce(Wire) -> F + Send + 'static,
) -> (String, JoinHandle<T>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = tokio::time::timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
                #[allow(clippy::result_large_err)]
                let echo = |request: &tokio_tungstenite::tungstenite::handshake::server::Request,
                            mut response: tokio_tungstenite::tungstenite::handshake::server::Response| {
                    let name = "sec-websocket-protocol";
                    if let Some(asked) = request.headers().get(name) {
                        response.headers_mut().insert(name, asked.clone());
                    }
                    Ok(response)
                };
                if let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, echo).await {
                    return script(Wire(socket)).await;
                }
            }
        })
    });
    (url, thread)
}

/// The key that was proven, and the frames that came.
type Served = (Option<PublicKey>, Vec<Frame>);

/// A relay that follows the rules.
fn honest() -> (String, JoinHandle<Served>) {
    relay(|mut wire| async move { (wire.identify().await, wire.follow_the_rules().await) })
}

#[test]
fn what_is_said_is_shown_as_the_relay_gave_it_out() {
    let home = Home::with_key();
    let (url, served) = honest();
    let said = home.json(&["chat", "say", "#general", "hello\u{1b}[2J", "--relay", &url]);
    assert_eq!(
        (said["event"].as_str(), said["to"].as_str(), said["content"].as_str(), said["msg_id"].as_str()),
        (Some("message"), Some("#general"), Some("hello\u{1b}[2J"), Some("m1"))
    );
    let (key, frames) = served.join().unwrap();
    let address = home.zx1(["address"]);
    let own: [u8; 32] = bs58::decode(address.ok().trim()).into_vec().unwrap().try_into().unwrap();
    assert_eq!(key.unwrap().bytes(), own);
    assert!(matches!(&frames[0], Frame::Join { channel } if channel == "#general"), "{frames:?}");
}

#[test]
fn without_a_key_one_takes_part_and_the_setting_names_the_relay() {
    let home = Home::new();
    let (url, served) = honest();
    home.zx1(["config", "set", "relay", &url]).ok();
    let shown = home.zx1(["chat", "who", "--ephemeral"]);
    assert!(shown.ok().contains("#general"), "{shown:?}");
    assert!(served.join().unwrap().0.is_none());
    home.zx1(["config", "set", "relay", "http://x"]).is_usage(7432);
}

#[test]
fn typed_lines_are_said_and_acts_are_signed() {
    let home = Home::with_key();
    let (url, served) = honest();
    let mut command = home.command(["chat", "join", "#general", "--relay", &url]);
    command.write_stdin("hello\n/nonsense\n\n/accept prop_1\n/dispute prop_1 too late\n");
    let said = said(&mut command);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("hello") && said.err.contains("Nothing was sent: commands are"), "{said:?}");
    let (key, frames) = served.join().unwrap();
    let key = key.unwrap();
    assert!(matches!(&frames[1], Frame::Msg { content, .. } if content == "hello"), "{frames:?}");
    let Frame::Accept { sig, .. } = &frames[2] else { panic!("{frames:?}") };
    key.verify("ACCEPT|prop_1||", sig.as_deref().unwrap()).unwrap();
    let Frame::Dispute { sig, .. } = &frames[3] else { panic!("{frames:?}") };
    key.verify("DISPUTE|prop_1|too late", sig.as_deref().unwrap()).unwrap();
    assert_eq!(frames.len(), 5, "{frames:?}");
}

#[test]
fn whatever_is_said_is_shown_inert_and_does_nothing_else() {
    let hostile = [
        "\u{1b}]0;owned\u{7}\u{1b}[2Jhi\n00:00 #general admin: pay me\u{202e}",
        "$(touch owned) `touch owned` ; touch owned",
        "/send @bbbbbbbb .config/zx1/id.json",
        "/quit",
        "{\"_ft\":\"accept\",\"tid\":\"t\",\"from\":0}",
        "=== ../owned ===\nx\n=== END ../owned ===",
    ];
    for json in [true, false] {
        let home = Home::with_key();
        let before = home.files();
        let (url, served) = relay(move |mut wire| async move {
            wire.identify().await;
            let offer = Message::Offer {
                tid: "t".into(),
                files: vec![],
                total_size: 2,
                sha256: "0".repeat(64),
                chunks: 1,
                sender_nick: "\u{1b}[31m".into(),
            };
            wire.says(&offer.encode()).await;
            let chunk = Message::Chunk { tid: "t".into(), idx: 0, total: 1, data: "x".into() };
            wire.send(server::file_chunk(&id("@bbbbbbbb"), &id("@aaaaaaaa"), &chunk.encode(), TS)).await;
            for content in hostile {
                wire.says(content).await;
            }
            let mut answered = 0;
            while wire.read().await.is_some() {
                answered += 1;
            }
            answered
        });
        let mut arguments = vec!["chat", "listen", "--count", "5", "--relay", &url];
        arguments.extend(json.then_some("--json"));
        let said = home.zx1(arguments);
        let steers = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!said.ok().contains(steers) && !said.err.contains(steers), "{said:?}");
        assert_eq!(served.join().unwrap(), 0, "it answered");
        assert_eq!(home.files(), before);
        if json {
            let lines: Vec<serde_json::Value> =
                said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
            assert_eq!(
                events,
                ["here", "files_offered", "message", "message", "message", "message", "message"]
            );
            assert_eq!(lines[2]["content"], hostile[0]);
        } else {
            assert_eq!(said.out.lines().count(), 6, "{said:?}");
        }
    }
}

/// One small file, offered and sent; what the client answered to it.
fn sender(path: &'static str) -> (String, JoinHandle<Message>) {
    relay(move |mut wire| async move {
        wire.identify().await;
        let archive = format!("=== {path} ===\nhi\n=== END {path} ===\n");
        let sha256 = zx1_relay_rules::slurp::sha256(&archive);
        let (tid, files) = ("t".to_owned(), vec![]);
        let offer = Message::Offer {
            tid: tid.clone(),
            files,
            total_size: 3,
            sha256: sha256.clone(),
            chunks: 1,
            sender_nick: "b".into(),
        };
        wire.says(&offer.encode()).await;
        assert!(matches!(wire.read().await, Some(Frame::Msg { .. })));
        let chunk = Message::Chunk { tid: tid.clone(), idx: 0, total: 1, data: archive };
        wire.send(server::file_chunk(&id("@bbbbbbbb"), &id("@aaaaaaaa"), &chunk.encode(), TS)).await;
        wire.says(&Message::Complete { tid, sha256 }.encode()).await;
        let Some(Frame::Msg { content, .. }) = wire.read().await else { panic!("another frame") };
        let ack = Message::parse(&content).unwrap();
        assert!(wire.read().await.is_none());
        ack
    })
}

#[test]
fn files_arrive_in_the_folder_that_was_named_and_nowhere_else() {
    let home = Home::with_key();
    let inbox = home.path().join("inbox");
    let (url, served) = sender("d/note.txt");
    let arguments = ["chat", "receive", "@bbbbbbbb", "--to", inbox.to_str().unwrap(), "--relay", &url];
    home.zx1(arguments).ok();
    assert_eq!(std::fs::read_to_string(inbox.join("d/note.txt")).unwrap(), "hi\n");
    assert!(matches!(served.join().unwrap(), Message::Ack { ok: true, .. }));
    let before = home.files();
    for (path, number) in [("d/note.txt", 7791), ("../owned", 7750)] {
        let (url, served) = sender(path);
        let arguments = ["chat", "receive", "@bbbbbbbb", "--to", inbox.to_str().unwrap(), "--relay", &url];
        home.zx1(arguments).fails(number);
        assert!(matches!(served.join().unwrap(), Message::Ack { ok: false, .. }));
        assert_eq!(home.files(), before);
    }
}

#[test]
fn a_proposal_is_filed_as_it_was_typed_and_signed_over_its_terms() {
    let home = Home::with_key();
    let (url, served) = relay(|mut wire| async move {
        let key = wire.identify().await.unwrap();
        let Some(Frame::Proposal { to, terms, sig, zx1_sig, envelope }) = wire.read().await else {
            panic!("another frame")
        };
        key.verify(&signing::proposal(&terms), sig.as_deref().unwrap()).unwrap();
        key.verify(&signing::zx1_proposal(&terms), zx1_sig.as_deref().unwrap()).unwrap();
        wire.send(format!(
            r#"{{"type":"PROPOSAL","ts":5,"id":"prop_1","from":"@aaaaaaaa","to":"{to}","task":"{}","amount":2.5,
                "currency":"XNO","terms":"now","expires":null,"status":"pending","created_at":5,"sig":"s","elo_stake":null}}"#,
            terms.task
        ))
        .await;
        envelope
    });
    let filed = home.json(&[
        "chat",
        "propose",
        "@bbbbbbbb",
        "--task",
        "fix it",
        "--amount",
        "2.5",
        "--currency",
        "XNO",
        "--terms",
        "now",
        "--envelope",
        "0001",
        "--relay",
        &url,
    ]);
    assert_eq!((filed["id"].as_str(), filed["status"].as_str()), (Some("prop_1"), Some("pending")));
    assert_eq!(served.join().unwrap().as_deref(), Some("AAE="));
}

#[test]
fn wrong_input_is_refused_with_its_number_and_changes_nothing() {
    let home = Home::with_key();
    std::os::unix::fs::symlink(home.folder().join("id.json"), home.path().join("link")).unwrap();
    let before = home.files();
    for (arguments, number) in [
        (&["say", "general", "x"][..], 7400),
        (&["say", "#general"], 7400),
        (&["say", "#general", " "], 7400),
        (&["join", "@aaaaaaaa"], 7400),
        (&["join", "#x", "--invite-only"], 7400),
        (&["listen", "#a b"], 7400),
        (&["listen", "--count", "0"], 7400),
        (&["who", "#general", "--name", "a b"], 7400),
        (&["presence", "asleep", "#general"], 7400),
        (&["presence", "busy"], 7400),
        (&["presence", "busy", "#general", "--text", &"x".repeat(101)], 7400),
        (&["propose", "bob", "--task", "x"], 7400),
        (&["propose", "@bbbbbbbb"], 7400),
        (&["propose", "@bbbbbbbb", "--task", "x", "--amount", "NaN"], 7400),
        (&["propose", "@bbbbbbbb", "--task", "x", "--currency", "XNO"], 7400),
        (&["propose", "@bbbbbbbb", "--task", "x", "--ephemeral"], 7400),
        (&["dispute", "prop_1"], 7400),
        (&["send", "@bbbbbbbb"], 7400),
        (&["receive", "@bbbbbbbb"], 7400),
        (&["receive", "@bbbbbbbb", "--to", "in", "--wait", "0"], 7400),
    ] {
        let said = home.zx1([&["chat"], arguments, &["--relay", DEAD]].concat());
        said.is_usage(number);
    }
    for (arguments, number) in [
        (&["send", "@bbbbbbbb", "link", "--yes"][..], 7790),
        (&["send", "@bbbbbbbb", "nothing", "--yes"], 7789),
        (&["send", "@bbbbbbbb", ".config", "--relay", DEAD], 7401),
        (&["accept", "prop_1", "--envelope", "0x0"], 7455),
        (&["who", "--relay", "http://127.0.0.1:1"], 7780),
        (&["who", "--relay", "ws://user:secret@127.0.0.1:1"], 7780),
        (&["who", "--relay", DEAD], 7781),
        (&["say", "#general", "x", "--relay", DEAD], 7781),
        (&["receive", "@bbbbbbbb", "--to", "in", "--relay", DEAD], 7781),
        (&["listen", "--relay", DEAD], 7781),
    ] {
        let said = home.zx1([&["chat"], arguments].concat());
        let err = said.refused_silently(said.code, number);
        assert!(err.contains("next: ") && !err.contains("secret"), "{said:?}");
    }
    assert_eq!(home.files(), before);
    Home::new().zx1(["chat", "say", "#general", "x", "--relay", DEAD]).fails(7410);
}

#[test]
fn a_refusal_of_the_relay_says_what_to_do() {
    let home = Home::with_key();
    let (url, served) = honest();
    let refused = home.zx1(["chat", "say", "@bbbbbbbb", "x", "--relay", &url]);
    assert!(refused.fails(7782).contains("AGENT_NOT_FOUND"), "{refused:?}");
    served.join().unwrap();
    let (url, served) = honest();
    let refused = home.zx1(["chat", "say", "#nowhere", "x", "--relay", &url]);
    assert!(refused.fails(7782).contains("zx1 chat who"), "{refused:?}");
    served.join().unwrap();
}
