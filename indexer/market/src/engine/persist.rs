//! From a step to one transaction, and from a snapshot back to a case.

use std::collections::BTreeSet;

use zx1_market::case::{Chained, DepositWanted, Effect, Step};
use zx1_market::request::ReplayKey;
use zx1_market::wire::{JudgeTask, SseEvent};
use zx1_market::{Case, EntryType, Millis, Reason, Refusal, counts};

use super::Engine;
use crate::error::{Error, Result};
use crate::store::{
    Commit, ContractRow, DepositRow, DepositStatus, EntryRow, FixCountRow, OutboxRow, StoreError, TaskRow,
};
use crate::view;

/// A moment as the database keeps it.
pub(super) fn at(moment: Millis) -> i64 {
    i64::try_from(moment.0).unwrap_or(i64::MAX)
}

pub(super) fn case(snapshot: &str) -> Result<Case> {
    serde_json::from_str(snapshot).map_err(|e| StoreError::Corrupt(format!("a contract: {e}")).into())
}

pub(super) fn text<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| StoreError::Corrupt(e.to_string()).into())
}

fn row(case: &Case) -> Result<ContractRow> {
    Ok(ContractRow {
        id: case.id().to_string(),
        principal: case.principal().to_string(),
        agent: case.agent().map(|agent| agent.to_string()),
        state: case.state().as_str().to_owned(),
        bounty: case.contract().bounty.xno(),
        head_seq: i64::try_from(case.head().seq).unwrap_or(i64::MAX),
        created_at: at(case.created_at()),
        updated_at: at(case.updated_at()),
        next_deadline: case.next_deadline().map(at),
        summary: text(&view::summary(case))?,
        snapshot: text(case)?,
    })
}

/// What the entries of a step add to the counts of the parties.
fn fix_counts(before: Option<&Case>, case: &Case, step: &Step) -> Result<Vec<FixCountRow>> {
    let entries = step.entries.iter().map(|chained| &chained.entry);
    let counts = counts::of_entries(case.principal(), before.and_then(Case::agent), entries)?;
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let rows = counts.into_iter().map(|((party, side), added)| FixCountRow {
        party: party.to_string(),
        side: side.as_str().to_owned(),
        paid: i64::from(!case.contract().is_free()),
        fixes: count(added.fixes),
        failed_outside: count(added.failed_outside),
    });
    Ok(rows.collect())
}

/// What judges have to do in a case: each that its terms name, since any of them may rule.
pub(super) fn tasks(case: &Case) -> Result<Vec<TaskRow>> {
    let Some(task) = case.judge_task() else { return Ok(Vec::new()) };
    let body = text(&JudgeTask {
        contract_id: case.id(),
        court: task.court,
        reexecuted: task.reexecuted,
        deadline: task.deadline.into(),
        chain_head: case.head().hex(),
        seq: case.head().seq,
    })?;
    let judges: BTreeSet<_> = case.terms().judges.iter().copied().chain([case.terms().server]).collect();
    let rows = judges.into_iter().map(|judge| TaskRow {
        judge: judge.to_string(),
        deadline: at(task.deadline),
        contract_id: case.id().to_string(),
        body: body.clone(),
    });
    Ok(rows.collect())
}

fn same(a: &DepositWanted, b: &DepositWanted) -> bool {
    a.party == b.party && a.round == b.round && a.side == b.side
}

impl Engine {
    /// Commit what has happened to a contract, then wake those who do its effects. `before` is the version
    /// that was read, and the case then; none for a new contract. A case whose turn before a judge has come sits down,
    /// or begins to wait. Answers the new version.
    pub(super) async fn persist(
        &self,
        before: Option<(i64, &Case)>,
        case: &mut Case,
        step: Step,
        replay: Option<ReplayKey>,
    ) -> Result<i64> {
        self.inner.seats.enter(case);
        let committed = self.commit(before, case, step, replay).await;
        let somebody_sits_down = match &committed {
            Ok(_) => self.inner.seats.set(case),
            Err(_) => self.inner.seats.doubt(&case.id()),
        };
        if somebody_sits_down {
            self.inner.court.notify_one();
        }
        committed
    }

    async fn commit(
        &self,
        before: Option<(i64, &Case)>,
        case: &Case,
        step: Step,
        replay: Option<ReplayKey>,
    ) -> Result<i64> {
        let now = self.now();
        let id = case.id().to_string();
        let mut commit = Commit {
            version: before.map(|(version, _)| version),
            row: Some(row(case)?),
            replay: replay.map(|key| (key.digest, key.keep_until)),
            entries: step.entries.iter().map(entry).collect(),
            ..Commit::default()
        };
        let earlier = before.map(|(_, case)| case);
        commit.fix_counts = fix_counts(earlier, case, &step)?;
        if earlier.is_some_and(|case| case.judge_task().is_some()) || case.judge_task().is_some() {
            commit.tasks = Some(tasks(case)?);
        }
        self.deposits(earlier, case, &step, &mut commit).await?;
        for effect in &step.effects {
            match effect {
                Effect::Settle(settle) => commit.outbox.push(OutboxRow {
                    contract_id: id.clone(),
                    kind: settle.settlement.kind().to_owned(),
                    item: settle.round.to_string(),
                    body: text(settle)?,
                    created_at: at(now),
                    reason: String::new(),
                }),
                Effect::Notify(notice) => {
                    commit.events.push((at(now), text(&SseEvent::from(notice.clone()))?));
                }
                // Work is begun by the escrow itself when it sees the deposit; lapsed accounts are found by
                // comparing what was waited for; judges poll.
                Effect::StartWork { .. }
                | Effect::Lapsed { .. }
                | Effect::Reopened { .. }
                | Effect::CourtOpens { .. } => {}
            }
        }
        let (events, decided, waits) =
            (!commit.events.is_empty(), !commit.outbox.is_empty(), !commit.deposits.is_empty());
        self.inner.points.pass("before", "commit", "market").await;
        let version = self.inner.store.commit(commit).await.map_err(|error| match error {
            // The lock rules it out within one process.
            StoreError::Moved => Error::Busy,
            StoreError::Replayed => Refusal::of(Reason::RequestReplayed).into(),
            other => other.into(),
        })?;
        self.inner.points.pass("after", "commit", "market").await;
        self.count(before.map(|(_, case)| case.state()), Some(case.state()));
        if let Some(announcer) = self.inner.announcer.get() {
            announcer.moved(case.id(), before.map(|(_, case)| case.state()), case.state());
        }
        self.inner.metrics.committed(step.entries.len(), case, before.map(|(_, case)| case));
        self.inner.timers.notify_one();
        if events {
            self.inner.events.wake();
        }
        if decided {
            self.inner.outbox.notify_one();
        }
        if waits {
            self.inner.deposits.notify_one();
        }
        Ok(version)
    }

    /// The hash of the contract's post entry, which is in this step or in the store.
    async fn post_hash(&self, id: &str, step: &Step) -> Result<String> {
        if let Some(posted) = step.entries.iter().find(|chained| chained.entry.kind() == EntryType::Post) {
            return Ok(hash(&posted.entry));
        }
        if let Some(row) = self.inner.store.deposits(id).await?.into_iter().find(|row| !row.post.is_empty()) {
            return Ok(row.post);
        }
        let entries = self.inner.store.entries(id).await?;
        let first = entries.first().ok_or_else(|| StoreError::Corrupt(format!("{id} has no entries")))?;
        let json = zx1_market::Json::parse(first.body.as_bytes())?;
        Ok(hash(&zx1_market::Entry::from_json(&json)?))
    }

    /// Which deposit is waited for now, and which no more.
    async fn deposits(
        &self,
        before: Option<&Case>,
        case: &Case,
        step: &Step,
        commit: &mut Commit,
    ) -> Result<()> {
        let (old, new) = (before.and_then(Case::deposit_wanted), case.deposit_wanted());
        let unchanged = match (&old, &new) {
            (Some(old), Some(new)) => same(old, new),
            (None, None) => true,
            _ => false,
        };
        if unchanged {
            return Ok(());
        }
        let id = case.id().to_string();
        let row = |wanted: &DepositWanted, address: String, status: DepositStatus| DepositRow {
            contract_id: id.clone(),
            party: wanted.party.to_string(),
            round: i64::from(wanted.round),
            side: wanted.side.as_str().to_owned(),
            address,
            amount: wanted.amount.to_string(),
            status: status.as_str().to_owned(),
            post: String::new(),
            closed_at: None,
        };
        if let Some(old) = old {
            let taken = step.entries.iter().any(|chained| match chained.entry.kind() {
                EntryType::Opened => old.side == zx1_market::chain::Side::Principal,
                EntryType::Bonded => old.side == zx1_market::chain::Side::Agent,
                _ => false,
            });
            let status = if taken { DepositStatus::Taken } else { DepositStatus::Lapsed };
            // The row is there; only its status changes.
            let closed_at = (!taken).then(|| at(self.now()));
            commit.deposits.push(DepositRow { closed_at, ..row(&old, String::new(), status) });
            if !taken {
                let body =
                    view::object(&[("party", old.party.to_string()), ("round", old.round.to_string())]);
                commit.outbox.push(OutboxRow {
                    contract_id: id.clone(),
                    kind: "expire".to_owned(),
                    item: format!("{}/{}", old.party, old.round),
                    body: text(&body)?,
                    created_at: at(self.now()),
                    reason: String::new(),
                });
            }
        }
        if let Some(new) = new {
            // The address is derived, the same one each time; the commit is what is durable.
            let desk = self.inner.desk.as_ref().ok_or(Error::NoEscrow)?;
            let post = self.post_hash(&id, step).await?;
            let wanted = DepositRow { post, ..row(&new, String::new(), DepositStatus::Waiting) };
            let address = desk.offer(&wanted).await?.to_string();
            commit.deposits.push(DepositRow { address, ..wanted });
        }
        Ok(())
    }
}

fn hash(entry: &zx1_market::Entry) -> String {
    hex::encode(entry.hash())
}

fn entry(chained: &Chained) -> EntryRow {
    EntryRow {
        seq: i64::try_from(chained.entry.seq()).unwrap_or(i64::MAX),
        received_at: at(chained.received_at),
        body: chained.entry.canonical(),
    }
}
