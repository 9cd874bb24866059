//! What can happen, and how it is drawn: likelier where it can succeed, and always possible where it cannot.

use proptest::prelude::*;
use proptest::strategy::Union;

use crate::state::{AGENTS, Content, DELAY, MIN_STAKE, State, WALLETS, WINDOW};
use crate::wire;

/// One action. Agents, wallets, batches and challenges are numbers.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Advance(u64),
    Lock {
        agent: usize,
        who: usize,
        amount: u64,
    },
    Queue {
        agent: usize,
        who: usize,
    },
    Cancel {
        agent: usize,
        who: usize,
    },
    Claim {
        agent: usize,
        who: usize,
    },
    Pay {
        agent: usize,
        who: usize,
        epochs: u32,
    },
    Tick {
        agent: usize,
    },
    SubmitBatch {
        agent: usize,
        who: usize,
        back: i64,
        content: Content,
    },
    CloseBatch {
        batch: usize,
    },
    ChallengeEntry {
        batch: usize,
        who: usize,
        ground: u8,
        message: usize,
        payload: bool,
    },
    ChallengeBids {
        batch: usize,
        who: usize,
        ground: u8,
    },
    ChallengeDraft {
        batch: usize,
        who: usize,
        ground: u8,
        nonce: u64,
    },
    ChallengeEnvelope {
        batch: usize,
        who: usize,
        ground: u8,
        nonce: u64,
    },
    RecordEnvelope {
        who: usize,
        nonce: u64,
        agent: usize,
        back: u64,
        message: usize,
        ground: u8,
        signer: usize,
    },
    DiscardEnvelope {
        who: usize,
        nonce: u64,
    },
    BeginEvidence {
        who: usize,
        nonce: u64,
        batch: usize,
        message: usize,
    },
    AppendEvidence {
        who: usize,
        nonce: u64,
        bytes: usize,
    },
    CancelEvidence {
        who: usize,
        nonce: u64,
    },
    Answer {
        challenge: usize,
        who: usize,
        right: bool,
    },
    Resolve {
        challenge: usize,
    },
    CloseChallenge {
        challenge: usize,
    },
    Transfer {
        agent: usize,
        to: usize,
    },
    Burn {
        agent: usize,
    },
    /// The holder lets another wallet act for a number of days (0: for ever).
    Delegate {
        agent: usize,
        to: usize,
        days: u64,
    },
    /// Somebody sends USDC to a stake's vault.
    GiveToStake {
        agent: usize,
        who: usize,
        amount: u64,
    },
    /// Somebody sends USDC to a challenge's vault.
    GiveToChallenge {
        challenge: usize,
        who: usize,
        amount: u64,
    },
    SubmitText {
        who: usize,
        bytes: usize,
        ahead: u64,
    },
    BeginText {
        who: usize,
        nonce: u64,
        len: usize,
        honest: bool,
    },
    AppendText {
        who: usize,
        nonce: u64,
        bytes: usize,
    },
    SealText {
        who: usize,
        nonce: u64,
        ahead: u64,
    },
    CancelText {
        who: usize,
        nonce: u64,
    },
}

impl Action {
    /// Its name, for counting.
    pub(crate) fn name(&self) -> String {
        let debug = format!("{self:?}");
        debug.split([' ', '(']).next().unwrap_or_default().to_owned()
    }

    /// Whether what it names exists, and it can be sent at all.
    pub(crate) fn is_possible(&self, state: &State) -> bool {
        match self {
            Self::CloseBatch { batch }
            | Self::ChallengeEntry { batch, .. }
            | Self::ChallengeBids { batch, .. }
            | Self::ChallengeDraft { batch, .. }
            | Self::ChallengeEnvelope { batch, .. }
            | Self::BeginEvidence { batch, .. } => *batch < state.batches.len(),
            Self::Answer { challenge, .. }
            | Self::Resolve { challenge }
            | Self::CloseChallenge { challenge } => *challenge < state.challenges.len(),
            // Only what Token-2022 would do; its refusals are not this test's matter.
            Self::Transfer { agent, to } => state.agents[*agent].holder.is_some_and(|holder| holder != *to),
            Self::Burn { agent } => state.agents[*agent].holder.is_some(),
            Self::Delegate { agent, to, .. } => {
                let holder = state.agents[*agent].holder;
                holder.is_some_and(|holder| holder != *to) && !state.delegations.contains_key(&(*agent, *to))
            }
            Self::GiveToStake { agent, who, amount } => {
                state.agents[*agent].stake.is_some() && state.wallets[*who].usdc >= *amount
            }
            Self::GiveToChallenge { challenge, who, amount } => {
                state.challenges.get(*challenge).is_some_and(|challenge| !challenge.resolved)
                    && state.wallets[*who].usdc >= *amount
            }
            _ => true,
        }
    }
}

type Weighted = (u32, BoxedStrategy<Action>);

/// Mostly the right one.
fn mostly(right: Option<usize>) -> BoxedStrategy<usize> {
    match right {
        Some(right) => prop_oneof![9 => Just(right), 1 => 0..WALLETS].boxed(),
        None => (0..WALLETS).boxed(),
    }
}

fn nonces() -> std::ops::Range<u64> {
    0..2
}

fn content() -> impl Strategy<Value = Content> {
    let honest = Just(Content { log: 0b1_1111, records: 0b1_1111, altered: false, doubled: false });
    let any = (0u8..32, 0u8..32, any::<bool>(), prop::bool::weighted(0.4));
    let any = any.prop_map(|(log, records, altered, doubled)| Content { log, records, altered, doubled });
    prop_oneof![2 => honest, 5 => any]
}

/// What can happen next.
pub(crate) fn next(state: &State) -> BoxedStrategy<Action> {
    let mut all = vec![(34, advance(state)), (14, texts(state)), (16, drafts(state))];
    (0..AGENTS).for_each(|agent| of_agent(state, agent, &mut all));
    let batches = state.batches.len();
    (batches.saturating_sub(6)..batches).for_each(|batch| of_batch(state, batch, &mut all));
    // What is complete is to be used.
    for ((who, nonce), text) in &state.texts {
        let seal = Action::SealText { who: *who, nonce: *nonce, ahead: 0 };
        all.push((if text.written == text.len { 8 } else { 1 }, Just(seal).boxed()));
    }
    for ((who, nonce), draft) in &state.drafts {
        let append = Action::AppendEvidence { who: *who, nonce: *nonce, bytes: usize::MAX };
        all.push((if draft.written < draft.len { 8 } else { 1 }, Just(append).boxed()));
    }
    let challenges = state.challenges.len();
    (challenges.saturating_sub(8)..challenges).for_each(|challenge| of_challenge(state, challenge, &mut all));
    Union::new_weighted(all).boxed()
}

fn advance(state: &State) -> BoxedStrategy<Action> {
    // The last slot of a window and the first one after it, where rules change.
    let windows = state.batches.iter().filter(|batch| !batch.closed).map(|batch| batch.submitted + WINDOW);
    let answers = state.challenges.iter().filter(|one| !one.resolved).map(|one| one.submitted + WINDOW);
    let delays =
        state.agents.iter().filter_map(|one| one.stake.as_ref()?.queued).map(|slot| slot + DELAY - 1);
    let edges: Vec<u64> = windows
        .chain(answers)
        .chain(delays)
        .filter(|edge| *edge >= state.slot)
        .map(|edge| edge - state.slot)
        .collect();
    let mut all: Vec<Weighted> = vec![
        (6, (1u64..500).prop_map(Action::Advance).boxed()),
        (3, (1u64..=2).prop_map(|epochs| Action::Advance(epochs * 216_000)).boxed()),
        (1, (4u64..=6).prop_map(|epochs| Action::Advance(epochs * 216_000)).boxed()),
    ];
    if !edges.is_empty() {
        let edge = (prop::sample::select(edges), 0u64..=1);
        all.push((4, edge.prop_map(|(edge, past)| Action::Advance(edge + past)).boxed()));
    }
    Union::new_weighted(all).boxed()
}

fn of_agent(state: &State, agent: usize, all: &mut Vec<Weighted>) {
    let one = &state.agents[agent];
    // Those who may act for it, or could once.
    let delegates = state.delegations.keys().filter(|(of, _)| *of == agent).map(|(_, delegate)| *delegate);
    let delegates: Vec<usize> = delegates.collect();
    let acting = |holder: Option<usize>| match delegates[..] {
        [] => mostly(holder),
        _ => prop_oneof![2 => mostly(holder), 1 => prop::sample::select(delegates.clone())].boxed(),
    };
    let (holder, beneficiary, live) = (one.holder, state.beneficiary(agent), state.is_live(agent));
    let staked = one.stake.as_ref().is_some_and(|stake| stake.amount >= MIN_STAKE);
    let queued = one.stake.as_ref().is_some_and(|stake| stake.queued.is_some());
    let weigh = |likely: bool, high: u32, low: u32| if likely { high } else { low };

    let amount = prop_oneof![
        1 => Just(0u64), 1 => Just(1), 1 => Just(MIN_STAKE - 1), 5 => Just(MIN_STAKE), 2 => Just(12_345_677)
    ];
    let lock = (mostly(holder), amount).prop_map(move |(who, amount)| Action::Lock { agent, who, amount });
    all.push((weigh(!staked, 12, 3), lock.boxed()));
    let queue = mostly(beneficiary).prop_map(move |who| Action::Queue { agent, who });
    let stale = state.is_stale(agent);
    all.push((weigh(one.stake.is_some() && !live && (!queued || stale), 14, 2), queue.boxed()));
    let cancel = mostly(holder).prop_map(move |who| Action::Cancel { agent, who });
    all.push((weigh(queued && live, 8, 1), cancel.boxed()));
    let claim = mostly(beneficiary).prop_map(move |who| Action::Claim { agent, who });
    let due =
        one.stake.as_ref().and_then(|stake| stake.queued).is_some_and(|slot| slot + DELAY <= state.slot);
    all.push((weigh(due && !live, 24, if queued { 6 } else { 1 }), claim.boxed()));
    let pay = (acting(holder), prop_oneof![1 => Just(0u32), 12 => 1u32..=5]);
    all.push((6, pay.prop_map(move |(who, epochs)| Action::Pay { agent, who, epochs }).boxed()));
    all.push((2, Just(Action::Tick { agent }).boxed()));
    let back = prop_oneof![1 => -1i64..=0, 8 => 1i64..=2, 2 => 3i64..=4];
    let submit = (acting(holder), back, content());
    let submit =
        submit.prop_map(move |(who, back, content)| Action::SubmitBatch { agent, who, back, content });
    all.push((weigh(staked && live, 16, 2), submit.boxed()));
    let give =
        (0..WALLETS, 1u64..2_000).prop_map(move |(who, amount)| Action::GiveToStake { agent, who, amount });
    if one.stake.is_some() {
        all.push((1, give.boxed()));
    }
    if holder.is_some() {
        let delegate = (0..WALLETS, prop_oneof![2 => Just(0u64), 1 => 1u64..4]);
        let delegate = delegate.prop_map(move |(to, days)| Action::Delegate { agent, to, days });
        all.push((2, delegate.boxed()));
        all.push((1, (0..WALLETS).prop_map(move |to| Action::Transfer { agent, to }).boxed()));
        all.push((
            1,
            prop_oneof![3 => Just(Action::Tick { agent }), 1 => Just(Action::Burn { agent })].boxed(),
        ));
    }
}

fn of_batch(state: &State, batch: usize, all: &mut Vec<Weighted>) {
    let one = &state.batches[batch];
    let over = state.is_over(one.submitted);
    all.push((if over && !one.closed { 6 } else { 1 }, Just(Action::CloseBatch { batch }).boxed()));
    let weight = if over { 1 } else { 14 };
    let fitting = prop_oneof![
        Just((wire::PROPOSE, 1u8)),
        Just((wire::ACCEPT, 1)),
        Just((wire::ACCEPT, 2)),
        Just((wire::ASSIGN, 3)),
        Just((wire::FEEDBACK, 4)),
    ];
    let claim = prop_oneof![5 => fitting, 1 => (0..wire::LOGGED, 0u8..=6)];
    let entry =
        (0..WALLETS, claim, prop::bool::weighted(0.4)).prop_map(move |(who, (message, ground), payload)| {
            Action::ChallengeEntry { batch, who, ground, message, payload }
        });
    all.push((weight, entry.boxed()));
    let bids = (0..WALLETS, prop_oneof![5 => Just(5u8), 1 => 1u8..=4]);
    let bids = bids.prop_map(move |(who, ground)| Action::ChallengeBids { batch, who, ground });
    all.push((if one.content.doubled && !over { 6 } else { 1 }, bids.boxed()));
    for ((who, nonce), draft) in &state.drafts {
        let (who, nonce, fits) = (*who, *nonce, draft.batch == batch && draft.written == draft.len && !over);
        let ground = crate::state::RECORDS.iter().find(|(message, _)| *message == draft.message);
        let ground = ground.map_or(1, |(_, ground)| *ground);
        let action =
            mostly(Some(who)).prop_map(move |who| Action::ChallengeDraft { batch, who, ground, nonce });
        all.push((if fits { 12 } else { 1 }, action.boxed()));
    }
    for ((who, nonce), record) in &state.records {
        let (who, nonce, ground) = (*who, *nonce, record.ground);
        let ground = prop_oneof![6 => Just(ground), 1 => 1u8..=4];
        let action = (mostly(Some(who)), ground).prop_map(move |(who, ground)| Action::ChallengeEnvelope {
            batch,
            who,
            ground,
            nonce,
        });
        let covered = (one.covers_from..=one.epoch).contains(&record.epoch);
        let fits = record.agent == one.agent && covered && !over;
        all.push((if fits { 14 } else { 1 }, action.boxed()));
    }
    let who_and_nonce = (0..WALLETS, nonces());
    let begin = (who_and_nonce, 0..wire::LOGGED)
        .prop_map(move |((who, nonce), message)| Action::BeginEvidence { who, nonce, batch, message });
    all.push((if over { 1 } else { 4 }, begin.boxed()));
}

fn of_challenge(state: &State, challenge: usize, all: &mut Vec<Weighted>) {
    let one = &state.challenges[challenge];
    let over = state.is_over(one.submitted);
    let answer = (0..WALLETS, prop::bool::weighted(0.8)).prop_map(move |(who, right)| Action::Answer {
        challenge,
        who,
        right,
    });
    all.push((if one.answered || over { 1 } else { 10 }, answer.boxed()));
    let give = (0..WALLETS, 1u64..2_000).prop_map(move |(who, amount)| Action::GiveToChallenge {
        challenge,
        who,
        amount,
    });
    if !one.resolved {
        all.push((1, give.boxed()));
    }
    let resolve = Just(Action::Resolve { challenge });
    // Not too likely: what an unresolved challenge keeps from happening must be tried as well.
    all.push((if over && !one.resolved { 4 } else { 1 }, resolve.boxed()));
    let close = Just(Action::CloseChallenge { challenge });
    all.push((if one.resolved && !one.closed { 6 } else { 1 }, close.boxed()));
}

/// A key of the map, mostly; else any.
fn key_of<T>(map: &std::collections::BTreeMap<(usize, u64), T>) -> BoxedStrategy<(usize, u64)> {
    let keys: Vec<_> = map.keys().copied().collect();
    let any = (0..WALLETS, nonces());
    if keys.is_empty() { any.boxed() } else { prop_oneof![6 => prop::sample::select(keys), 1 => any].boxed() }
}

fn drafts(state: &State) -> BoxedStrategy<Action> {
    let append =
        (key_of(&state.drafts), prop_oneof![1 => Just(0usize), 6 => 1usize..400, 6 => Just(usize::MAX)]);
    let delegates = state.delegations.keys().copied().collect::<Vec<_>>();
    let holders: Vec<usize> = state.agents.iter().enumerate().map(|(n, a)| a.holder.unwrap_or(n)).collect();
    let fitting = prop_oneof![Just((wire::PROPOSE, 1u8)), Just((wire::ACCEPT, 2)), Just((wire::ASSIGN, 3)),];
    let claim = prop_oneof![6 => fitting, 1 => (0..=wire::LONG, 0u8..=6)];
    let record = ((0..WALLETS, nonces()), 0..AGENTS, 0u64..=3, claim, prop::bool::weighted(0.6), 0..WALLETS);
    let record = record.prop_map(move |((who, nonce), agent, back, (message, ground), by_holder, other)| {
        let delegate = delegates.iter().find(|(of, _)| *of == agent).map(|(_, delegate)| *delegate);
        let signer = match (by_holder, other % 2) {
            (true, _) => holders[agent],
            (false, 0) => delegate.unwrap_or(other),
            (false, _) => other,
        };
        Action::RecordEnvelope { who, nonce, agent, back, message, ground, signer }
    });
    prop_oneof![
        6 => append.prop_map(|((who, nonce), bytes)| Action::AppendEvidence { who, nonce, bytes }),
        1 => key_of(&state.drafts).prop_map(|(who, nonce)| Action::CancelEvidence { who, nonce }),
        5 => record,
        1 => key_of(&state.records).prop_map(|(who, nonce)| Action::DiscardEnvelope { who, nonce }),
    ]
    .boxed()
}

fn texts(state: &State) -> BoxedStrategy<Action> {
    let ahead = || prop_oneof![6 => Just(0u64), 1 => Just(1)];
    let length = prop_oneof![1 => Just(0usize), 6 => 1usize..60, 1 => Just(2_048), 1 => Just(2_049)];
    let submit = (0..WALLETS, prop_oneof![1 => Just(0usize), 6 => 1usize..300], ahead());
    let begin = (0..WALLETS, nonces(), length, prop::bool::weighted(0.8));
    let append =
        (key_of(&state.texts), prop_oneof![1 => Just(0usize), 2 => 1usize..900, 6 => Just(usize::MAX)]);
    prop_oneof![
        2 => submit.prop_map(|(who, bytes, ahead)| Action::SubmitText { who, bytes, ahead }),
        3 => begin.prop_map(|(who, nonce, len, honest)| Action::BeginText { who, nonce, len, honest }),
        3 => append.prop_map(|((who, nonce), bytes)| Action::AppendText { who, nonce, bytes }),
        3 => (key_of(&state.texts), ahead()).prop_map(|((who, nonce), ahead)| Action::SealText { who, nonce, ahead }),
        1 => key_of(&state.texts).prop_map(|(who, nonce)| Action::CancelText { who, nonce }),
    ]
    .boxed()
}
