//! The CPU solver.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Path, WorkError};
use crate::{BlockHash, Work};

/// How many nonces a thread tries before it looks whether it should stop: about a millisecond.
const CHUNK: u64 = 1 << 14;

/// Stops solvers from another thread. Clones stop together.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Nothing is stopped yet.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Stop within about a millisecond. There is no way back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

fn first_nonce(root: &BlockHash) -> u64 {
    root.0.first_chunk().map_or(0, |b| u64::from_le_bytes(*b))
}

/// Solves work on the processor, on several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solver {
    threads: NonZeroUsize,
    path: Path,
    repeatable: bool,
}

impl Default for Solver {
    /// All the processor's threads, the fastest path.
    fn default() -> Self {
        Solver {
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            path: Path::best(),
            repeatable: false,
        }
    }
}

impl Solver {
    /// Sets the number of threads.
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Solver {
        self.threads = threads;
        self
    }

    /// This path, or the portable one where the machine does not have it.
    pub fn with_path(mut self, path: Path) -> Solver {
        self.path = if path.is_available() { path } else { Path::Portable };
        self
    }

    /// Begin where the root says, also after an interruption: with one thread the same root then gets the same
    /// work, which a run that is to repeat needs. Otherwise each search begins at random.
    pub fn repeatable(mut self) -> Solver {
        self.repeatable = true;
        self
    }

    /// How many threads.
    pub fn threads(&self) -> NonZeroUsize {
        self.threads
    }

    /// The instruction set that is used.
    pub fn path(&self) -> Path {
        self.path
    }

    /// Find work for `root` that reaches `threshold`. Blocks until it is found (live send: 2^29 hashes on
    /// average, 15 to 70 seconds of one core) or cancelled (8101). What is found was checked with the
    /// reference.
    ///
    /// Begins at a nonce that only depends on the root.
    pub fn solve(&self, root: &BlockHash, threshold: u64, cancel: &Cancel) -> Result<Work, WorkError> {
        self.solve_from(root, threshold, first_nonce(root), cancel)
    }

    /// Where a search for `root` begins.
    #[cfg(feature = "node")]
    pub(crate) fn start(&self, root: &BlockHash) -> u64 {
        if self.repeatable { first_nonce(root) } else { rand::random() }
    }

    /// The same, from another nonce on: whoever goes on after an interruption takes a new one. Each thread
    /// has its own part of all the nonces.
    pub fn solve_from(
        &self,
        root: &BlockHash,
        threshold: u64,
        start: u64,
        cancel: &Cancel,
    ) -> Result<Work, WorkError> {
        let found = Mutex::new(None);
        let done = AtomicBool::new(false);
        let part = u64::MAX / self.threads.get() as u64;
        let run = |index: u64| {
            let mut nonce = start.wrapping_add(part.wrapping_mul(index));
            while !done.load(Ordering::Relaxed) && !cancel.is_cancelled() {
                if let Some(work) = self.path.search(root, nonce, CHUNK, threshold) {
                    *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
                    done.store(true, Ordering::Relaxed);
                }
                nonce = nonce.wrapping_add(CHUNK);
            }
        };
        std::thread::scope(|scope| {
            for index in 1..self.threads.get() as u64 {
                scope.spawn(move || run(index));
            }
            run(0);
        });
        let work = found.into_inner().unwrap_or_else(PoisonError::into_inner).ok_or(WorkError::Cancelled)?;
        if !work.is_valid(root, threshold) {
            return Err(WorkError::Processor(self.path));
        }
        Ok(work)
    }

    /// Hashes a second of one thread, measured over `hashes` of them.
    pub fn measure(&self, hashes: u64) -> f64 {
        let start = std::time::Instant::now();
        let none = self.path.search(&BlockHash([7; 32]), 0, hashes, u64::MAX);
        std::hint::black_box(none);
        hashes as f64 / start.elapsed().as_secs_f64().max(1e-9)
    }
}
