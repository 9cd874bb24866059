//! When a move of the challenge game must be refused (decisions B10 to B12 and P4).

use crate::actions::Action;
use crate::rules::*;
use crate::state::*;
use crate::wire;

/// How Anchor refuses a writable account that is given twice.
const GIVEN_TWICE: u32 = 2040;
const UNKNOWN_GROUND: u32 = 6080;
const INDEX_OUT_OF_RANGE: u32 = 6084;
const NOT_AGENTS_ENTRY: u32 = 6087;
const NO_GROUND: u32 = 6088;
const PAYLOAD_NOT_ALLOWED: u32 = 6093;
const PAYLOAD_TOO_LONG: u32 = 6094;
const NOT_DOUBLE_BID: u32 = 6097;
const CHALLENGE_WINDOW_OVER: u32 = 6098;
const CHALLENGE_EXISTS: u32 = 6099;
const ANSWER_TOO_LATE: u32 = 6100;
const ALREADY_ANSWERED: u32 = 6101;
const NO_ANSWER: u32 = 6102;
const ALREADY_RESOLVED: u32 = 6103;
const NOT_RESOLVED: u32 = 6104;
const OUTSIDE_EPOCHS: u32 = 6105;
const WRONG_ENVELOPE_SIGNER: u32 = 6106;
const ERA_EMPTY: u32 = 6107;
const WRONG_RECORD: u32 = 6109;
const LOWER_RANK_OPEN: u32 = 6110;
const RANK_NOT_PASSABLE: u32 = 6111;
const RANK_NOT_PASSED: u32 = 6112;
const COMMIT_MISMATCH: u32 = 6113;
const STRONGER_CLAIM_OPEN: u32 = 6114;
const WRONG_ERA_OF_BATCH: u32 = 6115;
const NOT_SEALED: u32 = 6116;
const ALREADY_SEALED: u32 = 6117;
const ALREADY_USED: u32 = 6118;
const UNKNOWN_TREE: u32 = 6119;
const INVALID_DRAFT_LENGTH: u32 = 6120;
const ASK_TOO_LATE: u32 = 6130;
const ASK_EXISTS: u32 = 6131;
const SHOW_TOO_LATE: u32 = 6132;
const SHOW_NOT_OVER: u32 = 6133;
const ASK_SETTLED: u32 = 6134;
const WRONG_LEAF: u32 = 6137;
const BATCH_WITHHELD: u32 = 6138;
/// A proof that does not hold: its length, its index, its path, or a tree without entries.
const PROOF: [u32; 4] = [6083, 6084, 6085, 6086];

/// Adds why a move must be refused.
pub(crate) fn reasons(found: &mut Reasons, state: &State, action: &Action) {
    match *action {
        Action::Begin { who, nonce, batch, shown, rank } => {
            found.when(state.drafts.contains_key(&(who, nonce)), ACCOUNT_EXISTS);
            let enveloped = matches!(shown, Shown::Envelope { .. });
            found.when(rank.is_none() && enveloped, INVALID_DRAFT_LENGTH);
            if let Some(era) = rank {
                let stake = state.agents[state.batches[batch].agent].stakes.get(&era);
                unless_winnable(found, stake);
            }
        }
        Action::Append { who, nonce, bytes } => {
            let draft = state.drafts.get(&(who, nonce));
            found.when(draft.is_some_and(|draft| draft.sealed.is_some()), ALREADY_SEALED);
            append(found, draft.map(|draft| (draft.len, draft.written)), bytes);
        }
        Action::Seal { who, nonce, batch, ground } => match state.drafts.get(&(who, nonce)) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(draft) => seal(found, state, draft, batch, ground),
        },
        Action::CancelEvidence { who, nonce, stake, challenge } => match state.drafts.get(&(who, nonce)) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(draft) => {
                let shown = shown_to_cancel(state, draft, stake, challenge);
                let in_order = matches!(draft.state, Rank::Held | Rank::Swapped) && !shown.era_gone;
                found.when(in_order && !(shown.spared && draft.deposit > 0), RANK_NOT_PASSED);
            }
        },
        Action::Submit { who, nonce } => match state.drafts.get(&(who, nonce)) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(draft) => submit(found, state, draft, who),
        },
        Action::Answer { challenge, right, .. } => answer(found, state, challenge, right),
        Action::Resolve { challenge } => {
            let one = &state.challenges[challenge];
            let stake = state.stake_of(one.claim.batch);
            found.when(one.closed || stake.is_none(), ACCOUNT_MISSING);
            found.when(one.outcome != Outcome::Open, ALREADY_RESOLVED);
            let answerable = one.claim.ground != 5;
            found.when(answerable && !state.is_over(one.submitted), WINDOW_NOT_OVER);
            found.when(stake.is_some_and(|stake| stake.settled_rank != one.rank), LOWER_RANK_OPEN);
        }
        Action::CloseChallenge { challenge } => {
            let one = &state.challenges[challenge];
            found.when(one.closed, ACCOUNT_MISSING);
            found.when(one.outcome == Outcome::Open, NOT_RESOLVED);
            found.when(!state.is_over(one.submitted), WINDOW_NOT_OVER);
            found.when(!one.passed && state.stake_of(one.claim.batch).is_some(), RANK_NOT_PASSED);
        }
        Action::PassDraft { who, nonce } => match state.drafts.get(&(who, nonce)) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(draft) => {
                let lapsed = draft.state == Rank::Held && !State::rank_holds(draft.begun, state.slot);
                found.when(!lapsed && draft.state != Rank::Swapped, RANK_NOT_PASSABLE);
                let agent = state.batches[draft.batch].agent;
                let stake = state.agents[agent].stakes.get(&draft.era).filter(|_| draft.state != Rank::None);
                unless_next(found, stake, draft.rank);
            }
        },
        Action::PassChallenge { challenge } => {
            let one = &state.challenges[challenge];
            found.when(one.closed, ACCOUNT_MISSING);
            found.when(one.outcome == Outcome::Open || one.passed, RANK_NOT_PASSABLE);
            unless_next(found, state.stake_of(one.claim.batch), one.rank);
        }
        Action::SettleEra { agent, era } => match state.agents[agent].stakes.get(&era) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(stake) => {
                found.when(stake.pot == 0, ERA_EMPTY);
                found.when(stake.open_challenges > 0, OPEN_CHALLENGES);
                found.when(stake.settled_rank != stake.next_rank, RANKS_OUTSTANDING);
            }
        },
        Action::Ask { batch, who, tree, index } => ask(found, state, (batch, tree, index), who),
        Action::Show { ask, right, .. } => {
            let one = &state.asks[ask];
            unless_askable(found, state, one);
            found.when(one.state != Asked::Open, ASK_SETTLED);
            found.when(state.slot > one.created + SHOW_SLOTS, SHOW_TOO_LATE);
            found.any(!right, &PROOF);
            found.when(!right, WRONG_LEAF);
        }
        Action::SettleAsk { ask } => {
            let one = &state.asks[ask];
            unless_askable(found, state, one);
            let open = state.stake_of(one.batch).is_some_and(|stake| stake.open_challenges > 0);
            match one.state {
                Asked::Open => found.when(state.slot <= one.created + SHOW_SLOTS, SHOW_NOT_OVER),
                Asked::Withheld => found.when(open, OPEN_CHALLENGES),
                Asked::Shown | Asked::Settled => found.when(true, ASK_SETTLED),
            }
        }
        Action::CloseAsk { ask } => {
            let one = &state.asks[ask];
            found.when(one.closed, ACCOUNT_MISSING);
            found.when(matches!(one.state, Asked::Open | Asked::Withheld), ASK_NOT_SETTLED);
        }
        ref other => unreachable!("no move of the game: {other:?}"),
    }
}

/// What cancel_evidence is shown of an unused rank.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShownToCancel {
    /// A slash emptied the era while it held, or a lower one took its claim meanwhile.
    pub(crate) spared: bool,
    /// Its era was claimed.
    pub(crate) era_gone: bool,
}

/// What a draft is shown when it is canceled.
pub(crate) fn shown_to_cancel(state: &State, draft: &Draft, stake: bool, challenge: bool) -> ShownToCancel {
    let mut shown = ShownToCancel::default();
    if draft.state == Rank::None {
        return shown;
    }
    if stake {
        let era = state.agents[state.batches[draft.batch].agent].stakes.get(&draft.era);
        shown.era_gone = era.is_none();
        let slashed = era.and_then(|stake| stake.slashed);
        shown.spared =
            slashed.is_some_and(|slot| slot >= draft.begun && State::rank_holds(draft.begun, slot));
    }
    let opened = draft.sealed.filter(|_| challenge).and_then(|claim| state.challenge_of(&claim));
    if let Some(opened) = opened {
        let by = &state.challenges[opened];
        shown.spared |= by.rank < draft.rank && by.submitted >= draft.begun;
    }
    shown
}

fn unless_winnable(found: &mut Reasons, stake: Option<&Stake>) {
    match stake {
        None => found.when(true, ACCOUNT_MISSING),
        Some(stake) => found.when(stake.amount == 0 && stake.pot == 0, ERA_EMPTY),
    }
}

/// Whether the rank is the next that its era's order moves past.
fn unless_next(found: &mut Reasons, stake: Option<&Stake>, rank: u32) {
    match stake {
        None => found.when(true, ACCOUNT_MISSING),
        Some(stake) => found.when(stake.settled_rank != rank, RANK_NOT_PASSABLE),
    }
}

fn unless_askable(found: &mut Reasons, state: &State, ask: &Ask) {
    let gone = ask.closed || state.batches[ask.batch].closed || state.stake_of(ask.batch).is_none();
    found.when(gone, ACCOUNT_MISSING);
}

fn seal(found: &mut Reasons, state: &State, draft: &Draft, against: usize, ground: u8) {
    let (one, from) = (&state.batches[against], &state.batches[draft.batch]);
    found.when(one.closed, ACCOUNT_MISSING);
    found.when(draft.sealed.is_some(), ALREADY_SEALED);
    found.when(draft.written != draft.len, DRAFT_INCOMPLETE);
    found.when(state.is_over(one.submitted), CHALLENGE_WINDOW_OVER);
    found.when(!(1..=5).contains(&ground), UNKNOWN_GROUND);
    if draft.state != Rank::None {
        found.when(one.agent != from.agent, WRONG_AGENT);
        found.when(one.era != draft.era, WRONG_ERA_OF_BATCH);
        found.when(against != draft.batch, COMMIT_MISMATCH);
    }
    match draft.shown {
        Shown::Entry { message, payload } => {
            // Evidence from another batch holds only where both logs are the same, which two epochs or agents
            // never have.
            let logged = from.content.log_place(message).is_some() && against == draft.batch;
            found.any(!logged, &PROOF);
            found.when(against != draft.batch, NOT_AGENTS_ENTRY);
            found.when(!RECORDS.contains(&(message, ground)), NO_GROUND);
            found.when(payload && ground != 1, PAYLOAD_NOT_ALLOWED);
        }
        Shown::Bids => {
            found.when(ground != 5, NO_GROUND);
            let both = from.content.record_place(wire::PROPOSE, 1).is_some() && from.content.doubled;
            if !both || against != draft.batch {
                // What is shown instead is a bid that is not there.
                found.any(true, &PROOF);
                found.when(true, NOT_DOUBLE_BID);
            }
        }
        Shown::Envelope { message, epoch, signer } => {
            found.when(one.agent != from.agent, NOT_AGENTS_ENTRY);
            found.when(message == wire::LONG, PAYLOAD_TOO_LONG);
            let kind = if message == wire::LONG { wire::PROPOSE } else { message };
            found.when(ground == 4 || !RECORDS.contains(&(kind, ground)), NO_GROUND);
            found.when(!(one.covers_from..=one.epoch).contains(&epoch), OUTSIDE_EPOCHS);
            match state.keys.get(&(one.agent, signer)) {
                None => found.when(true, ACCOUNT_MISSING),
                Some(key) => {
                    // Whatever was ended since (P1).
                    let born = key.from <= epoch && key.until.is_none_or(|until| epoch <= until);
                    found.when(key.scopes & DEAL == 0 || !born, WRONG_ENVELOPE_SIGNER);
                }
            }
        }
    }
}

/// Whether a draft's rank can be used against its sealed batch now.
pub(crate) fn holds(state: &State, draft: &Draft) -> bool {
    let landed_before = draft.sealed.is_some_and(|claim| state.batches[claim.batch].submitted < draft.begun);
    draft.state == Rank::Held && landed_before && State::rank_holds(draft.begun, state.slot)
}

fn submit(found: &mut Reasons, state: &State, draft: &Draft, who: usize) {
    let Some(claim) = draft.sealed else { return found.any(true, &[NOT_SEALED, ACCOUNT_MISSING]) };
    let batch = &state.batches[claim.batch];
    found.when(draft.used, ALREADY_USED);
    found.when(batch.closed, ACCOUNT_MISSING);
    unless_winnable(found, state.stake_of(claim.batch));
    found.when(state.wallets[who].usdc < CHALLENGE_STAKE, INSUFFICIENT_USDC);
    match state.challenge_of(&claim) {
        Some(open) => {
            let open = &state.challenges[open];
            let takes_over = holds(state, draft) && open.outcome == Outcome::Open && draft.rank < open.rank;
            found.when(!takes_over, CHALLENGE_EXISTS);
            // Its own challenger would be paid out of the account that is paid.
            found.when(open.outcome == Outcome::Open && open.challenger == who, GIVEN_TWICE);
        }
        None => {
            found.when(state.is_over(batch.submitted), CHALLENGE_WINDOW_OVER);
            let stronger = Claim { known: true, ..claim };
            let weak = claim.ground == 1 && !claim.known;
            found.when(weak && state.challenge_of(&stronger).is_some(), STRONGER_CLAIM_OPEN);
        }
    }
}

/// Where the arrays hold the record that answers a challenge, and the bid's value that must be named.
pub(crate) fn answer_to(state: &State, challenge: usize) -> Option<(usize, i128)> {
    let Claim { batch, ground, known, message, epoch } = state.challenges[challenge].claim;
    let batch = &state.batches[batch];
    if ground == 5 || epoch != batch.epoch {
        // Nothing of another epoch is ever in these arrays.
        return None;
    }
    let content = &batch.content;
    let fits = |value: i128| ground != 1 || !known || value == wire::value(message);
    let first = content.record_place(message, ground).map(|place| (place, content.value(message)));
    let second = content.doubled_place().map(|place| (place, Content::doubled_value()));
    let second = second.filter(|_| (message, ground) == (wire::PROPOSE, 1));
    [first, second].into_iter().flatten().find(|(_, value)| fits(*value))
}

fn answer(found: &mut Reasons, state: &State, challenge: usize, right: bool) {
    let one = &state.challenges[challenge];
    let gone = one.closed || state.batches[one.claim.batch].closed;
    found.when(gone || state.stake_of(one.claim.batch).is_none(), ACCOUNT_MISSING);
    found.when(one.outcome == Outcome::Answered, ALREADY_ANSWERED);
    found.when(!matches!(one.outcome, Outcome::Open | Outcome::Answered), ALREADY_RESOLVED);
    found.when(one.claim.ground == 5, NO_ANSWER);
    found.when(state.is_over(one.submitted), ANSWER_TOO_LATE);
    let provable = right && answer_to(state, challenge).is_some();
    found.any(!provable, &PROOF);
    found.when(!provable, WRONG_RECORD);
}

fn ask(found: &mut Reasons, state: &State, (batch, tree, index): (usize, u8, u32), who: usize) {
    let one = &state.batches[batch];
    let stake = state.stake_of(batch);
    found.when(one.closed || stake.is_none(), ACCOUNT_MISSING);
    found.when(stake.is_some_and(|stake| stake.amount == 0), ERA_EMPTY);
    let len = if tree == 0 { one.content.log_len() } else { one.content.arrays_len() };
    found.when(usize::try_from(index).unwrap() >= len, INDEX_OUT_OF_RANGE);
    found.when(tree > 1, UNKNOWN_TREE);
    found.when(state.slot > one.submitted + ASK_SLOTS, ASK_TOO_LATE);
    found.when(one.withheld, BATCH_WITHHELD);
    found.when(state.ask_of(batch, tree, index).is_some(), ASK_EXISTS);
    found.when(state.wallets[who].usdc < ASK_PRICE, INSUFFICIENT_USDC);
}
