//! Files: packed into one archive, offered, sent in chunks, checked and written.

mod read;
mod receiving;
mod sending;
mod write;

pub use self::read::gather;
pub use self::receiving::{Offer, Receiving, receive};
pub use self::sending::{Progress, Sending, send};
pub use self::write::store;
