//! The view of an investigation: scrubbed copies of the files, programs, toolchains, and nothing else (decision E17).
//! Whatever a tool there cuts or re-codes, it does so with text that may leave.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use zx1_sandbox::{Sandbox, SandboxError};
use zx1_scrub::Scrubber;

/// Largest file that is scrubbed; larger ones are not shown.
const FILE_MAX: u64 = 4 << 20;
/// All of them together; what comes later is not shown. Folders of dependencies come last.
const TOTAL_MAX: u64 = 256 << 20;
/// Files that are looked at.
const FILES_MAX: usize = 200_000;
/// Folders that hold what was fetched or built.
const LATER: &[&str] = &[
    "node_modules",
    "target",
    ".venv",
    "venv",
    "vendor",
    "dist",
    "build",
    ".tox",
    "__pycache__",
    ".git",
    ".gradle",
    ".next",
    "Pods",
    "_build",
    "deps",
    "bower_components",
];

/// Of the system's files those that an investigation may need besides programs.
pub(crate) const SYSTEM: &[&str] = &[
    "/var/lib/dpkg",
    "/var/lib/apt/lists",
    "/var/lib/rpm",
    "/lib/apk",
    "/var/lib/pacman",
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/debian_version",
    "/etc/lsb-release",
    "/etc/shells",
    "/etc/hosts",
];

/// Puts scrubbed copies over all files below these folders that hold something to be scrubbed, and masks what cannot
/// be scrubbed.
///
/// # Errors
/// 9200 to 9299: a file could neither be replaced nor masked.
pub(crate) fn scrub(
    sandbox: &mut Sandbox,
    roots: &[PathBuf],
    scrubber: &Scrubber,
) -> Result<(), SandboxError> {
    let mut walk = Walk { later: VecDeque::new(), total: 0, files: 0 };
    let mut todo: VecDeque<PathBuf> = roots.iter().cloned().collect();
    while let Some(dir) = todo.pop_front().or_else(|| walk.later.pop_front()) {
        if walk.files >= FILES_MAX || walk.total >= TOTAL_MAX {
            sandbox.mask(&dir)?;
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                // Another root of its own is walked as such.
                let name = entry.file_name();
                let list = if LATER.iter().any(|later| name == *later) { &mut walk.later } else { &mut todo };
                list.push_back(path);
            } else if meta.is_file() {
                walk.file(sandbox, &path, meta.len(), scrubber)?;
            }
        }
    }
    Ok(())
}

struct Walk {
    later: VecDeque<PathBuf>,
    total: u64,
    files: usize,
}

impl Walk {
    fn file(
        &mut self,
        sandbox: &mut Sandbox,
        path: &Path,
        size: u64,
        scrubber: &Scrubber,
    ) -> Result<(), SandboxError> {
        self.files += 1;
        self.total = self.total.saturating_add(size);
        if size > FILE_MAX || self.total > TOTAL_MAX {
            return sandbox.mask(path);
        }
        // What this user cannot read nobody reads here.
        let Ok(bytes) = std::fs::read(path) else { return Ok(()) };
        let scrubbed = scrubber.scrub_bytes(&bytes);
        if scrubbed.findings.is_empty() { Ok(()) } else { sandbox.put(path, &scrubbed.bytes) }
    }
}
