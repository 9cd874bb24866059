//! The loop's state on disk, one folder a repository and never in the repository: the dial's file, the kill switch, the
//! journal, proposals, and a folder for each run.

use super::error::{QaError, Result, at};
use super::git::Git;
use super::journal::{How, Journal, Line, Sums, now};
use super::settings::Settings;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use zx1_home::files::{create, make_private_folder, read_if_there, remove, replace};
use zx1_home::keys::{self, Form};
use zx1_home::{Clock as _, Lock, LockError, SystemClock};
use zx1_qa::defaults::MAX_DIAL;
use zx1_qa::dial::{self, DialError, File, Given, Place, Rung};
use zx1_qa::journal::Point;

/// Name of the dial's file.
pub const DIAL: &str = ".qa-autonomy";
/// Name of the kill switch's file.
pub const STOP: &str = "stop";
const JOURNAL: &str = "journal";
const LOCK: &str = "lock";
const RUNS: &str = "runs";
const PROPOSALS: &str = "proposals";
/// Digits of the root commit that name the folder.
const NAMED_BY: usize = 12;

/// Called at each named point of a run, for tests that end the process there.
pub type Hook = fn(Point);

/// The state of one repository's loop.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
    git: Git,
    root: String,
    fleet: [u8; 32],
    settings: Settings,
    hook: Option<Hook>,
}

/// What the dial says now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dial {
    /// The rung that counts.
    pub rung: Rung,
    /// Why it is not a higher one, where the file is wrong.
    pub why: Option<DialError>,
    /// Somebody stopped the loop.
    pub stopped: bool,
}

/// The dial's file, read without following links.
struct Found {
    bytes: Vec<u8>,
    is_special: bool,
    is_foreign: bool,
    is_writable_by_others: bool,
}

impl Found {
    /// The file at a path; `None` where there is none, or none that can be read.
    fn read(path: &Path) -> Option<Self> {
        let mut found =
            Self { bytes: Vec::new(), is_special: true, is_foreign: true, is_writable_by_others: true };
        let named = std::fs::symlink_metadata(path).ok()?;
        if !named.is_file() {
            return Some(found);
        }
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).ok()?;
        let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let open = file.metadata().ok()?;
        let folder = std::fs::metadata(zx1_home::files::folder_of(path)).ok()?;
        let own = rustix::process::geteuid().as_raw();
        let loose = |it: &std::fs::Metadata| it.mode() & 0o022 != 0;
        // A second name of the file is one that somebody else may write through.
        found.is_special = !open.is_file() || open.nlink() != 1;
        found.is_foreign = open.uid() != own || folder.uid() != own;
        found.is_writable_by_others = loose(&open) || loose(&folder);
        let most = u64::try_from(MAX_DIAL).ok()?.saturating_add(1);
        file.take(most).read_to_end(&mut found.bytes).ok()?;
        Some(found)
    }

    fn file(&self) -> File<'_> {
        File {
            bytes: &self.bytes,
            is_special: self.is_special,
            is_foreign: self.is_foreign,
            is_writable_by_others: self.is_writable_by_others,
        }
    }
}

fn unix_now() -> i64 {
    i64::try_from(SystemClock.unix_secs()).unwrap_or(i64::MAX)
}

impl State {
    /// The state of a repository's loop, in the home's folder `qa`; made where it is missing.
    ///
    /// # Errors
    /// [`QaError::NoRepository`], [`QaError::Settings`], [`QaError::File`].
    pub fn open(home: &Path, repository: &Path) -> Result<Self> {
        let git = Git::open(repository)?;
        let root = git.root()?;
        let short = root.get(..NAMED_BY).unwrap_or(&root);
        let all = home.join("qa");
        let folder = all.join(short);
        make_private_folder(&all).map_err(at(&all))?;
        make_private_folder(&folder).map_err(at(&folder))?;
        let fleet = fleet_key(&all.join("fleet.key"))?;
        let settings = Settings::read(&folder)?;
        Ok(Self { folder, git, root, fleet, settings, hook: None })
    }

    /// The same, with something that is called at each named point.
    #[doc(hidden)]
    #[must_use]
    pub fn with_hook(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    pub(crate) fn reached(&self, point: Point) {
        if let Some(hook) = self.hook {
            hook(point);
        }
    }

    /// The folder that holds all of it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The repository that the loop is about.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The repository's first commit.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Public key of the fleet, which a signed line of the dial names.
    pub fn fleet(&self) -> &[u8; 32] {
        &self.fleet
    }

    /// The settings as they were when the state was opened.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where runs have their folders.
    pub fn runs(&self) -> PathBuf {
        self.folder.join(RUNS)
    }

    /// Where proposals that passed the gate are kept.
    pub fn proposals(&self) -> PathBuf {
        self.folder.join(PROPOSALS)
    }

    /// Whether somebody stopped the loop. A file that cannot be looked at stops it too.
    pub fn is_stopped(&self) -> bool {
        !matches!(std::fs::symlink_metadata(self.folder.join(STOP)), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
    }

    /// Stops the loop: what runs is ended within a quarter of a second, and nothing begins.
    pub fn stop(&self, reason: &str) -> Result<()> {
        let path = self.folder.join(STOP);
        replace(&path, reason.as_bytes()).map_err(at(&path))
    }

    /// The dial's file and the kill switch as they are now.
    pub fn dial(&self) -> Dial {
        let found = Found::read(&self.folder.join(DIAL));
        let (rung, why) = self.asked(found.as_ref(), |file, place| dial::read(file, place, unix_now()));
        // Without a key of the maintainer no line is signed by it.
        let (rung, why) = match self.settings.maintainer() {
            Ok(Some(_)) => (rung, why),
            _ if rung == Rung::Propose => (Rung::Observe, Some(DialError::Signature)),
            _ => (rung, why),
        };
        Dial { rung, why, stopped: self.is_stopped() }
    }

    /// Asks the dial before one call. `at_most` can only lower the rung.
    ///
    /// # Errors
    /// [`DialError::Stopped`].
    pub fn given(&self, at_most: Option<Rung>) -> Result<Given, DialError> {
        let Dial { rung, .. } = self.dial();
        let at_most = Some(at_most.map_or(rung, |most| most.min(rung)));
        let found = Found::read(&self.folder.join(DIAL));
        self.asked(found.as_ref(), |file, place| {
            dial::check(file, place, at_most, self.is_stopped(), unix_now())
        })
    }

    fn asked<T>(&self, found: Option<&Found>, ask: impl Fn(Option<&File<'_>>, &Place<'_>) -> T) -> T {
        let maintainer = self.settings.maintainer().ok().flatten().unwrap_or_default();
        let place = Place { fleet: &self.fleet, root_commit: &self.root, maintainer: &maintainer };
        ask(found.map(Found::file).as_ref(), &place)
    }

    /// Writes the dial's file and takes the kill switch away. A person's act.
    ///
    /// # Errors
    /// [`DialError`] for a line that would not give its rung here; then the file stays as it is.
    pub fn set_dial(&self, line: &str) -> Result<Rung> {
        let Ok(maintainer) = self.settings.maintainer() else { return Err(DialError::Signature.into()) };
        let bytes = format!("{}\n", line.trim());
        let file = File {
            bytes: bytes.as_bytes(),
            is_special: false,
            is_foreign: false,
            is_writable_by_others: false,
        };
        let (rung, why) = self.asked(None, |_, place| dial::read(Some(&file), place, unix_now()));
        match why {
            Some(why) => return Err(why.into()),
            None if rung == Rung::Propose && maintainer.is_none() => return Err(DialError::Signature.into()),
            None => {}
        }
        let path = self.folder.join(DIAL);
        // A link or a folder of that name is not followed, but replaced or refused.
        replace(&path, bytes.as_bytes()).map_err(at(&path))?;
        let stop = self.folder.join(STOP);
        remove(&stop).map_err(at(&stop))?;
        Ok(rung)
    }

    /// Takes the lock of the one process that runs the loop.
    ///
    /// # Errors
    /// [`QaError::Busy`].
    pub fn lock(&self) -> Result<Lock> {
        Lock::try_take(&self.folder.join(LOCK)).map_err(|error| match error {
            LockError::Held { owner, .. } => QaError::Busy { owner },
            LockError::Io { path, source } => QaError::File { path, source },
        })
    }

    /// The journal, for the process that holds the lock.
    pub(crate) fn journal(&self) -> Result<Journal> {
        Journal::open(&self.folder.join(JOURNAL))
    }

    /// What the journal has, whoever writes it now.
    pub fn lines(&self) -> Result<Vec<Line>> {
        let path = self.folder.join(JOURNAL);
        let bytes = read_if_there(&path).map_err(at(&path))?.unwrap_or_default();
        Ok(super::journal::lines(&bytes).0)
    }

    /// Cleans up after runs that were ended in the middle: their processes, their folders, their reservations. The caller
    /// holds the lock, so every run that is there is over. How many there were.
    pub(crate) fn sweep(&self, journal: &mut Journal) -> Result<usize> {
        let mut swept = 0usize;
        let open = journal.open_runs();
        let mut left: std::collections::BTreeSet<String> = open.keys().cloned().collect();
        let runs = self.runs();
        for entry in std::fs::read_dir(&runs).into_iter().flatten().flatten() {
            let folder = entry.path();
            std::fs::remove_dir_all(&folder).map_err(at(&folder))?;
            left.insert(entry.file_name().to_string_lossy().into_owned());
        }
        zx1_home::files::remove_unfinished(&self.folder).map_err(at(&self.folder))?;
        for run in left {
            for (id, amounts, how) in open.get(&run).into_iter().flatten() {
                let amounts = if *how == How::Charged { amounts.clone() } else { Sums::new() };
                journal.write(Line::Settled { run: run.clone(), id: *id, amounts, how: *how })?;
            }
            journal.write(Line::Ended { run, at: now(), how: "swept".to_owned() })?;
            swept = swept.saturating_add(1);
        }
        Ok(swept)
    }
}

/// The fleet's public key; the file is made where it is missing.
fn fleet_key(path: &Path) -> Result<[u8; 32]> {
    let failed = |source| QaError::File { path: path.to_owned(), source };
    if !path.exists() {
        let seed = keys::random().map_err(failed)?;
        match keys::create(path, &seed, Form::SolanaJson) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            done => done.map_err(failed)?,
        }
    }
    let file = keys::read(path).map_err(|error| failed(std::io::Error::other(error.to_string())))?;
    Ok(keys::public(&file.seed))
}

/// A new file for bytes, in a folder of the state.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> Result<()> {
    match create(path, bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            replace(path, bytes).map_err(at(path))
        }
        done => done.map_err(at(path)),
    }
}
