//! find, grep, sed and patch.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::probe::Probe;
use super::shell::quote;

pub(crate) fn find_pattern(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let find = case.only(&["find"])?;
    case.find(regex!(
        r"(?m)^find: paths must precede expression: [`'][^'\n]+'\nfind: possible unquoted ",
        r"pattern after predicate [`']-i?(?:name|path|wholename)'\?$"
    ))?;
    // A deletion with a pattern that the shell has replaced is nothing to guess about.
    mine(!find.arg_texts().any(|word| matches!(word, "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir")))?;
    let mut pattern = None;
    for pair in find.args().windows(2) {
        let [option, word] = pair else { continue };
        if matches!(option.text.as_str(), "-name" | "-iname" | "-path" | "-ipath" | "-wholename") && word.glob
        {
            if pattern.is_some() {
                return Err(Halt::decline("several patterns are not quoted"));
            }
            pattern = Some(word);
        }
    }
    let word = pattern.mine()?;
    Repair::command(
        case.with(&word.span, &format!("'{}'", word.text.replace('\'', r"'\''")))?,
        "The shell replaced the pattern by file names; quoted, find sees it.",
        95,
    )
}

pub(crate) fn grep_folder(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let grep = case.only(&["grep", "egrep", "fgrep"])?;
    let found = case.find(regex!(r"(?m)^[ef]?grep: ([^:\n]+): Is a directory$"))?;
    let raw = found.get(1).mine()?.as_str();
    mine(grep.arg_texts().any(|word| word.trim_end_matches('/') == raw.trim_end_matches('/')))?;
    let first = grep.args().first().mine()?;
    Repair::command(
        case.with_before(first, "-r")?,
        format!("{raw} is a folder; grep reads folders with -r."),
        93,
    )
}

pub(crate) fn sed_unterminated(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let sed = case.only(&["sed"])?;
    case.find(regex!(r"(?m)^sed: -e expression #1, char \d+: unterminated `s' command$"))?;
    let scripts: Vec<_> = sed
        .args()
        .iter()
        .filter(|word| regex!(r"^s([/|,#!])[^\n]*$").is_match(&word.text))
        .filter(|word| {
            let Some(mark) = word.text.get(1..2) else { return false };
            word.text.matches(mark).count() == 2
                && !word.text.contains(['\\', ';'])
                && !word.text.ends_with(mark)
        })
        .collect();
    let [word] = scripts.as_slice() else {
        return Err(Halt::decline("it is not clear where the substitution ends"));
    };
    let mark = word.text.get(1..2).mine()?;
    Repair::command(
        case.with(&word.span, &quote(&format!("{}{mark}", word.text)))?,
        format!("The substitution lacked its last {mark}."),
        92,
    )
}

pub(crate) fn patch_level(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let patch = case.only(&["patch"])?;
    case.find(regex!(
        r"(?m)^can't find file to patch at input line \d+\nPerhaps you (?:used the wrong|should ",
        r"have used the) -p or --strip option\?$"
    ))?;
    let found = case.find(regex!(r"(?m)^\|--- a/(\S+)[^\n]*\n\|\+\+\+ b/(\S+)"))?;
    mine(found.get(1).mine()?.as_str() == found.get(2).mine()?.as_str())?;
    let level = patch.args().iter().find(|word| word.text.starts_with("-p"));
    let corrected = match level {
        Some(word) if word.text == "-p0" => case.with_word(word, "-p1")?,
        Some(_) => return Err(Halt::NotMine),
        None => case.with(&(patch_end(patch)..patch_end(patch)), " -p1")?,
    };
    Repair::command(
        corrected,
        "The patch was made by git: its paths begin with a/ and b/, which -p1 strips.",
        94,
    )
}

/// Right after the program's name.
fn patch_end(patch: &super::shell::Simple) -> usize {
    patch.words.first().map_or(0, |word| word.span.end)
}
