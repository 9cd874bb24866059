//! `find`: an expression, not options.

use super::Draft;
use super::grammar::Kind;
use super::refusal::Refusal;

/// Primaries without an argument.
const PLAIN: &[&str] = &[
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-true",
    "-false",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-noleaf",
    "-daystart",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-warn",
    "-nowarn",
    "-prune",
    "-quit",
    "-print",
    "-print0",
    "-ls",
    "-help",
    "--help",
    "-version",
    "--version",
];

/// Operators. Parentheses are words here, so they come quoted.
const OPERATORS: &[&str] = &["!", "-not", "-a", "-and", "-o", "-or", ","];

/// Primaries with one argument.
const WITH_ARGUMENT: &[(&str, Kind)] = &[
    ("-name", Kind::Text),
    ("-iname", Kind::Text),
    ("-path", Kind::Text),
    ("-ipath", Kind::Text),
    ("-wholename", Kind::Text),
    ("-iwholename", Kind::Text),
    ("-lname", Kind::Text),
    ("-ilname", Kind::Text),
    ("-regex", Kind::Text),
    ("-iregex", Kind::Text),
    (
        "-regextype",
        Kind::OneOf(&[
            "posix-extended",
            "posix-basic",
            "posix-egrep",
            "posix-grep",
            "posix-awk",
            "egrep",
            "grep",
            "awk",
            "emacs",
            "sed",
            "findutils-default",
            "ed",
            "gnu-awk",
            "posix-minimal-basic",
        ]),
    ),
    ("-type", Kind::ListOf(&["b", "c", "d", "p", "f", "l", "s"])),
    ("-size", Kind::Number),
    ("-links", Kind::Number),
    ("-inum", Kind::Number),
    ("-uid", Kind::Number),
    ("-gid", Kind::Number),
    ("-used", Kind::Number),
    ("-mtime", Kind::Number),
    ("-atime", Kind::Number),
    ("-ctime", Kind::Number),
    ("-mmin", Kind::Number),
    ("-amin", Kind::Number),
    ("-cmin", Kind::Number),
    ("-maxdepth", Kind::Number),
    ("-mindepth", Kind::Number),
    ("-user", Kind::Name),
    ("-group", Kind::Name),
    ("-fstype", Kind::Name),
    ("-perm", Kind::Text),
    ("-newer", Kind::Path),
    ("-anewer", Kind::Path),
    ("-cnewer", Kind::Path),
    ("-samefile", Kind::Path),
    ("-newermt", Kind::Text),
    ("-newerat", Kind::Text),
    ("-newerct", Kind::Text),
    ("-printf", Kind::Text),
];

/// `find [-P] [path…] [expression]`.
pub(super) fn read(draft: &mut Draft) -> Result<(), Refusal> {
    let mut index = 1;
    while draft.word(index).is_some_and(|word| word == "-P") {
        index += 1;
    }
    while let Some(word) = draft.word(index) {
        if word.starts_with('-') || matches!(word.as_str(), "(" | ")" | "!" | ",") {
            break;
        }
        draft.value("a starting point", Kind::Path, &word, index)?;
        index += 1;
    }
    let mut open = 0_usize;
    while let Some(word) = draft.word(index) {
        index += 1;
        match word.as_str() {
            "(" => open += 1,
            ")" => match open.checked_sub(1) {
                Some(left) => open = left,
                None => return Err(draft.refuse(&word, "as many `)` as `(` before them".into())),
            },
            plain if PLAIN.contains(&plain) || OPERATORS.contains(&plain) => {}
            other => {
                let Some((name, kind)) = WITH_ARGUMENT.iter().find(|(name, _)| *name == other) else {
                    return Err(draft.refuse(&word, allowed()));
                };
                let Some(value) = draft.word(index) else { return Err(draft.missing(name)) };
                draft.value(name, *kind, &value, index)?;
                index += 1;
            }
        }
    }
    if open > 0 {
        return Err(draft.needs("a `)` for every `(`"));
    }
    Ok(())
}

fn allowed() -> String {
    let names = PLAIN.iter().chain(OPERATORS).copied().chain(WITH_ARGUMENT.iter().map(|(name, _)| *name));
    format!("paths first, then {}", names.collect::<Vec<_>>().join(" "))
}
