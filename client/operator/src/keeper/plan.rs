//! What has to be done now, and what is coming: a pure function of what is known.

use crate::ask;
use crate::defaults::LOW_LAMPORTS;
use serde::Serialize;
use zx1_interface::constants::{GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH, MAX_BATCH_AGE_EPOCHS};
use zx1_protocol::challenge::{Clock, may_show, show_deadline};
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

/// Slots in an hour, at 400 ms each: only for warnings.
const SLOTS_PER_HOUR: u64 = 9_000;
/// Hours before the end of a challenge's window from which an unanswered one is an alarm.
const ALARM_HOURS: u64 = 12;
/// Hours before the end of an ask's time from which one that is not shown is an alarm.
const ASK_ALARM_HOURS: u64 = 3;

/// What the chain and the agent's files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Facts {
    pub epoch: Epoch,
    pub slot: Slot,
    /// What the keeper's key may not do for the agent.
    pub key: KeyFaults,
    /// Last epoch that is paid; None without a lease.
    pub paid_through: Option<Epoch>,
    /// The stake of the present era; None without one.
    pub stake: Option<Stake>,
    /// The smallest stake with which a batch lands.
    pub min_stake: MicroUsdc,
    /// Whether an unlock of the stake is queued: the owner is leaving.
    pub unlocking: bool,
    /// The wallet's USDC.
    pub usdc: MicroUsdc,
    pub lamports: u64,
    /// Whether the agent's chain of batches is open.
    pub has_head: bool,
    /// First epoch of the present tenure.
    pub tenure_from: Option<Epoch>,
    /// Epoch of the last batch on chain, or the one before the chain of batches was opened.
    pub last_batch: Option<Epoch>,
    /// A batch that was signed here, is not on chain, and may still land.
    pub signed: Option<Epoch>,
    /// The first epoch with entries that no batch on chain covers.
    pub first_unbatched: Option<Epoch>,
    /// Batches on chain whose data the place does not serve although it is here.
    pub not_served: Vec<Epoch>,
    pub challenges: Vec<Challenge>,
    /// Own challenges against others, by address.
    pub own_challenges: Vec<Challenge>,
    /// Asks for leaves of the agent's batches.
    pub asks: Vec<Ask>,
    /// Own asks for leaves of others.
    pub own_asks: Vec<Ask>,
    /// Batches on chain whose rent this wallet paid, and against whose era nothing is open.
    pub batches: Vec<Batch>,
    /// What the keeper spent today.
    pub spent_usdc: MicroUsdc,
    /// Lamports by which the wallet shrank today.
    pub spent_lamports: u64,
}

/// Why the keeper's key does not act for the agent, as clauses; None where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the scopes")]
pub struct KeyFaults {
    pub pay: Option<String>,
    pub batch: Option<String>,
}

/// The stake of the present era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Stake {
    pub amount: MicroUsdc,
    /// Whether the era has ended, so that nothing lands in it any more.
    pub ended: bool,
    /// Whether a challenge against it is open, so that nothing lands until it is settled.
    pub challenged: bool,
}

/// A challenge that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Challenge {
    /// Its address in base58.
    pub address: String,
    pub submitted: Slot,
    /// Whether a record can answer it.
    pub answerable: bool,
    /// Whether it can be settled as one that nothing answered.
    pub ripe: bool,
    /// Whether it was answered or resolved.
    pub settled: bool,
    /// Whether the era's order has moved past it.
    pub passed: bool,
}

/// An ask that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Ask {
    /// Its address in base58.
    pub address: String,
    pub created: Slot,
    /// As the account has it.
    pub state: u8,
    /// Whether its money has to wait for open challenges.
    pub waits: bool,
}

/// A batch that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Batch {
    pub epoch: Epoch,
    pub submitted: Slot,
}

/// What the owner allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Policy {
    pub cap_usdc: MicroUsdc,
    pub cap_lamports: u64,
    /// Epochs that the lease is kept paid beyond the present one.
    pub ahead: u64,
    /// Whether a place for batch data is known.
    pub uploads: bool,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Action {
    /// Show the record that a challenge asks for.
    Answer {
        /// Address of the challenge account, in base58.
        challenge: String,
    },
    /// Show a leaf that was asked for.
    Show {
        /// Address of the ask account, in base58.
        ask: String,
    },
    /// Open the agent's chain of batches.
    OpenHead,
    /// Pay the lease.
    PayLease {
        /// Number of epochs to pay.
        epochs: u64,
        /// Cost of these epochs.
        cost_micro_usdc: MicroUsdc,
    },
    /// Build and sign if need be, submit, upload.
    SubmitBatch {
        /// The epoch of the batch.
        epoch: u64,
    },
    /// Upload the data of a batch that is on chain.
    Upload {
        /// The epoch of the batch whose data is uploaded.
        epoch: u64,
    },
    /// Settle one of our challenges, after those of lower ranks.
    Resolve {
        /// Address of the challenge account, in base58.
        challenge: String,
    },
    /// Get a settled challenge's rent back.
    CloseChallenge {
        /// Address of the challenge account, in base58.
        challenge: String,
    },
    /// Mark a batch, get the money of an ask, or its rent.
    SettleAsk {
        /// Address of the ask account, in base58.
        ask: String,
    },
    /// Get a batch's rent back.
    CloseBatch {
        /// The epoch of the batch whose account is closed.
        epoch: u64,
    },
}

impl Action {
    /// Whether waiting a day costs more than doing it: such work ignores the cap on fees.
    pub fn is_urgent(&self) -> bool {
        matches!(
            self,
            Self::Answer { .. }
                | Self::Show { .. }
                | Self::PayLease { .. }
                | Self::OpenHead
                | Self::SubmitBatch { .. }
        )
    }
}

/// Something that the owner should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Warning {
    /// Whether money is lost if nobody acts.
    pub alarm: bool,
    pub what: Concern,
}

/// A condition that the keeper reports to the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concern {
    /// A challenge waits for its answer.
    Challenged {
        /// Address of the challenge account, in base58.
        challenge: String,
        /// Slots left until the answer window closes.
        slots: u64,
    },
    /// Nothing can answer a challenge: two bids of one batch contradict each other.
    Unanswerable {
        /// Address of the challenge account, in base58.
        challenge: String,
    },
    /// A leaf waits to be shown.
    Asked {
        /// Address of the ask account, in base58.
        ask: String,
        /// Slots left in which it can be shown.
        slots: u64,
    },
    /// The keeper's key cannot pay the lease.
    CannotPay {
        /// Why, as a clause.
        why: String,
    },
    /// The keeper's key cannot sign batches.
    CannotBatch {
        /// Why, as a clause.
        why: String,
    },
    /// The era has ended: a stake has to be locked in the next one.
    EraEnded,
    /// No batch can be submitted while a challenge against the era is open.
    EraChallenged,
    /// An unlock of the stake is queued, so the lease is left to die.
    Leaving,
    /// The agent never paid a lease, and the keeper does not begin one.
    NoLease,
    /// The lease is deactivated. The keeper does not bring it back by itself: it costs four epochs.
    Deactivated,
    /// The lease is behind.
    LeaseBehind {
        /// Number of days that are not paid.
        days: u64,
        /// Days until the agent is deactivated; 0 is tomorrow.
        left: u64,
    },
    /// The wallet has too little USDC for the lease.
    LittleUsdc {
        /// Balance of the wallet.
        micro_usdc: MicroUsdc,
    },
    /// The cap leaves days of lease unpaid.
    Capped {
        /// The daily spending cap.
        cap_micro_usdc: MicroUsdc,
        /// Amount spent today.
        spent_micro_usdc: MicroUsdc,
        /// Number of days that stay unpaid.
        days: u64,
    },
    /// No batch can be submitted, because the lease is not alive.
    BatchNeedsLease,
    /// No batch can be submitted, because the stake is below the least that counts.
    BatchNeedsStake {
        /// The least that counts.
        min_micro_usdc: MicroUsdc,
    },
    /// Messages of this epoch are too old for any batch.
    TooOld(Epoch),
    /// No place for batch data is set, so batches count as withheld.
    NoPlace,
    /// The wallet has little for fees.
    LittleSol {
        /// Balance of the wallet, in lamports.
        lamports: u64,
    },
    /// The cap on fees is reached.
    FeesCapped {
        /// Lamports spent on fees today.
        spent_lamports: u64,
        /// Actions that wait for tomorrow.
        left_out: usize,
    },
}

impl Concern {
    /// What it is about, without the numbers: a counting deadline is not a new concern each time.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Challenged { challenge, .. } | Self::Unanswerable { challenge } => challenge.clone(),
            Self::Asked { ask, .. } => ask.clone(),
            other => format!("{:?}", std::mem::discriminant(other)),
        }
    }
}

/// Actions in the order in which they are to be done, and warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Plan {
    pub actions: Vec<Action>,
    pub warnings: Vec<Warning>,
}

impl Plan {
    fn warn(&mut self, alarm: bool, what: Concern) {
        self.warnings.push(Warning { alarm, what });
    }
}

/// What has to be done. Answers come first: they have the deadline that costs the whole stake. Then the leaves that
/// are asked for, the lease, which a batch needs alive, then batches, then what only brings money back.
pub fn plan(facts: &Facts, policy: &Policy) -> Plan {
    let mut plan = Plan::default();
    challenges(facts, &mut plan);
    asks(facts, &mut plan);
    let alive = lease(facts, policy, &mut plan);
    batch(facts, policy, alive, &mut plan);
    settle(facts, &mut plan);
    fees(facts, policy, &mut plan);
    plan
}

fn challenges(facts: &Facts, plan: &mut Plan) {
    for challenge in facts.challenges.iter().filter(|it| !it.settled) {
        if !challenge.answerable {
            plan.warn(true, Concern::Unanswerable { challenge: challenge.address.clone() });
            continue;
        }
        let clock = Clock { submitted: challenge.submitted };
        if !clock.is_open(facts.slot) {
            continue;
        }
        let left = clock.deadline().0.saturating_sub(facts.slot.0);
        let alarm = left / SLOTS_PER_HOUR < ALARM_HOURS;
        plan.actions.push(Action::Answer { challenge: challenge.address.clone() });
        plan.warn(alarm, Concern::Challenged { challenge: challenge.address.clone(), slots: left });
    }
}

fn asks(facts: &Facts, plan: &mut Plan) {
    for ask in facts.asks.iter().filter(|ask| ask.state == ask::OPEN) {
        if !may_show(ask.created, facts.slot) {
            continue;
        }
        let left = show_deadline(ask.created).0.saturating_sub(facts.slot.0);
        let alarm = left / SLOTS_PER_HOUR < ASK_ALARM_HOURS;
        plan.actions.push(Action::Show { ask: ask.address.clone() });
        plan.warn(alarm, Concern::Asked { ask: ask.address.clone(), slots: left });
    }
}

/// Plans the lease; returns whether it is alive once that is done.
fn lease(facts: &Facts, policy: &Policy, plan: &mut Plan) -> bool {
    if facts.unlocking {
        plan.warn(false, Concern::Leaving);
        return false;
    }
    let state = facts.paid_through.map(|paid_through| Lease { paid_through }.state(facts.epoch));
    let Some(paid) = facts.paid_through else {
        plan.warn(false, Concern::NoLease);
        return false;
    };
    if state == Some(LeaseState::Deactivated) {
        plan.warn(true, Concern::Deactivated);
        return false;
    }
    let wanted = facts.epoch.0.saturating_add(policy.ahead);
    let missing = wanted.saturating_sub(paid.0);
    let behind = facts.epoch.0.saturating_sub(paid.0);
    if behind > 0 {
        let left = GRACE_PERIOD_EPOCHS.saturating_sub(behind);
        plan.warn(left == 0, Concern::LeaseBehind { days: behind, left });
    }
    if missing == 0 {
        return true;
    }
    if let Some(why) = &facts.key.pay {
        plan.warn(behind > 0, Concern::CannotPay { why: why.clone() });
        return true;
    }
    let allowed = policy.cap_usdc.saturating_sub(facts.spent_usdc).0 / LEASE_COST_PER_EPOCH;
    let affordable = facts.usdc.0 / LEASE_COST_PER_EPOCH;
    let epochs = missing.min(allowed).min(affordable);
    if epochs > 0 {
        let cost_micro_usdc = MicroUsdc(epochs.saturating_mul(LEASE_COST_PER_EPOCH));
        plan.actions.push(Action::PayLease { epochs, cost_micro_usdc });
    }
    if epochs < missing && affordable < missing.min(allowed) {
        plan.warn(behind > 0, Concern::LittleUsdc { micro_usdc: facts.usdc });
    } else if epochs < missing {
        let concern = Concern::Capped {
            cap_micro_usdc: policy.cap_usdc,
            spent_micro_usdc: facts.spent_usdc,
            days: missing.saturating_sub(epochs),
        };
        plan.warn(behind > epochs, concern);
    }
    // Even one epoch paid keeps a lease in grace alive.
    true
}

fn batch(facts: &Facts, policy: &Policy, alive: bool, plan: &mut Plan) {
    let last_over = Epoch(facts.epoch.0.saturating_sub(1));
    let oldest = Epoch(facts.epoch.0.saturating_sub(MAX_BATCH_AGE_EPOCHS));
    let covered = facts.last_batch.is_some_and(|last| last >= last_over);
    // Epochs up to a take-over were the former holder's.
    let early = facts.tenure_from.is_none_or(|from| last_over < from);
    let epoch = facts.signed.unwrap_or(last_over);
    let overdue = facts.first_unbatched.is_some_and(|first| first <= oldest);
    if let Some(stake) = facts.stake {
        let blocked = if stake.ended {
            Some(Concern::EraEnded)
        } else if !alive {
            Some(Concern::BatchNeedsLease)
        } else if stake.amount < facts.min_stake {
            Some(Concern::BatchNeedsStake { min_micro_usdc: facts.min_stake })
        } else if let Some(why) = &facts.key.batch {
            Some(Concern::CannotBatch { why: why.clone() })
        } else if stake.challenged {
            Some(Concern::EraChallenged)
        } else {
            None
        };
        match (facts.has_head, blocked) {
            // The epoch in which it is opened is the first that is covered, so the sooner the better.
            (false, _) => plan.actions.push(Action::OpenHead),
            (true, None) if covered || early => {}
            (true, None) => plan.actions.push(Action::SubmitBatch { epoch: epoch.0 }),
            (true, Some(why)) if covered || early => {
                // What is coming: the next batch would not land.
                if matches!(why, Concern::CannotBatch { .. } | Concern::EraEnded) {
                    plan.warn(false, why);
                }
            }
            (true, Some(why)) => plan.warn(overdue, why),
        }
    }
    // What was logged before the chain of batches was opened is accounted for by none.
    if let Some(first) = facts.first_unbatched.filter(|first| *first < oldest && !facts.has_head) {
        plan.warn(false, Concern::TooOld(first));
    }
    if policy.uploads {
        let uploads = facts.not_served.iter().map(|epoch| Action::Upload { epoch: epoch.0 });
        plan.actions.extend(uploads);
    } else {
        plan.warn(false, Concern::NoPlace);
    }
}

fn settle(facts: &Facts, plan: &mut Plan) {
    let over = |submitted: Slot| Clock { submitted }.is_over(facts.slot);
    for challenge in &facts.own_challenges {
        let challenge_address = || challenge.address.clone();
        if challenge.ripe {
            plan.actions.push(Action::Resolve { challenge: challenge_address() });
        } else if challenge.settled && challenge.passed && over(challenge.submitted) {
            plan.actions.push(Action::CloseChallenge { challenge: challenge_address() });
        }
    }
    let can_be_shown = |ask: &Ask| ask.state == ask::OPEN && may_show(ask.created, facts.slot);
    let due = |ask: &&Ask| !ask.waits && !can_be_shown(ask);
    let asks = facts.own_asks.iter().filter(due);
    plan.actions.extend(asks.map(|ask| Action::SettleAsk { ask: ask.address.clone() }));
    let closable = facts.batches.iter().filter(|batch| over(batch.submitted));
    plan.actions.extend(closable.map(|batch| Action::CloseBatch { epoch: batch.epoch.0 }));
}

fn fees(facts: &Facts, policy: &Policy, plan: &mut Plan) {
    if facts.lamports < LOW_LAMPORTS {
        plan.warn(facts.lamports < LOW_LAMPORTS / 10, Concern::LittleSol { lamports: facts.lamports });
    }
    if facts.spent_lamports >= policy.cap_lamports {
        let before = plan.actions.len();
        plan.actions.retain(Action::is_urgent);
        let left_out = before.saturating_sub(plan.actions.len());
        plan.warn(false, Concern::FeesCapped { spent_lamports: facts.spent_lamports, left_out });
    }
}

#[cfg(test)]
mod tests;
