//! Attacks, each without the defence and with it.

use super::{Run, Scenario, check, checks_of};
use crate::cartel::{Cartel, Conduct, Ranking};
use crate::judge::Order;
use crate::report::Measured;
use crate::setup::{Attack, Attackers, Blame, Rules, Setup, Watched};

/// An aged network in which all together send `chatter` messages in 1 000 seconds, under attack from second 2 on.
fn attacked(size: super::Size, chatter: u32, attackers: Attackers, rules: Rules) -> Setup {
    let mut setup = Setup::new(size.agents, size.seconds, size.seed);
    setup.traffic.chatter = chatter;
    setup.attackers = Attackers { from: 2, until: size.seconds, ..attackers };
    setup.aged = true;
    setup.rules = rules;
    setup
}

/// The same without scores and with them.
fn both(make: impl Fn(Rules) -> Setup) -> Vec<(&'static str, Run)> {
    let with = |scoring| Run::Mesh(make(Rules { scoring, ..Rules::default() }));
    vec![("without scores", with(false)), ("with scores", with(true))]
}

/// Attackers with stake and lease, eight connections each, in networks of their own.
fn registered(number: u32, attack: Attack) -> Attackers {
    Attackers { number, dials: 8, subnet_size: 1, registered: true, attack, ..Attackers::default() }
}

pub(super) const SPAM_AT_THE_LIMIT: Scenario = Scenario {
    name: "spam-at-the-limit",
    about: "Three registered agents send 100 valid messages a second each, which is what the rates allow.",
    usual: (1_000, 12),
    small: (24, 4),
    variants: |size| both(|rules| attacked(size, 10_000, registered(3, Attack::Spam(100)), rules)),
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("every honest message reaches every agent", it[1].deliveries.is_whole()),
                ("nothing is beyond a rate", it[1].refusals("Rate") == 0),
                ("nobody is graylisted", it[1].honest_graylisted + it[1].attackers_graylisted == 0),
            ]
        })
    },
};

pub(super) const SPAM_ABOVE_THE_LIMIT: Scenario = Scenario {
    name: "spam-above-the-limit",
    about: "Three registered agents send 400 valid messages a second each, the same to all their peers. Rates \
            bound what is accepted. Scores do not lessen it: a bucket fills again while nobody reads its owner.",
    usual: (1_000, 15),
    small: (24, 4),
    variants: |size| both(|rules| attacked(size, 10_000, registered(3, Attack::Spam(400)), rules)),
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("every honest message reaches every agent", it[1].deliveries.is_whole()),
                ("most of the spam is beyond the rate", it[0].refusals("Rate") > 0),
                ("with scores attackers are taken out of meshes", it[1].attackers_pruned > 0),
                (
                    "with scores not more of it is accepted",
                    it[1].attack_accepted * 100 <= it[0].attack_accepted * 101,
                ),
            ]
        })
    },
};

pub(super) const SPLIT_SPAM: Scenario = Scenario {
    name: "split-spam",
    about: "Two registered agents send 100 valid messages a second to each of their eight peers, different ones to each. \
            Every peer forwards what is within the rate, and behind it honest peers bring each other more than the rate.",
    usual: (150, 8),
    small: (24, 4),
    variants: |size| {
        let with = |scoring, blame| {
            let rules = Rules { scoring, blame, ..Rules::default() };
            Run::Mesh(attacked(size, 10_000, registered(2, Attack::SplitSpam(100)), rules))
        };
        vec![
            ("without scores", with(false, Blame::Bringer)),
            ("the bringer pays", with(true, Blame::Bringer)),
            ("only the author pays, as nodes do it", with(true, Blame::Author)),
        ]
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("without scores every honest message reaches every agent", it[0].deliveries.is_whole()),
                (
                    "where the bringer pays, honest peers graylist each other and honest messages are lost",
                    it[1].honest_graylisted > 0 && !it[1].deliveries.is_whole(),
                ),
                (
                    "where only the author pays, no honest peer is pruned or graylisted",
                    it[2].honest_pruned + it[2].honest_graylisted == 0,
                ),
                (
                    "where only the author pays, every honest message reaches every agent",
                    it[2].deliveries.is_whole(),
                ),
            ]
        })
    },
};

pub(super) const FORGERIES: Scenario = Scenario {
    name: "forgeries",
    about: "Three peers send 1 000 messages a second to each of their peers whose signatures do not hold. Honest nodes judge \
            1 000 messages a second at most here, so that the work shows.",
    usual: (40, 6),
    small: (30, 3),
    variants: |size| {
        both(|rules| {
            let attackers = Attackers { registered: false, ..registered(3, Attack::Forge(1_000)) };
            Setup { work: 1_000, ..attacked(size, 10_000, attackers, rules) }
        })
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                (
                    "with scores forgers are graylisted within a second",
                    it[1].graylisted_after_millis.is_some_and(|after| after < 1_000),
                ),
                ("with scores every honest message reaches every agent", it[1].deliveries.is_whole()),
                ("with scores less than a tenth of the forgeries is judged", it[1].judged * 2 < it[0].judged),
                (
                    "without scores honest messages are late or missing",
                    it[0].p99_millis > it[1].p99_millis || !it[0].deliveries.is_whole(),
                ),
                ("no forgery is accepted", it[0].attack_accepted + it[1].attack_accepted == 0),
            ]
        })
    },
};

pub(super) const UNREGISTERED: Scenario = Scenario {
    name: "unregistered",
    about: "A peer sends messages of made-up agents, 600 a second to each of its peers, while the cluster takes 200 ms for \
            an answer. All honest nodes keep a whole intake. The watched ones are those that the attacker reaches.",
    usual: (200, 20),
    small: (16, 3),
    variants: |size| {
        both(|rules| {
            let attackers = Attackers {
                registered: false,
                aim_at_watched: true,
                dials: 4,
                ..registered(1, Attack::Unregistered(600))
            };
            let mut setup = attacked(size, 5_000, attackers, rules);
            setup.watched = Watched { number: 4, work: 0, full: false };
            setup.full = size.agents;
            setup.lookup = 200_000;
            setup
        })
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("no message of a made-up agent is accepted", it[1].attack_accepted == 0),
                ("with scores the attackers are graylisted", it[1].attackers_graylisted > 0),
                (
                    "with scores every honest message reaches the agents that they do not reach",
                    it[1].deliveries.is_whole(),
                ),
                (
                    "with scores the agents that they reach get as much or more",
                    it[1].watched.ppm() >= it[0].watched.ppm(),
                ),
            ]
        })
    },
};

pub(super) const SYBILS: Scenario = Scenario {
    name: "sybils",
    about: "Nearly as many silent peers as agents, all of one /24, dial 30 agents each, so that every agent has about 26 of them. They take every \
            place in meshes that they get.",
    usual: (500, 120),
    small: (40, 20),
    variants: |size| {
        both(|rules| {
            let number = size.agents * 26 / 30;
            let attackers = Attackers {
                number,
                dials: 30,
                subnet_size: number.max(1),
                registered: false,
                attack: Attack::Silent,
                ..Attackers::default()
            };
            attacked(size, 5_000, attackers, rules)
        })
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("with scores the sybils leave the meshes", it[1].attackers_pruned > 0),
                ("with scores every message reaches every agent", it[1].deliveries.is_whole()),
                ("with scores messages are faster or as fast", it[1].p50_millis <= it[0].p50_millis),
            ]
        })
    },
};

pub(super) const ECLIPSE: Scenario = Scenario {
    name: "eclipse",
    about: "Thirty silent peers of one /24 take all inbound places of one agent, the watched one, which keeps the four peers \
            that it dialled itself.",
    usual: (1_000, 120),
    small: (60, 20),
    variants: |size| {
        both(|rules| {
            let attackers = Attackers {
                number: 30,
                dials: 1,
                aim_at_watched: true,
                subnet_size: 30,
                registered: false,
                attack: Attack::Silent,
                ..Attackers::default()
            };
            let mut setup = attacked(size, 5_000, attackers, rules);
            setup.watched = Watched { number: 1, work: 0, full: true };
            setup
        })
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("with scores the agent gets every message", it[1].watched.is_whole()),
                (
                    "with scores it gets them as fast or faster",
                    it[1].watched_p50_millis <= it[0].watched_p50_millis,
                ),
                ("with scores the attackers leave its mesh", it[1].attackers_pruned > 0),
            ]
        })
    },
};

pub(super) const REPLAY: Scenario = Scenario {
    name: "replay",
    about: "Three peers publish everything that they hear once more: after 20 s, when only the router's memory of ids stops \
            it, or after 62 s, when that is over and its time and nonce stop it.",
    usual: (500, 150),
    small: (40, 90),
    variants: |size| {
        let with = |seconds, order| {
            let rules = Rules { order, ..Rules::default() };
            Run::Mesh(attacked(size, 500, registered(3, Attack::Replay(seconds)), rules))
        };
        vec![
            ("after 20 s", with(20, Order::Window)),
            ("after 62 s", with(62, Order::Window)),
            ("after 62 s, no nonces remembered", with(62, Order::Off)),
        ]
    },
    checks: |measured| {
        checks_of(measured, |it| {
            vec![
                ("messages were replayed", it.iter().all(|it| it.attack_messages > 0)),
                ("nothing is accepted twice", it.iter().all(|it| it.accepted_twice == 0)),
                ("every honest message reaches every agent", it.iter().all(|it| it.deliveries.is_whole())),
                ("after 62 s the time alone is enough", it[2].ignored.contains_key("Timestamp")),
            ]
        })
    },
};

pub(super) const NOTARY_CARTEL: Scenario = Scenario {
    name: "notary-cartel",
    about: "A third of all notaries conspire and ask for less than the others. Parties take the first offer of the ranking. \
            Agents here are notaries, and seconds are tasks.",
    usual: (60, 1_000),
    small: (30, 200),
    variants: |size| {
        let with = |ranking, conduct| {
            Run::Notaries(Cartel {
                honest: size.agents - size.agents / 3,
                conspirators: size.agents / 3,
                tasks: size.seconds,
                seed: size.seed,
                ranking,
                conduct,
            })
        };
        vec![
            ("silent, ranked by fee", with(Ranking::Fee, Conduct::Silent)),
            ("silent, by all that is heard", with(Ranking::Heard, Conduct::Silent)),
            ("silent, by the parties' ratings", with(Ranking::Bound, Conduct::Silent)),
            ("crooked, ranked by fee", with(Ranking::Fee, Conduct::Crooked)),
            ("crooked, by all that is heard", with(Ranking::Heard, Conduct::Crooked)),
            ("crooked, by the parties' ratings", with(Ranking::Bound, Conduct::Crooked)),
        ]
    },
    checks: |measured| {
        let later: Vec<_> = measured
            .iter()
            .filter_map(|it| match it {
                Measured::Notaries(judged) => Some(judged.second_half),
                Measured::Mesh(_) => None,
            })
            .collect();
        vec![
            check(
                "ranked by fee, silent notaries delay every task",
                later[0].delayed > 0 && later[0].right == 0
                    || later[0].delayed == later[0].right + later[0].none,
            ),
            check("ranked by the parties' ratings, they delay none later on", later[2].delayed == 0),
            check("ratings that anybody sends help the cartel", later[1].delayed >= later[0].delayed),
            check(
                "ranked by the parties' ratings, fewer tasks are judged wrongly or as few",
                later[5].wrong <= later[3].wrong,
            ),
        ]
    },
};
