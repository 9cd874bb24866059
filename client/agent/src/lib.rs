//! The fix agent: rules and models that repair failing commands, judges, and the loop that earns with them.
//!
//! - [`rules`]: repairs the usual failures without any model.
//! - [`model`]: language models behind one trait: any OpenAI-compatible server, Anthropic, a script for tests
//!   and demonstrations, and the rotating pool of free models (decision E3).
//! - [`budget`]: what models may cost in money, tokens and time; checked before every call, on by default.
//! - [`prompt`]: prompts in which every party's text is fenced as data (decision E6).
//! - [`answer`]: the strict reader of what a model says: one JSON object, or nothing.
//! - [`solver`]: a step machine that lets a model repair a failing command.
//! - [`client`]: the market's HTTP client, for principals, agents and judges.
//! - [`bridge`]: a contract's 0x01 envelopes in the party's log (decision G1).
//! - [`judge`]: the three courts (spec, "Three-tier court system"; decisions E5, E6).
//! - [`courtroom`]: a judge's process: re-execution first, then the ruling.
//! - [`worker`]: the agent: finds contracts, bonds, investigates, repairs, is paid.
//!
//! # Numbers of errors
//!
//! | numbers | errors |
//! |---|---|
//! | 9300-9309 | the rules |
//! | 9310-9329 | [`model::ModelError`] |
//! | 9330-9339 | [`model::ConfigError`] |
//! | 9340-9349 | [`budget::BudgetError`] |
//! | 9350-9359 | [`prompt::PromptError`], [`answer::AnswerError`] |
//! | 9361-9367 | [`judge::CourtError`], [`judge::RuleError`] |
//! | 9368-9387 | [`client::ClientError`] |
//! | 9388-9392 | [`worker::WorkError`] |
//! | 9393-9399 | [`bridge::BridgeError`] |

pub mod answer;
pub mod bridge;
pub mod budget;
pub mod client;
pub mod courtroom;
pub mod defaults;
mod files;
pub mod judge;
pub mod model;
pub mod prompt;
pub mod rules;
pub mod solver;
pub mod worker;
