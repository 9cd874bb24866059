//! The transaction that `scripts/deploy config` sends, made by the real binary.
#![cfg(feature = "signing")]
#![allow(clippy::unwrap_used)]

use base64::{Engine, engine::general_purpose::STANDARD};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signature::Signature;
use solana_signer::Signer;
use std::process::{Command, Output};
use zx1_chain::instructions::stake_lock::AMOUNTS;
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
    let values: Vec<String> = (1..=7).map(address).collect();
    let output = run(&[
        ("--blockhash", &values[0]),
        ("--network", &values[6]),
        ("--fine", "7"),
        ("--fine-to-asker", "5"),
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
        network: [7; 32],
        min_stake: AMOUNTS.min_stake,
        challenge_stake: AMOUNTS.challenge_stake,
        lost_to_stake: AMOUNTS.lost_to_stake,
        lost_to_answerer: AMOUNTS.lost_to_answerer,
        ask_price: AMOUNTS.ask_price,
        ask_to_shower: AMOUNTS.ask_to_shower,
        ask_to_stake: AMOUNTS.ask_to_stake,
        fine: 7,
        fine_to_asker: 5,
        rank_deposit: AMOUNTS.rank_deposit,
        finders_percent: AMOUNTS.finders_percent,
        share_percent: AMOUNTS.share_percent,
    };
    let holds = |bytes: &[u8]| message.windows(bytes.len()).any(|window| window == bytes);
    assert!(holds(authority.pubkey().as_ref()), "the authority pays");
    assert!(holds(&[1; 32]), "the blockhash");
    assert!(holds(&[2; 32]), "the mint");
    assert!(message.ends_with(&[&expected.data()[..]].concat()), "the arguments");
}

/// Every option that must be there, with the same value.
fn all<'a>(file: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    let others = ["--usdc-mint", "--treasury", "--maintainer", "--delegate-credential", "--delegate-schema"];
    let first = [("--blockhash", value), ("--network", value), ("--authority", file)];
    first.into_iter().chain(others.map(|name| (name, value))).collect()
}

#[test]
fn a_broken_key_file_is_refused_without_showing_what_is_in_it() {
    let file = key_file("broken.json", "[1,2,3,77]");
    let output = run(&all(&file, &address(1)));
    assert!(!output.status.success());
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("holds no valid key") && !words.contains("77"), "{words}");
    assert!(output.stdout.is_empty());
}

#[test]
fn amounts_that_do_not_fit_each_other_are_refused() {
    let authority = Keypair::new_from_array([8; 32]);
    let file = key_file("amounts.json", &serde_json::to_string(&authority.to_bytes().to_vec()).unwrap());
    let value = address(1);
    for (name, amount, word) in [
        ("--ask-to-shower", "500001", "more than the whole"),
        ("--finders-percent", "101", "more than 100"),
        ("--finders-percent", "256", "not a percentage"),
        ("--min-stake", "0", "must not be zero"),
        ("--fine", "x", "not a number"),
    ] {
        let mut options = all(&file, &value);
        options.push((name, amount));
        let output = run(&options);
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && words.contains(word), "{name} {amount}: {words}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_missing_and_an_unknown_option_are_named() {
    let missing = run(&[("--blockhash", "x"), ("--network", "x")]);
    assert!(String::from_utf8(missing.stderr).unwrap().contains("--authority is missing"));
    let unknown = run(&[("--colour", "red")]);
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("There is no option '--colour'"));
}
