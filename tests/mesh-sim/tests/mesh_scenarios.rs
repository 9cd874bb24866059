//! Every scenario, as small as a test can afford. What must hold is in the scenarios' own tables.

#![allow(clippy::unwrap_used)]

use zx1_mesh_sim::scenario::{SCENARIOS, Size, find};

fn small(name: &str, seed: u64) -> Size {
    let (agents, seconds) = find(name).unwrap().small;
    Size { agents, seconds, seed }
}

fn holds(name: &str) {
    let report = find(name).unwrap().run(small(name, 7)).unwrap();
    let broken: Vec<_> = report.checks.iter().filter(|check| !check.holds).collect();
    assert!(broken.is_empty(), "{broken:#?}\n{}", report.to_markdown(""));
}

#[test]
fn every_message_reaches_every_agent_while_nobody_attacks() {
    holds("honest-hour");
}

#[test]
fn lost_copies_cost_nothing_with_a_window_and_much_under_strict_nonces() {
    holds("lossy-burst");
}

#[test]
fn halves_that_were_split_are_whole_again_after_the_merge() {
    holds("partition");
}

#[test]
fn slow_agents_hold_up_nobody_but_themselves() {
    holds("slow-peers");
}

#[test]
fn spam_at_the_limit_displaces_no_honest_message() {
    holds("spam-at-the-limit");
}

#[test]
fn spam_above_the_limit_goes_no_further_and_costs_its_sender_the_mesh() {
    holds("spam-above-the-limit");
}

#[test]
fn spam_that_is_split_turns_honest_peers_against_each_other_where_the_bringer_pays() {
    holds("split-spam");
}

#[test]
fn whoever_speaks_seldom_is_looked_up_at_every_hop() {
    holds("lookups");
}

#[test]
fn forgers_do_harm_without_scores_and_are_graylisted_with_them() {
    holds("forgeries");
}

#[test]
fn made_up_agents_hold_up_their_own_peers_at_most() {
    holds("unregistered");
}

#[test]
fn sybils_that_take_places_in_meshes_lose_them_by_their_network() {
    holds("sybils");
}

#[test]
fn an_agent_whose_inbound_places_are_taken_hears_everything() {
    holds("eclipse");
}

#[test]
fn a_replayed_message_is_never_accepted_twice() {
    holds("replay");
}

#[test]
fn a_cartel_of_notaries_loses_to_the_ratings_of_the_parties() {
    holds("notary-cartel");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_gives_others() {
    let json = |name, seed| {
        let report = find(name).unwrap().run(Size { agents: 30, seconds: 4, seed }).unwrap();
        serde_json::to_string(&report).unwrap()
    };
    for name in ["lossy-burst", "lookups", "sybils", "spam-at-the-limit"] {
        assert_eq!(json(name, 3), json(name, 3), "{name}");
        assert_ne!(json(name, 3), json(name, 4), "{name}");
    }
}

#[test]
fn every_scenario_has_a_name_of_its_own() {
    let mut names: Vec<_> = SCENARIOS.iter().map(|it| it.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SCENARIOS.len());
}
