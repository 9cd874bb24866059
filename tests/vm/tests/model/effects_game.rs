//! What a move of the challenge game does that is not refused.

use crate::actions::Action;
use crate::rules::chunk;
use crate::rules_game::{holds, shown_to_cancel};
use crate::state::*;

/// Applies a move that must succeed.
pub(crate) fn perform(state: &mut State, action: &Action) {
    match *action {
        Action::Begin { who, nonce, batch, shown, rank } => begin(state, (who, nonce), batch, shown, rank),
        Action::Append { who, nonce, bytes } => {
            let draft = state.drafts.get_mut(&(who, nonce)).unwrap();
            draft.written += chunk(bytes, draft.len - draft.written);
        }
        Action::Seal { who, nonce, batch, ground } => {
            let draft = &state.drafts[&(who, nonce)];
            let claim = state.claim((batch, draft.batch), draft.shown, ground);
            state.drafts.get_mut(&(who, nonce)).unwrap().sealed = Some(claim);
        }
        Action::CancelEvidence { who, nonce, stake, challenge } => {
            cancel(state, (who, nonce), (stake, challenge));
        }
        Action::Submit { who, nonce } => submit(state, who, nonce),
        Action::Answer { challenge, who, .. } => answer(state, challenge, who),
        Action::Resolve { challenge } => resolve(state, challenge),
        Action::CloseChallenge { challenge } => {
            let challenge = &mut state.challenges[challenge];
            challenge.closed = true;
            state.wallets[challenge.payer].lamports += rent(CHALLENGE);
        }
        Action::PassDraft { who, nonce } => {
            let draft = state.drafts.get_mut(&(who, nonce)).unwrap();
            draft.state = Rank::Passed;
            let (agent, era) = (state.batches[draft.batch].agent, draft.era);
            state.agents[agent].stakes.get_mut(&era).unwrap().settled_rank += 1;
        }
        Action::PassChallenge { challenge } => {
            let challenge = &mut state.challenges[challenge];
            challenge.passed = true;
            let batch = challenge.claim.batch;
            state.stake_of_mut(batch).settled_rank += 1;
        }
        Action::SettleEra { agent, era } => {
            let stake = state.agents[agent].stakes.get_mut(&era).unwrap();
            state.treasury += std::mem::take(&mut stake.pot);
        }
        Action::Ask { batch, who, tree, index } => {
            state.wallets[who].usdc -= ASK_PRICE;
            state.wallets[who].lamports -= rent(ASK);
            let stake = state.stake_of_mut(batch);
            stake.deposits += ASK_PRICE;
            stake.open_asks += 1;
            stake.next_ask += 1;
            let (created, state_now) = (state.slot, Asked::Open);
            state.asks.push(Ask { batch, tree, index, asker: who, created, state: state_now, closed: false });
        }
        Action::Show { ask, who, .. } => {
            let batch = state.asks[ask].batch;
            state.asks[ask].state = Asked::Shown;
            let stake = state.stake_of_mut(batch);
            let to_stake = into_stake(stake, ASK_PRICE, ASK_TO_STAKE);
            stake.open_asks -= 1;
            state.wallets[who].usdc += ASK_TO_SHOWER;
            state.treasury += ASK_PRICE - ASK_TO_SHOWER - to_stake;
        }
        Action::SettleAsk { ask } => settle_ask(state, ask),
        Action::CloseAsk { ask } => {
            let ask = &mut state.asks[ask];
            ask.closed = true;
            state.wallets[ask.asker].lamports += rent(ASK);
        }
        ref other => unreachable!("no move of the game: {other:?}"),
    }
}

/// Takes a deposit out of what is held, and a part of it into the stake unless nothing is left of that;
/// returns what the stake got.
fn into_stake(stake: &mut Stake, deposit: u64, part: u64) -> u64 {
    stake.deposits -= deposit;
    let part = if stake.amount > 0 { part } else { 0 };
    stake.amount += part;
    part
}

fn begin(state: &mut State, nonce: Nonce, batch: usize, shown: Shown, rank: Option<u32>) {
    let enveloped = matches!(shown, Shown::Envelope { .. });
    let len = if enveloped { 0 } else { state.evidence(batch, shown).len() };
    let mut draft = Draft {
        batch,
        shown,
        len,
        written: 0,
        sealed: None,
        state: Rank::None,
        used: false,
        deposit: 0,
        begun: 0,
        rank: 0,
        era: 0,
    };
    if let Some(era) = rank {
        let stake = state.agents[state.batches[batch].agent].stakes.get_mut(&era).unwrap();
        let rank = stake.next_rank;
        stake.next_rank += 1;
        let (state, deposit, begun) = (Rank::Held, RANK_DEPOSIT, state.slot);
        draft = Draft { state, deposit, begun, rank, era, ..draft };
    }
    state.wallets[nonce.0].lamports -= rent(EVIDENCE_DRAFT + len) + draft.deposit;
    state.drafts.insert(nonce, draft);
}

fn cancel(state: &mut State, nonce: Nonce, (stake, challenge): (bool, bool)) {
    let shown = shown_to_cancel(state, &state.drafts[&nonce], stake, challenge);
    let draft = state.drafts.get_mut(&nonce).unwrap();
    let wallet = &mut state.wallets[nonce.0];
    let deposit = draft.deposit;
    if matches!(draft.state, Rank::Held | Rank::Swapped) && !shown.era_gone {
        // The order has not moved past it: only the deposit comes back.
        draft.deposit = 0;
        draft.used = true;
        wallet.lamports += deposit;
        return;
    }
    let burnt = if draft.used || shown.spared { 0 } else { deposit };
    state.burnt += burnt;
    wallet.lamports += rent(EVIDENCE_DRAFT + draft.len) + deposit - burnt;
    state.drafts.remove(&nonce);
}

fn submit(state: &mut State, who: usize, nonce: u64) {
    let ranked = holds(state, &state.drafts[&(who, nonce)]);
    let claim = state.drafts[&(who, nonce)].sealed.unwrap();
    let (slot, open) = (state.slot, state.challenge_of(&claim));
    let draft = state.drafts.get_mut(&(who, nonce)).unwrap();
    state.wallets[who].usdc -= CHALLENGE_STAKE;
    if let Some(open) = open {
        let challenge = &mut state.challenges[open];
        state.wallets[challenge.challenger].usdc += CHALLENGE_STAKE;
        challenge.challenger = who;
        std::mem::swap(&mut challenge.rank, &mut draft.rank);
        draft.state = Rank::Swapped;
        draft.used = true;
        return;
    }
    let mut rank = draft.rank;
    if ranked {
        draft.state = Rank::Used;
        draft.used = true;
    }
    let stake = state.stake_of_mut(claim.batch);
    if !ranked {
        rank = stake.next_rank;
        stake.next_rank += 1;
    }
    stake.deposits += CHALLENGE_STAKE;
    stake.open_challenges += 1;
    state.wallets[who].lamports -= rent(CHALLENGE);
    state.challenges.push(Challenge {
        claim,
        challenger: who,
        payer: who,
        rank,
        submitted: slot,
        outcome: Outcome::Open,
        passed: false,
        closed: false,
    });
}

fn answer(state: &mut State, challenge: usize, who: usize) {
    let (batch, rank) = (state.challenges[challenge].claim.batch, state.challenges[challenge].rank);
    let stake = state.stake_of_mut(batch);
    let to_stake = into_stake(stake, CHALLENGE_STAKE, LOST_TO_STAKE);
    stake.open_challenges -= 1;
    let first = stake.settled_rank == rank;
    stake.settled_rank += u32::from(first);
    let challenge = &mut state.challenges[challenge];
    challenge.outcome = Outcome::Answered;
    challenge.passed = first;
    state.wallets[who].usdc += LOST_TO_ANSWERER;
    state.treasury += CHALLENGE_STAKE - LOST_TO_ANSWERER - to_stake;
}

fn resolve(state: &mut State, challenge: usize) {
    let slot = state.slot;
    let (batch, rank) = (state.challenges[challenge].claim.batch, state.challenges[challenge].rank);
    let stake = state.stake_of_mut(batch);
    let mut to_treasury = 0;
    let nothing_left = stake.amount == 0 && stake.pot == 0;
    if stake.amount > 0 {
        // Two fifths are the finders', one half of what is left of them each one's.
        let finders = stake.amount * 2 / 5;
        to_treasury += stake.amount - finders;
        stake.pot += finders;
        stake.amount = 0;
        stake.slashed = Some(slot);
        stake.ended.get_or_insert(slot);
    }
    let reward = stake.pot / 2;
    stake.pot -= reward;
    if stake.open_challenges == 1 && rank + 1 == stake.next_rank {
        to_treasury += std::mem::take(&mut stake.pot);
    }
    stake.deposits -= CHALLENGE_STAKE;
    stake.open_challenges -= 1;
    stake.settled_rank += 1;
    let challenge = &mut state.challenges[challenge];
    challenge.outcome = if nothing_left { Outcome::NothingLeft } else { Outcome::Succeeded };
    challenge.passed = true;
    state.wallets[challenge.challenger].usdc += CHALLENGE_STAKE + reward;
    state.treasury += to_treasury;
}

fn settle_ask(state: &mut State, ask: usize) {
    let (batch, asker, was) = (state.asks[ask].batch, state.asks[ask].asker, state.asks[ask].state);
    let withheld = state.batches[batch].withheld;
    let challenged = state.stake_of_mut(batch).open_challenges > 0;
    // The first ask of a batch that nobody answers marks it, and alone takes the fine, once no challenge is
    // before it.
    let marks = was == Asked::Open && !withheld;
    state.batches[batch].withheld = true;
    if marks && challenged {
        state.asks[ask].state = Asked::Withheld;
        return;
    }
    state.asks[ask].state = Asked::Settled;
    let stake = state.stake_of_mut(batch);
    let fine = if marks || was == Asked::Withheld { FINE.min(stake.amount) } else { 0 };
    let to_asker = FINE_TO_ASKER.min(fine);
    stake.amount -= fine;
    stake.deposits -= ASK_PRICE;
    stake.open_asks -= 1;
    state.wallets[asker].usdc += ASK_PRICE + to_asker;
    state.treasury += fine - to_asker;
}
