//! The ledger at work: one lock around it, the disk behind it, confirmations ahead of it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use zx1_home::{Clock as _, SystemClock};

use super::faults::Faults;
use super::options::{Confirm, ForkRule, Options, Order};
use super::store::{Record, Store};
use super::unchecked::Unchecked;
use super::writer::Writer;
use super::{DevnetError, Entry, Epoch, Ledger, Refusal};
use nano_escrow::{BlockHash, Keypair, Network, PrivateKey, PublicKey, Raw, SignedBlock, StateBlock, Work};

/// What subscribers may want to know.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    /// A block became final. The bool: it was asked for, and not only something that it stands on.
    Confirmed(Entry, bool),
    /// A block was added.
    Added(Entry),
}

/// The ledger and what belongs to it, behind the lock.
pub(crate) struct Core {
    pub(crate) ledger: Ledger,
    /// An old copy that answers in place of the ledger while the node plays one that is behind.
    view: Option<Box<Ledger>>,
    pub(crate) unchecked: Unchecked,
    due: BTreeMap<(Instant, u64), Due>,
    due_count: u64,
    held: Vec<Due>,
    random: StdRng,
    /// The number of the last record.
    records: u64,
    batch: Vec<Record>,
    events: Vec<Event>,
}

#[derive(Debug, Clone, Copy)]
enum Due {
    Confirm(BlockHash),
    /// A rival wins its election.
    Rival(SignedBlock),
}

impl Core {
    /// The ledger that answers questions.
    pub(crate) fn reading(&self) -> &Ledger {
        self.view.as_deref().unwrap_or(&self.ledger)
    }
}

/// What all parts of the running ledger share.
pub(crate) struct Node {
    core: Mutex<Core>,
    writer: Writer,
    pub(crate) faults: Faults,
    pub(crate) options: Options,
    pub(crate) started: Instant,
    genesis: Keypair,
    events: mpsc::UnboundedSender<(u64, Event)>,
    /// Rises with every change of the ledger.
    changes: watch::Sender<u64>,
    wake: Notify,
    pub(crate) cancel: CancellationToken,
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemClock.unix_secs()
}

/// Work by trying; dev thresholds need a thousand hashes.
pub(crate) fn solve(root: &BlockHash, threshold: u64) -> Work {
    let mut nonce = u64::from_le_bytes([root.0[0], root.0[1], root.0[2], root.0[3], 0, 0, 0, 0]);
    loop {
        let work = Work(nonce);
        if work.is_valid(root, threshold) {
            return work;
        }
        nonce = nonce.wrapping_add(1);
    }
}

/// What a start found on the disk.
pub(crate) struct Loaded {
    ledger: Ledger,
    store: Option<Store>,
    pub(crate) replayed: u64,
    pub(crate) cut: u64,
}

/// Read the folder and replay it.
pub(crate) fn load(options: &Options) -> Result<Loaded, DevnetError> {
    let mut ledger = Ledger::dev();
    let Some(folder) = &options.folder else {
        return Ok(Loaded { ledger, store: None, replayed: 0, cut: 0 });
    };
    let opened = Store::open(folder, options.genesis_epoch)?;
    for (i, record) in opened.records.iter().enumerate() {
        let replayed = match record {
            Record::Added(signed, timestamp) => {
                ledger.add(signed, *timestamp).map(|_| ()).map_err(|e| e.to_string())
            }
            Record::Confirmed(hash) if ledger.confirm(hash).is_empty() => {
                Err("nothing to confirm".to_owned())
            }
            Record::Confirmed(_) => Ok(()),
            Record::RolledBack(hash) => ledger.rollback(hash).map(|_| ()).map_err(|e| e.to_string()),
        };
        replayed.map_err(|reason| DevnetError::Replay { record: i as u64, reason })?;
    }
    let replayed = opened.records.len() as u64;
    Ok(Loaded { ledger, store: Some(opened.store), replayed, cut: opened.cut })
}

impl Node {
    pub(crate) fn new(
        options: Options,
        loaded: Loaded,
        events: mpsc::UnboundedSender<(u64, Event)>,
    ) -> Result<Node, DevnetError> {
        let seed = if let Order::Random(seed) = options.order { seed } else { 0 };
        let node = Node {
            core: Mutex::new(Core {
                ledger: loaded.ledger,
                view: None,
                unchecked: Unchecked::default(),
                due: BTreeMap::new(),
                due_count: 0,
                held: Vec::new(),
                random: StdRng::seed_from_u64(seed),
                records: 0,
                batch: Vec::new(),
                events: Vec::new(),
            }),
            writer: Writer::new(loaded.store),
            faults: Faults::default(),
            options,
            started: Instant::now(),
            genesis: PrivateKey::from_bytes(Network::DEV_GENESIS_PRIVATE_KEY).keypair(),
            events,
            changes: watch::Sender::new(0),
            wake: Notify::new(),
            cancel: CancellationToken::new(),
        };
        node.prepare()?;
        Ok(node)
    }

    /// Bring genesis to its epoch, and take up the confirmation of what was open when the process ended.
    fn prepare(&self) -> Result<(), DevnetError> {
        let genesis = self.genesis.public_key();
        let mut core = self.lock();
        let fresh = core.ledger.block_count() == 1;
        while fresh && core.ledger.account(&genesis).is_some_and(|a| a.epoch < self.options.genesis_epoch) {
            let hash = self.append_epoch(&mut core, &genesis)?;
            self.confirm_now(&mut core, &hash);
        }
        let open: Vec<BlockHash> = core
            .ledger
            .accounts()
            .filter(|(_, a)| a.head != a.confirmed_frontier)
            .map(|(_, a)| a.head)
            .collect();
        for hash in open {
            self.plan_confirmation(&mut core, hash);
        }
        self.commit(core);
        Ok(())
    }

    /// The lock. A panic elsewhere does not make the ledger inconsistent: changes are made in one piece.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hand the changes to the disk and to the listeners, and give the lock back. Wait for the number that
    /// this returns with [`kept`](Self::kept) before answering anybody, also when nothing was changed.
    pub(crate) fn commit(&self, mut core: MutexGuard<'_, Core>) -> u64 {
        let batch = std::mem::take(&mut core.batch);
        core.records += batch.len() as u64;
        let number = core.records;
        let changed = !batch.is_empty();
        if changed {
            self.writer.submit(batch, number);
        }
        for event in std::mem::take(&mut core.events) {
            // Nobody listens while the ledger stops.
            let _ = self.events.send((number, event));
        }
        drop(core);
        if changed {
            self.changes.send_modify(|n| *n += 1);
        }
        number
    }

    /// Wait until the disk holds the record of this number.
    pub(crate) async fn kept(&self, number: u64) -> Result<(), DevnetError> {
        self.writer.kept(number).await
    }

    /// Rises with every change.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Add a block and what waited for it. A refused block that lacks something is kept for later.
    pub(crate) fn add(&self, core: &mut Core, signed: &SignedBlock) -> Result<Entry, Refusal> {
        let timestamp = now();
        let first = core.ledger.add(signed, timestamp);
        let entry = match first {
            Ok(entry) => entry,
            Err(refusal) => {
                core.unchecked.keep(signed, refusal);
                if refusal == Refusal::Fork && self.options.forks == ForkRule::LastSeen {
                    self.plan(core, Due::Rival(*signed));
                }
                return Err(refusal);
            }
        };
        let mut added = vec![(*signed, entry)];
        while let Some((signed, entry)) = added.pop() {
            let hash = signed.hash();
            core.batch.push(Record::Added(signed, timestamp));
            core.events.push(Event::Added(entry));
            self.plan_confirmation(core, hash);
            let mut waiting = core.unchecked.take(&hash.0);
            if let Some(destination) = entry.destination() {
                waiting.extend(core.unchecked.take(&destination.0));
            }
            for next in waiting {
                match core.ledger.add(&next, timestamp) {
                    Ok(entry) => added.push((next, entry)),
                    Err(refusal) => core.unchecked.keep(&next, refusal),
                }
            }
        }
        Ok(entry)
    }

    /// Add a block as `process` does: at the door the entry work, then the ledger; behind an old view, first
    /// that.
    pub(crate) fn process(&self, core: &mut Core, signed: &SignedBlock) -> Result<(), Refusal> {
        core.reading().check_entry_work(signed)?;
        let Some(view) = core.view.as_mut() else {
            return self.add(core, signed).map(|_| ());
        };
        view.add(signed, now())?;
        // The network knows more than this node: what it says does not reach the client now.
        let _ = self.add(core, signed);
        Ok(())
    }

    fn plan_confirmation(&self, core: &mut Core, hash: BlockHash) {
        match self.options.confirm {
            Confirm::AtOnce => {
                if self.is_held(core, &hash) {
                    core.held.push(Due::Confirm(hash));
                } else {
                    self.confirm_now(core, &hash);
                }
            }
            Confirm::After(_) => self.plan(core, Due::Confirm(hash)),
            Confirm::OnDemand => {}
        }
    }

    fn delay(&self, core: &mut Core) -> Duration {
        let Confirm::After(delay) = self.options.confirm else { return Duration::ZERO };
        match self.options.order {
            Order::Random(_) => delay.mul_f64(core.random.random_range(0.5..1.5)),
            Order::Arrival | Order::Reverse => delay,
        }
    }

    fn plan(&self, core: &mut Core, due: Due) {
        let at = Instant::now() + self.delay(core);
        core.due_count += 1;
        let number = core.due_count;
        core.due.insert((at, number), due);
        self.wake.notify_one();
    }

    /// Start an election, as `block_confirm` does. False when the block is unknown.
    pub(crate) fn elect(&self, core: &mut Core, hash: &BlockHash) -> bool {
        let Some(entry) = core.ledger.block(hash).copied() else { return false };
        if entry.confirmed {
            // A node tells its listeners once more.
            core.events.push(Event::Confirmed(entry, true));
        } else {
            self.plan(core, Due::Confirm(*hash));
        }
        true
    }

    /// Whether a fault holds back this block or one that it stands on.
    fn is_held(&self, core: &Core, hash: &BlockHash) -> bool {
        self.faults.any_hold()
            && core
                .ledger
                .confirmation_order(hash)
                .iter()
                .filter_map(|h| core.ledger.block(h))
                .any(|e| self.faults.holds(e))
    }

    /// Make a block final now, whatever the options and faults say.
    pub(crate) fn confirm_now(&self, core: &mut Core, hash: &BlockHash) -> usize {
        let done = core.ledger.confirm(hash);
        if !done.is_empty() {
            core.batch.push(Record::Confirmed(*hash));
        }
        for one in &done {
            if let Some(entry) = core.ledger.block(one).copied() {
                core.events.push(Event::Confirmed(entry, one == hash));
            }
        }
        done.len()
    }

    /// Let a rival win: the block in its place goes with all that depends on it. All or nothing.
    pub(crate) fn force(&self, core: &mut Core, rival: &SignedBlock) -> Result<Entry, DevnetError> {
        let hash = rival.hash();
        let refused = |refusal| DevnetError::Refused { hash, refusal };
        let b = &rival.block;
        match core.ledger.validate(rival) {
            Ok(()) => return self.add(core, rival).map_err(refused),
            Err(Refusal::Fork) => {}
            Err(refusal) => return Err(refused(refusal)),
        }
        let sitting = if b.previous.is_zero() {
            core.ledger.account(&b.account).map(|a| a.open_block)
        } else {
            core.ledger.block(&b.previous).filter(|p| p.account == b.account).map(|p| p.successor)
        };
        let sitting = sitting.ok_or_else(|| refused(Refusal::Fork))?;
        let mut trial = core.ledger.clone();
        trial.rollback(&sitting).map_err(|_| DevnetError::Cemented(sitting))?;
        trial.validate(rival).map_err(refused)?;
        core.ledger.rollback(&sitting).map_err(|_| DevnetError::Cemented(sitting))?;
        core.batch.push(Record::RolledBack(sitting));
        self.add(core, rival).map_err(refused)
    }

    /// A send from genesis.
    pub(crate) fn faucet(
        &self,
        core: &mut Core,
        to: &PublicKey,
        amount: Raw,
    ) -> Result<BlockHash, DevnetError> {
        let key = self.genesis.public_key();
        let account = core.ledger.account(&key).copied().ok_or(DevnetError::Stopped)?;
        if amount.is_zero() {
            return Err(DevnetError::FaucetZero);
        }
        let left = account
            .balance
            .checked_sub(amount)
            .ok_or(DevnetError::FaucetEmpty { held: account.balance, asked: amount })?;
        let block = StateBlock {
            account: key,
            previous: account.head,
            representative: account.representative,
            balance: left,
            link: to.0,
        };
        let hash = block.hash();
        let signed = self.finish(core, block);
        self.add(core, &signed).map_err(|refusal| DevnetError::Refused { hash, refusal })?;
        Ok(hash)
    }

    /// Sign with genesis and solve for the highest threshold that any block needs.
    fn finish(&self, core: &Core, block: StateBlock) -> SignedBlock {
        self.finish_with(&core.ledger, block)
    }

    fn finish_with(&self, ledger: &Ledger, block: StateBlock) -> SignedBlock {
        let t = ledger.thresholds();
        let work = solve(&block.root(), t.send_or_change.max(t.old_account));
        SignedBlock { block, signature: self.genesis.sign(&block.hash()), work: Some(work) }
    }

    /// The next epoch block of an account; the last epoch for one that is not open.
    pub(crate) fn epoch_block(&self, ledger: &Ledger, key: &PublicKey) -> Result<SignedBlock, DevnetError> {
        let account = ledger.account(key);
        let epoch = match account {
            Some(a) => a.epoch.next().ok_or(DevnetError::NoEpoch(a.epoch.number()))?,
            None => Epoch::Two,
        };
        let block = StateBlock {
            account: *key,
            previous: account.map_or(BlockHash::ZERO, |a| a.head),
            representative: account.map_or(PublicKey::BURN, |a| a.representative),
            balance: account.map_or(Raw::ZERO, |a| a.balance),
            link: epoch.link().unwrap_or_default(),
        };
        Ok(self.finish_with(ledger, block))
    }

    /// Append the next epoch block to an account, as the network may do at any time.
    pub(crate) fn append_epoch(&self, core: &mut Core, key: &PublicKey) -> Result<BlockHash, DevnetError> {
        let signed = self.epoch_block(&core.ledger, key)?;
        let hash = signed.hash();
        self.add(core, &signed).map_err(|refusal| DevnetError::Refused { hash, refusal })?;
        Ok(hash)
    }

    /// Answer from a copy of now until [`catch_up`](Self::catch_up).
    pub(crate) fn fall_behind(&self) {
        let mut core = self.lock();
        core.view = Some(Box::new(core.ledger.clone()));
    }

    /// Answer from the ledger again.
    pub(crate) fn catch_up(&self) {
        self.lock().view = None;
    }

    /// Look again at what faults held back.
    pub(crate) fn release(&self) {
        let mut core = self.lock();
        for due in std::mem::take(&mut core.held) {
            core.due_count += 1;
            let number = core.due_count;
            core.due.insert((Instant::now(), number), due);
        }
        drop(core);
        self.wake.notify_one();
    }

    /// Do what is due, until the ledger stops.
    pub(crate) async fn run_elections(&self) {
        loop {
            let next = self.do_due();
            let sleep = async {
                match next {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.cancel.cancelled() => return,
                () = self.wake.notified() => {}
                () = sleep => {}
            }
        }
    }

    /// Returns when the next is due.
    fn do_due(&self) -> Option<Instant> {
        let mut core = self.lock();
        let later = core.due.split_off(&(Instant::now(), u64::MAX));
        let mut ready: Vec<Due> = std::mem::replace(&mut core.due, later).into_values().collect();
        if self.options.order == Order::Reverse {
            ready.reverse();
        }
        for due in ready {
            match due {
                Due::Confirm(hash) if self.is_held(&core, &hash) => core.held.push(due),
                Due::Confirm(hash) => {
                    self.confirm_now(&mut core, &hash);
                }
                Due::Rival(block) => match self.force(&mut core, &block) {
                    Ok(_) => {
                        self.confirm_now(&mut core, &block.hash());
                    }
                    Err(e) => tracing::info!(error = %e, "a rival lost its election"),
                },
            }
        }
        let next = core.due.keys().next().map(|(at, _)| *at);
        self.commit(core);
        next
    }
}
