//! One instruction a file.

mod batch_close;
mod batch_submit;
mod batch_withhold;
mod head_open;

pub use batch_close::*;
pub use batch_submit::*;
pub use batch_withhold::*;
pub use head_open::*;
