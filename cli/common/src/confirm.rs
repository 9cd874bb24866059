//! Asking before money moves. The question stands on standard error, the answer comes from standard input.

use crate::errors::Fault;
use crate::output;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody is being asked right now: then nothing is under way, and Ctrl+C ends the process at once.
static ASKING: AtomicBool = AtomicBool::new(false);

/// Whether somebody is being asked right now.
pub fn is_asking() -> bool {
    ASKING.load(Ordering::SeqCst)
}

/// Whether there is somebody to ask.
pub fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks `question`; anything but y or yes is no.
///
/// # Errors
/// [`Fault::NeedsYes`] when nobody can be asked, [`Fault::Declined`] when the answer is no.
pub fn ask(question: &str) -> Result<(), Fault> {
    if !can_ask() {
        return Err(Fault::NeedsYes);
    }
    let answer = read_line(&format!("{question} [y/N] "));
    let yes = matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes");
    if yes { Ok(()) } else { Err(Fault::Declined) }
}

/// Asks for a word to be typed exactly; `--yes` never answers it.
///
/// # Errors
/// [`Fault::NeedsTerminal`] without a terminal, [`Fault::Declined`] when something else is typed.
pub fn type_exactly(question: &str, expected: &str) -> Result<(), Fault> {
    if !can_ask() {
        return Err(Fault::NeedsTerminal { what: format!("'{expected}'") });
    }
    if read_line(&format!("{question} ")) == expected { Ok(()) } else { Err(Fault::Declined) }
}

/// Asks for a line; empty at the end of input.
pub fn read_line(prompt: &str) -> String {
    output::write_err(prompt);
    let mut line = String::new();
    ASKING.store(true, Ordering::SeqCst);
    let read = io::stdin().lock().read_line(&mut line);
    ASKING.store(false, Ordering::SeqCst);
    if !matches!(read, Ok(size) if size > 0) {
        // The end of input leaves the cursor behind the question.
        let _ = writeln!(io::stderr());
    }
    line.trim().to_owned()
}
