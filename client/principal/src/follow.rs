//! A contract from its post to its end: questions of the agent are answered, its proposals are tried, and its
//! changes need consent. Every step is reported as it happens.

use crate::consent::Agreed;
use crate::event::{Event, Outcome, Prompt, Question};
use crate::record::{Applied, Held, fingerprint};
use crate::session::POLL;
use crate::{Ended, Error, Proposal, Refusal, Result, Session, Stopped};
use std::time::{Duration, Instant};
use zx1_coded::Coded as _;
use zx1_market::case::CourtStep;
use zx1_market::chain::{Data, Side};
use zx1_market::contract::{Ending, FailedStep, Failure, FailureClass};
use zx1_market::defaults::MAX_OUTPUT;
use zx1_market::wire::ReviewAction;
use zx1_market::{ContractId, State};
use zx1_market_client::{Bill, ClientError, Market, View};
use zx1_sandbox::SandboxError;
use zx1_trial::{Attempt, Ready, Trial, cut};

/// What [`Session::follow`] does after a step.
enum Next {
    /// Something was sent: fetch the contract again at once.
    Again,
    /// Another party has to act: wait until the transcript grows.
    Wait,
    /// The contract is over for this party.
    End(Ended),
}

/// Why a step did not finish.
enum Stop {
    /// The transcript has grown meanwhile.
    Behind,
    /// An error that ends the session.
    Failed(Box<Error>),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

/// A market's answer 409 or 410 means that the contract has moved on, which is not a failure.
fn sent<T>(done: Result<T, ClientError>) -> Result<Next, Stop> {
    match done {
        Ok(_) => Ok(Next::Again),
        Err(error) if matches!(error.status(), Some(409 | 410)) => Err(Stop::Behind),
        Err(error) => Err(error.into()),
    }
}

/// The fix that waits: its entry's number and what it says.
pub(crate) fn proposal(view: &View) -> Option<(u64, Proposal)> {
    view.entries().iter().rev().find_map(|entry| match entry.read().ok()?.0 {
        Data::Fix { fix, explanation, corrected_command } => {
            Some((entry.seq(), Proposal { fix, corrected_command, explanation }))
        }
        _ => None,
    })
}

/// Attempts that are posted with nobody there: each shows 6 bits that hostile code may choose (decision E17).
const UNATTENDED: usize = 5;
/// What is said unattended is said at multiples of this.
const PACE: Duration = Duration::from_secs(5);

/// What is posted of a failed attempt.
#[derive(Clone, Debug)]
struct Said {
    failure: Failure,
    exit: Option<i64>,
    output: String,
}

impl Said {
    fn new(failure: Failure) -> Self {
        Self { failure, exit: None, output: String::new() }
    }
}

/// This party's attempts that failed so far.
fn failed_attempts(view: &View, market: &Market) -> usize {
    let ours = view.entries().iter().filter(|entry| entry.author() == market.id());
    ours.filter(|entry| matches!(entry.read(), Ok((Data::Verify { success: false, .. }, _)))).count()
}

/// Rounds of investigation that the contract has left.
fn rounds_left(view: &View) -> u32 {
    let case = view.case();
    case.contract().execution.investigation_rounds.saturating_sub(case.investigations())
}

/// Whether an error says something of the fix, so that the attempt has failed; all others are of this program or its
/// surroundings, and end the session.
fn is_of_the_fix(error: &Error) -> bool {
    match error {
        Error::Refused(_) | Error::Unattended | Error::Declined => true,
        Error::Sandbox(error) => !matches!(
            error,
            SandboxError::Locked { .. } | SandboxError::Records { .. } | SandboxError::Repair { .. }
        ),
        _ => false,
    }
}

/// Why a fix that works is not applied, in words.
fn not_applied(error: &Error) -> Failure {
    let failure = |class| Failure::new(FailedStep::Apply, Ending::Zero, class);
    match error {
        Error::Refused(Refusal::NotConsented { needs, .. }) if !needs.is_empty() => {
            Failure { needs: needs.clone(), ..failure(FailureClass::NeedsConsent) }
        }
        Error::Sandbox(SandboxError::LowerChanged { .. } | SandboxError::ChangedSinceVerification { .. }) => {
            failure(FailureClass::Conflict)
        }
        Error::Sandbox(SandboxError::TooLarge { .. } | SandboxError::NoSpace { .. }) => {
            failure(FailureClass::TooLarge)
        }
        Error::Sandbox(SandboxError::Scan { .. }) => failure(FailureClass::Unreadable),
        _ => failure(FailureClass::NotApplied),
    }
}

impl Session<'_> {
    /// Follows a contract to its end.
    pub(crate) fn follow(&mut self, market: &Market, mut held: Held) -> Result<Ended> {
        let Some(id) = held.record.id else { return Ok(Ended::AsBefore) };
        let mut view = self.runtime.block_on(market.view(id))?;
        // What the contract grants was agreed to when it was posted, and no more.
        self.options.granted = view.case().contract().consents.clone();
        self.folder.limit(view.case().terms().court);
        let mut reported = 0;
        let mut warned = false;
        let mut agent = None;
        loop {
            for entry in view.entries().iter().skip(reported) {
                self.front.event(Event::Entry { entry, ours: entry.author() == market.id() });
            }
            reported = view.entries().len();
            if agent != view.case().agent() {
                agent = view.case().agent();
                self.introduce(market, &view);
            }
            let next = match self.step(market, &mut held, &view) {
                // Somebody was faster, or a window has just passed: the transcript says what holds now.
                Err(Stop::Behind) => Next::Again,
                Err(Stop::Failed(error)) => match *error {
                    Error::Interrupted => return self.stop(market, &view, held),
                    error => return Err(error),
                },
                Ok(next) => next,
            };
            match next {
                Next::End(ended) => {
                    self.end(market, &view, held);
                    return Ok(ended);
                }
                Next::Again => view = self.runtime.block_on(market.view(id))?,
                Next::Wait => match self.wait_for_more(market, &view, &mut warned)? {
                    Some(newer) => view = newer,
                    None => return self.stop(market, &view, held),
                },
            }
        }
    }

    /// Reports what the market has counted of the agent. A market that does not say it keeps nobody from the contract.
    fn introduce(&self, market: &Market, view: &View) {
        let Some(agent) = view.case().agent().filter(|_| !view.state().is_terminal()) else { return };
        let free = view.case().contract().is_free();
        let standing = self.wait(market.reputation(&agent)).ok();
        if let Some(fixes) = standing.and_then(|standing| standing.fixes(Side::Agent, free)) {
            self.front.event(Event::Agent { agent, fixes });
        }
    }

    /// Waits until the transcript has grown; `None` after a stop.
    fn wait_for_more(&self, market: &Market, view: &View, warned: &mut bool) -> Result<Option<View>> {
        loop {
            let polled = self.runtime.block_on(async {
                tokio::select! {
                    () = self.interrupts.pressed() => None,
                    polled = async {
                        tokio::time::sleep(POLL).await;
                        market.refresh(view).await
                    } => Some(polled),
                }
            });
            match polled {
                None => return Ok(None),
                Some(Ok(Some(newer))) => return Ok(Some(newer)),
                Some(Ok(None)) => *warned = false,
                Some(Err(error)) if error.transient() => {
                    if !*warned {
                        self.front.event(Event::Unreachable);
                    }
                    *warned = true;
                }
                Some(Err(error)) => return Err(error.into()),
            }
        }
    }

    fn step(&mut self, market: &Market, held: &mut Held, view: &View) -> Result<Next, Stop> {
        let case = view.case();
        match view.state() {
            State::Investigating | State::InProgress => {
                if let Some(command) = case.pending_investigations().first() {
                    return self.answer(market, view.id(), command);
                }
                if case.closing_at().is_some() {
                    return Ok(Next::Wait);
                }
                if case.is_verifying() {
                    return self.prove(market, held, view);
                }
                // With nobody there a question was shown when it came, to be answered later.
                let said = self.can_talk() && self.reply(market, view)?;
                Ok(if said { Next::Again } else { Next::Wait })
            }
            State::Review => self.prove(market, held, view),
            State::Disputed => self.argue(market, view),
            // A halt that nobody takes back comes before the court as it is.
            State::Halted if case.proceedings().is_some() => self.argue(market, view),
            State::Halted => {
                self.front.event(Event::Halted(view.id()));
                Ok(Next::Wait)
            }
            State::Fulfilled => Ok(Next::End(self.apply_paid(held, view)?)),
            state if state.is_terminal() => Ok(Next::End(self.ended(held, view)?)),
            _ => Ok(Next::Wait),
        }
    }

    /// Answers an investigation: checked by the whitelist, run read-only in the sandbox, scrubbed.
    fn answer(&mut self, market: &Market, id: ContractId, command: &str) -> Result<Next, Stop> {
        let answer = self.folder.investigate(command)?;
        self.front.event(Event::Answered { command, answer: &answer });
        let exit = answer.exit.map(i64::from);
        sent(self.runtime.block_on(market.result(id, command, answer.text, exit, answer.refused)))
    }

    /// Tries a proposal by the contract's conditions.
    fn attempt_of(&mut self, view: &View, proposal: &Proposal) -> Result<(Attempt, Option<Failure>)> {
        let contract = view.case().contract();
        self.attempt(proposal, true, &contract.verification, contract.execution.timeout)
    }

    /// Tries the fix, shows what it changes, asks, applies, runs the command for real, and says so to the market.
    fn prove(&mut self, market: &Market, held: &mut Held, view: &View) -> Result<Next, Stop> {
        let Some((seq, proposal)) = proposal(view) else { return Ok(Next::Wait) };
        let began = Instant::now();
        if self.is_applied(held, seq)? {
            return self.outside(market, held, view, &proposal, began);
        }
        if !self.can_talk() && failed_attempts(view, market) >= UNATTENDED {
            let failure = Failure::new(FailedStep::Limits, Ending::Other, FailureClass::Limit);
            return self.reject(market, view, &Said::new(failure), began, false);
        }
        let (attempt, failure) = self.attempt_of(view, &proposal)?;
        let mut ready = match (attempt.ready, failure) {
            (Some(ready), None) => ready,
            (_, Some(failure)) => {
                return self.failed(market, view, &proposal, &attempt.trial, failure, began);
            }
            (None, None) => {
                let failure = Failure::new(FailedStep::Apply, Ending::Other, FailureClass::Other);
                return self.failed(market, view, &proposal, &attempt.trial, failure, began);
            }
        };
        let done = self.agree(&mut ready, &proposal, true).map_err(Stop::from);
        match done.and_then(|agreed| self.commit_noted(held, seq, ready, &agreed)) {
            Ok(_) => self.outside(market, held, view, &proposal, began),
            Err(Stop::Failed(error)) if is_of_the_fix(&error) => {
                self.front.event(Event::NotApplied(&error));
                self.reject(market, view, &Said::new(not_applied(&error)), began, true)
            }
            Err(stop) => Err(stop),
        }
    }

    /// The fix is applied: the real command decides whether it stays.
    fn outside(
        &mut self,
        market: &Market,
        held: &mut Held,
        view: &View,
        proposal: &Proposal,
        began: Instant,
    ) -> Result<Next, Stop> {
        let undo = held.record.applied.as_ref().and_then(|applied| applied.done.clone()).flatten();
        let (output, failure) = self.for_real(proposal, &view.case().contract().verification, true)?;
        match failure {
            None => {
                self.applied(&output, undo.as_deref());
                self.accept(market, view, began)
            }
            Some(failure) => {
                self.take_back(undo.as_deref(), &failure)?;
                held.record.applied = None;
                held.save()?;
                self.reject(market, view, &Said::new(failure), began, false)
            }
        }
    }

    /// An attempt that failed in the sandbox. Nothing that was printed leaves unseen: with a person there, when the
    /// person agrees to it; else from a second run that sees what an investigation sees.
    fn failed(
        &mut self,
        market: &Market,
        view: &View,
        proposal: &Proposal,
        trial: &Trial,
        failure: Failure,
        began: Instant,
    ) -> Result<Next, Stop> {
        let mut said = Said::new(failure);
        let tells = matches!(said.failure.step, FailedStep::Apply | FailedStep::Check);
        if self.can_talk() {
            let ran = trial.last();
            let output = cut(self.folder.scrub_output(&ran.line, &ran.output()), MAX_OUTPUT);
            if tells && !output.is_empty() {
                self.front.event(Event::WouldSend { output: &output });
                if self.confirms(Question::SendOutput)? {
                    said.exit = ran.run.status().map(i64::from);
                    said.output = output;
                }
            }
        } else if tells && view.state() == State::InProgress && rounds_left(view) > 0 {
            let contract = view.case().contract();
            let time = Duration::from_secs(contract.execution.timeout.into());
            let corrected = proposal.corrected_command.as_deref();
            // Without it the agent knows less; it can go on all the same.
            if let Ok(output) = self.folder.look_again(&proposal.fix, corrected, time) {
                said.failure.rerun = !output.is_empty();
                said.output = output;
            }
            self.unless_pressed()?;
        }
        self.reject(market, view, &said, began, false)
    }

    /// A fix that is paid. If it was accepted by hand or by silence while nobody watched here, it is not applied
    /// yet: that happens now, with the same proof and the same questions (decision E11). The record stays until
    /// it has been decided.
    fn apply_paid(&mut self, held: &mut Held, view: &View) -> Result<Ended, Stop> {
        let Some((seq, proposal)) = proposal(view) else { return Ok(Ended::AsBefore) };
        if self.is_applied(held, seq)? {
            return Ok(Ended::Fixed);
        }
        self.front.event(Event::Unapplied(view.id()));
        let (attempt, failure) = self.attempt_of(view, &proposal)?;
        let (mut ready, contract) = match (attempt.ready, failure) {
            (Some(ready), None) => (ready, view.case().contract()),
            (_, failure) => {
                let other = || Failure::new(FailedStep::Apply, Ending::Other, FailureClass::Other);
                let failure = failure.unwrap_or_else(other);
                self.front.event(Event::Unmet { contract: view.id(), failure: &failure });
                return Ok(Ended::AsBefore);
            }
        };
        let agreed = match self.agree(&mut ready, &proposal, true) {
            Err(error) if self.front.is_attended() && error.is_no() => {
                self.front.event(Event::NotApplied(&error));
                return Ok(Ended::AsBefore);
            }
            agreed => agreed?,
        };
        let undo = self.commit_noted(held, seq, ready, &agreed)?;
        let (output, failure) = self.for_real(&proposal, &contract.verification, true)?;
        if let Some(failure) = failure {
            self.take_back(undo.as_deref(), &failure)?;
            held.record.applied = None;
            held.save()?;
            return Ok(Ended::AsBefore);
        }
        self.applied(&output, undo.as_deref());
        Ok(Ended::Fixed)
    }

    /// Commits, noted before and after: a crash in between neither applies twice nor forgets the agent's pay.
    fn commit_noted(
        &self,
        held: &mut Held,
        seq: u64,
        ready: Ready,
        agreed: &Agreed,
    ) -> Result<Option<String>, Stop> {
        let before = self.undo_records()?.list()?.into_iter().map(|record| record.id).collect();
        let entries = &ready.changes.entries;
        let changes = fingerprint(entries.iter().map(|entry| (entry.kind, entry.path.as_path())));
        let process = std::process::id();
        held.record.applied = Some(Applied { seq, before, process, changes, done: None });
        held.save()?;
        let undo = match self.commit(ready, agreed) {
            Ok(undo) => undo,
            Err(error) => {
                held.record.applied = None;
                held.save()?;
                return Err(error.into());
            }
        };
        if let Some(applied) = &mut held.record.applied {
            applied.done = Some(undo.clone());
        }
        held.save()?;
        Ok(undo)
    }

    /// Whether this fix is applied already, also when a crash hid the end of it.
    pub(crate) fn is_applied(&self, held: &mut Held, seq: u64) -> Result<bool> {
        let Some(applied) = held.record.applied.as_mut().filter(|applied| applied.seq == seq) else {
            return Ok(false);
        };
        if applied.done.is_some() {
            return Ok(true);
        }
        // Opening repairs an interrupted commit: it is done, or it never was.
        let records = self.undo_records()?.list()?;
        let found = records.into_iter().find(|undo| applied.is(undo, &self.failed.folder));
        let is_done = found.is_some();
        match found {
            Some(undo) => applied.done = Some(Some(undo.id)),
            None => held.record.applied = None,
        }
        held.save()?;
        Ok(is_done)
    }

    fn accept(&self, market: &Market, view: &View, began: Instant) -> Result<Next, Stop> {
        let id = view.id();
        let why = "The command works with this fix.";
        self.pace(began)?;
        if view.state() == State::Review {
            return sent(self.runtime.block_on(market.review(id, ReviewAction::Accept, why)));
        }
        sent(self.runtime.block_on(market.verify(id, true, why.to_owned(), Some(0), String::new())))
    }

    /// How long hostile code runs is a channel too: what is said of it unattended is said on the next full 5 s.
    fn pace(&self, began: Instant) -> Result<()> {
        if self.can_talk() {
            return Ok(());
        }
        let (step, past) = (PACE.as_millis(), began.elapsed().as_millis());
        let left = u64::try_from(step.saturating_sub(past % step)).unwrap_or(0);
        self.wait(async {
            tokio::time::sleep(Duration::from_millis(left)).await;
            Ok::<_, Error>(())
        })
    }

    /// Says no; with somebody there and `ask`, asks why, and whether a court shall look at it.
    fn reject(
        &self,
        market: &Market,
        view: &View,
        said: &Said,
        began: Instant,
        ask: bool,
    ) -> Result<Next, Stop> {
        let id = view.id();
        let mut why = said.failure.to_string();
        if ask && self.can_talk() {
            let reason = self.prompt(Prompt::Why)?;
            if !reason.is_empty() {
                why = self.folder.scrubber().scrub(&format!("{why} {reason}")).text;
            }
            if !view.case().contract().is_free() && self.confirms(Question::BadFaith)? {
                return sent(self.runtime.block_on(market.dispute(id, &why)));
            }
        }
        self.front.event(Event::Rejected(&why));
        // Where nothing was run, there is no time to tell of it.
        if said.failure.step != FailedStep::Limits {
            self.pace(began)?;
        }
        if view.state() == State::Review {
            return sent(self.runtime.block_on(market.review_failed(id, said.failure.clone(), &why)));
        }
        let Said { failure, exit, output } = said.clone();
        sent(self.runtime.block_on(market.verify_failed(id, failure, why, exit, output)))
    }

    /// Before a court: answers and appeals are asked for, if somebody is there.
    fn argue(&self, market: &Market, view: &View) -> Result<Next, Stop> {
        let Some(proceedings) = view.case().proceedings() else { return Ok(Next::Wait) };
        let id = view.id();
        if !self.can_talk() {
            return Ok(Next::Wait);
        }
        match proceedings.step {
            CourtStep::Responding { by: Side::Principal, .. } if !proceedings.responded => {
                let text = self.prompt(Prompt::Response)?;
                if text.is_empty() {
                    return Ok(Next::Wait);
                }
                let text = self.folder.scrubber().scrub(&text).text;
                sent(self.runtime.block_on(market.respond(id, &text)))
            }
            CourtStep::Appealable { .. } if !proceedings.waived.contains(&Side::Principal) => {
                let lost = proceedings.last.filter(|(outcome, _)| outcome.is_lost_by(Side::Principal));
                let Some(court) = lost.and_then(|(_, court)| court.next()) else {
                    return Ok(Next::Wait);
                };
                let fee = court.fee(&view.case().terms().fees);
                if !self.confirms(Question::Appeal { court, fee })? {
                    return sent(self.runtime.block_on(market.waive(id)));
                }
                let text = self.prompt(Prompt::Argument)?;
                let text = self.folder.scrubber().scrub(&text).text;
                sent(self.runtime.block_on(market.appeal(id, &text)))
            }
            _ => Ok(Next::Wait),
        }
    }

    /// After a stop: a contract that nobody has is canceled and forgotten; one that somebody works on is halted; others
    /// are left.
    fn stop(&self, market: &Market, view: &View, held: Held) -> Result<Ended> {
        const WHY: &str = "Stopped by Ctrl+C.";
        let id = view.id();
        let free = view.case().contract().is_free();
        let view = self.runtime.block_on(market.view(id))?;
        let closing = view.case().closing_at().is_some();
        let stopped = match view.state() {
            State::Unfunded | State::Open => {
                self.runtime.block_on(market.cancel(id, WHY))?;
                held.forget();
                Stopped::Canceled(id)
            }
            State::Investigating | State::InProgress | State::Review if !closing => {
                self.runtime.block_on(market.halt(id, WHY))?;
                Stopped::Halted { contract: id, free }
            }
            // Its fix may still have to be applied.
            State::Fulfilled => Stopped::Ended(id),
            state if state.is_terminal() => {
                held.forget();
                Stopped::Ended(id)
            }
            _ => Stopped::GoesOn(id),
        };
        self.front.event(Event::Stopped(&stopped));
        Err(Error::Stopped(stopped))
    }

    /// Whether the command works now, once the contract has ended.
    fn ended(&self, held: &mut Held, view: &View) -> Result<Ended> {
        let applied = match proposal(view) {
            Some((seq, _)) => self.is_applied(held, seq)?,
            None => false,
        };
        Ok(if applied { Ended::Fixed } else { Ended::AsBefore })
    }

    /// Reports what it cost and where everything is; leaves this side's 0x01 FEEDBACK and logs all envelopes
    /// (decision G1). The contract itself has ended either way, so a failure of the latter is only reported.
    fn end(&self, market: &Market, view: &View, held: Held) {
        let case = view.case();
        let transcripts = market.options().transcripts.as_ref();
        self.front.event(Event::Ended(Outcome {
            contract: view.id(),
            state: view.state(),
            taken: case.agent().is_some(),
            takes_corrected_commands: case.contract().takes_corrected_commands(),
            bill: Bill::of(case),
            transcript: transcripts.map(|kept| kept.path(&market.server(), view.id())),
            applied: held.record.applied.as_ref().and_then(|applied| applied.done.clone()),
        }));
        if let Some(bridge) = &self.bridge {
            let done = self.runtime.block_on(async {
                tokio::select! {
                    () = self.interrupts.pressed() => Ok(()),
                    done = bridge.close(market, view) => done,
                }
            });
            if let Err(error) = done {
                self.front.event(Event::FeedbackFailed { contract: view.id(), error: &error });
            }
        }
        held.forget();
    }
}
