//! An outbox, a disk and a wire. The process is killed at any step of any message; each step is what
//! `zx1_mesh::outbox` tells the caller to do. No draft is ever signed or sent twice, no message passes another of its
//! conversation, and what the caller heard stays true.

use crate::support::*;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use std::collections::{BTreeMap, BTreeSet};
use zx1_mesh::defaults::DRAFT_TTL;
use zx1_mesh::outbox::{Draft, Outbox, Row, State};
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::ConversationId;

/// What follows on a message that is begun.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Signer {
    Signs,
    Away,
    Refuses,
}

#[derive(Clone, Debug)]
enum Act {
    Add {
        conversation: u8,
        gossip: bool,
        ttl: u64,
        kill: bool,
    },
    /// The n-th message that is due goes out, or the process ends before the step `kill`.
    Send {
        n: usize,
        signer: Signer,
        kill: u8,
    },
    Unreachable(usize),
    Reachable,
    /// The n-th message on its way gets its end; killed before or after it is on disk.
    End {
        n: usize,
        good: bool,
        kill: u8,
    },
    Settle(usize),
    TakeBack(usize),
    Pass(u64),
    Kill,
}

/// Which message an act means is decided by the outbox, so the reference knows nothing but the time.
struct Random;

impl ReferenceStateMachine for Random {
    type State = u64;
    type Transition = Act;

    fn init_state() -> BoxedStrategy<u64> {
        Just(NOW).boxed()
    }

    fn transitions(_: &u64) -> BoxedStrategy<Act> {
        let ttl = prop_oneof![Just(DRAFT_TTL), 1..10 * SECOND];
        let signer =
            prop_oneof![6 => Just(Signer::Signs), 1 => Just(Signer::Away), 1 => Just(Signer::Refuses)];
        // Most acts are not killed.
        let kill = prop_oneof![5 => Just(9_u8), 1 => 0..6_u8];
        let n = 0..4_usize;
        prop_oneof![
            5 => (0..3_u8, prop::bool::weighted(0.2), ttl, prop::bool::weighted(0.1))
                .prop_map(|(conversation, gossip, ttl, kill)| Act::Add { conversation, gossip, ttl, kill }),
            6 => (n.clone(), signer, kill.clone()).prop_map(|(n, signer, kill)| Act::Send { n, signer, kill }),
            4 => (n.clone(), prop::bool::weighted(0.7), kill).prop_map(|(n, good, kill)| Act::End { n, good, kill }),
            1 => n.clone().prop_map(Act::Unreachable),
            1 => Just(Act::Reachable),
            1 => n.clone().prop_map(Act::Settle),
            1 => n.prop_map(Act::TakeBack),
            2 => prop_oneof![4 => 0..5 * SECOND, 1 => Just(DRAFT_TTL)].prop_map(Act::Pass),
            1 => Just(Act::Kill),
        ]
        .boxed()
    }

    fn apply(now: u64, act: &Act) -> u64 {
        if let Act::Pass(span) = act { now + span } else { now }
    }
}

#[derive(Default)]
struct World {
    outbox: Outbox,
    disk: BTreeMap<u64, Row>,
    disk_next: u64,
    /// Names of the drafts that the caller believes queued.
    promised: BTreeMap<u64, String>,
    /// Messages of which the caller heard that they are acknowledged.
    heard: BTreeSet<u64>,
    signatures: BTreeMap<u64, u32>,
    /// The messages that left, in order.
    wire: Vec<u64>,
    /// Messages that stood behind one that was dropped.
    condemned: BTreeSet<u64>,
    added: u64,
}

impl World {
    fn save(&mut self, row: &Row) {
        if row.state.was_dropped() && !row.is_gossip() {
            let key = |it: &Row| (it.conversation, it.recipient);
            let behind = self.disk.values().filter(|it| it.id > row.id && key(it) == key(row));
            self.condemned.extend(behind.map(|it| it.id));
        }
        self.disk.insert(row.id, row.clone());
        self.disk_next = self.outbox.next_id();
    }

    fn kill(&mut self) {
        let (outbox, changed) = Outbox::load(self.disk.values().cloned(), self.disk_next).unwrap();
        self.outbox = outbox;
        for row in changed {
            self.save(&row);
        }
    }

    fn add(&mut self, conversation: u8, gossip: bool, ttl: u64, now: u64, kill: bool) {
        self.added += 1;
        let name = format!("draft {}", self.added);
        let draft = Draft {
            name: &name,
            msg_type: if gossip { MsgType::Feedback } else { MsgType::Deliver },
            recipient: if gossip { BROADCAST } else { B },
            conversation: ConversationId([conversation; 16]),
            payload: name.as_bytes(),
            ttl_micros: ttl,
        };
        let row = self.outbox.add(&draft, now).unwrap();
        if kill {
            return self.kill();
        }
        self.save(&row);
        self.promised.insert(row.id, name);
    }

    fn send(&mut self, n: usize, signer: Signer, now: u64, kill: u8) {
        let Some(id) = self.outbox.due(now).get(n).map(|row| row.id) else { return };
        let row = self.outbox.begin(id, now).unwrap();
        if kill == 0 {
            return self.kill();
        }
        self.save(&row);
        if kill == 1 {
            return self.kill();
        }
        let changed = match signer {
            Signer::Signs => {
                *self.signatures.entry(id).or_default() += 1;
                if kill == 2 {
                    return self.kill();
                }
                vec![self.outbox.signed(id, [1; 32]).unwrap()]
            }
            Signer::Away => vec![self.outbox.not_signed(id, now).unwrap()],
            Signer::Refuses => self.outbox.refuse(id, 7_331).unwrap(),
        };
        if kill == 3 {
            return self.kill();
        }
        changed.iter().for_each(|row| self.save(row));
        if kill == 4 {
            return self.kill();
        }
        if signer == Signer::Signs {
            assert!(now < row.expires_micros, "{id} is sent after its end");
            self.check_turn(&row);
            self.wire.push(id);
        }
    }

    /// Whoever is before it in its conversation has come to its end.
    fn check_turn(&self, row: &Row) {
        let before = self.disk.values().filter(|other| {
            other.id < row.id && (other.conversation, other.recipient) == (row.conversation, row.recipient)
        });
        for other in before {
            assert!(other.is_over(), "{} passes {}", row.id, other.id);
        }
        assert!(!self.condemned.contains(&row.id), "{} goes although what was before it did not", row.id);
    }

    fn end(&mut self, n: usize, good: bool, kill: u8) {
        let on_way = |row: &&Row| row.state == State::Sent && row.message32.is_some() && !row.is_over();
        let Some((id, gossip)) =
            self.outbox.iter().filter(on_way).nth(n).map(|row| (row.id, row.is_gossip()))
        else {
            return;
        };
        let row = match (good, gossip) {
            (true, false) => self.outbox.acknowledged(id),
            (true, true) => self.outbox.published(id),
            (false, _) => self.outbox.lost(id),
        };
        let row = row.unwrap();
        if kill == 0 {
            return self.kill();
        }
        self.save(&row);
        if kill == 1 {
            return self.kill();
        }
        if good && !gossip {
            self.heard.insert(id);
        }
    }
}

impl StateMachineTest for World {
    type SystemUnderTest = World;
    type Reference = Random;

    fn init_test(_: &u64) -> World {
        World::default()
    }

    fn apply(mut world: World, now: &u64, act: Act) -> World {
        let now = *now;
        for row in world.outbox.advance(now) {
            world.save(&row);
        }
        let queued = |world: &World, n| {
            world.outbox.iter().filter(|row| row.state == State::Queued).nth(n).map(|row| row.id)
        };
        match act {
            Act::Add { conversation, gossip, ttl, kill } => world.add(conversation, gossip, ttl, now, kill),
            Act::Send { n, signer, kill } => world.send(n, signer, now, kill),
            Act::End { n, good, kill } => world.end(n, good, kill),
            Act::Unreachable(n) => {
                if let Some(id) = queued(&world, n) {
                    let row = world.outbox.unreachable(id, now).unwrap();
                    world.save(&row);
                }
            }
            Act::Reachable => world.outbox.reachable(B, now),
            Act::Settle(n) => {
                let open = |row: &&Row| row.state == State::Unanswered;
                let id = world.outbox.iter().filter(open).nth(n).map(|row| row.id);
                if let Some(id) = id {
                    let row = world.outbox.settle(id).unwrap();
                    world.save(&row);
                }
            }
            Act::TakeBack(n) => {
                if let Some(id) = queued(&world, n) {
                    for row in world.outbox.take_back(id).unwrap() {
                        world.save(&row);
                    }
                }
            }
            Act::Pass(_) => {}
            Act::Kill => world.kill(),
        }
        world
    }

    fn check_invariants(world: &World, now: &u64) {
        assert!(world.signatures.values().all(|count| *count == 1), "a draft was signed twice");
        let left: BTreeSet<_> = world.wire.iter().collect();
        assert_eq!(left.len(), world.wire.len(), "a message left twice");
        for id in &world.heard {
            assert_eq!(world.outbox.get(*id).unwrap().state, State::Acknowledged);
        }
        for (id, name) in &world.promised {
            assert_eq!(&world.outbox.get(*id).unwrap().name, name, "a promised draft is gone");
        }
        for row in world.outbox.iter() {
            // What left is never said not to have left.
            let unsent = matches!(row.state, State::Queued | State::Expired | State::Refused);
            assert!(!(unsent && left.contains(&row.id)), "{} left and is {}", row.id, row.state);
            assert!(
                !(unsent && world.signatures.contains_key(&row.id)),
                "{} is signed and {}",
                row.id,
                row.state
            );
        }
        assert!(world.outbox.due(*now).iter().all(|row| !world.signatures.contains_key(&row.id)));
    }

    fn teardown(mut world: World, now: u64) {
        world.kill();
        // Whatever was left open ends by itself.
        for row in world.outbox.advance(now + DRAFT_TTL) {
            world.save(&row);
        }
        assert!(world.outbox.iter().all(Row::is_over));
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 384, ..ProptestConfig::default() })]

    #[test]
    fn killed_at_any_step_nothing_is_sent_twice_and_nothing_acknowledged_is_lost(sequential 1..80 => World);
}
