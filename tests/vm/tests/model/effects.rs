//! What an action does that is not refused.

use crate::actions::Action;
use crate::rules::{chunk, price};
use crate::state::*;
use crate::wire;

/// Applies an action that must succeed.
pub(crate) fn perform(state: &mut State, action: &Action) {
    match *action {
        Action::Advance(slots) => state.slot += slots,
        Action::Lock { agent, who, amount } => {
            let stake = &mut state.agents[agent].stake;
            if stake.is_none() {
                state.wallets[who].lamports -= rent(STAKE) + rent(TOKEN_ACCOUNT);
            }
            let new = Stake { amount: 0, owner: who, open_challenges: 0, queued: None, gifts: 0 };
            let stake = stake.get_or_insert(new);
            stake.amount += amount;
            stake.owner = who;
            state.wallets[who].usdc -= amount;
        }
        Action::Queue { agent, who } => {
            let slot = state.slot;
            let stake = state.agents[agent].stake.as_mut().unwrap();
            stake.owner = who;
            stake.queued = Some(slot);
        }
        Action::Cancel { agent, .. } => state.agents[agent].stake.as_mut().unwrap().queued = None,
        Action::Claim { agent, who } => {
            let stake = state.agents[agent].stake.take().unwrap();
            state.wallets[who].usdc += stake.amount + stake.gifts;
            state.wallets[who].lamports += rent(STAKE) + rent(TOKEN_ACCOUNT);
        }
        Action::Pay { agent, who, epochs } => pay(state, agent, who, epochs),
        Action::Tick { agent } => mark(state, agent),
        Action::SubmitBatch { agent, who, back, content } => submit_batch(state, agent, who, back, content),
        Action::CloseBatch { batch } => {
            let batch = &mut state.batches[batch];
            batch.closed = true;
            state.wallets[batch.signer].lamports += rent(BATCH);
        }
        Action::ChallengeEntry { batch, who, ground, message, payload } => {
            challenge(state, batch, who, ground, Shown::Entry { message, payload });
        }
        Action::ChallengeBids { batch, who, ground } => challenge(state, batch, who, ground, Shown::Bids),
        Action::ChallengeDraft { batch, who, ground, nonce } => {
            let draft = state.drafts.remove(&(who, nonce)).unwrap();
            state.wallets[who].lamports += rent(EVIDENCE_DRAFT + draft.len);
            challenge(state, batch, who, ground, Shown::Entry { message: draft.message, payload: false });
        }
        Action::ChallengeEnvelope { batch, who, ground, nonce } => {
            let record = state.records.remove(&(who, nonce)).unwrap();
            state.wallets[who].lamports += rent(RECORD);
            let shown = Shown::Envelope { message: record.message, epoch: record.epoch };
            challenge(state, batch, who, ground, shown);
        }
        Action::RecordEnvelope { who, nonce, agent, back, message, ground, signer } => {
            let record = Record { agent, epoch: state.epoch() - back, message, ground, signer };
            state.records.insert((who, nonce), record);
            state.wallets[who].lamports -= rent(RECORD);
        }
        Action::DiscardEnvelope { who, nonce } => {
            state.records.remove(&(who, nonce)).unwrap();
            state.wallets[who].lamports += rent(RECORD);
        }
        Action::BeginEvidence { who, nonce, batch, message } => {
            let len = state.log_evidence(batch, message, false).len();
            state.drafts.insert((who, nonce), Draft { batch, message, len, written: 0 });
            state.wallets[who].lamports -= rent(EVIDENCE_DRAFT + len);
        }
        Action::AppendEvidence { who, nonce, bytes } => {
            let draft = state.drafts.get_mut(&(who, nonce)).unwrap();
            draft.written += chunk(bytes, draft.len - draft.written);
        }
        Action::CancelEvidence { who, nonce } => {
            let draft = state.drafts.remove(&(who, nonce)).unwrap();
            state.wallets[who].lamports += rent(EVIDENCE_DRAFT + draft.len);
        }
        Action::Answer { challenge, .. } => state.challenges[challenge].answered = true,
        Action::Resolve { challenge } => resolve(state, challenge),
        Action::CloseChallenge { challenge } => {
            let challenge = &mut state.challenges[challenge];
            challenge.closed = true;
            state.wallets[challenge.challenger].lamports += rent(CHALLENGE);
        }
        Action::Transfer { agent, to } => state.agents[agent].holder = Some(to),
        Action::Burn { agent } => state.agents[agent].holder = None,
        Action::Delegate { agent, to, days } => {
            let delegator = state.agents[agent].holder.unwrap();
            let expiry = if days == 0 { 0 } else { state.time() + days * 86_400 };
            state.delegations.insert((agent, to), Delegation { delegator, expiry });
        }
        Action::GiveToStake { agent, who, amount } => {
            state.wallets[who].usdc -= amount;
            state.agents[agent].stake.as_mut().unwrap().gifts += amount;
        }
        Action::GiveToChallenge { challenge, who, amount } => {
            state.wallets[who].usdc -= amount;
            state.challenges[challenge].gifts += amount;
        }
        Action::SubmitText { who, bytes, .. } => log_text(state, who, &text(bytes)),
        Action::BeginText { who, nonce, len, honest } => {
            state.texts.insert((who, nonce), TextDraft { len, written: 0, honest });
            state.wallets[who].lamports -= rent(TEXT_DRAFT + len);
        }
        Action::AppendText { who, nonce, bytes } => {
            let draft = state.texts.get_mut(&(who, nonce)).unwrap();
            draft.written += chunk(bytes, draft.len - draft.written);
        }
        Action::SealText { who, nonce, .. } => {
            let draft = state.texts.remove(&(who, nonce)).unwrap();
            state.wallets[who].lamports += rent(TEXT_DRAFT + draft.len);
            log_text(state, who, &text(draft.len));
        }
        Action::CancelText { who, nonce } => {
            let draft = state.texts.remove(&(who, nonce)).unwrap();
            state.wallets[who].lamports += rent(TEXT_DRAFT + draft.len);
        }
    }
}

/// A text of this length in bytes; every prefix of it is UTF-8.
pub(crate) fn text(len: usize) -> Vec<u8> {
    b"The quick brown fox. ".iter().copied().cycle().take(len).collect()
}

/// The hashes that a batch commits to: log root, arrays root, batch hash.
pub(crate) fn commitment(agent: &[u8; 32], epoch: u64, content: &Content) -> [wire::Hash; 3] {
    let log = wire::root(&content.entries(agent, epoch));
    let arrays = wire::root(&content.arrays(agent, epoch));
    [log, arrays, wire::keccak(&[b"batch", agent, &epoch.to_le_bytes()])]
}

fn pay(state: &mut State, agent: usize, who: usize, epochs: u32) {
    let cost = price(state, agent, epochs);
    let (now, slot, live) = (state.epoch(), state.slot, state.is_live(agent));
    let wallet = &mut state.wallets[who];
    wallet.usdc -= cost;
    state.treasury += cost;
    let lease = &mut state.agents[agent].lease;
    if lease.is_none() {
        wallet.lamports -= rent(LEASE);
    }
    let paid_through = match lease {
        // A living lease goes on; a new or a dead one begins with the present epoch.
        Some(lease) if live => lease.paid_through + u64::from(epochs),
        _ => now + u64::from(epochs) - 1,
    };
    *lease = Some(Lease { paid_through, last_paid: slot, grace: false, deactivated: false });
    mark(state, agent);
}

fn mark(state: &mut State, agent: usize) {
    let (now, live) = (state.epoch(), state.is_live(agent));
    let lease = state.agents[agent].lease.as_mut().unwrap();
    lease.deactivated = !live;
    lease.grace = live && lease.paid_through < now;
}

fn submit_batch(state: &mut State, agent: usize, who: usize, back: i64, content: Content) {
    let epoch = state.epoch().checked_add_signed(-back).unwrap();
    let id = state.agent_ids[agent];
    let [log_root, arrays_root, batch_hash] = commitment(&id, epoch, &content);
    let log = (&log_root, content.log.count_ones());
    let arrays = (&arrays_root, u32::try_from(content.arrays_len()).unwrap());
    let message = wire::batch_message(&id, epoch, log, &batch_hash, arrays);
    let head = &mut state.agents[agent].head;
    state.wallets[who].lamports -= rent(BATCH) + if head.is_none() { rent(HEAD) } else { 0 };
    let (covers_from, count, digest) = match head {
        None => (epoch, 0, [0; 32]),
        Some(head) => (head.last_epoch + 1, head.count, head.digest),
    };
    let digest = wire::keccak(&[&digest, &message]);
    *head = Some(Head { last_epoch: epoch, last_slot: state.slot, count: count + 1, digest });
    state.batches.push(Batch {
        agent,
        epoch,
        covers_from,
        submitted: state.slot,
        signer: who,
        content,
        closed: false,
    });
}

fn challenge(state: &mut State, batch: usize, who: usize, ground: u8, shown: Shown) {
    state.wallets[who].usdc -= CHALLENGE_STAKE;
    state.wallets[who].lamports -= rent(CHALLENGE) + rent(TOKEN_ACCOUNT);
    let agent = state.batches[batch].agent;
    state.agents[agent].stake.as_mut().unwrap().open_challenges += 1;
    state.challenges.push(Challenge {
        batch,
        challenger: who,
        shown,
        ground,
        submitted: state.slot,
        gifts: 0,
        answered: false,
        resolved: false,
        succeeded: false,
        closed: false,
    });
}

fn resolve(state: &mut State, challenge: usize) {
    let challenge = &mut state.challenges[challenge];
    let stake = state.agents[state.batches[challenge.batch].agent].stake.as_mut().unwrap();
    let challenger = &mut state.wallets[challenge.challenger];
    challenge.resolved = true;
    challenge.succeeded = !challenge.answered;
    stake.open_challenges -= 1;
    challenger.lamports += rent(TOKEN_ACCOUNT);
    if challenge.answered {
        state.treasury += CHALLENGE_STAKE + challenge.gifts;
    } else {
        let reward = stake.amount / 2;
        challenger.usdc += CHALLENGE_STAKE + challenge.gifts + reward;
        state.treasury += stake.amount - reward;
        stake.amount = 0;
    }
}

fn log_text(state: &mut State, who: usize, text: &[u8]) {
    let time = i64::try_from(state.time()).unwrap();
    let numbers = (state.log_count, time, state.slot);
    let first = if state.log_count == 0 { rent(LOG) } else { 0 };
    state.wallets[who].lamports -= rent(ENTRY + text.len()) + first;
    state.log_head = wire::log_head(&state.log_head, numbers, &state.wallet_ids[who], text);
    state.log_count += 1;
}
