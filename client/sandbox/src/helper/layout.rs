//! Where things are inside the helper, and which parts of the host are replaced rather than covered.

use std::path::{Path, PathBuf};

use super::mounts::{Mount, is_under};

/// The host's filesystem.
pub(super) const OLD: &str = "/host";
/// The view that commands get.
pub(super) const NEW: &str = "/view";
/// The upper layers, a tmpfs whose size is the limit on changes.
pub(super) const UPPER: &str = "/upper";
/// Copies of what lies directly in directories that cannot have an overlay.
pub(super) const SHADOW: &str = "/shadow";
/// An empty, read-only place: `dir` and `file` are laid over what is hidden.
pub(super) const EMPTY: &str = "/empty";

/// Directories of the host that are never shown: each is made anew with the little that programs need. With
/// /run go the sockets of docker, dbus, systemd and the login session.
pub(super) const REPLACED: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/var/run"];

/// Filesystems that are windows to the kernel or to other processes, not files.
const KERNEL_KINDS: [&str; 22] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "securityfs",
    "selinuxfs",
    "debugfs",
    "tracefs",
    "bpf",
    "pstore",
    "configfs",
    "mqueue",
    "hugetlbfs",
    "fusectl",
    "efivarfs",
    "binfmt_misc",
    "autofs",
    "rpc_pipefs",
    "nsfs",
    "nfsd",
];

/// Whether a mount shows files, not the kernel.
pub(super) fn has_files(mount: &Mount) -> bool {
    !KERNEL_KINDS.contains(&mount.kind.as_str())
}

/// Whether a path belongs to what is made anew. `/var/run` counts only where it is a directory: usually it is
/// a link to `/run`, and then no mount and no walk comes by that name.
pub(super) fn is_replaced(path: &Path) -> bool {
    REPLACED.iter().any(|top| is_under(path, Path::new(top)))
}

/// Whether other mounts lie below a directory: then no overlay of an ordinary user can cover it, because the
/// kernel keeps such users from looking under mounts.
pub(super) fn holds_mounts(dir: &Path, mounts: &[Mount]) -> bool {
    mounts.iter().any(|mount| mount.point != dir && is_under(&mount.point, dir))
}

/// The mount at exactly this path.
pub(super) fn mount_at<'a>(path: &Path, mounts: &'a [Mount]) -> Option<&'a Mount> {
    mounts.iter().find(|mount| mount.point == path)
}

/// The mount that a path lies on.
pub(super) fn mount_of<'a>(path: &Path, mounts: &'a [Mount]) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| is_under(path, &mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len())
}

/// Folder of the n-th overlay's layers.
pub(super) fn layer(index: usize) -> PathBuf {
    Path::new(UPPER).join(index.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(point: &str, kind: &str) -> Mount {
        Mount {
            id: 1,
            point: PathBuf::from(point),
            device: b"8:1".to_vec(),
            root: PathBuf::from("/"),
            read_only: false,
            no_exec: false,
            kind: kind.to_owned(),
        }
    }

    #[test]
    fn only_directories_above_a_mount_hold_one() {
        let mounts = [mount("/", "ext4"), mount("/home", "ext4"), mount("/home/u/net", "nfs")];
        assert!(holds_mounts(Path::new("/"), &mounts));
        assert!(holds_mounts(Path::new("/home"), &mounts));
        assert!(holds_mounts(Path::new("/home/u"), &mounts));
        assert!(!holds_mounts(Path::new("/home/u/net"), &mounts));
        assert!(!holds_mounts(Path::new("/hom"), &mounts), "names are compared whole");
    }

    #[test]
    fn a_path_lies_on_its_nearest_mount() {
        let mounts = [mount("/", "ext4"), mount("/home", "ext4")];
        assert_eq!(mount_of(Path::new("/home/u"), &mounts).unwrap().point, Path::new("/home"));
        assert_eq!(mount_of(Path::new("/homes"), &mounts).unwrap().point, Path::new("/"));
    }

    #[test]
    fn windows_to_the_kernel_are_no_files() {
        assert!(!has_files(&mount("/x", "cgroup2")));
        assert!(has_files(&mount("/x", "btrfs")));
        assert!(is_replaced(Path::new("/run/docker.sock")) && !is_replaced(Path::new("/running")));
    }
}
