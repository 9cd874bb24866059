//! Models, budgets, prompts, the solver and the judges.

#![allow(clippy::unwrap_used)]

mod budget;
mod fuzz;
mod http;
mod injection;
mod judge;
mod pool;
mod server;
mod solver;
