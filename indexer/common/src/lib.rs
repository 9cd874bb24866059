//! What the market's server and the indexer have in common. It knows nothing of contracts or chains: numbers
//! and sentences of refusals are the servers' own.
//!
//! | module | what it holds |
//! |---|---|
//! | [`serve`] | connections: how many, how slow, and how they end |
//! | [`limits`] | rates, seats for streams, whose request it is |
//! | [`body`] | bodies within their bounds of size and time, in memory or in a file |
//! | [`answer`], [`problem`], [`query`], [`openapi`] | answers, refusals, parameters, the description of an interface |
//! | [`browser`] | other origins, compression |
//! | [`topics`] | the ring behind every stream: the newest events, and followers who may be slow |
//! | [`hub`], [`reader`] | a stream of events for many subscribers who may resume |
//! | [`bus`] | topics and leases that processes share: in memory, or through NATS |
//! | [`figures`] | what every server counts |
//! | [`config`], [`process`], [`jobs`] | a file of settings; a process from its start to its stop |
//! | `testing` | a Postgres of a test's own; answers against their schema (feature `testing`) |

pub mod answer;
pub mod body;
pub mod browser;
pub mod bus;
pub mod config;
pub mod figures;
pub mod hub;
pub mod jobs;
pub mod limits;
pub mod openapi;
pub mod problem;
pub mod process;
pub mod query;
pub mod reader;
pub mod serve;
#[cfg(feature = "testing")]
pub mod testing;
pub mod topics;
