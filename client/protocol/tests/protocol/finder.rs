use crate::common::{agent_key, key, verdict};
use crate::life::{AGENT, Logged, build, covered, life, rating_of, received, sent};
use proptest::prelude::*;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::{BatchFormatError, Built, Direction};
use zx1_protocol::bundle::BundleError;
use zx1_protocol::challenge::{Ground, claim32};
use zx1_protocol::derive::{DeriveError, double_bid, from_envelope, from_log_entry};
use zx1_protocol::envelope::{EnvelopeError, MsgType};
use zx1_protocol::evidence::Evidence;
use zx1_protocol::finder::{FinderError, Presence, answer, double_bids, find_envelope, find_log_entry};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::{AgentKey, Scopes};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::{leaf, verify};
use zx1_protocol::payload::bid_payload;
use zx1_protocol::record::{Bid, Record};
use zx1_protocol::units::{Epoch, Slot};

fn keys() -> [AgentKey; 1] {
    [agent_key(&key())]
}

/// The batch of the log without its `entry`-th record.
fn without_record(built: &Built, entry: u32) -> Built {
    let bundle = built.bundle().unwrap();
    let kept = bundle.packed_records().enumerate().filter(|(number, _)| *number != entry as usize);
    let records = kept.flat_map(|(_, packed)| packed.to_vec()).collect();
    Built::new(built.batch.clone(), records, built.leaves.clone()).unwrap()
}

#[test]
fn a_hidden_bid_is_found_and_a_told_one_is_answered() {
    let accept = sent(MsgType::Accept, &bid_payload(7, b"terms"), |_| {});
    let (entry, payload) = (accept.encoded(), &accept.message.payload[..]);
    let honest = build(std::slice::from_ref(&accept)).unwrap();
    let checked = honest.bundle().unwrap().check().unwrap();
    let finding = find_log_entry(&checked, &AGENT, &entry, Some(payload)).unwrap();
    let grounds: Vec<_> = finding.claims.iter().map(|claim| (claim.ground, claim.payload_shown)).collect();
    assert_eq!(grounds, [(Ground::Bid, true), (Ground::Selection, false)]);
    assert!(finding.claims.iter().all(|claim| claim.presence != Presence::Absent));

    let lying = without_record(&honest, 0);
    let checked = lying.bundle().unwrap().check().unwrap();
    let finding = find_log_entry(&checked, &AGENT, &entry, Some(payload)).unwrap();
    assert_eq!(finding.claims[0].presence, Presence::Absent);
    assert_ne!(finding.claims[1].presence, Presence::Absent);
    let evidence = finding.evidence(&finding.claims[0], &entry, Some(payload)).unwrap();
    let Ok(Evidence::LogEntry(evidence)) = Evidence::parse(&evidence) else { panic!("no log evidence") };
    let commitment = checked.commitment();
    assert_eq!(evidence.verify::<Sha3>(&commitment.log_merkle_root, commitment.log_len), Ok(()));
    assert_eq!(evidence.shown_payload, Some(payload));
    let selection = finding.evidence(&finding.claims[1], &entry, Some(payload)).unwrap();
    let Ok(Evidence::LogEntry(selection)) = Evidence::parse(&selection) else { panic!("no log evidence") };
    assert_eq!(selection.shown_payload, None);
    let expected = finding.claims[0].expected.record.to_bytes();
    assert_eq!(answer(&checked, &expected, true), None);
}

#[test]
fn a_batch_that_lies_about_its_counters_or_arrays_is_challenged_and_answered_all_the_same() {
    let accept = sent(MsgType::Accept, &bid_payload(7, b"terms"), |_| {});
    let (entry, payload) = (accept.encoded(), &accept.message.payload[..]);
    let honest = build(std::slice::from_ref(&accept)).unwrap();
    let hiding = without_record(&honest, 0);
    let counters = |built: &Built| {
        let mut lie = built.clone();
        lie.batch.message_count += 1;
        lie
    };
    let arrays = |built: &Built| {
        let mut lie = built.clone();
        lie.batch.task_selections[0].conversation.0[0] ^= 1;
        lie
    };
    type Lie<'a> = &'a dyn Fn(&Built) -> Built;
    let lies: [(Lie<'_>, BundleError); 2] =
        [(&counters, BundleError::Batch(BatchFormatError::Counters)), (&arrays, BundleError::Arrays)];
    for (lie, fault) in lies {
        for (told, presence) in [(&honest, false), (&hiding, true)] {
            let mut lie = lie(told);
            lie.batch_bytes = lie.batch.to_cbor();
            let commitment = lie.batch.commitment();
            let bundle = lie.bundle().unwrap();
            // It is not true, so it counts for nothing ...
            assert_eq!(bundle.check().err(), Some(fault));
            // ... and its records and log are those that the chain has, so both sides have their proofs.
            let checked = bundle.check_against(&commitment).unwrap();
            let finding = find_log_entry(&checked, &AGENT, &entry, Some(payload)).unwrap();
            assert_eq!(finding.claims[0].presence == Presence::Absent, presence);
            let evidence = finding.evidence(&finding.claims[0], &entry, Some(payload)).unwrap();
            let Ok(Evidence::LogEntry(evidence)) = Evidence::parse(&evidence) else { panic!("no evidence") };
            assert_eq!(evidence.verify::<Sha3>(&commitment.log_merkle_root, commitment.log_len), Ok(()));
            let expected = finding.claims[0].expected.record.to_bytes();
            assert_eq!(answer(&checked, &expected, true).is_none(), presence);
        }
    }
}

#[test]
fn a_false_value_is_found_only_with_the_payload() {
    let propose = sent(MsgType::Propose, &bid_payload(7, b""), |_| {});
    let honest = build(std::slice::from_ref(&propose)).unwrap();
    let Ok(Record::Bid(bid)) = Record::parse(&honest.records) else { panic!("no bid") };
    let records = Record::Bid(Bid { value: 8, ..bid }).to_bytes();
    let lying = Built::new(honest.batch.clone(), records, honest.leaves.clone()).unwrap();
    let checked = lying.bundle().unwrap().check().unwrap();
    let find = |payload| find_log_entry(&checked, &AGENT, &propose.encoded(), payload).unwrap().claims[0];
    assert!(matches!(
        find(None).presence,
        Presence::Present { entry: 0, record: Record::Bid(Bid { value: 8, .. }) }
    ));
    assert_eq!(find(Some(&propose.message.payload)).presence, Presence::Absent);
    // Two claims: the weak one, opened first, is not in the strong one's way.
    let (weak, strong) = (find(None).claim, find(Some(&propose.message.payload)).claim);
    assert_eq!(weak, claim32::<Sha3>(Ground::Bid, false, &bid.message));
    assert_eq!(strong, claim32::<Sha3>(Ground::Bid, true, &bid.message));
    assert_ne!(weak, strong);
    // Log entry and envelope make the same claim.
    let envelope = find_envelope(&checked, covered(), &AGENT, &propose.message.envelope(), &keys()).unwrap();
    assert_eq!(envelope.claims[0].claim, strong);
    // The same for the answerer: without the payload the value is its to give.
    let expected = Record::Bid(Bid { value: 0, ..bid }).to_bytes();
    assert_eq!(answer(&checked, &expected, false).unwrap().value, 8);
    assert_eq!(answer(&checked, &Record::Bid(bid).to_bytes(), true), None);
}

#[test]
fn a_deal_that_was_left_out_of_the_log_is_found_by_its_envelope() {
    let accept = sent(MsgType::Accept, &bid_payload(7, b""), |_| {});
    let envelope = accept.message.envelope();
    let built = build(&[]).unwrap();
    let checked = built.bundle().unwrap().check().unwrap();
    let entry = accept.encoded();
    assert_eq!(find_log_entry(&checked, &AGENT, &entry, None).err(), Some(FinderError::NotInLog));
    let finding = find_envelope(&checked, covered(), &AGENT, &envelope, &keys()).unwrap();
    assert_eq!((finding.signer, finding.in_log), (key().verifying_key().to_bytes().into(), None));
    assert_eq!(finding.claims.len(), 2);
    assert!(finding.claims.iter().all(|claim| claim.presence == Presence::Absent));

    let find = |covered, agent, envelope, keys: &[AgentKey]| {
        find_envelope(&checked, covered, agent, envelope, keys).err().unwrap()
    };
    let epoch = envelope.header.epoch();
    let later = Covered { from: Epoch(epoch.0 + 1), to: Epoch(epoch.0 + 2) };
    assert_eq!(find(later, &AGENT, &envelope, &keys()), FinderError::NotCovered { epoch });
    assert_eq!(find(covered(), &AGENT, &envelope, &[]), FinderError::Signature);
    // Neither a batch's signer nor a peer key makes an envelope count, nor a deal key outside its epochs.
    let [good] = keys();
    for bad in [
        AgentKey { scopes: Scopes::BATCH, ..good },
        AgentKey { scopes: Scopes(Scopes::PAY.0 | Scopes::BATCH.0 | Scopes::PEER.0), ..good },
        AgentKey { from: Epoch(epoch.0 + 1), ..good },
        AgentKey { until: epoch.0 - 1, ..good },
    ] {
        assert_eq!(find(covered(), &AGENT, &envelope, &[bad]), FinderError::Signature);
    }
    // One that ended in the epoch still does.
    let ended = AgentKey { scopes: Scopes::DEAL, until: epoch.0, ..good };
    assert!(find_envelope(&checked, covered(), &AGENT, &envelope, &[ended]).is_ok());
    assert_eq!(
        find(covered(), &AgentId([1; 32]), &envelope, &keys()),
        FinderError::NoClaim(DeriveError::NotAgentsEntry)
    );
    let other = zx1_protocol::envelope::Envelope { payload: &[0; 16], ..envelope };
    assert_eq!(find(covered(), &AGENT, &other, &keys()), FinderError::Entry(EnvelopeError::PayloadHash));
    let deliver = sent(MsgType::Deliver, b"", |_| {});
    let no_ground = FinderError::NoClaim(DeriveError::NoGround);
    assert_eq!(find(covered(), &AGENT, &deliver.message.envelope(), &keys()), no_ground);
}

#[test]
fn why_an_entry_is_of_no_use_is_said() {
    let log = [
        sent(MsgType::Propose, &bid_payload(7, b""), |_| {}),
        received(MsgType::Feedback, &rating_of(AgentId([9; 32])).to_cbor().unwrap(), |_| {}),
        received(MsgType::Feedback, b"noise", |_| {}),
        received(MsgType::Accept, b"", |_| {}),
        sent(MsgType::Deliver, b"", |_| {}),
    ];
    let built = build(&log).unwrap();
    let checked = built.bundle().unwrap().check().unwrap();
    for (logged, payload, error) in [
        (&log[0], Some(&b"other"[..]), DeriveError::PayloadHashMismatch),
        (&log[1], None, DeriveError::FeedbackAboutAnother),
        (&log[2], None, DeriveError::FeedbackUnparsable),
        (&log[3], None, DeriveError::NotAgentsEntry),
        (&log[4], None, DeriveError::NoGround),
    ] {
        let found = find_log_entry(&checked, &AGENT, &logged.encoded(), payload);
        assert_eq!(found.err(), Some(FinderError::NoClaim(error)));
    }
    let found = find_log_entry(&checked, &AGENT, b"\x80", None);
    assert_eq!(found.err(), Some(FinderError::Entry(EnvelopeError::Malformed)));
}

#[test]
fn every_contradicted_bid_is_in_a_pair() {
    let bid = |message: u8, slot, value| {
        let bid = Bid {
            // Conversation and counterparty say nothing.
            conversation: ConversationId([7; 16]),
            counterparty: AgentId([2; 32]),
            value,
            slot: Slot(slot),
            message: [message; 32],
        };
        Record::Bid(bid).to_bytes()
    };
    let rows = [(1, 1, 5), (2, 1, 5), (1, 1, 5), (1, 1, -5), (1, 2, 9), (4, 2, 5), (3, 2, 6)];
    let records = rows.iter().flat_map(|(message, slot, value)| bid(*message, *slot, *value)).collect();
    let built = Built::new(build(&[]).unwrap().batch, records, vec![]).unwrap();
    let checked = built.bundle().unwrap().check().unwrap();
    let pairs: Vec<_> = double_bids(&checked).collect();
    let found: Vec<_> = pairs
        .iter()
        .map(|pair| ((pair.a.entry, pair.b.entry), (pair.a.bid.value, pair.b.bid.value)))
        .collect();
    assert_eq!(found, [((3, 0), (-5, 5)), ((2, 4), (5, 9))]);
    for pair in pairs {
        let bytes = pair.evidence().unwrap();
        let Ok(Evidence::DoubleBid(a, b)) = Evidence::parse(&bytes) else { panic!("no double bid") };
        let commitment = checked.commitment();
        for bid in [a, b] {
            assert_eq!(bid.verify::<Sha3>(&commitment.arrays_root, commitment.arrays_len), Ok(()));
        }
        assert_eq!(double_bid(&a.bid, &b.bid), Ok(()));
        assert_eq!(pair.claim(), claim32::<Sha3>(Ground::DoubleBid, true, &[1; 32]));
    }
}

#[test]
fn a_double_bid_has_no_answer() {
    let built = build(&[]).unwrap();
    let checked = built.bundle().unwrap().check().unwrap();
    assert_eq!(answer(&checked, &[], true), None);
    assert_eq!(answer(&checked, &[0; 124], true), None);
}

/// Every obligation of a log, as the chain would derive it.
fn obligations(log: &[Logged]) -> Vec<(usize, Ground, zx1_protocol::derive::Expected)> {
    let mut all = Vec::new();
    for (number, logged) in log.iter().enumerate() {
        let envelope = logged.message.envelope();
        let entry = LogEntry::of(&envelope);
        for ground in [Ground::Bid, Ground::Selection, Ground::Verifier, Ground::Feedback] {
            let shown = Some(&logged.message.payload[..]).filter(|_| ground == Ground::Bid);
            for shown in [None, shown] {
                all.extend(
                    from_log_entry::<Sha3>(&entry, AGENT.as_bytes(), ground, shown)
                        .map(|it| (number, ground, it)),
                );
            }
            all.extend(
                from_envelope::<Sha3>(&envelope.signed_fields(), AGENT.as_bytes(), ground)
                    .map(|it| (number, ground, it)),
            );
        }
    }
    all
}

proptest! {
    #[test]
    fn an_honest_batch_answers_every_challenge(log in life()) {
        let built = build(&log).unwrap();
        let checked = built.bundle().unwrap().check().unwrap();
        prop_assert_eq!(double_bids(&checked).count(), 0);
        let (root, len) = (built.batch.arrays_root, built.batch.arrays_len);
        for (_, _, expected) in obligations(&log) {
            let answer = answer(&checked, &expected.record.to_bytes(), expected.value_known).unwrap();
            // As the program does it: fill the free fields, then prove.
            let filled = expected.with_free_fields(answer.value, &answer.attestation);
            let leaf = filled.leaf::<Sha3>();
            prop_assert_eq!(verify::<Sha3>(&root, len, answer.proof.index, &leaf, &answer.proof.path), Ok(()));
        }
    }

    #[test]
    fn the_finder_says_what_the_chain_would(log in life(), hide in any::<prop::sample::Index>()) {
        let honest = build(&log).unwrap();
        prop_assume!(honest.batch.arrays_len > 0);
        let hidden = hide.index(honest.batch.arrays_len as usize) as u32;
        let hidden_record = honest.bundle().unwrap().record(hidden).unwrap();
        let lying = without_record(&honest, hidden);
        let checked = lying.bundle().unwrap().check().unwrap();
        let mut missed = 0;
        for (number, ground, expected) in obligations(&log) {
            let logged = &log[number];
            let payload = Some(&logged.message.payload[..]).filter(|_| expected.value_known);
            let finding = find_log_entry(&checked, &AGENT, &logged.encoded(), payload).unwrap();
            prop_assert_eq!(checked.leaves()[finding.entry as usize], leaf::<Sha3>(&logged.encoded()));
            let claim = finding.claims.iter().find(|claim| claim.ground == ground).unwrap();
            prop_assert_eq!(claim.expected, expected);
            let named = claim32::<Sha3>(ground, expected.value_known, expected.record.message());
            prop_assert_eq!(claim.claim, named);
            let answer = answer(&checked, &expected.record.to_bytes(), expected.value_known);
            match claim.presence {
                Presence::Absent => {
                    prop_assert_eq!(&answer, &None);
                    missed += 1;
                    // Only the hidden record can be missing.
                    let (value, attestation) = match hidden_record {
                        Record::Bid(bid) => (bid.value, [0; 32]),
                        Record::Feedback(event) => (0, event.attestation),
                        _ => (0, [0; 32]),
                    };
                    prop_assert_eq!(expected.with_free_fields(value, &attestation), hidden_record);
                }
                Presence::Present { entry, record } => {
                    let answer = answer.unwrap();
                    prop_assert_eq!((answer.entry, answer.record), (entry, record));
                }
            }
        }
        // A record that is there twice hides nothing when one of them is gone.
        let same = |packed: &&[u8]| match (Record::parse(packed), hidden_record) {
            (Ok(Record::Feedback(a)), Record::Feedback(b)) => a.message == b.message,
            (record, hidden) => record == Ok(hidden),
        };
        let twins = honest.bundle().unwrap().packed_records().filter(same).count();
        prop_assert_eq!(missed > 0, twins == 1, "{:?}", hidden_record);
    }

    #[test]
    fn own_envelopes_are_found_in_an_honest_log(log in life()) {
        let built = build(&log).unwrap();
        let checked = built.bundle().unwrap().check().unwrap();
        for logged in log.iter().filter(|logged| logged.direction == Direction::Sent) {
            let found = find_envelope(&checked, covered(), &AGENT, &logged.message.envelope(), &keys());
            match found {
                Ok(found) => {
                    prop_assert!(found.in_log.is_some());
                    prop_assert!(found.claims.iter().all(|claim| claim.presence != Presence::Absent));
                }
                error => prop_assert_eq!(verdict(error), "NoClaim(NoGround)"),
            }
        }
    }
}
