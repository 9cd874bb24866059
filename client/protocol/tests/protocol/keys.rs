use proptest::prelude::*;
use zx1_interface::accounts::KeyAccount;
use zx1_interface::constants::{
    CHALLENGE_WINDOW_SLOTS, DEAL_KEY_EPOCHS, EPOCH_SECONDS, MAX_BATCH_AGE_EPOCHS, MAX_COVERED_EPOCHS,
};
use zx1_protocol::batch::check_epoch;
use zx1_protocol::keys::{AgentKey, OPEN, Scopes, ScopesError, counts, first_epoch, may_close, until};
use zx1_protocol::units::{Epoch, Slot};

const NOW: Epoch = Epoch(20_500);

fn account() -> KeyAccount {
    KeyAccount {
        created_slot: 1,
        event_sequence: 0,
        from_epoch: NOW.0,
        until_epoch: OPEN,
        ended_slot: 0,
        tenure: 1,
        scopes: 12,
        version: 2,
        bump: 255,
        reserved: 0,
        agent: [1; 32],
        key: crate::common::key().verifying_key().to_bytes(),
        owner: [2; 32],
        payer: [3; 32],
    }
}

#[test]
fn a_key_of_an_account_is_what_the_account_says() {
    let key = AgentKey::of(&account()).unwrap();
    let expected =
        AgentKey { scopes: Scopes(12), from: NOW, ..crate::common::agent_key(&crate::common::key()) };
    assert_eq!(key, expected);
    assert!(key.counts_in(NOW) && key.counts_in(Epoch(u64::MAX)) && !key.counts_in(Epoch(NOW.0 - 1)));
    assert!(AgentKey::of(&KeyAccount { key: [0; 32], ..account() }).is_err());
}

#[test]
fn scopes_are_written_and_read_by_name() {
    assert_eq!(Scopes::ALL.names(), "pay,batch,deal,peer");
    assert_eq!(Scopes::parse("deal, pay"), Ok(Scopes::PAY.and(Scopes::DEAL)));
    assert_eq!(Scopes::parse("deal,deal"), Ok(Scopes::DEAL));
    for bad in ["", ",", "deal,", "Deal", "all", "deal peer"] {
        assert_eq!(Scopes::parse(bad), Err(ScopesError), "{bad}");
    }
    for number in 0..=u8::MAX {
        assert_eq!(Scopes(number).check().is_ok(), (1..16).contains(&number));
    }
}

/// One blind-signed transaction must not be enough: add, batch and double bid in one block.
#[test]
fn a_key_that_is_listed_does_not_act_in_the_same_slot() {
    assert_eq!(first_epoch(NOW, false, false), Epoch(NOW.0 + 2));
    assert_eq!(first_epoch(NOW, false, true), Epoch(NOW.0 + 1));
    // Nothing to harm yet.
    assert_eq!(first_epoch(NOW, true, false), NOW);
    assert_eq!(first_epoch(NOW, true, true), NOW);
    // The only batch that could land now is of an epoch before any that the key may sign.
    let from = first_epoch(NOW, false, false);
    for epoch in 0..from.0 {
        assert!(!counts(from, OPEN, Epoch(epoch)));
    }
    assert!(check_epoch(from, NOW, Epoch(0), Epoch(0)).is_err());
}

#[test]
fn evidence_counts_up_to_the_epoch_of_the_end_and_a_key_cancelled_unborn_has_none() {
    let last = until(Epoch(NOW.0 - 9), NOW);
    assert_eq!(last, NOW.0);
    assert!(counts(Epoch(NOW.0 - 9), last, NOW) && !counts(Epoch(NOW.0 - 9), last, Epoch(NOW.0 + 1)));
    let born = Epoch(NOW.0 + 2);
    let last = until(born, NOW);
    assert_eq!(last, born.0 - 1);
    assert!((0..born.0 + 5).all(|epoch| !counts(born, last, Epoch(epoch))));
}

fn close(current: Epoch, last_epoch: Option<Epoch>, last_slot: u64, now: u64) -> bool {
    may_close(Scopes::DEAL, true, NOW.0, current, last_epoch, Slot(last_slot), Slot(now))
}

#[test]
fn only_a_deal_key_stays_after_its_end() {
    for scopes in (1..16).map(Scopes) {
        let at_once = may_close(scopes, true, NOW.0, NOW, None, Slot(0), Slot(u64::MAX));
        assert_eq!(at_once, !scopes.has(Scopes::DEAL));
        assert!(!may_close(scopes, false, OPEN, Epoch(u64::MAX), Some(NOW), Slot(0), Slot(u64::MAX)));
    }
}

#[test]
fn a_deal_key_closes_when_the_batch_over_its_last_epoch_is_out_of_its_window() {
    let over = 1_000 + CHALLENGE_WINDOW_SLOTS;
    let of = |last: u64| Some(Epoch(last));
    assert!(!close(NOW, of(NOW.0), 1_000, over) && close(NOW, of(NOW.0), 1_000, over + 1));
    assert!(!close(NOW, of(NOW.0 - 1), 1_000, u64::MAX) && close(NOW, of(NOW.0 + 3), 1_000, u64::MAX));
    // Whoever lets the agent lie still keeps the account for as long as a batch could reach back.
    assert!(!close(Epoch(NOW.0 + DEAL_KEY_EPOCHS), None, 0, u64::MAX));
    assert!(close(Epoch(NOW.0 + DEAL_KEY_EPOCHS + 1), None, 0, u64::MAX));
}

/// No batch that covers the key's last epoch can still be challenged when time alone closes the key.
#[test]
fn time_alone_closes_no_key_too_early() {
    let latest = Epoch(NOW.0 + MAX_COVERED_EPOCHS - 1);
    let lands = Epoch(latest.0 + MAX_BATCH_AGE_EPOCHS);
    let covered = check_epoch(latest, lands, Epoch(0), Epoch(0)).unwrap();
    assert!(covered.contains(NOW));
    assert!(!check_epoch(Epoch(latest.0 + 1), lands, Epoch(0), Epoch(0)).unwrap().contains(NOW));
    // A slot takes 0.4 s; landed in the last second of that epoch, its window ends `window` epochs later.
    let window = (CHALLENGE_WINDOW_SLOTS * 2 / 5).div_ceil(EPOCH_SECONDS);
    assert!(!close(Epoch(lands.0 + window), None, 0, u64::MAX));
}

proptest! {
    #[test]
    fn no_numbers_make_it_panic(from: u64, last: u64, now: u64, slot: u64, first: bool, after: bool) {
        let born = first_epoch(Epoch(now), first, after);
        prop_assert!(born.0 >= now);
        prop_assert!(until(Epoch(from), Epoch(now)) <= now.max(from));
        may_close(Scopes::DEAL, true, last, Epoch(now), Some(Epoch(from)), Slot(slot), Slot(now));
        may_close(Scopes::DEAL, true, OPEN, Epoch(now), None, Slot(slot), Slot(now));
    }

    #[test]
    fn a_key_that_ends_counts_in_no_epoch_that_it_did_not_before(
        from in 0u64..50, now in 0u64..50, epoch in 0u64..60,
    ) {
        let until = until(Epoch(from), Epoch(now));
        if counts(Epoch(from), until, Epoch(epoch)) {
            prop_assert!(epoch <= now && counts(Epoch(from), OPEN, Epoch(epoch)));
        }
    }
}
