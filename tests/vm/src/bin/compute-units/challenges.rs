//! Challenge, and what it calls in StakeLock and BehaviorLog.

use solana_instruction::Instruction;
use zx1_chain::instructions::challenge;
use zx1_chain::pda;
use zx1_interface::accounts::EvidenceDraft;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, RANK_SLOTS, SHOW_SLOTS};
use zx1_interface::instruction as data;
use zx1_protocol::challenge::Ground;
use zx1_protocol::hash::Sha3;
use zx1_protocol::merkle;
use zx1_vm_tests::{APPEND_BYTES, ARRAYS, Batch, Filing, Key, LOG, Living, Receipt, Shown, World};

use crate::evidence::{self, Place};
use crate::measure::Bench;

const BID: (Ground, bool) = (Ground::Bid, false);
const DOUBLE_BID: (Ground, bool) = (Ground::DoubleBid, true);

/// An agent whose batch's log holds a proposal at this depth, and whose arrays hold the bid at the other or
/// nothing; and a finder's evidence against it.
fn logged(bench: &mut Bench, depth: u32, arrays: Option<u32>) -> (Living, Filing, Option<Place>) {
    let (living, finder) = (bench.agent(), bench.party());
    let message = evidence::proposal(&living.agent, bench.world.epoch() - 1, 100);
    let (bytes, log) = evidence::log_evidence(&message.entry, depth);
    let record = merkle::leaf::<Sha3>(&evidence::bid(evidence::VALUE, message.hash));
    let arrays = arrays.map(|depth| Place::of(&record, depth));
    evidence::batch(bench, &living, Some(&log), arrays.as_ref());
    let filing = evidence::filing(bench, &living, &finder, BID, message.hash, Shown::Bytes(bytes));
    (living, filing, arrays)
}

/// An agent whose batch holds two bids of one message, and a finder's evidence against it.
fn doubled(bench: &mut Bench, depth: u32) -> (Living, Filing) {
    let (living, finder) = (bench.agent(), bench.party());
    let message = evidence::proposal(&living.agent, bench.world.epoch() - 1, 100).hash;
    let (bytes, place) = evidence::double_bid(message, depth);
    evidence::batch(bench, &living, None, Some(&place));
    let filing = evidence::filing(bench, &living, &finder, DOUBLE_BID, message, Shown::Bytes(bytes));
    (living, filing)
}

fn sealing(bench: &mut Bench, case: &str, filing: &Filing) -> Receipt {
    bench.world.begin(filing).unwrap();
    bench.world.append(&filing.finder, filing.nonce, filing.written());
    let seal = bench.world.sealing(filing);
    bench.measure::<data::SealEvidence>(case, &seal, &filing.finder, &[])
}

/// begin_evidence with take_rank in it, append_evidence, cancel_evidence.
pub(crate) fn drafting(bench: &mut Bench) {
    let (_, filing, _) = logged(bench, 0, None);
    let begin = bench.world.beginning(&filing);
    let receipt = bench.measure_one::<data::BeginEvidence>("with a rank", begin, &filing.finder);
    bench.called::<data::TakeRank>("from begin_evidence", &receipt, 0);

    let owner = bench.party();
    for (nonce, length) in [(0, APPEND_BYTES), (1, 8_192)] {
        let begin = bench.world.beginning_unranked(&owner.at(), nonce, length);
        bench.measure_one::<data::BeginEvidence>(&format!("{length} bytes, no rank"), begin, &owner);
    }
    let append = challenge::append_evidence(owner.at(), 1, 0, vec![1; APPEND_BYTES]);
    bench.measure_one::<data::AppendEvidence>("900 bytes", append, &owner);
    let cancel = challenge::cancel_evidence(owner.at(), 1, None, None);
    bench.measure_one::<data::CancelEvidence>("8192 bytes, no rank", cancel, &owner);

    bench.world.advance_slots(RANK_SLOTS + 1);
    bench.world.pass_rank(&filing.draft()).unwrap();
    let cancel = bench.world.canceling(&filing);
    bench.measure_one::<data::CancelEvidence>("a lapsed rank", cancel, &filing.finder);
}

/// Measures seal_evidence with leaves at depth 0, 5 and 20.
pub(crate) fn sealing_all(bench: &mut Bench) {
    for depth in [0, 5, 20] {
        let (_, filing, _) = logged(bench, depth, None);
        let case = if depth == 0 { "bid, 1 leaf".into() } else { format!("bid, depth {depth}") };
        sealing(bench, &case, &filing);
    }

    let (living, finder) = (bench.agent(), bench.party());
    let message = evidence::rating(&living.agent, bench.world.epoch() - 1);
    let (bytes, place) = evidence::log_evidence(&message.entry, 0);
    evidence::batch(bench, &living, Some(&place), None);
    let ground = (Ground::Feedback, true);
    let filing = evidence::filing(bench, &living, &finder, ground, message.hash, Shown::Bytes(bytes));
    sealing(bench, "feedback, 1 leaf", &filing);

    for depth in [1, 20] {
        let (_, filing) = doubled(bench, depth);
        sealing(bench, &format!("double bid, depth {depth}"), &filing);
    }
    for length in [16, 400] {
        let (_, filing) = enveloped(bench, length);
        sealing(bench, &format!("envelope, payload of {length} bytes"), &filing);
    }
}

/// An agent whose batch is empty, and an envelope of its deal key.
fn enveloped(bench: &mut Bench, length: usize) -> (Living, Filing) {
    let (living, finder) = (bench.agent(), bench.party());
    evidence::batch(bench, &living, None, None);
    let message = evidence::proposal(&living.agent, bench.world.epoch() - 1, length);
    let shown = Shown::Envelope { signed: message.signing_bytes, key: Box::new(living.keys.deal.clone()) };
    let filing = evidence::filing(bench, &living, &finder, (Ground::Bid, true), message.hash, shown);
    (living, filing)
}

/// submit_challenge, and take_deposit in it.
pub(crate) fn submitting(bench: &mut Bench) {
    let (_, filing, _) = logged(bench, 20, None);
    bench.world.prepare(&filing);
    let submit = bench.world.submitting(&filing);
    let receipt = bench.measure_one::<data::SubmitChallenge>("bid, with a rank", submit, &filing.finder);
    bench.called::<data::TakeDeposit>("from submit_challenge", &receipt, 0);

    let (_, filing) = doubled(bench, 20);
    bench.world.prepare(&filing);
    let submit = bench.world.submitting(&filing);
    bench.measure_one::<data::SubmitChallenge>("double bid, with a rank", submit, &filing.finder);

    let (_, filing, _) = logged(bench, 0, None);
    bench.world.prepare_unranked(&filing);
    let submit = bench.world.submitting(&filing);
    bench.measure_one::<data::SubmitChallenge>("bid, takes the rank of now", submit, &filing.finder);

    // The copier opens the claim; the finder's rank is lower.
    let (_, filing, _) = logged(bench, 0, None);
    let copy = filing.by(&bench.party(), 0);
    bench.world.prepare(&filing);
    bench.world.file(&copy);
    let submit = bench.world.submitting(&filing);
    bench.measure_one::<data::SubmitChallenge>("bid, takes the claim over", submit, &filing.finder);
}

fn answering_with(bench: &mut Bench, filing: &Filing, arrays: &Place, answerer: &Key) -> Instruction {
    let answer = data::AnswerChallenge {
        leaf_index: arrays.index,
        merkle_proof: arrays.path.clone(),
        bid_value: evidence::VALUE,
        attestation: [0; 32],
    };
    bench.world.answering(&answerer.at(), &filing.challenge(), &answer)
}

/// Measures answer_challenge with settle in it, close_challenge, and cancel_evidence of a used draft.
pub(crate) fn answering(bench: &mut Bench) {
    // Deeper ones need a lookup table.
    for depth in [0, 5, 16] {
        let (_, filing, arrays) = logged(bench, 0, Some(depth));
        let answerer = bench.party();
        bench.world.file(&filing);
        let answer = answering_with(bench, &filing, &arrays.unwrap(), &answerer);
        let case = if depth == 0 { "1 leaf".into() } else { format!("depth {depth}") };
        let receipt = bench.measure_one::<data::AnswerChallenge>(&case, answer, &answerer);
        if depth == 0 {
            bench.called::<data::Settle>("from answer_challenge", &receipt, 0);
            bench.world.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
            let close = bench.world.closing_challenge(&filing.challenge());
            bench.measure_one::<data::CloseChallenge>("settled", close, &answerer);
            let cancel = bench.world.canceling(&filing);
            bench.measure_one::<data::CancelEvidence>("a used rank", cancel, &filing.finder);
        }
    }
}

/// resolve_challenge, lock_stake in the next era, pass_rank, settle_era.
pub(crate) fn resolving(bench: &mut Bench) {
    // Two ranks: the first lapses, the second slashes.
    let (living, filing, _) = logged(bench, 0, None);
    let (caller, lapsed) = (bench.party(), filing.by(&bench.party(), 0));
    bench.world.begin(&lapsed).unwrap();
    bench.world.file(&filing);
    let amount = bench.world.amounts().min_stake;
    let lock = bench.world.locking(&living.agent, &living.owner.at(), 1, amount);
    bench.measure_one::<data::LockStake>("the next era", lock, &living.owner);
    bench.world.pass_window(&filing.challenge());
    let pass = bench.world.passing(&lapsed.draft());
    bench.measure_one::<data::PassRank>("a lapsed draft", pass, &caller);
    let mut fork = bench.fork();
    let resolve = fork.world.resolving(&filing.challenge());
    let receipt = fork.measure_one::<data::ResolveChallenge>("the era is slashed, last", resolve, &caller);
    fork.called::<data::Settle>("from resolve_challenge", &receipt, 0);
    bench.join(fork);

    // A later rank that lapses leaves the rest of the finders' part.
    let late = filing.by(&bench.party(), 1);
    bench.world.begin(&late).unwrap();
    let resolve = bench.world.resolving(&filing.challenge());
    bench.measure_one::<data::ResolveChallenge>("the era is slashed", resolve, &caller);
    bench.world.advance_slots(RANK_SLOTS + 1);
    bench.world.pass_rank(&late.draft()).unwrap();
    let settle = bench.world.settling_era(&living.agent, 0);
    bench.measure_one::<data::SettleEra>("a rest", settle, &caller);

    let (_, filing) = doubled(bench, 1);
    bench.world.file(&filing);
    let resolve = bench.world.resolving(&filing.challenge());
    bench.measure_one::<data::ResolveChallenge>("a double bid, at once", resolve, &caller);

    // Answered before its turn, so that the order has to be moved past it.
    let (_, filing, arrays) = logged(bench, 0, Some(0));
    let first = filing.by(&bench.party(), 0);
    bench.world.begin(&first).unwrap();
    bench.world.file(&filing);
    let answer = answering_with(bench, &filing, &arrays.unwrap(), &caller);
    bench.world.send_ok(&[answer], &caller, &[]);
    bench.world.advance_slots(RANK_SLOTS + 1);
    bench.world.pass_rank(&first.draft()).unwrap();
    let pass = bench.world.passing(&filing.challenge());
    bench.measure_one::<data::PassRank>("a settled challenge", pass, &caller);
}

/// ask_leaf, show_leaf, settle_ask with mark_withheld in it, close_ask.
pub(crate) fn asking(bench: &mut Bench) {
    let (living, asker) = (bench.agent(), bench.party());
    let message = evidence::proposal(&living.agent, bench.world.epoch() - 1, 100);
    let records = (0..32).map(|n| evidence::bid(n, message.hash).to_vec()).collect();
    let batch = Batch { epoch: bench.world.epoch() - 1, entries: vec![message.entry], records };
    bench.world.submit_batch(&living.agent, &living.keys.batch, &batch).unwrap();
    let (agent, epoch, shower) = (living.agent, batch.epoch, living.owner);

    let ask = bench.world.asking(&asker.at(), &agent, epoch, ARRAYS, 5);
    let receipt = bench.measure_one::<data::AskLeaf>("a record", ask, &asker);
    bench.called::<data::TakeDeposit>("from ask_leaf", &receipt, 0);
    bench.world.ask_leaf(&asker, &agent, epoch, ARRAYS, 6).unwrap();
    for index in [0, 1] {
        let tree = if index == 0 { LOG } else { ARRAYS };
        bench.world.ask_leaf(&asker, &agent, epoch, tree, index).unwrap();
    }

    let at = bench.world.ask_address(&agent, epoch, ARRAYS, 5);
    let proof = batch.arrays().proof_of_entry(5).unwrap();
    let show = bench.world.showing(&shower.at(), &at, Ok(&batch.records[5]), &proof.path);
    let receipt = bench.measure_one::<data::ShowLeaf>("a record, depth 5", show, &shower);
    bench.called::<data::Settle>("from show_leaf", &receipt, 0);
    let close = bench.world.closing_ask(&at);
    bench.measure_one::<data::CloseAsk>("shown", close, &shower);
    let at = bench.world.ask_address(&agent, epoch, ARRAYS, 6);
    let proof = batch.arrays().proof_of_entry(6).unwrap();
    let draft = bench.world.draft_of(&shower, 0, &batch.records[6]);
    let show = bench.world.showing(&shower.at(), &at, Err(draft), &proof.path);
    bench.measure_one::<data::ShowLeaf>("from a draft, depth 5", show, &shower);

    bench.world.advance_slots(SHOW_SLOTS + 1);
    let settle = |bench: &mut Bench, case: &str, tree, index| {
        let at = bench.world.ask_address(&agent, epoch, tree, index);
        let settle = bench.world.settling_ask(&at);
        bench.measure_one::<data::SettleAsk>(case, settle, &shower)
    };
    let receipt = settle(bench, "the first of its batch", LOG, 0);
    bench.called::<data::MarkWithheld>("from settle_ask", &receipt, 0);
    settle(bench, "another of its batch", ARRAYS, 1);
}

/// What a bump that does not fit costs: two drafts that differ in nothing but the bumps of their addresses.
pub(crate) fn units_per_step(world: &World) -> u64 {
    let mut world = world.clone();
    let owner = Key(world.new_party());
    let mut first = None;
    for nonce in 0.. {
        let begin = world.beginning_unranked(&owner.at(), nonce, 100);
        let receipt = world.send_ok(&[begin], &owner, &[]);
        let draft: EvidenceDraft = world.read(&pda::evidence_draft(&owner.at(), nonce));
        let steps = u64::from(255 - draft.bump);
        match first {
            None if steps == 0 => first = Some(receipt.units),
            Some(units) if steps >= 2 => return (receipt.units - units) / steps,
            _ => {}
        }
    }
    unreachable!("bumps differ")
}
