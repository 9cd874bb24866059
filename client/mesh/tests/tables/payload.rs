use crate::support::*;
use proptest::prelude::*;
use serde_json::json;
use zx1_mesh::payload::{Shown, show};
use zx1_protocol::context::Context;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::mesh_payload::{Advertise, Discover, Dispute, Offer, Verdict};
use zx1_protocol::payload::{BidType, NotarizeBid};

fn shown(msg_type: MsgType, payload: &[u8]) -> serde_json::Value {
    serde_json::to_value(show(msg_type, payload)).unwrap()
}

#[test]
fn known_payloads_are_taken_apart() {
    let advert =
        Advertise { caps: vec!["rust"], schema: "", unit: "raw", price: 1 << 100, contract: None, ttl: 9 };
    assert_eq!(
        shown(MsgType::Advertise, &advert.to_payload().unwrap()),
        json!({"kind": "advertise", "caps": ["rust"], "schema": "", "unit": "raw",
            "price": (1_i128 << 100).to_string(), "ttl": 9})
    );
    let search = Discover { want: vec!["rust"], max: 3 }.to_payload().unwrap();
    assert_eq!(shown(MsgType::Discover, &search), json!({"kind": "discover", "want": ["rust"], "max": 3}));
    let verdict = Verdict { outcome: 1, deliver: [5; 32], reason: "so so" }.to_payload().unwrap();
    assert_eq!(
        shown(MsgType::Verdict, &verdict),
        json!({"kind": "verdict", "outcome": 1, "deliver": "05".repeat(32), "reason": "so so"})
    );
    let dispute = Dispute { verdict: [6; 32], reason: "" }.to_payload().unwrap();
    assert_eq!(
        shown(MsgType::Dispute, &dispute),
        json!({"kind": "dispute", "verdict": "06".repeat(32), "reason": ""})
    );
    assert_eq!(
        shown(MsgType::Propose, &bid(-5)),
        json!({"kind": "bid", "value": "-5", "content": hex::encode("JSON{}")})
    );
    let rated = shown(MsgType::Feedback, &rating(B, 1));
    assert_eq!(
        (&rated["kind"], &rated["target"], &rated["role"]),
        (&json!("feedback"), &json!(B), &json!(1))
    );
}

#[test]
fn an_offers_terms_are_read_or_shown_as_hex() {
    let terms = Offer { fee: 7, unit: "raw", seconds: 60 }.to_payload().unwrap();
    for (bid_type, terms, wanted) in [
        (
            BidType::Offer,
            &terms[..],
            json!({"kind": "offer", "conversation": TASK, "fee": "7", "unit": "raw", "seconds": 60}),
        ),
        (
            BidType::Offer,
            b"fee:5",
            json!({"kind": "opaque_offer", "conversation": TASK, "terms": hex::encode("fee:5")}),
        ),
        (BidType::Request, b"", json!({"kind": "request", "conversation": TASK, "terms": ""})),
    ] {
        let bid = NotarizeBid { bid_type, conversation_id: TASK, terms };
        assert_eq!(shown(MsgType::NotarizeBid, &bid.to_bytes()), wanted);
    }
}

#[test]
fn a_strangers_own_format_is_shown_as_hex_with_its_hint() {
    for (payload, hint) in [
        (&b"JSON{}"[..], json!("JSON")),
        (b"CBOR\xa0", json!("CBOR")),
        (b"\x1b[2J", json!(null)),
        (b"ab", json!(null)),
    ] {
        let found = shown(MsgType::Verdict, payload);
        assert_eq!((&found["kind"], &found["hex"]), (&json!("opaque"), &json!(hex::encode(payload))));
        assert_eq!(found.get("hint").cloned().unwrap_or_default(), hint);
    }
}

#[test]
fn a_context_is_shown_by_the_hashes_of_its_envelopes() {
    let envelope = message(1, MsgType::Propose, A, B, &bid(1));
    let payload = Context { envelopes: vec![&envelope] }.to_payload().unwrap();
    let hash = zx1_mesh::conversation::envelope_hash(&decode(&envelope));
    assert_eq!(show(MsgType::Deliver, &payload), Shown::Context { envelopes: vec![hex::encode(hash)] });
}

proptest! {
    #[test]
    fn every_payload_of_every_type_is_shown(
        msg_type in prop::sample::select(MsgType::ALL.to_vec()),
        hint in prop::sample::select(vec![&b""[..], b"CBOR", b"CTX1"]),
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let payload = [hint, &noise].concat();
        let found = show(msg_type, &payload);
        serde_json::to_string(&found).unwrap();
        if let Shown::Opaque { hex: text, .. } = found {
            prop_assert_eq!(hex::decode(text).unwrap(), payload);
        }
    }
}
