//! The money table against the vectors, and that nothing is ever lost.

use proptest::prelude::*;
use zx1_market::defaults::{MAX_BOUNTY, MIN_BOUNTY};
use zx1_market::money::{Court, Outcome, Payee, Settlement, inclusive_bond, payout, platform_fee, whole_row};
use zx1_market::parties::Side;
use zx1_market::terms::Fees;
use zx1_market::*;

use crate::support::*;

#[test]
fn every_row_of_the_table_is_as_the_vectors_say() {
    let vectors = Json::parse(vectors("escrow_routing").as_bytes()).unwrap();
    let rows = vectors.get("rows").unwrap().as_array().unwrap();
    assert_eq!(rows.len(), 87);
    let fees = Fees::default();
    for row in rows {
        let text = |name: &str| row.get(name).unwrap().as_str().unwrap();
        let court = row.get("court").unwrap().as_str().and_then(Court::from_word);
        let filer = row.get("filer").and_then(|filer| Side::from_word(filer.as_str()?));
        let settlement = Settlement::from_words(text("scenario"), court).unwrap();
        let settlement = filer.map_or(settlement, |filer| settlement.called_by(filer));
        assert_eq!(settlement.kind(), text("scenario"));
        let payout = whole_row(settlement, xno(text("bounty")), &fees).unwrap();
        for (payee, name) in [
            (Payee::Principal, "principal"),
            (Payee::Agent, "agent"),
            (Payee::Platform, "platform"),
            (Payee::Charity, "charity"),
        ] {
            assert_eq!(payout.total(payee), xno(text(name)), "{settlement:?} {} {name}", text("bounty"));
        }
        assert_eq!(payout.sum(), xno(text("deposited")));
    }
}

#[test]
fn the_platforms_minimum_holds_and_fees_round_down() {
    let fees = Fees::default();
    assert_eq!(platform_fee(&fees, Raw(0)).unwrap(), xno("0.002"));
    assert_eq!(platform_fee(&fees, xno("0.019")).unwrap(), xno("0.002"));
    assert_eq!(platform_fee(&fees, Raw(MIN_BOUNTY.0 + 9)).unwrap(), xno("0.019"));
    assert_eq!(platform_fee(&fees, Raw(MIN_BOUNTY.0 + 10)).unwrap(), Raw(xno("0.019").0 + 1));
}

#[test]
fn amounts_that_do_not_fit_together_fail() {
    let fees = Fees::default();
    assert_eq!(code(inclusive_bond(&fees, Raw::MAX)), 9100);
    assert_eq!(code(payout(Settlement::Fulfilled, Raw(1), &fees)), 9101);
    let dear = Fees { courts: [xno("0.18"); 3], ..fees };
    let ruling = Settlement::Ruling(Outcome::Fulfilled, Court::District);
    assert_eq!(code(payout(ruling, xno("1"), &dear)), 9101);
    let mut terms = terms();
    terms.check().unwrap();
    terms.fees = dear;
    assert_eq!(code(terms.check()), 9102);
    terms.fees = Fees { platform_fee_bp: 9_000, ..fees };
    assert_eq!(code(terms.check()), 9102);
}

proptest! {
    #[test]
    fn every_account_is_paid_out_to_the_raw(bounty in MIN_BOUNTY.0..=MAX_BOUNTY.0, which in 0_usize..34) {
        let fees = Fees::default();
        let settlement = Settlement::all()[which];
        let deposit = inclusive_bond(&fees, Raw(bounty)).unwrap();
        let row = payout(settlement, Raw(bounty), &fees).unwrap();
        for shares in [&row.principal_account, &row.agent_account].into_iter().flatten() {
            prop_assert_eq!(Raw::checked_sum(shares.iter().map(|s| s.amount)), Some(deposit));
            prop_assert!(shares.iter().all(|s| !s.amount.is_zero()));
            let payees: std::collections::BTreeSet<_> = shares.iter().map(|s| s.to).collect();
            prop_assert_eq!(payees.len(), shares.len(), "one share for each payee");
        }
        // Nobody loses more than it put in, and an evil ruling enriches nobody but the charity.
        if let Settlement::Ruling(Outcome::EvilAgent, _) = settlement {
            prop_assert_eq!(row.total(Payee::Principal), deposit);
        }
        if let Settlement::Ruling(Outcome::EvilPrincipal, _) = settlement {
            prop_assert_eq!(row.total(Payee::Agent), deposit);
        }
        // Nobody has won: who called the court pays it, and nothing else moves.
        if let Settlement::Impossible(court, filer) = settlement {
            prop_assert_eq!(row.total(Payee::Platform), court.fee(&fees));
            prop_assert_eq!(row.total(filer.other().into()), deposit);
            prop_assert_eq!(row.total(Payee::Charity), Raw(0));
        }
        // Every ruling of a court costs somebody its fee, so nobody fills it for nothing.
        if let Settlement::Ruling(outcome, court) = settlement
            && outcome != Outcome::Impossible
        {
            prop_assert!(row.total(Payee::Platform) >= court.fee(&fees));
        }
    }

    #[test]
    fn terms_that_pass_always_pay(
        bounty in 1_u128..=10_000_000,
        judge_fee in 0_u128..=1_000_000,
        courts in proptest::array::uniform3(0_u128..=1_000_000),
        platform_fee_bp in 0_u32..=10_000,
        cancel_fee_bp in 0_u32..=10_000,
        platform_fee_min in 0_u128..=1_000_000,
        which in 0_usize..34,
    ) {
        let fees = Fees {
            min_bounty: Raw(bounty),
            max_bounty: Raw(bounty * 1000),
            judge_fee: Raw(judge_fee),
            platform_fee_bp,
            platform_fee_min: Raw(platform_fee_min),
            cancel_fee_bp,
            courts: courts.map(Raw),
        };
        let mut terms = terms();
        terms.fees = fees;
        if terms.check().is_ok() {
            for bounty in [bounty, bounty * 7 + 3, bounty * 1000] {
                let row = whole_row(Settlement::all()[which], Raw(bounty), &fees).unwrap();
                for shares in [&row.principal_account, &row.agent_account].into_iter().flatten() {
                    prop_assert_eq!(
                        Raw::checked_sum(shares.iter().map(|s| s.amount)),
                        Some(inclusive_bond(&fees, Raw(bounty)).unwrap())
                    );
                }
            }
        }
    }
}
