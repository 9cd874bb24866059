//! What a refusal names as the next step is a command that there is, with options that it has.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use zx1_chain::rpc::next_command;
use zx1_e2e::binary;
use zx1_interface::Error;

/// Every file of sentences with a next step in them.
const SOURCES: [(&str, &str); 4] = [
    ("zx1-chain, refusals", include_str!("../../../client/chain/src/rpc/refusal.rs")),
    ("zx1-chain, errors", include_str!("../../../client/chain/src/rpc/error.rs")),
    ("zx1-log", include_str!("../../../client/log/src/error.rs")),
    ("zx1", include_str!("../../../cli/zx1/src/errors.rs")),
];

/// Whether it is the program that is spoken of and not a command that is named: "zx1 signs with keypair
/// files". A word that begins as a command does counts as a misspelled one.
fn is_prose(word: &str, commands: &BTreeSet<String>) -> bool {
    let others = ["can", "itself", "process", "program", "protocol"];
    let verb = word.ends_with('s') && !commands.iter().any(|command| word.starts_with(command.as_str()));
    verb || others.contains(&word)
}

/// The help of every command, asked once.
#[derive(Default)]
struct Helps(BTreeMap<Vec<String>, Option<String>>);

impl Helps {
    /// The help of a command, if there is such a command.
    fn of(&mut self, path: &[&str]) -> Option<&str> {
        let key: Vec<String> = path.iter().map(|word| (*word).to_owned()).collect();
        let help = self.0.entry(key).or_insert_with(|| {
            let output = Command::new(binary("zx1")).args(path).arg("--help").output().unwrap();
            output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
        });
        help.as_deref()
    }

    fn subcommands(&mut self, path: &[&str]) -> BTreeSet<String> {
        let help = self.of(path).unwrap_or_default();
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let lines = lines.take_while(|line| line.starts_with("  "));
        // Descriptions that go on are indented further.
        let names = lines.filter(|line| !line.starts_with("   "));
        names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    }

    /// What is wrong with a hint that begins behind "zx1 "; `None` where it is not a command at all.
    fn fault(&mut self, hint: &str) -> Option<String> {
        let mut words = hint.split_whitespace().peekable();
        let mut path: Vec<&str> = Vec::new();
        let tidy = |word: &str| word.trim_end_matches(['.', ',', ';', ':', ')', '\'']).to_owned();
        loop {
            let known = self.subcommands(&path);
            let Some(word) = words.peek().filter(|word| !word.starts_with('-')) else { break };
            let name = tidy(word);
            if !known.contains(&name) {
                // A name that is filled in, or an argument.
                if known.is_empty() {
                    break;
                }
                if path.is_empty() && is_prose(&name, &known) {
                    return None;
                }
                return Some(format!("there is no 'zx1 {} {name}'", path.join(" ")));
            }
            let word = words.next()?;
            path.push(word.trim_end_matches(['.', ',', ';', ':', ')', '\'']));
            if *word != name {
                // The sentence goes on, the command does not.
                return None;
            }
        }
        let Some(help) = self.of(&path) else { return Some(format!("'zx1 {}' has no help", path.join(" "))) };
        let options = words.filter(|word| word.starts_with("--")).map(tidy);
        let mut missing = options.filter(|option| !help.contains(option.as_str()));
        missing.next().map(|option| format!("'zx1 {}' has no {option}", path.join(" ")))
    }
}

#[test]
fn every_refusal_of_the_programs_names_a_command_that_parses() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for error in Error::ALL {
        let Some(command) = next_command(*error) else { continue };
        count += 1;
        let words: Vec<&str> = command.split_whitespace().collect();
        let Some(("zx1", rest)) = words.split_first().map(|(first, rest)| (*first, rest)) else {
            // The maintainer's script.
            assert!(command.starts_with("scripts/deploy "), "{error:?}: {command}");
            continue;
        };
        let output = Command::new(binary("zx1")).args(rest).arg("--help").output().unwrap();
        if !output.status.success() {
            wrong.push(format!("{error:?}: {command}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(count > 50, "{count} refusals name a command");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text of a source file without comments, with broken strings put together.
fn strings(source: &str) -> String {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut text = String::new();
    for line in code {
        let line = line.trim_start();
        match line.strip_suffix('\\') {
            Some(broken) => text.push_str(broken),
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

/// What follows each "zx1 " up to the end of the string, the quotation or the clause.
fn hints(text: &str) -> Vec<&str> {
    let starts = text.match_indices("zx1 ").filter(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|letter| !letter.is_alphanumeric() && !"-_/.".contains(letter))
    });
    starts
        .map(|(at, found)| text[at + found.len()..].split(['"', '`', '\n', ';', '(']).next().unwrap())
        .collect()
}

#[test]
fn every_next_step_in_the_catalogues_names_a_command_and_options_that_there_are() {
    let mut helps = Helps::default();
    let mut wrong = Vec::new();
    for (name, source) in SOURCES {
        let text = strings(source);
        let found = hints(&text);
        assert!(found.len() >= 4, "{name}: {} hints", found.len());
        let faults =
            found.iter().filter_map(|hint| Some(format!("{name}: zx1 {hint}: {}", helps.fault(hint)?)));
        wrong.extend(faults);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_hint_at_nothing_is_found() {
    let mut helps = Helps::default();
    for good in
        ["lease pay --epochs 1", "doctor", "status shows the balance", "stake lock 10", "process that"]
    {
        assert_eq!(helps.fault(good), None, "{good}");
    }
    for bad in ["leases", "lease pai", "lease pay --days 1", "batch sho"] {
        assert!(helps.fault(bad).is_some(), "{bad}");
    }
    let text = strings("// zx1 nothing\n\"see \\\n  zx1 lease pay; or\" `zx1 doctor` xzx1 no");
    assert_eq!(hints(&text), ["lease pay", "doctor"]);
}
