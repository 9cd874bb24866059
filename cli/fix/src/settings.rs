//! The settings of `fix`: their names in config.toml, in the environment and on the command line, and what they may be.

use nano_escrow::Raw;
use zx1_home::config::Key;
use zx1_model::{Named, Price, micro_usd_of_decimal};
use zx1_net::Endpoint;

/// Where contracts are posted.
pub const MARKET: Key = Key::new("server", "FIX_SERVER", "--server").explained(
    "URL of the market",
    "an http or https URL without user and query",
    |text| Endpoint::parse(text).is_ok(),
);
/// What a fix of the market pays.
pub const BOUNTY: Key = Key::new("bounty", "FIX_BOUNTY", "--bounty").explained(
    "Bounty for a fix of the market",
    "an amount of XNO, such as 0.5",
    |text| Raw::from_xno(text.trim()).is_ok(),
);
/// The user's own model.
pub const MODEL: Key = Key::new("model", "FIX_MODEL", "--model").explained(
    "Your language model, asked when no rule knows a failure",
    "rules (none), openai:MODEL@URL, openrouter:MODEL, anthropic:MODEL or script:FILE",
    |text| Named::parse(text).is_ok(),
);
/// The model's price, for its budget.
pub const MODEL_PRICE: Key = Key::new("model_price", "FIX_MODEL_PRICE", "model_price").explained(
    "Its price, for the budget",
    "dollars per million tokens read and written, such as 3/15",
    |text| Price::parse(text).is_some(),
);
/// What it may cost in a day.
pub const MODEL_BUDGET: Key = Key::new("model_budget", "FIX_MODEL_BUDGET", "model_budget").explained(
    "What it may cost per day; 1 if unset",
    "an amount of dollars, such as 0.50",
    |text| micro_usd_of_decimal(text).is_some(),
);
/// Tokens that it may use in a day.
pub const MODEL_TOKENS: Key = Key::new("model_tokens", "FIX_MODEL_TOKENS", "model_tokens").explained(
    "Tokens that it may use per day; 2000000 if unset",
    "a number",
    |text| text.parse::<u64>().is_ok(),
);
/// File with its key.
pub const MODEL_KEY: Key = Key::new("model_key", "FIX_MODEL_KEY", "model_key").explained(
    "File with its key, readable only by you, in place of the environment's variable",
    "a path",
    |text| !text.is_empty(),
);
/// A Nano node.
pub const NODE: Key = Key::new("wallet.node", "FIX_NANO_NODE", "--node").explained(
    "RPC URL of the wallet's Nano node",
    "any text",
    |_| true,
);
/// The Nano network of that node.
pub const NETWORK: Key = Key::new("wallet.network", "FIX_NANO_NETWORK", "--network").explained(
    "Nano network of the wallet",
    "live, beta, dev or test",
    |text| matches!(text, "live" | "beta" | "dev" | "test"),
);
/// The representative of the wallet's accounts.
pub const REPRESENTATIVE: Key = Key::new("wallet.representative", "", "--representative").explained(
    "Representative of the wallet's accounts",
    "an address that begins with nano_",
    |text| text.starts_with("nano_"),
);
/// The cluster of the agent ids.
pub const CLUSTER: Key = Key::new("zx1.cluster", "FIX_CLUSTER", "--cluster").explained(
    "Solana cluster of your agent id",
    "any text",
    |_| true,
);
/// As FIX_KEY, the variable names the principal's.
pub const PRINCIPAL_ID: Key = Key::new("zx1.principal", "FIX_AGENT_ID", "--agent-id").explained(
    "Agent id of your key",
    "any text",
    |_| true,
);
/// The agent's agent id.
pub const AGENT_ID: Key =
    Key::new("zx1.agent", "", "--agent-id").explained("Agent id of the agent's key", "any text", |_| true);
/// The judge's agent id.
pub const JUDGE_ID: Key =
    Key::new("zx1.judge", "", "--agent-id").explained("Agent id of the judge's key", "any text", |_| true);
/// The key that signs deals.
pub const DEAL_KEY: Key = Key::new("zx1.deal_key", "FIX_DEAL_KEY", "--deal-key").explained(
    "Key file that signs deals",
    "a path",
    |_| true,
);

/// All settings that have one value, in the order in which they are listed.
pub const KEYS: [&Key; 15] = [
    &MODEL,
    &MODEL_PRICE,
    &MODEL_BUDGET,
    &MODEL_TOKENS,
    &MODEL_KEY,
    &MARKET,
    &BOUNTY,
    &NODE,
    &NETWORK,
    &REPRESENTATIVE,
    &PRINCIPAL_ID,
    &AGENT_ID,
    &JUDGE_ID,
    &DEAL_KEY,
    &CLUSTER,
];

/// The setting of this name.
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.into_iter().find(|key| key.name == name)
}
