//! What is kept before anybody hears of it: proposals and ratings, bans and the allowlist.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use zx1_home::clock::{Clock, SystemClock};
use zx1_relay_rules::elo::Rating;
use zx1_relay_rules::hub::Out;
use zx1_relay_rules::json::{Value, whole};
use zx1_relay_rules::proposal::{Book, Key, Moved, Party, Proposal, State};
use zx1_relay_rules::{AgentId, RelayError, Settings, server};

use crate::messages::{Act, Change, Command, Proposing, Task, one, random};
use crate::store::{Commit, Kept, Pair, Store, StoreError};

/// Tasks that wait. Beyond it clients are refused.
pub const QUEUE: usize = 1_024;
/// How often deadlines of proposals are looked at.
const TICK: Duration = Duration::from_secs(1);
/// Ended proposals stay in memory for so long, so that a late word about one gets the right answer.
const IN_MEMORY_MS: u64 = 24 * 3_600_000;
/// Ended proposals stay in the store for so long.
const IN_STORE_MS: u64 = 90 * 24 * 3_600_000;

/// Owns the book of proposals and the store, and runs as one task.
pub struct Desk {
    settings: Settings,
    book: Book,
    imported: HashMap<AgentId, Rating>,
    /// Whether memory may differ from the store, because a commit failed.
    is_stale: bool,
    store: std::sync::Arc<dyn Store>,
    core: mpsc::Sender<Command>,
}

impl Desk {
    /// With what was kept.
    pub fn new(
        settings: Settings,
        kept: &Kept,
        store: std::sync::Arc<dyn Store>,
        core: mpsc::Sender<Command>,
    ) -> Desk {
        let imported = kept.imported.iter().cloned().collect();
        Desk { book: book(&settings, kept), imported, settings, is_stale: false, store, core }
    }

    /// Runs until `ending` and what was handed over by then is done.
    pub async fn run(mut self, mut tasks: mpsc::Receiver<Task>, ending: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ticks = 0_u64;
        loop {
            tokio::select! {
                () = ending.cancelled() => break,
                task = tasks.recv() => match task {
                    Some(task) => self.take(task).await,
                    None => break,
                },
                _ = tick.tick() => {
                    ticks = ticks.wrapping_add(1);
                    self.tick(ticks.is_multiple_of(3_600)).await;
                }
            }
        }
        while let Some(Some(task)) = tasks.recv().now_or_never() {
            self.take(task).await;
        }
    }

    async fn take(&mut self, task: Task) {
        let now = SystemClock.unix_ms();
        let out = match task {
            Task::Remember(key, id) => {
                self.remember(key, id).await;
                return;
            }
            Task::Buffers(buffers) => {
                if let Err(error) = self.store.buffer(buffers).await {
                    tracing::error!(code = error.code(), %error, "the channels' buffers were not kept");
                }
                return;
            }
            Task::Census(reply) => {
                let _ = reply.send(self.book.census());
                return;
            }
            Task::Change(change, admin) => {
                let done = self.keep(Self::commit_of(&change, now)).await;
                match done {
                    Ok(()) => {
                        let _ = self.core.send(Command::Changed(change, admin)).await;
                        return;
                    }
                    Err(error) => vec![one(&admin, server::error(&error, now))],
                }
            }
            Task::Propose(proposing) => {
                let by = proposing.from.id.clone();
                self.propose(*proposing, now).await.unwrap_or_else(|error| refused(&by, &error, now))
            }
            Task::Act { proposal, by, act, sig, envelope } => {
                let is_accept = matches!(act, Act::Accept { .. });
                let done = self.act(&proposal, &by, act, &sig, envelope.as_deref(), now).await;
                done.unwrap_or_else(|error| {
                    let frame = if is_accept {
                        server::accept_error(&error, now)
                    } else {
                        server::error(&error, now)
                    };
                    vec![one(&by.id, frame)]
                })
            }
            Task::Rule { proposal, winner, admin } => {
                let done = self.rule(&proposal, winner.as_ref(), &admin, now).await;
                done.unwrap_or_else(|error| refused(&admin, &error, now))
            }
        };
        let _ = self.core.send(Command::Send(out)).await;
    }

    /// Keeps an identity, and gives it the rating that an older server had of it.
    async fn remember(&mut self, key: Key, id: AgentId) {
        if let Err(error) = self.store.remember(key, id.clone()).await {
            tracing::error!(code = error.code(), %error, "an identity was not kept");
            return;
        }
        let Some(rating) = self.imported.get(&id).copied() else { return };
        let commit = Commit { ratings: vec![(key, rating)], found: Some(id.clone()), ..Commit::default() };
        if self.keep(commit).await.is_ok() {
            self.imported.remove(&id);
            self.book.restore_rating(key, rating);
        }
    }

    fn commit_of(change: &Change, now: u64) -> Commit {
        let mut commit = Commit::default();
        match change.clone() {
            Change::Allow(key, note) => commit.allow = Some((key, note, now)),
            Change::Revoke(key) => commit.revoke = Some(key),
            Change::Ban(subject, _, reason) => commit.ban = Some((subject, reason, now)),
            Change::Unban(subject) => commit.unban = Some(subject),
        }
        commit
    }

    /// Writes. What fails leaves memory ahead of the store, so memory is read anew before anything else.
    async fn keep(&mut self, commit: Commit) -> Result<(), RelayError> {
        let kept = self.store.commit(commit).await;
        kept.map_err(|error| {
            self.is_stale = true;
            away(&error)
        })
    }

    async fn fresh(&mut self) -> Result<(), RelayError> {
        if self.is_stale {
            let kept = self.store.load().await.map_err(|error| away(&error))?;
            self.book = book(&self.settings, &kept);
            self.is_stale = false;
        }
        Ok(())
    }

    /// The proposal as it is now, with what its parties' ratings and their pair are.
    fn commit(&self, proposal: &Proposal, moved: Option<&Moved>) -> Commit {
        let mut commit =
            Commit { proposals: vec![(proposal.clone(), has_ended(proposal))], ..Commit::default() };
        if moved.is_some() {
            let (a, b) = (proposal.from.key, proposal.to.key);
            commit.ratings = [a, b].map(|key| (key, self.book.rating(&key))).into();
            commit.pair = self.book.pair(&a, &b).map(|(last, count)| {
                let (a, b) = if a < b { (a, b) } else { (b, a) };
                Pair { a, b, last, count }
            });
        }
        commit
    }

    async fn propose(&mut self, proposing: Proposing, now: u64) -> Result<Vec<Out>, RelayError> {
        self.fresh().await?;
        let Proposing { from, to, terms, sig, zx1_sig, envelope } = proposing;
        let id = server::unique("prop", now, random()?);
        let proposal = self.book.propose(id, from, to, terms, now)?.clone();
        let commit = self.commit(&proposal, None);
        self.keep(commit).await?;
        let frame = server::proposal(&proposal, &sig, zx1_sig.as_deref(), envelope.as_deref(), now);
        Ok(both(&proposal, frame))
    }

    async fn act(
        &mut self,
        id: &str,
        by: &Party,
        act: Act,
        sig: &str,
        envelope: Option<&str>,
        now: u64,
    ) -> Result<Vec<Out>, RelayError> {
        self.fresh().await?;
        let mut moved = None;
        match &act {
            Act::Accept { elo_stake, .. } => {
                let stake =
                    elo_stake.and_then(whole).and_then(|stake| u32::try_from(stake).ok()).unwrap_or(0);
                self.book.accept(id, &by.key, stake, now)?;
            }
            Act::Reject { .. } => {
                self.book.reject(id, &by.key, now)?;
            }
            Act::Complete { .. } => moved = self.book.complete(id, &by.key, now)?,
            Act::Dispute { .. } => moved = self.book.dispute(id, &by.key, now)?,
        }
        let proposal = self.book.get(id).ok_or(RelayError::NoProposal)?.clone();
        let commit = self.commit(&proposal, moved.as_ref());
        self.keep(commit).await?;
        let (kind, more) = described(&proposal, by, act, moved.as_ref());
        Ok(both(&proposal, server::transition(kind, &proposal, &by.id, sig, more, envelope, now)))
    }

    async fn rule(
        &mut self,
        id: &str,
        winner: Option<&AgentId>,
        admin: &AgentId,
        now: u64,
    ) -> Result<Vec<Out>, RelayError> {
        self.fresh().await?;
        let proposal = self.book.get(id).ok_or(RelayError::NoProposal)?;
        let party = |winner: &AgentId| {
            let parties = [&proposal.from, &proposal.to];
            let party = parties.into_iter().find(|party| party.id == *winner);
            party.map(|party| party.key).ok_or(RelayError::NotParty)
        };
        let winner = winner.map(party).transpose()?;
        let moved = self.book.rule(id, winner.as_ref(), now)?;
        let proposal = self.book.get(id).ok_or(RelayError::NoProposal)?.clone();
        let commit = self.commit(&proposal, Some(&moved));
        self.keep(commit).await?;
        tracing::info!(target: "security", proposal = id, %admin, "the admin ruled on a proposal");
        let frame = server::ruled(&proposal, &moved, stakes(&proposal), now);
        let mut out = both(&proposal, frame);
        out.push(one(admin, server::admin_done("rule", true, now)));
        Ok(out)
    }

    /// Ends what is due; once an hour old history is deleted.
    async fn tick(&mut self, is_hour: bool) {
        let now = SystemClock.unix_ms();
        if self.fresh().await.is_err() {
            return;
        }
        let due = self.book.tick(now);
        if !due.is_empty() {
            let proposals = due.iter().filter_map(|id| self.book.get(id)).cloned();
            let proposals = proposals.map(|proposal| (has_ended(&proposal), proposal));
            let proposals = proposals.map(|(ended, proposal)| (proposal, ended)).collect();
            let _ = self.keep(Commit { proposals, ..Commit::default() }).await;
        }
        if is_hour {
            self.book.sweep(now.saturating_sub(IN_MEMORY_MS));
            if let Err(error) = self.store.sweep(now.saturating_sub(IN_STORE_MS)).await {
                tracing::warn!(code = error.code(), %error, "old proposals were not deleted");
            }
        }
    }
}

fn book(settings: &Settings, kept: &Kept) -> Book {
    let mut book = Book::new(settings.clone());
    for (key, rating) in &kept.ratings {
        book.restore_rating(*key, *rating);
    }
    for pair in &kept.pairs {
        book.restore_pair(pair.a, pair.b, pair.last, pair.count);
    }
    for proposal in &kept.proposals {
        book.restore(proposal.clone());
    }
    book
}

fn away(error: &StoreError) -> RelayError {
    tracing::error!(code = error.code(), %error, "a change was not kept");
    RelayError::StoreAway
}

fn has_ended(proposal: &Proposal) -> bool {
    !matches!(proposal.state, State::Pending | State::Accepted) && proposal.deadline().is_none()
}

fn refused(id: &AgentId, error: &RelayError, now: u64) -> Vec<Out> {
    vec![one(id, server::error(error, now))]
}

/// To the recipient and echoed.
fn both(proposal: &Proposal, frame: String) -> Vec<Out> {
    let to = vec![proposal.from.id.clone(), proposal.to.id.clone()];
    vec![Out { to, frame: frame.into(), extension: false }]
}

fn stakes(proposal: &Proposal) -> (u32, u32) {
    (proposal.proposer_stake(), proposal.acceptor_stake)
}

/// The type of a transition's frame, and the fields that only it has.
fn described(
    proposal: &Proposal,
    by: &Party,
    act: Act,
    moved: Option<&Moved>,
) -> (&'static str, Vec<(&'static str, Value)>) {
    let (proposer, acceptor) = stakes(proposal);
    let elo_stakes = || {
        let points = |stake: u32| Value::from(u64::from(stake));
        Value::object([("proposer", points(proposer)), ("acceptor", points(acceptor))])
    };
    let (at, who) = (Value::from(proposal.updated_at), Value::from(by.id.to_string()));
    let changes = || server::rating_changes(moved, (proposer, acceptor));
    match act {
        Act::Accept { payment_code, .. } => (
            "ACCEPT",
            vec![
                ("payment_code", payment_code.into()),
                ("proposer_stake", u64::from(proposer).into()),
                ("acceptor_stake", u64::from(acceptor).into()),
            ],
        ),
        Act::Reject { reason } => ("REJECT", vec![("reason", reason.into())]),
        Act::Complete { proof } => (
            "COMPLETE",
            vec![
                ("completed_by", who),
                ("completed_at", at),
                ("proof", proof.into()),
                ("elo_stakes", elo_stakes()),
                ("rating_changes", changes()),
            ],
        ),
        Act::Dispute { reason } => (
            "DISPUTE",
            vec![
                ("disputed_by", who),
                ("disputed_at", at),
                ("reason", reason.into()),
                ("elo_stakes", elo_stakes()),
                ("rating_changes", changes()),
            ],
        ),
    }
}
