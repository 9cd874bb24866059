//! A session as people see it on a terminal, or programs as JSON.

use crate::ask::{self, budget};
use crate::context::Context;
use crate::errors::Failure;
use crate::screen::{Screen, Tone};
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use serde_json::{Value, json};
use std::io::BufRead as _;
use std::sync::atomic::{AtomicBool, Ordering};
use zx1_cli_common::output::{self, Format, wrap, write_err};
use zx1_cli_common::words::{count, moment, short};
use zx1_cli_common::{Fault, confirm, files};
use zx1_market::chain::Data;
use zx1_market::contract::{self, Control, FailedStep, Verdict};
use zx1_market::counts::FixCounts;
use zx1_market::{Entry, Raw, State};
use zx1_market_client::{Bill, Deposit};
use zx1_principal::{Answer, Event, Front, Outcome, Prompt, Proposal, Question, Stopped, Way};
use zx1_sandbox::ChangeSet;
use zx1_scrub::neutral::{neutral, one_line};
use zx1_trial::{Originals, Rerun, Trial};

/// Interval at which a prompt checks whether it is still wanted: 200 ms.
const CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// Maximum number of characters of a stranger's text on one line.
const LINE: usize = 300;

/// What a market has counted of a party's fixes.
pub fn outside(fixes: FixCounts) -> String {
    match fixes.fixes {
        0 => "no fix so far".to_owned(),
        all => {
            format!("{} of {} failed outside the sandbox", fixes.failed_outside, count(all, "fix", "fixes"))
        }
    }
}

/// The terminal that fix was started in.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    screen: Screen,
    format: Format,
    yes: bool,
}

impl Front for Terminal {
    fn event(&self, event: Event<'_>) {
        let screen = self.screen;
        match event {
            Event::Rehearsing { line } => {
                let text = format!("Running {line} again in the sandbox, to see what it says …");
                screen.step("rehearsing", json!({ "command": line }), &text);
            }
            Event::Trying { way, to, bounty } => self.trying(way, to, bounty),
            Event::NotHere { way, error } => {
                let failure = Failure::from(error);
                let data = json!({ "way": way.as_str(), "code": failure.code, "message": failure.message });
                screen.tell(Tone::Warn, "not_here", data, &failure.message);
            }
            Event::NoMarket { url, has_model } => {
                let set_up = if has_model { "" } else { " Set up a language model of yours: fix init." };
                let text = format!(
                    "Nothing else to ask: no market is set up, and none answers at {url}.{set_up} \
                     Or name a market: --server URL."
                );
                screen.step("no_market", json!({ "server": url, "has_model": has_model }), &text);
            }
            Event::Offer { payload, agent_id, server, deposit } => {
                let money = match (payload.bounty, deposit) {
                    (Some(bounty), Some((deposit, fee))) => format!(
                        "you deposit {} XNO: the bounty of {}, and {} that come back unless you lose a dispute",
                        deposit.xno(),
                        bounty.xno(),
                        fee.xno()
                    ),
                    (Some(bounty), None) => format!("bounty {} XNO", bounty.xno()),
                    _ => "free; you alone decide whether it worked".to_owned(),
                };
                ask::payload(
                    screen,
                    "This is all that leaves your machine",
                    payload,
                    &[
                        agent_id.map(|agent| format!("agent id  {agent}")),
                        Some(format!("to        {server}")),
                        Some(format!("money     {money}")),
                    ],
                );
            }
            Event::ForModel { payload, own, today } => {
                let later = "later     what it asks to read here: read-only commands, secrets removed";
                ask::payload(
                    screen,
                    "This is what your model is sent",
                    payload,
                    &[
                        Some(later.to_owned()),
                        Some(format!("to        {} at {}", own.name(), own.url())),
                        Some(format!("budget    {}", budget(today, own.per_day()))),
                    ],
                );
            }
            Event::DryRun { sent: Some((payload, to)) } => {
                let data = json!({ "command": payload.command, "error": payload.error, "server": to });
                screen.step("dry_run", data, "Nothing was sent: this was a dry run.");
            }
            Event::DryRun { sent: None } => {
                screen.step("dry_run", json!({}), "Nothing was changed: this was a dry run.");
            }
            Event::ModelSays { text } => {
                let shown = neutral(text, None).text;
                screen.step("model_says", json!({ "message": shown }), &format!("Your model says: {shown}"));
            }
            Event::Posted(id) => {
                let id = id.to_string();
                screen.step("posted", json!({ "contract": id }), &format!("Contract {id} is posted."));
            }
            Event::Funded(amount) => {
                let amount = amount.xno();
                let text = format!("The deposit of {amount} XNO is made by this market's demo ledger.");
                screen.good("funded", json!({ "amount": amount }), &text);
            }
            Event::Short { balance, amount } => {
                let balance = balance.xno();
                let text = format!("Your wallet has {balance} XNO; the deposit is {} XNO.", amount.xno());
                screen.tell(Tone::Warn, "short", json!({ "balance": balance }), &text);
            }
            Event::Paying(deposit) => {
                let text = format!("Paying the deposit of {} XNO from your wallet …", deposit.amount.xno());
                screen.step("paying", wanted(deposit), &text);
            }
            Event::Deposit(deposit) => {
                let text = format!("Please pay {} XNO to {}", deposit.amount.xno(), deposit.address);
                screen.step("deposit", wanted(deposit), &text);
                screen.raw(&format!("\n{}\n\n  {}\n\n", qr(&deposit.uri), deposit.uri));
                let until = moment(i64::try_from(deposit.expires_at.as_secs()).unwrap_or(i64::MAX));
                let text = format!("Waiting for the payment until {until}. Ctrl+C cancels the contract …");
                screen.step("waiting_for_deposit", json!({ "until": deposit.expires_at.as_secs() }), &text);
            }
            Event::Entry { entry, ours } => self.entry(entry, ours),
            Event::Agent { agent, fixes } => {
                let agent = agent.to_string();
                let text = format!("Agent {}: {}.", short(&agent), outside(fixes));
                screen.step("agent", json!({ "agent": agent, "fixes": fixes }), &text);
            }
            Event::Unreachable => {
                let text = "The market does not answer; trying again until it does. Nothing is lost.";
                screen.tell(Tone::Warn, "unreachable", json!({}), text);
            }
            Event::Halted(id) => {
                screen.step("halted", json!({ "contract": id.to_string() }), "The contract is halted.");
            }
            Event::Answered { command, answer } => {
                let data = json!({ "command": command, "output": answer.text, "refused": answer.refused });
                let (tone, text) = match answer.refused {
                    true => (Tone::Warn, format!("refused: {command}")),
                    false => {
                        let lines = count(answer.text.lines().count(), "line", "lines");
                        (Tone::Step, format!("answered: {lines}"))
                    }
                };
                screen.tell(tone, "answered", data, &text);
                self.explain(&answer.text);
            }
            Event::Investigated { command, answer } => {
                let data = json!({ "command": command, "output": answer.text, "refused": answer.refused });
                screen.step("investigates", data, &format!("Looking at: {command}"));
                self.explain(&answer.text);
            }
            Event::Rule { name, title, confidence } => {
                let data = json!({ "rule": name, "title": title, "confidence": confidence });
                screen.step("rule", data, &format!("Known problem: {title} ({name})."));
            }
            Event::Proposed { proposal, line } => self.proposal(proposal, line),
            Event::Verifying => screen.step("verifying", json!({}), "Trying it in the sandbox …"),
            Event::Verified { trial, failure, passed, judged_by_user } => {
                self.verified(trial, failure, passed, judged_by_user);
            }
            Event::Unproven { line, lack } => {
                let data = json!({ "command": line, "lacks": lack.as_str() });
                let text = format!(
                    "Nothing proves {line}: the sandbox is without {lack}. It would run outside of it, and what it does \
                     there cannot be taken back."
                );
                screen.tell(Tone::Warn, "unproven", data, &text);
            }
            Event::Changes(changes) => self.changes(changes),
            Event::Applied { output, undo, folder } => {
                screen.block(output, 20);
                let text = match undo {
                    Some(_) => "Fixed. Undo with: fix undo",
                    None => "Fixed. No file was changed.",
                };
                screen.good("applied", json!({ "undo": undo, "folder": files::shown(folder) }), text);
            }
            Event::NotApplied(error) => Failure::from(error).show(self.format),
            Event::Unapplied(id) => {
                let text = "The fix is accepted, and not applied here yet.";
                screen.step("unapplied", json!({ "contract": id.to_string() }), text);
            }
            Event::Unmet { contract, failure } => {
                let data = json!({ "contract": contract.to_string() });
                screen.tell(Tone::Bad, "not_applied", data, &format!("Not applied: {failure}"));
            }
            Event::NotReproduced { outside, inside } => {
                let inside = match inside {
                    Control::Holds(_) => "it works there each time".to_owned(),
                    other => format!("its outcome there is {}", other.runs().outcome),
                };
                let text = format!(
                    "The failure (exit code {outside}) cannot be reproduced in the sandbox: {inside}. No machine can \
                     prove a fix, so you would be asked whether one is what you wanted. What your command needs may be \
                     hidden there: name it with --see PATH or --env NAME."
                );
                screen.tell(Tone::Warn, "not_reproduced", json!({ "exit_code": outside }), &text);
            }
            Event::RunningForReal { line } => {
                screen.step("running", json!({ "command": line }), &format!("Applied. Running {line} …"));
            }
            Event::WouldSend { output } => {
                screen.heading("The agent would be sent");
                screen.block(output, usize::MAX);
            }
            Event::TakenBack { failure, left } => {
                let left: Vec<_> = left.iter().map(|path| files::shown(path)).collect();
                let mut text = format!("Taken back: {failure}");
                if !left.is_empty() {
                    text = format!("{text} Left as they are: {}.", left.join(", "));
                }
                let data = json!({ "outcome": failure.outcome.as_str(), "left": left });
                screen.tell(Tone::Bad, "taken_back", data, &text);
            }
            Event::Rejected(why) => {
                screen.tell(Tone::Bad, "rejected", json!({ "why": why }), &format!("Rejected: {why}"));
            }
            Event::Said(text) => {
                let shown = neutral(text, None).text;
                screen.step("said", json!({ "message": shown }), &format!("You answer: {shown}"));
            }
            Event::Unanswered(id) => {
                let text = format!("The agent goes on without an answer. To say it still: fix chat {id}");
                screen.step("unanswered", json!({ "contract": id.to_string() }), &text);
            }
            Event::Unsent(error) => {
                let why = error.to_string();
                screen.tell(Tone::Warn, "unsent", json!({ "why": why }), &why);
            }
            Event::Stopped(stopped) => {
                let text = match stopped {
                    Stopped::Canceled(_) => "The contract is canceled; a deposit comes back.",
                    Stopped::Halted { free: true, .. } => "The contract is halted. Nothing was applied.",
                    Stopped::Halted { .. } => {
                        "The contract is halted. After 30 s a judge decides, unless you resume it."
                    }
                    Stopped::Ended(_) => "Nothing was changed.",
                    Stopped::GoesOn(_) => "Nothing was changed; the contract goes on without you.",
                };
                let data = json!({ "contract": stopped.contract().to_string() });
                screen.tell(Tone::Warn, "stopped", data, text);
            }
            Event::Ended(outcome) => self.ended(&outcome),
            Event::FeedbackFailed { contract, error } => {
                let (contract, code) = (contract.to_string(), error.code());
                let text =
                    format!("error {code}: {error} To leave the feedback later: fix resume {contract}");
                let data = json!({ "contract": contract, "code": code, "error": error.to_string() });
                screen.tell(Tone::Warn, "feedback", data, &text);
            }
            _ => {}
        }
    }

    fn is_attended(&self) -> bool {
        confirm::can_ask() && !self.screen.is_json()
    }

    fn consents(&self) -> bool {
        self.yes
    }

    fn ask(&self, question: &Question) -> Answer {
        if self.screen.is_json() && question.takes_consent() {
            return Answer::Nobody;
        }
        let text = ask::question(question, self.yes);
        let answered = match question {
            Question::SendNotFound => confirm::type_exactly(&text, ask::SEND),
            _ => confirm::ask(&text),
        };
        match answered {
            Ok(()) => Answer::Yes,
            Err(Fault::NeedsYes | Fault::NeedsTerminal { .. }) => Answer::Nobody,
            Err(_) => Answer::No,
        }
    }

    fn prompt(&self, prompt: &Prompt) -> String {
        confirm::read_line(&ask::words_of(prompt))
    }

    fn prompt_until(&self, prompt: &Prompt, enough: &AtomicBool) -> Option<String> {
        write_err(&ask::words_of(prompt));
        let stdin = std::io::stdin();
        loop {
            let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut keys, Some(&CHECK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => {
                    let mut line = String::new();
                    return match stdin.lock().read_line(&mut line) {
                        Ok(size) if size > 0 => Some(line.trim().to_owned()),
                        _ => None,
                    };
                }
                Err(_) => return None,
            }
            if enough.load(Ordering::SeqCst) {
                let _ = tcflush(&stdin, QueueSelector::IFlush);
                write_err("\n");
                return None;
            }
        }
    }

    fn left(&self) {
        write_err("\n");
    }
}

impl Terminal {
    /// The terminal with this run's options; `explain` shows everything on it.
    pub fn new(context: &Context, explain: bool) -> Self {
        Self { screen: context.screen(explain), format: context.format(), yes: context.yes() }
    }

    fn explain(&self, text: &str) {
        if self.screen.explains() {
            self.screen.block(text, usize::MAX);
        }
    }

    /// One line before a place is asked that is not this machine.
    fn trying(&self, way: Way, to: Option<&str>, bounty: Option<Raw>) {
        let data = json!({ "way": way.as_str(), "to": to, "bounty": bounty.map(|bounty| bounty.xno()) });
        let to = to.unwrap_or_default();
        let text = match (way, bounty) {
            // What rules do is reported when they know something.
            (Way::Rules, _) if !self.screen.is_json() => return,
            (Way::Rules, _) => String::new(),
            (Way::Model, _) => format!("Asking your model {to} …"),
            (Way::Market, None) => format!("Asking the market at {to}: it costs nothing."),
            (Way::Market, Some(bounty)) => {
                format!("Asking the market at {to}: {} XNO for a fix that works.", bounty.xno())
            }
        };
        self.screen.step("trying", data, &text);
    }

    /// One entry of the transcript. What this program does itself is reported where it does it.
    fn entry(&self, entry: &Entry, ours: bool) {
        let Ok((data, _)) = entry.read() else { return };
        let who = short(&entry.author().to_string());
        let line = |text: &str| one_line(text, LINE);
        let (tone, text) = match &data {
            Data::Opened { .. } => (Tone::Step, "Waiting for an agent …".to_owned()),
            Data::Bond { .. } => (Tone::Step, format!("Agent {who} takes a look.")),
            Data::Accept { .. } => (Tone::Step, format!("Agent {who} takes the contract.")),
            Data::Decline { reason } => {
                (Tone::Warn, format!("The agent declines: {} Waiting for another one …", line(reason)))
            }
            Data::Investigate { command } => (Tone::Step, format!("The agent reads: {}", line(command))),
            Data::Fix { .. } => (Tone::Step, "The agent proposes a fix.".to_owned()),
            Data::Chat { message } | Data::Message { message } | Data::Answer { message } if !ours => {
                (Tone::Step, format!("The agent says: {}", line(message)))
            }
            Data::Ask { message } if !ours => (Tone::Step, format!("The agent asks: {}", line(message))),
            Data::DisputeFiled { argument, .. } => {
                (Tone::Warn, format!("A dispute is filed: {}", line(argument)))
            }
            Data::DisputeResponse { argument, .. } => {
                (Tone::Step, format!("The answer to it: {}", line(argument)))
            }
            Data::Appeal { argument, .. } => (Tone::Warn, format!("An appeal is filed: {}", line(argument))),
            Data::Reexecution(found) => {
                let verdict = found.trial.as_ref().map(|trial| trial.result.verdict);
                let text = match (found.ran, found.success) {
                    (true, _) if verdict == Some(Verdict::PassedWith) => {
                        "The judge ran it again: it passes with changes that the contract does not grant."
                    }
                    (true, Some(true)) => "The judge ran it again: the fix works.",
                    (true, _) => "The judge ran it again: the fix does not work.",
                    (false, _) => "The judge could not run it again.",
                };
                (Tone::Step, text.to_owned())
            }
            Data::Ruling(ruling) => {
                let reasoning = line(&ruling.reasoning);
                (Tone::Warn, format!("The {} court rules {}: {reasoning}", ruling.court, ruling.outcome))
            }
            Data::BackOut { reason } => {
                (Tone::Warn, format!("A party leaves the contract: {}", line(reason)))
            }
            Data::AutoDecline { .. } => (Tone::Warn, "The agent took too long to decide.".to_owned()),
            Data::AttemptTimeout { .. } => (Tone::Warn, "The agent took too long for a fix.".to_owned()),
            Data::AutoFulfill { .. } => {
                (Tone::Step, "The review's time is over: the fix is accepted.".to_owned())
            }
            Data::Voided { reason } => (Tone::Warn, format!("The contract is void: {}", line(reason))),
            Data::Reopened { .. } => {
                (Tone::Step, "The contract is open again. Waiting for an agent …".to_owned())
            }
            _ => return,
        };
        let author = entry.author().to_string();
        let data = json!({ "seq": entry.seq(), "entry": entry.kind().as_str(), "author": author });
        self.screen.tell(tone, "entry", data, &text);
    }

    fn proposal(&self, proposal: &Proposal, line: &str) {
        let screen = self.screen;
        let Proposal { fix, corrected_command: corrected, explanation } = proposal;
        if screen.is_json() {
            let data = json!({ "fix": fix, "corrected_command": corrected, "explanation": explanation });
            return screen.step("proposal", data, "");
        }
        screen.heading("The proposal");
        screen.prose(explanation, 12);
        if fix != "true" {
            screen.heading("It runs");
            screen.block(fix, 40);
        }
        if let Some(corrected) = corrected {
            screen.heading("It corrects your command");
            screen.block(&format!("- {line}\n+ {corrected}"), 40);
        }
        screen.raw("\n");
    }

    fn verified(
        &self,
        trial: &Trial,
        failure: Option<&contract::Failure>,
        passed: bool,
        judged_by_user: bool,
    ) {
        let ran = trial.last();
        let exit = ran.run.status();
        let (data, text) = match (trial.checks.last(), failure) {
            (_, Some(failure))
                if matches!(failure.step, FailedStep::Control | FailedStep::Apply)
                    && trial.fix.run.limit.is_none() =>
            {
                (
                    json!({ "passed": passed, "step": failure.step.as_str(), "class": failure.class.as_str() }),
                    failure.to_string(),
                )
            }
            (None, _) => (
                json!({ "passed": passed, "step": "fix", "exit_code": exit }),
                format!("The fix itself fails in the sandbox: {}.", ran.run),
            ),
            (Some(check), _) => (
                json!({ "passed": passed, "step": "command", "command": check.line, "exit_code": exit }),
                format!("In the sandbox, {}: {}.", check.line, check.run),
            ),
        };
        self.screen.tell(if passed { Tone::Good } else { Tone::Bad }, "verified", data, &text);
        if judged_by_user {
            self.screen.block(&ran.output(), 40);
        } else if !passed || self.screen.explains() {
            self.screen.block(&ran.output(), 12);
        }
        if let Some(originals) = &trial.originals {
            self.originals(originals);
        }
    }

    /// What the command says of a fix that changes what checks it, by the originals. The names are the fix's own, so
    /// each has a line to itself.
    fn originals(&self, originals: &Originals) {
        let paths: Vec<_> = originals.paths.iter().map(|path| files::shown(path)).collect();
        let (tone, passes) = match originals.end {
            Rerun::Passes => (Tone::Step, Some(true)),
            Rerun::Fails(_) => (Tone::Bad, Some(false)),
            Rerun::NotRun(_) => (Tone::Warn, None),
        };
        let text = format!("The fix changes what checks it; {originals}.");
        let data = json!({
            "changed": originals.what(), "passes": passes, "paths": paths, "says": originals.to_string(),
        });
        self.screen.tell(tone, "originals", data, &text);
        if passes.is_some() {
            let lines: String = originals.paths.iter().map(|path| ask::line_of(path)).collect();
            self.screen.block(&format!("put back, because it needs a consent:\n{lines}"), 12);
        }
    }

    /// First every changed name, what needs a consent of its own at the top; then the diffs, whole: a question follows.
    fn changes(&self, changes: &ChangeSet) {
        let screen = self.screen;
        screen.heading("What changes");
        if changes.is_empty() {
            screen.block("no file", usize::MAX);
        } else {
            // A name stays in one piece; what stands above names is wrapped.
            let width = output::width().saturating_sub(2);
            let wrapped = |line: &str| match line.as_bytes().get(1) {
                Some(b' ') => line.to_owned(),
                _ => wrap(line, width).join("\n"),
            };
            screen.block(&changes.names().lines().map(wrapped).collect::<Vec<_>>().join("\n"), usize::MAX);
            let diffs = changes.diffs();
            if !diffs.is_empty() {
                screen.heading("How");
                screen.block(&diffs, usize::MAX);
            }
        }
        screen.raw("\n");
        if screen.is_json() {
            screen.step("changes", as_json(changes), "");
        }
    }

    /// What it cost, and where everything is.
    fn ended(&self, outcome: &Outcome) {
        let (id, state, bill) = (outcome.contract, outcome.state, &outcome.bill);
        let cost = sentence_of(bill);
        let text = match state {
            State::Fulfilled => format!("Contract {id} is fulfilled. {cost}"),
            state if outcome.taken => format!("Contract {id} ended without a fix: it is {state}. {cost}"),
            state => format!("No agent took contract {id}: it is {state}. {cost}"),
        };
        let fixed = outcome.applied.is_some();
        let path = outcome.transcript.as_deref().map(files::shown).unwrap_or_default();
        let data = json!({
            "contract": id.to_string(),
            "state": state.as_str(),
            "fixed": fixed,
            "cost": bill.cost().xno(),
            "deposited": bill.deposited.xno(),
            "back": bill.back.xno(),
            "to_agent": bill.agent.xno(),
            "to_platform": bill.platform.xno(),
            "to_charity": bill.charity.xno(),
            "transcript": path,
            "undo": outcome.applied.clone().flatten(),
        });
        self.screen.tell(if fixed { Tone::Good } else { Tone::Bad }, "ended", data, &text);
        if !outcome.taken && !outcome.takes_corrected_commands {
            let text = "The contract said that no corrected command is taken, because nobody is here to agree \
                        to one: agents that know nothing else left it. Run it in a terminal, or add \
                        --accept-corrected.";
            self.screen.tell(Tone::Warn, "hint", json!({ "option": "--accept-corrected" }), text);
        }
        if !path.is_empty() {
            self.screen.raw(&format!("     transcript  {path}\n     check it    fix verify {id}\n"));
        }
    }
}

fn wanted(deposit: &Deposit) -> Value {
    let address = deposit.address.to_string();
    json!({ "address": address, "amount": deposit.amount.xno(), "uri": deposit.uri })
}

/// The changes for programs.
fn as_json(changes: &ChangeSet) -> Value {
    let entry = |entry: &zx1_sandbox::Entry| {
        json!({
            "path": files::shown(&entry.path),
            "kind": format!("{:?}", entry.kind),
            "classes": entry.classes.iter().map(|class| format!("{class:?}")).collect::<Vec<_>>(),
            "diff": entry.diff,
        })
    };
    json!({ "changes": changes.entries.iter().map(entry).collect::<Vec<_>>(), "digest": changes.digest })
}

fn sentence_of(bill: &Bill) -> String {
    if bill.deposited == Raw::ZERO {
        return "It cost nothing.".to_owned();
    }
    let payees = [(bill.agent, "the agent"), (bill.platform, "the platform"), (bill.charity, "charity")];
    let paid = payees.iter().filter(|(amount, _)| *amount > Raw::ZERO);
    let paid: Vec<_> = paid.map(|(amount, who)| format!("{} to {who}", amount.xno())).collect();
    let paid = if paid.is_empty() { String::new() } else { format!(" ({})", paid.join(", ")) };
    let [cost, back, deposited] = [bill.cost(), bill.back, bill.deposited].map(|amount| amount.xno());
    format!("It cost {cost} XNO{paid}; {back} XNO of your {deposited} come back.")
}

/// A QR code for a terminal with light letters on a dark ground.
fn qr(text: &str) -> String {
    let Ok(code) = QrCode::new(text) else { return String::new() };
    code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_says_where_the_money_went() {
        let xno = |text: &str| Raw::from_xno(text).unwrap();
        let bill = Bill {
            deposited: xno("0.67"),
            back: xno("0.17"),
            agent: xno("0.45"),
            platform: xno("0.05"),
            charity: Raw::ZERO,
        };
        let said =
            "It cost 0.5 XNO (0.45 to the agent, 0.05 to the platform); 0.17 XNO of your 0.67 come back.";
        assert_eq!(sentence_of(&bill), said);
        assert_eq!(sentence_of(&Bill::default()), "It cost nothing.");
    }

    #[test]
    fn a_qr_code_fits_a_terminal_of_80_columns() {
        let code = qr(&format!("nano:nano_{}?amount={}", "1".repeat(60), "9".repeat(39)));
        assert!(code.lines().count() > 10 && code.lines().all(|line| line.chars().count() <= 78), "{code}");
    }
}
