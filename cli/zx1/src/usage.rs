//! What is wrong with a command line, in one sentence, with the help that explains it as the next step.

use crate::args;
use crate::errors::{Error, Exit, Failure};
use crate::output::{self, Format};
use clap::error::ErrorKind;
use std::ffi::OsString;
use zx1_cli_common::usage::{in_words, path_of};

/// Says what is wrong with the command line, or prints the help that was asked for.
pub fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let format = asked_format(arguments);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render().ansi().to_string();
            match output::write_out(text.as_bytes()) {
                Err(fault) if fault != zx1_cli_common::Fault::ClosedPipe => Failure::from(fault).exit,
                _ => Exit::Success,
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !format.is_json() => {
            output::write_err(&error.render().ansi().to_string());
            Exit::Usage
        }
        _ => {
            let failure = Failure::from(Error::Usage { message: in_words(error) });
            with_help_of(failure, arguments).show(format);
            Exit::Usage
        }
    }
}

/// Lets a usage error point to the help of the command that was typed.
pub fn with_help_of(failure: Failure, arguments: &[OsString]) -> Failure {
    if failure.code != (Error::Usage { message: String::new() }).code() {
        return failure;
    }
    failure.next(format!("{} --help", path_of(&args::command(), arguments)))
}

/// The output format in a command line that does not parse.
fn asked_format(arguments: &[OsString]) -> Format {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let joined = texts.iter().find_map(|text| text.strip_prefix("--output="));
    let after = texts.windows(2).find_map(|pair| match pair {
        ["--output", format] => Some(*format),
        _ => None,
    });
    let environment = std::env::var("ZX1_OUTPUT").ok();
    let asked = joined.or(after).or(environment.as_deref());
    asked.and_then(|text| text.parse().ok()).unwrap_or(Format::Display)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> (String, String) {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = args::parse(&arguments).map(|_| ()).unwrap_err();
        let failure = with_help_of(Error::Usage { message: in_words(&error) }.into(), &arguments);
        (failure.message, failure.next.unwrap_or_default())
    }

    #[test]
    fn every_kind_of_typing_error_is_one_sentence_with_the_help_of_its_command() {
        for (line, sentence, next) in [
            ("zx1 stak lock", "There is no command 'stak'. Did you mean status or stake?", "zx1"),
            ("zx1 stake lok", "There is no command 'lok'. Did you mean lock?", "zx1 stake"),
            ("zx1 nonsense", "There is no command 'nonsense'.", "zx1"),
            ("zx1 stake lock 10 --fast", "There is no option '--fast' here.", "zx1 stake lock"),
            (
                "zx1 stake lock 1 --yess",
                "There is no option '--yess' here. Did you mean --yes?",
                "zx1 stake lock",
            ),
            ("zx1 stake lock 10 20", "'20' is one argument too many.", "zx1 stake lock"),
            ("zx1 stake lock", "<USDC> is missing.", "zx1 stake lock"),
            ("zx1 batch fetch", "--epoch <EPOCH> and --out <PATH> are missing.", "zx1 batch fetch"),
            ("zx1 bind --index -1", "--index <N> cannot be '-1': it is negative.", "zx1 bind"),
            ("zx1 bind --index 1.5", "--index <N> cannot be '1.5': it is no whole number.", "zx1 bind"),
            (
                "zx1 bind --index 4294967296",
                "--index <N> cannot be '4294967296': it is too large.",
                "zx1 bind",
            ),
            ("zx1 log list --epoch -1", "--epoch <EPOCH> cannot be '-1': it is negative.", "zx1 log list"),
            (
                "zx1 log list --epoch 18446744073709551616",
                "--epoch <EPOCH> cannot be '18446744073709551616': it is too large.",
                "zx1 log list",
            ),
            ("zx1 lease pay --epochs 0", "--epochs <N> cannot be '0': it is not 1 or more.", "zx1 lease pay"),
            (
                "zx1 challenge watch --interval 0",
                "--interval <SECONDS> cannot be '0': it is not from 1 to 3600.",
                "zx1 challenge watch",
            ),
            (
                "zx1 completions tcl",
                "<SHELL> cannot be 'tcl': it is bash, elvish, fish, powershell or zsh.",
                "zx1 completions",
            ),
            ("zx1 --url", "--url <URL_OR_MONIKER> needs a value.", "zx1"),
            (
                "zx1 stake lock 10 --dry-run --print-tx",
                "--dry-run cannot be used together with --print-tx.",
                "zx1 stake lock",
            ),
            (
                "zx1 stake lock 10 --sign-only --blockhash x",
                "--blockhash <HASH> cannot be 'x': it is no blockhash, which is 32 bytes in base58.",
                "zx1 stake lock",
            ),
        ] {
            assert_eq!(said(line), (sentence.to_owned(), format!("{next} --help")), "{line}");
        }
    }
}
