//! Nobody attacks; links, nodes and the network have their weaknesses.

use super::{Run, Scenario, checks_of};
use crate::judge::Order;
use crate::setup::{Burst, Partition, Rules, Setup, Traffic, Watched};

pub(super) const HONEST_HOUR: Scenario = Scenario {
    name: "honest-hour",
    about: "Every agent sends a BEACON each 600 s, 10 % more or less, and all together send 20 other messages a second.",
    usual: (10_000, 3_600),
    small: (150, 20),
    variants: |size| {
        let mut setup = Setup::new(size.agents, size.seconds, size.seed);
        setup.traffic = Traffic { beacons: true, chatter: 20_000, burst: None };
        vec![("as it is", Run::Mesh(setup))]
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("every message reaches every agent", it[0].deliveries.is_whole() && it[0].published > 0),
                ("nothing is refused", it[0].ignored.is_empty() && it[0].rejected.is_empty()),
                ("nobody is graylisted", it[0].honest_graylisted == 0),
            ]
        })
    },
};

pub(super) const LOOKUPS: Scenario = Scenario {
    name: "lookups",
    about: "Facts about an author serve for 60 s, so whoever speaks seldom is looked up anew by every agent on the way. Twenty \
            agents keep a whole intake, with the real lookups; the others wait as long.",
    usual: (1_000, 120),
    small: (60, 10),
    variants: |size| {
        let with = |lookup| {
            let mut setup = Setup::new(size.agents, size.seconds, size.seed);
            setup.traffic = Traffic { beacons: true, chatter: 2_000, burst: None };
            setup.full = 20;
            setup.lookup = lookup;
            Run::Mesh(setup)
        };
        vec![("the cluster answers at once", with(0)), ("it answers after 200 ms", with(200_000))]
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("every message reaches every agent", it.iter().all(|it| it.deliveries.is_whole())),
                ("every hop waits for the cluster", it[1].p50_millis >= it[0].p50_millis + 200),
                ("nothing is refused", it.iter().all(|it| it.ignored.is_empty() && it.rejected.is_empty())),
            ]
        })
    },
};

pub(super) const LOSSY_BURST: Scenario = Scenario {
    name: "lossy-burst",
    about: "One copy in a hundred is lost, and one agent sends 100 messages a second for ten seconds. Under strictly \
            increasing nonces whoever gets a late copy drops it and does not forward it, and holes spread.",
    usual: (10_000, 15),
    small: (120, 6),
    variants: |size| {
        let with = |order| {
            let mut setup = Setup::new(size.agents, size.seconds, size.seed);
            setup.loss = 10_000;
            let seconds = size.seconds.saturating_sub(2).min(10);
            setup.traffic.burst = Some(Burst { from: 1, seconds, per_second: 100 });
            setup.rules = Rules { order, ..Rules::default() };
            Run::Mesh(setup)
        };
        vec![("replay window", with(Order::Window)), ("strict nonces", with(Order::Strict))]
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("with the window every message reaches every agent", it[0].deliveries.is_whole()),
                ("copies were lost", it[0].lost > 0),
                ("under strict nonces deliveries are missing", !it[1].deliveries.is_whole()),
            ]
        })
    },
};

pub(super) const PARTITION: Scenario = Scenario {
    name: "partition",
    about: "In the middle third of the time agents with odd numbers and those with even ones do not reach each other.",
    usual: (2_000, 180),
    small: (120, 15),
    variants: |size| {
        let mut setup = Setup::new(size.agents, size.seconds, size.seed);
        setup.traffic.chatter = 10_000;
        setup.partition = Some(Partition { from: size.seconds / 3, until: size.seconds * 2 / 3 });
        vec![("as it is", Run::Mesh(setup))]
    },
    checks: |measured| {
        checks_of(measured, |it| {
            let phase = |number: usize| it[0].phases.get(number).copied().unwrap_or_default();
            vec![
                ("before the split every message reaches every agent", phase(0).is_whole()),
                (
                    "during it messages reach their own half, and only the last ones the other",
                    (450_000..900_000).contains(&phase(1).ppm()),
                ),
                ("what was said just before the merge reaches the rest too", it[0].repaired > 0),
                ("after the merge every message reaches every agent", phase(2).is_whole()),
                ("nobody is graylisted for it", it[0].honest_graylisted == 0),
            ]
        })
    },
};

pub(super) const SLOW_PEERS: Scenario = Scenario {
    name: "slow-peers",
    about: "One agent in five takes 120 ms for a verdict and so keeps up with 8 messages a second, while 20 are sent. \
            These are the watched ones.",
    usual: (1_000, 120),
    small: (100, 15),
    variants: |size| {
        let with = |scoring| {
            let mut setup = Setup::new(size.agents, size.seconds, size.seed);
            setup.traffic.chatter = 20_000;
            setup.watched = Watched { number: size.agents / 5, work: 120_000, full: false };
            setup.rules.scoring = scoring;
            Run::Mesh(setup)
        };
        vec![("without scores", with(false)), ("with scores", with(true))]
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("slow agents miss messages", !it[1].watched.is_whole()),
                ("all others get every message, with scores", it[1].deliveries.is_whole()),
                ("all others get every message, without scores", it[0].deliveries.is_whole()),
                ("nobody is graylisted for being slow", it[1].honest_graylisted == 0),
            ]
        })
    },
};
