//! `zx1 keeper run` and `plan`.

use super::act::Actor;
use super::facts;
use super::plan::{Action, Plan, Policy, Warning, plan};
use crate::agent_files;
use crate::amount;
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::{Error, Failure, Result};
use crate::keys::Key;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;
use zx1_log::AnyStore;

/// Failed looks in a row after which the keeper says so with a number.
const WORRYING: u32 = 10;

/// What the owner allows.
#[derive(Debug, clap::Args)]
pub(super) struct Limits {
    /// Most USDC a day
    #[arg(long, value_name = "USDC", default_value = "2")]
    cap: String,
    /// Most SOL a day for fees and rent; answers, lease and batches go on beyond it
    #[arg(long, value_name = "SOL", default_value = "0.02")]
    fee_cap: String,
    /// Epochs that the lease is kept paid ahead
    #[arg(long, value_name = "EPOCHS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=30))]
    ahead: u64,
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    limits: Limits,
    /// Look once, do what has to be done, and end; exit code 1 when something failed
    #[arg(long)]
    once: bool,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..=3600))]
    interval: u64,
}

impl Limits {
    fn policy(&self, uploads: bool) -> Result<Policy> {
        let bad =
            |failure: Failure| Error::KeeperBadCap { why: failure.message.trim_end_matches('.').to_owned() };
        Ok(Policy {
            cap_usdc: amount::parse_usdc(&self.cap).map_err(bad)?,
            cap_lamports: amount::parse_sol(&self.fee_cap).map_err(bad)?,
            ahead: self.ahead,
            uploads,
        })
    }
}

#[derive(Serialize)]
struct Shown {
    agent: String,
    epoch: u64,
    slot: u64,
    spent_today_micro_usdc: u64,
    cap_micro_usdc: u64,
    #[serde(flatten)]
    plan: Plan,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.agent).field("epoch", crate::words::epoch(self.epoch)).field(
            "spent today",
            format!("{} of {}", amount::usdc(self.spent_today_micro_usdc), amount::usdc(self.cap_micro_usdc)),
        );
        page.heading("To do");
        if self.plan.actions.is_empty() {
            page.line("Nothing.");
        }
        for action in &self.plan.actions {
            page.line(format!("  {}", action.shown()));
        }
        if !self.plan.warnings.is_empty() {
            page.heading("Warnings");
        }
        for (index, warning) in self.plan.warnings.iter().enumerate() {
            if index > 0 {
                page.blank();
            }
            page.line(&warning.text).next(&warning.next);
        }
    }
}

pub(super) fn show(limits: &Limits, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let wallet = context.key()?.address();
    let store = agent_files::store(context, None)?;
    let policy = limits.policy(store.is_some())?;
    let shown = context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        let (facts, record) = facts::read(context, &chain, &agent, wallet, store.as_ref()).await?;
        Ok(Shown {
            agent: agent.shown(),
            epoch: facts.epoch.0,
            slot: facts.slot.0,
            spent_today_micro_usdc: record.day.spent_micro_usdc,
            cap_micro_usdc: policy.cap_usdc,
            plan: plan(&facts, &policy),
        })
    })?;
    context.print(&shown)
}

/// One line for each thing that happens.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Started {
        agent: String,
        cap_micro_usdc: u64,
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
        reason: &'a str,
        next: Option<&'a str>,
    },
    /// Sent by an earlier run that was interrupted.
    Settled(&'a Sent),
    Warning(&'a Warning),
}

impl Report for Line<'_> {
    fn draw(&self, page: &mut Page) {
        match self {
            Self::Started { agent, cap_micro_usdc, .. } => {
                page.line(format!("Keeping {agent}: at most {} a day.", amount::usdc(*cap_micro_usdc)))
            }
            Self::Done { action, sent } => {
                let signature = sent.and_then(|sent| sent.signature.as_deref()).unwrap_or("nothing to send");
                page.line(format!("done: {} ({signature})", action.shown()))
            }
            Self::Failed { action, code, reason, next } => {
                page.line(format!("FAILED: {}: error {code}: {reason}", action.shown()));
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
    let key = context.key()?;
    let store = agent_files::store(context, None)?;
    let policy = args.limits.policy(store.is_some())?;
    context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        context.check_spending(&chain)?;
        let interval_seconds = (!args.once).then_some(args.interval);
        let cap_micro_usdc = policy.cap_usdc;
        context.print(&Line::Started { agent: agent.shown(), cap_micro_usdc, interval_seconds })?;
        let mut keeper = Keeper {
            context,
            chain: &chain,
            agent: &agent,
            key: &key,
            store: store.as_ref(),
            policy,
            told: BTreeSet::new(),
            failures: 0,
        };
        loop {
            let looked = keeper.look().await;
            if args.once {
                return looked.and_then(|failed| failed.map_or(Ok(()), Err));
            }
            keeper.after(looked)?;
            tokio::time::sleep(Duration::from_secs(args.interval)).await;
        }
    })
}

struct Keeper<'a> {
    context: &'a Context,
    chain: &'a Chain,
    agent: &'a Agent,
    key: &'a Key,
    store: Option<&'a AnyStore>,
    policy: Policy,
    /// Warnings that stand and were spoken.
    told: BTreeSet<String>,
    failures: u32,
}

impl Keeper<'_> {
    /// Looks, warns, and does everything that is to be done. A failure keeps nothing else from being done;
    /// the last one is returned.
    async fn look(&mut self) -> Result<Option<Failure>> {
        // What an interrupted run sent is known before anything is decided: nothing of it can land after the
        // facts were read, and tomorrow's payment is not taken for today's.
        for sent in tx::settle_unasked(self.context, self.chain).await? {
            self.context.print(&Line::Settled(&sent))?;
            sent.acknowledge().await?;
        }
        let wallet = self.key.address();
        let read = facts::read(self.context, self.chain, self.agent, wallet, self.store);
        let (facts, mut record) = read.await?;
        record.keep()?;
        let plan = plan(&facts, &self.policy);
        self.warn(&plan.warnings)?;
        let actor = Actor {
            context: self.context,
            chain: self.chain,
            agent: self.agent,
            key: self.key,
            store: self.store,
        };
        let mut failed = None;
        for action in &plan.actions {
            match actor.act(action, &mut record).await {
                Ok(sent) => {
                    self.context.print(&Line::Done { action, sent: sent.as_ref() })?;
                    if let Some(sent) = sent {
                        sent.acknowledge().await?;
                    }
                }
                Err(failure) => {
                    let (reason, next) = (failure.message.as_str(), failure.next.as_deref());
                    self.context.print(&Line::Failed { action, code: failure.code, reason, next })?;
                    failed = Some(failure);
                }
            }
        }
        Ok(failed)
    }

    /// Says what was not said before; alarms are said every time.
    fn warn(&mut self, warnings: &[Warning]) -> Result<()> {
        let standing: BTreeSet<String> = warnings.iter().map(|warning| kind_of(&warning.text)).collect();
        for warning in warnings {
            if warning.alarm || !self.told.contains(&kind_of(&warning.text)) {
                self.context.print(&Line::Warning(warning))?;
            }
        }
        self.told = standing;
        Ok(())
    }

    fn after(&mut self, looked: Result<Option<Failure>>) -> Result<()> {
        let failure = match looked {
            Ok(None) => {
                self.failures = 0;
                return Ok(());
            }
            Ok(Some(failure)) | Err(failure) => failure,
        };
        if failure.is_closed_pipe() {
            return Err(failure);
        }
        self.failures = self.failures.saturating_add(1);
        crate::output::warn(&failure.message);
        if self.failures.is_multiple_of(WORRYING) {
            let error = Error::KeeperFailing { failures: self.failures, last: failure.message };
            crate::errors::Failure::from(error).show(self.context.error_format());
        }
        Ok(())
    }
}

/// A warning without its numbers, so that a counting deadline is not a new warning each time.
fn kind_of(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}
