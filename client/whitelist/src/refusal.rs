//! Why a command line is refused: numbers 9150 to 9167 (decision E9).

use thiserror::Error;

/// Why an investigation command may not run. Every sentence names the offending word and says what is
/// allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Nothing but blanks.
    #[error("the command is empty; send one program with its arguments")]
    Empty,
    /// More bytes than [`super::MAX_LINE`].
    #[error("the command has {length} bytes; at most {limit} are allowed, ask for less at once")]
    TooLong {
        /// Bytes in the line.
        length: usize,
        /// Bytes that are allowed.
        limit: usize,
    },
    /// More words than [`super::MAX_WORDS`].
    #[error("the command has more than {limit} words; split it into several commands")]
    TooManyWords {
        /// Words that are allowed.
        limit: usize,
    },
    /// A newline, another control character, or a character that is invisible or turns the text around.
    #[error(
        "the command holds the character U+{code:04X}, which cannot be seen; send printable text on one line"
    )]
    Unprintable {
        /// The code point.
        code: u32,
    },
    /// A character that means something to a shell.
    #[error(
        "`{character}` in `{word}` is shell syntax and no shell runs; put the word in single quotes if it \
             is meant literally, and send one command at a time"
    )]
    ShellSyntax {
        /// The character.
        character: char,
        /// The word up to and with it.
        word: String,
    },
    /// A glob outside of quotes.
    #[error(
        "`{character}` in `{word}` would be a pattern of a shell and no shell runs; quote it, or list files \
             with `find . -name '*.c'`"
    )]
    Glob {
        /// The character.
        character: char,
        /// The word up to and with it.
        word: String,
    },
    /// A quote that never ends, or a backslash at the end.
    #[error("the quote that begins in `{word}` never ends; close it")]
    OpenQuote {
        /// The word with the quote.
        word: String,
    },
    /// The first word is no name of the whitelist.
    #[error("`{word}` is not on the whitelist; allowed are {allowed}")]
    UnknownProgram {
        /// The first word.
        word: String,
        /// Names, separated by blanks.
        allowed: String,
    },
    /// The program can be named only by its plain name.
    #[error("`{word}` is a path; name the program alone, such as `ls`, so that the system's own one runs")]
    ProgramPath {
        /// The first word.
        word: String,
    },
    /// An option that the whitelist does not know to be harmless.
    #[error("`{program}` may not be given `{word}`; allowed are {allowed}")]
    Word {
        /// The program.
        program: String,
        /// The offending word.
        word: String,
        /// What is allowed instead.
        allowed: String,
    },
    /// An option without the value that it takes.
    #[error("`{word}` of `{program}` needs a value after it; give one, or leave the option out")]
    MissingValue {
        /// The program.
        program: String,
        /// The option.
        word: String,
    },
    /// A value of the wrong kind.
    #[error("`{word}` is no value for `{option}` of `{program}`; allowed is {allowed}")]
    Value {
        /// The program.
        program: String,
        /// The option, or what the operand stands for.
        option: String,
        /// The value.
        word: String,
        /// What it may be.
        allowed: String,
    },
    /// Fewer operands than the program needs.
    #[error("`{program}` needs {needed}; add it")]
    MissingOperand {
        /// The program.
        program: String,
        /// What is missing.
        needed: String,
    },
    /// A path that names a secret (decision E11).
    #[error("`{path}` names {what}, which no agent may read; ask the principal for what you need to know")]
    Secret {
        /// The path as given.
        path: String,
        /// What is kept there.
        what: &'static str,
    },
    /// A path outside the roots that the caller allows, after links were followed.
    #[error("`{path}` lies outside the folders that an agent may read; allowed are {allowed}")]
    OutsideRoots {
        /// The resolved path.
        path: String,
        /// The roots, separated by blanks.
        allowed: String,
    },
    /// A path that the caller did not resolve: relative, or with `.` or `..` in it.
    #[error("`{path}` is not a resolved path; follow links and make it absolute before it is checked")]
    Unresolved {
        /// The path.
        path: String,
    },
    /// A device other than /dev/null.
    #[error("`{path}` is a device; only /dev/null may be read")]
    Device {
        /// The path.
        path: String,
    },
    /// A program that starts another one, inside itself.
    #[error("`{word}` may not start `{word}` again; one time limit is enough")]
    Nested {
        /// The program.
        word: String,
    },
}

impl Refusal {
    /// The number of this refusal. Numbers are never used again.
    pub fn code(&self) -> u16 {
        match self {
            Self::Empty => 9150,
            Self::TooLong { .. } => 9151,
            Self::TooManyWords { .. } => 9152,
            Self::Unprintable { .. } => 9153,
            Self::ShellSyntax { .. } => 9154,
            Self::Glob { .. } => 9155,
            Self::OpenQuote { .. } => 9156,
            Self::UnknownProgram { .. } => 9157,
            Self::ProgramPath { .. } => 9158,
            Self::Word { .. } => 9159,
            Self::MissingValue { .. } => 9160,
            Self::Value { .. } => 9161,
            Self::MissingOperand { .. } => 9162,
            Self::Secret { .. } => 9163,
            Self::OutsideRoots { .. } => 9164,
            Self::Unresolved { .. } => 9165,
            Self::Device { .. } => 9166,
            Self::Nested { .. } => 9167,
        }
    }
}
