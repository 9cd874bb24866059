//! What an action that succeeded led to, where the same action can lead to different things: the usual
//! sequences must reach each of them.

use crate::actions::Action;
use crate::state::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    /// The agent was sold, and its live keys ended with the former tenure.
    KeysTakenOver,
    /// The former tenure's stake ended with it.
    StakeTakenOver,
    /// A key acts at once, from the next tenure's first epoch, or after its notice.
    KeyAtOnce,
    KeyWithTenure,
    KeyAfterNotice,
    /// Ended before its first epoch.
    KeyEndedUnborn,
    /// By itself, when somebody else held the agent.
    KeyEndedItself,
    DealKeyClosed,
    PaidByKey,
    /// A stake of the next era, while the present one is challenged or over.
    NextEra,
    ClaimedByFormerOwner,
    ClaimedEnded,
    ClaimedSlashed,
    CoveredGap,
    CoveredFromTenure,
    /// Epochs before the last thirty stayed uncovered.
    LeftUncovered,
    OpenedRanked,
    OpenedUnranked,
    TookOver,
    AnsweredFirstRank,
    AnsweredLaterRank,
    /// The loser's part went to the treasury, as nothing was left of the stake.
    AnsweredForNothing,
    Slashed,
    SharedPot,
    DepositBurnt,
    DepositSpared,
    Fined,
    FineWaited,
    PriceBack,
}

impl Turn {
    pub(crate) const ALL: [Self; 29] = [
        Self::KeysTakenOver,
        Self::StakeTakenOver,
        Self::KeyAtOnce,
        Self::KeyWithTenure,
        Self::KeyAfterNotice,
        Self::KeyEndedUnborn,
        Self::KeyEndedItself,
        Self::DealKeyClosed,
        Self::PaidByKey,
        Self::NextEra,
        Self::ClaimedByFormerOwner,
        Self::ClaimedEnded,
        Self::ClaimedSlashed,
        Self::CoveredGap,
        Self::CoveredFromTenure,
        Self::LeftUncovered,
        Self::OpenedRanked,
        Self::OpenedUnranked,
        Self::TookOver,
        Self::AnsweredFirstRank,
        Self::AnsweredLaterRank,
        Self::AnsweredForNothing,
        Self::Slashed,
        Self::SharedPot,
        Self::DepositBurnt,
        Self::DepositSpared,
        Self::Fined,
        Self::FineWaited,
        Self::PriceBack,
    ];
}

/// The turns that an action took between two states.
pub(crate) fn of(before: &State, after: &State, action: &Action) -> Vec<Turn> {
    let mut all = Vec::new();
    let mut when = |holds: bool, turn| {
        if holds {
            all.push(turn);
        }
    };
    match *action {
        Action::TakeOver { agent, .. } => {
            let one = &before.agents[agent];
            when(!before.live_keys(agent).is_empty(), Turn::KeysTakenOver);
            when(one.stakes.contains_key(&one.era()), Turn::StakeTakenOver);
        }
        Action::AddKey { agent, key, .. } => {
            let notice = after.keys[&(agent, key)].from - after.epoch();
            when(notice == 0, Turn::KeyAtOnce);
            when(notice == 1, Turn::KeyWithTenure);
            when(notice == 2, Turn::KeyAfterNotice);
        }
        Action::EndKey { agent, who, key } => {
            let ended = &after.keys[&(agent, key)];
            when(ended.until.is_some_and(|until| until < ended.from), Turn::KeyEndedUnborn);
            when(who == key && before.agents[agent].holder != Some(who), Turn::KeyEndedItself);
        }
        Action::CloseKey { agent, key } => {
            when(before.keys[&(agent, key)].scopes & DEAL != 0, Turn::DealKeyClosed);
        }
        Action::Pay { agent, who, .. } => when(before.agents[agent].holder != Some(who), Turn::PaidByKey),
        Action::Lock { ahead, .. } => when(ahead == 1, Turn::NextEra),
        Action::Claim { agent, who, era } => {
            let stake = &before.agents[agent].stakes[&era];
            when(before.agents[agent].holder != Some(who), Turn::ClaimedByFormerOwner);
            when(stake.ended.is_some(), Turn::ClaimedEnded);
            when(stake.slashed.is_some(), Turn::ClaimedSlashed);
        }
        Action::SubmitBatch { agent, .. } => {
            let batch = after.batches.last().unwrap();
            let one = &before.agents[agent];
            let (head, tenure) = (one.head.as_ref().unwrap(), one.tenure.as_ref().unwrap());
            when(batch.covers_from < batch.epoch, Turn::CoveredGap);
            let followed = batch.covers_from == head.last_epoch + 1;
            when(!followed && batch.covers_from == tenure.from, Turn::CoveredFromTenure);
            when(!followed && batch.covers_from + COVERED - 1 == batch.epoch, Turn::LeftUncovered);
        }
        Action::Submit { who, nonce } => {
            let opened = after.challenges.len() > before.challenges.len();
            let used = after.drafts[&(who, nonce)].used;
            when(opened && used, Turn::OpenedRanked);
            when(opened && !used, Turn::OpenedUnranked);
            when(!opened, Turn::TookOver);
        }
        Action::Answer { challenge, .. } => {
            let one = &after.challenges[challenge];
            when(one.passed, Turn::AnsweredFirstRank);
            when(!one.passed, Turn::AnsweredLaterRank);
            let stake = before.stake_of(one.claim.batch);
            when(stake.is_some_and(|stake| stake.amount == 0), Turn::AnsweredForNothing);
        }
        Action::Resolve { challenge } => {
            let one = &after.challenges[challenge];
            let slashes = before.stake_of(one.claim.batch).is_some_and(|stake| stake.amount > 0);
            when(slashes, Turn::Slashed);
            when(!slashes && one.outcome == Outcome::Succeeded, Turn::SharedPot);
        }
        Action::CancelEvidence { who, nonce, .. } => {
            let used = before.drafts[&(who, nonce)].used;
            when(after.burnt > before.burnt, Turn::DepositBurnt);
            when(
                !used && after.drafts.get(&(who, nonce)).is_some_and(|draft| draft.used),
                Turn::DepositSpared,
            );
        }
        Action::SettleAsk { ask } => {
            let one = &after.asks[ask];
            let left = |state: &State| state.stake_of(one.batch).map_or(0, |stake| stake.amount);
            when(left(after) < left(before), Turn::Fined);
            when(one.state == Asked::Withheld, Turn::FineWaited);
            let settled = one.state == Asked::Settled;
            when(settled && left(after) == left(before), Turn::PriceBack);
        }
        _ => {}
    }
    all
}
