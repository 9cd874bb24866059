//! Counts what a run uses where no cgroup does.

use std::fs;
use std::path::Path;

/// Size of /dev/shm, bytes.
pub(super) const SHM_SIZE: u64 = 256 << 20;
/// Smallest pid_max that the kernel takes.
const PID_MAX_MIN: u32 = 301;

/// Since Linux 6.14 every pid namespace has its own pid_max; before, this would change the whole machine.
pub(super) fn limit_pids(proc: &Path, processes: u32) {
    let release = fs::read_to_string(proc.join("sys/kernel/osrelease")).unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (6, 14) {
        let value = processes.saturating_add(2).max(PID_MAX_MIN);
        let _ = fs::write(proc.join("sys/kernel/pid_max"), value.to_string());
    }
}

/// Memory of the whole machine, to notice what belongs to no process: shared pages that nobody maps any more,
/// full pipes and sockets. Without a cgroup nothing else shows them.
pub(super) struct Machine {
    /// The least shared memory that was seen: what others free does not make room.
    shared: u64,
}

impl Machine {
    /// Part of all memory that has to stay available.
    const RESERVE: u64 = 32;

    pub(super) fn now() -> Self {
        Self { shared: meminfo().1 }
    }

    /// Shared memory grew by more than the run may use, or nearly nothing is left.
    pub(super) fn is_exhausted(&mut self, allowed: u64) -> bool {
        let (total, shared, available) = meminfo();
        self.shared = self.shared.min(shared);
        let grown = shared.saturating_sub(self.shared);
        grown > allowed.saturating_add(SHM_SIZE) || available < total / Self::RESERVE
    }
}

/// Total, shared and available memory, bytes.
fn meminfo() -> (u64, u64, u64) {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).map(|kb| kb * 1024)
    };
    let total = bytes("MemTotal:").unwrap_or(0);
    (total, bytes("Shmem:").unwrap_or(0), bytes("MemAvailable:").unwrap_or(total))
}

/// Memory (bytes, anonymous and shared) and number of all processes but the first.
pub(super) fn usage() -> (u64, u64) {
    let mut memory = 0u64;
    let mut processes = 0u64;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()).filter(|pid| *pid != 1)
        else {
            continue;
        };
        processes += 1;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let kilobytes = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
        };
        memory = memory.saturating_add(1024 * (kilobytes("RssAnon:") + kilobytes("RssShmem:")));
    }
    (memory, processes)
}
