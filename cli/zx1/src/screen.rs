//! What an operation shows and asks while it runs.

use crate::budget::Budget;
use crate::confirm;
use crate::declined::Declined;
use crate::errors::Result;
use crate::output::{self, Format, Page};
use crate::progress::Progress as Spinner;
use crate::summary::{self, Cost, View};
use crate::words::count;
use std::sync::{Arc, Mutex, PoisonError};
use zx1_chain::rpc::{Progress, Summary};
use zx1_log::Torn;
use zx1_operator::{Event, Front};

/// The terminal as an operation sees it.
pub struct Screen {
    format: Format,
    yes: bool,
    view: View,
    spinner: Mutex<Option<Spinner>>,
    declined: Arc<Declined>,
    budget: Arc<Budget>,
}

impl Screen {
    /// Nothing is shown yet.
    pub fn new(format: Format, yes: bool, view: View, declined: Arc<Declined>, budget: Arc<Budget>) -> Self {
        Self { format, yes, view, spinner: Mutex::default(), declined, budget }
    }

    fn say(&self, text: String) {
        let mut spinner = self.spinner.lock().unwrap_or_else(PoisonError::into_inner);
        match spinner.as_ref() {
            Some(spinner) => spinner.say(text),
            None => *spinner = Some(Spinner::spinner(text, self.format)),
        }
    }

    /// Shows the transaction and asks.
    fn consent(&self, summary: &Summary) -> Result<()> {
        let cost = Cost::of(summary);
        self.budget.check(cost)?;
        if !self.yes || !self.format.is_json() {
            let mut page = Page::new(output::width());
            summary::draw(&mut page, summary, &self.view);
            output::write_err(&page.finish());
        }
        if !self.yes {
            confirm::ask("Send it?")?;
        }
        self.budget.add(cost);
        Ok(())
    }
}

impl Front for Screen {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Preparing => self.say("Preparing".to_owned()),
            Event::Transaction(progress) => self.say(in_words(progress)),
            Event::Building(epoch) => self.say(format!("Building the batch of epoch {}", epoch.0)),
            Event::Uploading(bytes) => self.say(format!("Uploading {bytes} bytes")),
            Event::Torn(torn) => warn_torn(torn),
            _ => *self.spinner.lock().unwrap_or_else(PoisonError::into_inner) = None,
        }
    }

    fn approve(&self, summary: &Summary) -> bool {
        let spinner = self.spinner.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match spinner.as_ref() {
            Some(spinner) => spinner.suspend(|| self.consent(summary)),
            None => self.consent(summary),
        };
        answer.map_err(|failure| self.declined.keep(failure)).is_ok()
    }
}

/// Says what a crash had left behind in a log.
pub fn warn_torn(torn: &Torn) {
    output::warn(&format!(
        "{}: removed {} at offset {} that a crash left unfinished; none of it had been acknowledged.",
        torn.file.display(),
        count(torn.bytes, "byte", "bytes"),
        torn.offset
    ));
}

fn in_words(progress: &Progress) -> String {
    match progress {
        Progress::Resumed(signature) => format!("Following {signature} of an earlier run"),
        Progress::Prepared(title) => title.clone(),
        Progress::Sent(signature) => format!("Waiting for {signature}"),
        Progress::SentAgain(signature) => format!("Sent again, waiting for {signature}"),
        Progress::StepDone(title) => format!("{title}: done, next step"),
        Progress::Raced(_) => "Overtaken by another transaction, rebuilding".to_owned(),
    }
}
