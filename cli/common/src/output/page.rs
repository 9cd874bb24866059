//! The page: headings, aligned fields, tables, checks. Colours are always written here; the stream strips
//! them where nobody wants them.

use crate::words::{self, plain};
use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, presets};
use owo_colors::OwoColorize as _;
use std::fmt::{Display, Write as _};

/// Ends a style.
const RESET: &str = "\u{1b}[0m";

/// The text in bold, if colors are on.
pub fn bold(text: &str) -> String {
    text.bold().to_string()
}

/// Red and bold: refusals.
pub fn red(text: &str) -> String {
    text.red().bold().to_string()
}

/// Yellow and bold: warnings.
pub fn yellow(text: &str) -> String {
    text.yellow().bold().to_string()
}

/// Green and bold: success.
pub fn green(text: &str) -> String {
    text.green().bold().to_string()
}

/// The text dimmed, if colors are on; for labels.
pub fn dim(text: &str) -> String {
    text.dimmed().to_string()
}

/// Columns by which a value is indented that stands below its label.
const BELOW: usize = 4;

/// The next step, wrapped at blanks: what goes on stands below its first word.
pub(super) fn next_line(command: &str, width: usize, indent: usize) -> String {
    let hanging = indent.saturating_add("next: ".len());
    let mut out = format!("{:indent$}{}", "", bold("next:"));
    for (index, line) in wrap(&plain(command), width.saturating_sub(hanging)).into_iter().enumerate() {
        let _ = match index {
            0 => writeln!(out, " {line}"),
            _ => writeln!(out, "{:hanging$}{line}", ""),
        };
    }
    out
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The check passed.
    Ok,
    /// The check passed, but needs attention later.
    Warn,
    /// The check failed.
    Fail,
    /// The check was not made, because an earlier one failed.
    Skip,
}

impl Mark {
    /// The name of the mark in JSON and on pages.
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
    full: bool,
}

impl Page {
    /// Creates an empty page of `width` columns.
    pub fn new(width: usize) -> Self {
        Self { text: String::new(), fields: Vec::new(), width, full: false }
    }

    /// Sets whether tables show addresses and hashes in full, whatever width they need.
    #[must_use]
    pub fn with_full_tables(mut self, full: bool) -> Self {
        self.full = full;
        self
    }

    /// Adds a heading after an empty line.
    pub fn heading(&mut self, text: impl Display) -> &mut Self {
        self.flush();
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let _ = writeln!(self.text, "{}", bold(&plain(&text.to_string())));
        self
    }

    /// A label and its value; fields in a row are aligned.
    pub fn field(&mut self, label: impl Display, value: impl Display) -> &mut Self {
        let (label, value) = (label.to_string(), value.to_string());
        self.fields.push((plain(&label).into_owned(), plain(&value).into_owned()));
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
        for line in wrap(&plain(&text.to_string()), self.width) {
            let _ = writeln!(self.text, "{line}");
        }
        self
    }

    /// Adds text for copying, which is never wrapped.
    pub fn raw(&mut self, text: impl Display) -> &mut Self {
        self.flush();
        let _ = writeln!(self.text, "{}", plain(&text.to_string()));
        self
    }

    /// Adds an empty line.
    pub fn blank(&mut self) -> &mut Self {
        self.flush();
        self.text.push('\n');
        self
    }

    /// Adds the command to run next.
    pub fn next(&mut self, command: impl Display) -> &mut Self {
        self.flush();
        self.text.push_str(&next_line(&command.to_string(), self.width, 0));
        self
    }

    /// A check: mark, subject, what was found, and the next step when it is not ok.
    pub fn check(&mut self, mark: Mark, subject: &str, found: &str, next: Option<&str>) -> &mut Self {
        self.flush();
        let indent = 22;
        let mut lines = wrap(&plain(found), self.width.saturating_sub(indent)).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(self.text, "{}  {subject:<15} {first}", mark.drawn());
        for line in lines {
            let _ = writeln!(self.text, "{:indent$}{line}", "");
        }
        if let Some(next) = next {
            self.text.push_str(&next_line(next, self.width, indent));
        }
        self
    }

    /// A table; `none` is said instead when it has no rows. Identifiers are shortened where the page is too
    /// narrow for them, unless the tables are to be full.
    pub fn table(&mut self, mut table: Table, none: &str) -> &mut Self {
        self.flush();
        if table.rows.is_empty() {
            return self.line(none);
        }
        let arrangement = if self.full {
            ContentArrangement::Disabled
        } else {
            table.fit(self.width);
            ContentArrangement::Dynamic
        };
        let numbers: Vec<bool> = (0..table.header.len()).map(|column| table.is_of_numbers(column)).collect();
        let mut drawn = comfy_table::Table::new();
        drawn
            .load_preset(presets::NOTHING)
            .set_content_arrangement(arrangement)
            .enforce_styling()
            .set_width(u16::try_from(self.width).unwrap_or(u16::MAX))
            .set_header(table.header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)))
            .add_rows(table.rows);
        for (index, (column, numbers)) in drawn.column_iter_mut().zip(numbers).enumerate() {
            // The first column begins at the margin, the others two spaces on.
            column.set_padding((if index == 0 { 0 } else { 1 }, 1));
            if numbers {
                column.set_cell_alignment(CellAlignment::Right);
            }
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
            let mut lines = wrap(&value, room);
            let padded = format!("{label:<indent$}");
            let mut indent = indent;
            // A word that is too long there gets a line of its own, where the terminal need not break it.
            let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            if widest > room && widest.saturating_add(BELOW) <= self.width {
                indent = BELOW;
                lines = wrap(&value, self.width.saturating_sub(indent));
                let _ = writeln!(self.text, "{}", dim(padded.trim_end()));
            } else {
                let first = if lines.is_empty() { String::new() } else { lines.remove(0) };
                let _ = writeln!(self.text, "{}{first}", dim(&padded));
            }
            for line in lines {
                let _ = writeln!(self.text, "{:indent$}{line}", "");
            }
        }
    }
}

/// Rows under a header. Columns of numbers stand to the right.
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns of addresses and hashes, the one that may be shortened last first.
    ids: Vec<usize>,
    /// The column of prose, which is cut when nothing else helps.
    prose: Option<usize>,
}

/// Characters of prose that are always shown.
const LEAST_PROSE: usize = 16;

impl Table {
    /// An empty table.
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(str::to_owned).to_vec(), ..Self::default() }
    }

    /// Names the columns that hold addresses or hashes. The first is the last to be shortened.
    #[must_use]
    pub fn ids(mut self, columns: &[usize]) -> Self {
        self.ids = columns.to_vec();
        self
    }

    /// Names the column that holds prose, one line a row.
    #[must_use]
    pub fn prose(mut self, column: usize) -> Self {
        self.prose = Some(column);
        self
    }

    /// One more row.
    pub fn row<const N: usize>(&mut self, cells: [&dyn Display; N]) -> &mut Self {
        self.rows.push(cells.iter().map(|cell| plain(&cell.to_string()).into_owned()).collect());
        self
    }

    /// Makes the rows fit a page, as far as shortening goes.
    fn fit(&mut self, width: usize) {
        for column in self.ids.clone().into_iter().rev() {
            if self.natural_width() <= width {
                return;
            }
            self.rows.iter_mut().filter_map(|row| row.get_mut(column)).for_each(|id| *id = words::short(id));
        }
        let excess = self.natural_width().saturating_sub(width);
        if let Some(column) = self.prose.filter(|_| excess > 0) {
            let room = self.column_width(column).saturating_sub(excess).max(LEAST_PROSE);
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
                if cell.chars().count() > room {
                    *cell = cell.chars().take(room.saturating_sub(1)).chain(['…']).collect();
                }
            }
        }
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().chain([&self.header]).filter_map(|row| row.get(column));
        // A column takes a place also where it is empty.
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(1)
    }

    /// Columns and the padding between them, as [`Page::table`] sets it.
    fn natural_width(&self) -> usize {
        let columns = self.header.len();
        let cells: usize = (0..columns).map(|column| self.column_width(column)).sum();
        cells.saturating_add(columns.saturating_mul(2)).saturating_sub(1)
    }

    fn is_of_numbers(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
        let is_number = |cell: &String| cell.bytes().all(|byte| byte.is_ascii_digit());
        cells.clone().next().is_some() && cells.all(is_number)
    }
}

/// Breaks at spaces; a word longer than the width stays in one piece. Leading spaces indent all lines.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
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
    fn an_address_that_has_no_room_beside_its_label_stands_below_it() {
        let address = "6jTzaNctHMGFLaHr7XGftwsJTXXQPp3roGEZXGbd7dqU";
        let mut page = Page::new(60);
        page.field("takes over from", "nobody").field("agent", address);
        page.field("of a long label too", format!("alice, {address}"));
        let text = plain(page);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.contains(&format!("\nagent\n    {address}\n")), "{text}");
        assert!(text.contains(&format!("\nof a long label too\n    alice, {address}\n")), "{text}");
    }

    #[test]
    fn a_next_step_is_wrapped_at_blanks() {
        let mut page = Page::new(60);
        page.next("zx1 keys add FILE --scopes pay,batch,deal,peer (zx1 key new FILE makes one)");
        page.check(Mark::Fail, "usdc", "none", Some("zx1-localnet fund 6jTzaNctHMGFLaHr7XGftw --usdc 100"));
        let text = plain(page);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(
            text.starts_with("next: zx1 keys add FILE --scopes pay,batch,deal,peer (zx1\n      key new"),
            "{text}"
        );
    }

    fn challenges(width: usize, full: bool) -> String {
        let address = "6jTzaNctHMGFLaHr7XGftwsJTXXQPp3roGEZXGbd7dqU";
        let mut table = Table::new(["challenge", "epoch", "text"]).ids(&[0]).prose(2);
        table.row([&address, &7, &"short"]).row([
            &address,
            &20_778,
            &"a text that is longer than the others",
        ]);
        let mut page = Page::new(width).with_full_tables(full);
        page.table(table, "");
        plain(page)
    }

    #[test]
    fn a_table_shows_whole_identifiers_where_there_is_room() {
        let wide = challenges(100, false);
        assert!(wide.contains("7dqU      7  short\n"), "{wide}");
        assert_eq!(wide, challenges(100, true));
    }

    #[test]
    fn a_table_that_does_not_fit_shortens_identifiers_then_prose() {
        let at_64 = challenges(64, false);
        assert!(at_64.contains("6jTzaN…bd7dqU  20778  a text that is longer than the others\n"), "{at_64}");
        let narrow = challenges(48, false);
        assert!(narrow.contains("6jTzaN…bd7dqU  20778  a text that is longer th…\n"), "{narrow}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 48), "{narrow}");
        assert!(challenges(48, true).contains("Gbd7dqU  20778  a text that is longer than the others\n"));
    }

    #[test]
    fn an_empty_column_takes_a_place_too() {
        let mut table = Table::new(["entry", "text", ""]).prose(1);
        table.row([&1, &"a text that is longer than the page is wide", &""]);
        let mut page = Page::new(40);
        page.table(table, "");
        let text = plain(page);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }

    #[test]
    fn text_of_strangers_stays_text() {
        let mut page = Page::new(60);
        page.heading("a\u{1b}[2J").field("b\u{1b}[2J", "c\u{1b}[2J").line("d\u{1b}[2J").next("e\u{1b}[2J");
        let mut table = Table::new(["x"]);
        table.row([&"f\u{1b}[2J"]);
        page.table(table, "").check(Mark::Fail, "g", "h\u{1b}[2J", Some("i\u{1b}[2J"));
        assert!(!page.finish().contains("\u{1b}[2J"));
    }

    #[test]
    fn a_table_without_rows_says_so() {
        let mut page = Page::new(40);
        page.table(Table::new(["a", "b"]), "There are none.");
        assert_eq!(plain(page), "There are none.\n");
    }
}
