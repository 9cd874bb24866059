//! What the zx1 programs and their clients both must know.
#![no_std]

pub mod constants;
