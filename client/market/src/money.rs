//! The money table: who gets what when a contract or a round of it ends (decisions E4, E7, F1, F2).
//!
//! Each side deposits `bounty + judge fee` into an account of its own. A [`Payout`] says for each account who
//! gets which part of it; the parts sum to what the account holds, to the raw.

use serde::{Deserialize, Serialize};

pub use crate::court::{Court, Outcome};
pub use crate::fees::{Fees, inclusive_bond, platform_fee};
use crate::fees::{half_of, minus, plus, too_large};
use crate::parties::Side;
use crate::{Raw, Refusal, Result};

/// The reason for which money moves: how a contract or one of its rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// The fix works.
    Fulfilled,
    /// No fix in all attempts, or the review was rejected, and nobody objected.
    AttemptsExhausted,
    /// A party left within the grace period. After the agent's leaving only the agent's account is paid out.
    Grace,
    /// The agent left late: pays out the agent's own account only (decision E4).
    LateByAgent,
    /// The principal left late.
    LateByPrincipal,
    /// The principal left with a fix that it had read, and the agent did not object (decision E20).
    LateAfterFix,
    /// The judge did not rule in time, or the server was away for too long.
    Voided,
    /// The agent declined: pays out its own account only.
    BondReturned,
    /// Nobody took the contract, or the principal took it back. Pays out the principal's account only.
    Returned,
    /// The same after an agent left late: the posting fee is due (decision E4).
    ReturnedAfterLate,
    /// A court's decision that nobody can appeal any more. `impossible` is charged to nobody here: the judge's answer
    /// could not be read.
    Ruling(Outcome, Court),
    /// The same when a court has found that nobody could have done it: who called this court pays its fee.
    Impossible(Court, Side),
}

impl Settlement {
    /// Every settlement there is, with each outcome in each court.
    pub fn all() -> Vec<Settlement> {
        let mut all = vec![
            Settlement::Fulfilled,
            Settlement::AttemptsExhausted,
            Settlement::Grace,
            Settlement::LateByAgent,
            Settlement::LateByPrincipal,
            Settlement::LateAfterFix,
            Settlement::Voided,
            Settlement::BondReturned,
            Settlement::Returned,
            Settlement::ReturnedAfterLate,
        ];
        for court in Court::ALL {
            all.extend(Outcome::ALL.map(|outcome| Settlement::Ruling(outcome, court)));
            all.extend([Side::Principal, Side::Agent].map(|filer| Settlement::Impossible(court, filer)));
        }
        all
    }

    /// The word for it, as in `vectors/fix/escrow_routing.json`; with contract and round the key of the plan
    /// that pays it (decision F3). Neither the court nor who called it is in it.
    pub const fn kind(self) -> &'static str {
        match self {
            Settlement::Fulfilled => "fulfilled",
            Settlement::AttemptsExhausted => "canceled_attempts_exhausted",
            Settlement::Grace => "grace_cancel",
            Settlement::LateByAgent => "late_cancel_by_agent",
            Settlement::LateByPrincipal => "late_cancel_by_principal",
            Settlement::LateAfterFix => "late_cancel_after_fix",
            Settlement::Voided => "voided",
            Settlement::BondReturned => "bond_returned",
            Settlement::Returned => "returned",
            Settlement::ReturnedAfterLate => "returned_after_late_cancel",
            Settlement::Ruling(Outcome::Fulfilled, _) => "ruling_fulfilled",
            Settlement::Ruling(Outcome::Canceled, _) => "ruling_canceled",
            Settlement::Ruling(Outcome::Impossible, _) | Settlement::Impossible(..) => "ruling_impossible",
            Settlement::Ruling(Outcome::EvilAgent, _) => "ruling_evil_agent",
            Settlement::Ruling(Outcome::EvilPrincipal, _) => "ruling_evil_principal",
            Settlement::Ruling(Outcome::EvilBoth, _) => "ruling_evil_both",
        }
    }

    /// From the word and, for a ruling, the court. The bare words of a ruling (`canceled`, `evil_agent`, ...)
    /// are taken too when a court is given.
    pub fn from_words(kind: &str, court: Option<Court>) -> Option<Settlement> {
        let Some(court) = court else {
            return Settlement::all().into_iter().find(|s| s.court().is_none() && s.kind() == kind);
        };
        let word = kind.strip_prefix("ruling_").unwrap_or(kind);
        Outcome::from_word(word).map(|outcome| Settlement::Ruling(outcome, court))
    }

    /// The court that has ruled; `None` where none has.
    pub const fn court(self) -> Option<Court> {
        match self {
            Settlement::Ruling(_, court) | Settlement::Impossible(court, _) => Some(court),
            _ => None,
        }
    }

    /// The same with who called the court, which matters only where no side has won.
    pub const fn called_by(self, filer: Side) -> Settlement {
        match self {
            Settlement::Ruling(Outcome::Impossible, court) => Settlement::Impossible(court, filer),
            other => other,
        }
    }
}

/// A receiver of payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Payee {
    /// The party that posted the contract.
    Principal,
    /// The agent of the round that is settled.
    Agent,
    /// The platform, which also runs the judge.
    Platform,
    /// The charity address of the server's terms, which receives forfeited bounties.
    Charity,
}

impl From<Side> for Payee {
    fn from(side: Side) -> Payee {
        match side {
            Side::Principal => Payee::Principal,
            Side::Agent => Payee::Agent,
        }
    }
}

/// A part of an account, for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The party that receives the share.
    pub to: Payee,
    /// The amount in raw, above zero.
    pub amount: Raw,
}

/// Which accounts are paid out, and to whom. An account that is not paid out stays as it is. Shares stand in
/// the order of payment, one for each payee (decision F2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payout {
    /// Of the principal's account.
    pub principal_account: Option<Vec<Share>>,
    /// Of the agent's account.
    pub agent_account: Option<Vec<Share>>,
}

impl Payout {
    /// The sum that one payee gets out of both accounts, in raw.
    pub fn total(&self, to: Payee) -> Raw {
        let all = self.principal_account.iter().chain(&self.agent_account).flatten();
        // Cannot wrap: the shares are parts of two deposits that were summed before.
        Raw(all.filter(|share| share.to == to).map(|share| share.amount.0).fold(0, u128::saturating_add))
    }

    /// The sum that leaves both accounts, in raw.
    pub fn sum(&self) -> Raw {
        let all = self.principal_account.iter().chain(&self.agent_account).flatten();
        Raw(all.map(|share| share.amount.0).fold(0, u128::saturating_add))
    }

    /// The shares of one side's account, if it is paid out.
    pub fn account(&self, side: Side) -> Option<&[Share]> {
        match side {
            Side::Principal => self.principal_account.as_deref(),
            Side::Agent => self.agent_account.as_deref(),
        }
    }
}

/// The money table. `bounty` is the contract's; both sides are taken to have deposited [`inclusive_bond`].
/// 9100 or 9101 when fees and bounty do not fit together; with terms that passed [`crate::Terms::check`] and
/// a bounty in their range it always answers, and every account sums to its deposit.
pub fn payout(settlement: Settlement, bounty: Raw, fees: &Fees) -> Result<Payout> {
    use Payee::{Agent, Charity, Platform, Principal};
    let insurance = fees.judge_fee;
    let whole = inclusive_bond(fees, bounty)?;
    let fee = platform_fee(fees, bounty)?;
    let share = bounty.mul_div_floor(fees.cancel_fee_bp.into(), 20_000).ok_or_else(too_large)?;
    let less_fee = || minus(bounty, fee);
    let all = |to| Ok::<_, Refusal>(Some(vec![(to, whole)]));
    // The bounty after the platform's fee, with the insurance, back to the principal.
    let back_less_fee = || Ok::<_, Refusal>(Some(vec![(Principal, minus(whole, fee)?), (Platform, fee)]));
    let (principal, agent) = match settlement {
        Settlement::Fulfilled => {
            (Some(vec![(Agent, less_fee()?), (Principal, insurance), (Platform, fee)]), all(Agent)?)
        }
        Settlement::AttemptsExhausted => (back_less_fee()?, all(Agent)?),
        Settlement::Grace | Settlement::Voided | Settlement::Ruling(Outcome::Impossible, _) => {
            (all(Principal)?, all(Agent)?)
        }
        Settlement::LateByAgent => {
            let kept = minus(whole, plus(share, share)?)?;
            (None, Some(vec![(Agent, kept), (Principal, share), (Platform, share)]))
        }
        Settlement::LateByPrincipal => {
            let platform = plus(fee, share)?;
            let kept = minus(minus(whole, platform)?, share)?;
            (Some(vec![(Principal, kept), (Agent, share), (Platform, platform)]), all(Agent)?)
        }
        Settlement::LateAfterFix => {
            let half = half_of(bounty);
            let kept = minus(minus(whole, fee)?, half)?;
            (Some(vec![(Principal, kept), (Agent, half), (Platform, fee)]), all(Agent)?)
        }
        Settlement::BondReturned => (None, all(Agent)?),
        Settlement::Returned => (all(Principal)?, None),
        Settlement::ReturnedAfterLate => (back_less_fee()?, None),
        Settlement::Impossible(court, filer) => {
            let tier = court.fee(fees);
            let charged = |side| Ok::<_, Refusal>(Some(vec![(side, minus(whole, tier)?), (Platform, tier)]));
            match filer {
                Side::Principal => (charged(Principal)?, all(Agent)?),
                Side::Agent => (all(Principal)?, charged(Agent)?),
            }
        }
        Settlement::Ruling(outcome, court) => {
            let tier = court.fee(fees);
            let kept = minus(insurance, tier)?;
            // Out of the bounty that the evil side forfeits: the platform's fee, the rest to charity.
            let forfeited = |side| {
                let platform = plus(fee, tier)?;
                Ok::<_, Refusal>(Some(vec![(side, kept), (Platform, platform), (Charity, less_fee()?)]))
            };
            match outcome {
                Outcome::Fulfilled => {
                    let platform = plus(fee, tier)?;
                    (Some(vec![(Agent, less_fee()?), (Principal, kept), (Platform, platform)]), all(Agent)?)
                }
                Outcome::Canceled => {
                    (back_less_fee()?, Some(vec![(Agent, minus(whole, tier)?), (Platform, tier)]))
                }
                Outcome::EvilAgent => (all(Principal)?, forfeited(Agent)?),
                Outcome::EvilPrincipal => (forfeited(Principal)?, all(Agent)?),
                Outcome::EvilBoth => (
                    forfeited(Principal)?,
                    // The platform's fee is taken once.
                    Some(vec![(Agent, kept), (Platform, tier), (Charity, bounty)]),
                ),
                Outcome::Impossible => (all(Principal)?, all(Agent)?),
            }
        }
    };
    let shares = |parts: Option<Vec<(Payee, Raw)>>| {
        parts.map(|parts| {
            let parts = parts.into_iter().filter(|(_, amount)| !amount.is_zero());
            parts.map(|(to, amount)| Share { to, amount }).collect()
        })
    };
    let payout = Payout { principal_account: shares(principal), agent_account: shares(agent) };
    debug_assert!(
        [&payout.principal_account, &payout.agent_account]
            .into_iter()
            .flatten()
            .all(|shares| { Raw::checked_sum(shares.iter().map(|share| share.amount)) == Some(whole) }),
        "every account is paid out to the raw"
    );
    Ok(payout)
}

/// The sum over both accounts as `fix payout` shows it and `vectors/fix/escrow_routing.json` lists it. It
/// differs from [`payout`] in one row: for [`Settlement::LateByAgent`] it adds what the principal's account
/// pays when nobody takes the contract again (decision E4).
pub fn whole_row(settlement: Settlement, bounty: Raw, fees: &Fees) -> Result<Payout> {
    let mut row = payout(settlement, bounty, fees)?;
    if settlement == Settlement::LateByAgent {
        row.principal_account = payout(Settlement::ReturnedAfterLate, bounty, fees)?.principal_account;
    }
    Ok(row)
}
