//! Comparing the chain with the model, and taking everything down at the end.

use solana_account::ReadableAccount;
use zx1_chain::pda;
use zx1_interface::accounts::{
    BatchAccount, ChallengeAccount, Config, EvidenceDraft, FeedbackDraft, FeedbackEntry, FeedbackLogAccount,
    HeadAccount, LeaseAccount, RecordedEnvelope, StakeLockAccount,
};
use zx1_interface::{Layout, ids};

use crate::actions::Action;
use crate::effects;
use crate::rules;
use crate::state::{CHALLENGE_STAKE, DELAY, START_USDC, State, WALLETS};
use crate::system::{START_LAMPORTS, System};

/// Asserts that the chain is what the model says.
pub(crate) fn check(system: &System, state: &State) {
    let world = &system.world;
    assert_eq!((world.slot(), world.epoch()), (state.slot, state.epoch()), "the clock");
    // Money: each account as the model has it, and in all what was minted.
    for (number, wallet) in state.wallets.iter().enumerate() {
        let usdc = world.token_balance(&system.usdc(number));
        assert_eq!(usdc, wallet.usdc, "USDC of wallet {number}");
        let lamports = START_LAMPORTS.checked_add_signed(wallet.lamports).unwrap();
        assert_eq!(world.lamports(&system.at(number)), lamports, "lamports of wallet {number}");
    }
    assert_eq!(world.token_balance(&system.treasury_usdc), state.treasury, "the treasury");
    let minted = START_USDC * u64::try_from(WALLETS).unwrap();
    assert_eq!(state.usdc_in_all(), minted, "the model's own USDC");
    for agent in 0..state.agents.len() {
        check_agent(system, state, agent);
    }
    for (number, batch) in state.batches.iter().enumerate() {
        let at = pda::batch(&system.agents[batch.agent].mint, batch.epoch);
        if batch.closed {
            assert!(world.account(&at).is_none(), "batch {number} is closed");
            continue;
        }
        let found: BatchAccount = world.read(&at);
        assert_eq!(
            (found.covers_from_epoch, found.epoch_number, found.submitted_slot, found.payer, found.signer),
            (
                batch.covers_from,
                batch.epoch,
                batch.submitted,
                state.wallet_ids[batch.signer],
                state.wallet_ids[batch.signer]
            ),
            "batch {number}"
        );
    }
    check_challenges(system, state);
    check_drafts(system, state);
}

fn check_agent(system: &System, state: &State, number: usize) {
    let (world, agent, mint) = (&system.world, &state.agents[number], &system.agents[number].mint);
    let vault = world.token_balance(&pda::stake_vault(mint));
    match &agent.stake {
        None => {
            assert!(world.account(&pda::stake(mint)).is_none() && vault == 0, "agent {number} has no stake")
        }
        Some(stake) => {
            let found: StakeLockAccount = world.read(&pda::stake(mint));
            assert_eq!(
                (found.stake_usdc, found.open_challenges, found.owner, found.queued_slot),
                (
                    stake.amount,
                    stake.open_challenges,
                    state.wallet_ids[stake.owner],
                    stake.queued.unwrap_or_default()
                ),
                "the stake of agent {number}"
            );
            let available = stake.queued.map_or(0, |queued| queued + DELAY);
            let queued = (found.in_unlock_queue, found.unlock_available_slot);
            assert_eq!(queued, (u8::from(stake.queued.is_some()), available), "the queue of agent {number}");
            assert!(vault >= found.stake_usdc, "the vault of agent {number} holds the stake");
            assert_eq!(vault, stake.amount + stake.gifts, "the vault of agent {number}");
        }
    }
    match &agent.lease {
        None => assert!(world.account(&pda::lease(mint)).is_none(), "agent {number} has no lease"),
        Some(lease) => {
            let found: LeaseAccount = world.read(&pda::lease(mint));
            assert_eq!(
                (found.paid_through_epoch, found.last_paid_slot, found.in_grace_period, found.deactivated),
                (lease.paid_through, lease.last_paid, u8::from(lease.grace), u8::from(lease.deactivated)),
                "the lease of agent {number}"
            );
        }
    }
    match &agent.head {
        None => assert!(world.account(&pda::head(mint)).is_none(), "agent {number} has no head"),
        Some(head) => {
            let found: HeadAccount = world.read(&pda::head(mint));
            assert_eq!(
                (found.last_epoch, found.last_slot, found.count, found.digest),
                (head.last_epoch, head.last_slot, head.count, head.digest),
                "the head of agent {number}"
            );
        }
    }
}

fn check_challenges(system: &System, state: &State) {
    let world = &system.world;
    for (number, challenge) in state.challenges.iter().enumerate() {
        let which = (challenge.batch, challenge.challenger, challenge.ground);
        let at = system.challenge_addresses(which, &challenge.shown).challenge();
        let vault = pda::challenge_vault(&at);
        let staked = if challenge.resolved { 0 } else { CHALLENGE_STAKE + challenge.gifts };
        assert_eq!(world.token_balance(&vault), staked, "the vault of challenge {number}");
        let has_vault = world.account(&vault).is_some();
        assert_eq!(has_vault, !challenge.resolved, "the vault of challenge {number} is closed in the end");
        if challenge.closed {
            assert!(world.account(&at).is_none(), "challenge {number} is closed");
            continue;
        }
        let found: ChallengeAccount = world.read(&at);
        assert_eq!(
            (found.submitted_slot, found.answered, found.resolved, found.succeeded, found.challenger),
            (
                challenge.submitted,
                u8::from(challenge.answered),
                u8::from(challenge.resolved),
                u8::from(challenge.succeeded),
                state.wallet_ids[challenge.challenger]
            ),
            "challenge {number}"
        );
    }
}

fn check_drafts(system: &System, state: &State) {
    let world = &system.world;
    for ((who, nonce), draft) in &state.drafts {
        let found: EvidenceDraft = world.read(&pda::evidence_draft(&system.at(*who), *nonce));
        let expected = (u32::try_from(draft.len).unwrap(), u32::try_from(draft.written).unwrap());
        assert_eq!((found.len, found.written), expected, "the evidence draft {nonce} of {who}");
    }
    for ((who, nonce), record) in &state.records {
        let found: RecordedEnvelope = world.read(&pda::recorded_envelope(&system.at(*who), *nonce));
        assert_eq!(
            (found.agent_id, found.signer, found.epoch, found.ground),
            (state.agent_ids[record.agent], state.wallet_ids[record.signer], record.epoch, record.ground),
            "the recorded envelope {nonce} of {who}"
        );
    }
    for ((who, nonce), draft) in &state.texts {
        let found: FeedbackDraft = world.read(&pda::feedback_draft(&system.at(*who), *nonce));
        let expected = (u32::try_from(draft.len).unwrap(), u32::try_from(draft.written).unwrap());
        assert_eq!((found.len, found.written), expected, "the text draft {nonce} of {who}");
    }
    if state.log_count == 0 {
        assert!(world.account(&pda::feedback_log()).is_none(), "the log is empty");
    } else {
        let found: FeedbackLogAccount = world.read(&pda::feedback_log());
        assert_eq!((found.count, found.head), (state.log_count, state.log_head), "the feedback log");
    }
}

/// Does an action that must succeed, in the model and on the chain.
fn must(system: &mut System, state: &mut State, action: &Action) {
    let reasons = rules::reasons(state, action);
    assert!(reasons.is_empty(), "at the end, {action:?} must be possible: {reasons:?}");
    system
        .execute(action)
        .unwrap_or_else(|failure| panic!("at the end, {action:?} is possible: {failure:?}"));
    effects::perform(state, action);
    system.before = state.clone();
    check(system, state);
}

/// Long after, everything that decision B8 calls closable can be closed, by its own way and with all rent
/// back to whoever paid it; then nothing closable is left.
pub(crate) fn take_down(mut system: System, mut state: State) {
    let (system, state) = (&mut system, &mut state);
    must(system, state, &Action::Advance(200 * 216_000));
    for challenge in 0..state.challenges.len() {
        if !state.challenges[challenge].resolved {
            must(system, state, &Action::Resolve { challenge });
        }
        if !state.challenges[challenge].closed {
            must(system, state, &Action::CloseChallenge { challenge });
        }
    }
    for batch in 0..state.batches.len() {
        if !state.batches[batch].closed {
            must(system, state, &Action::CloseBatch { batch });
        }
    }
    for (who, nonce) in state.drafts.clone().into_keys() {
        must(system, state, &Action::CancelEvidence { who, nonce });
    }
    for (who, nonce) in state.records.clone().into_keys() {
        must(system, state, &Action::DiscardEnvelope { who, nonce });
    }
    for (who, nonce) in state.texts.clone().into_keys() {
        must(system, state, &Action::CancelText { who, nonce });
    }
    for agent in 0..state.agents.len() {
        let Some(who) = state.beneficiary(agent).filter(|_| state.agents[agent].stake.is_some()) else {
            continue;
        };
        let queued = state.agents[agent].stake.as_ref().is_some_and(|stake| stake.queued.is_some());
        if !queued || state.is_stale(agent) {
            must(system, state, &Action::Queue { agent, who });
        }
        must(system, state, &Action::Advance(DELAY));
        must(system, state, &Action::Claim { agent, who });
    }
    nothing_closable_is_left(system);
}

/// No account of the programs is left but those that are never closed.
fn nothing_closable_is_left(system: &System) {
    let programs = [ids::STAKE_LOCK, ids::LEASE, ids::BEHAVIOR_LOG, ids::CHALLENGE, ids::FEEDBACK_LOG];
    let for_ever = [
        Config::DISCRIMINATOR,
        LeaseAccount::DISCRIMINATOR,
        HeadAccount::DISCRIMINATOR,
        FeedbackLogAccount::DISCRIMINATOR,
        FeedbackEntry::DISCRIMINATOR,
    ];
    for (at, account) in &system.world.svm.accounts_db().inner {
        if account.lamports() == 0 || !programs.contains(&account.owner().to_bytes()) {
            continue;
        }
        assert!(for_ever.iter().any(|kind| account.data().starts_with(kind)), "{at} is left");
    }
}
