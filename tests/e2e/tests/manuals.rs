//! Every help text, man page and completion of every program is read: nothing is left unexplained, and what reads
//! them (man, the shells) takes them without a warning.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};
use zx1_e2e::binary;

/// Those that have commands for pages and completions.
const WITH_COMMANDS: [&str; 2] = ["zx1", "fix"];
/// Those that have options for them.
const WITH_OPTIONS: [&str; 7] =
    ["nano-escrow", "zx1-indexer", "fix-server", "zx1-sponsor", "zx1-node", "zx1-relay", "zx1-localnet"];

fn run<I: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = I>) -> Output {
    let mut command = Command::new(binary(program));
    let home = std::env::temp_dir().join("zx1-of-nobody");
    command.args(arguments).env_clear().env("HOME", home).env("NO_COLOR", "1").env("COLUMNS", "100");
    command.output().unwrap()
}

#[track_caller]
fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn programs() -> impl Iterator<Item = &'static str> {
    WITH_COMMANDS.into_iter().chain(WITH_OPTIONS)
}

/// The pages of a program, by file name.
fn pages(program: &str, folder: &Path) -> BTreeMap<String, String> {
    let folder = folder.join(program);
    let path = folder.to_str().unwrap();
    let made = match WITH_COMMANDS.contains(&program) {
        true => run(program, ["man", "--dir", path]),
        false => run(program, ["--print-man", path]),
    };
    text(made);
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let page = |file: std::path::PathBuf| {
        (file.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&file).unwrap())
    };
    files.map(page).collect()
}

#[test]
fn every_option_of_every_man_page_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (mut options, mut silent) = (0, Vec::new());
    for program in programs() {
        let pages = pages(program, folder.path());
        assert!(pages.contains_key(&format!("{program}.1")), "{program}");
        for (name, page) in pages {
            let lines: Vec<&str> = page.lines().collect();
            assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}");
            for pair in lines.windows(3) {
                // A paragraph with a tag that is an option: what follows is its text.
                if pair[0] == ".TP" && pair[1].starts_with("\\fB\\-") {
                    options += 1;
                    if pair[2].trim().is_empty() || pair[2].starts_with('.') {
                        silent.push(format!("{name}: {}", pair[1]));
                    }
                }
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
    assert!(options > 1_000, "{options}");
}

#[test]
fn man_formats_every_page_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for program in programs() {
        pages(program, folder.path());
        let files = std::fs::read_dir(folder.path().join(program)).unwrap().map(|file| file.unwrap().path());
        // Where groff is installed, it has the last word.
        if let Ok(output) =
            Command::new("groff").args(["-Kutf8", "-man", "-Tutf8", "-ww", "-z"]).args(files).output()
        {
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{program}");
        }
    }
}

#[test]
fn the_synopsis_of_fix_says_that_it_runs_a_command() {
    let page = text(run("fix", ["man"]));
    let synopsis = page.split(".SH SYNOPSIS\n").nth(1).unwrap().split("\n.SH").next().unwrap();
    assert!(synopsis.contains("COMMAND [ARGUMENTS]...") && synopsis.contains(".br\n"), "{synopsis}");
}

#[test]
fn every_completion_is_a_script_that_its_shell_takes() {
    let folder = tempfile::tempdir().unwrap();
    for program in programs() {
        for (shell, check) in
            [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute"), ("elvish", ""), ("powershell", "")]
        {
            let made = match WITH_COMMANDS.contains(&program) {
                true => run(program, ["completions", shell]),
                false => run(program, ["--print-completions", shell]),
            };
            let script = text(made);
            assert!(script.contains(program), "{program}, {shell}");
            if check.is_empty() {
                continue;
            }
            let path = folder.path().join(format!("{program}.{shell}"));
            std::fs::write(&path, script).unwrap();
            let output = Command::new(shell).arg(check).arg(&path).output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{program}, {shell}: {output:?}");
        }
    }
}

/// The commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn read_help(program: &str, path: &[String], read: &mut usize) {
    let help = text(run(program, path.iter().map(String::as_str).chain(["--help"])));
    assert!(help.contains("Usage: "), "{program} {path:?}: {help}");
    // Examples are commands, and hold options without their texts.
    let mut lines = help.lines().take_while(|line| *line != "Examples:").peekable();
    while let Some(line) = lines.next() {
        assert!(line.chars().count() <= 100 || !line.contains(' '), "{program} {path:?}: {line}");
        let is_option = line.trim_start().starts_with('-') && !line.starts_with("       ");
        // Its text stands beside it or below it.
        let beside = line.trim_start().split_once("  ").is_some_and(|(_, text)| !text.trim().is_empty());
        let below = lines.peek().is_some_and(|next| next.starts_with("          "));
        let in_options = line.trim_start().starts_with("--")
            || line.trim_start().starts_with("-h")
            || line.trim_start().get(2..3) == Some(",");
        assert!(!is_option || !in_options || beside || below, "{program} {path:?}: {line}");
    }
    *read += 1;
    for command in listed(&help).into_iter().filter(|command| command != "help" || program == "zx1") {
        read_help(program, &[path, &[command]].concat(), read);
    }
}

#[test]
fn every_help_text_is_there_fits_and_explains_its_options() {
    let mut read = 0;
    for program in programs() {
        read_help(program, &[], &mut read);
    }
    assert!(read > 150, "{read}");
}

#[test]
fn help_and_its_command_say_the_same() {
    for path in [&[][..], &["stake"], &["stake", "lock"], &["keeper", "run"]] {
        let by_option = text(run("zx1", path.iter().copied().chain(["--help"])));
        assert_eq!(text(run("zx1", ["help"].into_iter().chain(path.iter().copied()))), by_option, "{path:?}");
    }
}
