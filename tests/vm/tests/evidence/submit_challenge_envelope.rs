//! submit_challenge with a recorded envelope, and who may have signed it.

use crate::common::{
    self, BID, CONVERSATION, COUNTERPARTY, DOUBLE_BID, FEEDBACK, Filing, Key, LogProof, Message, SELECTION,
    Scene, VERIFIER, at, bid_payload, expected, keccak, only_event, with_account,
};
use zx1_chain::instructions::behavior_log;
use zx1_chain::instructions::challenge::{EvidenceSource, record_envelope};
use zx1_chain::pda;
use zx1_interface::accounts::{ChallengeAccount, RecordedEnvelope};
use zx1_interface::constants::{CHALLENGE_STAKE, EPOCH_SECONDS};
use zx1_interface::events::ChallengeSubmitted;
use zx1_interface::{Error, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{Batch, ed25519_instruction, message_of};

/// An agent whose batch holds nothing at all.
fn silent() -> Scene {
    let mut scene = Scene::new();
    scene.submit(&[], &[]);
    scene
}

/// Records an envelope by the owner and returns its challenge.
fn recorded(scene: &mut Scene, message: &Message, ground: u8) -> Filing {
    let owner = scene.owner.clone();
    signed_by(scene, &owner, message, ground)
}

fn signed_by(scene: &mut Scene, signer: &Key, message: &Message, ground: u8) -> Filing {
    scene.record(signer, message, ground, 7);
    scene.enveloped(message, ground, 7)
}

fn proving(
    filing: &Filing,
    token: Option<&zx1_vm_tests::Agent>,
    delegation: Option<solana_address::Address>,
) -> Filing {
    let EvidenceSource::Envelope { record, .. } = filing.source else { panic!("an envelope") };
    let agent_token = token.map(|agent| agent.token_account);
    Filing { source: EvidenceSource::Envelope { record, agent_token, delegation }, ..filing.clone() }
}

#[test]
fn a_deal_left_out_of_the_log_is_challenged_ok() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = recorded(&mut scene, &message, BID);
    let EvidenceSource::Envelope { record, .. } = filing.source else { panic!("an envelope") };
    scene.world.advance_slots(10);
    let record_rent = scene.world.rent(common::size::<RecordedEnvelope>());
    assert_eq!(scene.world.lamports(&record), record_rent);
    let (before, lamports) = (scene.money(&filing), scene.world.lamports(&scene.challenger.at()));
    let receipt = scene.file(&filing);

    let account = scene.challenge(&filing);
    let expected_account = ChallengeAccount {
        epoch_number: scene.epoch,
        submitted_slot: scene.world.slot(),
        answered_slot: 0,
        event_sequence: 1,
        agent_id: scene.id(),
        batch: scene.batch().to_bytes(),
        challenger: scene.challenger.at().to_bytes(),
        entry_hash: keccak(&[&message.signing_bytes()]),
        evidence_hash: filing.evidence_hash,
        answerer: [0; 32],
        expected_record: account.expected_record,
        expected_len: 73,
        value_known: 1,
        ground: BID,
        resolved: 0,
        succeeded: 0,
        answered: 0,
        version: 1,
        bump: account.bump,
        vault_bump: account.vault_bump,
        reserved: [0; 3],
    };
    assert_eq!(account, expected_account);
    assert_eq!(expected(&account), message.bid(1_234_567), "an envelope always shows its payload");
    assert!(scene.world.account(&record).is_none(), "the recorded envelope is used up");
    assert_eq!(scene.money(&filing), [before[0] - CHALLENGE_STAKE, before[1], before[2], CHALLENGE_STAKE]);
    let rent = scene.world.rent(common::size::<ChallengeAccount>()) + scene.world.rent(165);
    let after = scene.world.lamports(&scene.challenger.at());
    assert_eq!(lamports + record_rent - after, rent + receipt.fee);
    assert_eq!(scene.stake().open_challenges, 1);
    let event = ChallengeSubmitted::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = ChallengeSubmitted {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        challenger: account.challenger,
        challenge: filing.challenge().to_bytes(),
        evidence: record.to_bytes(),
        entry_hash: account.entry_hash,
        evidence_hash: account.evidence_hash,
        ground: BID,
        sequence: 0,
        account_created_slot: account.submitted_slot,
    };
    assert_eq!(event, expected_event);
}

#[test]
fn every_type_and_ground_gives_the_record_an_honest_batch_holds() {
    let base = silent();
    let message = |kind| Message { payload: bid_payload(-9), ..base.message(kind) };
    let cases = [
        (MsgType::Propose, BID, message(MsgType::Propose).bid(-9)),
        (MsgType::Counter, BID, message(MsgType::Counter).bid(-9)),
        (MsgType::Accept, BID, message(MsgType::Accept).bid(-9)),
        (MsgType::Accept, SELECTION, message(MsgType::Accept).selection()),
        (MsgType::NotarizeAssign, VERIFIER, message(MsgType::NotarizeAssign).verifier()),
    ];
    for (kind, ground, record) in cases {
        let mut scene = base.clone();
        let filing = recorded(&mut scene, &message(kind), ground);
        scene.file(&filing);
        let account = scene.challenge(&filing);
        assert_eq!(expected(&account), record, "{kind:?} on ground {ground}");
        assert_eq!((account.value_known, account.ground), (1, ground));
    }
}

#[test]
fn payloads_of_0_and_of_400_bytes_serve() {
    let long = [&77_i128.to_le_bytes()[..], &[1; 384]].concat();
    assert_eq!(long.len(), 400);
    for (payload, value) in [(vec![], 0), (vec![3], 3), (long, 77)] {
        let mut scene = silent();
        let message = Message { payload, ..scene.message(MsgType::Counter) };
        let filing = recorded(&mut scene, &message, BID);
        scene.file(&filing);
        assert_eq!(expected(&scene.challenge(&filing)), message.bid(value));
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
    let micros = EPOCH_SECONDS * 1_000_000;
    let cases = [
        (first * micros - 1, false),
        (first * micros, true),
        ((first + 1) * micros + 5, true),
        ((last + 1) * micros - 1, true),
        ((last + 1) * micros, false),
        (0, false),
        (u64::MAX, false),
    ];
    for (timestamp, covered) in cases {
        let mut scene = scene.clone();
        let message = Message { timestamp, ..scene.message(MsgType::Propose) };
        let filing = recorded(&mut scene, &message, BID);
        let record: RecordedEnvelope = scene.world.read(&pda::recorded_envelope(&scene.challenger.at(), 7));
        assert_eq!(record.epoch, timestamp / micros);
        if covered {
            scene.file(&filing);
        } else {
            scene.refuse(&filing, Error::EnvelopeOutsideEpochs);
        }
    }
}

#[test]
fn a_first_batch_covers_its_own_epoch_only() {
    let base = silent();
    let micros = EPOCH_SECONDS * 1_000_000;
    let start = base.epoch * micros;
    for (timestamp, covered) in
        [(start - 1, false), (start, true), (start + micros - 1, true), (start + micros, false)]
    {
        let mut scene = base.clone();
        let message = Message { timestamp, ..scene.message(MsgType::Propose) };
        let filing = recorded(&mut scene, &message, BID);
        if covered {
            scene.file(&filing);
        } else {
            scene.refuse(&filing, Error::EnvelopeOutsideEpochs);
        }
    }
}

#[test]
fn the_batchs_window_ends_after_its_last_slot() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = recorded(&mut scene, &message, BID);
    let submitted = scene.batch_account().submitted_slot;
    scene.world.warp_to_slot(submitted + 432_001);
    scene.refuse(&filing, Error::ChallengeWindowOver);
    scene.world.warp_to_slot(submitted + 432_000);
    scene.file(&filing);
}

#[test]
fn the_same_envelope_recorded_again_makes_no_second_challenge() {
    let mut scene = silent();
    let (message, owner) = (scene.message(MsgType::Propose), scene.owner.clone());
    scene.record(&owner, &message, BID, 1);
    scene.record(&owner, &message, BID, 2);
    let (first, second) = (scene.enveloped(&message, BID, 1), scene.enveloped(&message, BID, 2));
    scene.file(&first);
    scene.refuse(&second, Error::ChallengeExists);
}

#[test]
fn the_same_envelope_serves_on_another_ground_and_another_challenger() {
    let mut scene = silent();
    let (message, owner) = (scene.message(MsgType::Accept), scene.owner.clone());
    scene.record(&owner, &message, BID, 1);
    scene.record(&owner, &message, SELECTION, 2);
    let (bid, selection) = (scene.enveloped(&message, BID, 1), scene.enveloped(&message, SELECTION, 2));
    scene.file(&bid);
    scene.file(&selection);
    scene.challenger = scene.party();
    scene.record(&owner, &message, BID, 1);
    let theirs = scene.enveloped(&message, BID, 1);
    scene.file(&theirs);
    assert_eq!(scene.stake().open_challenges, 3);
}

#[test]
fn an_envelope_and_the_logs_entry_of_it_make_two_challenges() {
    let mut scene = Scene::new();
    let (message, owner) = (scene.message(MsgType::Propose), scene.owner.clone());
    let batch = scene.submit(std::slice::from_ref(&message), &[]);
    scene.record(&owner, &message, BID, 1);
    let (envelope, entry) = (scene.enveloped(&message, BID, 1), scene.inline(&LogProof::of(&batch, 0), BID));
    scene.file(&envelope);
    scene.file(&entry);
    assert_eq!(scene.stake().open_challenges, 2);
}

#[test]
fn an_envelope_recorded_for_another_ground_fails() {
    let mut scene = silent();
    let message = scene.message(MsgType::Accept);
    recorded(&mut scene, &message, BID);
    for ground in [SELECTION, VERIFIER, FEEDBACK, DOUBLE_BID] {
        let filing = scene.enveloped(&message, ground, 7);
        scene.refuse(&filing, Error::GroundMismatch);
    }
}

#[test]
fn somebody_elses_recorded_envelope_fails() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let theirs = recorded(&mut scene, &message, BID);
    scene.challenger = scene.party();
    let mine = scene.enveloped(&message, BID, 7);
    let filing = Filing { source: theirs.source, ..mine };
    scene.refuse(&filing, Error::NotDraftOwner);
}

#[test]
fn an_envelope_of_another_agent_fails() {
    let mut scene = silent();
    let (other, other_owner) = scene.world.living_agent();
    let message = Message { sender: other.mint.0, ..scene.message(MsgType::Propose) };
    let filing = signed_by(&mut scene, &Key(other_owner), &message, BID);
    scene.refuse(&filing, Error::NotAgentsEntry);
    // Neither does the agent's own signature on it help.
    let message = Message { sender: COUNTERPARTY, conversation: CONVERSATION, ..message };
    let owner = scene.owner.clone();
    scene.record(&owner, &message, BID, 8);
    let filing = scene.enveloped(&message, BID, 8);
    scene.refuse(&filing, Error::NotAgentsEntry);
}

#[test]
fn inline_evidence_beside_an_envelope_fails() {
    let mut scene = silent();
    let message = scene.message(MsgType::Propose);
    let filing = recorded(&mut scene, &message, BID);
    let inline = Filing { source: EvidenceSource::Inline(vec![1, 2, 3]), ..filing.clone() };
    let record = filing.instruction().accounts[at::EVIDENCE].pubkey;
    let mut both = with_account(inline.instruction(), at::EVIDENCE, record);
    both.accounts[at::EVIDENCE].is_writable = true;
    let who = scene.challenger.clone();
    common::refused(&mut scene.world, &[both], &who, &[], Error::EvidenceMissing);
}

#[test]
fn a_strangers_signature_fails_whatever_accounts_are_shown() {
    let mut scene = silent();
    let (stranger, message) = (scene.stranger(), scene.message(MsgType::Propose));
    let bare = signed_by(&mut scene, &stranger, &message, BID);
    scene.refuse(&bare, Error::WrongEnvelopeSigner);
    let agent = scene.agent;
    scene.refuse(&proving(&bare, Some(&agent), None), Error::WrongEnvelopeSigner);
    // A delegation of somebody else, of another agent, and no delegation at all.
    let (owner, delegate) = (scene.owner.clone(), scene.stranger());
    let others = scene.world.create_delegate(&owner, &delegate.at(), &agent, 0);
    scene.refuse(&proving(&bare, Some(&agent), Some(others)), Error::InvalidDelegation);
    let (other, other_owner) = scene.world.living_agent();
    let elsewhere = scene.world.create_delegate(&other_owner, &stranger.at(), &other, 0);
    scene.refuse(&proving(&bare, Some(&agent), Some(elsewhere)), Error::InvalidDelegation);
    scene.refuse(&proving(&bare, Some(&agent), Some(pda::head(&agent.mint))), Error::InvalidDelegation);
    // Another agent's token account, which the stranger may well own.
    scene.refuse(&proving(&bare, Some(&other), Some(elsewhere)), Error::AgentNotHeld);
}

#[test]
fn a_live_delegates_signature_counts() {
    let mut scene = silent();
    let (owner, delegate, agent) = (scene.owner.clone(), scene.stranger(), scene.agent);
    let delegation = scene.world.create_delegate(&owner, &delegate.at(), &agent, 0);
    let message = scene.message(MsgType::Accept);
    let bare = signed_by(&mut scene, &delegate, &message, SELECTION);
    scene.refuse(&bare, Error::WrongEnvelopeSigner);
    scene.refuse(&proving(&bare, Some(&agent), None), Error::WrongEnvelopeSigner);
    scene.refuse(&proving(&bare, None, Some(delegation)), Error::WrongEnvelopeSigner);
    let filing = proving(&bare, Some(&agent), Some(delegation));
    scene.file(&filing);
    assert_eq!(expected(&scene.challenge(&filing)), message.selection());
}

#[test]
fn a_delegation_counts_until_the_second_of_its_expiry() {
    let mut scene = silent();
    let (owner, delegate, agent) = (scene.owner.clone(), scene.stranger(), scene.agent);
    let expiry = scene.world.time() + 1_000;
    let delegation = scene.world.create_delegate(&owner, &delegate.at(), &agent, expiry);
    let message = scene.message(MsgType::Propose);
    let filing = proving(&signed_by(&mut scene, &delegate, &message, BID), Some(&agent), Some(delegation));
    scene.world.warp_to_time(expiry);
    assert_eq!(scene.world.time(), expiry);
    scene.refuse(&filing, Error::DelegationExpired);
    scene.world.warp_to_time(expiry - 1);
    assert_eq!(scene.world.time(), expiry - 1);
    scene.file(&filing);
}

/// A batch of a delegate; the owner's envelopes then need the NFT's account.
fn batch_by_a_delegate() -> (Scene, Key) {
    let mut scene = Scene::new();
    let (owner, delegate, agent) = (scene.owner.clone(), scene.party(), scene.agent);
    let delegation = scene.world.create_delegate(&owner, &delegate.at(), &agent, 0);
    let batch = Batch { epoch: scene.epoch, entries: vec![], records: vec![] };
    let arguments = batch.arguments(&agent.mint);
    let instructions = [
        ed25519_instruction(&delegate, &message_of(&arguments)),
        behavior_log::submit_batch(&agent.addresses(), delegate.at(), Some(delegation), &arguments),
    ];
    scene.world.send_ok(&instructions, &delegate, &[]);
    assert_eq!(scene.batch_account().signer, delegate.at().to_bytes());
    (scene, delegate)
}

#[test]
fn the_owners_signature_counts_when_another_key_signed_the_batch() {
    let (mut scene, _) = batch_by_a_delegate();
    let (message, agent) = (scene.message(MsgType::Propose), scene.agent);
    let bare = recorded(&mut scene, &message, BID);
    scene.refuse(&bare, Error::WrongEnvelopeSigner);
    let filing = proving(&bare, Some(&agent), None);
    scene.file(&filing);
    assert_eq!(expected(&scene.challenge(&filing)), message.bid(1_234_567));
}

#[test]
fn the_batchs_signer_needs_no_accounts_even_when_its_delegation_is_gone() {
    let (mut scene, delegate) = batch_by_a_delegate();
    let (owner, agent) = (scene.owner.clone(), scene.agent);
    scene.world.close_delegate(&owner, &delegate.at(), &agent).unwrap();
    let message = scene.message(MsgType::Propose);
    let filing = signed_by(&mut scene, &delegate, &message, BID);
    scene.file(&filing);
    assert_eq!(scene.challenge(&filing).value_known, 1);
}

#[test]
fn after_a_sale_the_seller_still_answers_for_the_batch_that_it_signed() {
    let mut scene = silent();
    let (owner, buyer, agent) = (scene.owner.clone(), scene.party(), scene.agent);
    let sold = scene.world.transfer_agent(&agent, &owner, &buyer.at());
    let message = scene.message(MsgType::Propose);
    let filing = signed_by(&mut scene, &owner, &message, BID);
    scene.file(&filing);
    // The new owner's signature counts as well, by the new token account alone.
    let message = Message { nonce: 2, ..message };
    scene.record(&buyer, &message, BID, 8);
    let bare = scene.enveloped(&message, BID, 8);
    scene.refuse(&bare, Error::WrongEnvelopeSigner);
    scene.refuse(&proving(&bare, Some(&agent), None), Error::AgentNotHeld);
    let filing = proving(&bare, Some(&sold), None);
    scene.file(&filing);
    assert_eq!(scene.stake().open_challenges, 2);
}

#[test]
fn a_former_owners_delegate_does_not_count() {
    let mut scene = silent();
    let (owner, buyer, delegate, agent) = (scene.owner.clone(), scene.party(), scene.stranger(), scene.agent);
    let delegation = scene.world.create_delegate(&owner, &delegate.at(), &agent, 0);
    let sold = scene.world.transfer_agent_aside(&agent, &owner, &buyer.at());
    let message = scene.message(MsgType::Propose);
    let filing = proving(&signed_by(&mut scene, &delegate, &message, BID), Some(&sold), Some(delegation));
    scene.refuse(&filing, Error::FormerOwnersDelegation);
}

#[test]
fn a_used_nonce_can_be_used_again() {
    let mut scene = silent();
    let owner = scene.owner.clone();
    for nonce in [1, 2] {
        let message = Message { nonce, ..scene.message(MsgType::Propose) };
        let filing = recorded(&mut scene, &message, BID);
        scene.file(&filing);
    }
    let again = [
        ed25519_instruction(&owner, &scene.message(MsgType::Propose).signing_bytes()),
        record_envelope(scene.challenger.at(), BID, 7),
    ];
    scene.world.send_ok(&again, &scene.challenger, &[]);
    assert_eq!(scene.stake().open_challenges, 2);
}
