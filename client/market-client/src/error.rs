//! What can go wrong between a party and a market server.

use std::path::PathBuf;
use std::time::Duration;

use zx1_coded::Coded;
use zx1_market::chain::Head;
use zx1_market::{ContractId, PartyId, Reason, Refusal};

/// What this module's functions return.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// The server said no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The status in HTTP.
    pub status: u16,
    /// The server's number of the refusal, such as 9111; older servers give none.
    pub code: Option<u32>,
    /// The server's sentence, cut and without control characters. It is a stranger's text.
    pub detail: String,
    /// What was asked, such as `POST /contracts/…/fix`.
    pub call: String,
    /// Where the chain stands, when that is what was wrong.
    pub head: Option<Head>,
    /// Time after which the server wants to be asked again.
    pub retry_after: Option<Duration>,
}

impl Refused {
    /// Which of the market's rules it was, when the server says so.
    pub fn reason(&self) -> Option<Reason> {
        Reason::from_code(self.code?)
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "The server refused {} ({}", self.call, self.status)?;
        if let Some(code) = self.code {
            write!(f, ", error {code}")?;
        }
        write!(f, "): {}", self.detail)
    }
}

/// Why a call did not succeed. Numbers 9368 to 9387.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum ClientError {
    /// The address or an option cannot be used.
    #[code(9368)]
    #[error("The market's address {url} cannot be used: {why}. Give one such as https://fix.example.org.")]
    Address {
        /// The address as it was given.
        url: String,
        /// Why it is invalid.
        why: String,
    },
    /// No connection could be made.
    #[code(9369, transient)]
    #[error(
        "The market at {url} cannot be reached: {why}. Check the address and the network, then try again."
    )]
    Unreachable {
        /// URL of the server.
        url: String,
        /// The error of the connection.
        why: String,
    },
    /// The server has another key than before.
    #[code(9370)]
    #[error(
        "The market at {url} has the key {found}, but {pinned} is expected: it is another server, or \
         somebody is in between. Nothing was signed. If its operator has really changed the key, remove its \
         line from {} and connect again.",
        .file.as_ref().map_or("your configuration".to_owned(), |f| f.display().to_string())
    )]
    KeyChanged {
        /// URL of the server.
        url: String,
        /// The key that it should have.
        pinned: PartyId,
        /// The key that it has.
        found: PartyId,
        /// Where the expected key is kept.
        file: Option<PathBuf>,
    },
    /// No answer in time.
    #[code(9371, transient)]
    #[error("The market did not answer {call} within {} s. Try again; what was sent may have been \
         taken.", .after.as_secs())]
    TimedOut {
        /// Method and path of the request.
        call: String,
        /// Timeout that was hit.
        after: Duration,
    },
    /// The answer makes no sense.
    #[code(9372, transient)]
    #[error("The answer to {call} cannot be read: {why}. Check that the address is a market server's.")]
    Unreadable {
        /// Method and path of the request.
        call: String,
        /// Why it is invalid.
        why: String,
    },
    /// The answer is too long.
    #[code(9373)]
    #[error(
        "The answer to {call} is longer than {max} bytes. It was not read; report it to the server's \
             operator."
    )]
    TooLong {
        /// Method and path of the request.
        call: String,
        /// Limit in bytes.
        max: usize,
    },
    /// The server said no.
    #[code(9374, transient = Self::may_pass)]
    #[error("{0}")]
    Refused(Box<Refused>),
    /// Entries that were seen before are gone or changed.
    #[code(9375)]
    #[error(
        "The server shows another history of contract {id} than before: entry {seq} differs. Nothing was \
         signed. Keep {}, it proves what was signed.", .file.display()
    )]
    Rewritten {
        /// Id of the contract.
        id: ContractId,
        /// The first entry that differs or is missing.
        seq: u64,
        /// The saved transcript.
        file: PathBuf,
    },
    /// The transcript does not hold.
    #[code(9376)]
    #[error("The transcript of contract {id} does not hold: {refusal} Nothing was signed.")]
    Transcript {
        /// Id of the contract.
        id: ContractId,
        /// Why (error number of the market's own range).
        refusal: Refusal,
    },
    /// The answer is about something else.
    #[code(9377)]
    #[error(
        "The server answered with {found} where {expected} was asked for. Nothing was signed; use \
             another server."
    )]
    Other {
        /// What the client asked for.
        expected: String,
        /// What the server sent instead.
        found: String,
    },
    /// Something happened that changes what the signer meant.
    #[code(9378)]
    #[error(
        "While the {kind} was being sent, the contract moved on ({what}). It was not signed again; read \
         the contract and decide anew."
    )]
    Overtaken {
        /// What was to be said.
        kind: &'static str,
        /// The entries in between.
        what: String,
    },
    /// Others were faster, again and again.
    #[code(9379, transient)]
    #[error("The chain of contract {id} moved on {tries} times while an entry was being signed. Try again.")]
    TooBusy {
        /// Id of the contract.
        id: ContractId,
        /// Number of attempts.
        tries: u32,
    },
    /// A deposit is not what the contract says.
    #[code(9380)]
    #[error(
        "The server asks for a deposit that is not the contract's ({why}). Nothing was paid; use another \
             server."
    )]
    Deposit {
        /// How the deposit differs from the contract's.
        why: String,
    },
    /// The wallet could not pay.
    #[code(9381)]
    #[error(
        "The wallet did not pay: {why}. Once that is mended, the same payment can be asked for again; it \
             is made once."
    )]
    Purse {
        /// The wallet's error.
        why: String,
    },
    /// A file could not be read or written.
    #[code(9382)]
    #[error("{} cannot be {doing}: {why}. Nothing was sent; make room or correct the permissions, then \
         try again.", .path.display())]
    Disk {
        /// Path of the file.
        path: PathBuf,
        /// `read` or `written`.
        doing: &'static str,
        /// The operating system's error.
        why: String,
    },
    /// What was waited for did not happen in time.
    #[code(9383)]
    #[error("{what} did not happen within {} s. Read the contract to see where it stands.", .after.as_secs())]
    NotInTime {
        /// What was waited for.
        what: String,
        /// Timeout that was hit.
        after: Duration,
    },
    /// Only a part of the chain can be read, and the whole of it is needed.
    #[code(9384)]
    #[error("Contract {id} shows only its offer to this key. Bond first, or use the key of a party.")]
    NotWhole {
        /// Id of the contract.
        id: ContractId,
    },
    /// The market's rules refuse it before it is sent.
    #[code(9385)]
    #[error("{0} Nothing was sent.")]
    Rules(Refusal),
    /// There is no call for this.
    #[code(9386)]
    #[error("A party cannot send an entry of the type {kind}. Nothing was sent; use another call.")]
    NoCall {
        /// Type of the entry.
        kind: &'static str,
    },
    /// The terms are not those that were agreed to.
    #[code(9387)]
    #[error(
        "The server opened contract {id} under other terms than it advertised ({what}). Nothing more was \
             signed; take the contract back."
    )]
    Terms {
        /// Id of the contract.
        id: ContractId,
        /// Name of what differs.
        what: String,
    },
}

impl ClientError {
    /// The server's own number, when the server refused and gives one: for people and logs.
    pub fn server_code(&self) -> Option<u32> {
        if let ClientError::Refused(refused) = self { refused.code } else { None }
    }

    /// Which of the market's rules refused, when the server did and says which.
    pub fn reason(&self) -> Option<Reason> {
        if let ClientError::Refused(refused) = self { refused.reason() } else { None }
    }

    /// The status in HTTP, when the server refused.
    pub fn status(&self) -> Option<u16> {
        if let ClientError::Refused(refused) = self { Some(refused.status) } else { None }
    }

    fn may_pass(&self) -> bool {
        self.status().is_some_and(|status| status == 408 || status == 429 || status >= 500)
    }

    /// Whether it is open if the server has taken what was sent.
    pub(crate) fn is_ambiguous(&self) -> bool {
        match self {
            ClientError::Unreachable { .. }
            | ClientError::TimedOut { .. }
            | ClientError::Unreadable { .. }
            | ClientError::TooLong { .. } => true,
            ClientError::Refused(refused) => refused.status == 408 || refused.status >= 500,
            _ => false,
        }
    }
}
