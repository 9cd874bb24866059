//! What the relay writes is what clients read.

use proptest::prelude::*;
use zx1_relay_rules::client::{Presence, Skill, Target};
use zx1_relay_rules::defaults::MAX_FRAME;
use zx1_relay_rules::elo::Change;
use zx1_relay_rules::event::{Event, Heard, Listed, Rated, Said};
use zx1_relay_rules::json::Value;
use zx1_relay_rules::proposal::{Act, Moved, Party, Proposal, Settlement, State};
use zx1_relay_rules::server::{self, Member};
use zx1_relay_rules::signing::{self, Terms};
use zx1_relay_rules::{AgentId, Code, PublicKey, RelayError};

use crate::spoken::agent;

fn id(text: &str) -> AgentId {
    AgentId::parse(text, "to").unwrap()
}

fn read(text: &str) -> Event {
    let heard = Heard::parse(text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    assert_eq!(heard.ts, 5);
    heard.event
}

fn member(name: &str) -> Member {
    Member {
        id: id(&format!("@{name}")),
        name: name.into(),
        verified: true,
        presence: Presence::Busy,
        status_text: Some("until five".into()),
    }
}

fn listed(member: &Member) -> Listed {
    Listed {
        id: member.id.clone(),
        name: Some(member.name.clone()),
        verified: Some(member.verified),
        presence: None,
        status_text: None,
    }
}

#[test]
fn both_shapes_of_joined_are_read() {
    let (a, b) = (member("aaaa"), member("bbbb"));
    assert_eq!(
        read(&server::joined("#x", &[a.clone(), b.clone()], 7, 5)),
        Event::Joined { channel: "#x".into(), agents: vec![listed(&a), listed(&b)], total: 7 }
    );
    let bare = Listed { name: None, verified: None, ..listed(&a) };
    assert_eq!(
        read(&server::created("#x", &a.id, 5)),
        Event::Joined { channel: "#x".into(), agents: vec![bare], total: 1 }
    );
}

#[test]
fn frames_about_members_are_read() {
    let (a, b) = (member("aaaa"), member("bbbb"));
    let channel = || "#x".to_owned();
    assert_eq!(
        read(&server::agent_joined("#x", &a, 5)),
        Event::AgentJoined { channel: channel(), agent: listed(&a) }
    );
    assert_eq!(
        read(&server::agent_left("#x", &a, 5)),
        Event::AgentLeft { channel: channel(), agent: a.id.clone(), name: Some("aaaa".into()) }
    );
    let seen = Listed { presence: Some(Presence::Busy), ..listed(&a) };
    assert_eq!(
        read(&server::members("#x", std::slice::from_ref(&a), std::slice::from_ref(&b.id), 300, 5)),
        Event::Members {
            channel: channel(),
            joined: vec![seen.clone()],
            left: vec![b.id.clone()],
            total: 300
        }
    );
    let whole = Listed { status_text: a.status_text.clone(), ..seen };
    assert_eq!(
        read(&server::agents("#x", std::slice::from_ref(&a), Some(&a.id), 9, 5)),
        Event::Agents { channel: channel(), list: vec![whole.clone()], next: Some(a.id.clone()), total: 9 }
    );
    assert_eq!(read(&server::presence_changed(&a, 5)), Event::Presence(Listed { verified: None, ..whole }));
    assert_eq!(read(&server::left("#x", 5)), Event::Left { channel: channel() });
    assert_eq!(read(&server::channels(&[(channel(), 3)], 5)), Event::Channels(vec![(channel(), 3)]));
    assert_eq!(
        read(&server::nick_changed(&a.id, "old", "new", 5)),
        Event::Nick { agent: a.id, old: "old".into(), new: "new".into() }
    );
}

#[test]
fn frames_of_identification_and_ends_are_read() {
    let a = id("@8addfe27");
    assert_eq!(
        read(&server::welcome(&a, "n", "s", "d", true, Some("m"), 5)),
        Event::Welcome {
            agent: a.clone(),
            name: "n".into(),
            server: "s".into(),
            disclaimer: "d".into(),
            verified: true,
            motd: Some("m".into())
        }
    );
    assert_eq!(
        read(&server::challenge("chal_1_2", [7; 16], 30_005, 5)),
        Event::Challenge { challenge_id: "chal_1_2".into(), nonce: "07".repeat(16), expires_at: 30_005 }
    );
    let refused = read(&server::error(&RelayError::NotPending, 5));
    assert_eq!(refused.code(), Some(Code::InvalidProposal));
    assert_eq!(
        refused,
        Event::Refused { code: "INVALID_PROPOSAL".into(), message: "PROPOSAL_NOT_PENDING".into() }
    );
    assert_eq!(read(r#"{"type":"ERROR","ts":5,"code":"LURK_MODE","message":"m"}"#).code(), None);
    assert_eq!(read(&server::pong(5)), Event::Pong);
    assert_eq!(
        read(&server::displaced("r", "::1", 5)),
        Event::Displaced { reason: "r".into(), new_ip: Some("::1".into()) }
    );
    for banned in [false, true] {
        let removed = Event::Removed { banned, reason: "r".into() };
        assert_eq!(read(&server::removed(banned, "r", 5)), removed);
    }
}

#[test]
fn frames_of_verification_are_told_apart_by_their_fields() {
    let frame = |kind: &str, more: &str| format!(r#"{{"type":"{kind}","ts":5,"request_id":"r"{more}}}"#);
    let (r, a) = (|| "r".to_owned(), || id("@8addfe27"));
    assert_eq!(
        read(&frame("VERIFY_REQUEST", r#","from":"@8addfe27","nonce":"n""#)),
        Event::VerifyAsked { request_id: r(), from: a(), nonce: "n".into() }
    );
    assert_eq!(
        read(&frame("VERIFY_REQUEST", r#","target":"@8addfe27","status":"pending""#)),
        Event::VerifyPending { request_id: r(), target: a() }
    );
    assert_eq!(
        read(&frame("VERIFY_SUCCESS", r#","agent":"@8addfe27","pubkey":"p""#)),
        Event::Verified { request_id: r(), agent: a(), pubkey: "p".into() }
    );
    assert_eq!(read(&frame("VERIFY_SUCCESS", r#","verified":true"#)), Event::VerifyTaken { request_id: r() });
    assert_eq!(
        read(&frame("VERIFY_FAILED", r#","target":"@8addfe27","reason":"late""#)),
        Event::VerifyFailed { request_id: r(), target: Some(a()), reason: "late".into() }
    );
}

fn filed() -> (Proposal, ed25519_dalek::SigningKey) {
    let party = |byte: u8, text: &str| Party { key: [byte; 32], id: id(text) };
    let terms = Terms {
        to: "@bbbbbbbb".into(),
        task: "fix it".into(),
        amount: Some(2.5),
        currency: Some("XNO".into()),
        payment_code: None,
        terms: Some("now".into()),
        expires: Some(3_600.0),
        elo_stake: Some(25.0),
        contract: None,
        conversation: Some("0f".repeat(16)),
    };
    let proposal = Proposal {
        id: "prop_1".into(),
        from: party(1, "@aaaaaaaa"),
        to: party(2, "@bbbbbbbb"),
        terms,
        state: State::Pending,
        created_at: 1_000,
        expires_at: Some(3_601_000),
        updated_at: 1_000,
        acceptor_stake: 0,
        completed_by: None,
        settlement: None,
    };
    (proposal, ed25519_dalek::SigningKey::from_bytes(&[9; 32]))
}

#[test]
fn a_proposal_is_read_with_what_was_signed() {
    use base64::Engine as _;
    use ed25519_dalek::Signer as _;
    let (proposal, signer) = filed();
    let sign = |text: String| {
        base64::engine::general_purpose::STANDARD.encode(signer.sign(text.as_bytes()).to_bytes())
    };
    let sig = sign(signing::proposal(&proposal.terms));
    let zx1_sig = sign(signing::zx1_proposal(&proposal.terms));
    let text = server::proposal(&proposal, &sig, Some(&zx1_sig), Some("AAEC"), 5);
    let Event::Proposed(read) = read(&text) else { panic!("{text}") };
    assert_eq!((&read.terms, &read.from, &read.to), (&proposal.terms, &proposal.from.id, &proposal.to.id));
    assert_eq!((read.expires_at, read.created_at), (proposal.expires_at, 1_000));
    assert_eq!((read.status.as_str(), read.envelope.as_deref()), ("pending", Some("AAEC")));
    let key = PublicKey::new(signer.verifying_key().to_bytes()).unwrap();
    read.check(&key).unwrap();
    // The older signature does not cover the terms; ours does.
    let mut changed = read.clone();
    changed.terms.terms = Some("later".into());
    assert_eq!(changed.check(&key), Err(RelayError::Signature));
    changed.zx1_sig = None;
    changed.check(&key).unwrap();
    changed.terms.amount = Some(2.0);
    assert_eq!(changed.check(&key), Err(RelayError::Signature));
}

#[test]
fn transitions_are_read_with_the_ratings_that_moved() {
    let (mut proposal, _) = filed();
    proposal.state = State::Completed;
    let change = |old, new| Change { old, new, transactions: 1 };
    let moved = Moved {
        changes: [(proposal.from.clone(), change(1_200, 1_208)), (proposal.to.clone(), change(1_200, 1_190))],
        settlement: Settlement::Returned,
    };
    let more = vec![
        ("completed_by", "@aaaaaaaa".into()),
        ("proof", "commit 1".into()),
        ("rating_changes", server::rating_changes(Some(&moved), (25, 0))),
    ];
    let by = proposal.from.id.clone();
    let Event::Changed(changed) =
        read(&server::transition("COMPLETE", &proposal, &by, "s", more, Some("AA=="), 5))
    else {
        panic!("another type")
    };
    assert_eq!((changed.act, changed.status.as_str()), (Act::Complete, "completed"));
    assert_eq!((changed.from, changed.to), (proposal.from.id.clone(), proposal.to.id.clone()));
    assert_eq!((changed.proof.as_deref(), changed.reason.as_deref()), (Some("commit 1"), None));
    let rated = |party: &Party, old, new| Rated { agent: party.id.clone(), old, new };
    assert_eq!(changed.ratings, [rated(&proposal.from, 1_200, 1_208), rated(&proposal.to, 1_200, 1_190)]);
    assert_eq!(
        (changed.settlement.as_deref(), changed.envelope.as_deref()),
        (Some("returned"), Some("AA=="))
    );
    let none = vec![("rating_changes", server::rating_changes(None, (25, 0)))];
    let Event::Changed(changed) = read(&server::transition("COMPLETE", &proposal, &by, "s", none, None, 5))
    else {
        panic!("another type")
    };
    assert_eq!((changed.ratings.len(), changed.settlement), (0, None));
}

#[test]
fn skills_chunks_and_typing_are_read() {
    let a = id("@8addfe27");
    let value = Value::object([("capability", "code".into()), ("rate", 5.0.into())]);
    let skill = Skill { capability: "code".into(), value };
    let found = [(a.clone(), "n".to_owned(), skill)];
    let Event::SearchResults { query_id, results, total } =
        read(&server::search_results(Some("q"), &Value::Object(vec![]), &found, 8, 5))
    else {
        panic!("another type")
    };
    assert_eq!((query_id.as_deref(), results.len(), total), (Some("q"), 1, 8));
    assert_eq!(results[0].get("agent_id").and_then(Value::as_text), Some("@8addfe27"));
    assert_eq!(
        read(&server::skills_registered(&a, 2, 5)),
        Event::SkillsRegistered { agent: a.clone(), count: 2 }
    );
    assert_eq!(
        read(&server::file_chunk(&a, &a, "c", 5)),
        Event::FileChunk { from: a.clone(), to: a.clone(), content: "c".into() }
    );
    assert_eq!(
        read(&server::typing(&a, "n", "#x", 5)),
        Event::Typing { from: a, from_name: "n".into(), channel: "#x".into() }
    );
}

#[test]
fn what_is_unknown_is_kept_and_what_is_broken_is_refused() {
    let text = r#"{"type":"NEWS","ts":5,"x":[1]}"#;
    let Event::Other { kind, value } = read(text) else { panic!("another type") };
    assert_eq!((kind.as_str(), value.stringify().as_str()), ("NEWS", text));
    assert_eq!(Heard::parse(r#"{"type":"PONG","future":{"a":[1]}}"#).unwrap().ts, 0);
    for (text, field) in [
        (r##"{"type":"MSG","from":"a","to":"#x","content":"c"}"##, "from"),
        (r##"{"type":"MSG","from":"@a","to":"x","content":"c"}"##, "to"),
        (r##"{"type":"MSG","from":"@a","to":"#x"}"##, "content"),
        (r##"{"type":"MSG","from":"@a","to":"#x","content":"c","replay":1}"##, "replay"),
        (r##"{"type":"JOINED","channel":"#x","agents":[7]}"##, "id"),
        (r#"{"type":"WELCOME","name":"n"}"#, "agent_id"),
    ] {
        assert_eq!(Heard::parse(text).unwrap_err(), RelayError::Field { field }, "{text}");
    }
    for text in ["null", "[]", "{}", r#"{"type":7}"#] {
        assert_eq!(Heard::parse(text).unwrap_err(), RelayError::NotAFrame, "{text}");
    }
    let large = format!(r#"{{"type":"PONG","x":"{}"}}"#, "a".repeat(MAX_FRAME));
    assert!(matches!(Heard::parse(&large), Err(RelayError::FrameTooLarge { .. })));
}

proptest! {
    #[test]
    fn a_message_is_read_as_it_was_written(
        from in agent(),
        name in "(?s).{0,20}",
        to in prop_oneof!["#[a-z0-9_-]{1,31}", "@[a-z0-9]{1,64}"],
        content in "(?s).{0,60}",
        sig in prop::option::of("[A-Za-z0-9+/]{88}"),
        msg_id in prop::option::of("[0-9a-z-]{1,40}"),
        replay in any::<bool>(),
    ) {
        let text = server::msg(Some((&from, &name)), &to, &content, sig.as_deref(), msg_id.as_deref(), replay, 5);
        let to = Target::parse(&to, "to").unwrap();
        prop_assert_eq!(to.to_string(), Target::parse(&to.to_string(), "to").unwrap().to_string());
        let said = Said { from, from_name: name, to, content, sig, msg_id, replay };
        prop_assert_eq!(read(&text), Event::Said(said));
    }

    #[test]
    fn any_text_is_an_event_or_a_refusal(text in "(?s).{0,80}", bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = Heard::parse(&text);
        let _ = Heard::parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_fields_of_a_known_type_are_an_event_or_a_refusal(
        kind in prop::sample::select(vec![
            "WELCOME", "CHALLENGE", "MSG", "JOINED", "LEFT", "AGENT_JOINED", "AGENT_LEFT", "MEMBERS", "CHANNELS",
            "AGENTS", "ERROR", "TYPING", "FILE_CHUNK", "PROPOSAL", "ACCEPT", "COMPLETE", "PRESENCE_CHANGED",
            "NICK_CHANGED", "VERIFY_REQUEST", "VERIFY_SUCCESS", "VERIFY_FAILED", "SEARCH_RESULTS", "ADMIN_RESULT",
        ]),
        names in prop::collection::vec(prop::sample::select(vec![
            "from", "to", "content", "channel", "agents", "list", "joined", "left", "total", "agent", "agent_id",
            "name", "id", "task", "rating_changes", "expires", "created_at", "nonce", "request_id", "results",
        ]), 0..8),
        values in prop::collection::vec(prop::sample::select(vec![
            "null", "1", "-1", "1e300", "true", "\"\"", "\"@a\"", "\"#a\"", "[]", "[1]", "[\"@a\"]", "{}",
            "{\"@a\":1}", "[{\"id\":\"@a\"}]", "{\"_escrow\":1}", "{\"@a\":{\"oldRating\":1e300}}",
        ]), 8),
    ) {
        let fields: String = names.iter().zip(&values).map(|(name, value)| format!(r#","{name}":{value}"#)).collect();
        let _ = Heard::parse(&format!(r#"{{"type":"{kind}"{fields}}}"#));
    }
}
