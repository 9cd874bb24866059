//! Every default of this crate, one line each. Sizes are bytes.

use std::time::Duration;

/// Bound of one transcript entry in a judge's prompt.
pub const TRANSCRIPT_ENTRY: usize = 8 << 10;
/// Bound of the whole transcript in a judge's prompt.
pub const TRANSCRIPT: usize = 96 << 10;
/// Bound of one side's argument in a judge's prompt.
pub const ARGUMENT: usize = 8 << 10;
/// Bound of the previous court's reasoning in a judge's prompt.
pub const PREVIOUS_REASONING: usize = 6 << 10;
/// Bound of each output of the re-execution in a judge's prompt.
pub const REEXECUTION_OUTPUT: usize = 6 << 10;
/// A judge's time (decision E6; spec, "Judge timeout").
pub const JUDGE_TIME: Duration = Duration::from_secs(60);
/// A judge's longest answer, in tokens.
pub const JUDGE_TOKENS: u32 = 1_500;
