//! A program's own folder.
//!
//! - [`files`]: private folders, and files that after a crash hold the old bytes or the new ones;
//! - [`lock`]: one process at a time, with the owner's process id in the refusal;
//! - [`keys`]: the one parser of key files;
//! - [`socket`]: sockets in long paths;
//! - [`config`]: settings in layers, each with the place that it came from;
//! - [`clock`]: the time, so that a test can set it.

pub mod clock;
pub mod config;
pub mod files;
pub mod keys;
pub mod lock;
pub mod socket;

pub use clock::{Clock, FixedClock, SystemClock};
pub use lock::{Lock, LockError};
