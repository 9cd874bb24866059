//! Strangers' dust, late and double payments, slow blocks: nobody loses money to them, and nobody waits for them.

#![allow(clippy::unwrap_used)]

mod escrow_support;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use escrow_support::*;
use futures_util::future::BoxFuture;
use nano_devnet::{Confirm, Devnet};
use nano_escrow::escrow::{AccountKey, Escrow, EscrowError, Options, Terms};
use nano_escrow::journal::CrashPoints;
use nano_escrow::node::{Call, NodeApi, NodeCalls as _, NodeError, WatchOptions};
use nano_escrow::{Address, BlockHash, Head, Network, PrivateKey, Raw, WorkKind};

async fn with(folder: &std::path::Path, devnet: &Arc<Devnet>, change: impl FnOnce(&mut Options)) -> Escrow {
    let mut options = options();
    change(&mut options);
    let journal = journal_at(folder, CrashPoints::default()).await;
    Escrow::new(parts(journal, devnet.clone(), options))
}

/// Whoever pays from an account of their own, several times.
struct Payer {
    key: PrivateKey,
    head: Head,
}

impl Payer {
    async fn new(devnet: &Devnet, name: &str, amount: &str) -> Payer {
        let key = PrivateKey::from_bytes(nano_escrow::blake2b_256(&[b"payer", name.as_bytes()]));
        let source = devnet.faucet(key.address(), xno(amount)).await.unwrap();
        let mut payer = Payer { head: Head::unopened(key.address(), representative()), key };
        let open = payer.head.receive(source, xno(amount)).unwrap();
        payer.publish(devnet, open, WorkKind::ReceiveOrOpen).await;
        payer
    }

    async fn publish(
        &mut self,
        devnet: &Devnet,
        block: nano_escrow::StateBlock,
        kind: WorkKind,
    ) -> BlockHash {
        let threshold = Network::Dev.thresholds().of(kind);
        let work = nano_escrow::work::WorkService::default().get(block.root(), threshold).await.unwrap();
        let signed = block.sign(&self.key.keypair()).unwrap().with_work(work);
        self.head = self.head.after(&block).unwrap();
        devnet.process(signed, None).await.unwrap()
    }

    async fn pay(&mut self, devnet: &Devnet, to: Address, amount: &str) -> BlockHash {
        let block = self.head.send(to, xno(amount)).unwrap();
        self.publish(devnet, block, WorkKind::SendOrChange).await
    }

    fn address(&self) -> Address {
        self.key.address()
    }
}

/// Watch and drive until what the account has sent to somebody is this.
async fn until_back(devnet: &Devnet, escrow: &Escrow, account: Address, to: Address, amount: &str) {
    eventually(&format!("{amount} go back"), || async {
        escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        let sent = devnet.account(account).sent_confirmed;
        (sent.get(&to.public_key()) == Some(&xno(amount))).then_some(())
    })
    .await;
}

async fn settle_whole(escrow: &Escrow, contract: &str, account: Address, amount: &str) {
    let settlement = nano_escrow::escrow::Settlement {
        contract: contract.into(),
        kind: "k".into(),
        round: 0,
        accounts: vec![nano_escrow::escrow::AccountLegs::exact(
            account,
            vec![nano_escrow::escrow::Leg::new(person("x"), xno(amount))],
        )],
    };
    escrow.settle(&settlement).await.unwrap();
    escrow.wait(contract, "k", "0", PATIENCE).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dust_that_a_node_shows_first_does_not_hide_the_deposit() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = with(folder.path(), &devnet, |_| {}).await;
    let [account, _] = create(&escrow, "c", xno("0.67")).await;
    let real = devnet.faucet(account, xno("0.67")).await.unwrap();
    let mut before = 0;
    while before < 90 {
        before += usize::from(devnet.faucet(account, xno("0.009")).await.unwrap() < real);
    }
    let view = escrow.watch(account).await.unwrap();
    assert!(view.funded, "the deposit is found behind {before} smaller ones with lower hashes: {view:?}");
    until_received(&escrow, account).await;
    settle_whole(&escrow, "c", account, "0.67").await;
    // What is below the refund's limit waits for the operator, who sends all of it back.
    let sweep = escrow.sweep(None, Raw(1)).await.unwrap();
    assert!(sweep.refunds == 1 && sweep.deposits >= 90, "{sweep:?}");
    eventually("the dust is back", || async {
        escrow.drive(account).await.unwrap();
        let state = devnet.account(account);
        (state.balance.is_zero() && state.receivable.is_empty() && state.chain.iter().all(|b| b.confirmed))
            .then_some(())
    })
    .await;
    devnet.audit().unwrap();
    assert_eq!(escrow.audit(true).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_payment_goes_back_whatever_came_before_it() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = with(folder.path(), &devnet, |_| {}).await;
    let [account, _] = create(&escrow, "c", xno("0.67")).await;
    for _ in 0..20 {
        devnet.faucet(account, xno("0.0016")).await.unwrap();
        escrow.watch(account).await.unwrap();
    }
    escrow.expire(&AccountKey::new("c", "principal", 0)).await.unwrap();
    escrow.watch(account).await.unwrap();
    let mut payer = Payer::new(&devnet, "late", "2").await;
    payer.pay(&devnet, account, "0.67").await;
    until_back(&devnet, &escrow, account, payer.address(), "0.67").await;
    // The same account pays an ended contract again, and again.
    payer.pay(&devnet, account, "0.3").await;
    until_back(&devnet, &escrow, account, payer.address(), "0.97").await;
    payer.pay(&devnet, account, "0.4").await;
    until_back(&devnet, &escrow, account, payer.address(), "1.37").await;
    assert_eq!(escrow.audit(true).await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_parts_do_not_count_and_eight_of_a_stranger_do_not_keep_the_deposit_out() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = with(folder.path(), &devnet, |_| {}).await;
    let [account, other] = create(&escrow, "c", xno("0.8")).await;
    devnet.faucet(account, xno("0.0999999")).await.unwrap();
    assert_eq!(escrow.watch(account).await.unwrap().held, Raw::ZERO, "less than an eighth");
    for paid in 1..=8_u32 {
        devnet.faucet(account, xno("0.1")).await.unwrap();
        let view = escrow.watch(account).await.unwrap();
        assert_eq!(view.held, xno("0.1").mul_div_floor(u64::from(paid), 1).unwrap());
        assert_eq!(view.funded, paid == 8, "eight equal parts are a deposit");
    }
    let mut stranger = Payer::new(&devnet, "stranger", "3").await;
    for _ in 0..20 {
        stranger.pay(&devnet, other, "0.1").await;
        escrow.watch(other).await.unwrap();
    }
    let view = escrow.watch(other).await.unwrap();
    assert!(view.deposits.iter().filter(|d| !d.credited.is_zero()).count() <= 8);
    let mut payer = Payer::new(&devnet, "payer", "1").await;
    if !view.funded {
        payer.pay(&devnet, other, "0.8").await;
        assert!(escrow.watch(other).await.unwrap().funded);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refunds_are_bounded_by_the_hour_and_none_is_forgotten() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let clock = Arc::new(Hand(std::sync::atomic::AtomicU64::new(1_795_000_000_000)));
    let mut options = options();
    options.refunds_per_hour = 3;
    let journal = journal_at(folder.path(), CrashPoints::default()).await;
    let escrow = Escrow::new({
        let mut parts = parts(journal, devnet.clone(), options);
        parts.clock = clock.clone();
        parts
    });
    let mut accounts = Vec::new();
    for n in 0..5_u32 {
        let contract = format!("c{n}");
        let [account, _] = create(&escrow, &contract, xno("1")).await;
        escrow.expire(&AccountKey::new(&contract, "principal", 0)).await.unwrap();
        let mut payer = Payer::new(&devnet, &contract, "1").await;
        payer.pay(&devnet, account, "1").await;
        accounts.push(account);
    }
    let back = async || {
        for account in &accounts {
            for _ in 0..3 {
                escrow.watch(*account).await.unwrap();
                escrow.drive(*account).await.unwrap();
            }
        }
        accounts.iter().filter(|a| !devnet.account(**a).sent_confirmed.is_empty()).count()
    };
    assert_eq!(back().await, 3);
    clock.0.fetch_add(3_599_000, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(back().await, 3);
    clock.0.fetch_add(2_000, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(back().await, 5);
}

struct Hand(std::sync::atomic::AtomicU64);

impl zx1_home::Clock for Hand {
    fn since_epoch(&self) -> Duration {
        Duration::from_millis(self.0.load(std::sync::atomic::Ordering::SeqCst))
    }
}

/// Finding 9: the `process` of a refund takes as long as a block of live work; a settlement beside it does not wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_refund_holds_up_no_payout() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let node = nano_escrow::node::HttpNode::new(&devnet.rpc_url(), Default::default()).unwrap();
    let escrow = escrow_at(folder.path(), Arc::new(node)).await;
    let [late, paid] = create(&escrow, "c", xno("1")).await;
    escrow.expire(&AccountKey::new("c", "principal", 0)).await.unwrap();
    devnet.faucet(paid, xno("1")).await.unwrap();
    until_received(&escrow, paid).await;
    let slow = nano_devnet::FaultRule::new(
        nano_devnet::On::action("process").of(late),
        nano_devnet::Effect::Delay { ms: 8_000 },
    );
    let slow = devnet.faults().add(slow);
    let cancel = tokio_util::sync::CancellationToken::new();
    let watch = nano_escrow::node::WatchOptions {
        websocket: Some(devnet.ws_url()),
        ..nano_escrow::node::WatchOptions::default()
    };
    let service = tokio::spawn({
        let (escrow, cancel) = (escrow.clone(), cancel.clone());
        async move { escrow.run(cancel, watch).await }
    });
    devnet.faucet(late, xno("1")).await.unwrap();
    eventually("the refund hangs", || async { (devnet.faults().struck(slow) > 0).then_some(()) }).await;
    let began = std::time::Instant::now();
    let settlement = nano_escrow::escrow::Settlement {
        contract: "c".into(),
        kind: "k".into(),
        round: 0,
        accounts: vec![nano_escrow::escrow::AccountLegs::exact(
            paid,
            vec![nano_escrow::escrow::Leg::new(person("x"), xno("1"))],
        )],
    };
    escrow.settle(&settlement).await.unwrap();
    eventually("the payout is confirmed", || async {
        let plan = escrow.plan("c", "k", "0").await.unwrap();
        plan.done.then_some(())
    })
    .await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(4), "the payout waited {took:?} for a stranger's refund");
    cancel.cancel();
    service.await.unwrap().unwrap();
}

/// The service, until it is cancelled.
fn serve(
    escrow: &Escrow,
) -> (tokio_util::sync::CancellationToken, tokio::task::JoinHandle<Result<(), EscrowError>>) {
    let cancel = tokio_util::sync::CancellationToken::new();
    let (escrow, token) = (escrow.clone(), cancel.clone());
    let watch = WatchOptions { poll_every: Duration::from_millis(100), ..WatchOptions::default() };
    let service = tokio::spawn(async move { escrow.run(token, watch).await });
    (cancel, service)
}

/// Steps hold the journal's connections, or wait for one, while the service itself waits for one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_steps_than_connections_do_not_keep_the_service_from_its_journal() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let escrow = with(folder.path(), &devnet, |options| {
        options.poll = Duration::from_millis(1);
        options.parallel = 32;
    })
    .await;
    let contracts: Vec<String> = (0..16).map(|n| format!("c{n}")).collect();
    for contract in &contracts {
        for account in create(&escrow, contract, xno("1")).await {
            devnet.faucet(account, xno("1")).await.unwrap();
        }
    }
    let (cancel, service) = serve(&escrow);
    let received = eventually("all deposits are received", async || {
        for contract in &contracts {
            let statement = escrow.statement(contract).await.unwrap();
            let deposits = || statement.accounts.iter().flat_map(|a| &a.deposits);
            if deposits().count() < 2 || deposits().any(|d| d.state != "received") {
                return None;
            }
        }
        Some(())
    });
    // Far less than the minute for which a connection is waited for.
    tokio::time::timeout(Duration::from_secs(20), received).await.expect("the service stands still");
    cancel.cancel();
    service.await.unwrap().unwrap();
    assert_eq!(escrow.audit(true).await.unwrap().problems, Vec::<String>::new());
}

/// A client of a node that panics once at each of what is armed.
struct Panics {
    node: Arc<Devnet>,
    armed: Mutex<HashSet<&'static str>>,
}

impl NodeApi for Panics {
    fn call(&self, call: Call) -> BoxFuture<'_, Result<serde_json::Value, NodeError>> {
        // A page of late accounts asks for one send each; the watcher asks for more.
        let late = call.body.get("count").is_some_and(|count| *count == "1");
        let what = match call.action {
            "accounts_receivable" if late => "late",
            other => other,
        };
        let panics = self.armed.lock().unwrap().remove(what);
        Box::pin(async move {
            assert!(!panics, "armed for {what}");
            self.node.call(call).await
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_panics_ends_neither_the_service_nor_its_account() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let node = Arc::new(Panics { node: devnet.clone(), armed: Mutex::default() });
    let escrow = escrow_at(folder.path(), node.clone()).await;
    let [late, open] = create(&escrow, "c", xno("1")).await;
    escrow.expire(&AccountKey::new("c", "principal", 0)).await.unwrap();
    // The node is known from now on.
    escrow.watch(open).await.unwrap();
    node.armed.lock().unwrap().extend(["receivable", "version", "late"]);
    let (cancel, service) = serve(&escrow);
    eventually("all have panicked", async || node.armed.lock().unwrap().is_empty().then_some(())).await;
    let mut payer = Payer::new(&devnet, "payer", "2").await;
    payer.pay(&devnet, open, "1").await;
    payer.pay(&devnet, late, "1").await;
    eventually("one is received and one is back", async || {
        let received = devnet.account(open).balance == xno("1");
        let back = devnet.account(late).sent_confirmed.get(&payer.address().public_key()) == Some(&xno("1"));
        (received && back).then_some(())
    })
    .await;
    cancel.cancel();
    service.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_held_and_owed_to_nobody_is_an_alarm() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let escrow = with(folder.path(), &devnet, |_| {}).await;
    let [account, other] = create(&escrow, "c", xno("1")).await;
    devnet.faucet(account, xno("1.5")).await.unwrap();
    let figures = escrow.figures().await.unwrap();
    assert_eq!((figures.held, figures.owed, figures.nobodys), (Raw::ZERO, Raw::ZERO, Raw::ZERO));
    until_received(&escrow, account).await;
    let figures = eventually("the excess is back", async || {
        escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        Some(escrow.figures().await.unwrap()).filter(|figures| figures.held == xno("1"))
    })
    .await;
    assert_eq!((figures.owed, figures.nobodys), (xno("1"), Raw::ZERO), "{figures:?}");
    settle_whole(&escrow, "c", account, "1").await;
    // Five thousandths over: too little for a refund, and nobody's.
    devnet.faucet(other, xno("1.005")).await.unwrap();
    until_received(&escrow, other).await;
    settle_whole_as(&escrow, other).await;
    let figures = escrow.figures().await.unwrap();
    assert_eq!((figures.held, figures.owed, figures.nobodys), (xno("0.005"), Raw::ZERO, xno("0.005")));
    escrow.raise_alarms().await.unwrap();
    assert_eq!(escrow.alarms().await.unwrap().iter().map(|a| a.code).collect::<Vec<_>>(), [8666]);
    escrow.sweep(Some("c"), Raw(1)).await.unwrap();
    eventually("it is back", || async {
        escrow.drive(other).await.unwrap();
        (escrow.figures().await.unwrap().held == Raw::ZERO).then_some(())
    })
    .await;
    escrow.raise_alarms().await.unwrap();
    assert_eq!(escrow.alarms().await.unwrap(), [], "an alarm ends with its cause");
}

async fn settle_whole_as(escrow: &Escrow, account: Address) {
    let settlement = nano_escrow::escrow::Settlement {
        contract: "c".into(),
        kind: "other".into(),
        round: 0,
        accounts: vec![nano_escrow::escrow::AccountLegs::exact(
            account,
            vec![nano_escrow::escrow::Leg::new(person("x"), xno("1"))],
        )],
    };
    escrow.settle(&settlement).await.unwrap();
    escrow.wait("c", "other", "0", PATIENCE).await.unwrap();
}

#[tokio::test]
async fn an_offered_account_has_no_row_until_something_arrives() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let make = async |secrets: &[[u8; 32]]| {
        let journal = journal_at(folder.path(), CrashPoints::default()).await;
        let mut parts = parts(journal, devnet.clone(), options());
        parts.secrets = secrets.iter().map(|s| nano_escrow::escrow::NonceSecret::from_bytes(*s)).collect();
        let escrow = Escrow::new(parts);
        escrow.check_secrets().await.unwrap();
        escrow
    };
    let escrow = make(&[[5; 32]]).await;
    let terms = Terms { expected: Some(xno("1")), payer: None };
    let (a, b) = (AccountKey::new("c", "a", 0), AccountKey::new("c", "b", 0));
    let address = escrow.offer(&a, terms, b"origin a", None).await.unwrap();
    let other = escrow.offer(&b, terms, b"origin b", None).await.unwrap();
    assert_ne!(address, other);
    assert_eq!(escrow.offer(&a, terms, b"origin a", None).await.unwrap(), address, "the same each time");
    assert_eq!(escrow.statement("c").await.unwrap_err().code(), 8620, "nothing is in the journal");
    let view = escrow.account(&a).await.unwrap();
    assert_eq!((view.address, view.held, view.funded, view.closed), (address, Raw::ZERO, false, false));
    devnet.faucet(address, xno("0.0001")).await.unwrap();
    escrow.watch(address).await.unwrap();
    assert_eq!(escrow.statement("c").await.unwrap_err().code(), 8620, "dust makes no row either");
    devnet.faucet(address, xno("1")).await.unwrap();
    assert!(escrow.watch(address).await.unwrap().funded);
    assert_eq!(escrow.statement("c").await.unwrap().accounts.len(), 1);
    escrow.expire(&b).await.unwrap();
    assert_eq!(escrow.account(&b).await.unwrap_err().code(), 8620, "forgotten");
    // It was paid all the same: a page of lapsed offers finds it, and it goes back.
    let mut payer = Payer::new(&devnet, "late", "1").await;
    payer.pay(&devnet, other, "1").await;
    let lapsed =
        nano_escrow::escrow::Offer { key: b.clone(), terms, origin: b"origin b".to_vec(), address: other };
    assert_eq!(escrow.look_late(std::slice::from_ref(&lapsed)).await.unwrap(), 1);
    until_back(&devnet, &escrow, other, payer.address(), "1").await;
    // A rotated secret finds what the former one has handed out; without the former one it is refused.
    drop(escrow);
    let escrow = eventually("the journal is free", async || Some(make(&[[6; 32], [5; 32]]).await)).await;
    let c = AccountKey::new("c", "c", 0);
    let former = nano_escrow::escrow::NonceSecret::from_bytes([5; 32]);
    let then = former.address(&seed(), b"origin c");
    assert_eq!(escrow.offer(&c, terms, b"origin c", Some(then)).await.unwrap(), then);
    assert_eq!(
        escrow.offer(&AccountKey::new("c", "d", 0), terms, b"origin d", Some(then)).await.unwrap_err().code(),
        8609
    );
}

#[tokio::test]
async fn a_journal_refuses_a_nonce_secret_that_replaces_its_own_unsaid() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, tempfile::tempdir().unwrap());
    let journal = journal_at(folder.path(), CrashPoints::default()).await;
    let make = |secrets: &[[u8; 32]]| {
        let mut parts = parts(journal.clone(), devnet.clone(), options());
        parts.secrets = secrets.iter().map(|s| nano_escrow::escrow::NonceSecret::from_bytes(*s)).collect();
        Escrow::new(parts)
    };
    make(&[[5; 32]]).check_secrets().await.unwrap();
    make(&[[5; 32]]).check_secrets().await.unwrap();
    assert_eq!(make(&[[6; 32]]).check_secrets().await.unwrap_err().code(), 8610);
    make(&[[6; 32], [5; 32]]).check_secrets().await.unwrap();
}

/// Finding 6: what was posted or settled before makes nobody's payout slow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payouts_are_as_quick_beside_many_old_accounts() {
    let soak = std::env::var("ZX1_SOAK").is_ok();
    let mut times = Vec::new();
    for old in [0_u32, if soak { 200_000 } else { 20_000 }] {
        let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
        drop(journal_at(folder.path(), CrashPoints::default()).await);
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.path().join("escrow.db"));
        let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
        sqlx::query(
            "WITH RECURSIVE n(n) AS (SELECT 1 WHERE ?1 > 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
             INSERT INTO account (account, contract, depositor, round, nonce, rep, expected, head_balance, height,
             state, created_at, closed_at) SELECT randomblob(32), 'old ' || n, 'p', 0, randomblob(32), randomblob(32),
             zeroblob(16), zeroblob(16), 0, 'closed', ?2, ?2 FROM n",
        )
        .bind(i64::from(old))
        .bind(now)
        .execute(&mut conn)
        .await
        .unwrap();
        let _: sqlx::Result<()> = sqlx::Connection::close(conn).await;
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
        let mut slowest = Duration::ZERO;
        for n in 0..5 {
            let contract = format!("c{n}");
            let [account, _] = create(&escrow, &contract, xno("1")).await;
            devnet.faucet(account, xno("1")).await.unwrap();
            eventually("it is funded", || async {
                let key = AccountKey::new(&contract, "principal", 0);
                escrow.account(&key).await.unwrap().funded.then_some(())
            })
            .await;
            let began = std::time::Instant::now();
            settle_whole(&escrow, &contract, account, "1").await;
            slowest = slowest.max(began.elapsed());
        }
        println!("{old} old accounts: {slowest:?}");
        times.push(slowest);
        cancel.cancel();
        service.await.unwrap().unwrap();
    }
    let bar = times[0] * 3 + Duration::from_millis(500);
    assert!(times[1] < bar, "{times:?}");
}
