//! Contracts a second from deposit to last confirmation on the embedded ledger (dev thresholds, journal on disk
//! with synchronous=FULL), one at a time and eight side by side; and recovery with 10 000 open rows.
//!
//! A contract is two accounts, two deposits taken up, and five payments, all confirmed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use nano_devnet::{Confirm, Devnet};
use nano_escrow::escrow::{
    AccountKey, AccountLegs, Escrow, Keys as _, Leg, Options, Parts, Settlement, Terms, restore,
};
use nano_escrow::journal::Journal;
use nano_escrow::node::NodeApi;
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, Network, PrivateKey, Raw, Seed};

type Any = Result<(), Box<dyn std::error::Error>>;

fn parts(journal: Journal, node: Arc<dyn NodeApi>) -> Parts {
    let work = WorkService::new(journal.work_cache(), WorkPeers::default(), Some(Solver::default()));
    let options = Options::new(Network::Dev, Address::from(Network::DEV_GENESIS_ACCOUNT));
    Parts::new(journal, node, work, Arc::new(Seed::from_bytes([7; 32])), options)
}

async fn open(folder: &Path, node: Arc<dyn NodeApi>) -> Result<Escrow, Box<dyn std::error::Error>> {
    let fingerprint = Seed::from_bytes([7; 32]).fingerprint();
    let path = folder.join("escrow.db");
    let journal = Journal::open(&path, Network::Dev, &fingerprint).await?;
    Ok(Escrow::new(parts(journal, node)))
}

fn person(n: u8) -> Address {
    PrivateKey::from_bytes([n; 32]).address()
}

/// Accounts and deposits.
async fn fund(
    escrow: &Escrow,
    devnet: &Devnet,
    contract: &str,
) -> Result<Settlement, Box<dyn std::error::Error>> {
    let mut accounts = Vec::new();
    for (at, depositor) in ["principal", "agent"].into_iter().enumerate() {
        let terms = Terms { expected: Some(Raw::XNO), payer: None };
        let account = escrow.create(&AccountKey::new(contract, depositor, 0), terms).await?.address;
        devnet.faucet(account, Raw::XNO).await?;
        let tenth = Raw(Raw::XNO.get() / 10);
        let mut legs = vec![Leg::new(person(21), tenth), Leg::new(person(22), tenth)];
        if at == 0 {
            legs.push(Leg::new(person(23), Raw::ZERO));
        } else {
            legs.pop();
            legs.push(Leg::new(person(24), Raw::ZERO));
        }
        accounts.push(AccountLegs { account, legs, remainder_to_last: true });
    }
    Ok(Settlement { contract: contract.into(), kind: "done".into(), round: 0, accounts })
}

async fn take_up(escrow: &Escrow, settlement: &Settlement) -> Any {
    for account in &settlement.accounts {
        while !escrow.watch(account.account).await?.deposits.iter().any(|d| d.state == "received") {
            escrow.drive(account.account).await?;
        }
    }
    Ok(())
}

/// Everything up to the decision; nothing of it is published.
async fn decided(escrow: &Escrow, devnet: &Devnet, name: String) -> Any {
    let settlement = fund(escrow, devnet, &name).await?;
    take_up(escrow, &settlement).await?;
    escrow.settle(&settlement).await?;
    Ok(())
}

async fn contract(escrow: &Escrow, devnet: &Devnet, name: String) -> Any {
    decided(escrow, devnet, name.clone()).await?;
    escrow.wait(&name, "done", "0", Duration::from_secs(60)).await?;
    Ok(())
}

async fn throughput(parallel: usize, contracts: usize) -> Any {
    let devnet = Arc::new(Devnet::builder().confirm(Confirm::AtOnce).start().await?);
    let folder = tempfile::tempdir()?;
    let escrow = open(folder.path(), devnet.clone()).await?;
    let start = Instant::now();
    let results: Vec<Result<(), String>> = stream::iter(0..contracts)
        .map(|n| {
            let (escrow, devnet) = (escrow.clone(), devnet.clone());
            async move { contract(&escrow, &devnet, format!("c{n}")).await.map_err(|e| e.to_string()) }
        })
        .buffer_unordered(parallel)
        .collect()
        .await;
    let took = start.elapsed();
    results.into_iter().collect::<Result<(), String>>()?;
    let rate = contracts as f64 / took.as_secs_f64();
    println!("settle: {rate:.1} contracts/s, {parallel} in parallel ({contracts} in {took:.2?})");
    escrow.audit(true).await?.check()?;
    Ok(())
}

async fn recovery(contracts: usize) -> Any {
    let devnet = Arc::new(Devnet::builder().confirm(Confirm::AtOnce).start().await?);
    let [before, after] = [tempfile::tempdir()?, tempfile::tempdir()?];
    let escrow = open(before.path(), devnet.clone()).await?;
    let made: Vec<Result<(), String>> = stream::iter(0..contracts)
        .map(|n| {
            let (escrow, devnet) = (escrow.clone(), devnet.clone());
            async move { decided(&escrow, &devnet, format!("c{n}")).await.map_err(|e| e.to_string()) }
        })
        .buffer_unordered(16)
        .collect()
        .await;
    made.into_iter().collect::<Result<(), String>>()?;
    // The journal as it is when the process dies after the decisions.
    let backup = escrow.export().await?;
    let start = Instant::now();
    let found = escrow.recover().await?;
    let mut left = found.pending;
    while left > 0 {
        left = escrow.recover().await?.pending;
    }
    println!(
        "recovery, nothing published: {} open rows, all confirmed in {:.2?}",
        found.open_blocks,
        start.elapsed()
    );
    let seed = Seed::from_bytes([7; 32]);
    let start = Instant::now();
    let journal = restore(&after.path().join("escrow.db"), &backup, &seed).await?;
    println!("restore of {} accounts: {:.2?}", backup.accounts(), start.elapsed());
    let escrow = Escrow::new(parts(journal, devnet.clone()));
    let start = Instant::now();
    let found = escrow.recover().await?;
    println!(
        "recovery, all published: {} open rows in {:.2?}, {} pending",
        found.open_blocks,
        start.elapsed(),
        found.pending
    );
    escrow.audit(true).await?.check()?;
    Ok(())
}

fn main() -> Any {
    // `cargo test --benches` only checks that it runs.
    let quick = std::env::args().any(|a| a == "--test") || !std::env::args().any(|a| a == "--bench");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (contracts, rows) = if quick { (4, 4) } else { (200, 2000) };
        throughput(1, contracts).await?;
        throughput(8, contracts * 2).await?;
        recovery(rows).await
    })
}
