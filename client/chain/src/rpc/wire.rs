//! The few shapes of Solana's JSON-RPC that this client reads. Everything in them comes from outside.

use serde::Deserialize;
use serde_json::Value;
use solana_rpc_client_api::response::UiAccount;
use solana_transaction_status_client_types::UiTransactionError;

/// An answer with the slot it is about.
#[derive(Debug, Deserialize)]
pub(crate) struct WithContext<T> {
    pub(crate) context: Context,
    pub(crate) value: T,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Context {
    pub(crate) slot: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct KeyedAccount {
    pub(crate) pubkey: String,
    pub(crate) account: UiAccount,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Blockhash {
    pub(crate) blockhash: String,
    pub(crate) last_valid_block_height: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Simulated {
    pub(crate) err: Option<UiTransactionError>,
    pub(crate) logs: Option<Vec<String>>,
    pub(crate) units_consumed: Option<u64>,
    pub(crate) inner_instructions: Option<Vec<Inner>>,
}

/// Calls of one top-level instruction. Nodes answer a simulation in parsed form and a landed transaction in
/// compiled form, so each call is looked at as it comes.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Inner {
    pub(crate) index: u8,
    pub(crate) instructions: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    pub(crate) slot: u64,
    pub(crate) confirmations: Option<u64>,
    pub(crate) err: Option<UiTransactionError>,
    pub(crate) confirmation_status: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EpochInfo {
    pub(crate) absolute_slot: u64,
    pub(crate) block_height: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrioritizationFee {
    pub(crate) prioritization_fee: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LargestAccount {
    pub(crate) address: String,
    pub(crate) amount: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignatureLine {
    pub(crate) signature: String,
    pub(crate) slot: u64,
    pub(crate) err: Option<UiTransactionError>,
    pub(crate) block_time: Option<i64>,
}

/// A landed transaction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Landed {
    pub(crate) slot: u64,
    pub(crate) block_time: Option<i64>,
    /// Base64 and the word for it.
    pub(crate) transaction: (String, String),
    pub(crate) meta: Option<Meta>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meta {
    pub(crate) err: Option<UiTransactionError>,
    pub(crate) fee: u64,
    #[serde(default)]
    pub(crate) pre_balances: Vec<u64>,
    #[serde(default)]
    pub(crate) post_balances: Vec<u64>,
    pub(crate) inner_instructions: Option<Vec<Inner>>,
    pub(crate) log_messages: Option<Vec<String>>,
    pub(crate) pre_token_balances: Option<Vec<TokenBalance>>,
    pub(crate) post_token_balances: Option<Vec<TokenBalance>>,
    pub(crate) loaded_addresses: Option<Loaded>,
    pub(crate) compute_units_consumed: Option<u64>,
}

/// Of which mint a token account is; the amounts are read from the transfers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenBalance {
    pub(crate) account_index: u8,
    pub(crate) mint: String,
}

/// Addresses that lookup tables gave.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) writable: Vec<String>,
    pub(crate) readonly: Vec<String>,
}
