//! What can go wrong, numbered 7600 to 7699, each with what to do next.

use std::path::PathBuf;

/// A refusal of the local cluster. Every message is a whole sentence; [`LocalnetError::next`] says what to
/// do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalnetError {
    /// The built programs were not found.
    #[error("The built program {missing} is not in {}.", folder.display())]
    ProgramsMissing {
        /// Name of the file that is not there.
        missing: String,
        /// The folder that was looked into last.
        folder: PathBuf,
    },
    /// A built program does not load.
    #[error("The program {} cannot be loaded: {why}.", file.display())]
    ProgramBroken {
        /// The file.
        file: PathBuf,
        /// What the virtual machine says.
        why: String,
    },
    /// Somebody else listens on a port.
    #[error("The {what} port {port} is taken by another program.")]
    PortTaken {
        /// What was to listen there.
        what: &'static str,
        /// The port.
        port: u16,
    },
    /// No free pair of neighbouring ports.
    #[error("No two free neighbouring ports were found on this machine.")]
    NoFreePorts,
    /// Another instance uses the state folder.
    #[error("The state folder {} is used by another zx1-localnet{}.", folder.display(), process(*pid))]
    StateInUse {
        /// The folder.
        folder: PathBuf,
        /// Its process, if it could be read.
        pid: Option<u32>,
    },
    /// The state folder cannot be read or written.
    #[error("{} cannot be used: {why}.", path.display())]
    StateIo {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The ledger's file is damaged before its end.
    #[error("The saved ledger {} is damaged in line {line}.", path.display())]
    LedgerDamaged {
        /// The file.
        path: PathBuf,
        /// The first line that does not fit its checksum.
        line: usize,
    },
    /// The state folder was written by another version.
    #[error("The state folder {} has format {found}, and this program reads format {known}.", folder.display())]
    OtherFormat {
        /// The folder.
        folder: PathBuf,
        /// What it says.
        found: u64,
        /// What this program knows.
        known: u64,
    },
    /// A wallet's file is no key.
    #[error("{} is no Solana key file of 64 numbers.", path.display())]
    BadKey {
        /// The file.
        path: PathBuf,
    },
    /// The cluster's machine refused what should have worked.
    #[error("The cluster did not start: {0}.")]
    Cluster(String),
    /// A transaction of the set-up or of `fund` failed.
    #[error("The transaction '{what}' failed: {why}.")]
    Transaction {
        /// What was to be done.
        what: String,
        /// What the chain says.
        why: String,
    },
    /// A jump that would go back.
    #[error("The chain's time is {now} already; {wanted} would be a jump back.")]
    TimeBack {
        /// Unix seconds of the chain.
        now: i64,
        /// Unix seconds that were wanted.
        wanted: i64,
    },
    /// A jump that is too far.
    #[error("A jump of {0} is too far: the chain's clock ends.")]
    TimeTooFar(String),
    /// An amount that is none.
    #[error("'{0}' is no amount: write a number such as 2 or 0.5.")]
    BadAmount(String),
    /// An address that is none.
    #[error("'{0}' is no address: 32 bytes in base58.")]
    BadAddress(String),
    /// A request to the control endpoint that means nothing.
    #[error("The request was not understood: {0}.")]
    BadRequest(String),
    /// No cluster answers.
    #[error("No zx1-localnet answers at {0}.")]
    NotRunning(String),
    /// A cluster answers with something else.
    #[error("{0} answers, but not as a zx1-localnet does: {1}.")]
    OddAnswer(String, String),
    /// What a running cluster refused.
    #[error("{error}")]
    Refused {
        /// Its number.
        code: u16,
        /// Its sentence.
        error: String,
        /// Its advice.
        next: String,
    },
    /// The Nano ledger did not start.
    #[error("The Nano ledger did not start: {0}.")]
    Nano(String),
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

impl LocalnetError {
    /// The number of this refusal.
    pub fn code(&self) -> u16 {
        match self {
            Self::ProgramsMissing { .. } => 7600,
            Self::ProgramBroken { .. } => 7601,
            Self::PortTaken { .. } => 7602,
            Self::NoFreePorts => 7603,
            Self::StateInUse { .. } => 7604,
            Self::StateIo { .. } => 7605,
            Self::LedgerDamaged { .. } => 7606,
            Self::OtherFormat { .. } => 7607,
            Self::BadKey { .. } => 7608,
            Self::Cluster(_) => 7609,
            Self::Transaction { .. } => 7610,
            Self::TimeBack { .. } => 7611,
            Self::TimeTooFar(_) => 7612,
            Self::BadAmount(_) => 7613,
            Self::BadAddress(_) => 7614,
            Self::BadRequest(_) => 7615,
            Self::NotRunning(_) => 7616,
            Self::OddAnswer(..) => 7617,
            Self::Nano(_) => 7618,
            Self::Refused { code, .. } => *code,
        }
    }

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
            Self::BadRequest(_) => "See zx1-localnet --help.",
            Self::NotRunning(_) => {
                "Start zx1-localnet in another terminal, or say where it is with --control or --state."
            }
            Self::OddAnswer(..) => "Name the control endpoint that zx1-localnet printed at its start.",
            Self::Nano(_) => "Start without it (--no-nano), or begin anew with --reset.",
            Self::Refused { next, .. } => next,
        }
    }

    pub(crate) fn io(path: impl Into<PathBuf>, why: impl std::fmt::Display) -> Self {
        Self::StateIo { path: path.into(), why: why.to_string() }
    }
}
