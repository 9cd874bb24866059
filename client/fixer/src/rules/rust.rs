//! The Rust compiler's suggestions. It shows a changed line as it should read; a rule takes it over only for
//! the few messages below, and only when the line in the file is the one that the compiler saw.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::Edit;
use super::probe::Probe;
use super::text::{self, RelPath};

const RUST: &[&str] = &["rustc", "cargo"];

/// One message: its first line, the file it points into, and the rest.
struct Message<'t> {
    head: &'t str,
    file: &'t str,
    body: Vec<&'t str>,
}

/// The error messages of the output.
fn messages<'t>(case: &'t Case<'_>) -> Vec<Message<'t>> {
    let mut messages: Vec<Message<'t>> = Vec::new();
    for line in case.error.lines() {
        let head = line.starts_with("error") || line.starts_with("warning");
        if head {
            messages.push(Message { head: line, file: "", body: Vec::new() });
        } else if let Some(message) = messages.last_mut() {
            if message.file.is_empty()
                && let Some(place) = line.trim_start().strip_prefix("--> ")
            {
                message.file = place.rsplitn(3, ':').last().unwrap_or_default();
            }
            message.body.push(line);
        }
    }
    messages.retain(|message| message.head.starts_with("error") && !message.file.is_empty());
    messages
}

/// A changed or new line of a suggestion.
enum Change {
    /// The line that stands there, and what it should read.
    Replace(usize, String, String),
    /// A new line before this one.
    Insert(usize, String),
}

/// The lines of the first suggestion whose title begins with one of `titles`.
fn suggestion(message: &Message<'_>, titles: &[&str]) -> Try<Vec<Change>> {
    let title = |line: &&str| {
        line.strip_prefix("help: ").is_some_and(|help| titles.iter().any(|title| help.starts_with(title)))
    };
    let start = message.body.iter().position(title).mine()?;
    let numbered = regex!(r"^(\d+) ([|+~-]) ?(.*)$");
    let mut changes = Vec::new();
    let block: Vec<&str> =
        message.body.iter().skip(start + 1).take_while(|line| !line.is_empty()).copied().collect();
    let mut removed: Option<(usize, String)> = None;
    for (at, line) in block.iter().enumerate() {
        let Some(found) = numbered.captures(line.trim_start()) else { continue };
        let number: usize = found.get(1).mine()?.as_str().parse().ok().mine()?;
        let (sign, text) = (found.get(2).mine()?.as_str(), found.get(3).mine()?.as_str().to_owned());
        match sign {
            "-" => removed = Some((number, text)),
            "+" => match removed.take() {
                Some((old_number, old)) if old_number == number => {
                    changes.push(Change::Replace(number, old, text))
                }
                Some(_) => return Err(Halt::decline("the compiler's suggestion spans several lines")),
                None => changes.push(Change::Insert(number, text)),
            },
            "|" => {
                // Below stand plus signs under what is new in the line.
                let Some(marks) =
                    block.get(at + 1).and_then(|line| line.split_once("| ")).map(|(_, marks)| marks)
                else {
                    continue;
                };
                if marks.trim().is_empty() {
                    continue;
                }
                if !marks.chars().all(|mark| mark == ' ' || mark == '+') {
                    return Err(Halt::decline("the compiler's suggestion is not a plain insertion"));
                }
                let mut marks = marks.chars();
                let old: String = text.chars().filter(|_| marks.next() != Some('+')).collect();
                changes.push(Change::Replace(number, old, text));
            }
            _ => return Err(Halt::decline("the compiler's suggestion is not a plain one")),
        }
    }
    if changes.is_empty() {
        Err(Halt::decline("the compiler's suggestion cannot be read"))
    } else {
        Ok(changes)
    }
}

/// Takes over the suggestions of all messages whose head matches.
fn take(
    case: &Case<'_>,
    probe: &Probe<'_>,
    heads: &regex::Regex,
    titles: &[&str],
    check: fn(&str, &str) -> bool,
    explanation: &str,
    confidence: u8,
) -> Try<Repair> {
    case.any(RUST)?;
    mine(
        case.any(&["cargo"]).is_ok_and(|cargo| cargo.option("--manifest-path").is_none())
            || case.any(&["rustc"]).is_ok(),
    )?;
    let (mut file, mut changes) = ("", Vec::new());
    for message in messages(case) {
        if !heads.is_match(message.head) {
            continue;
        }
        match suggestion(&message, titles) {
            Ok(found) if file.is_empty() || file == message.file => {
                file = message.file;
                changes.extend(found);
            }
            Ok(_) | Err(Halt::NotMine) => {}
            Err(halt) => return Err(halt),
        }
    }
    mine(!changes.is_empty())?;
    let path = probe.relative(file)?;
    mine(path.as_str().ends_with(".rs"))?;
    let lines = probe.lines(&path)?;
    apply(&path, &lines, &changes, check)?.repair(format!("{explanation} ({})", path.as_str()), confidence)
}

fn apply<'a>(
    path: &'a RelPath,
    lines: &'a [&'a str],
    changes: &[Change],
    check: fn(&str, &str) -> bool,
) -> Try<Edit<'a>> {
    let mut edit = Edit::new(path, lines);
    let mut done: std::collections::BTreeMap<usize, String> = std::collections::BTreeMap::new();
    let mut inserted = Vec::new();
    for change in changes {
        match change {
            Change::Replace(number, old, new) => {
                let real = edit.line(*number)?;
                // The compiler shows tabs as four blanks, and marks what is new without the blank after it.
                let same = real.split_whitespace().eq(old.split_whitespace());
                if !same || real.trim_start().contains('\t') || !check(old, new) {
                    return Err(Halt::decline("the file is not as the compiler saw it"));
                }
                let indent = real.len() - real.trim_start().len();
                let new = format!("{}{}", real.get(..indent).mine()?, new.trim());
                match done.insert(*number, new.clone()) {
                    Some(before) if before != new => {
                        return Err(Halt::decline("two suggestions change the same line"));
                    }
                    Some(_) => {}
                    None => edit.replace(*number, &new)?,
                }
            }
            Change::Insert(number, new) => {
                if !check("", new) {
                    return Err(Halt::decline("the suggested line is not a plain one"));
                }
                if !inserted.contains(new) {
                    inserted.push(new.clone());
                    edit.insert(*number, new.trim_end())?;
                }
            }
        }
    }
    Ok(edit)
}

pub(crate) fn similar_name(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    take(
        case,
        probe,
        regex!(r"^error(?:\[E0(?:425|433|412|599|609|423)\])?: (?:cannot find|no (?:method|field|function))"),
        &[
            "a local variable with a similar name exists",
            "a function with a similar name exists",
            "a macro with a similar name exists",
            "a struct with a similar name exists",
            "a constant with a similar name exists",
            "there is a method",
            "a field with a similar name exists",
            "an enum with a similar name exists",
            "a static with a similar name exists",
        ],
        // One name becomes another that differs in at most two letters; all else stays.
        |old, new| text::distance(old, new) <= 2,
        "A misspelt name, corrected as the compiler suggests.",
        86,
    )
}

pub(crate) fn missing_use(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    take(
        case,
        probe,
        regex!(r"^error\[E0(?:425|433|412|404|405|422)\]: (?:cannot find|failed to resolve)"),
        &["consider importing this "],
        |_, new| regex!(r"^use (?:std|core|alloc|crate)(?:::\w+)+;\s*$").is_match(new),
        "A name of the standard library or of this crate that was not imported.",
        92,
    )
}

pub(crate) fn missing_mut(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    take(
        case,
        probe,
        regex!(r"^error\[E0(?:596|384)\]: cannot (?:borrow|assign)"),
        &["consider changing this to be mutable", "consider making this binding mutable"],
        |old, new| {
            let without = |text: &str| {
                let text = regex!(r"\bmut\s+").replace_all(text, "").into_owned();
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            };
            without(new) == without(old)
        },
        "What is changed must be declared with mut.",
        92,
    )
}

pub(crate) fn conversion(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    take(
        case,
        probe,
        regex!(r"^error\[E0308\]: mismatched types$"),
        &["try using a conversion method", "consider borrowing here"],
        |old, new| {
            new.replace(".to_string()", "").replace('&', "")
                == old.replace(".to_string()", "").replace('&', "")
        },
        "A value is converted or borrowed as the compiler suggests.",
        85,
    )
}

pub(crate) fn missing_mod(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    take(
        case,
        probe,
        regex!(r"^error\[E043[23]\]: (?:unresolved import|cannot find module or crate|failed to resolve)"),
        &["to make use of source file "],
        |_, new| regex!(r"^mod [a-z_][a-z0-9_]*;$").is_match(new),
        "A source file that no module declaration named.",
        93,
    )
}

pub(crate) fn semicolon(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(RUST)?;
    let (mut file, mut places) = ("", Vec::new());
    for message in messages(case) {
        if !regex!(r"^error: expected `;`, found ").is_match(message.head)
            || !message.body.iter().any(|line| line.contains("help: add `;` here"))
        {
            continue;
        }
        let at = message.body.iter().find_map(|line| line.trim_start().strip_prefix("--> ")).mine()?;
        let mut parts = at.rsplit(':');
        let column: usize = parts.next().and_then(|text| text.parse().ok()).mine()?;
        let line: usize = parts.next().and_then(|text| text.parse().ok()).mine()?;
        if file.is_empty() || file == message.file {
            file = message.file;
            places.push((line, column));
        }
    }
    mine(!places.is_empty())?;
    let path = probe.relative(file)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    for (number, column) in places {
        let line = edit.line(number)?;
        if line.trim_end().chars().count() + 1 != column || line.contains("//") {
            return Err(Halt::decline("the place for the semicolon is not at the end of a line"));
        }
        edit.replace(number, &format!("{};", line.trim_end()))?;
    }
    edit.repair(format!("A semicolon was missing in {}.", path.as_str()), 90)
}

pub(crate) fn edition_option(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let rustc = case.only(&["rustc"])?;
    case.find(regex!(r"(?m)^error\[E0670\]: `async fn` is not permitted in Rust 2015$"))?;
    mine(rustc.option("--edition").is_none())?;
    Repair::command(
        case.with_before(rustc.args().first().mine()?, "--edition 2021")?,
        "Without an edition rustc speaks Rust 2015, which has no async.",
        93,
    )
}

pub(crate) fn source_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let rustc = case.only(&["rustc"])?;
    let found = case.find(regex!(r"(?m)^error: couldn't read `?([^`:\n]+)`?: No such file or directory"))?;
    case.correct_path(probe, rustc, found.get(1).mine()?.as_str(), |entry| entry.name.ends_with(".rs"))
}
