//! What an agent takes, and how it behaves.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use zx1_market::contract::{Contract, Verification};
use zx1_market::{Case, PartyId, Raw, State};

use super::memory::Memory;
use super::mind::by_rules;

/// What an agent does when its fix was rejected for good, and when it loses in court.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", default, deny_unknown_fields)]
pub struct DisputePolicy {
    /// Dispute a rejection when the agent's own run of the fix, in a clean sandbox on the contract's input
    /// files, passes. Without such a proof it never disputes.
    pub with_proof: bool,
    /// Dispute when no verification comes at all for as long as the rules allow the principal.
    pub silence: bool,
    /// Appeal a lost ruling when there is a proof, up to this court: 0 never, 1 appeals, 2 supreme.
    pub appeal_to: u32,
    /// What appeals of one contract may cost in all, if they are lost too.
    pub appeal_budget: Raw,
}

impl Default for DisputePolicy {
    fn default() -> DisputePolicy {
        // The appeals court costs 0.05.
        DisputePolicy { with_proof: true, silence: true, appeal_to: 1, appeal_budget: Raw(Raw::XNO.0 / 20) }
    }
}

/// What an agent does with a contract that it took and cannot repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stuck {
    /// Back out: the contract reopens at once for others. After the grace period it costs 20 % of the bounty.
    #[default]
    BackOut,
    /// Let the attempts run out: it costs the agent nothing and the principal time and a fee.
    Wait,
}

/// An agent's configuration (fix.md, "Agents").
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The smallest bounty that is taken.
    pub min_bounty: Raw,
    /// The largest bounty that is taken: as much is at stake.
    pub max_bounty: Raw,
    /// Whether contracts without a judge are taken, which pay nothing (decision E3).
    pub free: bool,
    /// Whether contracts with a bounty are taken.
    pub paid: bool,
    /// How many contracts are worked on at once.
    pub at_once: usize,
    /// All deposits in running contracts together.
    pub max_at_stake: Raw,
    /// Whether the rules are asked first.
    pub rules: bool,
    /// Whether contracts that grant docker or sudo are taken. They are repaired without both, and no court
    /// can run them again. (A principal who is root does not thereby grant sudo.)
    pub privileged: bool,
    /// Whether contracts whose success only the principal can tell are taken.
    pub principal_verified: bool,
    /// Whether autonomous contracts are taken.
    pub autonomous: bool,
    /// Disputes and appeals.
    pub disputes: DisputePolicy,
    /// What happens when nothing is known any more.
    pub when_stuck: Stuck,
    /// How often a running contract is looked at, in milliseconds.
    pub poll_ms: u64,
    /// How often open contracts are listed without a stream, in milliseconds.
    pub discover_ms: u64,
    /// Whether the event stream is used.
    pub sse: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            min_bounty: Raw::ZERO,
            max_bounty: Raw(2 * Raw::XNO.0),
            free: true,
            paid: true,
            at_once: 4,
            max_at_stake: Raw(5 * Raw::XNO.0),
            rules: true,
            privileged: true,
            principal_verified: false,
            autonomous: true,
            disputes: DisputePolicy::default(),
            when_stuck: Stuck::default(),
            poll_ms: 500,
            discover_ms: 2_000,
            sse: true,
        }
    }
}

impl Config {
    /// The server's own free agent (decision E3): free contracts only, with a pool of models that rotates.
    /// When all of them are limited it declines, and the contract reopens for others.
    pub fn free_agent() -> Config {
        Config {
            paid: false,
            free: true,
            max_bounty: Raw::ZERO,
            max_at_stake: Raw::ZERO,
            ..Config::default()
        }
    }

    pub(super) fn poll(&self) -> Duration {
        Duration::from_millis(self.poll_ms.max(5))
    }
}

/// Why a contract is not taken, in a few words for the log.
pub type Pass = &'static str;

/// Whether an offer is wanted: state, money, capabilities, verification.
pub fn wants(config: &Config, case: &Case, me: PartyId) -> Result<(), Pass> {
    if case.state() != State::Open {
        return Err("it is not open");
    }
    let contract = case.contract();
    if case.principal() == me || case.terms().is_judge(&me) || case.terms().server == me {
        return Err("it is our own, or we would judge it");
    }
    if contract.is_free() {
        if !config.free {
            return Err("it pays nothing");
        }
    } else {
        if !config.paid {
            return Err("it needs a bond");
        }
        if contract.bounty < config.min_bounty {
            return Err("its bounty is too small");
        }
        if contract.bounty > config.max_bounty {
            return Err("its bounty is too large");
        }
    }
    capabilities(config, contract)
}

fn capabilities(config: &Config, contract: &Contract) -> Result<(), Pass> {
    if !config.autonomous && contract.is_autonomous() {
        return Err("it is autonomous");
    }
    if !config.privileged && (contract.capabilities.sudo || contract.capabilities.docker) {
        return Err("it grants sudo or docker");
    }
    if !config.principal_verified && contract.verification.contains(&Verification::Principal) {
        return Err("only the principal can tell its success");
    }
    if !contract.execution.sandbox {
        return Err("its fix would run without a sandbox");
    }
    Ok(())
}

/// Whether anything is known about it: a rule that recognises the failure, or a model that may be asked. An
/// agent that knows nothing does not even bond.
pub(super) fn knows(config: &Config, case: &Case, has_model: bool) -> Result<(), Pass> {
    if has_model || (config.rules && by_rules(case, &Memory::default()).is_some()) {
        Ok(())
    } else {
        Err("no rule knows the failure, and there is no model")
    }
}
