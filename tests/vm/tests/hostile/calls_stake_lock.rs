//! The valid calls of StakeLock, each with what may be different in it without harm.

use zx1_chain::instructions::stake_lock;
use zx1_chain::pda;
use zx1_interface::accounts::{ShardAccount, StakeLockAccount};
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, UNLOCK_DELAY_SLOTS};
use zx1_interface::instruction as data;
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{Agent, Living, World};

use crate::calls::{Call, Free};
use crate::stage::{Evident, Stage};

/// Valid calls of StakeLock.
pub(crate) fn stake_lock(stage: &Stage) -> Vec<Call> {
    let mut calls = once(stage);
    calls.extend(taking_over(stage));
    calls.extend(listing(stage));
    calls.extend(locking(stage));
    calls.extend(unlocking(stage));
    calls.extend(by_challenge(stage));
    calls
}

/// What is made once: the configuration, a vault, a tenure.
fn once(stage: &Stage) -> Vec<Call> {
    let mut empty = stage.empty.clone();
    let authority = solana_signer::Signer::pubkey(&empty.upgrade_authority());
    let configure = stake_lock::initialize_config(authority, &empty.config_addresses());
    let missing = |shard: &u8| stage.world.find::<ShardAccount>(&pda::shard(*shard)).is_none();
    let shard = (0..=u8::MAX).find(missing).unwrap();
    let open_vault = stake_lock::open_vault(stage.sponsor.at(), stage.usdc_mint, shard);
    let owner = &stage.living.owner;
    let mut registered = stage.world.clone();
    let second = registered.register_agent(owner);
    let open_tenure = stake_lock::open_tenure(&second.addresses(), owner.at());
    vec![
        // The upgrade authority chooses what the configuration says.
        Call::new::<data::InitializeConfig>("once", &empty, configure).arguments(&[
            "treasury",
            "maintainer",
            "delegate_credential",
            "delegate_schema",
            "network",
            "min_stake",
            "challenge_stake",
            "lost_to_stake",
            "lost_to_answerer",
            "ask_price",
            "ask_to_shower",
            "ask_to_stake",
            "fine",
            "fine_to_asker",
            "rank_deposit",
            "finders_percent",
            "share_percent",
        ]),
        Call::new::<data::OpenVault>("once a shard", &stage.world, open_vault)
            .accounts(&[(0, Free::AnySigner)]),
        Call::new::<data::OpenTenure>("the first", &registered, open_tenure),
    ]
}

/// The stage's agent after its sale to the sponsor, who has not taken over.
fn sold(stage: &Stage) -> (World, Agent) {
    let mut world = stage.world.clone();
    let Living { agent, owner, .. } = &stage.living;
    let agent = world.transfer_agent(agent, owner, &stage.sponsor.at());
    (world, agent)
}

fn taking_over(stage: &Stage) -> Vec<Call> {
    let (owner, buyer) = (&stage.living.owner, &stage.sponsor);
    let (world, agent) = sold(stage);
    let with_keys = world.taking_over(&agent, &buyer.at());

    let mut bare = stage.world.clone();
    let second = bare.register_agent(owner);
    bare.open_tenure(&second, owner).unwrap();
    let second = bare.transfer_agent(&second, owner, &buyer.at());
    let without = bare.taking_over(&second, &buyer.at());

    let mut full = stage.world.clone();
    (3..8).for_each(|_| drop(full.new_key(&stage.living.agent, owner, Scopes::PEER)));
    let eighth = full.transfer_agent(&stage.living.agent, owner, &buyer.at());
    let all = full.taking_over(&eighth, &buyer.at());
    vec![
        Call::new::<data::TakeOver>("three keys and a stake", &world, with_keys),
        Call::new::<data::TakeOver>("eight keys", &full, all),
        Call::new::<data::TakeOver>("nothing to end", &bare, without),
    ]
}

fn listing(stage: &Stage) -> Vec<Call> {
    let Living { agent, owner, keys } = &stage.living;
    let (spare, scopes) = (&stage.spare, Scopes::BATCH);
    let mut opened = stage.world.clone();
    let second = opened.register_agent(owner);
    opened.open_tenure(&second, owner).unwrap();
    let first_use = opened.adding_key(&second, &owner.at(), &spare.at(), scopes);
    let itself = opened.adding_key(&second, &owner.at(), &owner.at(), scopes);
    let staked = stage.world.adding_key(agent, &owner.at(), &spare.at(), scopes);
    let (mut taken, sold) = sold(stage);
    taken.take_over(&sold, &stage.sponsor).unwrap();
    let after = taken.adding_key(&sold, &stage.sponsor.at(), &spare.at(), scopes);

    // A stake of any other era or agent costs the notice, which does no harm.
    let stakes = stage.world.all::<StakeLockAccount>();
    let any_stake: Vec<_> = stakes.into_iter().map(|(stake, _)| (8, Free::Also(stake))).collect();

    let end = |authority, key| stake_lock::end_key(&agent.addresses(), authority, key);
    let by_holder = end(owner.at(), keys.batch.at());
    let by_itself = end(keys.deal.at(), keys.deal.at());
    let mut ended = stage.world.clone();
    ended.end_key(agent, owner, &keys.pay.at()).unwrap();
    let close = ended.closing_key(agent, &keys.pay.at());
    // A batch that covers the deal key's last epoch, and its window over.
    let mut needless = stage.world.clone();
    needless.end_key(agent, owner, &keys.deal.at()).unwrap();
    needless.advance_epochs(1);
    let batch = zx1_vm_tests::Batch::empty(stage.epoch + 1);
    needless.submit_batch(agent, &keys.batch, &batch).unwrap();
    needless.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
    let close_deal = needless.closing_key(agent, &keys.deal.at());
    vec![
        Call::new::<data::AddKey>("first use", &opened, first_use)
            .accounts(&any_stake)
            .arguments(&["scopes"]),
        Call::new::<data::AddKey>("the wallet itself", &opened, itself)
            .accounts(&any_stake)
            .arguments(&["scopes"]),
        // 9, the head: with a stake it does not count as first use, whatever has landed.
        Call::new::<data::AddKey>("with a stake", &stage.world, staked)
            .accounts(&any_stake)
            .unread(&[9])
            .arguments(&["scopes"]),
        // 8 and 9, stake and head: nor is it after a take-over.
        Call::new::<data::AddKey>("after a take-over", &taken, after).unread(&[8, 9]).arguments(&["scopes"]),
        // 0, the authority: both the holder and the key may.
        Call::new::<data::EndKey>("by the holder", &stage.world, by_holder)
            .accounts(&[(0, Free::Also(keys.batch.at()))]),
        // 1 to 4: the key's own word is enough, whoever holds the agent.
        Call::new::<data::EndKey>("by itself", &stage.world, by_itself)
            .accounts(&[(0, Free::Also(owner.at()))])
            .unread(&[1, 2, 3, 4]),
        Call::new::<data::CloseKey>("a pay key", &ended, close),
        Call::new::<data::CloseKey>("a deal key", &needless, close_deal),
    ]
}

fn locking(stage: &Stage) -> Vec<Call> {
    let Living { agent, owner, .. } = &stage.living;
    let mut world = stage.world.clone();
    let amount = world.amounts().min_stake;
    let top_up = world.locking(agent, &owner.at(), 0, amount);
    let mut unstaked = world.clone();
    let second = unstaked.register_agent(owner);
    unstaked.open_tenure(&second, owner).unwrap();
    unstaked.ensure_vault(&second);
    let create = unstaked.locking(&second, &owner.at(), 0, amount);
    let mut challenged = world.clone();
    challenged.file(&stage.mine(0, Evident::Entry));
    let next = challenged.locking(agent, &owner.at(), 1, amount);
    vec![
        // 6, the era before, is for the next era only. 12, the system program: nothing is created.
        Call::new::<data::LockStake>("top up", &world, top_up).unread(&[6, 12]).arguments(&["amount"]),
        Call::new::<data::LockStake>("create", &unstaked, create).unread(&[6]).arguments(&["amount"]),
        Call::new::<data::LockStake>("the next era", &challenged, next).arguments(&["amount"]),
    ]
}

fn unlocking(stage: &Stage) -> Vec<Call> {
    let Living { agent, owner, .. } = &stage.living;
    let queue = |agent: &Agent| stake_lock::queue_unlock(&agent.addresses(), owner.at(), 0);
    let claim = |agent: &Agent| {
        stake_lock::claim_stake(&agent.addresses(), owner.at(), stage.usdc_account(&owner.at()), 0)
    };
    let mut dead = stage.world.clone();
    dead.advance_epochs(4);
    let mut queued = dead.clone();
    queued.queue_unlock(agent, owner, 0).unwrap();
    let mut back = queued.clone();
    back.advance_slots(1);
    back.pay_lease(agent, owner, 1).unwrap();
    let cancel = stake_lock::cancel_unlock(&agent.addresses(), owner.at(), 0);
    queued.advance_slots(UNLOCK_DELAY_SLOTS);

    let (held_by_another, sold) = sold(stage);
    let mut left = held_by_another.clone();
    left.queue_unlock(&sold, owner, 0).unwrap();
    left.advance_slots(UNLOCK_DELAY_SLOTS);
    let mut burned = stage.world.clone();
    burned.burn_agent(agent, owner);
    let mut mintless = burned.clone();
    mintless.set_account(&agent.mint.into(), Default::default());
    let mut taken = held_by_another.clone();
    taken.take_over(&sold, &stage.sponsor).unwrap();
    taken.advance_slots(UNLOCK_DELAY_SLOTS + 1);
    vec![
        Call::new::<data::QueueUnlock>("dead lease", &dead, queue(agent)),
        // 4, the lease: it is another's. 2, the NFT's account: there is none.
        Call::new::<data::QueueUnlock>("sold", &held_by_another, queue(&sold)).unread(&[4]),
        Call::new::<data::QueueUnlock>("burned", &burned, queue(agent)).unread(&[2, 4]),
        Call::new::<data::QueueUnlock>("the mint is closed", &mintless, queue(agent)).unread(&[2, 4]),
        Call::new::<data::CancelUnlock>("paid again", &back, cancel),
        Call::new::<data::ClaimStake>("after the delay", &queued, claim(agent)),
        // 9, the lease: it is another's.
        Call::new::<data::ClaimStake>("sold", &left, claim(&sold)).unread(&[9]),
        // 2, 3, 9 and 10: an era that has ended is its owner's, whoever holds the agent.
        Call::new::<data::ClaimStake>("taken over", &taken, claim(&sold)).unread(&[2, 3, 9, 10]),
    ]
}

/// What only Challenge can call.
fn by_challenge(stage: &Stage) -> Vec<Call> {
    let (mint, authority) = (stage.living.agent.mint, pda::challenge_authority());
    let (payer, usdc) = (stage.challenger.at(), stage.usdc_account(&stage.challenger.at()));
    let deposit = data::TakeDeposit { agent_mint: mint.0, era: 0, amount: 1, what: 2 };
    let moves = data::Settle {
        agent_mint: mint.0,
        era: 0,
        from_deposits: 0,
        from_stake: 2,
        from_pot: 0,
        to_stake: 0,
        to_pot: 0,
        first: 1,
        second: 1,
        marks: 0,
    };
    let treasury = stage.usdc_account(&solana_signer::Signer::pubkey(&stage.world.treasury()));
    let take_rank = stake_lock::take_rank(mint, authority, 0);
    let take_deposit = stake_lock::take_deposit(authority, payer, usdc, &deposit);
    let settle = stake_lock::settle(authority, usdc, treasury, &moves);
    // Challenge chooses who is paid and what is moved, as far as it is there and the sums are right.
    [
        Call::by_cpi::<data::TakeRank>(&stage.world, take_rank),
        Call::by_cpi::<data::TakeDeposit>(&stage.world, take_deposit)
            .map(|call| call.arguments(&["amount", "what"])),
        Call::by_cpi::<data::Settle>(&stage.world, settle).map(|call| {
            call.unread(&[4, 5]).arguments(&[
                "from_deposits",
                "from_stake",
                "from_pot",
                "to_stake",
                "to_pot",
                "first",
                "second",
                "marks",
            ])
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}
