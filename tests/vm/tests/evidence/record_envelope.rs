//! record_envelope: the precompile checks the signature, the program reads what was signed.

use crate::common::{
    BID, CONVERSATION, COUNTERPARTY, DOUBLE_BID, FEEDBACK, Key, Message, SELECTION, SLOT, Scene, VERIFIER,
    bid_payload, keccak, only_event, refused, with_account,
};
use solana_instruction::Instruction;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::challenge::record_envelope;
use zx1_chain::pda;
use zx1_interface::accounts::RecordedEnvelope;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_interface::events::EnvelopeRecorded;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{
    Ed25519Entry, MAX_TRANSACTION, compute_limit, ed25519_custom, ed25519_instruction, ed25519_pair, sign,
};

const NONCE: u64 = 0xaabb_ccdd_0000_0001;

fn scene() -> (Scene, Key, Key) {
    let scene = Scene::new();
    let (owner, who) = (scene.owner.clone(), scene.challenger.clone());
    (scene, owner, who)
}

fn recording(who: &Key) -> Instruction {
    record_envelope(who.at(), BID, NONCE)
}

fn kept(scene: &Scene) -> RecordedEnvelope {
    scene.world.read(&pda::recorded_envelope(&scene.challenger.at(), NONCE))
}

/// Expects these signed bytes to be refused on the ground of a bid.
#[track_caller]
fn refuse_bytes(bytes: &[u8], error: Error) {
    let (mut scene, owner, who) = scene();
    let instructions = [ed25519_instruction(&owner, bytes), recording(&who)];
    refused(&mut scene.world, &instructions, &who, &[], error);
}

#[test]
fn a_signed_envelope_is_recorded_ok() {
    let (mut scene, owner, who) = scene();
    let message = Message { payload: bid_payload(-2), ..scene.message(MsgType::Propose) };
    let record = pda::recorded_envelope(&who.at(), NONCE);
    let before = scene.world.lamports(&who.at());
    let snapshot = scene.world.snapshot();
    let receipt = scene.record(&owner, &message, BID, NONCE);
    snapshot.assert_only_changed(&scene.world, &[record, who.at()]);
    let rent = scene.world.rent(RecordedEnvelope::SIZE);
    assert_eq!(scene.world.lamports(&record), rent);
    assert_eq!(before - scene.world.lamports(&who.at()), rent + receipt.fee);

    let account = kept(&scene);
    let mut expected_record = [0; 92];
    expected_record[..73].copy_from_slice(&message.bid(-2));
    let expected = RecordedEnvelope {
        nonce: NONCE,
        created_slot: scene.world.slot(),
        event_sequence: 1,
        epoch: scene.epoch,
        owner: who.at().to_bytes(),
        agent_id: scene.id(),
        signer: owner.at().to_bytes(),
        entry_hash: keccak(&[&message.signing_bytes()]),
        expected_record,
        expected_len: 73,
        ground: BID,
        version: 1,
        bump: account.bump,
    };
    assert_eq!(account, expected);
    let event = EnvelopeRecorded::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = EnvelopeRecorded {
        agent_id: scene.id(),
        owner: who.at().to_bytes(),
        record: record.to_bytes(),
        entry_hash: expected.entry_hash,
        ground: BID,
        sequence: 0,
        account_created_slot: expected.created_slot,
    };
    assert_eq!(event, expected_event);
}

#[test]
fn every_type_is_recorded_on_its_own_grounds_and_no_other() {
    let (base, owner, who) = scene();
    let records = |message: &Message| match message.kind {
        MsgType::Propose | MsgType::Counter => vec![(BID, message.bid(1_234_567))],
        MsgType::Accept => vec![(BID, message.bid(1_234_567)), (SELECTION, message.selection())],
        MsgType::NotarizeAssign => vec![(VERIFIER, message.verifier())],
        _ => vec![],
    };
    for kind in MsgType::ALL {
        let message = base.message(kind);
        let allowed = records(&message);
        for ground in [BID, SELECTION, VERIFIER, FEEDBACK, DOUBLE_BID] {
            let mut scene = base.clone();
            let instructions = scene.recording(&owner, &message, ground, NONCE);
            match allowed.iter().find(|(right, _)| *right == ground) {
                Some((_, record)) => {
                    scene.world.send_ok(&instructions, &who, &[]);
                    let account = kept(&scene);
                    assert_eq!(account.expected_record[..record.len()], record[..]);
                    assert_eq!((usize::from(account.expected_len), account.ground), (record.len(), ground));
                }
                None => {
                    refused(&mut scene.world, &instructions, &who, &[], Error::NoGround);
                }
            }
        }
    }
}

#[test]
fn a_feedback_envelope_fails_also_with_a_true_rating() {
    let (mut scene, owner, who) = scene();
    let message = scene.feedback();
    let instructions = scene.recording(&owner, &message, FEEDBACK, NONCE);
    refused(&mut scene.world, &instructions, &who, &[], Error::NoGround);
}

#[test]
fn unknown_grounds_fail() {
    let (mut scene, owner, who) = scene();
    let message = scene.message(MsgType::Propose);
    for ground in [0, 6, 255] {
        let instructions = scene.recording(&owner, &message, ground, NONCE);
        refused(&mut scene.world, &instructions, &who, &[], Error::UnknownGround);
    }
}

#[test]
fn anybodys_signature_is_recorded_with_its_key() {
    // Whether the key counts is decided when a batch is challenged with it.
    let (mut scene, _, _) = scene();
    let stranger = scene.stranger();
    let message = Message { sender: [0x99; 32], ..scene.message(MsgType::Propose) };
    scene.record(&stranger, &message, BID, NONCE);
    assert_eq!(kept(&scene).signer, stranger.at().to_bytes());
    assert_eq!(kept(&scene).agent_id, [0x99; 32]);
}

#[test]
fn payloads_up_to_400_bytes_fit_and_longer_ones_fail() {
    for (len, fits) in [(0, true), (15, true), (400, true), (401, false)] {
        let (mut scene, owner, who) = scene();
        let message = Message { payload: vec![1; len], ..scene.message(MsgType::Counter) };
        let instructions = scene.recording(&owner, &message, BID, NONCE);
        if fits {
            let receipt = scene.world.send_ok(&instructions, &who, &[]);
            println!("record_envelope with {len} bytes of payload: {} bytes", receipt.size);
            assert!(receipt.size <= MAX_TRANSACTION);
            let mut value = [0; 16];
            value[..len.min(16)].fill(1);
            let record = message.bid(i128::from_le_bytes(value));
            assert_eq!(kept(&scene).expected_record[..73], record);
        } else {
            refused(&mut scene.world, &instructions, &who, &[], Error::PayloadTooLong);
        }
    }
}

#[test]
fn the_epoch_is_that_of_the_timestamp() {
    let (base, owner, _) = scene();
    let micros = EPOCH_SECONDS * 1_000_000;
    for (timestamp, epoch) in [(0, 0), (micros - 1, 0), (micros, 1), (u64::MAX, u64::MAX / micros)] {
        let mut scene = base.clone();
        let message = Message { timestamp, ..scene.message(MsgType::Propose) };
        scene.record(&owner, &message, BID, NONCE);
        assert_eq!(kept(&scene).epoch, epoch);
    }
}

#[test]
fn no_signature_right_before_fails() {
    let (mut scene, owner, who) = scene();
    let message = scene.message(MsgType::Propose);
    let [signature, record] = scene.recording(&owner, &message, BID, NONCE);
    let before = [
        vec![record.clone()],
        vec![compute_limit(100_000), record.clone()],
        vec![signature.clone(), compute_limit(100_000), record.clone()],
        vec![signature.clone(), system::transfer(&who.at(), &owner.at(), 0), record.clone()],
    ];
    for instructions in before {
        refused(&mut scene.world, &instructions, &who, &[], Error::SignatureMissing);
    }
    // After it does not count either.
    let failure = scene.world.send_refused(&[record, signature], &who, &[]);
    failure.expect_code(Error::SignatureMissing.code());
}

#[test]
fn another_number_of_signatures_than_one_fails() {
    let (mut scene, owner, who) = scene();
    let message = scene.message(MsgType::Propose).signing_bytes();
    let stranger = scene.stranger();
    let none = ed25519_custom(&[], &[]);
    let two = ed25519_pair((&owner, &message), (&stranger, &message));
    for signature in [none, two] {
        let instructions = [signature, recording(&who)];
        refused(&mut scene.world, &instructions, &who, &[], Error::SignatureCount);
    }
}

#[test]
fn a_signature_that_lies_in_another_instruction_fails() {
    let (mut scene, owner, who) = scene();
    let message = scene.message(MsgType::Propose).signing_bytes();
    let first = ed25519_instruction(&owner, &message);
    let own = Ed25519Entry::own(16, message.len());
    let all = Ed25519Entry { signature_instruction: 0, key_instruction: 0, message_instruction: 0, ..own };
    // The second check reads the first one's bytes: the precompile accepts that, the program does not.
    let elsewhere = [first.clone(), ed25519_custom(&[all], &[]), recording(&who)];
    refused(&mut scene.world, &elsewhere, &who, &[], Error::SignatureOffsets);
    // One of the three indexes by number is enough, even when it is this very instruction's.
    let block = first.data[16..].to_vec();
    for entry in [
        Ed25519Entry { signature_instruction: 0, ..own },
        Ed25519Entry { key_instruction: 0, ..own },
        Ed25519Entry { message_instruction: 0, ..own },
    ] {
        let instructions = [ed25519_custom(&[entry], &block), recording(&who)];
        refused(&mut scene.world, &instructions, &who, &[], Error::SignatureOffsets);
    }
    let instructions = [ed25519_custom(&[own], &block), recording(&who)];
    scene.world.send_ok(&instructions, &who, &[]);
}

#[test]
fn a_signature_of_other_bytes_is_stopped_by_the_precompile() {
    let (mut scene, owner, who) = scene();
    let message = scene.message(MsgType::Propose).signing_bytes();
    let mut forged = ed25519_instruction(&owner, &message);
    // The last byte of the payload, after it was signed.
    *forged.data.last_mut().unwrap() ^= 1;
    let failure = scene.world.send_refused(&[forged, recording(&who)], &who, &[]);
    assert_eq!(failure.instruction(), Some(0), "{failure:?}");
    // Another key than the signer's.
    let mut forged = ed25519_instruction(&owner, &message);
    forged.data[16..48].copy_from_slice(&who.at().to_bytes());
    let failure = scene.world.send_refused(&[forged, recording(&who)], &who, &[]);
    assert_eq!(failure.instruction(), Some(0), "{failure:?}");
    assert_eq!(sign(&owner, &message).len(), 64);
}

#[test]
fn a_payload_that_does_not_have_the_signed_hash_fails() {
    let good = Scene::new().message(MsgType::Propose).signing_bytes();
    let mut tampered = good.clone();
    *tampered.last_mut().unwrap() ^= 1;
    refuse_bytes(&tampered, Error::PayloadHashMismatch);
    // The hash itself: bytes 107 to 138.
    let mut tampered = good;
    tampered[107] ^= 1;
    refuse_bytes(&tampered, Error::PayloadHashMismatch);
}

#[test]
fn a_wrong_payload_len_fails() {
    let good = Scene::new().message(MsgType::Propose).signing_bytes();
    let payload = good.len() - 143;
    for len in [0, payload - 1, payload + 1, usize::from(u16::MAX)] {
        let mut bytes = good.clone();
        bytes[139..143].copy_from_slice(&u32::try_from(len).unwrap().to_be_bytes());
        refuse_bytes(&bytes, Error::PayloadHashMismatch);
    }
    refuse_bytes(&[&good[..], &[0]].concat(), Error::PayloadHashMismatch);
    refuse_bytes(&good[..good.len() - 1], Error::PayloadHashMismatch);
}

#[test]
fn bytes_that_are_no_envelope_fail() {
    let good = Scene::new().message(MsgType::Propose).signing_bytes();
    refuse_bytes(&[], Error::MalformedEntry);
    refuse_bytes(&good[..142], Error::MalformedEntry);
    refuse_bytes(b"zx1/behavior-batch/v1", Error::MalformedEntry);
    for version in [0, 2, 255] {
        let mut bytes = good.clone();
        bytes[0] = version;
        refuse_bytes(&bytes, Error::MalformedEntry);
    }
    for kind in [0_u16, 0x0e, 0x0103, u16::MAX] {
        let mut bytes = good.clone();
        bytes[1..3].copy_from_slice(&kind.to_be_bytes());
        refuse_bytes(&bytes, Error::MalformedEntry);
    }
}

#[test]
fn the_same_nonce_twice_fails_and_another_does_not() {
    let (mut scene, owner, who) = scene();
    let (first, second) = (scene.message(MsgType::Propose), scene.message(MsgType::Counter));
    scene.record(&owner, &first, BID, NONCE);
    for message in [&first, &second] {
        let again = scene.recording(&owner, message, BID, NONCE);
        refused(&mut scene.world, &again, &who, &[], Error::AccountExists);
    }
    scene.record(&owner, &first, BID, NONCE + 1);
    // Somebody else's nonces are their own.
    scene.challenger = scene.party();
    scene.record(&owner, &first, BID, NONCE);
}

#[test]
fn a_record_whose_address_a_stranger_funded_first_is_made_ok() {
    let (mut scene, owner, who) = scene();
    let stranger = scene.stranger();
    let record = pda::recorded_envelope(&who.at(), NONCE);
    let rent = scene.world.rent(RecordedEnvelope::SIZE);
    scene.world.send_ok(&[system::transfer(&stranger.at(), &record, rent + 99)], &stranger, &[]);
    let before = scene.world.lamports(&who.at());
    let message = scene.message(MsgType::Propose);
    let receipt = scene.record(&owner, &message, BID, NONCE);
    assert_eq!(before - scene.world.lamports(&who.at()), receipt.fee);
    assert_eq!(scene.world.lamports(&record), rent + 99);
    assert_eq!(kept(&scene).owner, who.at().to_bytes());
}

#[test]
fn accounts_that_do_not_follow_from_the_arguments_fail() {
    let (mut scene, owner, who) = scene();
    let stranger = scene.stranger();
    let message = scene.message(MsgType::Propose);
    let [signature, record] = scene.recording(&owner, &message, BID, NONCE);
    for (place, account) in [
        (1, pda::recorded_envelope(&who.at(), NONCE + 1)),
        (1, pda::recorded_envelope(&stranger.at(), NONCE)),
        (1, pda::evidence_draft(&who.at(), NONCE)),
        (2, stranger.at()),
        (2, scene.batch()),
    ] {
        let wrong = [signature.clone(), with_account(record.clone(), place, account)];
        refused(&mut scene.world, &wrong, &who, &[], Error::WrongAddress);
    }
}

#[test]
fn the_header_is_read_where_it_lies() {
    // The fields' places in the signed bytes, against the record that comes out.
    let (mut scene, owner, _) = scene();
    let message = scene.message(MsgType::Accept);
    let bytes = message.signing_bytes();
    assert_eq!(bytes[35..67], COUNTERPARTY);
    assert_eq!(bytes[75..83], SLOT.to_be_bytes());
    assert_eq!(bytes[91..107], CONVERSATION);
    scene.record(&owner, &message, SELECTION, NONCE);
    let record = [&[2][..], &CONVERSATION, &COUNTERPARTY, &SLOT.to_be_bytes()].concat();
    assert_eq!(kept(&scene).expected_record[..57], record);
    assert_eq!(kept(&scene).expected_record[57..], [0; 35]);
}
