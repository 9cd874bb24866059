//! How much of the next batch a log takes from whom.

/// Places in a batch's log that received messages leave free, so that a flood of them cannot keep the agent
/// from logging what it sends.
pub const RESERVED_FOR_SENT: u32 = 1 << 16;
/// Most messages of one sender that the next batch can take, so that one stranger cannot keep others out.
pub const MAX_FROM_SENDER: u32 = 4_096;
