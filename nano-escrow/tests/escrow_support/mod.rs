//! What the tests of escrow, wallet and crashes share: an embedded ledger, an escrow on it, the routing table, and
//! the assertions about money.

#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nano_devnet::{Confirm, Devnet};
use nano_escrow::escrow::{AccountKey, AccountLegs, Escrow, Leg, Options, Parts, Settlement, Terms};
use nano_escrow::journal::{At, CrashPoints, Journal, Probe};
use nano_escrow::node::NodeApi;
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, Network, PrivateKey, PublicKey, Raw, Seed};
use serde::Deserialize;

pub const PATIENCE: Duration = Duration::from_secs(60);

/// A folder in memory where there is one: a kill leaves the same there as on a disk, and thousands of runs do not
/// wait for it.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub fn seed() -> Seed {
    Seed::from_bytes([7; 32])
}

/// An address that nobody uses otherwise.
pub fn person(name: &str) -> Address {
    let key = nano_escrow::blake2b_256(&[b"test person", name.as_bytes()]);
    PrivateKey::from_bytes(key).address()
}

pub fn representative() -> Address {
    Address::from(Network::DEV_GENESIS_ACCOUNT)
}

pub fn xno(text: &str) -> Raw {
    Raw::from_xno(text).unwrap()
}

pub fn options() -> Options {
    let mut options = Options::new(Network::Dev, representative());
    options.poll = Duration::from_millis(200);
    options
}

pub async fn devnet(confirm: Confirm) -> Arc<Devnet> {
    Arc::new(Devnet::builder().confirm(confirm).start().await.unwrap())
}

pub fn work(journal: &Journal) -> WorkService {
    let one = std::num::NonZeroUsize::MIN;
    WorkService::new(
        journal.work_cache(),
        WorkPeers::default(),
        Some(Solver::default().with_threads(one).repeatable()),
    )
}

pub async fn journal_at(folder: &Path, points: CrashPoints) -> Journal {
    use nano_escrow::escrow::Keys as _;
    Journal::open_with(&folder.join("escrow.db"), Network::Dev, &seed().fingerprint(), points).await.unwrap()
}

pub fn parts(journal: Journal, node: Arc<dyn NodeApi>, options: Options) -> Parts {
    let work = work(&journal);
    Parts::new(journal, node, work, Arc::new(seed()), options)
}

pub async fn escrow_at(folder: &Path, node: Arc<dyn NodeApi>) -> Escrow {
    Escrow::new(parts(journal_at(folder, CrashPoints::default()).await, node, options()))
}

/// A row of the routing table of decision E7.
#[derive(Debug, Clone, Deserialize)]
pub struct Row {
    pub scenario: String,
    pub court: Option<String>,
    pub bounty: String,
    pub deposited: String,
    pub principal: String,
    pub agent: String,
    pub platform: String,
    pub charity: String,
}

#[derive(Deserialize)]
struct Table {
    rows: Vec<Row>,
}

pub fn routing() -> Vec<Row> {
    let text = include_str!("../vectors/escrow_routing.json");
    serde_json::from_str::<Table>(text).unwrap().rows
}

impl Row {
    pub fn name(&self) -> String {
        let court = self.court.as_deref().unwrap_or("none");
        format!("{}-{court}-{}", self.scenario, self.bounty)
    }

    pub fn deposit(&self) -> Raw {
        xno(&self.deposited).mul_div_floor(1, 2).unwrap()
    }

    /// Who gets what in all.
    pub fn totals(&self) -> BTreeMap<PublicKey, Raw> {
        [
            ("principal", &self.principal),
            ("agent", &self.agent),
            ("platform", &self.platform),
            ("charity", &self.charity),
        ]
        .into_iter()
        .map(|(who, amount)| (person(who).public_key(), xno(amount)))
        .filter(|(_, amount)| !amount.is_zero())
        .collect()
    }

    /// Each account pays its own party first; the rest fills what is left, in the order of the table.
    pub fn settlement(&self, contract: &str, principal: Address, agent: Address) -> Settlement {
        let mut left = [self.deposit(), self.deposit()];
        let mut legs: [Vec<Leg>; 2] = [Vec::new(), Vec::new()];
        for (who, amount, first) in [
            ("agent", &self.agent, 1),
            ("principal", &self.principal, 0),
            ("platform", &self.platform, 0),
            ("charity", &self.charity, 0),
        ] {
            let mut amount = xno(amount);
            for at in [first, 1 - first] {
                let part = amount.min(left[at]);
                left[at] = left[at].sub(part).unwrap();
                amount = amount.sub(part).unwrap();
                legs[at].push(Leg::new(person(who), part));
            }
            assert!(amount.is_zero());
        }
        assert_eq!(left, [Raw::ZERO; 2], "{}: the row sums to what was deposited", self.name());
        let [of_principal, of_agent] = legs;
        Settlement {
            contract: contract.into(),
            kind: self.scenario.clone(),
            round: 0,
            accounts: vec![AccountLegs::exact(principal, of_principal), AccountLegs::exact(agent, of_agent)],
        }
    }
}

/// The two accounts of a contract, created.
pub async fn create(escrow: &Escrow, contract: &str, expected: Raw) -> [Address; 2] {
    let mut made = Vec::new();
    for depositor in ["principal", "agent"] {
        let key = AccountKey::new(contract, depositor, 0);
        let terms = Terms { expected: Some(expected), payer: None };
        made.push(escrow.create(&key, terms).await.unwrap().address);
    }
    made.try_into().unwrap()
}

/// Drive an account until its deposits are taken up.
pub async fn until_received(escrow: &Escrow, account: Address) {
    eventually("deposits are received", || async {
        let view = escrow.watch(account).await.unwrap();
        escrow.drive(account).await.unwrap();
        (!view.deposits.is_empty() && view.deposits.iter().all(|d| d.state == "received")).then_some(())
    })
    .await;
}

/// Wait for a condition, with a deadline.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut check: impl FnMut() -> F) -> T {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = check().await {
            return found;
        }
        assert!(tokio::time::Instant::now() < deadline, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What accounts have sent on the ledger, confirmed, to whom.
pub fn paid(devnet: &Devnet, accounts: &[Address]) -> BTreeMap<PublicKey, Raw> {
    let mut sums: BTreeMap<PublicKey, Raw> = BTreeMap::new();
    for account in accounts {
        for entry in devnet.account(*account).chain {
            if entry.kind == nano_devnet::Kind::Send {
                assert!(entry.confirmed, "a send is not confirmed");
                let sum = sums.entry(entry.destination().unwrap()).or_default();
                *sum = sum.add(entry.amount).unwrap();
            }
        }
    }
    sums
}

/// How many sends there are from the accounts to each.
pub fn sends(devnet: &Devnet, accounts: &[Address]) -> BTreeMap<(Address, PublicKey), usize> {
    let mut counts = BTreeMap::new();
    for account in accounts {
        for entry in devnet.account(*account).chain {
            if entry.kind == nano_devnet::Kind::Send {
                *counts.entry((*account, entry.destination().unwrap())).or_default() += 1;
            }
        }
    }
    counts
}

/// What every test of a settlement ends with: each leg paid exactly once, all money where it belongs, all chains
/// linear, the books clean against the ledger.
pub async fn assert_paid_once(devnet: &Devnet, escrow: &Escrow, settlement: &Settlement) {
    let accounts: Vec<Address> = settlement.accounts.iter().map(|a| a.account).collect();
    let mut wanted: BTreeMap<(Address, PublicKey), Raw> = BTreeMap::new();
    for account in &settlement.accounts {
        for leg in account.legs.iter().filter(|l| !l.amount.is_zero()) {
            let sum = wanted.entry((account.account, leg.to.public_key())).or_default();
            *sum = sum.add(leg.amount).unwrap();
        }
    }
    let mut found: BTreeMap<(Address, PublicKey), Raw> = BTreeMap::new();
    for account in &accounts {
        for (to, amount) in devnet.account(*account).sent_confirmed {
            found.insert((*account, to), amount);
        }
    }
    assert_eq!(found, wanted, "the sum of confirmed sends is that of the leg");
    assert!(sends(devnet, &accounts).values().all(|n| *n == 1), "one send a leg");
    for account in &accounts {
        let state = devnet.account(*account);
        assert_eq!(state.balance, Raw::ZERO, "everything is paid out");
        for (height, entry) in (1..).zip(&state.chain) {
            assert_eq!(entry.height, height, "linear");
            assert!(entry.confirmed);
        }
    }
    devnet.audit().expect("the ledger's own books balance");
    let audit = escrow.audit(true).await.unwrap();
    assert_eq!(audit.problems, Vec::<String>::new());
}

/// Counts crash points and does something at one of them.
pub struct Counter {
    pub seen: Mutex<Vec<String>>,
    /// Hang at this one, counted from 1; 0: nowhere.
    pub hang_at: usize,
    pub hung: tokio::sync::Notify,
}

impl Counter {
    pub fn new(hang_at: usize) -> Arc<Counter> {
        Arc::new(Counter { seen: Mutex::default(), hang_at, hung: tokio::sync::Notify::new() })
    }

    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    pub fn last(&self) -> String {
        self.seen.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

impl Probe for Counter {
    fn at(&self, point: &str) -> At {
        let mut seen = self.seen.lock().unwrap();
        if self.hang_at != 0 && seen.len() >= self.hang_at {
            return At::Hang;
        }
        seen.push(point.to_owned());
        if seen.len() == self.hang_at {
            self.hung.notify_one();
            return At::Hang;
        }
        At::Continue
    }
}
