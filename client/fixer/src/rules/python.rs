//! Running Python: modules, scripts, folders.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, base_name, mine, regex};
use super::edit::missing_folder;
use super::probe::Probe;
use super::python_source::{PYTHON, place};
use super::text::{self, RelPath};

/// The module that was not found, without its submodules.
pub(crate) fn missing_module<'c>(case: &'c Case<'_>) -> Try<&'c str> {
    let found =
        case.find(regex!(r"(?m)^(?:E +)?(?:ModuleNotFoundError|ImportError): No module named '([\w.]+)'$"))?;
    let name = found.get(1).mine()?.as_str();
    text::identifier(name.split('.').next().unwrap_or(name)).mine()
}

pub(crate) fn module_in_tree(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let python = case.only(&["python", "python3"])?;
    let module = missing_module(case)?;
    let mut roots: Vec<RelPath> = Vec::new();
    for package in probe.find_folders(module)? {
        // A package has an `__init__.py`; a folder without one is not certainly meant.
        if probe.files(&package)?.iter().any(|name| name == "__init__.py") {
            roots.push(package.folder());
        }
    }
    if roots.is_empty() {
        roots = probe.find(&format!("{module}.py"))?.iter().map(RelPath::folder).collect();
    }
    roots.sort();
    roots.dedup();
    let root = match roots.as_slice() {
        [root] => root,
        [] => return Err(Halt::NotMine),
        _ => return Err(Halt::decline(format!("several folders hold a module {module}"))),
    };
    if python.assignments.iter().any(|word| word.text.starts_with("PYTHONPATH=")) {
        return Err(Halt::decline("the command sets PYTHONPATH already"));
    }
    let start = python.words.first().mine()?;
    Repair::command(
        case.with_before(start, &format!("PYTHONPATH={}", root.quoted()))?,
        format!("The module {module} lies in {}, where Python was not told to look.", root.as_str()),
        90,
    )
}

pub(crate) fn relative_import(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let python = case.only(&["python", "python3"])?;
    case.find(regex!(r"(?m)^ImportError: attempted relative import with no known parent package$"))?;
    let script = python.args().first().mine()?;
    let path = RelPath::parse(&script.text).or_decline("the script lies outside the working folder")?;
    let package = path.parent().or_decline("the script lies in no package")?;
    let module = path.as_str().strip_suffix(".py").mine()?.replace('/', ".");
    mine(module.split('.').all(|part| text::identifier(part).is_some()))?;
    if !probe.files(&package)?.iter().any(|name| name == "__init__.py") {
        return Err(Halt::decline(format!("{} is not a package", package.as_str())));
    }
    Repair::command(
        case.with(&script.span, &format!("-m {module}"))?,
        format!(
            "{} belongs to a package and imports from it, so it is run as the module {module}.",
            path.as_str()
        ),
        93,
    )
}

pub(crate) fn script_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let python = case.only(&["python", "python3"])?;
    let found =
        case.find(regex!(r"(?m)can't open file '([^'\n]+)': \[Errno 2\] No such file or directory$"))?;
    let shown = found.get(1).mine()?.as_str();
    // Newer versions show the absolute path; the command has what was typed.
    let word = python.args().iter().find(|word| !word.text.starts_with('-')).mine()?;
    let typed = word.text.strip_prefix("./").unwrap_or(&word.text);
    mine(shown == word.text || shown.ends_with(&format!("/{typed}")))?;
    case.correct_path(probe, python, &word.text, |entry| !entry.folder && entry.name.ends_with(".py"))
}

pub(crate) fn output_folder(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    let found =
        case.find(regex!(r"(?m)^FileNotFoundError: \[Errno 2\] No such file or directory: '([^'\n]+)'$"))?;
    let raw = found.get(1).mine()?.as_str();
    // Only a write: a missing file that was to be read is not made by making its folder.
    let writes = regex!(
        r#"(?m)^\s+(?:.*\bopen\([^\n]*,\s*(?:mode=)?["'][wax]b?\+?t?["']|.*\.(?:write_text|"#,
        r#"write_bytes|touch|to_csv|savefig)\(|.*\bos\.mkdir\(|.*\.mkdir\(\))"#
    );
    mine(writes.is_match(&case.error))?;
    let path = RelPath::parse(raw).or_decline("the file lies outside the working folder")?;
    place(case, probe)
        .or_else(|halt| if matches!(halt, Halt::Decline(_)) { Ok((path.clone(), 0)) } else { Err(halt) })?;
    missing_folder(probe, &path.parent().mine()?, 90)
}

pub(crate) fn is_python(simple: &super::shell::Simple) -> bool {
    matches!(base_name(simple), "python" | "python3")
}
