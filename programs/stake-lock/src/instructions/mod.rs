//! One instruction a file.

mod challenge_count;
mod config_initialize;
mod slash;
mod stake_claim;
mod stake_lock;
mod unlock_cancel;
mod unlock_queue;

pub use challenge_count::*;
pub use config_initialize::*;
pub use slash::*;
pub use stake_claim::*;
pub use stake_lock::*;
pub use unlock_cancel::*;
pub use unlock_queue::*;
