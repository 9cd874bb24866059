//! Progress: for people on standard error, or with --json as one object a line on standard output, where
//! nothing else is then written.

use serde_json::{Value, json};
use zx1_cli_common::output::{self, bold, dim, green, red, wrap, yellow};
use zx1_cli_common::words::{inert_json, plain};

/// Where progress goes, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    json: bool,
    explain: bool,
}

/// The kind of a line, which decides the color of its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Work continues as planned.
    Step,
    /// A step has succeeded.
    Good,
    /// A step has failed.
    Bad,
    /// The user should look.
    Warn,
}

impl Screen {
    /// `explain` shows everything, without cutting long blocks.
    pub fn new(json: bool, explain: bool) -> Self {
        Self { json, explain }
    }

    /// Whether progress is written as JSON.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Whether long blocks are shown whole.
    pub fn explains(self) -> bool {
        self.explain
    }

    /// Reports one event: an object for programs, a sentence for people. `data` is an object; `event` goes
    /// into it.
    pub fn tell(self, tone: Tone, event: &str, mut data: Value, text: &str) {
        if self.json {
            if let Value::Object(fields) = &mut data {
                fields.insert("event".to_owned(), json!(event));
            }
            // Whoever reads may have gone; the work goes on.
            let _ = output::write_out((inert_json(data.to_string()) + "\n").as_bytes());
            return;
        }
        let mark = match tone {
            Tone::Step => dim("fix:"),
            Tone::Good => green("fix:"),
            Tone::Bad => red("fix:"),
            Tone::Warn => yellow("fix:"),
        };
        let mut lines = wrap(&plain(text), output::width().saturating_sub(5)).into_iter();
        let mut out = format!("{mark} {}\n", lines.next().unwrap_or_default());
        for line in lines {
            out.push_str(&format!("     {line}\n"));
        }
        output::write_err(&out);
    }

    /// Reports that work continues.
    pub fn step(self, event: &str, data: Value, text: &str) {
        self.tell(Tone::Step, event, data, text);
    }

    /// Reports a success.
    pub fn good(self, event: &str, data: Value, text: &str) {
        self.tell(Tone::Good, event, data, text);
    }

    /// A block of text that stands apart, indented, for people only. Text of strangers cannot steer the
    /// terminal. `most` is the maximum number of lines, unless everything is shown.
    pub fn block(self, text: &str, most: usize) {
        if self.json {
            return;
        }
        output::write_err(&indented(text, most, self.explain));
    }

    /// Sentences, wrapped to the terminal and indented, for people only.
    pub fn prose(self, text: &str, most: usize) {
        let wrapped = wrap(&plain(text), output::width().saturating_sub(2)).join("\n");
        self.block(&wrapped, most);
    }

    /// A heading above a block.
    pub fn heading(self, text: &str) {
        if !self.json {
            output::write_err(&format!("\n{}\n", bold(&plain(text))));
        }
    }

    /// Text as it is, for people only: a QR code.
    pub fn raw(self, text: &str) {
        if !self.json {
            output::write_err(text);
        }
    }
}

fn indented(text: &str, most: usize, all: bool) -> String {
    let text = plain(text.trim_end_matches('\n'));
    let lines: Vec<&str> = text.lines().collect();
    let cut = if all || lines.len() <= most { lines.len() } else { most.saturating_sub(1) };
    let mut out = String::new();
    for line in lines.iter().take(cut) {
        let colored = match line.as_bytes().first() {
            Some(b'+') if !line.starts_with("+++") => green(line),
            Some(b'-') if !line.starts_with("---") => red(line),
            _ => (*line).to_owned(),
        };
        out.push_str(&format!("  {colored}\n"));
    }
    let left = lines.len().saturating_sub(cut);
    if left > 0 {
        out.push_str(&format!("  {}\n", dim(&format!("… {left} more lines (--explain shows them)"))));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_and_says_so_unless_all_is_wanted() {
        let text = "1\n2\n3\n4\n";
        let cut = indented(text, 3, false);
        assert!(cut.starts_with("  1\n  2\n") && cut.contains("2 more lines"), "{cut}");
        assert_eq!(indented(text, 3, true), "  1\n  2\n  3\n  4\n");
        assert_eq!(indented(text, 4, false), "  1\n  2\n  3\n  4\n");
    }

    #[test]
    fn text_of_strangers_stays_text() {
        assert!(!indented("a\u{1b}[2J", 9, true).contains('\u{1b}'));
    }
}
