//! For this crate's tests: the process kills itself at the n-th step of a commit or an undo.

use std::sync::atomic::{AtomicU64, Ordering};

static KILL_AT: AtomicU64 = AtomicU64::new(u64::MAX);
static STEPS: AtomicU64 = AtomicU64::new(0);

/// The n-th step from now (0 is the next one) is SIGKILL.
pub fn kill_at_step(n: u64) {
    STEPS.store(0, Ordering::SeqCst);
    KILL_AT.store(n, Ordering::SeqCst);
}

/// Marks a point between two changes of the disk.
pub(crate) fn step() {
    if STEPS.fetch_add(1, Ordering::SeqCst) == KILL_AT.load(Ordering::SeqCst) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}
