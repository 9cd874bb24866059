//! A contract from its post to its end: what the agent asks for is answered, what it proposes is tried, what
//! it changes is consented to. Everything that happens is told as it happens.

use super::bench::{Attempt, cut};
use super::bill::Bill;
use super::record::{Applied, Held, fingerprint};
use super::{Ended, POLL, Session, apply, narrate, talk};
use crate::errors::{Error, Failure, Result};
use crate::screen::Tone;
use serde_json::json;
use std::time::Duration;
use zx1_cli_common::{confirm, words};
use zx1_market::case::CourtStep;
use zx1_market::chain::{Data, Side};
use zx1_market::contract::Verification;
use zx1_market::defaults::MAX_OUTPUT;
use zx1_market::wire::ReviewAction;
use zx1_market::{ContractId, State};
use zx1_market_client::{ClientError, Market, View};
use zx1_sandbox::Records;

/// What comes next.
enum Next {
    /// Something was sent: look again at once.
    Again,
    /// Others have to do something.
    Wait,
    /// That was all.
    End(Ended),
}

/// Sees a contract through.
///
/// # Errors
/// 9503 after Ctrl+C, when the contract is halted or canceled; 9544 when it ends without a fix; everything
/// that client and sandbox refuse.
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
            Some(Err(error)) if error.is_transient() => {
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

/// Why a step was broken off.
enum Stop {
    /// The chain has moved on meanwhile.
    Behind,
    /// A refusal.
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A refusal because of what happened meanwhile is no failure.
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
    let answer = session.bench.investigate(command)?;
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
fn proposal(view: &View) -> Option<(u64, String, String, Option<String>)> {
    view.entries().iter().rev().find_map(|entry| match entry.read().ok()?.0 {
        Data::Fix { fix, explanation, corrected_command } => {
            Some((entry.seq(), fix, explanation, corrected_command))
        }
        _ => None,
    })
}

/// Tries the fix, shows what it changes, asks, applies, and says so to the market.
fn prove(session: &mut Session<'_>, market: &Market, held: &mut Held, view: &View) -> Result<Next, Stop> {
    let Some((seq, fix, explanation, corrected)) = proposal(view) else { return Ok(Next::Wait) };
    if is_applied(session, held, seq)? {
        return accept(session, market, view, "The command works with this fix.", Some(0), String::new());
    }
    super::show_proposal(session, &fix, corrected.as_deref(), &explanation);
    session.screen.step("verifying", json!({}), "Trying it in the sandbox …");
    let time = Duration::from_secs(view.case().contract().execution.timeout.into());
    let mut attempt = session.bench.attempt(&fix, corrected.as_deref(), time)?;
    if session.interrupts.was_pressed() {
        return Err(Stop::Failed(Error::Interrupted.into()));
    }
    super::show_verification(session, &attempt);
    let ran = attempt.check.as_ref().unwrap_or(&attempt.fix).clone();
    let output = cut(session.bench.scrub_output(&ran.line, &ran.output), MAX_OUTPUT);
    let exit = ran.exit.map(i64::from);
    if let Some(why) = unmet(session, view, &attempt)? {
        return reject(session, market, view, &why, exit, output, false);
    }
    apply::show(session, &attempt.changes);
    let corrected = corrected.as_deref().map(|line| apply::Corrected { line, from_outside: true });
    let agreed = apply::ask(session, &attempt.changes, corrected);
    let agreed = match agreed
        .and_then(|agreed| apply::rehearse(session, &mut attempt, &agreed).map(|()| agreed))
    {
        Ok(agreed) => agreed,
        Err(failure) if failure.code == Error::Interrupted.code() => return Err(Stop::Failed(failure)),
        Err(failure) => {
            failure.show(session.context.format());
            let why =
                format!("The command works in the sandbox, but the fix is not applied: {}", failure.message);
            return reject(session, market, view, &why, exit, output, true);
        }
    };
    let said = ran.output.clone();
    let undo = commit(session, held, seq, attempt, &agreed)?;
    super::show_fixed(session, &said, undo.as_deref());
    accept(session, market, view, "The command works with this fix.", exit, output)
}

/// Refusals that are a person's no, where a person was asked: 9502, 9547 and 9548.
fn is_no(session: &Session<'_>, failure: &Failure) -> bool {
    confirm::can_ask() && !session.screen.is_json() && matches!(failure.code, 9502 | 9547 | 9548)
}

/// A fix that is paid. If it was accepted by hand or by silence while nobody watched here, it is not applied
/// yet: that happens now, with the same proof and the same questions (decision E11). The record stays until
/// it has been decided.
fn paid(session: &Session<'_>, held: &mut Held, view: &View) -> Result<Ended, Stop> {
    let Some((seq, fix, explanation, corrected)) = proposal(view) else { return Ok(Ended::AsBefore) };
    if is_applied(session, held, seq)? {
        return Ok(Ended::Fixed);
    }
    let data = json!({ "contract": view.id().to_string() });
    session.screen.step("unapplied", data.clone(), "The fix is accepted, and not applied here yet.");
    super::show_proposal(session, &fix, corrected.as_deref(), &explanation);
    session.screen.step("verifying", json!({}), "Trying it in the sandbox …");
    let time = Duration::from_secs(view.case().contract().execution.timeout.into());
    let mut attempt = session.bench.attempt(&fix, corrected.as_deref(), time)?;
    session.unless_pressed()?;
    super::show_verification(session, &attempt);
    if let Some(why) = unmet(session, view, &attempt)? {
        session.screen.tell(Tone::Bad, "not_applied", data, &format!("Not applied: {why}"));
        return Ok(Ended::AsBefore);
    }
    let output = attempt.check.as_ref().map(|check| check.output.clone()).unwrap_or_default();
    apply::show(session, &attempt.changes);
    let corrected = corrected.as_deref().map(|line| apply::Corrected { line, from_outside: true });
    let agreed = match apply::ask(session, &attempt.changes, corrected) {
        Err(failure) if is_no(session, &failure) => {
            failure.show(session.context.format());
            return Ok(Ended::AsBefore);
        }
        agreed => agreed?,
    };
    apply::rehearse(session, &mut attempt, &agreed)?;
    let undo = commit(session, held, seq, attempt, &agreed)?;
    super::show_fixed(session, &output, undo.as_deref());
    Ok(Ended::Fixed)
}

/// Which of the contract's conditions does not hold (decision E15).
fn unmet(session: &Session<'_>, view: &View, attempt: &Attempt) -> Result<Option<String>, Stop> {
    let Some(check) = &attempt.check else {
        return Ok(Some(format!("The fix itself does not run through: {}.", attempt.fix.how())));
    };
    if let Some(why) = &check.stopped {
        return Ok(Some(format!("The command did not end by itself: {why}.")));
    }
    for condition in &view.case().contract().verification {
        let unmet = match condition {
            Verification::ExitCode { expected } if check.exit != Some(i32::from(*expected)) => {
                Some(format!("The command still fails: {}.", check.how()))
            }
            Verification::OutputMatch { pattern } => {
                let regex = condition.regex().transpose()?;
                let matches = regex.is_some_and(|regex| regex.is_match(&check.stdout));
                (!matches).then(|| format!("The output does not match {pattern}."))
            }
            Verification::Principal => {
                session.screen.block(&check.output, 40);
                match session.ask_always("Is this what you wanted?") {
                    Ok(()) => None,
                    Err(failure) if failure.code == Error::Interrupted.code() => return Err(failure.into()),
                    Err(_) => Some("The principal says that this is not what was wanted.".to_owned()),
                }
            }
            Verification::ExitCode { .. } => None,
        };
        if unmet.is_some() {
            return Ok(unmet);
        }
    }
    Ok(None)
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
    why: &str,
    exit: Option<i64>,
    output: String,
) -> Result<Next, Stop> {
    let id = view.id();
    let runtime = session.runtime;
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
            why = session.bench.scrubber().scrub(&format!("{why} {reason}")).text;
        }
        let to_court = !view.case().contract().is_free()
            && asked(session, "Did the agent act in bad faith? Take it to the court?")?;
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

/// A question whose answer may be no; Ctrl+C breaks the step off.
fn asked(session: &Session<'_>, question: &str) -> Result<bool, Stop> {
    match session.ask_always(question) {
        Ok(()) => Ok(true),
        Err(failure) if failure.code == Error::Interrupted.code() => Err(failure.into()),
        Err(_) => Ok(false),
    }
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
            let text = session.bench.scrubber().scrub(&text).text;
            sent(session.runtime.block_on(market.respond(id, &text)))?;
            Ok(Next::Again)
        }
        CourtStep::Appealable { .. } if !proceedings.waived.contains(&Side::Principal) => {
            let lost = proceedings.last.filter(|(outcome, _)| outcome.is_lost_by(Side::Principal));
            let Some((_, next)) = lost.and_then(|(outcome, court)| Some((outcome, court.next()?))) else {
                return Ok(Next::Wait);
            };
            let fee = next.fee(&view.case().terms().fees).xno();
            if asked(session, &format!("Appeal to the {next} court? Losing there costs {fee} XNO."))? {
                let text = session.prompt("Your argument:")?;
                let text = session.bench.scrubber().scrub(&text).text;
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

/// Leaves this side's 0x01 FEEDBACK and logs all envelopes (decision G1). The contract itself has ended well
/// or not without it, so a failure here is told and no more.
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
