//! What is wrong with a command line, in one sentence, with the help that explains it as the next step.

use crate::args;
use crate::errors::{Error, Exit, Failure, sentence};
use crate::output::{self, Format};
use crate::words::count;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Says what is wrong with the command line, or prints the help that was asked for.
pub fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let format = asked_format(arguments);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render().ansi().to_string();
            match output::write_out(text.as_bytes()) {
                Err(failure) if !failure.is_closed_pipe() => failure.exit,
                _ => Exit::Success,
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !format.is_json() => {
            output::write_err(&error.render().ansi().to_string());
            Exit::Usage
        }
        _ => {
            let failure = Failure::from(Error::Usage { message: in_words(error) });
            output::error(&with_help_of(failure, arguments), format);
            Exit::Usage
        }
    }
}

/// Lets a usage error point to the help of the command that was typed.
pub fn with_help_of(failure: Failure, arguments: &[OsString]) -> Failure {
    if failure.code != (Error::Usage { message: String::new() }).code() {
        return failure;
    }
    let root = args::command();
    let mut at = &root;
    let mut path = vec![root.get_name()];
    for word in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        if let Some(child) = at.find_subcommand(word) {
            path.push(child.get_name());
            at = child;
        }
    }
    failure.next(format!("{} --help", path.join(" ")))
}

/// One sentence for a command line that does not parse.
fn in_words(error: &clap::Error) -> String {
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let first = |kind| texts(kind).into_iter().next().unwrap_or_default();
    let argument = first(ContextKind::InvalidArg);
    let value = first(ContextKind::InvalidValue);
    let possible = texts(ContextKind::ValidValue);
    let similar = |kind| match texts(kind).as_slice() {
        [] => String::new(),
        names => format!(" Did you mean {}?", alternatives(names)),
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = first(ContextKind::InvalidSubcommand);
            format!("There is no command '{name}'.{}", similar(ContextKind::SuggestedSubcommand))
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("There is no option '{argument}' here.{}", similar(ContextKind::SuggestedArg))
        }
        ErrorKind::UnknownArgument => format!("'{argument}' is one argument too many."),
        ErrorKind::MissingRequiredArgument => {
            let names = texts(ContextKind::InvalidArg);
            format!("{} {} missing.", list(&names), if names.len() == 1 { "is" } else { "are" })
        }
        ErrorKind::ArgumentConflict => {
            let others = list(&texts(ContextKind::PriorArg));
            if others == argument {
                format!("{argument} can be given only once.")
            } else {
                format!("{argument} cannot be used together with {others}.")
            }
        }
        ErrorKind::InvalidValue if value.is_empty() && possible.is_empty() => {
            format!("{argument} needs a value.")
        }
        ErrorKind::InvalidValue => {
            format!("{argument} cannot be '{value}': it is {}.", alternatives(&possible))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            format!("{argument} cannot be '{value}': {}.", reason(&value, &why))
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => format!("{argument} needs a value."),
        ErrorKind::TooManyValues => format!("'{value}' is one value too many for {argument}."),
        ErrorKind::InvalidUtf8 => "An argument is not UTF-8.".to_owned(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "A command is missing.".to_owned()
        }
        _ => {
            let text = error.render().to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            sentence(&first.trim_start_matches("error: ").replace('\n', " "))
        }
    }
}

/// Why a value is none, without the words of the standard library's parsers.
fn reason(value: &str, why: &str) -> String {
    let negative = value.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some((_, range)) = why.split_once(" is not in ") {
        return match range.split_once("..=").map(|(low, high)| (low, high.parse::<u64>())) {
            Some(("0", _)) if value.starts_with('-') => "it is negative".to_owned(),
            Some((low, Ok(high))) if high < u64::from(u32::MAX) => format!("it is not from {low} to {high}"),
            Some((_, Ok(_))) if !value.starts_with('-') && value != "0" => "it is too large".to_owned(),
            Some((low, _)) => format!("it is not {low} or more"),
            None => format!("it is not {}", range.replace("..", " or more")),
        };
    }
    match why {
        "invalid digit found in string" if negative => "it is negative".to_owned(),
        "invalid digit found in string" => "it is no whole number".to_owned(),
        "number too large to fit in target type" => "it is too large".to_owned(),
        "number too small to fit in target type" => "it is too small".to_owned(),
        "cannot parse integer from empty string" => "it is empty".to_owned(),
        "invalid socket address syntax" => "it is no address and port, such as 127.0.0.1:8895".to_owned(),
        other => other.trim_end_matches('.').to_owned(),
    }
}

fn alternatives(names: &[String]) -> String {
    joined(names, "or")
}

fn list(names: &[String]) -> String {
    joined(names, "and")
}

fn joined(names: &[String], word: &str) -> String {
    match names {
        [] => count(0, "value", "values"),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} {word} {last}", rest.join(", ")),
    }
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
            (
                "zx1 sponsor serve --listen nope",
                "--listen <ADDRESS:PORT> cannot be 'nope': it is no address and port, such as \
                 127.0.0.1:8895.",
                "zx1 sponsor serve",
            ),
        ] {
            assert_eq!(said(line), (sentence.to_owned(), format!("{next} --help")), "{line}");
        }
    }
}
