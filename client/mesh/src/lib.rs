//! The mesh: which messages an agent's peer accepts, how it treats the peers that bring them, and what an agent says.
//!
//! The rules and tables know no clock, no network and no disk; time is an argument, in unix microseconds of one clock. A
//! clock that jumps back never locks anybody out and never makes an old fact new.
//!
//! * [`gate`]: one message, judged
//! * [`facts`], [`senders`]: what the chain says of authors, and when it is asked
//! * [`replay`], [`limits`], [`score`]: what is remembered of authors and peers
//! * [`intake`]: all of them together, from bytes to outcome
//! * [`payload`]: what a message says
//! * [`conversation`]: a deal and its ratings
//! * [`notary`]: choosing a notary, being one
//! * [`outbox`]: what is to be sent
//!
//! The transport, on libp2p:
//!
//! * [`wire`]: names and bytes
//! * [`direct`]: the codec of direct streams
//! * [`validate`]: what the transport asks of the layers above
//! * [`node`]: a running node
//!
//! Errors are numbered from 7600 to 7699.

pub mod addresses;
mod behaviour;
pub mod conversation;
pub mod counts;
pub mod defaults;
pub mod direct;
pub mod drops;
pub mod facts;
pub mod gate;
pub mod intake;
pub mod limits;
pub mod lru;
pub mod node;
pub mod notary;
pub mod outbox;
pub mod payload;
pub mod rate;
pub mod reason;
pub mod replay;
pub mod score;
pub mod senders;
pub mod settings;
mod text;
pub mod validate;
pub mod wire;

pub use reason::Reason;
