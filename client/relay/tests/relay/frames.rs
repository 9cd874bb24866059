//! Frames at their limits, and rates at theirs.

use proptest::prelude::*;
use zx1_relay_rules::client::Frame;
use zx1_relay_rules::code::{Close, Code};
use zx1_relay_rules::defaults::{MAX_FRAME, Settings};
use zx1_relay_rules::json::{Value, js_number};
use zx1_relay_rules::rate::{Kind, Rates, Verdict};
use zx1_relay_rules::{RelayError, server};

fn code(text: &str) -> Code {
    Frame::parse(text).expect_err(text).wire()
}

fn with(kind: &str, fields: &[(&str, &str)]) -> String {
    let fields: String = fields.iter().map(|(name, value)| format!(r#","{name}":{value}"#)).collect();
    format!(r#"{{"type":"{kind}"{fields}}}"#)
}

#[test]
fn what_is_no_frame_is_answered_and_never_read_further() {
    let deep = format!(r#"{{"type":"PING","x":{}{}}}"#, "[".repeat(60), "]".repeat(60));
    let abyss = "[".repeat(200_000);
    for text in [
        "",
        "null",
        "1",
        "[]",
        "{}",
        "\"x\"",
        r#"{"type":1}"#,
        r#"{"type":"NOPE"}"#,
        r#"{"type":"ADMIN_MOTD","admin_key":"k"}"#,
        r#"{"type":"PING"} x"#,
        r#"{"type":"PING","x":1e999}"#,
        r#"{"type":"PING","x":"\ud800"}"#,
        &deep,
        &abyss,
    ] {
        assert_eq!(code(text), Code::InvalidMsg, "{}", &text[..text.len().min(40)]);
    }
    assert_eq!(Frame::from_bytes(&[0xff, 0xfe]).unwrap_err(), RelayError::NotJson);
    assert_eq!(Frame::parse(r#"{"type":"PING","future":{"a":[1]},"x":null}"#).unwrap(), Frame::Ping);
    let fill = |bytes: usize| format!(r#"{{"type":"PING","x":"{}"}}"#, "a".repeat(bytes - 22));
    assert_eq!(fill(MAX_FRAME).len(), MAX_FRAME);
    assert!(Frame::parse(&fill(MAX_FRAME)).is_ok());
    assert!(matches!(Frame::parse(&fill(MAX_FRAME + 1)), Err(RelayError::FrameTooLarge { .. })));
}

#[test]
fn every_length_is_taken_at_its_limit_and_refused_above() {
    let text = |length: usize| format!("\"{}\"", "a".repeat(length));
    let channel = |length: usize| format!("\"#{}\"", "a".repeat(length));
    type Row = (&'static str, Vec<(&'static str, String)>, &'static str, String, String);
    let rows: Vec<Row> = vec![
        ("IDENTIFY", vec![], "name", text(32), text(33)),
        ("IDENTIFY", vec![], "name", text(1), text(0)),
        ("JOIN", vec![], "channel", channel(31), channel(32)),
        ("JOIN", vec![], "channel", channel(1), channel(0)),
        ("MSG", vec![("to", "\"#a\"".into())], "content", text(4_096), text(4_097)),
        // Each of these is two UTF-16 units.
        (
            "MSG",
            vec![("to", "\"#a\"".into())],
            "content",
            format!("\"{}\"", "😀".repeat(2_048)),
            format!("\"{}a\"", "😀".repeat(2_048)),
        ),
        ("SET_PRESENCE", vec![("status", "\"busy\"".into())], "status_text", text(100), text(101)),
        ("SET_NICK", vec![], "nick", text(24), text(25)),
        ("SET_NICK", vec![], "nick", "\"servers\"".into(), "\"Server\"".into()),
        ("VERIFY_REQUEST", vec![("target", "\"@a\"".into())], "nonce", text(16), text(15)),
        ("VERIFY_REQUEST", vec![("target", "\"@a\"".into())], "nonce", text(128), text(129)),
        ("SET_PRESENCE", vec![], "status", "\"listening\"".into(), "\"asleep\"".into()),
        (
            "PROPOSAL",
            vec![("to", "\"@a\"".into()), ("task", "\"x\"".into())],
            "elo_stake",
            "0".into(),
            "-1".into(),
        ),
        (
            "PROPOSAL",
            vec![("to", "\"@a\"".into()), ("task", "\"x\"".into())],
            "elo_stake",
            "7".into(),
            "7.5".into(),
        ),
        (
            "PROPOSAL",
            vec![("to", "\"@a\"".into()), ("task", "\"x\"".into())],
            "contract",
            "\"https://h#0123456789abcdef\"".into(),
            "\"http://h#0123456789abcdef\"".into(),
        ),
        (
            "PROPOSAL",
            vec![("to", "\"@a\"".into()), ("task", "\"x\"".into())],
            "conversation",
            format!("\"{}\"", "0f".repeat(16)),
            format!("\"{}\"", "0F".repeat(16)),
        ),
        (
            "VERIFY_IDENTITY",
            vec![("challenge_id", "\"c\"".into()), ("signature", "\"s\"".into())],
            "timestamp",
            "1".into(),
            "0".into(),
        ),
        ("FILE_CHUNK", vec![("content", "\"x\"".into())], "to", "\"@a\"".into(), "\"#a\"".into()),
        ("ADMIN_KICK", vec![("admin_key", "\"k\"".into())], "agent_id", "\"abc\"".into(), "7".into()),
    ];
    for (kind, fixed, field, good, bad) in rows {
        let mut fields: Vec<(&str, &str)> =
            fixed.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fields.push((field, &good));
        Frame::parse(&with(kind, &fields))
            .unwrap_or_else(|refusal| panic!("{kind} {field} {good}: {refusal}"));
        fields.pop();
        fields.push((field, &bad));
        assert!(Frame::parse(&with(kind, &fields)).is_err(), "{kind} {field} {bad}");
    }
    assert_eq!(code(&with("IDENTIFY", &[("name", "\"a b\"")])), Code::InvalidName);
    assert_eq!(code(&with("CREATE_CHANNEL", &[("channel", "\"general\"")])), Code::InvalidName);
}

#[test]
fn the_older_words_and_numbers_are_whole() {
    assert_eq!(Code::ALL.len(), 28);
    let mut codes: Vec<u32> = RelayError::ROWS.iter().map(|row| row.code).collect();
    assert!(codes.iter().all(|code| (7_700..7_800).contains(code)));
    codes.dedup();
    assert_eq!(codes.len(), RelayError::ROWS.len());
    let frame = server::error(&RelayError::NotPending, 5);
    assert_eq!(
        frame,
        r#"{"type":"ERROR","ts":5,"code":"INVALID_PROPOSAL","message":"PROPOSAL_NOT_PENDING"}"#
    );
    assert!(server::error(&RelayError::NoProposal, 5).contains("INVALID_PROPOSAL"));
    assert!(server::accept_error(&RelayError::NoProposal, 5).contains(r#""code":"PROPOSAL_NOT_FOUND""#));
    assert_eq!(
        server::challenge_id(1_770_700_000_000, [0xde, 0xad, 0xbe, 0xef]),
        format!("chal_{}_deadbeef", base36(1_770_700_000_000))
    );
    assert_eq!((Close::RateLimit.code(), Close::RateLimit.reason()), (1008, "Rate limit exceeded"));
    assert_eq!((Close::TooLarge.code(), Close::Displaced.code(), Close::Restart.code()), (1009, 1000, 1012));
    assert_eq!((Settings::default().channels.len(), Settings::default().challenge_ms), (3, 30_000));
    assert_eq!((Settings::older().channels.len(), Settings::older().challenge_ms), (8, 60_000));
}

fn base36(mut number: u64) -> String {
    let mut text = String::new();
    while number > 0 {
        text.insert(0, char::from_digit((number % 36) as u32, 36).unwrap());
        number /= 36;
    }
    text
}

#[test]
fn ten_messages_come_before_identification_and_the_eleventh_closes() {
    let mut rates = Rates::new(&Settings::default());
    for at in 0..10 {
        assert_eq!(rates.take(false, Kind::Other, at), Verdict::Take);
    }
    assert_eq!(rates.clone().take(false, Kind::Other, 9_999), Verdict::Close(Close::RateLimit));
    assert_eq!(rates.take(false, Kind::Other, 10_000), Verdict::Take);
}

#[test]
fn sixty_come_in_ten_seconds_and_what_is_refused_counts_too() {
    let mut rates = Rates::new(&Settings::default());
    for at in 0..60 {
        assert_eq!(rates.take(true, Kind::Other, at), Verdict::Take);
    }
    assert_eq!(rates.clone().take(true, Kind::Other, 10_000), Verdict::Take);
    for at in 9_000..9_060 {
        assert!(matches!(rates.take(true, Kind::Other, at), Verdict::Refuse(RelayError::TooFast { .. })));
    }
    assert!(matches!(rates.take(true, Kind::Other, 18_999), Verdict::Refuse(_)));
}

#[test]
fn one_msg_a_second_and_ten_chunks_with_a_tenth_between_them() {
    let mut rates = Rates::new(&Settings::default());
    assert_eq!(rates.take(true, Kind::Msg, 0), Verdict::Take);
    assert_eq!(rates.take(true, Kind::Msg, 999), Verdict::Refuse(RelayError::TooFast { wait_ms: 1 }));
    assert_eq!(rates.take(true, Kind::Msg, 1_000), Verdict::Take);
    let mut rates = Rates::new(&Settings::default());
    assert_eq!(rates.take(true, Kind::Chunk, 0), Verdict::Take);
    assert_eq!(rates.take(true, Kind::Chunk, 99), Verdict::Refuse(RelayError::TooFast { wait_ms: 1 }));
    // A window of its own: 100 chunks in 20 seconds do not touch the sixty.
    let mut rates = Rates::new(&Settings::default());
    assert!((0..100).all(|at| rates.take(true, Kind::Chunk, at * 200) == Verdict::Take));
    let mut rates = Rates::new(&Settings { chunks: 10, ..Settings::default() });
    assert!((0..10).all(|at| rates.take(true, Kind::Chunk, 50 + at * 100) == Verdict::Take || at == 0));
}

proptest! {
    #[test]
    fn numbers_survive_writing(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
        prop_assert_eq!(js_number(number).parse::<f64>().unwrap(), number);
    }

    #[test]
    fn numbers_survive_reading(numbers in prop::collection::vec(any::<f64>().prop_filter("finite", |number| number.is_finite()), 1..6)) {
        let list = Value::List(numbers.iter().map(|number| Value::Number(*number)).collect());
        let value = Value::object([("1\"-2\\", list), ("y3", "-4\"5".into()), ("x", 0.1.into())]);
        prop_assert_eq!(Value::parse(&value.stringify(), 2).unwrap().stringify(), value.stringify());
    }

    #[test]
    fn any_text_is_a_frame_or_a_refusal(text in any::<String>()) {
        let _ = Frame::parse(&text);
        prop_assert_eq!(Value::parse(&Value::from(text.clone()).stringify(), 1).unwrap(), Value::Text(text));
    }
}

#[test]
fn a_double_of_17_digits_is_read_as_javascript_reads_it() {
    let text = "[1.2631524394536185e+294,0.30000000000000004,-5e-324,9007199254740993,1E2]";
    let read = "[1.2631524394536185e+294,0.30000000000000004,-5e-324,9007199254740992,100]";
    assert_eq!(Value::parse(text, 1).unwrap().stringify(), read);
    assert_eq!(Value::parse("[1.8e308]", 1), Err(RelayError::NotJson));
}

#[test]
fn numbers_and_orders_are_javascripts() {
    for (number, text) in [
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (-1.5e-9, "-1.5e-9"),
        (123.456, "123.456"),
        (-0.0, "0"),
    ] {
        assert_eq!(js_number(number), text);
    }
    let value = Value::parse(r#"{"b":1,"10":2,"a":3,"2":4,"b":5}"#, 2).unwrap();
    assert_eq!(value.stringify(), r#"{"2":4,"10":2,"b":5,"a":3}"#);
}
