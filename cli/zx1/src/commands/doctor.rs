//! `zx1 doctor`: what is wrong, and the command that helps. `zx1 status`: the same facts without a verdict.

mod judge;
#[cfg(test)]
mod tests;

use crate::chain::Chain;
use crate::context::{Chosen, Context};
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::keys::{self, Key};
use crate::settings;
use crate::tx;
use judge::{Checks, Open, Owner};
use solana_address::Address;
use zx1_chain::rpc::registry::{AgentRecord, IdentityRegistry as _, Sati};
use zx1_chain::rpc::{ChainError, ChallengeFilter, Client};
use zx1_home::{Clock as _, SystemClock};
use zx1_interface::ids;
use zx1_operator::facts::Accounts;
use zx1_protocol::units::MicroUsdc;

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

/// Runs `zx1 doctor`. Prints all checks, and then fails if one of them failed.
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
            let private = keys::is_private(key.path()).unwrap_or(true);
            judge::key(Ok((key.address(), &files::shown(key.path()), private)), checks);
            Some(key)
        }
        Err(failure) => {
            judge::key(Err(&failure), checks);
            None
        }
    }
}

fn check_outbox(context: &Context, checks: &mut Checks) {
    match tx::outbox(context).and_then(|outbox| Ok(outbox.records()?)) {
        Ok(records) => {
            let titles: Vec<&str> = records.iter().map(|record| record.title.as_str()).collect();
            judge::outbox(&titles, checks);
        }
        Err(failure) => checks.failure("outbox", &failure),
    }
}

async fn check_chain(context: &Context, key: Option<&Key>, checks: &mut Checks) -> Result<()> {
    let spinner = context.spinner("Asking the cluster");
    let chain = match context.connect().await {
        Ok(chain) => chain,
        Err(failure) => {
            judge::no_cluster(&failure, &context.settings()?.url.source, checks);
            return Ok(());
        }
    };
    check_cluster(context, &chain, checks)?;
    let configured = check_programs(&chain.client, checks).await?;
    let here = SystemClock.unix_secs();
    let here = i64::try_from(here).unwrap_or(i64::MAX);
    judge::clock(here, chain.client.time().await?.unix, chain.client.cluster().is_local(), checks);
    if let Some(key) = key {
        check_money(&chain.client, key.address(), configured, checks).await?;
    } else {
        checks.skip(&["SOL", "USDC"], "there is no key");
    }
    if configured.is_none() {
        checks.skip(&["agent"], "the protocol is not set up here");
        checks.skip(&judge::OF_AGENT, "the protocol is not set up here");
        return Ok(());
    }
    check_agent(context, &chain, key, checks).await?;
    drop(spinner);
    Ok(())
}

fn check_cluster(context: &Context, chain: &Chain, checks: &mut Checks) -> Result<()> {
    let url = &context.settings()?.url;
    let which = match chain.identity.public {
        Some(public) => public.moniker().to_owned(),
        None => format!("genesis {}", chain.identity.genesis),
    };
    let found = format!("{} ({}), {which}", url.value, url.source);
    if chain.identity.is_real_money() && url.source.is_file(settings::SOLANA) {
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

async fn check_money(
    client: &Client,
    wallet: Address,
    usdc: Option<Address>,
    checks: &mut Checks,
) -> Result<()> {
    let local = client.cluster().is_local();
    judge::sol(wallet, client.lamports(wallet).await?, local, checks);
    let Some(mint) = usdc else {
        checks.skip(&["USDC"], "the protocol is not set up here");
        return Ok(());
    };
    let accounts = client.usdc_accounts(wallet, mint).await?;
    let total = accounts.iter().fold(MicroUsdc(0), |sum, account| sum.saturating_add(account.amount));
    judge::usdc(wallet, mint, (!accounts.is_empty()).then_some(total), local, checks);
    Ok(())
}

async fn check_agent(context: &Context, chain: &Chain, key: Option<&Key>, checks: &mut Checks) -> Result<()> {
    let registry = Sati::connect(&chain.client).await?;
    let Some(agent) = find_agent(context, chain, &registry, key, checks).await? else {
        checks.skip(&judge::OF_AGENT, "there is no agent");
        return Ok(());
    };
    let mint = agent.mint;
    let accounts = Accounts::read(&chain.client, mint).await?;
    judge::stake(accounts.stake_report(mint).as_ref(), checks);
    judge::lease(&accounts.lease_report(mint), checks);
    let last = accounts.head.as_ref().map(|head| (head.count, head.last_epoch));
    judge::batch(last, accounts.time.epoch, checks);
    let all = chain.client.challenges(ChallengeFilter::Agent(mint)).await?;
    let open: Vec<Open> = all
        .iter()
        .filter(|challenge| challenge.resolved == 0)
        .map(|challenge| Open {
            address: challenge.address,
            epoch: challenge.epoch_number,
            submitted_slot: challenge.submitted_slot,
            answered: challenge.answered != 0,
        })
        .collect();
    judge::challenges(&open, accounts.time.slot, checks);
    Ok(())
}

/// The agent of this run as the chain shows it.
async fn find_agent(
    context: &Context,
    chain: &Chain,
    registry: &Sati,
    key: Option<&Key>,
    checks: &mut Checks,
) -> Result<Option<AgentRecord>> {
    let agent = match context.chosen() {
        Ok(Chosen::One(agent)) => agent,
        Ok(Chosen::Several(names)) => {
            checks.failure("agent", &Error::SeveralAgents { names }.into());
            return Ok(None);
        }
        Ok(Chosen::None) => {
            let owned = match key {
                Some(key) => registry.agents_of_wallet(key.address()).await?,
                None => Vec::new(),
            };
            let first = owned.into_iter().next();
            judge::no_agent(first.as_ref().map(|it| (it.metadata.name.as_str(), it.mint)), checks);
            return Ok(first);
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
    let owner = match (record.owner, key) {
        (None, _) => Owner::Burned,
        (Some(owner), None) => Owner::Unknown(owner),
        (Some(owner), Some(key)) if owner == key.address() => Owner::Ours,
        (Some(owner), Some(key)) => {
            let delegates = registry.delegates(agent.mint).await?;
            let acts = delegates.iter().any(|known| known.live && known.delegate == key.address());
            if acts { Owner::Delegated } else { Owner::Other(owner) }
        }
    };
    judge::agent(&agent.shown(), record.member_number, &owner, checks);
    Ok(Some(record))
}
