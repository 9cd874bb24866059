//! Every field of the protocol's bytes, and what is wrong with them.

mod account;
mod batch;
mod cbor;
mod envelope;
mod fields;
mod log_entry;
mod transaction;

pub use account::{account, account_data};
pub use batch::{NotABatch, batch};
pub use envelope::Message;
pub use fields::Fields;
pub use log_entry::log_entry;
pub use transaction::{landed, unsent};

/// Why bytes are not a message, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);
