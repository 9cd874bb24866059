//! JSON files that programs refuse.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::Edit;
use super::probe::Probe;
use super::text::RelPath;

/// The file that cannot be parsed: named by the error, or by the command that only reads it.
fn file(case: &Case<'_>, probe: &Probe<'_>) -> Try<RelPath> {
    if let Ok(found) = case.find(regex!(r"(?m)^SyntaxError: (/[^\n:]+\.json): [^\n]*JSON")) {
        return probe.relative(found.get(1).mine()?.as_str());
    }
    if case.says("EJSONPARSE") {
        mine(case.any(&["npm"]).is_ok())?;
        case.find(regex!(r"Invalid package\.json|[Ff]ailed to parse (?:package\.json|JSON)"))?;
        return RelPath::parse("package.json").mine();
    }
    let simple = case.single()?;
    let words: Vec<&str> = simple.arg_texts().collect();
    let tool = words.windows(2).any(|pair| pair == ["-m", "json.tool"]) || simple.program() == "jq";
    mine(tool)?;
    case.find(regex!(
        r"(?m)^(?:Expecting |Illegal trailing comma|parse error: |jq: parse error: )[^\n]*line \d+"
    ))?;
    let mut files = words.iter().filter(|word| word.ends_with(".json"));
    let (first, second) = (files.next(), files.next());
    mine(second.is_none())?;
    RelPath::parse(first.mine()?).or_decline("the file lies outside the working folder")
}

/// What [`repaired`] may do.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    TrailingComma,
    MissingComma,
}

/// The lines after the repair, or `None` when something else is wrong as well.
fn repaired(lines: &[&str], fault: Fault) -> Option<Vec<String>> {
    let mut text: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match fault {
        Fault::TrailingComma => {
            // Outside of strings, a comma before a closing bracket.
            let mut comma: Option<(usize, usize)> = None;
            let mut quoted = false;
            let mut cuts = Vec::new();
            for (number, line) in lines.iter().enumerate() {
                let mut escaped = false;
                for (at, letter) in line.char_indices() {
                    match letter {
                        _ if escaped => escaped = false,
                        '\\' if quoted => escaped = true,
                        '"' => {
                            quoted = !quoted;
                            comma = None;
                        }
                        _ if quoted || letter.is_whitespace() => {}
                        ',' => comma = Some((number, at)),
                        ']' | '}' => cuts.extend(comma.take()),
                        _ => comma = None,
                    }
                }
            }
            for (number, at) in cuts.into_iter().rev() {
                text.get_mut(number)?.remove(at);
            }
        }
        Fault::MissingComma => {
            // One member ends a line, the next begins one.
            for number in 1..lines.len() {
                let next = lines.get(number)?.trim_start();
                let line = text.get_mut(number - 1)?;
                let end = line.trim_end();
                let ended =
                    end.ends_with(['"', '}', ']']) || end.ends_with(|c: char| c.is_ascii_alphanumeric());
                if ended && next.starts_with(['"', '{', '[']) && !end.is_empty() {
                    *line = format!("{end},");
                }
            }
        }
    }
    serde_json::from_str::<serde::de::IgnoredAny>(&text.join("\n")).ok()?;
    Some(text)
}

fn repair(case: &Case<'_>, probe: &Probe<'_>, fault: Fault) -> Try<Repair> {
    let path = file(case, probe)?;
    let lines = probe.lines(&path)?;
    let text = repaired(&lines, fault).ok_or(Halt::NotMine)?;
    let mut edit = Edit::new(&path, &lines);
    for (at, (old, new)) in lines.iter().zip(&text).enumerate() {
        if old != new {
            edit.replace(at + 1, new)?;
        }
    }
    let what = match fault {
        Fault::TrailingComma => "a comma before a closing bracket",
        Fault::MissingComma => "a comma missing between two members",
    };
    edit.repair(format!("{} had {what}, which JSON does not allow.", path.as_str()), 94)
}

pub(crate) fn trailing_comma(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    repair(case, probe, Fault::TrailingComma)
}

pub(crate) fn missing_comma(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    repair(case, probe, Fault::MissingComma)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commas_outside_of_strings_change() {
        let lines = ["{", "  \"a,}\": [1, 2,],", "  \"b\": \"x,\\\",]\"", "  ,", "}"];
        let fixed = repaired(&lines, Fault::TrailingComma).unwrap();
        assert_eq!(fixed, ["{", "  \"a,}\": [1, 2],", "  \"b\": \"x,\\\",]\"", "  ", "}"]);
        assert_eq!(repaired(&["{", "  x: 1,", "}"], Fault::TrailingComma), None);
        let fixed =
            repaired(&["{", " \"a\": 1", " \"b\": {}", " \"c\": []", "}"], Fault::MissingComma).unwrap();
        assert_eq!(fixed, ["{", " \"a\": 1,", " \"b\": {},", " \"c\": []", "}"]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_out_is_json(
            lines in proptest::collection::vec("[\\[\\]{},:\"a1\\\\ ]{0,6}", 0..6),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            for fault in [Fault::TrailingComma, Fault::MissingComma] {
                if let Some(text) = repaired(&lines, fault) {
                    let read = serde_json::from_str::<serde_json::Value>(&text.join("\n"));
                    proptest::prop_assert!(read.is_ok());
                }
            }
        }
    }
}
