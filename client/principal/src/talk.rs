//! The agent's questions, answered while it works: a prompt that gives way when the work goes on.

use crate::event::{Event, Prompt};
use crate::session::POLL;
use crate::{Error, Result, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zx1_market::wire::MessageKind;
use zx1_market_client::{Market, View};

impl Session<'_> {
    /// Asks for an answer to the agent's question, once, and sends it. True when something was sent.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; what client and market refuse.
    pub(crate) fn reply(&mut self, market: &Market, view: &View) -> Result<bool> {
        let question = view.open_question().filter(|(seq, _)| self.asked.is_none_or(|asked| asked < *seq));
        let Some((seq, _)) = question else { return Ok(false) };
        self.asked = Some(seq);
        let id = view.id();
        let Some(text) = self.prompt_until_moved_on(market, view, Prompt::Reply(id))? else {
            self.front.event(Event::Unanswered(id));
            return Ok(false);
        };
        if text.is_empty() {
            return Ok(false);
        }
        let scrubbed = self.folder.scrubber().scrub(&text).text;
        let sent = self.runtime.block_on(market.chat(id, MessageKind::Answer, &scrubbed));
        if let Err(error) = sent {
            // The contract may just have moved on to where nobody talks.
            if !matches!(error.status(), Some(409 | 410)) {
                return Err(error.into());
            }
            self.front.event(Event::Unsent(&error));
            return Ok(false);
        }
        self.front.event(Event::Said(&scrubbed));
        Ok(true)
    }

    /// A line of text, unless the contract moves on before it is typed.
    fn prompt_until_moved_on(&self, market: &Market, view: &View, prompt: Prompt) -> Result<Option<String>> {
        let enough = Arc::new(AtomicBool::new(false));
        let (sender, mut line) = tokio::sync::oneshot::channel();
        let (front, stop) = (self.front.clone(), enough.clone());
        std::thread::spawn(move || sender.send(front.prompt_until(&prompt, &stop)));
        self.runtime.block_on(async {
            let moved = moved_on(market, view);
            tokio::pin!(moved);
            tokio::select! {
                answer = &mut line => return Ok(answer.ok().flatten()),
                () = &mut moved => {}
                () = self.interrupts.pressed() => {
                    enough.store(true, Ordering::SeqCst);
                    // The thread lets go of standard input before anything else is asked.
                    let _ = line.await;
                    return Err(Error::Interrupted);
                }
            }
            enough.store(true, Ordering::SeqCst);
            // What was typed to its end at the same moment is not lost.
            Ok(line.await.ok().flatten())
        })
    }
}

/// Ends when somebody does more than talk: until then a question still stands.
async fn moved_on(market: &Market, view: &View) {
    let mut latest = view.clone();
    let before = view.entries().len();
    loop {
        tokio::time::sleep(POLL).await;
        if let Ok(Some(newer)) = market.refresh(&latest).await {
            latest = newer;
        }
        if latest.entries().iter().skip(before).any(|entry| !entry.kind().is_talk()) {
            return;
        }
    }
}
