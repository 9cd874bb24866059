//! What can go wrong with work: numbers 8100 to 8149.

use crate::{BlockHash, Coded};

/// Why there is no work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkError {
    /// The work does not reach the threshold.
    #[error("the work's value {value:016x} is below the threshold {threshold:016x}")]
    Invalid {
        /// Value that the peer's work has.
        value: u64,
        /// What it must reach.
        threshold: u64,
    },
    /// The caller cancelled it.
    #[error("solving was cancelled")]
    Cancelled,
    /// The fast path and the reference differ.
    #[cfg(feature = "work")]
    #[error("the {0} path found work that the reference refuses")]
    Processor(super::Path),
    /// No peer and no processor.
    #[error("nothing can make work for {root}: {reason}")]
    NoSource {
        /// Root that the work is for.
        root: BlockHash,
        /// What each said.
        reason: String,
    },
    /// The store of solved work failed.
    #[error("solved work cannot be kept: {0}")]
    Cache(String),
}

impl Coded for WorkError {
    fn code(&self) -> u16 {
        match self {
            WorkError::Invalid { .. } => 8100,
            WorkError::Cancelled => 8101,
            #[cfg(feature = "work")]
            WorkError::Processor(_) => 8102,
            WorkError::NoSource { .. } => 8103,
            WorkError::Cache(_) => 8104,
        }
    }

    fn next(&self) -> &str {
        match self {
            WorkError::Invalid { .. } => "Solve it again, for this root and this threshold.",
            WorkError::Cancelled => "Start again when the work is needed.",
            #[cfg(feature = "work")]
            WorkError::Processor(_) => "Use the portable path, and report the processor.",
            WorkError::NoSource { .. } => "Check the work peers, or allow the processor to solve.",
            WorkError::Cache(_) => "Check the journal's disk.",
        }
    }
}
