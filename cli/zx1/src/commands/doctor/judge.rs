//! The verdicts of doctor: pure functions, one for each check, so that every state of an agent is tested
//! without a cluster.

use crate::amount;
use crate::errors::Failure;
use crate::output::{Mark, Page, Report};
use crate::words::{self, count, duration, slots};
use crate::{defaults, settings};
use serde::Serialize;
use solana_address::Address;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_operator::defaults::LOW_LAMPORTS;
use zx1_operator::facts::{LeaseReport, StakeReport};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// Checks of the agent's accounts. They are skipped when there is no agent.
pub(super) const OF_AGENT: [&str; 4] = ["stake", "lease", "batch", "challenges"];
/// Checks that need the cluster. They are skipped when it does not answer.
const OF_CLUSTER: [&str; 5] = ["programs", "clock", "SOL", "USDC", "agent"];

/// One line of doctor's report: what was checked, how it stands, and the command that helps.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) mark: Mark,
    pub(super) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
}

/// All checks of a run, with the number of failures and warnings.
#[derive(Debug, Default, Serialize)]
pub(super) struct Checks {
    pub(super) failed: usize,
    pub(super) warned: usize,
    pub(super) checks: Vec<Check>,
}

impl Checks {
    pub(super) fn add(&mut self, mark: Mark, name: &'static str, found: impl Into<String>, next: &str) {
        match mark {
            Mark::Fail => self.failed = self.failed.saturating_add(1),
            Mark::Warn => self.warned = self.warned.saturating_add(1),
            Mark::Ok | Mark::Skip => {}
        }
        let next = (!next.is_empty()).then(|| next.to_owned());
        self.checks.push(Check { name, mark, found: found.into(), next });
    }

    pub(super) fn ok(&mut self, name: &'static str, found: impl Into<String>) {
        self.add(Mark::Ok, name, found, "");
    }

    pub(super) fn warn(&mut self, name: &'static str, found: impl Into<String>, next: &str) {
        self.add(Mark::Warn, name, found, next);
    }

    pub(super) fn fail(&mut self, name: &'static str, found: impl Into<String>, next: &str) {
        self.add(Mark::Fail, name, found, next);
    }

    /// What a refusal says, under its own next step.
    pub(super) fn failure(&mut self, name: &'static str, failure: &Failure) {
        let found = failure.message.trim_end_matches('.');
        self.fail(name, found, failure.next.as_deref().unwrap_or_default());
    }

    pub(super) fn skip(&mut self, names: &[&'static str], why: &str) {
        for name in names {
            self.add(Mark::Skip, name, format!("not looked at: {why}"), "");
        }
    }
}

impl Report for Checks {
    fn draw(&self, page: &mut Page) {
        for check in &self.checks {
            page.check(check.mark, check.name, &check.found, check.next.as_deref());
        }
        let failed = count(self.failed, "check failed", "checks failed");
        let warned = count(self.warned, "warning", "warnings");
        page.blank();
        match (self.failed, self.warned) {
            (0, 0) => page.line("All is well."),
            (0, _) => page.line(format!("Everything works; {warned}.")),
            (_, 0) => page.line(format!("{failed}.")),
            _ => page.line(format!("{failed}, {warned}.")),
        };
    }
}

/// The key file, or why there is none.
pub(super) fn key(found: Result<(Address, &str, bool), &Failure>, checks: &mut Checks) {
    match found {
        Ok((address, path, true)) => checks.ok("key", format!("{address} in {path}")),
        Ok((address, path, false)) => {
            let found = format!("{address} in {path}; others on this machine can read it");
            checks.warn("key", found, &format!("chmod 600 {path}"));
        }
        Err(failure) => checks.failure("key", failure),
    }
}

/// A cluster that did not answer, or not as one.
pub(super) fn no_cluster(failure: &Failure, source: &settings::Source, checks: &mut Checks) {
    let found = format!("{} ({source})", failure.message.trim_end_matches('.'));
    checks.fail("cluster", found, failure.next.as_deref().unwrap_or_default());
    checks.skip(&OF_CLUSTER, "the cluster does not answer");
    checks.skip(&OF_AGENT, "the cluster does not answer");
}

/// This machine's clock and the chain's, in Unix seconds.
pub(super) fn clock(here: i64, chain: i64, local: bool, checks: &mut Checks) {
    let skew = here.abs_diff(chain);
    if skew <= defaults::CLOCK_SKEW_SECONDS {
        return checks.ok("clock", format!("{skew} s from the chain's"));
    }
    let way = if here > chain { "ahead of" } else { "behind" };
    let found = format!("this machine is {} {way} the chain", duration(skew));
    if local {
        // Its time is moved on purpose, and the log goes by the chain's.
        checks.ok("clock", format!("{found}, whose time is its own"));
    } else {
        checks.warn("clock", found, "timedatectl set-ntp true");
    }
}

/// What pays for fees and rent.
pub(super) fn sol(wallet: Address, lamports: u64, local: bool, checks: &mut Checks) {
    let fund =
        if local { format!("zx1-localnet fund {wallet} --sol 1") } else { format!("send SOL to {wallet}") };
    match lamports {
        0 => checks.fail("SOL", "none: no fee can be paid", &fund),
        few if few < LOW_LAMPORTS => checks.warn("SOL", amount::sol(few), &fund),
        enough => checks.ok("SOL", amount::sol(enough)),
    }
}

/// What pays for stake, lease and challenges, in micro-USDC; `None` without an account of it.
pub(super) fn usdc(
    wallet: Address,
    mint: Address,
    held: Option<MicroUsdc>,
    local: bool,
    checks: &mut Checks,
) {
    let fund = if local {
        format!("zx1-localnet fund {wallet} --usdc 100")
    } else {
        format!("send USDC ({mint}) to {wallet}")
    };
    match held {
        None | Some(MicroUsdc(0)) => checks.warn("USDC", "none: neither stake nor lease can be paid", &fund),
        Some(micro) => checks.ok("USDC", micro.to_string()),
    }
}

/// The owner of the agent's NFT, as seen from the configured key.
pub(super) enum Owner {
    /// The configured key owns the agent.
    Ours,
    /// The configured key is a live delegate.
    Delegated,
    /// Another key owns the agent, and the configured key is not its delegate.
    Other(Address),
    /// The NFT was burned, so that the agent has no owner.
    Burned,
    /// No key is configured to compare with.
    Unknown(Address),
}

/// An agent that the registry knows, under the name that it goes by here.
pub(super) fn agent(shown: &str, number: u64, owner: &Owner, checks: &mut Checks) {
    match owner {
        Owner::Ours => checks.ok("agent", format!("{shown}, number {number}, yours")),
        Owner::Delegated => {
            checks.ok("agent", format!("{shown}, number {number}, you are its delegate"));
        }
        Owner::Unknown(owner) => checks.ok("agent", format!("{shown}, number {number}, owned by {owner}")),
        Owner::Burned => checks.fail("agent", format!("{shown} was burned"), "zx1 stake claim"),
        Owner::Other(owner) => {
            let found = format!("{shown} belongs to {owner}, not to your key");
            checks.warn(
                "agent",
                found,
                "sign with the owner's key (-k), or let the owner run zx1 delegate add",
            );
        }
    }
}

/// No agent in the configuration; perhaps the wallet owns one all the same.
pub(super) fn no_agent(owned: Option<(&str, AgentId)>, checks: &mut Checks) {
    match owned {
        Some((name, mint)) => {
            let found = format!("none is chosen, but your wallet owns '{name}' ({mint})");
            checks.warn("agent", found, &format!("zx1 config set agent {mint}"));
        }
        None => checks.fail("agent", "none is registered", "zx1 register --name NAME"),
    }
}

/// Judges the stake: missing, queued for unlocking, claimable or locked.
pub(super) fn stake(stake: Option<&StakeReport>, checks: &mut Checks) {
    let Some(stake) = stake else { return checks.fail("stake", "none", "zx1 stake lock 10") };
    let locked = stake.stake_micro_usdc;
    if stake.claimable {
        return checks.warn("stake", format!("{locked}, its unlock is over"), "zx1 stake claim");
    }
    match (stake.slots_until_available, &stake.not_claimable_because) {
        (Some(0), Some(why)) => {
            let found = format!("{locked}, its unlock's delay is over, but {}", words::clause(why));
            return checks.warn("stake", found, "zx1 stake show");
        }
        (Some(left), _) => {
            let left = format!("{} ({})", count(left, "slot", "slots"), slots(left));
            let found = format!("{locked}, its unlock is queued and over in {left}");
            return checks.warn("stake", found, "zx1 stake claim, then; or zx1 stake cancel");
        }
        (None, _) => {}
    }
    if !stake.is_enough {
        let missing = stake.minimum_micro_usdc.saturating_sub(stake.stake_micro_usdc);
        let next = format!("zx1 stake lock {}", missing.to_string().trim_end_matches(" USDC"));
        return checks.fail("stake", format!("{locked}, too little to count"), &next);
    }
    checks.ok("stake", locked.to_string());
}

/// Judges the lease by its state and its unpaid days.
pub(super) fn lease(lease: &LeaseReport, checks: &mut Checks) {
    let pay = format!("zx1 lease pay --epochs {}", lease.due_epochs.max(1));
    let (line, due) = (words::lease(lease), lease.due_micro_usdc);
    match lease.state {
        "none" => checks.fail("lease", format!("{line}: {due} begins it"), &pay),
        "deactivated" => checks.fail("lease", format!("{line}: {due} bring it back"), &pay),
        "grace" => checks.warn("lease", format!("{line}: {due} due"), &pay),
        _ if lease.days_left < defaults::LEASE_WARN_DAYS => {
            let left = duration(lease.seconds_left_in_epoch);
            checks.warn("lease", format!("{line}; this day ends in {left}"), "zx1 lease pay --epochs 7");
        }
        _ => checks.ok("lease", line),
    }
}

/// The last batch: how many there are, and its epoch; `now` is the chain's epoch.
pub(super) fn batch(last: Option<(u64, u64)>, now: u64, checks: &mut Checks) {
    let due = now.saturating_sub(1);
    let Some((number, last)) = last else {
        return checks.warn("batch", "none yet", "zx1 batch submit, when the agent has worked for a day");
    };
    if last >= due {
        let found = format!("{number} submitted, the last for epoch {}", words::epoch(last));
        return checks.ok("batch", found);
    }
    let first = last.saturating_add(1);
    let due_for = format!("due for epoch {}", words::epoch(due));
    // A skipped epoch hides nothing: the next batch covers it (decision B7).
    let found = if first == due { due_for } else { format!("{due_for}; it will cover {first} to {due}") };
    checks.warn("batch", found, &format!("zx1 batch submit --epoch {due}"));
}

/// A challenge against the agent that is not settled.
pub(super) struct Open {
    pub(super) address: Address,
    pub(super) epoch: u64,
    pub(super) submitted_slot: u64,
    pub(super) answered: bool,
}

/// The open challenges, at this slot.
pub(super) fn challenges(open: &[Open], slot: u64, checks: &mut Checks) {
    if open.is_empty() {
        return checks.ok("challenges", "none open against it");
    }
    for challenge in open {
        let (mark, found, verb) = challenge.judge(slot);
        let address = challenge.address;
        let next = verb.map(|verb| format!("zx1 challenge {verb} {address}")).unwrap_or_default();
        checks.add(mark, "challenges", format!("{address}: {found}"), &next);
    }
}

impl Open {
    /// How it stands, and what to do about it.
    fn judge(&self, slot: u64) -> (Mark, String, Option<&'static str>) {
        let deadline = self.submitted_slot.saturating_add(CHALLENGE_WINDOW_SLOTS);
        let left = deadline.saturating_sub(slot);
        let epoch = words::epoch(self.epoch);
        match (self.answered, left) {
            (true, 0) => {
                (Mark::Warn, format!("epoch {epoch}, answered, its window is over"), Some("resolve"))
            }
            (true, _) => (Mark::Ok, format!("epoch {epoch}, answered"), None),
            (false, 0) => {
                let found = format!("epoch {epoch}, not answered in time: the stake is lost");
                (Mark::Fail, found, Some("resolve"))
            }
            (false, left) => {
                let left = format!("{} ({})", count(left, "slot", "slots"), slots(left));
                (Mark::Fail, format!("epoch {epoch}, answer it within {left}"), Some("answer"))
            }
        }
    }
}

/// What was sent and not seen to land, by title.
pub(super) fn outbox(titles: &[&str], checks: &mut Checks) {
    if titles.is_empty() {
        return checks.ok("outbox", "nothing is left in it");
    }
    let sent = count(titles.len(), "transaction was", "transactions were");
    let found = format!("{sent} sent without a result seen: {}", titles.join("; "));
    checks.warn("outbox", found, "run the same command again: it finds out, and pays nothing twice");
}
