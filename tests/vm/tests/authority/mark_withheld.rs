//! mark_withheld: only Challenge marks a batch that withholds a leaf, once.

use super::common::{Scene, only_event, send_unsigned, unsigned, unsigned_refused, with_account};
use super::relay::through_another_program;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::behavior_log::mark_withheld;
use zx1_chain::pda;
use zx1_interface::accounts::{BatchAccount, HeadAccount};
use zx1_interface::events::BatchWithheld;
use zx1_interface::{Error, ids};
use zx1_vm_tests::{Batch, address};

const BATCH: usize = 1;
const HEAD: usize = 2;

/// Where the other program of these tests lies.
const OTHER_PROGRAM: Address = Address::new_from_array([66; 32]);

/// A scene with a batch of this epoch.
fn landed() -> (Scene, u64) {
    let mut s = Scene::landing();
    let epoch = s.last_epoch();
    s.land(epoch);
    (s, epoch)
}

impl Scene {
    fn marking(&self, epoch: u64) -> Instruction {
        mark_withheld(self.agent.mint, epoch, pda::challenge_authority())
    }
}

#[test]
fn challenge_marks_a_batch_once() {
    let (mut s, epoch) = landed();
    let (batch, head, instruction) = (s.batch(epoch), s.head(), s.marking(epoch));
    let before = s.world.snapshot();
    let receipt = send_unsigned(&mut s.world, &instruction).unwrap();
    let changed = [s.world.faucet.pubkey(), pda::batch(&s.agent.mint, epoch), pda::head(&s.agent.mint)];
    before.assert_only_changed(&s.world, &changed);
    let sequence = head.event_sequence;
    assert_eq!(s.batch(epoch), BatchAccount { withheld: 1, ..batch });
    assert_eq!(s.head(), HeadAccount { event_sequence: sequence + 1, ..head });
    assert_eq!(
        only_event(&receipt, ids::BEHAVIOR_LOG, BatchWithheld::read),
        BatchWithheld {
            agent_id: s.agent.mint.0,
            epoch_number: epoch,
            sequence,
            account_created_slot: head.created_slot,
        }
    );
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::InvariantBroken.code());
}

#[test]
fn wallets_and_keys_fail() {
    let (mut s, epoch) = landed();
    let (upgrade, maintainer) = (s.world.upgrade_authority(), s.world.maintainer());
    let batch = s.keys.batch.clone();
    s.fund(&batch);
    for wallet in [&s.owner.0, &s.stranger.0, &batch.0, &upgrade, &maintainer] {
        let instruction = mark_withheld(s.agent.mint, epoch, wallet.pubkey());
        let refusal = s.world.send_refused(&[instruction], wallet, &[]);
        refusal.expect_code(Error::NotChallengeProgram.code());
    }
}

#[test]
fn challenges_authority_without_its_signature_fails() {
    let (mut s, epoch) = landed();
    s.stranger_refused(&[unsigned(s.marking(epoch), 0)], Error::NotChallengeProgram);
}

#[test]
fn other_programs_authorities_fail() {
    let (mut s, epoch) = landed();
    for program in [ids::STAKE_LOCK, ids::BEHAVIOR_LOG, ids::LEASE, [66; 32]] {
        let theirs = Address::find_program_address(&[b"authority"], &address(program)).0;
        let instruction = mark_withheld(s.agent.mint, epoch, theirs);
        unsigned_refused(&mut s.world, &instruction).expect_code(Error::NotChallengeProgram.code());
    }
}

#[test]
fn another_program_that_calls_it_fails() {
    let (mut s, epoch) = landed();
    let (theirs, bump) = Address::find_program_address(&[b"authority"], &OTHER_PROGRAM);
    let call = mark_withheld(s.agent.mint, epoch, theirs);
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[&[b"authority", &[bump]]]);
    let refusal = s.world.send_refused(&[call], &s.stranger, &[]);
    refusal.expect_code(Error::NotChallengeProgram.code());
    assert_eq!(refusal.program(), Some(address(ids::BEHAVIOR_LOG)));
}

#[test]
fn another_agents_batch_or_head_fails() {
    let (mut s, epoch) = landed();
    let other = s.other_agent();
    let theirs = s.world.epoch();
    s.world.warp_to_epoch(theirs + 1);
    s.world.submit_batch(&other.agent, &other.keys.batch, &Batch::empty(theirs)).unwrap();
    let mint = other.agent.mint;
    for (place, at) in [(BATCH, pda::batch(&mint, theirs)), (HEAD, pda::head(&mint))] {
        let instruction = with_account(s.marking(epoch), place, at);
        unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongAgent.code());
    }
    let mut instruction = s.marking(epoch);
    instruction.data[8..40].copy_from_slice(mint.as_ref());
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongAgent.code());
}

#[test]
fn another_epoch_or_none_fails() {
    let (mut s, epoch) = landed();
    let mut instruction = s.marking(epoch);
    instruction.data[40..48].copy_from_slice(&(epoch + 1).to_le_bytes());
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongBatch.code());
    let instruction = s.marking(epoch + 1);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::AccountMissing.code());
}

#[test]
fn a_copy_of_the_batch_fails() {
    let (mut s, epoch) = landed();
    let copy = s.world.new_keypair().pubkey();
    let data = s.world.data(&pda::batch(&s.agent.mint, epoch));
    s.world.set_data(&copy, &Address::new_from_array([8; 32]), &data);
    let instruction = with_account(s.marking(epoch), BATCH, copy);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongAccountOwner.code());
    let instruction = with_account(s.marking(epoch), HEAD, copy);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongAccountOwner.code());
}
