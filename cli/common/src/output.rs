//! A command's result: a page for people, or JSON for scripts. Results go to standard output, everything
//! else (questions, progress, warnings, refusals) to standard error.

mod page;

pub use page::{Mark, Page, Table, bold, dim, green, red, wrap, yellow};

use crate::errors::{Fault, reason};
use crate::words::{inert_json, plain};
use serde::Serialize;
use std::io::{self, Write};
use std::str::FromStr;

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
    write_out(text.as_bytes())
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

/// A warning for people; scripts read results.
pub fn warn(text: &str) {
    write_err(&format!("{} {}\n", page::yellow("warning:"), plain(text)));
}

/// A refusal on standard error: `error 7410: …` and `next: …`, or a JSON object.
pub fn error(code: u32, message: &str, next: Option<&str>, whole: &impl Serialize, format: Format) {
    let text = match format {
        Format::Display => {
            let next = next.map(|next| format!("{} {}\n", page::bold("next:"), plain(next)));
            let next = next.unwrap_or_default();
            let head = page::red(&format!("error {code}:"));
            format!("{head} {}\n{next}", plain(message))
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
