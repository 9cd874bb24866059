//! `scripts/deploy` without a cluster: what it refuses, and that a dry run runs nothing.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn deploy(arguments: &[&str]) -> Output {
    Command::new(repository().join("scripts/deploy")).args(arguments).output().unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = deploy(arguments);
    assert!(!output.status.success(), "{arguments:?} went through");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

const ADDRESS: &str = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

#[test]
fn the_hashes_are_those_of_the_five_built_programs() {
    let output = deploy(&["hash"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    for name in ["stake_lock", "lease", "behavior_log", "challenge", "feedback_log"] {
        let file = repository().join(format!("target/deploy/zx1_{name}.so"));
        let hash = Command::new("sha256sum").arg(file).output().unwrap().stdout;
        let hash = String::from_utf8(hash).unwrap();
        let hash = hash.split(' ').next().unwrap();
        assert_eq!(hash.len(), 64);
        assert!(printed.contains(&format!("{hash}  zx1_{name}.so")), "{printed}");
    }
}

#[test]
fn an_unknown_command_an_unknown_option_and_a_missing_value_are_named() {
    assert!(refusal(&["launch"]).contains("does not know 'launch'"));
    assert!(refusal(&["config", "--colour", "red"]).contains("does not know '--colour'"));
    assert!(refusal(&["config", "--treasury"]).contains("--treasury needs a value"));
    assert!(refusal(&["config", "--authority", "key.json"]).contains("--usdc-mint is missing"));
    assert!(refusal(&["handover", "--authority", "key.json"]).contains("--to or --multisig is missing"));
    let both = ["handover", "--authority", "key.json", "--to", "new.json", "--multisig", ADDRESS];
    assert!(refusal(&both).contains("exclude each other"));
    let vault = ["handover", "--authority", "key.json", "--multisig", ADDRESS, "--vault", "256"];
    assert!(refusal(&vault).contains("invalid vault: '256'"));
}

#[test]
fn a_configuration_with_something_that_is_no_address_is_refused_before_anything_is_sent() {
    let words = refusal(&[
        "config",
        "--execute",
        "--authority",
        "key.json",
        "--usdc-mint",
        ADDRESS,
        "--treasury",
        "0xdeadbeef",
        "--maintainer",
        ADDRESS,
        "--delegate-credential",
        ADDRESS,
        "--delegate-schema",
        ADDRESS,
    ]);
    assert!(words.contains("invalid address: '0xdeadbeef'") && words.contains("Nothing was sent"), "{words}");
}

#[test]
fn a_dry_run_shows_the_command_and_runs_nothing() {
    let output = deploy(&[
        "config",
        "--authority",
        "there/is/no/such.json",
        "--usdc-mint",
        ADDRESS,
        "--treasury",
        ADDRESS,
        "--maintainer",
        ADDRESS,
        "--delegate-credential",
        ADDRESS,
        "--delegate-schema",
        ADDRESS,
    ]);
    // The key file does not exist: anything that really ran would have failed on it.
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("would run: zx1-initialize-config"), "{printed}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("dry run"));
}
