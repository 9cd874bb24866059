//! What a client needs to talk to the chain: addresses, instructions and account layouts. No I/O.

pub mod sati;
pub mod token;
