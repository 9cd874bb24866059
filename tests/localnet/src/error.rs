//! What can go wrong, numbered 9800 to 9899, each with what to do next.

use std::path::PathBuf;
use zx1_coded::Coded;
use zx1_fixtures::control::Refusal;

/// A refusal of the local cluster. Every message is a whole sentence; [`LocalnetError::next`] says what to
/// do about it.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum LocalnetError {
    /// The built programs were not found.
    #[code(9800)]
    #[error("The built program {missing} is not in {}.", folder.display())]
    ProgramsMissing {
        /// Name of the file that is not there.
        missing: String,
        /// The folder that was looked into last.
        folder: PathBuf,
    },
    /// A built program does not load.
    #[code(9801)]
    #[error("The program {} cannot be loaded: {why}.", file.display())]
    ProgramBroken {
        /// Path of the file.
        file: PathBuf,
        /// What the virtual machine says.
        why: String,
    },
    /// Somebody else listens on a port.
    #[code(9802)]
    #[error("The {what} port {port} is taken by another program.")]
    PortTaken {
        /// What was to listen there.
        what: &'static str,
        /// The port that is taken.
        port: u16,
    },
    /// No free pair of neighbouring ports.
    #[code(9803)]
    #[error("No two free neighbouring ports were found on this machine.")]
    NoFreePorts,
    /// Another instance uses the state folder.
    #[code(9804)]
    #[error("The state folder {} is used by another zx1-localnet{}.", folder.display(), process(*pid))]
    StateInUse {
        /// Path of the folder.
        folder: PathBuf,
        /// Its process, if it could be read.
        pid: Option<u32>,
    },
    /// The state folder cannot be read or written.
    #[code(9805)]
    #[error("{} cannot be used: {why}.", path.display())]
    StateIo {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The ledger's file is damaged before its end.
    #[code(9806)]
    #[error("The saved ledger {} is damaged in line {line}.", path.display())]
    LedgerDamaged {
        /// Path of the file.
        path: PathBuf,
        /// The first line that does not fit its checksum.
        line: usize,
    },
    /// The state folder was written by another version.
    #[code(9807)]
    #[error("The state folder {} has format {found}, and this program reads format {known}.", folder.display())]
    OtherFormat {
        /// Path of the folder.
        folder: PathBuf,
        /// What it says.
        found: u64,
        /// What this program knows.
        known: u64,
    },
    /// A wallet's file does not hold a key.
    #[code(9808)]
    #[error("{} is not a Solana key file of 64 numbers.", path.display())]
    BadKey {
        /// Path of the file.
        path: PathBuf,
    },
    /// The cluster's machine refused what should have worked.
    #[code(9809)]
    #[error("The cluster did not start: {0}.")]
    Cluster(String),
    /// A transaction of the set-up or of `fund` failed.
    #[code(9810)]
    #[error("The transaction '{what}' failed: {why}.")]
    Transaction {
        /// What was to be done.
        what: String,
        /// What the chain says.
        why: String,
    },
    /// A jump that would go back.
    #[code(9811)]
    #[error("The chain's time is {now} already; {wanted} would be a jump back.")]
    TimeBack {
        /// Unix seconds of the chain.
        now: i64,
        /// Unix seconds that were wanted.
        wanted: i64,
    },
    /// A jump that is too far.
    #[code(9812)]
    #[error("A jump of {0} is too far: the chain's clock ends.")]
    TimeTooFar(String),
    /// An amount that is none.
    #[code(9813)]
    #[error("invalid amount '{0}': expected a number such as 2 or 0.5.")]
    BadAmount(String),
    /// An address that is none.
    #[code(9814)]
    #[error("invalid address '{0}': expected 32 bytes in base58.")]
    BadAddress(String),
    /// A request to the control endpoint that means nothing.
    #[code(9815)]
    #[error("The request was not understood: {0}.")]
    BadRequest(String),
    /// No cluster answers.
    #[code(9816)]
    #[error("No zx1-localnet answers at {0}.")]
    NotRunning(String),
    /// A cluster answers with something else.
    #[code(9817)]
    #[error("{0} answers, but not as a zx1-localnet does: {1}.")]
    OddAnswer(String, String),
    /// What a running cluster refused.
    #[code(inner)]
    #[error(transparent)]
    Refused(Refusal),
    /// The Nano ledger did not start.
    #[code(9818)]
    #[error("The Nano ledger did not start: {0}.")]
    Nano(String),
    /// The command line is invalid; carries the parser's sentence.
    #[code(9819)]
    #[error("{0}")]
    Usage(String),
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

impl LocalnetError {
    /// What to do next, a sentence.
    pub fn next(&self) -> &str {
        match self {
            Self::ProgramsMissing { .. } => {
                "Run scripts/build-programs, or name the folder with --programs or ZX1_DEPLOY_DIR."
            }
            Self::ProgramBroken { .. } => "Run scripts/build-programs again.",
            Self::PortTaken { .. } => {
                "Stop that program, or choose another port with --port, --ws-port, --control-port, --nano-port or \
                 --nano-ws-port; 0 takes a free one."
            }
            Self::NoFreePorts => "Name the ports with --port and --ws-port.",
            Self::StateInUse { .. } => {
                "Stop it with zx1-localnet stop, or name another folder with --state, or use --no-state."
            }
            Self::StateIo { .. } => "Make it readable and writable, or name another folder with --state.",
            Self::LedgerDamaged { .. } => "Start with --reset to begin anew, or put a good copy there.",
            Self::OtherFormat { .. } => "Start with --reset to begin anew, or use the program that wrote it.",
            Self::BadKey { .. } => "Put the key back, or start with --reset to make new ones.",
            Self::Cluster(_) => "Start it again with RUST_LOG=debug to see more.",
            Self::Transaction { .. } => "Look at the sentence above, then try again.",
            Self::TimeBack { .. } => "Time only goes forward; begin anew with --reset.",
            Self::TimeTooFar(_) => "Choose a smaller number.",
            Self::BadAmount(_) | Self::BadAddress(_) => "Correct it and try again.",
            Self::BadRequest(_) | Self::Usage(_) => "See zx1-localnet --help.",
            Self::NotRunning(_) => {
                "Start zx1-localnet in another terminal, or say where it is with --control or --state."
            }
            Self::OddAnswer(..) => "Name the control endpoint that zx1-localnet printed at its start.",
            Self::Nano(_) => "Start without it (--no-nano), or begin anew with --reset.",
            Self::Refused(refusal) => &refusal.next,
        }
    }

    /// The name behind the number, also of what a running cluster refused.
    pub fn name(&self) -> &str {
        match self {
            Self::Refused(refusal) => &refusal.name,
            _ => Coded::name(self),
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>, why: impl std::fmt::Display) -> Self {
        Self::StateIo { path: path.into(), why: why.to_string() }
    }
}
