//! submit_feedback: a text that fits a transaction.

use crate::common::{feedback_entry, feedback_log, next_head, only_event, refused, speakers, with_account};
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::feedback_log::submit_feedback;
use zx1_chain::pda;
use zx1_interface::accounts::{FeedbackEntry, FeedbackLogAccount};
use zx1_interface::events::FeedbackSubmitted;
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{Key, MAX_TRANSACTION, World, transaction_size};

/// Written by its own sender.
fn own(sender: &Key, index: u64, text: &[u8]) -> Instruction {
    submit_feedback(sender.at(), sender.at(), index, text.to_vec())
}

#[test]
fn the_first_entry_creates_the_log_ok() {
    let (mut world, sender, _) = speakers();
    let text = "Your agent deleted my Makefile. \u{1f620}".as_bytes();
    let before = world.lamports(&sender.at());
    let snapshot = world.snapshot();
    let receipt = world.send_ok(&[own(&sender, 0, text)], &sender, &[]);
    let changed = [pda::feedback_log(), pda::feedback_entry(0), sender.at()];
    snapshot.assert_only_changed(&world, &changed);
    let (rent, log_rent) =
        (world.rent(FeedbackEntry::SIZE + text.len()), world.rent(FeedbackLogAccount::SIZE));
    assert_eq!(world.lamports(&pda::feedback_entry(0)), rent);
    assert_eq!(world.lamports(&pda::feedback_log()), log_rent);
    assert_eq!(before - world.lamports(&sender.at()), rent + log_rent + receipt.fee);

    let (entry, bytes) = feedback_entry(&world, 0);
    let expected = FeedbackEntry {
        index: 0,
        timestamp: world.time(),
        slot: world.slot(),
        sender: sender.at().to_bytes(),
        payer: sender.at().to_bytes(),
        previous_head: [0; 32],
        text_len: u32::try_from(text.len()).unwrap(),
        version: 2,
        bump: entry.bump,
        reserved: [0; 2],
    };
    assert_eq!(entry, expected);
    assert_eq!(bytes, text);
    let log = feedback_log(&world);
    let expected_log = FeedbackLogAccount {
        count: 1,
        created_slot: world.slot(),
        event_sequence: 1,
        head: next_head(&[0; 32], &expected, text),
        version: 2,
        bump: log.bump,
        reserved: [0; 6],
    };
    assert_eq!(log, expected_log);
    let event = FeedbackSubmitted::read(&only_event(&receipt, ids::FEEDBACK_LOG)).unwrap();
    let expected_event = FeedbackSubmitted {
        index: 0,
        sender: expected.sender,
        payer: expected.payer,
        draft: [0; 32],
        timestamp: expected.timestamp,
        head: log.head,
        text_len: expected.text_len,
        sequence: 0,
        account_created_slot: world.slot(),
    };
    assert_eq!(event, expected_event);
}

#[test]
fn the_head_commits_to_every_entry() {
    let (mut world, one, other) = speakers();
    let created = world.slot();
    let texts: [&[u8]; 4] = [b"first", b"x", "zweiter \u{df}".as_bytes(), &[b'y'; 500]];
    let mut head = [0; 32];
    for (n, text) in texts.iter().enumerate() {
        let index = n as u64;
        // Everybody writes: in turn by oneself and for each other.
        let (payer, sender) = [(&one, &one), (&other, &one), (&one, &other), (&other, &other)][n];
        let instruction = submit_feedback(payer.at(), sender.at(), index, text.to_vec());
        let receipt = world.send_ok(&[instruction], payer, &[sender]);
        let (entry, bytes) = feedback_entry(&world, index);
        assert_eq!(bytes, *text);
        assert_eq!((entry.index, entry.slot, entry.timestamp), (index, world.slot(), world.time()));
        assert_eq!((entry.sender, entry.payer), (sender.at().to_bytes(), payer.at().to_bytes()));
        assert_eq!(entry.previous_head, head);
        head = next_head(&head, &entry, text);
        let log = feedback_log(&world);
        assert_eq!((log.head, log.count, log.event_sequence), (head, index + 1, index + 1));
        assert_eq!(log.created_slot, created);
        let event = FeedbackSubmitted::read(&only_event(&receipt, ids::FEEDBACK_LOG)).unwrap();
        assert_eq!((event.sequence, event.account_created_slot, event.head), (index, created, head));
        world.advance_slots(1_000 + index);
    }
}

#[test]
fn a_sponsor_pays_and_the_sender_speaks() {
    let (mut world, sender, sponsor) = speakers();
    let (mine, theirs) = (world.lamports(&sender.at()), world.lamports(&sponsor.at()));
    let instruction = submit_feedback(sponsor.at(), sender.at(), 0, b"sponsored".to_vec());
    let receipt = world.send_ok(&[instruction], &sponsor, &[&sender]);
    let rent = world.rent(FeedbackEntry::SIZE + 9) + world.rent(FeedbackLogAccount::SIZE);
    assert_eq!(world.lamports(&sender.at()), mine);
    assert_eq!(theirs - world.lamports(&sponsor.at()), rent + receipt.fee);
    assert_eq!(receipt.fee, 10_000, "two signatures");
    let (entry, _) = feedback_entry(&world, 0);
    assert_eq!((entry.sender, entry.payer), (sender.at().to_bytes(), sponsor.at().to_bytes()));
}

#[test]
fn a_sender_without_a_lamport_can_speak() {
    let (mut world, _, sponsor) = speakers();
    let sender = Key(world.new_keypair());
    let instruction = submit_feedback(sponsor.at(), sender.at(), 0, b"poor but honest".to_vec());
    world.send_ok(&[instruction], &sponsor, &[&sender]);
    assert_eq!(feedback_entry(&world, 0).0.sender, sender.at().to_bytes());
    assert!(world.account(&sender.at()).is_none());
}

#[test]
fn a_missing_signature_of_sender_or_payer_fails() {
    for (place, signs) in [(0, 1), (1, 0)] {
        let (mut world, sender, sponsor) = speakers();
        let mut instruction = submit_feedback(sponsor.at(), sender.at(), 0, b"forged".to_vec());
        instruction.accounts[place].is_signer = false;
        let who = [&sponsor, &sender][signs];
        let failure = world.send_refused(&[instruction], who, &[]);
        assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
    }
}

#[test]
fn an_empty_text_fails() {
    let (mut world, sender, _) = speakers();
    refused(&mut world, &[own(&sender, 0, b"")], &sender, &[], Error::EmptyText);
}

#[test]
fn text_that_is_not_utf8_fails() {
    let invalid: [&[u8]; 5] = [&[0xff], b"cut \xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"ok \x80 not"];
    for text in invalid {
        let (mut world, sender, _) = speakers();
        refused(&mut world, &[own(&sender, 0, text)], &sender, &[], Error::TextNotUtf8);
    }
    // Control characters and zeros are UTF-8.
    let (mut world, sender, _) = speakers();
    world.send_ok(&[own(&sender, 0, b"\0\x1b[2J\n")], &sender, &[]);
    assert_eq!(feedback_entry(&world, 0).1, b"\0\x1b[2J\n");
}

/// The longest text that fits a transaction of this payer and sender.
fn longest(payer: &Key, sender: &Key) -> usize {
    let size = |len| {
        let instruction = submit_feedback(payer.at(), sender.at(), 0, vec![b'a'; len]);
        transaction_size(&[instruction], &payer.at())
    };
    (1..2_048).take_while(|len| size(*len) <= MAX_TRANSACTION).last().unwrap()
}

#[test]
fn the_longest_text_of_one_transaction_is_logged() {
    for sponsored in [false, true] {
        let (mut world, sender, sponsor) = speakers();
        let payer = if sponsored { &sponsor } else { &sender };
        let len = longest(payer, &sender);
        let text = vec![b'z'; len];
        let instruction = submit_feedback(payer.at(), sender.at(), 0, text.clone());
        let receipt = world.send_ok(&[instruction], payer, &[&sender]);
        println!("submit_feedback, sponsored {sponsored}: {len} bytes of text, {} units", receipt.units);
        assert_eq!(receipt.size, MAX_TRANSACTION);
        assert_eq!(feedback_entry(&world, 0).1, text);
        assert!(receipt.units < 200_000);
    }
}

#[test]
fn two_writers_race_for_one_index() {
    let (mut world, one, other) = speakers();
    world.send_ok(&[own(&one, 0, b"zero")], &one, &[]);
    let count = feedback_log(&world).count;
    let (first, second) = (own(&one, count, b"I was first"), own(&other, count, b"I was second"));
    world.send_ok(&[first], &one, &[]);
    refused(&mut world, &[second], &other, &[], Error::IndexTaken);
    let count = feedback_log(&world).count;
    world.send_ok(&[own(&other, count, b"I was second")], &other, &[]);
    assert_eq!(feedback_entry(&world, 1).1, b"I was first");
    assert_eq!(feedback_entry(&world, 2).1, b"I was second");
}

#[test]
fn any_index_but_the_next_fails() {
    let (mut world, sender, _) = speakers();
    for index in [1, 2, u64::MAX] {
        refused(&mut world, &[own(&sender, index, b"text")], &sender, &[], Error::IndexTaken);
    }
    for index in 0..3 {
        world.send_ok(&[own(&sender, index, b"text")], &sender, &[]);
    }
    for index in [0, 1, 2, 4, 1_000, u64::MAX] {
        refused(&mut world, &[own(&sender, index, b"text")], &sender, &[], Error::IndexTaken);
    }
}

#[test]
fn an_entry_is_never_written_over() {
    let (mut world, sender, other) = speakers();
    world.send_ok(&[own(&sender, 0, b"original")], &sender, &[]);
    let before = world.account(&pda::feedback_entry(0));
    // The next index with the old entry's account.
    let wrong = with_account(own(&other, 1, b"replaced"), 3, pda::feedback_entry(0));
    refused(&mut world, &[wrong], &other, &[], Error::WrongAddress);
    refused(&mut world, &[own(&other, 0, b"replaced")], &other, &[], Error::IndexTaken);
    assert_eq!(world.account(&pda::feedback_entry(0)), before);
}

#[test]
fn addresses_that_a_stranger_funded_first_block_nothing() {
    let (mut world, sender, stranger) = speakers();
    let (log_rent, rent) = (world.rent(FeedbackLogAccount::SIZE), world.rent(FeedbackEntry::SIZE + 4));
    let gifts = [
        system::transfer(&stranger.at(), &pda::feedback_log(), log_rent + 5),
        // The least that an account may hold.
        system::transfer(&stranger.at(), &pda::feedback_entry(0), world.rent(0)),
        system::transfer(&stranger.at(), &pda::feedback_entry(1), rent * 2),
    ];
    world.send_ok(&gifts, &stranger, &[]);
    let before = world.lamports(&sender.at());
    let first = world.send_ok(&[own(&sender, 0, b"text")], &sender, &[]);
    let second = world.send_ok(&[own(&sender, 1, b"text")], &sender, &[]);
    let paid = before - world.lamports(&sender.at());
    assert_eq!(paid, rent - world.rent(0) + first.fee + second.fee);
    assert_eq!(world.lamports(&pda::feedback_log()), log_rent + 5);
    assert_eq!(world.lamports(&pda::feedback_entry(0)), rent);
    assert_eq!(world.lamports(&pda::feedback_entry(1)), rent * 2);
    assert_eq!(feedback_log(&world).count, 2);
    assert_eq!(feedback_entry(&world, 1).1, b"text");
}

#[test]
fn accounts_that_do_not_follow_from_the_arguments_fail() {
    let (mut world, sender, stranger) = speakers();
    world.send_ok(&[own(&sender, 0, b"text")], &sender, &[]);
    let right = own(&sender, 1, b"text");
    let cases = [
        (2, stranger.at()),
        (2, pda::feedback_resolution(0)),
        (3, stranger.at()),
        (3, pda::feedback_entry(2)),
        (3, pda::feedback_resolution(1)),
    ];
    for (place, account) in cases {
        let wrong = with_account(right.clone(), place, account);
        refused(&mut world, &[wrong], &sender, &[], Error::WrongAddress);
    }
    world.send_ok(&[right], &sender, &[]);
}

#[test]
fn many_entries_can_be_read_backwards_from_the_count() {
    let (mut world, sender, _) = speakers();
    let text = |n: u64| format!("entry {n}").into_bytes();
    for n in 0..30 {
        world.send_ok(&[own(&sender, n, &text(n))], &sender, &[]);
    }
    let read = |world: &World, n| feedback_entry(world, n).1;
    let log = feedback_log(&world);
    assert_eq!(log.count, 30);
    let backwards: Vec<Vec<u8>> = (0..log.count).rev().map(|n| read(&world, n)).collect();
    assert_eq!(backwards, (0..30).rev().map(text).collect::<Vec<_>>());
    assert!(world.account(&pda::feedback_entry(30)).is_none());
}
