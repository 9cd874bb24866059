//! The chain client (`zx1_chain::rpc`) against the real programs on a local cluster: every account it reads,
//! every transaction it sends, and a network that fails at the worst moment.
#![allow(clippy::unwrap_used)]

#[path = "chain_client/network.rs"]
mod network;
#[path = "chain_client/party.rs"]
#[allow(dead_code)]
mod party;
#[path = "chain_client/standing.rs"]
mod standing;

use party::*;

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::pda;
use zx1_chain::rpc::actions::{Actions, ChallengeRequest, ChallengeWith, ClaimWith, challenge_addresses};
use zx1_chain::rpc::registry::{Agreement, Feedback, IdentityRegistry};
use zx1_chain::rpc::{
    AskFilter, ChallengeFilter, Draft, DraftFilter, Event, Intent, Money, Outcome, PartialTransaction,
    Progress, Step, lookup,
};
use zx1_chain::sati;
use zx1_chain::token::{self, TOKEN_PROGRAM};
use zx1_e2e::Localnet;
use zx1_interface::constants::{LEASE_COST_PER_EPOCH, RANK_SLOTS, SHOW_SLOTS};
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Sha3;
use zx1_protocol::interaction;
use zx1_protocol::keys::Scopes;
use zx1_protocol::payload::bid_payload;
use zx1_protocol::units::{MicroUsdc, Slot};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agents_life_from_registration_to_claim() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let treasury: Address = net.env().treasury.parse().unwrap();
    let treasury_before = net.usdc(&treasury);
    let mint = owner.register("Ann").await;

    // The registry.
    let sati = owner.sati().await;
    let found = sati.look_up(mint).await.unwrap().unwrap();
    assert_eq!((found.owner, found.metadata.name.as_str()), (Some(owner.address()), "Ann"));
    assert_eq!(found.metadata.entries, vec![("mesh".to_owned(), "/ip4/127.0.0.1".to_owned())]);
    assert!(sati.verify_ownership(mint, owner.address()).await.unwrap());
    assert!(!sati.verify_ownership(mint, treasury).await.unwrap());
    assert_eq!(sati.agents_of_wallet(owner.address()).await.unwrap(), vec![found]);
    assert_eq!(sati.look_up(net.usdc_mint().into()).await.unwrap(), None, "a mint that is not an agent");
    assert_eq!(sati.look_up(Address::new_from_array([9; 32]).into()).await.unwrap(), None);

    // Keys: the wallet lists itself, which begins its tenure. The first keys act at once.
    owner.add_key(mint, &owner.key, Scopes::ALL).await;
    let keys = owner.client.keys(mint).await.unwrap();
    let now = owner.client.time().await.unwrap().epoch;
    assert_eq!(keys.len(), 1);
    assert_eq!((keys[0].scopes, keys[0].from_epoch, keys[0].ended_slot), (Scopes::ALL.0, now, 0));
    let tenure = owner.client.tenure(mint).await.unwrap().unwrap();
    assert_eq!((tenure.number, tenure.era, tenure.live_keys), (1, 0, 1));

    // Stake: what the prompt shows is what happens.
    let actions = Actions::new(&owner.client, &sati).await.unwrap();
    let draft = actions.lock_stake(mint, owner.address(), MicroUsdc(32_345_678)).await.unwrap();
    let prepared = owner.sender.prepare(&draft).await.unwrap();
    let summary = prepared.summary();
    assert!(summary.lines.iter().any(|line| line.title.contains("32.345678 USDC")), "{summary}");
    let usdc: Vec<_> = summary.moves.iter().filter(|m| matches!(m.money, Money::Usdc(_))).collect();
    assert_eq!(usdc.len(), 1, "{summary}");
    let vault = pda::vault(pda::shard_of(&mint));
    assert_eq!((usdc[0].money, usdc[0].to), (Money::Usdc(MicroUsdc(32_345_678)), vault));
    let sol_before = net.lamports(&owner.address());
    owner.run(&draft).await;
    let rent: u64 = summary.moves.iter().map(|m| if let Money::Lamports(l) = m.money { l } else { 0 }).sum();
    assert_eq!(net.lamports(&owner.address()), sol_before - rent - summary.fee, "fee and rent as shown");
    assert_eq!(net.usdc(&owner.address()), 100_000_000 - 32_345_678);
    assert_eq!(owner.client.stake(mint, 0).await.unwrap().unwrap().stake_usdc, 32_345_678);
    assert_eq!(owner.client.shard(mint).await.unwrap().unwrap().total_usdc, 32_345_678);

    // Lease, and events of a landed transaction.
    let outcome = owner.run(&actions.pay_lease(mint, owner.address(), 2).await.unwrap()).await;
    assert_eq!(net.usdc(&treasury), treasury_before + 2 * LEASE_COST_PER_EPOCH);
    let landed = owner.client.transaction(&outcome.landed().unwrap().signature).await.unwrap();
    let events = landed.events();
    let [Event::LeasePaid(paid)] = events[..] else { panic!("{events:?}") };
    assert_eq!((paid.amount, paid.agent_id), (2 * LEASE_COST_PER_EPOCH, mint.0));
    assert_eq!(landed.fee, landed.summary().fee);
    let paid: Vec<Money> = landed.summary().moves.iter().map(|m| m.money).collect();
    assert!(paid.contains(&Money::Usdc(MicroUsdc(2 * LEASE_COST_PER_EPOCH))), "{}", landed.summary());

    // A batch: of the epoch in which the chain of batches was opened, once that is over.
    owner.run(&actions.open_head(mint, owner.address()).await.unwrap()).await;
    net.travel_epochs(1);
    let epoch = owner.client.time().await.unwrap().epoch - 1;
    let message = sent(mint, MsgType::Propose, epoch, 1, &bid_payload(5, b""));
    let day = Day { epoch, entries: vec![message.entry.clone()], records: vec![message.bid(5)] };
    owner.submit(mint, &day).await;
    let batches = owner.client.batches(mint).await.unwrap();
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].arrays_root, day.arrays().root());
    assert_eq!((batches[0].covers_from_epoch, batches[0].era, batches[0].tenure), (epoch, 0, 1));
    assert_eq!(owner.client.head(mint).await.unwrap().unwrap().count, 1);

    // Refusals are sentences with a name.
    let refused =
        owner.try_run(&actions.queue_unlock(mint, owner.address(), 0).await.unwrap()).await.unwrap_err();
    assert_eq!(refused.code(), 6012, "{refused}");
    assert!(refused.to_string().starts_with("LeaseNotDeactivated (6012)"), "{refused}");

    // The end: deactivated, unlocked, claimed to the last micro-USDC; the batch's rent comes back.
    net.travel_epochs(6);
    owner.run(&actions.tick_lease(mint, owner.address()).await.unwrap()).await;
    assert_eq!(owner.client.lease(mint).await.unwrap().unwrap().deactivated, 1);
    owner.run(&actions.queue_unlock(mint, owner.address(), 0).await.unwrap()).await;
    net.travel_slots(432_001);
    owner.run(&actions.close_batch(mint, epoch, owner.address()).await.unwrap()).await;
    assert_eq!(owner.client.batch(mint, epoch).await.unwrap(), None);
    owner.run(&actions.claim_stake(mint, owner.address(), 0).await.unwrap()).await;
    assert_eq!(owner.client.stake(mint, 0).await.unwrap(), None);
    assert_eq!(net.usdc(&owner.address()), 100_000_000 - 2 * LEASE_COST_PER_EPOCH);
    assert_eq!(owner.client.shard(mint).await.unwrap().unwrap().total_usdc, 0);
    // A deal key stays until nothing that it signed can be challenged.
    owner.run(&actions.end_key(mint, owner.address(), owner.address()).await.unwrap()).await;
    let close = actions.close_key(mint, owner.address(), owner.address()).await.unwrap();
    assert_eq!(owner.try_run(&close).await.unwrap_err().code(), 6207);
    net.travel_epochs(36);
    owner.run(&close).await;
    assert_eq!(owner.client.keys(mint).await.unwrap(), vec![]);
    assert!(owner.client.history(pda::lease(&mint), 10).await.unwrap().len() >= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_acts_from_its_notice_until_it_is_ended() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let hot = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = owner.living_agent("Bea").await;
    let sati = owner.sati().await;
    let actions = Actions::new(&hot.client, &sati).await.unwrap();
    let pay = async || actions.pay_lease(mint, hot.address(), 1).await;
    assert_eq!(pay().await.unwrap_err().code(), 7017);

    // The agent has a stake, so whoever steals the wallet gives a day's notice of a new key.
    owner.add_key(mint, &hot.key, Scopes::PAY).await;
    let key = hot.client.key(mint, hot.address()).await.unwrap().unwrap();
    assert_eq!(key.from_epoch, hot.client.time().await.unwrap().epoch + 2);
    assert_eq!(hot.try_run(&pay().await.unwrap()).await.unwrap_err().code(), 6028);
    net.travel_epochs(2);
    hot.run(&pay().await.unwrap()).await;
    assert_eq!(net.usdc(&hot.address()), 100_000_000 - LEASE_COST_PER_EPOCH, "the key paid");

    // Ended by the key itself; it acts no more in that very slot.
    hot.run(&actions.end_key(mint, hot.address(), hot.address()).await.unwrap()).await;
    assert_eq!(hot.try_run(&pay().await.unwrap()).await.unwrap_err().code(), 6026);
    owner.run(&actions.close_key(mint, hot.address(), owner.address()).await.unwrap()).await;
    assert_eq!(pay().await.unwrap_err().code(), 7017);
    assert_eq!(net.usdc(&hot.address()), 100_000_000 - LEASE_COST_PER_EPOCH);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delegation_at_sati_is_shown_and_gives_no_authority() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let thief = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = owner.living_agent("Bea").await;
    let sati = owner.sati().await;
    let signature = owner.sign(&sati.delegation_message(owner.address()));
    let add = sati.add_delegate(mint, owner.address(), thief.address(), 0, &signature).await.unwrap();
    owner.run(&add).await;
    let delegates = sati.delegates(mint).await.unwrap();
    assert_eq!(delegates.len(), 1);
    assert!(delegates[0].live && delegates[0].delegate == thief.address());

    // Neither money nor a batch: half of the stake was to be had by it once.
    let actions = Actions::new(&thief.client, &sati).await.unwrap();
    assert_eq!(actions.pay_lease(mint, thief.address(), 1).await.unwrap_err().code(), 7017);
    net.travel_epochs(1);
    let epoch = thief.client.time().await.unwrap().epoch - 1;
    let day = Day { epoch, entries: vec![vec![1; 70]], records: vec![filler(1)] };
    let message = thief.message(mint, &day.commitment(mint)).await;
    assert_eq!(thief.try_land(&message, &thief.key).await.unwrap_err().code(), 6005, "no key account");
    assert_eq!(thief.client.batches(mint).await.unwrap(), vec![]);

    owner.run(&sati.revoke_delegate(mint, owner.address(), thief.address()).await.unwrap()).await;
    assert_eq!(sati.delegates(mint).await.unwrap(), vec![]);
    // One that runs out is valid until then.
    let soon = owner.client.time().await.unwrap().unix + 3_600;
    let add = sati.add_delegate(mint, owner.address(), thief.address(), soon, &signature).await.unwrap();
    owner.run(&add).await;
    assert!(sati.delegates(mint).await.unwrap()[0].live);
    net.travel_epochs(1);
    assert!(!sati.delegates(mint).await.unwrap()[0].live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_batch_key_lands_nothing_that_it_signed_before() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let thief = Party::new(net.new_wallet(50, 0).0, net.rpc_url());
    let mint = owner.living_agent("Bea").await;
    let hot = Keypair::new();
    owner.add_key(mint, &hot, Scopes::BATCH).await;
    net.travel_epochs(3);
    // It signed while it was live; the owner ends it before the batch lands.
    let epoch = owner.client.time().await.unwrap().epoch - 1;
    let day = Day { epoch, entries: vec![vec![1; 70]], records: vec![filler(1)] };
    let message = thief.message(mint, &day.commitment(mint)).await;
    let sati = owner.sati().await;
    let actions = Actions::new(&owner.client, &sati).await.unwrap();
    owner.run(&actions.end_key(mint, owner.address(), hot.pubkey()).await.unwrap()).await;
    assert_eq!(thief.try_land(&message, &hot).await.unwrap_err().code(), 6026);
    // The owner's own key lands the same epoch.
    owner.submit(mint, &day).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_is_attested_with_both_signatures() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let rater = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = owner.register("Cid").await;
    let sati = rater.sati().await;
    let agreement = Agreement {
        agent: mint,
        counterparty: rater.address(),
        task_ref: interaction::task_ref(&CONVERSATION),
        data_hash: interaction::interaction_hash::<Sha3>(&CONVERSATION, &rater.address().into(), Slot(SLOT)),
    };
    let agent_signature = owner.sign(&sati.agreement_message(&agreement));
    assert!(sati.check_agreement(&agreement, &agent_signature).await.unwrap());
    assert!(!sati.check_agreement(&agreement, &rater.sign(b"something else")).await.unwrap());
    let outcome = sati::Outcome::Positive;
    let words = sati.rating_message(&agreement, outcome, 90).await.unwrap();
    let feedback = Feedback {
        agreement,
        outcome,
        score: 90,
        agent_signature,
        counterparty_signature: rater.sign(&words),
        payer: rater.address(),
    };
    let forged = Feedback { counterparty_signature: [1; 64], ..feedback.clone() };
    assert_eq!(sati.attest(&forged).await.unwrap_err().code(), 7065);
    rater.run(&sati.attest(&feedback).await.unwrap()).await;
    let read = sati.read_attestation(&agreement.task_ref, mint, rater.address()).await.unwrap().unwrap();
    assert_eq!((read.attestation.outcome, read.attestation.content), (outcome, b"{\"score\":90}".to_vec()));
    assert_eq!(sati.read_attestation(&[1; 32], mint, rater.address()).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_truthful_batch_answers_and_a_hiding_one_is_slashed() {
    let net = Localnet::builder().start();
    let honest = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let liar = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let challenger = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let (good, bad) = (honest.living_agent("Good").await, liar.living_agent("Bad").await);
    let treasury: Address = net.env().treasury.parse().unwrap();
    let treasury_before = net.usdc(&treasury);
    net.travel_epochs(1);
    let epoch = honest.client.time().await.unwrap().epoch - 1;

    // The truth: the bid stands in the log and in the arrays.
    let payload = bid_payload(41, b"offer");
    let message = sent(good, MsgType::Propose, epoch, 1, &payload);
    let record = message.bid(41);
    let told = Day { epoch, entries: vec![message.entry], records: vec![filler(1), record.clone()] };
    honest.submit(good, &told).await;
    // A lie: in the log, not in the arrays.
    let message = sent(bad, MsgType::Propose, epoch, 1, &payload);
    let hidden = Day { epoch, entries: vec![message.entry], records: vec![filler(1)] };
    liar.submit(bad, &hidden).await;

    let with = |day: &Day| ChallengeWith::Evidence(day.entry_evidence(0, Some(&payload)));
    let request = |agent, day: &Day| claim(challenger.address(), agent, epoch, Ground::Bid, with(day));
    let against_good = challenger.challenge(&request(good, &told)).await;
    let against_bad = challenger.challenge(&request(bad, &hidden)).await;
    assert_eq!(net.usdc(&challenger.address()), 100_000_000 - 2 * AMOUNTS.challenge_stake);
    let mine = challenger.client.challenges(ChallengeFilter::Challenger(challenger.address())).await.unwrap();
    assert_eq!(mine.len(), 2);
    let of_good = challenger.client.challenges(ChallengeFilter::Agent(good)).await.unwrap();
    assert_eq!(of_good.iter().map(|c| c.address).collect::<Vec<_>>(), vec![against_good]);
    let of_batch =
        challenger.client.challenges(ChallengeFilter::Batch(pda::batch(&bad, epoch))).await.unwrap();
    assert_eq!(of_batch.iter().map(|c| c.address).collect::<Vec<_>>(), vec![against_bad]);

    // The answer needs only what the chain keeps and the agent's own records. It settles at once, and pays.
    let sati = honest.sati().await;
    let actions = Actions::new(&honest.client, &sati).await.unwrap();
    let expected = &of_good[0].expected_record[..usize::from(of_good[0].expected_len)];
    assert_eq!(expected, record, "the record that the evidence demands");
    let honest_before = net.usdc(&honest.address());
    honest.run(&actions.answer(honest.address(), against_good, &told.answer(1, 41)).await.unwrap()).await;
    let again = actions.answer(honest.address(), against_good, &told.answer(0, 41)).await.unwrap();
    assert_eq!(honest.try_run(&again).await.unwrap_err().code(), 6101);
    let lost = AMOUNTS.lost(AMOUNTS.challenge_stake);
    assert_eq!(net.usdc(&honest.address()), honest_before + lost.answerer);
    assert_eq!(net.usdc(&treasury), treasury_before + lost.treasury);
    let stake = honest.client.stake(good, 0).await.unwrap().unwrap();
    assert_eq!((stake.stake_usdc, stake.open_challenges), (AMOUNTS.min_stake + lost.stake, 0));

    // What nothing answers waits for its window.
    let sati = challenger.sati().await;
    let actions = Actions::new(&challenger.client, &sati).await.unwrap();
    let resolve = actions.resolve(against_bad, challenger.address()).await.unwrap();
    assert_eq!(challenger.try_run(&resolve).await.unwrap_err().code(), 6070);
    net.travel_slots(432_001);
    challenger.run(&resolve).await;
    for challenge in [against_good, against_bad] {
        challenger.run(&actions.close_challenge(challenge, challenger.address()).await.unwrap()).await;
        assert_eq!(challenger.client.challenge(challenge).await.unwrap(), None);
    }
    // Lost one stake, got the other back, and the first finder's share of the liar's.
    let slashed = AMOUNTS.slash(AMOUNTS.min_stake);
    let share = AMOUNTS.share(slashed.pot);
    assert_eq!(net.usdc(&challenger.address()), 100_000_000 - AMOUNTS.challenge_stake + share);
    let rest = slashed.pot - share;
    assert_eq!(net.usdc(&treasury), treasury_before + lost.treasury + slashed.treasury + rest);
    let stake = liar.client.stake(bad, 0).await.unwrap().unwrap();
    assert_eq!((stake.stake_usdc, stake.pot_usdc, stake.deposits_usdc), (0, 0, 0));
    assert!(stake.ended_slot > 0 && stake.slashed_slot > 0);
    // The rank was used, so its deposit comes back with the draft.
    for draft in challenger.client.drafts(DraftFilter::Owner(challenger.address())).await.unwrap() {
        let before = net.lamports(&challenger.address());
        let cancel = actions.cancel_evidence(challenger.address(), draft.nonce).await.unwrap();
        let summary = challenger.sender.prepare(&cancel).await.unwrap().summary();
        challenger.run(&cancel).await;
        assert_eq!(net.lamports(&challenger.address()), before + draft.lamports - summary.fee);
        assert!(draft.lamports > AMOUNTS.rank_deposit);
    }
    // New money is of a new era, which answers for nothing of the old one.
    let sati = liar.sati().await;
    let actions = Actions::new(&liar.client, &sati).await.unwrap();
    let stake = MicroUsdc(AMOUNTS.min_stake);
    liar.run(&actions.lock_stake(bad, liar.address(), stake).await.unwrap()).await;
    assert_eq!(liar.client.present_stake(bad).await.unwrap().unwrap().era, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leaf_that_is_shown_is_paid_for_and_one_that_is_not_is_fined() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let asker = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = owner.living_agent("Ivy").await;
    let treasury: Address = net.env().treasury.parse().unwrap();
    net.travel_epochs(1);
    let epoch = owner.client.time().await.unwrap().epoch - 1;
    // The second entry goes through a draft.
    let entries = vec![vec![1; 70], vec![2; 1_500], vec![3; 70]];
    let day = Day { epoch, entries, records: vec![filler(1), filler(2)] };
    owner.submit(mint, &day).await;
    let sati = asker.sati().await;
    let actions = Actions::new(&asker.client, &sati).await.unwrap();
    let asks = [(0, 1), (1, 0), (0, 2), (0, 0)];
    let batch = pda::batch(&mint, epoch);
    let address = |n: usize| pda::ask(&batch, asks[n].0, asks[n].1);
    for (tree, index) in asks {
        asker.run(&actions.ask_leaf(asker.address(), mint, epoch, tree, index).await.unwrap()).await;
    }
    assert_eq!(net.usdc(&asker.address()), 100_000_000 - 4 * AMOUNTS.ask_price);
    assert_eq!(asker.client.asks(AskFilter::Agent(mint)).await.unwrap().len(), 4);

    // Two are shown, by whoever has them.
    let (before, treasury_before) = (net.usdc(&owner.address()), net.usdc(&treasury));
    let shown = AMOUNTS.shown(AMOUNTS.ask_price);
    let proof = day.log().proof_of_entry(1).unwrap();
    let flow = actions.show_leaf(owner.address(), address(0), day.entries[1].clone(), proof.path).await;
    owner.run(flow.unwrap().as_ref()).await;
    let proof = day.arrays().proof_of_entry(0).unwrap();
    let wrong = actions.show_leaf(owner.address(), address(1), filler(2), proof.path.clone()).await;
    assert_eq!(owner.try_run(wrong.unwrap().as_ref()).await.unwrap_err().code(), 6137);
    let flow = actions.show_leaf(owner.address(), address(1), filler(1), proof.path).await;
    owner.run(flow.unwrap().as_ref()).await;
    assert_eq!(net.usdc(&owner.address()), before + 2 * shown.shower);
    assert_eq!(net.usdc(&treasury), treasury_before + 2 * shown.treasury);
    let stake = owner.client.stake(mint, 0).await.unwrap().unwrap();
    assert_eq!(stake.stake_usdc, AMOUNTS.min_stake + 2 * shown.stake);
    assert_eq!(owner.client.drafts(DraftFilter::Owner(owner.address())).await.unwrap(), vec![]);

    // The others are not: one fine for the batch, both prices back.
    let settle = actions.settle_ask(address(2), asker.address()).await.unwrap();
    assert_eq!(asker.try_run(&settle).await.unwrap_err().code(), 6133);
    net.travel_slots(SHOW_SLOTS + 1);
    let treasury_before = net.usdc(&treasury);
    for ask in [address(2), address(3)] {
        asker.run(&actions.settle_ask(ask, asker.address()).await.unwrap()).await;
    }
    let fine = AMOUNTS.fine_of(stake.stake_usdc);
    assert_eq!(net.usdc(&asker.address()), 100_000_000 - 2 * AMOUNTS.ask_price + fine.asker);
    assert_eq!(net.usdc(&treasury), treasury_before + fine.treasury);
    assert_eq!(owner.client.batch(mint, epoch).await.unwrap().unwrap().withheld, 1);
    let left = owner.client.stake(mint, 0).await.unwrap().unwrap();
    assert_eq!((left.stake_usdc, left.open_asks), (stake.stake_usdc - AMOUNTS.fine, 0));
    let more = actions.ask_leaf(asker.address(), mint, epoch, 1, 1).await.unwrap();
    assert_eq!(asker.try_run(&more).await.unwrap_err().code(), 6138);
    for number in 0..4 {
        asker.run(&actions.close_ask(address(number), asker.address()).await.unwrap()).await;
    }
    assert_eq!(asker.client.asks(AskFilter::Agent(mint)).await.unwrap(), vec![]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copier_of_the_evidence_hands_the_claim_over_to_the_finder() {
    let net = Localnet::builder().start();
    let liar = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let finder = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let copier = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = liar.living_agent("Bad").await;
    net.travel_epochs(1);
    let epoch = liar.client.time().await.unwrap().epoch - 1;
    let message = sent(mint, MsgType::Propose, epoch, 1, &bid_payload(7, b""));
    let day = Day { epoch, entries: vec![message.entry], records: vec![filler(9)] };
    liar.submit(mint, &day).await;
    let request = |party: &Party| {
        let evidence = ChallengeWith::Evidence(day.entry_evidence(0, None));
        claim(party.address(), mint, epoch, Ground::Bid, evidence)
    };
    // The finder has its rank; the copier sees the evidence and is faster with the rest.
    let sati = finder.sati().await;
    let actions = Actions::new(&finder.client, &sati).await.unwrap();
    let flow = actions.challenge(&request(&finder)).await.unwrap();
    let Step::Send { draft, last: false } = flow.next(&finder.client).await.unwrap() else {
        panic!("a rank comes first")
    };
    finder.run(&draft).await;
    let at = copier.challenge(&request(&copier)).await;
    assert_eq!(net.usdc(&copier.address()), 100_000_000 - AMOUNTS.challenge_stake);
    finder.run(flow.as_ref()).await;
    let held = finder.client.challenge(at).await.unwrap().unwrap();
    assert_eq!((held.challenger, held.rank), (finder.address().to_bytes(), 0));
    assert_eq!(net.usdc(&copier.address()), 100_000_000, "the copier got its stake back");

    net.travel_slots(432_001);
    finder.run(&actions.resolve(at, finder.address()).await.unwrap()).await;
    let share = AMOUNTS.share(AMOUNTS.slash(AMOUNTS.min_stake).pot);
    assert_eq!(net.usdc(&finder.address()), 100_000_000 + share);
}

/// Gives a wallet's associated USDC account to another wallet, which the token program allows.
async fn give_account_away(party: &Party, mint: &Address, to: &Address) {
    let account = token::associated_address(&party.address(), mint, &TOKEN_PROGRAM);
    // SetAuthority of the account's owner: account and signer as those of a closing.
    let mut give = token::close_account(&account, to, &party.address(), &TOKEN_PROGRAM).unwrap();
    give.accounts.remove(1);
    give.data = [&[6, 2, 1][..], to.as_ref()].concat();
    let intent = Intent::new("give-account-away", &[&account]);
    party.run(&Draft::new(intent, "Give an account away".to_owned(), party.address(), vec![give])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_gives_its_usdc_account_away_holds_up_neither_a_take_over_nor_a_settlement() {
    let net = Localnet::builder().start();
    let liar = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let finder = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let accomplice = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = liar.living_agent("Bad").await;
    net.travel_epochs(1);
    let epoch = liar.client.time().await.unwrap().epoch - 1;
    let message = sent(mint, MsgType::Propose, epoch, 1, &bid_payload(7, b""));
    let day = Day { epoch, entries: vec![message.entry], records: vec![filler(9)] };
    liar.submit(mint, &day).await;
    let request = |party: &Party| {
        let evidence = ChallengeWith::Evidence(day.entry_evidence(0, None));
        claim(party.address(), mint, epoch, Ground::Bid, evidence)
    };
    let sati = finder.sati().await;
    let actions = Actions::new(&finder.client, &sati).await.unwrap();
    let flow = actions.challenge(&request(&finder)).await.unwrap();
    let Step::Send { draft, last: false } = flow.next(&finder.client).await.unwrap() else {
        panic!("a rank comes first")
    };
    finder.run(&draft).await;
    let at = accomplice.challenge(&request(&accomplice)).await;
    let usdc = actions.usdc_mint();
    give_account_away(&accomplice, &usdc, &liar.address()).await;
    finder.run(flow.as_ref()).await;
    let held = finder.client.challenge(at).await.unwrap().unwrap();
    assert_eq!((held.challenger, held.rank), (finder.address().to_bytes(), 0));
    let paid = async |wallet| -> Vec<u64> {
        let accounts = finder.client.usdc_accounts(wallet, usdc).await.unwrap();
        accounts.iter().map(|account| account.amount.0).collect()
    };
    assert_eq!(paid(accomplice.address()).await, [AMOUNTS.challenge_stake]);

    // Nor does a first finder that cannot be paid keep the others waiting.
    give_account_away(&finder, &usdc, &liar.address()).await;
    net.travel_slots(432_001);
    liar.run(&actions.resolve(at, liar.address()).await.unwrap()).await;
    let share = AMOUNTS.share(AMOUNTS.slash(AMOUNTS.min_stake).pot);
    assert_eq!(paid(finder.address()).await, [AMOUNTS.challenge_stake + share]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standing_draft_keeps_no_place_and_its_deposit_is_burnt() {
    let net = Localnet::builder().start();
    let liar = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let accomplice = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let finder = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = liar.living_agent("Bad").await;
    net.travel_epochs(1);
    let epoch = liar.client.time().await.unwrap().epoch - 1;
    // A lie, and a parachute: two bids that contradict each other, which nothing can answer.
    let message = sent(mint, MsgType::Propose, epoch, 1, &bid_payload(7, b""));
    let other = sent(mint, MsgType::Propose, epoch, 2, &bid_payload(8, b""));
    let records = vec![other.bid(8), other.bid(9)];
    let day = Day { epoch, entries: vec![message.entry, other.entry], records };
    liar.submit(mint, &day).await;
    let parachute = ChallengeWith::Evidence(day.double_bid());
    let parachute = claim(accomplice.address(), mint, epoch, Ground::DoubleBid, parachute);
    let sati = accomplice.sati().await;
    let actions = Actions::new(&accomplice.client, &sati).await.unwrap();
    let flow = actions.challenge(&parachute).await.unwrap();
    let Step::Send { draft, last: false } = flow.next(&accomplice.client).await.unwrap() else {
        panic!("a rank comes first")
    };
    accomplice.run(&draft).await;
    net.travel_slots(RANK_SLOTS + 1);

    // The finder comes later and is first all the same.
    let evidence = ChallengeWith::Evidence(day.entry_evidence(0, None));
    let found = finder.challenge(&claim(finder.address(), mint, epoch, Ground::Bid, evidence)).await;
    accomplice.run(flow.as_ref()).await;
    let opened = challenge_addresses(&parachute).unwrap()[0];
    let rank = async |at| finder.client.challenge(at).await.unwrap().unwrap().rank;
    assert!(rank(found).await < rank(opened).await);
    let early = actions.resolve(opened, accomplice.address()).await.unwrap();
    assert_eq!(accomplice.try_run(&early).await.unwrap_err().code(), 6110, "not before the finder");
    net.travel_slots(432_001);
    let drafts = accomplice.client.drafts(DraftFilter::Owner(accomplice.address())).await.unwrap();
    assert_eq!(drafts.len(), 1);
    // The order goes past the draft, then the finder, then the accomplice.
    finder.run(&actions.pass_rank(drafts[0].address, finder.address()).await.unwrap()).await;
    finder.run(&actions.resolve(found, finder.address()).await.unwrap()).await;
    accomplice.run(&actions.resolve(opened, accomplice.address()).await.unwrap()).await;
    let pot = AMOUNTS.slash(AMOUNTS.min_stake).pot;
    let (first, second) = (AMOUNTS.share(pot), AMOUNTS.share(pot - AMOUNTS.share(pot)));
    assert_eq!(net.usdc(&finder.address()), 100_000_000 + first);
    assert_eq!(net.usdc(&accomplice.address()), 100_000_000 + second);
    let before = net.lamports(&accomplice.address());
    let cancel = actions.cancel_evidence(accomplice.address(), drafts[0].nonce).await.unwrap();
    let fee = accomplice.sender.prepare(&cancel).await.unwrap().summary().fee;
    accomplice.run(&cancel).await;
    let back = drafts[0].lamports - AMOUNTS.rank_deposit;
    assert_eq!(net.lamports(&accomplice.address()), before + back - fee, "without the deposit");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_evidence_finds_its_way() {
    let net = Localnet::builder().start();
    let liar = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let challenger = Party::new(net.new_wallet(50, 200).0, net.rpc_url());
    let mint = liar.living_agent("Dan").await;
    net.travel_epochs(1);
    let epoch = liar.client.time().await.unwrap().epoch - 1;
    let payload = bid_payload(7, &[b'x'; 300]);
    let message = sent(mint, MsgType::Accept, epoch, 1, &payload);
    let records = vec![message.bid(1), message.bid(2), filler(9)];
    // Long enough a log that proof and payload do not fit one transaction.
    let mut entries = vec![message.entry.clone()];
    entries.extend((0..600_u32).map(|n| [&[1; 70][..], &n.to_le_bytes()].concat()));
    let day = Day { epoch, entries, records };
    liar.submit(mint, &day).await;
    let request = |ground, with| claim(challenger.address(), mint, epoch, ground, with);
    let steps = |party: &Party| {
        let seen = party.seen.lock().unwrap();
        seen.iter().filter(|progress| matches!(progress, Progress::StepDone(_))).count()
    };

    // Short: a rank, the evidence, then everything else.
    let short = request(Ground::Selection, ChallengeWith::Evidence(day.entry_evidence(0, None)));
    challenger.challenge(&short).await;
    assert_eq!(steps(&challenger), 2);
    // Long: in pieces.
    let long = request(Ground::Bid, ChallengeWith::Evidence(day.entry_evidence(0, Some(&payload))));
    challenger.challenge(&long).await;
    assert!(steps(&challenger) >= 3, "{} steps", steps(&challenger));
    // The same again: the chain shows it.
    let sati = challenger.sati().await;
    let actions = Actions::new(&challenger.client, &sati).await.unwrap();
    let again = actions.challenge(&long).await.unwrap();
    assert!(matches!(challenger.run(again.as_ref()).await, Outcome::Done(_)));
    // The same message as an envelope is the same claim.
    let envelope = |message: &Message| ChallengeWith::Envelope {
        signature: liar.sign(&message.signed),
        signed: message.signed.clone(),
        signer: liar.address(),
    };
    let again = actions.challenge(&request(Ground::Selection, envelope(&message))).await.unwrap();
    assert!(matches!(challenger.run(again.as_ref()).await, Outcome::Done(_)));
    // Two values of one bid.
    let double = ChallengeWith::Evidence(day.double_bid());
    let double = challenger.challenge(&request(Ground::DoubleBid, double)).await;
    // A message that its sender signed and did not log, on both grounds at once.
    let unlogged = sent(mint, MsgType::Accept, epoch, 2, &payload);
    let claims =
        [Ground::Bid, Ground::Selection].map(|ground| ClaimWith { ground, with: envelope(&unlogged) });
    let both =
        ChallengeRequest { challenger: challenger.address(), agent: mint, epoch, claims: claims.to_vec() };
    challenger.challenge(&both).await;
    let at = challenge_addresses(&both).unwrap();
    let stored = challenger.client.challenge(at[1]).await.unwrap().unwrap();
    assert_eq!(&stored.expected_record[..usize::from(stored.expected_len)], unlogged.selection());
    // Neither a stranger's signature nor an epoch that the batch does not cover costs a rank.
    let mut forged = envelope(&sent(mint, MsgType::Accept, epoch, 3, &payload));
    if let ChallengeWith::Envelope { signature, signed, signer } = &mut forged {
        *signature = challenger.sign(signed);
        *signer = challenger.address();
    }
    let refused = actions.challenge(&request(Ground::Bid, forged)).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), 6106);
    let early = envelope(&sent(mint, MsgType::Accept, epoch - 1, 3, &payload));
    let refused = actions.challenge(&request(Ground::Bid, early)).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.code(), 6105);

    assert_eq!(challenger.client.stake(mint, 0).await.unwrap().unwrap().open_challenges, 5);
    assert_eq!(net.usdc(&challenger.address()), 200_000_000 - 5 * AMOUNTS.challenge_stake);
    // All ranks were used: what is left of them comes back.
    let drafts = challenger.client.drafts(DraftFilter::Owner(challenger.address())).await.unwrap();
    assert_eq!(drafts.len(), 5);
    for draft in &drafts {
        assert_eq!((draft.state, draft.used), (2, 1));
        let cancel = actions.cancel_evidence(challenger.address(), draft.nonce).await.unwrap();
        challenger.run(&cancel).await;
    }
    assert_eq!(challenger.client.drafts(DraftFilter::Owner(challenger.address())).await.unwrap(), vec![]);
    // Nothing answers two values of one bid, but lower ranks come first.
    let resolve = actions.resolve(double, challenger.address()).await.unwrap();
    assert_eq!(challenger.try_run(&resolve).await.unwrap_err().code(), 6110);

    // A lookup table leaves room, so that less goes through a draft.
    let slot = challenger.client.time().await.unwrap().slot - 1;
    let common = lookup::common_addresses(actions.config());
    let (create, table) = lookup::create(challenger.address(), slot, &common).unwrap();
    challenger.run(&create).await;
    net.travel_slots(1);
    let table = challenger.client.lookup_table(table).await.unwrap();
    let with_table = Actions::new(&challenger.client, &sati).await.unwrap().with_tables(vec![table]);
    let tick = with_table.pay_lease(mint, liar.address(), 1).await.unwrap();
    let short = liar.sender.prepare(&tick).await.unwrap();
    short.check().unwrap();
    let plain =
        liar.sender.prepare(&actions.pay_lease(mint, liar.address(), 1).await.unwrap()).await.unwrap();
    assert!(short.size() + 60 < plain.size(), "{} and {} bytes", short.size(), plain.size());
    liar.run(&tick).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn feedback_is_published_short_long_and_sponsored() {
    let net = Localnet::builder().start();
    let sender = Party::new(net.new_wallet(50, 0).0, net.rpc_url());
    let sati = sender.sati().await;
    let actions = Actions::new(&sender.client, &sati).await.unwrap();
    let short = actions.feedback(sender.address(), sender.address(), "It works.").unwrap();
    sender.run(short.as_ref()).await;
    let text = "ü".repeat(1_024);
    let long = actions.feedback(sender.address(), sender.address(), &text).unwrap();
    sender.run(long.as_ref()).await;
    let steps = sender.seen.lock().unwrap().iter().filter(|p| matches!(p, Progress::StepDone(_))).count();
    assert!(steps >= 2, "2048 bytes took {steps} steps before the last");

    // A sponsor builds and signs; the sender signs the same bytes; the sponsor sends.
    let sponsor = Party::new(net.new_wallet(50, 0).0, net.rpc_url());
    let poor = Keypair::new();
    assert!(actions.feedback_fits(poor.pubkey(), sponsor.address(), "Paid by another."));
    let flow = actions.feedback(poor.pubkey(), sponsor.address(), "Paid by another.").unwrap();
    let zx1_chain::rpc::Step::Send { draft, last: true } = flow.next(&sponsor.client).await.unwrap() else {
        panic!("one transaction")
    };
    let prepared = sponsor.sender.prepare(&draft).await.unwrap();
    prepared.check().unwrap();
    let mut theirs = prepared.unsigned().unwrap();
    theirs.sign(&[&sponsor.key]).unwrap();
    let mut mine = PartialTransaction::from_text(&theirs.to_json()).unwrap();
    assert_eq!(sponsor.sender.submit(&mine).await.unwrap_err().code(), 7064);
    mine.sign(&[&poor]).unwrap();
    let outcome = sponsor.sender.submit(&mine).await.unwrap();
    assert!(matches!(outcome, Outcome::Confirmed(_)));
    sponsor.sender.acknowledge(&outcome).await.unwrap();

    let items = sender.client.feedback(None, 10).await.unwrap();
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(texts, vec!["Paid by another.", text.as_str(), "It works."], "newest first");
    assert_eq!(items[0].entry.sender, poor.pubkey().to_bytes());
    assert_eq!(items[0].entry.payer, sponsor.address().to_bytes());
    assert_eq!(sender.client.feedback(Some(1), 1).await.unwrap()[0].text, text);

    let maintainer = Party::new(net.key("maintainer"), net.rpc_url());
    let not_mine = actions.resolve_entry(sender.address(), 0, [0; 32], [5; 32]).await;
    assert_eq!(not_mine.unwrap_err().code(), 7090);
    maintainer.run(&actions.resolve_entry(maintainer.address(), 0, [0; 32], [5; 32]).await.unwrap()).await;
    let resolved = sender.client.feedback_entry(0).await.unwrap().unwrap();
    assert_eq!(resolved.resolution.unwrap().commit, [5; 32]);
    assert_eq!(sender.client.feedback_entry(99).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_wallet_and_a_poor_one_are_told_what_to_do() {
    let net = Localnet::builder().start();
    let rich = Party::new(net.new_wallet(50, 5).0, net.rpc_url());
    let mint = rich.register("Gus").await;
    let sati = rich.sati().await;
    let actions = Actions::new(&rich.client, &sati).await.unwrap();
    let draft = actions.lock_stake(mint, rich.address(), MicroUsdc(AMOUNTS.min_stake)).await.unwrap();
    let error = rich.try_run(&draft).await.unwrap_err();
    assert_eq!(error.code(), 6034, "{error}");
    let empty = Party::new(Keypair::new(), net.rpc_url());
    let draft = actions.tick_lease(mint, empty.address()).await.unwrap();
    let error = empty.try_run(&draft).await.unwrap_err();
    assert_eq!(error.code(), 7020, "{error}");
    let error = actions.lock_stake(mint, rich.address(), MicroUsdc(AMOUNTS.min_stake)).await.map(|_| ());
    assert!(error.is_ok(), "it has an account, if not enough in it");
    let bare = Party::new(net.new_wallet(5, 0).0, net.rpc_url());
    let own = bare.register("Hal").await;
    let error = actions.lock_stake(own, bare.address(), MicroUsdc(AMOUNTS.min_stake)).await.unwrap_err();
    assert_eq!(error.code(), 7018, "{error}");
    assert_eq!(net.usdc(&rich.address()), 5_000_000, "nothing changed");
}
