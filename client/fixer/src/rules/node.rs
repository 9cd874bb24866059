//! Rules for programs that run on Node.js.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::{Edit, missing_folder};
use super::probe::Probe;
use super::shell::Simple;
use super::text::{self, RelPath};

const NODE: &[&str] = &["node", "nodejs"];

/// The script that node runs.
fn script(node: &Simple) -> Try<&super::shell::Word> {
    node.args().iter().find(|word| !word.text.starts_with('-')).mine()
}

/// The first file of the require stack.
fn requirer(case: &Case<'_>, probe: &Probe<'_>) -> Try<RelPath> {
    let found = case.find(regex!(r"(?m)^Require stack:\n- (\S[^\n]*)$"))?;
    probe.relative(found.get(1).mine()?.as_str())
}

pub(crate) fn local_module(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(NODE)?;
    let found = case.find(regex!(r"(?m)^Error: Cannot find module '(\.{1,2}/[^'\n]+)'$"))?;
    let typed = found.get(1).mine()?.as_str();
    let by = requirer(case, probe)?;
    let wanted = RelPath::parse(typed)
        .or_decline("the module lies above the file that requires it")?
        .below(&by.folder());
    let entries = probe.list(&wanted.folder())?;
    let ending = [".js", ".cjs", ".json", ".mjs"].into_iter().find(|ending| wanted.name().ends_with(ending));
    let names: Vec<&str> = entries
        .iter()
        .filter_map(|entry| match (entry.folder, ending) {
            (true, _) => None,
            (false, Some(_)) => Some(entry.name.as_str()),
            (false, None) => entry.name.strip_suffix(".js").or_else(|| entry.name.strip_suffix(".json")),
        })
        .collect();
    let meant =
        text::meant(wanted.name(), names.iter().copied()).or_decline("no single file has a name like it")?;
    let cut = typed.len() - wanted.name().len();
    let right = format!("{}{}", typed.get(..cut).mine()?, RelPath::parse(meant).mine()?.as_str());
    let lines = probe.lines(&by)?;
    let mut edit = Edit::new(&by, &lines);
    let numbers: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| line.contains(typed)).map(|(at, _)| at + 1).collect();
    for number in numbers {
        let line = edit.line(number)?;
        let mut new = line.to_owned();
        for quote in ['\'', '"', '`'] {
            new = new.replace(&format!("{quote}{typed}{quote}"), &format!("{quote}{right}{quote}"));
        }
        if new != line {
            edit.replace(number, &new)?;
        }
    }
    edit.repair(format!("{} requires {typed}, but the file is {right}.", by.as_str()), 90)
}

pub(crate) fn script_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let node = case.only(NODE)?;
    let found = case.find(regex!(r"(?m)^Error: Cannot find module '(/[^'\n]+)'$"))?;
    mine(!case.says("Require stack:"))?;
    let word = script(node)?;
    let typed = word.text.strip_prefix("./").unwrap_or(&word.text);
    mine(found.get(1).mine()?.as_str().ends_with(&format!("/{typed}")))?;
    case.correct_path(probe, node, &word.text, |entry| {
        !entry.folder && [".js", ".cjs", ".mjs"].iter().any(|ending| entry.name.ends_with(ending))
    })
}

pub(crate) fn import_in_script(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let node = case.any(NODE)?;
    case.find(regex!(r"(?m)^SyntaxError: Cannot use import statement outside a module$"))?;
    let path =
        RelPath::parse(&script(node)?.text).or_decline("the script lies outside the working folder")?;
    mine(path.name().ends_with(".js") && path.parent().is_none())?;
    let package = RelPath::parse("package.json").mine()?;
    let folder = RelPath::parse(".").mine()?;
    if !probe.files(&folder)?.iter().any(|name| name == "package.json") {
        return Repair::world(
            "test ! -e package.json && printf '{ \"type\": \"module\" }\\n' > package.json".to_owned(),
            format!("{} uses import; a package.json says now that its files are modules.", path.as_str()),
            80,
        );
    }
    let lines = probe.lines(&package)?;
    let mut edit = Edit::new(&package, &lines);
    let kind = regex!(r#"^(.*"type"\s*:\s*)"commonjs"(.*)$"#);
    let stated: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| kind.is_match(line)).map(|(at, _)| at + 1).collect();
    match stated.as_slice() {
        [number] => {
            let new = kind.replace(edit.line(*number)?, "${1}\"module\"${2}").into_owned();
            edit.replace(*number, &new)?;
        }
        [] if lines.first().is_some_and(|line| line.trim() == "{") => {
            edit.append(1, "  \"type\": \"module\",")?
        }
        _ => return Err(Halt::decline("it is not certain where package.json states its type")),
    }
    edit.repair(
        format!("{} uses import; package.json says now that its files are modules.", path.as_str()),
        82,
    )
}

pub(crate) fn require_in_module(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(NODE)?;
    case.find(regex!(
        r"(?m)^ReferenceError: require is not defined in ES module scope, you can use import instead$"
    ))?;
    let found = case.find(regex!(r"(?m)^file://(/[^\n]+):\d+$"))?;
    let path = probe.relative(found.get(1).mine()?.as_str())?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let plain = regex!(r#"^(?:const|let|var)\s+(\w+|\{[\w\s,]+\})\s*=\s*require\((["'][\w@./:-]+["'])\);?$"#);
    for (at, line) in lines.iter().enumerate() {
        if let Some(found) = plain.captures(line) {
            let source = found.get(2).mine()?.as_str();
            let bare = source.trim_matches(['"', '\'']);
            if bare.starts_with('.') && !bare.rsplit('/').next().is_some_and(|name| name.contains('.')) {
                return Err(Halt::decline("an import needs the file's ending, which require did not"));
            }
            edit.replace(at + 1, &format!("import {} from {source};", found.get(1).mine()?.as_str()))?;
        } else if line.contains("require(") || line.contains("module.exports") || line.contains("__dirname") {
            return Err(Halt::decline(format!("line {} cannot be turned into an import one to one", at + 1)));
        }
    }
    edit.repair(format!("{} is an ES module; it imports now instead of requiring.", path.as_str()), 84)
}

pub(crate) fn output_folder(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(NODE)?;
    let found = case.find(regex!(r"(?m)ENOENT: no such file or directory, (?:open|mkdir) '([^'\n]+)'"))?;
    mine(regex!(r"\bwriteFile(?:Sync)?\b|\bmkdirSync\b|createWriteStream").is_match(&case.error))?;
    let path = RelPath::parse(found.get(1).mine()?.as_str())
        .or_decline("the file lies outside the working folder")?;
    missing_folder(probe, &path.parent().mine()?, 93)
}

/// A package that `package.json` names but that is not installed.
pub(crate) fn missing_package(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(&["node", "nodejs", "npm"])?;
    let found = case.find(regex!(
        r"(?m)Cannot find (?:module|package) '((?:@[\w.-]+/)?[\w.-]+)(?:/[^'\n]*)?'(?: imported ",
        r"from [^\n]+)?$"
    ))?;
    let package = text::name(found.get(1).mine()?.as_str()).mine()?;
    let manifest = RelPath::parse("package.json").mine()?;
    let text = probe.raw(&manifest)?;
    let json: serde_json::Value =
        serde_json::from_str(text).ok().or_decline("package.json cannot be read as JSON")?;
    let mut wanted = Vec::new();
    for section in ["dependencies", "devDependencies"] {
        if let Some(map) = json.get(section).and_then(|value| value.as_object()) {
            wanted.extend(map.iter().map(|(name, from)| (name.as_str(), from.as_str().unwrap_or_default())));
        }
    }
    if !wanted.iter().any(|(name, _)| *name == package) {
        return Err(Halt::decline(format!("package.json does not name {package}")));
    }
    let local = wanted.iter().all(|(_, from)| from.starts_with("file:"));
    if !local && !case.failure.capabilities.network {
        return Err(Halt::NotGranted("network"));
    }
    let entries = probe.list(&RelPath::parse(".").mine()?)?;
    let locked = entries.iter().any(|entry| entry.name == "package-lock.json");
    // `ci` empties node_modules first, so it is used only where there is none.
    let fresh = !entries.iter().any(|entry| entry.name == "node_modules");
    let verb = if locked && fresh { "ci" } else { "install" };
    let offline = if local { " --offline" } else { "" };
    Repair::world(
        format!("npm {verb}{offline} --ignore-scripts --no-audit --no-fund"),
        format!("package.json names {package}, but it is not installed."),
        94,
    )
}
