//! Limits by cgroup v2 where this process may make groups: root nearly always, an ordinary user where the
//! login manager delegated a subtree. Elsewhere the run's first process watches (see `run.rs`).

use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

use super::layout::OLD;
use super::mounts::under;

/// A group below which groups can be made, with both controllers.
pub(super) struct Parent {
    /// As seen from the host.
    path: PathBuf,
}

/// The group of one run; removed when dropped.
pub(super) struct Group {
    path: PathBuf,
}

impl Parent {
    /// Looks from the own group upward. Called before the root changes.
    pub(super) fn find() -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::"))?.to_owned();
        let mounts = super::mounts::visible().ok()?;
        let top = mounts.iter().find(|mount| mount.kind == "cgroup2")?.point.clone();
        let own = under(&top, Path::new(&own));
        // The own group holds processes, and such a group has no controllers for groups below it.
        own.ancestors()
            .skip(1)
            .take_while(|path| path.starts_with(&top))
            .find(|path| usable(path))
            .map(|path| Self { path: path.to_owned() })
    }

    /// Makes a group with limits and puts the process in.
    pub(super) fn group(&self, pid: i32, memory: u64, processes: u32) -> Result<Group> {
        let path =
            under(Path::new(OLD), &self.path).join(format!("zx1-sandbox-{}-{pid}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Group { path };
        fs::write(group.path.join("memory.max"), memory.to_string())?;
        // Not there without swap.
        let _ = fs::write(group.path.join("memory.swap.max"), "0");
        fs::write(group.path.join("memory.oom.group"), "1")?;
        // The run's first process counts too.
        fs::write(group.path.join("pids.max"), processes.saturating_add(1).to_string())?;
        fs::write(group.path.join("cgroup.procs"), pid.to_string())?;
        Ok(group)
    }
}

/// Whether a group can be made here and has both controllers.
fn usable(path: &Path) -> bool {
    let controllers = fs::read_to_string(path.join("cgroup.subtree_control")).unwrap_or_default();
    let has = |name: &str| controllers.split_whitespace().any(|controller| controller == name);
    let probe = path.join(format!("zx1-sandbox-probe-{}", std::process::id()));
    has("memory") && has("pids") && fs::create_dir(&probe).is_ok() && fs::remove_dir(&probe).is_ok()
}

impl Group {
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
