//! Types, blocks, binding: vectors in both directions, rules, and bytes from outside.

#![allow(clippy::unwrap_used)]

mod binding;
mod blocks;
mod properties;
mod vectors;
