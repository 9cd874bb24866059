use crate::common::{NOW, SECOND};
use zx1_mesh::score::{AppScores, MESH, Mesh, Milli, PEER, THRESHOLDS, TOPIC};

#[test]
fn stake_and_lease_give_ten_points_and_each_excess_takes_one_for_a_second() {
    let mut scores = AppScores::default();
    assert_eq!(scores.points(&1, NOW), 0);
    scores.set_standing(&1, true);
    assert_eq!(scores.points(&1, NOW), 10);
    (0..4).for_each(|_| scores.exceeded(&1, NOW));
    assert_eq!(scores.points(&1, NOW), 6);
    assert_eq!(scores.points(&1, NOW + SECOND), 7);
    assert_eq!(scores.points(&1, NOW + 4 * SECOND), 10);
    scores.set_standing(&1, false);
    assert_eq!(scores.points(&1, NOW + 5 * SECOND), 0);
}

#[test]
fn a_flood_costs_a_hundred_points_at_most_also_when_the_clock_jumps_back() {
    let mut scores = AppScores::default();
    (0..100_000).for_each(|_| scores.exceeded(&1, NOW));
    assert_eq!(scores.points(&1, NOW), -100);
    let day_before = NOW - 86_400 * SECOND;
    assert_eq!(scores.points(&1, day_before), -100);
    assert_eq!(scores.points(&1, day_before + 100 * SECOND), 0);
}

#[test]
fn the_number_of_peers_is_bounded() {
    let mut scores = AppScores::default();
    (0..10_000).for_each(|peer| scores.exceeded(&peer, NOW));
    assert_eq!(scores.len(), zx1_mesh::defaults::MAX_SCORED_PEERS);
}

/// P4 of one topic after this many rejected messages.
fn rejected(number: i64) -> i64 {
    TOPIC.rejected.0 * number * number
}

#[test]
fn two_rejected_messages_are_survived_and_three_are_not() {
    let best = TOPIC.mesh_second.0 * i64::from(TOPIC.mesh_seconds_cap);
    assert_eq!(best, Milli::whole(3).0);
    assert!(rejected(1) >= THRESHOLDS.gossip.0 && rejected(2) >= THRESHOLDS.graylist.0);
    // Also with all that a peer can have earned by time, its standing and first deliveries.
    let earned = best + PEER.app.0 * 10 + TOPIC.first_delivery.0 * i64::from(TOPIC.first_delivery_cap);
    assert!(rejected(3) + earned < THRESHOLDS.graylist.0);
}

#[test]
fn thresholds_and_mesh_are_in_the_order_that_gossipsub_demands() {
    let zx1_mesh::score::Thresholds { gossip, publish, graylist, accept_px, opportunistic_graft } =
        THRESHOLDS;
    assert!(Milli(0) > gossip && gossip > publish && publish > graylist);
    assert!(accept_px > opportunistic_graft && opportunistic_graft > Milli(0));
    let Mesh { peers, low, high, outbound, .. } = MESH;
    assert!(outbound < low && outbound <= peers / 2);
    assert!(low <= peers && peers <= high);
    // Messages that wait are reported while gossipsub remembers them.
    let remembered = u64::from(MESH.heartbeat_ms) * 1_000 * MESH.history_length as u64;
    assert!(zx1_mesh::defaults::WAITING_LIFE < remembered);
    for decay in [TOPIC.first_delivery_decay, TOPIC.rejected_decay, PEER.behaviour_decay] {
        assert!(Milli(0) < decay && decay < Milli::whole(1));
    }
}
