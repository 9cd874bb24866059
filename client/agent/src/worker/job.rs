//! Working on a contract that is ours, to its end.

use std::time::Duration;

use tokio::time::sleep;
use zx1_coded::Coded;
use zx1_market::case::CourtStep;
use zx1_market::chain::{Common, Data, Head, Side};
use zx1_market::{EntryType, Millis, State};

use super::config::Stuck;
use super::memory::{Memory, is_ours};
use super::mind::{Mind, Move};
use super::{Record, SubmittedFix, WorkError, Worker};
use crate::courtroom::reexecute;
use crate::judge::{Reexecution, Status};
use zx1_market_client::View;
use zx1_market_client::act::still_meant;

/// A contract that fails so often in a row is left for the next start.
const MAX_FAILURES: u32 = 60;

/// So often a fix waits for its envelope; then it goes without. The attempt runs out meanwhile, and a fix
/// that comes too late is lost for both parties.
const ENVELOPE_TRIES: u32 = 10;

/// What came of one look at a contract.
enum Did {
    /// Something was chained; look again at once.
    Acted,
    /// It is not our turn.
    Wait,
    /// It is ours no longer.
    Ended(State),
}

/// What is known only while the program runs.
struct Session {
    mind: Mind,
    /// The own run of the fix at this place in the chain.
    proof: Option<(u64, Reexecution)>,
    /// Whether the entry of before the restart was looked at.
    resumed: bool,
    /// What was decided on a chain of this length and waits for its envelope: a mind is not asked twice.
    meant: Option<(usize, Data)>,
    /// How often in a row no envelope could be made.
    unenveloped: u32,
}

impl Worker {
    /// Work to the end. Failures of the network are waited out.
    pub(super) async fn work(&self, mut record: Record) -> Result<(), WorkError> {
        let id = record.contract;
        let mind = Mind::new(self.config.rules, self.model_for(id));
        let mut session = Session { mind, proof: None, resumed: false, meant: None, unenveloped: 0 };
        let mut view: Option<View> = None;
        let mut failures = 0;
        loop {
            let did = match self.look(&mut view, id).await {
                Ok(()) => match &view {
                    Some(view) => self.step(view, &mut record, &mut session).await,
                    None => Ok(Did::Wait),
                },
                Err(error) => Err(error.into()),
            };
            let did = match did {
                Ok(Did::Ended(state)) => self.close(&record, view.as_ref()).await.map(|()| Did::Ended(state)),
                other => other,
            };
            match did {
                Ok(Did::Acted) => {
                    failures = 0;
                    continue;
                }
                Ok(Did::Wait) => failures = 0,
                Ok(Did::Ended(state)) => return self.forget(&record, state),
                // Another agent has it: only its parties may read it.
                Err(WorkError::Client(error))
                    if matches!(error.status(), Some(403 | 404)) && failures > 2 =>
                {
                    return self.forget(&record, State::Open);
                }
                Err(error @ WorkError::Disk { .. }) => return Err(error),
                Err(WorkError::Bridge(error)) if !error.transient() => return Err(error.into()),
                Err(error) => {
                    failures += 1;
                    view = None;
                    let refused = matches!(&error, WorkError::Client(e) if e.status().is_some());
                    if let (true, WorkError::Client(e)) = (refused, &error) {
                        session.mind.refused(&e.to_string());
                    }
                    tracing::debug!(contract = %id, code = error.code(), "{error}");
                    if failures >= MAX_FAILURES {
                        return Err(WorkError::Stalled { id, tries: failures, last: error.to_string() });
                    }
                    sleep(Duration::from_millis(100 * u64::from(failures.min(50)))).await;
                }
            }
            sleep(self.config.poll()).await;
        }
    }

    async fn look(
        &self,
        view: &mut Option<View>,
        id: zx1_market::ContractId,
    ) -> Result<(), zx1_market_client::ClientError> {
        match view {
            Some(old) => {
                if let Some(new) = self.market.refresh(old).await? {
                    *view = Some(new);
                }
            }
            None => *view = Some(self.market.view(id).await?),
        }
        Ok(())
    }

    /// One look, and at most one entry.
    async fn step(&self, view: &View, record: &mut Record, session: &mut Session) -> Result<Did, WorkError> {
        let case = view.case();
        if !is_ours(case, self.market.id()) {
            return Ok(Did::Ended(case.state()));
        }
        if !session.resumed {
            session.resumed = true;
            if self.finish_pending(view, record).await? {
                return Ok(Did::Acted);
            }
        }
        if case.closing_at().is_some() {
            return self.object(view, record, session).await;
        }
        match case.state() {
            State::Investigating | State::InProgress if case.is_verifying() => {
                self.unverified(view, record, session).await
            }
            State::Investigating | State::InProgress => self.think(view, record, session).await,
            // A halt that nobody takes back comes before the court as it is.
            State::Disputed | State::Halted => self.plead(view, record, session).await,
            _ => Ok(Did::Wait),
        }
    }

    /// An entry that was signed before the program ended: in the chain, or sent now, if it still means what
    /// it meant. So a model's decision is not asked for twice.
    async fn finish_pending(&self, view: &View, record: &mut Record) -> Result<bool, WorkError> {
        let Some(entry) = record.pending.take() else { return Ok(false) };
        if view.holds(&entry) {
            return Ok(false);
        }
        let head = Head { seq: entry.seq(), hash: *entry.prev_hash() };
        let between = usize::try_from(head.seq).ok().and_then(|at| view.entries().get(at..));
        let hangs = match usize::try_from(head.seq).ok().and_then(|at| at.checked_sub(1)) {
            Some(last) => view.entries().get(last).is_some_and(|e| e.hash() == head.hash),
            None => false,
        };
        let meant = hangs
            && between.is_some_and(|entries| entries.iter().all(|e| still_meant(entry.kind(), e.kind())));
        let Ok((data, common)) = entry.read() else { return Ok(false) };
        // A dispute or an appeal is decided anew: its deadline may have passed.
        let again = matches!(
            data.kind(),
            EntryType::Fix | EntryType::Investigate | EntryType::Accept | EntryType::Ask
        );
        if !meant || !again {
            return Ok(false);
        }
        self.say(view, record, data, common).await?;
        Ok(true)
    }

    /// Sign, keep, send.
    async fn say(
        &self,
        view: &View,
        record: &mut Record,
        data: Data,
        common: Common,
    ) -> Result<(), WorkError> {
        let id = record.contract;
        let fix = match &data {
            Data::Fix { fix, explanation, corrected_command } => Some(SubmittedFix {
                fix: fix.clone(),
                explanation: explanation.clone(),
                corrected_command: corrected_command.clone(),
            }),
            _ => None,
        };
        let store = &self.store;
        let keep = |entry: &zx1_market::Entry| {
            record.pending = Some(entry.clone());
            store.save(record)
        };
        self.market.act_with(view, data, common, keep).await?;
        if let Some(fix) = fix {
            self.hooks.on_fix_submitted(id, &fix);
        }
        Ok(())
    }

    async fn act(&self, view: &View, record: &mut Record, data: Data) -> Result<Did, WorkError> {
        let common = self.common(view, &data).await?;
        self.say(view, record, data, common).await?;
        Ok(Did::Acted)
    }

    /// Our turn: ask, accept, propose, talk, or give it back.
    async fn think(&self, view: &View, record: &mut Record, session: &mut Session) -> Result<Did, WorkError> {
        if !view.case().pending_investigations().is_empty() {
            return Ok(Did::Wait);
        }
        let length = view.entries().len();
        let holds = |at: usize, data: &Data| {
            let since = view.entries().get(at..);
            since.is_some_and(|entries| entries.iter().all(|e| still_meant(data.kind(), e.kind())))
        };
        let data = match session.meant.take() {
            Some((at, data)) if holds(at, &data) => data,
            _ => match self.decide(view, session).await? {
                Some(data) => data,
                None => return Ok(Did::Wait),
            },
        };
        let common = match self.common(view, &data).await {
            Ok(common) => {
                session.unenveloped = 0;
                common
            }
            Err(WorkError::Bridge(error)) if error.transient() => {
                session.unenveloped = session.unenveloped.saturating_add(1);
                if data.kind() != EntryType::Fix || session.unenveloped < ENVELOPE_TRIES {
                    session.meant = Some((length, data));
                    return Err(error.into());
                }
                let contract = view.id();
                tracing::warn!(%contract, code = error.code(), "delivered without an envelope: {error}");
                Common::default()
            }
            Err(error) => return Err(error),
        };
        self.say(view, record, data, common).await?;
        Ok(Did::Acted)
    }

    /// What to say now. None: nothing.
    async fn decide(&self, view: &View, session: &mut Session) -> Result<Option<Data>, WorkError> {
        let case = view.case();
        let memory = Memory::of(view.entries(), self.market.id(), case.principal());
        let accepted = case.state() == State::InProgress;
        let memory = Memory { accepted, ..memory };
        let next = session.mind.next(case, &memory).await;
        Ok(Some(match next {
            Move::Investigate(command) => {
                self.pace(case.last_investigation_at(), case.contract().execution.investigation_rate).await?;
                Data::Investigate { command }
            }
            Move::Accept => Data::Accept { agent: self.market.id() },
            Move::Fix { fix, explanation, corrected_command } => {
                Data::Fix { fix, explanation, corrected_command }
            }
            Move::Say(message) => Data::Ask { message },
            Move::Leave(reason) if !accepted => Data::Decline { reason },
            Move::Leave(reason) => match self.config.when_stuck {
                Stuck::BackOut => Data::BackOut { reason },
                Stuck::Wait => return Ok(None),
            },
        }))
    }

    /// Not faster than the contract allows (fix.md, "Contract").
    async fn pace(&self, last: Option<Millis>, rate: u32) -> Result<(), WorkError> {
        let Some(last) = last else { return Ok(()) };
        loop {
            let left = last.plus(Millis::secs(rate.into())).minus(self.market.now().await?);
            if left.0 == 0 {
                return Ok(());
            }
            // In slices: a test's clock may stand still and jump.
            sleep(Duration::from_millis(left.0.min(200))).await;
        }
    }

    /// A fix waits for its verification. Silence accepts it some day; with a proof we need not wait so long.
    async fn unverified(
        &self,
        view: &View,
        record: &mut Record,
        session: &mut Session,
    ) -> Result<Did, WorkError> {
        let case = view.case();
        let policy = self.config.disputes;
        if !policy.silence || case.contract().is_free() {
            return Ok(Did::Wait);
        }
        let fix = view.entries().iter().rev().find(|e| e.kind() == EntryType::Fix);
        let due = fix.map(|fix| fix.at().plus(case.terms().windows.verify).plus(Millis::secs(2)));
        let now = self.market.now().await?;
        if due.is_none_or(|due| now < due) {
            return Ok(Did::Wait);
        }
        let Some(argument) = self.argument(view, session).await else { return Ok(Did::Wait) };
        let argument = format!("No verification came in time. {argument}");
        self.act(view, record, Data::DisputeFiled { argument, side: Side::Agent }).await
    }

    /// Our fix was rejected for good. Object with a proof; otherwise let it end at once.
    async fn object(
        &self,
        view: &View,
        record: &mut Record,
        session: &mut Session,
    ) -> Result<Did, WorkError> {
        if view.case().contract().is_free() {
            return Ok(Did::Wait);
        }
        if self.config.disputes.with_proof
            && let Some(argument) = self.argument(view, session).await
        {
            return self.act(view, record, Data::DisputeFiled { argument, side: Side::Agent }).await;
        }
        self.act(view, record, Data::Waive { side: Side::Agent }).await
    }

    /// Before a court.
    async fn plead(&self, view: &View, record: &mut Record, session: &mut Session) -> Result<Did, WorkError> {
        let case = view.case();
        let Some(before) = case.proceedings() else { return Ok(Did::Wait) };
        match before.step {
            CourtStep::Responding { by: Side::Agent, until } => {
                if self.market.now().await? >= until {
                    return Ok(Did::Wait);
                }
                let argument = match self.argument(view, session).await {
                    Some(argument) => argument,
                    None => {
                        "The transcript shows what was done; the agent has nothing to add to it.".to_owned()
                    }
                };
                self.act(view, record, Data::DisputeResponse { argument, side: Side::Agent }).await
            }
            CourtStep::Appealable { .. } => {
                let Some((outcome, court)) = before.last else { return Ok(Did::Wait) };
                if !outcome.is_lost_by(Side::Agent) || before.waived.contains(&Side::Agent) {
                    return Ok(Did::Wait);
                }
                let policy = self.config.disputes;
                let next = court.next().filter(|next| next.level() <= policy.appeal_to);
                let cost = next.map(|next| next.fee(&case.terms().fees));
                let total = cost.and_then(|cost| cost.checked_add(record.appealed));
                if let Some(total) = total.filter(|total| *total <= policy.appeal_budget)
                    && let Some(argument) = self.argument(view, session).await
                {
                    // On disk with the entry, before it is sent.
                    record.appealed = total;
                    return self.act(view, record, Data::Appeal { argument, side: Side::Agent }).await;
                }
                self.act(view, record, Data::Waive { side: Side::Agent }).await
            }
            _ => Ok(Did::Wait),
        }
    }

    /// Our own run of the fix, in a clean sandbox on the contract's own files. An argument only when it
    /// passed.
    async fn argument(&self, view: &View, session: &mut Session) -> Option<String> {
        let bench = self.bench.clone()?;
        let me = self.market.id();
        let fix = view.entries().iter().rev().find(|e| e.kind() == EntryType::Fix && e.author() == me)?;
        let known = session.proof.as_ref().filter(|(seq, _)| *seq == fix.seq());
        let found = match known {
            Some((_, found)) => found.clone(),
            None => {
                let (found, _) = reexecute(bench, view).await;
                session.proof = Some((fix.seq(), found.clone()));
                found
            }
        };
        if found.status != Status::Passed {
            return None;
        }
        let exit = found.exit.map_or(String::new(), |exit| format!(" (exit code {exit})"));
        Some(format!(
            "The fix of entry {} works: in a clean sandbox, on the contract's own input files, the \
             verification failed before it and passed after it{exit}. The court's machine can see the \
             same. {}",
            fix.seq(),
            found.notes
        ))
    }

    /// The end: the 0x01 feedback, if this agent has an id.
    async fn close(&self, record: &Record, view: Option<&View>) -> Result<(), WorkError> {
        let (Some(bridge), Some(view)) = (&self.bridge, view) else { return Ok(()) };
        if view.side() != Some(Side::Agent) || !view.state().is_terminal() {
            return Ok(());
        }
        bridge.close(&self.market, view).await?;
        tracing::debug!(contract = %record.contract, "feedback left");
        Ok(())
    }

    /// What an entry carries beside its data: the 0x01 envelope of the same act.
    pub(super) async fn common(&self, view: &View, data: &Data) -> Result<Common, WorkError> {
        match &self.bridge {
            Some(bridge) => Ok(bridge.common(&self.market, view, Side::Agent, data).await?),
            None => Ok(Common::default()),
        }
    }
}
