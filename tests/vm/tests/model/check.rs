//! Comparing the chain with the model, and taking everything down at the end.

use solana_account::ReadableAccount;
use solana_address::Address;
use zx1_chain::pda;
use zx1_interface::accounts::{
    AskAccount, BatchAccount, ChallengeAccount, Config, EvidenceDraft, FeedbackDraft, FeedbackEntry,
    FeedbackLogAccount, HeadAccount, KeyAccount, LeaseAccount, ShardAccount, StakeLockAccount, TenureAccount,
};
use zx1_interface::{Layout, ids};
use zx1_protocol::keys::OPEN;

use crate::actions::Action;
use crate::effects;
use crate::rules;
use crate::state::*;
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
    let burnt = world.lamports(&Address::new_from_array(ids::INCINERATOR));
    assert_eq!(i64::try_from(burnt).unwrap(), state.burnt, "what is burnt");
    let minted = START_USDC * u64::try_from(WALLETS).unwrap();
    assert_eq!(state.usdc_in_all(), minted, "the model's own USDC");
    for agent in 0..AGENTS {
        check_agent(system, state, agent);
    }
    check_vaults(system, state);
    check_keys(system, state);
    for batch in 0..state.batches.len() {
        check_batch(system, state, batch);
    }
    check_challenges(system, state);
    check_asks(system, state);
    check_drafts(system, state);
}

/// What every vault owes is what its eras hold, and it holds that and what strangers sent.
fn check_vaults(system: &System, state: &State) {
    for agent in 0..AGENTS {
        let number = state.shard(agent);
        let own = (0..AGENTS).filter(|other| state.shard(*other) == number);
        let stakes = own.flat_map(|agent| state.agents[agent].stakes.values());
        let owed: u64 = stakes.map(|stake| stake.amount + stake.pot + stake.deposits).sum();
        let Some(gifts) = state.vaults.get(&number) else {
            assert!(system.world.account(&pda::shard(number)).is_none(), "shard {number} is not open");
            continue;
        };
        let found: ShardAccount = system.world.read(&pda::shard(number));
        assert_eq!(found.total_usdc, owed, "what shard {number} owes");
        assert_eq!(system.world.token_balance(&pda::vault(number)), owed + gifts, "the vault {number}");
    }
}

fn check_keys(system: &System, state: &State) {
    let listed = system.world.all::<KeyAccount>().len();
    assert_eq!(listed, state.keys.len(), "how many keys are listed");
    for ((agent, signer), key) in &state.keys {
        let at = pda::key(&system.agents[*agent].mint, &system.at(*signer));
        let found: KeyAccount = system.world.read(&at);
        let until = key.until.unwrap_or(OPEN);
        assert_eq!(
            (found.scopes, found.from_epoch, found.until_epoch, found.tenure, found.owner, found.payer),
            (
                key.scopes,
                key.from,
                until,
                key.tenure,
                state.signer_ids[key.owner],
                state.signer_ids[key.owner]
            ),
            "the key {signer} of agent {agent}"
        );
        assert_eq!(found.ended_slot != 0, key.until.is_some(), "the end of key {signer} of agent {agent}");
    }
}

fn check_agent(system: &System, state: &State, number: usize) {
    let (world, agent, mint) = (&system.world, &state.agents[number], &system.agents[number].mint);
    match &agent.tenure {
        None => assert!(world.account(&pda::tenure(mint)).is_none(), "agent {number} has no tenure"),
        Some(tenure) => {
            let found: TenureAccount = world.read(&pda::tenure(mint));
            assert_eq!(
                (found.owner, found.number, found.from_epoch, found.era, usize::from(found.live_keys)),
                (
                    state.signer_ids[tenure.owner],
                    tenure.number,
                    tenure.from,
                    tenure.era,
                    state.live_keys(number).len()
                ),
                "the tenure of agent {number}"
            );
            assert_eq!(found.has_listed, u8::from(tenure.has_listed), "the keys of agent {number}");
        }
    }
    for era in 0..=agent.era() {
        check_stake(system, state, number, era);
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

fn check_stake(system: &System, state: &State, number: usize, era: u32) {
    let (world, at) = (&system.world, pda::stake(&system.agents[number].mint, era));
    let Some(stake) = state.agents[number].stakes.get(&era) else {
        return assert!(world.account(&at).is_none(), "agent {number} has no stake of era {era}");
    };
    let found: StakeLockAccount = world.read(&at);
    let which = format!("the stake of agent {number}, era {era}");
    assert_eq!(
        (found.stake_usdc, found.pot_usdc, found.deposits_usdc, found.owner),
        (stake.amount, stake.pot, stake.deposits, state.signer_ids[stake.owner]),
        "{which}"
    );
    assert_eq!(
        (found.open_challenges, found.next_rank, found.settled_rank, found.open_asks, found.next_ask),
        (stake.open_challenges, stake.next_rank, stake.settled_rank, stake.open_asks, stake.next_ask),
        "the order of {which}"
    );
    assert_eq!(found.settled_ask, stake.next_ask - stake.open_asks, "the asks of {which}");
    let slot = |slot: Option<u64>| slot.unwrap_or_default();
    assert_eq!(
        (found.queued_slot, found.ended_slot, found.slashed_slot),
        (slot(stake.queued), slot(stake.ended), slot(stake.slashed)),
        "the slots of {which}"
    );
    let available = stake.queued.map_or(0, |queued| queued + DELAY);
    let queued = (found.in_unlock_queue, found.unlock_available_slot);
    assert_eq!(queued, (u8::from(stake.queued.is_some()), available), "the queue of {which}");
}

fn check_batch(system: &System, state: &State, number: usize) {
    let batch = &state.batches[number];
    let at = pda::batch(&system.agents[batch.agent].mint, batch.epoch);
    if batch.closed {
        return assert!(system.world.account(&at).is_none(), "batch {number} is closed");
    }
    let found: BatchAccount = system.world.read(&at);
    assert_eq!(
        (found.covers_from_epoch, found.epoch_number, found.submitted_slot, found.payer, found.signer),
        (
            batch.covers_from,
            batch.epoch,
            batch.submitted,
            state.signer_ids[batch.payer],
            state.signer_ids[batch.signer]
        ),
        "batch {number}"
    );
    assert_eq!(
        (found.era, found.tenure, found.withheld),
        (batch.era, batch.tenure, u8::from(batch.withheld)),
        "the era of batch {number}"
    );
}

fn check_challenges(system: &System, state: &State) {
    let world = &system.world;
    for (number, challenge) in state.challenges.iter().enumerate() {
        let at = system.challenge_at(&challenge.claim);
        if challenge.closed {
            // Another one of the same claim may not have come after it.
            assert!(world.account(&at).is_none(), "challenge {number} is closed");
            continue;
        }
        let found: ChallengeAccount = world.read(&at);
        assert_eq!(
            (found.submitted_slot, found.outcome, found.passed, found.rank, found.stake_usdc),
            (
                challenge.submitted,
                challenge.outcome as u8,
                u8::from(challenge.passed),
                challenge.rank,
                CHALLENGE_STAKE
            ),
            "challenge {number}"
        );
        assert_eq!(
            (found.challenger, found.payer, found.era),
            (
                state.signer_ids[challenge.challenger],
                state.signer_ids[challenge.payer],
                state.batches[challenge.claim.batch].era
            ),
            "whose challenge {number} is"
        );
    }
}

fn check_asks(system: &System, state: &State) {
    for (number, ask) in state.asks.iter().enumerate() {
        if ask.closed {
            continue;
        }
        let found: AskAccount = system.world.read(&system.ask_at(number));
        assert_eq!(
            (found.created_slot, found.state, found.asker, found.price_usdc),
            (ask.created, ask.state as u8, state.signer_ids[ask.asker], ASK_PRICE),
            "ask {number}"
        );
    }
    let there = state.asks.iter().filter(|ask| !ask.closed).count();
    assert_eq!(system.world.all::<AskAccount>().len(), there, "how many asks there are");
}

fn check_drafts(system: &System, state: &State) {
    let world = &system.world;
    for ((who, nonce), draft) in &state.drafts {
        let found: EvidenceDraft = world.read(&pda::evidence_draft(&system.at(*who), *nonce));
        let expected = (u32::try_from(draft.len).unwrap(), u32::try_from(draft.written).unwrap());
        assert_eq!((found.len, found.written), expected, "the evidence draft {nonce} of {who}");
        assert_eq!(
            (found.state, found.used, found.rank, found.era, found.begin_slot, found.deposit),
            (
                draft.state as u8,
                u8::from(draft.used),
                draft.rank,
                draft.era,
                draft.begun,
                u64::try_from(draft.deposit).unwrap()
            ),
            "the rank of draft {nonce} of {who}"
        );
        assert_eq!(found.ground, draft.sealed.map_or(0, |claim| claim.ground), "draft {nonce} of {who}");
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

/// Whose account holds the next rank of an era, and what moves the order past it. Every rank has one.
fn next_in_order(state: &State, agent: usize, era: u32, rank: u32) -> Action {
    let of_era = |batch: usize| (state.batches[batch].agent, state.batches[batch].era) == (agent, era);
    let challenge = state
        .challenges
        .iter()
        .position(|one| !one.closed && !one.passed && one.rank == rank && of_era(one.claim.batch));
    if let Some(challenge) = challenge {
        return match state.challenges[challenge].outcome {
            Outcome::Open => Action::Resolve { challenge },
            _ => Action::PassChallenge { challenge },
        };
    }
    let draft = state.drafts.iter().find(|(_, draft)| {
        let in_order = matches!(draft.state, Rank::Held | Rank::Swapped);
        let of_agent = state.batches[draft.batch].agent == agent;
        in_order && of_agent && (draft.era, draft.rank) == (era, rank)
    });
    let ((who, nonce), _) = draft.unwrap_or_else(|| panic!("rank {rank} of era {era} has no account"));
    Action::PassDraft { who: *who, nonce: *nonce }
}

/// Long after, everything that decision B8 calls closable can be closed, by its own way and with all rent
/// back to whoever paid it; then nothing closable is left.
pub(crate) fn take_down(mut system: System, mut state: State) {
    let (system, state) = (&mut system, &mut state);
    let all: Vec<(usize, usize)> = state.keys.keys().copied().collect();
    for (agent, key) in all {
        if state.keys[&(agent, key)].until.is_none() {
            must(system, state, &Action::EndKey { agent, who: key, key });
        }
    }
    must(system, state, &Action::Advance(800 * 216_000));
    let all: Vec<(usize, u32)> = (0..AGENTS)
        .flat_map(|agent| state.agents[agent].stakes.keys().map(move |era| (agent, *era)))
        .collect();
    for (agent, era) in &all {
        while let Some(rank) = state.agents[*agent]
            .stakes
            .get(era)
            .and_then(|stake| (stake.settled_rank < stake.next_rank).then_some(stake.settled_rank))
        {
            let action = next_in_order(state, *agent, *era, rank);
            must(system, state, &action);
        }
        if state.agents[*agent].stakes[era].pot > 0 {
            must(system, state, &Action::SettleEra { agent: *agent, era: *era });
        }
    }
    for ask in 0..state.asks.len() {
        if matches!(state.asks[ask].state, Asked::Open | Asked::Withheld) {
            must(system, state, &Action::SettleAsk { ask });
        }
        if !state.asks[ask].closed {
            must(system, state, &Action::CloseAsk { ask });
        }
    }
    for challenge in 0..state.challenges.len() {
        if !state.challenges[challenge].closed {
            must(system, state, &Action::CloseChallenge { challenge });
        }
    }
    for batch in 0..state.batches.len() {
        if !state.batches[batch].closed {
            must(system, state, &Action::CloseBatch { batch });
        }
    }
    for (agent, era) in all {
        claim(system, state, agent, era);
    }
    for (who, nonce) in state.drafts.clone().into_keys() {
        must(system, state, &Action::CancelEvidence { who, nonce, stake: true, challenge: true });
    }
    for (who, nonce) in state.texts.clone().into_keys() {
        must(system, state, &Action::CancelText { who, nonce });
    }
    for (agent, key) in state.keys.clone().into_keys() {
        must(system, state, &Action::CloseKey { agent, key });
    }
    nothing_closable_is_left(system);
}

/// Pays an era out to who locked it: whoever holds the agent, and even when its NFT was burned.
fn claim(system: &mut System, state: &mut State, agent: usize, era: u32) {
    let stake = &state.agents[agent].stakes[&era];
    let who = stake.owner;
    if stake.ended.is_none() {
        let holds = state.agents[agent].holder == Some(who);
        if stake.queued.is_none() || (holds && state.is_stale(agent, era)) {
            must(system, state, &Action::Queue { agent, who, era });
        }
    }
    must(system, state, &Action::Advance(DELAY + 1));
    must(system, state, &Action::Claim { agent, who, era });
}

/// No account of the programs is left but those that are never closed.
fn nothing_closable_is_left(system: &System) {
    let programs = [ids::STAKE_LOCK, ids::LEASE, ids::BEHAVIOR_LOG, ids::CHALLENGE, ids::FEEDBACK_LOG];
    let for_ever = [
        Config::DISCRIMINATOR,
        TenureAccount::DISCRIMINATOR,
        ShardAccount::DISCRIMINATOR,
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
