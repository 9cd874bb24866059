//! The vectors about batches, bundles and reputation.

use crate::common::{array, bytes, id, list, small, uint, vectors};
use serde_json::{Value, json};
use zx1_protocol::batch::{BATCH_MESSAGE_LEN, BatchMessage, Covered};
use zx1_protocol::behavior_batch::{BehaviorBatch, Builder, Built, Direction};
use zx1_protocol::bundle::{Bundle, Signed};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::record::{Bid, Record};
use zx1_protocol::reputation::{BatchFacts, Binding, Event, Ledger, Rating, State, Turn, uncovered};
use zx1_protocol::units::{Epoch, Slot};

fn optional(value: &Value) -> Option<Vec<u8>> {
    value.as_str().map(|text| hex::decode(text).unwrap())
}

fn build(item: &Value) -> Built {
    let covered = Covered { from: Epoch(uint(&item["from_epoch"])), to: Epoch(uint(&item["to_epoch"])) };
    let (start, end) = (Slot(uint(&item["slot_start"])), Slot(uint(&item["slot_end"])));
    let mut builder = Builder::new(id(&item["agent"]), covered, start, end).unwrap();
    for entry in item["log"].as_array().unwrap() {
        let direction = if entry["sent"] == true { Direction::Sent } else { Direction::Received };
        let payload = optional(&entry["payload"]);
        let attestation = optional(&entry["attestation"]).map(|hash| hash.try_into().unwrap());
        builder.push_encoded(direction, &bytes(&entry["entry"]), payload.as_deref(), attestation).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn built_batches_ok() {
    for item in list(&vectors("batches.json")["built"]) {
        let built = build(item);
        assert_eq!(built.batch_bytes, bytes(&item["batch"]));
        assert_eq!(built.batch_hash, array::<32>(&item["batch_hash"]));
        assert_eq!(built.records, bytes(&item["records"]));
        assert_eq!(built.leaves.as_flattened(), bytes(&item["leaves"]));
        let data = bytes(&item["bundle"]);
        let signed = bytes(&item["signed"]);
        let mut bundle = built.bundle().unwrap();
        if let Some((message, rest)) = signed.split_at_checked(BATCH_MESSAGE_LEN) {
            let (signer, signature) = rest.split_at(32);
            let signed = Signed {
                message: BatchMessage::parse(message).unwrap(),
                signer: <[u8; 32]>::try_from(signer).unwrap().into(),
                signature: signature.try_into().unwrap(),
            };
            bundle = bundle.with_signed(signed).unwrap();
        }
        assert_eq!(bundle.to_vec(), data);
        let checked = Bundle::decode(&data).unwrap().check().unwrap();
        assert_eq!(checked.batch(), Some(&built.batch));
        assert_eq!(*checked.commitment(), built.commitment());
        assert_eq!(BehaviorBatch::decode(&built.batch_bytes), Ok(built.batch));
    }
}

#[test]
fn overflows_ok() {
    let empty = build(&vectors("batches.json")["built"][0]).batch;
    for item in list(&vectors("batches.json")["overflows"]) {
        let bid = |i: u64| Bid {
            conversation: ConversationId(u128::from(i).to_be_bytes()),
            counterparty: AgentId([0xb2; 32]),
            value: i.into(),
            slot: Slot(i / 3),
            message: {
                let mut message = [0; 32];
                message[24..].copy_from_slice(&i.to_be_bytes());
                message
            },
        };
        let records = (0..uint(&item["bids"])).flat_map(|i| Record::Bid(bid(i)).to_bytes()).collect();
        let front = BehaviorBatch { epoch_number: Epoch(0), ..empty.clone() };
        let built = Built::new(front, records, vec![]).unwrap();
        assert_eq!(built.batch.overflow, item["overflow"].as_bool().unwrap());
        assert_eq!(built.batch.overflow_data_hash, array::<32>(&item["overflow_data_hash"]));
        assert_eq!(built.batch.arrays_root, array::<32>(&item["arrays_root"]));
        assert_eq!(built.batch_bytes.len() as u64, uint(&item["batch_len"]));
        assert_eq!(built.batch_hash, array::<32>(&item["batch_hash"]));
    }
}

fn event(item: &Value) -> Event {
    let flag = |name: &str| item[name].as_bool().unwrap();
    Event {
        rating: Rating {
            score: item["score"].as_i64().unwrap().try_into().unwrap(),
            outcome: small(&item["outcome"]),
            role: small(&item["role"]),
            is_dispute: flag("is_dispute"),
        },
        from: id(&item["from"]),
        conversation: id(&item["conversation"]),
        slot: Slot(uint(&item["slot"])),
        in_batch: flag("in_batch"),
        envelope_at_hand: flag("envelope_at_hand"),
        binding: item["binding"].as_str().map(|binding| match binding {
            "selection" => Binding::Selection,
            "verifier" => Binding::Verifier,
            _ => Binding::Contract,
        }),
    }
}

fn scores(state: &State) -> Value {
    let vector = state.vector();
    json!({
        "reliability_score": vector.reliability_score,
        "cooperation_index": vector.cooperation_index,
        "notary_accuracy": vector.notary_accuracy,
        "total_tasks": vector.total_tasks,
        "total_notarized": vector.total_notarized,
        "total_disputes": vector.total_disputes,
        "batches": vector.batches,
        "last_active_slot": vector.last_active_slot.0,
    })
}

/// The states and later scores that follow from an item's batches, in the vectors' form.
pub(crate) fn live(batches: &Value, later: &[u64]) -> Value {
    let mut ledger = Ledger::default();
    let mut states = Vec::new();
    for item in batches.as_array().unwrap() {
        let batch = BatchFacts {
            epoch: Epoch(uint(&item["epoch"])),
            tenure: small(&item["tenure"]),
            slot_end: Slot(uint(&item["slot_end"])),
            message_count: small(&item["message_count"]),
            disputes: small(&item["disputes"]),
        };
        let events: Vec<_> = item["events"].as_array().unwrap().iter().map(event).collect();
        ledger.apply_batch(&batch, &events).unwrap();
        let Turn { counted, apart, tally } = ledger.turn(batch.tenure);
        states.push(json!({
            "counted": scores(&counted),
            "apart": scores(&apart),
            "tally": {
                "bound": tally.bound,
                "left_out": tally.left_out,
                "unbound": tally.unbound,
                "repeated": tally.repeated,
            },
        }));
    }
    let last = ledger.turns().last().unwrap().1.counted;
    let later = later.iter().map(|epoch| json!({"epoch": epoch, "counted": scores(&last.at(Epoch(*epoch)))}));
    let later: Vec<_> = later.collect();
    json!({"batches": batches, "states": states, "later": later})
}

#[test]
fn lives_ok() {
    for item in list(&vectors("reputation.json")["reputations"]) {
        let later: Vec<_> = list(&item["later"]).iter().map(|later| uint(&later["epoch"])).collect();
        assert_eq!(live(&item["batches"], &later), *item);
    }
}

#[test]
fn uncovered_epochs_ok() {
    for item in list(&vectors("reputation.json")["uncovered"]) {
        let batches = item["batches"].as_array().unwrap().iter();
        let batches = batches.map(|pair| Covered { from: Epoch(uint(&pair[0])), to: Epoch(uint(&pair[1])) });
        assert_eq!(uncovered(Epoch(uint(&item["first"])), batches), uint(&item["uncovered"]));
    }
}
