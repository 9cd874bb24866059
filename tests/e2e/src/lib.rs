//! The harness of the end-to-end tests: a local cluster in a process of its own ([`Localnet`]), a network
//! that fails on order ([`FaultProxy`]), the command line ([`Zx1`]), and agents with nodes of the mesh ([`Owner`]). Nothing here is part of the product.
//!
//! All of it is blocking and may be called from plain and from async tests. A helper panics where a test
//! would be wrong to go on: that is how a test fails.
#![allow(clippy::unwrap_used)]

mod cluster;
mod command;
mod fault;
mod hosting;
mod isolated;
mod node_js;
mod owner;
mod process;
mod runtime;

pub use cluster::{Builder, Localnet};
pub use command::{Output, Zx1};
pub use fault::{Fault, FaultProxy};
pub use hosting::{Hosting, Served};
pub use isolated::is_inside;
pub use node_js::{node_js, node_modules};
pub use owner::{NOWHERE, Owner, path, text, wait_for_mesh};
pub use process::{Running, binary, wait_until};
pub use zx1_fixtures::control::{Balance, Env, Fund, Jump, Refusal, Status, Wallet};
