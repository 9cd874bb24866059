//! What can go wrong between a party and a market server.

use std::path::PathBuf;
use std::time::Duration;

use zx1_market::chain::Head;
use zx1_market::{ContractId, PartyId, Refusal};

/// What this module's functions return.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// The server said no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The status in HTTP.
    pub status: u16,
    /// The server's number of the refusal, such as 9111; older servers give none.
    pub code: Option<u16>,
    /// The server's sentence, cut and without control characters. It is a stranger's text.
    pub detail: String,
    /// What was asked, such as `POST /contracts/…/fix`.
    pub call: String,
    /// Where the chain stands, when that is what was wrong.
    pub head: Option<Head>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
}

impl Refused {
    /// What to do about it.
    pub fn next(&self) -> &'static str {
        match self.status {
            401 => "Set this machine's clock, and send the request once, signed anew.",
            403 => "Use the key of the party that may do this.",
            404 => "Check the contract id and the server's address.",
            408 | 504 => "Send it again over a better connection.",
            409 => "Read the contract again to see what can be done now.",
            410 => "It is too late for this; read the contract to see what follows.",
            413 => "Send less.",
            429 => "Wait a little, then go on more slowly.",
            501 => "This contract is in free mode; nobody rules on it.",
            400 | 422 => "Correct what the sentence names; if you did not write it, update this program.",
            500.. => "Try again later, or ask the server's operator.",
            _ => "Check that the address is a market server's.",
        }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "The server refused {} ({}", self.call, self.status)?;
        if let Some(code) = self.code {
            write!(f, ", error {code}")?;
        }
        write!(f, "): {} {}", self.detail, self.next())
    }
}

/// Why a call did not succeed. Numbers 9368 to 9387.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// 9368: the address or an option cannot be used.
    #[error("The market's address {url} cannot be used: {why}. Give one such as https://fix.example.org.")]
    Address {
        /// As given.
        url: String,
        /// Why not.
        why: String,
    },
    /// 9369: no connection.
    #[error(
        "The market at {url} cannot be reached: {why}. Check the address and the network, then try again."
    )]
    Unreachable {
        /// The server.
        url: String,
        /// What the system said.
        why: String,
    },
    /// 9370: the server has another key than before.
    #[error(
        "The market at {url} has the key {found}, but {pinned} is expected: it is another server, or \
         somebody is in between. Nothing was signed. If its operator has really changed the key, remove its \
         line from {} and connect again.",
        .file.as_ref().map_or("your configuration".to_owned(), |f| f.display().to_string())
    )]
    KeyChanged {
        /// The server.
        url: String,
        /// The key that it should have.
        pinned: PartyId,
        /// The key that it has.
        found: PartyId,
        /// Where the expected key is kept.
        file: Option<PathBuf>,
    },
    /// 9371: no answer in time.
    #[error("The market did not answer {call} within {} s. Try again; what was sent may have been \
         taken.", .after.as_secs())]
    TimedOut {
        /// What was asked.
        call: String,
        /// The limit.
        after: Duration,
    },
    /// 9372: the answer makes no sense.
    #[error("The answer to {call} cannot be read: {why}. Check that the address is a market server's.")]
    Unreadable {
        /// What was asked.
        call: String,
        /// What is wrong with it.
        why: String,
    },
    /// 9373: the answer is too long.
    #[error(
        "The answer to {call} is longer than {max} bytes. It was not read; report it to the server's \
             operator."
    )]
    TooLong {
        /// What was asked.
        call: String,
        /// The bound.
        max: usize,
    },
    /// 9374: the server said no.
    #[error("{0}")]
    Refused(Box<Refused>),
    /// 9375: entries that were seen before are gone or changed.
    #[error(
        "The server shows another history of contract {id} than before: entry {seq} differs. Nothing was \
         signed. Keep {}, it proves what was signed.", .file.display()
    )]
    Rewritten {
        /// Which contract.
        id: ContractId,
        /// The first entry that differs or is missing.
        seq: u64,
        /// The saved transcript.
        file: PathBuf,
    },
    /// 9376: the transcript does not hold.
    #[error("The transcript of contract {id} does not hold: {refusal} Nothing was signed.")]
    Transcript {
        /// Which contract.
        id: ContractId,
        /// Why (error number of the market's own range).
        refusal: Refusal,
    },
    /// 9377: the answer is about something else.
    #[error(
        "The server answered with {found} where {expected} was asked for. Nothing was signed; use \
             another server."
    )]
    Other {
        /// What was asked for.
        expected: String,
        /// What came.
        found: String,
    },
    /// 9378: something happened that changes what the signer meant.
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
    /// 9379: others were faster, again and again.
    #[error("The chain of contract {id} moved on {tries} times while an entry was being signed. Try again.")]
    TooBusy {
        /// Which contract.
        id: ContractId,
        /// How often.
        tries: u32,
    },
    /// 9380: a deposit is not what the contract says.
    #[error(
        "The server asks for a deposit that is not the contract's ({why}). Nothing was paid; use another \
             server."
    )]
    Deposit {
        /// What is wrong.
        why: String,
    },
    /// 9381: the wallet could not pay.
    #[error(
        "The wallet did not pay: {why}. Once that is mended, the same payment can be asked for again; it \
             is made once."
    )]
    Purse {
        /// What the wallet said.
        why: String,
    },
    /// 9382: a file could not be read or written.
    #[error("{} cannot be {doing}: {why}. Nothing was sent; make room or correct the permissions, then \
         try again.", .path.display())]
    Disk {
        /// Which file.
        path: PathBuf,
        /// `read` or `written`.
        doing: &'static str,
        /// What the system said.
        why: String,
    },
    /// 9383: what was waited for did not happen in time.
    #[error("{what} did not happen within {} s. Read the contract to see where it stands.", .after.as_secs())]
    NotInTime {
        /// What was waited for.
        what: String,
        /// The limit.
        after: Duration,
    },
    /// 9384: only a part of the chain can be read, and the whole of it is needed.
    #[error("Contract {id} shows only its offer to this key. Bond first, or use the key of a party.")]
    NotWhole {
        /// Which contract.
        id: ContractId,
    },
    /// 9385: the market's rules refuse it before it is sent.
    #[error("{0} Nothing was sent.")]
    Rules(Refusal),
    /// 9386: there is no call for this.
    #[error("A party cannot send an entry of the type {kind}. Nothing was sent; use another call.")]
    NoCall {
        /// Its type.
        kind: &'static str,
    },
    /// 9387: the terms are not those that were agreed to.
    #[error(
        "The server opened contract {id} under other terms than it advertised ({what}). Nothing more was \
             signed; take the contract back."
    )]
    Terms {
        /// Which contract.
        id: ContractId,
        /// What differs.
        what: String,
    },
}

impl ClientError {
    /// The number of the error.
    pub fn code(&self) -> u16 {
        match self {
            ClientError::Address { .. } => 9368,
            ClientError::Unreachable { .. } => 9369,
            ClientError::KeyChanged { .. } => 9370,
            ClientError::TimedOut { .. } => 9371,
            ClientError::Unreadable { .. } => 9372,
            ClientError::TooLong { .. } => 9373,
            ClientError::Refused(_) => 9374,
            ClientError::Rewritten { .. } => 9375,
            ClientError::Transcript { .. } => 9376,
            ClientError::Other { .. } => 9377,
            ClientError::Overtaken { .. } => 9378,
            ClientError::TooBusy { .. } => 9379,
            ClientError::Deposit { .. } => 9380,
            ClientError::Purse { .. } => 9381,
            ClientError::Disk { .. } => 9382,
            ClientError::NotInTime { .. } => 9383,
            ClientError::NotWhole { .. } => 9384,
            ClientError::Rules(_) => 9385,
            ClientError::NoCall { .. } => 9386,
            ClientError::Terms { .. } => 9387,
        }
    }

    /// The server's own number, when the server refused.
    pub fn server_code(&self) -> Option<u16> {
        if let ClientError::Refused(refused) = self { refused.code } else { None }
    }

    /// The status in HTTP, when the server refused.
    pub fn status(&self) -> Option<u16> {
        if let ClientError::Refused(refused) = self { Some(refused.status) } else { None }
    }

    /// Whether the same call may succeed a little later, without anybody doing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            ClientError::Unreachable { .. }
            | ClientError::TimedOut { .. }
            | ClientError::Unreadable { .. }
            | ClientError::TooBusy { .. } => true,
            ClientError::Refused(refused) => {
                refused.status == 408 || refused.status == 429 || refused.status >= 500
            }
            _ => false,
        }
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
