//! One instruction a file.

mod batch_close;
mod batch_submit;

pub use batch_close::*;
pub use batch_submit::*;
