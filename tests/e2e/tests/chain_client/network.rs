//! A network that fails at the worst moment, and others who are faster.

use crate::party::*;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use solana_signer::Signer;
use zx1_chain::pda;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::{IdentityRegistry, Sati};
use zx1_chain::rpc::{
    ChainError, Client, ClientOptions, Cluster, Outbox, Outcome, PartialTransaction, Progress, Sender,
    SenderOptions,
};
use zx1_e2e::{Fault, FaultProxy, Localnet};
use zx1_interface::constants::LEASE_COST_PER_EPOCH;
use zx1_protocol::units::MicroUsdc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_lost_after_landing_is_found_and_nothing_is_paid_twice() {
    let net = Localnet::builder().start();
    let proxy = FaultProxy::start(net.rpc_url());
    let key = net.new_wallet(50, 100).0;
    let owner = Party::new(key.insecure_clone(), net.rpc_url());
    let mint = owner.register("Eve").await;
    let through = Party::with_patience(key, &proxy.url(), Duration::from_millis(700));
    let sati = through.sati().await;
    let actions = Actions::new(&through.client, &sati).await.unwrap();
    let draft = actions.lock_stake(mint, through.address(), MicroUsdc(AMOUNTS.min_stake)).await.unwrap();

    // It lands, but neither the answer nor any look at it comes back.
    proxy.fail("sendTransaction", 50, Fault::DropAfter);
    proxy.fail("getSignatureStatuses", 200, Fault::DropBefore);
    let error = through.try_run(&draft).await.unwrap_err();
    assert_eq!(error.code(), 7060, "{error}");
    assert_eq!(net.usdc(&through.address()), 100_000_000 - AMOUNTS.min_stake, "it landed");
    proxy.clear();
    let through = through.patient();

    let outcome = through.try_run(&draft).await.unwrap();
    assert!(matches!(outcome, Outcome::AlreadyDone(_)), "{outcome:?}");
    assert_eq!(net.usdc(&through.address()), 100_000_000 - AMOUNTS.min_stake, "paid once");
    through.sender.acknowledge(&outcome).await.unwrap();
    // Only after it was shown does the same intent mean a second payment.
    let draft = actions.lock_stake(mint, through.address(), MicroUsdc(AMOUNTS.min_stake)).await.unwrap();
    let outcome = through.run(&draft).await;
    assert!(matches!(outcome, Outcome::Confirmed(_)));
    assert_eq!(net.usdc(&through.address()), 100_000_000 - 2 * AMOUNTS.min_stake);

    // Reads survive a bad moment; a node that is down is named.
    proxy.fail("getAccountInfo", 1, Fault::DropBefore);
    proxy.fail("getAccountInfo", 1, Fault::HalfAnswer);
    assert!(through.client.stake(mint, 0).await.unwrap().is_some());
    proxy.down();
    let error = through.client.stake(mint, 0).await.unwrap_err();
    assert_eq!(error.code(), 7000, "{error}");
    assert!(error.to_string().contains(&proxy.url()));
    proxy.up();
    assert!(through.client.stake(mint, 0).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_never_reached_the_cluster_is_signed_anew_once_it_is_dead() {
    let net = Localnet::builder().start();
    let proxy = FaultProxy::start(net.rpc_url());
    let key = net.new_wallet(50, 100).0;
    let owner = Party::new(key.insecure_clone(), net.rpc_url());
    let mint = owner.register("Flo").await;
    let through = Party::with_patience(key, &proxy.url(), Duration::from_millis(500));
    let sati = through.sati().await;
    let actions = Actions::new(&through.client, &sati).await.unwrap();
    let draft = actions.pay_lease(mint, through.address(), 1).await.unwrap();
    proxy.fail("sendTransaction", 1_000, Fault::DropBefore);
    let ChainError::NotConfirmed { signature, .. } = through.try_run(&draft).await.unwrap_err() else {
        panic!("it cannot be confirmed")
    };
    assert_eq!(net.usdc(&through.address()), 100_000_000);
    // It may still land: the rerun sends the very same bytes.
    let ChainError::NotConfirmed { signature: again, .. } = through.try_run(&draft).await.unwrap_err() else {
        panic!("it cannot be confirmed")
    };
    assert_eq!(again, signature);
    // Its blockhash expires; now another one may be signed.
    net.travel_slots(1_000);
    proxy.clear();
    let through = through.patient();
    let outcome = through.run(&draft).await;
    let Outcome::Confirmed(landed) = outcome else { panic!("{outcome:?}") };
    assert_ne!(landed.signature, signature);
    assert_eq!(net.usdc(&through.address()), 100_000_000 - LEASE_COST_PER_EPOCH, "paid once");

    // One that was signed somewhere else and is too old.
    let prepared =
        through.sender.prepare(&actions.tick_lease(mint, through.address()).await.unwrap()).await.unwrap();
    let mut old = prepared.unsigned().unwrap();
    old.sign(&[&through.key]).unwrap();
    net.travel_slots(1_000);
    let error = through.sender.submit(&old).await.unwrap_err();
    assert!(matches!(error.code(), 7060 | 7061), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_from_elsewhere_ends_as_soon_as_its_blockhash_is_dead() {
    const SOON: Duration = Duration::from_secs(8);
    let net = Localnet::builder().start();
    let proxy = FaultProxy::start(net.rpc_url());
    let key = net.new_wallet(50, 100).0;
    let owner = Party::new(key.insecure_clone(), net.rpc_url());
    let through = Party::with_patience(key, &proxy.url(), Duration::from_secs(60));
    let mint = owner.register("Flo").await;
    let sati = owner.sati().await;
    let actions = Actions::new(&owner.client, &sati).await.unwrap();
    let signed = async || {
        let draft = actions.pay_lease(mint, owner.address(), 1).await.unwrap();
        let mut signed = owner.sender.prepare(&draft).await.unwrap().unsigned().unwrap();
        signed.sign(&[&owner.key]).unwrap();
        // In base64 it does not say until when it can land.
        let bare = PartialTransaction::from_text(&signed.to_base64()).unwrap();
        assert_eq!(bare.last_valid_block_height, u64::MAX);
        bare
    };

    // Too old when it comes.
    let bare = signed().await;
    net.travel_slots(1_000);
    let started = Instant::now();
    assert_eq!(through.sender.submit(&bare).await.unwrap_err().code(), 7061);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());

    // Dies while nobody takes it.
    let bare = signed().await;
    proxy.fail("sendTransaction", 1_000, Fault::DropBefore);
    let sender = through.sender.clone();
    let sending = tokio::spawn(async move { sender.submit(&bare).await });
    proxy.wait_for_calls("sendTransaction", 3);
    assert!(!sending.is_finished(), "it may still land");
    net.travel_slots(1_000);
    let started = Instant::now();
    assert_eq!(sending.await.unwrap().unwrap_err().code(), 7061);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_eq!(net.usdc(&owner.address()), 100_000_000, "neither landed");

    // One that is alive lands.
    proxy.clear();
    let outcome = through.sender.submit(&signed().await).await.unwrap();
    assert!(matches!(outcome, Outcome::Confirmed(_)), "{outcome:?}");
    assert_eq!(net.usdc(&owner.address()), 100_000_000 - LEASE_COST_PER_EPOCH);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rerun_that_finds_its_number_taken_takes_the_next_one() {
    let net = Localnet::builder().start();
    let proxy = FaultProxy::start(net.rpc_url());
    let slow = Party::with_patience(net.new_wallet(5, 0).0, &proxy.url(), Duration::from_millis(400));
    let fast = Party::new(net.new_wallet(5, 0).0, net.rpc_url());
    let say = async |party: &Party| {
        let sati = party.sati().await;
        let actions = Actions::new(&party.client, &sati).await.unwrap();
        let flow = actions.feedback(party.address(), party.address(), "me too").unwrap();
        party.try_run(flow.as_ref()).await
    };
    proxy.fail("sendTransaction", 1_000, Fault::DropBefore);
    assert_eq!(say(&slow).await.unwrap_err().code(), 7060);
    // While it waits to be sent again, somebody else has the number that was signed.
    say(&fast).await.unwrap();
    proxy.clear();
    let slow = slow.patient();
    let outcome = say(&slow).await.unwrap();
    assert!(matches!(outcome, Outcome::Confirmed(_)), "{outcome:?}");
    let items = fast.client.feedback(None, 10).await.unwrap();
    let senders: Vec<_> = items.iter().map(|item| item.entry.sender).collect();
    assert_eq!(senders, [slow.address().to_bytes(), fast.address().to_bytes()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_slower_gets_the_next_number() {
    let net = Localnet::builder().wallets(5).start();
    let parties: Vec<Party> = (0..5).map(|n| Party::new(net.wallet(n), net.rpc_url())).collect();
    let names = ["a", "b", "c", "d", "e"];
    let (p, n) = (&parties, &names);
    let mints = tokio::join!(
        p[0].register(n[0]),
        p[1].register(n[1]),
        p[2].register(n[2]),
        p[3].register(n[3]),
        p[4].register(n[4]),
    );
    let sati = parties[0].sati().await;
    let mut numbers = Vec::new();
    for mint in [mints.0, mints.1, mints.2, mints.3, mints.4] {
        numbers.push(sati.look_up(mint).await.unwrap().unwrap().member_number);
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 5, "five agents, five numbers");

    let say = |party: usize| async move {
        let party = &p[party];
        let sati = party.sati().await;
        let actions = Actions::new(&party.client, &sati).await.unwrap();
        let flow = actions.feedback(party.address(), party.address(), "me too").unwrap();
        party.run(flow.as_ref()).await;
    };
    tokio::join!(say(0), say(1), say(2), say(3), say(4));
    let items = parties[0].client.feedback(None, 100).await.unwrap();
    let mut senders: Vec<[u8; 32]> = items.iter().map(|item| item.entry.sender).collect();
    senders.sort_unstable();
    senders.dedup();
    assert_eq!((items.len(), senders.len()), (5, 5), "everybody is heard once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_cut_off_anywhere_goes_on_where_it_was_and_ends_once() {
    let net = Localnet::builder().start();
    let proxy = Arc::new(FaultProxy::start(net.rpc_url()));
    let mut through = Party::with_patience(net.new_wallet(50, 0).0, &proxy.url(), Duration::from_millis(600));
    // From the moment on in which a transaction is written down the network gives no answer any more: every
    // other time the bytes themselves get through.
    let (cut, sent) = (proxy.clone(), Arc::new(Mutex::new(0_usize)));
    let count = sent.clone();
    through.sender = through.sender.with_progress(Arc::new(move |progress| {
        if matches!(progress, Progress::Sent(_)) {
            let mut count = count.lock().unwrap();
            *count += 1;
            let fault = if *count % 2 == 0 { Fault::DropAfter } else { Fault::DropBefore };
            cut.fail("sendTransaction", 100, fault);
            cut.fail("getSignatureStatuses", 100, Fault::DropBefore);
        }
    }));
    let sati = through.sati().await;
    let actions = Actions::new(&through.client, &sati).await.unwrap();
    let text = "long ".repeat(400);
    let flow = actions.feedback(through.address(), through.address(), &text).unwrap();
    let mut runs = 0;
    let outcome = loop {
        runs += 1;
        assert!(runs < 60, "it comes to an end");
        match through.try_run(flow.as_ref()).await {
            Ok(outcome) => break outcome,
            Err(error) => assert_eq!(error.code(), 7060, "{error}"),
        }
        proxy.clear();
    };
    // On a busy machine a rerun may lose patience before it has seen the outcome of the last one's.
    assert!(runs > *sent.lock().unwrap(), "every run but the last was cut off");
    assert!(outcome.landed().is_some(), "{outcome:?}");
    let items = through.client.feedback(None, 10).await.unwrap();
    assert_eq!(items.len(), 1, "published once");
    assert_eq!(items[0].text, text);
    let draft = through.client.account(pda::feedback_draft(&through.address(), 0)).await.unwrap();
    assert_eq!(draft, None);
    through.sender.acknowledge(&outcome).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_local_cluster_that_was_started_anew_does_not_wait_for_the_old_ones_transactions() {
    let old = Localnet::builder().start();
    let proxy = FaultProxy::start(old.rpc_url());
    let folder = tempfile::tempdir().unwrap();
    let key = old.wallet(0);
    let sender = |url: &str, patience: Duration| {
        let client = Client::new(Cluster::parse(url).unwrap(), ClientOptions::default());
        let outbox = Outbox::open(folder.path()).unwrap();
        Sender::new(client, outbox, SenderOptions { patience, ..SenderOptions::default() })
    };
    let text = |client: Client| {
        let key = key.pubkey();
        async move {
            let sati = Sati::connect(&client).await.unwrap();
            let actions = Actions::new(&client, &sati).await.unwrap();
            actions.feedback(key, key, "hello").unwrap()
        }
    };
    old.travel_epochs(3);
    let first = sender(&proxy.url(), Duration::from_millis(400));
    let flow = text(first.client().clone()).await;
    proxy.fail("sendTransaction", 100, Fault::DropBefore);
    let error = first.run(flow.as_ref(), &[&key], &mut |_| Ok(())).await.unwrap_err();
    assert_eq!(error.code(), 7060);
    drop(old);
    let new = Localnet::builder().start();
    new.fund(&key.pubkey(), 1_000_000_000, 0);
    let second = sender(new.rpc_url(), Duration::from_secs(60));
    let flow = text(second.client().clone()).await;
    let outcome = second.run(flow.as_ref(), &[&key], &mut |_| Ok(())).await.unwrap();
    assert!(matches!(outcome, Outcome::Confirmed(_)), "{outcome:?}");
}
