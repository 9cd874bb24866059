use super::*;
use proptest::prelude::*;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;

const USDC: u64 = 1_000_000;

/// An agent in order: paid, staked, batched.
fn sound() -> Facts {
    Facts {
        epoch: Epoch(100),
        slot: Slot(10_000_000),
        paid_through: Some(Epoch(101)),
        stake: Some(MicroUsdc(10 * USDC)),
        usdc: MicroUsdc(50 * USDC),
        lamports: 1_000_000_000,
        last_batch: Some(Epoch(99)),
        ..Facts::default()
    }
}

fn policy() -> Policy {
    Policy { cap_usdc: MicroUsdc(2 * USDC), cap_lamports: 10_000_000, ahead: 1, uploads: true }
}

fn challenge(submitted: u64, answered: bool, resolved: bool) -> Challenge {
    Challenge { address: format!("c{submitted}"), submitted: Slot(submitted), answered, resolved }
}

fn actions(facts: &Facts) -> Vec<Action> {
    plan(facts, &policy()).actions
}

fn concerns(facts: &Facts) -> Vec<Warning> {
    plan(facts, &policy()).warnings
}

#[test]
fn an_agent_in_order_has_nothing_to_do() {
    assert_eq!(plan(&sound(), &policy()), Plan::default());
}

#[test]
fn the_lease_is_paid_ahead_and_never_beyond_the_cap() {
    let one_missing = Facts { paid_through: Some(Epoch(100)), ..sound() };
    assert_eq!(actions(&one_missing), [Action::PayLease { epochs: 1, cost_micro_usdc: MicroUsdc(USDC) }]);
    // Three missing: the cap allows two.
    let behind = Facts { paid_through: Some(Epoch(98)), ..sound() };
    assert_eq!(actions(&behind), [Action::PayLease { epochs: 2, cost_micro_usdc: MicroUsdc(2 * USDC) }]);
    let spent = Facts { spent_usdc: MicroUsdc(2 * USDC), ..behind };
    assert_eq!(actions(&spent), []);
    assert!(concerns(&spent).iter().any(|warning| matches!(warning.what, Concern::Capped { .. })));
}

#[test]
fn a_dead_lease_is_not_brought_back_by_itself() {
    let dead = Facts { paid_through: Some(Epoch(96)), last_batch: None, ..sound() };
    let plan = plan(&dead, &policy());
    assert_eq!(plan.actions, []);
    assert!(plan.warnings.contains(&Warning { alarm: true, what: Concern::Deactivated }));
}

#[test]
fn an_owner_who_leaves_pays_no_more_lease() {
    let leaving = Facts { unlocking: true, paid_through: Some(Epoch(98)), ..sound() };
    assert_eq!(actions(&leaving), []);
}

#[test]
fn answers_come_before_everything_else() {
    let busy = Facts {
        challenges: vec![challenge(9_900_000, false, false)],
        paid_through: Some(Epoch(100)),
        last_batch: Some(Epoch(98)),
        ..sound()
    };
    assert_eq!(
        actions(&busy),
        [
            Action::Answer { challenge: "c9900000".to_owned() },
            Action::PayLease { epochs: 1, cost_micro_usdc: MicroUsdc(USDC) },
            Action::SubmitBatch { epoch: 99 },
        ]
    );
}

#[test]
fn the_last_slot_of_a_window_is_for_answers_and_the_next_for_resolving() {
    let submitted = 9_000_000;
    let at =
        |slot| Facts { challenges: vec![challenge(submitted, false, false)], slot: Slot(slot), ..sound() };
    let last = submitted + CHALLENGE_WINDOW_SLOTS;
    assert_eq!(actions(&at(last)), [Action::Answer { challenge: "c9000000".to_owned() }]);
    assert_eq!(actions(&at(last + 1)), [Action::Resolve { challenge: "c9000000".to_owned() }]);
}

#[test]
fn a_signed_batch_goes_before_a_new_one_is_built() {
    let interrupted = Facts { last_batch: Some(Epoch(96)), signed: Some(Epoch(98)), ..sound() };
    assert_eq!(actions(&interrupted), [Action::SubmitBatch { epoch: 98 }]);
}

#[test]
fn rent_is_fetched_only_when_no_challenge_is_open() {
    let old = Batch { epoch: Epoch(90), submitted: Slot(1_000) };
    let young = Batch { epoch: Epoch(99), submitted: Slot(9_999_000) };
    let quiet = Facts { batches: vec![old.clone(), young], ..sound() };
    assert_eq!(actions(&quiet), [Action::CloseBatch { epoch: 90 }]);
    let challenged =
        Facts { challenges: vec![challenge(9_999_500, true, false)], batches: vec![old], ..sound() };
    assert_eq!(actions(&challenged), []);
}

#[test]
fn own_challenges_are_resolved_and_then_closed() {
    let facts = Facts { own_challenges: vec![challenge(1_000, false, false)], ..sound() };
    assert_eq!(actions(&facts), [Action::Resolve { challenge: "c1000".to_owned() }]);
    let facts = Facts { own_challenges: vec![challenge(1_000, false, true)], ..sound() };
    assert_eq!(actions(&facts), [Action::CloseChallenge { challenge: "c1000".to_owned() }]);
}

#[test]
fn the_cap_on_fees_holds_back_only_what_can_wait() {
    let facts = Facts {
        spent_lamports: 10_000_000,
        challenges: vec![challenge(9_900_000, false, false)],
        own_challenges: vec![challenge(1_000, false, true)],
        ..sound()
    };
    assert_eq!(actions(&facts), [Action::Answer { challenge: "c9900000".to_owned() }]);
}

#[test]
fn without_a_stake_no_batch_is_tried() {
    let facts = Facts { stake: None, last_batch: None, ..sound() };
    assert_eq!(actions(&facts), []);
    let low = Facts { stake: Some(MicroUsdc(MIN_STAKE - 1)), last_batch: None, ..sound() };
    assert_eq!(actions(&low), []);
    assert!(concerns(&low).iter().any(|warning| warning.what == Concern::BatchNeedsStake));
}

proptest! {
    /// Whatever the state: a plan never spends more than the cap leaves or the wallet has, and never pays a
    /// lease that is dead.
    #[test]
    fn a_plan_stays_within_cap_and_wallet(
        epoch in 0u64..1_000_000,
        paid in proptest::option::of(0u64..1_000_000),
        usdc in 0u64..100_000_000,
        spent in 0u64..10_000_000,
        cap in 0u64..10_000_000,
        ahead in 0u64..30,
        unlocking: bool,
    ) {
        let facts = Facts {
            epoch: Epoch(epoch), paid_through: paid.map(Epoch), usdc: MicroUsdc(usdc), spent_usdc: MicroUsdc(spent), unlocking, ..sound()
        };
        let plan = plan(&facts, &Policy { cap_usdc: MicroUsdc(cap), ahead, ..policy() });
        let cost: u64 = plan.actions.iter().map(|action| match action {
            Action::PayLease { cost_micro_usdc, epochs } => {
                assert_eq!(cost_micro_usdc.0, epochs * LEASE_COST_PER_EPOCH);
                cost_micro_usdc.0
            }
            _ => 0,
        }).sum();
        prop_assert!(cost <= usdc);
        prop_assert!(cost == 0 || spent + cost <= cap);
        if cost > 0 {
            let paid = paid.expect("only a lease that exists is paid");
            prop_assert!(epoch.saturating_sub(paid) <= 3 && !unlocking);
        }
    }
}
