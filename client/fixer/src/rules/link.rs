//! The linker: libraries and functions that it did not find.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::compile::COMPILERS;
use super::headers;
use super::probe::Probe;
use super::text::RelPath;

/// The names that the linker did not find, each once.
fn undefined<'c>(case: &'c Case<'_>) -> Try<Vec<&'c str>> {
    let message = regex!(r"undefined reference to (?:symbol )?[`']([^'\n]+)'");
    let mut names = Vec::new();
    for found in case.all(message) {
        let name = found.get(1).mine()?.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    mine(!names.is_empty())?;
    Ok(names)
}

/// The libraries that define everything that is missing, as `-l` words.
pub(crate) fn missing_libraries(case: &Case<'_>) -> Try<Vec<String>> {
    let mut libraries: Vec<String> = Vec::new();
    for name in undefined(case)? {
        let flag = format!("-l{}", headers::library(name).mine()?);
        if !libraries.contains(&flag) {
            libraries.push(flag);
        }
    }
    Ok(libraries)
}

pub(crate) fn missing_library(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(COMPILERS)?;
    let libraries = missing_libraries(case)?.join(" ");
    Repair::command(
        case.with_appended(compiler, &libraries)?,
        format!(
            "The program calls functions of a library that was not linked: {libraries}, after the sources."
        ),
        96,
    )
}

/// The one source file of the tree that defines this function at the left margin.
pub(crate) fn definition(probe: &Probe<'_>, name: &str, extension: &str) -> Try<RelPath> {
    let mut files: Vec<RelPath> = probe
        .grep(name, extension)?
        .into_iter()
        .filter(|(_, text)| defines(text, name))
        .map(|(path, _)| path)
        .collect();
    files.sort();
    files.dedup();
    match files.as_slice() {
        [file] => Ok(file.clone()),
        [] => Err(Halt::decline(format!("no source file defines {name}"))),
        _ => Err(Halt::decline(format!("several source files define {name}"))),
    }
}

/// `int helper(int a) {` defines, `int helper(int);` and `return helper(1);` do not.
fn defines(line: &str, name: &str) -> bool {
    let starts =
        line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !line.starts_with("return");
    let Some(at) = line.find(name) else { return false };
    let after = line.get(at + name.len()..).unwrap_or_default().trim_start();
    let before = line.get(..at).unwrap_or_default();
    starts
        && !before.trim().is_empty()
        && !before.contains(['=', '(', ';'])
        && !before.split_whitespace().any(|word| matches!(word, "static" | "extern" | "typedef"))
        && after.starts_with('(')
        && !line.trim_end().ends_with(';')
}

pub(crate) fn sibling_source(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(COMPILERS)?;
    let names = undefined(case)?;
    mine(names.iter().all(|name| headers::library(name).is_none()))?;
    let sources = |ending: &str| compiler.arg_texts().any(|word| word.ends_with(ending));
    let extension = if sources(".cpp") { "cpp" } else { "c" };
    mine(sources(".cpp") || sources(".c"))?;
    let mut files: Vec<RelPath> = Vec::new();
    for name in names {
        let bare = name.split('(').next().unwrap_or(name);
        let bare = super::text::identifier(bare).mine()?;
        if bare == "main" {
            return Err(Halt::NotMine);
        }
        let file = definition(probe, bare, extension)?;
        if compiler.arg_texts().any(|word| RelPath::parse(word).as_ref() == Some(&file)) {
            return Err(Halt::decline(format!("{} is compiled already", file.as_str())));
        }
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let list: Vec<String> = files.iter().map(RelPath::quoted).collect();
    let last = compiler.args().iter().rfind(|word| word.text.ends_with(&format!(".{extension}"))).mine()?;
    Repair::command(
        case.with(&(last.span.end..last.span.end), &format!(" {}", list.join(" ")))?,
        format!("What is missing is defined in {}, which was not compiled with it.", list.join(", ")),
        93,
    )
}

pub(crate) fn library_path(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let compiler = case.only(COMPILERS)?;
    let found = case.find(regex!(r"(?m)cannot find -l([\w.+-]+)(?:: No such file or directory)?$"))?;
    let library = super::text::name(found.get(1).mine()?.as_str()).mine()?;
    let mut folders = Vec::new();
    for ending in ["a", "so"] {
        for path in probe.find(&format!("lib{library}.{ending}"))? {
            let folder = path.folder();
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    let [folder] = folders.as_slice() else {
        return Err(Halt::decline(format!("there is not exactly one folder with the library {library}")));
    };
    let flag = super::shell::quote(&format!("-L{}", folder.as_str()));
    Repair::command(
        case.with_before(compiler.args().first().mine()?, &flag)?,
        format!("The library {library} lies in {}, where the linker was not told to look.", folder.as_str()),
        93,
    )
}

pub(crate) fn archive_index(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let mut programs = COMPILERS.to_vec();
    programs.extend(["make", "ld"]);
    case.any(&programs)?;
    let found = case.find(regex!(
        r"(?m)ld: ([^\s:]+\.a): error adding symbols: archive has no index; run ranlib to add one"
    ))?;
    let path = probe.relative(found.get(1).mine()?.as_str())?;
    Repair::world(
        format!("ranlib {}", path.quoted()),
        format!("The archive {} had no index of its symbols.", path.as_str()),
        96,
    )
}
