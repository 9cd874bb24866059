//! C and C++ compilers: what stops before the linker.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::{Edit, missing_folder, word_places};
use super::headers;
use super::probe::Probe;
use super::text::{self, RelPath};

/// C and C++ compiler drivers.
pub(crate) const COMPILERS: &[&str] = &["gcc", "g++", "cc", "c++", "clang", "clang++"];
const WITH_MAKE: &[&str] = &["gcc", "g++", "cc", "c++", "clang", "clang++", "make", "gmake"];

/// A source file of a diagnostic, relative to where the principal stands (`make -C` changes folders).
fn source(case: &Case<'_>, probe: &Probe<'_>, raw: &str) -> Try<RelPath> {
    let path = probe.relative(raw)?;
    match case.any(&["make", "gmake"]).ok().and_then(|make| make.option("-C")) {
        Some(folder) if !raw.starts_with('/') => {
            Ok(path.below(&RelPath::parse(folder).or_decline("make works in an unusual folder")?))
        }
        _ => Ok(path),
    }
}

/// Adds `#include <header>` lines before the first include of the file, or at its top.
fn include(path: &RelPath, lines: &[&str], headers: &[&str], confidence: u8) -> Try<Repair> {
    let missing: Vec<&str> = headers
        .iter()
        .copied()
        .filter(|header| {
            !lines.iter().any(|line| line.replace(' ', "").starts_with(&format!("#include<{header}>")))
        })
        .collect();
    if missing.is_empty() {
        return Err(Halt::decline("the header is included already"));
    }
    let first =
        lines.iter().position(|line| line.trim_start().starts_with("#include")).map_or(1, |at| at + 1);
    let mut edit = Edit::new(path, lines);
    for header in &missing {
        edit.insert(first, &format!("#include <{header}>"))?;
    }
    let list = missing.join(">, <");
    edit.repair(format!("{} uses what <{list}> declares and did not include it.", path.as_str()), confidence)
}

/// What every header rule does: `first` names the kind of message that must come first.
fn missing_header(case: &Case<'_>, probe: &Probe<'_>, first: &str) -> Try<Repair> {
    case.any(WITH_MAKE)?;
    let message = regex!(
        r"(?m)^([^\s:][^:\n]*):\d+:\d+: (error|warning): (unknown type name|implicit ",
        r"declaration of function|use of undeclared identifier|call to undeclared (?:library ",
        r")?function) '(\w+)'|^([^\s:][^:\n]*):\d+:\d+: (error): '(\w+)' undeclared"
    );
    let (mut file, mut found, mut kind) = (None, Vec::new(), None);
    for found_message in case.all(message) {
        let group = |at| found_message.get(at).map(|m: regex::Match<'_>| m.as_str());
        let (here, what, name) = match (group(1), group(3), group(4)) {
            (Some(here), Some(what), Some(name)) => (here, what, name),
            _ => (group(5).mine()?, "undeclared", group(7).mine()?),
        };
        let Some(header) = headers::c_header(name) else { continue };
        kind.get_or_insert(match what {
            "unknown type name" => "type",
            "undeclared" | "use of undeclared identifier" => "macro",
            _ => "function",
        });
        if *file.get_or_insert(here) == here && !found.contains(&header) {
            found.push(header);
        }
    }
    mine(kind == Some(first))?;
    let path = source(case, probe, file.mine()?)?;
    mine(path.as_str().ends_with(".c") || path.as_str().ends_with(".h"))?;
    let lines = probe.lines(&path)?;
    include(&path, &lines, &found, 95)
}

pub(crate) fn type_header(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    missing_header(case, probe, "type")
}

pub(crate) fn macro_header(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    missing_header(case, probe, "macro")
}

pub(crate) fn function_header(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    missing_header(case, probe, "function")
}

pub(crate) fn std_header(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(WITH_MAKE)?;
    let message = regex!(
        r"(?m)^([^\s:][^:\n]*):\d+:\d+: error: '(?:std::)?(\w+)' (?:is not a member of 'std'|in ",
        r"namespace 'std' does not name a (?:template )?type)"
    );
    let (mut file, mut found) = (None, Vec::new());
    for message in case.all(message) {
        let (here, name) = (message.get(1).mine()?.as_str(), message.get(2).mine()?.as_str());
        let Some(header) = headers::std_header(name) else { continue };
        if *file.get_or_insert(here) == here && !found.contains(&header) {
            found.push(header);
        }
    }
    let path = source(case, probe, file.mine()?)?;
    let lines = probe.lines(&path)?;
    include(&path, &lines, &found, 95)
}

/// Where a diagnostic's column points in a line: gcc 11 and later count display columns with tabs of 8,
/// older ones and clang count bytes.
fn offset(line: &str, column: usize, token: &str) -> Try<usize> {
    let mut display = 1usize;
    let mut by_display = None;
    for (at, letter) in line.char_indices() {
        if display == column {
            by_display = Some(at);
            break;
        }
        display += if letter == '\t' { 8 - (display - 1) % 8 } else { 1 };
    }
    let fits = |at: &usize| line.get(*at..).is_some_and(|rest| rest.starts_with(token));
    let by_bytes = column.checked_sub(1);
    by_display
        .filter(fits)
        .or(by_bytes.filter(fits))
        .or_decline("the column does not show what the error names")
}

pub(crate) fn did_you_mean(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(WITH_MAKE)?;
    let message = regex!(
        r"(?m)^([^\s:][^:\n]*):(\d+):(\d+): (?:error|warning): (?:implicit declaration of ",
        r"function '(\w+)'|'(\w+)' undeclared \(first use in this function\)|'[^'\n]+' has no ",
        r"member named '(\w+)'|unknown type name '(\w+)'|'(\w+)' was not declared in this ",
        r"scope); did you mean '(\w+)'\?"
    );
    let mut file = None;
    let mut places: Vec<(usize, usize, &str, &str)> = Vec::new();
    for found in case.all(message) {
        let here = found.get(1).mine()?.as_str();
        let number = |at: usize| found.get(at).and_then(|m| m.as_str().parse::<usize>().ok());
        let typed = (4..=8).find_map(|at| found.get(at)).mine()?.as_str();
        let meant = found.get(9).mine()?.as_str();
        // A name that a header declares is a missing include, whatever the compiler suggests.
        if headers::c_header(typed).is_some() || text::distance(typed, meant) > 2 {
            continue;
        }
        if *file.get_or_insert(here) == here {
            places.push((number(2).mine()?, number(3).mine()?, typed, meant));
        }
    }
    let path = source(case, probe, file.mine()?)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let numbers: std::collections::BTreeSet<usize> = places.iter().map(|place| place.0).collect();
    for number in numbers {
        let mut line = edit.line(number)?.to_owned();
        let mut here: Vec<_> = places.iter().filter(|place| place.0 == number).collect();
        here.sort_by_key(|place| std::cmp::Reverse(place.1));
        here.dedup();
        for (_, column, typed, meant) in here {
            let at = offset(&line, *column, typed)?;
            line.replace_range(at..at + typed.len(), meant);
        }
        edit.replace(number, &line)?;
    }
    // The compiler names a misspelt variable once for each function: its other uses there need the same.
    let names: Vec<String> =
        places.iter().map(|(_, _, typed, meant)| format!("{typed} is {meant}")).collect();
    edit.repair(format!("Misspelt names in {}: {}.", path.as_str(), names.join(", ")), 85)
}

pub(crate) fn semicolon(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(WITH_MAKE)?;
    let message = regex!(
        r"(?m)^([^\s:][^:\n]*):(\d+):(\d+): error: expected (?:',' or ';'|';') (?:before|after)[^\n]*$"
    );
    let mut file = None;
    let mut found: Vec<(usize, usize)> = Vec::new();
    for message in case.all(message) {
        let here = message.get(1).mine()?.as_str();
        let number = |at: usize| message.get(at).and_then(|m| m.as_str().parse::<usize>().ok());
        if *file.get_or_insert(here) == here {
            found.push((number(2).mine()?, number(3).mine()?));
        }
    }
    let path = source(case, probe, file.mine()?)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    for (line, column) in found {
        // Either the place where the `;` belongs (the end of a line), or the first token after it.
        let text = edit.line(line)?;
        let before: String = text.chars().take(column.saturating_sub(1)).collect();
        let number = match before.trim().is_empty() {
            false if offset_is_end(text, column) => line,
            false => return Err(Halt::decline("the place for the semicolon is not at the end of a line")),
            true => (1..line)
                .rev()
                .find(|&at| edit.line(at).is_ok_and(|text| !text.trim().is_empty()))
                .or_decline("no line stands before the error")?,
        };
        let text = edit.line(number)?;
        let clean = !text.contains("//") && !text.contains("/*") && !text.trim_start().starts_with('#');
        let ends = text.trim_end().ends_with(|c: char| c.is_alphanumeric() || "_)]}\"'+-".contains(c));
        if !clean || !ends {
            return Err(Halt::decline(
                "the line before the error does not look like a statement without its end",
            ));
        }
        edit.replace(number, &format!("{};", text.trim_end()))?;
    }
    edit.repair(format!("A semicolon was missing in {}.", path.as_str()), 85)
}

fn offset_is_end(line: &str, column: usize) -> bool {
    // The column after the last character, counted with tabs of 8 or in bytes.
    let trimmed = line.trim_end();
    let mut display = 1;
    for letter in trimmed.chars() {
        display += if letter == '\t' { 8 - (display - 1) % 8 } else { 1 };
    }
    display == column || trimmed.len() + 1 == column
}

/// The missing header of a diagnostic, found in the tree: the folder to search in.
pub(crate) fn header_in_tree<'c>(case: &'c Case<'_>, probe: &Probe<'_>) -> Try<(RelPath, &'c str)> {
    let found = case.find(regex!(
        r"(?m)^[^\s:][^:\n]*:\d+:\d+: fatal error: '?([\w./+-]+)'?(?:: No such file or ",
        r"directory| file not found)"
    ))?;
    let header = found.get(1).mine()?.as_str();
    let wanted = RelPath::parse(header).mine()?;
    // `#include <net/util.h>` is found in `include` when `include/net/util.h` exists.
    let places: Vec<RelPath> = probe
        .find(wanted.name())?
        .into_iter()
        .filter_map(|path| match path.as_str().strip_suffix(wanted.as_str())? {
            "" => RelPath::parse("."),
            folder => RelPath::parse(folder.strip_suffix('/')?),
        })
        .collect();
    match places.as_slice() {
        [place] => Ok((place.clone(), header)),
        [] => Err(Halt::decline(format!("there is no {header} below the working folder"))),
        _ => Err(Halt::decline(format!("there are several {header} below the working folder"))),
    }
}

pub(crate) fn include_path(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(COMPILERS)?;
    let (folder, header) = header_in_tree(case, probe)?;
    let first = compiler.args().first().mine()?;
    let flag = super::shell::quote(&format!("-I{}", folder.as_str()));
    Repair::command(
        case.with_before(first, &flag)?,
        format!("{header} lies in {}, where the compiler was not told to look.", folder.as_str()),
        93,
    )
}

pub(crate) fn input_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(COMPILERS)?;
    let found = case.find(regex!(
        r"(?m)^(?:cc1(?:plus)?: fatal error|(?:gcc|g\+\+|cc|c\+\+): error|clang(?:\+\+)?: ",
        r"error: no such file or directory): '?([^':\n]+)'?(?:: No such file or directory)?$"
    ))?;
    let typed = found.get(1).mine()?.as_str();
    case.correct_path(probe, compiler, typed, |entry| !entry.folder)
}

pub(crate) fn option_typo(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(COMPILERS)?;
    let found = case
        .find(regex!(r"unrecogni[sz]ed command-line option '(-[\w=+-]+)'; did you mean '(-[\w=+-]+)'\?"))?;
    let (typed, meant) = (found.get(1).mine()?.as_str(), found.get(2).mine()?.as_str());
    mine(text::distance(typed, meant) <= 2)?;
    case.correct_word(
        compiler,
        typed,
        meant,
        format!("The option {typed} does not exist; {meant} was meant."),
    )
}

pub(crate) fn newer_standard(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(COMPILERS)?;
    case.find(regex!(r"are only allowed in C99 or C11 mode|use option '-std=c99', '-std=gnu99'"))?;
    let old = ["-std=c89", "-std=c90", "-std=gnu89", "-std=gnu90", "-ansi", "-std=iso9899:1990"];
    let word = compiler.args().iter().find(|word| old.contains(&word.text.as_str())).mine()?;
    let new = if word.text.starts_with("-std=gnu") { "-std=gnu99" } else { "-std=c99" };
    Repair::command(
        case.with_word(word, new)?,
        format!(
            "The source declares a variable inside a for loop, which C allows since 1999; {new} selects that."
        ),
        88,
    )
}

pub(crate) fn output_folder(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(WITH_MAKE)?;
    let found = case.find(regex!(
        r"(?m)(?:cannot open output file|Fatal error: can't create|error: unable to open output ",
        r"file) '?([^\s:']+)'?: '?No such file or directory"
    ))?;
    let path = source(case, probe, found.get(1).mine()?.as_str())?;
    missing_folder(probe, &path.parent().mine()?, 95)
}

pub(crate) fn needs_cxx(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(&["gcc", "cc", "clang"])?;
    case.find(regex!(
        r"undefined reference to `(?:std::|operator new|__gxx_personality_v0|vtable for __cxxabiv1)"
    ))?;
    let cxx_source = |word: &str| [".cpp", ".cc", ".cxx", ".C"].iter().any(|ending| word.ends_with(ending));
    mine(compiler.arg_texts().any(cxx_source))?;
    let word = compiler.words.first().mine()?;
    let program = match word.text.rsplit_once('/') {
        None => word.text.clone(),
        Some(_) => return Err(Halt::decline("the compiler was called by its path")),
    };
    let right = match program.as_str() {
        "cc" => "c++".to_owned(),
        other if other.starts_with("gcc") => other.replacen("gcc", "g++", 1),
        other => other.replacen("clang", "clang++", 1),
    };
    Repair::command(
        case.with_word(word, &right)?,
        "A C++ program needs the C++ driver, which links the C++ library.",
        94,
    )
}

/// Used by the tests of other modules: whether a word stands alone in a line.
pub(crate) fn stands_alone(line: &str, word: &str) -> bool {
    word_places(line, word).next().is_some()
}
