//! The fuzz targets of this crate, on the stable compiler.

use proptest::test_runner::TestRunner;
use zx1_market::money::Outcome;
use zx1_market::*;

use crate::bodies;
use crate::canonical::json;
use crate::harness::{self, draw};
use crate::support::*;

/// Bytes that the target takes.
fn good(target: &str, runner: &mut TestRunner) -> Vec<u8> {
    let world = match draw(runner, 0..3) {
        0 => verifying(),
        1 => reviewing(),
        _ => {
            let mut world = judging();
            world.rule(Outcome::EvilBoth).unwrap();
            world.secs(120);
            world
        }
    };
    let json = match target {
        "canonical_json" => draw(runner, json()),
        "transcript" => world.transcript().to_json(),
        "signed_transcript" => {
            let lines = world.transcript().entries.into_iter().map(|entry| {
                let author = (1..=5).find(|n| key(*n).id() == entry.author()).unwrap();
                let author = Json::from(u64::from(author));
                let (kind, at) = (entry.kind().to_string(), entry.at().0);
                Json::Array(vec![author, kind.into(), entry.data().clone(), at.into()])
            });
            Json::Array(lines.collect())
        }
        other => panic!("{other} has no good bytes here"),
    };
    json.canonical().into_bytes()
}

#[test]
fn no_decoder_panics_on_noise_or_on_damaged_bytes() {
    harness::run(&bodies::ALL, good);
}
