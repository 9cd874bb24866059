//! A command's result: a page for people, or JSON for scripts. Results go to standard output, everything
//! else (questions, progress, warnings, refusals) to standard error.

mod page;

pub use page::{Mark, Page, Table, bold, dim, green, red, wrap, yellow};

use crate::errors::{Fault, reason};
use crate::words::{inert_json, plain};
use serde::Serialize;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// How results are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Display,
    /// JSON, indented by two spaces.
    Json,
    /// JSON on one line.
    JsonCompact,
}

impl Format {
    /// The value of `--output` that selects it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Display => "display",
            Self::Json => "json",
            Self::JsonCompact => "json-compact",
        }
    }

    /// Whether the format is JSON, indented or not.
    pub fn is_json(self) -> bool {
        self != Self::Display
    }
}

impl FromStr for Format {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Display, Self::Json, Self::JsonCompact]
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or(())
    }
}

/// A command's result. The JSON is what `Serialize` gives: snake_case names, addresses in base58, other
/// bytes in hex, money as integers with the unit in the name, 128-bit integers as strings.
pub trait Report: Serialize {
    /// Draws the result as text.
    fn draw(&self, page: &mut Page);
}

/// A result that a library defines, with the function that draws it here.
pub struct Drawn<'a, T>(pub &'a T, pub fn(&T, &mut Page));

impl<T: Serialize> Serialize for Drawn<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: Serialize> Report for Drawn<'_, T> {
    fn draw(&self, page: &mut Page) {
        (self.1)(self.0, page);
    }
}

/// Whether this process has written a result: then an error says the rest about it, and no line of its own follows.
static RESULT: AtomicBool = AtomicBool::new(false);

/// Writes a result to standard output. `full`: tables show addresses and hashes whole.
pub fn print(report: &impl Report, format: Format, full: bool) -> Result<(), Fault> {
    let text = match format {
        Format::Display => {
            let mut page = Page::new(width()).with_full_tables(full);
            report.draw(&mut page);
            page.finish()
        }
        Format::Json => json(serde_json::to_string_pretty(report))?,
        Format::JsonCompact => json(serde_json::to_string(report))?,
    };
    write_out(text.as_bytes())?;
    RESULT.store(true, Ordering::SeqCst);
    Ok(())
}

fn json(text: serde_json::Result<String>) -> Result<String, Fault> {
    let failed = |error: serde_json::Error| Fault::WriteFailed { path: stdout(), why: error.to_string() };
    Ok(inert_json(text.map_err(failed)?) + "\n")
}

fn stdout() -> String {
    "Standard output".to_owned()
}

/// Writes to standard output; colours only where they are wanted (a terminal, NO_COLOR unset).
pub fn write_out(bytes: &[u8]) -> Result<(), Fault> {
    let mut out = anstream::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Fault::ClosedPipe),
        Err(error) => Err(Fault::WriteFailed { path: stdout(), why: reason(&error) }),
    }
}

/// Writes to standard error. Whether it arrives changes nothing.
pub fn write_err(text: &str) {
    let mut err = anstream::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// The last line of a program that fails in JSON without a result: `{"error": {code, name, message, next}}` on standard
/// output, so that who reads only that learns of it. Whether it arrives changes nothing.
pub fn end_with_error(error: &impl Serialize, format: Format) {
    if format.is_json() && !RESULT.load(Ordering::SeqCst) {
        let line = serde_json::to_string(&serde_json::json!({ "error": error })).unwrap_or_default();
        let _ = write_out((inert_json(line) + "\n").as_bytes());
    }
}

/// Columns of the terminal that standard error is; without one there is no end, so that programs read whole lines.
fn screen_width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    match size.map(|size| usize::from(size.ws_col)) {
        Some(columns) if columns > 0 => columns.clamp(40, MAX_WIDTH),
        Some(_) => MAX_WIDTH,
        None => usize::MAX,
    }
}

/// Text that begins behind `used` columns of a terminal's line, wrapped at blanks.
fn on_screen(text: &str, used: usize) -> String {
    let width = screen_width();
    if width == usize::MAX {
        return text.to_owned();
    }
    // Counted as a word of its own, so that the first line is the shorter one.
    let led = format!("{} {text}", "x".repeat(used.saturating_sub(1)));
    wrap(&led, width).join("\n").chars().skip(used).collect()
}

/// A warning for people; scripts read results.
pub fn warn(text: &str) {
    let head = page::yellow("warning:");
    write_err(&format!("{head} {}\n", on_screen(&plain(text), "warning: ".len())));
}

/// A refusal on standard error: `error 7410: …` and `next: …`, or a JSON object.
pub fn error(code: u32, message: &str, next: Option<&str>, whole: &impl Serialize, format: Format) {
    let text = match format {
        Format::Display => {
            let next = next.map(|next| page::next_line(next, screen_width(), 0)).unwrap_or_default();
            let head = format!("error {code}:");
            let message = on_screen(&plain(message), head.len().saturating_add(1));
            format!("{} {message}\n{next}", page::red(&head))
        }
        Format::Json => inert_json(serde_json::to_string_pretty(whole).unwrap_or_default()) + "\n",
        Format::JsonCompact => inert_json(serde_json::to_string(whole).unwrap_or_default()) + "\n",
    };
    write_err(&text);
}

/// Widest page in columns.
pub const MAX_WIDTH: usize = 100;

/// Columns of the terminal, at most [`MAX_WIDTH`]; that many where there is none.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = columns.or_else(|| {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    });
    seen.unwrap_or(MAX_WIDTH).clamp(40, MAX_WIDTH)
}
