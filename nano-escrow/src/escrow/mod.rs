//! The escrow: accounts per contract, depositor and round; deposits; settlements that pay each leg exactly once.
//!
//! What is decided is written first: one transaction of the [journal](crate::journal) plans, builds and signs all
//! legs as one chain per account; only then the first block goes out. After a crash the same blocks go out again,
//! byte for byte. There is never a second block for one (account, previous); so whatever a node answers, a leg is
//! paid once (decision F3, wire.md, "Nano").
//!
//! A deposit and a settlement, on the embedded ledger:
//!
//! ```
//! # use std::{sync::Arc, time::Duration};
//! # use nano_devnet::Devnet;
//! # use nano_escrow::{Address, Network, PrivateKey, Raw, Seed};
//! # use nano_escrow::escrow::{AccountKey, AccountLegs, Escrow, Keys, Leg, Options, Parts, Settlement, Terms};
//! # use nano_escrow::{journal::Journal, work::WorkService};
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let node = Arc::new(Devnet::builder().start().await?); // or HttpNode::new("http://127.0.0.1:7076", ..)
//! let seed = Seed::from_bytes([7; 32]);
//! let path = folder.path().join("escrow.db");
//! let journal = Journal::open(&path, Network::Dev, &seed.fingerprint()).await?;
//! let options = Options::new(Network::Dev, Address::from(Network::DEV_GENESIS_ACCOUNT));
//! let escrow = Escrow::new(Parts::new(journal, node.clone(), WorkService::default(), Arc::new(seed), options));
//! escrow.recover().await?; // finishes what an earlier process has decided
//!
//! let terms = Terms { expected: Some(Raw::from_xno("0.67")?), payer: None };
//! let account = escrow.create(&AccountKey::new("contract 1", "alice", 0), terms).await?.address;
//! node.faucet(account, Raw::from_xno("0.67")?).await?; // alice pays
//! while !escrow.watch(account).await?.funded {}
//!
//! let [bob, fee] = [1, 2].map(|n| PrivateKey::from_bytes([n; 32]).address());
//! let legs = vec![Leg::new(bob, Raw::from_xno("0.62")?), Leg::new(fee, Raw::from_xno("0.05")?)];
//! let accounts = vec![AccountLegs::exact(account, legs)];
//! let kind = "fulfilled".to_owned();
//! escrow.settle(&Settlement { contract: "contract 1".into(), kind, round: 0, accounts }).await?;
//! escrow.wait("contract 1", "fulfilled", "0", Duration::from_secs(60)).await?; // each leg paid exactly once
//! escrow.audit(true).await?.check()?;
//! # Ok(()) }
//! ```

mod adopt;
mod backup;
mod books;
mod decide;
mod drive;
mod engine;
mod error;
mod figures;
mod lane;
mod nonce;
mod offered;
mod offers;
mod parts;
pub mod plan;
mod recover;
mod service;
mod sweep;
mod views;
mod watch;

use std::sync::Arc;

pub use self::backup::{Backup, export, restore};
pub use self::books::{AccountAudit, Audit, ContractAudit, audit_journal};
pub use self::drive::Progress;
pub use self::engine::Parts;
pub(crate) use self::engine::{Engine, check_name, running};
pub use self::error::EscrowError;
pub use self::figures::Figures;
pub(crate) use self::lane::Lane;
pub(crate) use self::lane::priority::PAYMENT as PAYMENT_PRIORITY;
pub use self::nonce::NonceSecret;
pub use self::offers::Offer;
pub use self::parts::{DomainKeys, Keys, LedgerState, Nonces, Options};
pub use self::plan::{AccountLegs, Leg};
pub use self::recover::Recovery;
pub use self::service::LATE;
pub use self::sweep::Sweep;
pub(crate) use self::views::plan as plan_view;
pub use self::views::{
    AccountView, AlarmView, DepositView, LegView, PlanView, Statement, account, alarms, contracts, statement,
};
use crate::journal::Journal;
use crate::{Address, BlockHash, Raw};

/// Identifies an account: one per contract, depositor and round (decision F1). The escrow does not interpret
/// the names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct AccountKey {
    /// Name of the contract; 1 to 128 bytes without control characters.
    pub contract: String,
    /// Name of the party that pays in; 1 to 128 bytes without control characters.
    pub depositor: String,
    /// Distinguishes several accounts of one depositor for one contract.
    pub round: u32,
}

impl AccountKey {
    /// The account of `contract`, `depositor` and `round`.
    pub fn new(contract: impl Into<String>, depositor: impl Into<String>, round: u32) -> AccountKey {
        AccountKey { contract: contract.into(), depositor: depositor.into(), round }
    }
}

impl std::fmt::Display for AccountKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.contract, self.depositor, self.round)
    }
}

/// The terms of a new account, fixed when it is created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Amount to be paid in; anything beyond it goes back. `None`: every deposit counts in full.
    pub expected: Option<Raw>,
    /// The only address whose payments count; others' go back. `None`: payments from any address count.
    pub payer: Option<Address>,
}

/// Who gets what, at the end of a round or of the contract.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settlement {
    /// Name of the contract. All accounts of the settlement must belong to it.
    pub contract: String,
    /// What is settled, such as `fulfilled`. Contract, kind and round together are the idempotency key.
    pub kind: String,
    /// Round that is settled; part of the idempotency key.
    pub round: u32,
    /// The accounts that pay, each with legs that sum to what it holds. The settlement closes them.
    pub accounts: Vec<AccountLegs>,
}

/// An escrow. Clones share all state, and calls may run concurrently.
#[derive(Clone)]
pub struct Escrow {
    pub(crate) engine: Arc<Engine>,
}

impl Escrow {
    /// Assembles an escrow without sending anything. Call [`recover`](Self::recover) next, then
    /// [`run`](Self::run) in a task.
    pub fn new(parts: Parts) -> Escrow {
        Escrow { engine: Arc::new(Engine::new(parts)) }
    }

    /// The journal that this escrow writes to.
    pub fn journal(&self) -> &Journal {
        &self.engine.journal
    }

    /// Make an account, or find it: the same key and terms answer the same account. Fails with 8622 when it exists
    /// with other terms, 8621 for a name that cannot be used.
    pub async fn create(&self, key: &AccountKey, terms: Terms) -> Result<AccountView, EscrowError> {
        self.engine.create(key, terms).await
    }

    /// The address of an account that has no row in the journal until something arrives. The nonce is derived from a
    /// secret and `origin`, which must be another one for each account: whoever has seed, secret and origin can restore
    /// the account. `wanted` is the address that was handed out before, perhaps under a former secret. The same key
    /// answers the same address, also that of an account that was created otherwise.
    ///
    /// Fails with 8609 when no secret makes `wanted`, 8622 when the key was offered with other terms.
    pub async fn offer(
        &self,
        key: &AccountKey,
        terms: Terms,
        origin: &[u8],
        wanted: Option<Address>,
    ) -> Result<Address, EscrowError> {
        self.engine.offer(key, terms, origin, wanted).await
    }

    /// Asks for a page of offers that have lapsed whether they were paid all the same. What was is noted, and goes back.
    /// Answers the number of those that were. Fails with 8609.
    pub async fn look_late(&self, offers: &[Offer]) -> Result<usize, EscrowError> {
        self.engine.look_late(offers, self.engine.options.refund_min).await
    }

    /// Writes an account that was offered into a journal that has lost it, and adopts what the ledger says of it.
    /// Fails with 8609.
    pub async fn restore_offer(&self, offer: &Offer) -> Result<AccountView, EscrowError> {
        self.engine.restore_offer(offer).await
    }

    /// Notes the nonce secrets in the journal. Call it before the first offer. Fails with 8610 when the journal knows
    /// another one, which was not given.
    pub async fn check_secrets(&self) -> Result<(), EscrowError> {
        self.engine.check_secrets().await
    }

    /// Gives everything back that no contract is owed, down to `least` raw, whatever the hour's number of refunds is:
    /// an operator's call. With `contract` that of its accounts only.
    pub async fn sweep(&self, contract: Option<&str>, least: Raw) -> Result<Sweep, EscrowError> {
        self.engine.sweep(contract, least).await
    }

    /// As [`sweep`](Self::sweep) with offers that have lapsed.
    pub async fn sweep_late(&self, offers: &[Offer], least: Raw) -> Result<usize, EscrowError> {
        self.engine.look_late(offers, least).await
    }

    /// What is held, owed and in motion.
    pub async fn figures(&self) -> Result<Figures, EscrowError> {
        self.engine.figures().await
    }

    /// Raises an alarm (8666) for each account that holds something which is owed to nobody, and ends those whose cause
    /// is gone.
    pub async fn raise_alarms(&self) -> Result<(), EscrowError> {
        self.engine.raise_alarms().await
    }

    /// Accounts that were neither settled nor expired, with their addresses.
    pub async fn open_accounts(&self) -> Result<Vec<(AccountKey, Address)>, EscrowError> {
        self.engine.open_accounts().await
    }

    /// Raises an alarm (8667) for each of these accounts, whose contracts the caller has lost, and ends those of others.
    pub async fn raise_orphans(&self, orphans: &[AccountView]) -> Result<(), EscrowError> {
        self.engine.raise_orphans(orphans).await
    }

    /// Whether the node answers, and when that changes.
    pub fn ledger(&self) -> tokio::sync::watch::Receiver<LedgerState> {
        self.engine.ledger.subscribe()
    }

    /// Whether the node's websocket is connected, and when that changes.
    pub fn websocket_live(&self) -> tokio::sync::watch::Receiver<bool> {
        self.engine.live.subscribe()
    }

    /// The account of a key. Returns 8620 when there is none.
    pub async fn account(&self, key: &AccountKey) -> Result<AccountView, EscrowError> {
        let offered = self.engine.offers.account_of(key);
        if let Some(view) = offered.and_then(|account| self.engine.offered_view(&account)) {
            return Ok(view);
        }
        views::account(&self.engine.journal, key).await
    }

    /// Look for deposits of one account at the node, and confirm and take up what is there.
    pub async fn watch(&self, account: Address) -> Result<AccountView, EscrowError> {
        self.engine.watch(account.public_key()).await?;
        if let Some(view) = self.engine.offered_view(&account.public_key()) {
            return Ok(view);
        }
        views::account_at(&self.engine.journal, account.public_key()).await
    }

    /// Decide who gets what, durably, all accounts in one transaction. When this returns, each leg is going to be
    /// paid exactly once, whatever happens; [`wait`](Self::wait) waits for it. The same call again answers the same
    /// plan.
    ///
    /// Fails with 8644 when the key was used for other payments, 8640 or 8641 when the legs do not sum to what an
    /// account holds, 8625 when an account is closed, 8660 to 8664 when the node shows something that must be
    /// settled first. After a failure nothing is decided.
    pub async fn settle(&self, settlement: &Settlement) -> Result<PlanView, EscrowError> {
        self.engine.settle(settlement).await
    }

    /// Give a deposit's excess back to its source, together with the source's other excess on that account. The
    /// same deposit again answers the same plan. Fails with 8646 or 8647.
    pub async fn refund(&self, deposit: BlockHash) -> Result<PlanView, EscrowError> {
        self.engine.refund(deposit).await
    }

    /// Close an account that will not be settled: everything in it is excess now and goes back to its sources.
    /// Fails with 8625 when it was settled.
    pub async fn expire(&self, key: &AccountKey) -> Result<AccountView, EscrowError> {
        self.engine.expire(key).await
    }

    /// Advances one account by one step: publishes what is decided and asks what is confirmed.
    pub async fn drive(&self, account: Address) -> Result<Progress, EscrowError> {
        self.engine.drive(account.public_key()).await
    }

    /// Drive a plan until every block of it is confirmed. Fails with 8665 when `limit` passes first, or with what
    /// stopped an account.
    pub async fn wait(
        &self,
        contract: &str,
        kind: &str,
        key: &str,
        limit: std::time::Duration,
    ) -> Result<PlanView, EscrowError> {
        self.engine.wait(contract, kind, key, limit).await
    }

    /// Call after a start: compares every account with the node, adopts what is on the ledger and continues
    /// what is decided.
    pub async fn recover(&self) -> Result<Recovery, EscrowError> {
        self.engine.recover().await
    }

    /// The contract's accounts, deposits and plans. Returns 8620 when there is no account for it.
    pub async fn statement(&self, contract: &str) -> Result<Statement, EscrowError> {
        views::statement(&self.engine.journal, contract).await
    }

    /// The plan that was decided under a key. Returns 8645 when there is none.
    pub async fn plan(&self, contract: &str, kind: &str, key: &str) -> Result<PlanView, EscrowError> {
        views::plan_by_key(&self.engine.journal, contract, kind, key).await
    }

    /// The alarms that an operator has not cleared yet, oldest first.
    pub async fn alarms(&self) -> Result<Vec<AlarmView>, EscrowError> {
        views::alarms(&self.engine.journal).await
    }

    /// Resumes a stopped account after an operator has looked at it, and clears its alarms.
    pub async fn resume(&self, account: Address) -> Result<(), EscrowError> {
        self.engine.resume(account.public_key()).await
    }

    /// Check the books: `every raw in = every raw out + held`, per account, contract and in total; every chain
    /// linear, every hash and signature right. With `node`, also that the ledger says the same.
    pub async fn audit(&self, node: bool) -> Result<Audit, EscrowError> {
        self.engine.audit(node).await
    }

    /// Everything of the journal that a restore needs, nonces included, sealed with the seed. Keep it as secret as
    /// the journal; without the seed it moves no money.
    pub async fn export(&self) -> Result<Backup, EscrowError> {
        self.engine.export().await
    }

    /// Serve until cancelled: watch accounts, take up deposits, publish, confirm, refund. `watch` names the node's
    /// websocket; with or without it everything is polled as well. Fails with 8205 or 8206 before it begins.
    pub async fn run(
        &self,
        cancel: tokio_util::sync::CancellationToken,
        watch: crate::node::WatchOptions,
    ) -> Result<(), EscrowError> {
        self.engine.clone().run(cancel, watch).await
    }
}
