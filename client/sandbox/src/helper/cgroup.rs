//! Limits by cgroup v2 where this process may make groups: root nearly always, an ordinary user where the
//! login manager delegated a subtree. Elsewhere the run's first process watches (see `run.rs`).

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock};

use super::layout::OLD;
use super::mounts::under;

/// Names of groups begin so.
const PREFIX: &str = "zx1-sandbox-";
/// As many as one helper tries.
const NAMES_MAX: u32 = 10_000;
/// Largest number that the kernel takes in pids.max.
const PIDS_MAX: u32 = 4 << 20;

/// A group below which groups can be made, with both controllers.
pub(super) struct Parent {
    /// As seen from the host.
    path: PathBuf,
}

/// The group of one run; removed when dropped.
pub(super) struct Group {
    path: PathBuf,
    /// Locked as long as the run lasts: a group that nobody has locked was left behind by a killed helper.
    _lock: File,
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
        let path = own.ancestors().take_while(|path| path.starts_with(&top)).find(|path| usable(path))?;
        remove_left(path);
        Some(Self { path: path.to_owned() })
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

/// Removes the groups of helpers that were killed.
fn remove_left(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && let Ok(lock) = File::open(entry.path())
            && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

impl Group {
    fn new(parent: &Path, memory: u64, processes: u32) -> Result<Self> {
        let group = Self::claim(parent)?;
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

    /// Makes a group under a name that is free: helpers in other pid namespaces can have the same number.
    fn claim(parent: &Path) -> Result<Self> {
        for number in 0..NAMES_MAX {
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                result => result?,
            }
            // Another helper that tidies up at this moment may be faster.
            if let Ok(lock) = File::open(&path)
                && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
                && path.exists()
            {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(ErrorKind::AlreadyExists.into())
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

impl Drop for Group {
    fn drop(&mut self) {
        // All its processes are dead when the run is over.
        let _ = fs::remove_dir(&self.path);
    }
}
