//! Every limit at its boundary, on both sides.

use std::io::Write as _;
use std::time::Duration;

use crate::harness::{Client, PATIENCE, Relay, key, pem};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn the_eleventh_message_before_identification_closes() {
    let relay = Relay::quick();
    let mut client = relay.client().await;
    for _ in 0..11 {
        client.send(json!({ "type": "PING" })).await;
    }
    // What was taken before is answered first.
    for _ in 0..10 {
        client.expect("PONG").await;
    }
    assert_eq!(client.closed().await, Some((1_008, "Rate limit exceeded".to_owned())));
}

#[tokio::test]
async fn sixty_messages_in_ten_seconds_are_taken_refused_ones_included() {
    let relay = Relay::quick();
    let mut ada = relay.guest("ada").await;
    for number in 0..60 {
        if number % 2 == 0 {
            ada.settled().await;
        } else {
            ada.text("null").await;
            ada.error("INVALID_MSG").await;
        }
    }
    let message = ada.refused(json!({ "type": "PING" }), "RATE_LIMITED").await;
    assert!(message.contains("ms"), "{message}");
    // The connection lives, and chunks are counted apart.
    let to = ada.id.clone();
    ada.send(json!({ "type": "FILE_CHUNK", "to": to, "content": "x" })).await;
    ada.expect("FILE_CHUNK").await;
}

#[tokio::test]
async fn an_agent_says_one_thing_a_second() {
    let relay = Relay::start(&[]);
    let (mut ada, mut bob) = (relay.guest("ada").await, relay.guest("bob").await);
    let (to_ada, to_bob) = (ada.id.clone(), bob.id.clone());
    ada.say(&to_bob, "one").await;
    let first = ada.expect("MSG").await["ts"].as_u64().unwrap();
    // Whoever waits as long as the relay says is heard.
    let refusal = ada.refused(json!({ "type": "MSG", "to": to_bob, "content": "two" }), "RATE_LIMITED").await;
    let wait: u64 = refusal.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap();
    assert!((1..=1_000).contains(&wait), "{refusal}");
    bob.say(&to_ada, "mine").await;
    ada.expect("MSG").await;
    tokio::time::sleep(Duration::from_millis(wait)).await;
    ada.say(&to_bob, "three").await;
    let second = ada.expect("MSG").await;
    assert_eq!(second["content"], "three");
    assert!(second["ts"].as_u64().unwrap() - first >= 1_000);
}

#[tokio::test]
async fn ten_chunks_a_second_are_taken_a_tenth_of_a_second_apart() {
    let relay = Relay::quick();
    let mut ada = relay.guest("ada").await;
    let chunk = json!({ "type": "FILE_CHUNK", "to": ada.id, "content": "x" });
    ada.send(chunk.clone()).await;
    ada.expect("FILE_CHUNK").await;
    ada.refused(chunk.clone(), "RATE_LIMITED").await;
    // The refused one counts among the ten.
    for _ in 0..9 {
        ada.send(chunk.clone()).await;
    }
    for _ in 0..9 {
        ada.error("RATE_LIMITED").await;
    }
}

#[tokio::test]
async fn a_message_has_4096_units_and_a_frame_262144_bytes() {
    let relay = Relay::quick();
    let mut ada = relay.guest("ada").await;
    let to = ada.id.clone();
    // A character of two UTF-16 units.
    for (content, fits) in [
        ("x".repeat(4_096), true),
        ("x".repeat(4_097), false),
        ("🦀".repeat(2_048), true),
        ("🦀".repeat(2_049), false),
    ] {
        ada.say(&to, &content).await;
        if fits {
            assert_eq!(ada.expect("MSG").await["content"], json!(content));
        } else {
            ada.error("INVALID_MSG").await;
        }
    }
    let frame = |bytes: usize| {
        let rest = json!({ "type": "PING", "pad": "" }).to_string().len();
        json!({ "type": "PING", "pad": "x".repeat(bytes - rest) }).to_string()
    };
    ada.text(frame(262_144)).await;
    ada.expect("PONG").await;
    ada.text(frame(262_145)).await;
    assert_eq!(ada.closed().await.map(|(code, _)| code), Some(1_009));
    let mut bob = relay.guest("bob").await;
    bob.raw(Message::text("x".repeat(2 << 20))).await;
    let close = bob.closed().await;
    assert!(close.as_ref().is_none_or(|(code, _)| *code == 1_009), "{close:?}");
    relay.reaches("zx1_relay_websockets", 0.0).await;
}

#[tokio::test]
async fn an_unanswered_challenge_expires_with_its_error_and_close() {
    let relay = Relay::start(&["--challenge-timeout-ms", "150"]);
    let mut ada = relay.client().await;
    let challenge = ada.challenge("ada", &pem(&key(1))).await;
    assert_eq!(challenge["expires_at"].as_u64().unwrap() - challenge["ts"].as_u64().unwrap(), 150);
    ada.error("VERIFICATION_EXPIRED").await;
    assert_eq!(ada.closed().await, Some((1_000, "Challenge expired".to_owned())));
}

#[tokio::test]
async fn one_address_has_as_many_connections_as_it_may() {
    let relay = Relay::start(&["--max-connections-per-ip", "2"]);
    let (one, _two) = (relay.client().await, relay.client().await);
    let mut three = relay.client().await;
    assert_eq!(three.closed().await, Some((1_008, "Too many connections from this IP".to_owned())));
    // Who says that it is somebody else is not believed: there is no proxy.
    drop(one);
    relay.reaches("zx1_relay_websockets", 1.0).await;
    let mut again = relay.client().await;
    again.settled().await;
}

#[tokio::test]
async fn hostile_frames_are_refused_one_by_one_and_the_connection_lives() {
    let relay = Relay::quick();
    let mut ada = relay.guest("ada").await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let frames = [
        "null",
        "",
        "{}",
        "[]",
        "\"\"",
        "1e999",
        "{\"type\":null}",
        "{\"type\":{}}",
        "{\"type\":\"NOTHING\"}",
        "{\"type\":\"MSG\",\"to\":1,\"content\":\"x\"}",
        "{\"type\":\"MSG\",\"to\":\"#general\",\"content\":\"\\ud800\"}",
        "{\"type\":\"__proto__\"}",
        "{\"type\":\"PROPOSAL\",\"to\":\"@00000000\",\"task\":\"x\",\"elo_stake\":1e300,\"sig\":\"x\"}",
        &deep,
    ];
    for frame in frames {
        ada.text(frame).await;
        ada.error("INVALID_MSG").await;
    }
    for bytes in [vec![0xff, 0xfe], vec![], vec![0; 1_000]] {
        ada.raw(Message::binary(bytes)).await;
        ada.error("INVALID_MSG").await;
    }
    ada.raw(Message::binary(b"{\"type\":\"PING\"}".to_vec())).await;
    ada.expect("PONG").await;
}

#[tokio::test]
async fn who_answers_no_ping_is_gone() {
    let relay = Relay::start(&["--heartbeat-interval-ms", "100", "--heartbeat-timeout-ms", "100"]);
    let mut awake = relay.guest("awake").await;
    let asleep = relay.guest("asleep").await;
    relay.reaches("zx1_relay_agents", 2.0).await;
    // One reads, and so answers; the other one does not.
    let reads = async {
        loop {
            let _ = awake.next().await;
        }
    };
    tokio::select! {
        () = reads => {}
        () = relay.reaches("zx1_relay_agents", 1.0) => {}
    }
    drop(asleep);
}

#[tokio::test]
async fn a_reader_that_is_stuck_is_closed_and_nobody_waits_for_it() {
    let relay = Relay::quick();
    let mut ada = relay.guest("ada").await;
    let (mut bob, mut stuck) = (relay.guest("bob").await, relay.guest("stuck").await);
    for client in [&mut ada, &mut bob, &mut stuck] {
        client.join("#general").await;
    }
    // The others read all the time, and stop at the last word.
    let readers = [ada, bob].map(|mut client| {
        tokio::spawn(async move {
            let mut heard = 0;
            loop {
                let frame = client.next().await;
                if frame["content"] == "last" {
                    return heard;
                }
                heard += i32::from(frame["type"] == "MSG");
            }
        })
    });
    // Each speaker may say sixty things in ten seconds.
    let content = "x".repeat(4_000);
    let mut said = 0;
    while relay.figure("zx1_relay_closed_slow_total").await < 1.0 {
        assert!(said < 4_000, "nobody was closed");
        let mut speaker = relay.guest(&format!("s{said}")).await;
        speaker.join("#general").await;
        for _ in 0..50 {
            speaker.say("#general", &content).await;
        }
        for _ in 0..50 {
            assert_eq!(speaker.next().await["content"], json!(content));
        }
        said += 50;
        drop(speaker);
    }
    let mut speaker = relay.guest("last").await;
    speaker.join("#general").await;
    speaker.say("#general", "last").await;
    for reader in readers {
        assert_eq!(reader.await.unwrap(), said, "the others have had everything");
    }
    drop(stuck);
    relay.reaches("zx1_relay_websockets", 1.0).await;
}

#[tokio::test]
async fn a_connection_that_never_finishes_its_request_is_cut() {
    let relay = Relay::quick();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("relay.toml");
    std::fs::write(&config, "[limits]\nhead_ms = 200\n").unwrap();
    let relay_of_config = Relay::start(&["--config", config.to_str().unwrap()]);
    drop(relay);
    let mut half = Client::deaf(&relay_of_config.address);
    half.write_all(b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n").unwrap();
    half.set_read_timeout(Some(PATIENCE)).unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut half, &mut bytes).map(|_| bytes)
    });
    assert!(ended.await.unwrap().is_ok(), "the relay ends it");
}

#[tokio::test]
async fn ids_of_keys_beyond_the_limit_end_with_their_connections() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("relay.toml");
    std::fs::write(&config, "[limits]\nidentities = 1\n").unwrap();
    let relay = Relay::start(&["--config", config.to_str().unwrap()]);
    for (number, is_remembered) in [(1, true), (2, false)] {
        let key = key(number);
        // Two spellings of one key, the second one after the first has left.
        let [first, second] = [pem(&key).trim().to_owned(), pem(&key)];
        let mut ids = Vec::new();
        for spelling in [first, second] {
            let mut client = relay.client().await;
            let challenge = client.challenge("ada", &spelling).await;
            client.answer(&challenge, &key).await;
            client.welcomed().await;
            ids.push(client.id.clone());
            drop(client);
            relay.reaches("zx1_relay_agents", 0.0).await;
        }
        assert_eq!(ids[0] == ids[1], is_remembered, "{ids:?}");
    }
}

#[tokio::test]
async fn an_id_beyond_the_limit_is_its_keys_through_every_takeover() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("relay.toml");
    std::fs::write(&config, "[limits]\nidentities = 0\n").unwrap();
    let relay = Relay::start(&["--config", config.to_str().unwrap()]);
    let (key, mut here) = (key(1), Vec::new());
    // The first spelling decides while the key is here; each connection takes over from the one before.
    for spelling in [pem(&key).trim().to_owned(), pem(&key), pem(&key)] {
        let mut client = relay.client().await;
        let challenge = client.challenge("ada", &spelling).await;
        client.answer(&challenge, &key).await;
        client.welcomed().await;
        here.push(client);
    }
    assert!(
        here.iter().all(|client| client.id == here[0].id),
        "{:?}",
        here.iter().map(|it| &it.id).collect::<Vec<_>>()
    );
    relay.reaches("zx1_relay_agents", 1.0).await;
}

#[tokio::test]
async fn secrets_are_redacted_and_signed_ones_refused_when_the_operator_wants_it() {
    let relay = Relay::start(&["--rate-limit-ms", "0", "--redact"]);
    let mut ada = relay.agent("ada", 1).await;
    let to = ada.id.clone();
    let secret = "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzQ1pLm4nXo2v";
    ada.say(&to, secret).await;
    let content: Value = ada.expect("MSG").await["content"].clone();
    assert!(content.as_str().unwrap().contains("[REDACTED:"), "{content}");
    ada.refused(json!({ "type": "MSG", "to": to, "content": secret, "sig": "c2ln" }), "INVALID_MSG").await;
    ada.send(json!({ "type": "MSG", "to": to, "content": "hello", "sig": "c2ln" })).await;
    assert_eq!(ada.expect("MSG").await["content"], "hello");
}
