use super::*;
use proptest::prelude::*;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, SHOW_SLOTS};

const USDC: u64 = 1_000_000;

/// An agent in order: paid, staked, batched.
fn sound() -> Facts {
    Facts {
        epoch: Epoch(100),
        slot: Slot(10_000_000),
        paid_through: Some(Epoch(101)),
        stake: Some(stake(30)),
        min_stake: MicroUsdc(30 * USDC),
        has_head: true,
        tenure_from: Some(Epoch(1)),
        usdc: MicroUsdc(50 * USDC),
        lamports: 1_000_000_000,
        last_batch: Some(Epoch(99)),
        ..Facts::default()
    }
}

fn policy() -> Policy {
    Policy { cap_usdc: MicroUsdc(2 * USDC), cap_lamports: 10_000_000, ahead: 1, uploads: true }
}

fn stake(usdc: u64) -> Stake {
    Stake { amount: MicroUsdc(usdc * USDC), ended: false, challenged: false }
}

fn challenge(submitted: u64) -> Challenge {
    Challenge {
        address: format!("c{submitted}"),
        submitted: Slot(submitted),
        answerable: true,
        ripe: false,
        settled: false,
        passed: false,
    }
}

fn asked(created: u64, state: u8) -> Ask {
    Ask { address: format!("a{created}"), created: Slot(created), state, waits: false }
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
    let dead = Facts { paid_through: Some(Epoch(96)), last_batch: Some(Epoch(98)), ..sound() };
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
        challenges: vec![challenge(9_900_000)],
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
fn the_last_slot_of_a_window_is_for_answers_and_then_nothing_helps() {
    let submitted = 9_000_000;
    let at = |slot| Facts { challenges: vec![challenge(submitted)], slot: Slot(slot), ..sound() };
    let last = submitted + CHALLENGE_WINDOW_SLOTS;
    assert_eq!(actions(&at(last)), [Action::Answer { challenge: "c9000000".to_owned() }]);
    assert_eq!(actions(&at(last + 1)), []);
    let double_bid = Challenge { answerable: false, ripe: true, ..challenge(submitted) };
    let facts = Facts { challenges: vec![double_bid], slot: Slot(last), ..sound() };
    assert_eq!(actions(&facts), []);
    assert!(concerns(&facts).iter().any(|it| it.alarm && matches!(it.what, Concern::Unanswerable { .. })));
}

#[test]
fn leaves_are_shown_through_their_last_slot() {
    let created = 9_000_000;
    let at = |slot| Facts { asks: vec![asked(created, ask::OPEN)], slot: Slot(slot), ..sound() };
    let last = created + SHOW_SLOTS;
    assert_eq!(actions(&at(last)), [Action::Show { ask: "a9000000".to_owned() }]);
    assert!(concerns(&at(last)).iter().any(|it| it.alarm && matches!(it.what, Concern::Asked { .. })));
    assert_eq!(actions(&at(last + 1)), []);
    let shown = Facts { asks: vec![asked(created, ask::SHOWN)], slot: Slot(last), ..sound() };
    assert_eq!(plan(&shown, &policy()), Plan::default());
}

#[test]
fn own_asks_are_settled_after_their_time_and_wait_for_challenges() {
    let settle = [Action::SettleAsk { ask: "a9000000".to_owned() }];
    let at = |ask: Ask, slot| actions(&Facts { own_asks: vec![ask], slot: Slot(slot), ..sound() });
    let last = 9_000_000 + SHOW_SLOTS;
    assert_eq!(at(asked(9_000_000, ask::OPEN), last), []);
    assert_eq!(at(asked(9_000_000, ask::OPEN), last + 1), settle);
    assert_eq!(at(asked(9_000_000, ask::SHOWN), last), settle);
    assert_eq!(at(Ask { waits: true, ..asked(9_000_000, ask::WITHHELD) }, last), []);
}

#[test]
fn the_chain_of_batches_is_opened_before_anything_can_be_batched() {
    let fresh = Facts { has_head: false, last_batch: None, paid_through: None, ..sound() };
    assert_eq!(actions(&fresh), [Action::OpenHead]);
    let without_stake = Facts { stake: None, ..fresh };
    assert_eq!(actions(&without_stake), []);
}

#[test]
fn a_key_does_what_its_scopes_allow_and_the_rest_is_told() {
    let why = || Some("its scopes are pay".to_owned());
    let behind = Facts { paid_through: Some(Epoch(100)), last_batch: Some(Epoch(98)), ..sound() };
    let payer = Facts { key: KeyFaults { pay: None, batch: why() }, ..behind.clone() };
    assert_eq!(actions(&payer), [Action::PayLease { epochs: 1, cost_micro_usdc: MicroUsdc(USDC) }]);
    assert!(concerns(&payer).iter().any(|it| matches!(it.what, Concern::CannotBatch { .. })));
    let signer = Facts { key: KeyFaults { pay: why(), batch: None }, ..behind };
    assert_eq!(actions(&signer), [Action::SubmitBatch { epoch: 99 }]);
    assert!(concerns(&signer).iter().any(|it| matches!(it.what, Concern::CannotPay { .. })));
}

#[test]
fn nothing_lands_in_an_era_that_ended_or_is_challenged_or_before_the_tenure() {
    let due = || Facts { last_batch: Some(Epoch(98)), ..sound() };
    let ended = Facts { stake: Some(Stake { ended: true, ..stake(30) }), ..due() };
    assert_eq!(actions(&ended), []);
    assert!(concerns(&ended).iter().any(|it| it.what == Concern::EraEnded));
    let challenged = Facts { stake: Some(Stake { challenged: true, ..stake(30) }), ..due() };
    assert_eq!(actions(&challenged), []);
    assert!(concerns(&challenged).iter().any(|it| it.what == Concern::EraChallenged));
    let taken_over = Facts { tenure_from: Some(Epoch(100)), ..due() };
    assert_eq!(plan(&taken_over, &policy()), Plan::default());
}

#[test]
fn a_signed_batch_goes_before_a_new_one_is_built() {
    let interrupted = Facts { last_batch: Some(Epoch(96)), signed: Some(Epoch(98)), ..sound() };
    assert_eq!(actions(&interrupted), [Action::SubmitBatch { epoch: 98 }]);
}

#[test]
fn rent_is_fetched_after_the_window() {
    let old = Batch { epoch: Epoch(90), submitted: Slot(1_000) };
    let young = Batch { epoch: Epoch(99), submitted: Slot(9_999_000) };
    let quiet = Facts { batches: vec![old, young], ..sound() };
    assert_eq!(actions(&quiet), [Action::CloseBatch { epoch: 90 }]);
}

#[test]
fn own_challenges_are_resolved_and_closed_once_the_order_moved_past_them() {
    let with = |one: Challenge| actions(&Facts { own_challenges: vec![one], ..sound() });
    let ripe = Challenge { ripe: true, ..challenge(1_000) };
    assert_eq!(with(ripe), [Action::Resolve { challenge: "c1000".to_owned() }]);
    let settled = Challenge { settled: true, ..challenge(1_000) };
    assert_eq!(with(settled.clone()), []);
    let passed = Challenge { passed: true, ..settled };
    assert_eq!(with(passed), [Action::CloseChallenge { challenge: "c1000".to_owned() }]);
    // An answer settles a challenge at once, but its account stays through the window.
    let young = Challenge { settled: true, passed: true, ..challenge(9_999_000) };
    assert_eq!(with(young), []);
}

#[test]
fn the_cap_on_fees_holds_back_only_what_can_wait() {
    let facts = Facts {
        spent_lamports: 10_000_000,
        challenges: vec![challenge(9_900_000)],
        own_challenges: vec![Challenge { settled: true, passed: true, ..challenge(1_000) }],
        ..sound()
    };
    assert_eq!(actions(&facts), [Action::Answer { challenge: "c9900000".to_owned() }]);
}

#[test]
fn without_a_stake_no_batch_is_tried() {
    let facts = Facts { stake: None, last_batch: Some(Epoch(98)), ..sound() };
    assert_eq!(actions(&facts), []);
    let low = Facts { stake: Some(stake(29)), ..facts };
    assert_eq!(actions(&low), []);
    let told = Concern::BatchNeedsStake { min_micro_usdc: MicroUsdc(30 * USDC) };
    assert!(concerns(&low).iter().any(|warning| warning.what == told));
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
