//! Shells and scripts: what cannot be started, and what the wrong shell reads.

use super::Repair;
use super::case::{Case, Halt, OrNotMine, Try, base_name, mine, regex};
use super::edit::{Edit, missing_folder};
use super::probe::Probe;
use super::text::{self, RelPath};

/// The script that a shell command names: the program itself (`./run.sh`), or the first argument of a shell.
fn script(case: &Case<'_>) -> Try<RelPath> {
    let simple = case.single()?;
    let shells = ["sh", "bash", "dash", "zsh", "ksh"];
    let raw = match shells.contains(&base_name(simple)) {
        true => simple.arg_texts().find(|word| !word.starts_with('-')).mine()?,
        false => simple.program(),
    };
    mine(raw.contains('/') || raw.ends_with(".sh") || shells.contains(&base_name(simple)))?;
    RelPath::parse(raw).or_decline("the script lies outside the working folder or has an unusual name")
}

pub(crate) fn not_executable(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let found = case.find(regex!(
        r"(?m)^(?:[\w./-]+: (?:line )?(?:\d+: )?)?(\.{0,2}/?[^\s:]+/[^\s:]+): Permission denied$"
    ))?;
    let raw = found.get(1).mine()?.as_str();
    mine(matches!(case.failure.exit_code, 126 | 127 | 2 | 1))?;
    // Only what was to be run: the first word of a command, or a file that a script or recipe started.
    let run_by = |simple: &super::shell::Simple| simple.program() == raw;
    let by_script = case.commands().iter().any(|simple| {
        ["sh", "bash", "dash", "make"].contains(&base_name(simple)) || simple.program().contains('/')
    });
    mine(case.commands().iter().any(run_by) || by_script)?;
    let path = probe.relative(raw)?;
    let entries = probe.list(&path.folder())?;
    let entry = entries.iter().find(|entry| entry.name == path.name()).or_decline("the file is not there")?;
    if entry.folder || entry.link || entry.executable {
        return Err(Halt::decline("it is a folder, a link, or executable already"));
    }
    Repair::world(
        format!("test -f {0} && chmod u+x {0}", path.dotted()),
        format!("{} was not executable; its owner may run it now.", path.as_str()),
        95,
    )
}

/// Removes carriage returns from a script's line ends.
fn carriage_returns(path: &RelPath, confidence: u8) -> Try<Repair> {
    Repair::world(
        format!("grep -q \"$(printf '\\r')$\" {0} && sed -i --follow-symlinks 's/\\r$//' {0}", path.quoted()),
        format!(
            "The lines of {} end as on Windows, which shells and kernels take for part of the text.",
            path.as_str()
        ),
        confidence,
    )
}

fn has_carriage_returns(lines: &[&str]) -> bool {
    lines.iter().any(|line| line.ends_with('\r'))
}

/// A script that cannot be started because of its first line.
fn unstartable(case: &Case<'_>) -> Try<RelPath> {
    let simple = case.single()?;
    let program = simple.program();
    mine(program.contains('/'))?;
    let says_so = [
        format!("{program}: not found"),
        format!("{program}: cannot execute: required file not found"),
        format!("{program}: No such file or directory"),
    ];
    let bad = case.error.lines().any(|line| {
        says_so.iter().any(|text| line.ends_with(text.as_str()))
            || (line.contains(&format!("{program}: ")) && line.contains("bad interpreter"))
    });
    let env = regex!(r"(?m)^(?:/usr/bin/)?env: '[^'\n]+': No such file or directory$").is_match(&case.error);
    mine(bad || env)?;
    RelPath::parse(program).or_decline("the script lies outside the working folder")
}

pub(crate) fn crlf_interpreter(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let path = unstartable(case)?;
    let lines = raw_first_lines(probe, &path)?;
    if !has_carriage_returns(&lines) || !lines.first().is_some_and(|line| line.starts_with("#!")) {
        return Err(Halt::NotMine);
    }
    carriage_returns(&path, 95)
}

/// The lines with their carriage returns. [`str::lines`] would drop them, so they are split by hand.
fn raw_first_lines<'p>(probe: &Probe<'p>, path: &RelPath) -> Try<Vec<&'p str>> {
    probe.raw(path).map(|text| text.split('\n').collect())
}

pub(crate) fn interpreter_path(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let path = unstartable(case)?;
    let lines = raw_first_lines(probe, &path)?;
    let first = lines.first().copied().unwrap_or_default();
    if first.ends_with('\r') {
        return Err(Halt::NotMine);
    }
    let shebang = regex!(r"^#! ?(/[\w./-]+?)((?: -[\w]+)?)$")
        .captures(first)
        .or_decline("its first line names no program")?;
    let interpreter = shebang.get(1).mine()?.as_str();
    let program = interpreter.rsplit('/').next().mine()?;
    let known = ["sh", "bash", "dash", "zsh", "python", "python3", "perl", "node", "ruby", "awk"];
    if !known.contains(&program) {
        return Err(Halt::decline(format!("{program} is not an interpreter that this rule knows")));
    }
    let wanted = if program == "python" { "python3" } else { program };
    if !probe.has_program(wanted)? {
        return Err(Halt::decline(format!("{wanted} is not installed")));
    }
    if shebang.get(2).is_some_and(|option| !option.as_str().is_empty()) {
        return Err(Halt::decline("the first line passes an option, which env would not"));
    }
    let mut edit = Edit::new(&path, &lines);
    edit.replace(1, &format!("#!/usr/bin/env {wanted}"))?;
    edit.repair(format!("There is no {interpreter}; {wanted} is found on the search path now."), 90)
}

pub(crate) fn crlf_script(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let shells = ["sh", "bash", "dash"];
    mine(shells.contains(&base_name(case.single()?)))?;
    case.find(regex!(
        r#"\$'[^'\n]*\\r'|\r: (?:not found|command not found)|Syntax error: (?:word|end of file|"#,
        r#"newline) unexpected|syntax error: unexpected end of file|: not found$"#
    ))?;
    let path = script(case)?;
    let lines = raw_first_lines(probe, &path)?;
    if !has_carriage_returns(&lines) {
        return Err(Halt::NotMine);
    }
    carriage_returns(&path, 92)
}

pub(crate) fn test_bracket(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let found = case.find(regex!(r"(?m)^([^\s:]+): (?:line )?(\d+): \[: missing `?\]'?$"))?;
    let path = probe.relative(found.get(1).mine()?.as_str())?;
    mine(script(case)? == path)?;
    let number: usize = found.get(2).mine()?.as_str().parse().ok().mine()?;
    let lines = probe.lines(&path)?;
    let mut edit = Edit::new(&path, &lines);
    let line = edit.line(number)?;
    let glued = regex!(r#"([\w."'}/])\](\s*(?:;|$|&&|\|\|))"#);
    if glued.find_iter(line).count() != 1 {
        return Err(Halt::decline("the line has not exactly one bracket without a blank before it"));
    }
    edit.replace(number, &glued.replace(line, "$1 ]$2"))?;
    edit.repair("The closing bracket of a test needs a blank before it.", 90)
}

pub(crate) fn wrong_shell(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let simple = case.only(&["sh", "dash"])?;
    case.find(bashism())?;
    let path = script(case)?;
    let lines = probe.lines(&path)?;
    let first = lines.first().copied().unwrap_or_default();
    if !regex!(r"^#! ?(?:/usr/bin/env bash|/(?:usr/)?bin/bash)\b").is_match(first) {
        return Err(Halt::decline("the script does not say that it is written for bash"));
    }
    let word = simple.words.first().mine()?;
    Repair::command(
        case.with_word(word, "bash")?,
        format!(
            "{} is written for bash, as its first line says, and was read by another shell.",
            path.as_str()
        ),
        95,
    )
}

/// What dash says when it meets something that only bash knows.
fn bashism() -> &'static regex::Regex {
    regex!(
        r#"(?m)^([^\s:]+): (\d+): (?:(?:\[\[|source|shopt|declare|pushd|popd|typeset|mapfile|"#,
        r#"readarray|function): not found|Syntax error: "\(" unexpected|Bad substitution|Syntax "#,
        r#"error: redirection unexpected|Syntax error: Bad for loop variable)"#
    )
}

pub(crate) fn bash_shebang(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let found = case.find(bashism())?;
    let simple = case.single()?;
    let raw = found.get(1).mine()?.as_str();
    mine(simple.program() == raw && raw.contains('/'))?;
    let path = probe.relative(raw)?;
    let lines = probe.lines(&path)?;
    let first = lines.first().copied().unwrap_or_default();
    if !regex!(r"^#! ?(?:/usr/bin/env sh|/bin/sh|/usr/bin/sh|/bin/dash)$").is_match(first) {
        return Err(Halt::decline("its first line is not that of a plain shell script"));
    }
    let mut edit = Edit::new(&path, &lines);
    edit.replace(1, "#!/bin/bash")?;
    edit.repair(format!("{} uses what only bash knows, but its first line asked for sh.", path.as_str()), 90)
}

/// The program that the shell did not find; it must be a command's first word.
fn unknown_program<'c>(case: &'c Case<'_>) -> Try<(&'c super::shell::Simple, &'c str)> {
    mine(case.failure.exit_code == 127)?;
    let found = case.find(regex!(
        r"(?m)^(?:[\w./-]+: )?(?:(?:line )?\d+: )?([\w.+-]+): (?:not found|command not found)$|",
        r"^zsh: command not found: ([\w.+-]+)$"
    ))?;
    let name = found.get(1).or(found.get(2)).mine()?.as_str();
    let simple = case.single()?;
    mine(simple.program() == name)?;
    Ok((simple, name))
}

/// Programs whose misspelling is common. Nothing that deletes or overwrites stands here.
const PROGRAMS: &[&str] = &[
    "git",
    "make",
    "cmake",
    "python3",
    "python",
    "pip",
    "pip3",
    "node",
    "npm",
    "npx",
    "cargo",
    "rustc",
    "gcc",
    "g++",
    "clang",
    "java",
    "javac",
    "docker",
    "kubectl",
    "grep",
    "cat",
    "less",
    "head",
    "tail",
    "mkdir",
    "touch",
    "echo",
    "curl",
    "wget",
    "tar",
    "ssh",
    "perl",
    "bash",
    "sort",
    "uniq",
    "diff",
    "find",
    "which",
    "psql",
    "sqlite3",
    "ninja",
    "gradle",
    "terraform",
    "yarn",
    "pnpm",
    "ruby",
    "gem",
    "bundle",
];

pub(crate) fn program_typo(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let (simple, name) = unknown_program(case)?;
    let meant = text::meant(name, PROGRAMS.iter().copied()).mine()?;
    if !probe.has_program(meant)? {
        return Err(Halt::decline(format!("{meant} is not installed")));
    }
    Repair::command(
        case.with_word(simple.words.first().mine()?, meant)?,
        format!("There is no program {name}; {meant} was meant."),
        92,
    )
}

/// Programs that are never put in place of a word: they delete, overwrite, stop, or grant.
const DANGEROUS: &[&str] = &[
    "chgrp",
    "chmod",
    "chown",
    "chroot",
    "crontab",
    "fallocate",
    "halt",
    "kill",
    "killall",
    "passwd",
    "pkill",
    "poweroff",
    "reboot",
    "rename",
    "rmdir",
    "rsync",
    "shred",
    "shutdown",
    "sudo",
    "truncate",
    "umount",
    "unlink",
    "userdel",
    "wipefs",
];

/// A program of the system whose name is one step from the one typed; longer names only, because short ones are near
/// to each other.
pub(crate) fn program_near(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let (simple, name) = unknown_program(case)?;
    let first = name.chars().next().filter(char::is_ascii_alphanumeric).mine()?;
    mine(name.len() >= 5 && text::meant(name, PROGRAMS.iter().copied()).is_none())?;
    let mut near: Vec<&str> =
        probe.programs(first)?.into_iter().filter(|known| text::distance(name, known) == 1).collect();
    near.sort_unstable();
    near.dedup();
    let [meant] = near.as_slice() else { return Err(Halt::NotMine) };
    let meant = text::name(meant).mine()?;
    if DANGEROUS.contains(&meant) || meant.starts_with("mkfs") {
        return Err(Halt::decline(format!("{meant} is too dangerous to be guessed")));
    }
    Repair::command(
        case.with_word(simple.words.first().mine()?, meant)?,
        format!("There is no program {name}; {meant} was meant."),
        86,
    )
}

pub(crate) fn python_is_python3(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let (simple, name) = unknown_program(case)?;
    let right = match name {
        "python" | "python2" => "python3",
        "pip" => "pip3",
        "nodejs" => "node",
        _ => return Err(Halt::NotMine),
    };
    if !probe.has_program(right)? {
        return Err(Halt::decline(format!("{right} is not installed")));
    }
    Repair::command(
        case.with_word(simple.words.first().mine()?, right)?,
        format!("This system has no {name}, it has {right}."),
        94,
    )
}

pub(crate) fn program_in_tree(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let (simple, name) = unknown_program(case)?;
    mine(!PROGRAMS.contains(&name))?;
    mine(!matches!(name, "python2" | "nodejs"))?;
    let here = RelPath::parse(".").mine()?;
    let entries = probe.list(&here)?;
    if !entries.iter().any(|entry| entry.name == name && entry.executable) {
        return Err(Halt::NotMine);
    }
    let path = RelPath::parse(name).mine()?;
    Repair::command(
        case.with_word(simple.words.first().mine()?, &format!("./{}", path.as_str()))?,
        format!("{name} lies in the working folder, which is not on the search path."),
        94,
    )
}

pub(crate) fn redirect_folder(case: &Case<'_>, probe: &Probe<'_>) -> Try<Repair> {
    let found = case.find(regex!(
        r"(?m)^(?:[\w./-]+: )?(?:line )?(?:\d+: )?(?:cannot create ([^\n:]+): Directory ",
        r"nonexistent|([^\n:]+): No such file or directory)$"
    ))?;
    let raw = found.get(1).or(found.get(2)).mine()?.as_str();
    let redirected = |simple: &super::shell::Simple| {
        simple.redirects.iter().any(|redirect| redirect.writes && redirect.target.text == raw)
    };
    mine(case.commands().iter().any(redirected))?;
    let path = RelPath::parse(raw).or_decline("the file lies outside the working folder")?;
    missing_folder(probe, &path.parent().mine()?, 96)
}
