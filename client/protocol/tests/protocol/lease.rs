use proptest::prelude::*;
use zx1_interface::constants::LEASE_COST_PER_EPOCH;
use zx1_protocol::lease::{Lease, LeaseError, LeaseState, MAX_EPOCHS_AHEAD, PaymentKind, payment};
use zx1_protocol::units::{Epoch, MicroUsdc};

const NOW: Epoch = Epoch(20_000);

fn paid_through(epoch: u64) -> Option<Lease> {
    Some(Lease { paid_through: Epoch(epoch) })
}

fn cost(epochs: u64) -> MicroUsdc {
    MicroUsdc(epochs * LEASE_COST_PER_EPOCH)
}

#[test]
fn three_epochs_behind_are_grace_and_four_are_too_many() {
    let states: Vec<_> =
        (0..6).map(|behind| Lease { paid_through: Epoch(NOW.0 - behind) }.state(NOW)).collect();
    use LeaseState::{Active, Deactivated, Grace};
    assert_eq!(states, [Active, Grace, Grace, Grace, Deactivated, Deactivated]);
    assert_eq!(Lease { paid_through: Epoch(u64::MAX) }.state(NOW), Active);
    assert_eq!(Lease { paid_through: Epoch(0) }.state(Epoch(u64::MAX)), Deactivated);
}

#[test]
fn an_agent_in_grace_is_live_and_a_deactivated_one_is_not() {
    assert!(LeaseState::Active.is_live() && !LeaseState::Active.is_grace());
    assert!(LeaseState::Grace.is_live() && LeaseState::Grace.is_grace());
    assert!(!LeaseState::Deactivated.is_live() && LeaseState::Deactivated.is_deactivated());
}

#[test]
fn the_first_payment_buys_the_current_epoch() {
    let first = payment(None, NOW, 1).unwrap();
    assert_eq!((first.kind, first.paid_through, first.amount), (PaymentKind::First, NOW, cost(1)));
    let three = payment(None, NOW, 3).unwrap();
    assert_eq!((three.paid_through, three.amount), (Epoch(NOW.0 + 2), cost(3)));
}

#[test]
fn a_renewal_extends_what_is_there() {
    let ahead = payment(paid_through(NOW.0 + 5), NOW, 2).unwrap();
    assert_eq!((ahead.kind, ahead.paid_through), (PaymentKind::Renewal, Epoch(NOW.0 + 7)));
    assert_eq!(ahead.amount, cost(2));
    let in_grace = payment(paid_through(NOW.0 - 3), NOW, 1).unwrap();
    assert_eq!((in_grace.kind, in_grace.paid_through), (PaymentKind::Renewal, Epoch(NOW.0 - 2)));
}

#[test]
fn a_reactivation_costs_the_back_lease_of_the_grace_period_and_the_current_epoch() {
    for behind in [4, 5, 1_000] {
        let back = payment(paid_through(NOW.0 - behind), NOW, 1).unwrap();
        assert_eq!((back.kind, back.paid_through), (PaymentKind::Reactivation, NOW));
        assert_eq!(back.amount, MicroUsdc(4_000_000));
    }
    let further = payment(paid_through(0), NOW, 3).unwrap();
    assert_eq!((further.paid_through, further.amount), (Epoch(NOW.0 + 2), cost(6)));
}

#[test]
fn paying_for_no_epoch_fails() {
    for existing in [None, paid_through(NOW.0), paid_through(0)] {
        assert_eq!(payment(existing, NOW, 0), Err(LeaseError::NoEpochs));
    }
}

#[test]
fn paying_more_than_ten_years_ahead_fails() {
    let most = u32::try_from(MAX_EPOCHS_AHEAD).unwrap();
    assert!(payment(None, NOW, most + 1).is_ok());
    assert_eq!(payment(None, NOW, most + 2), Err(LeaseError::TooFarAhead));
    assert!(payment(paid_through(NOW.0), NOW, most).is_ok());
    assert_eq!(payment(paid_through(NOW.0), NOW, most + 1), Err(LeaseError::TooFarAhead));
    assert!(payment(paid_through(0), NOW, most + 1).is_ok());
    assert_eq!(payment(paid_through(0), NOW, most + 2), Err(LeaseError::TooFarAhead));
}

#[test]
fn an_overflow_fails() {
    let last = Epoch(u64::MAX);
    assert_eq!(payment(None, last, 2), Err(LeaseError::Overflow));
    assert_eq!(payment(paid_through(u64::MAX), last, 1), Err(LeaseError::Overflow));
    assert_eq!(payment(paid_through(0), last, 2), Err(LeaseError::Overflow));
    assert!(payment(None, last, 1).is_ok());
}

/// No lease, or one up to ten epochs behind or ahead.
fn existing() -> impl Strategy<Value = Option<Lease>> {
    prop::option::of((NOW.0 - 10..NOW.0 + 10).prop_map(|epoch| Lease { paid_through: Epoch(epoch) }))
}

proptest! {
    #[test]
    fn the_state_depends_on_the_distance_only(paid: u64, current: u64) {
        let state = Lease { paid_through: Epoch(paid) }.state(Epoch(current));
        let expected = match current.checked_sub(paid) {
            None | Some(0) => LeaseState::Active,
            Some(behind) if behind <= 3 => LeaseState::Grace,
            Some(_) => LeaseState::Deactivated,
        };
        prop_assert_eq!(state, expected);
    }

    #[test]
    fn paying_at_once_and_one_by_one_is_the_same(existing in existing(), epochs in 1u32..30) {
        let at_once = payment(existing, NOW, epochs).unwrap();
        let (mut lease, mut total) = (existing, MicroUsdc(0));
        for _ in 0..epochs {
            let one = payment(lease, NOW, 1).unwrap();
            lease = Some(Lease { paid_through: one.paid_through });
            total = total.checked_add(one.amount).unwrap();
        }
        prop_assert_eq!(lease.unwrap().paid_through, at_once.paid_through);
        prop_assert_eq!(total, at_once.amount);
    }

    #[test]
    fn every_payment_moves_the_lease_forward(existing in existing(), epochs in 1u32..30) {
        let paid = payment(existing, NOW, epochs).unwrap();
        let after = Lease { paid_through: paid.paid_through };
        prop_assert!(after.is_live(NOW));
        prop_assert!(existing.is_none_or(|before| before.paid_through < after.paid_through));
        prop_assert!(paid.amount >= cost(u64::from(epochs)));
        if paid.kind != PaymentKind::Renewal {
            prop_assert_eq!(after.state(NOW), LeaseState::Active);
        }
    }

    #[test]
    fn grace_ends_exactly_when_the_arrears_are_paid(behind in 1u64..=3, epochs in 1u32..6) {
        let paid = payment(paid_through(NOW.0 - behind), NOW, epochs).unwrap();
        let after = Lease { paid_through: paid.paid_through }.state(NOW);
        prop_assert_eq!(after == LeaseState::Active, u64::from(epochs) >= behind);
    }

    #[test]
    fn no_numbers_make_it_panic(paid: Option<u64>, current: u64, epochs: u32) {
        let existing = paid.map(|epoch| Lease { paid_through: Epoch(epoch) });
        if let Ok(payment) = payment(existing, Epoch(current), epochs) {
            prop_assert!(payment.paid_through.0 <= current.saturating_add(MAX_EPOCHS_AHEAD));
        }
    }
}
