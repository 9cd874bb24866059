//! `zx1 delegate`: keys that may act for an agent (protocol.md, 4.1; decision B3).

use crate::chain::Chain;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::input;
use crate::keys::Key;
use crate::output::{Page, Report, Table};
use crate::tx::{self, Sent, Shown as _};
use crate::words::{duration, moment};
use clap::Subcommand;
use serde::Serialize;
use solana_address::Address;
use solana_signer::Signer as _;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::{Delegate, IdentityRegistry as _, Sati};
use zx1_interface::constants::EPOCH_SECONDS;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 delegate add HOT_WALLET --days 90
  zx1 delegate add HOT_WALLET --forever
  zx1 delegate list
  zx1 delegate revoke HOT_WALLET

A delegate signs messages and batches and pays the lease; it cannot move the
stake or sell the agent. All delegations end when the NFT changes hands.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Allow a key to act for the agent
    Add {
        /// Address of the key
        delegate: String,
        /// Expire at the end of the day N days from now
        #[arg(long, value_name = "N", default_value_t = 90, conflicts_with = "forever",
              value_parser = clap::value_parser!(u32).range(1..=36_500))]
        days: u32,
        /// Do not expire
        #[arg(long)]
        forever: bool,
    },
    /// List the current and former delegates
    List,
    /// Revoke a key; its rent is returned to you
    Revoke {
        /// Address of the key
        delegate: String,
    },
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::List => context.wait(list(context)),
        Action::Add { delegate, days, forever } => {
            let delegate = input::address(&delegate, "The delegate")?;
            context.wait(add(context, delegate, (!forever).then_some(days)))
        }
        Action::Revoke { delegate } => {
            let delegate = input::address(&delegate, "The delegate")?;
            context.wait(revoke(context, delegate))
        }
    }
}

#[derive(Serialize)]
struct Line {
    delegate: String,
    delegator: String,
    /// When the delegation ends, in Unix seconds; 0 means never.
    expiry: i64,
    live: bool,
    account: String,
    #[serde(skip)]
    standing: String,
}

impl Line {
    fn new(delegate: &Delegate, owner: Option<Address>, now: i64) -> Self {
        let standing = if delegate.live && delegate.expiry == 0 {
            "live, without expiry".to_owned()
        } else if delegate.live {
            let left = u64::try_from(delegate.expiry.saturating_sub(now)).unwrap_or(0);
            format!("live until {}, for {}", moment(delegate.expiry), duration(left))
        } else if owner != Some(delegate.delegator) {
            "invalid: given by a former owner".to_owned()
        } else {
            format!("expired on {}", moment(delegate.expiry))
        };
        Self {
            delegate: delegate.delegate.to_string(),
            delegator: delegate.delegator.to_string(),
            expiry: delegate.expiry,
            live: delegate.live,
            account: delegate.account.to_string(),
            standing,
        }
    }
}

#[derive(Serialize)]
struct Listed {
    agent: String,
    owner: Option<String>,
    delegates: Vec<Line>,
}

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.agent).maybe("owner", self.owner.as_ref());
        draw(&self.delegates, page.blank());
    }
}

fn draw(lines: &[Line], page: &mut Page) {
    let mut table = Table::new(["delegate", "status"]).ids(&[0]);
    for line in lines {
        table.row([&line.delegate, &line.standing]);
    }
    page.table(table, "No delegates: only the owner can act for the agent.");
    if lines.is_empty() {
        page.next("zx1 delegate add ADDRESS");
    }
}

#[derive(Serialize)]
struct Changed<'a> {
    #[serde(flatten)]
    sent: &'a Sent,
    agent: String,
    delegates: Vec<Line>,
}

impl Report for Changed<'_> {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        draw(&self.delegates, page.blank());
    }
}

async fn read(chain: &Chain, registry: &Sati, mint: Address) -> Result<(Option<Address>, Vec<Line>)> {
    let owner = registry.look_up(mint).await?.and_then(|record| record.owner);
    let now = chain.client.time().await?.unix;
    let delegates = registry.delegates(mint).await?;
    Ok((owner, delegates.iter().map(|delegate| Line::new(delegate, owner, now)).collect()))
}

async fn list(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let chain = context.connect().await?;
    context.check_agent(&chain, &agent)?;
    let registry = Sati::connect(&chain.client).await?;
    let (owner, delegates) = read(&chain, &registry, agent.mint).await?;
    let owner = owner.map(|owner| owner.to_string());
    context.print(&Listed { agent: agent.mint.to_string(), owner, delegates })
}

/// The end of the day that lies `days` days ahead, in Unix seconds. It is the same moment however often the
/// command runs that day, so that a rerun is the same intent.
fn expiry_after(now: i64, days: u32) -> i64 {
    let day = i64::try_from(EPOCH_SECONDS).unwrap_or(i64::MAX);
    let today = now.div_euclid(day);
    today.saturating_add(i64::from(days)).saturating_add(1).saturating_mul(day)
}

async fn add(context: &Context, delegate: Address, days: Option<u32>) -> Result<()> {
    let key = context.key()?;
    let agent = context.agent()?;
    let chain = context.connect().await?;
    context.check_agent(&chain, &agent)?;
    if delegate == key.address() {
        return Err(Error::DelegateIsOwner { delegate: delegate.to_string() }.into());
    }
    let registry = Sati::connect(&chain.client).await?;
    let now = chain.client.time().await?.unix;
    let expiry = days.map_or(0, |days| expiry_after(now, days));
    let owner = key.address();
    let signature: [u8; 64] = key.keypair().sign_message(&registry.delegation_message(owner)).into();
    let draft = registry.add_delegate(agent.mint, owner, delegate, expiry, &signature).await?;
    finish(context, &chain, &registry, agent.mint, &draft, &key).await
}

async fn revoke(context: &Context, delegate: Address) -> Result<()> {
    let key = context.key()?;
    let agent = context.agent()?;
    let chain = context.connect().await?;
    context.check_agent(&chain, &agent)?;
    let registry = Sati::connect(&chain.client).await?;
    // Of an interrupted run that took it back there is nothing left to see.
    if let Some(sent) =
        tx::earlier(context, &chain, &intents::revoke_delegate(&agent.mint, &delegate)).await?
    {
        return show(context, &chain, &registry, agent.mint, &sent).await;
    }
    let draft = registry.revoke_delegate(agent.mint, key.address(), delegate).await?;
    finish(context, &chain, &registry, agent.mint, &draft, &key).await
}

async fn finish(
    context: &Context,
    chain: &Chain,
    registry: &Sati,
    mint: Address,
    draft: &zx1_chain::rpc::Draft,
    key: &Key,
) -> Result<()> {
    let Some(sent) = tx::run(context, chain, draft, key).await? else { return Ok(()) };
    show(context, chain, registry, mint, &sent).await
}

async fn show(context: &Context, chain: &Chain, registry: &Sati, mint: Address, sent: &Sent) -> Result<()> {
    let (_, delegates) = read(chain, registry, mint).await?;
    sent.finish(context, &Changed { sent, agent: mint.to_string(), delegates }).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delegation_ends_with_a_day_so_that_a_rerun_asks_for_the_same() {
        let day = 86_400;
        assert_eq!(expiry_after(10 * day, 1), 12 * day);
        assert_eq!(expiry_after(10 * day + day - 1, 1), 12 * day);
        assert_eq!(expiry_after(11 * day, 1), 13 * day);
    }
}
