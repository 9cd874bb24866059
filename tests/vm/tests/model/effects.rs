//! What an action does that is not refused (the challenge game is in `effects_game.rs`).

use crate::actions::{Action, Fault};
use crate::effects_game;
use crate::rules::{chunk, key_from, price};
use crate::state::*;
use crate::wire;
use std::collections::btree_map::Entry;

/// Applies an action that must succeed.
pub(crate) fn perform(state: &mut State, action: &Action) {
    match *action {
        Action::Advance(slots) => state.slot += slots,
        Action::OpenTenure { agent, who } => {
            let from = state.epoch();
            state.wallets[who].lamports -= rent(TENURE);
            let tenure = Tenure { owner: who, number: 1, from, era: 0, has_listed: false };
            state.agents[agent].tenure = Some(tenure);
        }
        Action::TakeOver { agent, who, .. } => take_over(state, agent, who),
        Action::AddKey { agent, who, key, scopes } => {
            let from = key_from(state, agent);
            let tenure = state.agents[agent].tenure.as_mut().unwrap();
            tenure.has_listed = true;
            let listed = Key { scopes, from, until: None, tenure: tenure.number, owner: who };
            state.keys.insert((agent, key), listed);
            state.wallets[who].lamports -= rent(KEY);
        }
        Action::EndKey { agent, key, .. } => end_key(state, agent, key),
        Action::CloseKey { agent, key } => {
            let closed = state.keys.remove(&(agent, key)).unwrap();
            state.wallets[closed.owner].lamports += rent(KEY);
        }
        Action::OpenVault { agent, who } => {
            let shard = state.shard(agent);
            if let Entry::Vacant(vault) = state.vaults.entry(shard) {
                vault.insert(0);
                state.wallets[who].lamports -= rent(SHARD) + rent(TOKEN_ACCOUNT);
            }
        }
        Action::Lock { agent, who, ahead, amount } => lock(state, agent, who, (ahead, amount)),
        Action::Queue { agent, era, .. } => {
            let slot = state.slot;
            state.agents[agent].stakes.get_mut(&era).unwrap().queued = Some(slot);
        }
        Action::Cancel { agent, era, .. } => {
            state.agents[agent].stakes.get_mut(&era).unwrap().queued = None;
        }
        Action::Claim { agent, who, era } => {
            let one = &mut state.agents[agent];
            let stake = one.stakes.remove(&era).unwrap();
            let tenure = one.tenure.as_mut().unwrap();
            // No era is used twice.
            tenure.era += u32::from(tenure.era == era);
            state.wallets[who].usdc += stake.amount;
            state.wallets[who].lamports += rent(STAKE);
        }
        Action::Pay { agent, who, epochs } => pay(state, agent, who, epochs),
        Action::Tick { agent } => mark(state, agent),
        Action::OpenHead { agent, who } => {
            let digest = wire::open_digest(&state.network, &state.agent_ids[agent]);
            let head = Head { last_epoch: state.epoch() - 1, last_slot: 0, count: 0, digest };
            state.agents[agent].head = Some(head);
            state.wallets[who].lamports -= rent(HEAD);
        }
        Action::SubmitBatch { agent, signer, payer, back, content, .. } => {
            submit_batch(state, agent, (signer, payer), back, content);
        }
        Action::CloseBatch { batch } => {
            let batch = &mut state.batches[batch];
            batch.closed = true;
            state.wallets[batch.payer].lamports += rent(BATCH);
        }
        Action::Transfer { agent, to } => state.agents[agent].holder = Some(to),
        Action::Burn { agent } => state.agents[agent].holder = None,
        Action::Give { agent, who, amount } => {
            state.wallets[who].usdc -= amount;
            *state.vaults.get_mut(&state.agent_ids[agent][0]).unwrap() += amount;
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
        _ => effects_game::perform(state, action),
    }
}

/// A text of this length in bytes; every prefix of it is UTF-8.
pub(crate) fn text(len: usize) -> Vec<u8> {
    b"The quick brown fox. ".iter().copied().cycle().take(len).collect()
}

/// The message of a batch that is signed now.
pub(crate) fn batch_message(
    state: &State,
    agent: usize,
    epoch: u64,
    content: &Content,
    fault: Fault,
) -> wire::BatchMessage {
    let id = &state.agent_ids[agent];
    let number = |len: usize| u32::try_from(len).unwrap();
    let head = state.agents[agent].head.as_ref();
    let mut message = wire::BatchMessage {
        network: state.network,
        agent: *id,
        covers_from: state.covers_from(agent, epoch),
        epoch,
        previous: head.map_or([0; 32], |head| head.digest),
        log: (wire::root(&content.entries(id, epoch)), number(content.log_len())),
        batch_hash: wire::keccak(&[b"batch", id, &epoch.to_le_bytes()]),
        arrays: (wire::root(&content.arrays(id, epoch)), number(content.arrays_len())),
    };
    match fault {
        Fault::None => {}
        Fault::Network => message.network = [1; 32],
        Fault::Digest => message.previous = [2; 32],
        Fault::Coverage => message.covers_from -= 1,
    }
    message
}

fn end_key(state: &mut State, agent: usize, key: usize) {
    let now = state.epoch();
    let key = state.keys.get_mut(&(agent, key)).unwrap();
    // One that is ended before it is born has no epoch at all.
    key.until = Some(if key.from > now { key.from - 1 } else { now });
}

fn take_over(state: &mut State, agent: usize, who: usize) {
    for key in state.live_keys(agent) {
        end_key(state, agent, key);
    }
    let (slot, from) = (state.slot, state.epoch() + 1);
    let one = &mut state.agents[agent];
    let tenure = one.tenure.as_mut().unwrap();
    if let Some(stake) = one.stakes.get_mut(&tenure.era) {
        stake.ended.get_or_insert(slot);
    }
    let (number, era) = (tenure.number + 1, tenure.era + 1);
    *tenure = Tenure { owner: who, number, from, era, has_listed: false };
}

fn lock(state: &mut State, agent: usize, who: usize, (ahead, amount): (i64, u64)) {
    let slot = state.slot;
    let one = &mut state.agents[agent];
    let tenure = one.tenure.as_mut().unwrap();
    if ahead == 1 {
        one.stakes.get_mut(&tenure.era).unwrap().ended.get_or_insert(slot);
        tenure.era += 1;
    }
    let wallet = &mut state.wallets[who];
    let stake = one.stakes.entry(tenure.era).or_insert_with(|| {
        wallet.lamports -= rent(STAKE);
        Stake { owner: who, ..Stake::default() }
    });
    stake.amount += amount;
    wallet.usdc -= amount;
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

fn submit_batch(
    state: &mut State,
    agent: usize,
    (signer, payer): (usize, usize),
    back: i64,
    content: Content,
) {
    let epoch = state.epoch().checked_add_signed(-back).unwrap();
    let message = batch_message(state, agent, epoch, &content, Fault::None);
    let slot = state.slot;
    state.wallets[payer].lamports -= rent(BATCH);
    let one = &mut state.agents[agent];
    let (head, tenure) = (one.head.as_mut().unwrap(), one.tenure.as_ref().unwrap());
    let digest = wire::keccak(&[&head.digest, &message.bytes()]);
    *head = Head { last_epoch: epoch, last_slot: slot, count: head.count + 1, digest };
    state.batches.push(Batch {
        agent,
        epoch,
        covers_from: message.covers_from,
        submitted: slot,
        signer,
        payer,
        era: tenure.era,
        tenure: tenure.number,
        content,
        withheld: false,
        closed: false,
    });
}

fn log_text(state: &mut State, who: usize, text: &[u8]) {
    let time = i64::try_from(state.time()).unwrap();
    let numbers = (state.log_count, time, state.slot);
    let first = if state.log_count == 0 { rent(LOG) } else { 0 };
    state.wallets[who].lamports -= rent(ENTRY + text.len()) + first;
    state.log_head = wire::log_head(&state.log_head, numbers, &state.signer_ids[who], text);
    state.log_count += 1;
}
