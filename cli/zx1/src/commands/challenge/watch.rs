//! `zx1 challenge watch`: answers challenges against the agent by itself, from the saved batches.

use crate::agent_files;
use crate::context::Context;
use crate::errors::{Failure, Result};
use crate::output::{self, Page, Report};
use crate::tx;
use crate::words::{self, count};
use serde::Serialize;
use std::time::Duration;
use zx1_operator::challenge::{Event, Watch};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Answer the open challenges once, then exit
    #[arg(long)]
    once: bool,
    /// Seconds between polls
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
    /// Place that serves batch data that is not saved here [setting: upload]
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
                sent.signature.as_deref().unwrap_or("already answered")
            )),
            Self::CannotAnswer { challenge, epoch, slots_left, reason, .. } => page.line(format!(
                "CANNOT ANSWER {challenge} against epoch {epoch}, {} left ({}): {reason}",
                count(*slots_left, "slot", "slots"),
                words::slots(*slots_left)
            )),
        };
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let store = agent_files::store(context, args.data.as_deref())?;
    context.wait(async {
        let operator = context.spender_of(&agent).await?;
        let mut watch = Watch::new(&operator, &agent, &key, store.as_ref());
        let open = watch.open().await?.len();
        context.print(&Line::Watching { agent: agent.shown(), open })?;
        loop {
            let looked = watch.look(|event| context.print(&line(event))).await;
            if args.once {
                return looked.and_then(|failed| failed.map_or(Ok(()), |error| Err(error.into())));
            }
            if let Err(failure) = looked {
                output::warn(&format!("{} Trying again in {} s.", failure.message, args.interval));
            }
            tokio::time::sleep(Duration::from_secs(args.interval)).await;
        }
    })
}

fn line<'a>(event: &Event<'a>) -> Line<'a> {
    match event {
        Event::Answered(account, address, sent) => {
            Line::Answered { challenge: address.to_string(), epoch: account.epoch_number, sent }
        }
        Event::CannotAnswer(account, address, slots_left, error) => {
            let Failure { code, message: reason, .. } = Failure::from(*error);
            let (challenge, epoch) = (address.to_string(), account.epoch_number);
            Line::CannotAnswer { challenge, epoch, slots_left: *slots_left, code, reason }
        }
    }
}
