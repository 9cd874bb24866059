//! Challenge and FeedbackLog under LiteSVM: one module an instruction, so that it links once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod common;
mod messages;

mod answer_challenge;
mod close_challenge;
mod discard_envelope;
mod evidence_draft;
mod feedback_draft;
mod record_envelope;
mod resolve_challenge;
mod resolve_entry;
mod submit_challenge_accounts;
mod submit_challenge_double_bid;
mod submit_challenge_draft;
mod submit_challenge_envelope;
mod submit_challenge_log_entry;
mod submit_feedback;
