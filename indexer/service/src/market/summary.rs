//! A contract in the shape in which lists show it.

use super::payments::Payment;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use zx1_market::counts::FixCounts;

/// A contract as it is stored and shown. Times are Unix milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct Summary {
    pub(super) id: String,
    /// the URL of the market
    pub(super) market: String,
    pub(super) server: Option<String>,
    pub(super) state: String,
    pub(super) principal: String,
    pub(super) agent: Option<String>,
    /// fixes that the principal has received at this market in contracts of this kind, free or paid, when this one
    /// changed last; null when the market does not count them
    #[schema(value_type = Option<Fixes>)]
    pub(super) principal_fixes: Option<FixCounts>,
    /// fixes that the agent has proposed, likewise
    #[schema(value_type = Option<Fixes>)]
    pub(super) agent_fixes: Option<FixCounts>,
    /// the bounty in XNO, as a decimal number
    pub(super) bounty: Option<String>,
    pub(super) bounty_raw: Option<String>,
    pub(super) created_at: i64,
    pub(super) updated_at: i64,
    pub(super) closing_at: Option<u64>,
    pub(super) review_expires_at: Option<u64>,
    /// when the rules act next
    pub(super) deadline: Option<u64>,
    pub(super) chain_head: Option<String>,
    pub(super) entries: usize,
    /// whether the transcript holds; null while strangers see none
    pub(super) verified: Option<bool>,
    pub(super) verify_error: Option<String>,
    pub(super) conversation: Option<String>,
    pub(super) task: String,
    #[schema(value_type = Vec<EscrowAccount>)]
    pub(super) escrow: Vec<Value>,
    /// what the rules and the market say is paid out, in the order of payment
    pub(super) payments: Vec<Payment>,
    /// when the agent that has it took it, as far as strangers see it
    pub(super) taken_at: Option<u64>,
    /// when the accepted fix came
    pub(super) repaired_at: Option<u64>,
    /// milliseconds from the opening to the accepted fix
    pub(super) repaired_ms: Option<i64>,
    /// whether the agent repaired it; null before the end, without an agent, and where nobody could say
    pub(super) success: Option<bool>,
    /// what the agent was paid out of the principal's deposit, in raw; null before the first payment
    pub(super) earned_raw: Option<String>,
}

/// A party's fixes, as a market counts them.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Fixes {
    pub(super) fixes: u64,
    /// of these: passed in the principal's sandbox and failed on its machine
    pub(super) failed_outside: u64,
}

/// An escrow account as the Nano node shows it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct EscrowAccount {
    pub(super) account: String,
    pub(super) balance_raw: Option<String>,
    pub(super) receivable_raw: Option<String>,
}
