use crate::common::{message, record};
use crate::harness::{damage, damaged};
use proptest::prelude::*;
use zx1_protocol::evidence::{
    Evidence, EvidenceError, KIND_DOUBLE_BID, KIND_LOG_ENTRY, LogEvidence, ProvenBid,
};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::merkle::{MerkleError, Tree};
use zx1_protocol::record::{BID_LEN, Bid, Record};
use zx1_protocol::units::Slot;

fn proof() -> impl Strategy<Value = Vec<Hash>> {
    prop::collection::vec(any::<Hash>(), 0..21)
}

fn noise(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

fn bid(value: i128) -> [u8; BID_LEN] {
    let (conversation, counterparty) = (ConversationId([1; 16]), AgentId([2; 32]));
    let bid = Bid { conversation, counterparty, value, slot: Slot(3), message: [4; 32] };
    Record::Bid(bid).to_bytes().try_into().unwrap()
}

#[test]
fn parts_that_do_not_fit_their_length_fields_are_not_written() {
    let good = LogEvidence { leaf_index: 0, proof: &[], entry: b"entry", shown_payload: None };
    assert!(Evidence::LogEntry(good).to_bytes().is_some());
    let (long, deep) = (vec![0; 65_536], vec![[0; 32]; 256]);
    for bad in [
        LogEvidence { entry: &long, ..good },
        LogEvidence { shown_payload: Some(&long), ..good },
        LogEvidence { proof: &deep, ..good },
    ] {
        assert_eq!(Evidence::LogEntry(bad).to_bytes(), None);
    }
    let most = LogEvidence { proof: &deep[1..], entry: &long[1..], ..good };
    let bytes = Evidence::LogEntry(most).to_bytes().unwrap();
    assert_eq!(Evidence::parse(&bytes), Ok(Evidence::LogEntry(most)));
}

#[test]
fn a_shown_empty_payload_is_not_the_same_as_none() {
    let hidden = LogEvidence { leaf_index: 0, proof: &[], entry: b"entry", shown_payload: None };
    let shown = LogEvidence { shown_payload: Some(&[]), ..hidden };
    let (hidden, shown) = (Evidence::LogEntry(hidden), Evidence::LogEntry(shown));
    assert_ne!(hidden.to_bytes(), shown.to_bytes());
    assert_eq!(Evidence::parse(&shown.to_bytes().unwrap()), Ok(shown));
}

#[test]
fn a_selection_is_no_bid() {
    let mut record = bid(1);
    record[0] = 2;
    assert_eq!(ProvenBid::new(&record, 0, &[]), Err(EvidenceError::NotABid));
}

#[test]
fn a_double_bid_is_proven_under_the_arrays_root() {
    let records: Vec<[u8; BID_LEN]> = (0..5).map(bid).collect();
    let tree = Tree::<Sha3>::of_entries(&records).unwrap();
    let (first, last) = (tree.proof_of_entry(0).unwrap(), tree.proof_of_entry(4).unwrap());
    let a = ProvenBid::new(&records[0], first.index, &first.path).unwrap();
    let b = ProvenBid::new(&records[4], last.index, &last.path).unwrap();
    let bytes = Evidence::DoubleBid(a, b).to_bytes().unwrap();
    let Ok(Evidence::DoubleBid(a, b)) = Evidence::parse(&bytes) else { panic!("not a double bid") };
    assert_eq!((a.verify::<Sha3>(&tree.root(), 5), b.verify::<Sha3>(&tree.root(), 5)), (Ok(()), Ok(())));
    assert_eq!((a.bid.value, b.bid.value), (0, 4));
    let swapped = ProvenBid { leaf_index: b.leaf_index, ..a };
    assert_eq!(swapped.verify::<Sha3>(&tree.root(), 5), Err(MerkleError::RootMismatch));
}

proptest! {
    #[test]
    fn log_evidence_comes_back(index: u32, proof in proof(), entry in noise(400), shown in prop::option::of(noise(450))) {
        let evidence = Evidence::LogEntry(LogEvidence {
            leaf_index: index, proof: &proof, entry: &entry, shown_payload: shown.as_deref(),
        });
        let bytes = evidence.to_bytes().unwrap();
        prop_assert_eq!(Evidence::parse(&bytes), Ok(evidence));
        prop_assert_eq!((bytes[0], evidence.kind()), (KIND_LOG_ENTRY, KIND_LOG_ENTRY));
        for len in 1..bytes.len() {
            prop_assert_eq!(Evidence::parse(&bytes[..len]), Err(EvidenceError::Truncated));
        }
        let longer = [&bytes[..], &[0]].concat();
        prop_assert_eq!(Evidence::parse(&longer), Err(EvidenceError::TrailingBytes));
    }

    #[test]
    fn a_double_bid_comes_back(a: i128, b: i128, places: (u32, u32), proofs in (proof(), proof())) {
        let records = (bid(a), bid(b));
        let evidence = Evidence::DoubleBid(
            ProvenBid::new(&records.0, places.0, &proofs.0).unwrap(),
            ProvenBid::new(&records.1, places.1, &proofs.1).unwrap(),
        );
        let bytes = evidence.to_bytes().unwrap();
        prop_assert_eq!(Evidence::parse(&bytes), Ok(evidence));
        prop_assert_eq!((bytes[0], evidence.kind()), (KIND_DOUBLE_BID, KIND_DOUBLE_BID));
    }

    #[test]
    fn a_log_entry_is_proven_where_it_stands(messages in prop::collection::vec(message(), 1..12), pick: prop::sample::Index) {
        let entries: Vec<_> =
            messages.iter().map(|message| LogEntry::of(&message.envelope()).to_cbor::<Sha3>().unwrap()).collect();
        let tree = Tree::<Sha3>::of_entries(&entries).unwrap();
        let entry = pick.index(entries.len());
        let proof = tree.proof_of_entry(u32::try_from(entry).unwrap()).unwrap();
        let evidence = LogEvidence {
            leaf_index: proof.index, proof: &proof.path, entry: &entries[entry], shown_payload: None,
        };
        let bytes = Evidence::LogEntry(evidence).to_bytes().unwrap();
        let Ok(Evidence::LogEntry(parsed)) = Evidence::parse(&bytes) else { panic!("not a log entry") };
        prop_assert_eq!(parsed.verify::<Sha3>(&tree.root(), tree.len()), Ok(()));
        prop_assert!(LogEntry::decode::<Sha3>(parsed.entry).is_ok());
        prop_assert!(parsed.verify::<Sha3>(&[1; 32], tree.len()).is_err());
    }

    #[test]
    fn damaged_evidence_is_refused_or_other_evidence(
        record in record(), proof in proof(), double: bool, harm in prop::collection::vec(damage(), 1..4),
    ) {
        let (entry, first) = (record.to_bytes(), bid(7));
        let evidence = if double {
            let proven = ProvenBid::new(&first, 1, &proof).unwrap();
            Evidence::DoubleBid(proven, proven)
        } else {
            Evidence::LogEntry(LogEvidence { leaf_index: 1, proof: &proof, entry: &entry, shown_payload: Some(&first) })
        };
        let bytes = damaged(&evidence.to_bytes().unwrap(), &harm);
        if let Ok(other) = Evidence::parse(&bytes) {
            prop_assert_eq!(other.to_bytes(), Some(bytes));
        }
    }

    #[test]
    fn noise_never_panics(noise in noise(400)) {
        if let Ok(evidence) = Evidence::parse(&noise) {
            prop_assert_eq!(evidence.to_bytes(), Some(noise));
        }
    }

    #[test]
    fn parsing_copies_nothing(proof in proof(), entry in noise(100)) {
        let evidence = LogEvidence { leaf_index: 0, proof: &proof, entry: &entry, shown_payload: None };
        let bytes = Evidence::LogEntry(evidence).to_bytes().unwrap();
        let Ok(Evidence::LogEntry(parsed)) = Evidence::parse(&bytes) else { panic!("not a log entry") };
        let within = bytes.as_ptr_range();
        prop_assert!(proof.is_empty() || within.contains(&parsed.proof.as_ptr().cast()));
        prop_assert!(entry.is_empty() || within.contains(&parsed.entry.as_ptr()));
    }
}
