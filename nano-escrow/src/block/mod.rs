//! State blocks: build, hash, sign, verify, read, write.

mod build;
mod json;
mod signed;
mod state;

pub use build::Head;
pub use signed::SignedBlock;
pub use state::{EPOCH_1_LINK, EPOCH_2_LINK, StateBlock, Subtype};
