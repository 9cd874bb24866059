//! The escrow on the embedded ledger: deposits, settlements, refunds, the rules about them.

#![allow(clippy::unwrap_used)]

mod escrow_support;

use std::sync::Arc;

use escrow_support::*;
use nano_devnet::Confirm;
use nano_escrow::escrow::{AccountKey, AccountLegs, Keys as _, Leg, Settlement, Terms};
use nano_escrow::journal::{CrashPoints, Journal, JournalError};
use nano_escrow::{Network, Raw, Seed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_row_of_the_routing_table_is_paid_exactly_once_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    for row in routing() {
        let contract = row.name();
        let [principal, agent] = create(&escrow, &contract, row.deposit()).await;
        for account in [principal, agent] {
            devnet.faucet(account, row.deposit()).await.unwrap();
            until_received(&escrow, account).await;
        }
        let before = row.totals().keys().map(|k| devnet.ledger().receivables(k).count()).sum::<usize>();
        let settlement = row.settlement(&contract, principal, agent);
        escrow.settle(&settlement).await.unwrap();
        let plan = escrow.wait(&contract, &settlement.kind, "0", PATIENCE).await.unwrap();
        assert!(plan.done && plan.legs.iter().all(|l| l.state == "confirmed"), "{contract}: {plan:?}");
        assert_paid_once(&devnet, &escrow, &settlement).await;
        assert_eq!(paid(&devnet, &[principal, agent]), row.totals(), "{contract}");
        // The same again is the same plan, and moves nothing.
        assert_eq!(escrow.settle(&settlement).await.unwrap(), plan);
        let after = row.totals().keys().map(|k| devnet.ledger().receivables(k).count()).sum::<usize>();
        assert_eq!(after - before, plan.legs.iter().filter(|l| l.to.is_some()).count());
    }
    assert_eq!(escrow.alarms().await.unwrap(), []);
}

#[tokio::test]
async fn other_legs_under_the_same_key_fail() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let row = &routing()[0];
    let [principal, agent] = create(&escrow, "c", row.deposit()).await;
    for account in [principal, agent] {
        devnet.faucet(account, row.deposit()).await.unwrap();
        until_received(&escrow, account).await;
    }
    let settlement = row.settlement("c", principal, agent);
    escrow.settle(&settlement).await.unwrap();
    let mut other = settlement.clone();
    other.accounts[0].legs[0].to = person("thief");
    assert_eq!(escrow.settle(&other).await.unwrap_err().code(), 8644);
    other.kind = "another".into();
    assert_eq!(escrow.settle(&other).await.unwrap_err().code(), 8625, "closed by the first");
    escrow.wait("c", &settlement.kind, "0", PATIENCE).await.unwrap();
    assert_paid_once(&devnet, &escrow, &settlement).await;
    // A change of order is no other settlement.
    let mut turned = settlement.clone();
    turned.accounts.reverse();
    escrow.settle(&turned).await.unwrap();
}

#[tokio::test]
async fn legs_that_do_not_sum_to_what_is_held_fail_and_change_nothing() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let [principal, agent] = create(&escrow, "c", xno("1")).await;
    devnet.faucet(principal, xno("1")).await.unwrap();
    until_received(&escrow, principal).await;
    let before = escrow.statement("c").await.unwrap();
    let settle = |account, amount| Settlement {
        contract: "c".into(),
        kind: "k".into(),
        round: 0,
        accounts: vec![AccountLegs::exact(account, vec![Leg::new(person("x"), amount)])],
    };
    for (account, amount, code) in [
        (principal, xno("1.000000000000000000000000000001"), 8640),
        (principal, xno("0.999999999999999999999999999999"), 8641),
        (agent, xno("1"), 8640),
        (person("nobody"), xno("1"), 8620),
    ] {
        assert_eq!(escrow.settle(&settle(account, amount)).await.unwrap_err().code(), code);
    }
    let twice = Settlement {
        accounts: vec![settle(principal, xno("1")).accounts[0].clone(); 2],
        ..settle(principal, xno("1"))
    };
    assert_eq!(escrow.settle(&twice).await.unwrap_err().code(), 8624);
    let foreign = Settlement { contract: "d".into(), ..settle(principal, xno("1")) };
    assert_eq!(escrow.settle(&foreign).await.unwrap_err().code(), 8623);
    let reserved = Settlement { kind: "refund".into(), ..settle(principal, xno("1")) };
    assert_eq!(escrow.settle(&reserved).await.unwrap_err().code(), 8624);
    assert_eq!(escrow.statement("c").await.unwrap(), before, "nothing was decided");
    assert!(devnet.account(principal).sent.is_empty());
}

#[tokio::test]
async fn the_last_leg_takes_the_remainder_when_told_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let [principal, _] = create(&escrow, "c", xno("1")).await;
    devnet.faucet(principal, xno("1")).await.unwrap();
    until_received(&escrow, principal).await;
    let third = xno("1").mul_div_floor(1, 3).unwrap();
    let legs =
        vec![Leg::new(person("a"), third), Leg::new(person("b"), third), Leg::new(person("c"), Raw::ZERO)];
    let settlement = Settlement {
        contract: "c".into(),
        kind: "thirds".into(),
        round: 0,
        accounts: vec![AccountLegs { account: principal, legs, remainder_to_last: true }],
    };
    escrow.settle(&settlement).await.unwrap();
    escrow.wait("c", "thirds", "0", PATIENCE).await.unwrap();
    let paid = paid(&devnet, &[principal]);
    assert_eq!(paid[&person("c").public_key()], third.add(Raw(1)).unwrap());
    assert_eq!(devnet.account(principal).balance, Raw::ZERO);
}

#[tokio::test]
async fn an_unconfirmed_deposit_counts_for_nothing() {
    let (devnet, folder) = (devnet(Confirm::OnDemand).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let [principal, _] = create(&escrow, "c", xno("1")).await;
    let hash = devnet.faucet(principal, xno("1")).await.unwrap();
    let view = escrow.watch(principal).await.unwrap();
    assert_eq!((view.held, view.unconfirmed, view.funded), (Raw::ZERO, xno("1"), false));
    assert_eq!(view.deposits[0].state, "seen");
    assert!(devnet.account(principal).chain.is_empty(), "nothing is received before it is final");
    devnet.confirm(hash).await.unwrap();
    let view = escrow.watch(principal).await.unwrap();
    assert_eq!((view.held, view.unconfirmed, view.funded), (xno("1"), Raw::ZERO, true));
    escrow.drive(principal).await.unwrap();
    assert_eq!(devnet.account(principal).balance, xno("1"), "published");
    assert_eq!(escrow.watch(principal).await.unwrap().deposits[0].state, "confirmed");
    devnet.confirm_all().await.unwrap();
    escrow.drive(principal).await.unwrap();
    assert_eq!(escrow.watch(principal).await.unwrap().deposits[0].state, "received");
}

#[tokio::test]
async fn excess_and_late_payments_go_back_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let [account, _] = create(&escrow, "c", xno("1")).await;
    let genesis = Network::DEV_GENESIS_ACCOUNT;
    // One and a half, of which one counts.
    devnet.faucet(account, xno("1.5")).await.unwrap();
    eventually("the refund", || async {
        escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        (devnet.account(account).sent_confirmed.get(&genesis) == Some(&xno("0.5"))).then_some(())
    })
    .await;
    let view = escrow.watch(account).await.unwrap();
    assert_eq!((view.held, view.excess, view.funded), (xno("1"), Raw::ZERO, true));
    // More from the same source goes back as well.
    let late = devnet.faucet(account, xno("0.25")).await.unwrap();
    eventually("the second refund", || async {
        escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        (devnet.account(account).sent_confirmed.get(&genesis) == Some(&xno("0.75"))).then_some(())
    })
    .await;
    let plan = escrow.refund(late).await.unwrap();
    assert_eq!(escrow.refund(late).await.unwrap().key, plan.key, "idempotent");
    // The settlement pays what counts and nothing else; what comes after it goes back.
    let settlement = Settlement {
        contract: "c".into(),
        kind: "k".into(),
        round: 0,
        accounts: vec![AccountLegs::exact(account, vec![Leg::new(person("x"), xno("1"))])],
    };
    escrow.settle(&settlement).await.unwrap();
    escrow.wait("c", "k", "0", PATIENCE).await.unwrap();
    let payer = person("late payer");
    assert_eq!(devnet.account(account).balance, Raw::ZERO);
    let late = late_payment(&devnet, payer, account, xno("2")).await;
    eventually("the late payment goes back", || async {
        escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        (devnet.account(account).sent_confirmed.get(&payer.public_key()) == Some(&xno("2"))).then_some(())
    })
    .await;
    assert_eq!(escrow.refund(late).await.unwrap().legs.len(), 2, "a receive and a send");
    assert_eq!(escrow.audit(true).await.unwrap().problems, Vec::<String>::new());
}

/// A payment from an account of its own.
async fn late_payment(
    devnet: &nano_devnet::Devnet,
    payer: nano_escrow::Address,
    to: nano_escrow::Address,
    amount: Raw,
) -> nano_escrow::BlockHash {
    use nano_escrow::node::NodeCalls as _;
    let key = nano_escrow::PrivateKey::from_bytes(nano_escrow::blake2b_256(&[b"test person", b"late payer"]));
    assert_eq!(key.address(), payer);
    let source = devnet.faucet(payer, amount).await.unwrap();
    let head = nano_escrow::Head::unopened(payer, representative());
    let open = head.receive(source, amount).unwrap();
    let send = head.after(&open).unwrap().send(to, amount).unwrap();
    let mut hash = source;
    for (block, kind) in
        [(open, nano_escrow::WorkKind::ReceiveOrOpen), (send, nano_escrow::WorkKind::SendOrChange)]
    {
        let threshold = Network::Dev.thresholds().of(kind);
        let work = nano_escrow::work::WorkService::default().get(block.root(), threshold).await.unwrap();
        let signed = block.sign(&key.keypair()).unwrap().with_work(work);
        hash = devnet.process(signed, None).await.unwrap();
    }
    hash
}

#[tokio::test]
async fn only_the_named_payer_counts_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let terms = Terms { expected: Some(xno("1")), payer: Some(person("late payer")) };
    let account = escrow.create(&AccountKey::new("c", "p", 0), terms).await.unwrap().address;
    devnet.faucet(account, xno("1")).await.unwrap();
    let view = escrow.watch(account).await.unwrap();
    assert_eq!((view.held, view.funded), (Raw::ZERO, false));
    late_payment(&devnet, person("late payer"), account, xno("1")).await;
    let view = escrow.watch(account).await.unwrap();
    assert_eq!((view.held, view.funded), (xno("1"), true));
    eventually("the stranger's money goes back", || async {
        escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        let sent = devnet.account(account).sent_confirmed;
        (sent.get(&Network::DEV_GENESIS_ACCOUNT) == Some(&xno("1"))).then_some(())
    })
    .await;
}

#[tokio::test]
async fn dust_is_left_alone_and_cannot_keep_the_deposit_out() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let mut options = options();
    options.max_deposits = 3;
    let journal = journal_at(folder.path(), CrashPoints::default()).await;
    let escrow = nano_escrow::escrow::Escrow::new(parts(journal, devnet.clone(), options));
    let [account, _] = create(&escrow, "c", xno("1")).await;
    for _ in 0..20 {
        devnet.faucet(account, xno("0.00009")).await.unwrap();
    }
    let view = escrow.watch(account).await.unwrap();
    assert!(view.deposits.is_empty(), "below the dust limit");
    for i in 0..6_u128 {
        devnet.faucet(account, Raw(xno("0.001").get() + i)).await.unwrap();
    }
    let view = escrow.watch(account).await.unwrap();
    assert!(view.deposits.is_empty() && !view.over_cap, "too little to count, and to give back");
    devnet.faucet(account, xno("1")).await.unwrap();
    let view = escrow.watch(account).await.unwrap();
    assert!(view.funded, "the real deposit");
    // Where any amount counts, the number of deposits is bounded, and the largest are taken.
    let any = escrow.create(&AccountKey::new("c", "any", 0), Terms::default()).await.unwrap().address;
    for i in 0..6_u128 {
        devnet.faucet(any, Raw(xno("0.001").get() + i)).await.unwrap();
    }
    let view = escrow.watch(any).await.unwrap();
    assert_eq!(view.deposits.len(), 3, "the cap");
    assert!(view.over_cap);
    let most = view.deposits.iter().map(|d| d.amount).max();
    assert_eq!(most, Some(Raw(xno("0.001").get() + 5)), "the largest");
}

#[tokio::test]
async fn an_expired_account_gives_everything_back_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let [account, other] = create(&escrow, "c", xno("1")).await;
    devnet.faucet(account, xno("0.4")).await.unwrap();
    devnet.faucet(account, xno("0.3")).await.unwrap();
    until_received(&escrow, account).await;
    let key = AccountKey::new("c", "principal", 0);
    let view = escrow.expire(&key).await.unwrap();
    assert_eq!((view.held, view.excess, view.closed), (Raw::ZERO, xno("0.7"), true));
    escrow.expire(&key).await.unwrap();
    eventually("the money is back", || async {
        escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        let sent = devnet.account(account).sent_confirmed;
        (sent.get(&Network::DEV_GENESIS_ACCOUNT) == Some(&xno("0.7"))).then_some(())
    })
    .await;
    assert_eq!(sends(&devnet, &[account]).values().copied().collect::<Vec<_>>(), [1], "one refund");
    // What was settled does not expire.
    devnet.faucet(other, xno("1")).await.unwrap();
    until_received(&escrow, other).await;
    let settlement = Settlement {
        contract: "c".into(),
        kind: "k".into(),
        round: 0,
        accounts: vec![AccountLegs::exact(other, vec![Leg::new(person("x"), xno("1"))])],
    };
    escrow.settle(&settlement).await.unwrap();
    assert_eq!(escrow.expire(&AccountKey::new("c", "agent", 0)).await.unwrap_err().code(), 8625);
}

#[tokio::test]
async fn an_account_is_made_once_and_its_terms_stay() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let key = AccountKey::new("c", "p", 0);
    let terms = Terms { expected: Some(xno("1")), payer: None };
    let first = escrow.create(&key, terms).await.unwrap();
    assert_eq!(escrow.create(&key, terms).await.unwrap(), first);
    assert_eq!(escrow.create(&key, Terms::default()).await.unwrap_err().code(), 8622);
    let second = escrow.create(&AccountKey::new("c", "p", 1), terms).await.unwrap();
    assert_ne!(second.address, first.address, "a round has its own account");
    for bad in ["", "a\nb", &"x".repeat(129)] {
        let error = escrow.create(&AccountKey::new(bad, "p", 0), terms).await.unwrap_err();
        assert_eq!(error.code(), 8621);
    }
}

#[tokio::test]
async fn a_wrong_seed_or_network_is_refused_by_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("escrow.db");
    let mine = seed().fingerprint();
    Journal::open(&path, Network::Dev, &mine).await.unwrap().close().await;
    let other = Seed::from_bytes([8; 32]).fingerprint();
    let code = |r: Result<Journal, JournalError>| r.err().map(|e| e.code());
    assert_eq!(code(Journal::open(&path, Network::Dev, &other).await), Some(8603));
    assert_eq!(code(Journal::open(&path, Network::Live, &mine).await), Some(8604));
    assert_eq!(code(Journal::open(&path, Network::Dev, &mine).await), None);
    let missing = folder.path().join("none.db");
    assert_eq!(code(Journal::open_read_only(&missing).await), Some(8601));
    std::fs::write(folder.path().join("text.db"), "not a database, but long enough to look at").unwrap();
    let text = folder.path().join("text.db");
    assert_eq!(code(Journal::open(&text, Network::Dev, &mine).await), Some(8600));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_the_journal() {
    use std::os::unix::fs::PermissionsExt as _;
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    create(&escrow, "c", xno("1")).await;
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        seen += 1;
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.file_name());
    }
    assert!(seen >= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_takes_up_settles_and_refunds_by_itself_ok() {
    let devnet = devnet(Confirm::After(std::time::Duration::from_millis(20))).await;
    let folder = tempfile::tempdir().unwrap();
    let node = nano_escrow::node::HttpNode::new(&devnet.rpc_url(), Default::default()).unwrap();
    let escrow = escrow_at(folder.path(), Arc::new(node)).await;
    let cancel = tokio_util::sync::CancellationToken::new();
    let watch = nano_escrow::node::WatchOptions {
        websocket: Some(devnet.ws_url()),
        ..nano_escrow::node::WatchOptions::default()
    };
    let service = tokio::spawn({
        let (escrow, cancel) = (escrow.clone(), cancel.clone());
        async move { escrow.run(cancel, watch).await }
    });
    let row = &routing()[0];
    let [principal, agent] = create(&escrow, "c", row.deposit()).await;
    for account in [principal, agent] {
        devnet.faucet(account, row.deposit().add(xno("0.5")).unwrap()).await.unwrap();
    }
    eventually("both are funded", || async {
        let statement = escrow.statement("c").await.unwrap();
        statement.accounts.iter().all(|a| a.funded).then_some(())
    })
    .await;
    let settlement = row.settlement("c", principal, agent);
    escrow.settle(&settlement).await.unwrap();
    eventually("all is paid, the excess too", || async {
        let statement = escrow.statement("c").await.unwrap();
        let done = statement.plans.iter().filter(|p| p.done).count();
        (done == statement.plans.len() && statement.paid_in == statement.paid_out).then_some(())
    })
    .await;
    for account in [principal, agent] {
        assert_eq!(devnet.account(account).sent_confirmed[&Network::DEV_GENESIS_ACCOUNT], xno("0.5"));
        assert_eq!(devnet.account(account).balance, Raw::ZERO);
    }
    cancel.cancel();
    service.await.unwrap().unwrap();
    assert_eq!(escrow.audit(true).await.unwrap().problems, Vec::<String>::new());
}
