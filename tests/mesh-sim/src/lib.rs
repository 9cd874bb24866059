//! The mesh, simulated.
