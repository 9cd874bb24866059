//! `zx1 challenge resolve` and `close`: anyone may, and the chain decides who is paid.

use crate::agent_files::Now;
use crate::amount;
use crate::chain::Chain;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::input;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use crate::words;
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Draft;
use zx1_chain::rpc::actions::{Actions, intents};
use zx1_chain::rpc::registry::Sati;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The challenge's address
    #[arg(value_name = "CHALLENGE")]
    challenge: String,
}

#[derive(Serialize)]
struct Resolved {
    #[serde(flatten)]
    sent: Sent,
    challenge: String,
    agent: String,
    epoch: u64,
    succeeded: bool,
    stake_before_micro_usdc: u64,
    stake_after_micro_usdc: u64,
}

impl Report for Resolved {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("challenge", &self.challenge).field("agent", &self.agent).field("epoch", self.epoch);
        if self.succeeded {
            let lost = self.stake_before_micro_usdc.saturating_sub(self.stake_after_micro_usdc);
            page.line(format!(
                "Nobody showed the record. The agent lost its stake of {}: half, rounded down, went to the \
                 challenger, the rest to the treasury. The challenger's own stake came back.",
                amount::usdc(lost)
            ));
        } else {
            page.line("The record was shown. The challenger's stake went to the treasury.");
        }
        page.next(format!("zx1 challenge close {}", self.challenge));
    }
}

#[derive(Serialize)]
struct Closed {
    #[serde(flatten)]
    sent: Sent,
    challenge: String,
    /// None where an earlier run closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rent_lamports: Option<u64>,
}

impl Report for Closed {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("challenge", &self.challenge)
            .maybe("rent to the challenger", self.rent_lamports.map(amount::sol));
    }
}

/// The transaction that settles a challenge.
pub(crate) async fn resolve(chain: &Chain, challenge: Address, payer: Address) -> Result<Draft> {
    let sati = Sati::connect(&chain.client).await?;
    Ok(Actions::new(&chain.client, &sati).await?.resolve(challenge, payer).await?)
}

/// The transaction that closes a settled challenge.
pub(crate) async fn close(chain: &Chain, challenge: Address, payer: Address) -> Result<Draft> {
    let sati = Sati::connect(&chain.client).await?;
    Ok(Actions::new(&chain.client, &sati).await?.close_challenge(challenge, payer).await?)
}

pub(super) fn run_resolve(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.challenge, "The challenge")?;
    let key = context.key()?;
    context.wait(async {
        let chain = context.connect().await?;
        let challenge = super::need(&chain.client, address).await?;
        let now = Now::ask(&chain).await?.slot;
        let clock = super::clock(&challenge);
        if challenge.resolved == 0 && clock.is_open(now) {
            let slot = clock.deadline().0;
            let left = slot.saturating_sub(now.0).saturating_add(1);
            let left = format!("{} from now, {}", words::count(left, "slot", "slots"), words::slots(left));
            let address = challenge.address.to_string();
            return Err(Error::WindowOpen { address, slot, left }.into());
        }
        let agent = Address::new_from_array(challenge.agent_id);
        let before = chain.client.stake(agent).await?.map_or(0, |stake| stake.stake_usdc);
        let draft = resolve(&chain, challenge.address, key.address()).await?;
        let Some(sent) = tx::run(context, &chain, &draft, &key).await? else { return Ok(()) };
        let after = chain.client.stake(agent).await?.map_or(0, |stake| stake.stake_usdc);
        let settled = chain.client.challenge(challenge.address).await?;
        let report = Resolved {
            sent,
            challenge: challenge.address.to_string(),
            agent: agent.to_string(),
            epoch: challenge.epoch_number,
            succeeded: settled.map_or(challenge.answered == 0, |settled| settled.succeeded != 0),
            stake_before_micro_usdc: before,
            stake_after_micro_usdc: after,
        };
        report.sent.finish(context, &report).await
    })
}

pub(super) fn run_close(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.challenge, "The challenge")?;
    let key = context.key()?;
    context.wait(async {
        let chain = context.connect().await?;
        // Of an interrupted run that closed it there is nothing left to see.
        if let Some(sent) = tx::earlier(context, &chain, &intents::close_challenge(&address)).await? {
            let report = Closed { sent, challenge: address.to_string(), rent_lamports: None };
            return report.sent.finish(context, &report).await;
        }
        let challenge = super::need(&chain.client, address).await?;
        let draft = close(&chain, challenge.address, key.address()).await?;
        let Some(sent) = tx::run(context, &chain, &draft, &key).await? else { return Ok(()) };
        let report = Closed {
            sent,
            challenge: challenge.address.to_string(),
            rent_lamports: Some(challenge.lamports),
        };
        report.sent.finish(context, &report).await
    })
}
