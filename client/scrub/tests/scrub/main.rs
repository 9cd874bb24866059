//! The scrubber from outside: tables, places where secrets were missed, the labelled corpus.
#![allow(missing_docs, clippy::unwrap_used)]

mod corpus;
mod kinds;
mod missed;
mod tables;
