//! Prompts, readers and judges against hostile texts.

#![allow(clippy::unwrap_used)]

mod fuzz;
mod injection;
mod judge;
