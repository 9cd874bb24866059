//! What has to be done now, and what is coming: a pure function of what is known.

use crate::defaults::LOW_LAMPORTS;
use serde::Serialize;
use zx1_interface::constants::{GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH, MAX_BATCH_AGE_EPOCHS, MIN_STAKE};
use zx1_protocol::challenge::Clock;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

/// Slots in an hour, at 400 ms each: only for warnings.
const SLOTS_PER_HOUR: u64 = 9_000;
/// Hours before the end of a challenge's window from which an unanswered one is an alarm.
const ALARM_HOURS: u64 = 12;

/// What the chain and the agent's files say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Facts {
    pub epoch: Epoch,
    pub slot: Slot,
    /// Last epoch that is paid; None without a lease.
    pub paid_through: Option<Epoch>,
    /// The stake; None without one.
    pub stake: Option<MicroUsdc>,
    /// Whether an unlock of the stake is queued: the owner is leaving.
    pub unlocking: bool,
    /// The wallet's USDC.
    pub usdc: MicroUsdc,
    pub lamports: u64,
    /// Epoch of the last batch on chain.
    pub last_batch: Option<Epoch>,
    /// A batch that was signed here, is not on chain, and still may be submitted.
    pub signed: Option<Epoch>,
    /// The first epoch with entries that no batch on chain covers.
    pub first_unbatched: Option<Epoch>,
    /// Batches on chain whose data the place does not serve although it is here.
    pub not_served: Vec<Epoch>,
    pub challenges: Vec<Challenge>,
    /// Own challenges against others, by address.
    pub own_challenges: Vec<Challenge>,
    /// Batches on chain whose rent this wallet paid.
    pub batches: Vec<Batch>,
    /// What the keeper spent today.
    pub spent_usdc: MicroUsdc,
    /// Lamports by which the wallet shrank today.
    pub spent_lamports: u64,
}

/// A challenge that is on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Challenge {
    /// Its address in base58.
    pub address: String,
    pub submitted: Slot,
    /// Whether the record was shown.
    pub answered: bool,
    pub resolved: bool,
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
    /// Settle a challenge.
    Resolve {
        /// Address of the challenge account, in base58.
        challenge: String,
    },
    /// Get a settled challenge's rent back.
    CloseChallenge {
        /// Address of the challenge account, in base58.
        challenge: String,
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
        matches!(self, Self::Answer { .. } | Self::PayLease { .. } | Self::SubmitBatch { .. })
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
    BatchNeedsStake,
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
            Self::Challenged { challenge, .. } => challenge.clone(),
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

/// What has to be done. Answers come first: they have the deadline that costs the whole stake. Then the lease,
/// which a batch needs alive, then batches, then what only brings money back.
pub fn plan(facts: &Facts, policy: &Policy) -> Plan {
    let mut plan = Plan::default();
    challenges(facts, &mut plan);
    let alive = lease(facts, policy, &mut plan);
    batch(facts, policy, alive, &mut plan);
    settle(facts, &mut plan);
    fees(facts, policy, &mut plan);
    plan
}

fn challenges(facts: &Facts, plan: &mut Plan) {
    for challenge in facts.challenges.iter().filter(|it| !it.answered && !it.resolved) {
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
    let epoch = facts.signed.unwrap_or(last_over);
    if !covered && facts.stake.is_some() {
        let blocked = if !alive {
            Some(Concern::BatchNeedsLease)
        } else if facts.stake.is_none_or(|stake| stake < MicroUsdc(MIN_STAKE)) {
            Some(Concern::BatchNeedsStake)
        } else {
            None
        };
        match blocked {
            None => plan.actions.push(Action::SubmitBatch { epoch: epoch.0 }),
            Some(why) => plan.warn(facts.first_unbatched.is_some_and(|first| first <= oldest), why),
        }
    }
    // The first batch covers its own epoch only; messages before it are accounted for by none.
    if let Some(first) = facts.first_unbatched.filter(|first| *first < oldest && facts.last_batch.is_none()) {
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
    for challenge in facts.challenges.iter().chain(&facts.own_challenges) {
        // Whoever lost has no hurry; but an answered one against us holds up closing, and one of ours is
        // money.
        if !challenge.resolved && over(challenge.submitted) {
            plan.actions.push(Action::Resolve { challenge: challenge.address.clone() });
        }
    }
    for challenge in facts.own_challenges.iter().filter(|it| it.resolved) {
        plan.actions.push(Action::CloseChallenge { challenge: challenge.address.clone() });
    }
    let none_open = facts.challenges.iter().all(|challenge| challenge.resolved);
    if none_open {
        let closable = facts.batches.iter().filter(|batch| over(batch.submitted));
        plan.actions.extend(closable.map(|batch| Action::CloseBatch { epoch: batch.epoch.0 }));
    }
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
