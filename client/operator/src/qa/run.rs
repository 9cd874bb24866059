//! One run of the loop: its lock, its folder, its budget, and the kill switch while something runs.

use super::error::{QaError, Result, at};
use super::journal::{How, Journal, Line, name_of, now, sums};
use super::state::State;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zx1_home::Lock;
use zx1_home::files::make_private_folder;
use zx1_qa::budget::{Amounts, Book};
use zx1_qa::dial::{DialError, Given, Rung};
use zx1_qa::finding::Finding;
use zx1_qa::journal::Point;
use zx1_sandbox::{Command, LimitKind, Limits, Outcome, Sandbox};

/// How often the kill switch is looked at while something runs.
const LOOK: Duration = Duration::from_millis(250);

/// A run. Dropped, its folder is removed; killed, the next one removes it.
#[derive(Debug)]
pub struct Run<'a> {
    state: &'a State,
    journal: Journal,
    book: Book,
    id: String,
    folder: PathBuf,
    at_most: Option<Rung>,
    next: u64,
    over: bool,
    _lock: Lock,
}

impl<'a> Run<'a> {
    /// Begins a run: takes the lock, cleans up after runs that were killed, makes a folder.
    ///
    /// # Errors
    /// [`QaError::Busy`]; [`DialError::Stopped`].
    pub fn begin(state: &'a State, what: &str, at_most: Option<Rung>) -> Result<Self> {
        let lock = state.lock()?;
        state.reached(Point::Locked);
        let mut journal = state.journal()?;
        state.sweep(&mut journal)?;
        let rung = state.given(at_most)?.rung();
        let runs = state.runs();
        make_private_folder(&runs).map_err(at(&runs))?;
        let id = format!("{}-{}", now(), std::process::id());
        let folder = runs.join(&id);
        std::fs::create_dir(&folder).map_err(at(&folder))?;
        make_private_folder(&folder).map_err(at(&folder))?;
        state.reached(Point::FolderMade);
        let commit = state.git().commit("HEAD")?;
        journal.write(Line::Begun {
            run: id.clone(),
            at: now(),
            pid: std::process::id(),
            what: what.to_owned(),
            rung: rung.word().to_owned(),
            commit,
        })?;
        let book = Book::new(state.settings().budget.amounts());
        Ok(Self { state, journal, book, id, folder, at_most, next: 0, over: false, _lock: lock })
    }

    /// The state that it belongs to.
    pub fn state(&self) -> &'a State {
        self.state
    }

    /// The folder that goes when the run ends.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The id that the journal's lines carry.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it has used.
    pub fn used(&self) -> Amounts {
        self.book.used()
    }

    /// Asks the dial and the kill switch before a call.
    ///
    /// # Errors
    /// [`DialError::Stopped`].
    pub fn given(&self) -> Result<Given, DialError> {
        self.state.given(self.at_most)
    }

    /// Writes a line of the journal.
    pub(crate) fn write(&mut self, line: impl FnOnce(String) -> Line) -> Result<()> {
        self.journal.write(line(self.id.clone()))
    }

    /// Says in the journal that a point is reached.
    pub(crate) fn reach(&mut self, point: Point) -> Result<()> {
        self.write(|run| Line::Reached { run, point: name_of(point) })?;
        self.state.reached(point);
        Ok(())
    }

    /// Reserves amounts, does something, and settles what it used.
    ///
    /// # Errors
    /// [`zx1_qa::budget::BudgetError::Exceeded`], before anything is done; what the act fails with, with the whole
    /// reservation charged.
    pub(crate) fn within<T>(
        &mut self,
        amounts: Amounts,
        act: impl FnOnce(&mut Self) -> Result<(T, Amounts)>,
    ) -> Result<T> {
        let id = self.next;
        self.next = self.next.saturating_add(1);
        self.book.reserve(id, amounts)?;
        self.write(|run| Line::Reserved { run, id, amounts: sums(&amounts) })?;
        self.reach(Point::Reserved)?;
        let done = act(self);
        let (used, how) = match &done {
            Ok((_, used)) => (*used, How::Settled),
            Err(_) => (amounts, How::Charged),
        };
        self.reach(Point::Unsettled)?;
        self.book.settle(id, used)?;
        self.write(|run| Line::Settled { run, id, amounts: sums(&used), how })?;
        done.map(|(value, _)| value)
    }

    /// Runs a command in a sandbox, and ends it within a quarter of a second when somebody stops the loop.
    ///
    /// # Errors
    /// [`DialError::Stopped`]; the sandbox's.
    pub(crate) fn jailed(
        &self,
        sandbox: &mut Sandbox,
        command: &Command,
        limits: &Limits,
    ) -> Result<Outcome> {
        if self.state.is_stopped() {
            return Err(DialError::Stopped.into());
        }
        let over = AtomicBool::new(false);
        let canceller = sandbox.canceller();
        let outcome = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    if self.state.is_stopped() {
                        canceller.cancel();
                        break;
                    }
                    std::thread::park_timeout(LOOK);
                }
            });
            let outcome = sandbox.run(command, limits);
            over.store(true, Ordering::Release);
            watch.thread().unpark();
            outcome
        })?;
        if outcome.limit_hit == Some(LimitKind::Canceled) {
            return Err(DialError::Stopped.into());
        }
        Ok(outcome)
    }

    /// Keeps a finding, unless this loop has it already. Whether it is new.
    pub fn found(&mut self, finding: &Finding) -> Result<bool> {
        let text = finding.build()?;
        let hash = hash_of(finding);
        let known = |line: &Line| matches!(line, Line::Found { finding, .. } if *finding == hash);
        if self.journal.lines().iter().any(known) {
            return Ok(false);
        }
        self.write(|run| Line::Found { run, finding: hash, text })?;
        self.reach(Point::FindingWritten)?;
        Ok(true)
    }

    /// Says in the journal why a proposal was refused.
    pub fn refused(&mut self, entry: u64, error: &QaError) -> Result<()> {
        let (code, why) = (error.code(), error.to_string());
        self.write(|run| Line::Refused { run, entry, code, why })
    }

    /// Ends the run and removes its folder.
    pub fn end(mut self, how: &str) -> Result<Amounts> {
        let used = self.book.used();
        self.close(how)?;
        Ok(used)
    }

    fn close(&mut self, how: &str) -> Result<()> {
        if std::mem::replace(&mut self.over, true) {
            return Ok(());
        }
        let how = how.to_owned();
        std::fs::remove_dir_all(&self.folder).map_err(at(&self.folder))?;
        self.write(|run| Line::Ended { run, at: now(), how })
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        let _ = self.close("failed");
    }
}

/// What makes two findings one: surface and line, whoever and whatever version found it.
pub fn hash_of(finding: &Finding) -> String {
    use sha2::{Digest as _, Sha256};
    let surface = finding.surface.as_deref().unwrap_or_default();
    let subject = finding.repro.as_ref().map_or_else(|| finding.summary.clone(), ToString::to_string);
    hex::encode(Sha256::digest(format!("{surface}\n{subject}")))
}

/// A sandbox over a folder of a run, in which nothing of the machine is seen but programs and what is named.
pub(crate) fn sandbox(tree: &Path, shown: &[&Path]) -> Result<Sandbox> {
    let builder = Sandbox::builder().work_tree(tree).tools_only();
    let builder = shown.iter().fold(builder, |builder, path| builder.show(*path));
    builder.build().map_err(QaError::from)
}
