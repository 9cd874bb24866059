use proptest::prelude::*;
use zx1_protocol::amounts::{Amounts, Fine, Lost, Shown, Slashed};

/// Any amounts that have two valid percentages, also such as do not fit each other.
pub(crate) fn amounts() -> impl Strategy<Value = Amounts> {
    let number = crate::common::number;
    (prop::collection::vec(number(), 10), 0u8..=100, 0u8..=100).prop_map(
        |(sums, finders_percent, share_percent)| Amounts {
            min_stake: sums[0],
            challenge_stake: sums[1],
            lost_to_stake: sums[2],
            lost_to_answerer: sums[3],
            ask_price: sums[4],
            ask_to_shower: sums[5],
            ask_to_stake: sums[6],
            fine: sums[7],
            fine_to_asker: sums[8],
            rank_deposit: sums[9],
            finders_percent,
            share_percent,
        },
    )
}

#[test]
fn the_defaults_are_those_of_the_simulation() {
    let amounts = Amounts::DEFAULT;
    assert_eq!(amounts.check(), Ok(()));
    let lost = Lost { stake: 1_500_000, answerer: 500_000, treasury: 3_000_000 };
    assert_eq!(amounts.lost(amounts.challenge_stake), lost);
    let shown = Shown { stake: 100_000, shower: 300_000, treasury: 100_000 };
    assert_eq!(amounts.shown(amounts.ask_price), shown);
    assert_eq!(amounts.fine_of(30_000_000), Fine { asker: 3_000_000, treasury: 7_000_000 });
    let slashed = amounts.slash(30_000_000);
    assert_eq!(slashed, Slashed { pot: 12_000_000, treasury: 18_000_000 });
    // Each finder takes half of what is left.
    let first = amounts.share(slashed.pot);
    assert_eq!((first, amounts.share(slashed.pot - first)), (6_000_000, 3_000_000));
}

#[test]
fn an_era_that_holds_less_than_the_fine_pays_all_of_it() {
    let amounts = Amounts::DEFAULT;
    assert_eq!(amounts.fine_of(5_000_000), Fine { asker: 3_000_000, treasury: 2_000_000 });
    assert_eq!(amounts.fine_of(2_999_999), Fine { asker: 2_999_999, treasury: 0 });
    assert_eq!(amounts.fine_of(0), Fine { asker: 0, treasury: 0 });
}

#[test]
fn an_amount_that_does_not_fit_is_divided_without_inventing_any() {
    let amounts = Amounts { lost_to_stake: 4, lost_to_answerer: 4, ..Amounts::DEFAULT };
    assert_eq!(amounts.lost(6), Lost { stake: 4, answerer: 2, treasury: 0 });
    assert_eq!(amounts.lost(3), Lost { stake: 3, answerer: 0, treasury: 0 });
}

/// A self-challenge must lose: what it returns is less than what it takes.
#[test]
fn challenging_oneself_never_pays() {
    let amounts = Amounts::DEFAULT;
    let Slashed { mut pot, treasury } = amounts.slash(amounts.min_stake);
    let mut back = 0;
    for _ in 0..64 {
        let share = amounts.share(pot);
        (pot, back) = (pot - share, back + share);
    }
    assert!(back <= amounts.min_stake * 40 / 100 && treasury == amounts.min_stake * 60 / 100);
}

proptest! {
    #[test]
    fn the_parts_add_up_to_the_whole(amounts in amounts(), whole: u64) {
        let Lost { stake, answerer, treasury } = amounts.lost(whole);
        prop_assert_eq!(u128::from(stake) + u128::from(answerer) + u128::from(treasury), u128::from(whole));
        let Shown { stake, shower, treasury } = amounts.shown(whole);
        prop_assert_eq!(u128::from(stake) + u128::from(shower) + u128::from(treasury), u128::from(whole));
        let Fine { asker, treasury } = amounts.fine_of(whole);
        prop_assert_eq!(u128::from(asker) + u128::from(treasury), u128::from(whole.min(amounts.fine)));
        let Slashed { pot, treasury } = amounts.slash(whole);
        prop_assert_eq!(u128::from(pot) + u128::from(treasury), u128::from(whole));
        let exact = u128::from(whole) * u128::from(amounts.finders_percent) / 100;
        prop_assert_eq!(u128::from(pot), exact);
        prop_assert!(amounts.share(pot) <= pot);
    }

    #[test]
    fn amounts_that_fit_leave_what_they_promise(amounts in amounts()) {
        if amounts.check().is_ok() {
            let lost = amounts.lost(amounts.challenge_stake);
            prop_assert_eq!((lost.stake, lost.answerer), (amounts.lost_to_stake, amounts.lost_to_answerer));
            let shown = amounts.shown(amounts.ask_price);
            prop_assert_eq!((shown.stake, shown.shower), (amounts.ask_to_stake, amounts.ask_to_shower));
            prop_assert_eq!(amounts.fine_of(u64::MAX).asker, amounts.fine_to_asker);
        }
    }

    #[test]
    fn a_percentage_beyond_100_takes_no_more_than_all(percent: u8, whole: u64) {
        let amounts = Amounts { finders_percent: percent, share_percent: percent, ..Amounts::DEFAULT };
        prop_assert!(amounts.slash(whole).pot <= whole && amounts.share(whole) <= whole);
        prop_assert_eq!(amounts.check().is_ok(), percent <= 100);
    }
}
