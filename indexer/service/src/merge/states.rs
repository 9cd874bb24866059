//! What an account's state says about rows.

use super::{Merge, epoch_row};
use crate::parse::{State, Touched};
use crate::store::{FeedbackRow, signed};
use zx1_protocol::units::MicroUsdc;

/// Which states are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Those that count exactly the events that are here. One that is ahead rests on a transaction that is
    /// not indexed yet, and may never be: its slot may vanish.
    Same,
    /// Also those of accounts of whose life no event is here, if they were created in a slot that is final by
    /// now: history that no node has any more.
    AlsoUnknown {
        /// The last final slot.
        finalized: u64,
    },
    /// All of them: to close a gap.
    Any,
}

impl Trust {
    fn allows(self, last: Option<i64>, created: i64, counted: u64) -> bool {
        match (self, last) {
            (Self::Any, _) => true,
            (Self::AlsoUnknown { finalized }, None) => created <= signed(finalized),
            (Self::Same, None) => false,
            (_, Some(last)) => signed(counted) == last.saturating_add(1),
        }
    }
}

/// The life that a state is of, and how many events its account counts.
pub fn life_of(of: &Touched, state: &State) -> Option<(super::Life, u64)> {
    let (created, counted) = match state {
        State::Stake(Some(it)) => (it.created_slot, it.event_sequence),
        State::Lease(Some(it)) => (it.created_slot, it.event_sequence),
        State::Head(Some(it)) => (it.created_slot, it.event_sequence),
        State::Challenge(Some(it)) => (it.submitted_slot, it.event_sequence),
        _ => return None,
    };
    Some(((of.address().to_bytes(), signed(created)), counted))
}

impl Merge {
    /// Takes an account's state. `last` is the largest sequence number that is here of its life.
    pub fn state(&mut self, of: &Touched, state: State, last: Option<i64>, trust: Trust) {
        if let Some(((_, created), counted)) = life_of(of, &state)
            && !trust.allows(last, created, counted)
        {
            return;
        }
        match (of, state) {
            (Touched::Stake(mint), State::Stake(stake)) => {
                let agent = self.agent(*mint);
                match stake {
                    Some(stake) => {
                        agent.stake = Some(MicroUsdc(stake.stake_usdc));
                        agent.stake_since = Some(signed(stake.locked_since_slot));
                        agent.stake_created = Some(signed(stake.created_slot));
                        let queued = stake.in_unlock_queue == 1;
                        agent.unlock_slot = queued.then(|| signed(stake.unlock_available_slot));
                        // Its counter of challenges moves without an event of its own, so it may be ahead.
                        if trust == Trust::Any {
                            agent.open_challenges = i64::from(stake.open_challenges);
                        }
                    }
                    // A claim has its event; without it only a repair may say that the stake is gone.
                    None if trust != Trust::Any => {}
                    None => {
                        agent.stake = None;
                        agent.stake_since = None;
                        agent.stake_created = None;
                        agent.unlock_slot = None;
                    }
                }
            }
            (Touched::Lease(mint), State::Lease(Some(lease))) => {
                let agent = self.agent(*mint);
                agent.paid_through = Some(signed(lease.paid_through_epoch));
                agent.lease_paid_slot = Some(signed(lease.last_paid_slot));
            }
            (Touched::Head(mint), State::Head(Some(head))) => {
                let agent = self.agent(*mint);
                agent.batches = signed(head.count);
                agent.last_epoch = Some(signed(head.last_epoch));
                agent.last_batch_slot = Some(signed(head.last_slot));
                agent.head_digest = head.digest.to_vec();
            }
            (Touched::Challenge(address, created), State::Challenge(Some(account))) => {
                self.change_challenge((*address, signed(*created)), |challenge| {
                    let length = usize::from(account.expected_len);
                    challenge.expected =
                        account.expected_record.get(..length).filter(|it| !it.is_empty()).map(<[u8]>::to_vec);
                    if account.answered == 1 {
                        challenge.answered_slot = Some(signed(account.answered_slot));
                        challenge.answerer = Some(account.answerer.to_vec());
                    }
                    if account.resolved == 1 {
                        challenge.succeeded = Some(i64::from(account.succeeded));
                    }
                });
            }
            (Touched::Entry(index), State::Entry(Some((entry, text)))) => {
                let row = self.feedback.entry(signed(*index)).or_default();
                *row = FeedbackRow {
                    number: signed(entry.index),
                    timestamp: entry.timestamp,
                    slot: signed(entry.slot),
                    sender: entry.sender.into(),
                    payer: entry.payer.into(),
                    head: zx1_protocol::feedback_log::entry_digest::<zx1_protocol::hash::Sha3>(
                        &entry.previous_head,
                        entry.index,
                        entry.timestamp,
                        entry.slot,
                        &entry.sender,
                        &entry.payer,
                        text.as_bytes(),
                    )
                    .to_vec(),
                    previous_head: Some(entry.previous_head.to_vec()),
                    text: Some(crate::store::storable(&text)),
                    ..std::mem::take(row)
                };
            }
            (Touched::Resolution(index), State::Resolution(Some(resolution))) => {
                let row = self.feedback.entry(signed(*index)).or_default();
                row.number = signed(*index);
                row.resolution_slot = Some(signed(resolution.slot));
                row.contract_hash = Some(resolution.contract_hash.to_vec());
                row.fix_commit = Some(resolution.commit.to_vec());
                row.maintainer = Some(resolution.maintainer.into());
            }
            // An account that is gone says nothing more than the event of its closing did.
            _ => {}
        }
    }

    /// The agents' rows as rows of this epoch: at its end and after a rating.
    pub fn stand(&mut self, epoch: i64) {
        for (mint, agent) in &self.agents {
            self.epochs.insert((*mint, epoch), epoch_row(agent, epoch));
        }
    }
}
