//! submit_batch: which agent may commit to which epoch. What may be signed how stands in the next module.

use super::common::{Scene, dishonest_batch, gift, keccak, only_event, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::behavior_log::{close_batch, submit_batch};
use zx1_chain::pda;
use zx1_interface::accounts::{BatchAccount, HeadAccount, StakeLockAccount};
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::events::BatchSubmitted;
use zx1_interface::instruction::SubmitBatch;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::ids::AgentId;
use zx1_vm_tests::{Receipt, address, ed25519_instruction};

const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const STAKE: usize = 6;
const LEASE: usize = 7;
const HEAD: usize = 8;
const BATCH: usize = 9;
const SYSVAR: usize = 10;

/// What an agent's key signs, written out a second time.
pub(crate) fn message(batch: &SubmitBatch) -> Vec<u8> {
    let message = [
        b"zx1/behavior-batch/v1",
        &batch.agent_id[..],
        &batch.epoch_number.to_le_bytes(),
        &batch.log_merkle_root,
        &batch.log_len.to_le_bytes(),
        &batch.batch_hash,
        &batch.arrays_root,
        &batch.arrays_len.to_le_bytes(),
    ]
    .concat();
    assert_eq!(message.len(), 165);
    message
}

/// Some batch of an epoch; every field has another value.
pub(crate) fn batch_of(agent: &AgentId, epoch: u64) -> SubmitBatch {
    SubmitBatch {
        agent_id: agent.0,
        epoch_number: epoch,
        log_merkle_root: keccak(&[b"log", &epoch.to_le_bytes()]),
        log_len: 1_234,
        batch_hash: keccak(&[b"batch", &epoch.to_le_bytes()]),
        arrays_root: keccak(&[b"arrays", &epoch.to_le_bytes()]),
        arrays_len: 567,
    }
}

impl Scene {
    /// The epoch before the current one.
    pub(crate) fn last_epoch(&self) -> u64 {
        self.world.epoch() - 1
    }

    /// The signature check of the owner's and the instruction that it allows, paid by the owner.
    pub(crate) fn owners_submission(&self, batch: &SubmitBatch) -> [Instruction; 2] {
        let submit = submit_batch(&self.agent.addresses(), self.owner.pubkey(), None, batch);
        [ed25519_instruction(&self.owner, &message(batch)), submit]
    }

    /// The owner signs and submits some batch of an epoch.
    #[track_caller]
    pub(crate) fn submits(&mut self, epoch: u64) -> Receipt {
        let instructions = self.owners_submission(&batch_of(&self.agent.mint, epoch));
        self.world.send_ok(&instructions, &self.owner, &[])
    }

    #[track_caller]
    pub(crate) fn submission_refused(&mut self, batch: &SubmitBatch, error: Error) {
        let instructions = self.owners_submission(batch);
        self.owner_refused(&instructions, error);
    }

    #[track_caller]
    fn epoch_refused(&mut self, epoch: u64, error: Error) {
        self.submission_refused(&batch_of(&self.agent.mint, epoch), error);
    }

    #[track_caller]
    fn submission_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let [check, submit] = self.owners_submission(&batch_of(&self.agent.mint, self.last_epoch()));
        self.owner_refused(&[check, with_account(submit, place, at)], error);
    }
}

fn submitted(receipt: &Receipt) -> BatchSubmitted {
    only_event(receipt, ids::BEHAVIOR_LOG, BatchSubmitted::read)
}

/// The accounts, event and money of one submission, which the stranger pays.
#[track_caller]
fn submit_and_check(s: &mut Scene, batch: &SubmitBatch, covers_from: u64) {
    let epoch = batch.epoch_number;
    let (head_at, batch_at) = (pda::head(&s.agent.mint), pda::batch(&s.agent.mint, epoch));
    let before = s.world.account(&head_at).and_then(|account| HeadAccount::read(&account.data));
    let payer = s.stranger.pubkey();
    let submit = submit_batch(&s.agent.addresses(), payer, None, batch);
    let instructions = [ed25519_instruction(&s.owner, &message(batch)), submit];
    let (snapshot, lamports) = (s.world.snapshot(), s.world.lamports(&payer));
    let receipt = s.world.send_ok(&instructions, &s.stranger, &[]);

    snapshot.assert_only_changed(&s.world, &[payer, head_at, batch_at]);
    let rents = [s.world.rent(HeadAccount::SIZE), s.world.rent(BatchAccount::SIZE)];
    assert_eq!([s.world.lamports(&head_at), s.world.lamports(&batch_at)], rents);
    let paid = if before.is_none() { rents[0] + rents[1] } else { rents[1] };
    assert_eq!(s.world.lamports(&payer), lamports - paid - receipt.fee);
    assert_eq!(s.world.data(&head_at).len(), HeadAccount::SIZE);
    assert_eq!(s.world.data(&batch_at).len(), BatchAccount::SIZE);

    let (slot, program) = (s.world.slot(), address(ids::BEHAVIOR_LOG));
    let head_seeds: &[&[u8]] = &[b"head", s.agent.mint.as_ref()];
    let previous = before.map_or([0; 32], |head| head.digest);
    let head = HeadAccount {
        last_epoch: epoch,
        last_slot: slot,
        count: before.map_or(0, |head| head.count) + 1,
        created_slot: before.map_or(slot, |head| head.created_slot),
        event_sequence: before.map_or(0, |head| head.event_sequence) + 1,
        agent_id: s.agent.mint.0,
        digest: keccak(&[&previous, &message(batch)]),
        version: 1,
        bump: Address::find_program_address(head_seeds, &program).1,
        reserved: [0; 6],
    };
    assert_eq!(s.head(), head);
    let batch_seeds: &[&[u8]] = &[b"batch", s.agent.mint.as_ref(), &epoch.to_le_bytes()];
    assert_eq!(
        s.batch(epoch),
        BatchAccount {
            epoch_number: epoch,
            covers_from_epoch: covers_from,
            submitted_slot: slot,
            log_len: batch.log_len,
            arrays_len: batch.arrays_len,
            agent_id: s.agent.mint.0,
            log_merkle_root: batch.log_merkle_root,
            batch_hash: batch.batch_hash,
            arrays_root: batch.arrays_root,
            signer: s.owner.pubkey().to_bytes(),
            payer: payer.to_bytes(),
            version: 1,
            bump: Address::find_program_address(batch_seeds, &program).1,
            reserved: [0; 6],
        }
    );
    assert_eq!(
        submitted(&receipt),
        BatchSubmitted {
            agent_id: s.agent.mint.0,
            epoch_number: epoch,
            batch_hash: batch.batch_hash,
            submitted_slot: slot,
            log_merkle_root: batch.log_merkle_root,
            arrays_root: batch.arrays_root,
            log_len: batch.log_len,
            arrays_len: batch.arrays_len,
            covers_from_epoch: covers_from,
            payer: payer.to_bytes(),
            signer: s.owner.pubkey().to_bytes(),
            sequence: head.event_sequence - 1,
            account_created_slot: head.created_slot,
        }
    );
}

#[test]
fn the_first_batch_covers_its_own_epoch_and_anybody_pays_ok() {
    let mut s = Scene::living();
    let batch = batch_of(&s.agent.mint, s.last_epoch());
    submit_and_check(&mut s, &batch, batch.epoch_number);
    assert_eq!((s.head().count, s.head().event_sequence), (1, 1));
}

#[test]
fn later_batches_cover_what_lies_between_and_chain_the_digest_ok() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.world.pay_lease(&s.agent, &s.owner, None, 20).unwrap();
    // (submitted in, batch of, covers from), relative to the beginning.
    for (now, of, from) in [(2, 0, 0), (2, 1, 1), (6, 4, 2), (6, 5, 5), (20, 18, 6)] {
        s.world.warp_to_epoch(epoch + now);
        let batch = batch_of(&s.agent.mint, epoch + of);
        submit_and_check(&mut s, &batch, epoch + from);
    }
    assert_eq!((s.head().count, s.head().event_sequence), (5, 5));
}

#[test]
fn lamports_that_a_stranger_sent_there_first_block_nothing_ok() {
    let mut s = Scene::living();
    let epoch = s.last_epoch();
    let (head_at, batch_at) = (pda::head(&s.agent.mint), pda::batch(&s.agent.mint, epoch));
    gift(&mut s.world, &head_at, 1_000_000);
    gift(&mut s.world, &batch_at, 50_000_000);
    let lamports = s.world.lamports(&s.owner.pubkey());
    let receipt = s.submits(epoch);
    let rent = s.world.rent(HeadAccount::SIZE);
    assert_eq!((s.world.lamports(&head_at), s.world.lamports(&batch_at)), (rent, 50_000_000));
    assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports - (rent - 1_000_000) - receipt.fee);
    assert_eq!((s.head().last_epoch, s.batch(epoch).epoch_number), (epoch, epoch));
}

#[test]
fn three_epochs_old_ok_and_four_fails() {
    let mut s = Scene::living();
    let now = s.world.epoch();
    s.epoch_refused(now - 4, Error::EpochTooOld);
    s.epoch_refused(0, Error::EpochTooOld);
    s.submits(now - 3);
    assert_eq!(s.head().last_epoch, now - 3);
}

#[test]
fn age_is_counted_in_epochs_not_seconds() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.world.warp_to_epoch(epoch + 4);
    let first = s.world.slot();
    s.world.warp_to_slot(first - 1);
    let batch = batch_of(&s.agent.mint, epoch);
    // In the last second of epoch + 3 it is three epochs old; in the next it would be four (and the lease dead).
    let mut later = s.world.clone();
    let instructions = s.owners_submission(&batch);
    s.world.send_ok(&instructions, &s.owner, &[]);
    later.warp_to_slot(first);
    later.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    later.send_refused(&instructions, &s.owner, &[]).expect_code(Error::EpochTooOld.code());
}

#[test]
fn the_current_epoch_fails_until_its_last_second_is_over() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.epoch_refused(epoch, Error::CurrentEpoch);
    s.world.warp_to_epoch(epoch + 1);
    let first = s.world.slot();
    s.world.warp_to_slot(first - 1);
    s.epoch_refused(epoch, Error::CurrentEpoch);
    s.world.warp_to_slot(first);
    s.submits(epoch);
}

#[test]
fn a_future_epoch_fails() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.epoch_refused(epoch + 1, Error::FutureEpoch);
    s.epoch_refused(u64::MAX, Error::FutureEpoch);
}

#[test]
fn a_repeated_or_lower_epoch_fails() {
    let mut s = Scene::living();
    let epoch = s.last_epoch();
    s.submits(epoch);
    s.epoch_refused(epoch, Error::EpochNotIncreasing);
    s.epoch_refused(epoch - 1, Error::EpochNotIncreasing);
    // With other content too.
    let mut other = batch_of(&s.agent.mint, epoch);
    other.batch_hash = [1; 32];
    s.submission_refused(&other, Error::EpochNotIncreasing);
}

#[test]
fn an_epoch_whose_batch_was_closed_fails() {
    let mut s = Scene::living();
    let epoch = s.last_epoch();
    s.submits(epoch);
    s.world.advance_slots(432_001);
    let close = close_batch(s.agent.mint, epoch, s.owner.pubkey());
    s.world.send_ok(&[close], &s.owner, &[]);
    assert_eq!(s.world.account(&pda::batch(&s.agent.mint, epoch)), None);
    // Not too old, and its address is free: the head remembers.
    assert_eq!(s.world.epoch(), epoch + 3);
    s.epoch_refused(epoch, Error::EpochNotIncreasing);
}

#[test]
fn two_to_the_twentieth_entries_ok_and_one_more_fails() {
    let mut s = Scene::living();
    let epoch = s.last_epoch();
    let right = SubmitBatch { log_len: 1 << 20, arrays_len: 1 << 20, ..batch_of(&s.agent.mint, epoch) };
    for (log_len, arrays_len) in [((1 << 20) + 1, 5), (5, (1 << 20) + 1), (u32::MAX, u32::MAX)] {
        let wrong = SubmitBatch { log_len, arrays_len, ..right.clone() };
        s.submission_refused(&wrong, Error::LengthTooLarge);
    }
    submit_and_check(&mut s, &right, epoch);
}

#[test]
fn an_empty_log_and_empty_arrays_ok() {
    let mut s = Scene::living();
    let epoch = s.last_epoch();
    let empty = SubmitBatch {
        log_merkle_root: [0; 32],
        log_len: 0,
        arrays_root: [0; 32],
        arrays_len: 0,
        ..batch_of(&s.agent.mint, epoch)
    };
    submit_and_check(&mut s, &empty, epoch);
}

#[test]
fn without_a_stake_fails() {
    let mut s = Scene::registered();
    s.world.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    s.epoch_refused(s.last_epoch(), Error::StakeMissing);
    // Lamports alone are not a stake.
    gift(&mut s.world, &pda::stake(&s.agent.mint), 5_000_000);
    s.epoch_refused(s.last_epoch(), Error::StakeMissing);
}

#[test]
fn a_stake_below_the_minimum_fails() {
    let mut s = Scene::living();
    let at = 8 + std::mem::offset_of!(StakeLockAccount, stake_usdc);
    for (stake, works) in [(0, false), (MIN_STAKE - 1, false), (MIN_STAKE, true)] {
        // What a slash leaves behind.
        s.world.edit_data(&pda::stake(&s.agent.mint), |data| {
            data[at..at + 8].copy_from_slice(&stake.to_le_bytes());
        });
        if works {
            s.submits(s.last_epoch());
        } else {
            s.epoch_refused(s.last_epoch(), Error::StakeBelowMinimum);
        }
    }
}

#[test]
fn without_a_lease_fails() {
    let mut s = Scene::staked();
    s.epoch_refused(s.last_epoch(), Error::LeaseMissing);
}

#[test]
fn in_grace_ok_and_deactivated_fails() {
    let mut s = Scene::living();
    let epoch = s.world.epoch();
    s.world.warp_to_epoch(epoch + 4);
    let first = s.world.slot();
    s.world.warp_to_slot(first - 1);
    s.submits(epoch + 2);
    s.world.warp_to_slot(first);
    // No tick has said so: the clock does.
    assert_eq!(s.lease().deactivated, 0);
    s.epoch_refused(epoch + 3, Error::LeaseDeactivated);
    s.world.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    s.submits(epoch + 3);
}

#[test]
fn other_agents_accounts_fail() {
    let mut s = Scene::living();
    let other = s.other_agent();
    let theirs = dishonest_batch(&other, s.last_epoch());
    s.world.submit_batch(&other, &s.stranger, &theirs).unwrap();
    s.submission_with_refused(STAKE, pda::stake(&other.mint), Error::WrongAgent);
    s.submission_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAgent);
    s.submission_with_refused(HEAD, pda::head(&other.mint), Error::WrongAgent);
    s.submission_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
    s.submission_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
    let elsewhere = pda::batch(&other.mint, s.last_epoch() - 1);
    s.submission_with_refused(BATCH, elsewhere, Error::WrongAddress);
}

#[test]
fn another_agent_named_in_arguments_and_message_fails() {
    let mut s = Scene::living();
    let other = s.other_agent();
    let batch = batch_of(&other.mint, s.last_epoch());
    s.submission_refused(&batch, Error::WrongAgent);
}

#[test]
fn the_owner_of_another_agent_fails_with_its_own_nft_and_everything_else_the_victims() {
    let mut s = Scene::living();
    let mine = s.world.register_agent(&s.stranger);
    let batch = batch_of(&s.agent.mint, s.last_epoch());
    let mut submit = submit_batch(&s.agent.addresses(), s.stranger.pubkey(), None, &batch);
    for (place, at) in [(2, mine.mint.into()), (AGENT_INDEX, mine.agent_index)] {
        submit = with_account(submit, place, at);
    }
    // With the victim's token account it would still be the victim who has to sign; with its own, the token
    // account is of another mint. What must stop both is that mint and agent differ.
    let check = ed25519_instruction(&s.stranger, &message(&batch));
    for token in [s.agent.token_account, mine.token_account] {
        let submit = with_account(submit.clone(), AGENT_TOKEN, token);
        s.stranger_refused(&[check.clone(), submit], Error::WrongAgent);
    }
}

#[test]
fn a_second_head_at_another_address_fails() {
    let mut s = Scene::living();
    let elsewhere = s.world.new_keypair().pubkey();
    s.submission_with_refused(HEAD, elsewhere, Error::WrongAddress);
    s.submits(s.last_epoch());
}

#[test]
fn a_forged_stake_or_lease_fails() {
    let mut s = Scene::living();
    let forged = s.world.new_keypair().pubkey();
    for (place, real, error) in [
        (STAKE, pda::stake(&s.agent.mint), Error::StakeMissing),
        (LEASE, pda::lease(&s.agent.mint), Error::LeaseMissing),
    ] {
        let data = s.world.data(&real);
        s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
        s.submission_with_refused(place, forged, error);
    }
    // StakeLock's own account of another type.
    s.submission_with_refused(STAKE, pda::config(), Error::WrongAccountType);
}

#[test]
fn a_forged_instructions_sysvar_fails() {
    let mut s = Scene::living();
    // An account of the attacker's in which some signature check stands.
    let forged = s.world.new_keypair().pubkey();
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &[0; 600]);
    s.submission_with_refused(SYSVAR, forged, Error::WrongAddress);
}

#[test]
fn the_submission_of_a_stake_in_the_unlock_queue_keeps_it_from_being_claimed() {
    // Reactivated, but not canceled: the agent is live and its stake is there, so it may commit again.
    let mut s = Scene::queued();
    s.world.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    s.submits(s.last_epoch());
    s.world.advance_epochs(4);
    let refusal = s.world.claim_stake(&s.agent, &s.owner).unwrap_err();
    refusal.expect_code(Error::LeasePaidSinceQueueing.code());
}

#[test]
fn a_stranger_may_pay_but_not_without_signing() {
    let mut s = Scene::living();
    let batch = batch_of(&s.agent.mint, s.last_epoch());
    let stranger: Keypair = s.stranger.insecure_clone();
    let submit = submit_batch(&s.agent.addresses(), stranger.pubkey(), None, &batch);
    let submit = super::common::unsigned(submit, 0);
    let instructions = [ed25519_instruction(&s.owner, &message(&batch)), submit];
    let refusal = s.world.send_refused(&instructions, &s.owner, &[]);
    assert_eq!(refusal.instruction_error(), Some(&super::common::MISSING_SIGNATURE));
}
