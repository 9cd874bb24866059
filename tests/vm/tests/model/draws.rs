//! How the next action is drawn: likelier where it can succeed, and always possible where it cannot.

use proptest::prelude::*;
use proptest::strategy::Union;

use crate::actions::{Action, Fault};
use crate::rules;
use crate::state::*;
use crate::wire;

type Weighted = (u32, BoxedStrategy<Action>);

fn weigh(likely: bool, high: u32, low: u32) -> u32 {
    if likely { high } else { low }
}

fn can(state: &State, action: &Action) -> bool {
    rules::reasons(state, action).is_empty()
}

/// One action, likely while it can succeed.
fn one(state: &State, action: Action, high: u32) -> Weighted {
    (weigh(can(state, &action), high, 1), Just(action).boxed())
}

/// Mostly the right one.
fn mostly(right: Option<usize>) -> BoxedStrategy<usize> {
    match right {
        Some(right) if right < WALLETS => prop_oneof![9 => Just(right), 1 => 0..WALLETS].boxed(),
        _ => (0..WALLETS).boxed(),
    }
}

fn nonces() -> std::ops::Range<u64> {
    0..3
}

fn content() -> impl Strategy<Value = Content> {
    let honest = Just(Content { log: 0b1_1111, records: 0b1_1111, altered: false, doubled: false });
    let any = (0u8..32, 0u8..32, any::<bool>(), prop::bool::weighted(0.4));
    let any = any.prop_map(|(log, records, altered, doubled)| Content { log, records, altered, doubled });
    prop_oneof![2 => honest, 5 => any]
}

/// What can happen next.
pub(crate) fn next(state: &State) -> BoxedStrategy<Action> {
    let mut all = vec![(16, advance(state)), (8, texts(state)), (5, drafts(state))];
    (0..AGENTS).for_each(|agent| of_agent(state, agent, &mut all));
    let batches = state.batches.len();
    (batches.saturating_sub(5)..batches).for_each(|batch| of_batch(state, batch, &mut all));
    // What is complete is to be used.
    for ((who, nonce), text) in &state.texts {
        let append = Action::AppendText { who: *who, nonce: *nonce, bytes: usize::MAX };
        all.push((weigh(text.written < text.len, 8, 1), Just(append).boxed()));
        let seal = Action::SealText { who: *who, nonce: *nonce, ahead: 0 };
        all.push((weigh(text.written == text.len, 8, 1), Just(seal).boxed()));
    }
    state.drafts.keys().for_each(|nonce| of_draft(state, *nonce, &mut all));
    let challenges = state.challenges.len();
    (challenges.saturating_sub(8)..challenges).for_each(|challenge| of_challenge(state, challenge, &mut all));
    let asks = state.asks.len();
    (asks.saturating_sub(6)..asks).for_each(|ask| of_ask(state, ask, &mut all));
    Union::new_weighted(all).boxed()
}

fn advance(state: &State) -> BoxedStrategy<Action> {
    // The last slot of a window and the first one after it, where rules change.
    let windows = state.batches.iter().filter(|batch| !batch.closed).map(|batch| batch.submitted + WINDOW);
    let open = state.challenges.iter().filter(|one| one.outcome == Outcome::Open);
    let answers = open.map(|one| one.submitted + WINDOW);
    let stakes = || state.agents.iter().flat_map(|agent| agent.stakes.values());
    let delays = stakes().filter_map(|stake| stake.queued).map(|slot| slot + DELAY - 1);
    let ends = stakes().filter_map(|stake| stake.ended).map(|slot| slot + DELAY);
    let ranks = state.drafts.values().filter(|draft| draft.state == Rank::Held);
    let ranks = ranks.map(|draft| draft.begun + RANK_SLOTS);
    let asks = state.asks.iter().filter(|ask| ask.state == Asked::Open).map(|ask| ask.created + SHOW_SLOTS);
    let askable = state.batches.iter().filter(|batch| !batch.closed).map(|batch| batch.submitted + ASK_SLOTS);
    let edges = windows.chain(answers).chain(delays).chain(ends).chain(ranks).chain(asks).chain(askable);
    let edges: Vec<u64> = edges.filter(|edge| *edge >= state.slot).map(|edge| edge - state.slot).collect();
    let mut all: Vec<Weighted> = vec![
        (20, (1u64..150).prop_map(Action::Advance).boxed()),
        (4, (1u64..=2).prop_map(|epochs| Action::Advance(epochs * 216_000)).boxed()),
        (1, (4u64..=40).prop_map(|epochs| Action::Advance(epochs * 216_000)).boxed()),
    ];
    if !edges.is_empty() {
        let edge = (prop::sample::select(edges), 0u64..=1);
        all.push((4, edge.prop_map(|(edge, past)| Action::Advance(edge + past)).boxed()));
    }
    Union::new_weighted(all).boxed()
}

/// Those who sign for an agent, or could once; else anybody.
fn signers(state: &State, agent: usize, scope: u8) -> BoxedStrategy<usize> {
    let of_agent = state.keys.iter().filter(|((of, _), _)| *of == agent);
    let (able, others): (Vec<_>, Vec<_>) =
        of_agent.partition(|(_, key)| key.until.is_none() && key.scopes & scope != 0);
    let number = |all: Vec<(&(usize, usize), &Key)>| -> Vec<usize> {
        all.into_iter().map(|((_, signer), _)| *signer).collect()
    };
    let (able, others) = (number(able), number(others));
    let any = (0..SIGNERS).boxed();
    let mut all = vec![(1, any)];
    if !able.is_empty() {
        all.push((12, prop::sample::select(able).boxed()));
    }
    if !others.is_empty() {
        all.push((2, prop::sample::select(others).boxed()));
    }
    Union::new_weighted(all).boxed()
}

fn of_agent(state: &State, agent: usize, all: &mut Vec<Weighted>) {
    let one = &state.agents[agent];
    let (holder, live, era) = (one.holder, state.is_live(agent), one.era());
    let tenure = one.tenure.as_ref();
    let in_turn = tenure.is_some_and(|tenure| Some(tenure.owner) == holder);
    all.extend(of_tenure(state, agent));
    all.extend(of_keys(state, agent));
    let present = one.stakes.get(&era);
    let staked = present.is_some_and(|stake| stake.amount >= MIN_STAKE && stake.ended.is_none());
    let doomed = present.is_some_and(|stake| stake.ended.is_some() || stake.open_challenges > 0);

    let amount = prop_oneof![
        1 => Just(0u64), 1 => Just(1), 1 => Just(MIN_STAKE - 1), 6 => Just(MIN_STAKE), 2 => Just(32_345_677)
    ];
    let right = i64::from(doomed);
    let ahead = prop_oneof![12 => Just(right), 1 => Just(1 - right), 1 => Just(2), 1 => Just(-1)];
    let lock = (mostly(holder), ahead, amount);
    let lock = lock.prop_map(move |(who, ahead, amount)| Action::Lock { agent, who, ahead, amount });
    all.push((weigh(in_turn && !staked, 14, weigh(doomed, 4, 2)), lock.boxed()));
    let open = mostly(holder).prop_map(move |who| Action::OpenVault { agent, who });
    all.push((weigh(!state.vaults.contains_key(&state.shard(agent)), 12, 1), open.boxed()));
    let open = (0..WALLETS).prop_map(move |who| Action::OpenHead { agent, who });
    all.push((weigh(one.head.is_none(), 10, 1), open.boxed()));

    for (era, stake) in &one.stakes {
        all.extend(of_stake(state, agent, *era, stake));
    }
    let queue = mostly(holder).prop_map(move |who| Action::Queue { agent, who, era });
    let settle = Action::SettleEra { agent, era };
    all.push((1, prop_oneof![queue.boxed(), Just(settle).boxed()].boxed()));

    let paying = prop_oneof![3 => mostly(holder), 1 => signers(state, agent, PAY)];
    let pay = (paying, prop_oneof![1 => Just(0u32), 12 => 1u32..=5]);
    let pay = pay.prop_map(move |(who, epochs)| Action::Pay { agent, who: who % WALLETS, epochs });
    all.push((weigh(live, 3, 8), pay.boxed()));
    all.push((1, Just(Action::Tick { agent }).boxed()));
    all.extend(batches(state, agent));
    let give = (0..WALLETS, 1u64..2_000).prop_map(move |(who, amount)| Action::Give { agent, who, amount });
    if state.vaults.contains_key(&state.shard(agent)) {
        all.push((1, give.boxed()));
    }
}

fn batches(state: &State, agent: usize) -> Vec<Weighted> {
    let submit = move |(signer, payer, back, content, fault)| Action::SubmitBatch {
        agent,
        signer,
        payer,
        back,
        content,
        fault,
    };
    let fault = || {
        prop_oneof![
            24 => Just(Fault::None),
            1 => Just(Fault::Network),
            1 => Just(Fault::Digest),
            1 => Just(Fault::Coverage),
        ]
    };
    let any = (signers(state, agent, BATCHES), 0..WALLETS, -1i64..=4, content(), fault());
    let mut all = vec![(2, any.prop_map(submit).boxed())];
    let honest = Content { log: 0, records: 0, altered: false, doubled: false };
    let mut right =
        state.live_keys(agent).into_iter().flat_map(|signer| (1..=3).map(move |back| (signer, back)));
    let right: Vec<(usize, i64)> = right
        .by_ref()
        .filter(|(signer, back)| can(state, &submit((*signer, 0, *back, honest, Fault::None))))
        .collect();
    if !right.is_empty() {
        let right = (prop::sample::select(right), 0..WALLETS, content(), fault());
        let right = right.prop_map(move |((signer, back), payer, content, fault)| {
            submit((signer, payer, back, content, fault))
        });
        all.push((16, right.boxed()));
    }
    all
}

fn of_tenure(state: &State, agent: usize) -> Vec<Weighted> {
    let one = &state.agents[agent];
    let (holder, tenure) = (one.holder, one.tenure.as_ref());
    let sold = tenure.is_some_and(|tenure| holder.is_some_and(|holder| tenure.owner != holder));
    let open = mostly(holder).prop_map(move |who| Action::OpenTenure { agent, who });
    let take = (mostly(holder), prop::bool::weighted(0.8));
    let take = take.prop_map(move |(who, all)| Action::TakeOver { agent, who, all });
    let mut all = vec![(weigh(tenure.is_none(), 14, 1), open.boxed()), (weigh(sold, 14, 1), take.boxed())];
    if holder.is_some() {
        all.push((1, (0..WALLETS).prop_map(move |to| Action::Transfer { agent, to }).boxed()));
        let burn = prop_oneof![9 => Just(Action::Tick { agent }), 1 => Just(Action::Burn { agent })];
        all.push((1, burn.boxed()));
    }
    all
}

fn of_keys(state: &State, agent: usize) -> Vec<Weighted> {
    let one = &state.agents[agent];
    let holder = one.holder;
    let in_turn = one.tenure.as_ref().is_some_and(|tenure| Some(tenure.owner) == holder);
    let listed: Vec<usize> =
        state.keys.keys().filter(|(of, _)| *of == agent).map(|(_, signer)| *signer).collect();
    let live = state.live_keys(agent);
    let scopes = prop_oneof![6 => Just(15u8), 3 => 1u8..=15, 1 => prop_oneof![Just(0u8), Just(16u8)]];
    let add = (mostly(holder), 0..SIGNERS, scopes);
    let add = add.prop_map(move |(who, key, scopes)| Action::AddKey { agent, who, key, scopes });
    let known = if listed.is_empty() {
        (0..SIGNERS).boxed()
    } else {
        prop_oneof![8 => prop::sample::select(listed.clone()), 1 => 0..SIGNERS].boxed()
    };
    let end = (known.clone(), 0usize..10, mostly(holder));
    let end = end.prop_map(move |(key, itself, who)| Action::EndKey {
        agent,
        who: if itself < 3 { key } else { who },
        key,
    });
    let close = known.prop_map(move |key| Action::CloseKey { agent, key });
    vec![
        (weigh(in_turn && live.len() < 2, 10, 2), add.boxed()),
        (1, end.boxed()),
        (weigh(listed.len() > live.len(), 3, 1), close.boxed()),
    ]
}

fn of_stake(state: &State, agent: usize, era: u32, stake: &Stake) -> Vec<Weighted> {
    let (owner, queued) = (Some(stake.owner), stake.queued.is_some());
    let holds = state.agents[agent].holder == owner;
    let free = !holds || !state.is_live(agent);
    let stale = holds && state.is_stale(agent, era);
    let queue = mostly(owner).prop_map(move |who| Action::Queue { agent, who, era });
    let cancel = mostly(owner).prop_map(move |who| Action::Cancel { agent, who, era });
    let claim = mostly(owner).prop_map(move |who| Action::Claim { agent, who, era });
    let due = match (stake.ended, stake.queued) {
        (Some(slot), _) => slot + DELAY < state.slot,
        (None, Some(slot)) => free && slot + DELAY <= state.slot,
        (None, None) => false,
    };
    let ended = stake.ended.is_some();
    vec![
        (weigh(free && !ended && (!queued || stale), 10, 1), queue.boxed()),
        (weigh(queued && holds && state.is_live(agent), 8, 1), cancel.boxed()),
        (weigh(due, 20, weigh(queued || ended, 4, 1)), claim.boxed()),
        (weigh(stake.pot > 0, 10, 1), Just(Action::SettleEra { agent, era }).boxed()),
    ]
}

/// What can be shown against a batch.
fn shown(state: &State, batch: usize) -> BoxedStrategy<Shown> {
    let one = &state.batches[batch];
    let logged: Vec<usize> =
        (0..wire::DELIVER).filter(|message| one.content.log_place(*message).is_some()).collect();
    let message = match logged[..] {
        [] => (0..wire::LOGGED).boxed(),
        _ => prop_oneof![8 => prop::sample::select(logged), 1 => 0..wire::LOGGED].boxed(),
    };
    let entry = (message, prop::bool::weighted(0.3));
    let entry = entry.prop_map(|(message, payload)| Shown::Entry { message, payload });
    let dealt = prop_oneof![3 => Just(wire::PROPOSE), 2 => Just(wire::ACCEPT), 1 => Just(wire::ASSIGN)];
    let message = prop_oneof![12 => dealt, 1 => 0..=wire::LONG];
    let (first, last) = (one.covers_from, one.epoch);
    let epoch = prop_oneof![8 => first..=last, 1 => first - 1..=last + 1];
    let envelope = (message, epoch, signers(state, one.agent, DEAL));
    let envelope = envelope.prop_map(|(message, epoch, signer)| Shown::Envelope { message, epoch, signer });
    let doubled = one.content.doubled && one.content.record_place(wire::PROPOSE, 1).is_some();
    prop_oneof![
        6 => entry,
        4 => envelope,
        weigh(doubled, 6, 1) => Just(Shown::Bids),
    ]
    .boxed()
}

fn of_batch(state: &State, batch: usize, all: &mut Vec<Weighted>) {
    let one = &state.batches[batch];
    let over = state.is_over(one.submitted);
    all.push((weigh(over && !one.closed, 6, 1), Just(Action::CloseBatch { batch }).boxed()));
    let (era, other) = (one.era, one.era.wrapping_sub(1).min(3));
    let rank =
        prop_oneof![9 => Just(Some(era)), 2 => Just(None), 1 => Just(Some(era + 1)), 1 => Just(Some(other))];
    let begin = (0..WALLETS, nonces(), shown(state, batch), rank);
    let begin = begin.prop_map(move |(who, nonce, shown, rank)| {
        let enveloped = matches!(shown, Shown::Envelope { .. });
        // Mostly an envelope has a rank, without which it is always refused.
        let rank = if enveloped && rank.is_none() && nonce > 0 { Some(era) } else { rank };
        Action::Begin { who, nonce, batch, shown, rank }
    });
    all.push((weigh(over, 1, 14), begin.boxed()));
    let askable = state.slot <= one.submitted + ASK_SLOTS && !one.withheld;
    let ask = (0..WALLETS, prop_oneof![6 => 0u8..=1, 1 => Just(2u8)], 0u32..6);
    let ask = ask.prop_map(move |(who, tree, index)| Action::Ask { batch, who, tree, index });
    all.push((weigh(askable, 5, 1), ask.boxed()));
}

/// Every step of a draft: written, sealed, used, passed, closed.
fn of_draft(state: &State, (who, nonce): Nonce, all: &mut Vec<Weighted>) {
    let draft = &state.drafts[&(who, nonce)];
    let complete = draft.written == draft.len;
    let append = Action::Append { who, nonce, bytes: usize::MAX };
    all.push((weigh(!complete, 30, 1), Just(append).boxed()));

    let right = match draft.shown {
        Shown::Bids => 5,
        Shown::Entry { message, .. } | Shown::Envelope { message, .. } => {
            RECORDS.iter().find(|(which, _)| *which == message).map_or(1, |(_, ground)| *ground)
        }
    };
    // An ACCEPT obliges to a selection as well.
    let second = if right == 1 { 2 } else { right };
    all.push(one(state, Action::Seal { who, nonce, batch: draft.batch, ground: right }, 30));
    all.push(one(state, Action::Seal { who, nonce, batch: draft.batch, ground: second }, 8));
    let seal = (0u8..=6, 0..state.batches.len());
    let seal = seal.prop_map(move |(ground, batch)| Action::Seal { who, nonce, batch, ground });
    all.push((1, seal.boxed()));

    // Not too likely: a rank may lapse, or be forestalled by a lower one.
    all.push(one(state, Action::Submit { who, nonce }, 12));
    all.push(one(state, Action::PassDraft { who, nonce }, 8));
    let cancel = move |stake, challenge| Action::CancelEvidence { who, nonce, stake, challenge };
    let spared = can(state, &cancel(true, true)) && matches!(draft.state, Rank::Held | Rank::Swapped);
    let done = matches!(draft.state, Rank::Used | Rank::Passed);
    let any = (any::<bool>(), any::<bool>()).prop_map(move |(stake, challenge)| cancel(stake, challenge));
    all.push((weigh(spared, 6, weigh(done, 3, 1)), any.boxed()));
}

fn of_challenge(state: &State, challenge: usize, all: &mut Vec<Weighted>) {
    let one = &state.challenges[challenge];
    let (over, open) = (state.is_over(one.submitted), one.outcome == Outcome::Open);
    let answer = (0..WALLETS, prop::bool::weighted(0.8));
    let answer = answer.prop_map(move |(who, right)| Action::Answer { challenge, who, right });
    all.push((1, answer.boxed()));
    // Out of its turn, mostly: what the order then has to move past.
    let who = one.payer;
    let stake = state.stake_of(one.claim.batch);
    let in_turn = stake.is_some_and(|stake| stake.settled_rank == one.rank);
    let answer = Action::Answer { challenge, who, right: true };
    all.push((weigh(can(state, &answer), weigh(in_turn, 2, 8), 1), Just(answer).boxed()));
    // Not too likely: what an unresolved challenge keeps from happening must be tried as well.
    let resolve = Action::Resolve { challenge };
    all.push((weigh(can(state, &resolve), 10, 1), Just(resolve).boxed()));
    let pass = Action::PassChallenge { challenge };
    all.push((weigh(can(state, &pass), 12, 1), Just(pass).boxed()));
    let closable = !open && one.passed && over && !one.closed;
    all.push((weigh(closable, 6, 1), Just(Action::CloseChallenge { challenge }).boxed()));
    // Somebody else has the same evidence.
    if open && !over {
        let Claim { batch, message, ground, known, .. } = one.claim;
        let same = match ground {
            5 => Shown::Bids,
            _ => Shown::Entry { message, payload: known && ground == 1 },
        };
        let era = state.batches[batch].era;
        let begin = (0..WALLETS, nonces()).prop_map(move |(who, nonce)| Action::Begin {
            who,
            nonce,
            batch,
            shown: same,
            rank: Some(era),
        });
        all.push((6, begin.boxed()));
    }
}

fn of_ask(state: &State, ask: usize, all: &mut Vec<Weighted>) {
    let one = &state.asks[ask];
    let (open, over) = (one.state == Asked::Open, state.slot > one.created + SHOW_SLOTS);
    let show = (0..WALLETS, prop::bool::weighted(0.8));
    let show = show.prop_map(move |(who, right)| Action::Show { ask, who, right });
    all.push((weigh(open && !over, 4, 1), show.boxed()));
    let due = (open && over) || one.state == Asked::Withheld;
    all.push((weigh(due, 8, 1), Just(Action::SettleAsk { ask }).boxed()));
    let done = matches!(one.state, Asked::Shown | Asked::Settled) && !one.closed;
    all.push((weigh(done, 5, 1), Just(Action::CloseAsk { ask }).boxed()));
}

/// A key of the map, mostly; else any.
fn key_of<T>(map: &std::collections::BTreeMap<Nonce, T>) -> BoxedStrategy<Nonce> {
    let keys: Vec<_> = map.keys().copied().collect();
    let any = (0..WALLETS, nonces());
    if keys.is_empty() { any.boxed() } else { prop_oneof![6 => prop::sample::select(keys), 1 => any].boxed() }
}

/// Moves with drafts that may not be there, or not in the right step.
fn drafts(state: &State) -> BoxedStrategy<Action> {
    let append =
        (key_of(&state.drafts), prop_oneof![1 => Just(0usize), 6 => 1usize..400, 2 => Just(usize::MAX)]);
    let any = || (0..WALLETS, nonces());
    prop_oneof![
        6 => append.prop_map(|((who, nonce), bytes)| Action::Append { who, nonce, bytes }),
        1 => any().prop_map(|(who, nonce)| Action::Submit { who, nonce }),
        1 => any().prop_map(|(who, nonce)| Action::PassDraft { who, nonce }),
        1 => any().prop_map(|(who, nonce)| Action::CancelEvidence { who, nonce, stake: false, challenge: false }),
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
