//! When an action must be refused (decisions B5 to B8, B10 to B13). For each action every reason that holds
//! is named, by the number of its error: which of several is checked first is left open.

use crate::actions::Action;
use crate::state::{CHALLENGE_STAKE, DELAY, EPOCH_PRICE, GRACE, MIN_STAKE, RECORDS, Shown, State};
use crate::wire;

pub(crate) const ACCOUNT_EXISTS: u32 = 6004;
pub(crate) const ACCOUNT_MISSING: u32 = 6005;
const NO_EPOCHS: u32 = 6010;
const LEASE_NOT_DEACTIVATED: u32 = 6012;
const LEASE_DEACTIVATED: u32 = 6013;
const LEASE_MISSING: u32 = 6014;
const LEASE_PAID_SINCE: u32 = 6015;
const LEASE_NOT_PAID: u32 = 6016;
const NOT_HELD: u32 = 6023;
const NOT_OWNER: u32 = 6024;
const DELEGATION_EXPIRED: u32 = 6026;
const FORMER_OWNERS_DELEGATION: u32 = 6027;
const INSUFFICIENT_USDC: u32 = 6034;
const STAKE_BELOW_MINIMUM: u32 = 6040;
const STAKE_MISSING: u32 = 6041;
const ALREADY_QUEUED: u32 = 6042;
const NOT_QUEUED: u32 = 6043;
const DELAY_NOT_OVER: u32 = 6044;
const OPEN_CHALLENGES: u32 = 6045;
const BATCH_IN_WINDOW: u32 = 6046;
const UNLOCK_QUEUED: u32 = 6047;
const FUTURE_EPOCH: u32 = 6060;
const CURRENT_EPOCH: u32 = 6061;
const EPOCH_TOO_OLD: u32 = 6062;
const EPOCH_NOT_INCREASING: u32 = 6063;
const WRONG_SIGNER: u32 = 6069;
const WINDOW_NOT_OVER: u32 = 6070;
const UNKNOWN_GROUND: u32 = 6080;
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
const GROUND_MISMATCH: u32 = 6107;
const WRONG_RECORD: u32 = 6109;
const DRAFT_INCOMPLETE: u32 = 6121;
const DRAFT_OVERRUN: u32 = 6122;
const DRAFT_HASH: u32 = 6125;
const EMPTY_TEXT: u32 = 6140;
const TEXT_TOO_LONG: u32 = 6141;
const INDEX_TAKEN: u32 = 6143;
/// A proof that does not hold: its length, its index, its path, or a tree without entries.
const PROOF: [u32; 4] = [6083, 6084, 6085, 6086];

/// The longest text.
const MAX_TEXT: usize = 2_048;
/// The most that one transaction appends here.
pub(crate) const CHUNK: usize = 700;

/// Bytes that an append sends: as asked, or all that is missing as far as it fits.
pub(crate) fn chunk(asked: usize, missing: usize) -> usize {
    if asked == usize::MAX { missing.min(CHUNK) } else { asked.min(CHUNK) }
}

#[derive(Default)]
struct Reasons(Vec<u32>);

impl Reasons {
    fn when(&mut self, holds: bool, code: u32) {
        if holds {
            self.0.push(code);
        }
    }

    fn any(&mut self, holds: bool, codes: &[u32]) {
        if holds {
            self.0.extend(codes);
        }
    }

    /// Whether `who` may act for the agent: its owner, or whom the present owner named (B3).
    fn unless_acting(&mut self, state: &State, agent: usize, who: usize, otherwise: u32) {
        let Some(holder) = state.agents[agent].holder else { return self.0.push(NOT_HELD) };
        if holder == who {
            return;
        }
        match state.delegations.get(&(agent, who)) {
            None => self.0.push(otherwise),
            Some(delegation) => {
                let expired = delegation.expiry != 0 && delegation.expiry <= state.time();
                self.when(expired, DELEGATION_EXPIRED);
                self.when(delegation.delegator != holder, FORMER_OWNERS_DELEGATION);
            }
        }
    }

    /// Whether `who` may act as the agent's owner.
    fn unless_holder(&mut self, state: &State, agent: usize, who: usize) {
        match state.agents[agent].holder {
            None => self.0.push(NOT_HELD),
            Some(holder) => self.when(holder != who, NOT_OWNER),
        }
    }
}

/// Why this must be refused; empty when it must succeed.
pub(crate) fn reasons(state: &State, action: &Action) -> Vec<u32> {
    let mut found = Reasons::default();
    match *action {
        // These are sent only when they can succeed.
        Action::Advance(_)
        | Action::Transfer { .. }
        | Action::Burn { .. }
        | Action::Delegate { .. }
        | Action::GiveToStake { .. }
        | Action::GiveToChallenge { .. } => {}
        Action::Lock { agent, who, amount } => {
            found.unless_holder(state, agent, who);
            let stake = state.agents[agent].stake.as_ref();
            let locked = stake.map_or(0, |stake| stake.amount);
            found.when(stake.is_some_and(|stake| stake.queued.is_some()), UNLOCK_QUEUED);
            found.when(locked + amount < MIN_STAKE, STAKE_BELOW_MINIMUM);
            found.when(state.wallets[who].usdc < amount, INSUFFICIENT_USDC);
        }
        Action::Queue { agent, who } => match &state.agents[agent].stake {
            None => found.when(true, ACCOUNT_MISSING),
            Some(stake) => {
                found.when(state.beneficiary(agent) != Some(who), NOT_OWNER);
                found.when(state.is_live(agent), LEASE_NOT_DEACTIVATED);
                found.when(stake.queued.is_some() && !state.is_stale(agent), ALREADY_QUEUED);
            }
        },
        Action::Cancel { agent, who } => {
            found.unless_holder(state, agent, who);
            match &state.agents[agent].stake {
                None => found.when(true, ACCOUNT_MISSING),
                Some(stake) => {
                    found.when(stake.queued.is_none(), NOT_QUEUED);
                    found.when(!state.is_live(agent), LEASE_NOT_PAID);
                }
            }
        }
        Action::Claim { agent, who } => claim(&mut found, state, agent, who),
        Action::Pay { agent, who, epochs } => {
            found.unless_acting(state, agent, who, NOT_OWNER);
            found.when(epochs == 0, NO_EPOCHS);
            found.when(state.wallets[who].usdc < price(state, agent, epochs), INSUFFICIENT_USDC);
        }
        Action::Tick { agent } => found.when(state.agents[agent].lease.is_none(), ACCOUNT_MISSING),
        Action::SubmitBatch { agent, who, back, .. } => submit_batch(&mut found, state, agent, who, back),
        Action::CloseBatch { batch } => {
            let batch = &state.batches[batch];
            let open = state.agents[batch.agent].stake.as_ref().map_or(0, |stake| stake.open_challenges);
            found.when(batch.closed, ACCOUNT_MISSING);
            found.when(!state.is_over(batch.submitted), WINDOW_NOT_OVER);
            found.when(open > 0, OPEN_CHALLENGES);
        }
        Action::ChallengeEntry { batch, who, ground, message, payload } => {
            challenge(&mut found, state, batch, who, ground);
            entry(&mut found, state, (batch, batch), (message, payload), ground);
            exists(&mut found, state, batch, who, ground, Shown::Entry { message, payload });
        }
        Action::ChallengeBids { batch, who, ground } => {
            challenge(&mut found, state, batch, who, ground);
            let content = &state.batches[batch].content;
            found.when(ground != 5, NO_GROUND);
            if content.record_place(wire::PROPOSE, 1).is_none() || !content.doubled {
                // What is shown instead is a bid that is not there.
                found.any(true, &PROOF);
                found.when(true, NOT_DOUBLE_BID);
            }
            exists(&mut found, state, batch, who, ground, Shown::Bids);
        }
        Action::ChallengeDraft { batch, who, ground, nonce } => {
            challenge(&mut found, state, batch, who, ground);
            match state.drafts.get(&(who, nonce)) {
                None => found.when(true, ACCOUNT_MISSING),
                Some(draft) => {
                    found.when(draft.written != draft.len, DRAFT_INCOMPLETE);
                    entry(&mut found, state, (batch, draft.batch), (draft.message, false), ground);
                    let shown = Shown::Entry { message: draft.message, payload: false };
                    exists(&mut found, state, batch, who, ground, shown);
                }
            }
        }
        Action::ChallengeEnvelope { batch, who, ground, nonce } => {
            challenge(&mut found, state, batch, who, ground);
            envelope(&mut found, state, batch, who, ground, nonce);
        }
        Action::RecordEnvelope { who, nonce, message, ground, .. } => {
            found.when(state.records.contains_key(&(who, nonce)), ACCOUNT_EXISTS);
            found.when(!(1..=5).contains(&ground), UNKNOWN_GROUND);
            found.when(message == wire::LONG, PAYLOAD_TOO_LONG);
            let kind = if message == wire::LONG { wire::PROPOSE } else { message };
            found.when(ground == 4 || !RECORDS.contains(&(kind, ground)), NO_GROUND);
        }
        Action::DiscardEnvelope { who, nonce } => {
            found.when(!state.records.contains_key(&(who, nonce)), ACCOUNT_MISSING);
        }
        Action::BeginEvidence { who, nonce, .. } => {
            found.when(state.drafts.contains_key(&(who, nonce)), ACCOUNT_EXISTS);
        }
        Action::AppendEvidence { who, nonce, bytes } => {
            let draft = state.drafts.get(&(who, nonce));
            append(&mut found, draft.map(|draft| (draft.len, draft.written)), bytes);
        }
        Action::CancelEvidence { who, nonce } => {
            found.when(!state.drafts.contains_key(&(who, nonce)), ACCOUNT_MISSING);
        }
        Action::Answer { challenge, right, .. } => answer(&mut found, state, challenge, right),
        Action::Resolve { challenge } => {
            let challenge = &state.challenges[challenge];
            found.when(challenge.closed, ACCOUNT_MISSING);
            found.when(challenge.resolved, ALREADY_RESOLVED);
            // Once it is resolved, the stake may be gone.
            let stake = &state.agents[state.batches[challenge.batch].agent].stake;
            found.when(challenge.resolved && stake.is_none(), ACCOUNT_MISSING);
            found.when(!state.is_over(challenge.submitted), WINDOW_NOT_OVER);
        }
        Action::CloseChallenge { challenge } => {
            let challenge = &state.challenges[challenge];
            found.when(challenge.closed, ACCOUNT_MISSING);
            found.when(!challenge.resolved, NOT_RESOLVED);
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
    }
    found.0
}

/// What so many epochs cost now.
pub(crate) fn price(state: &State, agent: usize, epochs: u32) -> u64 {
    let back = if state.agents[agent].lease.is_some() && !state.is_live(agent) { GRACE } else { 0 };
    (u64::from(epochs) + back) * EPOCH_PRICE
}

fn claim(found: &mut Reasons, state: &State, agent: usize, who: usize) {
    let Some(stake) = &state.agents[agent].stake else { return found.when(true, ACCOUNT_MISSING) };
    found.when(state.beneficiary(agent) != Some(who), NOT_OWNER);
    match stake.queued {
        None => found.when(true, NOT_QUEUED),
        Some(queued) => found.when(state.slot < queued + DELAY, DELAY_NOT_OVER),
    }
    found.when(state.is_live(agent), LEASE_NOT_DEACTIVATED);
    found.when(state.is_stale(agent), LEASE_PAID_SINCE);
    found.when(stake.open_challenges > 0, OPEN_CHALLENGES);
    let head = state.agents[agent].head.as_ref();
    found.when(head.is_some_and(|head| !state.is_over(head.last_slot)), BATCH_IN_WINDOW);
}

fn submit_batch(found: &mut Reasons, state: &State, agent: usize, who: usize, back: i64) {
    let one = &state.agents[agent];
    found.when(back < 0, FUTURE_EPOCH);
    found.when(back == 0, CURRENT_EPOCH);
    found.when(back > 3, EPOCH_TOO_OLD);
    let epoch = state.epoch().checked_add_signed(-back).unwrap();
    found.when(one.head.as_ref().is_some_and(|head| head.last_epoch >= epoch), EPOCH_NOT_INCREASING);
    found.unless_acting(state, agent, who, WRONG_SIGNER);
    match &one.stake {
        None => found.when(true, STAKE_MISSING),
        Some(stake) => found.when(stake.amount < MIN_STAKE, STAKE_BELOW_MINIMUM),
    }
    found.when(one.lease.is_none(), LEASE_MISSING);
    found.when(one.lease.is_some() && !state.is_live(agent), LEASE_DEACTIVATED);
}

/// What holds of every challenge, whatever it shows.
fn challenge(found: &mut Reasons, state: &State, batch: usize, who: usize, ground: u8) {
    let batch = &state.batches[batch];
    found.when(batch.closed || state.agents[batch.agent].stake.is_none(), ACCOUNT_MISSING);
    found.when(state.is_over(batch.submitted), CHALLENGE_WINDOW_OVER);
    found.when(!(1..=5).contains(&ground), UNKNOWN_GROUND);
    found.when(state.wallets[who].usdc < CHALLENGE_STAKE, INSUFFICIENT_USDC);
}

/// A log entry of batch `from`, shown against batch `against`.
fn entry(
    found: &mut Reasons,
    state: &State,
    (against, from): (usize, usize),
    (message, payload): (usize, bool),
    ground: u8,
) {
    let logged = state.batches[from].content.log_place(message).is_some();
    // Evidence from another batch holds only where both logs are the same, which two epochs or agents
    // never have.
    found.any(!logged || against != from, &PROOF);
    found.when(against != from, NOT_AGENTS_ENTRY);
    found.when(!RECORDS.contains(&(message, ground)), NO_GROUND);
    found.when(payload && ground != 1, PAYLOAD_NOT_ALLOWED);
}

fn envelope(found: &mut Reasons, state: &State, batch: usize, who: usize, ground: u8, nonce: u64) {
    let Some(record) = state.records.get(&(who, nonce)) else {
        return found.when(true, ACCOUNT_MISSING);
    };
    let against = &state.batches[batch];
    found.when(record.agent != against.agent, NOT_AGENTS_ENTRY);
    found.when(record.ground != ground, GROUND_MISMATCH);
    found.when(!(against.covers_from..=against.epoch).contains(&record.epoch), OUTSIDE_EPOCHS);
    if record.signer != against.signer {
        found.unless_acting(state, against.agent, record.signer, WRONG_ENVELOPE_SIGNER);
    }
    let shown = Shown::Envelope { message: record.message, epoch: record.epoch };
    exists(found, state, batch, who, ground, shown);
}

fn exists(found: &mut Reasons, state: &State, batch: usize, who: usize, ground: u8, shown: Shown) {
    let same = state.challenges.iter().any(|one| {
        !one.closed && (one.batch, one.challenger, one.ground, one.shown) == (batch, who, ground, shown)
    });
    found.when(same, CHALLENGE_EXISTS);
}

fn append(found: &mut Reasons, draft: Option<(usize, usize)>, asked: usize) {
    let Some((len, written)) = draft else { return found.when(true, ACCOUNT_MISSING) };
    let bytes = chunk(asked, len - written);
    found.when(bytes == 0 || written + bytes > len, DRAFT_OVERRUN);
}

/// Where the arrays hold the record that answers a challenge, and the bid's value that must be named.
pub(crate) fn answer_to(state: &State, challenge: usize) -> Option<(usize, i128)> {
    let challenge = &state.challenges[challenge];
    let batch = &state.batches[challenge.batch];
    let (message, value_known, epoch) = match challenge.shown {
        Shown::Entry { message, payload } => (message, payload, batch.epoch),
        Shown::Envelope { message, epoch } => (message, true, epoch),
        Shown::Bids => return None,
    };
    if epoch != batch.epoch {
        // Nothing of another epoch is ever in these arrays.
        return None;
    }
    let (content, ground) = (&batch.content, challenge.ground);
    let fits = |value: i128| ground != 1 || !value_known || value == wire::value(message);
    let first = content.record_place(message, ground).map(|place| (place, content.value(message)));
    let second = content.doubled_place().map(|place| (place, crate::state::Content::doubled_value()));
    let second = second.filter(|_| (message, ground) == (wire::PROPOSE, 1));
    [first, second].into_iter().flatten().find(|(_, value)| fits(*value))
}

fn answer(found: &mut Reasons, state: &State, challenge: usize, right: bool) {
    let one = &state.challenges[challenge];
    found.when(one.closed || state.batches[one.batch].closed, ACCOUNT_MISSING);
    found.when(one.resolved, ALREADY_RESOLVED);
    found.when(one.answered, ALREADY_ANSWERED);
    found.when(one.shown == Shown::Bids, NO_ANSWER);
    found.when(state.is_over(one.submitted), ANSWER_TOO_LATE);
    let provable = right && answer_to(state, challenge).is_some();
    found.any(!provable, &PROOF);
    found.when(!provable, WRONG_RECORD);
}
