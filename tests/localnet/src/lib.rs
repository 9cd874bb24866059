//! A Solana cluster in one process, for a laptop with no network: Surfpool behind Solana's own RPC, with the
//! five zx1 programs, stand-ins for SATI and SAS at their real addresses, a USDC mint, funded wallets, a
//! state folder that outlives a kill, a clock that can be moved ahead, and the embedded Nano ledger.
//!
//! ```no_run
//! use zx1_localnet::Localnet;
//! # fn main() -> Result<(), zx1_localnet::LocalnetError> {
//! let net = Localnet::builder().port(0).start()?;
//! println!("{}", net.env().rpc_url);
//! net.travel_epochs(4)?;
//! net.stop()
//! # }
//! ```
//!
//! It is for tests and trials: anybody on this machine who can reach the control endpoint can move its clock
//! and make its money.

mod chain;
mod clock;
pub mod control;
mod error;
mod folder;
mod genesis;
mod ledger;
mod localnet;
mod nano;
mod ports;
mod programs;
mod wallets;

pub use error::LocalnetError;
pub use localnet::{Builder, DEFAULT_SLOT_TIME, Localnet, Restored};
pub use nano::{NANO_RPC_PORT, NANO_WS_PORT};
pub use ports::{CONTROL_PORT, RPC_PORT};
pub use zx1_fixtures::control::{Balance, Env, Fund, Jump, Refusal, Status, Wallet};
