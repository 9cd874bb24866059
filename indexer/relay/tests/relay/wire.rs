//! Every message, and the order in which others come.

use crate::harness::{Client, Relay, key, pem, sign};
use serde_json::{Value, json};

#[tokio::test]
async fn an_agent_with_a_key_is_challenged_and_welcomed_and_has_the_id_of_its_pem_text() {
    let relay = Relay::start(&["--motd", "be kind"]);
    let mut ada = relay.client().await;
    let key = key(1);
    // As it came, without its last newline: the id is that of the text, not of the key.
    let text = pem(&key).trim().to_owned();
    let challenge = ada.challenge("ada", &text).await;
    let nonce = challenge["nonce"].as_str().unwrap();
    assert!(nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit()), "{challenge}");
    assert!(challenge["challenge_id"].as_str().unwrap().starts_with("chal_"), "{challenge}");
    let left = challenge["expires_at"].as_u64().unwrap() - challenge["ts"].as_u64().unwrap();
    assert_eq!(left, 30_000);
    ada.answer(&challenge, &key).await;
    let welcome = ada.welcomed().await;
    let id = zx1_relay_rules::AgentId::of_pem(&text, 8).to_string();
    assert_eq!(
        (&welcome["agent_id"], &welcome["name"], &welcome["verified"], &welcome["motd"]),
        (&json!(id), &json!("ada"), &json!(true), &json!("be kind"))
    );
    // Another spelling of the same key is the same identity.
    let mut again = relay.client().await;
    let challenge = again.challenge("ada", &pem(&key)).await;
    again.answer(&challenge, &key).await;
    assert_eq!(again.welcomed().await["agent_id"], json!(id));
}

#[tokio::test]
async fn a_guest_has_eight_random_letters_and_digits() {
    let relay = Relay::quick();
    let mut guest = relay.client().await;
    guest.send(json!({ "type": "IDENTIFY", "name": "g", "pubkey": null })).await;
    let welcome = guest.welcomed().await;
    let id = guest.id.strip_prefix('@').unwrap();
    assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    assert!(welcome.get("verified").is_none(), "{welcome}");
}

#[tokio::test]
async fn before_identification_only_channels_and_pings_are_answered() {
    let relay = Relay::quick();
    let mut client = relay.client().await;
    client.settled().await;
    client.send(json!({ "type": "LIST_CHANNELS" })).await;
    let list = client.expect("CHANNELS").await["list"].clone();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["#agents", "#discovery", "#general"]);
    client.refused(json!({ "type": "JOIN", "channel": "#general" }), "AUTH_REQUIRED").await;
    client.refused(json!({ "type": "MSG", "to": "#general", "content": "x" }), "AUTH_REQUIRED").await;
}

#[tokio::test]
async fn an_agent_identifies_once_and_a_wrong_answer_is_refused() {
    let relay = Relay::quick();
    let mut ada = relay.client().await;
    let challenge = ada.challenge("ada", &pem(&key(1))).await;
    ada.refused(json!({ "type": "IDENTIFY", "name": "b" }), "INVALID_MSG").await;
    ada.answer(&challenge, &key(2)).await;
    ada.error("VERIFICATION_FAILED").await;
    let other = json!({
        "type": "VERIFY_IDENTITY", "challenge_id": "chal_1_00000000", "signature": "AA==", "timestamp": 1,
    });
    ada.refused(other, "INVALID_MSG").await;
    ada.answer(&challenge, &key(1)).await;
    ada.welcomed().await;
    ada.refused(json!({ "type": "IDENTIFY", "name": "b" }), "INVALID_MSG").await;
    // The challenge was used.
    ada.answer(&challenge, &key(1)).await;
    ada.error("INVALID_MSG").await;
    for (name, code) in [("", "INVALID_NAME"), ("a b", "INVALID_NAME"), ("é", "INVALID_NAME")] {
        let mut client = relay.client().await;
        client.refused(json!({ "type": "IDENTIFY", "name": name }), code).await;
    }
    let mut client = relay.client().await;
    client.refused(json!({ "type": "IDENTIFY", "name": "n", "pubkey": "no key" }), "INVALID_MSG").await;
    // A refusal before the challenge leaves the connection open for another try.
    client.identify("n", 3).await;
}

#[tokio::test]
async fn a_join_is_told_to_the_others_first_then_replayed_then_welcomed() {
    let relay = Relay::quick();
    let mut ada = relay.agent("ada", 1).await;
    ada.join("#general").await;
    for number in 0..21 {
        ada.say("#general", &format!("m{number}")).await;
        assert_eq!(ada.expect("MSG").await["content"], json!(format!("m{number}")), "the sender's echo");
    }
    let mut bob = relay.guest("bob").await;
    bob.send(json!({ "type": "JOIN", "channel": "#general" })).await;
    let joined = bob.expect("JOINED").await;
    let mut ids: Vec<&str> =
        joined["agents"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let mut both = [ada.id.as_str(), bob.id.as_str()];
    both.sort_unstable();
    assert_eq!(ids, both);
    for number in 1..21 {
        let replayed = bob.expect("MSG").await;
        assert_eq!(
            (&replayed["content"], &replayed["replay"], &replayed["from"]),
            (&json!(format!("m{number}")), &json!(true), &json!(ada.id))
        );
    }
    let welcome = bob.expect("MSG").await;
    assert_eq!((&welcome["from"], &welcome["from_name"]), (&json!("@server"), &json!("Server")));
    let told = ada.expect("AGENT_JOINED").await;
    assert_eq!(
        (&told["agent"], &told["name"], &told["verified"]),
        (&json!(bob.id), &json!("bob"), &json!(false))
    );
    // Again: JOINED and the buffer only, and the others hear nothing.
    bob.send(json!({ "type": "JOIN", "channel": "#general" })).await;
    bob.expect("JOINED").await;
    for _ in 0..20 {
        bob.expect("MSG").await;
    }
    bob.settled().await;
    ada.settled().await;
    bob.send(json!({ "type": "LEAVE", "channel": "#general" })).await;
    assert_eq!(bob.expect("LEFT").await["channel"], "#general");
    let told = ada.expect("AGENT_LEFT").await;
    assert_eq!((&told["agent"], &told["name"]), (&json!(bob.id), &json!("bob")));
    bob.refused(json!({ "type": "MSG", "to": "#general", "content": "x" }), "NOT_INVITED").await;
    bob.refused(json!({ "type": "JOIN", "channel": "#none" }), "CHANNEL_NOT_FOUND").await;
}

#[tokio::test]
async fn who_is_cut_off_has_left_every_channel() {
    let relay = Relay::quick();
    let mut ada = relay.guest("ada").await;
    let mut bob = relay.guest("bob").await;
    for channel in ["#general", "#agents"] {
        ada.join(channel).await;
        bob.join(channel).await;
        ada.expect("AGENT_JOINED").await;
    }
    drop(bob);
    for channel in ["#agents", "#general"] {
        assert_eq!(ada.expect("AGENT_LEFT").await["channel"], channel);
    }
}

#[tokio::test]
async fn a_direct_message_goes_to_one_agent_and_back_to_its_sender() {
    let relay = Relay::quick();
    let (mut ada, mut bob) = (relay.agent("ada", 1).await, relay.guest("bob").await);
    let mut eve = relay.guest("eve").await;
    ada.send(json!({ "type": "MSG", "to": bob.id, "content": "hello", "sig": "c2ln" })).await;
    for client in [&mut ada, &mut bob] {
        let message = client.expect("MSG").await;
        assert_eq!((&message["content"], &message["sig"]), (&json!("hello"), &json!("c2ln")));
    }
    eve.settled().await;
    ada.refused(json!({ "type": "MSG", "to": "@00000000", "content": "x" }), "AGENT_NOT_FOUND").await;
    ada.refused(json!({ "type": "MSG", "to": "bob", "content": "x" }), "INVALID_MSG").await;
    ada.refused(json!({ "type": "MSG", "to": bob.id, "content": "" }), "INVALID_MSG").await;
}

#[tokio::test]
async fn an_invite_only_channel_is_for_who_is_invited_and_in_no_list() {
    let relay = Relay::quick();
    let (mut ada, mut bob) = (relay.guest("ada").await, relay.guest("bob").await);
    ada.send(json!({ "type": "CREATE_CHANNEL", "channel": "#den", "invite_only": true })).await;
    assert_eq!(
        ada.expect("JOINED").await["agents"],
        json!([ada.id]),
        "ids alone, as existing clients know it"
    );
    bob.refused(json!({ "type": "JOIN", "channel": "#den" }), "NOT_INVITED").await;
    bob.refused(json!({ "type": "LIST_AGENTS", "channel": "#den" }), "NOT_INVITED").await;
    bob.send(json!({ "type": "LIST_CHANNELS" })).await;
    assert!(!bob.expect("CHANNELS").await.to_string().contains("den"));
    assert!(!relay.get("/v1/rooms").await.1.contains("den"));
    assert_eq!(relay.get("/v1/rooms/den/messages").await.0, 404);
    ada.refused(json!({ "type": "CREATE_CHANNEL", "channel": "#den" }), "CHANNEL_EXISTS").await;
    ada.refused(json!({ "type": "CREATE_CHANNEL", "channel": "den" }), "INVALID_NAME").await;
    ada.send(json!({ "type": "INVITE", "channel": "#den", "agent": bob.id })).await;
    assert_eq!(bob.expect("MSG").await["from"], "@server");
    bob.join("#den").await;
    ada.expect("AGENT_JOINED").await;
    // It ends with its last member.
    for client in [&mut ada, &mut bob] {
        client.send(json!({ "type": "LEAVE", "channel": "#den" })).await;
        while client.next().await["type"] != "LEFT" {}
    }
    bob.refused(json!({ "type": "JOIN", "channel": "#den" }), "CHANNEL_NOT_FOUND").await;
}

#[tokio::test]
async fn presence_typing_and_nicks_are_told_to_neighbours_once() {
    let relay = Relay::quick();
    let (mut ada, mut bob) = (relay.guest("ada").await, relay.guest("bob").await);
    let mut eve = relay.guest("eve").await;
    for channel in ["#general", "#agents"] {
        ada.join(channel).await;
        bob.join(channel).await;
        ada.expect("AGENT_JOINED").await;
    }
    ada.send(json!({ "type": "SET_PRESENCE", "status": "busy", "status_text": "thinking" })).await;
    let told = bob.expect("PRESENCE_CHANGED").await;
    assert_eq!(
        (&told["agent_id"], &told["presence"], &told["status_text"]),
        (&json!(ada.id), &json!("busy"), &json!("thinking"))
    );
    bob.settled().await;
    ada.send(json!({ "type": "TYPING", "channel": "#general" })).await;
    assert_eq!(bob.expect("TYPING").await["from"], json!(ada.id));
    ada.send(json!({ "type": "SET_NICK", "nick": "lovelace" })).await;
    for client in [&mut ada, &mut bob] {
        let told = client.expect("NICK_CHANGED").await;
        assert_eq!((&told["old_nick"], &told["new_nick"]), (&json!("ada"), &json!("lovelace")));
    }
    ada.refused(json!({ "type": "SET_NICK", "nick": "ada" }), "RATE_LIMITED").await;
    bob.refused(json!({ "type": "SET_NICK", "nick": "Server" }), "INVALID_NAME").await;
    ada.refused(json!({ "type": "SET_PRESENCE", "status": "gone" }), "INVALID_MSG").await;
    let long = "x".repeat(101);
    ada.refused(json!({ "type": "SET_PRESENCE", "status": "away", "status_text": long }), "INVALID_MSG")
        .await;
    bob.send(json!({ "type": "LIST_AGENTS", "channel": "#general" })).await;
    let list = bob.expect("AGENTS").await["list"].clone();
    let of_ada = list.as_array().unwrap().iter().find(|it| it["id"] == json!(ada.id)).unwrap();
    assert_eq!((&of_ada["name"], &of_ada["presence"]), (&json!("lovelace"), &json!("busy")));
    eve.settled().await;
}

#[tokio::test]
async fn skills_are_signed_found_and_gone_with_their_agent() {
    let relay = Relay::quick();
    let (mut ada, mut bob) = (relay.agent("ada", 1).await, relay.guest("bob").await);
    let skills = r#"[{"capability":"rust","rate":5,"currency":"XNO"},{"capability":"prose"}]"#;
    let digest = {
        use sha2::Digest as _;
        hex::encode(sha2::Sha256::digest(skills.as_bytes()))
    };
    let sig = ada.sign(&format!("REGISTER_SKILLS|{digest}"));
    let frame = |sig: &str| format!(r#"{{"type":"REGISTER_SKILLS","skills":{skills},"sig":"{sig}"}}"#);
    ada.text(frame(&ada.sign("REGISTER_SKILLS|"))).await;
    ada.error("VERIFICATION_FAILED").await;
    bob.text(frame(&sig)).await;
    bob.error("SIGNATURE_REQUIRED").await;
    ada.text(frame(&sig)).await;
    assert_eq!(ada.expect("SKILLS_REGISTERED").await["skills_count"], 2);
    let search =
        json!({ "type": "SEARCH_SKILLS", "query": { "capability": "RU", "max_rate": 6 }, "query_id": "q" });
    bob.send(search.clone()).await;
    let results = bob.expect("SEARCH_RESULTS").await;
    assert_eq!((&results["query_id"], &results["total"]), (&json!("q"), &json!(1)));
    assert_eq!(results["results"][0]["agent_id"], json!(ada.id));
    let mut cheap = search.clone();
    cheap["query"]["max_rate"] = json!(4);
    bob.send(cheap).await;
    assert_eq!(bob.expect("SEARCH_RESULTS").await["total"], 0);
    drop(ada);
    relay.reaches("zx1_relay_agents", 1.0).await;
    bob.send(search).await;
    assert_eq!(bob.expect("SEARCH_RESULTS").await["total"], 0);
}

#[tokio::test]
async fn an_agent_proves_its_key_to_another_one() {
    let relay = Relay::start(&["--rate-limit-ms", "0", "--verification-timeout-ms", "300"]);
    let (mut ada, mut bob) = (relay.agent("ada", 1).await, relay.agent("bob", 2).await);
    let mut guest = relay.guest("guest").await;
    let ask = |target: &str| json!({ "type": "VERIFY_REQUEST", "target": target, "nonce": "n".repeat(16) });
    async fn asked(ada: &mut Client, bob: &mut Client, frame: Value) -> String {
        ada.send(frame).await;
        let pending = ada.expect("VERIFY_REQUEST").await;
        assert_eq!((&pending["target"], &pending["status"]), (&json!(bob.id), &json!("pending")));
        let request = bob.expect("VERIFY_REQUEST").await;
        assert_eq!((&request["from"], &request["request_id"]), (&json!(ada.id), &pending["request_id"]));
        request["request_id"].as_str().unwrap().to_owned()
    }
    let answer = |id: &str, nonce: &str, sig: String| json!({ "type": "VERIFY_RESPONSE", "request_id": id, "nonce": nonce, "sig": sig });
    let (nonce, to_bob) = ("n".repeat(16), bob.id.clone());
    let id = asked(&mut ada, &mut bob, ask(&to_bob)).await;
    bob.send(answer(&id, &nonce, bob.sign(&nonce))).await;
    let success = ada.expect("VERIFY_SUCCESS").await;
    assert_eq!((&success["agent"], &success["pubkey"]), (&json!(bob.id), &json!(pem(&key(2)))));
    assert_eq!(bob.expect("VERIFY_SUCCESS").await["verified"], true);
    // Once.
    bob.refused(answer(&id, &nonce, bob.sign(&nonce)), "VERIFICATION_EXPIRED").await;
    // Somebody else's signature, or none in time, or no key at all.
    let id = asked(&mut ada, &mut bob, ask(&to_bob)).await;
    ada.refused(answer(&id, &nonce, ada.sign(&nonce)), "VERIFICATION_EXPIRED").await;
    bob.refused(answer(&id, &nonce, sign(&key(9), &nonce)), "VERIFICATION_FAILED").await;
    assert_eq!(ada.expect("VERIFY_FAILED").await["target"], json!(bob.id));
    asked(&mut ada, &mut bob, ask(&to_bob)).await;
    assert_eq!(ada.expect("VERIFY_FAILED").await["reason"], "timeout");
    ada.refused(ask(&guest.id), "NO_PUBKEY").await;
    ada.refused(ask("@00000000"), "AGENT_NOT_FOUND").await;
    for (length, fits) in [(15, false), (16, true), (128, true), (129, false)] {
        let mut frame = ask(&bob.id);
        frame["nonce"] = json!("n".repeat(length));
        ada.send(frame).await;
        if fits {
            ada.expect("VERIFY_REQUEST").await;
            bob.expect("VERIFY_REQUEST").await;
        } else {
            ada.error("INVALID_MSG").await;
        }
    }
    guest.settled().await;
}

#[tokio::test]
async fn a_key_takes_its_identity_over_and_the_other_connection_is_closed() {
    let relay = Relay::quick();
    let mut old = relay.agent("ada", 1).await;
    let mut bob = relay.guest("bob").await;
    old.join("#general").await;
    bob.join("#general").await;
    old.expect("AGENT_JOINED").await;
    let mut new = relay.agent("ada", 1).await;
    assert_eq!(old.expect("SESSION_DISPLACED").await["new_ip"], "127.0.0.1");
    assert_eq!(old.closed().await, Some((1_000, "Identity claimed by verified connection".to_owned())));
    assert_eq!(bob.expect("AGENT_LEFT").await["agent"], json!(new.id));
    new.say(&bob.id.clone(), "here").await;
    assert_eq!(bob.expect("MSG").await["from"], json!(new.id));
    // The end of the old connection takes nothing from the new one.
    relay.reaches("zx1_relay_websockets", 2.0).await;
    new.expect("MSG").await;
    new.settled().await;
}

#[tokio::test]
async fn two_hundred_takeovers_leave_one_connection() {
    let relay = Relay::quick();
    let mut last = relay.agent("ada", 1).await;
    for _ in 0..100 {
        let (mut one, mut two) = (relay.client().await, relay.client().await);
        let (of_one, of_two) =
            (one.challenge("ada", &pem(&key(1))).await, two.challenge("ada", &pem(&key(1))).await);
        one.answer(&of_one, &key(1)).await;
        two.answer(&of_two, &key(1)).await;
        one.welcomed().await;
        two.welcomed().await;
        assert_eq!(last.closed().await.map(|(code, _)| code), Some(1_000));
        // Whichever came second stays.
        let is_one = tokio::select! {
            _ = one.closed() => false,
            _ = two.closed() => true,
        };
        last = if is_one { one } else { two };
        last.settled().await;
    }
    relay.reaches("zx1_relay_agents", 1.0).await;
    relay.reaches("zx1_relay_websockets", 1.0).await;
    assert!((relay.figure("zx1_relay_displaced_total").await - 200.0).abs() < 0.1);
}

#[tokio::test]
async fn the_admin_kicks_bans_rules_the_allowlist_and_nobody_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("admin");
    std::fs::write(&file, "0123456789abcdef\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let relay = Relay::start(&["--admin-key-file", &file]);
    let (mut ada, mut bob) = (relay.agent("ada", 1).await, relay.agent("bob", 2).await);
    let admin = |kind: &str, mut more: Value| {
        more["type"] = json!(kind);
        more["admin_key"] = json!("0123456789abcdef");
        more
    };
    let mut wrong = admin("ADMIN_KICK", json!({ "agent_id": bob.id }));
    wrong["admin_key"] = json!("0123456789abcdeX");
    ada.refused(wrong, "NOT_ALLOWED").await;
    bob.settled().await;
    ada.send(admin("ADMIN_KICK", json!({ "agent_id": bob.id, "reason": "noise" }))).await;
    assert_eq!(bob.expect("KICKED").await["reason"], "noise");
    assert_eq!(bob.closed().await.map(|(code, _)| code), Some(1_000));
    let done = ada.expect("ADMIN_RESULT").await;
    assert_eq!((&done["action"], &done["success"]), (&json!("kick"), &json!(true)));
    let mut bob = relay.agent("bob", 2).await;
    ada.send(admin("ADMIN_BAN", json!({ "agent_id": bob.id, "reason": "spam" }))).await;
    assert_eq!(bob.expect("BANNED").await["reason"], "spam");
    assert_eq!(bob.closed().await.map(|(code, _)| code), Some(1_000));
    ada.expect("ADMIN_RESULT").await;
    // Also after the relay died.
    let relay = relay.restart();
    let mut again = relay.client().await;
    again.refused(json!({ "type": "IDENTIFY", "name": "bob", "pubkey": pem(&key(2)) }), "BANNED").await;
    let mut ada = relay.agent("ada", 1).await;
    ada.send(admin("ADMIN_UNBAN", json!({ "agent_id": bob.id }))).await;
    assert_eq!(ada.expect("ADMIN_RESULT").await["success"], true);
    again.identify("bob", 2).await;
    ada.send(admin("ADMIN_APPROVE", json!({ "pubkey": pem(&key(2)), "note": "bob" }))).await;
    ada.expect("ADMIN_RESULT").await;
    ada.send(admin("ADMIN_LIST", json!({}))).await;
    let list = ada.expect("ADMIN_RESULT").await;
    assert_eq!(list["entries"], json!([{ "pubkey": pem(&key(2)), "note": "bob" }]));
    assert_eq!((&list["enabled"], &list["strict"]), (&json!(false), &json!(false)));
    ada.send(admin("ADMIN_REVOKE", json!({ "agent_id": again.id }))).await;
    assert_eq!(ada.expect("ADMIN_RESULT").await["success"], true);
    ada.send(admin("ADMIN_REVOKE", json!({ "agent_id": again.id }))).await;
    assert_eq!(ada.expect("ADMIN_RESULT").await["success"], false);
    // Without a key file there is no admin.
    let open = Relay::quick();
    let mut eve = open.guest("eve").await;
    eve.refused(admin("ADMIN_LIST", json!({})), "NOT_ALLOWED").await;
}

#[tokio::test]
async fn an_allowlist_lets_in_its_keys_and_a_strict_one_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("allowed.pem");
    std::fs::write(&file, format!("{}{}", pem(&key(1)), pem(&key(2)))).unwrap();
    let file = file.to_str().unwrap();
    for (flag, guests) in [("--allowlist-enabled", true), ("--allowlist-strict", false)] {
        let relay = Relay::start(&[flag, "--allowlist-file", file]);
        relay.agent("ada", 1).await;
        relay.agent("bob", 2).await;
        let mut eve = relay.client().await;
        eve.refused(json!({ "type": "IDENTIFY", "name": "eve", "pubkey": pem(&key(3)) }), "NOT_ALLOWED")
            .await;
        eve.send(json!({ "type": "IDENTIFY", "name": "eve" })).await;
        assert_eq!(eve.next().await["type"], if guests { "WELCOME" } else { "ERROR" });
    }
}

#[tokio::test]
async fn a_chunk_goes_to_its_recipient_alone_and_is_not_read() {
    let relay = Relay::quick();
    let (mut ada, mut bob) = (relay.guest("ada").await, relay.guest("bob").await);
    let content = format!("{{\"_ft\":\"chunk\",\"data\":\"{}\"}}", "x".repeat(131_072));
    ada.send(json!({ "type": "FILE_CHUNK", "to": bob.id, "content": content })).await;
    let chunk = bob.expect("FILE_CHUNK").await;
    assert_eq!((&chunk["from"], &chunk["content"]), (&json!(ada.id), &json!(content)));
    ada.settled().await;
    ada.refused(json!({ "type": "FILE_CHUNK", "to": "#general", "content": "x" }), "INVALID_MSG").await;
}

#[tokio::test]
async fn only_clients_that_know_them_get_the_relays_own_frames() {
    let relay = Relay::start(&["--rate-limit-ms", "0"]);
    let mut old = relay.guest("old").await;
    let mut new = Client::connect(&relay.address, true).await;
    new.send(json!({ "type": "IDENTIFY", "name": "new" })).await;
    new.welcomed().await;
    old.join("#general").await;
    new.join("#general").await;
    old.expect("AGENT_JOINED").await;
    let mut others = Vec::new();
    for number in 0..300 {
        let mut guest = relay.guest(&format!("g{number}")).await;
        guest.send(json!({ "type": "JOIN", "channel": "#general" })).await;
        others.push(guest);
    }
    // The first 256 members are heard of one by one; then the new client hears of all others in a few frames.
    let (mut one_by_one, mut together) = (0, 0);
    while one_by_one + together < 300 {
        let frame = new.next().await;
        if frame["type"] == "MEMBERS" {
            together += frame["joined"].as_array().unwrap().len();
            assert_eq!(frame["left"], json!([]));
        } else {
            assert_eq!(frame["type"], "AGENT_JOINED", "{frame}");
            one_by_one += 1;
        }
    }
    assert_eq!((one_by_one, together), (254, 46));
    for _ in 0..254 {
        old.expect("AGENT_JOINED").await;
    }
    old.settled().await;
}

#[tokio::test]
async fn health_is_the_older_servers_and_buffers_are_read_over_http() {
    let relay = Relay::quick();
    let mut ada = relay.agent("ada", 1).await;
    ada.join("#general").await;
    ada.say("#general", "<b>hello</b>").await;
    ada.expect("MSG").await;
    let (status, health) = relay.get("/health").await;
    let health: Value = serde_json::from_str(&health).unwrap();
    assert_eq!((status, &health["status"]), (200, &json!("healthy")));
    assert_eq!(health["agents"], json!({ "connected": 1, "with_identity": 1 }));
    assert_eq!(health["channels"], json!({ "total": 3, "public": 3 }));
    assert_eq!(
        (&health["proposals"]["total"], &health["proposals"]["byStatus"]["pending"]),
        (&json!(0), &json!(0))
    );
    let rooms: Value = serde_json::from_str(&relay.get("/v1/rooms").await.1).unwrap();
    assert_eq!(rooms["rooms"][2], json!({ "name": "#general", "members": 1, "invite_only": false }));
    let read: Value = serde_json::from_str(&relay.get("/v1/rooms/general/messages").await.1).unwrap();
    assert_eq!(
        (&read["messages"][0]["content"], &read["messages"][0]["name"]),
        (&json!("<b>hello</b>"), &json!("ada"))
    );
    for (path, status) in
        [("/healthz", 204), ("/readyz", 204), ("/nothing", 404), ("/v1/rooms/none/messages", 404)]
    {
        assert_eq!(relay.get(path).await.0, status, "{path}");
    }
    assert!(relay.get("/asyncapi.json").await.1.contains("\"asyncapi\": \"3.0.0\""));
}

#[tokio::test]
async fn a_relay_that_stops_tells_everybody_to_come_back_and_replays_what_was_said_before() {
    let mut relay = Relay::quick();
    let mut ada = relay.guest("ada").await;
    let mut unknown = relay.client().await;
    ada.join("#general").await;
    ada.say("#general", "last words").await;
    let said = ada.expect("MSG").await;
    relay.terminate();
    for client in [&mut ada, &mut unknown] {
        assert_eq!(client.closed().await, Some((1_012, "Service restart".to_owned())));
    }
    assert!(relay.wait(), "it ends well");
    let relay = relay.restart();
    let mut ada = relay.guest("ada").await;
    ada.send(json!({ "type": "JOIN", "channel": "#general" })).await;
    ada.expect("JOINED").await;
    let replayed = ada.expect("MSG").await;
    for field in ["content", "from", "msg_id"] {
        assert_eq!(replayed[field], said[field]);
    }
    assert_eq!(replayed["replay"], true);
}
