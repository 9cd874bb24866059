//! discard_envelope: a recorded envelope that nobody needs.

use crate::common::{BID, Key, Scene, only_event, refused, with_account};
use zx1_chain::instructions::challenge::discard_envelope;
use zx1_chain::pda;
use zx1_interface::accounts::RecordedEnvelope;
use zx1_interface::events::EnvelopeDiscarded;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;

/// The challenger has recorded an envelope under nonce 5.
fn recorded() -> (Scene, Key) {
    let mut scene = Scene::new();
    let (owner, who) = (scene.owner.clone(), scene.challenger.clone());
    let message = scene.message(MsgType::Propose);
    scene.record(&owner, &message, BID, 5);
    (scene, who)
}

#[test]
fn discarding_returns_the_rent_ok() {
    let (mut scene, who) = recorded();
    let (record, created) = (pda::recorded_envelope(&who.at(), 5), scene.world.slot());
    scene.world.advance_slots(77);
    let (before, rent) = (scene.world.lamports(&who.at()), scene.world.rent(RecordedEnvelope::SIZE));
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(&[discard_envelope(who.at(), 5)], &who, &[]);
    snapshot.assert_only_changed(&scene.world, &[record, who.at()]);
    assert_eq!(scene.world.lamports(&who.at()), before + rent - receipt.fee);
    assert!(scene.world.account(&record).is_none());
    let event = EnvelopeDiscarded::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = EnvelopeDiscarded {
        record: record.to_bytes(),
        owner: who.at().to_bytes(),
        sequence: 1,
        account_created_slot: created,
    };
    assert_eq!(event, expected);
}

#[test]
fn discarding_by_another_fails() {
    let (mut scene, who) = recorded();
    let record = pda::recorded_envelope(&who.at(), 5);
    for other in [scene.party(), scene.owner.clone()] {
        let theirs = with_account(discard_envelope(other.at(), 5), 1, record);
        refused(&mut scene.world, &[theirs], &other, &[], Error::NotDraftOwner);
    }
}

#[test]
fn discarding_twice_fails() {
    let (mut scene, who) = recorded();
    scene.world.send_ok(&[discard_envelope(who.at(), 5)], &who, &[]);
    refused(&mut scene.world, &[discard_envelope(who.at(), 5)], &who, &[], Error::AccountMissing);
}

#[test]
fn discarding_under_another_nonce_fails() {
    let (mut scene, who) = recorded();
    refused(&mut scene.world, &[discard_envelope(who.at(), 6)], &who, &[], Error::AccountMissing);
    let record = pda::recorded_envelope(&who.at(), 5);
    let wrong = with_account(discard_envelope(who.at(), 6), 1, record);
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAddress);
}

#[test]
fn discarding_a_draft_fails() {
    let (mut scene, who) = recorded();
    let (draft, _) = scene.draft(&who, 5, &[1]);
    let wrong = with_account(discard_envelope(who.at(), 5), 1, draft);
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAccountType);
}

#[test]
fn a_discarded_envelope_makes_no_challenge_and_can_be_recorded_again() {
    let (mut scene, who) = recorded();
    scene.submit(&[], &[]);
    scene.world.send_ok(&[discard_envelope(who.at(), 5)], &who, &[]);
    let message = scene.message(MsgType::Propose);
    let filing = scene.enveloped(&message, BID, 5);
    scene.refuse(&filing, Error::AccountMissing);
    let owner = scene.owner.clone();
    scene.record(&owner, &message, BID, 5);
    scene.file(&filing);
    assert_eq!(scene.stake().open_challenges, 1);
}
