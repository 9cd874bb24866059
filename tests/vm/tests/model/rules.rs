//! When an action must be refused (decisions B5 to B8, B13, P1 and P2; the challenge game is in
//! `rules_game.rs`). For each action every reason that holds is named, by the number of its error: which of
//! several is checked first is left open.

use crate::actions::{Action, Fault};
use crate::rules_game;
use crate::state::*;

pub(crate) const ACCOUNT_EXISTS: u32 = 6004;
pub(crate) const ACCOUNT_MISSING: u32 = 6005;
pub(crate) const WRONG_AGENT: u32 = 6007;
const NO_EPOCHS: u32 = 6010;
const LEASE_NOT_DEACTIVATED: u32 = 6012;
const LEASE_DEACTIVATED: u32 = 6013;
const LEASE_MISSING: u32 = 6014;
const LEASE_PAID_SINCE: u32 = 6015;
const LEASE_NOT_PAID: u32 = 6016;
const NOT_HELD: u32 = 6023;
const NOT_OWNER: u32 = 6024;
const KEY_ENDED: u32 = 6026;
const FORMER_HOLDERS_KEY: u32 = 6027;
const KEY_NOT_YET_VALID: u32 = 6028;
const SCOPE_MISSING: u32 = 6029;
pub(crate) const INSUFFICIENT_USDC: u32 = 6034;
const STAKE_BELOW_MINIMUM: u32 = 6040;
const STAKE_MISSING: u32 = 6041;
const ALREADY_QUEUED: u32 = 6042;
const NOT_QUEUED: u32 = 6043;
const DELAY_NOT_OVER: u32 = 6044;
pub(crate) const OPEN_CHALLENGES: u32 = 6045;
const BATCH_IN_WINDOW: u32 = 6046;
const UNLOCK_QUEUED: u32 = 6047;
const FUTURE_EPOCH: u32 = 6060;
const CURRENT_EPOCH: u32 = 6061;
const EPOCH_TOO_OLD: u32 = 6062;
const EPOCH_NOT_INCREASING: u32 = 6063;
pub(crate) const WINDOW_NOT_OVER: u32 = 6070;
const WRONG_NETWORK: u32 = 6072;
const WRONG_PREVIOUS_DIGEST: u32 = 6073;
const WRONG_COVERAGE: u32 = 6074;
const HEAD_MISSING: u32 = 6076;
const BEFORE_TENURE: u32 = 6077;
pub(crate) const DRAFT_INCOMPLETE: u32 = 6121;
const DRAFT_OVERRUN: u32 = 6122;
const DRAFT_HASH: u32 = 6125;
pub(crate) const ASK_NOT_SETTLED: u32 = 6135;
const EMPTY_TEXT: u32 = 6140;
const TEXT_TOO_LONG: u32 = 6141;
const INDEX_TAKEN: u32 = 6143;
const TENURE_MISSING: u32 = 6200;
const NOT_TENURE_OWNER: u32 = 6201;
const TENURE_IS_YOURS: u32 = 6202;
const LIVE_KEYS_MISSING: u32 = 6203;
const TOO_MANY_KEYS: u32 = 6204;
const INVALID_SCOPES: u32 = 6205;
const KEY_NOT_ENDED: u32 = 6206;
const KEY_STILL_NEEDED: u32 = 6207;
const WRONG_ERA: u32 = 6208;
const ERA_ENDED: u32 = 6209;
const ERA_CHALLENGED: u32 = 6210;
const ERA_NOT_ENDED: u32 = 6211;
const NOT_STAKE_OWNER: u32 = 6212;
const VAULT_MISSING: u32 = 6213;
pub(crate) const RANKS_OUTSTANDING: u32 = 6216;

/// The longest text.
const MAX_TEXT: usize = 2_048;
/// The most that one transaction appends here.
pub(crate) const CHUNK: usize = 700;

/// Bytes that an append sends: as asked, or all that is missing as far as it fits.
pub(crate) fn chunk(asked: usize, missing: usize) -> usize {
    if asked == usize::MAX { missing.min(CHUNK) } else { asked.min(CHUNK) }
}

#[derive(Default)]
pub(crate) struct Reasons(Vec<u32>);

impl Reasons {
    pub(crate) fn when(&mut self, holds: bool, code: u32) {
        if holds {
            self.0.push(code);
        }
    }

    pub(crate) fn any(&mut self, holds: bool, codes: &[u32]) {
        if holds {
            self.0.extend(codes);
        }
    }

    /// Whether `who` holds the agent.
    fn unless_holder(&mut self, state: &State, agent: usize, who: usize) {
        match state.agents[agent].holder {
            None => self.0.push(NOT_HELD),
            Some(holder) => self.when(holder != who, NOT_OWNER),
        }
    }

    /// Whether the agent is in the tenure of `who`.
    fn unless_tenure(&mut self, state: &State, agent: usize, who: usize) {
        match &state.agents[agent].tenure {
            None => self.0.push(TENURE_MISSING),
            Some(tenure) => self.when(tenure.owner != who, NOT_TENURE_OWNER),
        }
    }

    /// Whether a key acts for the agent's holder in an epoch (P1): listed by it, live, of this scope, and born.
    fn unless_key_acts(&mut self, state: &State, agent: usize, signer: usize, scope: u8, epoch: u64) {
        let Some(key) = state.keys.get(&(agent, signer)) else { return self.0.push(ACCOUNT_MISSING) };
        self.when(Some(key.owner) != state.agents[agent].holder, FORMER_HOLDERS_KEY);
        self.when(key.until.is_some(), KEY_ENDED);
        self.when(key.scopes & scope == 0, SCOPE_MISSING);
        self.when(key.from > epoch, KEY_NOT_YET_VALID);
    }
}

/// Why this must be refused; empty when it must succeed.
pub(crate) fn reasons(state: &State, action: &Action) -> Vec<u32> {
    let mut found = Reasons::default();
    match *action {
        // These are sent only when they can succeed.
        Action::Advance(_) | Action::Transfer { .. } | Action::Burn { .. } | Action::Give { .. } => {}
        Action::OpenTenure { agent, who } => {
            found.unless_holder(state, agent, who);
            found.when(state.agents[agent].tenure.is_some(), ACCOUNT_EXISTS);
        }
        Action::TakeOver { agent, who, all } => {
            found.unless_holder(state, agent, who);
            match &state.agents[agent].tenure {
                None => found.when(true, TENURE_MISSING),
                Some(tenure) => found.when(tenure.owner == who, TENURE_IS_YOURS),
            }
            found.when(!all && !state.live_keys(agent).is_empty(), LIVE_KEYS_MISSING);
        }
        Action::AddKey { agent, who, key, scopes } => {
            found.unless_holder(state, agent, who);
            found.unless_tenure(state, agent, who);
            found.when(!(1..=15).contains(&scopes), INVALID_SCOPES);
            found.when(state.live_keys(agent).len() >= LIVE_KEYS, TOO_MANY_KEYS);
            found.when(state.keys.contains_key(&(agent, key)), ACCOUNT_EXISTS);
        }
        Action::EndKey { agent, who, key } => match state.keys.get(&(agent, key)) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(account) => {
                if who != key {
                    found.unless_holder(state, agent, who);
                    found.unless_tenure(state, agent, who);
                }
                found.when(account.until.is_some(), KEY_ENDED);
            }
        },
        Action::CloseKey { agent, key } => match state.keys.get(&(agent, key)) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(account) => match account.until {
                None => found.when(true, KEY_NOT_ENDED),
                Some(until) => found.when(is_needed(state, agent, account.scopes, until), KEY_STILL_NEEDED),
            },
        },
        Action::OpenVault { .. } => {}
        Action::Lock { agent, who, ahead, amount } => lock(&mut found, state, agent, who, (ahead, amount)),
        Action::Queue { agent, who, era } => match state.agents[agent].stakes.get(&era) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(stake) => {
                let holds = state.agents[agent].holder == Some(who);
                found.when(stake.owner != who, NOT_STAKE_OWNER);
                found.when(stake.ended.is_some(), ERA_ENDED);
                found.when(holds && state.is_live(agent), LEASE_NOT_DEACTIVATED);
                let stale = holds && state.is_stale(agent, era);
                found.when(stake.queued.is_some() && !stale, ALREADY_QUEUED);
            }
        },
        Action::Cancel { agent, who, era } => match state.agents[agent].stakes.get(&era) {
            None => found.when(true, ACCOUNT_MISSING),
            Some(stake) => {
                found.when(stake.owner != who, NOT_STAKE_OWNER);
                found.unless_holder(state, agent, who);
                found.when(stake.queued.is_none(), NOT_QUEUED);
                found.when(!state.is_live(agent), LEASE_NOT_PAID);
            }
        },
        Action::Claim { agent, who, era } => claim(&mut found, state, agent, who, era),
        Action::Pay { agent, who, epochs } => {
            match state.agents[agent].holder {
                None => found.when(true, NOT_HELD),
                Some(holder) if holder == who => {}
                Some(_) => found.unless_key_acts(state, agent, who, PAY, state.epoch()),
            }
            found.when(epochs == 0, NO_EPOCHS);
            found.when(state.wallets[who].usdc < price(state, agent, epochs), INSUFFICIENT_USDC);
        }
        Action::Tick { agent } => found.when(state.agents[agent].lease.is_none(), ACCOUNT_MISSING),
        Action::OpenHead { agent, .. } => found.when(state.agents[agent].head.is_some(), ACCOUNT_EXISTS),
        Action::SubmitBatch { agent, signer, back, fault, .. } => {
            submit_batch(&mut found, state, agent, signer, (back, fault));
        }
        Action::CloseBatch { batch } => {
            let (one, stake) = (&state.batches[batch], state.stake_of(batch));
            found.when(one.closed, ACCOUNT_MISSING);
            found.when(!state.is_over(one.submitted), WINDOW_NOT_OVER);
            found.when(stake.is_some_and(|stake| stake.open_challenges > 0), OPEN_CHALLENGES);
            found.when(stake.is_some_and(|stake| stake.open_asks > 0), ASK_NOT_SETTLED);
        }
        Action::SubmitText { bytes, ahead, .. } => {
            found.when(bytes == 0, EMPTY_TEXT);
            found.when(ahead != 0, INDEX_TAKEN);
        }
        Action::BeginText { who, nonce, len, .. } => {
            found.when(len == 0, EMPTY_TEXT);
            found.when(len > MAX_TEXT, TEXT_TOO_LONG);
            found.when(state.texts.contains_key(&(who, nonce)), ACCOUNT_EXISTS);
        }
        Action::AppendText { who, nonce, bytes } => {
            let text = state.texts.get(&(who, nonce));
            append(&mut found, text.map(|text| (text.len, text.written)), bytes);
        }
        Action::SealText { who, nonce, ahead } => {
            found.when(ahead != 0, INDEX_TAKEN);
            match state.texts.get(&(who, nonce)) {
                None => found.when(true, ACCOUNT_MISSING),
                Some(text) => {
                    found.when(text.written != text.len, DRAFT_INCOMPLETE);
                    found.when(!text.honest, DRAFT_HASH);
                }
            }
        }
        Action::CancelText { who, nonce } => {
            found.when(!state.texts.contains_key(&(who, nonce)), ACCOUNT_MISSING);
        }
        _ => rules_game::reasons(&mut found, state, action),
    }
    found.0
}

/// Price of a number of epochs now.
pub(crate) fn price(state: &State, agent: usize, epochs: u32) -> u64 {
    let back = if state.agents[agent].lease.is_some() && !state.is_live(agent) { GRACE } else { 0 };
    (u64::from(epochs) + back) * EPOCH_PRICE
}

/// Whether evidence under an ended key could still be used (P1): only a deal key's can.
fn is_needed(state: &State, agent: usize, scopes: u8, until: u64) -> bool {
    let head = state.agents[agent].head.as_ref().filter(|head| head.count > 0);
    let past = head.is_some_and(|head| head.last_epoch >= until && state.is_over(head.last_slot));
    scopes & DEAL != 0 && !past && state.epoch() <= until + DEAL_EPOCHS
}

/// The first epoch of a key that is listed now (P1).
pub(crate) fn key_from(state: &State, agent: usize) -> u64 {
    let one = &state.agents[agent];
    let tenure = one.tenure.as_ref().unwrap();
    let landed = one.head.as_ref().is_some_and(|head| head.count > 0);
    let notice = match tenure.number {
        1 if !one.stakes.contains_key(&tenure.era) && !landed => 0,
        1 => 2,
        _ if tenure.has_listed => 2,
        _ => 1,
    };
    state.epoch() + notice
}

fn lock(found: &mut Reasons, state: &State, agent: usize, who: usize, (ahead, amount): (i64, u64)) {
    found.unless_holder(state, agent, who);
    found.unless_tenure(state, agent, who);
    found.when(state.wallets[who].usdc < amount, INSUFFICIENT_USDC);
    found.when(!state.vaults.contains_key(&state.shard(agent)), VAULT_MISSING);
    let one = &state.agents[agent];
    let present = one.stakes.get(&one.era());
    match ahead {
        0 => {
            if let Some(stake) = present {
                found.when(stake.owner != who, NOT_STAKE_OWNER);
                found.when(stake.ended.is_some(), ERA_ENDED);
                found.when(stake.open_challenges > 0, ERA_CHALLENGED);
                found.when(stake.queued.is_some(), UNLOCK_QUEUED);
            }
            found.when(present.map_or(0, |stake| stake.amount) + amount < MIN_STAKE, STAKE_BELOW_MINIMUM);
        }
        1 => {
            match present {
                None => found.when(true, ACCOUNT_MISSING),
                Some(stake) => {
                    let over = stake.ended.is_some() || stake.open_challenges > 0;
                    found.when(!over, ERA_NOT_ENDED);
                }
            }
            found.when(amount < MIN_STAKE, STAKE_BELOW_MINIMUM);
        }
        _ => found.when(true, WRONG_ERA),
    }
}

fn claim(found: &mut Reasons, state: &State, agent: usize, who: usize, era: u32) {
    let one = &state.agents[agent];
    let Some(stake) = one.stakes.get(&era) else { return found.when(true, ACCOUNT_MISSING) };
    found.when(stake.owner != who, NOT_STAKE_OWNER);
    found.when(stake.open_challenges > 0, OPEN_CHALLENGES);
    found.when(stake.open_asks > 0, ASK_NOT_SETTLED);
    if let Some(ended) = stake.ended {
        found.when(state.slot <= ended + DELAY, DELAY_NOT_OVER);
        let settled = stake.pot == 0 && stake.settled_rank == stake.next_rank;
        found.when(stake.slashed.is_some() && !settled, RANKS_OUTSTANDING);
        return;
    }
    match stake.queued {
        None => found.when(true, NOT_QUEUED),
        Some(queued) => found.when(state.slot < queued + DELAY, DELAY_NOT_OVER),
    }
    // For who does not hold the agent any more, its lease is another's.
    let holds = one.holder == Some(who);
    found.when(holds && state.is_live(agent), LEASE_NOT_DEACTIVATED);
    found.when(holds && state.is_stale(agent, era), LEASE_PAID_SINCE);
    let head = one.head.as_ref().filter(|head| head.count > 0);
    found.when(head.is_some_and(|head| !state.is_over(head.last_slot)), BATCH_IN_WINDOW);
}

fn submit_batch(
    found: &mut Reasons,
    state: &State,
    agent: usize,
    signer: usize,
    (back, fault): (i64, Fault),
) {
    let one = &state.agents[agent];
    found.when(back < 0, FUTURE_EPOCH);
    found.when(back == 0, CURRENT_EPOCH);
    found.when(back > 3, EPOCH_TOO_OLD);
    found.when(fault == Fault::Network, WRONG_NETWORK);
    found.when(fault == Fault::Digest, WRONG_PREVIOUS_DIGEST);
    found.when(fault == Fault::Coverage, WRONG_COVERAGE);
    let epoch = state.epoch().checked_add_signed(-back).unwrap();
    match &one.head {
        None => found.when(true, HEAD_MISSING),
        Some(head) => found.when(head.last_epoch >= epoch, EPOCH_NOT_INCREASING),
    }
    // It is the holder's turn, and a key of the holder's signs.
    match one.holder {
        None => found.when(true, NOT_HELD),
        Some(holder) => found.unless_tenure(state, agent, holder),
    }
    found.when(one.tenure.as_ref().is_some_and(|tenure| epoch < tenure.from), BEFORE_TENURE);
    found.unless_key_acts(state, agent, signer, BATCHES, epoch);
    match one.stakes.get(&one.era()) {
        None => found.when(true, STAKE_MISSING),
        Some(stake) => {
            found.when(stake.ended.is_some(), ERA_ENDED);
            found.when(stake.open_challenges > 0, ERA_CHALLENGED);
            found.when(stake.amount < MIN_STAKE, STAKE_BELOW_MINIMUM);
        }
    }
    found.when(one.lease.is_none(), LEASE_MISSING);
    found.when(one.lease.is_some() && !state.is_live(agent), LEASE_DEACTIVATED);
}

pub(crate) fn append(found: &mut Reasons, draft: Option<(usize, usize)>, asked: usize) {
    let Some((len, written)) = draft else { return found.when(true, ACCOUNT_MISSING) };
    let bytes = chunk(asked, len - written);
    found.when(bytes == 0 || written + bytes > len, DRAFT_OVERRUN);
}
