//! What the loop may do unattended (decision H): `observe` < `exercise` < `propose`.
//!
//! A rung is a value without size that only [`check`] makes, from the dial's file as it is now. A tool takes the rung that
//! it needs by value. So a call above the rung does not compile, and a rung is used up by one call.

use crate::defaults::{MAX_DIAL, MAX_PROPOSE_SECONDS};
use crate::hex::is_commit;
use zx1_coded::Coded;
use zx1_protocol::signature::verify;

const DOMAIN: &str = "zx1/qa-autonomy/v1|";

/// Why a call was refused, or a rung not given. Numbers 7820 to 7829.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum DialError {
    /// Somebody stopped the loop.
    #[code(7820)]
    #[error("The loop is stopped.")]
    Stopped,
    /// A call that the rung does not allow.
    #[code(7821)]
    #[error("This needs the dial at `{needed}`; it is at `{found}`.")]
    Rung {
        /// The lowest rung that may.
        needed: Rung,
        /// The rung of now.
        found: Rung,
    },
    /// The file is not a plain file of ours that only we can write.
    #[code(7822)]
    #[error("The dial's file is missing, a link, not ours, or writable by others.")]
    File,
    /// Something else than one line of the known forms.
    #[code(7823)]
    #[error("The dial's file does not hold one known word or one signed line.")]
    Word,
    /// A line for another fleet or repository.
    #[code(7824)]
    #[error("The line that allows proposals is for another fleet or another repository.")]
    Other,
    /// A line whose time is over.
    #[code(7825)]
    #[error("The line that allows proposals has expired.")]
    Expired,
    /// A line that would hold longer than a line may.
    #[code(7826)]
    #[error("The line that allows proposals holds longer than 30 days from now.")]
    TooLong,
    /// A line that the maintainer did not sign.
    #[code(7827)]
    #[error("The line that allows proposals is not signed by the maintainer's key.")]
    Signature,
}

/// A rung of the dial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Look and report.
    #[default]
    Observe,
    /// Also write, to disposable clusters of the run.
    Exercise,
    /// Also propose patches. Nothing merges.
    Propose,
}

impl Rung {
    /// All, the lowest first.
    pub const ALL: [Self; 3] = [Self::Observe, Self::Exercise, Self::Propose];

    /// The word that the file and the command line use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Exercise => "exercise",
            Self::Propose => "propose",
        }
    }

    /// The rung that a word names.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rung| rung.word() == word)
    }

    /// Refuses a call that needs more.
    pub fn allows(self, needed: Self) -> Result<(), DialError> {
        if needed <= self { Ok(()) } else { Err(DialError::Rung { needed, found: self }) }
    }
}

impl std::fmt::Display for Rung {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// The right to look and report, once.
#[derive(Debug)]
pub struct Observe(());

/// The right to write to what the run itself made, once.
#[derive(Debug)]
pub struct Exercise(());

/// The right to propose a patch, once.
#[derive(Debug)]
pub struct Propose(());

impl Exercise {
    /// Who may write may look.
    pub fn lower(self) -> Observe {
        Observe(())
    }
}

impl Propose {
    /// Who may propose may write.
    pub fn lower(self) -> Exercise {
        Exercise(())
    }
}

/// What the dial gives for one call.
#[derive(Debug)]
pub enum Given {
    /// The lowest rung.
    Observe(Observe),
    /// The rung above.
    Exercise(Exercise),
    /// The rung that may propose.
    Propose(Propose),
}

impl Given {
    /// Which it is.
    pub fn rung(&self) -> Rung {
        match self {
            Self::Observe(_) => Rung::Observe,
            Self::Exercise(_) => Rung::Exercise,
            Self::Propose(_) => Rung::Propose,
        }
    }

    /// The right to look.
    pub fn observe(self) -> Observe {
        match self {
            Self::Observe(rung) => rung,
            Self::Exercise(rung) => rung.lower(),
            Self::Propose(rung) => rung.lower().lower(),
        }
    }

    /// The right to write.
    pub fn exercise(self) -> Result<Exercise, DialError> {
        match self {
            Self::Observe(_) => Err(DialError::Rung { needed: Rung::Exercise, found: Rung::Observe }),
            Self::Exercise(rung) => Ok(rung),
            Self::Propose(rung) => Ok(rung.lower()),
        }
    }

    /// The right to propose.
    pub fn propose(self) -> Result<Propose, DialError> {
        match self {
            Self::Propose(rung) => Ok(rung),
            lower => Err(DialError::Rung { needed: Rung::Propose, found: lower.rung() }),
        }
    }
}

/// The dial's file as its reader found it.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// What it holds.
    pub bytes: &'a [u8],
    /// It is a link, a folder or a device.
    pub is_special: bool,
    /// Its owner is another user.
    pub is_foreign: bool,
    /// Somebody else can write it.
    pub is_writable_by_others: bool,
}

/// What a line is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The fleet's own key.
    pub fleet: &'a [u8; 32],
    /// The first commit of the repository, hex.
    pub root_commit: &'a str,
    /// The key that signs lines.
    pub maintainer: &'a [u8; 32],
}

/// The rung that a file gives, and why it is not a higher one. Whatever is wrong with a file, it gives `observe`.
pub fn read(file: Option<&File<'_>>, place: &Place<'_>, now: i64) -> (Rung, Option<DialError>) {
    match file.ok_or(DialError::File).and_then(|file| rung(file, place, now)) {
        Ok(rung) => (rung, None),
        Err(error) => (Rung::Observe, Some(error)),
    }
}

/// Asks the dial before one call. `at_most` is what a command line allows: it can only lower the file's rung.
///
/// # Errors
/// [`DialError::Stopped`] where the loop is stopped; nothing runs then, not even what looks.
pub fn check(
    file: Option<&File<'_>>,
    place: &Place<'_>,
    at_most: Option<Rung>,
    stopped: bool,
    now: i64,
) -> Result<Given, DialError> {
    if stopped {
        return Err(DialError::Stopped);
    }
    let rung = read(file, place, now).0;
    Ok(match rung.min(at_most.unwrap_or(rung)) {
        Rung::Observe => Given::Observe(Observe(())),
        Rung::Exercise => Given::Exercise(Exercise(())),
        Rung::Propose => Given::Propose(Propose(())),
    })
}

fn rung(file: &File<'_>, place: &Place<'_>, now: i64) -> Result<Rung, DialError> {
    if file.is_special || file.is_foreign || file.is_writable_by_others || file.bytes.len() > MAX_DIAL {
        return Err(DialError::File);
    }
    let text = std::str::from_utf8(file.bytes).map_err(|_| DialError::Word)?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    match line {
        "observe" => Ok(Rung::Observe),
        "exercise" => Ok(Rung::Exercise),
        line => proposes(line, place, now).map(|()| Rung::Propose),
    }
}

/// What the maintainer signs: the line's first four words.
fn signed(fleet: &[u8; 32], root_commit: &str, expiry: &str) -> String {
    format!("propose {} {root_commit} {expiry}", bs58::encode(fleet).into_string())
}

fn expiry(text: &str) -> Option<i64> {
    let time: jiff::Timestamp = text.parse().ok()?;
    // One spelling, so that nobody argues about a signed one: whole seconds, UTC.
    (time.to_string() == text && text.len() == 20).then(|| time.as_second())
}

/// The bytes under the signature of a line; `None` for a moment that has no such form.
pub fn signing_bytes(fleet: &[u8; 32], root_commit: &str, expires: i64) -> Option<Vec<u8>> {
    let time = jiff::Timestamp::from_second(expires).ok()?.to_string();
    Some(format!("{DOMAIN}{}", signed(fleet, root_commit, &time)).into_bytes())
}

/// The line that the dial's file holds: `propose FLEET ROOT EXPIRY SIGNATURE`.
pub fn line(fleet: &[u8; 32], root_commit: &str, expires: i64, signature: &[u8; 64]) -> Option<String> {
    let bytes = signing_bytes(fleet, root_commit, expires)?;
    let text = String::from_utf8(bytes).ok()?;
    let words = text.strip_prefix(DOMAIN)?;
    Some(format!("{words} {}", bs58::encode(signature).into_string()))
}

fn proposes(line: &str, place: &Place<'_>, now: i64) -> Result<(), DialError> {
    let words: Vec<&str> = line.split(' ').collect();
    let ["propose", fleet, root, until, signature] = words[..] else { return Err(DialError::Word) };
    let expires = expiry(until).ok_or(DialError::Word)?;
    let mut bytes = [0; 64];
    if !is_commit(root) || bs58::decode(signature).onto(&mut bytes) != Ok(64) {
        return Err(DialError::Word);
    }
    if bs58::encode(place.fleet).into_string() != fleet || root != place.root_commit {
        return Err(DialError::Other);
    }
    let message = format!("{DOMAIN}{}", signed(place.fleet, root, until));
    if !verify(place.maintainer, message.as_bytes(), &bytes) {
        return Err(DialError::Signature);
    }
    match expires.saturating_sub(now) {
        ..=0 => Err(DialError::Expired),
        left if left > MAX_PROPOSE_SECONDS => Err(DialError::TooLong),
        _ => Ok(()),
    }
}
