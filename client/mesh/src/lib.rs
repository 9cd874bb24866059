//! The mesh: which messages an agent's peer accepts, how it treats the peers that bring them, and what an agent says.
//!
//! Nothing here knows a clock, a network or a disk; time is an argument, in unix microseconds of one clock. A clock
//! that jumps back never locks anybody out and never makes an old fact new.
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
//! Errors are numbered from 7600 to 7699.

pub mod conversation;
pub mod counts;
pub mod defaults;
pub mod facts;
pub mod gate;
pub mod intake;
pub mod limits;
pub mod lru;
pub mod notary;
pub mod outbox;
pub mod payload;
pub mod rate;
pub mod reason;
pub mod replay;
pub mod score;
pub mod senders;
mod text;

pub use reason::Reason;
