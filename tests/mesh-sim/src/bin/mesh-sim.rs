//! Runs the simulation.

fn main() {}
