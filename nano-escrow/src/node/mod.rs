//! The client of a Nano node.
//!
//! [`NodeApi`] is one method: send an action, get its JSON. Everything typed is built on it ([`NodeCalls`]),
//! so a test can put faults between, and the embedded ledger can answer in the same process. [`HttpNode`] is
//! the one that talks to a node. One message a file in [`rpc`].

mod api;
mod error;
mod http;
pub mod rpc;
mod sync;
mod watch;
mod websocket;

pub use api::{Call, Message, NodeApi, NodeCalls};
pub use error::{Fault, NodeError};
pub use http::{HttpNode, HttpOptions};
pub use sync::{Behind, Sight};
pub use watch::{Event, WatchOptions, Watcher};
