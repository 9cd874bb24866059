//! `zx1 keeper run` and `plan`.

use super::text::{Told, shown};
use crate::agent_files;
use crate::confirm;
use crate::context::{Agent, Context};
use crate::errors::{Error, Failure, Result};
use crate::output::{self, Page, Report};
use crate::service::Caps;
use crate::tx::Sent;
use serde::Serialize;
use std::time::Duration;
use zx1_operator::keeper::{Action, Event, Keeper, Policy};
use zx1_protocol::units::MicroUsdc;

/// Number of failed polls in a row after which the keeper reports an error.
const WORRYING: u32 = 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Limits {
    /// Maximum USDC to spend per day
    #[arg(long, value_name = "USDC", default_value = "2")]
    cap: String,
    /// Maximum SOL per day for fees and rent; answers, leaves, lease and batches are not limited by it
    #[arg(long, value_name = "SOL", default_value = "0.02")]
    fee_cap: String,
    /// Number of epochs to keep the lease paid ahead
    #[arg(long, value_name = "EPOCHS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=30))]
    ahead: u64,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    limits: Limits,
    /// Act once, then exit; exit code 1 if anything failed
    #[arg(long)]
    once: bool,
    /// Seconds between polls
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..=3600))]
    interval: u64,
}

impl Limits {
    fn policy(&self, uploads: bool) -> Result<Policy> {
        let Caps { usdc, lamports } = Caps::parse(&self.cap, &self.fee_cap)?;
        Ok(Policy { cap_usdc: usdc, cap_lamports: lamports, ahead: self.ahead, uploads })
    }
}

#[derive(Serialize)]
struct Shown {
    agent: String,
    epoch: u64,
    slot: u64,
    spent_today_micro_usdc: MicroUsdc,
    cap_micro_usdc: MicroUsdc,
    actions: Vec<Action>,
    warnings: Vec<Told>,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.agent)
            .field("epoch", crate::words::epoch(self.epoch))
            .field("spent today", format!("{} of {}", self.spent_today_micro_usdc, self.cap_micro_usdc));
        page.heading("Due");
        if self.actions.is_empty() {
            page.line("Nothing.");
        }
        for action in &self.actions {
            page.line(format!("  {}", shown(action)));
        }
        if !self.warnings.is_empty() {
            page.heading("Warnings");
        }
        for (index, warning) in self.warnings.iter().enumerate() {
            if index > 0 {
                page.blank();
            }
            page.line(&warning.text).next(&warning.next);
        }
    }
}

pub(super) fn show(limits: &Limits, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let wallet = context.batch_key()?.address();
    let store = agent_files::store(context, None)?;
    let policy = limits.policy(store.is_some())?;
    let (facts, plan) = context.wait(async {
        let operator = context.operator_of(&agent).await?;
        Ok(operator.keeper_plan(&agent, wallet, store.as_ref(), &policy).await?)
    })?;
    context.print(&Shown {
        agent: agent.shown(),
        epoch: facts.epoch.0,
        slot: facts.slot.0,
        spent_today_micro_usdc: facts.spent_usdc,
        cap_micro_usdc: policy.cap_usdc,
        actions: plan.actions,
        warnings: plan.warnings.iter().map(Told::of).collect(),
    })
}

/// One line for each thing that happens.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Started {
        agent: String,
        cap_micro_usdc: MicroUsdc,
        interval_seconds: Option<u64>,
    },
    Done {
        action: &'a Action,
        #[serde(flatten)]
        sent: Option<&'a Sent>,
    },
    Failed {
        action: &'a Action,
        code: u32,
        reason: String,
        next: Option<String>,
    },
    /// Sent by an earlier run that was interrupted.
    Settled(&'a Sent),
    Warning(Told),
}

impl Report for Line<'_> {
    fn draw(&self, page: &mut Page) {
        match self {
            Self::Started { agent, cap_micro_usdc, .. } => {
                page.line(format!("Keeping {agent}, spending at most {cap_micro_usdc} per day."))
            }
            Self::Done { action, sent } => {
                let signature = sent.and_then(|sent| sent.signature.as_deref()).unwrap_or("nothing sent");
                page.line(format!("done: {} ({signature})", shown(action)))
            }
            Self::Failed { action, code, reason, next } => {
                page.line(format!("FAILED: {}: error {code}: {reason}", shown(action)));
                if let Some(next) = next {
                    page.next(next);
                }
                page
            }
            Self::Settled(sent) => {
                let signature = sent.signature.as_deref().unwrap_or_default();
                page.line(format!("done by an earlier run: {} ({signature})", sent.title))
            }
            Self::Warning(warning) => {
                let mark = if warning.alarm { "ALARM" } else { "warning" };
                page.line(format!("{mark}: {}", warning.text)).next(&warning.next)
            }
        };
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.batch_key()?;
    let store = agent_files::store(context, None)?;
    let policy = args.limits.policy(store.is_some())?;
    agree(context, &agent, &policy)?;
    context.wait(async {
        let operator = context.with_second(context.spender_of(&agent).await?).await?;
        let interval_seconds = (!args.once).then_some(args.interval);
        let cap_micro_usdc = policy.cap_usdc;
        context.print(&Line::Started { agent: agent.shown(), cap_micro_usdc, interval_seconds })?;
        let mut keeper = Keeper::new(&operator, &agent, &key, store.as_ref(), policy);
        let mut failures = 0_u32;
        loop {
            let looked = keeper.look(|event| context.print(&line(event))).await;
            let failed = match looked {
                Ok(failed) => failed.map(Failure::from),
                Err(failure) if args.once || failure.is_closed_pipe() => return Err(failure),
                Err(failure) => Some(failure),
            };
            match failed {
                Some(failure) if args.once => return Err(failure),
                None if args.once => return Ok(()),
                None => failures = 0,
                Some(failure) => {
                    failures = failures.saturating_add(1);
                    worry(context, failures, failure);
                }
            }
            tokio::time::sleep(Duration::from_secs(args.interval)).await;
        }
    })
}

/// Asks once for what the keeper then does without asking.
fn agree(context: &Context, agent: &Agent, policy: &Policy) -> Result<()> {
    if context.flags().yes {
        return Ok(());
    }
    let caps = Caps { usdc: policy.cap_usdc, lamports: policy.cap_lamports };
    let mut page = Page::new(output::width());
    page.heading(format!("The keeper acts for {} and does not ask again", agent.shown()))
        .line(format!("It pays {}.", caps.in_words()))
        .line("It submits batches, answers challenges and shows leaves as they fall due.")
        .blank();
    output::write_err(&page.finish());
    Ok(confirm::ask("Start it?")?)
}

fn line<'a>(event: &Event<'a>) -> Line<'a> {
    match *event {
        Event::Settled(sent) => Line::Settled(sent),
        Event::Warning(warning) => Line::Warning(Told::of(warning)),
        Event::Done(action, sent) => Line::Done { action, sent },
        Event::Failed(action, error) => {
            let failure = Failure::from(error);
            Line::Failed { action, code: failure.code, reason: failure.message, next: failure.next }
        }
    }
}

/// Warns that a poll failed, and reports an error after several in a row.
fn worry(context: &Context, failures: u32, failure: Failure) {
    crate::output::warn(&failure.message);
    if failures.is_multiple_of(WORRYING) {
        let error = Error::KeeperFailing { failures, last: failure.message };
        Failure::from(error).show(context.error_format());
    }
}
