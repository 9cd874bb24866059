//! The fuzz targets of this crate, on the stable compiler.

use crate::bodies;
use crate::bundle::signed;
use crate::common::{feedback, message, record};
use crate::harness::{self, draw};
use crate::life::{build, life};
use crate::mesh_payload;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use zx1_protocol::beacon::Beacon;
use zx1_protocol::evidence::{Evidence, LogEvidence, ProvenBid};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::record::{Bid, Record};
use zx1_protocol::units::{Epoch, Slot};

/// Bytes that the target takes.
fn good(target: &str, runner: &mut TestRunner) -> Vec<u8> {
    let message = draw(runner, message());
    let proof = draw(runner, prop::collection::vec(any::<[u8; 32]>(), 0..4));
    match target {
        "envelope" | "validate" => message.envelope().to_cbor(),
        "signing_bytes" => message.envelope().signing_bytes(),
        "log_entry" => LogEntry::of(&message.envelope()).to_cbor::<Sha3>().unwrap(),
        "behavior_batch" => build(&draw(runner, life())).unwrap().batch_bytes,
        "bundle" => signed(&build(&draw(runner, life())).unwrap()).to_vec(),
        "batch_message" => build(&draw(runner, life()))
            .unwrap()
            .commitment()
            .message(&[1; 32], Epoch(3), &[4; 32])
            .to_bytes()
            .to_vec(),
        "record" => draw(runner, record()).to_bytes(),
        "evidence_log_entry" => {
            let entry = LogEntry::of(&message.envelope()).to_cbor::<Sha3>().unwrap();
            let shown_payload = Some(&message.payload[..]);
            let evidence = LogEvidence { leaf_index: 1, proof: &proof, entry: &entry, shown_payload };
            Evidence::LogEntry(evidence).to_bytes().unwrap().split_off(1)
        }
        "evidence_double_bid" => {
            let bid = Bid {
                conversation: ConversationId([1; 16]),
                counterparty: AgentId([2; 32]),
                value: 3,
                slot: Slot(4),
                message: [5; 32],
            };
            let packed = Record::Bid(bid).to_bytes().try_into().unwrap();
            let bid = ProvenBid::new(&packed, 5, &proof).unwrap();
            Evidence::DoubleBid(bid, bid).to_bytes().unwrap().split_off(1)
        }
        "payload_feedback" => draw(runner, feedback()).to_cbor().unwrap(),
        "payload_beacon" => {
            Beacon { agent_id: AgentId([1; 32]), verifying_key: WalletKey::from([2; 32]), name: "Größe" }
                .to_bytes()
        }
        "payload_context" => draw(runner, mesh_payload::context()),
        "payload_advertise" | "payload_discover" | "payload_offer" | "payload_verdict"
        | "payload_dispute" => draw(runner, mesh_payload::sample()).to_payload(&target["payload_".len()..]),
        "feedback_log" => draw(runner, "\\PC{0,60}").into_bytes(),
        "payload_bid" | "payload_notarize_bid" => message.payload,
        other => panic!("{other} has no good bytes here"),
    }
}

#[test]
fn no_decoder_panics_on_noise_or_on_damaged_bytes() {
    harness::run(&bodies::ALL, good);
}
