//! Canonical JSON: vectors both ways, Python as a second opinion, and what is refused.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use zx1_market::canonical::{Duplicates, parse_with};
use zx1_market::*;

use crate::support::*;

#[test]
fn every_vector_is_printed_as_python_does() {
    let vectors = Json::parse(vectors("canonical_json").as_bytes()).unwrap();
    for case in vectors.get("accept").unwrap().as_array().unwrap() {
        let text = |name: &str| case.get(name).unwrap().as_str().unwrap();
        let value = parse_with(text("raw").as_bytes(), Duplicates::LastWins).unwrap();
        assert_eq!(value.canonical(), text("canonical"), "{}", text("name"));
        assert_eq!(hex(&value.sha256()), text("sha256"), "{}", text("name"));
        // The canonical form is its own canonical form, read strictly.
        assert_eq!(Json::parse(text("canonical").as_bytes()).unwrap().canonical(), text("canonical"));
    }
    for case in vectors.get("reject").unwrap().as_array().unwrap() {
        let raw = case.get("raw").unwrap().as_str().unwrap();
        assert_eq!(code(Json::parse(raw.as_bytes())), 9014, "{raw}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn what_is_not_json_fails() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "01",
        "-",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "tru",
        "nul",
        "\"",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "[1 2]",
        "1 2",
        "'a'",
        "{\"a\":1}x",
        "\u{feff}1",
    ] {
        assert_eq!(code(Json::parse(text.as_bytes())), 9012, "{text:?}");
    }
    assert_eq!(code(Json::parse(b"{\"a\":1,\"a\":2}")), 9015);
    assert_eq!(code(Json::parse(b"\"\xff\"")), 9011);
    assert_eq!(code(Json::parse("[".repeat(100_000).as_bytes())), 9013);
    assert_eq!(code(Json::parse("9".repeat(4_301).as_bytes())), 9016);
    assert_eq!(code(Json::parse(&vec![b' '; defaults::MAX_JSON_BYTES + 1])), 9010);
    for lone in ["\"\\ud800\"", "\"\\ud800x\"", "\"\\udc00\"", "\"\\ud800\\u0041\""] {
        assert_eq!(code(Json::parse(lone.as_bytes())), 9017, "{lone}");
    }
    for infinite in ["1e400", "-1e999", "Infinity", "-Infinity", "NaN"] {
        assert_eq!(code(Json::parse(infinite.as_bytes())), 9014, "{infinite}");
    }
}

// The digits that a double cannot hold are the point.
#[test]
#[allow(clippy::excessive_precision)]
fn of_two_spellings_that_are_equally_near_the_even_one_is_printed() {
    for (value, text) in [
        (1120644135984139.25, "1120644135984139.2"),
        (1120644135984139.75, "1120644135984139.8"),
        (562949953421312.125, "562949953421312.1"),
        (5e-324, "5e-324"),
        (9007199254740993.0, "9007199254740992.0"),
        (2.2250738585072014e-308, "2.2250738585072014e-308"),
    ] {
        assert_eq!(Json::Float(value).canonical(), text);
    }
}

#[test]
fn depth_is_bounded_on_both_sides() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    Json::parse(nested(defaults::MAX_JSON_DEPTH + 1).as_bytes()).unwrap();
    assert_eq!(code(Json::parse(nested(defaults::MAX_JSON_DEPTH + 2).as_bytes())), 9013);
}

#[test]
fn serde_keeps_every_digit() {
    let text = r#"{"f":1.0,"i":1,"n":123456789012345678901234567890}"#;
    let value: Json = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    assert!(serde_json::from_str::<Json>("{\"a\":1,\"a\":2}").is_err());
}

pub(crate) fn json() -> impl Strategy<Value = Json> {
    let text = prop_oneof![".{0,12}", "[ -~]{0,20}", "[\u{0}-\u{ff}\u{2028}\u{1f600}]{0,6}"];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|n| Json::Int(n.into())),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Json::Float),
        (-20.0..20.0_f64).prop_map(|e| Json::Float(10_f64.powf(e))),
        // Halves, quarters and eighths of large numbers: two shortest spellings are equally near.
        (1_u64 << 49..1 << 54, 0_i32..4).prop_map(|(n, e)| Json::Float(n as f64 / 2_f64.powi(e))),
        (0_u64..4_000_000_000_000).prop_map(|n| Json::Float(n as f64 / 1000.0)),
        text.clone().prop_map(Json::Str),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(text.clone(), inner, 0..6).prop_map(Json::Object),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(value in json()) {
        let text = value.canonical();
        prop_assert!(text.is_ascii());
        prop_assert_eq!(&Json::parse(text.as_bytes()).unwrap(), &value);
        prop_assert_eq!(Json::parse(text.as_bytes()).unwrap().canonical(), text);
    }

    #[test]
    fn reading_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Json::parse(&bytes);
    }

    #[test]
    fn perturbed_text_never_panics(value in json(), at: prop::sample::Index, byte: u8) {
        let mut text = value.canonical().into_bytes();
        if !text.is_empty() {
            let at = at.index(text.len());
            text[at] = byte;
            let _ = Json::parse(&text);
            text.truncate(at);
            let _ = Json::parse(&text);
        }
    }
}

/// Python is the reference (decision E2), so it is asked. `scripts/test` needs it anyway.
#[test]
fn python_prints_the_same() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let values: Vec<Json> = (0..3_000).map(|_| json().new_tree(&mut runner).unwrap().current()).collect();
    // Through JSON's own escapes, so that a wrong escape of ours cannot cancel itself out, pass unescaped
    // text too.
    let lines: String = values.iter().map(|v| format!("{}\n", plain(v))).collect();
    let script = "import sys,json\n\
        for line in sys.stdin.buffer.read().decode('utf-8').split('\\n')[:-1]:\n\
        \x20   print(json.dumps(json.loads(line),sort_keys=True,separators=(',',':')))\n";
    let mut python = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is needed for the tests");
    let mut stdin = python.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let out = python.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(out.status.success());
    let out = String::from_utf8(out.stdout).unwrap();
    let theirs: Vec<&str> = out.lines().collect();
    assert_eq!(theirs.len(), values.len());
    for (value, theirs) in values.iter().zip(theirs) {
        assert_eq!(value.canonical(), theirs);
    }
}

/// JSON with as few escapes as possible and floats in another spelling.
fn plain(value: &Json) -> String {
    match value {
        Json::Float(f) => format!("{f:e}"),
        Json::Str(s) => serde_json::to_string(s).unwrap(),
        Json::Array(items) => format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(", ")),
        Json::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let fields = fields
                .into_iter()
                .rev()
                .map(|(k, v)| format!("{}: {}", serde_json::to_string(k).unwrap(), plain(v)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(" , "))
        }
        other => other.canonical(),
    }
}
