//! What is simplified decides as the real thing does.

#![allow(clippy::unwrap_used)]

use zx1_mesh_sim::outcome::Outcome;
use zx1_mesh_sim::setup::{Attack, Attackers, Burst, Setup, Traffic};
use zx1_mesh_sim::sim::Sim;

/// Everything but how the decisions were made.
fn decisions(setup: Setup) -> Outcome {
    let outcome = Sim::new(setup).run().unwrap();
    assert_eq!(outcome.differed, 0);
    Outcome { gate_calls: 0, compared: 0, events: 0, ..outcome }
}

fn under(attack: Attack) -> Setup {
    let mut setup = Setup::new(16, 4, 11);
    setup.traffic = Traffic {
        beacons: true,
        chatter: 5_000,
        burst: Some(Burst { from: 1, seconds: 1, per_second: 150 }),
    };
    setup.loss = 20_000;
    setup.attackers = Attackers {
        number: 2,
        dials: 4,
        subnet_size: 1,
        registered: true,
        attack,
        from: 1,
        until: 2,
        ..Attackers::default()
    };
    setup
}

#[test]
fn nodes_that_share_their_memory_decide_as_whole_intakes_do() {
    for attack in [Attack::Silent, Attack::Spam(300), Attack::Forge(20)] {
        let setup = under(attack);
        let shared = decisions(setup);
        let whole = decisions(Setup { full: setup.agents, ..setup });
        assert_eq!(shared, whole, "{attack:?}");
        assert!(shared.deliveries.delivered > 1_000);
    }
}

#[test]
fn nothing_is_delivered_twice_or_to_its_author() {
    let outcome = decisions(under(Attack::Silent));
    assert!(outcome.deliveries.delivered <= outcome.deliveries.expected);
    assert_eq!(outcome.deliveries.expected, outcome.published * 15);
    // Every copy is lost, drowned, too late, or judged.
    let ends = outcome.duplicates + outcome.lost + outcome.unread + outcome.too_slow + outcome.queue_full;
    assert!(outcome.copies >= ends);
}
