//! Every command explains itself.

use crate::support::Home;

fn walk(command: &clap::Command, path: &[String], visit: &mut dyn FnMut(&clap::Command, &[String])) {
    visit(command, path);
    for child in command.get_subcommands() {
        walk(child, &[path, &[child.get_name().to_owned()]].concat(), visit);
    }
}

#[test]
fn every_command_has_a_summary_and_every_first_one_examples_that_fit() {
    walk(&fix_cli::args::command(), &[], &mut |command, path| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && about.len() <= 90 && !about.ends_with('.'), "{path:?}: '{about}'");
        if path.len() == 1 {
            let examples = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            assert!(examples.starts_with("Examples:"), "{path:?} has no examples");
            for line in examples.lines() {
                assert!(line.chars().count() <= 90, "{path:?}: too wide: {line}");
            }
        }
        for argument in command.get_arguments().filter(|argument| !argument.is_global_set()) {
            assert!(argument.get_help().is_some(), "{path:?}: {} is not explained", argument.get_id());
        }
    });
}

#[test]
fn help_and_version_read_nothing_and_start_nothing() {
    let home = Home::new();
    std::fs::create_dir(home.path().join(".fix")).unwrap();
    std::fs::write(home.path().join(".fix/config.toml"), "this is not a configuration").unwrap();
    let mut commands = Vec::new();
    walk(&fix_cli::args::command(), &[], &mut |_, path| commands.push(path.to_vec()));
    for path in commands {
        for flag in ["-h", "--help"] {
            home.fix(path.iter().map(String::as_str).chain([flag])).ok();
        }
    }
    home.fix(["--version"]).ok();
}

#[test]
fn the_short_help_of_every_command_is_in_the_transcripts() {
    let transcripts = include_str!("../cmd/help.trycmd");
    let mut missing = Vec::new();
    walk(&fix_cli::args::command(), &[], &mut |_, path| {
        let line = format!("$ fix {} -h\n", path.join(" "));
        if !path.is_empty() && !transcripts.contains(&line) {
            missing.push(line);
        }
    });
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn completions_are_scripts_that_their_shells_take() {
    let home = Home::new();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let said = home.fix(["completions", shell]);
        let script = home.file(&format!("completions.{shell}"), said.ok());
        assert!(said.ok().contains("check-command") && said.err.is_empty());
        // Shells that are not installed here check nothing.
        if let Ok(output) = std::process::Command::new(shell).arg(check).arg(&script).output() {
            assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
        }
    }
}

#[test]
fn every_command_has_a_man_page() {
    let home = Home::new();
    let folder = home.path().join("man");
    home.fix(["man", "--dir", folder.to_str().unwrap()]).ok();
    walk(&fix_cli::args::command(), &[], &mut |_, path| {
        let name = [&["fix".to_owned()], path].concat().join("-") + ".1";
        let text =
            std::fs::read_to_string(folder.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.contains(".SH NAME"), "{name}");
    });
    home.fix(["man", "nonsense"]).refused(2, 9500);
}
