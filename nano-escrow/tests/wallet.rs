//! The journalled wallet on the embedded ledger.

#![allow(clippy::unwrap_used)]

mod escrow_support;

use std::path::Path;
use std::sync::Arc;

use escrow_support::*;
use nano_devnet::{Confirm, Devnet, Effect, FaultRule, On};
use nano_escrow::escrow::{DomainKeys, Keys, restore};
use nano_escrow::journal::{CrashPoints, Journal};
use nano_escrow::wallet::Wallet;
use nano_escrow::{Network, Raw};

async fn wallet_at(folder: &Path, devnet: &Arc<Devnet>, points: CrashPoints) -> Wallet {
    let mut options = options();
    options.prefetch_work = false;
    Wallet::new(parts(journal_at(folder, points).await, devnet.clone(), options))
}

async fn filled(wallet: &Wallet, devnet: &Devnet, amount: Raw) {
    fill(wallet, 0, devnet, amount).await;
}

async fn fill(wallet: &Wallet, index: u32, devnet: &Devnet, amount: Raw) {
    let address = wallet.account(index).await.unwrap();
    devnet.faucet(address, amount).await.unwrap();
    eventually("the money is there", || async {
        wallet.receive_all(index).await.ok()?;
        (wallet.balance(index).await.ok()?.confirmed >= amount).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_wallet_receives_and_sends_and_remembers_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let wallet = wallet_at(folder.path(), &devnet, CrashPoints::default()).await;
    assert_eq!(wallet.account(0).await.unwrap(), seed().wallet_key(0).address(), "the standard derivation");
    assert_eq!(wallet.balance(0).await.unwrap().balance, Raw::ZERO);
    filled(&wallet, &devnet, xno("5")).await;
    filled(&wallet, &devnet, xno("2")).await;
    wallet.send(0, "rent", person("landlord"), xno("1.5")).await.unwrap();
    let plan = wallet.wait("rent", PATIENCE).await.unwrap();
    assert!(plan.done);
    let balance = wallet.balance(0).await.unwrap();
    assert_eq!((balance.balance, balance.confirmed), (xno("5.5"), xno("5.5")));
    let history = wallet.history(0).await.unwrap();
    let shape: Vec<_> = history.iter().map(|h| (h.kind, h.amount, h.id.as_deref())).collect();
    assert_eq!(
        shape,
        [("send", xno("1.5"), Some("rent")), ("receive", xno("2"), None), ("open", xno("5"), None)]
    );
    assert_eq!(wallet.audit(true).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn one_id_pays_once_and_another_payment_under_it_fails() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let wallet = wallet_at(folder.path(), &devnet, CrashPoints::default()).await;
    filled(&wallet, &devnet, xno("5")).await;
    let bob = person("bob");
    let sends = (0..8).map(|_| wallet.send(0, "one", bob, xno("1")));
    for plan in futures_util::future::join_all(sends).await {
        assert_eq!(plan.unwrap().key, "one");
    }
    wallet.wait("one", PATIENCE).await.unwrap();
    assert_eq!(wallet.send(0, "one", bob, xno("2")).await.unwrap_err().code(), 8644);
    assert_eq!(wallet.send(0, "one", person("eve"), xno("1")).await.unwrap_err().code(), 8644);
    // The same amount to the same person under another name is another payment.
    wallet.send(0, "two", bob, xno("1")).await.unwrap();
    wallet.wait("two", PATIENCE).await.unwrap();
    assert_eq!(devnet.account(wallet.account(0).await.unwrap()).sent_confirmed[&bob.public_key()], xno("2"));
}

#[tokio::test]
async fn bad_payments_fail_and_change_nothing() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let wallet = wallet_at(folder.path(), &devnet, CrashPoints::default()).await;
    let me = wallet.account(0).await.unwrap();
    let code = |r: Result<_, nano_escrow::escrow::EscrowError>| r.map(drop).unwrap_err().code();
    assert_eq!(code(wallet.send(0, "a", person("bob"), xno("1")).await), 8042, "no blocks yet");
    filled(&wallet, &devnet, xno("1")).await;
    assert_eq!(code(wallet.send(0, "a", person("bob"), xno("1.1")).await), 8016);
    assert_eq!(code(wallet.send(0, "a", person("bob"), Raw::ZERO).await), 8014);
    assert_eq!(code(wallet.send(0, "a", me, xno("1")).await), 8642);
    assert_eq!(code(wallet.send(0, "a", nano_escrow::Address::BURN, xno("1")).await), 8643);
    assert_eq!(code(wallet.send(0, "", person("bob"), xno("1")).await), 8621);
    assert!(devnet.account(me).sent.is_empty());
    assert_eq!(wallet.history(0).await.unwrap().len(), 1);
    // The id is free: none of these was decided.
    wallet.send(0, "a", person("bob"), xno("1")).await.unwrap();
}

#[tokio::test]
async fn a_crash_at_every_point_of_a_send_pays_once_ok() {
    let devnet = devnet(Confirm::AtOnce).await;
    let bob = person("bob");
    // The journal must be filled before the points are counted: a first life without a probe.
    let life = |folder: std::path::PathBuf, index: u32, points: CrashPoints, devnet: Arc<Devnet>| async move {
        let wallet = wallet_at(&folder, &devnet, points).await;
        wallet.recover().await.unwrap();
        wallet.send(index, "one", bob, xno("1")).await.unwrap();
        wallet.wait("one", PATIENCE).await.unwrap();
        wallet
    };
    let mut points = usize::MAX;
    let mut at = 0;
    while at <= points {
        let folder = folder();
        // An account of its own each time.
        let index = u32::try_from(at).unwrap();
        let first = wallet_at(folder.path(), &devnet, CrashPoints::default()).await;
        let account = first.account(index).await.unwrap();
        fill(&first, index, &devnet, Raw::XNO).await;
        drop(first);
        let counter = Counter::new(at);
        tokio::select! {
            biased;
            wallet = life(folder.path().to_owned(), index, CrashPoints::new(counter.clone()), devnet.clone()) => drop(wallet),
            () = counter.hung.notified() => {}
        }
        if at == 0 {
            points = counter.count();
            assert!(points > 10, "{points}");
        }
        let wallet = life(folder.path().to_owned(), index, CrashPoints::default(), devnet.clone()).await;
        let sent = devnet.account(account).sent_confirmed[&bob.public_key()];
        assert_eq!(sent, Raw::XNO, "point {at} of {points}: {}", counter.last());
        let audit = wallet.audit(true).await.unwrap();
        assert_eq!(audit.problems, Vec::<String>::new());
        at += 1;
    }
    println!("{points} crash points of a send");
}

#[tokio::test]
async fn a_restored_wallet_pays_an_id_again_never_ok() {
    let (devnet, [old, new]) = (devnet(Confirm::AtOnce).await, [folder(), folder()]);
    let wallet = wallet_at(old.path(), &devnet, CrashPoints::default()).await;
    filled(&wallet, &devnet, xno("5")).await;
    let backup = wallet.export().await.unwrap();
    wallet.send(0, "one", person("bob"), xno("1")).await.unwrap();
    wallet.wait("one", PATIENCE).await.unwrap();
    let journal = restore(&new.path().join("escrow.db"), &backup, &seed()).await.unwrap();
    let restored = Wallet::new(parts(journal, devnet.clone(), options()));
    assert_eq!(restored.recover().await.unwrap().adopted, 1);
    let plan = restored.send(0, "one", person("bob"), xno("1")).await.unwrap();
    assert!(plan.done, "found on chain");
    let account = restored.account(0).await.unwrap();
    assert_eq!(devnet.account(account).sent_confirmed[&person("bob").public_key()], xno("1"));
}

#[tokio::test]
async fn an_answer_that_is_lost_pays_once_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let wallet = wallet_at(folder.path(), &devnet, CrashPoints::default()).await;
    filled(&wallet, &devnet, xno("5")).await;
    for n in 0..3 {
        devnet.faults().add(FaultRule::once(On::action("process"), Effect::LoseAnswer { ms: 0 }));
        let id = format!("n{n}");
        wallet.send(0, &id, person("bob"), xno("1")).await.unwrap();
        wallet.wait(&id, PATIENCE).await.unwrap();
    }
    let account = wallet.account(0).await.unwrap();
    assert_eq!(devnet.account(account).sent_confirmed[&person("bob").public_key()], xno("3"));
}

#[tokio::test]
async fn keys_of_a_domain_are_those_of_decision_a2_ok() {
    let folder = folder();
    let devnet = devnet(Confirm::AtOnce).await;
    let keys = Arc::new(DomainKeys::new(b"zx1/nano/v1", seed()));
    assert_ne!(keys.fingerprint(), seed().fingerprint());
    let path = folder.path().join("wallet.db");
    let journal = Journal::open(&path, Network::Dev, &keys.fingerprint()).await.unwrap();
    let mut parts = parts(journal, devnet, options());
    parts.keys = keys;
    let wallet = Wallet::new(parts);
    assert_eq!(wallet.account(3).await.unwrap(), seed().domain_key(b"zx1/nano/v1", 3).address());
}
