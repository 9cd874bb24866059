//! StakeLock, Lease and BehaviorLog.

use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use zx1_chain::instructions::lease::{LeasePayment, pay_lease, tick_lease};
use zx1_chain::instructions::{behavior_log, stake_lock};
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, MIN_STAKE, UNLOCK_DELAY_SLOTS};
use zx1_interface::instruction as data;
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Agent, ed25519_instruction, message_of};

use crate::measure::{Bench, key};

/// Measures the instruction initialize_config.
pub(crate) fn configuration(bench: &mut Bench) {
    let authority = bench.world.upgrade_authority();
    let addresses = bench.world.config_addresses();
    let instruction = stake_lock::initialize_config(key(&authority), &addresses);
    bench.measure_one::<data::InitializeConfig>("once", instruction, &authority);
}

fn lock(bench: &mut Bench, agent: &Agent, owner: &Keypair) -> Instruction {
    let (mint, from) = (bench.world.usdc_mint(), bench.world.usdc_account(&key(owner)));
    stake_lock::lock_stake(&agent.addresses(), key(owner), mint, from, MicroUsdc(MIN_STAKE))
}

/// Measures the instruction lock_stake.
pub(crate) fn locking(bench: &mut Bench) {
    let owner = bench.world.new_party();
    let agent = bench.world.register_agent(&owner);
    let instruction = lock(bench, &agent, &owner);
    bench.measure_one::<data::LockStake>("create", instruction.clone(), &owner);
    bench.measure_one::<data::LockStake>("top up", instruction, &owner);
}

/// queue_unlock, cancel_unlock, claim_stake.
pub(crate) fn unlocking(bench: &mut Bench) {
    let (agent, owner) = bench.agent();
    let addresses = agent.addresses();
    let queue = stake_lock::queue_unlock(&addresses, key(&owner));
    bench.world.submit_batch(&agent, &owner, &empty_batch(bench)).unwrap();
    bench.world.advance_epochs(4);

    let mut fork = bench.fork();
    fork.measure_one::<data::QueueUnlock>("lease deactivated", queue.clone(), &owner);
    fork.world.advance_slots(1);
    fork.world.pay_lease(&agent, &owner, None, 1).unwrap();
    let cancel = stake_lock::cancel_unlock(&addresses, key(&owner));
    fork.measure_one::<data::CancelUnlock>("lease paid again", cancel, &owner);
    bench.join(fork);

    bench.world.send_ok(&[queue], &owner, &[]);
    bench.world.advance_slots(UNLOCK_DELAY_SLOTS);
    let to = bench.world.usdc_account(&key(&owner));
    let claim = stake_lock::claim_stake(&addresses, key(&owner), to);
    bench.measure_one::<data::ClaimStake>("with lease and head", claim, &owner);

    let owner = bench.world.new_party();
    let agent = bench.world.register_agent(&owner);
    bench.world.lock_stake(&agent, &owner, MIN_STAKE).unwrap();
    let queue = stake_lock::queue_unlock(&agent.addresses(), key(&owner));
    bench.measure_one::<data::QueueUnlock>("no lease", queue, &owner);
    bench.world.advance_slots(UNLOCK_DELAY_SLOTS);
    let to = bench.world.usdc_account(&key(&owner));
    let claim = stake_lock::claim_stake(&agent.addresses(), key(&owner), to);
    bench.measure_one::<data::ClaimStake>("no lease, no head", claim, &owner);
}

fn pay(
    bench: &mut Bench,
    agent: &Agent,
    authority: &Keypair,
    delegation: Option<Address>,
    epochs: u32,
) -> Instruction {
    let payment = LeasePayment {
        authority: key(authority),
        delegation,
        authority_usdc: bench.world.usdc_account(&key(authority)),
        treasury_usdc: bench.world.treasury_usdc(),
        epochs,
    };
    pay_lease(&agent.addresses(), &payment)
}

/// Measures pay_lease and tick_lease.
pub(crate) fn leasing(bench: &mut Bench) {
    let (owner, hot) = (bench.world.new_party(), bench.world.new_party());
    let agent = bench.world.register_agent(&owner);
    let delegation = bench.world.create_delegate(&owner, &key(&hot), &agent, 0);
    let one = pay(bench, &agent, &owner, None, 1);
    let tick = tick_lease(agent.mint);

    let mut fork = bench.fork();
    let instruction = pay(&mut fork, &agent, &hot, Some(delegation), 1);
    fork.measure_one::<data::PayLease>("first, by a delegate", instruction, &hot);
    bench.measure_one::<data::PayLease>("first", one.clone(), &owner);
    bench.join(fork);
    bench.measure_one::<data::PayLease>("renewal", one.clone(), &owner);
    let instruction = pay(bench, &agent, &hot, Some(delegation), 5);
    bench.measure_one::<data::PayLease>("renewal of 5, by a delegate", instruction, &hot);
    bench.measure_one::<data::TickLease>("nothing to do", tick.clone(), &owner);

    bench.world.advance_epochs(8);
    bench.measure_one::<data::TickLease>("enters grace", tick.clone(), &owner);
    let mut fork = bench.fork();
    let instruction = pay(&mut fork, &agent, &owner, None, 3);
    fork.measure_one::<data::PayLease>("catching up from grace", instruction, &owner);
    bench.join(fork);
    bench.world.advance_epochs(3);
    bench.measure_one::<data::TickLease>("expires", tick, &owner);
    bench.measure_one::<data::PayLease>("reactivation", one, &owner);
}

fn empty_batch(bench: &Bench) -> zx1_vm_tests::Batch {
    zx1_vm_tests::Batch { epoch: bench.world.epoch() - 1, entries: Vec::new(), records: Vec::new() }
}

/// Measures submit_batch and close_batch.
pub(crate) fn logging(bench: &mut Bench) {
    let (agent, owner) = bench.agent();
    let (hot, stranger) = (bench.world.new_party(), bench.world.new_party());
    let delegation = bench.world.create_delegate(&owner, &key(&hot), &agent, 0);
    let signed = |bench: &Bench, signer: &Keypair, payer: &Keypair, delegation| {
        let arguments = empty_batch(bench).arguments(&agent.mint);
        let signature = ed25519_instruction(signer, &message_of(&arguments));
        [signature, behavior_log::submit_batch(&agent.addresses(), key(payer), delegation, &arguments)]
    };
    let by_owner = signed(bench, &owner, &owner, None);
    bench.measure::<data::SubmitBatch>("first", &by_owner, &owner, &[]);
    bench.world.advance_epochs(1);
    let by_owner = signed(bench, &owner, &owner, None);
    bench.measure::<data::SubmitBatch>("later", &by_owner, &owner, &[]);
    bench.world.advance_epochs(1);
    let by_hot = signed(bench, &hot, &hot, Some(delegation));
    bench.measure::<data::SubmitBatch>("later, signed by a delegate", &by_hot, &hot, &[]);
    bench.world.advance_epochs(1);
    let epoch = bench.world.epoch() - 1;
    let by_stranger = signed(bench, &owner, &stranger, None);
    bench.measure::<data::SubmitBatch>("later, a stranger pays", &by_stranger, &stranger, &[]);
    bench.world.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
    let close = behavior_log::close_batch(agent.mint, epoch, key(&stranger));
    bench.measure_one::<data::CloseBatch>("window over", close, &owner);
}
