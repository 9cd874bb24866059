//! What doctor found, in words, with the command that helps. What is healthy and what is not is decided in
//! [`zx1_operator::health`].

use crate::amount;
use crate::errors::Failure;
use crate::output::{Mark, Page, Report};
use crate::words::{self, count, duration, slots};
use serde::Serialize;
use zx1_operator::facts::{KeyCounts, LeaseReport, OpenAsk, OpenChallenge, StakeReport};
use zx1_operator::health::{Finding, Missing, Ownership, Severity, Topic};
use zx1_operator::keys::TenureReport;
use zx1_protocol::units::MicroUsdc;

/// One line of doctor's report.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Check {
    pub name: &'static str,
    pub mark: Mark,
    pub found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// All checks of a run, with the number of failures and warnings.
#[derive(Debug, Default, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Checks {
    pub failed: usize,
    pub warned: usize,
    pub checks: Vec<Check>,
}

impl Checks {
    /// Adds a line. `next` is empty when there is nothing to do.
    pub fn add(&mut self, mark: Mark, name: &'static str, found: impl Into<String>, next: &str) {
        match mark {
            Mark::Fail => self.failed = self.failed.saturating_add(1),
            Mark::Warn => self.warned = self.warned.saturating_add(1),
            Mark::Ok | Mark::Skip => {}
        }
        let next = (!next.is_empty()).then(|| next.to_owned());
        self.checks.push(Check { name, mark, found: found.into(), next });
    }

    /// Adds an error with its own next step.
    pub fn failure(&mut self, name: &'static str, failure: &Failure) {
        let found = failure.message.trim_end_matches('.');
        self.add(Mark::Fail, name, found, failure.next.as_deref().unwrap_or_default());
    }

    /// Adds a finding.
    pub fn finding(&mut self, finding: &Finding) {
        let mark = match finding.severity() {
            Severity::Ok => Mark::Ok,
            Severity::Warning => Mark::Warn,
            Severity::Failure => Mark::Fail,
            Severity::Skipped => Mark::Skip,
        };
        let (found, next) = in_words(finding);
        self.add(mark, finding.topic().name(), found, &next);
    }

    /// Adds a cluster that does not answer, or not as one.
    pub fn no_cluster(&mut self, failure: &Failure, source: &crate::settings::Source) {
        let found = format!("{} ({source})", failure.message.trim_end_matches('.'));
        self.add(Mark::Fail, "cluster", found, failure.next.as_deref().unwrap_or_default());
        for topic in Topic::ON_CHAIN {
            self.finding(&Finding::Skipped(topic, Missing::Cluster));
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
            (0, 0) => page.line("All checks passed."),
            (0, _) => page.line(format!("No check failed; {warned}.")),
            (_, 0) => page.line(format!("{failed}.")),
            _ => page.line(format!("{failed}, {warned}.")),
        };
    }
}

/// The finding, and the next step; empty when there is nothing to do.
fn in_words(finding: &Finding) -> (String, String) {
    let (found, next) = match finding {
        Finding::Skipped(_, missing) => {
            let why = match missing {
                Missing::Cluster => "the cluster does not respond",
                Missing::Protocol => "the protocol is not set up here",
                Missing::Key => "there is no key",
                Missing::Agent => "there is no agent",
            };
            (format!("not checked: {why}"), "")
        }
        Finding::ProgramsMissing(names) => {
            (format!("not on this cluster: {}", names.join(", ")), "choose a cluster that has them with -u")
        }
        Finding::NotConfigured(error) => {
            let failure = Failure::from(error);
            let found = failure.message.trim_end_matches('.').to_owned();
            return (found, failure.next.unwrap_or_default());
        }
        Finding::Programs { usdc_mint } => (format!("deployed and configured, USDC is {usdc_mint}"), ""),
        Finding::Clock { seconds, ahead, local } => {
            let way = if *ahead { "ahead of" } else { "behind" };
            let skewed = format!("this machine is {} {way} the chain", duration(*seconds));
            match (finding.is_skewed(), local) {
                (false, _) => (format!("{seconds} s from the chain's"), ""),
                (true, true) => (format!("{skewed}, whose time is set independently"), ""),
                (true, false) => (skewed, "timedatectl set-ntp true"),
            }
        }
        Finding::Sol { wallet, lamports, local } => {
            let found = match lamports {
                0 => "none: fees cannot be paid".to_owned(),
                held => amount::sol(*held),
            };
            let local = local.then(|| format!("zx1-localnet fund {wallet} --sol 1"));
            return unless_ok(finding, found, local.unwrap_or_else(|| format!("send SOL to {wallet}")));
        }
        Finding::Usdc { wallet, mint, micro_usdc, local } => {
            let found = match micro_usdc {
                None | Some(MicroUsdc(0)) => "none: stake and lease cannot be paid".to_owned(),
                Some(held) => held.to_string(),
            };
            let local = local.then(|| format!("zx1-localnet fund {wallet} --usdc 100"));
            let next = local.unwrap_or_else(|| format!("send USDC ({mint}) to {wallet}"));
            return unless_ok(finding, found, next);
        }
        Finding::NoAgent { owned: Some((name, mint)) } => {
            let found = format!("none is selected, but your wallet owns '{name}' ({mint})");
            return (found, format!("zx1 config set agent {mint}"));
        }
        Finding::NoAgent { owned: None } => ("none is registered".to_owned(), "zx1 register --name NAME"),
        Finding::NotRegistered(agent) => (
            format!("{} is not in SATI's registry on this cluster", agent.shown()),
            "zx1 register --name NAME, or choose another cluster with -u",
        ),
        Finding::Agent { agent, member_number: number, ownership } => {
            let shown = agent.shown();
            match ownership {
                Ownership::Ours => (format!("{shown}, number {number}, yours"), ""),
                Ownership::Key(scopes) => {
                    (format!("{shown}, number {number}, yours is a key of it: {scopes}"), "")
                }
                Ownership::Unknown(owner) => (format!("{shown}, number {number}, owned by {owner}"), ""),
                Ownership::Burned => (format!("{shown} was burned"), "zx1 stake claim"),
                Ownership::Other(owner) => (
                    format!("{shown} belongs to {owner}, not to your key"),
                    "sign with the owner's key (-k), or have the owner run zx1 keys add",
                ),
            }
        }
        Finding::Keys { tenure, counts } => return of_keys(tenure.as_ref(), counts),
        Finding::Stake { stake: None, minimum_micro_usdc } => {
            return ("none".to_owned(), format!("zx1 stake lock {}", amount::plain(*minimum_micro_usdc)));
        }
        Finding::Stake { stake: Some(stake), .. } => return of_stake(stake),
        Finding::EarlierStake(stake) => {
            let found = format!("era {}: {}", stake.era, stake.stake_micro_usdc);
            let next = format!("zx1 stake claim --era {}", stake.era);
            return unless_ok(finding, found, next);
        }
        Finding::Lease(lease) => return of_lease(lease),
        Finding::NoHead => {
            ("the agent's chain of batches is not open, so nothing is covered".to_owned(), "zx1 batch open")
        }
        Finding::Batch { number: 0, last, due } if last >= due => {
            ("none yet; the first is due tomorrow".to_owned(), "")
        }
        Finding::Batch { number, last, due } if last >= due => {
            (format!("{number} submitted, the last for epoch {}", words::epoch(*last)), "")
        }
        Finding::Batch { last, due, .. } => {
            let first = last.saturating_add(1);
            let due_for = format!("due for epoch {}", words::epoch(*due));
            // A skipped epoch hides nothing: the next batch covers it (decision B7).
            let covers = format!("{due_for}; it will cover {first} to {due}");
            let found = if first == *due { due_for } else { covers };
            return (found, format!("zx1 batch submit --epoch {due}"));
        }
        Finding::NoChallenges => ("none open".to_owned(), ""),
        Finding::Challenge(open) => return of_challenge(open),
        Finding::NoAsks => ("none open".to_owned(), ""),
        Finding::Ask(open) => return of_ask(open),
        Finding::Outbox(titles) if titles.is_empty() => ("empty".to_owned(), ""),
        Finding::Outbox(titles) => {
            let sent = count(titles.len(), "transaction was", "transactions were");
            let found = format!("{sent} sent with unknown outcome: {}", titles.join("; "));
            (found, "run the same command again: it checks the outcome and never pays twice")
        }
    };
    (found, next.to_owned())
}

fn unless_ok(finding: &Finding, found: String, next: String) -> (String, String) {
    if finding.severity() == Severity::Ok { (found, String::new()) } else { (found, next) }
}

fn of_keys(tenure: Option<&TenureReport>, counts: &KeyCounts) -> (String, String) {
    let add = |scopes: &str| format!("zx1 keys add FILE --scopes {scopes}");
    match tenure {
        None => ("none listed, so nobody signs for the agent".to_owned(), add("pay,batch,deal,peer")),
        Some(tenure) if !tenure.is_holders => {
            let found = format!("the agent is in the tenure of {}, who does not hold it", tenure.owner);
            (found, "zx1 take-over".to_owned())
        }
        Some(_) => {
            let found = format!(
                "{} of scope pay, {} batch, {} deal, {} peer",
                counts.pay, counts.batch, counts.deal, counts.peer
            );
            let waiting = match counts.notice {
                0 => found,
                notice => format!("{found}, {notice} to act later"),
            };
            let missing: Vec<&str> = [("batch", counts.batch), ("deal", counts.deal)]
                .iter()
                .filter(|(_, number)| *number == 0)
                .map(|(name, _)| *name)
                .collect();
            let next = if missing.is_empty() { String::new() } else { add(&missing.join(",")) };
            (waiting, next)
        }
    }
}

fn of_ask(open: &OpenAsk) -> (String, String) {
    let leaf = format!("leaf {} of the {} of epoch {}", open.index, open.tree, words::epoch(open.epoch));
    match open.slots_left {
        0 => (
            format!("{}: {leaf} was not shown in time", open.address),
            format!("zx1 ask settle {}", open.address),
        ),
        left => {
            let left = format!("{} ({})", count(left, "slot", "slots"), slots(left));
            let found = format!("{}: {leaf}, show it within {left}", open.address);
            (found, format!("zx1 ask show {}", open.address))
        }
    }
}

fn of_stake(stake: &StakeReport) -> (String, String) {
    let locked = stake.stake_micro_usdc.to_string();
    if stake.ended_slot.is_some() {
        let next = format!("zx1 stake lock {}", amount::plain(stake.minimum_micro_usdc));
        return (format!("{locked}, but its era has ended"), next);
    }
    if stake.claimable {
        return (format!("{locked}, unlocked"), "zx1 stake claim".to_owned());
    }
    match (stake.slots_until_available, &stake.not_claimable_because) {
        (Some(0), Some(why)) => {
            let found = format!("{locked}, unlock delay over, but {}", words::clause(why));
            (found, "zx1 stake show".to_owned())
        }
        (Some(left), _) => {
            let left = format!("{} ({})", count(left, "slot", "slots"), slots(left));
            let found = format!("{locked}, unlock queued, {left} left");
            (found, "zx1 stake claim after that, or zx1 stake cancel".to_owned())
        }
        (None, _) if stake.is_enough => (locked, String::new()),
        (None, _) => {
            let missing = stake.minimum_micro_usdc.saturating_sub(stake.stake_micro_usdc);
            let next = format!("zx1 stake lock {}", amount::plain(missing));
            (format!("{locked}, below the minimum"), next)
        }
    }
}

fn of_lease(lease: &LeaseReport) -> (String, String) {
    let pay = format!("zx1 lease pay --epochs {}", lease.due_epochs.max(1));
    let (line, due) = (words::lease(lease), lease.due_micro_usdc);
    match lease.state {
        "none" => (format!("{line}: {due} starts it"), pay),
        "deactivated" => (format!("{line}: {due} to reactivate it"), pay),
        "grace" => (format!("{line}: {due} due"), pay),
        _ if lease.ends_soon() => {
            let left = duration(lease.seconds_left_in_epoch);
            (format!("{line}; this day ends in {left}"), "zx1 lease pay --epochs 7".to_owned())
        }
        _ => (line, String::new()),
    }
}

fn of_challenge(open: &OpenChallenge) -> (String, String) {
    let (what, verb) = match (open.answerable, open.slots_left) {
        (false, _) => ("nothing answers it: the stake is lost".to_owned(), "resolve"),
        (true, 0) => ("not answered in time: the stake is lost".to_owned(), "resolve"),
        (true, left) => {
            (format!("answer it within {} ({})", count(left, "slot", "slots"), slots(left)), "answer")
        }
    };
    let found = format!("{}: epoch {}, {what}", open.address, words::epoch(open.epoch));
    (found, format!("zx1 challenge {verb} {}", open.address))
}
