//! The command: transcripts (`tests/cmd`), and what transcripts cannot show.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const KEY: &str = "06876e055b7581cb0fdc179ec54014c2032cd31deb43f00ea7fcdb3e3678bb40";

fn command(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("nano-escrow").unwrap();
    command.env_remove("NANO_PRIVATE_KEY").args(args);
    command
}

fn json(args: &[&str]) -> (Value, i32) {
    let out = command(args).arg("--json").output().unwrap();
    (serde_json::from_slice(&out.stdout).unwrap(), out.status.code().unwrap())
}

fn vectors(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nano-escrow/tests/vectors").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn the_transcripts_hold_ok() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}

#[test]
fn keys_addresses_and_work_of_the_vectors_ok() {
    for row in vectors("keys.json")["vectors"].as_array().unwrap().iter().step_by(5) {
        let text = |name: &str| row[name].as_str().unwrap();
        let (derived, code) =
            json(&["key", "derive", "--seed", text("master_seed"), "--nonce", text("nonce")]);
        assert_eq!((derived["public_key"].as_str(), code), (Some(text("public_key")), 0));
        assert_eq!(derived["address"].as_str(), Some(text("address")));
        let (same, _) = json(&["key", "derive", "--private", text("private_key")]);
        assert_eq!(same, derived);
        if let Some(index) = row["nano_wallet_index"].as_u64() {
            let index = index.to_string();
            let (same, _) = json(&["key", "derive", "--seed", text("master_seed"), "--index", &index]);
            assert_eq!(same, derived);
        }
    }
    for row in vectors("addresses.json")["invalid"].as_array().unwrap() {
        let address = row["address"].as_str().unwrap();
        if address.contains('\0') {
            continue;
        }
        let (answer, code) = json(&["address", "validate", address]);
        assert_eq!(code, 1, "{address}");
        assert!((8020..=8024).contains(&answer["error"]["code"].as_u64().unwrap()));
    }
    for row in vectors("work.json")["vectors"].as_array().unwrap() {
        let text = |name: &str| row[name].as_str().unwrap();
        let (threshold, valid) = row["valid"].as_object().unwrap().iter().next().unwrap();
        let args = ["work", "validate", text("root"), text("work"), "--threshold", threshold];
        assert_eq!(json(&args).1, if *valid == true { 0 } else { 1 });
    }
}

#[test]
fn blocks_of_the_vectors_are_hashed_signed_and_verified_ok() {
    let folder = tempfile::tempdir().unwrap();
    for row in vectors("blocks.json")["vectors"].as_array().unwrap() {
        let block = serde_json::to_vec(&row["block"]).unwrap();
        let out = command(&["block", "hash"]).write_stdin(block.clone()).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap().trim(), row["hash"].as_str().unwrap());
        command(&["block", "verify", "--strict", "-"]).write_stdin(block.clone()).assert().success();
        if let Some(key) = row["private_key"].as_str() {
            let signed = command(&["block", "sign", "--json"])
                .env("NANO_PRIVATE_KEY", key)
                .write_stdin(block.clone())
                .output()
                .unwrap();
            let signed: Value = serde_json::from_slice(&signed.stdout).unwrap();
            assert_eq!(signed["signature"], row["block"]["signature"]);
            // The same with the key on standard input and the block in a file.
            let file = folder.path().join("block.json");
            std::fs::write(&file, &block).unwrap();
            let args = ["block", "sign", file.to_str().unwrap(), "--key", "-", "--json"];
            let again = command(&args).write_stdin(key).output().unwrap();
            assert_eq!(serde_json::from_slice::<Value>(&again.stdout).unwrap(), signed);
        }
        let mut forged = row["block"].clone();
        forged["balance"] = "12345".into();
        command(&["block", "verify"]).write_stdin(forged.to_string()).assert().code(1);
    }
}

#[test]
fn a_signing_key_on_the_command_line_fails() {
    let out = command(&["block", "sign", "--key", KEY]).write_stdin("{}").output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    let text = [out.stdout, out.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("8401") && !text.contains(KEY), "{text}");
}

#[test]
fn a_block_that_burns_money_is_not_signed_fails() {
    let rows = vectors("blocks.json");
    let burning = rows["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["note"].as_str().unwrap().starts_with("send to the burn account"))
        .unwrap();
    let key = burning["private_key"].as_str().unwrap();
    let before = u128::MAX.to_string();
    let sign = |args: &[&str]| {
        command(&[&["block", "sign"], args].concat())
            .env("NANO_PRIVATE_KEY", key)
            .write_stdin(burning["block"].to_string())
            .output()
            .unwrap()
    };
    let out = sign(&["--balance-before", &before]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8(out.stderr).unwrap().contains("error 8041"));
    let out = sign(&[]);
    assert_eq!(out.status.code(), Some(0));
    assert!(String::from_utf8(out.stderr).unwrap().contains("it burns the difference"));
}

#[test]
fn work_is_solved_and_validated_ok() {
    let root = "42EDF786F40D474F90E2EF38E2CE67DAEC1B2991D7B97EFC0B1A1CF815B44C75";
    for kind in ["send", "receive", "old"] {
        let (solved, code) = json(&["work", "solve", root, "--network", "dev", "--kind", kind]);
        assert_eq!(code, 0);
        let work = solved["work"].as_str().unwrap();
        assert_eq!(json(&["work", "validate", root, work, "--network", "dev", "--kind", kind]).1, 0);
    }
    let (solved, code) =
        json(&["work", "solve", root, "--threshold", "f000000000000000", "--path", "portable"]);
    assert_eq!((solved["path"].as_str(), code), (Some("portable"), 0));
}

#[test]
fn bindings_are_made_from_every_form_of_a_key_and_verified_ok() {
    let folder = tempfile::tempdir().unwrap();
    let secret = [42_u8; 32];
    let public = ed25519_dalek::SigningKey::from_bytes(&secret).verifying_key().to_bytes();
    let pair: Vec<u8> = [secret, public].concat();
    let forms: [Vec<u8>; 3] = [
        format!("{pair:?}\n").into_bytes(),
        secret.to_vec(),
        format!("{}\n", hex::encode(secret)).into_bytes(),
    ];
    let mut records = Vec::new();
    for (i, form) in forms.iter().enumerate() {
        let path = folder.path().join(format!("key{i}"));
        std::fs::File::create(&path).unwrap().write_all(form).unwrap();
        let from = format!("file:{}", path.display());
        let out = command(&["bind", "make", "--solana", &from, "--created", "1700000000"]).output().unwrap();
        assert_eq!(out.status.code(), Some(0));
        assert!(String::from_utf8(out.stderr).unwrap().contains("chmod 600"), "others can read it");
        records.push(out.stdout);
    }
    assert!(records.iter().all(|r| *r == records[0]));
    command(&["bind", "verify"]).write_stdin(records[0].clone()).assert().success();
    let forged = String::from_utf8(records[0].clone()).unwrap().replace("1700000000", "1700000001");
    let out = command(&["bind", "verify"]).write_stdin(forged).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    // A keypair file whose halves do not fit.
    let mut damaged = pair;
    damaged[40] ^= 1;
    let path = folder.path().join("damaged");
    std::fs::write(&path, format!("{damaged:?}")).unwrap();
    let from = format!("file:{}", path.display());
    command(&["bind", "make", "--solana", &from]).assert().code(1);
}

#[test]
fn amounts_that_are_none_fails_each_with_its_number() {
    let to = "nano_3e3j5tkog48pnny9dmfzj1r16pg8t1e76dz5tmac6iq689wyjfpiij4txtdo";
    let cases = [
        ("--amount", "", 8000),
        ("--amount", "-1", 8001),
        ("--amount", "1e3", 8003),
        ("--amount", "0x10", 8004),
        ("--amount", "1,5", 8005),
        ("--amount", "0.0000000000000000000000000000001", 8010),
        ("--raw", "1.5", 8011),
        ("--amount", "0", 8014),
        ("--raw", "0", 8014),
        ("--amount", "0.000000000000000000000000000000", 8014),
    ];
    for (flag, amount, number) in cases {
        let (answer, code) = json(&["qr", to, flag, amount]);
        assert_eq!((answer["error"]["code"].as_u64(), code), (Some(number), 1), "{flag} {amount}");
        assert!(answer["error"]["next"].as_str().unwrap().ends_with('.'));
    }
}

#[test]
fn json_is_one_line_and_an_error_stands_on_both_outputs() {
    let out = command(&["address", "validate", "x", "--json"]).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap().lines().count(), 1);
    for (args, code, number, name) in [
        (&["qr", "nano_x", "--amount", "1", "--json"][..], 1, 8020..8025, ""),
        (&["--json", "bogus"], 2, 8408..8409, "Usage"),
        (&["--json", "key"], 2, 8408..8409, "Usage"),
    ] {
        let out = command(args).output().unwrap();
        assert_eq!(out.status.code(), Some(code), "{args:?}");
        let said: Value = serde_json::from_slice(&out.stderr).unwrap();
        assert!(number.contains(&said["code"].as_u64().unwrap()), "{said}");
        assert!(
            said["name"].as_str().unwrap().ends_with(name) && said["next"].as_str().unwrap().ends_with('.')
        );
        assert_eq!(
            serde_json::from_slice::<Value>(&out.stdout).unwrap(),
            serde_json::json!({ "error": said })
        );
    }
}

#[test]
fn no_secret_is_ever_printed() {
    for args in [
        vec!["key", "derive", "--private", KEY],
        vec!["key", "derive", "--private", KEY, "--json"],
        vec!["key", "derive", "--seed", KEY, "--index", "1"],
        vec!["key", "derive", "--seed", KEY, "--index", "one"],
        vec!["key", "derive", "--seed", KEY, "--nonce", "xyz"],
        vec!["key", "derive", "--private", &KEY[1..], "--json"],
    ] {
        let out = command(&args).output().unwrap();
        let text = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
        assert!(!text.contains(&KEY[1..]), "{args:?}: {text}");
    }
}

#[test]
fn help_is_quick_and_complete() {
    for words in ["key", "address", "block", "work", "bind", "qr", "escrow"] {
        let out = command(&[words, "--help"]).output().unwrap();
        assert_eq!(out.status.code(), Some(0));
        assert!(String::from_utf8(out.stdout).unwrap().contains("--json"));
    }
}
