//! `zx1 doctor`: what is wrong, and the command that helps. `zx1 status`: the same facts without a verdict.

use crate::amount;
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::facts::{Accounts, duration, slots_in_words};
use crate::files;
use crate::keys::{self, Key};
use crate::output::{Mark, Page, Report};
use crate::settings::Source;
use crate::tx;
use serde::Serialize;
use solana_address::Address;
use std::time::{SystemTime, UNIX_EPOCH};
use zx1_chain::rpc::registry::{AgentRecord, IdentityRegistry as _, Sati};
use zx1_chain::rpc::{ChainError, ChallengeFilter, Client};
use zx1_interface::accounts::ChallengeAccount;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, MAX_BATCH_AGE_EPOCHS};
use zx1_interface::ids;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 doctor
  zx1 doctor --agent MINT
  zx1 doctor --output json | jq '.checks[] | select(.mark != \"ok\")'

Exit code 1 when a check fails. A warning is no failure.";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// One check.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    mark: Mark,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// All of them.
#[derive(Debug, Default, Serialize)]
struct Checks {
    failed: usize,
    warned: usize,
    checks: Vec<Check>,
}

impl Checks {
    fn add(&mut self, mark: Mark, name: &'static str, found: impl Into<String>, next: &str) {
        match mark {
            Mark::Fail => self.failed = self.failed.saturating_add(1),
            Mark::Warn => self.warned = self.warned.saturating_add(1),
            Mark::Ok | Mark::Skip => {}
        }
        let next = (!next.is_empty()).then(|| next.to_owned());
        self.checks.push(Check { name, mark, found: found.into(), next });
    }

    fn ok(&mut self, name: &'static str, found: impl Into<String>) {
        self.add(Mark::Ok, name, found, "");
    }

    fn warn(&mut self, name: &'static str, found: impl Into<String>, next: &str) {
        self.add(Mark::Warn, name, found, next);
    }

    fn fail(&mut self, name: &'static str, found: impl Into<String>, next: &str) {
        self.add(Mark::Fail, name, found, next);
    }

    fn skip(&mut self, name: &'static str, why: &str) {
        self.add(Mark::Skip, name, why, "");
    }

    fn failure(&mut self, name: &'static str, failure: &Failure) {
        self.fail(name, failure.message.clone(), failure.next.as_deref().unwrap_or_default());
    }
}

impl Report for Checks {
    fn draw(&self, page: &mut Page) {
        for check in &self.checks {
            page.check(check.mark, check.name, &check.found, check.next.as_deref());
        }
        page.blank();
        match (self.failed, self.warned) {
            (0, 0) => page.line("All is well."),
            (0, warned) => page.line(format!("Nothing is broken; {warned} to look after.")),
            (failed, warned) => page.line(format!("{failed} broken, {warned} to look after.")),
        };
    }
}

/// Does it.
pub fn run(_args: Args, context: &Context) -> Result<()> {
    let mut checks = Checks::default();
    let key = check_key(context, &mut checks);
    context.wait(check_chain(context, key.as_ref(), &mut checks))?;
    check_outbox(context, &mut checks);
    context.print(&checks)?;
    match checks.failed {
        0 => Ok(()),
        failed => Err(Error::Unhealthy { failed }.into()),
    }
}

fn check_key(context: &Context, checks: &mut Checks) -> Option<Key> {
    match context.key() {
        Ok(key) => {
            let found = format!("{} in {}", key.address(), files::shown(key.path()));
            if keys::is_private(key.path()).unwrap_or(true) {
                checks.ok("key", found);
            } else {
                let next = format!("chmod 600 {}", files::shown(key.path()));
                checks.warn("key", format!("{found}; others on this machine can read it"), &next);
            }
            Some(key)
        }
        Err(failure) => {
            checks.failure("key", &failure);
            None
        }
    }
}

fn check_outbox(context: &Context, checks: &mut Checks) {
    match tx::outbox(context).and_then(|outbox| Ok(outbox.records()?)) {
        Ok(records) if records.is_empty() => checks.ok("outbox", "nothing is left in it"),
        Ok(records) => {
            let titles: Vec<&str> = records.iter().map(|record| record.title.as_str()).collect();
            let found = format!("{} sent, result not seen: {}", records.len(), titles.join("; "));
            checks.warn("outbox", found, "run the same command again: it finds out, and pays nothing twice");
        }
        Err(failure) => checks.failure("outbox", &failure),
    }
}

async fn check_chain(context: &Context, key: Option<&Key>, checks: &mut Checks) -> Result<()> {
    let spinner = context.spinner("Asking the cluster");
    let chain = match context.connect().await {
        Ok(chain) => chain,
        Err(failure) => {
            let url = &context.settings()?.url;
            let local = url.value == defaults::URL;
            let next = if local { "zx1-localnet, or another cluster with -u" } else { "" };
            let next = if next.is_empty() { failure.next.unwrap_or_default() } else { next.to_owned() };
            checks.fail("cluster", format!("{} ({})", failure.message, url.source), &next);
            for name in ["programs", "clock", "SOL", "USDC", "agent", "stake", "lease", "batch", "challenges"]
            {
                checks.skip(name, "the cluster does not answer");
            }
            return Ok(());
        }
    };
    check_cluster(context, &chain, checks)?;
    let configured = check_programs(&chain.client, checks).await?;
    check_clock(&chain.client, checks).await?;
    if let Some(key) = key {
        check_money(&chain.client, key.address(), configured, checks).await?;
    } else {
        checks.skip("SOL", "there is no key");
        checks.skip("USDC", "there is no key");
    }
    if configured.is_none() {
        for name in ["agent", "stake", "lease", "batch", "challenges"] {
            checks.skip(name, "the protocol is not set up here");
        }
        return Ok(());
    }
    check_agent(context, &chain, key, checks).await?;
    drop(spinner);
    Ok(())
}

fn check_cluster(context: &Context, chain: &Chain, checks: &mut Checks) -> Result<()> {
    let url = &context.settings()?.url;
    let found = format!("{} at {} ({})", chain.identity, url.value, url.source);
    if chain.identity.is_real_money() && matches!(url.source, Source::Solana(_)) {
        checks.warn("cluster", found, "zx1 config set url localhost, or say mainnet-beta on purpose");
    } else {
        checks.ok("cluster", found);
    }
    Ok(())
}

/// Whether all five programs and the configuration are there; then the USDC mint.
async fn check_programs(client: &Client, checks: &mut Checks) -> Result<Option<Address>> {
    let programs = [
        ("StakeLock", ids::STAKE_LOCK),
        ("Lease", ids::LEASE),
        ("BehaviorLog", ids::BEHAVIOR_LOG),
        ("Challenge", ids::CHALLENGE),
        ("FeedbackLog", ids::FEEDBACK_LOG),
        ("SATI", ids::SATI),
    ];
    let addresses: Vec<Address> = programs.iter().map(|(_, id)| Address::new_from_array(*id)).collect();
    let accounts = client.accounts(&addresses).await?;
    let is_there = |account: &Option<zx1_chain::rpc::RawAccount>| {
        account.as_ref().is_some_and(|account| account.executable)
    };
    let missing: Vec<&str> = programs
        .iter()
        .zip(&accounts)
        .filter(|(_, account)| !is_there(account))
        .map(|((name, _), _)| *name)
        .collect();
    if !missing.is_empty() {
        let found = format!("not on this cluster: {}", missing.join(", "));
        checks.fail("programs", found, "choose a cluster that has them with -u");
        return Ok(None);
    }
    match client.config().await {
        Ok(config) => {
            let mint = Address::new_from_array(config.usdc_mint);
            checks.ok("programs", format!("all there and configured, USDC is {mint}"));
            Ok(Some(mint))
        }
        Err(error @ ChainError::NotConfigured { .. }) => {
            checks.failure("programs", &Failure::from(error));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

async fn check_clock(client: &Client, checks: &mut Checks) -> Result<()> {
    let chain = client.time().await?.unix;
    let here = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    let here = i64::try_from(here).unwrap_or(i64::MAX);
    let skew = here.abs_diff(chain);
    if skew <= defaults::CLOCK_SKEW_SECONDS {
        checks.ok("clock", format!("{skew} s from the chain's"));
    } else {
        let way = if here > chain { "ahead of" } else { "behind" };
        let found = format!("this machine is {} {way} the chain", duration(skew));
        let next =
            "set the clock (timedatectl set-ntp true); a local cluster that jumped in time is always off";
        checks.warn("clock", found, next);
    }
    Ok(())
}

async fn check_money(
    client: &Client,
    wallet: Address,
    usdc: Option<Address>,
    checks: &mut Checks,
) -> Result<()> {
    let lamports = client.lamports(wallet).await?;
    let fund = if client.cluster().is_local() {
        format!("zx1-localnet fund {wallet} --sol 1")
    } else {
        format!("send SOL to {wallet}")
    };
    match lamports {
        0 => checks.fail("SOL", "none: no fee can be paid", &fund),
        few if few < defaults::LOW_LAMPORTS => checks.warn("SOL", amount::sol(few), &fund),
        enough => checks.ok("SOL", amount::sol(enough)),
    }
    let Some(mint) = usdc else {
        checks.skip("USDC", "the protocol is not set up here");
        return Ok(());
    };
    let accounts = client.usdc_accounts(wallet, mint).await?;
    let total = accounts.iter().fold(0u64, |sum, account| sum.saturating_add(account.amount));
    let fund = if client.cluster().is_local() {
        format!("zx1-localnet fund {wallet} --usdc 100")
    } else {
        format!("send USDC ({mint}) to {wallet}")
    };
    if accounts.is_empty() {
        checks.warn("USDC", "no account of it", &fund);
    } else if total == 0 {
        checks.warn("USDC", "none", &fund);
    } else {
        checks.ok("USDC", amount::usdc(total));
    }
    Ok(())
}

async fn check_agent(context: &Context, chain: &Chain, key: Option<&Key>, checks: &mut Checks) -> Result<()> {
    let registry = Sati::connect(&chain.client).await?;
    let agent = match find_agent(context, chain, &registry, key, checks).await? {
        Some(agent) => agent,
        None => {
            for name in ["stake", "lease", "batch", "challenges"] {
                checks.skip(name, "there is no agent");
            }
            return Ok(());
        }
    };
    let accounts = Accounts::read(&chain.client, agent.mint).await?;
    check_stake(&accounts, agent.mint, checks);
    check_lease(&accounts, agent.mint, checks);
    check_batch(&accounts, checks);
    check_challenges(&chain.client, agent.mint, accounts.time.slot, checks).await
}

/// The agent of this run as the chain shows it.
async fn find_agent(
    context: &Context,
    chain: &Chain,
    registry: &Sati,
    key: Option<&Key>,
    checks: &mut Checks,
) -> Result<Option<AgentRecord>> {
    let agent: Agent = match context.agent() {
        Ok(agent) => agent,
        Err(failure) if failure.code == Error::NoAgent.code() => {
            let owned = match key {
                Some(key) => registry.agents_of_wallet(key.address()).await?,
                None => Vec::new(),
            };
            match owned.first() {
                Some(record) => {
                    let found = format!("your wallet owns '{}' ({})", record.metadata.name, record.mint);
                    checks.warn("agent", found, &format!("zx1 config set agent {}", record.mint));
                    return Ok(Some(record.clone()));
                }
                None => checks.fail("agent", "none is registered", "zx1 register --name NAME"),
            }
            return Ok(None);
        }
        Err(failure) => {
            checks.failure("agent", &failure);
            return Ok(None);
        }
    };
    if let Err(failure) = context.check_agent(chain, &agent) {
        checks.failure("agent", &failure);
        return Ok(None);
    }
    let Some(record) = registry.look_up(agent.mint).await? else {
        let found = format!("{} is not in SATI's registry on this cluster", agent.shown());
        checks.fail("agent", found, "zx1 register --name NAME, or choose another cluster with -u");
        return Ok(None);
    };
    let number = record.member_number;
    match (record.owner, key) {
        (None, _) => checks.fail("agent", format!("{} was burned", agent.shown()), "zx1 stake claim"),
        (Some(owner), Some(key)) if owner == key.address() => {
            checks.ok("agent", format!("{}, number {number}, yours", agent.shown()));
        }
        (Some(owner), Some(key)) => {
            let delegates = registry.delegates(agent.mint).await?;
            let acts = delegates.iter().any(|known| known.live && known.delegate == key.address());
            if acts {
                checks.ok("agent", format!("{}, number {number}, you are its delegate", agent.shown()));
            } else {
                let found = format!("{} belongs to {owner}, not to your key", agent.shown());
                checks.warn("agent", found, "sign with the owner's key (-k), or let it run zx1 delegate add");
            }
        }
        (Some(owner), None) => checks.ok("agent", format!("{}, owned by {owner}", agent.shown())),
    }
    Ok(Some(record))
}

fn check_stake(accounts: &Accounts, mint: Address, checks: &mut Checks) {
    let Some(stake) = accounts.stake_report(mint) else {
        return checks.fail("stake", "none", "zx1 stake lock 10");
    };
    let locked = amount::usdc(stake.stake_micro_usdc);
    if stake.claimable {
        return checks.warn("stake", format!("{locked}, its unlock is over"), "zx1 stake claim");
    }
    if let Some(slots) = stake.slots_until_available {
        let found = format!("{locked}, unlock queued, over in {slots} slots ({})", slots_in_words(slots));
        return checks.warn("stake", found, "zx1 stake claim, then; or zx1 stake cancel");
    }
    if !stake.is_enough {
        let missing = stake.minimum_micro_usdc.saturating_sub(stake.stake_micro_usdc);
        let next = format!("zx1 stake lock {}", amount::usdc(missing).trim_end_matches(" USDC"));
        return checks.fail("stake", format!("{locked}, too little to count"), &next);
    }
    checks.ok("stake", locked);
}

fn check_lease(accounts: &Accounts, mint: Address, checks: &mut Checks) {
    let lease = accounts.lease_report(mint);
    let pay = format!("zx1 lease pay --epochs {}", lease.due_epochs.max(1));
    let left = duration(lease.seconds_left_in_epoch);
    match lease.state {
        "none" | "deactivated" => checks.fail("lease", lease.line(), &pay),
        "grace" => checks.warn("lease", lease.line(), &pay),
        _ if lease.days_left < defaults::LEASE_WARN_DAYS => {
            let found = format!("{}; this day ends in {left}", lease.line());
            checks.warn("lease", found, "zx1 lease pay --epochs 7");
        }
        _ => checks.ok("lease", lease.line()),
    }
}

fn check_batch(accounts: &Accounts, checks: &mut Checks) {
    let epoch = accounts.time.epoch;
    let due = epoch.saturating_sub(1);
    match &accounts.head {
        None => checks.warn("batch", "none yet", "zx1 batch build, when the agent has worked for a day"),
        Some(head) if head.last_epoch >= due => {
            checks.ok("batch", format!("{} submitted, the last for epoch {}", head.count, head.last_epoch));
        }
        Some(head) => {
            let late = due.saturating_sub(head.last_epoch);
            let found = format!("due for epoch {due}; the last is of {}", head.last_epoch);
            let lost = late > MAX_BATCH_AGE_EPOCHS;
            let hint = if lost { "; the next one covers all days since" } else { "" };
            checks.warn("batch", format!("{found}{hint}"), &format!("zx1 batch build --epoch {due}"));
        }
    }
}

async fn check_challenges(client: &Client, mint: Address, slot: u64, checks: &mut Checks) -> Result<()> {
    let all = client.challenges(ChallengeFilter::Agent(mint)).await?;
    let open: Vec<_> = all.iter().filter(|challenge| challenge.resolved == 0).collect();
    if open.is_empty() {
        checks.ok("challenges", "none open against it");
        return Ok(());
    }
    for challenge in open {
        let (mark, found, next) = judge(challenge, slot);
        let address = challenge.address;
        let next = next.map(|verb| format!("zx1 challenge {verb} {address}")).unwrap_or_default();
        checks.add(mark, "challenges", format!("{address}: {found}"), &next);
    }
    Ok(())
}

/// How an open challenge stands, and what to do about it.
fn judge(challenge: &ChallengeAccount, slot: u64) -> (Mark, String, Option<&'static str>) {
    let deadline = challenge.submitted_slot.saturating_add(CHALLENGE_WINDOW_SLOTS);
    let left = deadline.saturating_sub(slot);
    let epoch = challenge.epoch_number;
    match (challenge.answered != 0, left) {
        (true, 0) => (Mark::Warn, format!("epoch {epoch}, answered, its window is over"), Some("resolve")),
        (true, _) => (Mark::Ok, format!("epoch {epoch}, answered"), None),
        (false, 0) => {
            (Mark::Fail, format!("epoch {epoch}, not answered, its window is over: the stake is lost"), None)
        }
        (false, left) => {
            let found = format!("epoch {epoch}, answer it within {left} slots ({})", slots_in_words(left));
            (Mark::Fail, found, Some("answer"))
        }
    }
}
