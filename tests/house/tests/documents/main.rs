//! Texts of the repository: what they cite is there, and what they say of licences is true.

#[allow(dead_code, reason = "the test of citations, which comes last, uses the rest")]
mod files;
mod licences;
