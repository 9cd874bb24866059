//! The embedded ledger: Nano's dev network in one process (decision F6).
//!
//! It is a real ledger and no mock: it checks hashes, signatures, work, balances, forks and receivables as a
//! node does, in a node's order and with a node's words, keeps its blocks on disk, and answers the same RPC
//! and websocket. What it leaves out is the network: nobody votes, blocks become final by the clock. It holds
//! play money only; its genesis key is public.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use nano_devnet::{Devnet, Effect, FaultRule, On};
//! use nano_escrow::{Raw, Seed};
//!
//! let devnet = Devnet::builder().start().await?;
//! let alice = Seed::from_bytes([1; 32]).wallet_key(0);
//! devnet.faucet(alice.address(), Raw::XNO).await?;
//! println!("point a client at {} and {}", devnet.rpc_url(), devnet.ws_url());
//! // The next published block is added, but its sender never hears of it.
//! devnet.faults().add(FaultRule::once(On::action("process"), Effect::LoseAnswer { ms: 0 }));
//! devnet.stop().await?;
//! # Ok(())
//! # }
//! ```

mod builder;
mod control;
mod doors;
mod error;
mod faults;
mod handle;
pub mod ledger;
mod node;
mod options;
mod refusal;
mod rpc;
mod server;
mod store;
mod unchecked;
mod writer;
mod ws;

pub use builder::Builder;
pub use error::DevnetError;
pub use faults::{Effect, FaultId, FaultRule, FaultState, On, RivalKey};
pub use handle::{Devnet, Faults};
pub use ledger::{
    Account, AccountAudit, Audit, Block, Entry, Epoch, Genesis, Kind, Ledger, Receivable, RollbackError,
};
pub use options::{Confirm, Dialect, ForkRule, Order};
pub use refusal::Refusal;
