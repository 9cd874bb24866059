//! The payloads on which the mesh's nodes agree, and contexts.

use crate::common::{array, bytes, key, list, message, small, vectors};
use crate::harness::{damage, damaged};
use proptest::prelude::*;
use serde_json::Value;
use zx1_protocol::context::{Context, ContextError, MAX_CONTEXT_ENVELOPES, MAX_CONTEXT_LEN};
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::mesh_payload::{Advertise, Discover, Dispute, HINT, MeshPayloadError, Offer, Verdict};
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::{Candidate, Reason};

/// Fields of which each type takes its own.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    caps: Vec<String>,
    texts: [String; 3],
    contract: Option<String>,
    amount: i128,
    number: u32,
    hash: [u8; 32],
    outcome: u8,
}

pub(crate) fn sample() -> impl Strategy<Value = Sample> {
    let texts = ["\\PC{0,60}", "[a-z0-9]{1,32}", "\\PC{0,200}"];
    let number = (any::<u32>(), 0u32..32).prop_map(|(number, shift)| number >> shift);
    (
        prop::collection::vec("\\PC{1,16}", 1..=16),
        texts,
        proptest::option::of("https://[a-z]{1,40}#[0-9a-f]{16}"),
        (0..=i128::MAX, 0u32..127).prop_map(|(amount, shift)| amount >> shift),
        number,
        any::<[u8; 32]>(),
        0u8..=2,
    )
        .prop_map(|(caps, texts, contract, amount, number, hash, outcome)| Sample {
            caps,
            texts,
            contract,
            amount,
            number,
            hash,
            outcome,
        })
}

impl Sample {
    fn caps(&self) -> Vec<&str> {
        self.caps.iter().map(String::as_str).collect()
    }

    fn advertise(&self) -> Advertise<'_> {
        Advertise {
            caps: self.caps(),
            schema: &self.texts[0],
            unit: &self.texts[1],
            price: self.amount,
            contract: self.contract.as_deref(),
            ttl: self.number,
        }
    }

    fn discover(&self) -> Discover<'_> {
        Discover { want: self.caps(), max: self.number }
    }

    fn offer(&self) -> Offer<'_> {
        Offer { fee: self.amount, unit: &self.texts[1], seconds: self.number.max(1) }
    }

    fn verdict(&self) -> Verdict<'_> {
        Verdict { outcome: self.outcome, deliver: self.hash, reason: &self.texts[2] }
    }

    fn dispute(&self) -> Dispute<'_> {
        Dispute { verdict: self.hash, reason: &self.texts[2] }
    }

    pub(crate) fn to_payload(&self, what: &str) -> Vec<u8> {
        match what {
            "advertise" => self.advertise().to_payload(),
            "discover" => self.discover().to_payload(),
            "offer" => self.offer().to_payload(),
            "verdict" => self.verdict().to_payload(),
            "dispute" => self.dispute().to_payload(),
            other => panic!("{other} is none of the mesh's payloads"),
        }
        .unwrap()
    }

    /// The fields as the Python side has them.
    pub(crate) fn fields(&self, what: &str) -> Value {
        let mut fields = match what {
            "advertise" => serde_json::json!({
                "caps": self.caps, "schema": self.texts[0], "unit": self.texts[1],
                "price": self.amount.to_string(), "ttl": self.number,
            }),
            "discover" => serde_json::json!({"want": self.caps, "max": self.number}),
            "offer" => serde_json::json!({
                "fee": self.amount.to_string(), "unit": self.texts[1], "seconds": self.number.max(1),
            }),
            "verdict" => serde_json::json!({
                "outcome": self.outcome, "deliver": hex::encode(self.hash), "reason": self.texts[2],
            }),
            _ => serde_json::json!({"verdict": hex::encode(self.hash), "reason": self.texts[2]}),
        };
        if let ("advertise", Some(contract)) = (what, &self.contract) {
            fields["contract"] = contract.clone().into();
        }
        fields
    }
}

pub(crate) const KINDS: [&str; 5] = ["advertise", "discover", "offer", "verdict", "dispute"];

/// A context of some bytes that need not be envelopes.
pub(crate) fn context() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..6).prop_map(|envelopes| {
        Context { envelopes: envelopes.iter().map(Vec::as_slice).collect() }.to_payload().unwrap()
    })
}

/// What a reader says: "Ok" or the name of the refusal.
fn verdict_on(what: &str, data: &[u8]) -> String {
    fn word<T>(found: Result<T, impl std::fmt::Debug>) -> String {
        found.map_or_else(|error| format!("{error:?}"), |_| "Ok".to_owned())
    }
    match what {
        "advertise" => word(Advertise::decode(data)),
        "discover" => word(Discover::decode(data)),
        "offer" => word(Offer::decode(data)),
        "verdict" => word(Verdict::decode(data)),
        "dispute" => word(Dispute::decode(data)),
        _ => word(Context::decode(data)),
    }
}

fn texts(value: &Value) -> Vec<&str> {
    list(value).iter().map(|text| text.as_str().unwrap()).collect()
}

fn amount(value: &Value) -> i128 {
    value.as_str().unwrap().parse().unwrap()
}

#[test]
fn the_mesh_payloads_of_the_vectors_ok() {
    let items = vectors("mesh_payloads.json");
    for item in list(&items["mesh_payloads"]) {
        let (fields, payload) = (&item["fields"], bytes(&item["payload"]));
        let text = |name: &str| fields[name].as_str().unwrap();
        let made = match item["what"].as_str().unwrap() {
            "advertise" => {
                let advert = Advertise {
                    caps: texts(&fields["caps"]),
                    schema: text("schema"),
                    unit: text("unit"),
                    price: amount(&fields["price"]),
                    contract: fields.get("contract").map(|it| it.as_str().unwrap()),
                    ttl: small(&fields["ttl"]),
                };
                assert_eq!(Advertise::decode(&payload).as_ref(), Ok(&advert));
                advert.to_payload()
            }
            "discover" => {
                let search = Discover { want: texts(&fields["want"]), max: small(&fields["max"]) };
                assert_eq!(Discover::decode(&payload).as_ref(), Ok(&search));
                search.to_payload()
            }
            "offer" => {
                let (fee, seconds) = (amount(&fields["fee"]), small(&fields["seconds"]));
                let offer = Offer { fee, unit: text("unit"), seconds };
                assert_eq!(Offer::decode(&payload), Ok(offer));
                offer.to_payload()
            }
            "verdict" => {
                let (outcome, deliver) = (small(&fields["outcome"]), array(&fields["deliver"]));
                let verdict = Verdict { outcome, deliver, reason: text("reason") };
                assert_eq!(Verdict::decode(&payload), Ok(verdict));
                verdict.to_payload()
            }
            _ => {
                let dispute = Dispute { verdict: array(&fields["verdict"]), reason: text("reason") };
                assert_eq!(Dispute::decode(&payload), Ok(dispute));
                dispute.to_payload()
            }
        };
        assert_eq!(made, Ok(payload));
    }
}

#[test]
fn the_contexts_of_the_vectors_ok() {
    for item in list(&vectors("mesh_payloads.json")["contexts"]) {
        let (envelopes, payload) = (list(&item["envelopes"]), bytes(&item["payload"]));
        let envelopes: Vec<Vec<u8>> = envelopes.iter().map(bytes).collect();
        let context = Context { envelopes: envelopes.iter().map(Vec::as_slice).collect() };
        assert_eq!(Context::decode(&payload).as_ref(), Ok(&context));
        assert_eq!(context.to_payload(), Ok(payload.clone()));
        if item["name"] == "deal" {
            assert!(context.envelopes.iter().all(|bytes| Envelope::decode(bytes).is_ok()));
            assert_eq!(Context::split(&context.envelopes), Ok(vec![payload]));
        }
    }
}

#[test]
fn the_verdicts_on_mesh_payloads_are_those_of_the_vectors() {
    let items = vectors("mesh_payloads.json");
    let verdicts = list(&items["verdicts"]);
    assert!(verdicts.len() > 100);
    for item in verdicts {
        let found = verdict_on(item["what"].as_str().unwrap(), &bytes(&item["bytes"]));
        assert_eq!(found, item["verdict"].as_str().unwrap(), "{} {}", item["what"], item["name"]);
    }
}

#[test]
fn what_a_reader_would_refuse_is_not_written() {
    let long = "x".repeat(1_025);
    let advert = Advertise { caps: vec!["a"], schema: "", unit: "raw", price: 0, contract: None, ttl: 0 };
    let cases = [
        (Advertise { caps: vec![], ..advert.clone() }, MeshPayloadError::Count),
        (Advertise { caps: vec!["a"; 17], ..advert.clone() }, MeshPayloadError::Count),
        (Advertise { caps: vec![""], ..advert.clone() }, MeshPayloadError::TextLength),
        (Advertise { unit: "", ..advert.clone() }, MeshPayloadError::TextLength),
        (Advertise { schema: &long, ..advert.clone() }, MeshPayloadError::TextLength),
        (Advertise { contract: Some(""), ..advert.clone() }, MeshPayloadError::TextLength),
        (Advertise { price: -1, ..advert }, MeshPayloadError::Amount),
    ];
    for (advert, error) in cases {
        assert_eq!(advert.to_payload(), Err(error));
    }
    let verdict = Verdict { outcome: 3, deliver: [0; 32], reason: "" };
    assert_eq!(verdict.to_payload(), Err(MeshPayloadError::Outcome));
    let dispute = Dispute { verdict: [0; 32], reason: &long };
    assert_eq!(dispute.to_payload(), Err(MeshPayloadError::TextLength));
    let offer = Offer { fee: 1, unit: "raw", seconds: 0 };
    assert_eq!(offer.to_payload(), Err(MeshPayloadError::Seconds));
}

#[test]
fn a_context_is_filled_up_to_its_bound_and_split_beyond() {
    let longest = vec![7; MAX_CONTEXT_LEN - 4 - 1 - 3];
    let one = Context { envelopes: vec![&longest] }.to_payload().unwrap();
    assert_eq!((one.len(), Context::decode(&one).unwrap().envelopes.len()), (MAX_CONTEXT_LEN, 1));
    let more = [longest.as_slice(), &[0]].concat();
    assert_eq!(Context { envelopes: vec![&more] }.to_payload(), Err(ContextError::TooLong));
    assert_eq!(Context::decode(&[&one[..], &[0]].concat()), Err(ContextError::TooLong));
    assert_eq!(Context::split(&[&more]), Err(ContextError::EnvelopeTooLong));
    assert_eq!(Context::split(&[]), Ok(Vec::new()));
    let small = [1_u8; 10];
    let parts = Context::split(&vec![&small[..]; 600]).unwrap();
    let counts: Vec<_> = parts.iter().map(|part| Context::decode(part).unwrap().envelopes.len()).collect();
    assert_eq!(counts, [MAX_CONTEXT_ENVELOPES, MAX_CONTEXT_ENVELOPES, 600 - 2 * MAX_CONTEXT_ENVELOPES]);
}

proptest! {
    #[test]
    fn mesh_payloads_come_back(sample in sample()) {
        let [advertise, discover, offer, verdict, dispute] = KINDS.map(|kind| sample.to_payload(kind));
        prop_assert_eq!(Advertise::decode(&advertise), Ok(sample.advertise()));
        prop_assert_eq!(Discover::decode(&discover), Ok(sample.discover()));
        prop_assert_eq!(Offer::decode(&offer), Ok(sample.offer()));
        prop_assert_eq!(Verdict::decode(&verdict), Ok(sample.verdict()));
        prop_assert_eq!(Dispute::decode(&dispute), Ok(sample.dispute()));
    }

    /// ciborium reads the same map, and its keys stand in canonical order.
    #[test]
    fn ciborium_reads_the_same_map(sample in sample(), kind in prop::sample::select(KINDS.to_vec())) {
        let payload = sample.to_payload(kind);
        let map = payload.strip_prefix(HINT).unwrap();
        let read: ciborium::Value = ciborium::from_reader(map).unwrap();
        let keys: Vec<_> = read.as_map().unwrap().iter().map(|(key, _)| key.as_text().unwrap()).collect();
        let mut sorted = keys.clone();
        sorted.sort_by_key(|key| (key.len(), key.to_owned()));
        prop_assert_eq!(&keys, &sorted);
        let mut written = Vec::new();
        ciborium::into_writer(&read, &mut written).unwrap();
        prop_assert_eq!(written, map);
    }

    #[test]
    fn damaged_payloads_are_refused_or_the_one_encoding_of_another(
        sample in sample(), kind in prop::sample::select(KINDS.to_vec()), harm in prop::collection::vec(damage(), 1..4),
    ) {
        let bytes = damaged(&sample.to_payload(kind), &harm);
        crate::bodies::payload_advertise(&bytes);
        crate::bodies::payload_discover(&bytes);
        crate::bodies::payload_offer(&bytes);
        crate::bodies::payload_verdict(&bytes);
        crate::bodies::payload_dispute(&bytes);
        crate::bodies::payload_context(&bytes);
    }

    #[test]
    fn a_split_conversation_comes_back_in_order(
        envelopes in prop::collection::vec((0usize..9_000, any::<u8>()), 0..40),
    ) {
        let envelopes: Vec<Vec<u8>> = envelopes.into_iter().map(|(len, byte)| vec![byte; len]).collect();
        let borrowed: Vec<&[u8]> = envelopes.iter().map(Vec::as_slice).collect();
        let parts = Context::split(&borrowed).unwrap();
        let back: Vec<&[u8]> =
            parts.iter().flat_map(|part| Context::decode(part).unwrap().envelopes).collect();
        prop_assert_eq!(back, borrowed);
        prop_assert!(parts.iter().all(|part| part.len() <= MAX_CONTEXT_LEN));
    }

    /// What is shown later holds whatever its nonce and time are; the rest of the rules stand.
    #[test]
    fn evidence_is_judged_without_nonce_and_time(message in message()) {
        let cbor = message.envelope().to_cbor();
        let candidate = Candidate::parse(&cbor).unwrap();
        let key = crate::common::agent_key(&key());
        let parses = message.msg_type != MsgType::Feedback
            || zx1_protocol::payload::Feedback::decode(&message.payload).is_ok();
        let bid = message.msg_type != MsgType::NotarizeBid
            || zx1_protocol::payload::NotarizeBid::decode(&message.payload).is_ok();
        let found = candidate.evidence(&[key]);
        prop_assert_eq!(found.is_ok(), parses && bid, "{:?}", found);
        prop_assert_eq!(candidate.evidence(&[]).unwrap_err(), Reason::Signature);
        let epoch = Epoch::from_unix_micros(message.timestamp);
        if let Some(until) = epoch.0.checked_sub(1) {
            let ended = zx1_protocol::keys::AgentKey { until, ..key };
            prop_assert_eq!(candidate.evidence(&[ended]).unwrap_err(), Reason::KeyEpoch { epoch });
        }
    }
}
