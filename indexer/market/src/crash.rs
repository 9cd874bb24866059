//! A process that kills itself at a chosen moment, so that a test sees what is left at each of them.
//!
//! Crash points lie before and after every commit of the market and of the escrow's journal, every call of
//! the ledger and every settlement that the escrow receives. In ordinary use they are not counted.

use std::sync::atomic::{AtomicU64, Ordering};

use nano_escrow::journal::{At, Probe};

/// Ends the process at the n-th crash point, as SIGKILL does: nothing is flushed, closed or dropped.
#[derive(Debug)]
pub struct DieAfter(AtomicU64);

impl DieAfter {
    /// Dies at the `points`-th crash point; never for 0.
    pub fn new(points: u64) -> DieAfter {
        DieAfter(AtomicU64::new(points))
    }
}

impl Probe for DieAfter {
    fn at(&self, point: &str) -> At {
        let left = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        if left == Ok(1) {
            eprintln!("crash point: {point}");
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            std::process::abort();
        }
        At::Continue
    }
}
