//! The committed vectors, in both directions: fields to bytes and bytes to fields.

use crate::common::{Message, array, bytes, hashes, id, list, small, uint, vectors, verdict};
use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::Value;
use zx1_protocol::batch::{BatchMessage, head_digest, open_digest};
use zx1_protocol::beacon::Beacon;
use zx1_protocol::behavior_batch::BehaviorBatch;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::challenge::{Ground, claim32, commit32};
use zx1_protocol::derive::{from_envelope, from_log_entry};
use zx1_protocol::envelope::{Envelope, MsgType, parse_signing_bytes};
use zx1_protocol::evidence::{Evidence, LogEvidence, ProvenBid};
use zx1_protocol::feedback_log::{check_text, entry_digest, packed_entry_parts, packed_numbers};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::{Tree, leaf, root_of_leaves, verify};
use zx1_protocol::payload::{Feedback, NotarizeBid};
use zx1_protocol::record::{self, Record};
use zx1_protocol::units::{Epoch, Slot};

fn message(item: &Value) -> Message {
    let message = Message {
        msg_type: MsgType::try_from(small::<u16>(&item["msg_type"])).unwrap(),
        sender: id(&item["sender"]),
        recipient: id(&item["recipient"]),
        timestamp: uint(&item["timestamp"]),
        block_ref: uint(&item["block_ref"]),
        nonce: uint(&item["nonce"]),
        conversation_id: id(&item["conversation_id"]),
        payload: bytes(&item["payload"]),
        payload_hash: array(&item["payload_hash"]),
        signature: array(&item["signature"]),
    };
    assert_eq!(message.header().payload_len, small::<u32>(&item["payload_len"]));
    message
}

fn check_envelope(item: &Value, cbor: &Value) {
    let message = message(item);
    let envelope = message.envelope();
    let (signed, cbor) = (bytes(&item["signing_bytes"]), bytes(cbor));
    assert_eq!(envelope.signing_bytes(), signed);
    assert_eq!(parse_signing_bytes(&signed), Ok(envelope.signed_fields()));
    assert_eq!(envelope.to_cbor(), cbor);
    assert_eq!(Envelope::decode(&cbor), Ok(envelope));
    assert_eq!(envelope.check_payload::<Sha3>(), Ok(()));
    let key = VerifyingKey::from_bytes(&array(&item["public_key"])).unwrap();
    key.verify_strict(&signed, &Signature::from_bytes(&message.signature)).unwrap();
}

#[test]
fn the_given_envelopes_ok() {
    let given = vectors("envelopes.json");
    for name in ["beacon", "propose"] {
        check_envelope(&given[name], &given[name]["cbor"]);
        assert_eq!(uint(&given[name]["cbor_len"]) as usize, bytes(&given[name]["cbor"]).len());
    }
    let cbor = bytes(&given["feedback_payload_cbor"]);
    let rating = Feedback::decode(&cbor).unwrap();
    assert_eq!((rating.score, rating.outcome, rating.is_dispute, rating.role), (-42, 0, true, 0));
    assert_eq!(rating.to_cbor(), Ok(cbor));
    let packed = bytes(&given["notarize_bid_payload"]);
    let bid = NotarizeBid::decode(&packed).unwrap();
    assert_eq!((bid.terms, bid.to_bytes()), (&b"fee:5"[..], packed.clone()));
}

#[test]
fn the_given_trees_ok() {
    let given = vectors("merkle.json");
    let trees = given["trees"].as_object().unwrap();
    assert_eq!(trees.len(), 6);
    for (len, tree) in trees {
        check_tree(tree, len.parse().unwrap());
    }
}

fn check_tree(item: &Value, len: usize) -> Tree<Sha3> {
    let entries: Vec<_> = item["entries"].as_array().unwrap().iter().map(bytes).collect();
    assert_eq!(entries.len(), len);
    let tree = Tree::<Sha3>::of_entries(&entries).unwrap();
    assert_eq!(tree.root(), array(&item["root"]));
    let leaves = entries.iter().map(|entry| leaf::<Sha3>(entry));
    assert_eq!(root_of_leaves::<Sha3>(tree.len(), leaves), Ok(tree.root()));
    tree
}

#[test]
fn messages_ok() {
    for item in list(&vectors("log_entries.json")["messages"]) {
        check_envelope(item, &item["envelope"]);
        let message = message(item);
        assert_eq!(message.header().message32::<Sha3>(), array::<32>(&item["message32"]));
        let entry = LogEntry::of(&message.envelope());
        let cbor = bytes(&item["log_entry"]);
        assert_eq!(entry.to_cbor::<Sha3>(), Ok(cbor.clone()), "{}", item["name"]);
        assert_eq!(LogEntry::decode::<Sha3>(&cbor), Ok(entry), "{}", item["name"]);
        assert_eq!(LogEntry::leaf::<Sha3>(&cbor), array::<32>(&item["leaf"]));
    }
}

/// A record from its fields.
fn record(item: &Value) -> Record {
    let (conversation, slot) = (id(&item["conversation"]), Slot(uint(&item["slot"])));
    let message = array(&item["message"]);
    match item["kind"].as_str().unwrap() {
        "bid" => {
            let value = item["value"].as_str().unwrap().parse().unwrap();
            let counterparty = id(&item["counterparty"]);
            Record::Bid(record::Bid { conversation, counterparty, value, slot, message })
        }
        "selection" => {
            let counterparty = id(&item["counterparty"]);
            Record::Selection(record::Selection { conversation, counterparty, slot, message })
        }
        "verifier" => {
            let verifier = id(&item["verifier"]);
            Record::Verifier(record::Verifier { conversation, verifier, slot, message })
        }
        "feedback" => Record::Feedback(record::Feedback {
            conversation,
            from: id(&item["from"]),
            score: item["score"].as_i64().unwrap().try_into().unwrap(),
            outcome: small(&item["outcome"]),
            role: small(&item["role"]),
            slot,
            attestation: array(&item["attestation"]),
            message,
        }),
        other => panic!("no kind {other}"),
    }
}

#[test]
fn records_ok() {
    for item in list(&vectors("records.json")["records"]) {
        let (record, packed) = (record(item), bytes(&item["packed"]));
        assert_eq!(record.to_bytes(), packed);
        assert_eq!(Record::parse(&packed), Ok(record));
        assert_eq!(record.leaf::<Sha3>(), array::<32>(&item["leaf"]));
    }
}

#[test]
fn batch_messages_ok() {
    let file = vectors("batch_messages.json");
    let items = list(&file["batch_messages"]);
    let mut digest = open_digest::<Sha3>(&array(&items[0]["network"]), &array(&items[0]["agent"]));
    for item in items {
        let message = BatchMessage {
            network: array(&item["network"]),
            agent: array(&item["agent"]),
            covers_from: Epoch(uint(&item["covers_from"])),
            epoch: Epoch(uint(&item["epoch"])),
            previous_digest: array(&item["previous_digest"]),
            log_merkle_root: array(&item["log_merkle_root"]),
            log_len: small(&item["log_len"]),
            batch_hash: array(&item["batch_hash"]),
            arrays_root: array(&item["arrays_root"]),
            arrays_len: small(&item["arrays_len"]),
        };
        assert_eq!(message.previous_digest, digest);
        let packed = bytes(&item["message"]);
        assert_eq!(message.to_bytes().to_vec(), packed);
        assert_eq!(BatchMessage::parse(&packed), Some(message));
        digest = head_digest::<Sha3>(&message.previous_digest, &packed);
        assert_eq!(digest, array::<32>(&item["digest"]));
        let key = VerifyingKey::from_bytes(&array(&item["public_key"])).unwrap();
        key.verify_strict(&packed, &Signature::from_bytes(&array(&item["signature"]))).unwrap();
    }
}

#[test]
fn proofs_ok() {
    let mut proofs = 0;
    for item in list(&vectors("proofs.json")["trees"]) {
        let entries = item["entries"].as_array().unwrap();
        let tree = check_tree(item, entries.len());
        for proof in item["proofs"].as_array().unwrap() {
            let (entry, path) = (small::<u32>(&proof["entry"]), hashes(&proof["path"]));
            let made = tree.proof_of_entry(entry).unwrap();
            assert_eq!((made.index, &made.path), (small::<u32>(&proof["index"]), &path));
            let leaf = leaf::<Sha3>(&bytes(&entries[entry as usize]));
            assert_eq!(verify::<Sha3>(&tree.root(), tree.len(), made.index, &leaf, &path), Ok(()));
            proofs += 1;
        }
    }
    assert!(proofs > 100, "only {proofs} proofs");
}

#[test]
fn the_feedback_log_ok() {
    let mut head: Hash = [0; 32];
    for item in list(&vectors("feedback_log.json")["feedback_log"]) {
        assert_eq!(head, array::<32>(&item["previous_head"]));
        let (index, slot) = (uint(&item["index"]), uint(&item["slot"]));
        let timestamp = item["timestamp"].as_i64().unwrap();
        let (sender, payer, text) = (array(&item["sender"]), array(&item["payer"]), bytes(&item["text"]));
        let numbers = packed_numbers(index, timestamp, slot);
        let packed = packed_entry_parts(&numbers, &sender, &payer, &head, &text).concat();
        assert_eq!(packed, bytes(&item["packed"]));
        head = entry_digest::<Sha3>(&head, index, timestamp, slot, &sender, &payer, &text);
        assert_eq!(head, array::<32>(&item["head"]));
    }
}

#[test]
fn evidence_ok() {
    for item in list(&vectors("evidence.json")["evidence"]) {
        let packed = bytes(&item["bytes"]);
        if uint(&item["kind"]) == 1 {
            let (proof, entry) = (hashes(&item["proof"]), bytes(&item["entry"]));
            let shown = item["shown_payload"].as_str().map(|shown| hex::decode(shown).unwrap());
            let evidence = Evidence::LogEntry(LogEvidence {
                leaf_index: small(&item["leaf_index"]),
                proof: &proof,
                entry: &entry,
                shown_payload: shown.as_deref(),
            });
            check_evidence(&evidence, &packed);
        } else {
            let parts: Vec<_> = list(&item["bids"])
                .iter()
                .map(|bid| (array(&bid["record"]), small(&bid["leaf_index"]), hashes(&bid["proof"])))
                .collect();
            let [a, b] = [0, 1].map(|i| ProvenBid::new(&parts[i].0, parts[i].1, &parts[i].2).unwrap());
            check_evidence(&Evidence::DoubleBid(a, b), &packed);
        }
    }
}

fn check_evidence(evidence: &Evidence<'_>, packed: &[u8]) {
    assert_eq!(evidence.to_bytes().as_deref(), Some(packed));
    assert_eq!(Evidence::parse(packed), Ok(*evidence));
}

#[test]
fn claims_and_commitments_ok() {
    for item in list(&vectors("evidence.json")["claims"]) {
        let ground = Ground::from_u8(small(&item["ground"])).unwrap();
        let claim = claim32::<Sha3>(ground, item["known"].as_bool().unwrap(), &array(&item["message"]));
        assert_eq!(claim, array::<32>(&item["claim"]));
    }
    for item in list(&vectors("evidence.json")["commits"]) {
        let (challenger, batch) = (array(&item["challenger"]), array(&item["batch"]));
        let commit = commit32::<Sha3>(&challenger, &batch, &bytes(&item["evidence"]));
        assert_eq!(commit, array::<32>(&item["commit"]));
    }
}

#[test]
fn derivations_ok() {
    let mut derived = 0;
    for item in list(&vectors("evidence.json")["derivations"]) {
        let (source, agent) = (bytes(&item["bytes"]), array(&item["agent"]));
        let ground = Ground::from_u8(small(&item["ground"])).unwrap();
        let shown = item["shown_payload"].as_str().map(|shown| hex::decode(shown).unwrap());
        let result = if item["source"] == "log_entry" {
            let entry = LogEntry::decode::<Sha3>(&source).unwrap();
            from_log_entry::<Sha3>(&entry, &agent, ground, shown.as_deref())
        } else {
            from_envelope::<Sha3>(&parse_signing_bytes(&source).unwrap(), &agent, ground)
        };
        assert_eq!(verdict(result), item["verdict"], "{item}");
        if let Ok(expected) = result {
            assert_eq!(expected.record.to_bytes(), bytes(&item["record"]));
            assert_eq!(expected.value_known, item["value_known"].as_bool().unwrap());
            derived += 1;
        }
    }
    assert!(derived > 20, "only {derived} records");
}

/// What this crate says about some bytes.
pub(crate) fn judge(what: &str, bytes: &[u8]) -> String {
    match what {
        "log_entry" => verdict(LogEntry::decode::<Sha3>(bytes)),
        "envelope" => verdict(Envelope::decode(bytes)),
        "signing_bytes" => verdict(parse_signing_bytes(bytes)),
        "feedback" => verdict(Feedback::decode(bytes)),
        "record" => verdict(Record::parse(bytes)),
        "evidence" => verdict(Evidence::parse(bytes)),
        "text" => verdict(check_text(bytes)),
        "batch" => verdict(BehaviorBatch::decode(bytes)),
        "bundle" => verdict(Bundle::decode(bytes).and_then(|bundle| bundle.check())),
        "beacon" => verdict(Beacon::parse(bytes)),
        other => panic!("nothing is called {other}"),
    }
}

#[test]
fn refusals_have_the_same_reason_ok() {
    let files = ["log_entries", "records", "evidence", "feedback_log", "batches", "beacons"];
    for file in files.map(|name| format!("{name}.json")) {
        for item in list(&vectors(&file)["verdicts"]) {
            let what = item["what"].as_str().unwrap();
            assert_eq!(judge(what, &bytes(&item["bytes"])), item["verdict"], "{what} {}", item["name"]);
        }
    }
}
