//! What an account's state says about rows.

use super::{Merge, epoch_row};
use crate::parse::{State, Touched};
use crate::store::{FeedbackRow, KeyRow, TenureRow, signed};
use zx1_interface::accounts::{KeyAccount, StakeLockAccount, TenureAccount};
use zx1_interface::states::outcome;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::OPEN;
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
        State::Tenure(Some(it)) => (it.created_slot, it.event_sequence),
        State::Key(Some(it)) => (it.created_slot, it.event_sequence),
        State::Ask(Some(it)) => (it.created_slot, it.event_sequence),
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
            (Touched::Tenure(mint), State::Tenure(Some(tenure))) => {
                self.tenure_state(*mint, &tenure, trust == Trust::Any || last.is_none());
            }
            (Touched::Key(mint, _), State::Key(Some(key))) => self.key_state(*mint, &key),
            // A closing has its event; without it only a repair may say that the key is gone.
            (Touched::Key(mint, of), State::Key(None)) if trust == Trust::Any => {
                for key in self.keys.values_mut().filter(|key| key.agent == *mint && key.key == of) {
                    key.closed = 1;
                }
            }
            (Touched::Stake(mint, era), State::Stake(Some(stake))) => {
                self.stake_state(*mint, *era, &stake, trust == Trust::Any || last.is_none());
            }
            (Touched::Stake(mint, era), State::Stake(None)) if trust == Trust::Any => {
                if let Some(stake) = self.stakes.get_mut(&(*mint, i64::from(*era))) {
                    // When it was claimed is not known.
                    stake.claimed_slot = stake.claimed_slot.or(Some(0));
                    stake.unlock_slot = None;
                    self.restake(*mint);
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
                agent.head_digest = head.digest.to_vec();
                if head.count > 0 {
                    agent.last_epoch = Some(signed(head.last_epoch));
                    agent.last_batch_slot = Some(signed(head.last_slot));
                } else {
                    agent.first_epoch = Some(signed(head.last_epoch.saturating_add(1)));
                }
            }
            (Touched::Batch(mint, epoch), State::Batch(Some(batch))) if batch.withheld != 0 => {
                // When it was marked is not known.
                self.mark_withheld(*mint, *epoch, 0);
            }
            (Touched::Ask(address, created), State::Ask(Some(ask))) => {
                self.change_ask((*address, signed(*created)), |row| row.state = i64::from(ask.state));
            }
            (Touched::Challenge(address, created), State::Challenge(Some(account))) => {
                self.change_challenge((*address, signed(*created)), |challenge| {
                    let length = usize::from(account.expected_len);
                    challenge.expected =
                        account.expected_record.get(..length).filter(|it| !it.is_empty()).map(<[u8]>::to_vec);
                    challenge.outcome = i64::from(account.outcome);
                    challenge.challenger = account.challenger.to_vec();
                    challenge.rank = i64::from(account.rank);
                    if account.outcome != outcome::OPEN {
                        challenge.settled_slot = Some(signed(account.settled_slot));
                    }
                    if account.answerer != [0; 32] {
                        challenge.answerer = Some(account.answerer.to_vec());
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

    /// `knows_era` where the account may say which era it is: eras begin without an event of the tenure, so it may
    /// be ahead.
    fn tenure_state(&mut self, mint: AgentId, tenure: &TenureAccount, knows_era: bool) {
        let number = i64::from(tenure.number);
        let row = self.tenures.entry((mint, number)).or_insert_with(|| TenureRow {
            agent: mint,
            number,
            ..TenureRow::default()
        });
        row.owner = tenure.owner.to_vec();
        row.from_epoch = signed(tenure.from_epoch);
        let (owner, from_epoch, slot) = (row.owner.clone(), row.from_epoch, row.slot);
        let agent = self.agent(mint);
        agent.tenure = Some(number);
        (agent.tenure_owner, agent.tenure_from, agent.tenure_slot) = (Some(owner), Some(from_epoch), slot);
        if knows_era {
            agent.era = agent.era.max(i64::from(tenure.era));
        }
    }

    fn key_state(&mut self, mint: AgentId, key: &KeyAccount) {
        let created_slot = signed(key.created_slot);
        let row = KeyRow {
            agent: mint,
            key: key.key.to_vec(),
            created_slot,
            owner: key.owner.to_vec(),
            tenure: i64::from(key.tenure),
            scopes: i64::from(key.scopes),
            from_epoch: signed(key.from_epoch),
            until_epoch: Some(key.until_epoch).filter(|until| *until != OPEN).map(signed),
            ended_slot: Some(key.ended_slot).filter(|slot| *slot != 0).map(signed),
            closed: 0,
        };
        self.keys.insert((mint, key.key, created_slot), row);
    }

    /// `knows_counts` where the account may say what moves without an event of its own: its counter of challenges.
    fn stake_state(&mut self, mint: AgentId, era: u32, stake: &StakeLockAccount, knows_counts: bool) {
        let row = self.stake(mint, i64::from(era));
        row.owner = stake.owner.to_vec();
        row.stake = MicroUsdc(stake.stake_usdc);
        row.pot = MicroUsdc(stake.pot_usdc);
        row.since = Some(signed(stake.locked_since_slot));
        row.created_slot = Some(signed(stake.created_slot));
        row.unlock_slot = (stake.in_unlock_queue == 1).then(|| signed(stake.unlock_available_slot));
        row.ended_slot = Some(stake.ended_slot).filter(|slot| *slot != 0).map(signed);
        row.slashed_slot = Some(stake.slashed_slot).filter(|slot| *slot != 0).map(signed);
        if knows_counts {
            row.open_challenges = i64::from(stake.open_challenges);
        }
        self.restake(mint);
    }

    /// The agents' rows as rows of this epoch: at its end and after a rating.
    pub fn stand(&mut self, epoch: i64) {
        for (mint, agent) in &self.agents {
            self.epochs.insert((*mint, epoch), epoch_row(agent, epoch));
        }
    }
}
