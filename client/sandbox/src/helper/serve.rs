//! The helper's life: isolate, build the view, then answer the caller until it goes away.

use std::fs;
use std::io::{self, Error};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::thread::{CapabilitySet, UnshareFlags};

use super::session::Session;
use super::view::View;
use super::{cgroup, export, kernel, mounts, run, view};
use crate::error::SandboxError;
use crate::raw::Raw;
use crate::wire::{self, ReadyInfo, Reply, Request};

/// Serves one caller; returns when it is gone.
pub(super) fn serve(socket: OwnedFd) -> io::Result<()> {
    // What the caller had open is not for commands: an open secret would pass over every mask.
    kernel::close_from(3)?;
    // Ctrl+C in the user's terminal is for the caller, which then says what to do.
    let _ = rustix::process::setsid();
    // If memory runs out, the kernel should take this and its commands first.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");

    let Some((Request::Setup(wanted), _)) = wire::receive(&socket)? else {
        return Err(Error::other("no set-up request"));
    };
    let page_size = rustix::param::page_size() as u64;
    let session = match set_up(&wanted) {
        Ok((view, privileged, cgroups, filter)) => {
            Session { socket, view, privileged, cgroups, page_size, filter }
        }
        Err(error) => return wire::send(&socket, &Reply::Failed(error), &[]),
    };
    let raws = |paths: &[PathBuf]| paths.iter().map(Raw::from).collect();
    let ready = ReadyInfo {
        privileged: session.privileged,
        groups: session.cgroups.as_ref().map(|parent| Raw::from(parent.path())),
        hidden: raws(&session.view.hidden),
        masked: raws(&session.view.masked),
        overlays: session.view.overlays.iter().map(|overlay| Raw::from(&overlay.point)).collect(),
    };
    // Of a sealed root the caller reads what commands leave for it; /tmp, the last one, is theirs alone.
    let volumes = session.view.volumes.iter().rev().skip(1).rev();
    let folders = volumes.map(|volume| fs::File::open(&volume.folder)).collect::<io::Result<Vec<_>>>()?;
    let folders: Vec<_> = folders.iter().map(AsFd::as_fd).collect();
    wire::send(&session.socket, &Reply::Ready(ready), &folders)?;
    session.answer()
}

type SetUp = (View, bool, Option<cgroup::Parent>, Vec<seccompiler::BpfProgram>);

fn set_up(wanted: &wire::Setup) -> Result<SetUp, SandboxError> {
    let filter =
        super::seccomp::programs().map_err(|error| SandboxError::NoSeccomp { detail: error.to_string() })?;
    let privileged = isolate()?;
    let cgroups = cgroup::Parent::find();
    let view = view::build(wanted)?;
    // From here on nobody may look into this process, though it runs as the same user as its commands.
    let undumpable = rustix::process::DumpableBehavior::NotDumpable;
    rustix::process::set_dumpable_behavior(undumpable)
        .map_err(|error| SandboxError::setup("protecting the helper", error))?;
    Ok((view, privileged, cgroups, filter))
}

/// Takes a mount namespace of its own: as root directly, else inside a user namespace.
fn isolate() -> Result<bool, SandboxError> {
    let may_mount = rustix::thread::capabilities(None)
        .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN | CapabilitySet::SETUID));
    if may_mount {
        kernel::unshare(UnshareFlags::NEWNS)
            .map_err(|error| SandboxError::NoNamespace { detail: format!("mount: {error}") })?;
        // Commands of root run in a user namespace too; say now if there is none.
        probe_user_namespace()?;
        return Ok(true);
    }
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let refused = |error: Error| SandboxError::NoUserNamespace { detail: error.to_string() };
    kernel::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS).map_err(refused)?;
    fs::write("/proc/self/setgroups", "deny").map_err(refused)?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).map_err(refused)?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).map_err(refused)?;
    // A security module may give a user namespace without any rights in it (AppArmor on Ubuntu since 23.10).
    let no_rights = |error: Error| SandboxError::NoUserNamespace {
        detail: format!(
            "there is one, but it gives no right to mount: {error}; on Ubuntu set \
             kernel.apparmor_restrict_unprivileged_userns to 0 or give this program an AppArmor profile"
        ),
    };
    mounts::make_all_private().map_err(no_rights)?;
    Ok(false)
}

/// Makes a user namespace in a child that ends at once.
fn probe_user_namespace() -> Result<(), SandboxError> {
    match kernel::clone_into(libc::CLONE_NEWUSER) {
        Ok(kernel::Side::Child) => kernel::exit_now(0),
        Ok(kernel::Side::Parent(pid)) => {
            let _ = rustix::process::waitpid(
                rustix::process::Pid::from_raw(pid),
                rustix::process::WaitOptions::empty(),
            );
            Ok(())
        }
        Err(error) => Err(SandboxError::NoUserNamespace { detail: error.to_string() }),
    }
}

fn mask(path: &std::path::Path) -> io::Result<()> {
    view::lay_mask(path).map(drop)
}

impl Session {
    fn answer(&self) -> io::Result<()> {
        while let Some((request, fds)) = wire::receive::<Request>(&self.socket)? {
            match request {
                Request::Run(request) => {
                    if !run::run(self, &request, fds)? {
                        return Ok(());
                    }
                }
                Request::Scan => self.scan()?,
                Request::Open { path } => match export::open(&self.view, &path.path()) {
                    Ok(file) => wire::send(&self.socket, &Reply::Opened, &[file.as_fd()])?,
                    Err(error) => {
                        let error = SandboxError::scan(&path.path(), error);
                        wire::send(&self.socket, &Reply::Failed(error), &[])?;
                    }
                },
                Request::Put { path } => {
                    let content = fds.into_iter().next().ok_or(Error::other("no content came"))?;
                    let done = view::put(&path.path(), content).or_else(|_| mask(&path.path()));
                    self.done(done, "showing a scrubbed file")?;
                }
                Request::Mask { path } => self.done(mask(&path.path()), "masking a file")?,
                // A kill that crossed the end of its run.
                Request::Kill => {}
                Request::Setup(_) => return Err(Error::other("set up twice")),
            }
        }
        Ok(())
    }

    fn done(&self, done: io::Result<()>, step: &str) -> io::Result<()> {
        let reply = match done {
            Ok(()) => Reply::Done,
            Err(error) => Reply::Failed(SandboxError::setup(step, error)),
        };
        wire::send(&self.socket, &reply, &[])
    }

    fn scan(&self) -> io::Result<()> {
        let sent =
            export::scan(&self.view, |entries| wire::send(&self.socket, &Reply::Entries(entries), &[]));
        let last = match sent {
            Ok(()) => Reply::ScanDone,
            Err((path, error)) if error.kind() == io::ErrorKind::FileTooLarge => {
                let limit = self.view.disk_limit;
                Reply::Failed(SandboxError::TooLarge { path: crate::error::show(&path), limit })
            }
            Err((path, error)) => Reply::Failed(SandboxError::scan(&path, error)),
        };
        wire::send(&self.socket, &last, &[])
    }
}
