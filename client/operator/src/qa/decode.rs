//! `qa_decode` inside the jail: one decoder over one input, or all decoders over inputs that a seed makes.
//!
//! A decoder may not panic, and what it accepts must be the one encoding of what it returns. The bodies that say so are
//! those of the fuzz targets (`tests/fuzz`), which are written beside the tests of their crates.

#[path = "../../../market/tests/market/bodies.rs"]
mod market;
#[path = "../../../protocol/tests/protocol/bodies.rs"]
mod protocol;
#[path = "../../../qa/tests/qa/bodies.rs"]
mod qa;
#[path = "../../../relay/tests/relay/bodies.rs"]
#[allow(clippy::unwrap_used, reason = "a panic is what these bodies answer with")]
mod relay;

use super::version::of_this_program;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use zx1_market::Json;
use zx1_qa::observation::Observation;
use zx1_qa::repro::Repro;
use zx1_qa::sibling::Random;

/// Inputs that a seed makes for each decoder.
pub const CASES: u64 = 400;
/// Inputs that are tried to make one smaller.
const SHRINKS: usize = 3_000;
/// Longest input that a seed makes.
const LONGEST: usize = 4_096;

/// Bytes of every format, made by second implementations.
const VECTORS: [&str; 9] = [
    include_str!("../../../../tests/vectors/fix/canonical_json.json"),
    include_str!("../../../../tests/vectors/fix/chain_entries.json"),
    include_str!("../../../../tests/vectors/relay/slurp.json"),
    include_str!("../../../../tests/vectors/zx1/batch_messages.json"),
    include_str!("../../../../tests/vectors/zx1/beacons.json"),
    include_str!("../../../../tests/vectors/zx1/envelopes.json"),
    include_str!("../../../../tests/vectors/zx1/feedback_log.json"),
    include_str!("../../../../tests/vectors/zx1/mesh_payloads.json"),
    include_str!("../../../../tests/vectors/zx1/records.json"),
];

type Body = fn(&[u8]);

/// All decoders by their names.
pub fn decoders() -> impl Iterator<Item = (&'static str, fn(&[u8]))> {
    protocol::ALL.into_iter().chain(market::ALL).chain(qa::ALL).chain(relay::ALL)
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// What a decoder panicked with on these bytes, and where.
fn panics(body: Body, bytes: &[u8]) -> Option<String> {
    PANIC.with_borrow_mut(|panic| *panic = None);
    catch_unwind(AssertUnwindSafe(|| body(bytes))).err()?;
    let panic = PANIC.with_borrow_mut(Option::take);
    Some(panic.unwrap_or_else(|| "a panic without a place".to_owned()))
}

/// Keeps what a panic says, in place of printing it.
fn listen() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        PANIC.with_borrow_mut(|panic| *panic = Some(format!("panicked at {place}: {line}")));
    }));
}

/// The place of a panic: while bytes become fewer, it must stay the same.
fn place(panic: &str) -> &str {
    panic.split(": ").next().unwrap_or_default()
}

/// The smallest bytes that were found to panic at the same place: pieces are taken out, then bytes become zero.
fn shrunk(body: Body, bytes: &[u8], panic: &str) -> Vec<u8> {
    let mut best = bytes.to_vec();
    let mut tries = 0usize;
    let mut same = |bytes: &[u8]| {
        tries = tries.saturating_add(1);
        tries <= SHRINKS && panics(body, bytes).is_some_and(|other| place(&other) == place(panic))
    };
    let mut piece = best.len();
    while piece > 0 {
        let mut at = 0;
        while at < best.len() {
            let end = at.saturating_add(piece).min(best.len());
            let mut fewer = best.get(..at).unwrap_or_default().to_vec();
            fewer.extend(best.get(end..).unwrap_or_default());
            if same(&fewer) {
                best = fewer;
            } else {
                at = end;
            }
        }
        piece /= 2;
    }
    for at in 0..best.len() {
        let mut plain = best.clone();
        if let Some(byte) = plain.get_mut(at).filter(|byte| **byte != 0) {
            *byte = 0;
            if same(&plain) {
                best = plain;
            }
        }
    }
    best
}

/// Everything in a vector that looks like bytes, and the text itself.
fn collect(json: &Json, found: &mut Vec<Vec<u8>>) {
    match json {
        Json::Str(text) => match hex::decode(text) {
            Ok(bytes) if !bytes.is_empty() => found.push(bytes),
            _ => found.push(text.as_bytes().to_vec()),
        },
        Json::Array(list) => list.iter().for_each(|one| collect(one, found)),
        Json::Object(fields) => {
            found.push(json.canonical().into_bytes());
            fields.values().for_each(|one| collect(one, found));
        }
        _ => {}
    }
}

/// Inputs that decoders accept, or nearly.
fn samples() -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for text in VECTORS {
        // Vectors may hold numbers that canonical JSON refuses; then their text alone is a sample.
        match Json::parse(text.as_bytes()) {
            Ok(json) => collect(&json, &mut found),
            Err(_) => found.push(text.as_bytes().to_vec()),
        }
    }
    found.retain(|bytes| bytes.len() <= LONGEST);
    found
        .push(b"qa/v1 source=a sev=high surface=decoder seed=7\nIt fails.\nrepro: qa_decode(\"a\")".to_vec());
    found.push(b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/tests/y b/tests/y\n--- a/tests/y\n+++ b/tests/y\n@@ -0,0 +1 @@\n+a\n".to_vec());
    found
}

/// An input that a seed makes: noise, a sample, or a sample with damage.
fn input(random: &mut Random, samples: &[Vec<u8>]) -> Vec<u8> {
    let sample = samples.get(random.below(samples.len())).map(Vec::as_slice).unwrap_or_default();
    match random.below(8) {
        0 => (0..random.below(300)).map(|_| u8::try_from(random.number() & 0xff).unwrap_or(0)).collect(),
        1 => sample.to_vec(),
        _ => random.damaged(sample),
    }
}

fn call(kind: &str, bytes: &[u8]) -> Option<String> {
    let arguments = Json::object([("hex", hex::encode(bytes)), ("kind", kind.to_owned())]);
    Repro::new("qa_decode", arguments).ok().map(|call| call.to_string())
}

/// Answers a call. `evidence` are the bytes that the call names by their hash.
pub(crate) fn answer(call: &Repro, evidence: Option<&[u8]>) -> Observation {
    listen();
    let answer = judge(call.arguments(), evidence);
    let _ = std::panic::take_hook();
    answer
}

fn judge(arguments: &Json, evidence: Option<&[u8]>) -> Observation {
    let version = of_this_program();
    let text = |name: &str| arguments.get(name).and_then(Json::as_str);
    let given = match (text("hex"), text("text"), evidence) {
        (Some(hex), ..) => hex::decode(hex).ok(),
        (_, Some(text), _) => Some(text.as_bytes().to_vec()),
        (.., evidence) => evidence.map(<[u8]>::to_vec),
    };
    let kind = text("kind");
    let chosen: Vec<_> = decoders().filter(|(name, _)| kind.is_none_or(|kind| kind == *name)).collect();
    if chosen.is_empty() {
        return Observation::wrong(version, "there is no decoder of this kind");
    }
    let began = Instant::now();
    let seed = arguments.get("seed").and_then(Json::as_u64).unwrap_or(0);
    let (mut runs, mut faults) = (0u64, Vec::new());
    let samples = if given.is_none() { samples() } else { Vec::new() };
    for (name, body) in chosen {
        let mut random = Random::new(seed);
        let cases = if given.is_some() { 1 } else { CASES };
        for _ in 0..cases {
            let bytes = given.clone().unwrap_or_else(|| input(&mut random, &samples));
            runs = runs.saturating_add(1);
            if let Some(panic) = panics(body, &bytes) {
                let bytes = if given.is_none() { shrunk(body, &bytes, &panic) } else { bytes };
                faults.push((name, panic, bytes));
                break;
            }
        }
    }
    let found = u64::try_from(faults.len()).unwrap_or(u64::MAX);
    let details = Json::object([("faults", found), ("runs", runs)]);
    let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let made = given.is_none().then_some(seed);
    let answer = match faults.into_iter().next() {
        Some((name, panic, bytes)) => {
            let smaller = if made.is_some() { call(name, &bytes) } else { None };
            Observation { smaller, ..Observation::wrong(version, &format!("the decoder {name} {panic}")) }
        }
        None => Observation::fine(version),
    };
    Observation { details, latency_ms, seed: made, ..answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails_on_ff(bytes: &[u8]) {
        assert!(!bytes.windows(2).any(|pair| pair == [0xff, 0xfe]), "a pair");
    }

    #[test]
    fn a_fault_is_shrunk_to_the_bytes_that_it_needs() {
        listen();
        let bytes = [b"some bytes before".as_slice(), &[0xff, 0xfe], b"and after"].concat();
        let panic = panics(fails_on_ff, &bytes).unwrap();
        assert!(panic.contains("decode.rs") && panic.ends_with("a pair"), "{panic}");
        assert_eq!(shrunk(fails_on_ff, &bytes, &panic), [0xff, 0xfe]);
        assert_eq!(panics(fails_on_ff, b"fine"), None);
        let _ = std::panic::take_hook();
    }

    #[test]
    fn every_decoder_has_a_name_of_its_own_and_holds_on_its_samples() {
        let names: std::collections::BTreeSet<&str> = decoders().map(|it| it.0).collect();
        assert_eq!(names.len(), decoders().count());
        assert!(names.len() >= 30 && samples().len() > 300, "{} {}", names.len(), samples().len());
        for call in
            ["qa_decode({\"kind\":\"envelope\"})", "qa_decode({\"hex\":\"80\"})", "qa_decode(\"enum E{}\")"]
        {
            let answer = judge(Repro::parse(call).unwrap().arguments(), None);
            assert!(answer.ok, "{answer:?}");
        }
        let answer = judge(Repro::parse("qa_decode({\"kind\":\"nothing\"})").unwrap().arguments(), None);
        assert!(!answer.ok);
    }
}
