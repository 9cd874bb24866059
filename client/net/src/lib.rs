//! Outbound HTTP with bounds.
//!
//! [`Endpoint`] parses the address of a server and decides whether it is this machine. [`Fetcher`] sends
//! requests to one endpoint: it follows no redirects, uses no proxy for this machine, and stops reading an
//! answer at the caller's limit while it streams, whatever length the server announces. With [`Targets::Public`] it goes
//! to the public internet only, for addresses that strangers name. [`Retry`] repeats
//! calls that the caller knows to be repeatable. [`Problem`] reads why a server refused.
//!
//! ```no_run
//! use zx1_net::{Endpoint, Fetcher, Limit, Options};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let fetcher = Fetcher::new(Endpoint::parse("https://market.example.org/api")?, Options::default())?;
//! let answer = fetcher.fetch(fetcher.get("/contracts?limit=10"), Limit::Whole(1 << 20)).await?;
//! println!("{}: {} bytes", answer.status, answer.body.len());
//! # Ok(())
//! # }
//! ```

mod endpoint;
#[cfg(feature = "fetch")]
mod fetch;
mod problem;
mod public;
#[cfg(feature = "fetch")]
mod retry;
mod text;

pub use endpoint::{Endpoint, EndpointError};
#[cfg(feature = "fetch")]
pub use fetch::{Answer, FetchError, Fetcher, Incoming, Limit, Options, Proxies, Targets};
pub use problem::{PROBLEM_JSON, Problem};
pub use public::is_public;
#[cfg(feature = "fetch")]
pub use public::public_addresses;
#[cfg(feature = "fetch")]
pub use reqwest::{Method, RequestBuilder, StatusCode, header};
#[cfg(feature = "fetch")]
pub use retry::{Retry, retry_after};
pub use text::{clause, deepest_cause, one_line, steers};
pub use url::{Url, form_urlencoded};
