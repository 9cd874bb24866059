//! `qa_cli`: what a command line answers in an empty home without a network, and which command lines its help shows.

use zx1_market::Json;
use zx1_qa::observation::Observation;
use zx1_sandbox::{LimitKind, Outcome};

/// Programs whose help is read.
pub(crate) const PROGRAMS: [&str; 2] = ["zx1", "fix"];
/// Exit codes that help documents: success, failure, usage, what a reproduction found, Ctrl+C.
const EXITS: [i32; 7] = [0, 1, 2, 10, 11, 12, 130];

/// What is wrong with an outcome, as a clause; nothing where all is as it should be.
pub(crate) fn fault(outcome: &Outcome) -> Option<String> {
    let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
    if let Some(line) =
        [&stdout, &stderr].iter().flat_map(|text| text.lines()).find(|line| line.contains("panicked at"))
    {
        return Some(format!("it panics: {}", line.trim()));
    }
    match outcome.limit_hit {
        Some(LimitKind::Time) => return Some("it does not end".to_owned()),
        Some(limit) => return Some(format!("it passes a limit ({limit:?})")),
        None => {}
    }
    if let Some(signal) = outcome.signal {
        return Some(format!("it ends by signal {signal}"));
    }
    let exit = outcome.exit.unwrap_or(-1);
    if !EXITS.contains(&exit) {
        return Some(format!("it ends with the exit code {exit}, which help does not document"));
    }
    if let Some(line) = stderr.lines().find(|line| line.contains("(os error")) {
        return Some(format!("it shows a number of the operating system: {}", line.trim()));
    }
    if (1..=2).contains(&exit) {
        let numbered = |line: &str| {
            let rest = line.strip_prefix("error ").unwrap_or_default();
            let (number, said) = rest.split_once(": ").unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && !said.trim().is_empty()
        };
        let is_json = stderr.trim_start().starts_with('{') && stderr.contains("\"code\":");
        if !is_json && !stderr.lines().any(numbered) {
            return Some("it refuses without a number".to_owned());
        }
    }
    None
}

/// The answer that an outcome is.
pub(crate) fn judge(outcome: &Outcome, version: &str) -> Observation {
    let answer = match fault(outcome) {
        Some(fault) => Observation::wrong(version, &fault),
        None => Observation::fine(version),
    };
    let exit = outcome.exit.map(i64::from);
    Observation {
        latency_ms: u64::try_from(outcome.wall.as_millis()).unwrap_or(u64::MAX),
        details: Json::object([
            ("exit", Json::from(exit)),
            ("stderr_bytes", outcome.stderr.total.into()),
            ("stdout_bytes", outcome.stdout.total.into()),
        ]),
        ..answer
    }
}

/// The subcommands that a help text lists.
pub(crate) fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| line.trim() != "Commands:").skip(1);
    let rows = listed.take_while(|line| !line.trim().is_empty() && line.starts_with("  "));
    let names =
        rows.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
        .map(str::to_owned)
        .collect()
}

/// The command lines of a program that a help text shows as examples, as arguments. Those that need a shell, or have
/// something left out, are not.
pub(crate) fn examples(program: &str, help: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut lines = help.lines().skip_while(|line| line.trim() != "Examples:").skip(1);
    while let Some(line) = lines.next() {
        let mut line = line.trim().to_owned();
        while line.ends_with('\\') {
            line.pop();
            let Some(more) = lines.next() else { break };
            line.push_str(more.trim());
        }
        if let Some(arguments) = words(&line)
            && arguments.first().is_some_and(|first| first == program)
        {
            found.push(arguments.into_iter().skip(1).collect());
        }
    }
    found
}

/// The words of a line, up to two spaces that set off an explanation; `None` where a shell would be needed.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) =
        (Vec::new(), None, None);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('"'), '\\') => word.get_or_insert_default().push(letters.next()?),
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | '<' | '&' | ';' | '$' | '`' | '…' | '*' | '~' | '#') => return None,
            (None, ' ') => {
                words.extend(word.take());
                if letters.peek() == Some(&' ') {
                    break;
                }
            }
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    let left_out = words.iter().any(|word| word.contains("..."));
    (quote.is_none() && !left_out).then_some(words)
}

/// Command lines that must be refused: what nobody offers, values of a wrong kind, too many arguments.
pub(crate) fn refusals(path: &[String]) -> Vec<Vec<String>> {
    let tails: [&[&str]; 4] = [
        &["--no-such-option"],
        &["no-such-word", "again", "and-again"],
        &[""],
        &["--output", "no-such-form"],
    ];
    tails
        .iter()
        .map(|tail| path.iter().cloned().chain(tail.iter().map(|word| (*word).to_owned())).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use zx1_sandbox::Output;

    const HELP: &str = "Run it\n\nUsage: zx1 feedback <COMMAND>\n\nCommands:\n  submit   Append a text\n           to the log\n  list     List\n  take-over  x\n\nOptions:\n  -h\n\nExamples:\n  zx1 feedback submit 'the README says nothing'\n  zx1 feedback submit --surface cli \\\n      --repro 'qa_cli({\"program\":\"zx1\"})' 'it panics'\n  zx1 feedback list                            newest first\n  zx1 feedback list --x | head\n  zx1 feedback resolve 12 --commit 7e141df0c1...\n  cat a\n";

    #[test]
    fn examples_of_help_are_command_lines_and_what_needs_a_shell_is_not() {
        let found = examples("zx1", HELP);
        let joined: Vec<String> = found.iter().map(|words| words.join("|")).collect();
        assert_eq!(
            joined,
            [
                "feedback|submit|the README says nothing",
                "feedback|submit|--surface|cli|--repro|qa_cli({\"program\":\"zx1\"})|it panics",
                "feedback|list",
            ]
        );
        assert_eq!(subcommands(HELP), ["submit", "list", "take-over"]);
    }

    fn ended(exit: i32, stderr: &str) -> Outcome {
        let bytes = stderr.as_bytes().to_vec();
        Outcome {
            exit: Some(exit),
            signal: None,
            stdout: Output::default(),
            stderr: Output { total: bytes.len() as u64, bytes, truncated: false },
            wall: Duration::ZERO,
            limit_hit: None,
        }
    }

    #[test]
    fn an_answer_is_wrong_when_it_panics_hangs_or_refuses_without_a_number() {
        assert_eq!(fault(&ended(0, "")), None);
        assert_eq!(fault(&ended(1, "error 7408: No home folder.\nnext: export HOME\n")), None);
        assert_eq!(fault(&ended(2, "{\"code\":7400,\"message\":\"x\"}\n")), None);
        for (outcome, part) in [
            (ended(101, "thread 'main' panicked at src/a.rs:1:1:\nx"), "panics"),
            (ended(3, ""), "exit code 3"),
            (ended(1, "it failed"), "without a number"),
            (ended(2, "error: unknown option"), "without a number"),
            (ended(1, "error 1: It cannot be read: No such file (os error 2)."), "operating system"),
            (Outcome { signal: Some(11), exit: None, ..ended(0, "") }, "signal 11"),
            (Outcome { limit_hit: Some(LimitKind::Time), ..ended(0, "") }, "does not end"),
            (Outcome { limit_hit: Some(LimitKind::Memory), ..ended(0, "") }, "Memory"),
        ] {
            let found = fault(&outcome).unwrap_or_default();
            assert!(found.contains(part), "{found}: {part}");
        }
    }
}
