//! Attacks on several instructions at once that must not pay. Those on one rule are with its tests.

use crate::common::{
    BID, BidProof, CHALLENGE_STAKE, LOST_TO_ANSWERER, LOST_TO_STAKE, LogProof, MIN_STAKE, Message,
    RANK_SLOTS, SELECTION, Scene, answer_of, at, further_account, refused, with_account,
};
use zx1_chain::token::{self, TOKEN_PROGRAM};
use zx1_interface::Error;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{Agent, Batch, Books, Key, Keys};

const MICROS: u64 = EPOCH_SECONDS * 1_000_000;

/// The agent of a scene with one batch, sold in the epoch after that: the buyer has taken over, locked its own
/// stake, listed its keys and landed a batch of its first epoch, which covers nothing before.
struct Sale {
    scene: Scene,
    sold: Agent,
    buyer: Key,
    keys: Keys,
    /// The epoch of the sale.
    epoch: u64,
}

fn sale() -> Sale {
    let mut scene = Scene::new();
    scene.submit(&[], &[]);
    let (agent, owner, buyer) = (scene.agent, scene.owner.clone(), scene.party());
    let epoch = scene.world.epoch();
    let sold = scene.world.transfer_agent(&agent, &owner, &buyer.at());
    scene.world.take_over(&sold, &buyer).unwrap();
    let key = scene.world.new_key(&sold, &buyer, Scopes::ALL);
    let keys = Keys { pay: key.clone(), batch: key.clone(), deal: key };
    scene.world.lock_stake(&sold, &buyer, MIN_STAKE).unwrap();
    Sale { scene, sold, buyer, keys, epoch }
}

impl Sale {
    /// The buyer's first batch.
    fn land(&mut self) {
        self.scene.world.warp_to_epoch(self.epoch + 3);
        self.scene.epoch = self.epoch + 2;
        let batch = Batch::empty(self.scene.epoch);
        self.scene.world.submit_batch(&self.sold, &self.keys.batch, &batch).unwrap();
        self.scene.world.advance_slots(1);
    }
}

#[test]
fn a_seller_who_dates_back_on_the_day_of_sale_takes_nothing_from_the_buyer() {
    let mut sale = sale();
    sale.land();
    let (mut scene, epoch) = (sale.scene, sale.epoch);
    assert_eq!(scene.batch_account().covers_from_epoch, epoch + 1);
    assert_eq!(scene.batch_account().era, 1);
    // Dated into the day of the sale, into the day before it, and into the buyer's time.
    let dated = |scene: &mut Scene, epoch: u64| {
        let timestamp = epoch * MICROS + 5;
        let message = Message { timestamp, ..scene.message(MsgType::Accept) };
        scene.enveloped(&message, SELECTION)
    };
    for (day, error) in [
        (epoch - 1, Error::EnvelopeOutsideEpochs),
        (epoch, Error::EnvelopeOutsideEpochs),
        (epoch + 1, Error::WrongEnvelopeSigner),
        (epoch + 2, Error::WrongEnvelopeSigner),
    ] {
        let filing = dated(&mut scene, day);
        scene.seal_refused(&filing, error);
    }
    assert_eq!(scene.world.stake(&sale.sold, 1).stake_usdc, MIN_STAKE);
    assert_eq!(scene.world.tenure(&sale.sold).owner, sale.buyer.at().to_bytes());
}

#[test]
fn a_sellers_lie_costs_the_sellers_money_alone() {
    let Sale { mut scene, sold, buyer, .. } = sale();
    let owner = scene.owner.clone();
    let message = scene.message(MsgType::Accept);
    let filing = scene.enveloped(&message, SELECTION);
    let before = scene.money(&filing);
    assert_eq!(before.2.shard, 2 * MIN_STAKE, "both lie in one vault");
    scene.file(&filing);
    assert_eq!(scene.challenge(&filing).era, 0);
    // The buyer goes on meanwhile.
    scene.world.lock_stake(&sold, &buyer, 1).unwrap();
    scene.resolve(&filing);
    assert_eq!(scene.money(&filing).0, before.0 + MIN_STAKE / 5);
    let own = scene.world.books(&sold, 1);
    assert_eq!((own.stake, own.shard), (MIN_STAKE + 1, MIN_STAKE + 1));
    // Nothing is left for the seller to claim.
    scene.world.advance_slots(432_001);
    let sellers = scene.world.usdc_balance(&owner.at());
    scene.world.claim_stake(&sold, &owner, 0).unwrap();
    assert_eq!(scene.world.usdc_balance(&owner.at()), sellers);
}

#[test]
fn a_seller_does_not_claim_before_its_last_batch_is_out_of_the_window() {
    let Sale { mut scene, sold, .. } = sale();
    let owner = scene.owner.clone();
    let (ended, submitted) = (scene.stake().ended_slot, scene.batch_account().submitted_slot);
    assert!(submitted <= ended);
    scene.world.warp_to_slot(submitted + 432_000);
    let failure = scene.world.claim_stake(&sold, &owner, 0).unwrap_err();
    failure.expect_code(Error::UnlockDelayNotOver.code());
    // In the last slot somebody comes after all.
    let message = scene.message(MsgType::Accept);
    let filing = scene.enveloped(&message, SELECTION);
    scene.file(&filing);
    scene.world.warp_to_slot(ended + 432_001);
    let failure = scene.world.claim_stake(&sold, &owner, 0).unwrap_err();
    failure.expect_code(Error::OpenChallenges.code());
    scene.resolve(&filing);
    assert_eq!(scene.stake().stake_usdc, 0);
}

#[test]
fn a_mistaken_challenge_after_a_sale_pays_the_former_era() {
    let mut scene = Scene::new();
    let deal = scene.message(MsgType::Accept);
    let batch = scene.submit(std::slice::from_ref(&deal), &[deal.selection()]);
    let (agent, owner, buyer) = (scene.agent, scene.owner.clone(), scene.party());
    let sold = scene.world.transfer_agent(&agent, &owner, &buyer.at());
    scene.world.take_over(&sold, &buyer).unwrap();
    let filing = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    scene.file(&filing);
    scene.answer(&owner, &filing, &answer_of(&batch, 0, 0, [0; 32]));
    scene.world.advance_slots(432_001);
    let before = scene.world.usdc_balance(&owner.at());
    scene.world.claim_stake(&sold, &owner, 0).unwrap();
    scene.world.assert_books();
    assert_eq!(scene.world.usdc_balance(&owner.at()), before + MIN_STAKE + LOST_TO_STAKE);
}

#[test]
fn a_liars_weak_claim_on_itself_that_a_false_record_answers_blocks_nothing() {
    // The batch says 5 where the bid said another value. The liar challenges itself without the value and answers
    // with the false record; the finder who shows the payload takes the stake all the same.
    let mut scene = Scene::new();
    let bid = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&bid), &[bid.bid(5)]);
    let owner = scene.owner.clone();
    let proof = LogProof::of(&batch, 0);
    let weak = scene.logged(&proof, BID);
    let weak = scene.by(&owner, &weak);
    scene.file(&weak);
    scene.answer(&owner, &weak, &answer_of(&batch, 0, 5, [0; 32]));
    let strong = scene.logged(&proof.showing(&bid.payload), BID);
    let before = scene.money(&strong);
    scene.file(&strong);
    let wrong = scene.world.answering(&owner.at(), &strong.challenge(), &answer_of(&batch, 0, 5, [0; 32]));
    refused(&mut scene.world, &[wrong], &owner, &[], Error::WrongRecord);
    scene.resolve(&strong);
    assert_eq!(scene.money(&strong).0, before.0 + (MIN_STAKE + LOST_TO_STAKE) / 5);
}

#[test]
fn both_values_of_a_bid_in_the_arrays_answer_either_claim_and_are_a_double_bid() {
    // P3: who records two values to be safe from either challenge hands out the evidence that nothing answers.
    let mut scene = Scene::new();
    let bid = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&bid), &[bid.bid(5), bid.bid(1_234_567)]);
    let owner = scene.owner.clone();
    let proof = LogProof::of(&batch, 0);
    let strong = scene.logged(&proof.showing(&bid.payload), BID);
    scene.file(&strong);
    scene.answer(&owner, &strong, &answer_of(&batch, 1, 0, [0; 32]));
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    let before = scene.money(&double);
    scene.file(&double);
    scene.world.resolve(&double.challenge()).unwrap();
    scene.world.assert_books();
    assert_eq!(scene.money(&double).0, before.0 + (MIN_STAKE + LOST_TO_STAKE) / 5);
    assert_eq!(scene.money(&double).2, Books::default());
}

#[test]
fn ranks_that_nobody_uses_delay_a_finder_by_300_slots_at_most() {
    let mut scene = Scene::new();
    let lie = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&lie), &[lie.bid(1), lie.bid(2)]);
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    let accomplice = scene.party();
    let idle: Vec<_> = (0..5).map(|_| scene.by(&accomplice, &double)).collect();
    for one in &idle {
        scene.world.begin(one).unwrap();
    }
    scene.file(&double);
    let (begun, stranger) = (scene.world.slot(), scene.stranger());
    let resolve = scene.world.resolving(&double.challenge());
    refused(&mut scene.world, std::slice::from_ref(&resolve), &stranger, &[], Error::LowerRankOpen);
    scene.world.warp_to_slot(begun + RANK_SLOTS + 1);
    for one in &idle {
        scene.world.pass_rank(&one.draft()).unwrap();
    }
    scene.world.send_ok(&[resolve], &stranger, &[]);
    assert_eq!(scene.challenge(&double).outcome, 2);
}

#[test]
fn a_copier_who_closes_its_usdc_account_blocks_no_take_over() {
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Propose)], &[]);
    let filing = scene.logged(&LogProof::of(&batch, 0), BID);
    let copier = scene.stranger();
    scene.world.fund_usdc(&copier.at(), CHALLENGE_STAKE);
    let copy = scene.by(&copier, &filing);
    scene.world.prepare(&filing);
    scene.file(&copy);
    let account = scene.world.usdc_account(&copier.at());
    let close = spl_token_2022_interface::instruction::close_account(
        &TOKEN_PROGRAM,
        &account,
        &copier.at(),
        &copier.at(),
        &[],
    );
    scene.world.send_ok(&[close.unwrap()], &copier, &[]);
    assert!(scene.world.account(&account).is_none());
    scene.submit_refused(&filing, Error::NotLegacyToken);
    // Any account of the copier's serves, and anybody can make one.
    let further = further_account(&mut scene, &copier.at());
    let submit = with_account(scene.world.submitting(&filing), at::REPLACED, further);
    scene.world.send_ok(&[submit], &filing.finder, &[]);
    assert_eq!(scene.world.token_balance(&further), CHALLENGE_STAKE);
    assert_eq!(scene.challenge(&filing).challenger, filing.finder.at().to_bytes());
}

#[test]
fn a_challenger_who_closes_its_usdc_account_holds_no_order_up() {
    // Its own challenge waits for an account of its; anybody makes one, and the order goes on.
    let mut scene = Scene::new();
    let batch = scene.submit(&[scene.message(MsgType::Accept)], &[]);
    scene.challenger = scene.stranger();
    let silent = scene.challenger.clone();
    scene.world.fund_usdc(&silent.at(), CHALLENGE_STAKE);
    let first = scene.logged(&LogProof::of(&batch, 0), BID);
    scene.file(&first);
    scene.challenger = scene.party();
    let second = scene.logged(&LogProof::of(&batch, 0), SELECTION);
    scene.file(&second);
    let mint = scene.world.usdc_mint();
    let account = token::associated_address(&silent.at(), &mint, &TOKEN_PROGRAM);
    let close = spl_token_2022_interface::instruction::close_account(
        &TOKEN_PROGRAM,
        &account,
        &silent.at(),
        &silent.at(),
        &[],
    );
    scene.world.send_ok(&[close.unwrap()], &silent, &[]);
    scene.pass_window(&second);
    let stranger = scene.stranger();
    let resolve = scene.world.resolving(&first.challenge());
    refused(&mut scene.world, &[resolve], &stranger, &[], Error::NotLegacyToken);
    scene.world.fund_usdc(&silent.at(), 0);
    scene.world.resolve(&first.challenge()).unwrap();
    scene.world.resolve(&second.challenge()).unwrap();
    scene.world.assert_books();
    assert_eq!(scene.world.books(&scene.agent, 0), Books::default());
}

#[test]
fn the_money_of_one_agent_is_not_in_reach_of_anothers_challenges() {
    // Two agents of one shard: the lie of one takes its own stake to the unit, from the one vault.
    let mut scene = Scene::new();
    let lie = scene.message(MsgType::Propose);
    let batch = scene.submit(std::slice::from_ref(&lie), &[lie.bid(1), lie.bid(2)]);
    let owner = scene.owner.clone();
    let second = loop {
        let other = scene.world.register_agent(&owner);
        if other.shard() == scene.agent.shard() {
            break other;
        }
    };
    scene.world.open_tenure(&second, &owner).unwrap();
    scene.world.lock_stake(&second, &owner, 2 * MIN_STAKE).unwrap();
    let double = scene.double_bid(&BidProof::of(&batch, 0), &BidProof::of(&batch, 1));
    scene.file(&double);
    // The other's stake in its place is refused.
    let resolve = scene.world.resolving(&double.challenge());
    let theirs = zx1_chain::pda::stake(&second.mint, 0);
    let wrong = with_account(resolve, crate::common::money::OF_RESOLVE + 1, theirs);
    let stranger = scene.stranger();
    refused(&mut scene.world, &[wrong], &stranger, &[], Error::WrongAgent);
    scene.world.resolve(&double.challenge()).unwrap();
    scene.world.assert_books();
    let books = scene.world.books(&second, 0);
    assert_eq!((books.stake, books.shard, books.vault), (2 * MIN_STAKE, 2 * MIN_STAKE, 2 * MIN_STAKE));
}

#[test]
fn frivolous_challenges_pay_the_agent_that_is_awake() {
    // One mistaken claim after the other: each costs the challenger 5, and leaves the agent better off.
    let mut scene = Scene::new();
    let deals: Vec<Message> =
        (0..4).map(|nonce| Message { nonce, ..scene.message(MsgType::Accept) }).collect();
    let records: Vec<Vec<u8>> = deals.iter().map(Message::selection).collect();
    let batch = scene.submit(&deals, &records);
    let owner = scene.owner.clone();
    let (owners, attackers) =
        (scene.world.usdc_balance(&owner.at()), scene.world.usdc_balance(&scene.challenger.at()));
    for n in 0..4 {
        let filing = scene.logged(&LogProof::of(&batch, n), SELECTION);
        scene.file(&filing);
        scene.answer(&owner, &filing, &answer_of(&batch, n, 0, [0; 32]));
        assert_eq!(scene.stake().open_challenges, 0);
    }
    assert_eq!(scene.world.usdc_balance(&scene.challenger.at()), attackers - 4 * CHALLENGE_STAKE);
    assert_eq!(scene.world.usdc_balance(&owner.at()), owners + 4 * LOST_TO_ANSWERER);
    assert_eq!(scene.stake().stake_usdc, MIN_STAKE + 4 * LOST_TO_STAKE);
}
