//! The keeper: what an agent must do every day, within a spending cap.
//!
//! With one key of scopes pay and batch it pays the lease, builds, signs, submits and uploads the batch of every
//! epoch, answers challenges from the saved batches and asks from the log, settles its own challenges in their
//! order, and closes what can be closed, so that rent comes back. What fails once is tried again at the next look,
//! and a crash repeats nothing.

mod act;
mod facts;
mod plan;
mod record;

pub use plan::{Action, Concern, Facts, Plan, Policy, Warning, plan};

use crate::error::{Error, Result};
use crate::operator::{Agent, Operator, Wallet};
use crate::send::Sent;
use solana_address::Address;
use std::collections::BTreeSet;
use zx1_log::AnyStore;

/// What a poll found and did, in the order in which it happens.
pub enum Event<'a> {
    /// A transaction that an interrupted run had sent has settled.
    Settled(&'a Sent),
    /// A warning. It is reported once while it holds, and an alarm at every poll.
    Warning(&'a Warning),
    /// Done; with the transaction, if one had to be sent.
    Done(&'a Action, Option<&'a Sent>),
    /// The action failed. The other actions are tried all the same.
    Failed(&'a Action, &'a Error),
}

/// Keeps one agent.
pub struct Keeper<'a> {
    operator: &'a Operator,
    agent: &'a Agent,
    key: &'a Wallet,
    store: Option<&'a AnyStore>,
    policy: Policy,
    /// Concerns that stand and were spoken of.
    told: BTreeSet<String>,
}

impl<'a> Keeper<'a> {
    /// A keeper that has not polled yet.
    pub fn new(
        operator: &'a Operator,
        agent: &'a Agent,
        key: &'a Wallet,
        store: Option<&'a AnyStore>,
        policy: Policy,
    ) -> Self {
        Self { operator, agent, key, store, policy, told: BTreeSet::new() }
    }

    /// Looks, warns, and does everything that is to be done. A failure keeps nothing else from being done; the
    /// last one is returned. `tell` is called for each thing that happens, before the next one.
    ///
    /// # Errors
    /// What `tell` returns, and what keeps everything from being looked at.
    pub async fn look<E: From<Error>>(
        &mut self,
        mut tell: impl FnMut(&Event<'_>) -> Result<(), E>,
    ) -> Result<Option<Error>, E> {
        // What an interrupted run sent is known before anything is decided: nothing of it can land after the
        // facts were read, and tomorrow's payment is not taken for today's.
        for sent in self.operator.settle_unasked().await? {
            tell(&Event::Settled(&sent))?;
            sent.acknowledge().await?;
        }
        let read = facts::read(self.operator, self.agent, self.key.address(), self.store);
        let (facts, mut record) = read.await?;
        record.keep()?;
        let plan = plan(&facts, &self.policy);
        let standing = plan.warnings.iter().map(|warning| warning.what.kind()).collect();
        for warning in &plan.warnings {
            if warning.alarm || !self.told.contains(&warning.what.kind()) {
                tell(&Event::Warning(warning))?;
            }
        }
        self.told = standing;
        let mut failed = None;
        for action in &plan.actions {
            match self.act(action, &mut record).await {
                Ok(sent) => {
                    tell(&Event::Done(action, sent.as_ref()))?;
                    if let Some(sent) = sent {
                        sent.acknowledge().await?;
                    }
                }
                Err(error) => {
                    tell(&Event::Failed(action, &error))?;
                    failed = Some(error);
                }
            }
        }
        Ok(failed)
    }
}

impl Operator {
    /// What a keeper would do now, and from which facts. Nothing is written.
    pub async fn keeper_plan(
        &self,
        agent: &Agent,
        wallet: Address,
        store: Option<&AnyStore>,
        policy: &Policy,
    ) -> Result<(Facts, Plan)> {
        let (facts, _) = facts::read(self, agent, wallet, store).await?;
        let plan = plan(&facts, policy);
        Ok((facts, plan))
    }
}
