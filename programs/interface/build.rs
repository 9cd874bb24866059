//! Derives the addresses that follow from the program ids alone, so that neither a program nor a client
//! pays for finding them and no second place must be edited when an id changes.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A build that cannot write its output must stop.

#[path = "src/ids.rs"]
#[allow(dead_code)]
mod ids;
#[path = "src/seeds.rs"]
#[allow(dead_code)]
mod seeds;

use solana_address::Address;
use std::{env, fmt::Write, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=src/ids.rs");
    println!("cargo::rerun-if-changed=src/seeds.rs");
    let mut code = String::new();
    let mut derive = |name: &str, doc: &str, seed: &[u8], program: ids::Address| {
        let (address, bump) = Address::find_program_address(&[seed], &Address::new_from_array(program));
        writeln!(code, "/// {doc}: address and bump.").unwrap();
        let address = address.to_bytes();
        writeln!(code, "pub const {name}: Derived =").unwrap();
        writeln!(code, "    Derived {{ address: {address:?}, bump: {bump}, program: {program:?} }};")
            .unwrap();
    };
    derive("CONFIG", "The protocol's configuration", seeds::CONFIG, ids::STAKE_LOCK);
    derive("CHALLENGE_AUTHORITY", "Challenge's signer towards StakeLock", seeds::AUTHORITY, ids::CHALLENGE);
    derive("FEEDBACK_LOG", "The feedback log's head", seeds::FEEDBACK_LOG, ids::FEEDBACK_LOG);
    derive("SATI_REGISTRY", "SATI's RegistryConfig", seeds::SATI_REGISTRY, ids::SATI);
    for (name, doc, program) in [
        ("STAKE_LOCK_EVENTS", "StakeLock's event authority", ids::STAKE_LOCK),
        ("LEASE_EVENTS", "Lease's event authority", ids::LEASE),
        ("BEHAVIOR_LOG_EVENTS", "BehaviorLog's event authority", ids::BEHAVIOR_LOG),
        ("CHALLENGE_EVENTS", "Challenge's event authority", ids::CHALLENGE),
        ("FEEDBACK_LOG_EVENTS", "FeedbackLog's event authority", ids::FEEDBACK_LOG),
    ] {
        derive(name, doc, seeds::EVENT_AUTHORITY, program);
    }
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("pda.rs"), code).expect("OUT_DIR is writable");
}
