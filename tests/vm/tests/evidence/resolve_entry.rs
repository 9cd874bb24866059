//! resolve_entry: the maintainer attaches a resolution to an entry, once.

use crate::common::{Scene, feedback_entry, feedback_log, only_event, refused, speakers, with_account};
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::feedback_log::{resolve_entry, submit_feedback};
use zx1_chain::pda;
use zx1_interface::accounts::FeedbackResolution;
use zx1_interface::events::FeedbackResolved;
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{Key, World};

const CONTRACT: [u8; 32] = [0xc7; 32];
const COMMIT: [u8; 32] = [0x1d; 32];

/// A log of three entries, somebody who wrote them, and the maintainer.
fn log_of_three() -> (World, Key, Key) {
    let (mut world, sender, _) = speakers();
    for index in 0..3 {
        let entry = submit_feedback(sender.at(), sender.at(), index, b"please fix".to_vec());
        world.send_ok(&[entry], &sender, &[]);
    }
    let maintainer = Key(world.maintainer());
    (world, sender, maintainer)
}

fn resolving(who: &Key, index: u64) -> Instruction {
    resolve_entry(who.at(), index, CONTRACT, COMMIT)
}

#[test]
fn the_maintainer_resolves_an_entry_ok() {
    let (mut world, _, maintainer) = log_of_three();
    world.advance_slots(20);
    let (log, entry) = (feedback_log(&world), feedback_entry(&world, 1));
    let before = world.lamports(&maintainer.at());
    let snapshot = world.snapshot();
    let receipt = world.send_ok(&[resolving(&maintainer, 1)], &maintainer, &[]);
    let at = pda::feedback_resolution(1);
    snapshot.assert_only_changed(&world, &[at, maintainer.at()]);
    let rent = world.rent(FeedbackResolution::SIZE);
    assert_eq!(world.lamports(&at), rent);
    assert_eq!(before - world.lamports(&maintainer.at()), rent + receipt.fee);
    let account: FeedbackResolution = world.read(&at);
    let expected = FeedbackResolution {
        index: 1,
        slot: world.slot(),
        contract_hash: CONTRACT,
        commit: COMMIT,
        maintainer: maintainer.at().to_bytes(),
        version: 2,
        bump: account.bump,
        reserved: [0; 6],
    };
    assert_eq!(account, expected);
    let event = FeedbackResolved::read(&only_event(&receipt, ids::FEEDBACK_LOG)).unwrap();
    let expected_event = FeedbackResolved {
        index: 1,
        contract_hash: CONTRACT,
        commit: COMMIT,
        sequence: 0,
        account_created_slot: world.slot(),
    };
    assert_eq!(event, expected_event);
    // Nothing of the log itself changes.
    assert_eq!((feedback_log(&world), feedback_entry(&world, 1)), (log, entry));
}

#[test]
fn entries_are_resolved_in_any_order() {
    let (mut world, _, maintainer) = log_of_three();
    for index in [2, 0, 1] {
        world.send_ok(&[resolving(&maintainer, index)], &maintainer, &[]);
        let account: FeedbackResolution = world.read(&pda::feedback_resolution(index));
        assert_eq!(account.index, index);
    }
}

#[test]
fn resolving_by_another_fails() {
    let (mut world, sender, maintainer) = log_of_three();
    let owner = Scene::new().owner;
    for other in [&sender, &owner] {
        refused(&mut world, &[resolving(other, 0)], other, &[], Error::NotMaintainer);
    }
    let mut unsigned = resolving(&maintainer, 0);
    unsigned.accounts[0].is_signer = false;
    let failure = world.send_refused(&[unsigned], &sender, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
}

#[test]
fn resolving_twice_fails() {
    let (mut world, _, maintainer) = log_of_three();
    world.send_ok(&[resolving(&maintainer, 0)], &maintainer, &[]);
    refused(&mut world, &[resolving(&maintainer, 0)], &maintainer, &[], Error::ResolutionExists);
    let other = resolve_entry(maintainer.at(), 0, [0; 32], [2; 32]);
    refused(&mut world, &[other], &maintainer, &[], Error::ResolutionExists);
}

#[test]
fn a_missing_entry_fails() {
    let (mut world, sender, maintainer) = log_of_three();
    for index in [3, 4, u64::MAX] {
        refused(&mut world, &[resolving(&maintainer, index)], &maintainer, &[], Error::EntryMissing);
    }
    // Lamports alone are not an entry.
    let gift = system::transfer(&sender.at(), &pda::feedback_entry(3), 5_000_000);
    world.send_ok(&[gift], &sender, &[]);
    refused(&mut world, &[resolving(&maintainer, 3)], &maintainer, &[], Error::EntryMissing);
}

#[test]
fn a_log_without_entries_fails() {
    let (mut world, _, _) = speakers();
    let maintainer = Key(world.maintainer());
    refused(&mut world, &[resolving(&maintainer, 0)], &maintainer, &[], Error::AccountMissing);
}

#[test]
fn a_resolution_whose_address_a_stranger_funded_first_is_made_ok() {
    let (mut world, sender, maintainer) = log_of_three();
    let (at, rent) = (pda::feedback_resolution(0), world.rent(FeedbackResolution::SIZE));
    world.send_ok(&[system::transfer(&sender.at(), &at, rent - 1)], &sender, &[]);
    let before = world.lamports(&maintainer.at());
    let receipt = world.send_ok(&[resolving(&maintainer, 0)], &maintainer, &[]);
    assert_eq!(before - world.lamports(&maintainer.at()), 1 + receipt.fee);
    assert_eq!(world.lamports(&at), rent);
}

#[test]
fn accounts_that_do_not_follow_from_the_arguments_fail() {
    let (mut world, sender, maintainer) = log_of_three();
    let right = resolving(&maintainer, 1);
    let cases = [
        (1, sender.at(), Error::WrongAddress),
        (2, pda::feedback_entry(0), Error::WrongAccountType),
        (2, pda::config(), Error::WrongAccountOwner),
        (3, pda::feedback_entry(0), Error::WrongAddress),
        (3, pda::feedback_log(), Error::WrongAccountType),
        (3, sender.at(), Error::WrongAddress),
        (4, pda::feedback_resolution(2), Error::WrongAddress),
        (4, sender.at(), Error::WrongAddress),
    ];
    for (place, account, error) in cases {
        let wrong = with_account(right.clone(), place, account);
        let failure = world.send_refused(&[wrong], &maintainer, &[]);
        assert_eq!(failure.code(), Some(error.code()), "account {place}: {failure:?}");
    }
    world.send_ok(&[right], &maintainer, &[]);
}
