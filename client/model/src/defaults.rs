//! Every default of this crate, one line each. Sizes are bytes.

use std::time::Duration;

use crate::budget::{Caps, Limits};

/// Longest body that is read from a model's server.
pub const MAX_BODY: usize = 8 << 20;
/// Time for one answer, all attempts together.
pub const MODEL_TIMEOUT: Duration = Duration::from_secs(90);
/// Time to open a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Attempts for one answer: the first and three more.
pub const MODEL_ATTEMPTS: u32 = 4;
/// First pause before another attempt; it doubles.
pub const RETRY_BASE: Duration = Duration::from_millis(500);
/// Longest pause before another attempt, unless the server asks for more.
pub const RETRY_CAP: Duration = Duration::from_secs(8);
/// How long a limited model of a pool rests when the server does not say.
pub const POOL_REST: Duration = Duration::from_secs(60);
/// How long a model of a pool rests that failed, but is not limited.
pub const POOL_REST_AFTER_FAILURE: Duration = Duration::from_secs(15);
/// How long a model of a pool rests that does not exist or takes no key of ours.
pub const POOL_REST_WHEN_DENIED: Duration = Duration::from_secs(3600);
/// Longest rest that a server can ask for.
pub const POOL_REST_CAP: Duration = Duration::from_secs(24 * 3600);

/// The base URL of OpenRouter.
pub const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";
/// The base URL of OpenAI.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";
/// The base URL of Anthropic.
pub const ANTHROPIC_URL: &str = "https://api.anthropic.com";
/// The base URL of llama.cpp's server on this machine.
pub const LLAMA_CPP_URL: &str = "http://127.0.0.1:8080/v1";
/// The base URL of ollama on this machine.
pub const OLLAMA_URL: &str = "http://127.0.0.1:11434/v1";
/// The free agent's models (spec, "Free-mode contracts") by their names at OpenRouter. Names there change;
/// an operator's configuration comes first.
pub const FREE_MODELS: [&str; 4] = [
    "meta-llama/llama-3.3-70b-instruct:free",
    "deepseek/deepseek-r1:free",
    "google/gemma-3-27b-it:free",
    "qwen/qwen3-32b:free",
];

/// What models may cost: 0.50 USD, 1 million tokens and 10 minutes a contract; 5 USD, 20 million tokens and
/// 6 hours a day. One bounty is rarely worth more than its contract's cap.
pub const BUDGET: Limits = Limits {
    per_contract: Caps { micro_usd: 500_000, tokens: 1_000_000, millis: 600_000 },
    per_day: Caps { micro_usd: 5_000_000, tokens: 20_000_000, millis: 21_600_000 },
};
