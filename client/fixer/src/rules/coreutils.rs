//! The small file tools: missing folders, missing options, misspelt files.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::missing_folder;
use super::probe::Probe;
use super::text::RelPath;

pub(crate) fn mkdir_parents(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let mkdir = case.any(&["mkdir"])?;
    let found =
        case.find(regex!(r"(?m)^mkdir: cannot create directory '([^'\n]+)': No such file or directory$"))?;
    let raw = found.get(1).mine()?.as_str();
    mkdir.arg(raw).mine()?;
    let path = RelPath::parse(raw).or_decline("the folder lies outside the working folder")?;
    missing_folder(probe, &path.parent().mine()?, 95)
}

pub(crate) fn missing_target_folder(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let tool = case.any(&["cp", "mv", "touch", "tee", "ln", "install"])?;
    let found = case.find(regex!(
        r"(?m)^(?:(?:cp|install): cannot create regular file|mv: cannot move '[^'\n]+' to|",
        r"touch: cannot touch|ln: failed to create (?:symbolic|hard) link) '([^'\n]+)'(?: => ",
        r"'[^'\n]*')?: (?:No such file or directory|Not a directory)$|^tee: ([^:\n]+): No such ",
        r"file or directory$"
    ))?;
    let raw = found.get(1).or(found.get(2)).mine()?.as_str();
    let path = RelPath::parse(raw).or_decline("the file lies outside the working folder")?;
    // The target must be one that the command names: as it stands, or as the folder of it.
    let named = |word: &super::shell::Word| word.text == raw || word.text.trim_end_matches('/') == raw;
    let word = tool.args().iter().find(|word| named(word)).mine()?;
    if word.text.ends_with('/') {
        return missing_folder(probe, &path, 95);
    }
    mine(!case.says("Not a directory"))?;
    missing_folder(probe, &path.parent().mine()?, 95)
}

pub(crate) fn copy_recursive(case: &Case<'_>, _: &Probe<'_>) -> Try<Repair> {
    let copy = case.only(&["cp"])?;
    let found = case.find(regex!(r"(?m)^cp: -r not specified; omitting directory '([^'\n]+)'$"))?;
    let raw = found.get(1).mine()?.as_str();
    mine(copy.arg_texts().any(|word| word == raw || word.trim_end_matches('/') == raw))?;
    let first = copy.args().first().mine()?;
    Repair::command(
        case.with_before(first, "-r")?,
        format!("{raw} is a folder; cp copies folders with -r."),
        94,
    )
}

pub(crate) fn link_exists(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let link = case.only(&["ln"])?;
    let found = case.find(regex!(r"(?m)^ln: failed to create symbolic link '([^'\n]+)': File exists$"))?;
    let raw = found.get(1).mine()?.as_str();
    link.arg(raw).mine()?;
    let path = RelPath::parse(raw).or_decline("the link lies outside the working folder")?;
    let entries = probe.list(&path.folder())?;
    let entry = entries.iter().find(|entry| entry.name == path.name()).or_decline("the link is not there")?;
    if !entry.link {
        return Err(Halt::decline(format!("{raw} is a file or a folder, not a link")));
    }
    let kept = path.with_name(&format!("{}.old", path.name())).or_decline("the link's name is unusual")?;
    if entries.iter().any(|other| other.name == kept.name()) {
        return Err(Halt::decline(format!("{} exists already", kept.as_str())));
    }
    Repair::world(
        format!("test -L {} && mv -n -T {} {}", path.quoted(), path.quoted(), kept.quoted()),
        format!("A link {raw} exists already; it is kept as {}.", kept.as_str()),
        75,
    )
}

pub(crate) fn file_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let tool = case.only(&[
        "cat",
        "head",
        "tail",
        "wc",
        "sort",
        "ls",
        "less",
        "diff",
        "stat",
        "uniq",
        "cut",
        "nl",
        "cp",
        "tar",
        "gzip",
        "gunzip",
        "grep",
        "sha256sum",
        "md5sum",
    ])?;
    let found = case.find(regex!(
        r"(?m)^(?:cat|wc|diff|cut|uniq|nl|ls|head|tail|sort|stat|cp|tar|gzip|gunzip|grep|sha256sum|",
        r"md5sum): (?:cannot (?:open|access|stat|statx|read):? )?'?([^':\n]+?)'?(?: for reading)?: ",
        r"(?:Cannot (?:open|stat): )?No such file or directory$"
    ))?;
    // What `tar -C` names is a folder to go to, and another rule's.
    mine(tool.option("-C") != found.get(1).map(|raw| raw.as_str()))?;
    case.correct_path(probe, tool, found.get(1).mine()?.as_str(), |_| true)
}

/// Endings that mark a template beside the real file.
const TEMPLATES: &[&str] = &["example", "sample", "dist", "template", "default"];

pub(crate) fn from_template(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let found = case.find(regex!(
        r#"(?m)(?:No such file or directory: '([^'\n]+)'|ENOENT: no such file or directory, open "#,
        r#"'([^'\n]+)'|^(?:cat|sed|awk|jq|grep|head): (?:error: )?(?:Could not open (?:file "#,
        r#")?)?(?:can't read )?([^:'\n]+): No such file or directory)"#
    ))?;
    let raw = found.get(1).or(found.get(2)).or(found.get(3)).mine()?.as_str();
    let path = read_path(case, probe, raw)?;
    mine(
        ["json", "toml", "yaml", "yml", "ini", "cfg", "conf", "properties"]
            .iter()
            .any(|ending| path.name().ends_with(&format!(".{ending}"))),
    )?;
    let files = probe.files(&path.folder())?;
    let mut templates: Vec<String> = Vec::new();
    for ending in TEMPLATES {
        let after = format!("{}.{ending}", path.name());
        // `config.example.json` beside `config.json`.
        let inside = path.name().rsplit_once('.').map(|(stem, last)| format!("{stem}.{ending}.{last}"));
        templates.extend(std::iter::once(after).chain(inside).filter(|name| files.contains(name)));
    }
    let [template] = templates.as_slice() else { return Err(Halt::NotMine) };
    if files.iter().any(|name| name == path.name()) {
        return Err(Halt::NotMine);
    }
    let template = path.with_name(template).or_decline("the template's name is unusual")?;
    Repair::world(
        format!("cp -n {} {}", template.quoted(), path.quoted()),
        format!("{} was missing; it is made from {}.", path.as_str(), template.as_str()),
        88,
    )
}

/// Relative paths need no question; absolute ones need the working folder.
fn read_path(case: &Case<'_>, probe: &Probe<'_>, raw: &str) -> Try<RelPath> {
    // A folder that is missing, or a write, is another rule's.
    mine(!case.says("writeFile") && !case.says("createWriteStream"))?;
    if raw.starts_with('/') { probe.relative(raw) } else { RelPath::parse(raw).mine() }
}
