//! The helper process: single-threaded, exec'ed by the caller, makes the namespaces and holds the overlay.
//!
//! It keeps everything in a tmpfs of its own mount namespace. When it ends, however it ends, the kernel
//! forgets that tmpfs: a discard leaves no trace, and neither does a crash.

mod cgroup;
mod export;
mod kernel;
mod layout;
mod measure;
mod mounts;
mod run;
mod sealed;
mod seccomp;
mod serve;
mod session;
mod view;

pub(crate) use cgroup::remove_left;

/// First argument that makes a program the helper.
pub(crate) const ARGUMENT: &str = "zx1-sandbox-helper";

/// Runs the helper on standard input. Never returns.
pub(crate) fn main() -> ! {
    let code = match serve::serve(kernel::control_socket()) {
        Ok(()) => 0,
        Err(_) => 1,
    };
    std::process::exit(code)
}
