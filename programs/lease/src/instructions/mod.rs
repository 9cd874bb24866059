//! One instruction a file.

mod lease_pay;
mod lease_tick;

pub use lease_pay::*;
pub use lease_tick::*;
