//! What is shown while something takes its time: a line on standard error, and nothing where standard
//! error is not a terminal.

use crate::output::Format;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A spinner or a bar that disappears when it is dropped.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A spinner with a text.
    pub fn spinner(text: impl Into<String>, format: Format) -> Self {
        let bar = ProgressBar::new_spinner().with_message(text.into());
        let style = ProgressStyle::with_template("{spinner} {elapsed:.dim} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self::start(bar, format)
    }

    /// A bar over `total` steps.
    pub fn bar(text: impl Into<String>, total: u64, format: Format) -> Self {
        let bar = ProgressBar::new(total).with_message(text.into());
        let style = ProgressStyle::with_template("{msg} {bar:30} {percent:>3} % {eta:.dim}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self::start(bar, format)
    }

    fn start(bar: ProgressBar, format: Format) -> Self {
        if !std::io::stderr().is_terminal() || format.is_json() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        } else {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self(bar)
    }

    /// Replaces the text that is shown.
    pub fn say(&self, text: impl Into<String>) {
        self.0.set_message(text.into());
    }

    /// Hides it while something else is written or asked.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.suspend(work)
    }

    /// More steps done.
    pub fn advance(&self, steps: u64) {
        self.0.inc(steps);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
