//! Following the chain.
//!
//! A round reads the node's confirmed slot: the boundary. Everything after the cursor and up to the boundary
//! comes from the node's lists of transactions, so ranges join without a hole; what the subscription
//! announces beyond it waits for the next round. Transactions are read and written in the order of the
//! ledger, in chunks that end with a slot, and the cursor moves in the same database transaction. Between
//! reading and writing is a short queue: a slow store slows the reading, and nothing is dropped.
//!
//! What is confirmed can still vanish, if rarely. [`finality`] compares everything with the finalized
//! history before the second watermark passes it.

mod finality;
mod gaps;
mod registry;

use crate::chain::{Announcements, Finality, Kind, Listed};
use crate::error::{Error, Result};
use crate::index::{Index, Writer, chunks, identify, now_ms, now_s};
use crate::merge::{Key, Life, Merge, Needs, Trust, event_rows, life_of};
use crate::parse::{Parsed, Program, Touched, base58};
use crate::status::{Backfill, Phase};
use crate::store::{Commit, EventRow, Find, fixed, signed, unsigned};
use futures_util::{StreamExt, TryStreamExt, stream};
use solana_address::Address;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub use registry::Registry;
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::{KeyAccount, StakeLockAccount};
use zx1_protocol::ids::AgentId;

/// Rounds for which the cursor waits for an announced transaction to be listed. Then the finalized history
/// decides: it may have been on a fork.
const PATIENCE: u32 = 25;
/// A range with more transactions than this is a backfill.
const FEW: usize = 256;
/// Chunks that are read ahead of the writing.
const AHEAD: usize = 32;
/// Transactions that are written in one go at most, but for the last chunk among them.
const TOGETHER: usize = 16_384;
/// Lag in slots above which backfill reads finalized history directly.
const FAR: u64 = 256;

/// How a range moves the watermarks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved {
    /// Up to here all is indexed.
    pub(crate) cursor: Option<u64>,
    /// Whether it is final, so that the second watermark moves as well.
    pub(crate) is_final: bool,
    /// Whether accounts are read at once; else after the backfill.
    pub(crate) live: bool,
}

impl Moved {
    /// What comes late moves nothing.
    pub(crate) const LATE: Self = Self { cursor: None, is_final: false, live: true };
}

/// Follows the chain and writes the index.
#[derive(Debug, Clone)]
pub struct Ingest {
    index: Arc<Index>,
    announcements: Announcements,
}

impl Ingest {
    /// An ingest of this index; `announcements` may come from a websocket or from nowhere.
    pub fn new(index: Arc<Index>, announcements: Announcements) -> Self {
        Self { index, announcements }
    }

    /// Follows the chain until cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        let options = self.index.config.chain.clone();
        let poll = Duration::from_millis(options.poll_ms.max(10));
        let (mut patience, mut trouble) = (PATIENCE, 0_u32);
        loop {
            let done = tokio::select! {
                () = cancel.cancelled() => return,
                done = self.round(patience == 0) => done,
            };
            let mut pause = poll;
            match done {
                Ok(()) => (patience, trouble) = (PATIENCE, 0),
                Err(Error::Behind(slot)) => {
                    tracing::debug!(slot, "the node's list lags");
                    patience = patience.saturating_sub(1);
                    pause = poll.min(Duration::from_millis(200));
                }
                Err(error) => {
                    trouble = trouble.saturating_add(1);
                    self.index.metrics.trouble.inc();
                    tracing::warn!(code = error.code(), %error, trouble, "the chain could not be followed");
                    self.index.status.set(|standing| standing.phase = Phase::Stalled);
                    let factor = 1_u32.checked_shl(trouble.min(6)).unwrap_or(64);
                    pause = poll.saturating_mul(factor).min(Duration::from_secs(30));
                }
            }
            // An announced slot that is not confirmed yet will be in a moment.
            if trouble == 0 && !self.announcements.is_empty() {
                pause = pause.min(Duration::from_millis(100));
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
                () = self.announcements.wait(), if trouble == 0 && self.announcements.is_empty() => {}
            }
        }
    }

    /// One round: up to the confirmed slot, then what became final, then gaps. With `impatient`, the node's
    /// list is believed although it lacks an announced transaction.
    ///
    /// # Errors
    ///
    /// 9614, 9615, the chain's and the store's. Whatever it is, the cursor stands at a slot up to which all
    /// is indexed.
    pub async fn round(&self, impatient: bool) -> Result<()> {
        let index = &self.index;
        index.identify().await?;
        let subscribed = self.announcements.subscribed();
        let boundary = index.ledger.slot(Finality::Confirmed).await?;
        index.status.set(|standing| {
            standing.chain_slot = boundary;
            standing.subscribed = subscribed;
        });
        self.catch_up().await?;
        let cursor = index.writer().await.cursor;
        if boundary > cursor {
            let listed = self.list(cursor, boundary, Finality::Confirmed).await?;
            if !impatient {
                let missing = |it: &crate::chain::Announced| {
                    it.slot > cursor && !listed.iter().any(|listed| listed.signature == it.signature)
                };
                if self.announcements.up_to(boundary).iter().any(missing) {
                    return Err(Error::Behind(boundary));
                }
            }
            self.follow(cursor, boundary, listed, Finality::Confirmed).await?;
        }
        // A process that died between the last chunk and the accounts leaves nothing to follow, but this.
        if index.writer().await.unsettled {
            self.settle().await?;
        }
        self.announcements.done(boundary.max(cursor));
        self.finalize().await?;
        self.repair().await?;
        let time = index.ledger.time().await?;
        index.status.set(|standing| {
            standing.epoch = time.epoch;
            standing.chain_time = time.unix;
            standing.phase = Phase::Live;
            standing.ready = true;
            standing.caught_up_ms = now_ms();
        });
        if index.writer().await.epoch != Some(time.epoch) {
            self.epoch_began(time.epoch).await?;
            index.writer().await.epoch = Some(time.epoch);
        }
        Ok(())
    }

    /// What is final already is read as such, when much of it is missing: it need not be compared later.
    async fn catch_up(&self) -> Result<()> {
        let index = &self.index;
        let (cursor, finalized) = {
            let writer = index.writer().await;
            (writer.cursor, writer.finalized)
        };
        let to = index.ledger.slot(Finality::Finalized).await?;
        if to.saturating_sub(cursor) <= FAR {
            return Ok(());
        }
        // What was only confirmed when the process ended is compared first.
        if finalized < cursor {
            self.compare(finalized, cursor).await?;
        }
        let listed = self.list(cursor, to, Finality::Finalized).await?;
        self.follow(cursor, to, listed, Finality::Finalized).await
    }

    /// The transactions of all programs after `from` up to and including `to`, the oldest first.
    async fn list(&self, from: u64, to: u64, finality: Finality) -> Result<Vec<Listed>> {
        let lists = Program::ALL.map(|program| self.history(program.address(), from, to, finality));
        let lists: Vec<Vec<Listed>> =
            stream::iter(lists).buffer_unordered(Program::ALL.len()).try_collect().await?;
        let mut listed: Vec<Listed> = lists.into_iter().flatten().collect();
        listed.sort_unstable();
        // A transaction that calls two programs is in both lists.
        listed.dedup();
        Ok(listed)
    }

    /// An address's transactions after `from` up to and including `to`.
    async fn history(&self, address: Address, from: u64, to: u64, finality: Finality) -> Result<Vec<Listed>> {
        const PAGE: usize = 1_000;
        let (mut found, mut before): (Vec<Listed>, Option<[u8; 64]>) = (Vec::new(), None);
        loop {
            let page = self.index.ledger.list(address, before, PAGE, finality, to).await?;
            let (count, oldest) = (page.len(), page.iter().map(|listed| listed.slot).min());
            let last = page.last().map(|listed| listed.signature);
            found.extend(page.into_iter().filter(|listed| listed.slot > from && listed.slot <= to));
            let reaches = oldest.is_none_or(|oldest| oldest <= from);
            // A node that gives the same page again would be asked for ever.
            if count == 0 || reaches || last == before {
                return Ok(found);
            }
            before = last;
        }
    }

    /// Reads and writes a range. Of a finalized one both watermarks move.
    async fn follow(&self, from: u64, to: u64, listed: Vec<Listed>, finality: Finality) -> Result<()> {
        let is_final = finality == Finality::Finalized;
        let live = listed.len() <= FEW && self.index.status.get().phase == Phase::Live;
        let whole: Vec<Listed> = listed.iter().copied().filter(|listed| !listed.failed).collect();
        if !live {
            self.index.status.set(|standing| {
                standing.phase = Phase::Backfill;
                standing.backfill = Some(Backfill { from_slot: from, to_slot: to, done_slot: from });
            });
        }
        drop(listed);
        let chunks = slot_chunks(&whole, self.index.config.chain.chunk.max(1));
        drop(whole);
        if chunks.is_empty() {
            self.take(Vec::new(), &[], Moved { cursor: Some(to), is_final, live }).await?;
        } else {
            self.pass_on(chunks, to, Moved { cursor: None, is_final, live }).await?;
        }
        if !live {
            self.settle().await?;
            self.index.status.set(|standing| standing.backfill = None);
        }
        Ok(())
    }

    /// Reads chunks and writes them, both at once. Between them is a short queue; whatever waits in it becomes
    /// one database transaction. So a node that is slower than the store loses little when the process dies,
    /// and a store that is slower writes much in one go, which is what it does best: each page of an index
    /// once and not for every chunk.
    async fn pass_on(&self, chunks: Vec<Vec<Listed>>, to: u64, moved: Moved) -> Result<()> {
        let finality = if moved.is_final { Finality::Finalized } else { Finality::Confirmed };
        let (sender, mut receiver) = tokio::sync::mpsc::channel(AHEAD);
        // A task of its own, so that decoding has another core than merging; it ends with this future.
        let mut reader = tokio::task::JoinSet::new();
        let ingest = self.clone();
        reader.spawn(async move {
            let last = chunks.len().saturating_sub(1);
            for (at, chunk) in chunks.into_iter().enumerate() {
                let parsed = ingest.read(&chunk, finality, false).await?;
                let end = if at == last { to } else { chunk.last().map_or(to, |listed| listed.slot) };
                if sender.send((parsed, chunk, end)).await.is_err() {
                    break;
                }
            }
            Ok::<(), Error>(())
        });
        while let Some((mut parsed, mut chunk, mut end)) = receiver.recv().await {
            while chunk.len() < TOGETHER {
                let Ok((more, its_chunk, its_end)) = receiver.try_recv() else { break };
                parsed.extend(more);
                chunk.extend(its_chunk);
                end = its_end;
            }
            self.take(parsed, &chunk, Moved { cursor: Some(end), ..moved }).await?;
            self.index.status.set(|standing| {
                if let Some(backfill) = &mut standing.backfill {
                    backfill.done_slot = end;
                }
            });
        }
        match reader.join_next().await {
            Some(Ok(read)) => read,
            Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Some(Err(_)) | None => Err(Error::Behind(to)),
        }
    }

    /// What these transactions did, each with its place in its slot, in the order of the ledger. Beside `late`
    /// ones others of the same slot may stand already.
    pub(crate) async fn read(
        &self,
        listed: &[Listed],
        finality: Finality,
        late: bool,
    ) -> Result<Vec<(Parsed, i64)>> {
        let at_once = self.index.config.chain.concurrency.max(1);
        let mut by_slot: BTreeMap<u64, Vec<[u8; 64]>> = BTreeMap::new();
        for it in listed {
            by_slot.entry(it.slot).or_default().push(it.signature);
        }
        // Of slots with several transactions the node is asked for their order.
        let crowded =
            by_slot.iter().filter(|(_, signatures)| late || signatures.len() > 1).map(|(slot, _)| *slot);
        let crowded: Vec<u64> = crowded.collect();
        let orders: Vec<(u64, Option<Vec<[u8; 64]>>)> = stream::iter(crowded)
            .map(|slot| async move { Ok::<_, Error>((slot, self.index.ledger.order(slot).await?)) })
            .buffered(at_once)
            .try_collect()
            .await?;
        let mut places: HashMap<[u8; 64], i64> = HashMap::new();
        for (_, order) in orders {
            for (place, signature) in (0_i64..).zip(order.unwrap_or_default()) {
                places.insert(signature, place);
            }
        }
        let parsed: Vec<Parsed> = stream::iter(listed.to_vec())
            .map(|it| self.fetch(it, finality))
            .buffered(at_once)
            .try_collect()
            .await?;
        // Where no order is known, that of the signatures: arbitrary, but the same for everyone.
        let mut placed: Vec<(Parsed, i64)> = parsed
            .into_iter()
            .map(|parsed| {
                let place = places.get(&parsed.signature).copied().unwrap_or(0);
                (parsed, place)
            })
            .collect();
        placed.sort_by_key(|(parsed, place)| (parsed.slot, *place, parsed.signature));
        Ok(placed)
    }

    async fn fetch(&self, listed: Listed, finality: Finality) -> Result<Parsed> {
        let attempts = self.index.config.chain.attempts.max(1);
        for attempt in 1..=attempts {
            if let Some(parsed) = self.index.ledger.transaction(listed.signature, finality).await? {
                return Ok(parsed);
            }
            if attempt < attempts {
                let pause = self.index.config.chain.poll_ms.max(10).saturating_mul(attempt as u64);
                tokio::time::sleep(Duration::from_millis(pause.min(5_000))).await;
            }
        }
        Err(Error::Hole(base58(&listed.signature)))
    }

    /// Writes transactions and moves the cursor.
    pub(crate) async fn take(
        &self,
        parsed: Vec<(Parsed, i64)>,
        listed: &[Listed],
        moved: Moved,
    ) -> Result<()> {
        let Moved { cursor, is_final, live } = moved;
        let index = &self.index;
        let mut writer = index.writer().await;
        let here: Vec<_> = parsed.iter().map(|(it, _)| (it.signature, signed(it.slot))).collect();
        let known: HashSet<[u8; 64]> =
            index.store.known(&here, signed(writer.finalized)).await?.into_iter().collect();
        let mut events = event_rows(&mut writer.addresses, &parsed);
        events.retain(|row| !known.contains(&fixed(&row.signature)));
        let needs = Needs::of(&events);
        let mut merge = index.load(&needs, &BTreeSet::new()).await?;
        name_agents(&merge, &mut events);
        // A closing names its agent only now; a row that is not loaded would be begun anew.
        let named: BTreeSet<AgentId> = events.iter().filter_map(|row| row.agent).collect();
        let missing: BTreeSet<AgentId> = named.difference(&needs.agents).copied().collect();
        if !missing.is_empty() {
            let needs = Needs { agents: missing, ..Needs::default() };
            merge.join(index.load(&needs, &BTreeSet::new()).await?);
        }
        if live {
            self.introduce(&mut merge, &events).await;
        }
        merge.take(&events);
        let refold = std::mem::take(&mut merge.refold);
        if !refold.is_empty() {
            self.refold(&mut merge, &refold, &events, &[]).await?;
        }
        let mut commit = Commit::default();
        if !refold.is_empty() {
            self.read_states(&mut merge, Trust::AlsoUnknown { finalized: writer.finalized }).await?;
        } else if live {
            self.read_states(&mut merge, Trust::Same).await?;
        } else {
            // Texts stand only in accounts, and those accounts never change.
            let (now, later): (BTreeSet<_>, BTreeSet<_>) = std::mem::take(&mut merge.touched)
                .into_iter()
                .partition(|touched| matches!(touched, Touched::Entry(_) | Touched::Resolution(_)));
            merge.touched = now;
            writer.later.extend(later);
            self.read_states(&mut merge, Trust::Same).await?;
            commit.meta.push(("settled", "0".to_owned()));
        }
        if let Some(cursor) = cursor {
            commit.meta.push(("cursor", cursor.to_string()));
            if is_final {
                commit.meta.push(("finalized", cursor.to_string()));
            }
        }
        let rechecks = std::mem::take(&mut merge.recheck);
        let stale = std::mem::take(&mut merge.stale);
        index.write(&mut writer, merge, events, &[], commit).await?;
        if let Some(cursor) = cursor {
            writer.cursor = cursor;
            if is_final {
                writer.finalized = cursor;
            } else {
                writer.seen.extend(listed.iter().copied());
            }
            let finalized = writer.finalized;
            index.status.set(|standing| (standing.slot, standing.finalized) = (cursor, finalized));
        }
        for life in rechecks {
            self.recheck(life).await?;
        }
        drop(writer);
        self.refresh(&stale).await
    }

    /// Computes the reputations anew that a mark, a tenure or a rollback has changed.
    async fn refresh(&self, stale: &BTreeSet<AgentId>) -> Result<()> {
        if stale.is_empty() {
            return Ok(());
        }
        crate::reputation::refresh(&self.index, stale, "chain", &now_ms().to_string()).await
    }

    /// Folds agents anew from all their events, those in `new` included and those in `removed` left out.
    pub(crate) async fn refold(
        &self,
        merge: &mut Merge,
        agents: &BTreeSet<AgentId>,
        new: &[EventRow],
        removed: &[EventRow],
    ) -> Result<()> {
        // Whoever takes events away has loaded these rows, and has removed some of them.
        if removed.is_empty() {
            merge.join(self.index.load(&Needs::default(), agents).await?);
        }
        for mint in agents {
            let mut events = self.index.events_of(mint).await?;
            events.retain(|row| !removed.iter().any(|gone| is_same(gone, row)));
            let mine = new.iter().filter(|row| row.agent == Some(*mint));
            events.extend(mine.cloned());
            events.sort_by_key(|row| (row.slot, row.position, row.ordinal));
            merge.refold(*mint, &events);
        }
        Ok(())
    }

    /// Reads the accounts that were touched.
    pub(crate) async fn read_states(&self, merge: &mut Merge, trust: Trust) -> Result<()> {
        let touched: Vec<Touched> = std::mem::take(&mut merge.touched).into_iter().collect();
        let addresses: Vec<Address> = touched.iter().map(Touched::address).collect();
        let accounts = self.index.ledger.accounts(&addresses).await?;
        // What is being merged is newer than what is stored.
        let keys: BTreeSet<Key> = addresses.iter().map(Address::to_bytes).collect();
        let mut lives: HashMap<(Key, i64), i64> = HashMap::new();
        for chunk in chunks(&keys) {
            for row in self.index.store.lives(Find::any("account", chunk)).await? {
                lives.insert((fixed(&row.account), row.created_slot), row.last);
            }
        }
        lives.extend(merge.lives.iter().map(|(life, row)| (*life, row.last)));
        for (touched, account) in touched.iter().zip(accounts) {
            match touched.read(account.as_ref()) {
                Ok(state) => {
                    let last = life_of(touched, &state).and_then(|(life, _)| lives.get(&life).copied());
                    merge.state(touched, state, last, trust);
                }
                // A layout of the future: its events still count.
                Err(error) => {
                    tracing::error!(code = error.code(), %error, "an account cannot be read");
                }
            }
        }
        Ok(())
    }

    /// Asks the registry for agents that are not known yet, so that events name them.
    async fn introduce(&self, merge: &mut Merge, events: &[EventRow]) {
        const MOST: usize = 16;
        let agents: BTreeSet<AgentId> = events.iter().filter_map(|row| row.agent).collect();
        let unknown =
            agents.into_iter().filter(|mint| merge.agents.get(mint).is_none_or(|row| row.identified == 0));
        for mint in unknown.take(MOST).collect::<Vec<_>>() {
            match self.index.ledger.agent(mint).await {
                Ok(Some(record)) => {
                    let delegates = self.index.ledger.delegates(mint).await.unwrap_or_default();
                    identify(merge.agent(mint), &record, &delegates, now_s());
                }
                Ok(None) => {}
                // The registry's own job asks again.
                Err(error) => tracing::debug!(%error, "an agent is not known yet"),
            }
        }
    }

    /// After a backfill: how things stand, from all accounts.
    async fn settle(&self) -> Result<()> {
        let index = &self.index;
        let mut writer = index.writer().await;
        // If it fails, the next round does it for all.
        let is_whole = std::mem::replace(&mut writer.unsettled, true);
        let mut touched = std::mem::take(&mut writer.later);
        touched.extend(self.unheard_of().await);
        let mut agents: BTreeSet<AgentId> = touched.iter().filter_map(agent_of).collect();
        if is_whole {
            // Which accounts the earlier process touched follows from the index.
            agents.extend(index.store.agents(Find::all()).await?.iter().map(|row| row.mint));
            for row in index.store.challenges(Find::by("closed", 0)).await? {
                touched.insert(Touched::Challenge(fixed(&row.address), unsigned(row.submitted_slot)));
            }
        }
        let challenges = touched.iter().filter_map(|touched| match touched {
            Touched::Challenge(address, created) => Some((*address, signed(*created))),
            _ => None,
        });
        let needs = Needs { agents: agents.clone(), challenges: challenges.collect(), ..Needs::default() };
        let mut merge = index.load(&needs, &BTreeSet::new()).await?;
        merge.touched = touched;
        for mint in agents {
            merge.touch(mint);
        }
        let mut commit = Commit::default();
        let finalized = index.ledger.slot(Finality::Finalized).await?;
        self.read_states(&mut merge, Trust::AlsoUnknown { finalized }).await?;
        commit.meta.push(("settled", "1".to_owned()));
        index.write(&mut writer, merge, Vec::new(), &[], commit).await?;
        writer.unsettled = false;
        Ok(())
    }

    /// Keys and stakes of which no event is here: their history is older than the node's. Other accounts of an agent
    /// have one address; of these there are many, so they are listed. A node that lists none hides only such.
    async fn unheard_of(&self) -> BTreeSet<Touched> {
        let mut found = BTreeSet::new();
        for kind in [Kind::Key, Kind::Stake] {
            match self.unheard_of_kind(kind).await {
                Ok(touched) => found.extend(touched),
                Err(error) => tracing::debug!(%error, "accounts could not be listed"),
            }
        }
        found
    }

    async fn unheard_of_kind(&self, kind: Kind) -> Result<BTreeSet<Touched>> {
        let accounts = self.index.ledger.scan(kind).await?;
        let keys: BTreeSet<Key> = accounts.iter().map(|account| account.address.to_bytes()).collect();
        let mut heard: HashSet<Key> = HashSet::new();
        for chunk in chunks(&keys) {
            let lives = self.index.store.lives(Find::any("account", chunk)).await?;
            heard.extend(lives.iter().map(|row| fixed::<32>(&row.account)));
        }
        let new = accounts.iter().filter(|account| !heard.contains(account.address.as_array()));
        let touched = new.map(|account| {
            Ok(match kind {
                Kind::Key => {
                    let key = Stored::<KeyAccount>::decode(account)?;
                    Touched::Key(AgentId(key.agent), key.key)
                }
                _ => {
                    let stake = Stored::<StakeLockAccount>::decode(account)?;
                    Touched::Stake(AgentId(stake.agent_mint), stake.era)
                }
            })
        });
        touched.collect()
    }

    /// Leases that ended with the last epoch, without a tick, and scores that decayed.
    async fn epoch_began(&self, epoch: u64) -> Result<()> {
        use zx1_interface::constants::GRACE_PERIOD_EPOCHS;
        let index = &self.index;
        let mut writer = index.writer().await;
        let ends = |epoch: u64| signed(epoch.saturating_sub(GRACE_PERIOD_EPOCHS));
        let told = index.store.meta().await?.get("told_epoch").and_then(|text| text.parse::<u64>().ok());
        let mut find = Find::all().and("paid_through", "<", ends(epoch));
        // What ended before was published then, and the streams forget what is old.
        if let Some(told) = told {
            find = find.and("paid_through", ">=", ends(told));
        }
        let mut merge = Merge { now_ms: now_ms(), ..Merge::default() };
        for row in index.store.agents(find).await? {
            merge.agents.insert(row.mint, row);
        }
        for mint in merge.agents.keys().copied().collect::<Vec<_>>() {
            merge.announce_deactivated(None, mint, "clock", signed(epoch));
        }
        // The rows did not change; only events are written.
        let told = Merge { stream: merge.stream, ..Merge::default() };
        let meta = vec![("told_epoch", epoch.to_string())];
        index.write(&mut writer, told, Vec::new(), &[], Commit { meta, ..Commit::default() }).await?;
        drop(writer);
        crate::reputation::epoch_began(index).await
    }
}

fn agent_of(touched: &Touched) -> Option<AgentId> {
    match touched {
        Touched::Tenure(agent)
        | Touched::Key(agent, _)
        | Touched::Stake(agent, _)
        | Touched::Lease(agent)
        | Touched::Head(agent)
        | Touched::Batch(agent, _) => Some(*agent),
        Touched::Challenge(..)
        | Touched::Ask(..)
        | Touched::Entry(_)
        | Touched::Resolution(_)
        | Touched::Log => None,
    }
}

/// Signatures and slots, as the store knows them.
fn places(listed: &[Listed]) -> Vec<([u8; 64], i64)> {
    listed.iter().map(|it| (it.signature, signed(it.slot))).collect()
}

/// Whether two rows are the same event.
pub(crate) fn is_same(a: &EventRow, b: &EventRow) -> bool {
    a.ordinal == b.ordinal && a.signature == b.signature
}

/// A closed challenge's event does not name the agent, nor that of an ask that is shown or closed; their first
/// one does.
fn name_agents(merge: &Merge, events: &mut [EventRow]) {
    let mut known: HashMap<Life, AgentId> =
        merge.challenges.iter().map(|(life, row)| (*life, row.agent)).collect();
    known.extend(merge.asks.iter().map(|(life, row)| (*life, row.agent)));
    for row in events {
        let life = (fixed(&row.account), row.created_slot);
        match row.name.as_str() {
            "ChallengeSubmitted" | "LeafAsked" => {
                known.extend(row.agent.map(|agent| (life, agent)));
            }
            "ChallengeClosed" | "LeafShown" | "AskClosed" => row.agent = known.get(&life).copied(),
            _ => {}
        }
    }
}

/// Chunks of about this size that end with a slot.
fn slot_chunks(listed: &[Listed], size: usize) -> Vec<Vec<Listed>> {
    let mut chunks: Vec<Vec<Listed>> = Vec::new();
    for it in listed {
        let full = |chunk: &&mut Vec<Listed>| {
            chunk.len() < size || chunk.last().is_some_and(|last| last.slot == it.slot)
        };
        match chunks.last_mut().filter(full) {
            Some(chunk) => chunk.push(*it),
            None => chunks.push(vec![*it]),
        }
    }
    chunks
}

/// Only for whoever drives an ingest by hand.
impl Ingest {
    /// The index that the ingest writes to.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Forgets which transactions were looked at up to this slot.
    pub(crate) fn forget(writer: &mut Writer, slot: u64) {
        writer.seen.retain(|listed| listed.slot > slot);
    }
}

#[cfg(test)]
mod tests;
