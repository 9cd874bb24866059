//! The order of an era's finders: commitment, rank, take-over, lapse, and what becomes of the deposit.

use crate::common::{
    BID, BidProof, CHALLENGE_STAKE, LogProof, MIN_STAKE, Message, RANK_DEPOSIT, RANK_SLOTS, SELECTION, Scene,
    VERIFIER, answer_of, at, further_account, only_event, refused, with_account,
};
use solana_address::Address;
use solana_signer::Signer;
use zx1_chain::instructions::challenge::{self, seal_evidence};
use zx1_chain::pda;
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft};
use zx1_interface::events::{ChallengeSubmitted, EvidenceDraftCanceled, RankPassed};
use zx1_interface::instruction::BeginEvidence;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::envelope::MsgType;
use zx1_vm_tests::{Batch, Filing, Key, address, events, keypair};

/// A batch that hides `n` deals and holds two values of a further bid, and evidence for each: the deals' by the
/// challenger, the double bid's as the last.
fn lies(n: u64) -> (Scene, Vec<Filing>) {
    let mut scene = Scene::new();
    let deal = |nonce| Message { nonce, ..scene.message(MsgType::Propose) };
    let deals: Vec<Message> = (0..n).map(deal).collect();
    let double = scene.message(MsgType::Counter);
    let batch = scene.submit(&deals, &[double.bid(1), double.bid(2)]);
    let mut filings: Vec<Filing> = (0..n)
        .map(|k| {
            let payload = &deals[usize::try_from(k).unwrap()].payload;
            scene.logged(&LogProof::of(&batch, u32::try_from(k).unwrap()).showing(payload), BID)
        })
        .collect();
    filings.push(scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1)));
    (scene, filings)
}

/// One hidden deal as evidence, and the double bid.
fn lie() -> (Scene, Filing, Filing) {
    let (scene, mut filings) = lies(1);
    let double = filings.pop().unwrap();
    (scene, filings.pop().unwrap(), double)
}

/// Lamports at the incinerator.
fn burnt(scene: &Scene) -> u64 {
    scene.world.lamports(&address(ids::INCINERATOR))
}

/// cancel_evidence that shows these accounts and no others.
fn cancel(
    filing: &Filing,
    stake: Option<Address>,
    claim: Option<Address>,
) -> solana_instruction::Instruction {
    challenge::cancel_evidence(filing.finder.at(), filing.nonce, stake, claim)
}

#[track_caller]
fn cancel_refused(scene: &mut Scene, filing: &Filing, error: Error) {
    let cancel = scene.world.canceling(filing);
    refused(&mut scene.world, &[cancel], &filing.finder, &[], error);
}

#[track_caller]
fn pass_refused(scene: &mut Scene, account: &Address, error: Error) {
    let (stranger, pass) = (scene.stranger(), scene.world.passing(account));
    refused(&mut scene.world, &[pass], &stranger, &[], error);
}

// What a rank commits to.

#[test]
fn a_draft_of_any_length_up_to_8192_takes_a_rank() {
    let mut scene = Scene::new();
    let who = scene.challenger.clone();
    for (nonce, len, allowed) in [(1, 0, true), (2, 1, true), (3, 8_192, true), (4, 8_193, false)] {
        let begin = BeginEvidence { nonce, len, agent_id: scene.id(), era: 0, commit: [1; 32] };
        let begin = challenge::begin_evidence(who.at(), &begin);
        if allowed {
            scene.world.send_ok(&[begin], &who, &[]);
        } else {
            refused(&mut scene.world, &[begin], &who, &[], Error::InvalidDraftLength);
        }
    }
    assert_eq!(scene.stake().next_rank, 3);
}

#[test]
fn other_bytes_than_the_rank_was_taken_for_fail() {
    let (mut scene, filings) = lies(2);
    let [first, second] = [&filings[0], &filings[1]];
    assert_eq!(first.written().len(), second.written().len());
    scene.world.begin(first).unwrap();
    scene.world.append(&first.finder, first.nonce, second.written());
    let seal = scene.world.sealing(first);
    refused(&mut scene.world, &seal, &first.finder, &[], Error::CommitMismatch);
}

#[test]
fn a_copied_commitment_is_worthless() {
    // Seen in the finder's transaction, taken over word for word: it names the finder.
    let (mut scene, filing, _) = lie();
    let copier = scene.party();
    let len = u32::try_from(filing.written().len()).unwrap();
    let commit = filing.commit();
    let begin = BeginEvidence { nonce: 9, len, agent_id: scene.id(), era: 0, commit };
    scene.world.send_ok(&[challenge::begin_evidence(copier.at(), &begin)], &copier, &[]);
    scene.world.append(&copier, 9, filing.written());
    let copy = filing.by(&copier, 9);
    let seal = scene.world.sealing(&copy);
    refused(&mut scene.world, &seal, &copier, &[], Error::CommitMismatch);
}

#[test]
fn a_rank_is_taken_for_one_batch_of_one_era_of_one_agent() {
    let (mut scene, filing, _) = lie();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    // A second batch with the same log.
    let other_agent = scene.world.living_agent();
    scene.world.advance_epochs(1);
    let deal = scene.message(MsgType::Propose);
    scene.epoch += 1;
    scene.submit(&[Message { nonce: 0, ..deal }], &[]);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let seal = |batch: Address| seal_evidence(filing.finder.at(), filing.nonce, filing.ground, batch, None);
    let later = scene.batch();
    refused(&mut scene.world, &[seal(later)], &filing.finder, &[], Error::CommitMismatch);
    // Another agent's batch.
    let empty = Batch::empty(scene.epoch);
    scene.world.submit_batch(&other_agent.agent, &other_agent.keys.batch, &empty).unwrap();
    let theirs = pda::batch(&other_agent.agent.mint, scene.epoch);
    refused(&mut scene.world, &[seal(theirs)], &filing.finder, &[], Error::WrongAgent);
    // A rank of the next era, for a batch of this one.
    let buyer = scene.party();
    let sold = scene.world.transfer_agent(&agent, &owner, &buyer.at());
    scene.world.take_over(&sold, &buyer).unwrap();
    scene.world.lock_stake(&sold, &buyer, MIN_STAKE).unwrap();
    let who = filing.finder.clone();
    let second = scene.by(&who, &filing);
    let begin = scene.world.beginning_in(&second, 1);
    scene.world.send_ok(&[begin], &who, &[]);
    scene.world.append(&who, second.nonce, second.written());
    let sealing = scene.world.sealing(&second);
    refused(&mut scene.world, &sealing, &who, &[], Error::WrongEraOfBatch);
    scene.world.seal(&filing).unwrap();
}

#[test]
fn a_draft_that_is_not_complete_is_not_sealed() {
    let (mut scene, filing, _) = lie();
    scene.world.begin(&filing).unwrap();
    let (bytes, seal) = (filing.written().to_vec(), scene.world.sealing(&filing));
    refused(&mut scene.world, &seal, &filing.finder, &[], Error::DraftIncomplete);
    let (most, last) = bytes.split_at(bytes.len() - 1);
    scene.world.append(&filing.finder, filing.nonce, most);
    refused(&mut scene.world, &seal, &filing.finder, &[], Error::DraftIncomplete);
    let offset = u32::try_from(most.len()).unwrap();
    let append = challenge::append_evidence(filing.finder.at(), filing.nonce, offset, last.to_vec());
    scene.world.send_ok(&[append], &filing.finder, &[]);
    scene.world.seal(&filing).unwrap();
}

#[test]
fn nobody_else_seals_or_cancels_a_draft() {
    let (mut scene, filing, _) = lie();
    let thief = scene.party();
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let theirs = filing.by(&thief, filing.nonce);
    let seal = seal_evidence(thief.at(), filing.nonce, filing.ground, filing.batch(), None);
    let seal = with_account(seal, 1, filing.draft());
    refused(&mut scene.world, &[seal], &thief, &[], Error::NotDraftOwner);
    let cancel = with_account(cancel(&theirs, None, None), 1, filing.draft());
    refused(&mut scene.world, &[cancel], &thief, &[], Error::NotDraftOwner);
    // Nor the owner under another nonce.
    let seal = seal_evidence(filing.finder.at(), 99, filing.ground, filing.batch(), None);
    let seal = with_account(seal, 1, filing.draft());
    refused(&mut scene.world, &[seal], &filing.finder, &[], Error::WrongAddress);
}

// How long a rank holds.

#[test]
fn a_rank_holds_300_slots() {
    for (slots, holds) in [(RANK_SLOTS, true), (RANK_SLOTS + 1, false)] {
        let (mut scene, filing, double) = lie();
        scene.world.prepare(&filing);
        scene.world.prepare(&double);
        let begun = scene.draft(&filing);
        scene.world.warp_to_slot(begun.begin_slot + slots);
        scene.world.submit_challenge(&filing).unwrap();
        scene.world.assert_books();
        let (challenge, draft) = (scene.challenge(&filing), scene.draft(&filing));
        if holds {
            assert_eq!((challenge.rank, draft.state, draft.used), (0, 2, 1));
            assert_eq!(scene.stake().next_rank, 2);
        } else {
            // The rank is that of the moment, behind whoever came meanwhile; the old one has lapsed.
            assert_eq!((challenge.rank, draft.state, draft.used), (2, 1, 0));
            assert_eq!(scene.stake().next_rank, 3);
        }
    }
}

#[test]
fn without_a_rank_a_claim_takes_the_one_of_its_moment() {
    let (mut scene, filing, double) = lie();
    scene.world.prepare_unranked(&filing);
    scene.world.begin(&double).unwrap();
    let before = scene.draft(&filing);
    let receipt = scene.world.submit_challenge(&filing).unwrap();
    assert_eq!((scene.challenge(&filing).rank, scene.stake().next_rank), (1, 2));
    assert_eq!(scene.draft(&filing), before, "a draft without a rank stays as it is");
    let event = ChallengeSubmitted::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!(event.rank, 1);
    // It is canceled at any time.
    let held = scene.world.lamports(&filing.draft());
    let lamports = scene.world.lamports(&filing.finder.at());
    let receipt = scene.world.cancel_evidence(&filing).unwrap();
    assert_eq!(scene.world.lamports(&filing.finder.at()), lamports + held - receipt.fee);
}

#[test]
fn a_rank_that_was_taken_before_the_batch_landed_does_not_count() {
    // The liar knows its batch before it lands, and takes a rank for it; also in the slot of landing.
    for slots in [0, 5] {
        let mut scene = Scene::new();
        let deal = scene.message(MsgType::Propose);
        let other = Message { nonce: 2, ..deal.clone() };
        let planned =
            Batch { epoch: scene.epoch, entries: vec![deal.entry(), other.entry()], records: vec![] };
        let accomplice = scene.party();
        let filing = scene.logged(&LogProof::of(&planned, 0), BID);
        let early = scene.by(&accomplice, &filing);
        scene.world.begin(&early).unwrap();
        scene.world.advance_slots(slots);
        scene.submit(&[deal, other], &[]);
        scene.world.append(&accomplice, early.nonce, early.written());
        scene.world.seal(&early).unwrap();
        // A finder comes in time; the rank 0 of before is not lower than its rank 1.
        let found = scene.logged(&LogProof::of(&planned, 1), BID);
        scene.world.prepare(&found);
        assert_eq!((scene.draft(&early).rank, scene.draft(&found).rank), (0, 1));
        scene.world.submit_challenge(&early).unwrap();
        scene.world.submit_challenge(&found).unwrap();
        assert_eq!((scene.challenge(&early).rank, scene.challenge(&found).rank), (2, 1));
        // It lapses, and its deposit burns.
        scene.world.advance_slots(RANK_SLOTS + 1);
        scene.world.pass_rank(&early.draft()).unwrap();
        let fire = burnt(&scene);
        scene.world.cancel_evidence(&early).unwrap();
        assert_eq!(burnt(&scene), fire + RANK_DEPOSIT);
    }
}

#[test]
fn an_early_rank_takes_nothing_over() {
    // The claim itself is the finder's, whatever the accomplice holds.
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Propose);
    let planned = Batch { epoch: scene.epoch, entries: vec![deal.entry()], records: vec![] };
    let filing = scene.logged(&LogProof::of(&planned, 0), BID);
    let accomplice = scene.party();
    let early = scene.by(&accomplice, &filing);
    scene.world.begin(&early).unwrap();
    scene.submit(&[deal], &[]);
    scene.file(&filing);
    scene.world.append(&accomplice, early.nonce, early.written());
    scene.world.seal(&early).unwrap();
    scene.submit_refused(&early, Error::ChallengeExists);
}

// Take-over.

/// A finder with rank 0 and its evidence sealed, and a copier with rank 1 who opened the claim.
fn copied() -> (Scene, Filing, Filing) {
    let (mut scene, filing, _) = lie();
    let copier = scene.party();
    let copy = scene.by(&copier, &filing);
    scene.world.prepare(&filing);
    scene.file(&copy);
    assert_eq!(scene.challenge(&filing).rank, 1);
    (scene, filing, copy)
}

#[test]
fn a_lower_rank_takes_the_claim_over_and_pays_who_had_it_ok() {
    let (mut scene, filing, copy) = copied();
    let (before, draft, books) = (scene.challenge(&copy), scene.draft(&filing), scene.money(&filing));
    let copiers = scene.world.usdc_balance(&copy.finder.at());
    let lamports = scene.world.lamports(&filing.finder.at());
    scene.world.advance_slots(3);
    let submit = scene.world.submitting(&filing);
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.send_ok(std::slice::from_ref(&submit), &filing.finder, &[]);
    // Neither the era nor its vault takes part.
    let changed = [
        filing.challenge(),
        filing.draft(),
        filing.finder.at(),
        submit.accounts[at::CHALLENGER_USDC].pubkey,
        submit.accounts[at::REPLACED].pubkey,
    ];
    snapshot.assert_only_changed(&scene.world, &changed);
    scene.world.assert_books();
    let finder = filing.finder.at().to_bytes();
    let taken = ChallengeAccount { challenger: finder, rank: 0, event_sequence: 2, ..before };
    assert_eq!(scene.challenge(&filing), taken);
    assert_eq!(taken.payer, copy.finder.at().to_bytes(), "the rent stays with who paid it");
    assert_eq!(scene.draft(&filing), EvidenceDraft { rank: 1, state: 3, used: 1, ..draft });
    assert_eq!(scene.world.usdc_balance(&copy.finder.at()), copiers + CHALLENGE_STAKE);
    assert_eq!(scene.money(&filing), (books.0 - CHALLENGE_STAKE, books.1, books.2));
    assert_eq!(scene.world.lamports(&filing.finder.at()), lamports - receipt.fee);
    assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
    let event = ChallengeSubmitted::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = ChallengeSubmitted {
        agent_id: scene.id(),
        epoch_number: scene.epoch,
        era: 0,
        rank: 0,
        challenger: finder,
        challenge: filing.challenge().to_bytes(),
        draft: filing.draft().to_bytes(),
        claim: before.claim,
        entry_hash: before.entry_hash,
        ground: 1,
        value_known: 1,
        replaced: copy.finder.at().to_bytes(),
        sequence: 1,
        account_created_slot: before.submitted_slot,
    };
    assert_eq!(event, expected);
}

#[test]
fn a_copier_takes_nothing_from_the_finder_who_committed_first() {
    // M2: the copier opened the claim before the finder's own transaction, and gets exactly its stake back.
    let (mut scene, filing, copy) = copied();
    let start = scene.world.usdc_balance(&copy.finder.at()) + CHALLENGE_STAKE;
    let finders = scene.world.usdc_balance(&filing.finder.at());
    scene.world.submit_challenge(&filing).unwrap();
    scene.resolve(&filing);
    scene.world.assert_books();
    assert_eq!(scene.world.usdc_balance(&copy.finder.at()), start);
    assert_eq!(scene.world.usdc_balance(&filing.finder.at()), finders + 6_000_000);
    // The order is cleared: the swapped draft passes at once, and both drafts close with their deposits.
    scene.world.pass_rank(&filing.draft()).unwrap();
    assert_eq!(scene.world.ranks(&scene.agent, 0), (2, 2));
    let fire = burnt(&scene);
    for one in [&filing, &copy] {
        let held = scene.world.lamports(&one.draft());
        let before = scene.world.lamports(&one.finder.at());
        let receipt = scene.world.cancel_evidence(one).unwrap();
        assert_eq!(scene.world.lamports(&one.finder.at()), before + held - receipt.fee);
    }
    assert_eq!(burnt(&scene), fire);
    scene.world.settle_era(&scene.agent.clone(), 0).unwrap();
    scene.world.assert_books();
}

#[test]
fn a_copier_in_the_very_slot_takes_nothing_either() {
    // All in one slot: the copier reads the finder's commitment, and then its sealed draft.
    let (mut scene, filing, _) = lie();
    let copier = scene.party();
    scene.world.begin(&filing).unwrap();
    let copy = scene.by(&copier, &filing);
    scene.world.begin(&copy).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    scene.world.append(&copier, copy.nonce, copy.written());
    scene.world.seal(&copy).unwrap();
    scene.world.submit_challenge(&copy).unwrap();
    scene.world.seal(&filing).unwrap();
    scene.world.submit_challenge(&filing).unwrap();
    assert_eq!(scene.challenge(&filing).challenger, filing.finder.at().to_bytes());
    // And not back again.
    scene.submit_refused(&copy, Error::AlreadyUsed);
    let third = scene.by(&copier, &filing);
    scene.world.prepare(&third);
    scene.submit_refused(&third, Error::ChallengeExists);
}

#[test]
fn a_claim_is_taken_over_by_ever_lower_ranks() {
    let (mut scene, filing, _) = lie();
    let finders: Vec<Key> = (0..3).map(|_| scene.party()).collect();
    let filings: Vec<Filing> = finders.iter().map(|finder| scene.by(finder, &filing)).collect();
    for one in &filings {
        scene.world.prepare(one);
    }
    for one in filings.iter().rev() {
        scene.world.submit_challenge(one).unwrap();
        scene.world.assert_books();
    }
    let ranks: Vec<u32> = filings.iter().map(|one| scene.draft(one).rank).collect();
    assert_eq!((scene.challenge(&filing).rank, ranks), (0, vec![1, 2, 2]));
    let start = 1_000_000_000;
    let balances: Vec<u64> = finders.iter().map(|f| scene.world.usdc_balance(&f.at())).collect();
    assert_eq!(balances, [start - CHALLENGE_STAKE, start, start]);
    scene.resolve(&filing);
    // The draft of the highest rank used its own; the others hold what they took over.
    for one in [&filings[0], &filings[1]] {
        scene.world.pass_rank(&one.draft()).unwrap();
    }
    assert_eq!(scene.world.ranks(&scene.agent, 0), (3, 3));
}

#[test]
fn a_take_over_that_does_not_repay_who_had_it_fails() {
    let (mut scene, filing, _) = copied();
    let thief = scene.party();
    let (theirs, own) =
        (scene.world.usdc_account(&thief.at()), further_account(&mut scene, &filing.finder.at()));
    let submit = scene.world.submitting(&filing);
    for (account, error) in [
        (theirs, Error::WrongTokenAccountOwner),
        (own, Error::WrongTokenAccountOwner),
        (thief.at(), Error::NotLegacyToken),
    ] {
        let wrong = with_account(submit.clone(), at::REPLACED, account);
        refused(&mut scene.world, &[wrong], &filing.finder, &[], error);
    }
    let mut nobody = with_account(submit, at::REPLACED, address(ids::CHALLENGE));
    nobody.accounts[at::REPLACED].is_writable = false;
    refused(&mut scene.world, &[nobody], &filing.finder, &[], Error::AccountMissing);
}

#[test]
fn a_take_over_without_the_money_fails() {
    let (mut scene, filing, _) = lie();
    let (poor, copier) = (scene.stranger(), scene.party());
    scene.world.fund_usdc(&poor.at(), CHALLENGE_STAKE - 1);
    let (own, copy) = (scene.by(&poor, &filing), scene.by(&copier, &filing));
    scene.world.prepare(&own);
    scene.file(&copy);
    scene.submit_refused(&own, Error::InsufficientUsdc);
}

#[test]
fn a_take_over_by_a_lapsed_rank_or_of_a_settled_claim_fails() {
    let (scene, filing, _) = copied();
    let mut lapsed = scene.clone();
    let begun = scene.draft(&filing).begin_slot;
    lapsed.world.warp_to_slot(begun + RANK_SLOTS + 1);
    lapsed.submit_refused(&filing, Error::ChallengeExists);

    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&deal), &[deal.selection()]);
    let first = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    let copier = scene.party();
    let copy = scene.by(&copier, &first);
    scene.world.prepare(&first);
    scene.file(&copy);
    let owner = scene.owner.clone();
    scene.answer(&owner, &copy, &answer_of(&batch, 0, 0, [0; 32]));
    scene.submit_refused(&first, Error::ChallengeExists);
}

#[test]
fn a_take_over_is_in_time_as_long_as_the_rank_holds() {
    // The rank was taken in the last slots of the batch's window, and the copier opened the claim in the last.
    let (mut scene, filing, _) = lie();
    let submitted = scene.batch_account().submitted_slot;
    scene.world.warp_to_slot(submitted + 432_000);
    let copier = scene.party();
    let copy = scene.by(&copier, &filing);
    scene.world.prepare(&filing);
    scene.file(&copy);
    scene.world.advance_slots(RANK_SLOTS);
    scene.world.submit_challenge(&filing).unwrap();
    assert_eq!(scene.challenge(&filing).rank, 0);
}

#[test]
fn a_finder_improves_its_own_claims_rank() {
    // Its claim was opened by a later rank while an earlier one holds; the stake goes from one account of its
    // own to another.
    let (mut scene, filing, _) = lie();
    let later = scene.by(&filing.finder.clone(), &filing);
    scene.world.prepare(&filing);
    scene.file(&later);
    let further = further_account(&mut scene, &filing.finder.at());
    let submit = with_account(scene.world.submitting(&filing), at::REPLACED, further);
    let before = scene.money(&filing);
    scene.world.send_ok(&[submit], &filing.finder, &[]);
    scene.world.assert_books();
    assert_eq!(scene.challenge(&filing).rank, 0);
    assert_eq!(scene.world.token_balance(&further), CHALLENGE_STAKE);
    assert_eq!(scene.money(&filing), (before.0 - CHALLENGE_STAKE, before.1, before.2));
}

// pass_rank.

#[test]
fn the_order_passes_a_lapsed_draft_ok() {
    let (mut scene, filing, _) = lie();
    scene.world.prepare(&filing);
    let (draft, stake) = (scene.draft(&filing), scene.stake());
    scene.world.warp_to_slot(draft.begin_slot + RANK_SLOTS);
    pass_refused(&mut scene, &filing.draft(), Error::RankNotPassable);
    scene.world.advance_slots(1);
    let snapshot = scene.world.snapshot();
    let (stranger, pass) = (scene.world.faucet.insecure_clone(), scene.world.passing(&filing.draft()));
    let receipt = scene.world.send_ok(&[pass], &stranger, &[]);
    let era = pda::stake(&scene.agent.mint, 0);
    snapshot.assert_only_changed(&scene.world, &[filing.draft(), era, stranger.pubkey()]);
    let passed = EvidenceDraft { state: 4, event_sequence: draft.event_sequence + 1, ..draft };
    assert_eq!(scene.draft(&filing), passed);
    let moved = zx1_interface::accounts::StakeLockAccount { settled_rank: 1, ..stake };
    assert_eq!(scene.stake(), moved);
    let event = RankPassed::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = RankPassed {
        agent_id: scene.id(),
        era: 0,
        rank: 0,
        account: filing.draft().to_bytes(),
        sequence: draft.event_sequence,
        account_created_slot: draft.created_slot,
    };
    assert_eq!(event, expected);
    assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
    pass_refused(&mut scene, &filing.draft(), Error::RankNotPassable);
    // A passed draft may still be used, with the rank of that moment.
    scene.world.submit_challenge(&filing).unwrap();
    assert_eq!((scene.challenge(&filing).rank, scene.draft(&filing).state), (1, 4));
}

#[test]
fn the_order_passes_no_rank_before_its_turn() {
    let (mut scene, filings) = lies(2);
    for filing in &filings {
        scene.world.prepare(filing);
    }
    scene.world.advance_slots(RANK_SLOTS + 1);
    for later in [1, 2] {
        pass_refused(&mut scene, &filings[later].draft(), Error::RankNotPassable);
    }
    for (n, filing) in filings.iter().enumerate() {
        assert_eq!(scene.world.ranks(&scene.agent, 0), (u32::try_from(n).unwrap(), 3));
        scene.world.pass_rank(&filing.draft()).unwrap();
    }
}

#[test]
fn the_order_passes_neither_open_challenges_nor_used_drafts() {
    let (mut scene, filing, _) = lie();
    scene.file(&filing);
    scene.world.advance_slots(RANK_SLOTS + 1);
    pass_refused(&mut scene, &filing.challenge(), Error::RankNotPassable);
    pass_refused(&mut scene, &filing.draft(), Error::RankNotPassable);
    scene.resolve(&filing);
    // Resolved, it has been passed already.
    pass_refused(&mut scene, &filing.challenge(), Error::RankNotPassable);
}

#[test]
fn only_what_has_a_rank_is_passed_and_only_in_its_own_order() {
    let (mut scene, filing, _) = lie();
    let other = scene.world.living_agent();
    let (agent, who) = (scene.agent.mint, scene.challenger.clone());
    let bare = scene.world.draft_of(&who, 77, &[1]);
    scene.world.prepare(&filing);
    scene.world.advance_slots(RANK_SLOTS + 1);
    let right = scene.world.passing(&filing.draft());
    let (authority, stake_lock) = (4, 5);
    let cases = [
        (0, bare, Error::RankNotPassable),
        (0, scene.batch(), Error::WrongAccountOwner),
        (0, keypair("nothing").pubkey(), Error::AccountMissing),
        (1, pda::stake(&other.agent.mint, 0), Error::WrongAgent),
        (1, pda::stake(&agent, 1), Error::AccountMissing),
        (1, pda::tenure(&agent), Error::WrongAccountType),
        (2, pda::shard(other.agent.shard()), Error::WrongAddress),
        (3, pda::vault(other.agent.shard()), Error::WrongAddress),
        (authority, who.at(), Error::WrongAddress),
        (stake_lock, address(ids::LEASE), Error::WrongAddress),
    ];
    let stranger = scene.stranger();
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), place, account);
        let failure = scene.world.send_refused(&[wrong], &stranger, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    scene.world.send_ok(&[right], &stranger, &[]);
}

// The deposit.

#[test]
fn the_deposit_of_a_used_rank_comes_back_at_once() {
    let (mut scene, filing, _) = lie();
    scene.file(&filing);
    let held = scene.world.rent(EvidenceDraft::SIZE + filing.written().len()) + RANK_DEPOSIT;
    assert_eq!(scene.world.lamports(&filing.draft()), held);
    let (lamports, fire, created) =
        (scene.world.lamports(&filing.finder.at()), burnt(&scene), scene.draft(&filing).created_slot);
    // The challenge is open still, and nothing need be shown.
    let instruction = cancel(&filing, None, None);
    let receipt = scene.world.send_ok(&[instruction], &filing.finder, &[]);
    assert_eq!(scene.world.lamports(&filing.finder.at()), lamports + held - receipt.fee);
    assert_eq!(burnt(&scene), fire);
    let event = EvidenceDraftCanceled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected = EvidenceDraftCanceled {
        draft: filing.draft().to_bytes(),
        owner: filing.finder.at().to_bytes(),
        burnt: 0,
        sequence: 2,
        account_created_slot: created,
    };
    assert_eq!(event, expected);
}

#[test]
fn the_deposit_of_a_lapsed_rank_is_burnt() {
    let (mut scene, filing, _) = lie();
    scene.world.begin(&filing).unwrap();
    cancel_refused(&mut scene, &filing, Error::RankNotPassed);
    scene.world.advance_slots(RANK_SLOTS + 1);
    cancel_refused(&mut scene, &filing, Error::RankNotPassed);
    scene.world.pass_rank(&filing.draft()).unwrap();
    let rent = scene.world.rent(EvidenceDraft::SIZE + filing.written().len());
    let (lamports, fire) = (scene.world.lamports(&filing.finder.at()), burnt(&scene));
    let receipt = scene.world.cancel_evidence(&filing).unwrap();
    assert_eq!(scene.world.lamports(&filing.finder.at()), lamports + rent - receipt.fee);
    assert_eq!(burnt(&scene), fire + RANK_DEPOSIT);
    let event = EvidenceDraftCanceled::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    assert_eq!(event.burnt, RANK_DEPOSIT);
    assert!(scene.world.account(&filing.draft()).is_none());
}

#[test]
fn the_deposit_comes_back_when_the_era_was_slashed_while_the_rank_held() {
    for (slots, spared) in [(0, true), (RANK_SLOTS, true), (RANK_SLOTS + 1, false)] {
        let (mut scene, filing, double) = lie();
        scene.world.prepare(&double);
        scene.world.prepare(&filing);
        let begun = scene.draft(&filing).begin_slot;
        scene.world.submit_challenge(&double).unwrap();
        scene.world.warp_to_slot(begun + slots);
        scene.world.resolve(&double.challenge()).unwrap();
        // Something is left in the pot, for this rank is not settled: it could still be used.
        assert_eq!(scene.stake().slashed_slot, begun + slots);
        if !spared {
            cancel_refused(&mut scene, &filing, Error::RankNotPassed);
            continue;
        }
        let draft = scene.draft(&filing);
        let lamports = scene.world.lamports(&filing.finder.at());
        let receipt = scene.world.cancel_evidence(&filing).unwrap();
        assert_eq!(scene.world.lamports(&filing.finder.at()), lamports + RANK_DEPOSIT - receipt.fee);
        assert_eq!(scene.draft(&filing), EvidenceDraft { deposit: 0, used: 1, ..draft });
        assert!(events(&receipt, &address(ids::CHALLENGE)).is_empty());
        // Paid once: then the account waits for the order, and cannot be used any more.
        cancel_refused(&mut scene, &filing, Error::RankNotPassed);
        scene.submit_refused(&filing, Error::AlreadyUsed);
        scene.world.advance_slots(RANK_SLOTS + 1);
        scene.world.pass_rank(&filing.draft()).unwrap();
        let (rent, fire) = (scene.world.lamports(&filing.draft()), burnt(&scene));
        assert_eq!(rent, scene.world.rent(EvidenceDraft::SIZE + filing.written().len()));
        let lamports = scene.world.lamports(&filing.finder.at());
        let receipt = scene.world.cancel_evidence(&filing).unwrap();
        assert_eq!(scene.world.lamports(&filing.finder.at()), lamports + rent - receipt.fee);
        assert_eq!(burnt(&scene), fire);
    }
}

#[test]
fn the_deposit_comes_back_when_a_lower_rank_opened_the_claim_after_it_was_taken() {
    let (mut scene, filing, _) = lie();
    let second = scene.party();
    let late = scene.by(&second, &filing);
    scene.world.prepare(&filing);
    scene.world.prepare(&late);
    scene.world.submit_challenge(&filing).unwrap();
    let lamports = scene.world.lamports(&second.at());
    let receipt = scene.world.cancel_evidence(&late).unwrap();
    assert_eq!(scene.world.lamports(&second.at()), lamports + RANK_DEPOSIT - receipt.fee);
    cancel_refused(&mut scene, &late, Error::RankNotPassed);
}

#[test]
fn a_claim_that_was_open_before_spares_no_rank() {
    // A liar's one old challenge would refund all its standing drafts.
    let (mut scene, filing, _) = lie();
    scene.file(&filing);
    scene.world.advance_slots(1);
    let standing = scene.by(&filing.finder.clone(), &filing);
    scene.world.prepare(&standing);
    cancel_refused(&mut scene, &standing, Error::RankNotPassed);
    scene.resolve(&filing);
    scene.world.pass_rank(&standing.draft()).unwrap();
    let fire = burnt(&scene);
    scene.world.cancel_evidence(&standing).unwrap();
    assert_eq!(burnt(&scene), fire + RANK_DEPOSIT);
}

#[test]
fn a_claim_of_a_higher_rank_or_another_claim_spares_no_rank() {
    let (mut scene, filing, double) = lie();
    let copier = scene.party();
    let copy = scene.by(&copier, &filing);
    scene.world.prepare(&filing);
    scene.file(&copy);
    scene.file(&double);
    // The finder's own rank is the lower one: it may take the claim over.
    cancel_refused(&mut scene, &filing, Error::RankNotPassed);
    let other = cancel(&filing, None, Some(double.challenge()));
    refused(&mut scene.world, &[other], &filing.finder, &[], Error::WrongAddress);
    let (agent, stake) = (scene.world.living_agent().agent.mint, pda::stake(&scene.agent.mint, 0));
    for (shown, error) in [
        (pda::stake(&agent, 0), Error::WrongAgent),
        (pda::stake(&scene.agent.mint, 1), Error::WrongAddress),
        (keypair("nothing").pubkey(), Error::WrongAddress),
        (stake, Error::RankNotPassed),
    ] {
        let wrong = cancel(&filing, Some(shown), None);
        refused(&mut scene.world, &[wrong], &filing.finder, &[], error);
    }
}

#[test]
fn a_liars_standing_drafts_are_not_cheap() {
    // One rank after the other for a while, each lapsed; then the era is slashed. None comes back but the last.
    let (mut scene, filing, double) = lie();
    let accomplice = scene.party();
    let standing: Vec<Filing> = (0..4)
        .map(|_| {
            let one = scene.by(&accomplice, &double);
            scene.world.begin(&one).unwrap();
            scene.world.advance_slots(RANK_SLOTS + 1);
            one
        })
        .collect();
    let last = scene.by(&accomplice, &double);
    scene.world.prepare(&last);
    let fire = burnt(&scene);
    for one in &standing {
        scene.world.pass_rank(&one.draft()).unwrap();
    }
    scene.world.submit_challenge(&last).unwrap();
    scene.world.prepare(&filing);
    scene.world.resolve(&last.challenge()).unwrap();
    for one in &standing {
        scene.world.cancel_evidence(one).unwrap();
    }
    scene.world.cancel_evidence(&last).unwrap();
    assert_eq!(burnt(&scene), fire + 4 * RANK_DEPOSIT);
    // Two days of it are 1 440 ranks, 14.4 SOL.
    assert_eq!(432_000_u64.div_ceil(RANK_SLOTS) * RANK_DEPOSIT, 14_400_000_000);
}

#[test]
fn ranks_taken_after_the_slash_are_not_spared_by_it() {
    let (mut scene, filing, double) = lie();
    let extra = scene.by(&filing.finder.clone(), &filing);
    scene.file(&double);
    scene.world.begin(&extra).unwrap();
    scene.world.resolve(&double.challenge()).unwrap();
    assert_ne!(scene.stake().pot_usdc, 0, "a rank was outstanding, so something is left to win");
    scene.world.advance_slots(1);
    scene.world.begin(&filing).unwrap();
    cancel_refused(&mut scene, &filing, Error::RankNotPassed);
}

#[test]
fn when_the_era_is_gone_every_draft_of_it_closes() {
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::NotarizeAssign);
    let batch = scene.submit(std::slice::from_ref(&deal), &[deal.verifier()]);
    let filing = scene.logged(&LogProof::of(&batch, 0), VERIFIER);
    let copier = scene.party();
    let (copy, idle) = (scene.by(&copier, &filing), scene.by(&copier, &filing));
    scene.world.prepare(&filing);
    scene.file(&copy);
    scene.world.begin(&idle).unwrap();
    scene.world.submit_challenge(&filing).unwrap();
    let (agent, owner) = (scene.agent, scene.owner.clone());
    scene.answer(&owner, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    // Nobody passes the swapped rank 1 and the lapsed rank 2; an era that was not slashed may be claimed.
    scene.world.advance_epochs(13);
    scene.world.queue_unlock(&agent, &owner, 0).unwrap();
    scene.world.advance_slots(432_001);
    for one in [&filing, &idle] {
        let early = cancel(one, Some(pda::stake(&agent.mint, 0)), None);
        refused(&mut scene.world, &[early], &one.finder, &[], Error::RankNotPassed);
    }
    scene.world.claim_stake(&agent, &owner, 0).unwrap();
    let fire = burnt(&scene);
    for (one, back) in [(&filing, RANK_DEPOSIT), (&idle, 0)] {
        let rent = scene.world.rent(EvidenceDraft::SIZE + one.written().len());
        let before = scene.world.lamports(&one.finder.at());
        let receipt = scene.world.cancel_evidence(one).unwrap();
        assert_eq!(scene.world.lamports(&one.finder.at()), before + rent + back - receipt.fee);
    }
    assert_eq!(burnt(&scene), fire + RANK_DEPOSIT);
}

#[test]
fn a_gift_to_a_draft_is_its_owners() {
    let (mut scene, filing, _) = lie();
    scene.world.begin(&filing).unwrap();
    let give = solana_system_interface::instruction::transfer(&filing.finder.at(), &filing.draft(), 777);
    scene.world.send_ok(&[give], &filing.finder, &[]);
    scene.world.advance_slots(RANK_SLOTS + 1);
    scene.world.pass_rank(&filing.draft()).unwrap();
    let (fire, lamports) = (burnt(&scene), scene.world.lamports(&filing.finder.at()));
    let rent = scene.world.rent(EvidenceDraft::SIZE + filing.written().len());
    let receipt = scene.world.cancel_evidence(&filing).unwrap();
    assert_eq!(scene.world.lamports(&filing.finder.at()), lamports + rent + 777 - receipt.fee);
    assert_eq!(burnt(&scene), fire + RANK_DEPOSIT);
}
