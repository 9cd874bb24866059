//! The mesh under thousands of agents and their attackers, as discrete events from a seed.
//!
//! Real are the rules of `zx1-mesh`: the gate with signed envelopes, rates, replay windows, the intake with its lookups,
//! the tables of scores and meshes, and those of notaries. Simulated are links, gossipsub's forwarding, and the cluster.
//! `docs/mesh-simulation.md` says what follows for the results.
//!
//! * [`setup`], [`scenario`]: what is run, and what must hold
//! * [`sim`]: a run
//! * [`judge`], [`full`], [`ruling`]: what nodes decide
//! * [`network`], [`scores`], [`spread`], [`agents`]: what they decide upon
//! * [`cartel`]: notaries, and those that conspire
//! * [`calibrate`]: the same with real nodes
//! * [`outcome`], [`report`]: what comes of it

pub mod agents;
pub mod calibrate;
pub mod cartel;
pub mod full;
pub mod judge;
pub mod network;
pub mod outcome;
pub mod queue;
pub mod random;
pub mod report;
pub mod ruling;
pub mod scenario;
pub mod scores;
pub mod setup;
pub mod sim;
pub mod spread;
