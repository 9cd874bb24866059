//! One instruction a file.

mod ask_close;
mod ask_settle;
mod challenge_answer;
mod challenge_close;
mod challenge_resolve;
mod challenge_submit;
mod era_settle;
mod evidence_append;
mod evidence_begin;
mod evidence_cancel;
mod evidence_seal;
mod leaf_ask;
mod leaf_show;
mod rank_pass;

pub use ask_close::*;
pub use ask_settle::*;
pub use challenge_answer::*;
pub use challenge_close::*;
pub use challenge_resolve::*;
pub use challenge_submit::*;
pub use era_settle::*;
pub use evidence_append::*;
pub use evidence_begin::*;
pub use evidence_cancel::*;
pub use evidence_seal::*;
pub use leaf_ask::*;
pub use leaf_show::*;
pub use rank_pass::*;
