//! What escrow and wallet have in common: journal, node, work, keys, one lock per account.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, OwnedMutexGuard, watch};
use zx1_home::{Clock, SystemClock};

use super::lane::Lane;
use super::nonce::NonceSecret;
use super::offered::Offers;
use super::parts::{LedgerState, ProbedNode};
use super::views::{self, AccountView};
use super::{AccountKey, EscrowError, Keys, Nonces, Options, Terms};
use crate::journal::{AccountRow, AccountState, Journal, rows};
use crate::node::{NodeApi, NodeCalls};
use crate::work::{Urgency, WorkService};
use crate::{Address, BlockHash, PublicKey, Raw, Subtype, Work, WorkKind};

/// The components of an escrow or a wallet.
pub struct Parts {
    /// The journal, open for writing.
    pub journal: Journal,
    /// The client of the Nano node that is asked and published to.
    pub node: Arc<dyn NodeApi>,
    /// Computes work; give it [`Journal::work_cache`] so that computed work survives a restart.
    pub work: WorkService,
    /// Derives the private keys of accounts, usually from a seed.
    pub keys: Arc<dyn Keys>,
    /// Network, representative, limits and intervals.
    pub options: Options,
    /// Source of the times that the journal records.
    pub clock: Arc<dyn Clock>,
    /// Source of the nonce of each account that is created at once.
    pub nonces: Nonces,
    /// The secrets that nonces of offered accounts are derived from: the present one first, then former ones.
    pub secrets: Vec<NonceSecret>,
}

impl Parts {
    /// Assembles the parts with the system's clock and random number generator.
    pub fn new(
        journal: Journal,
        node: Arc<dyn NodeApi>,
        work: WorkService,
        keys: Arc<dyn Keys>,
        options: Options,
    ) -> Parts {
        let nonces: Nonces = Arc::new(|| {
            let mut nonce = [0; 32];
            getrandom::fill(&mut nonce).map_err(|e| EscrowError::Random(e.to_string()))?;
            Ok(nonce)
        });
        Parts {
            journal,
            node,
            work,
            keys,
            options,
            clock: Arc::new(SystemClock),
            nonces,
            secrets: Vec::new(),
        }
    }
}

pub(crate) struct Engine {
    pub(crate) journal: Journal,
    pub(crate) node: Arc<dyn NodeApi>,
    pub(crate) work: WorkService,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) options: Options,
    pub(crate) clock: Arc<dyn Clock>,
    nonces: Nonces,
    node_checked: AtomicBool,
    locks: Mutex<HashMap<PublicKey, Arc<tokio::sync::Mutex<()>>>>,
    pub(crate) secrets: Vec<NonceSecret>,
    /// Accounts that were offered and are in no journal yet.
    pub(crate) offers: Offers,
    /// Accounts with something new to do, and how urgent it is.
    woken: Mutex<HashMap<PublicKey, Lane>>,
    /// Rings when something was decided or offered.
    pub(crate) bell: Notify,
    /// Whether the node's websocket is connected.
    pub(crate) live: watch::Sender<bool>,
    pub(crate) ledger: Arc<watch::Sender<LedgerState>>,
    /// Notified when the node has mentioned one of our accounts.
    pub(crate) confirmed: Notify,
}

/// Lock held by whoever decides, publishes or adopts for one account.
pub(crate) type Lock = OwnedMutexGuard<()>;

impl Engine {
    pub(crate) fn new(parts: Parts) -> Engine {
        let ledger = Arc::new(watch::Sender::new(LedgerState::Unknown));
        let points = parts.journal.crash_points().clone();
        let node = ProbedNode { node: parts.node, points, clock: parts.clock.clone(), state: ledger.clone() };
        Engine {
            journal: parts.journal,
            node: Arc::new(node),
            work: parts.work,
            keys: parts.keys,
            options: parts.options,
            clock: parts.clock,
            nonces: parts.nonces,
            node_checked: AtomicBool::new(false),
            locks: Mutex::new(HashMap::new()),
            secrets: parts.secrets,
            offers: Offers::default(),
            woken: Mutex::default(),
            bell: Notify::new(),
            live: watch::Sender::new(false),
            ledger,
            confirmed: Notify::new(),
        }
    }

    pub(crate) fn now(&self) -> i64 {
        i64::try_from(self.clock.unix_ms()).unwrap_or(i64::MAX)
    }

    pub(crate) async fn lock(&self, account: PublicKey) -> Lock {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            // Forget those that nobody holds, so that the map does not grow for ever.
            if locks.len() > 4096 {
                locks.retain(|_, l| Arc::strong_count(l) > 1);
            }
            locks.entry(account).or_default().clone()
        };
        lock.lock_owned().await
    }

    /// Checks once that the node is of the configured network, before anything depends on it. Returns 8205
    /// for another network.
    pub(crate) async fn check_node(&self) -> Result<(), EscrowError> {
        if !self.node_checked.load(Ordering::Acquire) {
            self.node.check_network(self.options.network).await?;
            self.node_checked.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Tell the service that accounts have something new to do.
    pub(crate) fn wake(&self, accounts: &[PublicKey], lane: Lane) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        for account in accounts {
            let wanted = woken.entry(*account).or_insert(lane);
            *wanted = (*wanted).max(lane);
        }
        drop(woken);
        self.bell.notify_one();
    }

    /// Takes what [`wake`](Self::wake) has noted.
    pub(crate) fn woken(&self) -> HashMap<PublicKey, Lane> {
        std::mem::take(&mut self.woken.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Compares the secrets with those that the journal knows. Fails with 8610 when the last one is not among them.
    pub(crate) async fn check_secrets(&self) -> Result<(), EscrowError> {
        let Some(present) = self.secrets.first().map(NonceSecret::id) else { return Ok(()) };
        let mut tx = self.journal.begin().await?;
        let last = rows::last_secret(&mut tx).await?;
        if let Some(journal) = last.filter(|last| self.secrets.iter().all(|s| s.id() != *last)) {
            return Err(EscrowError::OtherSecret { journal, given: present });
        }
        rows::know_secret(&mut tx, &present, self.now()).await?;
        Ok(self.journal.commit(tx, "secret").await?)
    }

    /// Reads an account's row. Returns 8620 when the journal has no such account.
    pub(crate) async fn row(&self, account: &PublicKey) -> Result<AccountRow, EscrowError> {
        let mut conn = self.journal.read().await?;
        let row = rows::account(&mut conn, account).await?;
        row.ok_or_else(|| EscrowError::NoAccount(account.address().to_string()))
    }

    pub(crate) async fn create(&self, key: &AccountKey, terms: Terms) -> Result<AccountView, EscrowError> {
        let nonce = (self.nonces)()?;
        let account = self.create_with(key, terms, &nonce, None, AccountState::Open).await?;
        self.wake(&[account.account], Lane::Receive);
        views::account_at(&self.journal, account.account).await
    }

    pub(crate) async fn create_with(
        &self,
        key: &AccountKey,
        terms: Terms,
        nonce: &[u8],
        secret: Option<&str>,
        state: AccountState,
    ) -> Result<AccountRow, EscrowError> {
        check_name("contract", &key.contract, 128)?;
        check_name("depositor", &key.depositor, 128)?;
        let payer = terms.payer.map(|p| p.public_key());
        let mut tx = self.journal.begin().await?;
        if let Some(row) = rows::account_of(&mut tx, &key.contract, &key.depositor, key.round).await? {
            if row.expected != terms.expected || row.payer != payer {
                return Err(EscrowError::OtherTerms(key.to_string()));
            }
            return Ok(row);
        }
        let secret = match secret {
            Some(id) => Some(rows::know_secret(&mut tx, id, self.now()).await?),
            None => None,
        };
        let row = AccountRow {
            account: self.keys.keypair(nonce).public_key(),
            contract: key.contract.clone(),
            depositor: key.depositor.clone(),
            round: key.round,
            nonce: nonce.to_vec(),
            rep: self.options.representative.public_key(),
            expected: terms.expected,
            payer,
            head_hash: BlockHash::ZERO,
            head_balance: Raw::ZERO,
            height: 0,
            secret,
            state,
            stop: None,
            over_cap: false,
            created_at: self.now(),
            closed_at: (state == AccountState::Closed).then(|| self.now()),
        };
        rows::insert_account(&mut tx, &row).await?;
        self.journal.commit(tx, "create").await?;
        Ok(row)
    }

    /// Work for a block; the service checks what it gives, so a source that lies costs a delay, never a bad block.
    pub(crate) async fn work_for(
        &self,
        root: BlockHash,
        kind: WorkKind,
        urgency: Urgency,
    ) -> Result<Work, EscrowError> {
        Ok(self.work.get_for(root, self.options.network.thresholds().of(kind), urgency).await?)
    }

    /// Begin work that will be needed (decision F5).
    pub(crate) fn prefetch(&self, root: BlockHash, subtype: Subtype) {
        if self.options.prefetch_work {
            self.work.prefetch(root, self.options.network.thresholds().of(subtype.work_kind()));
        }
    }

    /// Stops work on an account and records an alarm.
    pub(crate) async fn stop(&self, account: &PublicKey, code: u32, reason: &str) -> Result<(), EscrowError> {
        tracing::error!(account = %account.address(), code, reason, "account stopped");
        let mut tx = self.journal.begin().await?;
        rows::set_stop(&mut tx, account, Some((code, reason))).await?;
        rows::insert_alarm(&mut tx, Some(account), code, reason, self.now()).await?;
        Ok(self.journal.commit(tx, "stop").await?)
    }

    /// Records an alarm for the operator; work on the account continues.
    pub(crate) async fn alarm(&self, account: &PublicKey, error: &EscrowError) -> Result<(), EscrowError> {
        tracing::warn!(account = %account.address(), code = error.code(), %error, "alarm");
        let mut tx = self.journal.begin().await?;
        rows::insert_alarm(&mut tx, Some(account), error.code(), &error.to_string(), self.now()).await?;
        Ok(self.journal.commit(tx, "alarm").await?)
    }

    pub(crate) async fn resume(&self, account: PublicKey) -> Result<(), EscrowError> {
        self.row(&account).await?;
        let mut tx = self.journal.begin().await?;
        rows::set_stop(&mut tx, &account, None).await?;
        rows::clear_alarms(&mut tx, &account).await?;
        self.journal.commit(tx, "resume").await?;
        self.wake(&[account], Lane::Payout);
        Ok(())
    }
}

/// Returns 8664 for an account on which work has stopped.
pub(crate) fn running(row: &AccountRow) -> Result<(), EscrowError> {
    match &row.stop {
        None => Ok(()),
        Some((code, reason)) => Err(EscrowError::Stopped {
            account: Address::from(row.account),
            code: *code,
            reason: reason.clone(),
        }),
    }
}

/// Returns 8621 unless a name has 1 to `limit` bytes and no control characters.
pub(crate) fn check_name(what: &'static str, value: &str, limit: usize) -> Result<(), EscrowError> {
    let count = value.chars().count();
    if count == 0 || value.len() > limit || value.chars().any(char::is_control) {
        let value = value.chars().take(40).collect();
        return Err(EscrowError::Name { what, value, limit });
    }
    Ok(())
}
