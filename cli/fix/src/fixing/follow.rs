//! A contract from its post to its end: questions of the agent are answered, its proposals are tried, and its
//! changes need consent. Every step is reported as it happens.

use super::bill::Bill;
use super::record::{Applied, Held, fingerprint};
use super::{Ended, POLL, Proposal, Session, apply, narrate, talk};
use crate::errors::{Error, Failure, Result};
use crate::screen::Tone;
use serde_json::json;
use zx1_cli_common::{confirm, words};
use zx1_coded::Coded;
use zx1_market::case::CourtStep;
use zx1_market::chain::{Data, Side};
use zx1_market::contract::Unmet;
use zx1_market::defaults::MAX_OUTPUT;
use zx1_market::wire::ReviewAction;
use zx1_market::{ContractId, State};
use zx1_market_client::{ClientError, Market, View};
use zx1_sandbox::Records;
use zx1_trial::{Attempt, cut};

/// What [`follow`] does after a step.
enum Next {
    /// Something was sent: fetch the contract again at once.
    Again,
    /// Another party has to act: wait until the transcript grows.
    Wait,
    /// The contract is over for this party.
    End(Ended),
}

/// Follows a contract to its end.
pub fn follow(session: &mut Session<'_>, market: &Market, mut held: Held) -> Result<Ended> {
    let Some(id) = held.record.id else { return Ok(Ended::AsBefore) };
    let mut view = session.runtime.block_on(market.view(id))?;
    let mut told = 0;
    let mut warned = false;
    loop {
        for entry in view.entries().iter().skip(told) {
            narrate::tell(session, entry);
        }
        told = view.entries().len();
        let next = match step(session, market, &mut held, &view) {
            // Somebody was faster, or a window has just passed: the chain says what holds now.
            Err(Stop::Behind) => Next::Again,
            Err(Stop::Failed(failure)) if failure.code == Error::Interrupted.code() => {
                return stop(session, market, &view);
            }
            Err(Stop::Failed(failure)) => return Err(failure),
            Ok(next) => next,
        };
        match next {
            Next::End(ended) => {
                end(session, market, &view, held);
                return Ok(ended);
            }
            Next::Again => view = session.runtime.block_on(market.view(id))?,
            Next::Wait => match wait(session, market, &view, &mut warned)? {
                Some(newer) => view = newer,
                None => return stop(session, market, &view),
            },
        }
    }
}

/// Waits until the chain has moved on; `None` for Ctrl+C.
fn wait(session: &Session<'_>, market: &Market, view: &View, warned: &mut bool) -> Result<Option<View>> {
    loop {
        let looked = session.runtime.block_on(async {
            tokio::select! {
                () = session.interrupts.pressed() => None,
                looked = async {
                    tokio::time::sleep(POLL).await;
                    market.refresh(view).await
                } => Some(looked),
            }
        });
        match looked {
            None => return Ok(None),
            Some(Ok(Some(newer))) => return Ok(Some(newer)),
            Some(Ok(None)) => *warned = false,
            Some(Err(error)) if error.transient() => {
                if !*warned {
                    let text = "The market does not answer; trying again until it does. Nothing is lost.";
                    session.screen.tell(Tone::Warn, "unreachable", json!({}), text);
                }
                *warned = true;
            }
            Some(Err(error)) => return Err(error.into()),
        }
    }
}

/// Why a step did not finish.
enum Stop {
    /// The transcript has grown meanwhile.
    Behind,
    /// An error that ends the session.
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A market's answer 409 or 410 means that the contract has moved on, which is not a failure.
fn sent<T>(done: Result<T, ClientError>) -> Result<T, Stop> {
    done.map_err(|error| match error.status() {
        Some(409 | 410) => Stop::Behind,
        _ => Stop::Failed(error.into()),
    })
}

fn step(session: &mut Session<'_>, market: &Market, held: &mut Held, view: &View) -> Result<Next, Stop> {
    let case = view.case();
    let id = view.id();
    match view.state() {
        State::Investigating | State::InProgress => {
            if let Some(command) = case.pending_investigations().first() {
                return answer(session, market, id, command);
            }
            if case.closing_at().is_some() {
                return Ok(Next::Wait);
            }
            if case.is_verifying() {
                return prove(session, market, held, view);
            }
            // With nobody there a question was shown when it came; fix chat answers it.
            let said = can_talk(session) && talk::answer(session, market, view)?;
            Ok(if said { Next::Again } else { Next::Wait })
        }
        State::Review => prove(session, market, held, view),
        State::Disputed => court(session, market, view),
        // A halt that nobody takes back comes before the court as it is.
        State::Halted if case.proceedings().is_some() => court(session, market, view),
        State::Halted => {
            session.screen.step("halted", json!({ "contract": id.to_string() }), "The contract is halted.");
            Ok(Next::Wait)
        }
        State::Fulfilled => Ok(Next::End(paid(session, held, view)?)),
        state if state.is_terminal() => Ok(Next::End(fixed(session, held, view)?)),
        _ => Ok(Next::Wait),
    }
}

/// Answers an investigation: checked by the whitelist, run read-only in the sandbox, scrubbed.
fn answer(session: &mut Session<'_>, market: &Market, id: ContractId, command: &str) -> Result<Next, Stop> {
    let answer = session.folder.investigate(command)?;
    let data = json!({ "command": command, "output": answer.text, "refused": answer.refused });
    let (tone, text) = match answer.refused {
        true => (Tone::Warn, format!("refused: {command}")),
        false => {
            (Tone::Step, format!("answered: {}", words::count(answer.text.lines().count(), "line", "lines")))
        }
    };
    session.screen.tell(tone, "answered", data, &text);
    if session.screen.explains() {
        session.screen.block(&answer.text, usize::MAX);
    }
    let exit = answer.exit.map(i64::from);
    sent(session.runtime.block_on(market.result(id, command, answer.text, exit, answer.refused)))?;
    Ok(Next::Again)
}

/// The fix that waits: its entry's number and what it says.
fn proposal(view: &View) -> Option<(u64, Proposal)> {
    view.entries().iter().rev().find_map(|entry| match entry.read().ok()?.0 {
        Data::Fix { fix, explanation, corrected_command } => {
            Some((entry.seq(), Proposal { fix, corrected_command, explanation }))
        }
        _ => None,
    })
}

/// Tries a proposal by the contract's conditions.
fn attempt(session: &Session<'_>, view: &View, proposal: &Proposal) -> Result<(Attempt, Option<Unmet>)> {
    let contract = view.case().contract();
    super::attempt(session, proposal, &contract.verification, contract.execution.timeout)
}

/// Tries the fix, shows what it changes, asks, applies, and says so to the market.
fn prove(session: &mut Session<'_>, market: &Market, held: &mut Held, view: &View) -> Result<Next, Stop> {
    let Some((seq, proposal)) = proposal(view) else { return Ok(Next::Wait) };
    if is_applied(session, held, seq)? {
        return accept(session, market, view, Some(0), String::new());
    }
    let (mut attempt, unmet) = attempt(session, view, &proposal)?;
    let ran = attempt.trial.last();
    let said = ran.output();
    let output = cut(session.folder.scrub_output(&ran.line, &said), MAX_OUTPUT);
    let exit = ran.run.status().map(i64::from);
    if let Some(unmet) = unmet {
        return reject(session, market, view, &unmet.to_string(), exit, output, false);
    }
    let agreed = match apply::agree(session, &mut attempt, &proposal, true) {
        Ok(agreed) => agreed,
        Err(failure) if failure.code == Error::Interrupted.code() => return Err(Stop::Failed(failure)),
        Err(failure) => {
            failure.show(session.context.format());
            let why =
                format!("The command works in the sandbox, but the fix is not applied: {}", failure.message);
            return reject(session, market, view, &why, exit, output, true);
        }
    };
    let undo = commit(session, held, seq, attempt, &agreed)?;
    super::show_fixed(session, &said, undo.as_deref());
    accept(session, market, view, exit, output)
}

/// Errors that mean the user declined, where a user was asked.
fn is_no(session: &Session<'_>, failure: &Failure) -> bool {
    let declined = matches!(
        failure.own.as_deref(),
        Some(Error::Declined | Error::NotConsented { .. } | Error::CommandNotAccepted { .. })
    );
    confirm::can_ask() && !session.screen.is_json() && declined
}

/// A fix that is paid. If it was accepted by hand or by silence while nobody watched here, it is not applied
/// yet: that happens now, with the same proof and the same questions (decision E11). The record stays until
/// it has been decided.
fn paid(session: &Session<'_>, held: &mut Held, view: &View) -> Result<Ended, Stop> {
    let Some((seq, proposal)) = proposal(view) else { return Ok(Ended::AsBefore) };
    if is_applied(session, held, seq)? {
        return Ok(Ended::Fixed);
    }
    let data = json!({ "contract": view.id().to_string() });
    session.screen.step("unapplied", data.clone(), "The fix is accepted, and not applied here yet.");
    let (mut attempt, unmet) = attempt(session, view, &proposal)?;
    if let Some(unmet) = unmet {
        session.screen.tell(Tone::Bad, "not_applied", data, &format!("Not applied: {unmet}"));
        return Ok(Ended::AsBefore);
    }
    let agreed = match apply::agree(session, &mut attempt, &proposal, true) {
        Err(failure) if is_no(session, &failure) => {
            failure.show(session.context.format());
            return Ok(Ended::AsBefore);
        }
        agreed => agreed?,
    };
    let said = attempt.trial.last().output();
    let undo = commit(session, held, seq, attempt, &agreed)?;
    super::show_fixed(session, &said, undo.as_deref());
    Ok(Ended::Fixed)
}

/// Commits, noted before and after: a crash in between neither applies twice nor forgets the agent's pay.
fn commit(
    session: &Session<'_>,
    held: &mut Held,
    seq: u64,
    attempt: Attempt,
    agreed: &apply::Agreed,
) -> Result<Option<String>, Stop> {
    let records = Records::open(session.context.place("undo")?)?;
    let before = records.list()?.into_iter().map(|record| record.id).collect();
    let changes = fingerprint(attempt.changes.entries.iter().map(|entry| (entry.kind, entry.path.as_path())));
    let process = std::process::id();
    held.record.applied = Some(Applied { seq, before, process, changes, done: None });
    held.save()?;
    let undo = match apply::commit(session, attempt, agreed) {
        Ok(undo) => undo,
        Err(failure) => {
            held.record.applied = None;
            held.save()?;
            return Err(failure.into());
        }
    };
    if let Some(applied) = &mut held.record.applied {
        applied.done = Some(undo.clone());
    }
    held.save()?;
    Ok(undo)
}

/// Whether this fix is applied already, also when a crash hid the end of it.
fn is_applied(session: &Session<'_>, held: &mut Held, seq: u64) -> Result<bool, Stop> {
    let Some(applied) = held.record.applied.as_mut().filter(|applied| applied.seq == seq) else {
        return Ok(false);
    };
    if applied.done.is_some() {
        return Ok(true);
    }
    // Opening repairs an interrupted commit: it is done, or it never was.
    let records = Records::open(session.context.place("undo")?)?;
    let folder = &session.failed.folder;
    let found = records.list()?.into_iter().find(|undo| applied.is(undo, folder)).map(|undo| undo.id);
    let is_done = found.is_some();
    match found {
        Some(id) => applied.done = Some(Some(id)),
        None => held.record.applied = None,
    }
    held.save()?;
    Ok(is_done)
}

fn accept(
    session: &Session<'_>,
    market: &Market,
    view: &View,
    exit: Option<i64>,
    output: String,
) -> Result<Next, Stop> {
    let id = view.id();
    let runtime = session.runtime;
    let why = "The command works with this fix.";
    if view.state() == State::Review {
        sent(runtime.block_on(market.review(id, ReviewAction::Accept, why)))?;
    } else {
        sent(runtime.block_on(market.verify(id, true, why.to_owned(), exit, output)))?;
    }
    Ok(Next::Again)
}

/// Says no; with somebody there, asks why, and whether a court shall look at it.
fn reject(
    session: &Session<'_>,
    market: &Market,
    view: &View,
    why: &str,
    exit: Option<i64>,
    output: String,
    ask: bool,
) -> Result<Next, Stop> {
    let id = view.id();
    let runtime = session.runtime;
    let mut why = why.to_owned();
    if ask && can_talk(session) {
        let reason = session.prompt("Why not? The agent reads it (Enter: nothing to add):")?;
        if !reason.is_empty() {
            why = session.folder.scrubber().scrub(&format!("{why} {reason}")).text;
        }
        let to_court = !view.case().contract().is_free()
            && session.confirms("Did the agent act in bad faith? Take it to the court?")?;
        if to_court {
            sent(runtime.block_on(market.dispute(id, &why)))?;
            return Ok(Next::Again);
        }
    }
    session.screen.tell(Tone::Bad, "rejected", json!({ "why": why }), &format!("Rejected: {why}"));
    if view.state() == State::Review {
        sent(runtime.block_on(market.review(id, ReviewAction::Reject, &why)))?;
    } else {
        sent(runtime.block_on(market.verify(id, false, why, exit, output)))?;
    }
    Ok(Next::Again)
}

fn can_talk(session: &Session<'_>) -> bool {
    confirm::can_ask() && !session.screen.is_json() && !session.context.yes()
}

/// Before a court: answers and appeals are asked for, if somebody is there.
fn court(session: &Session<'_>, market: &Market, view: &View) -> Result<Next, Stop> {
    let Some(proceedings) = view.case().proceedings() else { return Ok(Next::Wait) };
    let id = view.id();
    if !can_talk(session) {
        return Ok(Next::Wait);
    }
    match proceedings.step {
        CourtStep::Responding { by: Side::Principal, .. } if !proceedings.responded => {
            let text = session.prompt("Your answer to the court (30 s; Enter: none):")?;
            if text.is_empty() {
                return Ok(Next::Wait);
            }
            let text = session.folder.scrubber().scrub(&text).text;
            sent(session.runtime.block_on(market.respond(id, &text)))?;
            Ok(Next::Again)
        }
        CourtStep::Appealable { .. } if !proceedings.waived.contains(&Side::Principal) => {
            let lost = proceedings.last.filter(|(outcome, _)| outcome.is_lost_by(Side::Principal));
            let Some((_, next)) = lost.and_then(|(outcome, court)| Some((outcome, court.next()?))) else {
                return Ok(Next::Wait);
            };
            let fee = next.fee(&view.case().terms().fees).xno();
            if session.confirms(&format!("Appeal to the {next} court? Losing there costs {fee} XNO."))? {
                let text = session.prompt("Your argument:")?;
                let text = session.folder.scrubber().scrub(&text).text;
                sent(session.runtime.block_on(market.appeal(id, &text)))?;
            } else {
                sent(session.runtime.block_on(market.waive(id)))?;
            }
            Ok(Next::Again)
        }
        _ => Ok(Next::Wait),
    }
}

/// Ctrl+C: nobody has the contract yet: it is canceled; somebody works on it: it is halted; else it is left.
fn stop(session: &Session<'_>, market: &Market, view: &View) -> Result<Ended> {
    let id = view.id();
    let runtime = session.runtime;
    let free = view.case().contract().is_free();
    let failure = Failure::from(Error::Interrupted);
    let view = runtime.block_on(market.view(id))?;
    let closing = view.case().closing_at().is_some();
    let (done, next) = match view.state() {
        State::Unfunded | State::Open => {
            runtime.block_on(market.cancel(id, "Stopped by Ctrl+C."))?;
            ("The contract is canceled; a deposit comes back.", format!("fix show {id}"))
        }
        State::Investigating | State::InProgress | State::Review if !closing => {
            runtime.block_on(market.halt(id, "Stopped by Ctrl+C."))?;
            let next = format!("fix resume {id} to go on; fix show {id}");
            match free {
                true => ("The contract is halted. Nothing was applied.", next),
                false => ("The contract is halted. After 30 s a judge decides, unless you resume it.", next),
            }
        }
        state if state.is_terminal() => ("Nothing was changed.", format!("fix resume {id}")),
        _ => ("Nothing was changed; the contract goes on without you.", format!("fix resume {id}")),
    };
    session.screen.tell(Tone::Warn, "stopped", json!({ "contract": id.to_string() }), done);
    Err(failure.next(next))
}

/// Whether the command works now, once the contract has ended.
fn fixed(session: &Session<'_>, held: &mut Held, view: &View) -> Result<Ended, Stop> {
    if let Some((seq, ..)) = proposal(view)
        && is_applied(session, held, seq)?
    {
        return Ok(Ended::Fixed);
    }
    Ok(Ended::AsBefore)
}

/// What it cost, and where everything is.
fn end(session: &Session<'_>, market: &Market, view: &View, held: Held) {
    let screen = session.screen;
    let id = view.id();
    let state = view.state();
    let bill = Bill::of(view.case());
    let path = market.options().transcripts.as_ref().map(|kept| kept.path(&market.server(), id));
    let path = path.map(|path| path.display().to_string()).unwrap_or_default();
    let applied = held.record.applied.as_ref().and_then(|applied| applied.done.clone());
    let fixed = applied.is_some();
    let text = match (state, view.case().agent()) {
        (State::Fulfilled, _) => format!("Contract {id} is fulfilled. {}", bill.sentence()),
        (state, None) => format!("No agent took contract {id}: it is {state}. {}", bill.sentence()),
        (state, Some(_)) => format!("Contract {id} ended without a fix: it is {state}. {}", bill.sentence()),
    };
    let data = json!({
        "contract": id.to_string(),
        "state": state.as_str(),
        "fixed": fixed,
        "cost": bill.deposited.checked_sub(bill.back).unwrap_or_default().xno(),
        "deposited": bill.deposited.xno(),
        "back": bill.back.xno(),
        "to_agent": bill.agent.xno(),
        "to_platform": bill.platform.xno(),
        "to_charity": bill.charity.xno(),
        "transcript": path,
        "undo": applied.flatten(),
    });
    screen.tell(if fixed { Tone::Good } else { Tone::Bad }, "ended", data, &text);
    if view.case().agent().is_none() && !view.case().contract().takes_corrected_commands() {
        let text = "The contract said that no corrected command is taken, because nobody is here to agree to \
                    one: agents that know nothing else left it. Run it in a terminal, or add \
                    --accept-corrected.";
        screen.tell(Tone::Warn, "hint", json!({ "option": "--accept-corrected" }), text);
    }
    if !path.is_empty() {
        screen.raw(&format!("     transcript  {path}\n     check it    fix verify {id}\n"));
    }
    rate(session, market, view);
    held.forget();
}

/// Leaves this side's 0x01 FEEDBACK and logs all envelopes (decision G1). The contract itself has ended
/// either way, so a failure here is only reported.
fn rate(session: &Session<'_>, market: &Market, view: &View) {
    let Some(bridge) = &session.bridge else { return };
    let done = session.runtime.block_on(async {
        tokio::select! {
            () = session.interrupts.pressed() => Ok(()),
            done = bridge.close(market, view) => done,
        }
    });
    if let Err(error) = done {
        let code = error.code();
        let data = json!({ "contract": view.id().to_string(), "code": code, "error": error.to_string() });
        let text = format!("error {code}: {error} To leave the feedback later: fix resume {}", view.id());
        session.screen.tell(Tone::Warn, "feedback", data, &text);
    }
}
