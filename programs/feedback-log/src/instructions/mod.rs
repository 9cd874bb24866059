//! One instruction a file.

mod draft_append;
mod draft_begin;
mod draft_cancel;
mod draft_seal;
mod entry_resolve;
mod feedback_submit;

pub use draft_append::*;
pub use draft_begin::*;
pub use draft_cancel::*;
pub use draft_seal::*;
pub use entry_resolve::*;
pub use feedback_submit::*;
