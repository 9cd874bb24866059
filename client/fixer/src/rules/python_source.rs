//! Python source files: what the parser refuses, and names that are not there.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, mine, regex};
use super::edit::Edit;
use super::probe::Probe;
use super::text::{self, RelPath};

pub(crate) const PYTHON: &[&str] = &["python", "python3", "pytest"];

/// The file and line that the message points at: the last `File "…", line N` of the traceback.
pub(crate) fn place(case: &Case<'_>, probe: &Probe<'_>) -> Try<(RelPath, usize)> {
    let found = case.all(regex!(r#"(?m)^ +File "([^"\n]+)", line (\d+)"#)).last().mine()?;
    let number = found.get(2).mine()?.as_str().parse().ok().mine()?;
    Ok((probe.relative(found.get(1).mine()?.as_str())?, number))
}

pub(crate) fn tabs(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    case.find(regex!(r"(?m)^TabError: inconsistent use of tabs and spaces in indentation$"))?;
    let (path, number) = place(case, probe)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    edit.line(number)?;
    // Which width makes every line with tabs fall on an indentation that spaces have made already?
    let indents = |line: &&str| -> Option<String> {
        let blank: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        if line.trim().is_empty() { None } else { Some(blank) }
    };
    let spaces: std::collections::BTreeSet<usize> = lines
        .iter()
        .filter_map(indents)
        .filter(|blank| !blank.contains('\t'))
        .map(|blank| blank.len())
        .collect();
    let with_tabs: Vec<(usize, String)> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at + 1, indents(line)?)))
        .filter(|(_, blank)| blank.contains('\t'))
        .collect();
    if with_tabs.len() > 60 {
        return Err(Halt::decline("too many lines would change"));
    }
    let widths: Vec<usize> = [4, 8, 2]
        .into_iter()
        .filter(|width| with_tabs.iter().all(|(_, blank)| spaces.contains(&expanded(blank, *width))))
        .collect();
    let [width] = widths.as_slice() else {
        return Err(Halt::decline("it is not certain how many spaces a tab stands for"));
    };
    for (at, blank) in with_tabs {
        let line = edit.line(at)?;
        let text = line.get(blank.len()..).mine()?;
        edit.replace(at, &format!("{}{text}", " ".repeat(expanded(&blank, *width))))?;
    }
    edit.repair(
        format!("{} mixed tabs and spaces; a tab stands for {width} spaces there.", path.as_str()),
        82,
    )
}

fn expanded(blank: &str, width: usize) -> usize {
    blank
        .chars()
        .fold(0, |column, letter| if letter == '\t' { (column / width + 1) * width } else { column + 1 })
}

pub(crate) fn print_statement(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    case.find(regex!(
        r"(?m)^SyntaxError: Missing parentheses in call to 'print'\. Did you mean print\(\.\.\.\)\?$"
    ))?;
    let (path, _) = place(case, probe)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let statement =
        regex!(r#"^(\s*(?:(?:if|else|elif|for|while|try|except)\b[^#"']*:\s+)?)print(?:\s+(.*\S)\s*|\s*)$"#);
    for (at, line) in lines.iter().enumerate() {
        let Some(found) = statement.captures(line) else { continue };
        let what = found.get(2).map_or("", |what| what.as_str());
        let odd = what.starts_with(['(', '>', '=', '.', '[']) && !what.starts_with("[")
            || what.ends_with([',', '\\', '(', '['])
            || what.contains(['#', ';'])
            || what.contains("\"\"\"")
            || what.contains("'''");
        if what.starts_with('(') && what.ends_with(')') {
            continue;
        }
        if odd {
            return Err(Halt::decline(format!("the print statement in line {} is not a plain one", at + 1)));
        }
        edit.replace(at + 1, &format!("{}print({what})", found.get(1).mine()?.as_str()))?;
    }
    edit.repair(format!("{} was written for Python 2; print is a function now.", path.as_str()), 88)
}

pub(crate) fn missing_colon(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    case.find(regex!(r"(?m)^SyntaxError: expected ':'$"))?;
    let (path, number) = place(case, probe)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let line = edit.line(number)?;
    let opens =
        regex!(r"^\s*(?:async )?(?:def|class|if|elif|else|for|while|try|except|finally|with|match|case)\b");
    if !opens.is_match(line) || line.contains(['#', ':']) || line.trim_end().ends_with(['\\', ',', '(']) {
        return Err(Halt::decline("the line is not a plain opening of a block"));
    }
    edit.replace(number, &format!("{}:", line.trim_end()))?;
    edit.repair(format!("Line {number} of {} opens a block and lacked its colon.", path.as_str()), 90)
}

pub(crate) fn encoding(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    let found = case.find(regex!(
        r"(?m)^(?:SyntaxError: )?(?:\(unicode error\) )?Non-UTF-8 code starting with ",
        r"'\\x([0-9a-f]{2})' (?:in file|on line) (\S+)(?: on line \d+)?,? but no encoding ",
        r"declared"
    ))?;
    let path = probe.relative(found.get(2).mine()?.as_str())?;
    let first = u8::from_str_radix(found.get(1).mine()?.as_str(), 16).ok().mine()?;
    // 0x80 to 0x9f are control characters in ISO 8859-1: then it is something else.
    if first < 0xa0 {
        return Err(Halt::decline("the file's encoding is not certain"));
    }
    let lines = probe.lines(&path)?;
    let after_shebang = usize::from(lines.first().is_some_and(|line| line.starts_with("#!")));
    // The declaration is ASCII, so it goes in whatever the other lines hold; the guard would compare bytes
    // that the transcript could not carry.
    let at = after_shebang + 1;
    Repair::world(
        format!("sed -i --follow-symlinks '{at}i\\\n# -*- coding: iso-8859-1 -*-' {}", path.quoted()),
        format!("{} is written in ISO 8859-1 and did not say so.", path.as_str()),
        80,
    )
}

pub(crate) fn did_you_mean(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    let found = case.find(regex!(
        r"(?m)^(?:NameError: name '(\w+)' is not defined|AttributeError: [^\n]*has no attribute ",
        r"'(\w+)'|ImportError: cannot import name '(\w+)' from '[^'\n]+'[^\n]*)\. Did you mean: ",
        r"'(\w+)'\?$"
    ))?;
    let typed = text::identifier(found.get(1).or(found.get(2)).or(found.get(3)).mine()?.as_str()).mine()?;
    let meant = text::identifier(found.get(4).mine()?.as_str()).mine()?;
    if text::distance(typed, meant) > 2 {
        return Err(Halt::decline(format!("{meant} is too different from {typed}")));
    }
    let (path, number) = place(case, probe)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    edit.replace_word(number, typed, meant)?;
    edit.repair(format!("{typed} is misspelt in {}; it is {meant}.", path.as_str()), 86)
}

/// Modules of Python's own library whose names nobody uses for anything else.
const STDLIB: &[&str] = &[
    "os",
    "sys",
    "re",
    "json",
    "math",
    "time",
    "random",
    "datetime",
    "collections",
    "itertools",
    "functools",
    "subprocess",
    "shutil",
    "pathlib",
    "logging",
    "argparse",
    "socket",
    "threading",
    "hashlib",
    "base64",
    "csv",
    "glob",
    "tempfile",
    "string",
    "struct",
    "copy",
    "pprint",
    "traceback",
    "urllib",
    "uuid",
    "signal",
    "statistics",
    "textwrap",
    "decimal",
    "fractions",
    "operator",
    "contextlib",
    "asyncio",
    "queue",
    "heapq",
    "bisect",
    "zlib",
    "gzip",
    "pickle",
    "sqlite3",
    "platform",
    "inspect",
    "types",
    "typing",
    "enum",
    "dataclasses",
    "secrets",
];

pub(crate) fn missing_import(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    let found = case.find(regex!(
        r"(?m)^NameError: name '(\w+)' is not defined(?:\. Did you forget to import '\w+'\?|\. ",
        r"Did you mean: '\w+'\?(?: Or did you forget to import '\w+'\?)?)?$"
    ))?;
    let module = found.get(1).mine()?.as_str();
    mine(STDLIB.contains(&module))?;
    let (path, number) = place(case, probe)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let used = edit.line(number)?;
    if !used.contains(&format!("{module}.")) {
        return Err(Halt::decline(format!("{module} is not used as a module there")));
    }
    let at = import_place(&lines).or_decline("it is not certain where imports belong in the file")?;
    edit.insert(at, &format!("import {module}"))?;
    edit.repair(format!("{} uses {module} and did not import it.", path.as_str()), 93)
}

/// The line before which an import may stand: after a shebang, comments, a docstring of one line and
/// `from __future__` imports.
fn import_place(lines: &[&str]) -> Option<usize> {
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim();
        let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| text.starts_with(quotes));
        if text.is_empty() || text.starts_with('#') || text.starts_with("from __future__") {
            continue;
        }
        match quotes {
            Some(quotes) if text.len() >= 6 && text.ends_with(quotes) => continue,
            Some(_) => return None,
            None if text.starts_with(['"', '\'']) => continue,
            None => return Some(at + 1),
        }
    }
    None
}

/// Modules that Python 3 renamed, with their new names; those whose content moved as well are left out.
const RENAMED: &[(&str, &str)] = &[
    ("ConfigParser", "configparser"),
    ("Queue", "queue"),
    ("SocketServer", "socketserver"),
    ("StringIO", "io"),
    ("cStringIO", "io"),
    ("cPickle", "pickle"),
    ("Tkinter", "tkinter"),
    ("httplib", "http.client"),
    ("HTMLParser", "html.parser"),
    ("Cookie", "http.cookies"),
    ("cookielib", "http.cookiejar"),
    ("BaseHTTPServer", "http.server"),
    ("xmlrpclib", "xmlrpc.client"),
    ("__builtin__", "builtins"),
    ("copy_reg", "copyreg"),
    ("thread", "_thread"),
];

pub(crate) fn renamed_module(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    let found = case.find(regex!(r"(?m)^(?:ModuleNotFoundError|ImportError): No module named '(\w+)'$"))?;
    let old = found.get(1).mine()?.as_str();
    let new = RENAMED.iter().find(|(name, _)| *name == old).mine()?.1;
    let (path, number) = place(case, probe)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let line = edit.line(number)?;
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let body = line.trim();
    let right = if body == format!("import {old}") {
        format!("{indent}import {new} as {old}")
    } else if let Some(rest) = body.strip_prefix(&format!("import {old} as ")) {
        format!(
            "{indent}import {new} as {}",
            text::identifier(rest).or_decline("the import is not a plain one")?
        )
    } else if let Some(rest) = body.strip_prefix(&format!("from {old} import ")) {
        format!("{indent}from {new} import {rest}")
    } else {
        return Err(Halt::decline("the import is not a plain one"));
    };
    edit.replace(number, &right)?;
    edit.repair(format!("Python 3 calls the module {old} {new}."), 92)
}

pub(crate) fn except_comma(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    case.any(PYTHON)?;
    case.find(regex!(r"(?m)^SyntaxError: multiple exception types must be parenthesized$"))?;
    let (path, _) = place(case, probe)?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let clause = regex!(r"^(\s*except\s+[\w.]+)\s*,\s*([a-z_]\w*)\s*:(.*)$");
    for (at, line) in lines.iter().enumerate() {
        if let Some(found) = clause.captures(line) {
            edit.replace(at + 1, &format!("{} as {}:{}", &found[1], &found[2], &found[3]))?;
        }
    }
    edit.repair(format!("{} was written for Python 2; an exception is bound with as now.", path.as_str()), 90)
}
