//! begin_evidence, append_evidence, and cancel_evidence of a draft without a rank. What a rank adds is in
//! ranks.rs.

use crate::common::{BID, RANK_DEPOSIT, Scene, only_event, refused, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::challenge::{self, append_evidence};
use zx1_chain::pda;
use zx1_interface::accounts::{EvidenceDraft, StakeLockAccount};
use zx1_interface::events::{EvidenceDraftBegun, EvidenceDraftCanceled};
use zx1_interface::instruction::BeginEvidence;
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{Filing, Shown, address, events, keypair};

const NONCE: u64 = 0x0102_0304_0506_0708;

/// begin_evidence without a rank.
fn begin_evidence(owner: Address, nonce: u64, len: u32) -> Instruction {
    let begin = BeginEvidence { nonce, len, agent_id: [0; 32], era: 0, commit: [0; 32] };
    challenge::begin_evidence(owner, &begin)
}

/// cancel_evidence that shows nothing.
fn cancel_evidence(owner: Address, nonce: u64) -> Instruction {
    challenge::cancel_evidence(owner, nonce, None, None)
}

/// A draft of the challenger's of this length, with these bytes in it.
fn begun(len: u32, written: &[u8]) -> Scene {
    let mut scene = Scene::new();
    let who = scene.challenger.clone();
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE, len)], &who, &[]);
    if !written.is_empty() {
        scene.world.send_ok(&[append_evidence(who.at(), NONCE, 0, written.to_vec())], &who, &[]);
    }
    scene
}

fn draft(scene: &Scene) -> (EvidenceDraft, Vec<u8>) {
    let at = pda::evidence_draft(&scene.challenger.at(), NONCE);
    (scene.world.read(&at), scene.world.data(&at)[EvidenceDraft::SIZE..].to_vec())
}

/// Evidence of 5 bytes against the batch of the scene's epoch, which has not landed.
fn any(scene: &Scene) -> Filing {
    Filing {
        finder: scene.challenger.clone(),
        agent: scene.agent,
        epoch: scene.epoch,
        nonce: NONCE,
        ground: BID,
        value_known: false,
        message: [0; 32],
        shown: Shown::Bytes(vec![1, 2, 3, 4, 5]),
    }
}

/// A draft without a rank, as it begins.
fn bare(account: &EvidenceDraft, owner: Address, len: u32, slot: u64) -> EvidenceDraft {
    EvidenceDraft {
        nonce: NONCE,
        created_slot: slot,
        event_sequence: 1,
        begin_slot: 0,
        deposit: 0,
        len,
        written: 0,
        rank: 0,
        era: 0,
        owner: owner.to_bytes(),
        agent: [0; 32],
        commit: [0; 32],
        batch: [0; 32],
        claim: [0; 32],
        entry_hash: [0; 32],
        expected_record: [0; 124],
        expected_len: 0,
        value_known: 0,
        ground: 0,
        state: 0,
        used: 0,
        version: 2,
        bump: account.bump,
        reserved: [0; 5],
    }
}

#[test]
fn a_draft_without_a_rank_is_begun_and_written_ok() {
    let mut scene = Scene::new();
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let before = scene.world.lamports(&who.at());
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 5)], &who, &[]);
    snapshot.assert_only_changed(&scene.world, &[at, who.at()]);
    let rent = scene.world.rent(EvidenceDraft::SIZE + 5);
    assert_eq!(scene.world.lamports(&at), rent);
    assert_eq!(before - scene.world.lamports(&who.at()), rent + receipt.fee);
    let slot = scene.world.slot();
    let (account, bytes) = draft(&scene);
    let expected = bare(&account, who.at(), 5, slot);
    assert_eq!((account, bytes), (expected, vec![0; 5]));
    let event = EvidenceDraftBegun::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = EvidenceDraftBegun {
        draft: at.to_bytes(),
        owner: who.at().to_bytes(),
        len: 5,
        agent_id: [0; 32],
        era: 0,
        rank: 0,
        commit: [0; 32],
        sequence: 0,
        account_created_slot: slot,
    };
    assert_eq!(event, expected_event);

    scene.world.advance_slots(3);
    let first = scene.world.send_ok(&[append_evidence(who.at(), NONCE, 0, vec![1, 2])], &who, &[]);
    assert!(events(&first, &address(ids::CHALLENGE)).is_empty(), "appending has no event");
    assert_eq!(draft(&scene), (EvidenceDraft { written: 2, ..expected }, vec![1, 2, 0, 0, 0]));
    scene.world.send_ok(&[append_evidence(who.at(), NONCE, 2, vec![3, 4, 5])], &who, &[]);
    assert_eq!(draft(&scene), (EvidenceDraft { written: 5, ..expected }, vec![1, 2, 3, 4, 5]));
}

#[test]
fn a_draft_with_a_rank_is_begun_ok() {
    let mut scene = Scene::new();
    let (who, filing, stake) = (scene.challenger.clone(), any(&scene), scene.stake());
    let before = scene.world.lamports(&who.at());
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.begin(&filing).unwrap();
    let era = pda::stake(&scene.agent.mint, 0);
    snapshot.assert_only_changed(&scene.world, &[filing.draft(), who.at(), era]);
    let held = scene.world.rent(EvidenceDraft::SIZE + 5) + RANK_DEPOSIT;
    assert_eq!(scene.world.lamports(&filing.draft()), held);
    assert_eq!(before - scene.world.lamports(&who.at()), held + receipt.fee);
    let (slot, (account, _)) = (scene.world.slot(), draft(&scene));
    let commit = crate::common::commit32(&who.at().to_bytes(), &filing.batch().to_bytes(), &[1, 2, 3, 4, 5]);
    let ranked = EvidenceDraft {
        begin_slot: slot,
        deposit: RANK_DEPOSIT,
        agent: scene.id(),
        commit,
        state: 1,
        ..bare(&account, who.at(), 5, slot)
    };
    assert_eq!(account, ranked);
    assert_eq!(scene.stake(), StakeLockAccount { next_rank: 1, ..stake });
    let event = EvidenceDraftBegun::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!((event.agent_id, event.era, event.rank, event.commit), (scene.id(), 0, 0, commit));
    assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty(), "the order has no events of its own");
    // The next one, by whomever, is the next.
    let other = scene.party();
    let second = scene.by(&other, &filing);
    scene.world.begin(&second).unwrap();
    assert_eq!((scene.draft(&second).rank, scene.stake().next_rank), (1, 2));
}

#[test]
fn a_rank_out_of_another_order_fails() {
    let mut scene = Scene::new();
    let (who, filing, other) = (scene.challenger.clone(), any(&scene), scene.world.living_agent());
    let right = scene.world.beginning(&filing);
    // The places of begin_evidence's accounts.
    let (stake, authority, stake_lock, config) = (2, 3, 4, 5);
    let (theirs, nowhere) = (pda::stake(&other.agent.mint, 0), keypair("nowhere").pubkey());
    let cases = [
        (stake, theirs, Error::WrongAgent),
        (stake, pda::stake(&scene.agent.mint, 1), Error::AccountMissing),
        (stake, pda::tenure(&scene.agent.mint), Error::WrongAccountType),
        (stake, pda::lease(&scene.agent.mint), Error::WrongAccountOwner),
        // Without an account at all: Anchor's None is the program itself.
        (stake, address(ids::CHALLENGE), Error::StakeMissing),
        (authority, nowhere, Error::WrongAddress),
        (stake_lock, address(ids::LEASE), Error::WrongAddress),
        (config, nowhere, Error::WrongAddress),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), place, account);
        let failure = scene.world.send_refused(&[wrong], &who, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    // The right account under another era's number.
    let wrong = with_account(scene.world.beginning_in(&filing, 1), stake, pda::stake(&scene.agent.mint, 0));
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongEra);
    // And a stake without a commitment takes no rank.
    let begin = begin_evidence(who.at(), NONCE, 5);
    let mut bare = with_account(begin, stake, pda::stake(&scene.agent.mint, 0));
    bare.accounts[stake].is_writable = true;
    scene.world.send_ok(&[bare], &who, &[]);
    assert_eq!((scene.stake().next_rank, draft(&scene).0.state), (0, 0));
}

#[test]
fn nobody_takes_a_rank_for_free() {
    let mut scene = Scene::new();
    // Enough for the rent and the fee, not for the deposit: the whole is refused.
    let (poor, filing) = (scene.stranger(), any(&scene));
    let theirs = scene.by(&poor, &filing);
    let rent = scene.world.rent(EvidenceDraft::SIZE + 5);
    scene.world.set_lamports(&poor.at(), rent + RANK_DEPOSIT - 1);
    let begin = scene.world.beginning(&theirs);
    let sponsor = scene.stranger();
    scene.world.send_refused(&[begin], &sponsor, &[&poor]);
    assert_eq!(scene.stake().next_rank, 0);
}

#[test]
fn lengths_from_1_to_8192_are_allowed_and_no_others() {
    for (len, allowed) in [(1, true), (8_192, true), (0, false), (8_193, false), (u32::MAX, false)] {
        let mut scene = Scene::new();
        let who = scene.challenger.clone();
        let begin = begin_evidence(who.at(), NONCE, len);
        if allowed {
            scene.world.send_ok(&[begin], &who, &[]);
            assert_eq!(draft(&scene).1.len(), len as usize);
        } else {
            refused(&mut scene.world, &[begin], &who, &[], Error::InvalidDraftLength);
        }
    }
}

#[test]
fn the_same_nonce_twice_fails_and_another_does_not() {
    let mut scene = begun(5, &[1]);
    let who = scene.challenger.clone();
    for len in [5, 6] {
        let again = begin_evidence(who.at(), NONCE, len);
        refused(&mut scene.world, &[again], &who, &[], Error::AccountExists);
    }
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE + 1, 5)], &who, &[]);
    // Somebody else's nonces are their own.
    let other = scene.party();
    scene.world.send_ok(&[begin_evidence(other.at(), NONCE, 5)], &other, &[]);
}

#[test]
fn a_draft_whose_address_a_stranger_funded_first_is_begun_ok() {
    let mut scene = Scene::new();
    let (who, stranger) = (scene.challenger.clone(), scene.stranger());
    let at = pda::evidence_draft(&who.at(), NONCE);
    let rent = scene.world.rent(EvidenceDraft::SIZE + 100);
    let gift = rent - 7;
    scene.world.send_ok(&[system::transfer(&stranger.at(), &at, gift)], &stranger, &[]);
    let before = scene.world.lamports(&who.at());
    let receipt = scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 100)], &who, &[]);
    assert_eq!(before - scene.world.lamports(&who.at()), 7 + receipt.fee);
    assert_eq!(scene.world.lamports(&at), rent);
    assert_eq!(draft(&scene).1.len(), 100);
}

#[test]
fn another_address_fails() {
    let mut scene = Scene::new();
    let (who, stranger) = (scene.challenger.clone(), scene.stranger());
    for at in [pda::evidence_draft(&who.at(), 1), pda::evidence_draft(&stranger.at(), NONCE), stranger.at()] {
        let wrong = with_account(begin_evidence(who.at(), NONCE, 5), 1, at);
        refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAddress);
    }
}

#[test]
fn an_append_beyond_the_length_fails() {
    let mut scene = begun(5, &[1, 2]);
    let who = scene.challenger.clone();
    let before = draft(&scene);
    for len in [4, 100, 900] {
        let over = append_evidence(who.at(), NONCE, 2, vec![9; len]);
        refused(&mut scene.world, &[over], &who, &[], Error::DraftOverrun);
    }
    assert_eq!(draft(&scene), before);
    scene.world.send_ok(&[append_evidence(who.at(), NONCE, 2, vec![9; 3])], &who, &[]);
    // Full: not one byte more.
    let over = append_evidence(who.at(), NONCE, 5, vec![9]);
    refused(&mut scene.world, &[over], &who, &[], Error::DraftOverrun);
}

#[test]
fn an_append_at_another_place_than_the_end_fails() {
    let mut scene = begun(10, &[1, 2, 3]);
    let who = scene.challenger.clone();
    for offset in [0, 2, 4, 10, u32::MAX] {
        let wrong = append_evidence(who.at(), NONCE, offset, vec![7]);
        refused(&mut scene.world, &[wrong], &who, &[], Error::WrongDraftOffset);
    }
}

#[test]
fn the_same_append_twice_fails() {
    let mut scene = begun(10, &[]);
    let who = scene.challenger.clone();
    let append = append_evidence(who.at(), NONCE, 0, vec![7, 8]);
    scene.world.send_ok(std::slice::from_ref(&append), &who, &[]);
    refused(&mut scene.world, &[append], &who, &[], Error::WrongDraftOffset);
    assert_eq!(draft(&scene).0.written, 2);
}

#[test]
fn an_empty_append_fails() {
    let mut scene = begun(5, &[1]);
    let who = scene.challenger.clone();
    let empty = append_evidence(who.at(), NONCE, 1, vec![]);
    refused(&mut scene.world, &[empty], &who, &[], Error::DraftOverrun);
}

#[test]
fn an_append_by_another_fails() {
    let mut scene = begun(5, &[1]);
    let (who, other) = (scene.challenger.clone(), scene.party());
    let at = pda::evidence_draft(&who.at(), NONCE);
    let theirs = with_account(append_evidence(other.at(), NONCE, 1, vec![2]), 1, at);
    refused(&mut scene.world, &[theirs], &other, &[], Error::NotDraftOwner);
    // Nor by naming the owner without its signature.
    let mut unsigned = append_evidence(who.at(), NONCE, 1, vec![2]);
    unsigned.accounts[0].is_signer = false;
    let failure = scene.world.send_refused(&[unsigned], &other, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
}

#[test]
fn an_append_or_a_cancel_under_another_nonce_fails() {
    let mut scene = begun(5, &[1]);
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let append = with_account(append_evidence(who.at(), 1, 1, vec![2]), 1, at);
    refused(&mut scene.world, &[append], &who, &[], Error::WrongAddress);
    let cancel = with_account(cancel_evidence(who.at(), 1), 1, at);
    refused(&mut scene.world, &[cancel], &who, &[], Error::WrongAddress);
}

#[test]
fn an_append_to_what_is_no_draft_fails() {
    let mut scene = Scene::new();
    let who = scene.challenger.clone();
    let append = append_evidence(who.at(), NONCE, 0, vec![2]);
    refused(&mut scene.world, std::slice::from_ref(&append), &who, &[], Error::AccountMissing);
    let wrong = with_account(append, 1, pda::stake(&scene.agent.mint, 0));
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAccountOwner);
}

#[test]
fn canceling_returns_the_rent_ok() {
    let mut scene = begun(1_000, &[1, 2, 3]);
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let created = scene.world.slot();
    scene.world.advance_slots(9);
    let (before, rent) = (scene.world.lamports(&who.at()), scene.world.rent(EvidenceDraft::SIZE + 1_000));
    let receipt = scene.world.send_ok(&[cancel_evidence(who.at(), NONCE)], &who, &[]);
    assert_eq!(scene.world.lamports(&who.at()), before + rent - receipt.fee);
    assert!(scene.world.account(&at).is_none());
    let event = EvidenceDraftCanceled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = EvidenceDraftCanceled {
        draft: at.to_bytes(),
        owner: who.at().to_bytes(),
        burnt: 0,
        sequence: 1,
        account_created_slot: created,
    };
    assert_eq!(event, expected);
    // Once; and the nonce is free again.
    refused(&mut scene.world, &[cancel_evidence(who.at(), NONCE)], &who, &[], Error::AccountMissing);
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 3)], &who, &[]);
    assert_eq!(draft(&scene).1, [0; 3], "nothing of the old draft is left");
}

#[test]
fn canceling_by_another_fails() {
    let mut scene = begun(5, &[1]);
    let other = scene.party();
    let at = pda::evidence_draft(&scene.challenger.at(), NONCE);
    let theirs = with_account(cancel_evidence(other.at(), NONCE), 1, at);
    refused(&mut scene.world, &[theirs], &other, &[], Error::NotDraftOwner);
}

#[test]
fn a_canceled_draft_cannot_be_revived_in_the_same_transaction() {
    let mut scene = begun(3, &[1, 2, 3]);
    let who = scene.challenger.clone();
    let at = pda::evidence_draft(&who.at(), NONCE);
    let rent = scene.world.rent(EvidenceDraft::SIZE + 3);
    let (cancel, fund) = (cancel_evidence(who.at(), NONCE), system::transfer(&who.at(), &at, rent));
    let again = cancel.clone();
    let failure = scene.world.send_refused(&[cancel.clone(), fund.clone(), again], &who, &[]);
    failure.expect_code(Error::AccountMissing.code());
    assert_eq!(failure.instruction(), Some(2));
    scene.world.send_ok(&[cancel, fund], &who, &[]);
    let left = scene.world.account(&at).unwrap();
    assert_eq!((left.data.len(), left.owner.to_bytes()), (0, ids::SYSTEM));
    scene.world.send_ok(&[begin_evidence(who.at(), NONCE, 3)], &who, &[]);
    assert_eq!(draft(&scene), (EvidenceDraft { written: 0, ..draft(&scene).0 }, vec![0; 3]));
}

#[test]
fn a_sealed_draft_takes_no_more_bytes() {
    let mut scene = Scene::new();
    let message = scene.message(zx1_protocol::envelope::MsgType::Propose);
    let batch = scene.submit(&[message], &[]);
    let filing = scene.logged(&crate::common::LogProof::of(&batch, 0), BID);
    scene.world.prepare(&filing);
    let len = u32::try_from(filing.written().len()).unwrap();
    let append = append_evidence(filing.finder.at(), filing.nonce, len, vec![1]);
    refused(&mut scene.world, &[append], &filing.finder, &[], Error::AlreadySealed);
}

#[test]
fn another_incinerator_fails() {
    let mut scene = begun(5, &[1]);
    let who = scene.challenger.clone();
    let wrong = with_account(cancel_evidence(who.at(), NONCE), 4, keypair("my own fire").pubkey());
    refused(&mut scene.world, &[wrong], &who, &[], Error::WrongAddress);
}
