//! Cargo: its command line and manifests.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::Edit;
use super::probe::Probe;
use super::shell::quote;
use super::text::{self, RelPath};

const CARGO: &[&str] = &["cargo"];

fn manifest<'p>(probe: &Probe<'p>) -> Try<(RelPath, Vec<&'p str>)> {
    let path = RelPath::parse("Cargo.toml").mine()?;
    let lines = probe.lines(&path)?;
    Ok((path, lines))
}

/// The number of a table's heading line.
fn table(lines: &[&str], name: &str) -> Option<usize> {
    lines.iter().position(|line| line.trim() == format!("[{name}]")).map(|at| at + 1)
}

pub(crate) fn command_typo(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let cargo = case.only(CARGO)?;
    let found = case.find(regex!(
        r"(?m)^error: no such command: `([\w-]+)`\n\n(?:help: a command with a similar name ",
        r"exists: `([\w-]+)`|\tDid you mean `([\w-]+)`\?)$"
    ))?;
    let typed = found.get(1).mine()?.as_str();
    let meant = found.get(2).or(found.get(3)).mine()?.as_str();
    mine(text::distance(typed, meant) <= 2)?;
    if matches!(meant, "clean" | "publish" | "yank" | "uninstall" | "owner" | "login" | "logout") {
        return Err(Halt::decline(format!("cargo {meant} is nothing to guess about")));
    }
    case.correct_word(cargo, typed, meant, format!("cargo has no command {typed}; {meant} was meant."))
}

pub(crate) fn target_typo(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let cargo = case.only(CARGO)?;
    let found = case.find(regex!(
        r"(?m)^error: no (?:bin|example|test|bench) target named `([\w-]+)`[^\n]*\n\n?(?:help: ",
        r"a target with a similar name exists: `([\w-]+)`|\tDid you mean `([\w-]+)`\?)"
    ))?;
    let typed = found.get(1).mine()?.as_str();
    let meant = found.get(2).or(found.get(3)).mine()?.as_str();
    mine(text::distance(typed, meant) <= 2)?;
    case.correct_word(cargo, typed, meant, format!("The package has no target {typed}, but it has {meant}."))
}

pub(crate) fn option_typo(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let cargo = case.only(CARGO)?;
    let found = case.find(regex!(
        r"(?m)^error: unexpected argument '(--[\w-]+)' found\n\n\s+tip: a similar argument ",
        r"exists: '(--[\w-]+)'$"
    ))?;
    let (typed, meant) = (found.get(1).mine()?.as_str(), found.get(2).mine()?.as_str());
    mine(text::distance(typed, meant) <= 2)?;
    case.correct_word(cargo, typed, meant, format!("cargo has no option {typed}; {meant} was meant."))
}

pub(crate) fn required_features(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let cargo = case.only(CARGO)?;
    let found = case.find(regex!(
        r#"(?m)^error: target `[\w-]+` in package `[\w-]+` requires the features: "#,
        r#"[^\n]+\nConsider enabling them by passing, e\.g\., `--features="([\w ,/-]+)"`$"#
    ))?;
    let features = found.get(1).mine()?.as_str();
    mine(cargo.option("--features").is_none())?;
    let verb = cargo.args().first().mine()?;
    Repair::command(
        case.with(&(verb.span.end..verb.span.end), &format!(" --features {}", quote(features)))?,
        format!("The target needs the features {features}."),
        94,
    )
}

pub(crate) fn manifest_folder(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let cargo = case.only(CARGO)?;
    case.find(regex!(r"(?m)^error: could not find `Cargo\.toml` in `[^`\n]+` or any parent directory$"))?;
    mine(cargo.option("--manifest-path").is_none())?;
    let found = probe.find("Cargo.toml")?;
    // The workspace's own manifest is the one above all others.
    let mut tops: Vec<&RelPath> = Vec::new();
    for path in &found {
        let below = |top: &&RelPath| path.as_str().starts_with(&format!("{}/", top.folder().as_str()));
        if !tops.iter().any(below) {
            tops.push(path);
        }
    }
    let [path] = tops.as_slice() else {
        return Err(Halt::decline("there is not exactly one package below the working folder"));
    };
    let verb = cargo.args().first().mine()?;
    Repair::command(
        case.with(&(verb.span.end..verb.span.end), &format!(" --manifest-path {}", path.quoted()))?,
        format!("The package lies in {}.", path.folder().as_str()),
        90,
    )
}

pub(crate) fn edition(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(CARGO)?;
    case.find(regex!(r"(?m)^error\[E0670\]: `async fn` is not permitted in Rust 2015$"))?;
    let (path, lines) = manifest(probe)?;
    if lines.iter().any(|line| line.trim_start().starts_with("edition")) {
        return Err(Halt::decline("Cargo.toml states its edition"));
    }
    let at = table(&lines, "package").or_decline("Cargo.toml has no [package]")?;
    let mut edit = Edit::new(&path, &lines);
    edit.append(at, "edition = \"2021\"")?;
    edit.repair("Without an edition Rust 2015 is spoken, which has no async; Cargo.toml says 2021 now.", 90)
}

/// The edition that stands nearest to one that does not exist.
pub(crate) fn unknown_edition(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(CARGO)?;
    let found = case.find(regex!(
        r"supported edition values are (`\d{4}`(?:, (?:or )?`\d{4}`)+), but `(\d{4})` is unknown"
    ))?;
    let typed: u16 = found.get(2).mine()?.as_str().parse().ok().mine()?;
    let known = found.get(1).mine()?.as_str().split(|c: char| !c.is_ascii_digit());
    let meant =
        known.filter_map(|year| year.parse::<u16>().ok()).min_by_key(|year| year.abs_diff(typed)).mine()?;
    let (path, lines) = manifest(probe)?;
    let states =
        |line: &&str| line.trim_start().starts_with("edition") && line.contains(&format!("\"{typed}\""));
    let at = lines.iter().position(states).or_decline("Cargo.toml does not state this edition itself")?;
    let mut edit = Edit::new(&path, &lines);
    let line = edit.line(at + 1)?.replace(&typed.to_string(), &meant.to_string());
    edit.replace(at + 1, &line)?;
    edit.repair(format!("There is no edition {typed}; Cargo.toml says {meant} now."), 88)
}

pub(crate) fn unquoted_value(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(CARGO)?;
    let found = case.find(regex!(
        r"(?m)^error: string values must be quoted, expected literal string\n +--> ",
        r"(?:[^\n]*/)?Cargo\.toml:(\d+):\d+$"
    ))?;
    let number: usize = found.get(1).mine()?.as_str().parse().ok().mine()?;
    let (path, lines) = manifest(probe)?;
    let mut edit = Edit::new(&path, &lines);
    let line = edit.line(number)?;
    let plain = regex!(r"^(\s*[\w-]+\s*=\s*)([A-Za-z][\w.+-]*)\s*$").captures(line);
    let plain = plain.or_decline("the value is not a plain word")?;
    let new = format!("{}\"{}\"", &plain[1], &plain[2]);
    edit.replace(number, &new)?;
    edit.repair(format!("The value in line {number} of Cargo.toml needs quotes."), 94)
}

pub(crate) fn path_dependency(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(CARGO)?;
    let found = case.find(regex!(
        r"(?m)use of (?:unresolved module or unlinked crate|undeclared crate or module) `(\w+)`"
    ))?;
    let name = text::identifier(found.get(1).mine()?.as_str()).mine()?;
    mine(!case.says(&format!("to make use of source file src/{name}")))?;
    let mut folders = Vec::new();
    for spelling in [name.to_owned(), name.replace('_', "-")] {
        for folder in probe.find_folders(&spelling)? {
            if !folders.contains(&folder) && probe.files(&folder)?.iter().any(|file| file == "Cargo.toml") {
                folders.push(folder);
            }
        }
        if !name.contains('_') {
            break;
        }
    }
    let [folder] = folders.as_slice() else {
        return Err(Halt::decline(format!(
            "there is not exactly one package {name} below the working folder"
        )));
    };
    let (path, lines) = manifest(probe)?;
    let key = folder.name();
    if lines
        .iter()
        .any(|line| line.trim_start().starts_with(&format!("{key} ")) || line.contains(&format!("{key}=")))
    {
        return Err(Halt::decline(format!("Cargo.toml names {key} already")));
    }
    let entry = format!("{key} = {{ path = \"{}\" }}", folder.as_str());
    let mut edit = Edit::new(&path, &lines);
    match table(&lines, "dependencies") {
        Some(at) => edit.append(at, &entry)?,
        None => {
            let last = lines.len();
            edit.append(last, "")?;
            edit.append(last, "[dependencies]")?;
            edit.append(last, &entry)?;
        }
    }
    edit.repair(format!("The package {key} lies in {}; Cargo.toml depends on it now.", folder.as_str()), 92)
}

pub(crate) fn locked(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let cargo = case.any(CARGO)?;
    cargo.arg("--locked").mine()?;
    case.find(regex!(
        r"(?m)^error: (?:cannot (?:update|create) the lock file \S+ because --locked was passed|",
        r"the lock file \S+ needs to be updated but --locked was passed)"
    ))?;
    mine(cargo.option("--manifest-path").is_none())?;
    let offline = cargo.arg("--offline").is_some() || !case.failure.capabilities.network;
    let offline = if offline { " --offline" } else { "" };
    Repair::world(
        format!("cargo metadata{offline} --format-version 1 >/dev/null"),
        "Cargo.lock did not fit Cargo.toml; it is completed, and what it holds stays.",
        86,
    )
}

pub(crate) fn missing_target_file(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(CARGO)?;
    let found = case
        .find(regex!(r"(?m)^error: can't find (?:bin|lib|example|test|bench)[^\n]* at path `([^`\n]+)`$"))?;
    let wanted = probe.relative(found.get(1).mine()?.as_str())?;
    let files = probe.files(&wanted.folder())?;
    let meant = text::meant(wanted.name(), files.iter().map(String::as_str))
        .or_decline("no single file has a name like it")?;
    let right = wanted.with_name(meant).or_decline("the file's name is unusual")?;
    let (path, lines) = manifest(probe)?;
    let numbers: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains(wanted.as_str()))
        .map(|(at, _)| at + 1)
        .collect();
    let [number] = numbers.as_slice() else {
        return Err(Halt::decline("Cargo.toml does not name the file exactly once"));
    };
    let mut edit = Edit::new(&path, &lines);
    let new = edit.line(*number)?.replace(wanted.as_str(), right.as_str());
    edit.replace(*number, &new)?;
    edit.repair(format!("Cargo.toml names {}, but the file is {}.", wanted.as_str(), right.as_str()), 88)
}
