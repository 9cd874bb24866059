//! Proposals: every way of the table over the wire, ratings to the point, and what a crash leaves.

use crate::harness::{Client, Relay, key, sign};
use serde_json::{Value, json};

/// Fields that PROPOSAL's older signature covers, each written as JavaScript joins them.
fn signed(frame: &mut Value, key: &ed25519_dalek::SigningKey) {
    let text = |name: &str| match &frame[name] {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.as_f64() != Some(0.0) => number.to_string(),
        _ => String::new(),
    };
    let names = ["to", "task", "amount", "currency", "payment_code", "expires", "elo_stake"];
    let sig = sign(key, &names.map(text).join("|"));
    frame["sig"] = json!(sig);
}

fn proposal(from: &Client, to: &Client, more: Value) -> Value {
    let mut frame = json!({ "type": "PROPOSAL", "to": to.id, "task": "mend the build" });
    for (name, value) in more.as_object().unwrap() {
        frame[name] = value.clone();
    }
    signed(&mut frame, from.key.as_ref().unwrap());
    frame
}

/// Proposes; both have the frame. Gives its id.
async fn propose(from: &mut Client, to: &mut Client, more: Value) -> String {
    from.send(proposal(from, to, more)).await;
    let (echo, came) = (from.expect("PROPOSAL").await, to.expect("PROPOSAL").await);
    assert_eq!(echo, came);
    came["id"].as_str().unwrap().to_owned()
}

fn act(client: &Client, kind: &str, id: &str, more: Value) -> Value {
    let text = |name: &str| more[name].as_str().unwrap_or_default().to_owned();
    let stake = more["elo_stake"].as_u64().filter(|stake| *stake > 0).map(|stake| stake.to_string());
    let covered = match kind {
        "ACCEPT" => format!("ACCEPT|{id}|{}|{}", text("payment_code"), stake.unwrap_or_default()),
        "REJECT" => format!("REJECT|{id}|{}", text("reason")),
        "COMPLETE" => format!("COMPLETE|{id}|{}", text("proof")),
        _ => format!("DISPUTE|{id}|{}", text("reason")),
    };
    let mut frame = json!({ "type": kind, "proposal_id": id, "sig": client.sign(&covered) });
    for (name, value) in more.as_object().unwrap() {
        frame[name] = value.clone();
    }
    frame
}

/// Does something with a proposal; both have the frame.
async fn does(by: &mut Client, other: &mut Client, kind: &str, id: &str, more: Value) -> Value {
    by.send(act(by, kind, id, more)).await;
    let (echo, came) = (by.expect(kind).await, other.expect(kind).await);
    assert_eq!(echo, came);
    assert_eq!(
        (&came["from"], &came["to"], &came["proposal_id"]),
        (&json!(by.id), &json!(other.id), &json!(id))
    );
    came
}

const YOUNG: [&str; 4] = ["--rate-limit-ms", "0", "--min-proposal-age-ms", "0"];

async fn pair(relay: &Relay) -> (Client, Client) {
    (relay.agent("ada", 1).await, relay.agent("bob", 2).await)
}

#[tokio::test]
async fn a_completion_that_both_confirm_moves_both_ratings_once() {
    let relay = Relay::start(&YOUNG);
    let (mut ada, mut bob) = pair(&relay).await;
    let more = json!({
        "amount": 1.5, "currency": "XNO", "payment_code": "nano_1", "terms": "by noon", "expires": 600,
        "elo_stake": 25, "conversation": "0123456789abcdef0123456789abcdef", "envelope": "AAEC",
    });
    ada.send(proposal(&ada, &bob, more)).await;
    let (echo, came) = (ada.expect("PROPOSAL").await, bob.expect("PROPOSAL").await);
    assert_eq!(echo, came);
    for (name, value) in [
        ("from", json!(ada.id)),
        ("to", json!(bob.id)),
        ("task", json!("mend the build")),
        ("amount", json!(1.5)),
        ("currency", json!("XNO")),
        ("payment_code", json!("nano_1")),
        ("terms", json!("by noon")),
        ("status", json!("pending")),
        ("elo_stake", json!(25)),
        ("conversation", json!("0123456789abcdef0123456789abcdef")),
        ("envelope", json!("AAEC")),
    ] {
        assert_eq!(came[name], value, "{name}");
    }
    assert_eq!(came["expires"].as_u64().unwrap() - came["created_at"].as_u64().unwrap(), 600_000);
    let id = came["id"].as_str().unwrap();
    let accepted =
        does(&mut bob, &mut ada, "ACCEPT", id, json!({ "payment_code": "nano_2", "elo_stake": 5 })).await;
    assert_eq!(
        (
            &accepted["status"],
            &accepted["proposer_stake"],
            &accepted["acceptor_stake"],
            &accepted["payment_code"]
        ),
        (&json!("accepted"), &json!(25), &json!(5), &json!("nano_2"))
    );
    let completed = does(&mut bob, &mut ada, "COMPLETE", id, json!({ "proof": "it builds" })).await;
    assert_eq!((&completed["status"], &completed["rating_changes"]), (&json!("completed"), &json!({})));
    assert_eq!((&completed["proof"], &completed["completed_by"]), (&json!("it builds"), &json!(bob.id)));
    assert_eq!(completed["elo_stakes"], json!({ "proposer": 25, "acceptor": 5 }));
    // A second word of the same party does not confirm the first.
    bob.refused(act(&bob, "COMPLETE", id, json!({})), "INVALID_PROPOSAL").await;
    let confirmed = does(&mut ada, &mut bob, "COMPLETE", id, json!({})).await;
    let eight = json!({ "oldRating": 1200, "newRating": 1208, "change": 8, "transactions": 1 });
    let escrow = json!({ "proposer_stake": 25, "acceptor_stake": 5, "settlement": "returned" });
    assert_eq!(confirmed["rating_changes"], json!({ &*ada.id: eight, &*bob.id: eight, "_escrow": escrow }));
    assert_eq!(
        ada.refused(act(&ada, "COMPLETE", id, json!({})), "INVALID_PROPOSAL").await,
        "PROPOSAL_NOT_ACCEPTED"
    );
    // Within an hour the same pair ends another one without moving anything.
    let second = propose(&mut ada, &mut bob, json!({})).await;
    does(&mut bob, &mut ada, "ACCEPT", &second, json!({})).await;
    does(&mut bob, &mut ada, "COMPLETE", &second, json!({})).await;
    let confirmed = does(&mut ada, &mut bob, "COMPLETE", &second, json!({})).await;
    let none = json!({ "oldRating": 1208, "newRating": 1208, "change": 0, "transactions": 1 });
    assert_eq!(confirmed["rating_changes"], json!({ &*ada.id: none, &*bob.id: none }));
}

#[tokio::test]
async fn only_signed_acts_of_the_right_party_in_the_right_state_are_taken() {
    let relay = Relay::start(&["--rate-limit-ms", "0"]);
    let (mut ada, mut bob) = pair(&relay).await;
    let (mut eve, mut guest) = (relay.agent("eve", 3).await, relay.guest("guest").await);
    let good = proposal(&ada, &bob, json!({}));
    let mut unsigned = good.clone();
    unsigned.as_object_mut().unwrap().remove("sig");
    ada.refused(unsigned, "SIGNATURE_REQUIRED").await;
    let mut other = good.clone();
    other["task"] = json!("something else");
    ada.refused(other, "VERIFICATION_FAILED").await;
    let mut with_wrong = good.clone();
    with_wrong["zx1_sig"] = good["sig"].clone();
    ada.refused(with_wrong, "VERIFICATION_FAILED").await;
    guest.refused(good.clone(), "SIGNATURE_REQUIRED").await;
    ada.refused(proposal(&ada, &guest, json!({})), "NO_PUBKEY").await;
    ada.refused(proposal(&ada, &ada, json!({})), "INVALID_PROPOSAL").await;
    let mut nobody = good.clone();
    nobody["to"] = json!("@00000000");
    signed(&mut nobody, &key(1));
    ada.refused(nobody, "AGENT_NOT_FOUND").await;
    for (stake, code) in
        [(json!(1_101), "INSUFFICIENT_REPUTATION"), (json!(-1), "INVALID_MSG"), (json!(0.5), "INVALID_MSG")]
    {
        ada.refused(proposal(&ada, &bob, json!({ "elo_stake": stake })), code).await;
    }
    let id = propose(&mut ada, &mut bob, json!({ "elo_stake": 1_100 })).await;
    let message = ada.refused(act(&ada, "ACCEPT", &id, json!({})), "INVALID_PROPOSAL").await;
    assert_eq!(message, "NOT_PROPOSAL_RECIPIENT");
    assert_eq!(
        eve.refused(act(&eve, "REJECT", &id, json!({})), "INVALID_PROPOSAL").await,
        "NOT_PROPOSAL_RECIPIENT"
    );
    bob.refused(act(&bob, "ACCEPT", "prop_x", json!({})), "PROPOSAL_NOT_FOUND").await;
    assert_eq!(
        bob.refused(act(&bob, "REJECT", "prop_x", json!({})), "INVALID_PROPOSAL").await,
        "PROPOSAL_NOT_FOUND"
    );
    let message = bob.refused(act(&bob, "COMPLETE", &id, json!({})), "INVALID_PROPOSAL").await;
    assert_eq!(message, "PROPOSAL_NOT_ACCEPTED");
    bob.refused(act(&bob, "ACCEPT", &id, json!({ "elo_stake": 1_101 })), "INSUFFICIENT_REPUTATION").await;
    let mut forged = act(&bob, "ACCEPT", &id, json!({}));
    forged["payment_code"] = json!("mine");
    bob.refused(forged, "VERIFICATION_FAILED").await;
    does(&mut bob, &mut ada, "ACCEPT", &id, json!({})).await;
    // Everything that the rating carries lies in escrow.
    ada.refused(proposal(&ada, &eve, json!({ "elo_stake": 1 })), "INSUFFICIENT_REPUTATION").await;
    assert_eq!(
        bob.refused(act(&bob, "REJECT", &id, json!({})), "INVALID_PROPOSAL").await,
        "PROPOSAL_NOT_PENDING"
    );
    let message = bob.refused(act(&bob, "COMPLETE", &id, json!({})), "RATE_LIMITED").await;
    assert!(message.contains("too young"), "{message}");
    assert_eq!(
        eve.refused(act(&eve, "DISPUTE", &id, json!({ "reason": "x" })), "INVALID_PROPOSAL").await,
        "NOT_PROPOSAL_PARTY"
    );
    let second = propose(&mut ada, &mut bob, json!({})).await;
    let rejected = does(&mut bob, &mut ada, "REJECT", &second, json!({ "reason": "no time" })).await;
    assert_eq!((&rejected["status"], &rejected["reason"]), (&json!("rejected"), &json!("no time")));
    eve.settled().await;
}

#[tokio::test]
async fn a_proposal_expires_before_and_after_it_was_accepted() {
    let relay = Relay::start(&YOUNG);
    let (mut ada, mut bob) = pair(&relay).await;
    let (one, two) = (
        propose(&mut ada, &mut bob, json!({ "expires": 0.15 })).await,
        propose(&mut ada, &mut bob, json!({ "expires": 0.15, "elo_stake": 1_100 })).await,
    );
    does(&mut bob, &mut ada, "ACCEPT", &two, json!({})).await;
    tokio::time::sleep(std::time::Duration::from_millis(160)).await;
    for (id, kind) in [(&one, "ACCEPT"), (&one, "REJECT"), (&two, "COMPLETE"), (&two, "DISPUTE")] {
        let more = if kind == "DISPUTE" { json!({ "reason": "late" }) } else { json!({}) };
        let message = bob.refused(act(&bob, kind, id, more), "INVALID_PROPOSAL").await;
        assert_eq!(message, "PROPOSAL_EXPIRED", "{kind}");
    }
    // The stake comes back with the relay's next look at its deadlines.
    let again = json!({ "elo_stake": 1_100 });
    loop {
        ada.send(proposal(&ada, &bob, again.clone())).await;
        if ada.next().await["type"] == "PROPOSAL" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_lone_dispute_moves_nothing_and_a_ruling_moves_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("admin");
    std::fs::write(&file, "0123456789abcdef").unwrap();
    let relay = Relay::start(&[&YOUNG[..], &["--admin-key-file", file.to_str().unwrap()]].concat());
    let (mut ada, mut bob) = pair(&relay).await;
    let id = propose(&mut ada, &mut bob, json!({ "elo_stake": 10 })).await;
    does(&mut bob, &mut ada, "ACCEPT", &id, json!({ "elo_stake": 20 })).await;
    let disputed = does(&mut ada, &mut bob, "DISPUTE", &id, json!({ "reason": "it does not build" })).await;
    assert_eq!(
        (&disputed["status"], &disputed["rating_changes"], &disputed["disputed_by"]),
        (&json!("disputed"), &json!({}), &json!(ada.id))
    );
    let rule = |winner: Value, key: &str| json!({ "type": "ADMIN_RULE", "proposal_id": id, "winner": winner, "admin_key": key });
    ada.refused(rule(json!(ada.id), "0123456789abcdeX"), "NOT_ALLOWED").await;
    let mut eve = relay.agent("eve", 3).await;
    eve.refused(rule(json!(eve.id), "0123456789abcdef"), "INVALID_PROPOSAL").await;
    eve.send(rule(json!(bob.id), "0123456789abcdef")).await;
    let (of_ada, of_bob) = (ada.id.clone(), bob.id.clone());
    // Bob wins 16 and Ada's stake; Ada loses 16 and her stake.
    for client in [&mut ada, &mut bob] {
        let ruled = client.expect("DISPUTE").await;
        assert_eq!((&ruled["from"], &ruled["status"]), (&json!("@server"), &json!("disputed")));
        let changes = &ruled["rating_changes"];
        assert_eq!(changes["_escrow"]["settlement"], "transferred");
        assert_eq!(changes[&of_ada]["newRating"], 1_174);
        assert_eq!(changes[&of_bob]["newRating"], 1_226, "2 400 in all, as before");
    }
    assert_eq!(eve.expect("ADMIN_RESULT").await["success"], true);
    eve.refused(rule(json!(ada.id), "0123456789abcdef"), "INVALID_PROPOSAL").await;
}

#[tokio::test]
async fn a_relay_that_is_killed_after_any_step_knows_what_it_has_told() {
    let mut relay = Relay::start(&YOUNG);
    let (mut ada, mut bob) = pair(&relay).await;
    let id = propose(&mut ada, &mut bob, json!({ "elo_stake": 1_000 })).await;
    for (kind, by_bob, status) in
        [("ACCEPT", true, "accepted"), ("COMPLETE", true, "completed"), ("COMPLETE", false, "completed")]
    {
        relay = relay.restart();
        (ada, bob) = pair(&relay).await;
        let (by, other) = if by_bob { (&mut bob, &mut ada) } else { (&mut ada, &mut bob) };
        let done = does(by, other, kind, &id, json!({})).await;
        assert_eq!(done["status"], status);
        if kind == "ACCEPT" {
            relay = relay.restart();
            (ada, bob) = pair(&relay).await;
            ada.refused(proposal(&ada, &bob, json!({ "elo_stake": 101 })), "INSUFFICIENT_REPUTATION").await;
        }
    }
    relay = relay.restart();
    (ada, bob) = pair(&relay).await;
    // The stake is free again, the rating is 1208: 1108 is all that it carries.
    ada.refused(proposal(&ada, &bob, json!({ "elo_stake": 1_109 })), "INSUFFICIENT_REPUTATION").await;
    propose(&mut ada, &mut bob, json!({ "elo_stake": 1_108 })).await;
    // The pair's hour has gone on as well.
    let next = propose(&mut bob, &mut ada, json!({})).await;
    does(&mut ada, &mut bob, "ACCEPT", &next, json!({})).await;
    does(&mut ada, &mut bob, "COMPLETE", &next, json!({})).await;
    let confirmed = does(&mut bob, &mut ada, "COMPLETE", &next, json!({})).await;
    assert_eq!(confirmed["rating_changes"][&ada.id]["change"], 0);
}

#[tokio::test]
async fn ratings_of_an_older_server_are_taken_over_when_their_keys_identify() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ratings.json");
    let id = zx1_relay_rules::AgentId::of_pem(&crate::harness::pem(&key(1)), 16);
    let import = |relay: &Relay| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_zx1-relay"));
        command.arg("--data").arg(relay.data.path()).arg("import").arg(&file).output().unwrap()
    };
    let mut relay = Relay::start(&["--id-digits", "16"]);
    std::fs::write(&file, "{\"@0123abcd\": {\"rating\": 1300}}").unwrap();
    let refused = import(&relay);
    assert!(!refused.status.success(), "an id of 8 digits is nobody's");
    let text = json!({ (id.to_string()): { "rating": 1500, "transactions": 120, "updated": "2026-01-01" } });
    std::fs::write(&file, text.to_string()).unwrap();
    assert!(!import(&relay).status.success(), "the relay has the database");
    relay.kill();
    let done = import(&relay);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1 ratings imported\n");
    let relay = relay.restart();
    let (mut ada, mut bob) = pair(&relay).await;
    assert_eq!(ada.id, id.to_string());
    bob.settled().await;
    ada.refused(proposal(&ada, &bob, json!({ "elo_stake": 1_401 })), "INSUFFICIENT_REPUTATION").await;
    propose(&mut ada, &mut bob, json!({ "elo_stake": 1_400 })).await;
}
