//! What can go wrong with a model.

use std::time::Duration;

use zx1_coded::Coded;

/// Why a model gave no answer. None of the texts holds a key; what a server said is cut to 300 bytes and its
/// non-printing characters are made visible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum ModelError {
    /// The server limits us.
    #[code(9310, transient)]
    #[error("The model's server limits our rate{}. Ask later, or use another model.", wait(.retry_after))]
    RateLimited {
        /// How long the server asks us to wait.
        retry_after: Option<Duration>,
    },
    /// Every model of a pool rests.
    #[code(9311, transient)]
    #[error(
        "All models of the pool are limited; the first is free in {} s. Decline the contract, or add models \
         to the pool.", .retry_after.as_secs()
    )]
    AllLimited {
        /// When the first model is free again.
        retry_after: Duration,
    },
    /// The model or its server would not answer this.
    #[code(9312)]
    #[error("The model refused to answer: {why}. Decline the contract, or use another model.")]
    Refused {
        /// What it said.
        why: String,
    },
    /// A budget's cap is reached.
    #[code(9313)]
    #[error("{why}")]
    OverBudget {
        /// The sentence of [`crate::budget::BudgetError`].
        why: String,
    },
    /// The server's answer is not what its API promises.
    #[code(9314)]
    #[error("The model's server sent what its API does not allow: {why}. Check the base URL.")]
    Malformed {
        /// What is wrong.
        why: String,
    },
    /// The prompt is too long for the model.
    #[code(9315)]
    #[error("The prompt is too long for the model: {why}. Use a model with a longer context.")]
    TooLong {
        /// What the server said.
        why: String,
    },
    /// The body is larger than is read.
    #[code(9316)]
    #[error("The model's server sent more than {limit} bytes, which were not read. Check the base URL.")]
    BodyTooLarge {
        /// The bound in bytes.
        limit: usize,
    },
    /// No answer in time.
    #[code(9317, transient)]
    #[error("The model did not answer within {} ms. Ask again, or allow more time.", .after.as_millis())]
    TimedOut {
        /// The time that it had.
        after: Duration,
    },
    /// The connection failed before the question was sent.
    #[code(9318, transient)]
    #[error("The model's server cannot be reached: {why}. Check the base URL and the proxy variables.")]
    Unreachable {
        /// Reason of the failure.
        why: String,
    },
    /// The connection failed after the question was sent.
    #[code(9324, transient)]
    #[error("The connection broke before the whole answer was there: {why}. Ask again.")]
    Broken {
        /// Reason of the failure.
        why: String,
    },
    /// The server is in trouble.
    #[code(9319, transient)]
    #[error("The model's server answered {status}: {why}. Ask again later.")]
    Unavailable {
        /// The HTTP status, or the number in the body.
        status: u16,
        /// What it said.
        why: String,
    },
    /// The server does not take our key, or wants money.
    #[code(9320)]
    #[error("The model's server answered {status}: {why}. Check the key and the account's credit.")]
    Denied {
        /// The HTTP status.
        status: u16,
        /// What it said.
        why: String,
    },
    /// The server does not take this request.
    #[code(9321)]
    #[error("The model's server answered {status}: {why}. Check the model's name and its options.")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// What it said.
        why: String,
    },
    /// The server sends us elsewhere. The key is not sent there.
    #[code(9322)]
    #[error(
        "The model's server answered {status}, a redirect, which is never followed. Correct the base URL."
    )]
    Redirected {
        /// The HTTP status.
        status: u16,
    },
    /// A script has no more lines.
    #[code(9323)]
    #[error("The scripted model has no more lines. Add one for each call.")]
    ScriptEnded,
}

fn wait(after: &Option<Duration>) -> String {
    after.map(|d| format!(" for {} s", d.as_secs())).unwrap_or_default()
}

impl ModelError {
    /// Whether the question may have been answered, and so paid for, although no answer arrived. A budget
    /// then counts the whole reservation.
    pub fn may_have_cost(&self) -> bool {
        matches!(
            self,
            Self::TimedOut { .. }
                | Self::Broken { .. }
                | Self::Malformed { .. }
                | Self::BodyTooLarge { .. }
                | Self::Refused { .. }
        )
    }
}

/// Why a model cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum ConfigError {
    /// The base URL is not one.
    #[code(9330)]
    #[error("The model's base URL is not usable: {why}. Give an http or https URL without user and query.")]
    Url {
        /// What is wrong.
        why: String,
    },
    /// A key would travel in the clear.
    #[code(9331)]
    #[error("The key would travel unencrypted to {host}. Use https, or a server on this machine.")]
    PlainKey {
        /// Host of the server.
        host: String,
    },
    /// The environment has no key.
    #[code(9332)]
    #[error("The environment variable {name} holds no key. Set it to the key of the model's server.")]
    NoKey {
        /// Name of the variable.
        name: String,
    },
    /// The key has bytes that no key has.
    #[code(9333)]
    #[error(
        "The key has characters that cannot stand in a header, or is longer than 4096 bytes. Copy it again."
    )]
    BadKey,
    /// The model's name is empty or too long.
    #[code(9334)]
    #[error(
        "The model's name is empty, longer than 200 bytes, or not printable. Give the name its server knows."
    )]
    ModelName,
    /// The HTTP client cannot be made.
    #[code(9335)]
    #[error(
        "The HTTP client cannot be made: {why}. Check the system's certificates and the proxy variables."
    )]
    Client {
        /// What is wrong.
        why: String,
    },
    /// A pool of nothing.
    #[code(9336)]
    #[error("The pool has no models. Name at least one.")]
    EmptyPool,
    /// A key file cannot be used.
    #[code(9338)]
    #[error("The model's key file {path} cannot be used: {why}.")]
    KeyFile {
        /// Path of the file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// A script cannot be read.
    #[code(9337)]
    #[error("The script cannot be read: {why}. Give a JSON list of texts.")]
    Script {
        /// What is wrong.
        why: String,
    },
}
