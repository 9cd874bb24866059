//! Exit codes, and what can go wrong in this crate. Numbers and words are the command line's own
//! ([`crate::catalogue!`]).

use std::process::ExitCode;

/// Exit codes, as `--help` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, or nothing to do.
    Success = 0,
    /// Refused or failed.
    Failure = 1,
    /// The command line itself is wrong.
    Usage = 2,
    /// Stopped by Ctrl+C, as shells count it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// What this crate's functions fail with. Every command line has the variants of these names in its
/// catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Consent is needed and nobody can be asked.
    NeedsYes,
    /// The answer was no.
    Declined,
    /// The reader of standard output has gone.
    ClosedPipe,
    /// A file cannot be written.
    WriteFailed {
        /// Path of the file.
        path: String,
        /// A part of a sentence.
        why: String,
    },
    /// A file cannot be read.
    ReadFailed {
        /// Path of the file.
        path: String,
        /// A part of a sentence.
        why: String,
    },
    /// The path is taken.
    Exists {
        /// The path that was given.
        path: String,
    },
    /// Something has to be typed, and there is no terminal.
    NeedsTerminal {
        /// What has to be typed.
        what: String,
    },
    /// There is no key file.
    KeyMissing {
        /// Path of the file.
        path: String,
    },
    /// The key file is a folder.
    KeyIsFolder {
        /// Path of the folder.
        path: String,
    },
    /// The key file begins like JSON and is none.
    KeyNotJson {
        /// Path of the file.
        path: String,
        /// Which place is wrong; never what stands there.
        why: String,
    },
    /// The key file's array has another length than 64.
    KeyWrongLength {
        /// Path of the file.
        path: String,
        /// Length of the file in bytes.
        found: usize,
    },
    /// The public half of the key file is not that of the secret half.
    KeyHalvesDiffer {
        /// Path of the file.
        path: String,
    },
    /// The key file has none of the forms.
    KeyUnknownForm {
        /// Path of the file.
        path: String,
        /// Size of the file in bytes.
        found: u64,
    },
    /// A hardware wallet or a prompt is named instead of a file.
    KeyNotAFile {
        /// What is named.
        path: String,
    },
    /// A configuration file does not parse.
    ConfigMalformed {
        /// Path of the file.
        path: String,
        /// Where and why.
        why: String,
    },
    /// The system gave no random bytes.
    RandomFailed {
        /// What is wrong with it.
        why: String,
    },
    /// A program of the same installation cannot be executed.
    CannotExecute {
        /// Name of the program, or its path.
        program: String,
        /// A part of a sentence.
        why: String,
    },
    /// An input is larger than what is read.
    InputTooLarge {
        /// Name of the input.
        what: String,
        /// Size of the input in bytes.
        size: u64,
        /// The largest that is read.
        limit: u64,
    },
}

/// What is wrong with a catalogue: numbers that do not ascend or lie outside of the range, messages that are
/// no sentences, next steps that are missing or begin like sentences. For the tests of command lines.
pub fn catalogue_faults(
    all: &[(u32, &str)],
    texts: &[(&str, &str)],
    range: std::ops::Range<u32>,
) -> Vec<String> {
    let mut faults = Vec::new();
    if !all.is_sorted_by(|a, b| a.0 < b.0) || all.iter().any(|(code, _)| !range.contains(code)) {
        faults.push(format!("the numbers do not ascend within {range:?}"));
    }
    for ((code, name), (message, next)) in all.iter().zip(texts) {
        if !message.ends_with(['.', '}']) {
            faults.push(format!("{code} is no sentence: {message}"));
        }
        // Nobody sees that one: whoever read has gone.
        if next.is_empty() != (*name == "ClosedPipe") {
            faults.push(format!("{code} has no next step, or one too many"));
        }
        if next.ends_with('.') || next.starts_with(char::is_uppercase) {
            faults.push(format!("{code}: the next step is a sentence: {next}"));
        }
    }
    faults
}

/// Capital letter first, period last: texts of foreign errors have neither.
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

/// The system's reason without its number, as a part of a sentence: "no such file or directory".
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    crate::words::clause(text.get(..end).unwrap_or(&text))
}

/// What is wrong with JSON, without the list of all that it could have been.
pub fn json_fault(error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!("it is no JSON (line {}, column {})", error.line(), error.column());
    }
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    text.split(", expected one of").next().unwrap_or_default().to_owned()
}
