//! The chain client (`zx1_chain::rpc`) against the real programs on a local cluster: every account it reads,
//! every transaction it sends, and a network that fails at the worst moment.
#![allow(clippy::unwrap_used)]

#[path = "chain_client/network.rs"]
mod network;
#[path = "chain_client/party.rs"]
mod party;

use party::*;

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::pda;
use zx1_chain::rpc::actions::{Actions, ChallengeRequest, ChallengeWith};
use zx1_chain::rpc::registry::{Agreement, Feedback, IdentityRegistry};
use zx1_chain::rpc::{ChallengeFilter, Event, Money, Outcome, PartialTransaction, Progress, lookup};
use zx1_chain::sati;
use zx1_e2e::Localnet;
use zx1_interface::constants::{CHALLENGE_STAKE, LEASE_COST_PER_EPOCH, MIN_STAKE};
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::evidence::{Evidence, ProvenBid};
use zx1_protocol::hash::Sha3;
use zx1_protocol::interaction;
use zx1_protocol::payload::bid_payload;
use zx1_protocol::record::BID_LEN;
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

    // Stake: what the prompt shows is what happens.
    let actions = Actions::new(&owner.client, &sati).await.unwrap();
    let draft = actions.lock_stake(mint, owner.address(), MicroUsdc(12_345_678)).await.unwrap();
    let prepared = owner.sender.prepare(&draft).await.unwrap();
    let summary = prepared.summary();
    assert!(summary.lines[0].title.contains("12.345678 USDC"), "{summary}");
    let usdc: Vec<_> = summary.moves.iter().filter(|m| matches!(m.money, Money::Usdc(_))).collect();
    assert_eq!(usdc.len(), 1, "{summary}");
    assert_eq!((usdc[0].money, usdc[0].to), (Money::Usdc(MicroUsdc(12_345_678)), pda::stake_vault(&mint)));
    let sol_before = net.lamports(&owner.address());
    owner.run(&draft).await;
    let rent: u64 = summary.moves.iter().map(|m| if let Money::Lamports(l) = m.money { l } else { 0 }).sum();
    assert_eq!(net.lamports(&owner.address()), sol_before - rent - summary.fee, "fee and rent as shown");
    assert_eq!(net.usdc(&owner.address()), 100_000_000 - 12_345_678);
    assert_eq!(owner.client.stake(mint).await.unwrap().unwrap().stake_usdc, 12_345_678);

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

    // A batch.
    let epoch = owner.client.time().await.unwrap().epoch - 1;
    let (_, entry) = sent(mint, MsgType::Propose, epoch, 1, &bid_payload(5, b""));
    let day = Day { epoch, entries: vec![entry], records: vec![bid(5)] };
    owner.submit(mint, &day).await;
    let batches = owner.client.batches(mint).await.unwrap();
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].arrays_root, day.arrays().root());
    assert_eq!(owner.client.head(mint).await.unwrap().unwrap().count, 1);

    // Refusals are sentences with a name.
    let refused =
        owner.try_run(&actions.queue_unlock(mint, owner.address()).await.unwrap()).await.unwrap_err();
    assert_eq!(refused.code(), 6012, "{refused}");
    assert!(refused.to_string().starts_with("LeaseNotDeactivated (6012)"), "{refused}");

    // The end: deactivated, unlocked, claimed to the last micro-USDC; the batch's rent comes back.
    net.travel_epochs(6);
    owner.run(&actions.tick_lease(mint, owner.address()).await.unwrap()).await;
    assert_eq!(owner.client.lease(mint).await.unwrap().unwrap().deactivated, 1);
    owner.run(&actions.queue_unlock(mint, owner.address()).await.unwrap()).await;
    net.travel_slots(432_001);
    owner.run(&actions.close_batch(mint, epoch, owner.address()).await.unwrap()).await;
    assert_eq!(owner.client.batch(mint, epoch).await.unwrap(), None);
    owner.run(&actions.claim_stake(mint, owner.address()).await.unwrap()).await;
    assert_eq!(owner.client.stake(mint).await.unwrap(), None);
    assert_eq!(net.usdc(&owner.address()), 100_000_000 - 2 * LEASE_COST_PER_EPOCH);
    assert!(owner.client.history(pda::lease(&mint), 10).await.unwrap().len() >= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delegate_acts_until_it_is_revoked() {
    let net = Localnet::builder().start();
    let owner = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let hot = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let mint = owner.living_agent("Bea").await;
    let sati = owner.sati().await;
    let denied = Actions::new(&hot.client, &sati).await.unwrap().pay_lease(mint, hot.address(), 1).await;
    assert_eq!(denied.unwrap_err().code(), 7017);

    let signature = owner.sign(&sati.delegation_message(owner.address()));
    let add = sati.add_delegate(mint, owner.address(), hot.address(), 0, &signature).await.unwrap();
    owner.run(&add).await;
    let delegates = sati.delegates(mint).await.unwrap();
    assert_eq!(delegates.len(), 1);
    assert!(delegates[0].live && delegates[0].delegate == hot.address());

    let actions = Actions::new(&hot.client, &sati).await.unwrap();
    hot.run(&actions.pay_lease(mint, hot.address(), 1).await.unwrap()).await;
    assert_eq!(net.usdc(&hot.address()), 100_000_000 - LEASE_COST_PER_EPOCH, "the delegate paid");

    owner.run(&sati.revoke_delegate(mint, owner.address(), hot.address()).await.unwrap()).await;
    assert_eq!(sati.delegates(mint).await.unwrap(), vec![]);
    let denied = actions.pay_lease(mint, hot.address(), 1).await;
    assert_eq!(denied.unwrap_err().code(), 7017);

    // One that runs out counts until then.
    let soon = owner.client.time().await.unwrap().unix + 3_600;
    let add = sati.add_delegate(mint, owner.address(), hot.address(), soon, &signature).await.unwrap();
    owner.run(&add).await;
    assert!(sati.delegates(mint).await.unwrap()[0].live);
    net.travel_epochs(1);
    assert!(!sati.delegates(mint).await.unwrap()[0].live);
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
    let epoch = honest.client.time().await.unwrap().epoch - 1;

    // The truth: the bid stands in the log and in the arrays.
    let payload = bid_payload(41, b"offer");
    let (_, entry) = sent(good, MsgType::Propose, epoch, 1, &payload);
    let told = Day { epoch, entries: vec![entry], records: vec![filler(1), bid(41)] };
    honest.submit(good, &told).await;
    // A lie: in the log, not in the arrays.
    let (_, entry) = sent(bad, MsgType::Propose, epoch, 1, &payload);
    let hidden = Day { epoch, entries: vec![entry], records: vec![filler(1)] };
    liar.submit(bad, &hidden).await;

    let with = |day: &Day| ChallengeWith::Evidence(day.entry_evidence(0, Some(&payload)));
    let request = |agent, with| ChallengeRequest {
        challenger: challenger.address(),
        agent,
        epoch,
        ground: Ground::Bid,
        with,
    };
    let against_good = challenger.challenge(&request(good, with(&told))).await;
    let against_bad = challenger.challenge(&request(bad, with(&hidden))).await;
    assert_eq!(net.usdc(&challenger.address()), 100_000_000 - 2 * CHALLENGE_STAKE);
    let mine = challenger.client.challenges(ChallengeFilter::Challenger(challenger.address())).await.unwrap();
    assert_eq!(mine.len(), 2);
    let of_good = challenger.client.challenges(ChallengeFilter::Agent(good)).await.unwrap();
    assert_eq!(of_good.iter().map(|c| c.address).collect::<Vec<_>>(), vec![against_good]);
    let of_batch =
        challenger.client.challenges(ChallengeFilter::Batch(pda::batch(&bad, epoch))).await.unwrap();
    assert_eq!(of_batch.iter().map(|c| c.address).collect::<Vec<_>>(), vec![against_bad]);

    // The answer needs only what the chain keeps and the agent's own records.
    let sati = honest.sati().await;
    let actions = Actions::new(&honest.client, &sati).await.unwrap();
    let expected = &of_good[0].expected_record[..usize::from(of_good[0].expected_len)];
    assert_eq!(expected, bid(41), "the record that the evidence demands");
    honest.run(&actions.answer(honest.address(), against_good, &told.answer(1, 41)).await.unwrap()).await;
    let again = actions.answer(honest.address(), against_good, &told.answer(0, 41)).await.unwrap();
    assert_eq!(honest.try_run(&again).await.unwrap_err().code(), 6101);

    net.travel_slots(432_001);
    let sati = challenger.sati().await;
    let actions = Actions::new(&challenger.client, &sati).await.unwrap();
    for challenge in [against_good, against_bad] {
        challenger.run(&actions.resolve(challenge, challenger.address()).await.unwrap()).await;
        challenger.run(&actions.close_challenge(challenge, challenger.address()).await.unwrap()).await;
        assert_eq!(challenger.client.challenge(challenge).await.unwrap(), None);
    }
    // Lost one stake, got the other back, and half of the liar's.
    assert_eq!(net.usdc(&challenger.address()), 100_000_000 - CHALLENGE_STAKE + MIN_STAKE / 2);
    assert_eq!(net.usdc(&treasury), treasury_before + CHALLENGE_STAKE + MIN_STAKE / 2);
    assert_eq!(honest.client.stake(good).await.unwrap().unwrap().stake_usdc, MIN_STAKE);
    assert_eq!(liar.client.stake(bad).await.unwrap().unwrap().stake_usdc, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_evidence_finds_its_way() {
    let net = Localnet::builder().start();
    let liar = Party::new(net.new_wallet(50, 100).0, net.rpc_url());
    let challenger = Party::new(net.new_wallet(50, 200).0, net.rpc_url());
    let mint = liar.living_agent("Dan").await;
    let epoch = liar.client.time().await.unwrap().epoch - 1;
    let payload = bid_payload(7, &[b'x'; 300]);
    let (signed, entry) = sent(mint, MsgType::Accept, epoch, 1, &payload);
    // Long enough a log that proof and payload do not fit one transaction.
    let mut entries = vec![entry];
    entries.extend((0..600_u32).map(|n| [&[1; 70][..], &n.to_le_bytes()].concat()));
    let day = Day { epoch, entries, records: vec![bid(1), bid(2), filler(9)] };
    liar.submit(mint, &day).await;
    let request = |ground, with| ChallengeRequest {
        challenger: challenger.address(),
        agent: mint,
        epoch,
        ground,
        with,
    };

    // Inline.
    let inline = request(Ground::Selection, ChallengeWith::Evidence(day.entry_evidence(0, None)));
    challenger.challenge(&inline).await;
    let steps = |party: &Party| {
        let seen = party.seen.lock().unwrap();
        seen.iter().filter(|progress| matches!(progress, Progress::StepDone(_))).count()
    };
    assert_eq!(steps(&challenger), 0);
    // Through a draft.
    let long = request(Ground::Bid, ChallengeWith::Evidence(day.entry_evidence(0, Some(&payload))));
    challenger.challenge(&long).await;
    assert!(steps(&challenger) >= 1, "a draft was needed");
    // The same again: the chain shows it.
    let sati = challenger.sati().await;
    let actions = Actions::new(&challenger.client, &sati).await.unwrap();
    let again = actions.challenge(&long).await.unwrap();
    assert!(matches!(challenger.run(again.as_ref()).await, Outcome::Done(_)));
    // Two bids for one thing.
    let proofs = [0, 1].map(|n| day.arrays().proof_of_entry(n).unwrap());
    let records: [[u8; BID_LEN]; 2] = [0, 1].map(|n: usize| day.records[n].clone().try_into().unwrap());
    let [a, b] =
        [0, 1].map(|n: usize| ProvenBid::new(&records[n], proofs[n].index, &proofs[n].path).unwrap());
    let double = Evidence::DoubleBid(a, b).to_bytes().unwrap();
    challenger.challenge(&request(Ground::DoubleBid, ChallengeWith::Evidence(double))).await;
    // An envelope that its sender signed.
    let with = ChallengeWith::Envelope { signature: liar.sign(&signed), signed, signer: liar.address() };
    let envelope = request(Ground::Selection, with);
    let at = challenger.challenge(&envelope).await;
    let stored = challenger.client.challenge(at).await.unwrap().unwrap();
    assert_eq!(&stored.expected_record[..usize::from(stored.expected_len)], selection());
    assert_eq!(challenger.client.stake(mint).await.unwrap().unwrap().open_challenges, 4);
    assert_eq!(net.usdc(&challenger.address()), 200_000_000 - 4 * CHALLENGE_STAKE);
    let left = challenger.client.evidence_of(challenger.address()).await.unwrap();
    assert_eq!(left, (vec![], vec![]), "drafts and recordings were used up");

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
    let draft = actions.lock_stake(mint, rich.address(), MicroUsdc(MIN_STAKE)).await.unwrap();
    let error = rich.try_run(&draft).await.unwrap_err();
    assert_eq!(error.code(), 6034, "{error}");
    let empty = Party::new(Keypair::new(), net.rpc_url());
    let draft = actions.tick_lease(mint, empty.address()).await.unwrap();
    let error = empty.try_run(&draft).await.unwrap_err();
    assert_eq!(error.code(), 7020, "{error}");
    let error = actions.lock_stake(mint, rich.address(), MicroUsdc(MIN_STAKE)).await.map(|_| ());
    assert!(error.is_ok(), "it has an account, if not enough in it");
    let bare = Party::new(net.new_wallet(5, 0).0, net.rpc_url());
    let own = bare.register("Hal").await;
    let error = actions.lock_stake(own, bare.address(), MicroUsdc(MIN_STAKE)).await.unwrap_err();
    assert_eq!(error.code(), 7018, "{error}");
    assert_eq!(net.usdc(&rich.address()), 5_000_000, "nothing changed");
}
