//! Hostile calls: every instruction of the five programs with wrong arguments, wrong accounts, random
//! bytes, missing accounts and missing signatures. Nothing but a harmless change may succeed (what is
//! harmless is written down beside each call in `hostile/calls.rs`), a refusal changes nothing but the
//! fee payer's balance, and no refusal is a crash. Seeds are fixed: every run sends the same transactions.
// Helpers outside of #[test] functions panic as tests do.
#![allow(clippy::unwrap_used)]

#[path = "hostile/attack.rs"]
mod attack;
#[path = "hostile/calls.rs"]
mod calls;
#[path = "hostile/calls_challenge.rs"]
mod calls_challenge;
#[path = "hostile/calls_stake_lock.rs"]
mod calls_stake_lock;
#[path = "hostile/mutation.rs"]
mod mutation;
#[path = "hostile/stage.rs"]
mod stage;

use std::collections::BTreeMap;

use attack::{Tally, attack};
use calls::Call;
use stage::Stage;

/// Attacks every call, prints what was reached and asserts that no handler was spared.
fn attack_all(instructions: &[&str], sent_at_least: u64, calls: fn(&Stage) -> Vec<Call>) {
    let stage = Stage::new();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for call in calls(&stage) {
        tallies.entry(call.name).or_default().add(&attack(&stage, call));
    }
    let mut sent = 0;
    println!("{:<20} {:>6} {:>9} {:>8}  by error", "instruction", "sent", "succeeded", "reached");
    for (name, tally) in &tallies {
        println!(
            "{name:<20} {:>6} {:>9} {:>8}  {:?}",
            tally.sent, tally.succeeded, tally.reached, tally.errors
        );
        assert!(tally.reached > 0, "no hostile call reached the body of {name}");
        sent += tally.sent;
    }
    assert_eq!(tallies.keys().copied().collect::<Vec<_>>(), instructions, "every instruction is attacked");
    assert!(sent >= sent_at_least, "{sent} transactions are too few");
}

#[test]
fn stake_lock_refuses_hostile_calls() {
    let instructions = [
        "add_key",
        "cancel_unlock",
        "claim_stake",
        "close_key",
        "end_key",
        "initialize_config",
        "lock_stake",
        "open_tenure",
        "open_vault",
        "queue_unlock",
        "settle",
        "take_deposit",
        "take_over",
        "take_rank",
    ];
    attack_all(&instructions, 20_000, calls_stake_lock::stake_lock);
}

#[test]
fn lease_refuses_hostile_calls() {
    attack_all(&["pay_lease", "tick_lease"], 3_000, calls::lease);
}

#[test]
fn behavior_log_refuses_hostile_calls() {
    let instructions = ["close_batch", "mark_withheld", "open_head", "submit_batch"];
    attack_all(&instructions, 4_000, calls::behavior_log);
}

#[test]
fn challenge_refuses_hostile_calls() {
    let instructions = [
        "answer_challenge",
        "append_evidence",
        "ask_leaf",
        "begin_evidence",
        "cancel_evidence",
        "close_ask",
        "close_challenge",
        "pass_rank",
        "resolve_challenge",
        "seal_evidence",
        "settle_ask",
        "settle_era",
        "show_leaf",
        "submit_challenge",
    ];
    attack_all(&instructions, 25_000, calls_challenge::challenge);
}

#[test]
fn feedback_log_refuses_hostile_calls() {
    let instructions =
        ["append_draft", "begin_draft", "cancel_draft", "resolve_entry", "seal_draft", "submit_feedback"];
    attack_all(&instructions, 3_000, calls::feedback_log);
}
