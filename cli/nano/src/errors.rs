//! Errors of the commands themselves. Those of the libraries keep their numbers.

use nano_escrow::work::Path;
use zx1_coded::Coded;

/// An error of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
pub enum Error {
    /// The operating system failed.
    #[code(8400)]
    #[error("{0}")]
    System(String),
    /// A key that signs was given as an argument, which the shell's history and other processes see.
    #[code(8401)]
    #[error("a key that signs is not read from the command line, where the shell's history keeps it")]
    KeyOnCommandLine,
    /// A file or standard input cannot be read.
    #[code(8402)]
    #[error("{name} cannot be read: {why}")]
    Unreadable {
        /// Path of the file, or `standard input`.
        name: String,
        /// Why it cannot be read.
        why: String,
    },
    /// An input that should be JSON is not text; carries its name.
    #[code(8403)]
    #[error("{0} is not valid UTF-8")]
    NotUtf8(String),
    /// The environment has no variable of this name.
    #[code(8404)]
    #[error("the environment has no variable {0}")]
    NoVariable(String),
    /// Two inputs would be read from standard input.
    #[code(8405)]
    #[error("only one input can come from standard input")]
    TwoFromStdin,
    /// None of several arguments was given.
    #[code(8406)]
    #[error("missing argument: {0}")]
    Missing(&'static str),
    /// A nonce is empty, too long or malformed.
    #[code(8407)]
    #[error("a nonce is 1 to 64 bytes in hexadecimal digits")]
    Nonce,
    /// The command line is invalid; carries the parser's sentence.
    #[code(8408)]
    #[error("{0}")]
    Usage(String),
    /// The processor lacks the instructions of this path.
    #[code(8409)]
    #[error("this processor has no {0}")]
    NoPath(Path),
    /// No network was given.
    #[code(8440)]
    #[error("missing network")]
    NoNetwork,
    /// No node was given.
    #[code(8441)]
    #[error("missing node")]
    NoNode,
    /// No representative was given.
    #[code(8442)]
    #[error("missing representative")]
    NoRepresentative,
    /// A depositor's payments do not end with the one that takes the rest; carries the depositor.
    #[code(8443)]
    #[error("{0} pays after its rest")]
    AfterRest(String),
}
