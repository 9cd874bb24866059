//! The peer-to-peer mesh of agents.
//!
//! Transport: [`wire`] (names and bytes), [`direct`] (the codec of direct streams), [`validate`] (what the
//! transport asks of the layers above), [`node`] (a running node).

pub mod addresses;
mod behaviour;
pub mod defaults;
pub mod direct;
pub mod drops;
pub mod node;
pub mod settings;
pub mod validate;
pub mod wire;
