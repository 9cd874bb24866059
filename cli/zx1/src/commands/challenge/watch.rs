//! `zx1 challenge watch`: answers challenges against the agent by itself, from the saved batches.

use super::answer::{Data, draft, find_answer};
use crate::agent_files::{self, Now};
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::{Failure, Result};
use crate::keys::Key;
use crate::output::{self, Page, Report};
use crate::tx;
use crate::words::{self, count};
use serde::Serialize;
use solana_address::Address;
use std::collections::BTreeSet;
use std::time::Duration;
use zx1_chain::rpc::{ChallengeFilter, Stored};
use zx1_interface::accounts::ChallengeAccount;
use zx1_log::AnyStore;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Look once, answer what is open, and end
    #[arg(long)]
    once: bool,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
    /// Where the batches' data is, when it is not saved here [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
}

/// One line for each thing that happens.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Watching {
        agent: String,
        open: usize,
    },
    Answered {
        challenge: String,
        epoch: u64,
        #[serde(flatten)]
        sent: &'a tx::Sent,
    },
    CannotAnswer {
        challenge: String,
        epoch: u64,
        slots_left: u64,
        code: u32,
        reason: String,
    },
}

impl Report for Line<'_> {
    fn draw(&self, page: &mut Page) {
        match self {
            Self::Watching { agent, open } => {
                page.line(format!("Watching {agent}: {} to answer.", count(*open, "challenge", "challenges")))
            }
            Self::Answered { challenge, epoch, sent } => page.line(format!(
                "Answered {challenge} against epoch {epoch} ({}).",
                sent.signature.as_deref().unwrap_or("it was answered already")
            )),
            Self::CannotAnswer { challenge, epoch, slots_left, reason, .. } => page.line(format!(
                "CANNOT ANSWER {challenge} against epoch {epoch}, {} left ({}): {reason}",
                count(*slots_left, "slot", "slots"),
                words::slots(*slots_left)
            )),
        };
    }
}

/// The agent's challenges that wait for an answer.
async fn open(chain: &Chain, agent: &Agent) -> Result<Vec<Stored<ChallengeAccount>>> {
    let now = Now::ask(chain).await?.slot;
    let mut challenges = chain.client.challenges(ChallengeFilter::Agent(agent.mint)).await?;
    challenges.retain(|it| it.answered == 0 && it.resolved == 0 && super::clock(it).is_open(now));
    Ok(challenges)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let store = agent_files::store(context, args.data.as_deref())?;
    context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let mut watch =
            Watch { context, chain: &chain, agent: &agent, key: &key, store, told: BTreeSet::new() };
        let found = open(&chain, &agent).await?.len();
        context.print(&Line::Watching { agent: agent.shown(), open: found })?;
        loop {
            let looked = watch.look().await;
            if args.once {
                return looked.and_then(|failed| failed.map_or(Ok(()), Err));
            }
            if let Err(failure) = looked {
                output::warn(&format!("{} Looking again in {} s.", failure.message, args.interval));
            }
            tokio::time::sleep(Duration::from_secs(args.interval)).await;
        }
    })
}

struct Watch<'a> {
    context: &'a Context,
    chain: &'a Chain,
    agent: &'a Agent,
    key: &'a Key,
    store: Option<AnyStore>,
    /// Challenges that cannot be answered and were spoken of.
    told: BTreeSet<Address>,
}

impl Watch<'_> {
    /// Answers what is open. One that fails does not keep the others from being answered; the last failure
    /// is returned.
    async fn look(&mut self) -> Result<Option<Failure>> {
        let mut failed = None;
        // What an interrupted run sent is known before it is answered again.
        for sent in tx::settle_unasked(self.context, self.chain).await? {
            sent.acknowledge().await?;
        }
        let challenges = open(self.chain, self.agent).await?;
        for challenge in &challenges {
            match self.answer(challenge).await {
                Ok(()) => {}
                Err(failure) => {
                    if self.told.insert(challenge.address) {
                        let now = Now::ask(self.chain).await?.slot;
                        let left = super::clock(challenge).deadline().0.saturating_sub(now.0);
                        self.context.print(&Line::CannotAnswer {
                            challenge: challenge.address.to_string(),
                            epoch: challenge.epoch_number,
                            slots_left: left,
                            code: failure.code,
                            reason: failure.message.clone(),
                        })?;
                    }
                    failed = Some(failure);
                }
            }
        }
        Ok(failed)
    }

    async fn answer(&self, challenge: &Stored<ChallengeAccount>) -> Result<()> {
        let data = Data::of(self.context, self.agent, self.store.as_ref())?;
        let (arguments, _) = find_answer(self.chain, challenge, &data).await?;
        let flow = draft(self.chain, self.key.address(), challenge.address, arguments).await?;
        let sent = tx::run_unasked(self.context, self.chain, flow.as_ref(), self.key).await?;
        let (challenge, epoch) = (challenge.address.to_string(), challenge.epoch_number);
        self.context.print(&Line::Answered { challenge, epoch, sent: &sent })?;
        sent.acknowledge().await
    }
}
