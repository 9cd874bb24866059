//! The transaction that `scripts/deploy config` sends, made by the real binary.
#![cfg(feature = "signing")]
#![allow(clippy::unwrap_used)]

use base64::{Engine, engine::general_purpose::STANDARD};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signature::Signature;
use solana_signer::Signer;
use std::process::{Command, Output};
use zx1_interface::instruction::{InitializeConfig, Instruction};

fn run(options: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zx1-initialize-config"));
    for (name, value) in options {
        command.args([name, value]);
    }
    command.output().unwrap()
}

fn key_file(name: &str, contents: &str) -> String {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, contents).unwrap();
    file.to_str().unwrap().to_owned()
}

fn address(byte: u8) -> String {
    Address::new_from_array([byte; 32]).to_string()
}

#[test]
fn the_transaction_is_signed_by_the_authority_and_carries_the_addresses() {
    let authority = Keypair::new_from_array([9; 32]);
    let file = key_file("authority.json", &serde_json::to_string(&authority.to_bytes().to_vec()).unwrap());
    let values: Vec<String> = (1..=6).map(address).collect();
    let output = run(&[
        ("--blockhash", &values[0]),
        ("--authority", &file),
        ("--usdc-mint", &values[1]),
        ("--treasury", &values[2]),
        ("--maintainer", &values[3]),
        ("--delegate-credential", &values[4]),
        ("--delegate-schema", &values[5]),
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let transaction = STANDARD.decode(printed.trim()).unwrap();
    assert_eq!(transaction[0], 1, "one signature");
    let (signature, message) = transaction[1..].split_at(64);
    let signature = Signature::try_from(signature).unwrap();
    assert!(signature.verify(authority.pubkey().as_ref(), message), "the signature holds");
    let expected = InitializeConfig {
        treasury: [3; 32],
        maintainer: [4; 32],
        delegate_credential: [5; 32],
        delegate_schema: [6; 32],
    };
    let holds = |bytes: &[u8]| message.windows(bytes.len()).any(|window| window == bytes);
    assert!(holds(authority.pubkey().as_ref()), "the authority pays");
    assert!(holds(&[1; 32]), "the blockhash");
    assert!(holds(&[2; 32]), "the mint");
    assert!(message.ends_with(&[&expected.data()[..]].concat()), "the arguments");
}

#[test]
fn a_broken_key_file_is_refused_without_showing_what_is_in_it() {
    let file = key_file("broken.json", "[1,2,3,77]");
    let value = address(1);
    let output = run(&[
        ("--blockhash", &value),
        ("--authority", &file),
        ("--usdc-mint", &value),
        ("--treasury", &value),
        ("--maintainer", &value),
        ("--delegate-credential", &value),
        ("--delegate-schema", &value),
    ]);
    assert!(!output.status.success());
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("holds no valid key") && !words.contains("77"), "{words}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_missing_and_an_unknown_option_are_named() {
    let missing = run(&[("--blockhash", "x")]);
    assert!(String::from_utf8(missing.stderr).unwrap().contains("--authority is missing"));
    let unknown = run(&[("--colour", "red")]);
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("There is no option '--colour'"));
}
