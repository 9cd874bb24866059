//! Language models behind one trait.
//!
//! [`Model`] is object safe: agents and judges hold an `Arc<dyn Model>`. Back ends: [`OpenAi`] for every
//! server that speaks OpenAI's chat completions (OpenRouter, llama.cpp, ollama, vLLM), [`Anthropic`] for the
//! messages API, [`Scripted`] for tests and demonstrations, [`Pool`] for several models in turn, and
//! [`crate::budget::Budgeted`] around any of them.
//!
//! Money is whole micro-USD (millionths of a dollar), always rounded up.

pub mod answer;
mod anthropic;
pub mod budget;
pub mod defaults;
mod error;
mod http;
mod key;
mod named;
mod openai;
mod pool;
mod price;
pub mod prompt;
mod scripted;

use futures_util::future::BoxFuture;

pub use anthropic::{Anthropic, AnthropicOptions};
pub use error::{ConfigError, ModelError};
pub use http::HttpOptions;
pub use key::ApiKey;
pub use named::{NameError, Named, named};
pub use openai::{OpenAi, OpenAiOptions, TokenField};
pub use pool::Pool;
pub use price::{Price, Spend, micro_usd_of_decimal};
pub use scripted::{Line, Scripted};
pub use zx1_net::{Proxies, Retry};

/// Who speaks in a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The program that asks.
    User,
    /// The model, earlier.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Message {
    /// Role of the author.
    pub role: Role,
    /// What was said.
    pub text: String,
}

impl Message {
    /// A message of the program.
    pub fn user(text: impl Into<String>) -> Message {
        Message { role: Role::User, text: text.into() }
    }

    /// A message of the model.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message { role: Role::Assistant, text: text.into() }
    }
}

/// One question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// System prompt. Only text of this program belongs here.
    pub system: String,
    /// The conversation; the last message is the program's.
    pub messages: Vec<Message>,
    /// Longest answer, in tokens.
    pub max_tokens: u32,
    /// In hundredths: 20 is 0.2. `None` leaves it to the server.
    pub temperature: Option<u8>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Whether the server shall be asked for JSON where it knows how.
    pub json: bool,
}

impl Request {
    /// A question with one message, at temperature 0.
    pub fn new(system: impl Into<String>, user: impl Into<String>, max_tokens: u32) -> Request {
        Request {
            system: system.into(),
            messages: vec![Message::user(user)],
            max_tokens,
            temperature: Some(0),
            stop: Vec::new(),
            json: false,
        }
    }

    /// The most tokens that the input can be: a token stands for at least one byte of text, and what a server
    /// puts around a message is covered by 64 tokens a message and 64 for the whole.
    pub fn input_tokens_at_most(&self) -> u64 {
        let bytes: usize = self.messages.iter().map(|m| m.text.len() + 64).sum();
        (bytes + self.system.len() + 128) as u64
    }

    /// The most tokens that the input and the answer can be.
    pub fn tokens_at_most(&self) -> u64 {
        self.input_tokens_at_most().saturating_add(u64::from(self.max_tokens))
    }
}

/// Tokens of one answer. Where a server reports nothing, the most that they can have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Tokens that were read, cached ones included.
    pub input: u64,
    /// Tokens that were written, thinking included.
    pub output: u64,
}

impl Usage {
    /// Tokens read and written together.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It was done, or came to a stop text.
    Done,
    /// It came to `max_tokens`: the text is cut.
    Length,
    /// Something else, or the server did not say.
    Other,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text. It was made from strangers' texts: read it with [`crate::answer`], never run it.
    pub text: String,
    /// Tokens that were used.
    pub usage: Usage,
    /// Cost in micro-USD, rounded up.
    pub micro_usd: u64,
    /// The model's name, as the server gave it; the configured one where it gave none.
    pub model: String,
    /// Why it stopped.
    pub finish: Finish,
}

/// A language model.
///
/// A future of [`Model::complete`] may be dropped at any time; the call then counts as made.
pub trait Model: Send + Sync {
    /// The model's name, for logs and rulings.
    fn name(&self) -> &str;

    /// The most that this call can cost: money, tokens and time. A budget reserves it before the call.
    fn worst_case(&self, request: &Request) -> Spend;

    /// Ask. Ends in the time that [`Model::worst_case`] names.
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Answer, ModelError>>;
}
