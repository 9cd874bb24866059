//! Lays a sealed root: an image folder, what is bound into it, and the folders that commands may write to.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use super::kernel;
use super::layout::{NEW, OLD, UPPER};
use super::mounts::{self, under};
use crate::error::{Result, SandboxError, show};
use crate::wire::Sealed;

const QUIET: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// A folder that commands may write to.
#[derive(Debug)]
pub(super) struct Volume {
    /// Where commands see it.
    pub(super) point: PathBuf,
    /// Where it lies.
    pub(super) folder: PathBuf,
}

/// Lays it over [`NEW`]. The volumes come in the order in which they were asked for, `/tmp` last.
pub(super) fn lay(wanted: &Sealed) -> Result<Vec<Volume>> {
    let bad = |path: &Path, error: &dyn std::fmt::Display| SandboxError::BadRoot {
        path: show(path),
        detail: error.to_string(),
    };
    let image = wanted.image.path();
    let read_only = QUIET | libc::MOUNT_ATTR_RDONLY;
    bind(&under(Path::new(OLD), &image), Path::new(NEW), read_only).map_err(|error| bad(&image, &error))?;
    for (host, point) in &wanted.binds {
        let (host, point) = (host.path(), point.path());
        place(&point)
            .and_then(|at| bind(&under(Path::new(OLD), &host), &at, read_only))
            .map_err(|error| bad(&point, &error))?;
    }
    let mut volumes = Vec::new();
    let points = wanted.volumes.iter().map(|point| (point.path(), 0o755));
    for (point, mode) in points.chain([(PathBuf::from("/tmp"), 0o1777)]) {
        let folder = Path::new(UPPER).join(format!("volume-{}", volumes.len()));
        let laid = || {
            let at = place(&point)?;
            fs::create_dir(&folder)?;
            fs::set_permissions(&folder, Permissions::from_mode(mode))?;
            bind(&folder, &at, QUIET)
        };
        laid().map_err(|error| bad(&point, &error))?;
        volumes.push(Volume { point, folder });
    }
    Ok(volumes)
}

fn bind(from: &Path, to: &Path, attributes: u64) -> io::Result<()> {
    mounts::bind(from, to, false)?;
    kernel::restrict_mount(to, attributes)
}

/// A point of the view that exists there and is reached over no link: a link would lead out of the view.
fn place(point: &Path) -> io::Result<PathBuf> {
    let mut at = PathBuf::from(NEW);
    let relative = point.strip_prefix("/").map_err(|_| io::Error::other("it is not absolute"))?;
    for part in relative.components() {
        let Component::Normal(name) = part else { return Err(io::Error::other("it has `..` in it")) };
        at.push(name);
        if fs::symlink_metadata(&at)?.is_symlink() {
            return Err(io::Error::other("it is behind a link"));
        }
    }
    Ok(at)
}
