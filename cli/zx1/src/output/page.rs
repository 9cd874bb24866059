//! The page: headings, aligned fields, tables, checks. Colours are always written here; the stream strips
//! them where nobody wants them.

use comfy_table::{Attribute, Cell, ContentArrangement, presets};
use owo_colors::OwoColorize as _;
use std::fmt::{Display, Write as _};

/// Ends a style.
const RESET: &str = "\u{1b}[0m";

/// Bold.
pub(super) fn bold(text: &str) -> String {
    text.bold().to_string()
}

/// Red and bold: refusals.
pub(super) fn red(text: &str) -> String {
    text.red().bold().to_string()
}

/// Yellow and bold: warnings.
pub(super) fn yellow(text: &str) -> String {
    text.yellow().bold().to_string()
}

fn green(text: &str) -> String {
    text.green().bold().to_string()
}

fn dim(text: &str) -> String {
    text.dimmed().to_string()
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// As it should be.
    Ok,
    /// It works, but not for ever.
    Warn,
    /// It does not work.
    Fail,
    /// Not looked at, because something before it failed.
    Skip,
}

impl Mark {
    /// As JSON and the page name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }

    fn drawn(self) -> String {
        let padded = format!("{:<4}", self.name());
        match self {
            Self::Ok => green(&padded),
            Self::Warn => yellow(&padded),
            Self::Fail => red(&padded),
            Self::Skip => dim(&padded),
        }
    }
}

impl serde::Serialize for Mark {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A page under construction. Fields that follow each other are aligned with each other.
#[derive(Debug)]
pub struct Page {
    text: String,
    fields: Vec<(String, String)>,
    width: usize,
}

impl Page {
    /// An empty page of that many columns.
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), fields: Vec::new(), width }
    }

    /// A heading, set off by an empty line.
    pub fn heading(&mut self, text: impl Display) -> &mut Self {
        self.flush();
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let _ = writeln!(self.text, "{}", bold(&text.to_string()));
        self
    }

    /// A label and its value; fields in a row are aligned.
    pub fn field(&mut self, label: impl Display, value: impl Display) -> &mut Self {
        self.fields.push((label.to_string(), value.to_string()));
        self
    }

    /// A field only when there is a value.
    pub fn maybe(&mut self, label: impl Display, value: Option<impl Display>) -> &mut Self {
        if let Some(value) = value {
            self.field(label, value);
        }
        self
    }

    /// A line of text, wrapped to the page.
    pub fn line(&mut self, text: impl Display) -> &mut Self {
        self.flush();
        for line in wrap(&text.to_string(), self.width) {
            let _ = writeln!(self.text, "{line}");
        }
        self
    }

    /// Text as it is, for copying: never wrapped.
    pub fn raw(&mut self, text: impl Display) -> &mut Self {
        self.flush();
        let _ = writeln!(self.text, "{text}");
        self
    }

    /// An empty line.
    pub fn blank(&mut self) -> &mut Self {
        self.flush();
        self.text.push('\n');
        self
    }

    /// What to do next.
    pub fn next(&mut self, command: impl Display) -> &mut Self {
        self.flush();
        let _ = writeln!(self.text, "{} {command}", bold("next:"));
        self
    }

    /// A check: mark, subject, what was found, and the next step when it is not ok.
    pub fn check(&mut self, mark: Mark, subject: &str, found: &str, next: Option<&str>) -> &mut Self {
        self.flush();
        let indent = 22;
        let mut lines = wrap(found, self.width.saturating_sub(indent)).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(self.text, "{}  {subject:<15} {first}", mark.drawn());
        for line in lines {
            let _ = writeln!(self.text, "{:indent$}{line}", "");
        }
        if let Some(next) = next {
            let _ = writeln!(self.text, "{:indent$}{} {next}", "", bold("next:"));
        }
        self
    }

    /// A table; `none` is said instead when it has no rows.
    pub fn table(&mut self, table: Table, none: &str) -> &mut Self {
        self.flush();
        if table.rows.is_empty() {
            return self.line(none);
        }
        let mut drawn = comfy_table::Table::new();
        drawn
            .load_preset(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .enforce_styling()
            .set_width(u16::try_from(self.width).unwrap_or(u16::MAX))
            .set_header(table.header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)))
            .add_rows(table.rows);
        for (index, column) in drawn.column_iter_mut().enumerate() {
            // The first column begins at the margin, the others two spaces on.
            column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        }
        for line in drawn.lines() {
            // Padding of the last column, also inside its style.
            let (line, end) = line.strip_suffix(RESET).map_or((line.as_str(), ""), |line| (line, RESET));
            let _ = writeln!(self.text, "{}{end}", line.trim_end());
        }
        self
    }

    /// The whole page.
    pub fn finish(mut self) -> String {
        self.flush();
        self.text
    }

    fn flush(&mut self) {
        let widest = self.fields.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        for (label, value) in std::mem::take(&mut self.fields) {
            let indent = widest.saturating_add(2);
            // Only prose is wrapped: an address or a hash must stay in one piece to be copied.
            let room = self.width.saturating_sub(indent).max(20);
            let mut lines = wrap(&value, room).into_iter();
            let first = lines.next().unwrap_or_default();
            let padded = format!("{label:<indent$}");
            let _ = writeln!(self.text, "{}{first}", dim(&padded));
            for line in lines {
                let _ = writeln!(self.text, "{:indent$}{line}", "");
            }
        }
    }
}

/// Rows under a header.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// One more row.
    pub fn row<const N: usize>(&mut self, cells: [&dyn Display; N]) -> &mut Self {
        self.rows.push(cells.iter().map(ToString::to_string).collect());
        self
    }
}

/// Breaks at spaces; a word longer than the width stays in one piece. Leading spaces indent all lines.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let rest = paragraph.trim_start_matches(' ');
        let indent = paragraph.strip_suffix(rest).unwrap_or_default();
        let mut line = indent.to_owned();
        for word in rest.split(' ') {
            let length = line.chars().count().saturating_add(word.chars().count()).saturating_add(1);
            if line.len() > indent.len() && length > width {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
            } else if line.len() > indent.len() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(page: Page) -> String {
        anstream::adapter::strip_str(&page.finish()).to_string()
    }

    #[test]
    fn fields_are_aligned_and_prose_is_wrapped() {
        let mut page = Page::new(44);
        page.field("a", "short").field("label", "words that do not fit into one line of this page");
        assert_eq!(
            plain(page),
            "a      short\nlabel  words that do not fit into one line\n       of this page\n"
        );
    }

    #[test]
    fn indented_prose_stays_indented() {
        let mut page = Page::new(40);
        page.line("  these words are indented and do not fit into one line");
        assert_eq!(plain(page), "  these words are indented and do not\n  fit into one line\n");
    }

    #[test]
    fn a_long_word_stays_in_one_piece() {
        let hash = "f".repeat(128);
        let mut page = Page::new(40);
        page.field("hash", &hash);
        assert!(plain(page).contains(&hash));
    }

    #[test]
    fn a_table_without_rows_says_so() {
        let mut page = Page::new(40);
        page.table(Table::new(["a", "b"]), "There are none.");
        assert_eq!(plain(page), "There are none.\n");
    }
}
