//! Every default of this crate, one line each. Sizes are bytes.

/// Bound of the failed command in a solver's prompt.
pub const TASK_COMMAND: usize = 4 << 10;
/// Bound of the error output in a solver's prompt.
pub const TASK_ERROR: usize = 16 << 10;
/// Bound of each other fact of a contract in a solver's prompt.
pub const TASK_FACT: usize = 4 << 10;
/// Bound of one investigation's output in a solver's prompt.
pub const INVESTIGATION_OUTPUT: usize = 8 << 10;
/// Bound of all history in a solver's prompt.
pub const SOLVER_HISTORY: usize = 40 << 10;
/// Investigation rounds (spec, "Contract format").
pub const ROUNDS: u32 = 5;
/// Attempts (spec, "Contract format").
pub const ATTEMPTS: u32 = 5;
/// A solver's longest answer, in tokens.
pub const SOLVER_TOKENS: u32 = 3_000;
