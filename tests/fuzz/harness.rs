//! The bodies of fuzz targets on the stable compiler, bounded: noise, and good bytes with damage. The tests of a
//! crate that has such bodies include this file.
//!
//! `FUZZ_CORPUS=$PWD/tests/fuzz/corpus` keeps the good bytes, so that the fuzzer starts from them.

use crate::bodies::Body;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::path::Path;

/// One way to damage bytes. Positions wrap around, so that one damage fits all lengths.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Set(usize, u8),
    Flip(usize, u32),
    Insert(usize, u8),
    Remove(usize),
    Truncate(usize),
    Append(u8),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    // Half of the damage goes to the front, where the heads and numbers are.
    let at = || prop_oneof![0usize..24, any::<usize>()];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), 0u32..8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        at().prop_map(Damage::Remove),
        at().prop_map(Damage::Truncate),
        any::<u8>().prop_map(Damage::Append),
    ]
}

pub(crate) fn damaged(bytes: &[u8], damage: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for one in damage {
        let len = bytes.len().max(1);
        match one {
            _ if bytes.is_empty() => bytes.push(0),
            Damage::Set(at, byte) => bytes[at % len] = *byte,
            Damage::Flip(at, bit) => bytes[at % len] ^= 1 << bit,
            Damage::Insert(at, byte) => bytes.insert(at % len, *byte),
            Damage::Remove(at) => drop(bytes.remove(at % len)),
            Damage::Truncate(at) => bytes.truncate(at % len),
            Damage::Append(byte) => bytes.push(*byte),
        }
    }
    bytes
}

pub(crate) fn draw<T: std::fmt::Debug>(runner: &mut TestRunner, strategy: impl Strategy<Value = T>) -> T {
    strategy.new_tree(runner).unwrap().current()
}

/// Runs all bodies. `good` makes bytes that the target of this name accepts.
pub(crate) fn run(all: &[(&str, Body)], mut good: impl FnMut(&str, &mut TestRunner) -> Vec<u8>) {
    let corpus = std::env::var_os("FUZZ_CORPUS");
    let mut runner = TestRunner::deterministic();
    for (name, body) in all {
        assert!(include_str!("Cargo.toml").contains(&format!("name = \"{name}\"")), "{name} has no target");
        body(&[]);
        for round in 0..150 {
            let harm = draw(&mut runner, prop::collection::vec(damage(), 0..4));
            let bytes = good(name, &mut runner);
            body(&damaged(&bytes, &harm));
            body(&bytes);
            body(&draw(&mut runner, prop::collection::vec(any::<u8>(), 0..300)));
            if let Some(corpus) = &corpus {
                let folder = Path::new(corpus).join(name);
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(folder.join(round.to_string()), bytes).unwrap();
            }
        }
    }
}
