//! The command over the ordinary changes of a fix alone: the tests, what the command itself obeys, and all else that
//! needs a consent are put back as they were. A fix that changes what checks it passes by its own measure; this run
//! measures it by the old one, and what could steer that from the side is gone with the rest.
//!
//! It is done in a sandbox of its own, whose tools the fix may have replaced. So nothing is believed that a tool says:
//! what was put back is read from the sandbox's layers before the command runs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zx1_market::contract::{Limit, Run, unmet};
use zx1_sandbox::{ChangeSet, Class, Command, Entry, FileType, Kind, Limits, Sandbox, SandboxError};

use crate::place::{Place, What};
use crate::{by_machine, investigate};

/// Files, links and folders that are put back at most.
const FILES: usize = 2_000;
/// Bytes of all of them.
const BYTES: u64 = 64 << 20;
/// Time of one tool that puts something back.
const TOOL: Duration = Duration::from_secs(60);
/// Paths that one tool is given.
const PATHS: usize = 500;

const OUTSIDE: Why = Why("the fix changes files outside of the working folder too");
const FUTURE: Why = Why("the fix sets times in the future");
const DIFFERS: Why = Why("the fix does something else each time");
const HIDDEN: Why = Why("the sandbox hides what the fix changes");
const LARGE: Why = Why("the fix changes too much of them");
const CANNOT: Why = Why("they cannot be put back");
const SLOW: Why = Why("it did not end in time");
const BROKEN: Why = Why("the sandbox failed");

/// The command, over the ordinary changes of a fix that changes what checks it. Displayed as half a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Originals {
    /// The fix changes tests, or what steers them.
    pub tests: bool,
    /// The fix changes what the command itself runs or obeys.
    pub own_command: bool,
    /// What was put back or removed, absolute: all that needs a consent; of a folder with all that was in it, the folder.
    pub paths: Vec<PathBuf>,
    /// What came of it.
    pub end: Rerun,
}

/// What came of the command with the originals put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rerun {
    /// It meets the conditions.
    Passes,
    /// It does not.
    Fails(Run),
    /// It could not be run, which says nothing for the fix.
    NotRun(Why),
}

/// Why the command was not run with the originals: half a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Why(&'static str);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl From<SandboxError> for Why {
    fn from(_: SandboxError) -> Why {
        BROKEN
    }
}

impl From<io::Error> for Why {
    fn from(_: io::Error) -> Why {
        CANNOT
    }
}

impl Originals {
    /// What was put back, in a word or some.
    pub fn what(&self) -> &'static str {
        match (self.tests, self.own_command) {
            (true, true) => "tests and files of the command",
            (true, false) => "tests",
            (false, _) => "files of the command",
        }
    }
}

impl fmt::Display for Originals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with the original {}: ", self.what())?;
        match &self.end {
            Rerun::Passes => f.write_str("passes, by its ordinary changes alone"),
            Rerun::Fails(Run { limit: None, signal: None, exit: Some(exit), .. }) => {
                write!(f, "fails with {exit}")
            }
            Rerun::Fails(run) => write!(f, "fails, {run}"),
            Rerun::NotRun(why) => write!(f, "not run, {why}"),
        }
    }
}

/// Runs the command with the originals over the fix, if the fix changes what checks it. `fixed`: what the fix alone
/// changes.
pub(crate) fn rerun(place: &impl Place, what: &What<'_>, fixed: &ChangeSet) -> Option<Originals> {
    let classes = fixed.classes();
    let (tests, own_command) = (classes.contains(&Class::Tests), classes.contains(&Class::OwnCommand));
    if !tests && !own_command {
        return None;
    }
    let mut paths = Vec::new();
    let end = match try_again(place, what, fixed, &mut paths) {
        Ok(end) => end,
        Err(why) => Rerun::NotRun(why),
    };
    Some(Originals { tests, own_command, paths, end })
}

fn try_again(
    place: &impl Place,
    what: &What<'_>,
    fixed: &ChangeSet,
    paths: &mut Vec<PathBuf>,
) -> Result<Rerun, Why> {
    let taken_back = tops(fixed)?;
    paths.extend(taken_back.iter().map(|top| top.path.clone()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let latest = i64::try_from(now).unwrap_or(i64::MAX).saturating_add(1);
    // What is newer than everything else keeps make from running anything.
    if fixed.entries.iter().filter_map(|entry| entry.after.as_ref()).any(|after| after.mtime.0 > latest) {
        return Err(FUTURE);
    }
    let mut sandbox = place.fresh()?;
    if place.run(&mut sandbox, what.fix)?.run.limit.is_some() {
        return Err(SLOW);
    }
    let second = sandbox.changes()?;
    let tops = tops(&second)?;
    // What is measured must be what would be applied.
    if !rest(fixed, &taken_back).eq(rest(&second, &tops)) {
        return Err(DIFFERS);
    }
    Past::of(&tops, &sandbox.info().masked)?.lay(&mut sandbox)?;
    let run = place.run(&mut sandbox, what.corrected.unwrap_or(what.command))?.run;
    let machine = by_machine(what.conditions);
    let holds = if machine.is_empty() {
        run.limit.is_none() && run.exit == Some(0)
    } else {
        unmet(&machine, &Run::default(), &run).is_none()
    };
    Ok(match run.limit {
        _ if holds => Rerun::Passes,
        // The time is shared with the runs before, and says nothing.
        Some(Limit::Time | Limit::Canceled) => Rerun::NotRun(SLOW),
        _ => Rerun::Fails(Run { stdout: String::new(), ..run }),
    })
}

/// Whether a change is one of what checks the command.
fn checks(entry: &Entry) -> bool {
    entry.classes.contains(&Class::Tests) || entry.classes.contains(&Class::OwnCommand)
}

/// The changes that are taken back, sorted by path, none below another one that is removed.
fn tops(changes: &ChangeSet) -> Result<Vec<&Entry>, Why> {
    let mut tops: Vec<&Entry> = Vec::new();
    for entry in &changes.entries {
        let is_outside = entry.classes.contains(&Class::OutsideTree);
        let is_program = investigate::SYSTEM.iter().any(|top| entry.path.starts_with(top));
        // Of what is not the work's only programs are read: the sandbox may hide the rest.
        if is_outside && !is_program && entry.kind != Kind::Added {
            return Err(OUTSIDE);
        }
        let goes_back = entry.classes.iter().any(|class| class.needs_consent());
        let covered = tops.last().is_some_and(|top| !stays_folder(top) && entry.path.starts_with(&top.path));
        if goes_back && !covered {
            tops.push(entry);
        }
        if tops.len() > FILES {
            return Err(LARGE);
        }
    }
    Ok(tops)
}

/// A folder before and after: only its mode has changed.
fn stays_folder(entry: &Entry) -> bool {
    [&entry.before, &entry.after]
        .iter()
        .all(|meta| meta.as_ref().is_some_and(|meta| meta.file_type == FileType::Dir))
}

/// Whether a path is one of these or below one. They are sorted, and none is below another.
fn covers(tops: &[impl AsRef<Path>], path: &Path) -> bool {
    let after = tops.partition_point(|top| top.as_ref() <= path);
    tops.get(..after).and_then(<[_]>::last).is_some_and(|top| path.starts_with(top.as_ref()))
}

/// What stays of a fix: path, kind and content of its ordinary changes, times left out.
fn rest<'a>(
    changes: &'a ChangeSet,
    tops: &[&Entry],
) -> impl Iterator<Item = (&'a Path, Kind, Option<Content<'a>>)> {
    let removed: Vec<PathBuf> =
        tops.iter().filter(|top| !stays_folder(top)).map(|top| top.path.clone()).collect();
    let folders: BTreeSet<PathBuf> =
        tops.iter().filter(|top| stays_folder(top)).map(|top| top.path.clone()).collect();
    let stays = move |entry: &&Entry| !covers(&removed, &entry.path) && !folders.contains(&entry.path);
    changes.entries.iter().filter(stays).map(|entry| {
        let after = entry.after.as_ref();
        let content =
            after.map(|after| (&after.file_type, after.mode, after.hash.as_deref(), entry.hard_link_of()));
        (entry.path.as_path(), entry.kind, content)
    })
}

/// Type, mode, hash, and the path of which it is a hard link.
type Content<'a> = (&'a FileType, u32, Option<&'a str>, Option<PathBuf>);

/// What stood at a path.
#[derive(Debug)]
enum Was {
    Dir,
    Link(PathBuf),
    File(Vec<u8>),
}

#[derive(Debug)]
struct Piece {
    path: PathBuf,
    was: Was,
    mode: u32,
    /// It is newer afterwards than all that the fix made, so that nothing counts as done for its sake.
    renewed: bool,
}

/// The real files that are put back.
#[derive(Debug, Default)]
struct Past {
    /// What is removed first, sorted.
    removed: Vec<PathBuf>,
    /// Folders before what is in them.
    pieces: Vec<Piece>,
    bytes: u64,
}

impl Past {
    fn of(tops: &[&Entry], masked: &[PathBuf]) -> Result<Past, Why> {
        let mut past = Past::default();
        for top in tops {
            let renewed = checks(top);
            if stays_folder(top) {
                past.read(top.path.clone(), masked, renewed)?;
                continue;
            }
            past.removed.push(top.path.clone());
            if top.before.is_none() {
                continue;
            }
            let mut todo = vec![top.path.clone()];
            while let Some(path) = todo.pop() {
                if past.read(path.clone(), masked, renewed)? {
                    for child in fs::read_dir(&path)? {
                        todo.push(child?.path());
                    }
                }
            }
        }
        Ok(past)
    }

    /// Reads what stands at a path of the real filesystem; whether it is a folder.
    fn read(&mut self, path: PathBuf, masked: &[PathBuf], renewed: bool) -> Result<bool, Why> {
        if masked.contains(&path) {
            return Err(HIDDEN);
        }
        let meta = fs::symlink_metadata(&path)?;
        let kind = meta.file_type();
        let was = if kind.is_dir() {
            Was::Dir
        } else if kind.is_symlink() {
            Was::Link(fs::read_link(&path)?)
        } else if kind.is_file() {
            let left = BYTES.saturating_sub(self.bytes);
            let mut content = Vec::new();
            File::open(&path)?.take(left.saturating_add(1)).read_to_end(&mut content)?;
            self.bytes = self.bytes.saturating_add(u64::try_from(content.len()).unwrap_or(u64::MAX));
            Was::File(content)
        } else {
            return Err(CANNOT);
        };
        if self.bytes > BYTES || self.pieces.len() >= FILES {
            return Err(LARGE);
        }
        let is_dir = kind.is_dir();
        self.pieces.push(Piece { path, was, mode: meta.permissions().mode() & 0o777, renewed });
        Ok(is_dir)
    }

    fn paths(&self, wanted: impl Fn(&Piece) -> bool) -> Vec<&Path> {
        self.pieces.iter().filter(|piece| wanted(piece)).map(|piece| piece.path.as_path()).collect()
    }

    /// Puts everything back in a sandbox in which the fix has run.
    fn lay(&self, sandbox: &mut Sandbox) -> Result<(), Why> {
        let is_file = |piece: &Piece| matches!(piece.was, Was::File(_));
        let removed: Vec<&Path> = self.removed.iter().map(PathBuf::as_path).collect();
        tool(sandbox, &["rm", "-rf"], &removed)?;
        tool(sandbox, &["mkdir", "-p"], &self.paths(|piece| matches!(piece.was, Was::Dir)))?;
        for piece in &self.pieces {
            if let Was::Link(target) = &piece.was {
                tool(sandbox, &["ln", "-s"], &[target, &piece.path])?;
            }
        }
        tool(sandbox, &["touch"], &self.paths(is_file))?;
        // Only where a file of its own stands in real folders the content can go nowhere else.
        self.check(&sandbox.changes()?, |after_size, _| after_size == 0)?;
        for piece in &self.pieces {
            if let Was::File(content) = &piece.was {
                sandbox.put(&piece.path, content)?;
            }
        }
        let modes: BTreeSet<u32> = self.pieces.iter().map(|piece| piece.mode).collect();
        for mode in modes {
            let of_mode = |piece: &Piece| piece.mode == mode && !matches!(piece.was, Was::Link(_));
            tool(sandbox, &["chmod", &format!("{mode:o}")], &self.paths(of_mode))?;
        }
        tool(sandbox, &["touch"], &self.paths(|piece| is_file(piece) && piece.renewed))?;
        self.check(&sandbox.changes()?, |_, is_original| is_original)
    }

    /// Checks by the sandbox's layers that everything stands where it stood, and nothing else with it. `content`: what
    /// holds of the size and of the content of a file that differs from the real one.
    fn check(&self, changes: &ChangeSet, content: impl Fn(u64, bool) -> bool) -> Result<(), Why> {
        let is_dir =
            |entry: &Entry| entry.after.as_ref().is_some_and(|after| after.file_type == FileType::Dir);
        let stands = |piece: &Piece| {
            let above = piece.path.ancestors().skip(1).filter_map(|path| changes.get(path));
            let as_it_was = changes.get(&piece.path).is_none_or(|entry| {
                entry.after.as_ref().is_some_and(|after| match (&piece.was, &after.file_type) {
                    (Was::Dir, FileType::Dir) => true,
                    (Was::Link(target), FileType::Symlink(found)) => target == found,
                    (Was::File(_), FileType::File) => {
                        let before = entry.before.as_ref().and_then(|before| before.hash.as_ref());
                        let is_original = before.is_some() && before == after.hash.as_ref();
                        entry.hard_link_of().is_none() && content(after.size, is_original)
                    }
                    _ => false,
                })
            });
            above.into_iter().all(is_dir) && as_it_was
        };
        let known: BTreeSet<&Path> = self.paths(|_| true).into_iter().collect();
        let is_stray = |entry: &Entry| {
            let path = entry.path.as_path();
            let is_left = covers(&self.removed, path) && entry.after.is_some() && !known.contains(path);
            is_left || entry.hard_link_of().is_some_and(|target| known.contains(target.as_path()))
        };
        if self.pieces.iter().all(stands) && !changes.entries.iter().any(is_stray) {
            Ok(())
        } else {
            Err(CANNOT)
        }
    }
}

/// Runs a program of the sandbox on these paths. How it ends does not matter: what it did is looked at.
fn tool(sandbox: &mut Sandbox, words: &[&str], paths: &[impl AsRef<Path>]) -> Result<(), Why> {
    for some in paths.chunks(PATHS) {
        let words = words.iter().chain(&["--"]).map(OsString::from);
        let paths = some.iter().map(|path| path.as_ref().as_os_str().to_owned());
        let limits = Limits { time: TOOL, ..Limits::default() };
        if sandbox.run(&Command::argv(words.chain(paths)).cwd("/"), &limits)?.limit_hit.is_some() {
            return Err(CANNOT);
        }
    }
    Ok(())
}
