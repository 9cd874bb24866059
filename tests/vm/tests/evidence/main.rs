//! Challenge and FeedbackLog under LiteSVM: one module an instruction or a rule, so that it links once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod common;
mod messages;

mod answer_challenge;
mod asks;
mod attacks;
mod close_challenge;
mod deep_trees;
mod evidence_draft;
mod feedback_draft;
mod ranks;
mod resolve_challenge;
mod resolve_entry;
mod seal_double_bid;
mod seal_envelope;
mod seal_log_entry;
mod shares;
mod submit_challenge;
mod submit_feedback;
