//! What a client needs to talk to the chain: addresses, instructions and account layouts. No I/O.

pub mod claim;
pub mod instructions;
pub mod pda;
pub mod sati;
pub mod token;
