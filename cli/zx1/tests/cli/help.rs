//! Every command explains itself.

use crate::support::{Home, Refusal};
use clap::CommandFactory as _;

fn walk(command: &clap::Command, path: &[String], visit: &mut dyn FnMut(&clap::Command, &[String])) {
    visit(command, path);
    for child in command.get_subcommands() {
        let path = [path, &[child.get_name().to_owned()]].concat();
        walk(child, &path, visit);
    }
}

#[test]
fn every_command_has_a_summary_and_every_first_one_examples() {
    let root = zx1_cli::args::Cli::command();
    walk(&root, &[], &mut |command, path| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && about.len() <= 90 && !about.ends_with('.'), "{path:?}: '{about}'");
        if path.len() == 1 {
            let examples = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.starts_with("Examples:"), "{path:?} has no examples");
            let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
            assert!(long.lines().count() >= 3, "{path:?} has a one-line description");
            for line in examples.lines() {
                assert!(line.chars().count() <= 100, "{path:?}: too wide: {line}");
            }
        }
        for argument in command.get_arguments().filter(|argument| !argument.is_global_set()) {
            assert!(argument.get_help().is_some(), "{path:?}: {} is not explained", argument.get_id());
        }
    });
}

/// A command's words as a shell sees them: quotes keep spaces, pipes, redirections and `;` end it.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
            continue;
        }
        for word in part.split_whitespace() {
            if word.contains([';', '|', '>', '<', '&']) {
                words.extend(word.strip_suffix(';').map(str::to_owned));
                return words;
            }
            words.push(word.to_owned());
        }
    }
    words
}

#[test]
fn examples_are_commands_that_parse() {
    let root = zx1_cli::args::Cli::command();
    let mut tried = 0;
    walk(&root, &[], &mut |command, path| {
        let examples = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let joined = examples.split("\\\n").map(str::trim_start).collect::<Vec<_>>().join("");
        for line in format!("  {joined}").lines() {
            // The command itself: what stands before the explanation and outside of pipes.
            let Some(start) = line.find("zx1 ").filter(|_| line.starts_with("  ")) else { continue };
            let line = line[start..].split("  ").next().unwrap_or_default();
            if line.contains("...") || line.contains('…') {
                continue;
            }
            let line = line.replace("--blockhash HASH", "--blockhash 11111111111111111111111111111112");
            let parsed = zx1_cli::args::command().try_get_matches_from(shell_words(&line));
            assert!(parsed.is_ok(), "{path:?}: {line}\n{}", parsed.unwrap_err());
            tried += 1;
        }
    });
    assert!(tried > 40, "{tried}");
}

#[test]
fn help_reads_nothing() {
    let home = Home::new();
    home.file(".config/zx1/config.toml", "not a configuration");
    for arguments in
        [&["--help"][..], &["-h"], &["stake", "--help"], &["--version"], &["completions", "bash"]]
    {
        home.zx1(arguments).ok();
    }
}

#[test]
fn the_short_help_of_every_command_is_in_the_transcripts() {
    let transcripts = include_str!("../cmd/help.trycmd");
    let root = zx1_cli::args::Cli::command();
    let mut missing = Vec::new();
    walk(&root, &[], &mut |_, path| {
        let line = format!("$ zx1 {} -h\n", path.join(" "));
        if !path.is_empty() && !transcripts.contains(&line) {
            missing.push(line);
        }
    });
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_command_has_a_man_page_that_man_formats_without_a_warning() {
    let home = Home::new();
    let folder = home.path().join("man");
    let said = home.zx1(["man", "--dir", folder.to_str().unwrap()]);
    assert_eq!((said.ok().lines().count(), said.err.as_str()), (1, ""));
    let mut wanted = std::collections::BTreeSet::new();
    walk(&zx1_cli::args::Cli::command(), &[], &mut |_, path| {
        wanted.insert([&["zx1".to_owned()], path].concat().join("-") + ".1");
    });
    let found: std::collections::BTreeSet<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, wanted);
    let pages = || found.iter().map(|page| folder.join(page));
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        // A line that begins with a point or a quote and is not a request would be swallowed.
        for line in text.lines().filter(|line| line.starts_with(['.', '\''])) {
            let request = line.get(1..3).unwrap_or_default();
            let known = ["TH", "SH", "TP", "br", "RS", "RE", "ie", "el", "I ", "B ", "PP", "IP", "nf", "fi"];
            let quote = line.starts_with("'\\\"") || line.starts_with(".\\\"");
            assert!(quote || known.contains(&request), "{}: {line}", page.display());
        }
    }
    // Where groff is installed, it has the last word.
    let mut groff = std::process::Command::new("groff");
    groff.args(["-man", "-Tutf8", "-ww", "-z"]).args(pages());
    if let Ok(output) = groff.output() {
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn completions_are_scripts_that_their_shells_take() {
    let home = Home::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let said = home.zx1(["completions", shell]);
        let script = home.file(&format!("completions.{shell}"), said.ok());
        assert_eq!(said.err, "");
        // Shells that are not installed here check nothing.
        if let Ok(output) = std::process::Command::new(shell).args([check, &script]).output() {
            assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
        }
    }
}

#[test]
fn completions_and_man_pages_know_all_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = home.zx1(["completions", shell]);
        assert_eq!(said.err, "");
        for word in ["register", "merkle", "compute-unit-price"] {
            assert!(said.ok().contains(word), "{shell} does not know {word}");
        }
    }
    let folder = home.path().join("man");
    home.zx1(["man", "--dir", folder.to_str().unwrap()]).ok();
    for page in ["zx1.1", "zx1-stake.1", "zx1-stake-lock.1", "zx1-inspect-log-entry.1"] {
        let text =
            std::fs::read_to_string(folder.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(home.zx1(["man", "stake", "lock"]).ok().contains("zx1\\-stake\\-lock"));
    home.zx1(["man", "nonsense"]).is_usage(7400);
}
