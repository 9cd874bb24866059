//! What a program that uses the agent as a library can hear and decide.

use zx1_market::ContractId;
use zx1_market::counts::FixCounts;
use zx1_market::{Case, State};

use super::{Announced, WorkError};

/// A fix that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedFix {
    /// The shell command.
    pub fix: String,
    /// For people and judges.
    pub explanation: String,
    /// What is verified in place of the contract's command.
    pub corrected_command: Option<String>,
}

/// Callbacks of an agent (fix.md, "Agents"). They are called on the agent's own tasks: be quick, and hand
/// long work to other threads. All do nothing by default.
pub trait Hooks: Send + Sync {
    /// A wanted contract was found. `principal`: the fixes that its principal has received in contracts of this kind,
    /// free or paid, if the market counts them. `false`: leave it.
    fn on_contract_found(&self, case: &Case, principal: Option<FixCounts>) -> bool {
        let _ = (case, principal);
        true
    }

    /// A contract was announced, and is looked at now.
    fn on_announced(&self, announced: &Announced) {
        let _ = announced;
    }

    /// A contract of another market was announced. It is left, and said once for each market.
    fn on_strange_market(&self, announced: &Announced) {
        let _ = announced;
    }

    /// A fix was chained.
    fn on_fix_submitted(&self, contract: ContractId, fix: &SubmittedFix) {
        let _ = (contract, fix);
    }

    /// A contract that was ours has ended, or is ours no longer.
    fn on_ended(&self, contract: ContractId, state: State) {
        let _ = (contract, state);
    }

    /// Something went wrong with a contract, or with finding contracts.
    fn on_error(&self, contract: Option<ContractId>, error: &WorkError) {
        let _ = (contract, error);
    }
}

/// Hooks that do nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}
