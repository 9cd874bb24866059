//! seal_evidence of an envelope: a draft of length 0 with a rank, sealed right after the Ed25519 check of the
//! signed bytes; and whose signature counts.

use crate::common::{
    self, BID, CHALLENGE_STAKE, COUNTERPARTY, DOUBLE_BID, FEEDBACK, LogProof, Message, SELECTION, SLOT,
    Scene, VERIFIER, bid_payload, claim32, expected, keccak, only_event, refused, sealed_record,
};
use solana_system_interface::instruction as system;
use zx1_chain::instructions::challenge::seal_evidence;
use zx1_chain::pda;
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft};
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_interface::events::EvidenceSealed;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{
    Ed25519Entry, Filing, Key, MAX_TRANSACTION, Shown, compute_limit, ed25519_custom, ed25519_instruction,
    ed25519_pair,
};

const MICROS: u64 = EPOCH_SECONDS * 1_000_000;

/// An agent whose batch holds nothing at all.
fn silent() -> Scene {
    let mut scene = Scene::new();
    scene.submit(&[], &[]);
    scene
}

/// A rank taken for these signed bytes; only the sealing is left.
fn begun(scene: &mut Scene, bytes: &[u8], ground: zx1_protocol::challenge::Ground) -> Filing {
    let key = Box::new(scene.keys.deal.clone());
    let filing = scene.filing(ground, true, [0; 32], Shown::Envelope { signed: bytes.to_vec(), key });
    scene.world.begin(&filing).unwrap();
    filing
}

/// Expects these bytes, signed by the deal key, to be refused on the ground of a bid.
#[track_caller]
fn refuse_bytes(bytes: &[u8], error: Error) {
    let mut scene = silent();
    let filing = begun(&mut scene, bytes, BID);
    let seal = scene.world.sealing(&filing);
    refused(&mut scene.world, &seal, &filing.finder, &[], error);
}

#[test]
fn a_deal_left_out_of_the_log_is_challenged_ok() {
    let mut scene = silent();
    let message = Message { payload: bid_payload(-2), ..scene.message(MsgType::Propose) };
    let filing = scene.enveloped(&message, BID);
    let begun = scene.world.begin(&filing).unwrap();
    assert!(begun.size <= MAX_TRANSACTION);
    let rent = scene.world.rent(EvidenceDraft::SIZE);
    assert_eq!(scene.world.lamports(&filing.draft()), rent + common::RANK_DEPOSIT, "nothing is written");
    let before = scene.draft(&filing);
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.seal(&filing).unwrap();
    snapshot.assert_only_changed(&scene.world, &[filing.draft(), filing.finder.at()]);
    let draft = scene.draft(&filing);
    assert_eq!(sealed_record(&draft), message.bid(-2), "an envelope always shows its payload");
    let sealed = EvidenceDraft {
        event_sequence: 2,
        batch: scene.batch().to_bytes(),
        claim: claim32(BID, true, &message.message32()),
        entry_hash: keccak(&[&message.signing_bytes()]),
        expected_record: draft.expected_record,
        expected_len: 105,
        value_known: 1,
        ground: 1,
        ..before
    };
    assert_eq!(draft, sealed);
    let event = EvidenceSealed::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.entry_hash, event.claim, event.sequence), (sealed.entry_hash, sealed.claim, 1));

    let money = scene.money(&filing);
    scene.world.submit_challenge(&filing).unwrap();
    scene.world.assert_books();
    let account: ChallengeAccount = scene.challenge(&filing);
    assert_eq!(expected(&account), message.bid(-2));
    assert_eq!((account.value_known, account.ground, account.entry_hash), (1, 1, sealed.entry_hash));
    let after = scene.money(&filing);
    assert_eq!((after.0, after.2.deposits), (money.0 - CHALLENGE_STAKE, CHALLENGE_STAKE));
}

#[test]
fn every_type_is_sealed_on_its_own_grounds_and_no_other() {
    let base = silent();
    let records = |message: &Message| match message.kind {
        MsgType::Propose | MsgType::Counter => vec![(BID, message.bid(1_234_567))],
        MsgType::Accept => vec![(BID, message.bid(1_234_567)), (SELECTION, message.selection())],
        MsgType::NotarizeAssign => vec![(VERIFIER, message.verifier())],
        _ => vec![],
    };
    for kind in MsgType::ALL {
        let message = base.message(kind);
        let allowed = records(&message);
        let mut scene = base.clone();
        for ground in [BID, SELECTION, VERIFIER, FEEDBACK, DOUBLE_BID] {
            let filing = scene.enveloped(&message, ground);
            match allowed.iter().find(|(right, _)| *right == ground) {
                Some((_, record)) => {
                    scene.file(&filing);
                    assert_eq!(expected(&scene.challenge(&filing)), record, "{kind:?} on {ground:?}");
                    assert_eq!(scene.challenge(&filing).value_known, 1);
                }
                None => scene.seal_refused(&filing, Error::NoGround),
            }
        }
    }
}

#[test]
fn a_feedback_envelope_fails_also_with_a_true_rating() {
    let mut scene = silent();
    let message = scene.feedback();
    let filing = scene.enveloped(&message, FEEDBACK);
    scene.seal_refused(&filing, Error::NoGround);
}

#[test]
fn unknown_grounds_fail() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = scene.enveloped(&message, BID);
    scene.world.begin(&filing).unwrap();
    for ground in [0, 6, 255] {
        let mut seal = scene.world.sealing(&filing);
        *seal[1].data.last_mut().unwrap() = ground;
        refused(&mut scene.world, &seal, &filing.finder, &[], Error::UnknownGround);
    }
}

#[test]
fn payloads_up_to_400_bytes_fit_and_longer_ones_fail() {
    let base = silent();
    for (len, fits) in [(0, true), (15, true), (400, true), (401, false)] {
        let mut scene = base.clone();
        let message = Message { payload: vec![1; len], ..scene.message(MsgType::Counter) };
        let filing = scene.enveloped(&message, BID);
        if fits {
            scene.world.begin(&filing).unwrap();
            let receipt = scene.world.seal(&filing).unwrap();
            assert!(receipt.size <= MAX_TRANSACTION);
            let mut value = [0; 16];
            value[..len.min(16)].fill(1);
            assert_eq!(sealed_record(&scene.draft(&filing)), message.bid(i128::from_le_bytes(value)));
        } else {
            scene.seal_refused(&filing, Error::PayloadTooLong);
        }
    }
}

#[test]
fn an_envelope_of_a_covered_epoch_counts_and_one_of_another_does_not() {
    let mut scene = silent();
    // The next batch comes three epochs later and covers those between.
    let first = scene.epoch + 1;
    scene.world.advance_epochs(3);
    scene.epoch += 3;
    scene.submit(&[], &[]);
    let last = scene.epoch;
    assert_eq!(scene.batch_account().covers_from_epoch, first);
    let cases = [
        (first * MICROS - 1, false),
        (first * MICROS, true),
        ((first + 1) * MICROS + 5, true),
        ((last + 1) * MICROS - 1, true),
        ((last + 1) * MICROS, false),
        (0, false),
        (u64::MAX, false),
    ];
    for (timestamp, covered) in cases {
        let message = Message { timestamp, ..scene.message(MsgType::Propose) };
        let filing = scene.enveloped(&message, BID);
        if covered {
            scene.file(&filing);
        } else {
            scene.seal_refused(&filing, Error::EnvelopeOutsideEpochs);
        }
    }
}

#[test]
fn a_first_batch_covers_its_own_epoch_only() {
    let mut scene = silent();
    let start = scene.epoch * MICROS;
    for (timestamp, covered) in
        [(start - 1, false), (start, true), (start + MICROS - 1, true), (start + MICROS, false)]
    {
        let message = Message { timestamp, ..scene.message(MsgType::Propose) };
        let filing = scene.enveloped(&message, BID);
        if covered {
            scene.file(&filing);
        } else {
            scene.seal_refused(&filing, Error::EnvelopeOutsideEpochs);
        }
    }
}

#[test]
fn the_batchs_window_ends_after_its_last_slot() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = scene.enveloped(&message, BID);
    scene.world.begin(&filing).unwrap();
    let submitted = scene.batch_account().submitted_slot;
    scene.world.warp_to_slot(submitted + 432_001);
    let seal = scene.world.sealing(&filing);
    refused(&mut scene.world, &seal, &filing.finder, &[], Error::ChallengeWindowOver);
    scene.world.warp_to_slot(submitted + 432_000);
    scene.world.seal(&filing).unwrap();
}

#[test]
fn an_envelope_and_the_logs_entry_of_it_are_one_claim() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&message), &[]);
    let envelope = scene.enveloped(&message, BID);
    let entry = scene.logged(&LogProof::of(&batch, 0).showing(&message.payload), BID);
    assert_eq!(envelope.challenge(), entry.challenge());
    scene.file(&envelope);
    scene.world.prepare(&entry);
    scene.submit_refused(&entry, Error::ChallengeExists);
    assert_eq!(scene.stake().open_challenges, 1);
}

#[test]
fn no_signature_right_before_fails() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = scene.enveloped(&message, BID);
    scene.world.begin(&filing).unwrap();
    let [signature, seal] = scene.world.sealing(&filing).try_into().unwrap();
    let who = filing.finder.clone();
    let before = [
        vec![seal.clone()],
        vec![compute_limit(100_000), seal.clone()],
        vec![signature.clone(), compute_limit(100_000), seal.clone()],
        vec![signature.clone(), system::transfer(&who.at(), &scene.owner.at(), 0), seal.clone()],
    ];
    for instructions in before {
        refused(&mut scene.world, &instructions, &who, &[], Error::SignatureMissing);
    }
    // After it does not count either.
    let failure = scene.world.send_refused(&[seal, signature], &who, &[]);
    failure.expect_code(Error::SignatureMissing.code());
}

#[test]
fn another_number_of_signatures_than_one_fails() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let (filing, bytes) = (scene.enveloped(&message, BID), message.signing_bytes());
    scene.world.begin(&filing).unwrap();
    let stranger = scene.stranger();
    let none = ed25519_custom(&[], &[]);
    let two = ed25519_pair((&scene.keys.deal, &bytes), (&stranger, &bytes));
    for signature in [none, two] {
        let seal = scene.world.sealing(&filing).remove(1);
        refused(&mut scene.world, &[signature, seal], &filing.finder, &[], Error::SignatureCount);
    }
}

#[test]
fn a_signature_that_lies_in_another_instruction_fails() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let (filing, bytes) = (scene.enveloped(&message, BID), message.signing_bytes());
    scene.world.begin(&filing).unwrap();
    let [first, seal] = scene.world.sealing(&filing).try_into().unwrap();
    let who = filing.finder.clone();
    let own = Ed25519Entry::own(16, bytes.len());
    let all = Ed25519Entry { signature_instruction: 0, key_instruction: 0, message_instruction: 0, ..own };
    // The second check reads the first one's bytes: the precompile accepts that, the program does not.
    let elsewhere = [first.clone(), ed25519_custom(&[all], &[]), seal.clone()];
    refused(&mut scene.world, &elsewhere, &who, &[], Error::SignatureOffsets);
    // One of the three indexes by number is enough, even when it is this very instruction's.
    let block = first.data[16..].to_vec();
    for entry in [
        Ed25519Entry { signature_instruction: 0, ..own },
        Ed25519Entry { key_instruction: 0, ..own },
        Ed25519Entry { message_instruction: 0, ..own },
    ] {
        let instructions = [ed25519_custom(&[entry], &block), seal.clone()];
        refused(&mut scene.world, &instructions, &who, &[], Error::SignatureOffsets);
    }
    scene.world.send_ok(&[ed25519_custom(&[own], &block), seal], &who, &[]);
}

#[test]
fn a_signature_of_other_bytes_is_stopped_by_the_precompile() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = scene.enveloped(&message, BID);
    scene.world.begin(&filing).unwrap();
    let [signature, seal] = scene.world.sealing(&filing).try_into().unwrap();
    // The last byte of the payload, after it was signed; another key than the signer's.
    let mut payload = signature.clone();
    *payload.data.last_mut().unwrap() ^= 1;
    let mut key = signature;
    key.data[16..48].copy_from_slice(&filing.finder.at().to_bytes());
    for forged in [payload, key] {
        let failure = scene.world.send_refused(&[forged, seal.clone()], &filing.finder, &[]);
        assert_eq!(failure.instruction(), Some(0), "{failure:?}");
    }
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
    refuse_bytes(b"zx1/behavior-batch/v2", Error::MalformedEntry);
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
fn an_envelope_of_another_agent_fails() {
    let mut scene = silent();
    for sender in [COUNTERPARTY, [0x99; 32]] {
        let message = Message { sender, ..scene.message(MsgType::Propose) };
        let filing = scene.enveloped(&message, BID);
        scene.seal_refused(&filing, Error::NotAgentsEntry);
    }
}

#[test]
fn an_envelope_of_another_key_than_a_deal_key_fails() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    // A stranger's and the holder's own have no key account at all; nothing is made up for them.
    for key in [scene.stranger(), scene.owner.clone()] {
        let filing = scene.enveloped_by(&key, &message, BID);
        scene.seal_refused(&filing, Error::AccountMissing);
    }
    // The batch's signer and the lease's payer sign no deals.
    for key in [scene.keys.batch.clone(), scene.keys.pay.clone()] {
        let filing = scene.enveloped_by(&key, &message, BID);
        scene.seal_refused(&filing, Error::WrongEnvelopeSigner);
    }
}

#[test]
fn another_keys_account_does_not_help() {
    let mut scene = silent();
    let (stranger, message) = (scene.stranger(), scene.message(MsgType::Propose));
    let other = scene.world.living_agent();
    let own = pda::key(&scene.agent.mint, &scene.keys.deal.at());
    let batch = pda::key(&scene.agent.mint, &scene.keys.batch.at());
    let theirs = pda::key(&other.agent.mint, &other.keys.deal.at());
    let cases = [
        (&stranger, Some(own), Error::WrongEnvelopeSigner),
        (&stranger, None, Error::WrongEnvelopeSigner),
        (&scene.keys.deal.clone(), Some(batch), Error::WrongEnvelopeSigner),
        (&scene.keys.deal.clone(), None, Error::WrongEnvelopeSigner),
        (&other.keys.deal, Some(theirs), Error::WrongEnvelopeSigner),
        (&scene.keys.deal.clone(), Some(pda::stake(&scene.agent.mint, 0)), Error::WrongAccountType),
        (&scene.keys.deal.clone(), Some(scene.batch()), Error::WrongAccountOwner),
    ];
    for (key, account, error) in cases {
        let filing = scene.enveloped_by(key, &message, BID);
        scene.world.begin(&filing).unwrap();
        let seal = seal_evidence(filing.finder.at(), filing.nonce, BID, filing.batch(), account);
        let both = [ed25519_instruction(key, &message.signing_bytes()), seal];
        refused(&mut scene.world, &both, &filing.finder, &[], error);
    }
}

#[test]
fn a_deal_key_of_another_agent_of_the_same_holder_does_not_count() {
    let mut scene = silent();
    let owner = scene.owner.clone();
    let second = scene.world.register_agent(&owner);
    scene.world.open_tenure(&second, &owner).unwrap();
    let key = scene.world.new_key(&second, &owner, Scopes::ALL);
    let message = scene.message(MsgType::Accept);
    let filing = scene.enveloped_by(&key, &message, SELECTION);
    scene.world.begin(&filing).unwrap();
    let account = Some(pda::key(&second.mint, &key.at()));
    let seal = seal_evidence(filing.finder.at(), filing.nonce, SELECTION, filing.batch(), account);
    let both = [ed25519_instruction(&key, &message.signing_bytes()), seal];
    refused(&mut scene.world, &both, &filing.finder, &[], Error::WrongEnvelopeSigner);
}

/// A deal key that is listed now, and batches of every epoch from the next on.
fn listed_later() -> (Scene, Key, u64) {
    let mut scene = silent();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    let key = scene.world.new_key(&agent, &owner, Scopes::DEAL);
    let from = scene.world.key(&agent, &key.at()).from_epoch;
    assert_eq!(from, scene.world.epoch() + 2);
    (scene, key, from)
}

#[test]
fn a_key_signs_neither_before_its_first_epoch_nor_after_its_last() {
    let (mut scene, key, from) = listed_later();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    // It is ended two epochs after its first; one more epoch passes, and one batch covers all.
    scene.world.warp_to_epoch(from + 2);
    scene.world.end_key(&agent, &owner, &key.at()).unwrap();
    scene.world.advance_epochs(2);
    scene.epoch = from + 3;
    scene.submit(&[], &[]);
    assert!(scene.batch_account().covers_from_epoch < from);
    for (epoch, counts) in
        [(from - 1, false), (from, true), (from + 1, true), (from + 2, true), (from + 3, false)]
    {
        for timestamp in [epoch * MICROS, (epoch + 1) * MICROS - 1] {
            let message = Message { timestamp, ..scene.message(MsgType::Propose) };
            let filing = scene.enveloped_by(&key, &message, BID);
            if counts {
                scene.file(&filing);
            } else {
                scene.seal_refused(&filing, Error::WrongEnvelopeSigner);
            }
        }
    }
}

#[test]
fn a_key_that_was_cancelled_unborn_signs_nothing() {
    let (mut scene, key, from) = listed_later();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.world.end_key(&agent, &owner, &key.at()).unwrap();
    scene.world.warp_to_epoch(from + 1);
    scene.epoch = from;
    scene.submit(&[], &[]);
    for epoch in [from - 1, from] {
        let message = Message { timestamp: epoch * MICROS, ..scene.message(MsgType::Propose) };
        let filing = scene.enveloped_by(&key, &message, BID);
        scene.seal_refused(&filing, Error::WrongEnvelopeSigner);
    }
}

#[test]
fn a_liar_who_ends_the_key_after_the_deed_is_challenged_all_the_same() {
    // H1: the evidence's signer cannot be withdrawn.
    let mut scene = silent();
    let (agent, owner, key) = (scene.agent, scene.owner.clone(), scene.keys.deal.clone());
    scene.world.end_key(&agent, &owner, &key.at()).unwrap();
    scene.world.close_key(&agent, &key.at()).unwrap_err().expect_code(Error::KeyStillNeeded.code());
    let message = scene.message(MsgType::Accept);
    let filing = scene.enveloped(&message, SELECTION);
    scene.file(&filing);
    assert_eq!(expected(&scene.challenge(&filing)), message.selection());
}

#[test]
fn a_liar_who_sells_or_burns_the_nft_after_the_deed_is_challenged_all_the_same() {
    let base = silent();
    let message = base.message(MsgType::Accept);
    for fate in ["sold", "taken over", "burned"] {
        let mut scene = base.clone();
        let (agent, owner, buyer) = (scene.agent, scene.owner.clone(), scene.party());
        if fate == "burned" {
            scene.world.burn_agent(&agent, &owner);
        } else {
            let sold = scene.world.transfer_agent(&agent, &owner, &buyer.at());
            if fate == "taken over" {
                scene.world.take_over(&sold, &buyer).unwrap();
            }
        }
        let filing = scene.enveloped(&message, SELECTION);
        let before = scene.money(&filing);
        scene.file(&filing);
        scene.resolve(&filing);
        assert_eq!(scene.stake().stake_usdc, 0, "{fate}");
        assert_eq!(scene.money(&filing).0, before.0 + 6_000_000, "{fate}");
    }
}

#[test]
fn an_envelope_without_a_rank_cannot_be_begun() {
    let mut scene = silent();
    let who = scene.challenger.clone();
    let begin = scene.world.beginning_unranked(&who.at(), 1, 0);
    refused(&mut scene.world, &[begin], &who, &[], Error::InvalidDraftLength);
}

#[test]
fn other_signed_bytes_than_the_rank_was_taken_for_fail() {
    let mut scene = silent();
    let (message, owner) = (scene.message(MsgType::Propose), scene.keys.deal.clone());
    let filing = scene.enveloped(&message, BID);
    scene.world.begin(&filing).unwrap();
    let other = Message { nonce: 2, ..message };
    let seal = scene.world.sealing(&filing).remove(1);
    let both = [ed25519_instruction(&owner, &other.signing_bytes()), seal];
    refused(&mut scene.world, &both, &filing.finder, &[], Error::CommitMismatch);
}

#[test]
fn written_bytes_are_never_taken_for_an_envelope() {
    // A draft with bytes is read as evidence of its own kinds, whatever was signed before it.
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let bytes = message.signing_bytes();
    let filing = scene.filing(BID, true, message.message32(), Shown::Bytes(bytes.clone()));
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, &bytes);
    let account = Some(pda::key(&scene.agent.mint, &scene.keys.deal.at()));
    let seal = seal_evidence(filing.finder.at(), filing.nonce, BID, filing.batch(), account);
    let both = [ed25519_instruction(&scene.keys.deal, &bytes), seal];
    refused(&mut scene.world, &both, &filing.finder, &[], Error::MalformedEvidence);
}

#[test]
fn the_header_is_read_where_it_lies() {
    // The fields' places in the signed bytes, against the record that comes out.
    let mut scene = silent();
    let message = scene.message(MsgType::Accept);
    let bytes = message.signing_bytes();
    assert_eq!(bytes[35..67], COUNTERPARTY);
    assert_eq!(bytes[75..83], SLOT.to_be_bytes());
    assert_eq!(bytes[91..107], common::CONVERSATION);
    let filing = scene.enveloped(&message, SELECTION);
    scene.file(&filing);
    let hash = keccak(&[&bytes[..143]]);
    let record = [&[2][..], &common::CONVERSATION, &COUNTERPARTY, &SLOT.to_be_bytes(), &hash].concat();
    assert_eq!(expected(&scene.challenge(&filing)), record);
}

#[test]
fn an_envelopes_draft_that_nobody_needs_lapses_and_returns_its_rent() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = scene.enveloped(&message, BID);
    scene.world.begin(&filing).unwrap();
    scene.world.seal(&filing).unwrap();
    let cancel = scene.world.canceling(&filing);
    refused(&mut scene.world, &[cancel], &filing.finder, &[], Error::RankNotPassed);
    scene.world.advance_slots(common::RANK_SLOTS + 1);
    scene.world.pass_rank(&filing.draft()).unwrap();
    let (before, rent) = (scene.world.lamports(&filing.finder.at()), scene.world.rent(EvidenceDraft::SIZE));
    let receipt = scene.world.cancel_evidence(&filing).unwrap();
    assert_eq!(scene.world.lamports(&filing.finder.at()), before + rent - receipt.fee);
    // The nonce is free again, and the evidence as good as before.
    scene.file(&filing);
    assert_eq!((scene.challenge(&filing).rank, scene.stake().open_challenges), (1, 1));
}

#[test]
fn one_envelope_serves_on_each_of_its_grounds() {
    let mut scene = silent();
    let message = scene.message(MsgType::Accept);
    let (bid, selection) = (scene.enveloped(&message, BID), scene.enveloped(&message, SELECTION));
    let other = scene.party();
    let theirs = scene.by(&other, &selection);
    scene.file(&bid);
    scene.file(&theirs);
    assert_eq!(scene.challenge(&bid).entry_hash, scene.challenge(&theirs).entry_hash);
    assert_eq!(scene.stake().open_challenges, 2);
}
