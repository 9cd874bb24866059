//! Nodes that are behind, lie, or are of another network; blocks that somebody else appends; restored backups; a
//! second process. In each case no second block is signed for one place, and no leg is paid twice.

#![allow(clippy::unwrap_used)]

mod escrow_support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use escrow_support::*;
use nano_devnet::{Confirm, Devnet, Effect, Epoch, FaultRule, Kind, On};
use nano_escrow::escrow::{
    AccountKey, AccountLegs, Backup, Escrow, Keys as _, Leg, Settlement, Terms, restore,
};
use nano_escrow::journal::{CrashPoints, Journal};
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, BlockHash, Network, Raw, Seed};

/// A contract of the first row, funded, and its settlement.
async fn funded(devnet: &Devnet, escrow: &Escrow, contract: &str) -> Settlement {
    let row = &routing()[11];
    let [principal, agent] = create(escrow, contract, row.deposit()).await;
    for account in [principal, agent] {
        let hash = devnet.faucet(account, row.deposit()).await.unwrap();
        devnet.confirm(hash).await.unwrap();
        eventually("received", || async {
            let view = escrow.watch(account).await.unwrap();
            escrow.drive(account).await.unwrap();
            devnet.confirm_all().await.unwrap();
            view.deposits.iter().any(|d| d.state == "received").then_some(())
        })
        .await;
    }
    row.settlement(contract, principal, agent)
}

async fn settle_and_check(devnet: &Devnet, escrow: &Escrow, settlement: &Settlement) {
    eventually("the decision", || async { escrow.settle(settlement).await.ok() }).await;
    escrow.wait(&settlement.contract, &settlement.kind, "0", PATIENCE).await.unwrap();
    assert_paid_once(devnet, escrow, settlement).await;
}

fn accounts(settlement: &Settlement) -> Vec<Address> {
    settlement.accounts.iter().map(|a| a.account).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_of_publishing_ends_with_each_leg_paid_once_ok() {
    let devnet = devnet(Confirm::AtOnce).await;
    let folder = folder();
    let mut options = options();
    options.nudge_after = Duration::from_millis(50);
    let journal = journal_at(folder.path(), CrashPoints::default()).await;
    let escrow = Escrow::new(parts(journal, devnet.clone(), options));
    let text = |text: &str| text.to_owned();
    let rules = [
        FaultRule::new(On::action("process"), Effect::Drop).times(3),
        FaultRule::new(On::action("process"), Effect::LoseAnswer { ms: 0 }).times(5),
        FaultRule::new(On::action("process"), Effect::CutAnswer).times(2),
        FaultRule::new(On::action("process"), Effect::DoTwice),
        FaultRule::new(On::action("process"), Effect::DoneButError { text: text("Old block") }),
        FaultRule::new(On::action("process"), Effect::DoneButError { text: text("Fork") }),
        FaultRule::new(
            On::action("process"),
            Effect::DoneButError { text: text("Invalid block balance for given subtype") },
        ),
        FaultRule::new(On::action("process"), Effect::Error { text: text("Gap previous block") }).times(2),
        FaultRule::new(On::action("process"), Effect::Error { text: text("Gap source block") }).times(2),
        FaultRule::new(On::action("process"), Effect::Error { text: text("Block work is insufficient") })
            .times(2),
        FaultRule::new(On::action("process"), Effect::Error { text: text("Something unheard of") }).times(2),
        FaultRule::new(On::action("process"), Effect::Status { code: 500, body: text("oops") }).times(2),
        FaultRule::new(On::action("process"), Effect::Status { code: 200, body: text("<html>") }).times(2),
        FaultRule::new(On::action("block_info"), Effect::Drop).times(3),
        FaultRule::new(On::action("block_info"), Effect::Error { text: text("Block not found") }).times(2),
        FaultRule::new(On::action("account_info"), Effect::OldFrontier { blocks: 1 }),
        FaultRule::new(On::action("account_info"), Effect::Drop).times(2),
        FaultRule::new(On::default(), Effect::HideConfirmation),
    ];
    for (i, rule) in rules.into_iter().enumerate() {
        let settlement = funded(&devnet, &escrow, &format!("c{i}")).await;
        let id = devnet.faults().add(rule.clone());
        eventually("the decision", || async { escrow.settle(&settlement).await.ok() }).await;
        escrow.wait(&settlement.contract, &settlement.kind, "0", PATIENCE).await.unwrap();
        assert!(
            matches!(rule.effect, Effect::HideConfirmation) || devnet.faults().struck(id) > 0,
            "{rule:?}"
        );
        devnet.faults().clear();
        assert_paid_once(&devnet, &escrow, &settlement).await;
    }
}

#[tokio::test]
async fn a_refused_signature_stops_the_account_and_says_so() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    escrow.settle(&settlement).await.unwrap();
    let account = settlement.accounts[0].account;
    let lie = Effect::Error { text: "Bad signature".into() };
    devnet.faults().add(FaultRule::once(On::action("process").of(account), lie));
    let step = escrow.drive(account).await.unwrap();
    assert_eq!(step.held_up.as_ref().map(|h| h.0), Some(8664), "{step:?}");
    let view = escrow.statement("c").await.unwrap();
    assert!(view.accounts.iter().any(|a| a.stopped.is_some()));
    let alarms = escrow.alarms().await.unwrap();
    assert!(alarms[0].message.contains("the block verifies here"), "{alarms:?}");
    let error = escrow.wait("c", &settlement.kind, "0", PATIENCE).await.unwrap_err();
    assert_eq!(error.code(), 8664);
    // The other account is not held up; this one goes on when somebody has looked.
    escrow.resume(account).await.unwrap();
    assert_eq!(escrow.alarms().await.unwrap(), []);
    settle_and_check(&devnet, &escrow, &settlement).await;
}

#[tokio::test]
async fn a_false_frontier_leads_to_no_block() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    let genesis = devnet.look(|l| l.account(&Network::DEV_GENESIS_ACCOUNT).unwrap().head);
    for hash in [BlockHash([9; 32]), genesis] {
        let lie = FaultRule::new(On::action("account_info"), Effect::FalseFrontier { hash });
        devnet.faults().add(lie);
        assert_eq!(escrow.settle(&settlement).await.unwrap_err().code(), 8661, "{hash}");
        devnet.faults().clear();
    }
    assert!(escrow.statement("c").await.unwrap().plans.iter().all(|p| p.kind == "receive"));
    settle_and_check(&devnet, &escrow, &settlement).await;
}

#[tokio::test]
async fn a_false_frontier_while_publishing_makes_no_rival() {
    let (devnet, folder) = (devnet(Confirm::OnDemand).await, folder());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    escrow.settle(&settlement).await.unwrap();
    // Fork, it says, and names a frontier that nobody has signed.
    devnet.faults().add(FaultRule::new(On::action("process"), Effect::Error { text: "Fork".into() }));
    devnet
        .faults()
        .add(FaultRule::new(On::action("account_info"), Effect::FalseFrontier { hash: BlockHash([9; 32]) }));
    for account in accounts(&settlement) {
        for _ in 0..3 {
            let step = escrow.drive(account).await.unwrap();
            assert_eq!(step.held_up.unwrap().0, 8661);
        }
    }
    devnet.faults().clear();
    let statement = escrow.statement("c").await.unwrap();
    let blocks: Vec<_> = statement.plans.iter().flat_map(|p| &p.legs).map(|l| l.block.unwrap()).collect();
    for account in accounts(&settlement) {
        escrow.drive(account).await.unwrap();
    }
    devnet.confirm_all().await.unwrap();
    settle_and_check(&devnet, &escrow, &settlement).await;
    let statement = escrow.statement("c").await.unwrap();
    let after: Vec<_> = statement.plans.iter().flat_map(|p| &p.legs).map(|l| l.block.unwrap()).collect();
    assert_eq!(blocks, after, "the same blocks as were decided");
}

#[tokio::test]
async fn a_node_that_is_behind_leads_to_no_second_block_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    // It has forgotten that our accounts exist at all.
    let row = &routing()[0];
    let [principal, agent] = create(&escrow, "d", row.deposit()).await;
    devnet.faults().fall_behind();
    for account in [principal, agent] {
        devnet.faucet(account, row.deposit()).await.unwrap();
    }
    let decided = escrow.settle(&settlement).await.unwrap();
    for account in accounts(&settlement) {
        escrow.drive(account).await.unwrap();
    }
    assert!(escrow.watch(principal).await.unwrap().deposits.is_empty(), "it does not know them yet");
    devnet.faults().catch_up();
    let done = escrow.wait("c", &settlement.kind, "0", PATIENCE).await.unwrap();
    let hashes = |p: &nano_escrow::escrow::PlanView| p.legs.iter().map(|l| l.block).collect::<Vec<_>>();
    assert_eq!(hashes(&decided), hashes(&done));
    for account in [principal, agent] {
        until_received(&escrow, account).await;
    }
    assert_paid_once(&devnet, &escrow, &settlement).await;
}

#[tokio::test]
async fn a_node_of_another_network_is_refused_before_anything_is_decided() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    devnet.faults().add(FaultRule::new(
        On::action("version"),
        Effect::OtherNetwork { network: "live".into(), genesis: Network::Live.genesis() },
    ));
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let [account, _] = create(&escrow, "c", xno("1")).await;
    devnet.faucet(account, xno("1")).await.unwrap();
    assert_eq!(escrow.recover().await.unwrap_err().code(), 8205);
    assert_eq!(escrow.watch(account).await.unwrap_err().code(), 8205);
    let settlement = Settlement {
        contract: "c".into(),
        kind: "k".into(),
        round: 0,
        accounts: vec![AccountLegs::exact(account, vec![Leg::new(person("x"), xno("1"))])],
    };
    assert_eq!(escrow.settle(&settlement).await.unwrap_err().code(), 8205);
    assert!(devnet.account(account).chain.is_empty());
}

#[tokio::test]
async fn an_epoch_block_between_the_sends_is_adopted_and_the_rest_is_planned_again_ok() {
    let devnet = Arc::new(
        Devnet::builder().confirm(Confirm::OnDemand).genesis_epoch(Epoch::One).start().await.unwrap(),
    );
    let folder = folder();
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    escrow.settle(&settlement).await.unwrap();
    for account in accounts(&settlement) {
        // The first send goes out, then the network steps in.
        devnet.faults().add(
            FaultRule::once(On::action("process").of(account), Effect::EpochBlock { account: None }).after(1),
        );
        let step = escrow.drive(account).await.unwrap();
        assert_eq!(step.held_up.as_ref().unwrap().0, 8660, "waits for the election: {step:?}");
        let view = escrow.statement("c").await.unwrap();
        assert!(
            view.plans.iter().flat_map(|p| &p.legs).all(|l| l.block.is_some()),
            "nothing is given up yet"
        );
    }
    devnet.confirm_all().await.unwrap();
    eventually("done", || async {
        for account in accounts(&settlement) {
            escrow.drive(account).await.unwrap();
        }
        devnet.confirm_all().await.unwrap();
        escrow.plan("c", &settlement.kind, "0").await.unwrap().done.then_some(())
    })
    .await;
    assert_paid_once(&devnet, &escrow, &settlement).await;
    for account in accounts(&settlement) {
        let kinds: Vec<Kind> = devnet.account(account).chain.iter().map(|e| e.kind).collect();
        assert_eq!(kinds.iter().filter(|k| **k == Kind::Epoch).count(), 1, "{kinds:?}");
        assert_ne!(kinds.last(), Some(&Kind::Epoch), "between the sends");
    }
}

#[tokio::test]
async fn an_account_that_the_network_opened_is_used_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let row = &routing()[0];
    let [principal, agent] = create(&escrow, "c", row.deposit()).await;
    for account in [principal, agent] {
        devnet.faucet(account, row.deposit()).await.unwrap();
        devnet.append_epoch(account).await.unwrap();
        until_received(&escrow, account).await;
    }
    settle_and_check(&devnet, &escrow, &row.settlement("c", principal, agent)).await;
}

async fn export(escrow: &Escrow, folder: &Path) -> Backup {
    let path = folder.join("export.json");
    escrow.export().await.unwrap().write(&path).await.unwrap();
    Backup::read(&path).unwrap()
}

async fn escrow_from(folder: &Path, backup: &Backup, devnet: &Arc<Devnet>) -> Escrow {
    let journal = restore(&folder.join("escrow.db"), backup, &seed()).await.unwrap();
    Escrow::new(parts(journal, devnet.clone(), options()))
}

#[tokio::test]
async fn a_backup_from_before_the_deposit_adopts_and_pays_nothing_twice_ok() {
    let (devnet, [old, new]) = (devnet(Confirm::AtOnce).await, [folder(), folder()]);
    let escrow = escrow_at(old.path(), devnet.clone()).await;
    let row = &routing()[11];
    let [principal, agent] = create(&escrow, "c", row.deposit()).await;
    let backup = export(&escrow, old.path()).await;
    for account in [principal, agent] {
        devnet.faucet(account, row.deposit()).await.unwrap();
        until_received(&escrow, account).await;
    }
    let settlement = row.settlement("c", principal, agent);
    settle_and_check(&devnet, &escrow, &settlement).await;
    let before = devnet.ledger();

    let restored = escrow_from(new.path(), &backup, &devnet).await;
    let found = restored.recover().await.unwrap();
    assert_eq!((found.adopted, found.held_up.len()), (2, 0), "{found:?}");
    // Other legs than were paid are refused; the same ones are found paid.
    let mut other = settlement.clone();
    other.accounts[0].legs = vec![Leg::new(person("thief"), row.deposit())];
    assert_eq!(restored.settle(&other).await.unwrap_err().code(), 8649);
    let plan = restored.settle(&settlement).await.unwrap();
    assert!(plan.done, "{plan:?}");
    assert_paid_once(&devnet, &restored, &settlement).await;
    assert_eq!(devnet.ledger(), before, "nothing was published");
}

#[tokio::test]
async fn a_backup_from_the_middle_pays_only_the_rest_ok() {
    let (devnet, [old, new]) = (devnet(Confirm::AtOnce).await, [folder(), folder()]);
    let escrow = escrow_at(old.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    let backup = export(&escrow, old.path()).await;
    escrow.settle(&settlement).await.unwrap();
    // Of each account the first send goes out; then the disk is lost.
    for account in accounts(&settlement) {
        let stop = FaultRule::new(On::action("process").of(account), Effect::Drop).after(1);
        devnet.faults().add(stop);
        escrow.drive(account).await.unwrap();
    }
    devnet.faults().clear();
    let sent: usize = sends(&devnet, &accounts(&settlement)).values().sum();
    assert_eq!(sent, 2);
    drop(escrow);

    let restored = escrow_from(new.path(), &backup, &devnet).await;
    restored.recover().await.unwrap();
    settle_and_check(&devnet, &restored, &settlement).await;
}

/// The decision is in the backup, but an epoch block made the first journal sign other blocks for the same legs.
#[tokio::test]
async fn legs_that_other_blocks_have_paid_are_not_paid_again_ok() {
    let devnet = Devnet::builder().confirm(Confirm::AtOnce).genesis_epoch(Epoch::One).start().await.unwrap();
    let devnet = Arc::new(devnet);
    // All of the legs, or only the first of each account.
    for (contract, only_first) in [("all", false), ("first", true)] {
        let [old, new] = [folder(), folder()];
        let escrow = escrow_at(old.path(), devnet.clone()).await;
        let settlement = funded(&devnet, &escrow, contract).await;
        escrow.settle(&settlement).await.unwrap();
        let backup = export(&escrow, old.path()).await;
        for account in accounts(&settlement) {
            devnet.append_epoch(account).await.unwrap();
            if only_first {
                // The first process call meets the fork, the second is the first send on the epoch block.
                let stop = FaultRule::new(On::action("process").of(account), Effect::Drop).after(2);
                devnet.faults().add(stop);
            }
            for _ in 0..4 {
                escrow.drive(account).await.unwrap();
            }
        }
        devnet.faults().clear();
        let sent: usize = sends(&devnet, &accounts(&settlement)).values().sum();
        assert_eq!(sent, if only_first { 2 } else { 5 });
        drop(escrow);

        let restored = escrow_from(new.path(), &backup, &devnet).await;
        assert_eq!(restored.recover().await.unwrap().adopted, 2);
        restored.wait(contract, &settlement.kind, "0", PATIENCE).await.unwrap();
        assert_paid_once(&devnet, &restored, &settlement).await;
    }
}

#[tokio::test]
async fn a_backup_decides_the_same_blocks_again_ok() {
    let (devnet, [old, new]) = (devnet(Confirm::AtOnce).await, [folder(), folder()]);
    let escrow = escrow_at(old.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    let backup = export(&escrow, old.path()).await;
    let first = escrow.settle(&settlement).await.unwrap();
    let restored = escrow_from(new.path(), &backup, &devnet).await;
    let second = restored.settle(&settlement).await.unwrap();
    let blocks = |p: &nano_escrow::escrow::PlanView| p.legs.iter().map(|l| l.block).collect::<Vec<_>>();
    assert_eq!(blocks(&first), blocks(&second), "bit by bit");
    // Both publish; it is one payment.
    let limit = PATIENCE;
    let kind = settlement.kind.as_str();
    let (a, b) = tokio::join!(escrow.wait("c", kind, "0", limit), restored.wait("c", kind, "0", limit));
    a.unwrap();
    b.unwrap();
    assert_paid_once(&devnet, &escrow, &settlement).await;
    assert_paid_once(&devnet, &restored, &settlement).await;
}

/// A second instance on a copy, which decides something else: only one of the two can be confirmed.
#[tokio::test]
async fn a_second_instance_with_other_legs_is_an_alarm_and_pays_once() {
    let (devnet, [old, new]) = (devnet(Confirm::OnDemand).await, [folder(), folder()]);
    let escrow = escrow_at(old.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    let backup = export(&escrow, old.path()).await;
    escrow.settle(&settlement).await.unwrap();
    let other = escrow_from(new.path(), &backup, &devnet).await;
    let mut rival = settlement.clone();
    let account = rival.accounts[0].account;
    let held = Raw::checked_sum(rival.accounts[0].legs.iter().map(|l| l.amount)).unwrap();
    rival.accounts[0].legs = vec![Leg::new(person("elsewhere"), held)];
    other.settle(&rival).await.unwrap();
    for account in accounts(&settlement) {
        other.drive(account).await.unwrap();
    }
    // The rival is in the ledger and not confirmed: wait, and tell somebody.
    let step = escrow.drive(account).await.unwrap();
    assert_eq!(step.held_up.unwrap().0, 8660);
    assert_eq!(escrow.alarms().await.unwrap()[0].code, 8660);
    devnet.confirm_all().await.unwrap();
    // Now it has won. What is left cannot be paid: the account stops, and nothing more goes out.
    for _ in 0..3 {
        let _ = escrow.drive(account).await;
    }
    let stopped = escrow.statement("c").await.unwrap().accounts.into_iter().find(|a| a.address == account);
    assert_eq!(stopped.unwrap().stopped.unwrap().0, 8016);
    assert_eq!(sends(&devnet, &[account]).len(), 1);
    assert_eq!(paid(&devnet, &[account])[&person("elsewhere").public_key()], held);
}

#[tokio::test]
async fn a_changed_export_or_another_seed_is_refused() {
    let (devnet, [old, new]) = (devnet(Confirm::AtOnce).await, [folder(), folder()]);
    let escrow = escrow_at(old.path(), devnet.clone()).await;
    let settlement = funded(&devnet, &escrow, "c").await;
    escrow.settle(&settlement).await.unwrap();
    let backup = export(&escrow, old.path()).await;
    let path = new.path().join("escrow.db");
    let wrong = Seed::from_bytes([8; 32]);
    assert_eq!(restore(&path, &backup, &wrong).await.err().unwrap().code(), 8682);
    // A destination in the file is exchanged.
    let text = std::fs::read_to_string(old.path().join("export.json")).unwrap();
    let agent = hex::encode(person("agent").public_key().0);
    assert!(text.contains(&agent));
    let changed: Backup =
        serde_json::from_str(&text.replace(&agent, &hex::encode(person("thief").public_key().0))).unwrap();
    assert_eq!(restore(&path, &changed, &seed()).await.err().unwrap().code(), 8682);
    assert!(!path.exists());
    restore(&path, &backup, &seed()).await.unwrap().close().await;
    assert_eq!(restore(&path, &backup, &seed()).await.err().unwrap().code(), 8683);
    let again = export_code(&escrow, old.path()).await;
    assert_eq!(again, 8683, "an export overwrites nothing");
    assert!(!text.contains(&hex::encode([7; 32])), "the seed is not in it");
}

async fn export_code(escrow: &Escrow, folder: &Path) -> u32 {
    let backup = escrow.export().await.unwrap();
    backup.write(&folder.join("export.json")).await.unwrap_err().code()
}

#[tokio::test]
async fn a_work_peer_that_lies_costs_nothing_but_time_ok() {
    let (devnet, folder) = (devnet(Confirm::AtOnce).await, folder());
    devnet.faults().add(FaultRule::new(On::action("work_generate"), Effect::BadWork));
    let journal = journal_at(folder.path(), CrashPoints::default()).await;
    let peer: Arc<dyn nano_escrow::node::NodeApi> = devnet.clone();
    let peers = WorkPeers::new([("liar", peer)], Duration::from_secs(5));
    let work = WorkService::new(journal.work_cache(), peers, Some(Solver::default()));
    let mut parts = parts(journal, devnet.clone(), options());
    parts.work = work.clone();
    let escrow = Escrow::new(parts);
    let settlement = funded(&devnet, &escrow, "c").await;
    settle_and_check(&devnet, &escrow, &settlement).await;
    assert!(work.peers().records()[0].1.lies > 0);
}

#[tokio::test]
async fn a_second_journal_in_this_process_is_refused_too() {
    let folder = folder();
    let journal = journal_at(folder.path(), CrashPoints::default()).await;
    let path = folder.path().join("escrow.db");
    let second = Journal::open(&path, Network::Dev, &seed().fingerprint()).await;
    assert_eq!(second.err().unwrap().code(), 8602);
    let reader = Journal::open_read_only(&path).await.unwrap();
    assert_eq!(reader.network().await.unwrap(), Network::Dev);
    journal.close().await;
}

/// Not a test of its own: holds a journal until its standard input ends.
#[test]
fn holder_process() {
    let Ok(folder) = std::env::var("HOLD_JOURNAL") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let _journal = journal_at(Path::new(&folder), CrashPoints::default()).await;
        println!("holding");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
    });
}

#[tokio::test]
async fn a_second_process_on_one_journal_fails_until_the_first_has_died() {
    use std::io::BufRead as _;
    use std::process::{Command, Stdio};
    let folder = folder();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holder_process", "--nocapture", "--test-threads=1"])
        .env("HOLD_JOURNAL", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|l| l.unwrap().contains("holding")));
    let path = folder.path().join("escrow.db");
    let fingerprint = seed().fingerprint();
    let second = Journal::open(&path, Network::Dev, &fingerprint).await;
    let error = second.err().unwrap();
    assert_eq!(error.code(), 8602);
    assert!(error.to_string().contains("another process"));
    child.kill().unwrap();
    child.wait().unwrap();
    Journal::open(&path, Network::Dev, &fingerprint).await.unwrap();
}

#[tokio::test]
async fn a_deposit_that_loses_its_election_was_never_money() {
    let (devnet, folder) = (devnet(Confirm::OnDemand).await, folder());
    let escrow = escrow_at(folder.path(), devnet.clone()).await;
    let terms = Terms { expected: Some(xno("1")), payer: None };
    let account = escrow.create(&AccountKey::new("c", "p", 0), terms).await.unwrap().address;
    let hash = devnet.faucet(account, xno("1")).await.unwrap();
    assert_eq!(escrow.watch(account).await.unwrap().unconfirmed, xno("1"));
    // Genesis spends the same again, and that one wins.
    let key = nano_escrow::PrivateKey::from_bytes(Network::DEV_GENESIS_PRIVATE_KEY);
    let first = devnet.look(|l| *l.block(&hash).unwrap());
    let nano_devnet::Block::State(signed) = first.block else { panic!("a state block") };
    let mut rival = signed.block;
    rival.link = person("elsewhere").public_key().0;
    let rival = rival.sign(&key.keypair()).unwrap().with_work(signed.work.unwrap());
    devnet.let_win(&rival).await.unwrap();
    let view = escrow.watch(account).await.unwrap();
    assert_eq!((view.unconfirmed, view.held, view.deposits.len()), (Raw::ZERO, Raw::ZERO, 0));
}
