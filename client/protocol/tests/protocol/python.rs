//! The other direction: what this crate makes is judged by `tests/vectors/make.py`, a second
//! implementation in another language that shares no code and no library with it.

use crate::batch_vectors::live;
use crate::bundle::signed;
use crate::common::{feedback, key, message, record, vectors_dir};
use crate::harness::{damage, damaged};
use crate::life::{AGENT, build, covered, life};
use crate::mesh_payload;
use crate::rule_vectors;
use crate::vectors::judge;
use ed25519_dalek::Signer;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use zx1_protocol::batch::{BatchMessage, head_digest};
use zx1_protocol::beacon::Beacon;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::bundle::Signed;
use zx1_protocol::challenge::{Ground, claim32, commit32};
use zx1_protocol::derive::{DeriveError, Expected, from_envelope, from_log_entry};
use zx1_protocol::evidence::{Evidence, LogEvidence, ProvenBid};
use zx1_protocol::feedback_log::{entry_digest, packed_entry_parts, packed_numbers};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::interaction::{interaction_hash, task_ref};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::Tree;
use zx1_protocol::record::{BID_LEN, Bid, Record};
use zx1_protocol::units::{Epoch, Slot};

fn make_py(arguments: &[&str]) -> Output {
    Command::new("python3")
        .arg(vectors_dir().join("make.py"))
        .args(arguments)
        .output()
        .expect("python3 is needed to run these tests")
}

fn assert_holds(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

fn write(name: &str, content: &Value) -> std::path::PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content.to_string()).unwrap();
    path
}

/// Random things, new ones in every run; the file that was judged stays for a look.
struct Source(TestRunner);

impl Source {
    fn draw<T: std::fmt::Debug>(&mut self, strategy: impl Strategy<Value = T>) -> T {
        strategy.new_tree(&mut self.0).unwrap().current()
    }

    fn many<T>(&mut self, count: usize, mut draw: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..count).map(|_| draw(self)).collect()
    }
}

fn hexes(hashes: &[Hash]) -> Vec<String> {
    hashes.iter().map(hex::encode).collect()
}

fn message_json(message: &crate::common::Message) -> Value {
    let envelope = message.envelope();
    let entry = LogEntry::of(&envelope).to_cbor::<Sha3>().unwrap();
    json!({
        "public_key": hex::encode(key().verifying_key().to_bytes()),
        "version": envelope.header.version,
        "msg_type": message.msg_type.wire(),
        "sender": hex::encode(message.sender),
        "recipient": hex::encode(message.recipient),
        "timestamp": message.timestamp,
        "block_ref": message.block_ref,
        "nonce": message.nonce,
        "conversation_id": hex::encode(message.conversation_id),
        "payload_hash": hex::encode(message.payload_hash),
        "payload_len": envelope.header.payload_len,
        "payload": hex::encode(&message.payload),
        "signing_bytes": hex::encode(envelope.signing_bytes()),
        "message32": hex::encode(envelope.header.message32::<Sha3>()),
        "signature": hex::encode(message.signature),
        "envelope": hex::encode(envelope.to_cbor()),
        "leaf": hex::encode(LogEntry::leaf::<Sha3>(&entry)),
        "log_entry": hex::encode(entry),
    })
}

fn record_json(record: &Record) -> Value {
    let mut fields = match record {
        Record::Bid(bid) => json!({
            "kind": "bid",
            "conversation": hex::encode(bid.conversation),
            "counterparty": hex::encode(bid.counterparty),
            "value": bid.value.to_string(),
            "slot": bid.slot.0,
        }),
        Record::Selection(selection) => json!({
            "kind": "selection",
            "conversation": hex::encode(selection.conversation),
            "counterparty": hex::encode(selection.counterparty),
            "slot": selection.slot.0,
        }),
        Record::Verifier(assignment) => json!({
            "kind": "verifier",
            "conversation": hex::encode(assignment.conversation),
            "verifier": hex::encode(assignment.verifier),
            "slot": assignment.slot.0,
        }),
        Record::Feedback(event) => json!({
            "kind": "feedback",
            "conversation": hex::encode(event.conversation),
            "from": hex::encode(event.from),
            "score": event.score,
            "outcome": event.outcome,
            "role": event.role,
            "slot": event.slot.0,
            "attestation": hex::encode(event.attestation),
        }),
    };
    fields["message"] = hex::encode(record.message()).into();
    fields["packed"] = hex::encode(record.to_bytes()).into();
    fields["leaf"] = hex::encode(record.leaf::<Sha3>()).into();
    fields
}

fn batch_json(source: &mut Source) -> Value {
    let ([network, agent, previous, log_root, hash, arrays_root], from, epoch, log_len, arrays_len) =
        source.draw((any::<[Hash; 6]>(), any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>()));
    let message = BatchMessage {
        network,
        agent,
        covers_from: Epoch(from),
        epoch: Epoch(epoch),
        previous_digest: previous,
        log_merkle_root: log_root,
        log_len,
        batch_hash: hash,
        arrays_root,
        arrays_len,
    }
    .to_bytes();
    json!({
        "network": hex::encode(network),
        "agent": hex::encode(agent),
        "covers_from": from,
        "epoch": epoch,
        "previous_digest": hex::encode(previous),
        "log_merkle_root": hex::encode(log_root),
        "log_len": log_len,
        "batch_hash": hex::encode(hash),
        "arrays_root": hex::encode(arrays_root),
        "arrays_len": arrays_len,
        "public_key": hex::encode(key().verifying_key().to_bytes()),
        "message": hex::encode(message),
        "signature": hex::encode(key().sign(&message).to_bytes()),
        "digest": hex::encode(head_digest::<Sha3>(&previous, &message)),
    })
}

fn tree_json(source: &mut Source) -> Value {
    let entries = source.draw(prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..40));
    let tree = Tree::<Sha3>::of_entries(&entries).unwrap();
    let proofs: Vec<_> = (0..tree.len())
        .map(|entry| {
            let proof = tree.proof_of_entry(entry).unwrap();
            json!({"entry": entry, "index": proof.index, "path": hexes(&proof.path)})
        })
        .collect();
    let entries: Vec<_> = entries.iter().map(hex::encode).collect();
    json!({"entries": entries, "root": hex::encode(tree.root()), "proofs": proofs})
}

fn feedback_log_json(source: &mut Source) -> Value {
    let ([head, sender, payer], numbers, text) =
        source.draw((any::<[Hash; 3]>(), any::<(u64, i64, u64)>(), "\\PC{1,200}"));
    let (index, timestamp, slot) = numbers;
    let packed_numbers = packed_numbers(index, timestamp, slot);
    let packed = packed_entry_parts(&packed_numbers, &sender, &payer, &head, text.as_bytes()).concat();
    let next = entry_digest::<Sha3>(&head, index, timestamp, slot, &sender, &payer, text.as_bytes());
    json!({
        "index": index,
        "timestamp": timestamp,
        "slot": slot,
        "sender": hex::encode(sender),
        "payer": hex::encode(payer),
        "previous_head": hex::encode(head),
        "text": hex::encode(text),
        "packed": hex::encode(packed),
        "head": hex::encode(next),
    })
}

fn proof(source: &mut Source) -> Vec<Hash> {
    source.draw(prop::collection::vec(any::<Hash>(), 0..21))
}

fn log_evidence_json(source: &mut Source) -> Value {
    let proof = proof(source);
    let message = source.draw(message());
    let (leaf_index, shown) = source.draw(any::<(u32, bool)>());
    let entry = LogEntry::of(&message.envelope()).to_cbor::<Sha3>().unwrap();
    let shown_payload = shown.then_some(&message.payload[..]);
    let evidence =
        Evidence::LogEntry(LogEvidence { leaf_index, proof: &proof, entry: &entry, shown_payload });
    json!({
        "kind": 1,
        "leaf_index": leaf_index,
        "proof": hexes(&proof),
        "entry": hex::encode(&entry),
        "shown_payload": shown_payload.map(hex::encode),
        "bytes": hex::encode(evidence.to_bytes().unwrap()),
    })
}

fn double_bid_json(source: &mut Source) -> Value {
    let proofs = [proof(source), proof(source)];
    let parts: Vec<_> = proofs
        .iter()
        .map(|proof| {
            let (conversation, counterparty, message, value, slot, index) =
                source.draw(any::<([u8; 16], Hash, Hash, i128, u64, u32)>());
            let (conversation, counterparty) = (ConversationId(conversation), AgentId(counterparty));
            let bid = Bid { conversation, counterparty, value, slot: Slot(slot), message };
            let record: [u8; BID_LEN] = Record::Bid(bid).to_bytes().try_into().unwrap();
            (record, index, proof)
        })
        .collect();
    let [a, b] = [0, 1].map(|i| ProvenBid::new(&parts[i].0, parts[i].1, parts[i].2).unwrap());
    let bids: Vec<_> = parts
        .iter()
        .map(|(record, index, proof)| {
            json!({"record": hex::encode(record), "leaf_index": index, "proof": hexes(proof)})
        })
        .collect();
    let bytes = Evidence::DoubleBid(a, b).to_bytes().unwrap();
    json!({"kind": 2, "bids": bids, "bytes": hex::encode(bytes)})
}

fn claim_json(source: &mut Source) -> Value {
    let (number, known, message) = source.draw((1u8..=5, any::<bool>(), any::<Hash>()));
    let claim = claim32::<Sha3>(Ground::from_u8(number).unwrap(), known, &message);
    json!({"ground": number, "known": known, "message": hex::encode(message), "claim": hex::encode(claim)})
}

fn commit_json(source: &mut Source) -> Value {
    let evidence = source.draw(prop::collection::vec(any::<u8>(), 0..300));
    let [challenger, batch] = source.draw(any::<[Hash; 2]>());
    json!({
        "challenger": hex::encode(challenger),
        "batch": hex::encode(batch),
        "evidence": hex::encode(&evidence),
        "commit": hex::encode(commit32::<Sha3>(&challenger, &batch, &evidence)),
    })
}

/// A derivation from a random message, on a random ground; the agent is often one that fits.
fn derivation_json(source: &mut Source) -> Value {
    let mut message = source.draw(message());
    let (number, from_log, shown, fits, stranger) =
        source.draw((1u8..=5, any::<bool>(), 0u8..3, 0u8..4, any::<[u8; 32]>()));
    let ground = Ground::from_u8(number).unwrap();
    let mut agent = message.sender;
    if ground == Ground::Feedback {
        let rating = source.draw(feedback());
        agent = rating.target_agent;
        if fits > 1 {
            message.msg_type = zx1_protocol::envelope::MsgType::Feedback;
            message.payload = rating.to_cbor().unwrap();
        }
    }
    if fits == 0 {
        agent = AgentId(stranger);
    }
    let message = message.seal();
    let shown = match shown {
        0 => None,
        1 => Some(message.payload.clone()),
        _ => Some([&message.payload[..], &[0]].concat()),
    }
    .filter(|_| from_log);
    let (name, bytes, result): (_, _, Result<Expected, DeriveError>) = if from_log {
        let entry = LogEntry::of(&message.envelope());
        let result = from_log_entry::<Sha3>(&entry, agent.as_bytes(), ground, shown.as_deref());
        ("log_entry", entry.to_cbor::<Sha3>().unwrap(), result)
    } else {
        let result = from_envelope::<Sha3>(&message.envelope().signed_fields(), agent.as_bytes(), ground);
        ("envelope", message.envelope().signing_bytes(), result)
    };
    json!({
        "source": name,
        "bytes": hex::encode(bytes),
        "agent": hex::encode(agent),
        "ground": number,
        "shown_payload": shown.map(hex::encode),
        "record": result.ok().map(|expected| hex::encode(expected.record.to_bytes())),
        "value_known": result.ok().map(|expected| expected.value_known),
        "verdict": crate::common::verdict(result),
    })
}

/// A random log and what the builder makes of it.
fn built_json(source: &mut Source) -> Value {
    let log = source.draw(life());
    let built = build(&log).unwrap();
    let bundle = if source.draw(any::<bool>()) { signed(&built) } else { built.bundle().unwrap() };
    let signed = bundle.signed().map(|Signed { message, signer, signature }| {
        [&message.to_bytes()[..], signer.as_ref(), signature].concat()
    });
    let signed = signed.unwrap_or_default();
    let entries: Vec<_> = log
        .iter()
        .map(|logged| {
            let sent = logged.direction == Direction::Sent;
            let payload =
                (sent && logged.message.msg_type.has_bid_value()).then_some(&logged.message.payload);
            json!({
                "sent": sent,
                "entry": hex::encode(logged.encoded()),
                "payload": payload.map(hex::encode),
                "attestation": logged.attestation.map(hex::encode),
            })
        })
        .collect();
    json!({
        "agent": hex::encode(AGENT),
        "from_epoch": covered().from.0,
        "to_epoch": covered().to.0,
        "slot_start": built.batch.slot_start.0,
        "slot_end": built.batch.slot_end.0,
        "log": entries,
        "batch": hex::encode(&built.batch_bytes),
        "batch_hash": hex::encode(built.batch_hash),
        "records": hex::encode(&built.records),
        "leaves": hex::encode(built.leaves.as_flattened()),
        "signed": hex::encode(signed),
        "bundle": hex::encode(bundle.to_vec()),
    })
}

fn beacon_json(source: &mut Source) -> Value {
    let (agent, key, name) = source.draw((any::<Hash>(), any::<Hash>(), "\\PC{0,20}"));
    let beacon = Beacon { agent_id: AgentId(agent), verifying_key: key.into(), name: &name };
    json!({
        "agent_id": hex::encode(agent),
        "verifying_key": hex::encode(key),
        "name": name,
        "bytes": hex::encode(beacon.to_bytes()),
    })
}

fn interaction_json(source: &mut Source) -> Value {
    let (conversation, peer, slot) = source.draw((any::<[u8; 16]>(), any::<Hash>(), any::<u64>()));
    let hash = interaction_hash::<Sha3>(&ConversationId(conversation), &AgentId(peer), Slot(slot));
    json!({
        "conversation_id": hex::encode(conversation),
        "counterparty": hex::encode(peer),
        "slot_accepted": slot,
        "interaction_hash": hex::encode(hash),
        "task_ref": hex::encode(task_ref(&ConversationId(conversation))),
    })
}

/// A random life of ratings and what follows from it.
fn reputation_json(source: &mut Source) -> Value {
    let event = (-100i8..=100, 0u8..=2, 0u8..=1, 0u8..9, any::<[bool; 3]>(), 0usize..4).prop_map(
        |(score, outcome, role, number, [is_dispute, in_batch, envelope_at_hand], binding)| {
            let binding = [None, Some("selection"), Some("verifier"), Some("contract")][binding];
            json!({
                "score": score, "outcome": outcome, "role": role, "is_dispute": is_dispute,
                "from": hex::encode([number; 32]), "conversation": hex::encode([number / 2; 16]),
                "slot": number / 3, "in_batch": in_batch, "envelope_at_hand": envelope_at_hand,
                "binding": binding,
            })
        },
    );
    let batch = (1u64..20, 0u64..1_000, 0u32..2, 0u32..9, prop::collection::vec(event, 0..8));
    let batch = (batch, prop::bool::weighted(0.2));
    let (mut epoch, mut tenure) = (0, 1);
    let batches: Vec<_> = source
        .draw(prop::collection::vec(batch, 1..12))
        .into_iter()
        .map(|((gap, slot_end, message_count, disputes, events), sold)| {
            epoch += gap;
            tenure += u32::from(sold);
            json!({
                "epoch": epoch, "tenure": tenure, "slot_end": slot_end, "message_count": message_count,
                "disputes": disputes, "events": events,
            })
        })
        .collect();
    live(&batches.into(), &[epoch, epoch + 8, epoch + 30])
}

/// Numbers near each other under these names.
fn numbers<const N: usize>(source: &mut Source, names: [&str; N]) -> Value {
    let numbers = source.draw(prop::collection::vec(0u64..80, N));
    names.into_iter().zip(numbers).map(|(name, number)| (name.to_owned(), Value::from(number))).collect()
}

fn closing_json(source: &mut Source) -> Value {
    let mut given = numbers(source, ["scopes", "until", "current", "last_epoch"]);
    given["scopes"] = source.draw(0u8..16).into();
    given["ended"] = source.draw(any::<bool>()).into();
    if source.draw(0u8..4) == 0 {
        given["last_epoch"] = Value::Null;
    }
    let last_slot = source.draw(0u64..1_000_000);
    given["last_slot"] = last_slot.into();
    given["now"] = (last_slot + source.draw(431_990u64..432_010)).into();
    rule_vectors::closing(&given)
}

fn division_json(source: &mut Source) -> Value {
    let whole = source.draw(crate::common::number());
    let amounts = source.draw(crate::amounts::amounts());
    rule_vectors::division(&json!({"amounts": rule_vectors::amounts_json(&amounts), "whole": whole}))
}

/// Damaged bytes and this crate's verdict: Python must give the same reason.
fn verdict_json(source: &mut Source) -> Value {
    let what = [
        "log_entry",
        "envelope",
        "signing_bytes",
        "feedback",
        "record",
        "evidence",
        "text",
        "batch",
        "bundle",
        "beacon",
    ];
    let what = what[source.draw(0..what.len())];
    let message = source.draw(message());
    let good = match what {
        "log_entry" => LogEntry::of(&message.envelope()).to_cbor::<Sha3>().unwrap(),
        "envelope" => message.envelope().to_cbor(),
        "signing_bytes" => message.envelope().signing_bytes(),
        "feedback" => source.draw(feedback()).to_cbor().unwrap(),
        "record" => source.draw(record()).to_bytes(),
        "text" => source.draw("\\PC{0,30}").into_bytes(),
        "batch" => build(&source.draw(life())).unwrap().batch_bytes,
        "bundle" => signed(&build(&source.draw(life())).unwrap()).to_vec(),
        "beacon" => hex::decode(beacon_json(source)["bytes"].as_str().unwrap()).unwrap(),
        _ => {
            let made =
                if source.draw(any::<bool>()) { log_evidence_json(source) } else { double_bid_json(source) };
            hex::decode(made["bytes"].as_str().unwrap()).unwrap()
        }
    };
    let harm = source.draw(prop::collection::vec(damage(), 0..3));
    let bytes = damaged(&good, &harm);
    let name = format!("{harm:?}");
    json!({"what": what, "name": name, "verdict": judge(what, &bytes), "bytes": hex::encode(bytes)})
}

fn mesh_payload_json(source: &mut Source) -> Value {
    let what = source.draw(prop::sample::select(mesh_payload::KINDS.to_vec()));
    let sample = source.draw(mesh_payload::sample());
    let payload = hex::encode(sample.to_payload(what));
    json!({ "what": what, "fields": sample.fields(what), "payload": payload })
}

fn context_json(source: &mut Source) -> Value {
    let payload = source.draw(mesh_payload::context());
    let context = zx1_protocol::context::Context::decode(&payload).unwrap();
    let envelopes: Vec<_> = context.envelopes.iter().map(hex::encode).collect();
    json!({ "envelopes": envelopes, "payload": hex::encode(&payload) })
}

#[test]
fn the_committed_vectors_are_what_python_makes() {
    assert_holds(&make_py(&["check"]));
}

#[test]
fn what_rust_makes_holds_in_python() {
    let mut source = Source(TestRunner::default());
    let messages = source.many(60, |source| source.draw(message()));
    let mut evidence = source.many(20, log_evidence_json);
    evidence.extend(source.many(20, double_bid_json));
    let content = json!({
        "messages": messages.iter().map(message_json).collect::<Vec<_>>(),
        "records": source.many(100, |source| record_json(&source.draw(record()))),
        "batch_messages": source.many(20, batch_json),
        "trees": source.many(10, tree_json),
        "feedback_log": source.many(20, feedback_log_json),
        "evidence": evidence,
        "claims": source.many(20, claim_json),
        "commits": source.many(20, commit_json),
        "derivations": source.many(200, derivation_json),
        "built": source.many(25, built_json),
        "beacons": source.many(20, beacon_json),
        "interactions": source.many(20, interaction_json),
        "mesh_payloads": source.many(100, mesh_payload_json),
        "contexts": source.many(20, context_json),
        "reputations": source.many(30, reputation_json),
        "coverage": source.many(200, |source| rule_vectors::coverage(&numbers(source, ["epoch", "current", "last_epoch", "tenure_from"]))),
        "closings": source.many(200, closing_json),
        "divisions": source.many(100, division_json),
        "verdicts": source.many(600, verdict_json),
    });
    let path = write("made_by_rust.json", &content);
    assert_holds(&make_py(&["verify", path.to_str().unwrap()]));
}

#[test]
fn python_refuses_what_does_not_hold() {
    let mut source = Source(TestRunner::default());
    let message = message_json(&source.draw(message()));
    let lies = [
        ("messages", message.clone(), "signature"),
        ("messages", message.clone(), "log_entry"),
        ("messages", message, "leaf"),
        ("records", record_json(&source.draw(record())), "packed"),
        ("batch_messages", batch_json(&mut source), "digest"),
        ("feedback_log", feedback_log_json(&mut source), "head"),
        ("evidence", log_evidence_json(&mut source), "entry"),
        ("claims", claim_json(&mut source), "claim"),
        ("commits", commit_json(&mut source), "commit"),
        ("built", built_json(&mut source), "batch_hash"),
        ("built", built_json(&mut source), "bundle"),
        ("interactions", interaction_json(&mut source), "interaction_hash"),
        ("beacons", beacon_json(&mut source), "agent_id"),
        ("mesh_payloads", mesh_payload_json(&mut source), "payload"),
        ("contexts", context_json(&mut source), "payload"),
    ];
    for (section, mut item, field) in lies {
        let mut bytes = hex::decode(item[field].as_str().unwrap()).unwrap();
        bytes[0] ^= 1;
        item[field] = hex::encode(bytes).into();
        let path = write(&format!("lie_{section}_{field}.json"), &json!({ section: [item] }));
        let output = make_py(&["verify", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{section} {field}");
    }
}
