//! The crash matrix: a process is killed with SIGKILL before and after every commit, RPC call and file write, and
//! after each fault of the ledger. Then it starts again, and every leg is paid exactly once.
//!
//! Crash points are counted, not listed: one run counts them, then there is one run for each. By default a real
//! child process is killed at every point for three rows of the routing table; for one bounty of every row, and for
//! every fault of the ledger at every step, the same happens at some of the points in this process, by dropping the
//! future where it stands. ZX1_SOAK=1 takes every point of everything, and kills a real process for every row too.

#![allow(clippy::unwrap_used)]

mod escrow_support;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use escrow_support::*;
use nano_devnet::{Confirm, Devnet, Effect, FaultRule, On};
use nano_escrow::Address;
use nano_escrow::escrow::{Escrow, Settlement};
use nano_escrow::journal::{At, CrashPoints, Probe};
use nano_escrow::node::{HttpNode, HttpOptions, NodeApi};

/// The rows that a real process is killed for by default: no dispute, most legs with two destinations each, and a
/// row where one account pays the other's party.
const REPRESENTATIVE: [&str; 3] =
    ["fulfilled-none-0.5", "ruling_evil_both-district-1", "late_cancel_by_agent-none-100"];

/// In the child: kill this process at the nth point.
struct Killer {
    at: usize,
    seen: AtomicUsize,
}

impl Probe for Killer {
    fn at(&self, point: &str) -> At {
        let n = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        if self.at == 0 {
            // Counting: the names are what the parent reports.
            println!("point {n} {point}");
        }
        if n == self.at {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            std::thread::park();
        }
        At::Continue
    }
}

/// What a process does from the deposit to the last confirmation, and then an export. Everything is idempotent.
async fn whole_life(
    folder: &Path,
    node: Arc<dyn NodeApi>,
    points: CrashPoints,
    settlement: &Settlement,
) -> Escrow {
    let journal = journal_at(folder, points.clone()).await;
    let mut options = options();
    // Nothing runs beside the sequence of points.
    options.prefetch_work = false;
    options.nudge_after = std::time::Duration::from_millis(100);
    let escrow = Escrow::new(parts(journal, node, options));
    eventually("recovery", || async { escrow.recover().await.ok() }).await;
    for account in &settlement.accounts {
        eventually("the deposit is received", || async {
            let view = escrow.watch(account.account).await.map_err(|e| println!("watch: {e}")).ok()?;
            let step = escrow.drive(account.account).await.map_err(|e| println!("drive: {e}")).ok()?;
            if let Some(why) = step.held_up {
                println!("{why:?}");
            }
            (!view.deposits.is_empty() && view.deposits.iter().all(|d| d.state == "received")).then_some(())
        })
        .await;
    }
    eventually("the decision", || async { escrow.settle(settlement).await.ok() }).await;
    eventually("the payment", || async {
        escrow.wait(&settlement.contract, &settlement.kind, "0", PATIENCE).await.ok()
    })
    .await;
    let export = folder.join("export.json");
    if !export.exists() {
        escrow.export().await.unwrap().write_with(&export, &points).await.unwrap();
    }
    escrow
}

/// Not a test of its own: what the other tests start as a child.
#[test]
fn child_process() {
    let Ok(job) = std::env::var("CRASH_JOB") else { return };
    let job: serde_json::Value = serde_json::from_str(&job).unwrap();
    let settlement: Settlement = serde_json::from_value(job["settlement"].clone()).unwrap();
    let at = job["at"].as_u64().unwrap() as usize;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let points = CrashPoints::new(Arc::new(Killer { at, seen: AtomicUsize::new(0) }));
        let folder = job["folder"].as_str().unwrap();
        whole_life(Path::new(folder), http(job["node"].as_str().unwrap()), points, &settlement).await;
    });
}

fn http(url: &str) -> Arc<dyn NodeApi> {
    // No retries below the escrow's own: each call is one point.
    let options =
        HttpOptions { timeout: std::time::Duration::from_secs(5), retries: 0, ..Default::default() };
    Arc::new(HttpNode::new(url, options).unwrap())
}

/// Run the child; answers its points (when counting) and whether it was killed.
fn run_child(node: &str, folder: &Path, settlement: &Settlement, at: usize) -> (Vec<String>, bool) {
    use std::os::unix::process::ExitStatusExt as _;
    let job = serde_json::json!({ "node": node, "folder": folder, "settlement": settlement, "at": at });
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_process", "--nocapture", "--test-threads=1"])
        .env("CRASH_JOB", job.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let points = text
        .lines()
        .filter_map(|l| l.split_once("point ").map(|(_, rest)| rest.to_owned()))
        .filter_map(|l| l.split_once(' ').map(|(_, point)| point.to_owned()))
        .collect();
    let killed = output.status.signal() == Some(9);
    assert!(
        killed || output.status.success(),
        "the child failed: {text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (points, killed)
}

/// A contract of a row with both deposits on the ledger, in a fresh journal.
async fn prepare(
    devnet: &Devnet,
    node: Arc<dyn NodeApi>,
    folder: &Path,
    contract: &str,
    row: &Row,
) -> Settlement {
    let escrow = escrow_at(folder, node).await;
    let [principal, agent] = create(&escrow, contract, row.deposit()).await;
    for account in [principal, agent] {
        devnet.faucet(account, row.deposit()).await.unwrap();
    }
    escrow.journal().clone().close().await;
    row.settlement(contract, principal, agent)
}

/// Start again and check everything.
async fn restart_and_check(
    devnet: &Devnet,
    node: Arc<dyn NodeApi>,
    folder: &Path,
    settlement: &Settlement,
    row: &Row,
) {
    let escrow = whole_life(folder, node, CrashPoints::default(), settlement).await;
    assert_paid_once(devnet, &escrow, settlement).await;
    let accounts: Vec<Address> = settlement.accounts.iter().map(|a| a.account).collect();
    assert_eq!(paid(devnet, &accounts), row.totals());
    // The export is either missing or whole, never half written.
    if let Ok(text) = std::fs::read_to_string(folder.join("export.json")) {
        serde_json::from_str::<nano_escrow::escrow::Backup>(&text).unwrap().check(&seed()).unwrap();
    }
    escrow.journal().clone().close().await;
}

/// Kill a real child at every point of one row. Answers the number of points.
async fn kill_everywhere(row: &Row, fault: Option<&FaultRule>) -> usize {
    let devnet = devnet(Confirm::AtOnce).await;
    let url = devnet.rpc_url();
    let folder = escrow_support::folder();
    let strike = |devnet: &Devnet| {
        devnet.faults().clear();
        if let Some(rule) = fault {
            devnet.faults().add(rule.clone());
        }
    };
    let settlement = prepare(&devnet, http(&url), folder.path(), "count", row).await;
    strike(&devnet);
    let (points, killed) = run_child(&url, folder.path(), &settlement, 0);
    assert!(!killed && points.len() > 40, "{points:?}");
    for kind in ["commit:settle", "rpc:process", "commit:receive", "commit:progress", "file:export"] {
        for when in ["before", "after"] {
            let name = format!("{when} {kind}");
            assert!(points.contains(&name), "{name} is a crash point: {points:?}");
        }
    }
    devnet.faults().clear();
    restart_and_check(&devnet, http(&url), folder.path(), &settlement, row).await;
    // A run may have a few points more or less than another (work that is tried twice, a poll more), so it goes on
    // until the process has come through unhurt twice.
    let (mut at, mut unhurt) = (1, 0);
    while unhurt < 2 {
        let folder = escrow_support::folder();
        let settlement = prepare(&devnet, http(&url), folder.path(), &format!("c{at}"), row).await;
        strike(&devnet);
        let (_, killed) = run_child(&url, folder.path(), &settlement, at);
        unhurt = if killed { 0 } else { unhurt + 1 };
        devnet.faults().clear();
        restart_and_check(&devnet, http(&url), folder.path(), &settlement, row).await;
        at += 1;
    }
    assert!(at > points.len() / 2, "{at} of {}", points.len());
    println!("{} {:?}: {} crash points", row.name(), fault.map(|f| &f.effect), points.len());
    points.len()
}

fn row(name: &str) -> Row {
    routing().into_iter().find(|r| r.name() == name).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_killed_anywhere_pays_each_leg_once_when_fulfilled_ok() {
    kill_everywhere(&row(REPRESENTATIVE[0]), None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_killed_anywhere_pays_each_leg_once_when_both_are_evil_ok() {
    kill_everywhere(&row(REPRESENTATIVE[1]), None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_killed_anywhere_pays_each_leg_once_when_the_agent_is_late_ok() {
    kill_everywhere(&row(REPRESENTATIVE[2]), None).await;
}

/// Every row with a real process: the whole product.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_killed_anywhere_pays_each_leg_once_in_every_row_soak() {
    if std::env::var_os("ZX1_SOAK").is_none() {
        return;
    }
    let mut points = 0;
    for row in routing() {
        if !REPRESENTATIVE.contains(&row.name().as_str()) {
            points += kill_everywhere(&row, None).await;
        }
    }
    println!("{points} crash points");
}

/// The faults of the ledger that a publishing process meets.
fn faults() -> Vec<(&'static str, FaultRule)> {
    let process = || On::action("process");
    let rule = |effect| FaultRule::once(process(), effect);
    vec![
        ("drop", rule(Effect::Drop)),
        ("applied, then no answer", rule(Effect::LoseAnswer { ms: 0 })),
        ("cut answer", rule(Effect::CutAnswer)),
        ("done twice", rule(Effect::DoTwice)),
        (
            "subtype trap",
            rule(Effect::DoneButError { text: "Invalid block balance for given subtype".into() }),
        ),
        ("old", rule(Effect::DoneButError { text: "Old block".into() })),
        ("false fork", rule(Effect::DoneButError { text: "Fork".into() })),
        ("refused once", rule(Effect::Error { text: "Error processing block".into() })),
        ("status", rule(Effect::Status { code: 502, body: "bad gateway".into() })),
        ("epoch", rule(Effect::EpochBlock { account: None })),
        ("hidden", FaultRule::new(On::default(), Effect::HideConfirmation)),
        ("old frontier", FaultRule::once(On::action("account_info"), Effect::OldFrontier { blocks: 1 })),
    ]
}

/// After each fault, in each step of the sending, the process dies; and lives again. In this process: the future is
/// dropped where it stands, which leaves the journal as a kill does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_after_each_fault_of_the_ledger_pays_each_leg_once_ok() {
    let row = row("ruling_evil_both-district-0.5");
    let soak = std::env::var_os("ZX1_SOAK").is_some();
    let mut total = 0;
    for (name, rule) in faults() {
        // The fault strikes the first, second ... process call: receives and sends of both accounts.
        for skip in 0..6 {
            let rule = rule.clone().after(skip);
            // By default every 19th point, beginning elsewhere for each skip.
            let (from, step) = if soak { (1, 1) } else { (1 + 3 * skip as usize, 19) };
            total += drop_everywhere(&row, Some(&rule), from, step, name).await;
        }
    }
    println!("{total} crash points with faults");
}

/// The same without faults: every row, every point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crash_at_every_point_of_every_row_pays_each_leg_once_ok() {
    let mut total = 0;
    let soak = std::env::var_os("ZX1_SOAK").is_some();
    for (n, row) in routing().iter().enumerate() {
        // The three bounties differ in amounts only. By default one of them, every fifth point, beginning elsewhere
        // for each row: five rows of one shape make a whole.
        if soak || row.bounty == "0.5" {
            let (from, step) = if soak { (1, 1) } else { (1 + n % 5, 5) };
            total += drop_everywhere(row, None, from, step, "none").await;
        }
    }
    println!("{total} crash points");
}

/// Drop the future at every `step`th point, beginning with `from`.
async fn drop_everywhere(
    row: &Row,
    fault: Option<&FaultRule>,
    from: usize,
    step: usize,
    name: &str,
) -> usize {
    // Epoch blocks can only follow on accounts of an older epoch.
    let devnet = Arc::new(
        Devnet::builder()
            .confirm(Confirm::AtOnce)
            .genesis_epoch(nano_devnet::Epoch::One)
            .start()
            .await
            .unwrap(),
    );
    let (mut at, mut unhurt, mut done) = (from, 0, 0);
    while unhurt < 2 {
        let folder = escrow_support::folder();
        let settlement = prepare(&devnet, devnet.clone(), folder.path(), &format!("c{at}"), row).await;
        devnet.faults().clear();
        if let Some(rule) = fault {
            devnet.faults().add(rule.clone());
        }
        let counter = Counter::new(at);
        println!("{} fault {name} {fault:?} point {at}", row.name());
        let died = tokio::select! {
            biased;
            escrow = whole_life(folder.path(), devnet.clone(), CrashPoints::new(counter.clone()), &settlement) => {
                escrow.journal().clone().close().await;
                false
            }
            () = counter.hung.notified() => true,
        };
        unhurt = if died { 0 } else { unhurt + 1 };
        devnet.faults().clear();
        let check = restart_and_check(&devnet, devnet.clone(), folder.path(), &settlement, row);
        if tokio::time::timeout(PATIENCE, check).await.is_err() {
            panic!("{} fault {name} point {at} ({}): no end", row.name(), counter.last());
        }
        at += step;
        done += 1;
    }
    assert!(at > 40, "{at}");
    done
}
