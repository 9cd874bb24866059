//! The calls that no safe library has. All `unsafe` of this crate is here.
//!
//! The helper is single-threaded from its first instruction, and none of these touches memory of ours: that
//! is why each is sound. `std::process` cannot make a process in new namespaces, so the two kinds of clone
//! are needed.
#![allow(unsafe_code)]

use std::io::{Error, Result};

/// The two sides of a clone.
pub(super) enum Side {
    /// In the parent: the child's pid in the parent's pid namespace.
    Parent(i32),
    /// In the child.
    Child,
}

/// Makes a child process in the new namespaces that `flags` (CLONE_NEW*) name; 0 is a plain fork.
pub(super) fn clone_into(flags: libc::c_int) -> Result<Side> {
    // A parent with threads could leave locks held for ever in the child.
    debug_assert_eq!(std::fs::read_dir("/proc/self/task").map(Iterator::count).unwrap_or(1), 1);
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without CLONE_VM the child has its own copy of the address space, and without a new stack it
    // goes on where the parent is: this is fork(2). The process has one thread, so no lock is held by another
    // one.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags,
            0 as libc::c_long,
            0 as libc::c_long,
            0 as libc::c_long,
            0 as libc::c_long,
        )
    };
    match pid {
        0 => Ok(Side::Child),
        pid if pid > 0 => i32::try_from(pid).map(Side::Parent).map_err(Error::other),
        _ => Err(Error::last_os_error()),
    }
}

/// Moves this process into new namespaces.
pub(super) fn unshare(flags: rustix::thread::UnshareFlags) -> Result<()> {
    // SAFETY: unsafe for CLONE_FILES only, which would part the descriptor tables of threads; it is never
    // passed.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}

/// Adds attributes (MOUNT_ATTR_*) to one mount and takes none away: those that the kernel locked for an
/// ordinary user stay, where a remount would have to name them all.
pub(super) fn restrict_mount(at: &std::path::Path, attributes: u64) -> Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(at.as_os_str().as_bytes()).map_err(Error::other)?;
    let wanted = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: both pointers are valid during the call, and the size is that of the struct.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_SYMLINK_NOFOLLOW,
            &raw const wanted,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Closes all descriptors from `first` on.
pub(super) fn close_from(first: u32) -> Result<()> {
    // SAFETY: called before any descriptor from `first` on is owned by this process's own values.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Marks all descriptors from `first` on to be closed at exec.
pub(super) fn close_from_at_exec(first: u32) -> Result<()> {
    // SAFETY: sets flags only.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Ends this process at once, without destructors or buffers: they belong to the parent's copy.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: _exit has no requirements.
    unsafe { libc::_exit(code) }
}

/// The descriptor 0, which the caller made the control socket.
pub(super) fn control_socket() -> std::os::fd::OwnedFd {
    use std::os::fd::FromRawFd;
    // SAFETY: the caller passes the socket as standard input, and nothing else in this process uses that.
    unsafe { std::os::fd::OwnedFd::from_raw_fd(0) }
}
