//! StakeLock, Lease and BehaviorLog.

use solana_keypair::Keypair;
use zx1_chain::instructions::lease::tick_lease;
use zx1_chain::instructions::{behavior_log, stake_lock};
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, MAX_LIVE_KEYS, UNLOCK_DELAY_SLOTS};
use zx1_interface::instruction as data;
use zx1_protocol::keys::Scopes;
use zx1_vm_tests::{Batch, Key, Living};

use crate::measure::{Bench, key};

/// Measures the instruction initialize_config.
pub(crate) fn configuration(bench: &mut Bench) {
    let authority = bench.world.upgrade_authority();
    let addresses = bench.world.config_addresses();
    let instruction = stake_lock::initialize_config(key(&authority), &addresses);
    bench.measure_one::<data::InitializeConfig>("once", instruction, &authority);
}

/// open_tenure, add_key, end_key, close_key, take_over.
pub(crate) fn listing(bench: &mut Bench) {
    let owner = bench.party();
    let agent = bench.world.register_agent(&owner);
    let open = stake_lock::open_tenure(&agent.addresses(), owner.at());
    bench.measure_one::<data::OpenTenure>("first tenure", open, &owner);

    let adding = |bench: &mut Bench, case: &str, owner: &Key, agent| {
        let new = Key(bench.world.new_keypair());
        let add = bench.world.adding_key(&agent, &owner.at(), &new.at(), Scopes::DEAL);
        bench.measure::<data::AddKey>(case, &[add], owner, &[&new]);
        new
    };
    adding(bench, "first use", &owner, agent);

    let Living { agent, owner, keys } = bench.agent();
    adding(bench, "with stake and head", &owner, agent);
    let end =
        |authority: &Key, which: &Key| stake_lock::end_key(&agent.addresses(), authority.at(), which.at());
    bench.measure_one::<data::EndKey>("by the holder", end(&owner, &keys.pay), &owner);
    let (itself, payer) = (end(&keys.deal, &keys.deal), bench.party());
    bench.measure::<data::EndKey>("by itself", &[itself], &payer, &[&keys.deal]);
    let close = bench.world.closing_key(&agent, &keys.pay.at());
    bench.measure_one::<data::CloseKey>("ended", close, &payer);

    for live in [3, MAX_LIVE_KEYS] {
        let Living { agent, owner, .. } = bench.agent();
        (3..live).for_each(|_| drop(bench.world.new_key(&agent, &owner, Scopes::PEER)));
        let buyer = bench.party();
        let sold = bench.world.transfer_agent(&agent, &owner, &buyer.at());
        let take = bench.world.taking_over(&sold, &buyer.at());
        bench.measure_one::<data::TakeOver>(&format!("{live} live keys, with stake"), take, &buyer);
    }
}

/// Measures open_vault and lock_stake.
pub(crate) fn locking(bench: &mut Bench) {
    let (owner, payer) = (bench.party(), bench.party());
    let agent = bench.world.register_agent(&owner);
    bench.world.open_tenure(&agent, &owner).unwrap();
    let open = stake_lock::open_vault(payer.at(), bench.world.usdc_mint(), agent.shard());
    bench.measure_one::<data::OpenVault>("once a shard", open, &payer);
    let amount = bench.world.amounts().min_stake;
    let lock = bench.world.locking(&agent, &owner.at(), 0, amount);
    bench.measure_one::<data::LockStake>("create", lock.clone(), &owner);
    bench.measure_one::<data::LockStake>("top up", lock, &owner);
}

/// queue_unlock, cancel_unlock, claim_stake.
pub(crate) fn unlocking(bench: &mut Bench) {
    let Living { agent, owner, keys } = bench.agent();
    let addresses = agent.addresses();
    let queue = stake_lock::queue_unlock(&addresses, owner.at(), 0);
    bench.world.submit_batch(&agent, &keys.batch, &empty_batch(bench)).unwrap();
    bench.world.advance_epochs(4);

    let mut fork = bench.fork();
    fork.measure_one::<data::QueueUnlock>("lease deactivated", queue.clone(), &owner);
    fork.world.advance_slots(1);
    fork.world.pay_lease(&agent, &owner, 1).unwrap();
    let cancel = stake_lock::cancel_unlock(&addresses, owner.at(), 0);
    fork.measure_one::<data::CancelUnlock>("lease paid again", cancel, &owner);
    bench.join(fork);

    bench.world.send_ok(&[queue], &owner, &[]);
    bench.world.advance_slots(UNLOCK_DELAY_SLOTS);
    let to = bench.world.usdc_account(&owner.at());
    let claim = stake_lock::claim_stake(&addresses, owner.at(), to, 0);
    bench.measure_one::<data::ClaimStake>("present era, with lease and head", claim, &owner);

    let owner = bench.party();
    let agent = bench.world.register_agent(&owner);
    bench.world.open_tenure(&agent, &owner).unwrap();
    bench.world.lock_stake(&agent, &owner, bench.world.amounts().min_stake).unwrap();
    let queue = stake_lock::queue_unlock(&agent.addresses(), owner.at(), 0);
    bench.measure_one::<data::QueueUnlock>("no lease", queue, &owner);
    bench.world.advance_slots(UNLOCK_DELAY_SLOTS);
    let to = bench.world.usdc_account(&owner.at());
    let claim = stake_lock::claim_stake(&agent.addresses(), owner.at(), to, 0);
    bench.measure_one::<data::ClaimStake>("present era, no lease, no head", claim, &owner);

    let Living { agent, owner, .. } = bench.agent();
    let buyer = bench.party();
    let sold = bench.world.transfer_agent(&agent, &owner, &buyer.at());
    bench.world.take_over(&sold, &buyer).unwrap();
    bench.world.advance_slots(UNLOCK_DELAY_SLOTS + 1);
    let to = bench.world.usdc_account(&owner.at());
    let claim = stake_lock::claim_stake(&sold.addresses(), owner.at(), to, 0);
    bench.measure_one::<data::ClaimStake>("ended era", claim, &owner);
}

/// Measures pay_lease and tick_lease.
pub(crate) fn leasing(bench: &mut Bench) {
    let owner = bench.party();
    let agent = bench.world.register_agent(&owner);
    bench.world.open_tenure(&agent, &owner).unwrap();
    let hot = bench.world.new_key(&agent, &owner, Scopes::PAY);
    bench.world.set_lamports(&hot.at(), 10_000_000_000);
    bench.world.fund_usdc(&hot.at(), 100 * zx1_vm_tests::USDC);
    let one = bench.world.paying_lease(&agent, &owner.at(), 1);
    let tick = tick_lease(agent.mint);

    let mut fork = bench.fork();
    let instruction = fork.world.paying_lease(&agent, &hot.at(), 1);
    fork.measure_one::<data::PayLease>("first, by a key", instruction, &hot);
    bench.measure_one::<data::PayLease>("first", one.clone(), &owner);
    bench.join(fork);
    bench.measure_one::<data::PayLease>("renewal", one.clone(), &owner);
    let instruction = bench.world.paying_lease(&agent, &hot.at(), 5);
    bench.measure_one::<data::PayLease>("renewal of 5, by a key", instruction, &hot);
    bench.measure_one::<data::TickLease>("nothing to do", tick.clone(), &owner);

    bench.world.advance_epochs(8);
    bench.measure_one::<data::TickLease>("enters grace", tick.clone(), &owner);
    let mut fork = bench.fork();
    let instruction = fork.world.paying_lease(&agent, &owner.at(), 3);
    fork.measure_one::<data::PayLease>("catching up from grace", instruction, &owner);
    bench.join(fork);
    bench.world.advance_epochs(3);
    bench.measure_one::<data::TickLease>("expires", tick, &owner);
    bench.measure_one::<data::PayLease>("reactivation", one, &owner);
}

fn empty_batch(bench: &Bench) -> Batch {
    Batch::empty(bench.world.epoch() - 1)
}

/// Measures open_head, submit_batch and close_batch.
pub(crate) fn logging(bench: &mut Bench) {
    let owner = bench.party();
    let agent = bench.world.register_agent(&owner);
    let open = behavior_log::open_head(&agent.addresses(), owner.at());
    bench.measure_one::<data::OpenHead>("once an agent", open, &owner);

    let Living { agent, owner, keys } = bench.agent();
    let stranger = bench.party();
    let landing = |bench: &Bench, payer: &Keypair| {
        let message = bench.world.message_of(&agent, &empty_batch(bench));
        bench.world.landing(&agent, &key(payer), &keys.batch, &message)
    };
    let first = landing(bench, &owner);
    bench.measure::<data::SubmitBatch>("first", &first, &owner, &[]);
    bench.world.advance_epochs(1);
    let later = landing(bench, &owner);
    bench.measure::<data::SubmitBatch>("later", &later, &owner, &[]);
    bench.world.advance_epochs(1);
    let epoch = bench.world.epoch() - 1;
    let paid = landing(bench, &stranger);
    bench.measure::<data::SubmitBatch>("later, a stranger pays", &paid, &stranger, &[]);
    bench.world.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
    let close = bench.world.closing_batch(&agent, epoch);
    bench.measure_one::<data::CloseBatch>("window over", close, &owner);
}
