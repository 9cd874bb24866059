//! What the agent asks while it works, answered from here: a prompt that gives way when the work goes on.

use super::{POLL, Session};
use crate::errors::{Error, Result};
use crate::screen::Tone;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use serde_json::json;
use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zx1_market::chain::Data;
use zx1_market::wire::MessageKind;
use zx1_market::{Entry, EntryType};
use zx1_market_client::{Market, View};
use zx1_scrub::neutral::neutral;

/// How often the prompt looks whether it is still wanted: 200 ms.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// The agent's last question, if nobody has answered it: its entry's number and its words.
pub fn question(view: &View) -> Option<(u64, String)> {
    let agent = view.case().agent()?;
    let last = view.entries().iter().rev().find(|entry| match entry.kind() {
        EntryType::Ask => entry.author() == agent,
        EntryType::Answer => true,
        _ => false,
    })?;
    match last.read().ok()?.0 {
        Data::Ask { message } => Some((last.seq(), message)),
        _ => None,
    }
}

/// Whether an entry is only words: then a question still stands.
fn is_talk(entry: &Entry) -> bool {
    entry.kind().is_talk()
}

/// Asks for an answer to the agent's question, once, and sends it. True when something was sent.
///
/// # Errors
/// 9503 for Ctrl+C; what client and market refuse.
pub fn answer(session: &mut Session<'_>, market: &Market, view: &View) -> Result<bool> {
    let Some((seq, _)) = question(view).filter(|(seq, _)| session.asked.is_none_or(|asked| asked < *seq))
    else {
        return Ok(false);
    };
    session.asked = Some(seq);
    let id = view.id();
    let hint = format!("Your answer (Enter: none; fix chat {id} answers later):");
    let Some(text) = prompt(session, market, view, &hint)? else {
        let text = format!("The agent goes on without an answer. To say it still: fix chat {id}");
        session.screen.step("unanswered", json!({ "contract": id.to_string() }), &text);
        return Ok(false);
    };
    if text.is_empty() {
        return Ok(false);
    }
    let scrubbed = session.folder.scrubber().scrub(&text).text;
    let sent = session.runtime.block_on(market.chat(id, MessageKind::Answer, &scrubbed));
    if let Err(error) = sent {
        // The contract may just have moved on to where nobody talks.
        if !matches!(error.status(), Some(409 | 410)) {
            return Err(error.into());
        }
        session.screen.tell(Tone::Warn, "unsent", json!({ "why": error.to_string() }), &error.to_string());
        return Ok(false);
    }
    let shown = neutral(&scrubbed, None).text;
    session.screen.step("said", json!({ "message": shown }), &format!("You answer: {shown}"));
    Ok(true)
}

/// A line from the terminal, unless the contract moves on before it is typed.
fn prompt(session: &Session<'_>, market: &Market, view: &View, question: &str) -> Result<Option<String>> {
    let enough = Arc::new(AtomicBool::new(false));
    let (sender, mut line) = tokio::sync::oneshot::channel();
    let (question, stop) = (format!("{question} "), enough.clone());
    std::thread::spawn(move || sender.send(read_line(&question, &stop)));
    session.runtime.block_on(async {
        let moved = moved_on(market, view);
        tokio::pin!(moved);
        tokio::select! {
            answer = &mut line => return Ok(answer.ok().flatten()),
            () = &mut moved => {}
            () = session.interrupts.pressed() => {
                enough.store(true, Ordering::SeqCst);
                // The thread lets go of standard input before anything else is asked.
                let _ = line.await;
                return Err(Error::Interrupted.into());
            }
        }
        enough.store(true, Ordering::SeqCst);
        // What was typed to its end at the same moment is not lost.
        Ok(line.await.ok().flatten())
    })
}

/// Ends when somebody does more than talk.
async fn moved_on(market: &Market, view: &View) {
    let mut latest = view.clone();
    let before = view.entries().len();
    loop {
        tokio::time::sleep(POLL).await;
        if let Ok(Some(newer)) = market.refresh(&latest).await {
            latest = newer;
        }
        if latest.entries().iter().skip(before).any(|entry| !is_talk(entry)) {
            return;
        }
    }
}

/// Reads a line, looking for the end of the wait now and then. What was half typed is thrown away then: it
/// must never become the answer to another question.
fn read_line(question: &str, enough: &AtomicBool) -> Option<String> {
    zx1_cli_common::output::write_err(question);
    let stdin = std::io::stdin();
    loop {
        let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut keys, Some(&LOOK)) {
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
            zx1_cli_common::output::write_err("\n");
            return None;
        }
    }
}
