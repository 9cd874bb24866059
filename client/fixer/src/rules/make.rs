//! make: the makefile itself, and what the linker or compiler says through it.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::compile;
use super::edit::Edit;
use super::link;
use super::probe::Probe;
use super::text::{self, RelPath};

const MAKE: &[&str] = &["make", "gmake"];

/// The makefile that the command reads.
fn makefile<'p>(case: &Case<'_>, probe: &Probe<'p>) -> Try<(RelPath, Vec<&'p str>)> {
    let make = case.any(MAKE)?;
    let folder = match make.option("-C") {
        Some(folder) => RelPath::parse(folder).or_decline("make works in an unusual folder")?,
        None => RelPath::parse(".").mine()?,
    };
    let named = case
        .find(regex!(r"(?m)^make(?:\[\d+\])?: \*\*\* \[([\w.-]+):\d+: |^([\w./-]+):\d+: \*\*\* "))
        .ok()
        .and_then(|found| found.get(1).or(found.get(2)).map(|name| name.as_str().to_owned()));
    let name = match make.option("-f") {
        Some(name) => name.to_owned(),
        None => named.unwrap_or_else(|| "Makefile".to_owned()),
    };
    let path = RelPath::parse(&name).or_decline("the makefile has an unusual name")?.below(&folder);
    let lines = probe.lines(&path)?;
    Ok((path, lines))
}

fn is_recipe(line: &str) -> bool {
    line.starts_with('\t')
}

/// A rule's first line: a target, a colon, no assignment.
fn targets(line: &str) -> Option<&str> {
    let (left, right) = line.split_once(':')?;
    let starts = line.starts_with(|c: char| c.is_ascii_alphanumeric() || "_./$%".contains(c));
    (starts && !right.starts_with('=') && !left.contains('=')).then_some(left)
}

pub(crate) fn separator(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(MAKE)?;
    case.find(regex!(
        r"(?m)^[\w./-]+:\d+: \*\*\* missing separator(?: \(did you mean TAB instead of 8 ",
        r"spaces\?\))?\.  Stop\.$"
    ))?;
    let (path, lines) = makefile(case, probe)?;
    let mut edit = Edit::new(&path, &lines);
    let mut in_rule = false;
    let mut wrong = 0;
    for (at, line) in lines.iter().enumerate() {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if targets(line).is_some() {
            in_rule = true;
        } else if in_rule && spaces >= 2 && !line.trim().is_empty() {
            wrong += 1;
            if wrong > 60 {
                return Err(Halt::decline("too many lines would change"));
            }
            edit.replace(at + 1, &format!("\t{}", line.trim_start_matches(' ')))?;
        } else if !is_recipe(line) && !line.trim().is_empty() && !line.starts_with('#') {
            in_rule = false;
        }
    }
    edit.repair(format!("Recipe lines in {} began with spaces; make wants a tab.", path.as_str()), 95)
}

pub(crate) fn target_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let make = case.only(MAKE)?;
    let found = case.find(regex!(r"(?m)^make: \*\*\* No rule to make target '([^'\n]+)'\.  Stop\.$"))?;
    let typed = found.get(1).mine()?.as_str();
    let word = make.arg(typed).mine()?;
    let (path, lines) = makefile(case, probe)?;
    let known: Vec<&str> = lines
        .iter()
        .filter_map(|line| targets(line))
        .flat_map(str::split_whitespace)
        .filter(|name| !name.starts_with('.') && !name.contains(['%', '$']))
        .collect();
    let meant = text::meant(typed, known).and_then(text::name);
    let meant = meant.or_decline(&format!("no target of {} has a name like it", path.as_str()))?;
    Repair::command(
        case.with_word(word, meant)?,
        format!("{} has no target {typed}, but it has {meant}.", path.as_str()),
        92,
    )
}

pub(crate) fn prerequisite(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(MAKE)?;
    let found = case.find(regex!(
        r"(?m)^make(?:\[\d+\])?: \*\*\* No rule to make target '([^'\n]+)', needed by '[^'\n]+'\.  Stop\.$"
    ))?;
    let wanted = RelPath::parse(found.get(1).mine()?.as_str()).or_decline("the file has an unusual name")?;
    mine(case.any(MAKE)?.option("-C").is_none())?;
    let (path, lines) = makefile(case, probe)?;
    let users: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.split([' ', '\t', ':', '=']).any(|word| word == wanted.as_str()))
        .map(|(at, _)| at + 1)
        .collect();
    if users.is_empty() {
        return Err(Halt::decline("the makefile does not name the file literally"));
    }
    // The same name elsewhere, or another spelling in the same folder.
    let elsewhere = probe.find(wanted.name())?;
    let right = match elsewhere.as_slice() {
        [place] => place.clone(),
        [] => {
            let files = probe.files(&wanted.folder())?;
            let meant = text::meant(wanted.name(), files.iter().map(String::as_str));
            let meant = meant.or_decline("no single file has a name like it")?;
            wanted.with_name(meant).or_decline("the file's name is unusual")?
        }
        _ => return Err(Halt::decline("several files have this name")),
    };
    let mut edit = Edit::new(&path, &lines);
    for number in users {
        let line = edit.line(number)?;
        let new: Vec<String> = line
            .split_inclusive([' ', '\t', ':', '='])
            .map(|part| {
                let word = part.trim_end_matches([' ', '\t', ':', '=']);
                if word == wanted.as_str() { part.replacen(word, right.as_str(), 1) } else { part.to_owned() }
            })
            .collect();
        edit.replace(number, &new.concat())?;
    }
    edit.repair(
        format!("{} names {}, but the file is {}.", path.as_str(), wanted.as_str(), right.as_str()),
        86,
    )
}

/// Adds words to the command that links: to a variable that its recipe or make's own rules use, or to the
/// recipe's line.
pub(crate) fn library(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(MAKE)?;
    let libraries = link::missing_libraries(case)?.join(" ");
    let (path, lines) = makefile(case, probe)?;
    let explanation = format!(
        "The program calls functions of a library that {} does not link: {libraries}.",
        path.as_str()
    );
    let mut edit = Edit::new(&path, &lines);
    let linking: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_recipe(line) && calls_compiler(line) && !compile::stands_alone(line, "-c"))
        .filter(|(_, line)| !line.split_whitespace().any(|word| word == "-c"))
        .map(|(at, _)| at + 1)
        .collect();
    let uses = |name: &str| lines.iter().any(|line| is_recipe(line) && line.contains(&format!("$({name})")));
    let variable = ["LDLIBS", "LIBS", "LDLIB"].into_iter().find(|name| uses(name));
    match (variable, linking.as_slice()) {
        (Some(name), _) => add_to_variable(&mut edit, &lines, name, &libraries)?,
        // make's own rule for programs ends with $(LOADLIBES) $(LDLIBS).
        (None, []) => add_to_variable(&mut edit, &lines, "LDLIBS", &libraries)?,
        (None, [line]) => {
            let text = edit.line(*line)?;
            if text.ends_with('\\') || text.contains([';', '|', '&', '#', '>']) {
                return Err(Halt::decline("the recipe that links is not one plain command"));
            }
            edit.replace(*line, &format!("{} {libraries}", text.trim_end()))?;
        }
        (None, _) => return Err(Halt::decline("several recipes link, and none uses LDLIBS")),
    }
    edit.repair(explanation, 94)
}

fn calls_compiler(line: &str) -> bool {
    let first = line.trim_start_matches(['\t', ' ', '@', '-']).split_whitespace().next().unwrap_or_default();
    matches!(
        first,
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "$(CC)" | "$(CXX)" | "${CC}" | "${CXX}"
    )
}

fn add_to_variable(edit: &mut Edit<'_>, lines: &[&str], name: &str, words: &str) -> Try<()> {
    let defined = lines.iter().position(|line| {
        line.strip_prefix(name).is_some_and(|rest| {
            let rest = rest.trim_start();
            ["=", ":=", "+=", "?=", "::="].iter().any(|operator| rest.starts_with(operator))
        })
    });
    match defined {
        Some(at) => {
            let text = edit.line(at + 1)?;
            if text.ends_with('\\') || text.contains('#') {
                return Err(Halt::decline(format!("the definition of {name} is not one plain line")));
            }
            edit.replace(at + 1, &format!("{} {words}", text.trim_end()))
        }
        None => edit.insert(1, &format!("{name} += {words}")),
    }
}

pub(crate) fn include_path(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let make = case.any(MAKE)?;
    mine(make.option("-C").is_none())?;
    let (folder, header) = compile::header_in_tree(case, probe)?;
    let (path, lines) = makefile(case, probe)?;
    let flag = format!("-I{}", folder.as_str());
    if flag.contains(' ') {
        return Err(Halt::decline("the folder's name has a blank"));
    }
    let mut edit = Edit::new(&path, &lines);
    let recipes: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_recipe(line) && calls_compiler(line))
        .map(|(at, _)| at + 1)
        .collect();
    let variable = ["CPPFLAGS", "CFLAGS", "CXXFLAGS"].into_iter().find(|name| {
        !recipes.is_empty()
            && recipes.iter().all(|&at| edit.line(at).is_ok_and(|line| line.contains(&format!("$({name})"))))
    });
    match (variable, recipes.as_slice()) {
        (Some(name), _) => add_to_variable(&mut edit, &lines, name, &flag)?,
        // make's own rules use $(CPPFLAGS).
        (None, []) => add_to_variable(&mut edit, &lines, "CPPFLAGS", &flag)?,
        (None, lines_of_recipes) => {
            for &number in lines_of_recipes {
                let line = edit.line(number)?;
                let start = line.len() - line.trim_start_matches(['\t', ' ', '@', '-']).len();
                let program = line.get(start..).mine()?.split_whitespace().next().mine()?;
                edit.splice(number, start, program, &format!("{program} {flag}"))?;
            }
        }
    }
    edit.repair(
        format!(
            "{header} lies in {}, where {} did not tell the compiler to look.",
            folder.as_str(),
            path.as_str()
        ),
        92,
    )
}
