//! Asking before money moves. The question stands on standard error, the answer comes from standard input.

use crate::errors::{Error, Result};
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
/// 7401 when nobody can be asked, 7402 when the answer is no.
pub fn ask(question: &str) -> Result<()> {
    if !can_ask() {
        return Err(Error::NeedsYes.into());
    }
    let answer = read_line(&format!("{question} [y/N] "))?;
    let yes = matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes");
    if yes { Ok(()) } else { Err(Error::Declined.into()) }
}

/// Asks for a word to be typed exactly; `--yes` never answers it.
///
/// # Errors
/// 7409 without a terminal, 7402 when something else is typed.
pub fn type_exactly(question: &str, expected: &str) -> Result<()> {
    if !can_ask() {
        return Err(Error::NeedsTerminal { what: format!("'{expected}'") }.into());
    }
    if read_line(&format!("{question} "))? == expected { Ok(()) } else { Err(Error::Declined.into()) }
}

fn read_line(prompt: &str) -> Result<String> {
    output::write_err(prompt);
    let mut line = String::new();
    ASKING.store(true, Ordering::SeqCst);
    let read = io::stdin().lock().read_line(&mut line);
    ASKING.store(false, Ordering::SeqCst);
    if !matches!(read, Ok(size) if size > 0) {
        // The end of input leaves the cursor behind the question.
        let _ = writeln!(io::stderr());
    }
    Ok(line.trim().to_owned())
}
