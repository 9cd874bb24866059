//! Whole lives of contracts: the states, the chain and the money after each.

use zx1_market::chain::{Data, EntryType, Side};
use zx1_market::contract::Corrected;
use zx1_market::machine::State;
use zx1_market::money::{Outcome, Payee};
use zx1_market::*;

use crate::support::*;

fn ended(world: &World, state: State, money: [&str; 4]) {
    world.check();
    assert_eq!(world.case.state(), state);
    let payees = [Payee::Principal, Payee::Agent, Payee::Platform, Payee::Charity];
    let got = payees.map(|payee| world.got(payee).xno());
    assert_eq!(got, money, "principal, agent, platform, charity");
}

#[test]
fn a_fix_that_works_is_paid_ok() {
    let mut world = World::new(&paid(), &terms());
    assert_eq!(world.case.state(), State::Unfunded);
    let wanted = world.case.deposit_wanted().unwrap();
    assert_eq!((wanted.side, wanted.amount, wanted.round), (Side::Principal, xno("0.67"), 0));
    world.deposit(Side::Principal).unwrap();
    world.check();
    world.bond(&agent()).unwrap();
    world.check();
    world.act(&agent(), Data::Investigate { command: "cat foo.c".into() }).unwrap();
    let result =
        Data::Result { command: "cat foo.c".into(), output: "int".into(), exit_code: None, refused: false };
    world.act(&principal(), result).unwrap();
    world.accept(&agent()).unwrap();
    world.act(&agent(), Data::Ask { message: "which gcc?".into() }).unwrap();
    world.act(&principal(), Data::Answer { message: "12".into() }).unwrap();
    world.fix().unwrap();
    world.verify(false).unwrap();
    assert_eq!(world.case.attempts(), 1);
    world.fix().unwrap();
    world.verify(true).unwrap();
    ended(&world, State::Fulfilled, ["0.17", "1.12", "0.05", "0"]);
    // After the end each side leaves its feedback once, and nothing else.
    let common = chain::Common { envelope: Some("00ff".into()), ..Default::default() };
    let feedback = |world: &World| {
        let json = Data::Feedback {}.to_json(&common);
        Entry::sign_json(EntryType::Feedback, json, world.case.head(), world.now, &agent())
    };
    let entry = feedback(&world);
    let step = world.case.handle(entry, world.now, &server()).unwrap();
    world.chained.extend(step.entries);
    let twice = feedback(&world);
    assert_eq!(code(world.case.handle(twice, world.now, &server())), 9145);
    world.check();
}

#[test]
fn exhausted_attempts_end_after_the_objection_window() {
    let mut world = working();
    for _ in 0..5 {
        world.fix().unwrap();
        world.verify(false).unwrap();
    }
    assert_eq!(world.case.state(), State::InProgress);
    assert_eq!(world.case.closing_at(), Some(world.now.plus(Millis::secs(120))));
    world.pass(119_999);
    assert_eq!(world.case.state(), State::InProgress);
    world.pass(1);
    ended(&world, State::Canceled, ["0.62", "0.67", "0.05", "0"]);
}

#[test]
fn the_agent_objects_or_waives_while_the_contract_closes() {
    let mut world = working();
    for _ in 0..5 {
        world.fix().unwrap();
        world.verify(false).unwrap();
    }
    let mut waived = world.clone();
    assert_eq!(code(waived.waive(Side::Principal)), 9114);
    waived.waive(Side::Agent).unwrap();
    ended(&waived, State::Canceled, ["0.62", "0.67", "0.05", "0"]);
    for refused in
        [world.clone().halt(), world.clone().back_out(Side::Agent), world.clone().dispute(Side::Principal)]
    {
        assert_eq!(code(refused), 9128);
    }
    world.dispute(Side::Agent).unwrap();
    world.respond(Side::Principal).unwrap();
    world.rule(Outcome::Fulfilled).unwrap();
    world.secs(120);
    ended(&world, State::Resolved, ["0.15", "1.12", "0.07", "0"]);
}

#[test]
fn nobody_takes_it_and_everything_goes_back() {
    let mut world = open();
    world.pass(29_999);
    assert_eq!(world.case.state(), State::Open);
    world.pass(1);
    ended(&world, State::Canceled, ["0.67", "0", "0", "0"]);
}

#[test]
fn the_principal_takes_an_open_contract_back() {
    let mut world = open();
    world.act(&principal(), Data::Cancel { reason: String::new() }).unwrap();
    ended(&world, State::Canceled, ["0.67", "0", "0", "0"]);
    let mut unfunded = World::new(&paid(), &terms());
    unfunded.act(&principal(), Data::Cancel { reason: String::new() }).unwrap();
    ended(&unfunded, State::Canceled, ["0", "0", "0", "0"]);
}

#[test]
fn an_unpaid_contract_expires() {
    let mut world = World::new(&paid(), &terms());
    world.secs(600);
    ended(&world, State::Canceled, ["0", "0", "0", "0"]);
    assert_eq!(code(world.deposit(Side::Principal)), 9104);
}

#[test]
fn a_declined_contract_waits_for_another_agent() {
    let mut world = investigating_with(&paid());
    world.act(&agent(), Data::Decline { reason: "too hard".into() }).unwrap();
    assert_eq!((world.case.state(), world.case.agent(), world.case.round()), (State::Open, None, 1));
    assert_eq!(world.got(Payee::Agent), xno("0.67"));
    world.check();
    assert_eq!(code(world.bond(&agent())), 9119);
    world.bond(&stranger()).unwrap();
    world.accept(&stranger()).unwrap();
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    world.act(&stranger(), fix).unwrap();
    world.verify(true).unwrap();
    // Both agents' deposits come from the same source here.
    ended(&world, State::Fulfilled, ["0.17", "1.79", "0.05", "0"]);
}

#[test]
fn a_corrected_command_counts_only_where_the_contract_takes_one() {
    let corrects = |command: Option<&str>| Data::Fix {
        fix: "true".into(),
        explanation: String::new(),
        corrected_command: command.map(str::to_owned),
    };
    let says = |word| builder().bounty(xno("0.5")).corrected_commands(word).build(&terms()).unwrap();
    let mut refusing = working_with(&says(Corrected::No));
    assert_eq!(code(refusing.act(&agent(), corrects(Some("gcc foo.c -lbar")))), 9087);
    // It was no attempt, and the grace period goes on.
    assert_eq!((refusing.case.attempts(), refusing.case.is_verifying()), (0, false));
    refusing.act(&agent(), corrects(None)).unwrap();
    refusing.verify(true).unwrap();
    ended(&refusing, State::Fulfilled, ["0.17", "1.12", "0.05", "0"]);
    // Silence means no: an older principal cannot take one.
    let mut silent = Json::object(paid().json().as_object().unwrap().clone());
    if let Json::Object(fields) = &mut silent
        && let Some(Json::Object(execution)) = fields.get_mut("execution")
    {
        execution.remove("corrected_command");
    }
    let mut silent = working_with(&Contract::read(&silent).unwrap());
    assert_eq!(code(silent.act(&agent(), corrects(Some("gcc foo.c -lbar")))), 9087);
    for contract in [says(Corrected::Asks), says(Corrected::Yes)] {
        let mut world = working_with(&contract);
        world.act(&agent(), corrects(Some("gcc foo.c -lbar"))).unwrap();
        world.verify(true).unwrap();
        ended(&world, State::Fulfilled, ["0.17", "1.12", "0.05", "0"]);
    }
}

#[test]
fn leaving_in_the_grace_period_is_free() {
    let mut agent_left = working();
    agent_left.pass(29_999);
    agent_left.back_out(Side::Agent).unwrap();
    assert_eq!(agent_left.case.state(), State::Open);
    assert_eq!(agent_left.got(Payee::Agent), xno("0.67"));
    agent_left.secs(30);
    ended(&agent_left, State::Canceled, ["0.67", "0.67", "0", "0"]);
    let mut principal_left = working();
    principal_left.back_out(Side::Principal).unwrap();
    ended(&principal_left, State::Canceled, ["0.67", "0.67", "0", "0"]);
}

#[test]
fn leaving_late_costs_a_fifth() {
    let mut agent_left = working();
    agent_left.secs(30);
    agent_left.back_out(Side::Agent).unwrap();
    assert_eq!(agent_left.case.state(), State::Open);
    assert_eq!(agent_left.got(Payee::Agent), xno("0.57"));
    agent_left.check();
    let mut canceled = agent_left.clone();
    canceled.act(&principal(), Data::Cancel { reason: String::new() }).unwrap();
    ended(&canceled, State::Canceled, ["0.67", "0.57", "0.1", "0"]);
    agent_left.secs(30);
    ended(&agent_left, State::Canceled, ["0.67", "0.57", "0.1", "0"]);
    let mut principal_left = working();
    principal_left.secs(30);
    principal_left.back_out(Side::Principal).unwrap();
    ended(&principal_left, State::Canceled, ["0.52", "0.72", "0.1", "0"]);
}

#[test]
fn the_first_fix_ends_the_grace_period() {
    let mut world = verifying();
    assert_eq!(world.case.grace_until(), None);
    // An agent that leaves then leaves late, and a principal waits (see `payee`).
    world.back_out(Side::Agent).unwrap();
    assert_eq!(world.got(Payee::Agent), xno("0.57"));
}

#[test]
fn after_a_late_agent_the_posting_fee_is_taken_once() {
    let mut world = working();
    world.secs(31);
    world.back_out(Side::Agent).unwrap();
    world.bond(&stranger()).unwrap();
    world.accept(&stranger()).unwrap();
    world
        .act(
            &stranger(),
            Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None },
        )
        .unwrap();
    world.verify(true).unwrap();
    // 0.05 for leaving, 0.05 for posting; the principal has its insurance and the reimbursement.
    ended(&world, State::Fulfilled, ["0.22", "1.69", "0.1", "0"]);
}

#[test]
fn silence_accepts_a_fix_in_autonomous_mode() {
    let mut world = reviewing();
    assert_eq!(world.case.state(), State::Review);
    world.secs(7_199);
    assert_eq!(world.case.state(), State::Review);
    world.secs(1);
    ended(&world, State::Fulfilled, ["0.17", "1.12", "0.05", "0"]);
    assert_eq!(world.chained.last().unwrap().entry.kind(), EntryType::AutoFulfill);
}

#[test]
fn a_review_is_accepted_rejected_or_disputed() {
    let mut accepted = reviewing();
    accepted.act(&principal(), Data::ReviewAccept { explanation: "fine".into() }).unwrap();
    ended(&accepted, State::Fulfilled, ["0.17", "1.12", "0.05", "0"]);
    let mut rejected = reviewing();
    rejected.act(&principal(), Data::ReviewReject { reason: "no".into(), failure: None }).unwrap();
    assert_eq!(rejected.case.state(), State::Review);
    let mut objected = rejected.clone();
    rejected.secs(120);
    ended(&rejected, State::Canceled, ["0.62", "0.67", "0.05", "0"]);
    objected.dispute(Side::Agent).unwrap();
    // The windows are the review window now (decision E5).
    objected.secs(7_199);
    objected.respond(Side::Principal).unwrap();
    objected.rule(Outcome::EvilPrincipal).unwrap();
    objected.secs(7_199);
    assert_eq!(objected.case.state(), State::Disputed);
    objected.secs(1);
    ended(&objected, State::Resolved, ["0.15", "0.67", "0.07", "0.45"]);
    let mut disputed = reviewing();
    disputed.dispute(Side::Principal).unwrap();
    assert_eq!(disputed.case.state(), State::Disputed);
    disputed.check();
}

#[test]
fn a_halt_is_taken_back_or_judged() {
    let mut world = verifying();
    world.halt().unwrap();
    let mut judged = world.clone();
    world.pass(29_999);
    world.resume().unwrap();
    assert_eq!(world.case.state(), State::InProgress);
    world.verify(true).unwrap();
    ended(&world, State::Fulfilled, ["0.17", "1.12", "0.05", "0"]);
    judged.secs(30);
    assert_eq!(code(judged.resume()), 9140);
    judged.check();
    // The agent, whose fix was read, may answer first.
    judged.secs(30);
    judged.rule(Outcome::EvilAgent).unwrap();
    judged.secs(120);
    ended(&judged, State::Resolved, ["0.67", "0.15", "0.07", "0.45"]);
}

#[test]
fn a_halt_from_every_state_goes_on_as_work() {
    let mut looking = investigating_with(&paid());
    looking.halt().unwrap();
    looking.resume().unwrap();
    assert_eq!(looking.case.state(), State::InProgress);
    assert_eq!(looking.case.grace_until(), Some(looking.now.plus(Millis::secs(30))), "its own grace period");
    looking.back_out(Side::Agent).unwrap();
    assert_eq!(looking.got(Payee::Agent), xno("0.67"));
    let mut review = reviewing();
    review.halt().unwrap();
    review.resume().unwrap();
    assert_eq!((review.case.state(), review.case.attempts()), (State::InProgress, 0));
    review.fix().unwrap();
    assert_eq!(review.case.state(), State::Review);
    review.check();
    let mut working = working();
    working.secs(100);
    working.halt().unwrap();
    working.secs(20);
    working.resume().unwrap();
    working.secs(199);
    assert_eq!(working.case.attempts(), 0);
    working.secs(1);
    assert_eq!(working.case.attempts(), 1, "the halt's time does not count");
}

#[test]
fn every_ruling_is_paid_as_the_table_says() {
    for (outcome, money) in [
        (Outcome::Fulfilled, ["0.15", "1.12", "0.07", "0"]),
        (Outcome::Canceled, ["0.62", "0.65", "0.07", "0"]),
        (Outcome::Impossible, ["0.65", "0.67", "0.02", "0"]),
        (Outcome::EvilAgent, ["0.67", "0.15", "0.07", "0.45"]),
        (Outcome::EvilPrincipal, ["0.15", "0.67", "0.07", "0.45"]),
        (Outcome::EvilBoth, ["0.15", "0.15", "0.09", "0.95"]),
    ] {
        let mut world = judging();
        world.rule(outcome).unwrap();
        assert_eq!(world.case.state(), State::Disputed, "nothing is paid before the appeal window ends");
        assert!(world.case.settlements().is_empty());
        world.check();
        let mut waived = world.clone();
        for side in [Side::Principal, Side::Agent] {
            if outcome.is_lost_by(side) {
                waived.waive(side).unwrap();
            } else {
                assert_eq!(code(world.clone().appeal(side)), 9133);
            }
        }
        ended(&waived, State::Resolved, money);
        world.pass(119_999);
        assert_eq!(world.case.state(), State::Disputed);
        world.pass(1);
        ended(&world, State::Resolved, money);
    }
}

#[test]
fn an_appeal_goes_up_to_the_supreme_court() {
    let mut world = judging();
    world.rule(Outcome::Canceled).unwrap();
    world.appeal(Side::Agent).unwrap();
    world.respond(Side::Principal).unwrap();
    world.rule(Outcome::Fulfilled).unwrap();
    world.check();
    let mut stands = world.clone();
    stands.secs(120);
    // The loser of the last ruling pays that court's fee, once.
    ended(&stands, State::Resolved, ["0.12", "1.12", "0.1", "0"]);
    world.appeal(Side::Principal).unwrap();
    world.secs(30);
    world.rule(Outcome::Canceled).unwrap();
    ended(&world, State::Resolved, ["0.62", "0.57", "0.15", "0"]);
}

#[test]
fn free_mode_needs_no_bond_and_knows_no_court() {
    let mut world = World::new(&free(), &terms());
    assert_eq!(world.case.state(), State::Open);
    let mut declined = world.clone();
    declined.bond(&agent()).unwrap();
    declined.act(&agent(), Data::Decline { reason: "limited".into() }).unwrap();
    assert_eq!(declined.case.state(), State::Open);
    declined.check();
    world.accept(&agent()).unwrap();
    world.fix().unwrap();
    assert_eq!(code(world.dispute(Side::Principal)), 9129);
    let mut halted = world.clone();
    halted.halt().unwrap();
    halted.secs(29);
    assert_eq!(halted.case.state(), State::Halted);
    halted.secs(1);
    ended(&halted, State::Canceled, ["0", "0", "0", "0"]);
    for _ in 0..4 {
        world.verify(false).unwrap();
        world.fix().unwrap();
    }
    world.verify(false).unwrap();
    ended(&world, State::Canceled, ["0", "0", "0", "0"]);
}

#[test]
fn the_payout_address_is_the_signed_one() {
    let mut world = investigating_with(&paid());
    world.act(&agent(), Data::Accounts { payout: address(77) }).unwrap();
    world.accept(&agent()).unwrap();
    world.fix().unwrap();
    world.act(&principal(), Data::Accounts { payout: address(78) }).unwrap();
    world.verify(true).unwrap();
    world.check();
    assert_eq!(world.paid_out[&address(77)], xno("1.12"));
    assert_eq!(world.paid_out[&address(78)], xno("0.17"));
}

#[test]
fn who_calls_a_court_pays_it_unless_it_wins() {
    // The principal disputes, by itself or by a halt, and the court finds that nobody could have done it.
    let mut disputed = judging();
    disputed.rule(Outcome::Impossible).unwrap();
    let mut halted = working();
    halted.halt().unwrap();
    halted.secs(30);
    halted.rule(Outcome::Impossible).unwrap();
    for mut world in [disputed.clone(), halted] {
        world.secs(120);
        assert_eq!(world.case.state(), State::Resolved);
        assert_eq!([world.got(Payee::Principal), world.got(Payee::Agent)], [xno("0.65"), xno("0.67")]);
        assert_eq!(world.got(Payee::Platform), xno("0.02"));
        world.check();
    }
    // The other side appeals, and its judge is silent or cannot be read: it pays nothing, the first ruling stands.
    let mut silent = disputed.clone();
    silent.appeal(Side::Agent).unwrap();
    silent.secs(30);
    silent.secs(660);
    assert_eq!([silent.got(Payee::Principal), silent.got(Payee::Agent)], [xno("0.65"), xno("0.67")]);
    silent.check();
    // The same finding again: the last court is paid, once, by who called it.
    let mut twice = disputed;
    twice.appeal(Side::Agent).unwrap();
    twice.respond(Side::Principal).unwrap();
    twice.rule(Outcome::Impossible).unwrap();
    twice.secs(120);
    assert_eq!([twice.got(Payee::Principal), twice.got(Payee::Agent)], [xno("0.67"), xno("0.62")]);
    twice.check();
    // The agent disputes what exhausted its attempts, and wins: its fee is the principal's.
    let mut wins = verifying();
    wins.verify(false).unwrap();
    wins.dispute(Side::Agent).unwrap();
    wins.respond(Side::Principal).unwrap();
    wins.rule(Outcome::Fulfilled).unwrap();
    wins.secs(120);
    assert_eq!(wins.got(Payee::Agent), xno("1.12"));
    wins.check();
}
