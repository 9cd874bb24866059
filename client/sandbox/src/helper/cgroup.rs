//! Limits by cgroup v2 where this process may make groups: root nearly always, an ordinary user where the
//! login manager delegated a subtree. Elsewhere the run's first process watches (see `run.rs`).

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, FlockOperation, Mode, OFlags, access, flock, openat};

use super::layout::OLD;
use super::mounts::under;

/// Names of groups begin so; the helper's process id and a time follow.
const PREFIX: &str = "zx1-sandbox-";
/// As many as one helper tries for one group.
const NAMES_MAX: u32 = 100;
/// Longest time to wait for the end of one group's processes, and to begin with another group.
const PATIENCE: Duration = Duration::from_secs(3);
/// Largest number that the kernel takes in pids.max.
const PIDS_MAX: u32 = 4 << 20;

/// A group below which groups can be made, with both controllers.
pub(super) struct Parent {
    /// As seen from the host.
    path: PathBuf,
}

/// The group of one run; what it holds is ended, and it is removed, when dropped.
pub(super) struct Group {
    path: PathBuf,
    /// The group's directory, locked as long as the run lasts: one that nobody has locked was left behind by a
    /// killed helper. Unlike a process id, the lock means the same in every pid namespace.
    lock: File,
}

impl Parent {
    /// Looks from the own group upward. Called before the root changes.
    pub(super) fn find() -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::"))?.to_owned();
        let mounts = super::mounts::visible().ok()?;
        let top = mounts.iter().find(|mount| mount.kind == "cgroup2")?.point.clone();
        let own = under(&top, Path::new(&own));
        // A group that holds processes has no controllers for groups below it, except for the kernel's first one.
        let path = own.ancestors().take_while(|path| path.starts_with(&top)).find(|path| {
            // First: groups that are left could be as many as the kernel allows here.
            remove_left(path);
            usable(path)
        })?;
        Some(Self { path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a group with limits and puts the process in.
    pub(super) fn group(&self, pid: i32, memory: u64, processes: u32) -> Result<Group> {
        let group = Group::new(&under(Path::new(OLD), &self.path), memory, processes)?;
        group.write("cgroup.procs", &pid.to_string())?;
        Ok(group)
    }
}

/// Whether a group with limits can be made here and processes put in.
fn usable(path: &Path) -> bool {
    let controllers = fs::read_to_string(path.join("cgroup.subtree_control")).unwrap_or_default();
    let has = |name: &str| controllers.split_whitespace().any(|controller| controller == name);
    // To move a process is to write to the group above both.
    has("memory")
        && has("pids")
        && access(path.join("cgroup.procs"), Access::WRITE_OK).is_ok()
        && Group::new(path, u64::MAX, 1).is_ok()
}

/// Removes the groups of helpers that were killed, and ends what still runs in them (Linux 5.14 and newer).
pub(crate) fn remove_left(parent: &Path) {
    let deadline = Instant::now() + PATIENCE;
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if Instant::now() > deadline {
            return;
        }
        if is_ours(&entry.file_name()) {
            drop(Group::take(entry.path()));
        }
    }
}

/// Whether a helper gives such names.
fn is_ours(name: &OsStr) -> bool {
    let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, time)| is_number(process) && is_number(time))
}

impl Group {
    fn new(parent: &Path, memory: u64, processes: u32) -> Result<Self> {
        let group = Self::claim(parent, nanoseconds)?;
        group.write("memory.max", &memory.to_string())?;
        match group.write("memory.swap.max", "0") {
            // Not there without swap.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            result => result?,
        }
        group.write("memory.oom.group", "1")?;
        // The run's first process counts too.
        group.write("pids.max", &processes.saturating_add(1).min(PIDS_MAX).to_string())?;
        // Below a threaded group it can take no processes.
        if fs::read_to_string(group.path.join("cgroup.type"))?.trim() != "domain" {
            return Err(Error::other("not a domain"));
        }
        Ok(group)
    }

    /// Makes a group under a name that is free: helpers in other pid namespaces can have the same process id.
    /// No name comes twice, so that a path that another process read before leads to no later group.
    fn claim(parent: &Path, time: impl Fn() -> u64) -> Result<Self> {
        for _ in 0..NAMES_MAX {
            let path = parent.join(format!("{PREFIX}{}-{}", std::process::id(), time()));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                result => result?,
            }
            // Another helper that tidies up at this moment may be faster.
            if let Some(group) = Self::take(path)
                && group.path.exists()
            {
                return Ok(group);
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Makes a group this process's own, unless it is another one's.
    fn take(path: PathBuf) -> Option<Self> {
        let lock = File::open(&path).ok()?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(Self { path, lock })
    }

    fn write(&self, file: &str, value: &str) -> Result<()> {
        OpenOptions::new().write(true).open(self.path.join(file))?.write_all(value.as_bytes())
    }

    /// The kernel ended processes for their memory.
    pub(super) fn out_of_memory(&self) -> bool {
        self.counter("memory.events", "oom_kill") > 0
    }

    /// The kernel refused processes.
    pub(super) fn out_of_processes(&self) -> bool {
        self.counter("pids.events", "max") > 0
    }

    fn counter(&self, file: &str, name: &str) -> u64 {
        let text = fs::read_to_string(self.path.join(file)).unwrap_or_default();
        let value = text.lines().filter_map(|line| line.split_once(' ')).find(|(key, _)| *key == name);
        value.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    }
}

/// Since the machine started.
fn nanoseconds() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

impl Group {
    /// Ends what runs in the group, and waits until it is gone.
    fn empty(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        // By the descriptor: it leads to the group that is locked, whatever its name leads to by now.
        let open =
            |file: &str, flags: OFlags| openat(&self.lock, file, flags | OFlags::CLOEXEC, Mode::empty());
        rustix::io::write(open("cgroup.kill", OFlags::WRONLY)?, b"1")?;
        let events = open("cgroup.events", OFlags::RDONLY)?;
        loop {
            let mut text = [0u8; 256];
            let count = rustix::io::pread(&events, &mut text, 0)?;
            if text
                .get(..count)
                .unwrap_or_default()
                .split(|byte| *byte == b'\n')
                .any(|line| line == b"populated 0")
            {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            match poll(&mut [PollFd::new(&events, PollFlags::PRI)], Timespec::try_from(left).ok().as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // All its processes are dead when the run is over, and so is nearly always what a killed helper left.
        if fs::remove_dir(&self.path).is_err() && self.empty().is_ok() {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(parent: &Path) -> Vec<String> {
        let entries = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_name_that_is_taken_is_passed_over() {
        let parent = tempfile::tempdir().unwrap();
        let times = std::cell::Cell::new(0);
        let time = || {
            times.set(times.get() + 1);
            times.get()
        };
        let taken = parent.path().join(format!("{PREFIX}{}-1", std::process::id()));
        fs::create_dir(&taken).unwrap();
        let group = Group::claim(parent.path(), time).unwrap();
        assert_eq!(group.path, parent.path().join(format!("{PREFIX}{}-2", std::process::id())));
        drop(group);
        assert!(taken.exists());
        assert!(Group::claim(parent.path(), || 1).is_err());
    }

    #[test]
    fn only_unlocked_groups_of_helpers_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let living = Group::claim(parent.path(), nanoseconds).unwrap();
        let others = ["zx1-sandbox", "zx1-sandbox-", "zx1-sandbox-1", "zx1-sandbox-1-", "zx1-sandbox-1-0-0"];
        for name in others.into_iter().chain(["zx1-sandbox-1-x", "zx1-sandbox--1", "user.slice"]) {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        let stay = names(parent.path());
        fs::create_dir(parent.path().join("zx1-sandbox-1-0")).unwrap();
        remove_left(parent.path());
        assert_eq!(names(parent.path()), stay);
        drop(living);
        assert_eq!(names(parent.path()).len(), stay.len() - 1);
    }
}
