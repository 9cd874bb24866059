//! Vectors of an independent implementation.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use zx1_relay_rules::client::Frame;
use zx1_relay_rules::id::Keys;
use zx1_relay_rules::json::Value;
use zx1_relay_rules::signing::{self, Terms};
use zx1_relay_rules::transfer::Message;
use zx1_relay_rules::{AgentId, PublicKey, RelayError, slurp};

fn read(text: &str) -> Vec<Json> {
    serde_json::from_str::<Json>(text).unwrap()["cases"].as_array().unwrap().clone()
}

fn terms(input: &Json) -> Terms {
    let text = |name: &str| input[name].as_str().map(str::to_owned);
    let number = |name: &str| input[name].as_f64();
    Terms {
        to: text("to").unwrap(),
        task: text("task").unwrap(),
        amount: number("amount"),
        currency: text("currency"),
        payment_code: text("payment_code"),
        terms: text("terms"),
        expires: number("expires"),
        elo_stake: number("elo_stake"),
        contract: text("contract"),
        conversation: text("conversation"),
    }
}

#[test]
fn signing_strings_and_signatures_are_those_of_existing_clients() {
    let signer = SigningKey::from_bytes(&[1; 32]);
    let key = PublicKey::new(signer.verifying_key().to_bytes()).unwrap();
    let mut compared = 0;
    for case in read(include_str!("../../../../tests/vectors/relay/signing_content.json")) {
        let input = &case["input"];
        let text = |name: &str| input[name].as_str().map(str::to_owned);
        let word = |name: &str| text(name).unwrap();
        let id = || word("proposal_id");
        let content = match case["kind"].as_str().unwrap() {
            "PROPOSAL" => signing::proposal(&terms(input)),
            "ACCEPT" => signing::accept(&id(), text("payment_code").as_ref(), input["elo_stake"].as_f64()),
            "REJECT" => signing::reject(&id(), text("reason").as_ref()),
            "COMPLETE" => signing::complete(&id(), text("proof").as_ref()),
            "DISPUTE" => signing::dispute(&id(), &word("reason")),
            "AUTH" => {
                signing::auth(&word("nonce"), &word("challenge_id"), input["timestamp"].as_f64().unwrap())
            }
            "MSG" => signing::message(&word("to"), &word("content"), input["ts"].as_f64().unwrap()),
            "VERIFY_RESPONSE" => word("nonce"),
            "REGISTER_SKILLS" => {
                let sent = r#"[{"capability":"code_review","rate":5,"currency":"XNO"}]"#;
                signing::skills(&Value::parse(sent, 8).unwrap())
            }
            // Disputes before arbiters are not of this relay.
            _ => continue,
        };
        assert_eq!(content, case["content"].as_str().unwrap());
        let signature = case["sig_by_seed_01_base64"].as_str().unwrap();
        assert_eq!(STANDARD.encode(signer.sign(content.as_bytes()).to_bytes()), signature);
        key.verify(&content, signature).unwrap();
        assert_eq!(key.verify(&format!("{content} "), signature), Err(RelayError::Signature));
        compared += 1;
    }
    assert_eq!(compared, 21);
}

#[test]
fn our_signature_covers_every_field_of_a_proposal() {
    let one = terms(&serde_json::json!({"to": "@8addfe27", "task": "x", "amount": 5, "terms": "a"}));
    let text = signing::zx1_proposal(&one);
    assert!(text.starts_with("zx1/relay/v1|PROPOSAL|") && text.len() == 22 + 64);
    for other in [
        Terms { terms: Some("b".into()), ..one.clone() },
        Terms { contract: Some("https://h#0123456789abcdef".into()), ..one.clone() },
        Terms { conversation: Some("0".repeat(32)), ..one.clone() },
        Terms { amount: Some(5.5), ..one.clone() },
        Terms { elo_stake: Some(0.0), ..one.clone() },
    ] {
        assert_ne!(signing::zx1_proposal(&other), text);
    }
}

#[test]
fn our_signatures_over_all_terms_are_those_of_the_second_implementation() {
    let all: Json =
        serde_json::from_str(include_str!("../../../../tests/vectors/relay/zx1_sig.json")).unwrap();
    let cases = all["proposal_signatures"].as_array().unwrap();
    for case in cases {
        let seed: [u8; 32] = hex::decode(case["seed"].as_str().unwrap()).unwrap().try_into().unwrap();
        let signer = SigningKey::from_bytes(&seed);
        let content = signing::zx1_proposal(&terms(&case["terms"]));
        assert_eq!(content, case["content"].as_str().unwrap(), "{case}");
        let signature = case["zx1_sig"].as_str().unwrap();
        assert_eq!(STANDARD.encode(signer.sign(content.as_bytes()).to_bytes()), signature);
        let key = PublicKey::new(signer.verifying_key().to_bytes()).unwrap();
        assert_eq!(hex::encode(key.bytes()), case["public_key"].as_str().unwrap());
        key.verify(&content, signature).unwrap();
    }
    assert_eq!(cases.len(), 6);
}

#[test]
fn an_id_is_of_the_text_as_received_and_state_is_of_the_key() {
    let cases = read(include_str!("../../../../tests/vectors/relay/ids.json"));
    let mut keys = Keys::default();
    let first = cases[0]["id"].as_str().unwrap();
    for case in &cases {
        let pem = case["pem"].as_str().unwrap();
        assert_eq!(AgentId::of_pem(pem, 8).as_str(), case["id"].as_str().unwrap());
        assert_eq!(AgentId::of_pem(pem, 16).as_str(), case["id_16"].as_str().unwrap());
        assert_eq!(hex::encode(PublicKey::from_pem(pem).unwrap().bytes()), case["key"].as_str().unwrap());
        // Two spellings of one key are one identity, with the first spelling's id.
        assert_eq!(keys.claim(pem, 8).unwrap().0.as_str(), first);
    }
    let other = PublicKey::new(SigningKey::from_bytes(&[2; 32]).verifying_key().to_bytes()).unwrap().to_pem();
    keys.restore([9; 32], AgentId::of_pem(&other, 8));
    assert_eq!(keys.claim(&other, 8).unwrap_err(), RelayError::IdTaken);
    assert!(PublicKey::new([0; 32]).is_err());
}

#[test]
fn archives_are_read_as_existing_clients_read_them_where_their_paths_are_plain() {
    let refused = [
        "traversal ../",
        "traversal ....//",
        "absolute",
        "dot-dot split \". .\" style",
        "prefix confusion sibling",
        "missing END",
        "windows backslash",
        "bad base64",
        "duplicate path",
    ];
    let mut read_alike = 0;
    for case in read(include_str!("../../../../tests/vectors/relay/slurp.json")) {
        let name = case["name"].as_str().unwrap();
        let archive = case["archive"].as_str().unwrap();
        assert_eq!(slurp::sha256(archive), case["archive_sha256"].as_str().unwrap());
        let files = slurp::apply(archive);
        if refused.contains(&name) {
            assert!(files.is_err(), "{name}");
            continue;
        }
        let files = files.unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        let disk = case["upstream"]["on_disk_relative_to_parent_of_outdir"].as_array().unwrap();
        assert_eq!(files.len(), disk.len(), "{name}");
        for (file, on_disk) in files.iter().zip(disk) {
            if file.path == "two_nl.txt" {
                // The older receiver loses the second newline; the manifest's hash is of what was packed, and ours.
                assert_eq!(file.bytes, b"x\n\n");
                assert!(archive.contains(&hex::encode(Sha256::digest(&file.bytes))[..16]));
            } else {
                assert_eq!(hex::encode(&file.bytes), on_disk["hex"].as_str().unwrap(), "{name}");
            }
            if name != "dotdot inside name" {
                assert_eq!(format!("out/{}", file.path), on_disk["path"].as_str().unwrap());
            }
        }
        read_alike += 1;
    }
    assert_eq!(read_alike, 8);
}

#[test]
fn transfer_messages_are_written_as_the_examples() {
    let all: Json = serde_json::from_str(include_str!("../../../../tests/vectors/relay/slurp.json")).unwrap();
    for (name, example) in all["ft_examples"].as_object().unwrap() {
        let text = example
            .to_string()
            .replace("<hex of archive>", &"a".repeat(64))
            .replace("<hex>", &"a".repeat(64));
        let message = Message::parse(&text).unwrap_or_else(|_| panic!("{name}"));
        let again: Json = serde_json::from_str(&message.encode()).unwrap();
        assert_eq!(again, serde_json::from_str::<Json>(&text).unwrap());
    }
    assert!(Frame::parse(r#"{"type":"PING"}"#).is_ok());
}
