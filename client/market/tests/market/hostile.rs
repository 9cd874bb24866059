//! Parties who cheat.

use proptest::prelude::*;
use zx1_market::chain::{Data, Side};
use zx1_market::machine::State;
use zx1_market::money::{Outcome, Payee};
use zx1_market::*;

use crate::support::*;

#[test]
fn fifty_clients_at_once_get_one_winner_and_the_head() {
    let mut world = working();
    let entries: Vec<Entry> =
        (0..50).map(|n| world.entry(&agent(), &Data::Message { message: n.to_string() })).collect();
    let mut won = 0;
    for entry in entries {
        match world.case.handle(entry, world.now, &server()) {
            Ok(_) => won += 1,
            Err(refusal) => assert_eq!((refusal.code(), refusal.head()), (9050, Some(world.case.head()))),
        }
    }
    assert_eq!(won, 1);
}

#[test]
fn a_principal_that_rejects_a_working_fix_pays_for_it() {
    let mut world = verifying();
    world.verify(false).unwrap();
    world.dispute(Side::Agent).unwrap();
    world.secs(30);
    world.rule(Outcome::EvilPrincipal).unwrap();
    world.secs(120);
    assert_eq!(world.got(Payee::Agent), xno("0.67"));
    assert_eq!(world.got(Payee::Charity), xno("0.45"));
    world.check();
}

#[test]
fn a_loser_cannot_force_a_void() {
    let mut world = judging();
    assert_eq!(code(world.case.voidable(world.now)), 9141);
    world.rule(Outcome::Canceled).unwrap();
    world.secs(119);
    assert_eq!(code(world.case.voidable(world.now)), 9131);
    let forged = world.entry(&agent(), &Data::Voided { reason: String::new() });
    assert_eq!(code(world.case.handle(forged, world.now, &server())), 9116);
    world.secs(1);
    assert_eq!(code(world.case.voidable(world.now)), 9111);
}

#[test]
fn a_principal_cannot_take_back_what_an_agent_holds() {
    for mut world in [investigating_with(&paid()), working(), verifying(), reviewing(), judging()] {
        assert_eq!(code(world.act(&principal(), Data::Cancel { reason: String::new() })), 9111);
        assert!(world.held.len() == 2);
    }
}

#[test]
fn a_halt_ends_before_the_judge_and_talk_is_still_possible() {
    let mut world = verifying();
    world.halt().unwrap();
    world.act(&agent(), Data::Message { message: "I did nothing".into() }).unwrap();
    assert_eq!(world.case.state(), State::Halted);
    assert_eq!(code(world.fix()), 9111);
    assert_eq!(code(world.verify(true)), 9111);
    assert_eq!(code(world.dispute(Side::Agent)), 9111);
    world.check();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_perturbed_transcript_never_panics_and_never_passes_changed(
        at: prop::sample::Index,
        xor in 1_u8..=255,
    ) {
        let world = verifying();
        let good = world.transcript();
        let mut text = good.to_json().canonical().into_bytes();
        let at = at.index(text.len());
        text[at] ^= xor;
        if let Ok(changed) = case::Transcript::parse(&text) {
            let report = case::replay(&changed);
            if report.valid {
                prop_assert_eq!(changed.entries, good.entries, "only what is not signed may differ");
            }
        }
    }
}
