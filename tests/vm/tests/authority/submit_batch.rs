//! submit_batch: which agent may commit to which epochs, on which head. Whose key may sign, and how, stands in
//! the next module.

use super::common::{
    MIN_STAKE, MISSING_SIGNATURE, Scene, WINDOW, gift, keccak, only_event, unsigned, with_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::pda;
use zx1_interface::accounts::{BatchAccount, HeadAccount, KeyAccount, StakeLockAccount};
use zx1_interface::events::BatchSubmitted;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::Epoch;
use zx1_vm_tests::{Batch, NETWORK, Receipt, address};

pub(crate) const CONFIG: usize = 1;
const MINT: usize = 2;
const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const TENURE: usize = 5;
pub(crate) const KEY: usize = 6;
const STAKE: usize = 7;
const LEASE: usize = 8;
const HEAD: usize = 9;
const BATCH: usize = 10;
const SYSVAR: usize = 11;

/// What a batch key signs, written out a second time.
pub(crate) fn signed_bytes(message: &BatchMessage) -> Vec<u8> {
    let bytes = [
        b"zx1/behavior-batch/v2",
        &message.network[..],
        &message.agent,
        &message.covers_from.0.to_le_bytes(),
        &message.epoch.0.to_le_bytes(),
        &message.previous_digest,
        &message.log_merkle_root,
        &message.log_len.to_le_bytes(),
        &message.batch_hash,
        &message.arrays_root,
        &message.arrays_len.to_le_bytes(),
    ]
    .concat();
    assert_eq!(bytes.len(), 237);
    assert_eq!(bytes, message.to_bytes());
    bytes
}

impl Scene {
    /// The agent can land batches for a hundred epochs; the first was the one before.
    pub(crate) fn lasting() -> Self {
        let mut scene = Self::landing();
        scene.world.pay_lease(&scene.agent, &scene.owner, 100).unwrap();
        scene
    }

    /// The batch key's signature check and the instruction that it allows, paid by the owner.
    pub(crate) fn submission(&self, message: &BatchMessage) -> [Instruction; 2] {
        self.world.landing(&self.agent, &self.owner.at(), &self.keys.batch, message)
    }

    /// The batch key signs this, and it is refused.
    #[track_caller]
    pub(crate) fn message_refused(&mut self, message: &BatchMessage, error: Error) {
        let instructions = self.submission(message);
        self.owner_refused(&instructions, error);
    }

    /// The batch key signs what follows the head, and it is refused.
    #[track_caller]
    pub(crate) fn epoch_refused(&mut self, epoch: u64, error: Error) {
        self.message_refused(&self.message(epoch), error);
    }

    /// The right submission for the epoch before, with another account at one place, is refused.
    #[track_caller]
    fn submission_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let [check, submit] = self.submission(&self.message(self.last_epoch()));
        self.owner_refused(&[check, with_account(submit, place, at)], error);
    }

    /// The batch key signs some batch of an epoch and it lands.
    #[track_caller]
    fn submits(&mut self, epoch: u64) -> Receipt {
        let message = self.message(epoch);
        self.world.submit_message(&self.agent, &self.keys.batch, &message).unwrap()
    }
}

/// The accounts, event and money of one submission, which the stranger pays.
#[track_caller]
fn lands(s: &mut Scene, message: &BatchMessage, covers_from: u64) {
    let epoch = message.epoch.0;
    let (head_at, batch_at) = (pda::head(&s.agent.mint), pda::batch(&s.agent.mint, epoch));
    let (before, tenure) = (s.head(), s.tenure());
    let payer = s.stranger.pubkey();
    let instructions = s.world.landing(&s.agent, &payer, &s.keys.batch, message);
    let (snapshot, lamports) = (s.world.snapshot(), s.world.lamports(&payer));
    let receipt = s.world.send_ok(&instructions, &s.stranger, &[]);

    snapshot.assert_only_changed(&s.world, &[payer, head_at, batch_at]);
    let rent = s.world.rent(BatchAccount::SIZE);
    assert_eq!(s.world.lamports(&batch_at), rent);
    assert_eq!(s.world.lamports(&payer), lamports - rent - receipt.fee);
    assert_eq!(s.world.data(&batch_at).len(), BatchAccount::SIZE);

    let (slot, program) = (s.world.slot(), address(ids::BEHAVIOR_LOG));
    assert_eq!(
        s.head(),
        HeadAccount {
            last_epoch: epoch,
            last_slot: slot,
            count: before.count + 1,
            event_sequence: before.event_sequence + 1,
            digest: keccak(&[&before.digest, &signed_bytes(message)]),
            ..before
        }
    );
    let batch_seeds: &[&[u8]] = &[b"batch", s.agent.mint.as_ref(), &epoch.to_le_bytes()];
    assert_eq!(
        s.batch(epoch),
        BatchAccount {
            epoch_number: epoch,
            covers_from_epoch: covers_from,
            submitted_slot: slot,
            log_len: message.log_len,
            arrays_len: message.arrays_len,
            era: tenure.era,
            tenure: tenure.number,
            agent_id: s.agent.mint.0,
            log_merkle_root: message.log_merkle_root,
            batch_hash: message.batch_hash,
            arrays_root: message.arrays_root,
            signer: s.keys.batch.pubkey().to_bytes(),
            payer: payer.to_bytes(),
            withheld: 0,
            version: 2,
            bump: Address::find_program_address(batch_seeds, &program).1,
            reserved: [0; 5],
        }
    );
    assert_eq!(
        only_event(&receipt, ids::BEHAVIOR_LOG, BatchSubmitted::read),
        BatchSubmitted {
            agent_id: s.agent.mint.0,
            epoch_number: epoch,
            batch_hash: message.batch_hash,
            submitted_slot: slot,
            log_merkle_root: message.log_merkle_root,
            arrays_root: message.arrays_root,
            log_len: message.log_len,
            arrays_len: message.arrays_len,
            covers_from_epoch: covers_from,
            era: tenure.era,
            tenure: tenure.number,
            previous_digest: before.digest,
            payer: payer.to_bytes(),
            signer: s.keys.batch.pubkey().to_bytes(),
            sequence: before.event_sequence,
            account_created_slot: before.created_slot,
        }
    );
}

#[test]
fn the_first_batch_covers_from_the_heads_opening_and_anybody_pays_ok() {
    let mut s = Scene::lasting();
    let opened = s.last_epoch();
    let mut later = s.fork();
    let message = s.message(opened);
    lands(&mut s, &message, opened);
    assert_eq!((s.head().count, s.head().event_sequence), (1, 2));
    // What lies before the first batch, and after the opening, is not left out.
    later.world.advance_epochs(5);
    let message = later.message(opened + 5);
    lands(&mut later, &message, opened);
}

#[test]
fn later_batches_cover_what_lies_between_and_chain_the_digest_ok() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    // (submitted in, batch of, covers from), relative to the head's opening.
    let chain = [(2, 0, 0), (2, 1, 1), (6, 4, 2), (6, 5, 5), (20, 18, 6), (60, 59, 30), (91, 90, 61)];
    for (now, of, from) in chain {
        s.world.warp_to_epoch(epoch + now);
        let message = s.message(epoch + of);
        lands(&mut s, &message, epoch + from);
    }
    assert_eq!((s.head().count, s.head().event_sequence), (7, 8));
}

#[test]
fn thirty_epochs_are_the_most_and_what_lies_before_stays_uncovered() {
    let mut s = Scene::lasting();
    let opened = s.last_epoch();
    s.world.warp_to_epoch(opened + 30);
    let mut fork = s.fork();
    // 30 epochs, all of them.
    let message = s.message(opened + 29);
    lands(&mut s, &message, opened);
    // 31, and the first is left out.
    fork.world.warp_to_epoch(opened + 31);
    let message = fork.message(opened + 30);
    assert_eq!(message.covers_from, Epoch(opened + 1));
    fork.message_refused(&BatchMessage { covers_from: Epoch(opened), ..message }, Error::WrongCoverage);
    lands(&mut fork, &message, opened + 1);
}

#[test]
fn lamports_that_a_stranger_sent_there_first_block_nothing_ok() {
    for amount in [1_000_000, 50_000_000] {
        let mut s = Scene::landing();
        let epoch = s.last_epoch();
        let at = pda::batch(&s.agent.mint, epoch);
        gift(&mut s.world, &at, amount);
        let lamports = s.world.lamports(&s.owner.pubkey());
        let instructions = s.submission(&s.message(epoch));
        let receipt = s.world.send_ok(&instructions, &s.owner, &[]);
        let rent = s.world.rent(BatchAccount::SIZE);
        assert_eq!(s.world.lamports(&at), rent.max(amount));
        assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports - rent.saturating_sub(amount) - receipt.fee);
        assert_eq!((s.head().last_epoch, s.batch(epoch).epoch_number), (epoch, epoch));
    }
}

#[test]
fn three_epochs_old_ok_and_four_fails() {
    let mut s = Scene::lasting();
    let opened = s.last_epoch();
    s.world.warp_to_epoch(opened + 4);
    s.epoch_refused(opened, Error::EpochTooOld);
    s.submits(opened + 1);
    assert_eq!(s.head().last_epoch, opened + 1);
    // Before the key's first epoch, which comes first.
    s.epoch_refused(0, Error::KeyNotYetValid);
}

#[test]
fn age_is_counted_in_epochs_not_seconds() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    s.world.warp_to_epoch(epoch + 4);
    let first = s.world.slot();
    s.world.warp_to_slot(first - 1);
    // In the last second of epoch + 3 it is three epochs old; in the next it would be four.
    let instructions = s.submission(&s.message(epoch));
    let mut later = s.world.clone();
    s.world.send_ok(&instructions, &s.owner, &[]);
    later.warp_to_slot(first);
    later.send_refused(&instructions, &s.owner, &[]).expect_code(Error::EpochTooOld.code());
}

#[test]
fn the_current_epoch_fails_until_its_last_second_is_over() {
    let mut s = Scene::lasting();
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
    let mut s = Scene::landing();
    let epoch = s.world.epoch();
    s.epoch_refused(epoch + 1, Error::FutureEpoch);
    s.epoch_refused(u64::MAX, Error::FutureEpoch);
}

#[test]
fn a_repeated_or_lower_epoch_fails() {
    let mut s = Scene::lasting();
    let epoch = s.world.epoch();
    s.world.advance_epochs(1);
    s.submits(epoch);
    s.epoch_refused(epoch, Error::EpochNotIncreasing);
    s.epoch_refused(epoch - 1, Error::EpochNotIncreasing);
    // With other content too.
    let other = BatchMessage { batch_hash: [1; 32], ..s.message(epoch) };
    s.message_refused(&other, Error::EpochNotIncreasing);
}

#[test]
fn an_epoch_before_the_heads_opening_fails() {
    let mut s = Scene::living();
    s.world.advance_epochs(1);
    s.world.open_head(&s.agent).unwrap();
    s.epoch_refused(s.last_epoch(), Error::EpochNotIncreasing);
}

#[test]
fn an_epoch_whose_batch_was_closed_fails() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    s.submits(epoch);
    s.world.advance_slots(432_001);
    s.world.close_batch(&s.agent, epoch).unwrap();
    assert_eq!(s.world.account(&pda::batch(&s.agent.mint, epoch)), None);
    // Not too old, and its address is free: the head remembers.
    assert_eq!(s.world.epoch(), epoch + 3);
    s.epoch_refused(epoch, Error::EpochNotIncreasing);
}

#[test]
fn the_same_message_does_not_land_twice() {
    let mut s = Scene::landing();
    let instructions = s.submission(&s.message(s.last_epoch()));
    s.world.send_ok(&instructions, &s.owner, &[]);
    s.owner_refused(&instructions, Error::WrongPreviousDigest);
}

#[test]
fn two_to_the_twentieth_entries_ok_and_one_more_fails() {
    let mut s = Scene::landing();
    let epoch = s.last_epoch();
    let right = BatchMessage { log_len: 1 << 20, arrays_len: 1 << 20, ..s.message(epoch) };
    for (log_len, arrays_len) in [((1 << 20) + 1, 5), (5, (1 << 20) + 1), (u32::MAX, u32::MAX)] {
        s.message_refused(&BatchMessage { log_len, arrays_len, ..right }, Error::LengthTooLarge);
    }
    lands(&mut s, &right, epoch);
}

#[test]
fn an_empty_log_and_empty_arrays_ok() {
    let mut s = Scene::landing();
    let epoch = s.last_epoch();
    let (log_merkle_root, arrays_root) = ([0; 32], [0; 32]);
    let empty = BatchMessage { log_merkle_root, log_len: 0, arrays_root, arrays_len: 0, ..s.message(epoch) };
    lands(&mut s, &empty, epoch);
}

/// A tree of length 0 with a real root could hold what nobody can ask for or prove.
#[test]
fn a_length_that_does_not_fit_its_root_fails() {
    let mut s = Scene::landing();
    let right = s.message(s.last_epoch());
    for wrong in [
        BatchMessage { log_len: 0, ..right },
        BatchMessage { log_merkle_root: [0; 32], ..right },
        BatchMessage { arrays_len: 0, ..right },
        BatchMessage { arrays_root: [0; 32], ..right },
    ] {
        s.message_refused(&wrong, Error::LengthRootMismatch);
    }
}

/// The first edition's H2: the chain decided what a batch covers when it landed, so that a batch which was held
/// back made the next one cover its deals, and the honest agent was slashed.
#[test]
fn a_batch_never_covers_more_than_was_signed() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    s.world.advance_epochs(1);
    // Signed one after the other; the relayer holds the first one back.
    let first = s.message(epoch);
    let mut seen = s.fork();
    seen.world.submit_message(&seen.agent, &seen.keys.batch, &first).unwrap();
    let second = seen.message(epoch + 1);
    assert_eq!((first.covers_from, second.covers_from), (Epoch(epoch), Epoch(epoch + 1)));
    s.message_refused(&second, Error::WrongPreviousDigest);
    // In their order, both land.
    s.world.submit_message(&s.agent, &s.keys.batch, &first).unwrap();
    lands(&mut s, &second, epoch + 1);
}

/// The other half of H2: a node that lies about the head's last epoch.
#[test]
fn a_gap_or_an_overlap_that_a_lying_node_makes_an_agent_sign_never_lands() {
    let mut s = Scene::lasting();
    let opened = s.last_epoch();
    s.world.advance_epochs(3);
    let right = s.message(opened + 2);
    assert_eq!(right.covers_from, Epoch(opened));
    for covers_from in [opened + 1, opened + 2, opened + 3, opened - 1, 0, u64::MAX] {
        let wrong = BatchMessage { covers_from: Epoch(covers_from), ..right };
        s.message_refused(&wrong, Error::WrongCoverage);
    }
    lands(&mut s, &right, opened);
}

#[test]
fn a_batch_that_follows_another_head_fails() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    let right = s.message(epoch);
    let opening = keccak(&[b"zx1/head/v2", &NETWORK, s.agent.mint.as_ref()]);
    assert_eq!(right.previous_digest, opening);
    s.submits(epoch);
    s.world.advance_epochs(1);
    let next = s.message(epoch + 1);
    for previous_digest in [[0; 32], [7; 32], opening] {
        s.message_refused(&BatchMessage { previous_digest, ..next }, Error::WrongPreviousDigest);
    }
}

/// The first edition's H3: a signed batch that never landed blocked the agent for ever.
#[test]
fn a_signed_batch_that_can_land_no_more_is_covered_by_the_next_one_and_stays_void() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    let signed = s.submission(&s.message(epoch));
    s.world.warp_to_epoch(epoch + 4);
    s.owner_refused(&signed, Error::EpochTooOld);
    let next = s.message(epoch + 3);
    lands(&mut s, &next, epoch);
    s.owner_refused(&signed, Error::WrongPreviousDigest);
}

#[test]
fn without_a_head_fails() {
    let mut s = Scene::living();
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.world.advance_epochs(1);
    let mut opened = s.fork();
    opened.world.open_head(&opened.agent).unwrap();
    let message = opened.message(s.last_epoch());
    s.message_refused(&message, Error::HeadMissing);
    gift(&mut s.world, &pda::head(&s.agent.mint), 5_000_000);
    s.message_refused(&message, Error::HeadMissing);
}

#[test]
fn without_a_tenure_fails() {
    let mut s = Scene::landing();
    let empty = s.world.new_keypair().pubkey();
    s.submission_with_refused(TENURE, empty, Error::TenureMissing);
}

#[test]
fn without_a_stake_fails() {
    let mut s = Scene::tenured();
    s.world.pay_lease(&s.agent, &s.owner, 2).unwrap();
    s.world.open_head(&s.agent).unwrap();
    s.world.advance_epochs(1);
    s.epoch_refused(s.last_epoch(), Error::StakeMissing);
    // Lamports alone are not a stake.
    gift(&mut s.world, &pda::stake(&s.agent.mint, 0), 5_000_000);
    s.epoch_refused(s.last_epoch(), Error::StakeMissing);
}

#[test]
fn a_stake_below_the_minimum_fails() {
    let mut s = Scene::landing();
    let at = 8 + std::mem::offset_of!(StakeLockAccount, stake_usdc);
    for (stake, works) in [(0, false), (MIN_STAKE - 1, false), (MIN_STAKE, true)] {
        // What a fine leaves behind.
        s.world.edit_data(&pda::stake(&s.agent.mint, 0), |data| {
            data[at..at + 8].copy_from_slice(&stake.to_le_bytes());
        });
        if works {
            s.submits(s.last_epoch());
        } else {
            s.epoch_refused(s.last_epoch(), Error::StakeBelowMinimum);
        }
    }
}

/// The first edition's M3: a doomed stake went on backing lies.
#[test]
fn a_challenged_or_slashed_era_backs_no_further_batch_and_the_next_one_does() {
    let mut s = Scene::lasting();
    let challenge = s.challenged();
    s.world.advance_epochs(1);
    let epoch = s.last_epoch();
    s.epoch_refused(epoch, Error::EraChallenged);
    let mut ended = s.fork();
    s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    // Not with the old money.
    s.submission_with_refused(STAKE, pda::stake(&s.agent.mint, 0), Error::WrongEra);
    let message = s.message(epoch);
    lands(&mut s, &message, epoch);
    assert_eq!(s.batch(epoch).era, 1);
    // The challenge of the era of before is settled at that one's expense.
    s.resolve(&challenge);
    assert_eq!((s.world.books(&s.agent, 0).stake, s.world.books(&s.agent, 1).stake), (0, MIN_STAKE));
    // Slashed, and no new era begun.
    ended.resolve(&challenge);
    ended.epoch_refused(ended.last_epoch(), Error::EraEnded);
}

#[test]
fn without_a_lease_fails() {
    let mut s = Scene::staked();
    s.world.open_head(&s.agent).unwrap();
    s.world.advance_epochs(1);
    s.epoch_refused(s.last_epoch(), Error::LeaseMissing);
}

#[test]
fn in_grace_ok_and_deactivated_fails() {
    let mut s = Scene::landing();
    let epoch = s.world.epoch();
    s.world.warp_to_epoch(epoch + 4);
    let first = s.world.slot();
    s.world.warp_to_slot(first - 1);
    s.submits(epoch + 2);
    s.world.warp_to_slot(first);
    // No tick has said so: the clock does.
    assert_eq!(s.lease().deactivated, 0);
    s.epoch_refused(epoch + 3, Error::LeaseDeactivated);
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.submits(epoch + 3);
}

#[test]
fn other_agents_accounts_fail() {
    let mut s = Scene::lasting();
    let other = s.other_agent();
    s.world.advance_epochs(1);
    s.world.submit_batch(&other.agent, &other.keys.batch, &Batch::empty(s.last_epoch())).unwrap();
    let (other, their_key) = (other.agent, pda::key(&other.agent.mint, &other.keys.batch.at()));
    s.submission_with_refused(MINT, other.mint.into(), Error::WrongAgent);
    s.submission_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
    s.submission_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
    s.submission_with_refused(TENURE, pda::tenure(&other.mint), Error::WrongAgent);
    s.submission_with_refused(KEY, their_key, Error::WrongKey);
    s.submission_with_refused(STAKE, pda::stake(&other.mint, 0), Error::WrongAgent);
    s.submission_with_refused(LEASE, pda::lease(&other.mint), Error::WrongAgent);
    s.submission_with_refused(HEAD, pda::head(&other.mint), Error::WrongAgent);
    let elsewhere = pda::batch(&other.mint, s.last_epoch() - 1);
    s.submission_with_refused(BATCH, elsewhere, Error::WrongAddress);
    s.submission_with_refused(BATCH, pda::batch(&s.agent.mint, s.last_epoch() - 1), Error::WrongAddress);
}

#[test]
fn the_holder_of_another_agent_fails_with_its_own_nft_and_everything_else_the_victims() {
    let mut s = Scene::landing();
    let mine = s.other_agent();
    let message = s.message(s.last_epoch());
    let [check, mut submit] = s.world.landing(&s.agent, &s.stranger.at(), &mine.keys.batch, &message);
    for (place, at) in [(MINT, mine.agent.mint.into()), (AGENT_INDEX, mine.agent.agent_index)] {
        submit = with_account(submit, place, at);
    }
    for token in [s.agent.token_account, mine.agent.token_account] {
        let submit = with_account(submit.clone(), AGENT_TOKEN, token);
        s.stranger_refused(&[check.clone(), submit], Error::WrongAgent);
    }
    // With the victim's mint, its own token account and tenure do not serve.
    let [_, submit] = s.world.landing(&s.agent, &s.stranger.at(), &mine.keys.batch, &message);
    let posing = with_account(submit.clone(), AGENT_TOKEN, mine.agent.token_account);
    s.stranger_refused(&[check.clone(), posing], Error::AgentNotHeld);
    let posing = with_account(submit, TENURE, pda::tenure(&mine.agent.mint));
    s.stranger_refused(&[check, posing], Error::WrongAgent);
}

#[test]
fn a_second_head_at_another_address_fails() {
    let mut s = Scene::landing();
    let elsewhere = s.world.new_keypair().pubkey();
    s.submission_with_refused(HEAD, elsewhere, Error::HeadMissing);
    let data = s.world.data(&pda::head(&s.agent.mint));
    s.world.set_data(&elsewhere, &Address::new_from_array([8; 32]), &data);
    s.submission_with_refused(HEAD, elsewhere, Error::HeadMissing);
    s.submits(s.last_epoch());
}

#[test]
fn a_forged_tenure_stake_or_lease_fails() {
    let mut s = Scene::landing();
    let forged = s.world.new_keypair().pubkey();
    for (place, real, error) in [
        (TENURE, pda::tenure(&s.agent.mint), Error::TenureMissing),
        (STAKE, pda::stake(&s.agent.mint, 0), Error::StakeMissing),
        (LEASE, pda::lease(&s.agent.mint), Error::LeaseMissing),
    ] {
        let data = s.world.data(&real);
        s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
        s.submission_with_refused(place, forged, error);
    }
    // StakeLock's own account of another type.
    s.submission_with_refused(TENURE, pda::config(), Error::WrongAccountType);
    s.submission_with_refused(STAKE, pda::config(), Error::WrongAccountType);
    s.submission_with_refused(LEASE, pda::config(), Error::LeaseMissing);
}

#[test]
fn a_forged_configuration_or_instructions_sysvar_fails() {
    let mut s = Scene::landing();
    // An account of the attacker's in which some signature check stands.
    let forged = s.world.new_keypair().pubkey();
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &[0; 600]);
    s.submission_with_refused(SYSVAR, forged, Error::WrongAddress);
    let data = s.world.data(&pda::config());
    s.world.set_data(&forged, &address(ids::STAKE_LOCK), &data);
    s.submission_with_refused(CONFIG, forged, Error::WrongAddress);
}

#[test]
fn an_account_of_the_first_edition_fails() {
    let s = Scene::landing();
    let mint = s.agent.mint;
    for (at, version_at) in [
        (pda::key(&mint, &s.keys.batch.at()), KeyAccount::VERSION_AT),
        (pda::stake(&mint, 0), StakeLockAccount::VERSION_AT),
        (pda::head(&mint), HeadAccount::VERSION_AT),
    ] {
        let mut s = s.fork();
        s.world.edit_data(&at, |data| data[version_at] = 1);
        let mut right = s.fork();
        right.world.edit_data(&at, |data| data[version_at] = 2);
        let message = right.message(right.last_epoch());
        s.message_refused(&message, Error::WrongVersion);
    }
}

#[test]
fn the_submission_of_a_stake_in_the_unlock_queue_keeps_it_from_being_claimed() {
    // Reactivated, but not canceled: the agent is live and its stake is there, so it may commit again.
    let mut s = Scene::landing();
    s.world.advance_epochs(4);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
    s.world.pay_lease(&s.agent, &s.owner, 1).unwrap();
    s.submits(s.last_epoch());
    s.world.advance_epochs(4);
    let refusal = s.world.claim_stake(&s.agent, &s.owner, 0).unwrap_err();
    refusal.expect_code(Error::LeasePaidSinceQueueing.code());
}

#[test]
fn a_stranger_may_pay_but_not_without_signing() {
    let mut s = Scene::landing();
    let message = s.message(s.last_epoch());
    let [check, submit] = s.world.landing(&s.agent, &s.stranger.at(), &s.keys.batch, &message);
    let refusal = s.world.send_refused(&[check, unsigned(submit, 0)], &s.owner, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

/// Epochs up to a take-over belong to the former tenure, whose money alone answers for them.
#[test]
fn no_batch_spans_the_boundary_of_two_tenures() {
    let mut s = Scene::lasting();
    let taken = s.world.epoch();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.world.lock_stake(&s.agent, &buyer, MIN_STAKE).unwrap();
    s.keys.batch = s.world.new_key(&s.agent, &buyer, Scopes::BATCH);
    s.world.warp_to_epoch(taken + 2);
    // Neither the epoch of the take-over nor one before it.
    for epoch in [taken - 1, taken] {
        s.epoch_refused(epoch, Error::KeyNotYetValid);
    }
    let message = s.message(taken + 1);
    assert_eq!(message.covers_from, Epoch(taken + 1));
    for covers_from in [taken, taken - 1] {
        let spanning = BatchMessage { covers_from: Epoch(covers_from), ..message };
        s.message_refused(&spanning, Error::WrongCoverage);
    }
    lands(&mut s, &message, taken + 1);
    assert_eq!((s.batch(taken + 1).tenure, s.batch(taken + 1).era), (2, 1));
}

#[test]
fn an_epoch_before_the_tenure_fails_whatever_the_key_says() {
    // A key's first epoch is never before its tenure's; the rule stands by itself all the same.
    let mut s = Scene::lasting();
    let taken = s.world.epoch();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.world.lock_stake(&s.agent, &buyer, MIN_STAKE).unwrap();
    s.keys.batch = s.world.new_key(&s.agent, &buyer, Scopes::BATCH);
    let at = 8 + std::mem::offset_of!(KeyAccount, from_epoch);
    let key = pda::key(&s.agent.mint, &s.keys.batch.at());
    s.world.edit_data(&key, |data| data[at..at + 8].copy_from_slice(&0u64.to_le_bytes()));
    s.world.warp_to_epoch(taken + 1);
    s.epoch_refused(taken, Error::BeforeTenure);
}

#[test]
fn a_batch_of_the_former_tenure_keeps_its_era_and_window_after_a_take_over() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    s.submits(epoch);
    let batch = s.batch(epoch);
    let (agent, buyer) = s.sell();
    s.world.take_over(&agent, &buyer).unwrap();
    assert_eq!(s.batch(epoch), batch);
    assert_eq!((batch.era, batch.tenure), (0, 1));
    // Closed by anyone once its window is over, against the stake of its own era.
    s.world.advance_slots(WINDOW);
    s.world.close_batch(&agent, epoch).unwrap_err().expect_code(Error::WindowNotOver.code());
    s.world.advance_slots(1);
    s.world.close_batch(&agent, epoch).unwrap();
}
