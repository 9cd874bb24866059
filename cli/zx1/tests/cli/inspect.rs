//! `zx1 inspect` on bytes.

use crate::support::{Home, Refusal, said, vectors};
use base64::Engine as _;
use serde_json::Value;

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn address(public_key: &Value) -> String {
    bs58::encode(hex::decode(text(public_key)).unwrap()).into_string()
}

#[test]
fn every_message_of_the_vectors_is_shown_whole_and_its_signature_holds() {
    let home = Home::new();
    let file = vectors("log_entries.json");
    let messages = file["messages"].as_array().unwrap();
    assert!(messages.len() >= 13);
    for message in messages {
        let key = address(&message["public_key"]);
        let shown = home.json(&["inspect", "envelope", text(&message["envelope"]), "--key", &key]);
        for field in [
            "timestamp",
            "block_ref",
            "nonce",
            "payload_len",
            "payload",
            "payload_hash",
            "signature",
            "conversation_id",
            "msg_type",
            "version",
        ] {
            assert_eq!(shown[field], message[field], "{field} of {}", message["name"]);
        }
        assert_eq!(shown["sender"], address(&message["sender"]));
        let verdicts = &shown["verdicts"];
        assert_eq!((&verdicts["signature_valid"], &verdicts["signer"]), (&true.into(), &key.into()));
        assert_eq!((&verdicts["canonical"], &verdicts["payload_fits"]), (&true.into(), &true.into()));
        assert_eq!(verdicts["log_leaf"], message["leaf"]);
        let entry = home.json(&["inspect", "log-entry", text(&message["log_entry"])]);
        assert_eq!(
            (&entry["verdicts"]["leaf"], &entry["signature"]),
            (&message["leaf"], &message["signature"])
        );
    }
}

#[test]
fn hex_base64_file_and_standard_input_are_the_same() {
    let home = Home::new();
    let cbor = vectors("envelopes.json")["propose"]["cbor"].clone();
    let cbor = text(&cbor);
    let bytes = hex::decode(cbor).unwrap();
    let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let raw = home.file("message.bin", &bytes);
    let hex_file = home.file("message.hex", format!("0x{cbor}\n"));
    let expected = home.json(&["inspect", "envelope", cbor]);
    for data in [base64.as_str(), &raw, &hex_file] {
        assert_eq!(home.json(&["inspect", "envelope", data])["verdicts"], expected["verdicts"], "{data}");
    }
    let mut piped = home.command(["--output", "json", "inspect", "envelope", "-"]);
    assert_eq!(said(piped.write_stdin(bytes)).json()["verdicts"], expected["verdicts"]);
    assert_eq!(expected["payload_fields"]["bid_value"], "5000000");
}

#[test]
fn a_signature_under_another_key_is_said_to_be_none() {
    let home = Home::with_key();
    let cbor = vectors("envelopes.json")["propose"]["cbor"].clone();
    let shown = home.json(&["inspect", "envelope", text(&cbor)]);
    assert_eq!(shown["verdicts"]["signature_valid"], false);
    let home = Home::new();
    assert_eq!(home.json(&["inspect", "envelope", text(&cbor)])["verdicts"]["signature_valid"], Value::Null);
}

#[test]
fn what_is_no_envelope_is_refused_with_the_reason() {
    let home = Home::new();
    let cbor = vectors("envelopes.json")["propose"]["cbor"].clone();
    let good = text(&cbor).to_owned();
    let long_form = good.replacen("8c0103", "8c180103", 1);
    let missing = home.path().join("missing.bin");
    for (data, number, words) in [
        (format!("{good}00"), 7459, "1 bytes follow the array"),
        (long_form, 7459, "at offset 1 stands 18"),
        (good.replacen("8c", "8b", 1), 7459, "The array has 11 items instead of 12"),
        (good.replacen("8c01", "8c02", 1), 7459, "version is not 1"),
        ("0102".to_owned(), 7459, "a number instead of an array of 12"),
        (good[..good.len() - 1].to_owned(), 7450, "odd number of digits"),
        (good.replacen('a', "x", 1), 7450, "invalid digit 'x'"),
        (missing.to_str().unwrap().to_owned(), 7455, "neither a file nor valid hexadecimal or base64"),
        (String::new(), 7454, "is empty"),
        (home.file("large", vec![0u8; 70 * 1024]), 7453, "71680 bytes, maximum 65536 for a message"),
        (home.path().to_str().unwrap().to_owned(), 7406, "folder"),
    ] {
        let said = home.zx1(["inspect", "envelope", &data]);
        let err = said.fails(number);
        assert!(err.contains(words) && err.contains("next: "), "{words}: {err}");
    }
    home.zx1(["inspect", "envelope", &good, "--key", "nonsense"]).is_usage(7451);
}

#[test]
fn the_vectors_verdicts_on_log_entries_are_ours() {
    let home = Home::new();
    let file = vectors("log_entries.json");
    let (mut taken, mut refused) = (0, 0);
    let verdicts = file["verdicts"].as_array().unwrap().iter();
    for verdict in verdicts.filter(|verdict| verdict["what"] == "log_entry") {
        let bytes = home.file("entry.hex", text(&verdict["bytes"]));
        let said = home.zx1(["inspect", "log-entry", &bytes]);
        if verdict["verdict"] == "Ok" {
            said.ok();
            taken += 1;
        } else {
            let number = if text(&verdict["bytes"]).is_empty() { 7454 } else { 7459 };
            said.fails(number);
            refused += 1;
        }
    }
    assert!(taken >= 3 && refused >= 20, "{taken} {refused}");
}

#[test]
fn the_message_of_a_batch_and_accounts_are_read_field_by_field() {
    let home = Home::new();
    let file = vectors("batch_messages.json");
    for message in file["batch_messages"].as_array().unwrap() {
        let shown = home.json(&["inspect", "batch", text(&message["message"])]);
        assert_eq!(shown["agent_id"], address(&message["agent"]));
        assert_eq!(shown["epoch_number"], message["epoch"]);
        for field in ["log_merkle_root", "log_len", "batch_hash", "arrays_root", "arrays_len"] {
            assert_eq!(shown[field], message[field], "{field}");
        }
    }
    home.zx1(["inspect", "batch", "00112233"]).code_is(1);
    let lease = lease_account();
    let shown = home.json(&["inspect", "account", &hex::encode(&lease)]);
    assert_eq!((&shown["kind"], &shown["paid_through_epoch"]), (&"LeaseAccount".into(), &20_480.into()));
    home.zx1(["inspect", "account", &hex::encode(&lease[..20])]).fails(7457);
    let sati = "satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe";
    home.zx1(["inspect", "account", &hex::encode(&lease), "--owner", sati]).fails(7457);
}

/// A lease account, by the interface's own layout.
fn lease_account() -> Vec<u8> {
    use zx1_interface::accounts::LeaseAccount;
    let mut bytes = <LeaseAccount as zx1_interface::Layout>::DISCRIMINATOR.to_vec();
    bytes.extend(20_480u64.to_le_bytes());
    bytes.resize(<LeaseAccount as zx1_interface::Layout>::SIZE, 0);
    bytes
}
