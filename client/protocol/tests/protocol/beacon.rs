use crate::common::{array, bytes, id, list, uint, vectors};
use proptest::prelude::*;
use zx1_protocol::beacon::{Beacon, BeaconError};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::interaction::{interaction_hash, task_ref};
use zx1_protocol::payload::{
    BidPayload, accept_payload, append_presignature, bid_payload, bid_payload_with_hint, bid_value,
    split_accept_presignature, split_presignature,
};
use zx1_protocol::units::Slot;

#[test]
fn the_beacons_of_the_vectors_ok() {
    for item in list(&vectors("beacons.json")["beacons"]) {
        let packed = bytes(&item["bytes"]);
        let beacon = Beacon::parse(&packed).unwrap();
        assert_eq!(beacon.agent_id, id(&item["agent_id"]));
        assert_eq!(beacon.verifying_key, id(&item["verifying_key"]));
        assert_eq!((beacon.name, beacon.to_bytes()), (item["name"].as_str().unwrap(), packed.clone()));
    }
}

#[test]
fn the_interactions_of_the_vectors_ok() {
    for item in list(&vectors("beacons.json")["interactions"]) {
        let (conversation, slot) = (id(&item["conversation_id"]), Slot(uint(&item["slot_accepted"])));
        let hash = interaction_hash::<Sha3>(&conversation, &id(&item["counterparty"]), slot);
        assert_eq!(hash, array::<32>(&item["interaction_hash"]));
        assert_eq!(task_ref(&conversation), array::<32>(&item["task_ref"]));
    }
}

#[test]
fn the_task_ref_is_what_satis_vectors_use() {
    let path = crate::common::vectors_dir().join("sati/hashes.json");
    let given: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let given: [u8; 32] = array(&given["task_ref"]);
    assert_eq!(task_ref(&ConversationId(*given.first_chunk().unwrap())), given);
}

#[test]
fn a_beacons_key_counts_only_when_three_things_agree() {
    let (agent, stranger) = (AgentId([1; 32]), AgentId([3; 32]));
    let [key, other] = [[2; 32], [3; 32]].map(WalletKey::from);
    let beacon = Beacon { agent_id: agent, verifying_key: key, name: "" };
    assert_eq!(beacon.check(agent, key, &[other, key]), Ok(()));
    assert_eq!(beacon.check(stranger, key, &[key]), Err(BeaconError::OtherAgent));
    assert_eq!(beacon.check(agent, other, &[key, other]), Err(BeaconError::OtherKey));
    assert_eq!(beacon.check(agent, key, &[other]), Err(BeaconError::KeyNotOnChain));
    assert_eq!(beacon.check(agent, key, &[]), Err(BeaconError::KeyNotOnChain));
}

#[test]
fn a_presignature_never_reaches_into_the_bids_value() {
    let signature = [9; 64];
    let payload = accept_payload(-5, b"", &signature);
    assert_eq!(split_accept_presignature(&payload), Some((&payload[..16], &signature)));
    assert_eq!(split_accept_presignature(&payload[1..]), None);
    assert!(split_presignature(&payload[1..]).is_some());
    assert_eq!(split_presignature(&[0; 63]), None);
}

proptest! {
    #[test]
    fn a_presignature_comes_back(value: i128, content in prop::collection::vec(any::<u8>(), 0..50), signature: [u8; 32]) {
        let signature: [u8; 64] = [signature, signature].concat().try_into().unwrap();
        let payload = accept_payload(value, &content, &signature);
        let (rest, found) = split_accept_presignature(&payload).unwrap();
        prop_assert_eq!((bid_value(&payload), &rest[16..], found), (value, &content[..], &signature));
        prop_assert_eq!(append_presignature(bid_payload(value, &content), &signature), payload);
        let appended = append_presignature(content.clone(), &signature);
        prop_assert_eq!(split_presignature(&appended), Some((&content[..], &signature)));
    }

    #[test]
    fn a_bid_payload_comes_apart(value: i128, content in prop::collection::vec(any::<u8>(), 0..50)) {
        let payload = bid_payload_with_hint(value, b"JSON", &content);
        let parsed = BidPayload { value, hint: Some(b"JSON"), content: &content };
        prop_assert_eq!(BidPayload::parse(&payload), parsed);
        for len in 0..payload.len().min(20) {
            let cut = BidPayload::parse(&payload[..len]);
            prop_assert_eq!((cut.value, cut.hint), (bid_value(&payload[..len]), None));
        }
    }

    #[test]
    fn noise_is_a_beacon_exactly_when_its_name_is_text(noise in prop::collection::vec(any::<u8>(), 0..90)) {
        match Beacon::parse(&noise) {
            Ok(beacon) => prop_assert_eq!(beacon.to_bytes(), noise),
            Err(BeaconError::TooShort) => prop_assert!(noise.len() < 64),
            Err(error) => {
                prop_assert_eq!(error, BeaconError::NameNotUtf8);
                prop_assert!(String::from_utf8(noise[64..].to_vec()).is_err());
            }
        }
    }
}
