//! One instruction a file.

mod challenge_answer;
mod challenge_close;
mod challenge_resolve;
mod challenge_submit;
mod envelope_discard;
mod envelope_record;
mod evidence_append;
mod evidence_begin;
mod evidence_cancel;

pub use challenge_answer::*;
pub use challenge_close::*;
pub use challenge_resolve::*;
pub use challenge_submit::*;
pub use envelope_discard::*;
pub use envelope_record::*;
pub use evidence_append::*;
pub use evidence_begin::*;
pub use evidence_cancel::*;
