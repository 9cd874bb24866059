//! The bounds of a contract (decision E2).

use std::ops::RangeInclusive;

use super::{Contract, Verification, inputs, spam};
use crate::defaults as d;
use crate::terms::Terms;
use crate::{Raw, Reason, Refusal, Result};

fn within(value: u32, range: RangeInclusive<u32>, reason: Reason, shown: impl ToString) -> Result<()> {
    if range.contains(&value) { Ok(()) } else { Err(Refusal::with(reason, shown)) }
}

fn span((low, high): (u32, u32)) -> (RangeInclusive<u32>, String) {
    (low..=high, format!("{low} to {high}"))
}

/// Check everything; the first violation is returned.
pub(super) fn contract(contract: &Contract, terms: &Terms) -> Result<()> {
    if contract.task.command.trim().is_empty() {
        return Err(Reason::ContractCommand.into());
    }
    if let Some(reason) = spam::spam_reason(&contract.task.command, &contract.task.error) {
        return Err(Refusal::with(Reason::ContractSpam, reason));
    }
    money(contract, terms)?;
    if let Some(windows) = &contract.execution.windows {
        windows.check(terms)?;
    }
    let grace = contract.windows(terms).grace.as_secs();
    if contract.grace_period.is_some_and(|period| period != grace) {
        return Err(Refusal::with(Reason::ContractGrace, grace));
    }
    if contract.court.is_some_and(|court| court != terms.court) {
        return Err(Reason::ContractCourt.into());
    }
    let e = &contract.execution;
    within(e.max_attempts, 1..=d::MAX_ATTEMPTS, Reason::ContractAttempts, d::MAX_ATTEMPTS)?;
    let rounds = d::MAX_INVESTIGATION_ROUNDS;
    within(e.investigation_rounds, 0..=rounds, Reason::ContractRounds, rounds)?;
    let rate = d::MAX_INVESTIGATION_RATE;
    within(e.investigation_rate, 0..=rate, Reason::ContractRate, rate)?;
    let (range, shown) = span(d::TIMEOUT_RANGE);
    within(e.timeout, range, Reason::ContractTimeout, shown)?;
    let (range, shown) = span(d::REVIEW_WINDOW_RANGE);
    within(e.review_window, range, Reason::ContractReviewWindow, shown)?;
    for verification in &contract.verification {
        if let Verification::OutputMatch { pattern: text } = verification {
            pattern(text)?;
        }
    }
    inputs::check(&contract.task.inputs)
}

fn money(contract: &Contract, terms: &Terms) -> Result<()> {
    let fees = &terms.fees;
    let Some(judge) = &contract.judge else {
        // Older clients send a bounty in free mode too; it is not escrowed (wire.md, "Market HTTP",
        // `no_escrow`).
        let zero = contract.bounty == Raw::ZERO || terms.compat;
        return if zero { Ok(()) } else { Err(Reason::ContractFreeBounty.into()) };
    };
    if judge.pubkey != terms.server {
        return Err(Refusal::with(Reason::ContractJudgeKey, terms.server));
    }
    if judge.fee != fees.judge_fee {
        return Err(Refusal::with(Reason::ContractJudgeFee, fees.judge_fee.xno()));
    }
    if contract.bounty < fees.min_bounty {
        return Err(Refusal::with(Reason::ContractBountyLow, fees.min_bounty.xno()));
    }
    if contract.bounty > fees.max_bounty {
        return Err(Refusal::with(Reason::ContractBountyHigh, fees.max_bounty.xno()));
    }
    Ok(())
}

/// Compile a pattern: no back references, so it matches in linear time, and bounded memory.
pub(super) fn pattern(text: &str) -> Result<regex::Regex> {
    let compiled = regex::RegexBuilder::new(text)
        .size_limit(d::MAX_PATTERN_MEMORY)
        .dfa_size_limit(d::MAX_PATTERN_MEMORY)
        .nest_limit(32)
        .build();
    compiled.map_err(|error| {
        // The library's message is a drawing of several lines; its last one says what is wrong.
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
        Refusal::with(Reason::ContractPattern, last)
    })
}
