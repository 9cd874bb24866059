//! `zx1 node`, `message`, `negotiate`, `discover` and `advertise`, against a node that says what it is given to say,
//! and without one.

use crate::mesh::{self, AGENT, CONVERSATION, Node, OTHER, conversation, draft, file, message};
use crate::support::{Home, Refusal, said};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use zx1_operator::message::type_name;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::payload::bid_payload;

/// A command of each kind that asks the node.
const ASKING: [&[&str]; 18] = [
    &["node", "status"],
    &["node", "status", AGENT],
    &["node", "peers"],
    &["node", "stop"],
    &["node", "signer"],
    &["message", "send", "propose", "--to", OTHER, "--value", "1"],
    &["message", "list"],
    &["message", "show", "7"],
    &["message", "take-back", "7"],
    &["message", "settle", "7"],
    &["message", "inbox"],
    &["message", "inbox", "--follow"],
    &["negotiate", "propose", OTHER, "--value", "1"],
    &["negotiate", "accept", CONVERSATION],
    &["negotiate", "reject", CONVERSATION],
    &["negotiate", "show", CONVERSATION],
    &["discover", "translate"],
    &["advertise", "translate"],
];

/// Runs each of them and looks that it fails with this number, says this, and changes nothing.
#[track_caller]
fn all_fail(home: &Home, number: u32, parts: &[&str]) {
    let before = home.files();
    for arguments in ASKING {
        let refused = home.zx1(arguments);
        let err = refused.fails(number);
        assert_eq!(err.lines().count(), 2, "{arguments:?}: {refused:?}");
        for part in parts.iter().chain(&["next: "]) {
            assert!(err.contains(part), "{arguments:?} does not say {part}: {refused:?}");
        }
    }
    assert_eq!(home.files(), before);
}

#[test]
fn a_node_that_was_never_started_is_one_sentence_and_the_command_that_starts_it() {
    let wanted = format!("The node of {AGENT} does not run: it was not started.");
    all_fail(&mesh::home(), 7592, &[&wanted, &format!("next: zx1 node run --agent {AGENT}")]);
}

#[test]
fn a_node_that_has_ended_without_removing_its_files_does_not_run() {
    let home = mesh::home();
    let place = json!({ "ready": true, "url": "http://127.0.0.1:1", "pid": 1, "agent": AGENT, "peer": "p" });
    home.file(&file("node.json"), place.to_string());
    home.file(&file("node.token"), "token");
    all_fail(&home, 7592, &["does not run: connection refused", "zx1 node run"]);
}

#[test]
fn a_place_file_that_no_node_of_this_agent_wrote_is_refused() {
    let home = mesh::home();
    home.file(&file("node.token"), "token");
    let of = |url: &str, agent: &str| {
        json!({ "ready": true, "url": url, "pid": 1, "agent": agent, "peer": "p" }).to_string()
    };
    for (content, part) in [
        ("not JSON".to_owned(), "node.json: expected"),
        ("{}".to_owned(), "node.json: missing field"),
        (of("ftp://127.0.0.1", AGENT), "does not begin with http://"),
        (of("http://127.0.0.1:1", OTHER), "node.json is of the agent"),
        ("[".repeat(5_000), "node.json"),
    ] {
        home.file(&file("node.json"), content);
        all_fail(&home, 7593, &["The node's local API cannot be used", part, "zx1 node run"]);
    }
}

#[test]
fn a_token_that_is_not_the_nodes_is_refused() {
    let home = mesh::home();
    let node = Node::start(&home);
    home.file(&file("node.token"), "another token");
    all_fail(&home, 7593, &["it does not accept the token in node.token"]);
    assert_eq!(node.asked(), Vec::new());
    std::fs::remove_file(home.path().join(file("node.token"))).unwrap();
    home.zx1(["node", "status"]).fails(7592);
    home.file(&file("node.token"), "a\u{1b}[2J\nb");
    home.zx1(["node", "status"]).fails(7593);
}

#[test]
fn an_answer_that_is_none_of_a_node_is_refused() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("GET /v1/status", json!("Welcome!")).says("GET /v1/outbox", json!({ "no": "list" }));
    home.zx1(["node", "status"]).fails(7593);
    home.zx1(["message", "list"]).fails(7593);
    let mut status = mesh::status();
    status["identity"]["agent"] = json!("\u{1b}[2Jbob");
    let home = mesh::home();
    Node::start(&home).says("GET /v1/status", status);
    let refused = home.zx1(["node", "status"]);
    assert!(refused.fails(7593).contains("it is the node of [2Jbob."), "{refused:?}");
    assert!(!refused.err.contains('\u{1b}'), "{refused:?}");
}

#[test]
fn what_the_node_refuses_is_said_in_its_words_with_a_command_as_the_next_step() {
    let home = mesh::home();
    let node = Node::start(&home);
    for (code, next) in
        [(7650, "zx1 message list"), (7656, "--name"), (7620, "zx1 message inbox"), (1, "node status")]
    {
        let home = mesh::home();
        node.write_files(&home, AGENT);
        node.refuses(&format!("GET /v1/outbox/{code}"), 404, code, "there is none\u{1b}[2J of that number");
        let refused = home.zx1(["message", "show", &code.to_string()]);
        let err = refused.fails(7594);
        assert!(err.contains(&format!("The node refused ({code}): There is none")), "{refused:?}");
        assert!(err.contains(next) && !err.contains("Ask again") && !err.contains('\u{1b}'), "{refused:?}");
    }
    let said = home.zx1(["message", "show", "9", "--json"]);
    assert_eq!(said.code, 1, "{said:?}");
    let error: Value = serde_json::from_str(said.out.lines().last().unwrap()).unwrap();
    assert_eq!((&error["error"]["code"], &error["error"]["name"]), (&7594.into(), &"NodeRefused".into()));
}

#[test]
fn agents_that_are_not_known_and_agents_named_twice_are_refused_before_the_node_is_asked() {
    let home = mesh::home();
    let node = Node::start(&home);
    let before = home.files();
    for arguments in [
        &["node", "status", "bob"][..],
        &["node", "peers", "--agent", "bob"],
        &["node", "run", "--agent", "bob"],
        &["node", "run", "--dev", "--agent", "bob"],
        &["node", "run", "--dev", "--agent=bob"],
        &["message", "send", "propose", "--to", "bob", "--value", "1"],
        &["negotiate", "propose", "bob", "--value", "1"],
    ] {
        let refused = home.zx1(arguments);
        assert!(refused.fails(7436).contains("bob is neither"), "{arguments:?}: {refused:?}");
    }
    home.zx1(["node", "status", AGENT, "--agent", AGENT]).is_usage(7400);
    let without = Home::with_key();
    for arguments in [&["node", "status"][..], &["node", "run"], &["message", "inbox"], &["discover"]] {
        without.zx1(arguments).fails(7434);
    }
    assert_eq!((node.asked(), home.files()), (Vec::new(), before));
}

#[test]
fn wrong_arguments_are_refused_before_the_node_is_asked() {
    let home = mesh::home();
    let node = Node::start(&home);
    let large = home.file("large", vec![b'a'; 65_537]);
    let before = home.files();
    let long = "n".repeat(129);
    let cap = "c".repeat(65);
    let caps = vec!["c"; 17];
    let send = ["message", "send"];
    let fields = r#"{"kind":"discover","want":["a"]}"#;
    let usage: Vec<Vec<&str>> = vec![
        [&send[..], &["wave", "--to", OTHER]].concat(),
        [&send[..], &["beacon", "--text", "alice"]].concat(),
        [&send[..], &["propose", "--value", "1"]].concat(),
        [&send[..], &["propose", "--to", OTHER]].concat(),
        [&send[..], &["propose", "--to", OTHER, "--value", "ten"]].concat(),
        [&send[..], &["discover", "--to", OTHER]].concat(),
        [&send[..], &["reject", "--to", OTHER]].concat(),
        [&send[..], &["reject", "--to", OTHER, "--conversation", CONVERSATION, "--value", "1"]].concat(),
        [&send[..], &["advertise", "--text", "a", "--hex", "00"]].concat(),
        [&send[..], &["advertise", "--text", "a", "--file", "b"]].concat(),
        [&send[..], &["advertise", "--text", "a", "--fields", "{}"]].concat(),
        [&send[..], &["advertise", "--fields", "{}"]].concat(),
        [&send[..], &["advertise", "--fields", fields]].concat(),
        [&send[..], &["feedback", "--conversation", CONVERSATION]].concat(),
        [&send[..], &["discover", "--text", "a", "--name", ""]].concat(),
        [&send[..], &["discover", "--text", "a", "--name", &long]].concat(),
        [&send[..], &["discover", "--text", "a", "--ttl", "0"]].concat(),
        [&send[..], &["discover", "--text", "a", "--ttl", "25h"]].concat(),
        [&send[..], &["discover", "--text", "a", "--ttl", "soon"]].concat(),
        vec!["message", "show"],
        vec!["message", "show", "seven"],
        vec!["message", "take-back", "-1"],
        vec!["message", "inbox", "--limit", "0"],
        vec!["message", "inbox", "--limit", "257"],
        vec!["message", "inbox", "--after", ""],
        vec!["message", "inbox", "--after", "a b"],
        vec!["negotiate", "propose", OTHER],
        vec!["negotiate", "counter", CONVERSATION],
        vec!["negotiate", "accept"],
        vec!["negotiate", "deliver", CONVERSATION],
        vec!["node", "signer", "--max-value", "-1"],
        vec!["node", "signer", "--max-value", "much"],
        vec!["node", "signer", "--per-hour", "0"],
        vec!["discover", &cap],
        vec!["discover", ""],
        vec!["discover", "a,b"],
        vec!["advertise", "a,b"],
        [&["discover"], &caps[..]].concat(),
        vec!["discover", "a", "--wait", "11m"],
        vec!["discover", "a", "--max", "0"],
        vec!["advertise"],
        vec!["advertise", ""],
        vec!["advertise", "a", "--unit", ""],
        vec!["advertise", "a", "--price", "-1"],
        vec!["advertise", "a", "--price", "cheap"],
        vec!["advertise", "a", "--ttl", "0s"],
        vec!["advertise", "a", "--contract", ""],
    ];
    for arguments in usage {
        home.zx1(&arguments).is_usage(7400);
    }
    for (arguments, number) in [
        (&["negotiate", "show", "00"][..], 7461),
        (&["negotiate", "accept", "zz"], 7450),
        (&["message", "send", "discover", "--hex", "abc"], 7450),
        (&["message", "send", "discover", "--file", "absent"], 7406),
        (&["message", "send", "discover", "--file", &large], 7452),
        (&["negotiate", "reject", "--conversation", "00"], 7400),
        (&["message", "send", "reject", "--to", OTHER, "--conversation", "00"], 7461),
    ] {
        let refused = home.zx1(arguments);
        let code = if number == 7400 { 2 } else { 1 };
        refused.refused_silently(code, number);
    }
    let text = "a".repeat(65_537);
    home.zx1(["message", "send", "discover", "--text", &text]).fails(7453);
    assert_eq!((node.asked(), home.files()), (Vec::new(), before));
}

const STATUS: &str = "\
agent       11111111111111111111111111111112
peer id     12D3KooWGRUVh6Gr5DqVvXc3UEpQ7ZmVq4dR7yFyBgtUyt1mVXbm
key         11111111111111111111111111111113
version     0.1.0
running     since 2023-11-14 22:13 UTC
gates       enforced
cluster     slot 4242, 2 s ago (4uhcVJ…k2NsNY)
standing    good: other nodes take its messages
peers       7
messages    120 accepted, 3 ignored, 0 rejected, 1 waiting
outbox      1 queued, 0 sent, 0 unanswered
signer      connected
log         written by this node
listens on  /ip4/127.0.0.1/tcp/4001
            /ip4/127.0.0.1/udp/4001/quic-v1
reached at  no known address
hosted      not compared before an address is confirmed
";

#[test]
fn the_status_is_one_screen_and_its_json_is_the_nodes() {
    let home = mesh::home();
    Node::start(&home).says("GET /v1/status", mesh::status());
    assert_eq!(home.zx1(["node", "status"]).ok(), STATUS);
    assert_eq!(home.json(&["node", "status", AGENT]), mesh::status());
}

fn registration(hosted: &str, why: Option<&str>) -> Value {
    let uri = "https://a.example/a.json";
    json!({ "registration": { "file": "/home/a/alice.json", "addresses": [], "uri": uri, "hosted": hosted, "why": why } })
}

#[test]
fn a_status_says_what_is_wrong_and_the_next_step() {
    for (change, said, next) in [
        (json!({ "gates": "dev" }), "gates       off: every key may sign everything", ""),
        (
            json!({ "standing": { "is_good": false, "missing": "The lease is not paid." } }),
            "other nodes drop its messages: the lease is not paid",
            "next: zx1 doctor",
        ),
        (
            json!({ "cluster": { "genesis": "g", "slot": 9, "age_seconds": 90, "is_away": true } }),
            "away: its last answer is 1 min old, slot 9",
            "next: check the cluster (zx1 doctor)",
        ),
        (
            json!({ "clock_ahead_seconds": 600 }),
            "clock       10 min ahead of the cluster's: other nodes ignore its messages",
            "next: set this machine's clock",
        ),
        (
            json!({ "clock_ahead_seconds": -31 }),
            "clock       31 s behind the cluster's",
            "next: set this machine's clock",
        ),
        (json!({ "clock_ahead_seconds": 30 }), "standing    good", ""),
        (
            json!({ "outbox": { "queued": 0, "sent": 0, "unanswered": 2 } }),
            "2 unanswered",
            "next: zx1 message list shows 2 unanswered messages",
        ),
        (json!({ "signer": false }), "not connected: deals wait for it", "next: zx1 node signer"),
        (json!({ "peers": 0 }), "peers       0", "next: start it with --bootstrap"),
        (json!({ "owns_log": false }), "written by another process", ""),
        (registration("agrees", None), "hosted      /home/a/alice.json; the hosted copy agrees", ""),
        (
            registration("differs", Some("The hosted copy lacks 1 of 2 addresses.")),
            "hosted      /home/a/alice.json; the hosted copy lacks 1 of 2 addresses",
            "next: host the registration file at https://a.example/a.json",
        ),
        (registration("unread", Some("It is\u{1b}[2J away.")), "it is [2J away", "next: host"),
    ] {
        let home = mesh::home();
        let mut status = mesh::status();
        status.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        Node::start(&home).says("GET /v1/status", status);
        let shown = home.zx1(["node", "status"]);
        assert!(shown.ok().contains(said), "{said}: {}", shown.out);
        assert_eq!(shown.out.contains("next: "), !next.is_empty(), "{}", shown.out);
        assert!(shown.out.contains(next), "{next}: {}", shown.out);
    }
}

fn peer(peer: &str, score: i64, is_graylisted: bool) -> Value {
    json!({
        "peer": peer, "address": "/ip4/203.0.113.7/tcp/4001", "is_outbound": !is_graylisted,
        "mesh": ["/0x01/v1/broadcast", "/0x01/v1/notary"], "score": score, "is_graylisted": is_graylisted,
        "program": "\u{1b}[2Jprogram", "ping_micros": 41_900,
    })
}

#[test]
fn peers_are_a_table_at_every_width() {
    let home = mesh::home();
    let node = Node::start(&home);
    let id = "12D3KooWGRUVh6Gr5DqVvXc3UEpQ7ZmVq4dR7yFyBgtUyt1mVXbm";
    node.says("GET /v1/peers", json!([peer(id, 1_234, false), peer(id, -8_001, true)]));
    for width in [60, 100, 120] {
        let shown = said(home.command(["node", "peers"]).env("COLUMNS", width.to_string()));
        assert!(shown.ok().lines().all(|line| line.chars().count() <= width), "{}", shown.out);
        assert!(shown.out.contains("12.34") && shown.out.contains("-80.01"), "{}", shown.out);
    }
    let shown = home.zx1(["node", "peers", "--full"]);
    assert!(shown.ok().contains(id) && shown.out.contains("graylisted") && shown.out.contains("  41  "));
    assert!(!shown.out.contains('\u{1b}'));
    let home = mesh::home();
    Node::start(&home).says("GET /v1/peers", json!([]));
    let shown = home.zx1(["node", "peers"]);
    assert!(
        shown.ok().starts_with("The node has no peers.\nnext: start it with --bootstrap"),
        "{}",
        shown.out
    );
}

#[test]
fn a_stopped_node_is_gone_when_the_command_returns() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("POST /v1/stop", json!({}));
    let shown = home.zx1(["node", "stop"]);
    assert_eq!(shown.ok(), format!("The node of {AGENT} has stopped.\n"));
    home.zx1(["node", "stop"]).fails(7592);
}

#[test]
fn a_message_is_given_to_the_node_as_it_was_typed() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("POST /v1/send", draft("queued", false));
    let file = home.file("work", [0xff, 0]);
    let to = ["--to", OTHER];
    let rest = ["--name", "offer-1", "--ttl", "30m"];
    home.zx1(
        [&["message", "send", "propose", "--value", "-5", "--text", "3 pages"], &to[..], &rest].concat(),
    )
    .ok();
    home.zx1(["message", "send", "deliver", "--to", OTHER, "--conversation", CONVERSATION, "--file", &file])
        .ok();
    home.zx1(["message", "send", "reject", "--to", OTHER, "--conversation", CONVERSATION, "--hex", "0xAB"])
        .ok();
    let fields = format!(r#"{{"kind":"feedback","target":"{OTHER}","score":80,"outcome":2}}"#);
    home.zx1(["message", "send", "feedback", "--conversation", CONVERSATION, "--fields", &fields]).ok();
    let shown = home.zx1(["advertise", "translate", "german", "--unit", "raw", "--price", "250"]);
    shown.ok();
    assert_eq!(
        node.bodies("POST /v1/send"),
        [
            json!({
                "type": "propose", "recipient": OTHER, "value": "-5", "text": "3 pages", "name": "offer-1",
                "ttl_seconds": 1_800
            }),
            json!({ "type": "deliver", "recipient": OTHER, "conversation": CONVERSATION, "hex": "ff00" }),
            json!({ "type": "reject", "recipient": OTHER, "conversation": CONVERSATION, "hex": "ab" }),
            json!({
                "type": "feedback", "conversation": CONVERSATION,
                "fields": {
                    "kind": "feedback", "target": OTHER, "score": 80, "outcome": 2, "is_dispute": false, "role": 0
                }
            }),
            json!({
                "type": "advertise", "ttl_seconds": 3_600,
                "fields": {
                    "kind": "advertise", "caps": ["translate", "german"], "schema": "", "unit": "raw", "price": "250",
                    "ttl": 3_600
                }
            }),
        ]
    );
}

#[test]
fn a_message_that_waits_is_waited_for_and_its_end_is_the_exit_code() {
    for (end, is_over, code) in [
        ("acknowledged", true, 0),
        ("sent", true, 0),
        ("unanswered", false, 1),
        ("expired", true, 1),
        ("refused", true, 1),
    ] {
        let home = mesh::home();
        let node = Node::start(&home);
        let mut last = draft(end, is_over);
        last["why"] = json!("The signer refuses it.");
        node.says("POST /v1/send", draft("queued", false));
        let mut waits = draft("queued", false);
        waits["why"] = json!("nobody is\u{1b}[2J there");
        node.says("GET /v1/outbox/7", waits).says("GET /v1/outbox/7", last);
        let arguments = ["negotiate", "propose", OTHER, "--value", "1", "--wait"];
        let shown = home.zx1(arguments);
        shown.code_is(code);
        assert!(shown.out.contains(&format!("state         {end}")), "{shown:?}");
        assert!(shown.err.starts_with("Message 7 is in the outbox."), "{shown:?}");
        assert!(shown.err.contains("Message 7: nobody is [2J there\n"), "{shown:?}");
        if code == 1 {
            assert!(
                shown.err.contains(&format!("error 7596: Message 7 is {end}: the signer refuses it.")),
                "{shown:?}"
            );
            assert!(shown.err.contains("next: zx1 message show 7"), "{shown:?}");
        }
    }
}

#[test]
fn a_node_that_goes_away_meanwhile_leaves_the_message_in_the_outbox_and_it_is_shown() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("POST /v1/send", draft("queued", false));
    node.refuses("GET /v1/outbox/7", 503, 9_999, "It stops");
    let shown = home.zx1(["negotiate", "propose", OTHER, "--value", "1", "--wait"]);
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.out.contains("message       7\n") && shown.err.contains("error 7594: "), "{shown:?}");
}

const DRAFT: &str = "\
message       7
type          propose
to            11111111111111111111111111111113
conversation  000102030405060708090a0b0c0d0e0f
state         queued
why           the recipient is not reachable
name          offer-1
taken         2023-11-14 22:13 UTC
expires       2023-11-14 23:13 UTC
failed tries  3
next: zx1 message show 7, or zx1 message take-back 7
";

#[test]
fn one_message_of_the_outbox_is_shown_taken_back_and_settled() {
    let home = mesh::home();
    let node = Node::start(&home);
    let mut queued = draft("queued", false);
    queued["why"] = json!("the recipient is not reachable");
    queued["tries"] = json!(3);
    node.says("GET /v1/outbox/7", queued.clone())
        .says("DELETE /v1/outbox/7", draft("refused", true))
        .says("POST /v1/outbox/7/settle", draft("unanswered", true));
    assert_eq!(home.zx1(["message", "show", "7"]).ok(), DRAFT);
    assert_eq!(home.json(&["message", "show", "7"]), queued);
    assert!(home.zx1(["message", "take-back", "7"]).ok().contains("state         refused\n"));
    let settled = home.zx1(["message", "settle", "7"]);
    assert!(settled.ok().contains("unanswered") && !settled.out.contains("next: "), "{settled:?}");
}

#[test]
fn the_outbox_is_a_table_at_every_width_in_which_nothing_steers_the_terminal() {
    let home = mesh::home();
    let node = Node::start(&home);
    let mut waits = draft("unanswered", false);
    waits["why"] = json!("it said \u{1b}[2J\nand more");
    node.says("GET /v1/outbox", json!([waits, draft("queued", false)]));
    for width in [60, 120] {
        let shown = said(home.command(["message", "list"]).env("COLUMNS", width.to_string()));
        assert!(shown.ok().lines().all(|line| line.chars().count() <= width), "{}", shown.out);
        assert!(
            shown.out.contains("next: zx1 message settle 7") && !shown.out.contains('\u{1b}'),
            "{shown:?}"
        );
    }
    let home = mesh::home();
    Node::start(&home).says("GET /v1/outbox", json!([]));
    assert!(home.zx1(["message", "list"]).ok().starts_with("The outbox is empty.\nnext: zx1 message send"));
}

const INBOX: &str = "\
message       20778:12
type          propose
from          11111111111111111111111111111113
conversation  000102030405060708090a0b0c0d0e0f
received      2023-11-14 22:13 UTC
content       3 pages [2J and more
value         250

message       20778:13
type          deliver
from          11111111111111111111111111111113
conversation  000102030405060708090a0b0c0d0e0f
received      2023-11-14 22:13 UTC
payload       33 bytes, not kept here
next: zx1 message inbox --ack, once they are handled
";

fn bid(value: &str, text: &str) -> Value {
    json!({ "kind": "bid", "value": value, "content": hex::encode(text) })
}

#[test]
fn the_inbox_goes_on_behind_what_was_acknowledged() {
    let home = mesh::home();
    let node = Node::start(&home);
    let hostile = "3 pages\u{1b}[2J\nand more";
    let messages =
        [message("20778:12", "propose", bid("250", hostile)), message("20778:13", "deliver", Value::Null)];
    node.says("GET /v1/inbox?limit=1", json!({ "messages": [], "acknowledged": "20777:3" }));
    node.says("GET /v1/inbox?limit=50&after=20777%3A3", json!({ "messages": messages, "next": "20778:13" }));
    node.says("POST /v1/inbox/ack", json!({ "messages": [], "acknowledged": "20778:13" }));
    assert_eq!(home.zx1(["message", "inbox"]).ok(), INBOX);
    assert_eq!(node.bodies("POST /v1/inbox/ack"), Vec::<Value>::new());
    let shown = home.zx1(["message", "inbox", "--ack"]);
    assert!(!shown.ok().contains("next: "), "{shown:?}");
    assert_eq!(node.bodies("POST /v1/inbox/ack"), [json!({ "id": "20778:13" })]);
    for width in [60, 120] {
        let shown = said(home.command(["message", "inbox"]).env("COLUMNS", width.to_string()));
        assert!(shown.ok().lines().all(|line| line.chars().count() <= width), "{}", shown.out);
    }
    let json = home.json(&["message", "inbox"]);
    assert_eq!(json["messages"][0]["payload"]["value"], "250");
}

#[test]
fn an_empty_inbox_and_a_full_page_say_so() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("GET /v1/inbox?limit=1&after=1", json!({ "messages": [message("2", "reject", json!({}))] }));
    node.says("GET /v1/inbox?limit=50&after=2", json!({ "messages": [] }));
    let shown = home.zx1(["message", "inbox", "--after", "1", "--limit", "1"]);
    assert!(shown.ok().ends_with("next: zx1 message inbox --after 2\n"), "{shown:?}");
    assert_eq!(home.zx1(["message", "inbox", "--after", "2", "--ack"]).ok(), "There are no new messages.\n");
    assert_eq!(node.bodies("POST /v1/inbox/ack"), Vec::<Value>::new());
}

/// A command that runs until it is stopped.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zx1"));
        command.env_clear().env("HOME", home.path()).env("NO_COLOR", "1").current_dir(home.path());
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out }
    }

    /// The next object of standard output.
    #[track_caller]
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Stops it as a service is stopped: exit code and standard error.
    fn stop(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        let code = self.child.wait().unwrap().code();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (code, err)
    }
}

#[test]
fn a_followed_inbox_goes_on_over_a_restart_of_the_node_with_another_token() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("GET /v1/inbox?limit=1", json!({ "messages": [] }));
    node.says("GET /v1/inbox?limit=50", json!({ "messages": [message("1", "propose", bid("1", "a"))] }));
    node.says("GET /v1/inbox?limit=50&after=1", json!({ "messages": [] }));
    node.says("POST /v1/inbox/ack", json!({ "messages": [] }));
    let mut follow = Running::start(&home, &["message", "inbox", "--follow", "--ack", "--json"]);
    assert_eq!(follow.next()["id"], "1");
    while node.bodies("POST /v1/inbox/ack").is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    node.end();
    let next = Node::start_with(&home, "another token");
    next.says("GET /v1/inbox?limit=50&after=1", json!({ "messages": [message("2", "reject", json!({}))] }));
    next.says("GET /v1/inbox?limit=50&after=2", json!({ "messages": [] }));
    next.says("POST /v1/inbox/ack", json!({ "messages": [] }));
    assert_eq!(follow.next()["id"], "2");
    let (code, err) = follow.stop();
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.contains("warning: The node of") && err.contains("warning: The node answers again."),
        "{err}"
    );
}

fn question(id: u64, kind: MsgType, value: i128) -> Value {
    let micros = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros();
    json!({
        "id": id, "type": type_name(kind), "sender": AGENT, "recipient": OTHER, "conversation": CONVERSATION,
        "timestamp_micros": u64::try_from(micros).unwrap(), "block_ref": 9, "nonce": 7,
        "payload": hex::encode(bid_payload(value, b"work")),
    })
}

#[test]
fn the_signer_signs_within_its_limits_says_so_and_ends_without_an_error() {
    let home = mesh::home();
    let deal = home.file("deal.key", [8_u8; 32]);
    let node = Node::start(&home);
    node.says("GET /v1/status", mesh::status());
    for (id, value) in [(1, 250), (2, 501), (3, 7)] {
        node.says("POST /v1/signer/next", question(id, MsgType::Propose, value));
    }
    node.says("POST /v1/signer/next", Value::Null);
    node.says("POST /v1/signer/1", json!({})).says("POST /v1/signer/2", json!({}));
    node.refuses("POST /v1/signer/3", 410, 9_999, "Nobody waits for it any more");
    let arguments = ["node", "signer", "--deal-key", &deal, "--max-value", "500"];
    let mut signer = Running::start(&home, &[&arguments[..], &["--json"]].concat());
    let started = signer.next();
    assert_eq!((&started["event"], &started["max_value"]), (&"started".into(), &"500".into()));
    let signed = signer.next();
    assert_eq!(
        (&signed["event"], &signed["value"], &signed["type"]),
        (&"signed".into(), &"250".into(), &"propose".into())
    );
    let refused = signer.next();
    assert_eq!(refused["event"], "refused");
    assert!(refused["why"].as_str().unwrap().contains("exceeds the limit of 500"), "{refused}");
    let late = signer.next();
    assert!(late["why"].as_str().unwrap().contains("obody waits for it"), "{late}");
    assert_eq!(signer.stop(), (Some(0), String::new()));
    let envelope = node.bodies("POST /v1/signer/1")[0]["envelope"].as_str().unwrap().to_owned();
    let bytes = hex::decode(envelope).unwrap();
    let envelope = Envelope::decode(&bytes).unwrap();
    assert_eq!((envelope.header.nonce, envelope.header.sender().to_string()), (7, AGENT.to_owned()));
    assert_eq!(node.bodies("POST /v1/signer/2")[0]["envelope"], Value::Null);
}

#[test]
fn for_people_the_signer_writes_one_line_a_message_to_standard_error() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("GET /v1/status", mesh::status());
    node.says("POST /v1/signer/next", question(1, MsgType::Accept, 250))
        .says("POST /v1/signer/next", Value::Null);
    node.says("POST /v1/signer/1", json!({}));
    let signer = Running::start(&home, &["node", "signer"]);
    while node.bodies("POST /v1/signer/next").len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (code, err) = signer.stop();
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!((code, lines.len()), (Some(0), 2), "{err}");
    assert!(lines[0].starts_with(&format!("Signing deals of {AGENT} of any value with ")), "{err}");
    assert_eq!(lines[1], format!("signed: accept of 250 to {OTHER}, conversation {CONVERSATION}"));
}

#[test]
fn the_signer_needs_a_key() {
    let home = mesh::home();
    Node::start(&home).says("GET /v1/status", mesh::status());
    home.zx1(["node", "signer", "--deal-key", "absent.json"]).fails(7410);
    let broken = home.file("broken.json", "[1, 2");
    home.zx1(["node", "signer", "--deal-key", &broken]).fails(7412);
}

#[test]
fn a_move_takes_recipient_and_value_from_the_conversation() {
    let home = mesh::home();
    let node = Node::start(&home);
    let path = format!("GET /v1/conversations/{CONVERSATION}");
    node.says(&path, conversation("proposer_bid")).says("POST /v1/send", draft("queued", false));
    home.zx1(["negotiate", "accept", CONVERSATION]).ok();
    home.zx1(["negotiate", "accept", CONVERSATION, "--value", "299"]).ok();
    home.zx1(["negotiate", "counter", CONVERSATION, "--value", "350", "--text", "more"]).ok();
    home.zx1(["negotiate", "reject", CONVERSATION]).ok();
    home.zx1(["negotiate", "deliver", CONVERSATION, "--hex", "00"]).ok();
    let sent = |kind: &str, more: Value| {
        let mut sent = json!({ "type": kind, "recipient": OTHER, "conversation": CONVERSATION });
        sent.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        sent
    };
    assert_eq!(
        node.bodies("POST /v1/send"),
        [
            sent("accept", json!({ "value": "300" })),
            sent("accept", json!({ "value": "299" })),
            sent("counter", json!({ "value": "350", "text": "more" })),
            sent("reject", json!({})),
            sent("deliver", json!({ "hex": "00" })),
        ]
    );
}

#[test]
fn a_stranger_to_a_conversation_moves_nothing() {
    let home = mesh::home();
    let node = Node::start(&home);
    let mut strange = conversation("proposer_bid");
    strange["responder"] = json!("11111111111111111111111111111114");
    node.says(&format!("GET /v1/conversations/{CONVERSATION}"), strange);
    let refused = home.zx1(["negotiate", "accept", CONVERSATION]);
    assert!(refused.fails(7597).contains("is not a party of the conversation"), "{refused:?}");
    let other = "ff".repeat(16);
    node.refuses(&format!("GET /v1/conversations/{other}"), 404, 7_620, "There is no conversation");
    let refused = home.zx1(["negotiate", "reject", &other]);
    assert!(refused.fails(7594).contains("next: zx1 message inbox"), "{refused:?}");
    assert_eq!(node.bodies("POST /v1/send"), Vec::<Value>::new());
}

const SHOWN: &str = "\
conversation  000102030405060708090a0b0c0d0e0f
phase         proposer bid
last bid      300
proposer      11111111111111111111111111111113
responder     11111111111111111111111111111112 (you)

Messages
sent                  from      type     payload
2023-11-14 22:13 UTC  proposer  propose  cdcdcd…cdcdcd
2023-11-14 22:13 UTC  proposer  deliver  cdcdcd…cdcdcd  out of order
next: zx1 negotiate accept 000102030405060708090a0b0c0d0e0f --value 300, or counter or reject
";

#[test]
fn a_conversation_is_shown_with_the_next_move() {
    let home = mesh::home();
    let node = Node::start(&home);
    let path = format!("GET /v1/conversations/{CONVERSATION}");
    node.says(&path, conversation("proposer_bid")).says(&path, conversation("judged"));
    let shown = home.zx1(["negotiate", "show", CONVERSATION]);
    // The header's last column has no name.
    assert_eq!(shown.ok().replace("       \n", "\n"), SHOWN);
    let json = home.json(&["negotiate", "show", CONVERSATION]);
    assert_eq!((&json["role"], &json["phase"]), (&"responder".into(), &"judged".into()));
}

fn advert() -> Value {
    json!({
        "agent": OTHER, "caps": ["translate", "ger\u{1b}[2Jman"], "schema": "", "unit": "raw", "price": "250",
        "heard_micros": 1_700_000_000_000_000_u64, "ends_micros": 1_700_003_600_000_000_u64,
    })
}

#[test]
fn a_search_is_sent_waited_for_and_answered() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("POST /v1/send", draft("queued", false)).says("GET /v1/outbox/7", draft("sent", true));
    node.says("GET /v1/adverts?want=translate,ger+man", json!([advert()]));
    let shown = home.zx1(["discover", "translate", "ger man", "--wait", "1s"]);
    assert!(shown.ok().contains(OTHER) && !shown.out.contains('\u{1b}'), "{shown:?}");
    assert!(shown.out.contains(&format!("next: zx1 reputation show --agent {OTHER}")), "{shown:?}");
    let asked = json!({
        "type": "discover", "fields": { "kind": "discover", "want": ["translate", "ger man"], "max": 20 },
        "ttl_seconds": 1
    });
    assert_eq!((node.bodies("POST /v1/send"), shown.err.as_str()), (vec![asked], ""));
}

#[test]
fn without_words_or_time_nobody_is_asked() {
    let home = mesh::home();
    let node = Node::start(&home);
    node.says("GET /v1/adverts?want=", json!([advert()])).says("GET /v1/adverts?want=a", json!([]));
    home.zx1(["discover"]).ok();
    let shown = home.zx1(["discover", "a", "--wait", "0"]);
    assert!(shown.ok().starts_with("No agent advertises this now.\nnext: "), "{shown:?}");
    assert_eq!(node.bodies("POST /v1/send"), Vec::<Value>::new());
}

#[test]
fn a_search_that_was_not_sent_is_a_warning() {
    let home = mesh::home();
    let node = Node::start(&home);
    let mut waits = draft("queued", false);
    waits["why"] = json!("No peer is connected.");
    node.says("POST /v1/send", waits.clone()).says("GET /v1/outbox/7", waits);
    node.says("GET /v1/adverts?want=a", json!([]));
    let shown = home.zx1(["discover", "a", "--wait", "1"]);
    shown.ok();
    assert_eq!(shown.err, "warning: the search was not sent, it is queued: no peer is connected\n");
}

/// A program that says what it was given, in the place of zx1-node on PATH.
fn stand_in(home: &Home) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = home.file("bin/zx1-node", "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\"\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    home.path().join("bin").to_str().unwrap().to_owned()
}

#[test]
fn the_nodes_program_gets_agent_cluster_key_and_folder() {
    let zx1 = std::path::Path::new(env!("CARGO_BIN_EXE_zx1"));
    let home = mesh::home();
    let folder = home.folder();
    home.file(".config/zx1/config.toml", format!("agent = \"alice\"\n[agents.alice]\nmint = \"{OTHER}\"\n"));
    let bin = stand_in(&home);
    // A copy, beside which there is no zx1-node.
    let copy = home.path().join("zx1");
    std::fs::copy(zx1, &copy).unwrap();
    let run = |arguments: &[&str]| -> Vec<String> {
        let mut command = Command::new(&copy);
        command.env_clear().env("HOME", home.path()).env("PATH", format!("{bin}:/usr/bin:/bin"));
        let output = command.args(arguments).current_dir(home.path()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        said.lines().skip(1).map(str::to_owned).collect()
    };
    let key = folder.join("id.json");
    let (folder, key) = (folder.to_str().unwrap(), key.to_str().unwrap());
    let front = ["--default-home", folder, "--default-url", "http://127.0.0.1:8899"];
    let keyed = [&front[..], &["--default-keypair", key]].concat();
    // The registration file that zx1 register wrote of an agent with a local name.
    let file = format!("{folder}/registrations/alice.json");
    let file = ["--default-registration-file", &file];
    let alice = [&["--default-agent", OTHER], &file[..]].concat();
    assert_eq!(run(&["node", "run"]), [&keyed[..], &alice].concat());
    assert_eq!(run(&["node", "run", "--dev"]), [&keyed[..], &alice, &["--dev"]].concat());
    assert_eq!(
        run(&["node", "run", "--dev", "--agent", "alice"]),
        [&keyed[..], &file, &["--dev", "--agent", OTHER]].concat()
    );
    assert_eq!(run(&["node", "run", "--agent", AGENT]), [&keyed[..], &["--agent", AGENT]].concat());
    assert_eq!(run(&["node", "run", "--help"]), [&keyed[..], &["--help"]].concat());
    let peer = [&front[..], &["--keypair", "peer.json"], &alice].concat();
    assert_eq!(run(&["node", "run", "--peer-key", "peer.json"]), peer);
}

#[test]
fn a_missing_program_is_named() {
    let home = mesh::home();
    let copy = home.path().join("zx1");
    std::fs::copy(env!("CARGO_BIN_EXE_zx1"), &copy).unwrap();
    let mut command = Command::new(copy);
    let output = command.args(["node", "run"]).env_clear().env("HOME", home.path()).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("error 7424: The program zx1-node cannot be executed"), "{err}");
}
