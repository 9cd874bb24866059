//! Repairs of failing commands.
//!
//! - [`rules`]: the usual failures, repaired without any model.
//! - [`solver`]: a step machine that lets a model investigate and propose.
//!
//! Neither runs anything or asks anyone: the caller runs investigations, models and proposals.

pub mod defaults;
pub mod rules;
pub mod solver;
