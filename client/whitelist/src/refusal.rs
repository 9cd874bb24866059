//! Why a command line is refused: numbers 9150 to 9167 (decision E9).

use thiserror::Error;
use zx1_coded::Coded;

/// Why an investigation command may not run. Every sentence names the offending word and says what is
/// allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error, Coded)]
pub enum Refusal {
    /// Nothing but blanks.
    #[code(9150)]
    #[error("the command is empty; send one program with its arguments")]
    Empty,
    /// More bytes than [`super::MAX_LINE`].
    #[code(9151)]
    #[error("the command has {length} bytes; at most {limit} are allowed, ask for less at once")]
    TooLong {
        /// Bytes in the line.
        length: usize,
        /// Bytes that are allowed.
        limit: usize,
    },
    /// More words than [`super::MAX_WORDS`].
    #[code(9152)]
    #[error("the command has more than {limit} words; split it into several commands")]
    TooManyWords {
        /// Words that are allowed.
        limit: usize,
    },
    /// A newline, another control character, or a character that is invisible or turns the text around.
    #[code(9153)]
    #[error(
        "the command holds the character U+{code:04X}, which cannot be seen; send printable text on one line"
    )]
    Unprintable {
        /// The code point.
        code: u32,
    },
    /// A character that means something to a shell.
    #[code(9154)]
    #[error(
        "`{character}` in `{word}` is shell syntax and no shell runs; put the word in single quotes if it \
             is meant literally, and send one command at a time"
    )]
    ShellSyntax {
        /// The refused character.
        character: char,
        /// The word up to and with it.
        word: String,
    },
    /// A glob outside of quotes.
    #[code(9155)]
    #[error(
        "`{character}` in `{word}` would be a pattern of a shell and no shell runs; quote it, or list files \
             with `find . -name '*.c'`"
    )]
    Glob {
        /// The refused character.
        character: char,
        /// The word up to and with it.
        word: String,
    },
    /// A quote that never ends, or a backslash at the end.
    #[code(9156)]
    #[error("the quote that begins in `{word}` never ends; close it")]
    OpenQuote {
        /// The word with the quote.
        word: String,
    },
    /// The first word is not a name of the whitelist.
    #[code(9157)]
    #[error("`{word}` is not on the whitelist; allowed are {allowed}")]
    UnknownProgram {
        /// The first word.
        word: String,
        /// Names, separated by blanks.
        allowed: String,
    },
    /// The program can be named only by its plain name.
    #[code(9158)]
    #[error("`{word}` is a path; name the program alone, such as `ls`, so that the system's own one runs")]
    ProgramPath {
        /// The first word.
        word: String,
    },
    /// An option that the whitelist does not know to be harmless.
    #[code(9159)]
    #[error("`{program}` may not be given `{word}`; allowed are {allowed}")]
    Word {
        /// Name of the program.
        program: String,
        /// The offending word.
        word: String,
        /// What is allowed instead.
        allowed: String,
    },
    /// An option without the value that it takes.
    #[code(9160)]
    #[error("`{word}` of `{program}` needs a value after it; give one, or leave the option out")]
    MissingValue {
        /// Name of the program.
        program: String,
        /// The refused option.
        word: String,
    },
    /// A value of the wrong kind.
    #[code(9161)]
    #[error("`{word}` is not a value for `{option}` of `{program}`; allowed is {allowed}")]
    Value {
        /// Name of the program.
        program: String,
        /// The option, or what the operand stands for.
        option: String,
        /// The refused value.
        word: String,
        /// What it may be.
        allowed: String,
    },
    /// Fewer operands than the program needs.
    #[code(9162)]
    #[error("`{program}` needs {needed}; add it")]
    MissingOperand {
        /// Name of the program.
        program: String,
        /// What is missing.
        needed: String,
    },
    /// A path that names a secret (decision E11).
    #[code(9163)]
    #[error("`{path}` names {what}, which no agent may read; ask the principal for what you need to know")]
    Secret {
        /// The path as given.
        path: String,
        /// What is kept there.
        what: &'static str,
    },
    /// A path outside the roots that the caller allows, after links were followed.
    #[code(9164)]
    #[error("`{path}` lies outside the folders that an agent may read; allowed are {allowed}")]
    OutsideRoots {
        /// The resolved path.
        path: String,
        /// The roots, separated by blanks.
        allowed: String,
    },
    /// A path that the caller did not resolve: relative, or with `.` or `..` in it.
    #[code(9165)]
    #[error("`{path}` is not a resolved path; follow links and make it absolute before it is checked")]
    Unresolved {
        /// The path, resolved.
        path: String,
    },
    /// A device other than /dev/null.
    #[code(9166)]
    #[error("`{path}` is a device; only /dev/null may be read")]
    Device {
        /// The path, resolved.
        path: String,
    },
    /// A program that starts another one, inside itself.
    #[code(9167)]
    #[error("`{word}` may not start `{word}` again; one time limit is enough")]
    Nested {
        /// Name of the program.
        word: String,
    },
}
