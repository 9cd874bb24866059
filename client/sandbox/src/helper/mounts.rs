//! The kernel's table of mounts, and the few mount calls that the rest needs.

use std::ffi::{CString, OsString};
use std::io::{Error, Result};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

/// One line of /proc/self/mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) id: u64,
    pub(super) point: PathBuf,
    /// Which filesystem, and which directory of it.
    pub(super) device: Vec<u8>,
    pub(super) root: PathBuf,
    pub(super) read_only: bool,
    pub(super) no_exec: bool,
    pub(super) kind: String,
}

/// The mounts that can be reached by their path, sorted by path. A mount that lies below another one is left
/// out.
pub(super) fn visible() -> Result<Vec<Mount>> {
    let text = std::fs::read("/proc/self/mountinfo")?;
    let mut mounts: Vec<Mount> = text.split(|byte| *byte == b'\n').filter_map(parse).collect();
    mounts.retain(|mount| mount_id(&mount.point).is_ok_and(|id| id == mount.id));
    mounts.sort_by(|a, b| a.point.cmp(&b.point));
    mounts.dedup_by(|a, b| a.point == b.point);
    Ok(mounts)
}

/// The id of the mount that a path leads to.
fn mount_id(path: &Path) -> Result<u64> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let statx = rustix::fs::statx(CWD, path, flags, StatxFlags::MNT_ID)?;
    Ok(statx.stx_mnt_id)
}

/// Parses `id parent major:minor root point options [tags] - type source super`.
fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let device = fields.nth(1)?.to_vec();
    let root = PathBuf::from(unescape(fields.next()?));
    let point = unescape(fields.next()?);
    let options = std::str::from_utf8(fields.next()?).ok()?;
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let has = |name: &str| options.split(',').any(|option| option == name);
    Some(Mount {
        id,
        point: PathBuf::from(point),
        device,
        root,
        read_only: has("ro"),
        no_exec: has("noexec"),
        kind: String::from_utf8_lossy(kind).into_owned(),
    })
}

/// The kernel writes blanks, tabs, newlines and backslashes as three octal digits.
fn unescape(text: &[u8]) -> OsString {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match byte {
            Some(byte) => {
                out.push(byte);
                rest = tail.get(3..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(out)
}

/// Mounts a new filesystem.
pub(super) fn mount(kind: &str, at: &Path, flags: MountFlags, data: &str) -> Result<()> {
    let data = CString::new(data).map_err(Error::other)?;
    rustix::mount::mount(kind, at, kind, flags, data.as_c_str()).map_err(Into::into)
}

/// Binds one file or directory, without what is mounted below it, and makes it read-only if asked.
pub(super) fn bind(from: &Path, to: &Path, read_only: bool) -> Result<()> {
    rustix::mount::mount_bind(from, to)?;
    if read_only { make_read_only(to) } else { Ok(()) }
}

/// Makes a mount read-only for this mount namespace only. Nothing else of it changes.
pub(super) fn make_read_only(at: &Path) -> Result<()> {
    match super::kernel::restrict_mount(at, libc::MOUNT_ATTR_RDONLY) {
        // Linux before 5.12, which only root can use here: nothing is locked for root.
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
            rustix::mount::mount_remount(at, flags, "").map_err(Into::into)
        }
        result => result,
    }
}

/// Nothing that happens here is seen by other mount namespaces, nor the other way round.
pub(super) fn make_all_private() -> Result<()> {
    let flags = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", flags).map_err(Into::into)
}

/// Takes a mount and all below it out of this namespace.
pub(super) fn detach(at: &Path) -> Result<()> {
    rustix::mount::unmount(at, UnmountFlags::DETACH).map_err(Into::into)
}

/// A path and all others by which other mounts of the same filesystem show the same file or a part of it.
pub(super) fn aliases(path: &Path, mounts: &[Mount]) -> Vec<PathBuf> {
    let mut all = vec![path.to_owned()];
    let own = mounts.iter().filter(|mount| is_under(path, &mount.point));
    let Some(own) = own.max_by_key(|mount| mount.point.as_os_str().len()) else { return all };
    let inner = own.root.join(path.strip_prefix(&own.point).unwrap_or(Path::new("")));
    for other in mounts.iter().filter(|other| other.device == own.device && other.point != own.point) {
        if let Ok(below) = inner.strip_prefix(&other.root) {
            all.push(if below.as_os_str().is_empty() {
                other.point.clone()
            } else {
                other.point.join(below)
            });
        } else if other.root.starts_with(&inner) {
            all.push(other.point.clone());
        }
    }
    all
}

/// `base` + absolute `path`.
pub(super) fn under(base: &Path, path: &Path) -> PathBuf {
    base.join(path.strip_prefix("/").unwrap_or(path))
}

/// Whether `path` is `top` or lies below it.
pub(super) fn is_under(path: &Path, top: &Path) -> bool {
    path.starts_with(top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_optional_fields_and_octal_escapes_parses_ok() {
        let line =
            br"36 35 98:0 / /mnt/a\040b\134c rw,noatime,noexec shared:7 master:1 - ext4 /dev/sda rw,errors=x";
        let mount = parse(line).unwrap();
        assert_eq!(mount.id, 36);
        assert_eq!(mount.point, PathBuf::from("/mnt/a b\\c"));
        assert_eq!(mount.kind, "ext4");
        assert!(mount.no_exec && !mount.read_only);
    }

    #[test]
    fn a_path_is_known_by_all_mounts_that_show_it() {
        let lines: [&[u8]; 4] = [
            b"1 0 8:1 / / rw - ext4 a rw",
            b"2 1 8:2 /@home /home rw - btrfs b rw",
            b"3 1 8:2 / /mnt/all rw - btrfs b rw",
            b"4 1 8:2 /@home/u/.ssh/sub /mnt/part rw - btrfs b rw",
        ];
        let mounts: Vec<Mount> = lines.into_iter().filter_map(parse).collect();
        let found = aliases(Path::new("/home/u/.ssh"), &mounts);
        let wanted = ["/home/u/.ssh", "/mnt/all/@home/u/.ssh", "/mnt/part"].map(PathBuf::from);
        assert_eq!(found, wanted);
        assert_eq!(aliases(Path::new("/etc/shadow"), &mounts), [PathBuf::from("/etc/shadow")]);
    }

    #[test]
    fn broken_lines_are_left_out() {
        for line in [&b""[..], b"36", b"x y z", b"36 35 98:0 / /mnt rw shared:7 ext4 x rw", b"\\"] {
            assert_eq!(parse(line), None);
        }
        assert_eq!(unescape(b"a\\"), "a\\");
        assert_eq!(unescape(b"\\9"), "\\9");
    }

    #[test]
    fn the_root_is_among_the_visible_mounts() {
        assert!(visible().unwrap().iter().any(|mount| mount.point == Path::new("/")));
    }
}
