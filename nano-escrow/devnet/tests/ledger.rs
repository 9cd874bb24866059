//! The rules of the embedded ledger: every refusal, and which comes first when a block has two faults.
#![allow(clippy::unwrap_used)]

mod support;

use nano_devnet::{Epoch, Kind, Ledger, Refusal, RollbackError};
use nano_escrow::node::Fault;
use nano_escrow::{BlockHash, Network, PublicKey, Raw, Signature, SignedBlock, StateBlock};
use support::*;

const NOWHERE: BlockHash = BlockHash([0xab; 32]);

#[test]
fn genesis_is_the_dev_networks_and_holds_the_supply_ok() {
    let ledger = Ledger::dev();
    assert_eq!(ledger.genesis(), Network::Dev.genesis());
    let entry = ledger.block(&ledger.genesis()).unwrap();
    let nano_devnet::Block::Genesis(genesis) = entry.block else { panic!("not genesis") };
    assert_eq!(genesis.hash(), Network::Dev.genesis());
    GENESIS.verify_strict(&genesis.hash().0, &genesis.signature).unwrap();
    // The published signature of the dev network's genesis block begins like this.
    assert!(genesis.signature.to_string().starts_with("ECDA914373A2F0CA"), "{}", genesis.signature);
    assert!(genesis.work.is_valid(&genesis.source, Network::Dev.thresholds().old_account));
    assert_eq!(ledger.balance(&GENESIS), Raw::MAX);
    assert_eq!(ledger.audit().unwrap().balances, Raw::MAX);
}

#[test]
fn every_refusal_has_a_text_that_the_node_client_knows() {
    for refusal in Refusal::ALL {
        let fault = Fault::from_text(refusal.text());
        assert!(!matches!(fault, Fault::Other(_)), "{refusal:?}");
        assert_eq!(fault.text(), refusal.text());
    }
}

/// What can be wrong with a block. In the order of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    Previous,
    Signature,
    NotHead,
    Twice,
    NoLink,
    Source,
    NotMine,
    Balance,
    Work,
}

impl Wrong {
    fn refusal(self) -> Refusal {
        match self {
            Wrong::Previous => Refusal::GapPrevious,
            Wrong::Signature => Refusal::BadSignature,
            Wrong::NotHead | Wrong::Twice => Refusal::Fork,
            Wrong::NoLink | Wrong::Source => Refusal::GapSource,
            Wrong::NotMine => Refusal::Unreceivable,
            Wrong::Balance => Refusal::BalanceMismatch,
            Wrong::Work => Refusal::InsufficientWork,
        }
    }
}

/// Sign what is wrong with it, and solve work that is good, or good enough for the door only.
fn finish(block: StateBlock, key: &nano_escrow::PrivateKey, wrong: &[Wrong]) -> SignedBlock {
    let mut signed = sign(block, key);
    if wrong.contains(&Wrong::Signature) {
        signed.signature.0[3] ^= 1;
    }
    if wrong.contains(&Wrong::Work) {
        // Below what an account of epoch 0 or 1 needs for anything, above the door.
        let t = Network::Dev.thresholds();
        signed.work = Some(work_between(&signed.root(), t.entry(), Some(t.old_account)));
    }
    signed
}

fn sets_of(all: &[Wrong]) -> Vec<Vec<Wrong>> {
    (1_u32..1 << all.len())
        .map(|bits| all.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, w)| *w).collect())
        .collect()
}

fn has_both(set: &[Wrong], a: Wrong, b: Wrong) -> bool {
    set.contains(&a) && set.contains(&b)
}

#[test]
fn of_all_sets_of_faults_of_a_receive_the_earliest_is_named() {
    let mut bench = Bench::at(Epoch::One);
    let (alice, bob) = (key(1), key(2));
    let first = bench.open(&alice, 1000);
    let head = bench.idle(&alice);
    let waits = bench.fund(alice.public_key(), 50);
    let not_mine = bench.fund(bob.public_key(), 50);
    let faults = [
        Wrong::Previous,
        Wrong::Signature,
        Wrong::NotHead,
        Wrong::Source,
        Wrong::NotMine,
        Wrong::Balance,
        Wrong::Work,
    ];
    let mut seen = 0;
    for set in sets_of(&faults) {
        if has_both(&set, Wrong::Previous, Wrong::NotHead) || has_both(&set, Wrong::Source, Wrong::NotMine) {
            continue;
        }
        let mut b = block(alice.public_key(), head, 1050, waits.0);
        for wrong in &set {
            match wrong {
                Wrong::Previous => b.previous = NOWHERE,
                Wrong::NotHead => b.previous = first,
                Wrong::Source => b.link = NOWHERE.0,
                Wrong::NotMine => b.link = not_mine.0,
                Wrong::Balance => b.balance = Raw(1051),
                _ => {}
            }
        }
        let signed = finish(b, &alice, &set);
        let before = bench.ledger.clone();
        assert_eq!(bench.add(&signed).err(), Some(set[0].refusal()), "{set:?}");
        assert_eq!(bench.ledger, before, "a refused block changes nothing");
        seen += 1;
    }
    assert_eq!(seen, 71);
    let good = finish(block(alice.public_key(), head, 1050, waits.0), &alice, &[]);
    assert_eq!(bench.add(&good).unwrap().kind, Kind::Receive);
    // Old comes before everything that the same hash can still have: a wrong signature, bad work.
    let mut again = good;
    again.signature = Signature([1; 64]);
    again.work = Some(nano_escrow::Work(0));
    assert_eq!(bench.add(&again).err(), Some(Refusal::Old));
    bench.ledger.audit().unwrap();
}

#[test]
fn of_all_sets_of_faults_of_an_open_block_the_earliest_is_named() {
    let mut bench = Bench::at(Epoch::Zero);
    let (alice, bob) = (key(1), key(2));
    bench.open(&bob, 5);
    let bobs = bench.ledger.account(&bob.public_key()).unwrap().head;
    let waits = bench.fund(alice.public_key(), 50);
    let not_mine = bench.fund(bob.public_key(), 50);
    let faults =
        [Wrong::Signature, Wrong::NoLink, Wrong::Source, Wrong::NotMine, Wrong::Balance, Wrong::Work];
    let links = [Wrong::NoLink, Wrong::Source, Wrong::NotMine];
    for set in sets_of(&faults) {
        if set.iter().filter(|w| links.contains(w)).count() > 1 {
            continue;
        }
        let mut b = block(alice.public_key(), BlockHash::ZERO, 50, waits.0);
        for wrong in &set {
            match wrong {
                Wrong::NoLink => b.link = [0; 32],
                Wrong::Source => b.link = NOWHERE.0,
                Wrong::NotMine => b.link = not_mine.0,
                Wrong::Balance => b.balance = Raw(51),
                _ => {}
            }
        }
        let signed = finish(b, &alice, &set);
        assert_eq!(bench.add(&signed).err(), Some(set[0].refusal()), "{set:?}");
        // On another account's block: after the signature, before everything else.
        let mut stray = b;
        stray.previous = bobs;
        let signed = finish(stray, &alice, &set);
        let expected = if set[0] == Wrong::Signature { Refusal::BadSignature } else { Refusal::GapPrevious };
        assert_eq!(bench.add(&signed).err(), Some(expected), "{set:?} on another's block");
    }
    let good = finish(block(alice.public_key(), BlockHash::ZERO, 50, waits.0), &alice, &[]);
    bench.add(&good).unwrap();
    // Opening twice: a fork, whatever else is wrong behind the signature.
    for set in sets_of(&[Wrong::Source, Wrong::Balance, Wrong::Work]) {
        let mut b = block(alice.public_key(), BlockHash::ZERO, 51, waits.0);
        if set.contains(&Wrong::Source) {
            b.link = NOWHERE.0;
        }
        assert_eq!(bench.add(&finish(b, &alice, &set)).err(), Some(Refusal::Fork), "{set:?}");
    }
    let stray = finish(block(alice.public_key(), bobs, 50, [0; 32]), &alice, &[Wrong::Twice]);
    assert_eq!(bench.add(&stray).err(), Some(Refusal::Fork), "another account's block is not the head");
}

#[test]
fn a_balance_that_rises_without_a_link_fails() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    let b = block(alice.public_key(), head, 11, [0; 32]);
    assert_eq!(bench.add(&sign(b, &alice)).err(), Some(Refusal::BalanceMismatch));
    let low = finish(b, &alice, &[Wrong::Work]);
    assert_eq!(bench.add(&low).err(), Some(Refusal::BalanceMismatch), "before the work");
}

#[test]
fn an_equal_balance_with_a_link_is_judged_a_receive() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    let b = block(alice.public_key(), head, 10, [9; 32]);
    assert_eq!(bench.add(&sign(b, &alice)).err(), Some(Refusal::GapSource));
}

#[test]
fn a_change_with_a_lower_balance_burns_ok() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    let entry = bench.add(&sign(block(alice.public_key(), head, 3, [0; 32]), &alice)).unwrap();
    assert_eq!((entry.kind, entry.amount), (Kind::Send, Raw(7)));
    assert_eq!(bench.ledger.receivable_sum(&PublicKey::BURN, false), Raw(7));
    bench.ledger.audit().unwrap();
}

#[test]
fn a_receive_of_an_unconfirmed_send_ok() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    bench.open(&alice, 10);
    assert_eq!(bench.ledger.confirmed_count(), 1, "only genesis");
    assert_eq!(bench.ledger.balance(&alice.public_key()), Raw(10));
}

#[test]
fn a_second_receive_of_the_same_send_fails() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let send = bench.fund(alice.public_key(), 10);
    let open = sign(block(alice.public_key(), BlockHash::ZERO, 10, send.0), &alice);
    bench.add(&open).unwrap();
    let again = sign(block(alice.public_key(), open.hash(), 20, send.0), &alice);
    assert_eq!(bench.add(&again).err(), Some(Refusal::Unreceivable));
    assert_eq!(bench.ledger.receive_of(&send), Some(open.hash()));
}

#[test]
fn the_work_that_a_block_needs_depends_on_kind_and_epoch() {
    let t = Network::Dev.thresholds();
    for (epoch, send, receive) in [
        (Epoch::Zero, t.old_account, t.old_account),
        (Epoch::One, t.old_account, t.old_account),
        (Epoch::Two, t.send_or_change, t.receive_or_open),
    ] {
        let mut bench = Bench::at(epoch);
        let alice = key(1);
        let source = bench.fund(alice.public_key(), 10);
        let open = sign(block(alice.public_key(), BlockHash::ZERO, 10, source.0), &alice);
        // Every root has nonces just below and just above; the band is wide enough to find one.
        let tight = |signed: &SignedBlock, threshold: u64, good: bool| {
            let root = signed.root();
            let band = (threshold.wrapping_neg() / 2).max(1);
            let work = if good {
                work_between(&root, threshold, Some(threshold.saturating_add(band)))
            } else {
                work_between(&root, threshold - band, Some(threshold))
            };
            signed.with_work(work)
        };
        assert_eq!(bench.add(&tight(&open, receive, false)).err(), Some(Refusal::InsufficientWork));
        bench.add(&tight(&open, receive, true)).unwrap();
        for link in [[0; 32], GENESIS.0] {
            let head = bench.ledger.account(&alice.public_key()).unwrap().head;
            let left = bench.ledger.balance(&alice.public_key()).0 - u128::from(link != [0; 32]);
            let next = sign(block(alice.public_key(), head, left, link), &alice);
            assert_eq!(bench.add(&tight(&next, send, false)).err(), Some(Refusal::InsufficientWork));
            bench.add(&tight(&next, send, true)).unwrap();
        }
    }
}

#[test]
fn a_missing_work_is_refused_at_the_door_and_inside() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    let mut signed = sign(block(alice.public_key(), head, 9, GENESIS.0), &alice);
    signed.work = None;
    assert_eq!(bench.ledger.check_entry_work(&signed), Err(Refusal::WorkBelowEntry));
    assert_eq!(bench.add(&signed).err(), Some(Refusal::InsufficientWork));
    let root = signed.root();
    let low = signed.with_work(work_between(&root, 0, Some(Network::Dev.thresholds().entry())));
    assert_eq!(bench.ledger.check_entry_work(&low), Err(Refusal::WorkBelowEntry));
}

#[test]
fn epoch_blocks_raise_an_account_one_step_at_a_time() {
    let mut bench = Bench::at(Epoch::Zero);
    let alice = key(1);
    bench.open(&alice, 10);
    let of = |b: &Bench| b.ledger.account(&alice.public_key()).unwrap().epoch;
    assert_eq!(of(&bench), Epoch::Zero);

    let mut skip = bench.epoch_block(&alice.public_key()).block;
    skip.link = epoch_link(Epoch::Two);
    assert_eq!(bench.add(&sign(skip, &genesis_key())).err(), Some(Refusal::BlockPosition));
    // The work comes before the epoch's rules, and the representative before the position.
    let low = work_between(&skip.root(), 0, Some(Network::Dev.thresholds().receive_or_open));
    let weak = sign(skip, &genesis_key()).with_work(low);
    assert_eq!(bench.add(&weak).err(), Some(Refusal::InsufficientWork));
    skip.representative = GENESIS;
    assert_eq!(bench.add(&sign(skip, &genesis_key())).err(), Some(Refusal::RepresentativeMismatch));

    for expected in [Epoch::One, Epoch::Two] {
        let next = bench.epoch_block(&alice.public_key());
        let entry = bench.add(&next).unwrap();
        assert_eq!((entry.kind, entry.epoch, entry.amount), (Kind::Epoch, expected, Raw::ZERO));
        assert_eq!(of(&bench), expected);
    }
    let beyond = bench.epoch_block(&alice.public_key());
    assert_eq!(bench.add(&beyond).err(), Some(Refusal::BlockPosition));
    bench.ledger.audit().unwrap();
}

#[test]
fn an_epoch_block_by_anyone_but_its_signer_fails() {
    let mut bench = Bench::at(Epoch::Zero);
    let (alice, bob) = (key(1), key(2));
    let head = bench.open(&alice, 10);
    let mut b = bench.epoch_block(&alice.public_key()).block;
    // The owner's signature passes the first look and not the second.
    assert_eq!(bench.add(&sign(b, &alice)).err(), Some(Refusal::BadSignature));
    assert_eq!(bench.add(&sign(b, &bob)).err(), Some(Refusal::BadSignature));
    // Without a known previous block the first look decides: rubbish is rubbish, the rest waits.
    b.previous = NOWHERE;
    assert_eq!(bench.add(&sign(b, &bob)).err(), Some(Refusal::BadSignature));
    for signer in [alice.clone(), genesis_key()] {
        assert_eq!(bench.add(&sign(b, &signer)).err(), Some(Refusal::GapPrevious));
    }
    // A send to the key that looks like an epoch's link is a send, signed by the owner.
    let send = block(alice.public_key(), head, 4, epoch_link(Epoch::Two));
    assert_eq!(bench.add(&sign(send, &genesis_key())).err(), Some(Refusal::BadSignature));
    assert_eq!(bench.add(&sign(send, &alice)).unwrap().kind, Kind::Send);
    bench.ledger.audit().unwrap();
}

#[test]
fn an_epoch_block_opens_an_account_only_when_something_waits_for_it() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let open = bench.epoch_block(&alice.public_key());
    assert_eq!(bench.add(&open).err(), Some(Refusal::GapEpochOpenPending));
    let mut with_representative = open.block;
    with_representative.representative = GENESIS;
    let signed = sign(with_representative, &genesis_key());
    assert_eq!(bench.add(&signed).err(), Some(Refusal::RepresentativeMismatch), "before the missing money");

    let send = bench.fund(alice.public_key(), 10);
    let entry = bench.add(&open).unwrap();
    assert_eq!((entry.kind, entry.height, entry.balance), (Kind::Epoch, 1, Raw::ZERO));
    // An open by the owner comes too late; a receive behind it is right.
    let late = sign(block(alice.public_key(), BlockHash::ZERO, 10, send.0), &alice);
    assert_eq!(bench.add(&late).err(), Some(Refusal::Fork));
    bench.add(&sign(block(alice.public_key(), open.hash(), 10, send.0), &alice)).unwrap();
    bench.ledger.audit().unwrap();
}

#[test]
fn the_burn_account_cannot_be_opened() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    bench.add(&sign(block(alice.public_key(), head, 3, [0; 32]), &alice)).unwrap();
    // Only an epoch block can have a good signature for an account without a key.
    let open = bench.epoch_block(&PublicKey::BURN);
    assert_eq!(bench.add(&open).err(), Some(Refusal::OpenedBurnAccount));
    let mut bad = open;
    bad.signature.0[0] ^= 1;
    assert_eq!(bench.add(&bad).err(), Some(Refusal::BadSignature));
    let low = finish(open.block, &genesis_key(), &[Wrong::Work]);
    assert_eq!(bench.add(&low).err(), Some(Refusal::OpenedBurnAccount), "before the work");
}

#[test]
fn a_receivable_brings_the_senders_epoch() {
    let mut bench = Bench::at(Epoch::One);
    let (alice, bob) = (key(1), key(2));
    bench.open(&alice, 10);
    let upgrade = bench.epoch_block(&alice.public_key());
    bench.add(&upgrade).unwrap();
    let send = sign(block(alice.public_key(), upgrade.hash(), 4, bob.public_key().0), &alice);
    bench.add(&send).unwrap();
    let open = sign(block(bob.public_key(), BlockHash::ZERO, 6, send.hash().0), &bob);
    assert_eq!(bench.add(&open).unwrap().epoch, Epoch::Two);
}

#[test]
fn a_non_canonical_signature_of_the_network_ok() {
    // S + L instead of S: libraries refuse it, the live ledger holds such blocks.
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    let order: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut signed = sign(block(alice.public_key(), head, 9, GENESIS.0), &alice);
    let mut carry = 0;
    for (s, l) in signed.signature.0[32..].iter_mut().zip(order) {
        let sum = u16::from(*s) + u16::from(l) + carry;
        *s = (sum & 0xff) as u8;
        carry = sum >> 8;
    }
    assert!(signed.verify_strict().is_err());
    bench.add(&signed).unwrap();
}

#[test]
fn subtypes_are_checked_against_the_present_balance() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    let waits = bench.fund(alice.public_key(), 5);
    let signed = |balance: u128, link: [u8; 32]| sign(block(alice.public_key(), head, balance, link), &alice);
    let (send, receive, change) = (signed(9, GENESIS.0), signed(15, waits.0), signed(10, [0; 32]));
    let epoch = signed(10, epoch_link(Epoch::Two));
    let open = sign(block(key(3).public_key(), BlockHash::ZERO, 0, waits.0), &key(3));
    use Refusal::*;
    for (block, word, expected) in [
        (&send, "send", Ok(())),
        (&receive, "send", Err(SubtypeBalance)),
        (&change, "send", Err(SubtypeBalance)),
        (&receive, "receive", Ok(())),
        (&change, "receive", Ok(())),
        (&send, "receive", Err(SubtypeBalance)),
        (&send, "open", Err(SubtypePrevious)),
        (&open, "open", Ok(())),
        (&change, "change", Ok(())),
        (&send, "change", Err(SubtypeBalance)),
        (&open, "change", Err(SubtypePrevious)),
        (&epoch, "epoch", Ok(())),
        (&change, "epoch", Err(SubtypeEpochLink)),
        (&send, "epoch", Err(SubtypeBalance)),
        (&send, "Send", Err(Subtype)),
        (&send, "nonsense", Err(Subtype)),
    ] {
        assert_eq!(bench.ledger.check_subtype(block, word), expected, "{word} {block:?}");
    }
    let lost = sign(block(alice.public_key(), NOWHERE, 9, GENESIS.0), &alice);
    assert_eq!(bench.ledger.check_subtype(&lost, "nonsense"), Err(GapPrevious), "the gap comes first");
}

#[test]
fn a_repeated_send_is_refused_by_its_subtype_until_the_account_moves_on_or_without_one() {
    let mut bench = Bench::at(Epoch::Two);
    let alice = key(1);
    let head = bench.open(&alice, 10);
    let send = sign(block(alice.public_key(), head, 4, GENESIS.0), &alice);
    bench.add(&send).unwrap();
    assert_eq!(bench.ledger.check_subtype(&send, "send"), Err(Refusal::SubtypeBalance));
    assert_eq!(bench.add(&send).err(), Some(Refusal::Old));
    // The account rises above the send's balance: now the subtype passes, and "Old block" is the answer.
    let more = bench.fund(alice.public_key(), 100);
    bench.add(&sign(block(alice.public_key(), send.hash(), 104, more.0), &alice)).unwrap();
    assert_eq!(bench.ledger.check_subtype(&send, "send"), Ok(()));
    assert_eq!(bench.add(&send).err(), Some(Refusal::Old));
}

#[test]
fn confirming_a_block_confirms_what_it_stands_on_in_order() {
    let mut bench = Bench::at(Epoch::Two);
    let (alice, bob) = (key(1), key(2));
    let open = bench.open(&alice, 10);
    let send = sign(block(alice.public_key(), open, 4, bob.public_key().0), &alice);
    bench.add(&send).unwrap();
    let received = sign(block(bob.public_key(), BlockHash::ZERO, 6, send.hash().0), &bob);
    bench.add(&received).unwrap();
    let order = bench.ledger.confirm(&received.hash());
    let place = |h: BlockHash| order.iter().position(|o| *o == h).unwrap();
    assert_eq!(order.last(), Some(&received.hash()));
    assert!(place(open) < place(send.hash()));
    assert_eq!(bench.ledger.confirmed_count(), bench.ledger.block_count());
    assert_eq!(bench.ledger.confirm(&received.hash()), Vec::new());
    bench.ledger.audit().unwrap();
}

#[test]
fn a_rollback_takes_along_what_depends_on_it_and_leaves_no_trace() {
    let mut bench = Bench::at(Epoch::Two);
    let (alice, bob, carol) = (key(1), key(2), key(3));
    let open = bench.open(&alice, 10);
    let before = bench.ledger.clone();
    let send = sign(block(alice.public_key(), open, 4, bob.public_key().0), &alice);
    bench.add(&send).unwrap();
    let received = sign(block(bob.public_key(), BlockHash::ZERO, 6, send.hash().0), &bob);
    bench.add(&received).unwrap();
    let onward = sign(block(bob.public_key(), received.hash(), 1, carol.public_key().0), &bob);
    bench.add(&onward).unwrap();
    bench.add(&sign(block(carol.public_key(), BlockHash::ZERO, 5, onward.hash().0), &carol)).unwrap();
    bench.idle(&alice);

    let mut all = bench.ledger.clone();
    assert_eq!(all.rollback(&send.hash()).unwrap().len(), 5);
    assert_eq!(all, before);
    all.audit().unwrap();

    bench.ledger.confirm(&received.hash());
    let final_before = bench.ledger.clone();
    assert!(matches!(bench.ledger.rollback(&send.hash()), Err(RollbackError::Cemented(_))));
    assert_eq!(bench.ledger.rollback(&NOWHERE), Err(RollbackError::Unknown));
    assert_eq!(bench.ledger, final_before, "all or nothing");
    assert_eq!(bench.ledger.rollback(&onward.hash()).unwrap().len(), 2);
    bench.ledger.audit().unwrap();
}

#[test]
fn the_blocks_of_the_vectors_lack_their_neighbours_and_nothing_else() {
    // Signed by independent libraries: had the ledger another opinion of hash or signature, it would say so
    // first for the opens.
    let mut bench = Bench::at(Epoch::Two);
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/blocks.json"))
        .unwrap();
    let vectors: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut tried = 0;
    for v in vectors["vectors"].as_array().unwrap() {
        let Ok(mut signed) = serde_json::from_value::<SignedBlock>(v["block"].clone()) else { continue };
        assert_eq!(signed.hash().to_string(), v["hash"].as_str().unwrap());
        signed.work = Some(good_work(&signed.root()));
        let expected =
            if signed.block.previous.is_zero() { Refusal::GapSource } else { Refusal::GapPrevious };
        assert_eq!(bench.add(&signed).err(), Some(expected), "{}", v["note"]);
        tried += 1;
    }
    assert!(tried >= 14, "{tried}");
    bench.ledger.audit().unwrap();
}
