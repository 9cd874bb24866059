//! The valid calls of Challenge, each with what may be different in it without harm.

use zx1_chain::instructions::challenge;
use zx1_interface::constants::{RANK_SLOTS, SHOW_SLOTS, UNLOCK_DELAY_SLOTS};
use zx1_interface::instruction as data;
use zx1_vm_tests::{ARRAYS, Filing, LOG, World};

use crate::calls::{Call, Free};
use crate::stage::{Evident, Stage};

/// Valid calls of Challenge.
pub(crate) fn challenge(stage: &Stage) -> Vec<Call> {
    let mut calls = drafting(stage);
    calls.extend(sealing(stage));
    calls.extend(canceling(stage));
    calls.extend(submitting(stage));
    calls.extend(deciding(stage));
    calls.extend(ordering(stage));
    calls.extend(asking(stage));
    calls.extend(leaving_unanswered(stage));
    calls
}

/// The stage's world after some more steps.
fn after(world: &World, steps: impl FnOnce(&mut World)) -> World {
    let mut world = world.clone();
    steps(&mut world);
    world
}

fn drafting(stage: &Stage) -> Vec<Call> {
    let (world, filing, me) = (&stage.world, stage.mine(0, Evident::Entry), stage.challenger.at());
    let bare = world.beginning_unranked(&me, 4, 64);
    let begun = after(world, |world| {
        world.send_ok(std::slice::from_ref(&bare), &stage.challenger, &[]);
    });
    let append = challenge::append_evidence(me, 4, 0, vec![1; 40]);
    vec![
        // Who makes a draft chooses how long it is and what it commits to.
        Call::new::<data::BeginEvidence>("with a rank", world, world.beginning(&filing))
            .arguments(&["len", "commit"]),
        // 2 to 5: without a rank there is neither an era nor a deposit.
        Call::new::<data::BeginEvidence>("without a rank", world, bare)
            .unread(&[2, 3, 4, 5])
            .arguments(&["len", "agent_id", "era"]),
        Call::new::<data::AppendEvidence>("a part", &begun, append).arguments(&["bytes"]),
    ]
}

fn sealing(stage: &Stage) -> Vec<Call> {
    let written = |filing: &Filing| {
        after(&stage.world, |world| {
            world.begin(filing).unwrap();
            world.append(&filing.finder, filing.nonce, filing.written());
        })
    };
    let call = |path, filing: &Filing| {
        let world = written(filing);
        let mut seal = world.sealing(filing);
        let call = Call::new::<data::SealEvidence>(path, &world, seal.pop().unwrap());
        (call, seal.pop())
    };
    let entry = stage.mine(0, Evident::Entry);
    let unranked = after(&stage.world, |world| {
        world.draft_of(&entry.finder, entry.nonce, entry.written());
    });
    let seal = unranked.sealing(&entry).pop().unwrap();
    let (by_entry, _) = call("a log entry", &entry);
    let (by_bids, _) = call("two bids", &stage.mine(0, Evident::Bids));
    let (by_envelope, signature) = call("an envelope", &stage.mine(0, Evident::Envelope));
    vec![
        // 3 and 4, key and sysvar: only an envelope has a signature.
        by_entry.unread(&[3, 4]),
        by_bids.unread(&[3, 4]),
        Call::new::<data::SealEvidence>("without a rank", &unranked, seal).unread(&[3, 4]),
        by_envelope.before(signature.unwrap()),
    ]
}

fn canceling(stage: &Stage) -> Vec<Call> {
    let filing = stage.mine(0, Evident::Entry);
    let begun = after(&stage.world, |world| {
        world.draft_of(&filing.finder, 0, filing.written());
    });
    let lapsed = after(&stage.world, |world| {
        world.begin(&filing).unwrap();
        world.advance_slots(RANK_SLOTS + 1);
        world.pass_rank(&filing.draft()).unwrap();
    });
    let used = after(&stage.world, |world| drop(world.file(&filing)));
    // A double bid of a lower rank empties the era while this rank holds.
    let late = stage.mine(1, Evident::Entry);
    let spared = after(&stage.world, |world| {
        let first = stage.filing(&stage.sponsor, &stage.living, 0, Evident::Bids);
        world.prepare(&first);
        world.begin(&late).unwrap();
        world.submit_challenge(&first).unwrap();
        world.resolve(&first.challenge()).unwrap();
    });
    let program = zx1_vm_tests::address(zx1_interface::ids::CHALLENGE);
    let call = |path, world: &World, filing: &Filing| {
        Call::new::<data::CancelEvidence>(path, world, world.canceling(filing))
    };
    vec![
        // 2 and 3, stake and challenge: there is no deposit.
        call("no rank", &begun, &filing).unread(&[2, 3]),
        // Nothing shown: the deposit is burnt all the same, or it is the owner's all the same.
        call("lapsed", &lapsed, &filing).accounts(&[(2, Free::Also(program))]),
        call("used", &used, &filing).accounts(&[(2, Free::Also(program)), (3, Free::Also(program))]),
        // 5 and 6: the account stays for the order, and no event says so.
        call("emptied", &spared, &late).unread(&[5, 6]),
    ]
}

fn submitting(stage: &Stage) -> Vec<Call> {
    let prepared = |filing: &Filing| after(&stage.world, |world| world.prepare(filing));
    let call = |path, world: World, filing: &Filing| {
        let mut building = world.clone();
        Call::new::<data::SubmitChallenge>(path, &world, building.submitting(filing))
    };
    let (entry, bids) = (stage.mine(0, Evident::Entry), stage.mine(0, Evident::Bids));
    let unranked = after(&stage.world, |world| world.prepare_unranked(&entry));
    let copied = after(&prepared(&entry), |world| {
        world.file(&entry.by(&stage.sponsor, 0));
    });
    vec![
        // 5: nobody is replaced.
        call("a bid", prepared(&entry), &entry).unread(&[5]),
        call("without a rank", unranked, &entry).unread(&[5]),
        // 3: a claim with the value has none above it.
        call("two bids", prepared(&bids), &bids).unread(&[3, 5]),
        // 3, 8, 9, 11, 12 and 14: nothing is opened and nothing goes into the vault.
        call("taking over", copied, &entry).unread(&[3, 8, 9, 11, 12, 14]),
    ]
}

fn deciding(stage: &Stage) -> Vec<Call> {
    let (entry, bids) = (stage.mine(0, Evident::Entry), stage.mine(0, Evident::Bids));
    let answerer = stage.sponsor.at();
    let answering = |world: &World| world.clone().answering(&answerer, &entry.challenge(), &stage.answer());
    let open = after(&stage.world, |world| drop(world.file(&entry)));
    let behind = after(&stage.world, |world| {
        world.begin(&stage.mine(1, Evident::Bids)).unwrap();
        world.file(&entry);
    });
    let mut unanswered = after(&open, |world| world.pass_window(&entry.challenge()));
    let resolve = unanswered.resolving(&entry.challenge());
    let mut doubled = after(&stage.world, |world| drop(world.file(&bids)));
    let resolve_at_once = doubled.resolving(&bids.challenge());
    let resolved = after(&unanswered, |world| drop(world.resolve(&entry.challenge()).unwrap()));
    // Answered out of turn; then the era is taken over and claimed, and its order with it.
    let gone = after(&behind, |world| {
        world.send_ok(&[answering(&behind)], &stage.sponsor, &[]);
        let agent = world.transfer_agent(&stage.living.agent, &stage.living.owner, &answerer);
        world.take_over(&agent, &stage.sponsor).unwrap();
        world.advance_slots(UNLOCK_DELAY_SLOTS + 1);
        world.claim_stake(&agent, &stage.living.owner, 0).unwrap();
    });
    let (close, close_gone) =
        (resolved.closing_challenge(&entry.challenge()), gone.closing_challenge(&entry.challenge()));
    vec![
        // A bid has no attestation.
        Call::new::<data::AnswerChallenge>("in its turn", &open, answering(&open))
            .arguments(&["attestation"]),
        Call::new::<data::AnswerChallenge>("out of turn", &behind, answering(&behind))
            .arguments(&["attestation"]),
        Call::new::<data::ResolveChallenge>("unanswered", &unanswered, resolve),
        Call::new::<data::ResolveChallenge>("two bids", &doubled, resolve_at_once),
        // 2, the stake: the order has moved past the challenge.
        Call::new::<data::CloseChallenge>("resolved", &resolved, close).unread(&[2]),
        Call::new::<data::CloseChallenge>("its era is gone", &gone, close_gone),
    ]
}

fn ordering(stage: &Stage) -> Vec<Call> {
    let (first, second) = (stage.mine(0, Evident::Bids), stage.mine(1, Evident::Entry));
    // The first rank lapses, and the second one's challenge was answered before.
    let lapsed = after(&stage.world, |world| {
        world.begin(&first).unwrap();
        world.file(&second);
        world.answer(&stage.sponsor, &second.challenge(), &stage.answer()).unwrap();
        world.advance_slots(RANK_SLOTS + 1);
    });
    let answered = after(&lapsed, |world| drop(world.pass_rank(&first.draft()).unwrap()));
    // A rank behind the slash keeps a rest of the finders' part, and lapses.
    let mut rest = after(&stage.world, |world| {
        world.prepare(&first);
        world.begin(&second).unwrap();
        world.submit_challenge(&first).unwrap();
        world.resolve(&first.challenge()).unwrap();
        world.advance_slots(RANK_SLOTS + 1);
        world.pass_rank(&second.draft()).unwrap();
    });
    let settle = rest.settling_era(&stage.living.agent, 0);
    vec![
        Call::new::<data::PassRank>("a lapsed draft", &lapsed, lapsed.passing(&first.draft())),
        Call::new::<data::PassRank>(
            "an answered challenge",
            &answered,
            answered.passing(&second.challenge()),
        ),
        Call::new::<data::SettleEra>("a rest", &rest, settle),
    ]
}

fn asking(stage: &Stage) -> Vec<Call> {
    let (agent, shower) = (&stage.living.agent, &stage.sponsor);
    let (batch, epoch, ask) = (stage.batch(agent), stage.epoch, stage.ask());
    let asking = stage.world.clone().asking(&stage.challenger.at(), agent, epoch, ARRAYS, 0);
    let mut asked = after(&stage.world, |world| {
        world.send_ok(std::slice::from_ref(&asking), &stage.challenger, &[]);
    });
    let (leaf, proof) = (&batch.records[0], batch.arrays().proof_of_entry(0).unwrap().path);
    let inline = asked.showing(&shower.at(), &ask, Ok(leaf), &proof);
    let mut drafted = after(&asked, |world| {
        world.draft_of(shower, 0, leaf);
    });
    let draft = zx1_chain::pda::evidence_draft(&shower.at(), 0);
    let from_draft = drafted.showing(&shower.at(), &ask, Err(draft), &proof);
    let shown = after(&asked, |world| drop(world.show_leaf(shower, &ask, leaf, &proof).unwrap()));
    vec![
        Call::new::<data::AskLeaf>("a record", &stage.world, asking),
        Call::new::<data::ShowLeaf>("inline", &asked, inline),
        Call::new::<data::ShowLeaf>("from a draft", &drafted, from_draft),
        Call::new::<data::CloseAsk>("shown", &shown, shown.closing_ask(&ask)),
    ]
}

/// The four ways in which an ask that nobody answered is settled.
fn leaving_unanswered(stage: &Stage) -> Vec<Call> {
    let (agent, epoch, ask) = (&stage.living.agent, stage.epoch, stage.ask());
    let filing = stage.mine(0, Evident::Entry);
    let asked = after(&stage.world, |world| {
        world.ask_leaf(&stage.challenger, agent, epoch, ARRAYS, 0).unwrap();
        world.ask_leaf(&stage.sponsor, agent, epoch, LOG, 0).unwrap();
    });
    let over = after(&asked, |world| world.advance_slots(SHOW_SLOTS + 1));
    let challenged = after(&asked, |world| {
        world.file(&filing);
        world.advance_slots(SHOW_SLOTS + 1);
    });
    let waiting = after(&challenged, |world| {
        world.settle_ask(&ask).unwrap();
        world.answer(&stage.sponsor, &filing.challenge(), &stage.answer()).unwrap();
    });
    let marked = after(&over, |world| {
        let other = world.ask_address(agent, epoch, LOG, 0);
        world.settle_ask(&other).unwrap();
    });
    let call = |path, world: &World| {
        let mut building = world.clone();
        Call::new::<data::SettleAsk>(path, world, building.settling_ask(&ask))
    };
    vec![
        call("fined", &over),
        // 7, 8 and 12 to 14: no money moves while a challenge is open.
        call("waiting for a challenge", &challenged).unread(&[7, 8, 12, 13, 14]),
        // 2 to 4: the batch is marked already.
        call("fined after the challenge", &waiting).unread(&[2, 3, 4]),
        call("the price back", &marked).unread(&[2, 3, 4]),
    ]
}
