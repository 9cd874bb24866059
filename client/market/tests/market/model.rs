//! Random parties act at random. Whatever they do: money is conserved, states follow the table, the chain
//! verifies, the end is final, and time alone always brings a contract to its end.

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use zx1_market::chain::{Data, Side};
use zx1_market::machine::State;
use zx1_market::money::Outcome;
use zx1_market::*;

use crate::support::*;

#[derive(Debug, Clone)]
enum Act {
    Deposit(Side),
    Reserve(u8),
    Party(u8, usize),
    Reexecute,
    Rule(usize),
    /// All seats before the judges are taken, or one is free.
    Seat(bool),
    Pass(u64),
}

/// The reference knows which kind of contract it is, and nothing else: the checks are invariants.
#[derive(Debug, Clone)]
struct Kind {
    contract: u8,
}

struct Random;

const PARTY_ACTS: usize = 22;

impl ReferenceStateMachine for Random {
    type State = Kind;
    type Transition = Act;

    fn init_state() -> BoxedStrategy<Kind> {
        (0_u8..3).prop_map(|contract| Kind { contract }).boxed()
    }

    fn transitions(_: &Kind) -> BoxedStrategy<Act> {
        let side = prop_oneof![Just(Side::Principal), Just(Side::Agent)];
        let span = prop_oneof![
            4 => 0_u64..4_000,
            2 => prop::sample::select(vec![5_000, 29_999, 30_000, 60_000, 119_999, 120_000, 180_000, 300_000]),
            1 => Just(7_200_000_u64),
        ];
        prop_oneof![
            3 => side.prop_map(Act::Deposit),
            2 => prop_oneof![6 => Just(2_u8), 1 => 1_u8..8].prop_map(Act::Reserve),
            14 => (prop_oneof![5 => Just(1_u8), 6 => Just(2_u8), 1 => 3_u8..8], 0..PARTY_ACTS)
                .prop_map(|(who, what)| Act::Party(who, what)),
            2 => Just(Act::Reexecute),
            2 => (0_usize..6).prop_map(Act::Rule),
            2 => prop::bool::ANY.prop_map(Act::Seat),
            6 => span.prop_map(Act::Pass),
        ]
        .boxed()
    }

    fn apply(state: Kind, _: &Act) -> Kind {
        state
    }
}

fn data(who: &PartyKey, what: usize) -> Data {
    let text = || "words".to_owned();
    let side = if who.id() == principal().id() { Side::Principal } else { Side::Agent };
    match what {
        0 => Data::Accept { agent: who.id() },
        1 => Data::Decline { reason: text() },
        2 => Data::Investigate { command: text() },
        3 => Data::Result { command: text(), output: text(), exit_code: None, refused: false },
        4 | 5 => Data::Fix { fix: text(), explanation: text(), corrected_command: None },
        6 => Data::Verify {
            success: true,
            explanation: text(),
            exit_code: None,
            output: String::new(),
            failure: None,
        },
        7 | 8 => Data::Verify {
            success: false,
            explanation: text(),
            exit_code: None,
            output: String::new(),
            failure: None,
        },
        9 => Data::ReviewAccept { explanation: text() },
        10 => Data::ReviewReject { reason: text(), failure: None },
        11 => Data::DisputeFiled { argument: text(), side },
        12 => Data::DisputeResponse { argument: text(), side },
        13 => Data::Appeal { argument: text(), side },
        14 => Data::Waive { side },
        15 => Data::Message { message: text() },
        16 => Data::Halt { reason: text() },
        17 => Data::Resume { reason: text() },
        18 => Data::BackOut { reason: text() },
        19 => Data::Accounts { payout: address(60) },
        20 => Data::Bond { agent: who.id(), payout: None },
        _ => Data::Cancel { reason: text() },
    }
}

struct Market {
    world: World,
}

impl StateMachineTest for Market {
    type SystemUnderTest = Market;
    type Reference = Random;

    fn init_test(kind: &Kind) -> Market {
        let contract = match kind.contract {
            0 => paid(),
            1 => autonomous(),
            _ => free(),
        };
        Market { world: World::new(&contract, &terms()) }
    }

    fn apply(mut market: Market, _: &Kind, act: Act) -> Market {
        let world = &mut market.world;
        let (before, ended) = (world.case.state(), world.case.state().is_terminal());
        let settled = world.case.settlements().len();
        let chained = world.chained.len();
        world.pass(0);
        match act {
            Act::Deposit(side) => drop(world.deposit(side)),
            Act::Reserve(n) => drop(world.reserve(&key(n))),
            Act::Party(n, what) => drop(world.act(&key(n), data(&key(n), what))),
            Act::Reexecute => drop(world.reexecute()),
            Act::Rule(n) => {
                if let Some(task) = world.case.judge_task() {
                    drop(world.rule_as(Outcome::ALL[n], task.court));
                }
            }
            Act::Seat(false) => world.case.wait_for_seat(),
            Act::Seat(true) => world.seat(),
            Act::Pass(millis) => world.pass(millis),
        }
        if ended {
            assert_eq!(world.case.state(), before, "the end is final");
            assert_eq!(world.case.settlements().len(), settled);
            assert_eq!(world.chained.len(), chained);
        }
        market
    }

    fn check_invariants(market: &Market, _: &Kind) {
        let world = &market.world;
        assert_ne!(world.case.state(), State::BackedOut, "lasts for one step only");
        assert!(world.case.is_public() == world.case.state().is_terminal());
        // Everything that was paid in is held or was paid out.
        let accounts = world.held.len();
        assert!(accounts <= 2, "one account for each side");
        if world.case.state().is_terminal() {
            assert!(world.held.is_empty());
        } else {
            assert!(world.case.next_deadline().is_some());
        }
    }

    fn teardown(market: Market, _: Kind) {
        let mut world = market.world;
        world.check();
        // Time alone ends it.
        let mut steps = 0;
        while let Some(deadline) = world.case.next_deadline() {
            world.pass(deadline.minus(world.now).0);
            steps += 1;
            assert!(steps < 100, "{:?} does not end", world.case.state());
        }
        assert!(world.case.state().is_terminal());
        world.check();
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_parties_never_break_the_rules(sequential 1..60 => Market);
}
