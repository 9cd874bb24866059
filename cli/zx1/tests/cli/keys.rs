//! Key files: every form is read, every damage has its own refusal, nothing is overwritten (decision A1).

use crate::support::{Home, Refusal};
use std::os::unix::fs::PermissionsExt;

/// Solana's form of the key with this seed.
fn solana_json(home: &Home) -> String {
    let made = Home::new();
    let raw = made.file("raw", [7u8; 32]);
    made.zx1(["init", "--import", &raw]).ok();
    let _ = home;
    std::fs::read_to_string(made.folder().join("id.json")).unwrap()
}

#[test]
fn init_makes_a_key_that_only_its_owner_can_read() {
    let home = Home::new();
    let made = home.json(&["init"]);
    let path = home.folder().join("id.json");
    assert_eq!(made["keypair"], path.to_str().unwrap());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(home.folder().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let numbers: Vec<u8> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(numbers.len(), 64);
    let shown = home.json(&["key", "show"]);
    assert_eq!(shown["address"], made["address"]);
    assert_eq!(shown["public_key"], hex::encode(&numbers[32..]));
    assert_eq!(shown["fix_id"], format!("fix_{}", hex::encode(&numbers[32..])));
}

#[test]
fn another_key_is_made_beside_the_first_and_never_over_one() {
    let home = Home::with_key();
    let path = home.path().join("hot.json");
    let file = path.to_str().unwrap();
    let first = home.json(&["key", "show"]);
    let made = home.json(&["key", "new", file]);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(made["address"], first["address"]);
    assert_eq!(home.json(&["key", "show"])["address"], first["address"]);
    assert_eq!(home.json(&["key", "show", "-k", file])["address"], made["address"]);
    let before = home.files();
    home.zx1(["key", "new", file]).fails(7416);
    assert_eq!(home.files(), before);
}

#[test]
fn a_second_init_fails_and_changes_nothing() {
    let home = Home::with_key();
    let before = home.files();
    home.zx1(["init"]).fails(7416);
    let other = home.file("other", [9u8; 32]);
    let before = [before, home.files()].into_iter().reduce(|_, after| after).unwrap();
    home.zx1(["init", "--import", &other]).fails(7416);
    assert_eq!(home.files(), before);
}

#[test]
fn every_form_is_imported_as_the_same_key() {
    let json = solana_json(&Home::new());
    let mut addresses = Vec::new();
    for (name, content) in [
        ("id.json", json.clone().into_bytes()),
        ("key.ed25519", vec![7; 32]),
        ("key.hex", format!("{}\n", "07".repeat(32)).into_bytes()),
    ] {
        let home = Home::new();
        let file = home.file(name, content);
        addresses.push(home.json(&["init", "--import", &file])["address"].clone());
        assert_eq!(std::fs::read_to_string(home.folder().join("id.json")).unwrap(), json);
    }
    assert!(addresses.iter().all(|address| *address == addresses[0]), "{addresses:?}");
}

#[test]
fn fixs_key_is_pointed_out_and_can_be_taken_over() {
    let home = Home::new();
    let key = home.file(".fix/key.ed25519", [7u8; 32]);
    assert!(home.zx1(["init"]).ok().contains(&key));
    let home = Home::new();
    home.file(".fix/key.ed25519", [7u8; 32]);
    home.zx1(["init", "--import", "~/.fix/key.ed25519"]).ok();
}

#[test]
fn every_damaged_key_file_is_refused_with_its_own_sentence() {
    let json = solana_json(&Home::new());
    let halves = json.replacen("[7,", "[8,", 1);
    let home = Home::new();
    std::fs::create_dir(home.path().join("folder")).unwrap();
    let cases = [
        (home.file("json", "[1,2,"), 7412, "the closing bracket is missing"),
        (home.file("number", "[1,2,300]"), 7412, "item 3 is not a number from 0 to 255"),
        (home.file("length", "[1,2,3]"), 7413, "has 3 numbers; a Solana keypair has 64"),
        (home.file("halves", halves), 7414, "does not match its secret key"),
        (home.file("form", "correct horse battery staple"), 7415, "28 bytes"),
        (home.file("empty", ""), 7415, "0 bytes"),
        (home.file("large", vec![b'['; 100_000]), 7415, "100000 bytes"),
        (home.path().join("missing").to_str().unwrap().to_owned(), 7410, "does not exist"),
        (home.path().join("folder").to_str().unwrap().to_owned(), 7411, "is a folder"),
        ("usb://ledger".to_owned(), 7417, "hardware wallet"),
    ];
    let before = home.files();
    for (path, number, words) in cases {
        let said = home.zx1(["key", "show", "--keypair", &path]);
        let err = said.fails(number);
        assert!(err.contains(words) && err.contains(&path) && err.contains("next: "), "{err}");
        home.zx1(["init", "--import", &path]).fails(number);
    }
    assert_eq!(home.files(), before);
}

#[test]
fn a_key_that_others_can_read_is_warned_of() {
    let home = Home::new();
    let key = home.file("open", [7u8; 32]);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = home.zx1(["key", "show", "-k", &key]);
    said.ok();
    assert!(said.err.contains("chmod 600"), "{said:?}");
}

#[test]
fn no_output_holds_the_secret() {
    let home = Home::new();
    let key = home.file("raw", [7u8; 32]);
    let secret = ["07".repeat(32), "7,7,7".to_owned(), "7, 7, 7".to_owned()];
    for arguments in [
        vec!["key", "show", "-k", &key, "-vvv"],
        vec!["init", "--import", &key, "-vvv"],
        vec!["bind", "-k", &key, "--output", "json"],
        vec!["config", "get", "-k", &key],
    ] {
        let said = home.zx1(&arguments);
        let all = format!("{}{}", said.ok(), said.err);
        assert!(secret.iter().all(|secret| !all.contains(secret)), "{arguments:?}: {all}");
    }
}

#[test]
fn a_binding_record_is_made_verified_and_refused_when_altered() {
    let home = Home::with_key();
    let path = home.path().join("binding.json");
    let file = path.to_str().unwrap();
    let made = home.json(&["bind", "--file", file]);
    assert!(made["nano"].as_str().unwrap().starts_with("nano_"));
    assert!(home.zx1(["bind", "--verify", file]).ok().contains("Both signatures are valid"));
    home.zx1(["bind", "--file", file]).fails(7407);
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record["created"] = 1.into();
    let altered = home.file("altered.json", record.to_string());
    home.zx1(["bind", "--verify", &altered]).fails(8300);
    let other = home.json(&["bind", "--index", "1"]);
    assert_ne!(other["nano"], made["nano"]);
}

#[test]
fn init_takes_the_key_of_fix_unless_it_is_told_to_make_another_one() {
    let home = Home::new();
    home.file(".fix/key.ed25519", [7u8; 32]);
    let taken = home.zx1(["--output", "json", "init"]).json();
    assert!(taken["imported_from"].as_str().unwrap().ends_with(".fix/key.ed25519"), "{taken}");
    let other = Home::new();
    other.file(".fix/key.ed25519", [7u8; 32]);
    let new = other.zx1(["--output", "json", "init", "--new"]).json();
    assert!(new["imported_from"].is_null() && new["address"] != taken["address"], "{new}");
}
