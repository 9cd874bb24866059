//! What a generation lives in: a trait with one life at a time, and bounds that are kept or refused.

use std::net::TcpListener;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use crate::error::Result;

/// What a jail promises. One that cannot keep a bound refuses to be made (7970).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Memory of all processes, bytes.
    pub memory: u64,
    /// Processes at the same time.
    pub processes: u32,
    /// All of `/bot` and `/tmp`, bytes.
    pub disk: u64,
    /// Open descriptors of one process.
    pub open_files: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { memory: 2 << 30, processes: 256, disk: 1 << 30, open_files: 1_024 }
    }
}

/// One life: what runs, and what it is given.
pub struct Life<'a> {
    /// The generation's number.
    pub generation: u64,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables besides PATH and HOME.
    pub env: Vec<(String, String)>,
    /// Standard input: the text of the boot prompt.
    pub stdin: Vec<u8>,
    /// Gets the listening sockets of the capsule's own loopback before anything runs.
    pub serve: &'a mut dyn FnMut(u16, TcpListener),
    /// Gets standard output and error as they come.
    pub live: &'a mut dyn FnMut(&[u8]),
}

/// How a life ended. Nothing of it is left then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The reason in words.
    pub why: String,
    /// It ended by itself with exit code 0.
    pub clean: bool,
}

/// Ends the life of a generation from another thread.
pub trait Ender: Send + Sync {
    /// Ends it with everything in the jail, if this generation lives.
    fn end(&self, generation: u64);

    /// Processor time that the living generation has used so far, milliseconds.
    fn used_ms(&self) -> u64;
}

/// A jail: a root without the host, `/bot` that outlives generations, git and the model on its own loopback, nothing
/// else.
pub trait Jail: Send {
    /// Lives one life; returns when nothing of it is left.
    ///
    /// # Errors
    /// It could not be isolated or started; nothing ran then.
    fn live(&mut self, life: Life<'_>) -> Result<End>;

    /// The means to end lives.
    fn ender(&self) -> Arc<dyn Ender>;

    /// The folder `/bot`, seen from outside. What lies there is hostile.
    fn bot(&self) -> BorrowedFd<'_>;
}
