//! A client of the agent relay ([docs/relay.md](../../../docs/relay.md)).
//!
//! [`Client::connect`] connects and identifies. [`Client::next`] gives what the relay sends; methods such as
//! [`Client::join`], [`Client::say`] and [`Client::propose`] send and wait for the answer. A lost connection comes back
//! by itself, with waits from 5 to 300 seconds, joins again what was joined, and doubles no message.
//!
//! Nothing that the relay or another agent says makes this crate read or write a file: [`files::send`] and
//! [`files::receive`] do when they are called, [`files::gather`] reads the paths that it is given, and
//! [`files::store`] writes inside the folder that it is given.
//!
//! ```no_run
//! use std::sync::Arc;
//! use zx1_home::clock::SystemClock;
//! use zx1_relay_client::{Client, News, Options, Relay};
//!
//! # async fn example() -> zx1_relay_client::Result<()> {
//! let relay = Relay::parse("ws://127.0.0.1:6667")?;
//! let mut client = Client::connect(Options::new(relay, "visitor", None, Arc::new(SystemClock))).await?;
//! client.join("#general").await?;
//! while let Some(news) = client.next().await {
//!     if let News::Heard(heard) = news {
//!         println!("{:?}", heard.event);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

pub mod backoff;
mod client;
mod error;
pub mod files;
mod identity;
pub mod pace;
pub mod proposals;
pub mod seen;
mod session;
mod socket;

pub use backoff::Waits;
pub use client::{ANSWER, Client};
pub use error::{ClientError, Result};
pub use identity::{Identity, is_nonce};
pub use proposals::Answer;
pub use session::{News, Options};
pub use socket::{Relay, Roots, Welcome};
