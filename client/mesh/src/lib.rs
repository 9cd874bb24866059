//! The peer-to-peer mesh of agents.
//!
//! Tables of what an agent does, without network, clock or disk (times are arguments): [`payload`] (what a
//! message says), [`conversation`] (a deal and its ratings), [`notary`] (choosing a notary, being one),
//! [`outbox`] (what is to be sent).

pub mod conversation;
pub mod defaults;
pub mod notary;
pub mod outbox;
pub mod payload;
mod text;
