//! Errors of proof of work.

use zx1_coded::Coded;

use crate::BlockHash;

/// Why there is no work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum WorkError {
    /// The work does not reach the threshold.
    #[code(8100)]
    #[error("the work's value {value:016x} is below the threshold {threshold:016x}")]
    Invalid {
        /// Value that the peer's work has.
        value: u64,
        /// What it must reach.
        threshold: u64,
    },
    /// The caller cancelled it.
    #[code(8101)]
    #[error("solving was cancelled")]
    Cancelled,
    /// The fast path and the reference differ.
    #[cfg(feature = "work")]
    #[code(8102)]
    #[error("the {0} path found work that the reference refuses")]
    Processor(super::Path),
    /// No peer and no processor.
    #[code(8103)]
    #[error("nothing can make work for {root}: {reason}")]
    NoSource {
        /// Root that the work is for.
        root: BlockHash,
        /// What each said.
        reason: String,
    },
    /// The store of solved work failed.
    #[code(8104)]
    #[error("solved work cannot be kept: {0}")]
    Cache(String),
}
