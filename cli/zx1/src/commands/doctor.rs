//! `zx1 doctor`: what is wrong, and the command that helps. `zx1 status`: the same facts without a verdict.

use crate::chain::Chain;
use crate::context::{Agent, Chosen, Context};
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::findings::Checks;
use crate::keys;
use crate::output::Mark;
use crate::settings;
use solana_address::Address;
use zx1_operator::health::{self, Finding, Missing, Subject, Topic};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 doctor
  zx1 doctor --agent MINT
  zx1 doctor --output json | jq '.checks[] | select(.mark != \"ok\")'

Exit code 1 if a check fails. Warnings do not count as failures.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, context: &Context) -> Result<()> {
    let mut checks = Checks::default();
    let wallet = check_key(context, &mut checks);
    context.wait(check_chain(context, wallet, &mut checks))?;
    match health::outbox(context.home()?) {
        Ok(finding) => checks.finding(&finding),
        Err(error) => checks.failure(Topic::Outbox.name(), &error.into()),
    }
    context.print(&checks)?;
    match checks.failed {
        0 => Ok(()),
        failed => Err(Error::Unhealthy { failed }.into()),
    }
}

fn check_key(context: &Context, checks: &mut Checks) -> Option<Address> {
    let key = context.key().map_err(|failure| checks.failure("key", &failure)).ok()?;
    let path = files::shown(key.path());
    let found = format!("{} in {path}", key.address());
    if keys::is_private(key.path()).unwrap_or(true) {
        checks.add(Mark::Ok, "key", found, "");
    } else {
        let found = format!("{found}; others on this machine can read it");
        checks.add(Mark::Warn, "key", found, &format!("chmod 600 {path}"));
    }
    Some(key.address())
}

async fn check_chain(context: &Context, wallet: Option<Address>, checks: &mut Checks) -> Result<()> {
    let _spinner = context.spinner("Asking the cluster");
    let chain = match context.connect().await {
        Ok(chain) => chain,
        Err(failure) => {
            checks.no_cluster(&failure, &context.settings()?.url.source);
            return Ok(());
        }
    };
    check_cluster(context, &chain, checks)?;
    let chosen = chosen(context, &chain);
    let subject = match &chosen {
        Ok(Some(agent)) => Subject::Agent(agent),
        Ok(None) => Subject::Owned,
        Err(_) => Subject::Nothing,
    };
    for finding in health::examine(&chain.client, wallet, subject).await? {
        match (&finding, &chosen) {
            (Finding::Skipped(Topic::Agent, Missing::Agent), Err(failure)) => {
                checks.failure("agent", failure)
            }
            _ => checks.finding(&finding),
        }
    }
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
        let next = "zx1 config set url localhost, or mainnet-beta if you mean it";
        checks.add(Mark::Warn, "cluster", found, next);
    } else {
        checks.add(Mark::Ok, "cluster", found, "");
    }
    Ok(())
}

/// The agent of this run; `None` when none is named.
fn chosen(context: &Context, chain: &Chain) -> Result<Option<Agent>, Failure> {
    match context.chosen()? {
        Chosen::One(agent) => context.check_agent(chain, &agent).map(|()| Some(agent)),
        Chosen::Several(names) => Err(Error::SeveralAgents { names }.into()),
        Chosen::None => Ok(None),
    }
}
