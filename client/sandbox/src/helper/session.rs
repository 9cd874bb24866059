//! What the helper knows for all runs.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::view::View;
use super::{cgroup, mounts};

/// The caller's socket, the view, and what isolation is to be had.
pub(super) struct Session {
    pub(super) socket: OwnedFd,
    pub(super) view: View,
    /// Root, with rights of its own: no user namespace was needed to mount.
    pub(super) privileged: bool,
    pub(super) cgroups: Option<cgroup::Parent>,
    /// Bytes of a page. Before Linux 6.4 it is read from /proc/self, which a run's first process does not have.
    pub(super) page_size: u64,
    /// Compiled once; every run installs it.
    pub(super) filter: Vec<seccompiler::BpfProgram>,
}

impl Session {
    /// All mounts of the view that commands can write to, for a read-only run.
    pub(super) fn writable_mounts(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let base = std::path::Path::new(super::layout::NEW);
        let overlays = self.view.overlays.iter().map(move |overlay| mounts::under(base, &overlay.point));
        overlays.chain(self.view.own.iter().map(move |point| mounts::under(base, point)))
    }
}
