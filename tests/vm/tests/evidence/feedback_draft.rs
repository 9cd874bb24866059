//! begin_draft, append_draft, seal_draft, cancel_draft: a text that takes several transactions.

use crate::common::{
    feedback_entry, feedback_log, keccak, next_head, only_event, refused, speakers, with_account,
};
use solana_instruction::error::InstructionError;
use solana_system_interface::instruction as system;
use zx1_chain::instructions::feedback_log::{
    append_draft, begin_draft, cancel_draft, seal_draft, submit_feedback,
};
use zx1_chain::pda;
use zx1_interface::accounts::{FeedbackDraft, FeedbackEntry, FeedbackLogAccount};
use zx1_interface::events::{FeedbackDraftBegun, FeedbackDraftCanceled, FeedbackSubmitted};
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{APPEND_BYTES, Key, MAX_TRANSACTION, World, address, events};

const NONCE: u64 = 0x1122_3344;

/// A draft of this text that the payer began for the sender, with nothing in it.
fn begin(world: &mut World, payer: &Key, sender: &Key, text: &[u8]) {
    let len = u32::try_from(text.len()).unwrap();
    let instruction = begin_draft(payer.at(), sender.at(), NONCE, len, keccak(&[text]));
    world.send_ok(&[instruction], payer, &[sender]);
}

/// Writes the text into the draft; returns the largest transaction's size.
fn fill(world: &mut World, sender: &Key, text: &[u8]) -> usize {
    let mut largest = 0;
    for (n, part) in text.chunks(APPEND_BYTES).enumerate() {
        let offset = u32::try_from(n * APPEND_BYTES).unwrap();
        let append = append_draft(sender.at(), NONCE, offset, part.to_vec());
        largest = largest.max(world.send_ok(&[append], sender, &[]).size);
    }
    largest
}

/// A complete draft, paid by the sponsor.
fn complete(text: &[u8]) -> (World, Key, Key) {
    let (mut world, sender, sponsor) = speakers();
    begin(&mut world, &sponsor, &sender, text);
    fill(&mut world, &sender, text);
    (world, sender, sponsor)
}

fn draft_at(sender: &Key) -> solana_address::Address {
    pda::feedback_draft(&sender.at(), NONCE)
}

fn draft(world: &World, sender: &Key) -> (FeedbackDraft, Vec<u8>) {
    let at = draft_at(sender);
    (world.read(&at), world.data(&at)[FeedbackDraft::SIZE..].to_vec())
}

#[test]
fn a_draft_is_begun_and_written_ok() {
    let (mut world, sender, sponsor) = speakers();
    let (mine, theirs) = (world.lamports(&sender.at()), world.lamports(&sponsor.at()));
    let instruction = begin_draft(sponsor.at(), sender.at(), NONCE, 6, keccak(&[b"abcdef"]));
    let receipt = world.send_ok(&[instruction], &sponsor, &[&sender]);
    let rent = world.rent(FeedbackDraft::SIZE + 6);
    assert_eq!(world.lamports(&draft_at(&sender)), rent);
    assert_eq!(theirs - world.lamports(&sponsor.at()), rent + receipt.fee);
    assert_eq!(world.lamports(&sender.at()), mine);
    let slot = world.slot();
    let (account, bytes) = draft(&world, &sender);
    let expected = FeedbackDraft {
        nonce: NONCE,
        created_slot: slot,
        event_sequence: 1,
        len: 6,
        written: 0,
        sender: sender.at().to_bytes(),
        payer: sponsor.at().to_bytes(),
        text_hash: keccak(&[b"abcdef"]),
        version: 2,
        bump: account.bump,
        reserved: [0; 6],
    };
    assert_eq!((account, bytes), (expected, vec![0; 6]));
    let event = FeedbackDraftBegun::read(&only_event(&receipt, ids::FEEDBACK_LOG)).unwrap();
    let expected_event = FeedbackDraftBegun {
        draft: draft_at(&sender).to_bytes(),
        sender: sender.at().to_bytes(),
        payer: expected.payer,
        len: 6,
        sequence: 0,
        account_created_slot: slot,
    };
    assert_eq!(event, expected_event);
    let receipt = world.send_ok(&[append_draft(sender.at(), NONCE, 0, b"abcd".to_vec())], &sender, &[]);
    assert!(events(&receipt, &address(ids::FEEDBACK_LOG)).is_empty(), "appending has no event");
    assert_eq!(draft(&world, &sender), (FeedbackDraft { written: 4, ..expected }, b"abcd\0\0".to_vec()));
    world.send_ok(&[append_draft(sender.at(), NONCE, 4, b"ef".to_vec())], &sender, &[]);
    assert_eq!(draft(&world, &sender), (FeedbackDraft { written: 6, ..expected }, b"abcdef".to_vec()));
    assert!(world.account(&pda::feedback_log()).is_none(), "a draft is not an entry");
}

#[test]
fn a_text_of_2048_bytes_is_sealed_ok() {
    // 2045 bytes of ASCII and a character of three bytes over the border of two appends.
    let text = [&[b'a'; 899][..], "\u{20ac}".as_bytes(), &[b'b'; 1_146]].concat();
    assert_eq!(text.len(), 2_048);
    let (mut world, sender, sponsor) = speakers();
    begin(&mut world, &sponsor, &sender, &text);
    let largest = fill(&mut world, &sender, &text);
    let draft_rent = world.rent(FeedbackDraft::SIZE + 2_048);
    world.advance_slots(50);
    let (mine, theirs) = (world.lamports(&sender.at()), world.lamports(&sponsor.at()));
    // The sender pays the entry; the draft's rent goes to the sponsor.
    let seal = seal_draft(sender.at(), sender.at(), sponsor.at(), NONCE, 0);
    let snapshot = world.snapshot();
    let receipt = world.send_ok(&[seal], &sender, &[]);
    let changed = [draft_at(&sender), pda::feedback_log(), pda::feedback_entry(0), sender.at(), sponsor.at()];
    snapshot.assert_only_changed(&world, &changed);
    let rent = world.rent(FeedbackEntry::SIZE + 2_048) + world.rent(FeedbackLogAccount::SIZE);
    assert_eq!(mine - world.lamports(&sender.at()), rent + receipt.fee);
    assert_eq!(world.lamports(&sponsor.at()), theirs + draft_rent);
    assert!(world.account(&draft_at(&sender)).is_none());

    let (entry, bytes) = feedback_entry(&world, 0);
    assert_eq!(bytes, text);
    let expected = FeedbackEntry {
        index: 0,
        timestamp: world.time(),
        slot: world.slot(),
        sender: sender.at().to_bytes(),
        payer: sender.at().to_bytes(),
        previous_head: [0; 32],
        text_len: 2_048,
        version: 2,
        bump: entry.bump,
        reserved: [0; 2],
    };
    assert_eq!(entry, expected);
    let log = feedback_log(&world);
    assert_eq!((log.count, log.event_sequence), (1, 1));
    assert_eq!(log.head, next_head(&[0; 32], &expected, &text));
    let event = FeedbackSubmitted::read(&only_event(&receipt, ids::FEEDBACK_LOG)).unwrap();
    let expected_event = FeedbackSubmitted {
        index: 0,
        sender: expected.sender,
        payer: expected.payer,
        draft: draft_at(&sender).to_bytes(),
        timestamp: expected.timestamp,
        head: log.head,
        text_len: 2_048,
        sequence: 0,
        account_created_slot: world.slot(),
    };
    assert_eq!(event, expected_event);
    println!("2048 bytes: append {largest} bytes, seal {} bytes and {} units", receipt.size, receipt.units);
    assert!(largest <= MAX_TRANSACTION && receipt.units < 200_000);
}

#[test]
fn inline_and_sealed_entries_follow_each_other() {
    let (mut world, sender, sponsor) = complete(b"drafted");
    let inline = |index| submit_feedback(sender.at(), sender.at(), index, b"inline".to_vec());
    world.send_ok(&[inline(0)], &sender, &[]);
    let head = feedback_log(&world).head;
    let seal = seal_draft(sponsor.at(), sender.at(), sponsor.at(), NONCE, 1);
    world.send_ok(&[seal], &sponsor, &[&sender]);
    let (entry, text) = feedback_entry(&world, 1);
    assert_eq!(text, b"drafted");
    assert_eq!((entry.previous_head, entry.payer), (head, sponsor.at().to_bytes()));
    assert_eq!(feedback_log(&world).head, next_head(&head, &entry, b"drafted"));
    world.send_ok(&[inline(2)], &sender, &[]);
    assert_eq!(feedback_entry(&world, 2).0.previous_head, next_head(&head, &entry, b"drafted"));
}

#[test]
fn whoever_pays_what_gets_back_what_it_paid() {
    // Payer of the draft and payer of the entry: the sender, a sponsor, another sponsor.
    for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)] {
        let (mut world, sender, sponsor) = speakers();
        let third = Key(world.new_wallet(10));
        let all = [&sender, &sponsor, &third];
        begin(&mut world, all[first], &sender, b"text");
        fill(&mut world, &sender, b"text");
        let before = all.map(|key| world.lamports(&key.at()));
        let seal = seal_draft(all[second].at(), sender.at(), all[first].at(), NONCE, 0);
        let receipt = world.send_ok(&[seal], all[second], &[&sender]);
        let mut expected = before;
        expected[first] += world.rent(FeedbackDraft::SIZE + 4);
        expected[second] -= world.rent(FeedbackEntry::SIZE + 4) + world.rent(FeedbackLogAccount::SIZE);
        expected[second] -= receipt.fee;
        assert_eq!(all.map(|key| world.lamports(&key.at())), expected, "{first} and {second}");
        assert_eq!(feedback_entry(&world, 0).0.payer, all[second].at().to_bytes());
    }
}

#[test]
fn lengths_from_1_to_2048_are_allowed_and_no_others() {
    let cases = [
        (1, None),
        (2_048, None),
        (0, Some(Error::EmptyText)),
        (2_049, Some(Error::TextTooLong)),
        (u32::MAX, Some(Error::TextTooLong)),
    ];
    for (len, error) in cases {
        let (mut world, sender, _) = speakers();
        let instruction = begin_draft(sender.at(), sender.at(), NONCE, len, [1; 32]);
        match error {
            None => {
                world.send_ok(&[instruction], &sender, &[]);
                assert_eq!(draft(&world, &sender).1.len(), len as usize);
            }
            Some(error) => {
                refused(&mut world, &[instruction], &sender, &[], error);
            }
        }
    }
}

#[test]
fn the_same_nonce_twice_fails_and_another_does_not() {
    let (mut world, sender, sponsor) = complete(b"text");
    let again = |sender: &Key, nonce| begin_draft(sponsor.at(), sender.at(), nonce, 4, [1; 32]);
    refused(&mut world, &[again(&sender, NONCE)], &sponsor, &[&sender], Error::AccountExists);
    world.send_ok(&[again(&sender, NONCE + 1)], &sponsor, &[&sender]);
    world.send_ok(&[again(&sponsor, NONCE)], &sponsor, &[]);
}

#[test]
fn beginning_without_the_senders_signature_fails() {
    let (mut world, sender, sponsor) = speakers();
    let mut instruction = begin_draft(sponsor.at(), sender.at(), NONCE, 4, [1; 32]);
    instruction.accounts[1].is_signer = false;
    let failure = world.send_refused(&[instruction], &sponsor, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
}

#[test]
fn a_draft_whose_address_a_stranger_funded_first_goes_its_way() {
    let (mut world, sender, stranger) = speakers();
    let rent = world.rent(FeedbackDraft::SIZE + 4);
    let gift = system::transfer(&stranger.at(), &draft_at(&sender), rent + 88);
    world.send_ok(&[gift], &stranger, &[]);
    let before = world.lamports(&sender.at());
    begin(&mut world, &sender, &sender, b"text");
    fill(&mut world, &sender, b"text");
    assert_eq!(world.lamports(&draft_at(&sender)), rent + 88);
    assert_eq!(before - world.lamports(&sender.at()), 10_000, "two fees and no rent");
    let seal = seal_draft(sender.at(), sender.at(), sender.at(), NONCE, 0);
    world.send_ok(&[seal], &sender, &[]);
    assert_eq!(feedback_entry(&world, 0).1, b"text");
}

#[test]
fn an_append_beyond_the_length_or_without_bytes_fails() {
    let (mut world, sender, _) = speakers();
    begin(&mut world, &sender, &sender, b"12345");
    let append = |offset, bytes: &[u8]| append_draft(sender.at(), NONCE, offset, bytes.to_vec());
    for bytes in [&b"123456"[..], &[b'1'; 900], b""] {
        refused(&mut world, &[append(0, bytes)], &sender, &[], Error::DraftOverrun);
    }
    world.send_ok(&[append(0, b"123")], &sender, &[]);
    refused(&mut world, &[append(3, b"456")], &sender, &[], Error::DraftOverrun);
    world.send_ok(&[append(3, b"45")], &sender, &[]);
    refused(&mut world, &[append(5, b"6")], &sender, &[], Error::DraftOverrun);
}

#[test]
fn an_append_at_another_place_than_the_end_fails() {
    let (mut world, sender, _) = speakers();
    begin(&mut world, &sender, &sender, b"12345");
    let append = |offset, bytes: &[u8]| append_draft(sender.at(), NONCE, offset, bytes.to_vec());
    world.send_ok(&[append(0, b"12")], &sender, &[]);
    // The first is the same transaction again.
    for (offset, bytes) in [(0, &b"12"[..]), (1, b"2"), (3, b"4"), (5, b"6"), (u32::MAX, b"7")] {
        refused(&mut world, &[append(offset, bytes)], &sender, &[], Error::WrongDraftOffset);
    }
    assert_eq!(draft(&world, &sender).0.written, 2);
}

#[test]
fn another_senders_draft_cannot_be_written_sealed_or_canceled() {
    let (mut world, sender, sponsor) = speakers();
    let thief = Key(world.new_wallet(10));
    begin(&mut world, &sponsor, &sender, b"mine");
    let at = draft_at(&sender);
    // The sponsor paid, but it does not speak.
    for other in [&thief, &sponsor] {
        let append = with_account(append_draft(other.at(), NONCE, 0, b"mine".to_vec()), 1, at);
        refused(&mut world, &[append], other, &[], Error::NotDraftOwner);
    }
    fill(&mut world, &sender, b"mine");
    for other in [&thief, &sponsor] {
        let seal = with_account(seal_draft(other.at(), other.at(), sponsor.at(), NONCE, 0), 2, at);
        refused(&mut world, &[seal], other, &[], Error::NotDraftOwner);
    }
    for recipient in [&thief, &sponsor] {
        let cancel = with_account(cancel_draft(thief.at(), sender.at(), recipient.at(), NONCE), 1, at);
        refused(&mut world, &[cancel], &thief, &[], Error::NotDraftOwner);
    }
}

#[test]
fn sealing_or_canceling_without_the_signature_fails() {
    let (mut world, sender, sponsor) = complete(b"text");
    let mut seal = seal_draft(sponsor.at(), sender.at(), sponsor.at(), NONCE, 0);
    seal.accounts[1].is_signer = false;
    let mut cancel = cancel_draft(sender.at(), sender.at(), sponsor.at(), NONCE);
    cancel.accounts[0].is_signer = false;
    let mut append = append_draft(sender.at(), NONCE, 4, b"x".to_vec());
    append.accounts[0].is_signer = false;
    for unsigned in [seal, cancel, append] {
        let failure = world.send_refused(&[unsigned], &sponsor, &[]);
        assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
    }
}

#[test]
fn sealing_an_incomplete_draft_fails() {
    let (mut world, sender, _) = speakers();
    begin(&mut world, &sender, &sender, b"text");
    let seal = seal_draft(sender.at(), sender.at(), sender.at(), NONCE, 0);
    refused(&mut world, std::slice::from_ref(&seal), &sender, &[], Error::DraftIncomplete);
    world.send_ok(&[append_draft(sender.at(), NONCE, 0, b"tex".to_vec())], &sender, &[]);
    refused(&mut world, std::slice::from_ref(&seal), &sender, &[], Error::DraftIncomplete);
    world.send_ok(&[append_draft(sender.at(), NONCE, 3, b"t".to_vec())], &sender, &[]);
    world.send_ok(&[seal], &sender, &[]);
}

#[test]
fn sealing_other_bytes_than_announced_fails() {
    let (mut world, sender, sponsor) = speakers();
    begin(&mut world, &sponsor, &sender, b"good text");
    fill(&mut world, &sender, b"evil text");
    let seal = seal_draft(sender.at(), sender.at(), sponsor.at(), NONCE, 0);
    refused(&mut world, &[seal], &sender, &[], Error::DraftHashMismatch);
    // Its rent can still be had.
    world.send_ok(&[cancel_draft(sender.at(), sender.at(), sponsor.at(), NONCE)], &sender, &[]);
}

#[test]
fn sealing_what_is_not_utf8_fails() {
    for text in [&b"\xff\xfe"[..], b"caf\xe9", &[&[b'a'; 2_047][..], &[0xc3]].concat()] {
        let (mut world, sender, sponsor) = complete(text);
        let seal = seal_draft(sponsor.at(), sender.at(), sponsor.at(), NONCE, 0);
        refused(&mut world, &[seal], &sponsor, &[&sender], Error::TextNotUtf8);
    }
}

#[test]
fn sealing_at_any_index_but_the_next_fails() {
    let (mut world, sender, sponsor) = complete(b"text");
    let seal = |index| seal_draft(sponsor.at(), sender.at(), sponsor.at(), NONCE, index);
    refused(&mut world, &[seal(1)], &sponsor, &[&sender], Error::IndexTaken);
    let rival = submit_feedback(sponsor.at(), sponsor.at(), 0, b"faster".to_vec());
    world.send_ok(&[rival], &sponsor, &[]);
    refused(&mut world, &[seal(0)], &sponsor, &[&sender], Error::IndexTaken);
    world.send_ok(&[seal(1)], &sponsor, &[&sender]);
    assert_eq!(feedback_entry(&world, 1).1, b"text");
    assert_eq!(feedback_log(&world).count, 2);
}

#[test]
fn sealing_twice_fails() {
    let (mut world, sender, sponsor) = complete(b"text");
    let seal = |index| seal_draft(sponsor.at(), sender.at(), sponsor.at(), NONCE, index);
    world.send_ok(&[seal(0)], &sponsor, &[&sender]);
    refused(&mut world, &[seal(1)], &sponsor, &[&sender], Error::AccountMissing);
}

#[test]
fn the_drafts_rent_goes_to_nobody_but_its_payer() {
    let (mut world, sender, sponsor) = complete(b"text");
    for other in [&sender, &Key(world.new_wallet(1))] {
        let seal = seal_draft(sender.at(), sender.at(), other.at(), NONCE, 0);
        refused(&mut world, &[seal], &sender, &[], Error::WrongPayer);
        let cancel = cancel_draft(sender.at(), sender.at(), other.at(), NONCE);
        refused(&mut world, &[cancel], &sender, &[], Error::WrongPayer);
    }
    assert_eq!(draft(&world, &sender).0.payer, sponsor.at().to_bytes());
}

#[test]
fn another_nonce_than_the_drafts_fails() {
    let (mut world, sender, _) = speakers();
    begin(&mut world, &sender, &sender, b"text");
    let at = draft_at(&sender);
    let append = with_account(append_draft(sender.at(), 1, 0, b"text".to_vec()), 1, at);
    let seal = with_account(seal_draft(sender.at(), sender.at(), sender.at(), 1, 0), 2, at);
    let cancel = with_account(cancel_draft(sender.at(), sender.at(), sender.at(), 1), 1, at);
    for wrong in [append, seal, cancel] {
        refused(&mut world, &[wrong], &sender, &[], Error::WrongAddress);
    }
}

#[test]
fn sender_and_sponsor_may_cancel_and_the_sponsor_gets_the_rent_ok() {
    for by_sponsor in [false, true] {
        let (mut world, sender, sponsor) = complete(b"never mind");
        let created = world.slot();
        world.advance_slots(4);
        let who = if by_sponsor { &sponsor } else { &sender };
        let (mine, theirs) = (world.lamports(&sender.at()), world.lamports(&sponsor.at()));
        let cancel = cancel_draft(who.at(), sender.at(), sponsor.at(), NONCE);
        // Somebody else pays the fee.
        let faucet = world.faucet.insecure_clone();
        let receipt = world.send_ok(std::slice::from_ref(&cancel), &faucet, &[who]);
        assert_eq!(world.lamports(&sender.at()), mine);
        assert_eq!(world.lamports(&sponsor.at()), theirs + world.rent(FeedbackDraft::SIZE + 10));
        assert!(world.account(&draft_at(&sender)).is_none());
        let event = FeedbackDraftCanceled::read(&only_event(&receipt, ids::FEEDBACK_LOG)).unwrap();
        let expected = FeedbackDraftCanceled {
            draft: draft_at(&sender).to_bytes(),
            payer: sponsor.at().to_bytes(),
            sequence: 1,
            account_created_slot: created,
        };
        assert_eq!(event, expected);
        refused(&mut world, &[cancel], who, &[], Error::AccountMissing);
        begin(&mut world, &sender, &sender, b"anew");
        assert_eq!(draft(&world, &sender).1, [0; 4]);
    }
}
