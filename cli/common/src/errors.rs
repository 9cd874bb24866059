//! Exit codes, and what can go wrong in this crate. Numbers and words are the command line's own
//! ([`crate::catalogue!`]).

use std::collections::BTreeSet;
use std::process::ExitCode;

/// Exit codes, as `--help` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command succeeded, or there was nothing to do.
    Success = 0,
    /// The command failed.
    Failure = 1,
    /// The command line is invalid.
    Usage = 2,
    /// Interrupted by Ctrl+C: 128 and the number of the signal, as shells report it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Errors of this crate's functions. Every command line has variants of these names in its catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The command needs a confirmation, and there is no terminal to ask at.
    NeedsYes,
    /// The user has declined.
    Declined,
    /// Standard output was closed by its reader.
    ClosedPipe,
    /// A file cannot be written.
    WriteFailed {
        /// Path of the file.
        path: String,
        /// Why it cannot be written, as a clause of a sentence.
        why: String,
    },
    /// A file cannot be read.
    ReadFailed {
        /// Path of the file.
        path: String,
        /// Why it cannot be read, as a clause of a sentence.
        why: String,
    },
    /// The file to be written already exists.
    Exists {
        /// The path that was given.
        path: String,
    },
    /// Input must be typed at a terminal, and there is none.
    NeedsTerminal {
        /// What has to be typed.
        what: String,
    },
    /// The key file does not exist.
    KeyMissing {
        /// Path of the key file.
        path: String,
    },
    /// The key file is a directory.
    KeyIsFolder {
        /// Path of the directory.
        path: String,
    },
    /// The key file begins like JSON and is not valid JSON.
    KeyNotJson {
        /// Path of the key file.
        path: String,
        /// The position of the error, never the contents of the file.
        why: String,
    },
    /// The key file's array does not have 64 numbers.
    KeyWrongLength {
        /// Path of the key file.
        path: String,
        /// Number of entries in the array.
        found: usize,
    },
    /// The public half of the key file does not belong to its secret half.
    KeyHalvesDiffer {
        /// Path of the key file.
        path: String,
    },
    /// The key file has none of the supported formats.
    KeyUnknownForm {
        /// Path of the key file.
        path: String,
        /// Size of the key file in bytes.
        found: u64,
    },
    /// A hardware wallet or a prompt was given instead of a key file.
    KeyNotAFile {
        /// The value that was given.
        path: String,
    },
    /// A configuration file cannot be parsed.
    ConfigMalformed {
        /// Path of the file.
        path: String,
        /// Position and reason, as a clause of a sentence.
        why: String,
    },
    /// The system's random number generator failed.
    RandomFailed {
        /// Why it failed, as a clause of a sentence.
        why: String,
    },
    /// Another program of the installation cannot be executed.
    CannotExecute {
        /// Name of the program, or its path.
        program: String,
        /// Why it cannot be executed, as a clause of a sentence.
        why: String,
    },
    /// An input exceeds its maximum size.
    InputTooLarge {
        /// Name of the input.
        what: String,
        /// Size of the input in bytes.
        size: u64,
        /// Maximum size in bytes.
        limit: u64,
    },
}

/// What is wrong with a catalogue: numbers that stand twice or lie outside of the range, messages that are
/// no sentences, next steps that are missing or begin like sentences. For the tests of command lines.
pub fn catalogue_faults(
    all: &[(u32, &str)],
    texts: &[(&str, &str)],
    range: std::ops::Range<u32>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let numbers: BTreeSet<u32> = all.iter().map(|(code, _)| *code).collect();
    if numbers.len() != all.len() || !numbers.iter().all(|code| range.contains(code)) {
        faults.push(format!("the numbers are not unique within {range:?}"));
    }
    for ((code, name), (message, next)) in all.iter().zip(texts) {
        if !message.ends_with(['.', '}']) {
            faults.push(format!("{code} is not a sentence: {message}"));
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

/// Makes a sentence of a foreign error's text: a capital letter first, a full stop last.
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

/// The reason of a system error without its number, as a clause of a sentence: "no such file or directory".
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    crate::words::clause(text.get(..end).unwrap_or(&text))
}

/// Describes a JSON error without the list of everything that was expected.
pub fn json_fault(error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!("invalid JSON (line {}, column {})", error.line(), error.column());
    }
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    text.split(", expected one of").next().unwrap_or_default().to_owned()
}
