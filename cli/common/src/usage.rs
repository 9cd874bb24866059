//! What is wrong with a command line, in one sentence, with the help that explains it as the next step.

use crate::errors::{Exit, Fault, sentence};
use crate::output::{self, Format};
use crate::words::count;
use clap::Arg;
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// The words that lead to the help of the command that was typed: `zx1 stake lock`.
pub fn path_of(root: &clap::Command, arguments: &[OsString]) -> String {
    let mut at = root;
    let mut path = vec![root.get_name()];
    for word in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        if let Some(child) = at.find_subcommand(word) {
            path.push(child.get_name());
            at = child;
        }
    }
    path.join(" ")
}

/// An option for which an empty environment variable counts as none.
pub fn option(option: Arg) -> Arg {
    match option.get_env().map(std::env::var_os) {
        Some(Some(value)) if value.is_empty() => option.env(Resettable::Reset),
        _ => option,
    }
}

/// Prints the help or the version that a command line asks for, and the help where nothing was typed. `None` if it
/// asks for neither: then it is wrong.
///
/// # Errors
/// [`Fault::WriteFailed`]. A closed standard output is not an error.
pub fn help(error: &clap::Error, format: Format) -> Result<Option<Exit>, Fault> {
    let text = || error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match output::write_out(text().as_bytes()) {
            Err(fault) if fault != Fault::ClosedPipe => Err(fault),
            _ => Ok(Some(Exit::Success)),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !format.is_json() => {
            output::write_err(&text());
            Ok(Some(Exit::Usage))
        }
        _ => Ok(None),
    }
}

/// One sentence for a command line that does not parse.
pub fn in_words(error: &clap::Error) -> String {
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
    let similar = |kind| meant(&texts(kind));
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = first(ContextKind::InvalidSubcommand);
            // A short command has letters in common with many words.
            let close = texts(ContextKind::SuggestedSubcommand).into_iter().filter(|it| is_close(&name, it));
            format!("Unknown command '{name}'.{}", meant(&close.collect::<Vec<_>>()))
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("Unknown option '{argument}'.{}", similar(ContextKind::SuggestedArg))
        }
        ErrorKind::UnknownArgument => format!("Unexpected argument '{argument}'."),
        ErrorKind::MissingRequiredArgument => {
            let names = texts(ContextKind::InvalidArg);
            format!("Missing required argument{}: {}.", if names.len() == 1 { "" } else { "s" }, list(&names))
        }
        ErrorKind::ArgumentConflict => {
            let others = list(&texts(ContextKind::PriorArg));
            if others == argument {
                format!("{argument} can be given only once.")
            } else {
                format!("{argument} cannot be used with {others}.")
            }
        }
        ErrorKind::InvalidValue if value.is_empty() && possible.is_empty() => {
            format!("{argument} requires a value.")
        }
        ErrorKind::InvalidValue => {
            format!("Invalid value '{value}' for {argument}: expected {}.", alternatives(&possible))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            format!("Invalid value '{value}' for {argument}: {}.", reason(&value, &why))
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => format!("{argument} requires a value."),
        ErrorKind::TooManyValues => format!("Unexpected value '{value}' for {argument}."),
        ErrorKind::InvalidUtf8 => "An argument is not valid UTF-8.".to_owned(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "Missing command.".to_owned()
        }
        _ => {
            let text = error.render().to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            sentence(&first.trim_start_matches("error: ").replace('\n', " "))
        }
    }
}

/// The commands that a word was perhaps meant for, by one slip of the pen.
pub fn near(tree: &clap::Command, word: &str) -> Vec<String> {
    let names = tree.get_subcommands().map(clap::Command::get_name).chain(["help"]);
    names.filter(|name| is_slip(word, name)).map(str::to_owned).collect()
}

/// A question that names what was perhaps meant; empty where there is nothing to name.
pub fn meant(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!(" Did you mean {}?", alternatives(names)),
    }
}

/// Whether a word may have been meant for another one: they begin alike, or differ by a slip.
fn is_close(typed: &str, name: &str) -> bool {
    typed.chars().next() == name.chars().next() || is_slip(typed, name)
}

/// Whether one letter is missing, too many, wrong or in its neighbour's place.
fn is_slip(typed: &str, name: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), name.chars().collect());
    // What stands between what they begin and end with alike.
    let front = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(front..).unwrap_or_default(), b.get(front..).unwrap_or_default());
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let inner = |word: &[char]| word.get(..word.len().saturating_sub(back)).unwrap_or_default().to_vec();
    match (inner(a).as_slice(), inner(b).as_slice()) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Why a value is none, without the words of the standard library's parsers.
fn reason(value: &str, why: &str) -> String {
    let negative = value.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some((_, range)) = why.split_once(" is not in ") {
        return match range.split_once("..=").map(|(low, high)| (low, high.parse::<u64>())) {
            Some(("0", _)) if value.starts_with('-') => "negative numbers are not allowed".to_owned(),
            Some((low, Ok(high))) if high < u64::from(u32::MAX) => format!("expected {low} to {high}"),
            Some((_, Ok(_))) if !value.starts_with('-') && value != "0" => "too large".to_owned(),
            Some((low, _)) => format!("expected {low} or more"),
            None => format!("expected {}", range.replace("..", " or more")),
        };
    }
    match why {
        "invalid digit found in string" if negative => "negative numbers are not allowed".to_owned(),
        "invalid digit found in string" => "expected a whole number".to_owned(),
        "number too large to fit in target type" => "too large".to_owned(),
        "number too small to fit in target type" => "too small".to_owned(),
        "cannot parse integer from empty string" => "empty".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::is_close;

    #[test]
    fn what_begins_alike_or_is_one_letter_off_is_close() {
        for (typed, name) in
            [("stak", "status"), ("sak", "ask"), ("task", "ask"), ("ksk", "ask"), ("aask", "ask")]
        {
            assert!(is_close(typed, name), "{typed} {name}");
        }
        for (typed, name) in [("stak", "ask"), ("mask2", "ask"), ("", "ask"), ("kas", "ask")] {
            assert!(!is_close(typed, name), "{typed} {name}");
        }
    }
}
