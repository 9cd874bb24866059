//! Every command explains itself.

use crate::support::Home;
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
            let parsed = zx1_cli::args::Cli::command().try_get_matches_from(shell_words(line));
            assert!(parsed.is_ok(), "{path:?}: {line}\n{}", parsed.unwrap_err());
            tried += 1;
        }
    });
    assert!(tried > 40, "{tried}");
}

#[test]
fn help_reads_nothing() {
    let home = Home::new();
    home.file(".config/zx1/config.toml", "this is no configuration");
    for arguments in
        [&["--help"][..], &["-h"], &["stake", "--help"], &["--version"], &["completions", "bash"]]
    {
        home.zx1(arguments).ok();
    }
}

#[test]
fn completions_and_man_pages_know_all_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = home.zx1(["completions", shell]);
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
