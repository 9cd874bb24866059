//! close_batch: the rent goes back to whoever paid it, once nobody can need the batch any more.

use super::common::{Scene, WINDOW, gift, only_event, send_unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::behavior_log::close_batch;
use zx1_chain::instructions::stake_lock::take_deposit;
use zx1_chain::pda;
use zx1_interface::accounts::{BatchAccount, HeadAccount};
use zx1_interface::events::BatchClosed;
use zx1_interface::instruction::TakeDeposit;
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{Batch, address};

const PAYER: usize = 0;
const BATCH: usize = 1;
const HEAD: usize = 2;
const STAKE: usize = 3;

/// A living agent with one batch, whose rent a sponsor paid.
struct Submitted {
    s: Scene,
    sponsor: Keypair,
    epoch: u64,
}

fn submitted() -> Submitted {
    let mut s = Scene::lasting();
    let (sponsor, epoch) = (s.world.new_wallet(10), s.last_epoch());
    let landing = s.world.landing(&s.agent, &sponsor.pubkey(), &s.keys.batch, &s.message(epoch));
    s.world.send_ok(&landing, &sponsor, &[]);
    Submitted { s, sponsor, epoch }
}

/// The same, one slot after the window.
fn closable() -> Submitted {
    let mut t = submitted();
    t.s.world.advance_slots(WINDOW + 1);
    t
}

impl Submitted {
    fn close(&self) -> Instruction {
        close_batch(self.s.agent.mint, self.epoch, 0, self.sponsor.pubkey())
    }

    #[track_caller]
    fn refused(&mut self, instruction: Instruction, error: Error) {
        self.s.stranger_refused(&[instruction], error);
        assert!(self.s.world.lamports(&pda::batch(&self.s.agent.mint, self.epoch)) > 0);
    }

    #[track_caller]
    fn with_refused(&mut self, place: usize, at: Address, error: Error) {
        self.refused(with_account(self.close(), place, at), error);
    }

    /// The stranger closes the batch; the sponsor gets the rent and these further lamports.
    #[track_caller]
    fn closes(&mut self, gift: u64) {
        let batch_at = pda::batch(&self.s.agent.mint, self.epoch);
        let head_at = pda::head(&self.s.agent.mint);
        let sponsor = self.sponsor.pubkey();
        let (snapshot, head) = (self.s.world.snapshot(), self.s.head());
        let lamports = self.s.world.lamports(&sponsor);
        let receipt = self.s.world.send_ok(&[self.close()], &self.s.stranger, &[]);
        snapshot.assert_only_changed(&self.s.world, &[self.s.stranger.pubkey(), sponsor, batch_at, head_at]);
        assert_eq!(self.s.world.account(&batch_at), None);
        let rent = self.s.world.rent(BatchAccount::SIZE);
        assert_eq!(self.s.world.lamports(&sponsor), lamports + rent + gift);
        let sequence = head.event_sequence;
        assert_eq!(self.s.head(), HeadAccount { event_sequence: sequence + 1, ..head });
        assert_eq!(
            only_event(&receipt, ids::BEHAVIOR_LOG, BatchClosed::read),
            BatchClosed {
                agent_id: self.s.agent.mint.0,
                epoch_number: self.epoch,
                payer: sponsor.to_bytes(),
                sequence,
                account_created_slot: head.created_slot,
            }
        );
    }
}

#[test]
fn one_slot_after_the_window_a_stranger_returns_the_rent_to_its_payer_ok() {
    let mut t = submitted();
    t.s.world.advance_slots(WINDOW + 1);
    assert_eq!(t.s.world.slot(), t.s.batch(t.epoch).submitted_slot + 432_001);
    t.closes(0);
}

#[test]
fn until_the_last_slot_of_the_window_fails() {
    let mut t = submitted();
    t.refused(t.close(), Error::WindowNotOver);
    t.s.world.advance_slots(WINDOW);
    assert_eq!(t.s.world.slot(), t.s.batch(t.epoch).submitted_slot + 432_000);
    t.refused(t.close(), Error::WindowNotOver);
}

#[test]
fn lamports_that_somebody_sent_to_the_batch_go_to_the_payer_too_ok() {
    let mut t = closable();
    gift(&mut t.s.world, &pda::batch(&t.s.agent.mint, t.epoch), 31_337);
    t.closes(31_337);
}

#[test]
fn a_payer_that_has_no_lamports_left_is_paid_ok() {
    let mut t = closable();
    t.s.world.set_lamports(&t.sponsor.pubkey(), 0);
    t.closes(0);
}

#[test]
fn an_older_batch_is_closed_while_a_newer_one_is_in_its_window_ok() {
    let mut t = closable();
    let newer = t.s.last_epoch();
    t.s.land(newer);
    let digest = t.s.head().digest;
    t.closes(0);
    assert_eq!((t.s.head().last_epoch, t.s.head().count, t.s.head().digest), (newer, 2, digest));
    assert_eq!(t.s.batch(newer).epoch_number, newer);
    let close = close_batch(t.s.agent.mint, newer, 0, t.s.world.faucet.pubkey());
    t.s.stranger_refused(&[close], Error::WindowNotOver);
}

#[test]
fn the_closing_counts_into_the_sequence_of_the_head() {
    let mut t = closable();
    t.closes(0);
    let receipt = t.s.land(t.s.last_epoch());
    let event = only_event(&receipt, ids::BEHAVIOR_LOG, zx1_interface::events::BatchSubmitted::read);
    assert_eq!((event.sequence, t.s.head().event_sequence), (3, 4));
}

#[test]
fn with_an_open_challenge_fails_and_after_its_settlement_it_is_closed() {
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    let filing = s.dishonest();
    // In the last slot in which it can be challenged.
    s.world.advance_slots(WINDOW);
    s.world.file(&filing);
    s.world.advance_slots(1);
    let sponsor = s.world.faucet.insecure_clone();
    let mut t = Submitted { s, sponsor, epoch };
    t.refused(t.close(), Error::OpenChallenges);
    t.s.world.advance_slots(WINDOW);
    t.refused(t.close(), Error::OpenChallenges);
    t.s.resolve(&filing.challenge());
    assert_eq!(t.s.stake().open_challenges, 0);
    t.closes(0);
}

#[test]
fn with_an_open_ask_fails() {
    let mut t = closable();
    let (usdc, stranger) = (t.s.world.usdc_account(&t.s.stranger.at()), t.s.stranger.at());
    let ask = TakeDeposit { agent_mint: t.s.agent.mint.0, era: 0, amount: 500_000, what: 3 };
    let take = take_deposit(pda::challenge_authority(), stranger, usdc, &ask);
    send_unsigned(&mut t.s.world, &take).unwrap();
    t.refused(t.close(), Error::AskNotSettled);
}

#[test]
fn the_stake_of_another_era_does_not_serve_fails() {
    // The batch's era has an open challenge, and the next one has none.
    let mut s = Scene::lasting();
    let epoch = s.last_epoch();
    let filing = s.dishonest();
    s.world.advance_slots(WINDOW);
    s.world.file(&filing);
    s.world.advance_slots(1);
    s.world.lock_stake(&s.agent, &s.owner, super::common::MIN_STAKE).unwrap();
    let sponsor = s.world.faucet.insecure_clone();
    let mut t = Submitted { s, sponsor, epoch };
    t.refused(t.close(), Error::OpenChallenges);
    t.with_refused(STAKE, pda::stake(&t.s.agent.mint, 1), Error::WrongEra);
    // The empty address of a third era.
    t.with_refused(STAKE, pda::stake(&t.s.agent.mint, 2), Error::WrongAddress);
}

#[test]
fn after_the_stake_was_claimed_ok() {
    let mut t = submitted();
    t.s.world.advance_epochs(104);
    t.s.world.queue_unlock(&t.s.agent, &t.s.owner, 0).unwrap();
    t.s.world.advance_slots(WINDOW);
    t.s.world.claim_stake(&t.s.agent, &t.s.owner, 0).unwrap();
    assert_eq!(t.s.world.account(&pda::stake(&t.s.agent.mint, 0)), None);
    t.closes(0);
}

#[test]
fn another_payer_fails_the_submitter_included() {
    let mut t = closable();
    for wallet in [t.s.stranger.pubkey(), t.s.owner.pubkey(), t.s.world.new_keypair().pubkey()] {
        // The fee payer is writable anyway, so that the refusal is about who it is.
        t.with_refused(PAYER, wallet, Error::WrongPayer);
    }
}

#[test]
fn another_epoch_in_the_arguments_fails() {
    let mut t = closable();
    let mut instruction = t.close();
    instruction.data[40..48].copy_from_slice(&(t.epoch - 1).to_le_bytes());
    t.refused(instruction, Error::WrongBatch);
}

#[test]
fn an_epoch_without_a_batch_fails() {
    let mut t = closable();
    let instruction = close_batch(t.s.agent.mint, t.epoch - 1, 0, t.sponsor.pubkey());
    t.refused(instruction, Error::AccountMissing);
}

#[test]
fn twice_fails() {
    let mut t = closable();
    t.closes(0);
    let instruction = t.close();
    t.s.stranger_refused(&[instruction], Error::AccountMissing);
}

#[test]
fn another_agents_accounts_fail() {
    let mut t = closable();
    let other = t.s.other_agent();
    let theirs = Batch::empty(t.s.world.epoch());
    t.s.world.advance_epochs(1);
    t.s.world.submit_batch(&other.agent, &other.keys.batch, &theirs).unwrap();
    let other = other.agent;
    t.with_refused(BATCH, pda::batch(&other.mint, theirs.epoch), Error::WrongAgent);
    t.with_refused(HEAD, pda::head(&other.mint), Error::WrongAgent);
    t.with_refused(STAKE, pda::stake(&other.mint, 0), Error::WrongAgent);
    let mut instruction = t.close();
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    t.refused(instruction, Error::WrongAgent);
}

#[test]
fn a_forged_absence_of_the_stake_fails() {
    let mut t = closable();
    let other = t.s.world.register_agent(&t.s.owner);
    for empty in [t.s.world.new_keypair().pubkey(), pda::stake(&other.mint, 0)] {
        t.with_refused(STAKE, empty, Error::WrongAddress);
    }
}

#[test]
fn an_account_of_another_type_or_owner_as_batch_or_head_fails() {
    let mut t = closable();
    let (copy, data) =
        (t.s.world.new_keypair().pubkey(), t.s.world.data(&pda::batch(&t.s.agent.mint, t.epoch)));
    t.s.world.set_data(&copy, &Address::new_from_array([8; 32]), &data);
    t.with_refused(BATCH, copy, Error::WrongAccountOwner);
    t.s.world.set_data(&copy, &address(ids::BEHAVIOR_LOG), &data);
    t.with_refused(HEAD, copy, Error::WrongAccountType);
}
