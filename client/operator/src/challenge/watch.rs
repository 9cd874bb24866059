//! Answering challenges against an agent as they come, from the saved batches.

use super::{OPEN, clock};
use crate::error::{Error, Result};
use crate::facts::slots_left;
use crate::operator::{Agent, Operator, Wallet};
use crate::send::Sent;
use solana_address::Address;
use std::collections::BTreeSet;
use zx1_chain::rpc::{ChallengeFilter, Stored};
use zx1_interface::accounts::ChallengeAccount;
use zx1_log::AnyStore;

/// Result of one poll. Each is reported before the next challenge is examined.
pub enum Event<'a> {
    /// The challenge was answered.
    Answered(&'a ChallengeAccount, Address, &'a Sent),
    /// The challenge cannot be answered now. Reported once for each challenge, with the slots that are left.
    CannotAnswer(&'a ChallengeAccount, Address, u64, &'a Error),
}

/// Watches the challenges against one agent.
pub struct Watch<'a> {
    operator: &'a Operator,
    agent: &'a Agent,
    key: &'a Wallet,
    store: Option<&'a AnyStore>,
    /// Challenges that cannot be answered and were spoken of.
    told: BTreeSet<Address>,
}

impl<'a> Watch<'a> {
    /// Begins; nothing is asked yet.
    pub fn new(
        operator: &'a Operator,
        agent: &'a Agent,
        key: &'a Wallet,
        store: Option<&'a AnyStore>,
    ) -> Self {
        Self { operator, agent, key, store, told: BTreeSet::new() }
    }

    /// The agent's challenges that wait for an answer.
    pub async fn open(&self) -> Result<Vec<Stored<ChallengeAccount>>> {
        let now = self.operator.now().await?.slot;
        let filter = ChallengeFilter::Agent(self.agent.mint);
        let mut challenges = self.operator.client().challenges(filter).await?;
        challenges.retain(|it| it.outcome == OPEN && it.expected_len > 0 && clock(it).is_open(now));
        Ok(challenges)
    }

    /// Answers what is open. One that fails does not keep the others from being answered; the last failure
    /// is returned. `tell` is called after each.
    ///
    /// # Errors
    /// What `tell` returns, and what keeps everything from being looked at.
    pub async fn look<E: From<Error>>(
        &mut self,
        mut tell: impl FnMut(&Event<'_>) -> Result<(), E>,
    ) -> Result<Option<Error>, E> {
        let mut failed = None;
        // What an interrupted run sent is known before it is answered again.
        for sent in self.operator.settle_unasked().await? {
            sent.acknowledge().await?;
        }
        for challenge in self.open().await? {
            match self.operator.answer_unasked(&challenge, self.agent, self.key, self.store).await {
                Ok(sent) => {
                    tell(&Event::Answered(&challenge, challenge.address, &sent))?;
                    sent.acknowledge().await?;
                }
                Err(error) => {
                    if self.told.insert(challenge.address) {
                        let now = self.operator.now().await?.slot;
                        let left = slots_left(clock(&challenge).deadline().0, now.0);
                        tell(&Event::CannotAnswer(&challenge, challenge.address, left, &error))?;
                    }
                    failed = Some(error);
                }
            }
        }
        Ok(failed)
    }
}
