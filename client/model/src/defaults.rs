//! Every default of this crate, one line each. Sizes are bytes.

use std::time::Duration;

use zx1_net::Retry;

/// Longest body that is read from a model's server.
pub const MAX_BODY: usize = 8 << 20;
/// Time for one answer, all attempts together.
pub const MODEL_TIMEOUT: Duration = Duration::from_secs(90);
/// Time to open a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Repetition of a call: on 408, 429, every 5xx and when no connection can be made.
pub const RETRY: Retry = Retry {
    attempts: 4,
    pause: Duration::from_millis(500),
    longest_pause: Duration::from_secs(8),
    within: None,
};
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
/// The free agent's models (fix.md, "Free contracts") by their names at OpenRouter. Names there change;
/// an operator's configuration comes first.
pub const FREE_MODELS: [&str; 4] = [
    "meta-llama/llama-3.3-70b-instruct:free",
    "deepseek/deepseek-r1:free",
    "google/gemma-3-27b-it:free",
    "qwen/qwen3-32b:free",
];
