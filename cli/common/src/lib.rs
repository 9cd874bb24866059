//! What the command lines `zx1` and `fix` have in common.
//!
//! * [`output`]: a result as a page for people or as JSON; [`progress`]: what is shown on the way
//! * [`catalogue!`]: a command line's numbered refusals; [`Fault`]: what this crate's functions fail with
//! * [`files`], [`keys`]: crash-safe files, and the one key of a party in every usual form (decision A1)
//! * [`config`]: a configuration file; [`confirm`]: questions; [`words`]: plurals, dates, and text of strangers that cannot steer a terminal
//! * [`manual`]: manual pages and completions
//! * [`sibling`]: programs of the same installation, executed
//! * [`usage`]: what is wrong with a command line, in one sentence
//! * `testing`: a pseudo-terminal, and what a command said (feature `testing`)

mod catalogue;
pub mod config;
pub mod confirm;
pub mod errors;
pub mod files;
pub mod keys;
pub mod manual;
pub mod output;
pub mod progress;
pub mod sibling;
#[cfg(feature = "testing")]
pub mod testing;
pub mod usage;
pub mod words;

pub use errors::{Exit, Fault};
pub use zx1_coded::Coded;
