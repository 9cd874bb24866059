//! The explorer in a real browser; see the crate's own words.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod faults;
mod keyboard;
mod live;
mod looks;
mod mesh;
mod missing;
mod numbers;
mod story;
mod support;
mod transcripts;
