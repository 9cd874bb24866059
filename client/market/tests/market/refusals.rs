//! Every refusal of a case by its number, and that none is forgotten.

use std::collections::BTreeSet;

use zx1_market::chain::{Common, Data, EntryType, Head, RulingData, Side};
use zx1_market::machine::State;
use zx1_market::money::{Court, Outcome};
use zx1_market::*;

use crate::support::*;

fn talk() -> Data {
    Data::Message { message: "hello".into() }
}

fn investigate(command: &str) -> Data {
    Data::Investigate { command: command.into() }
}

#[test]
fn the_catalogue_is_sound() {
    let mut codes = BTreeSet::new();
    for reason in Reason::ALL {
        assert!((9000..9150).contains(&reason.code()), "{reason:?}");
        assert!(codes.insert(reason.code()), "{reason:?} has a number of its own");
        let sentence = reason.sentence();
        assert!(sentence.ends_with('.') && sentence.contains([';', ',']), "{sentence} says what to do");
        assert!(sentence.matches("{}").count() <= 1);
        assert!(!Refusal::with(*reason, "x").to_string().contains("{}"));
        assert!((400..=501).contains(&reason.class().status()));
    }
    let statuses: BTreeSet<u16> = Reason::ALL.iter().map(|r| r.class().status()).collect();
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [400, 401, 403, 404, 409, 410, 413, 429, 501]);
}

#[test]
fn every_number_is_tested_somewhere() {
    let folder = format!("{}/tests/market", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    for file in std::fs::read_dir(folder).unwrap() {
        text.push_str(&std::fs::read_to_string(file.unwrap().path()).unwrap());
    }
    // Replays are refused by the server's store, with this crate's number.
    let elsewhere = [9095];
    for reason in Reason::ALL.iter().filter(|r| !elsewhere.contains(&r.code())) {
        assert!(text.contains(&reason.code().to_string()), "{reason:?} {} has no test", reason.code());
    }
}

#[test]
fn talk_is_bounded_in_bytes() {
    let mut w = working();
    let chat = || Data::Chat { message: "x".repeat(defaults::MAX_TEXT) };
    let mut said = 0;
    let refused = loop {
        match w.act(&agent(), chat()) {
            Ok(()) => said += 1,
            Err(refusal) => break refusal,
        }
    };
    assert_eq!((said, refused.code()), (62, 9057));
    // What moves the contract is still taken.
    w.fix().unwrap();
    w.verify(true).unwrap();
    w.check();
}

#[test]
fn only_the_right_side_may_act() {
    let mut w = open();
    assert_eq!(code(w.act(&agent(), Data::Cancel { reason: String::new() })), 9113);
    assert_eq!(code(w.accept(&agent())), 9121);
    assert_eq!(code(w.bond(&principal())), 9117);
    assert_eq!(code(w.bond(&server())), 9118);
    assert_eq!(code(w.bond(&judge())), 9118);
    let other = Data::Bond { agent: stranger().id(), payout: None };
    let entry = w.entry(&agent(), &other);
    assert_eq!(code(w.case.reserve(entry, w.now)), 9114);
    let mut w = investigating_with(&paid());
    assert_eq!(code(w.accept(&stranger())), 9114);
    assert_eq!(code(w.act(&agent(), Data::Accept { agent: stranger().id() })), 9114);
    assert_eq!(code(w.act(&stranger(), talk())), 9115);
    assert_eq!(code(w.act(&principal(), Data::Ask { message: "?".into() })), 9114);
    assert_eq!(code(w.act(&agent(), Data::Answer { message: "!".into() })), 9113);
    assert_eq!(code(w.act(&agent(), Data::Halt { reason: String::new() })), 9113);
    w.act(&agent(), Data::Ask { message: "?".into() }).unwrap();
    let mut w = verifying();
    let verify = Data::Verify {
        success: true,
        explanation: String::new(),
        exit_code: None,
        output: String::new(),
        failure: None,
    };
    assert_eq!(code(w.act(&agent(), verify)), 9113);
    assert_eq!(
        code(w.act(&principal(), Data::DisputeFiled { argument: "x".into(), side: Side::Agent })),
        9048
    );
    assert_eq!(code(w.act(&stranger(), Data::BackOut { reason: String::new() })), 9115);
    w.check();
}

#[test]
fn states_refuse_what_does_not_belong_there() {
    let mut w = World::new(&paid(), &terms());
    assert_eq!(code(w.accept(&agent())), 9111);
    assert_eq!(code(w.act(&principal(), talk())), 9111);
    w.deposit(Side::Principal).unwrap();
    assert_eq!(code(w.deposit(Side::Principal)), 9104);
    assert_eq!(code(w.deposit(Side::Agent)), 9104);
    let bond = Data::Bond { agent: agent().id(), payout: None };
    assert_eq!(code(w.act(&agent(), bond)), 9085, "a paid bond is reserved, not handled");
    let mut w = working();
    assert_eq!(code(w.reserve(&stranger())), 9111);
    assert_eq!(code(w.verify(true)), 9127);
    assert_eq!(code(w.resume()), 9111);
    assert_eq!(code(w.act(&principal(), Data::ReviewAccept { explanation: String::new() })), 9142);
    assert_eq!(code(w.dispute(Side::Agent)), 9130);
    assert_eq!(code(w.respond(Side::Agent)), 9136);
    assert_eq!(code(w.waive(Side::Agent)), 9136);
    assert_eq!(code(w.appeal(Side::Agent)), 9136);
    w.fix().unwrap();
    assert_eq!(code(w.fix()), 9126);
    w.verify(true).unwrap();
    assert_eq!(code(w.fix()), 9112);
    assert_eq!(code(w.act(&principal(), talk())), 9112);
    assert_eq!(code(w.appeal(Side::Principal)), 9112);
    let mut w = reviewing();
    assert_eq!(code(w.verify(true)), 9111);
    assert_eq!(code(w.dispute(Side::Agent)), 9130);
    assert_eq!(code(w.back_out(Side::Agent)), 9111);
    assert_eq!(code("lost".parse::<State>()), 9110);
}

#[test]
fn investigations_are_bounded_over_all_agents() {
    let mut w = investigating_with(&paid());
    w.act(&agent(), investigate("cat a")).unwrap();
    let refusal = w.act(&agent(), investigate("cat b")).unwrap_err();
    assert_eq!((refusal.code(), refusal.class()), (9124, Class::TooMany));
    assert_eq!(w.case.pending_investigations(), ["cat a"]);
    let answer = |command: &str| Data::Result {
        command: command.into(),
        output: String::new(),
        exit_code: None,
        refused: false,
    };
    assert_eq!(code(w.act(&principal(), answer("cat z"))), 9125);
    w.act(&principal(), answer("cat a")).unwrap();
    for n in 1..5 {
        w.secs(5);
        w.act(&agent(), investigate(&format!("cat {n}"))).unwrap();
    }
    w.secs(5);
    assert_eq!(code(w.act(&agent(), investigate("cat c"))), 9123);
    w.act(&agent(), Data::Decline { reason: String::new() }).unwrap();
    w.bond(&stranger()).unwrap();
    assert_eq!(code(w.act(&stranger(), investigate("cat d"))), 9123);
    w.check();
}

#[test]
fn entries_are_signed_when_they_are_sent() {
    let mut w = working();
    let head = w.case.head();
    let message = |at: Millis, who: &PartyKey| Entry::sign(&talk(), head, at, who);
    for (at, good) in [
        (w.now.minus(Millis(60_000)), true),
        (w.now.minus(Millis(60_001)), false),
        (w.now.plus(Millis(5_000)), true),
        (w.now.plus(Millis(5_001)), false),
    ] {
        let result = w.case.clone().handle(message(at, &agent()), w.now, &server());
        if good { assert!(result.is_ok()) } else { assert_eq!(code(result), 9043) }
    }
    // A conflict carries the head; a foreign contract's entry is one too.
    let foreign = Entry::sign(&talk(), Head::GENESIS, w.now, &agent());
    let refusal = w.case.handle(foreign, w.now, &server()).unwrap_err();
    assert_eq!((refusal.code(), refusal.head()), (9050, Some(head)));
    let Json::Object(mut fields) = message(w.now, &agent()).to_json() else { panic!() };
    fields.insert("data".into(), Data::Message { message: "other".into() }.to_json(&Common::default()));
    let forged = Entry::from_json(&Json::Object(fields)).unwrap();
    assert_eq!(code(w.case.handle(forged, w.now, &server())), 9044);
    let lying = talk().to_json(&Common::from(Side::Principal));
    let lying = Entry::sign_json(EntryType::Message, lying, head, w.now, &agent());
    assert_eq!(code(w.case.handle(lying, w.now, &server())), 9048);
    let second = post(&paid(), &principal(), w.now);
    assert_eq!(code(w.case.apply(&second, w.now)), 9050);
    let second = Entry::sign_json(EntryType::Post, second.data().clone(), head, w.now, &principal());
    assert_eq!(code(w.case.handle(second, w.now, &server())), 9143);
}

#[test]
fn server_entries_are_the_servers() {
    let mut w = verifying();
    let forged = w.entry(&principal(), &Data::AutoFulfill { reason: String::new() });
    assert_eq!(code(w.case.handle(forged.clone(), w.now, &server())), 9116);
    assert_eq!(code(w.case.apply(&forged, w.now)), 9116);
    let on_behalf = Common { on_behalf_of: Some(agent().id()), ..Common::default() };
    let entry =
        Entry::sign_json(EntryType::Message, talk().to_json(&on_behalf), w.case.head(), w.now, &server());
    assert_eq!(code(w.case.handle(entry, w.now, &server())), 9144);
    assert_eq!(code(w.case.sign_for(agent().id(), &talk(), w.now, &server())), 9049);
    let metadata = chain::DisputeMetadata {
        filer: Side::Agent,
        court: Court::District,
        fee: xno("0.02"),
        response_deadline: 0,
    };
    assert_eq!(code(w.by_server(Data::DisputeMetadata(metadata))), 9136);
    w.dispute(Side::Principal).unwrap();
    w.by_server(Data::DisputeMetadata(metadata)).unwrap();
    w.check();
}

#[test]
fn posting_is_checked_wholly() {
    let start = |entry: Entry| Case::start(entry, &terms(), START, &server()).map(|(case, _)| case.id());
    let data = posting(&paid(), &agent(), Some(address(11)));
    assert_eq!(code(start(Entry::sign(&data, Head::GENESIS, START, &principal()))), 9113);
    assert_eq!(code(start(Entry::sign(&talk(), Head::GENESIS, START, &principal()))), 9143);
    let late = post(&paid(), &principal(), START.minus(Millis::secs(61)));
    assert_eq!(code(start(late)), 9043);
    let good = post(&paid(), &principal(), START);
    assert_eq!(start(good.clone()).unwrap(), good.contract_id().unwrap());
    let cheap = paid().json().canonical().replace("0.5\"", "0.1\"");
    let market = Some(terms().market());
    let payout = Some(address(11));
    let contract: Json = cheap.parse().unwrap();
    let data = Data::Post { contract, principal: principal().id(), payout, market };
    assert_eq!(code(start(Entry::sign(&data, Head::GENESIS, START, &principal()))), 9062);
    let json = data.to_json(&Common::from(Side::Agent));
    assert_eq!(
        code(start(Entry::sign_json(EntryType::Post, json, Head::GENESIS, START, &principal()))),
        9048
    );
    // What is signed for one market is good at no other, on no other ledger.
    for market in [
        MarketId { server: stranger().id(), ..terms().market() },
        MarketId { network: nano_escrow::Network::Live.into(), ..terms().market() },
    ] {
        let (contract, principal_id) = (free().json().clone(), principal().id());
        let data = Data::Post { contract, principal: principal_id, payout: None, market: Some(market) };
        assert_eq!(code(start(Entry::sign(&data, Head::GENESIS, START, &principal()))), 9089);
    }
    let (contract, principal_id) = (free().json().clone(), principal().id());
    let data = Data::Post { contract, principal: principal_id, payout: None, market: None };
    assert_eq!(code(start(Entry::sign(&data, Head::GENESIS, START, &principal()))), 9020);
    let other = Head { seq: 0, hash: [0; 32] };
    assert_eq!(code(start(Entry::sign(&data, other, START, &principal()))), 9050);
}

#[test]
fn deposits_must_be_whole_and_the_terms_the_servers() {
    let mut w = World::new(&paid(), &terms());
    let deposit = chain::DepositData { account: address(101), amount: xno("0.66"), source: address(11) };
    assert_eq!(code(w.case.deposit_confirmed(Side::Principal, deposit, w.now, &server())), 9103);
    let mut cheaper = terms();
    cheaper.fees.platform_fee_bp = 1;
    let deposit = chain::DepositData { amount: xno("0.67"), ..deposit };
    let opened = Data::Opened { terms: Box::new(cheaper), deposit: Some(deposit) };
    assert_eq!(code(w.by_server(opened)), 9148);
    w.deposit(Side::Principal).unwrap();
    w.reserve(&agent()).unwrap();
    // The principal's own account again.
    assert_eq!(code(w.case.deposit_confirmed(Side::Agent, deposit, w.now, &server())), 9104);
    w.deposit(Side::Agent).unwrap();
    let own = w.case.settlements().len();
    assert_eq!(own, 0);
    assert_eq!(code(w.act(&agent(), Data::Accounts { payout: address(101) })), 9105);
}

#[test]
fn a_bond_without_its_confirmation_blocks_everything() {
    // Only a broken server or a cut transcript can come here.
    let mut w = open();
    let bond = w.entry(&agent(), &Data::Bond { agent: agent().id(), payout: Some(address(12)) });
    w.case.apply(&bond, w.now).unwrap();
    assert_eq!(w.case.next_deadline(), None);
    let accept = w.entry(&agent(), &Data::Accept { agent: agent().id() });
    assert_eq!(code(w.case.apply(&accept, w.now)), 9122);
    assert_eq!(code(w.by_server(Data::AutoDecline { reason: String::new() })), 9122);
}

#[test]
fn courts_refuse_what_is_out_of_turn() {
    let mut w = verifying();
    w.dispute(Side::Principal).unwrap();
    assert_eq!(code(w.dispute(Side::Agent)), 9111);
    assert_eq!(code(w.respond(Side::Principal)), 9131);
    assert_eq!(code(w.act(&agent(), Data::Accounts { payout: address(5) })), 9146);
    assert_eq!(code(w.reexecute()), 9131);
    w.act(&agent(), talk()).unwrap();
    w.respond(Side::Agent).unwrap();
    assert_eq!(code(w.act(&agent(), talk())), 9131, "nobody speaks while the judge reads");
    assert_eq!(code(w.rule_as(Outcome::Canceled, Court::District)), 9106);
    w.reexecute().unwrap();
    assert_eq!(code(w.reexecute()), 9147);
    assert_eq!(code(w.rule_as(Outcome::Canceled, Court::Appeals)), 9137);
    let ruling = |_: &World| RulingData::new(Outcome::Canceled, Court::District, "so");
    let head = w.case.head().hash;
    let signed =
        |data: RulingData, key: &PartyKey| Data::Ruling(Box::new(data.sign(w.case.id(), &head, key)));
    let by_agent = signed(ruling(&w), &agent());
    let mut final_early = ruling(&w);
    final_early.is_final = true;
    let final_early = signed(final_early, &judge());
    let mut unreadable = ruling(&w);
    unreadable.flags.push(RulingData::UNPARSABLE.into());
    let unreadable = signed(unreadable, &judge());
    let old = Data::Ruling(Box::new(ruling(&w).sign(w.case.id(), &[0; 32], &judge())));
    assert_eq!(code(w.by_server(by_agent)), 9138, "an agent is not its own judge");
    assert_eq!(code(w.by_server(final_early)), 9086);
    assert_eq!(code(w.by_server(unreadable)), 9107);
    assert_eq!(code(w.by_server(old)), 9053, "a ruling counts for the transcript that was read");
    w.rule_as(Outcome::Impossible, Court::District).unwrap();
    assert_eq!(code(w.rule_as(Outcome::Canceled, Court::District)), 9131);
    w.waive(Side::Agent).unwrap();
    assert_eq!(code(w.waive(Side::Agent)), 9139);
    assert_eq!(code(w.appeal(Side::Agent)), 9139);
    let (entry, now) = (w.case.head(), w.now.plus(Millis::secs(120)));
    let late =
        Entry::sign(&Data::Appeal { argument: "x".into(), side: Side::Principal }, entry, now, &principal());
    assert_eq!(code(w.case.handle(late, now, &server())), 9135);
    w.appeal(Side::Principal).unwrap();
    w.secs(30);
    w.rule(Outcome::Canceled).unwrap();
    assert_eq!(code(w.waive(Side::Principal)), 9133);
    w.check();
}

#[test]
fn late_entries_are_refused_even_before_the_server_has_acted() {
    let late = |w: &World, who: &PartyKey, data: &Data, span: u64| {
        let now = w.now.plus(Millis(span));
        let entry = Entry::sign(data, w.case.head(), now, who);
        code(w.case.clone().handle(entry, now, &server()))
    };
    let fix = Data::Fix { fix: "true".into(), explanation: String::new(), corrected_command: None };
    assert_eq!(late(&working(), &agent(), &fix, 300_000), 9108);
    let accept = Data::ReviewAccept { explanation: String::new() };
    assert_eq!(late(&reviewing(), &principal(), &accept, 7_200_000), 9111);
    let dispute = Data::DisputeFiled { argument: "x".into(), side: Side::Principal };
    assert_eq!(late(&reviewing(), &principal(), &dispute, 7_200_000), 9111);
    let mut halted = verifying();
    halted.halt().unwrap();
    assert_eq!(late(&halted, &principal(), &Data::Resume { reason: String::new() }, 30_000), 9140);
}

#[test]
fn talk_cannot_fill_a_chain() {
    let mut w = working();
    while w.case.head().seq < defaults::MAX_TALK_ENTRIES {
        w.act(&agent(), talk()).unwrap();
    }
    assert_eq!(code(w.act(&agent(), talk())), 9052);
    assert_eq!(code(w.act(&agent(), Data::Accounts { payout: address(5) })), 9052);
    w.fix().unwrap();
    w.verify(true).unwrap();
}

#[test]
fn final_rulings_cannot_be_appealed() {
    let mut w = judging();
    for side in [Side::Agent, Side::Principal] {
        let outcome = if side == Side::Agent { Outcome::Canceled } else { Outcome::Fulfilled };
        w.rule(outcome).unwrap();
        w.appeal(side).unwrap();
        w.secs(30);
    }
    w.rule(Outcome::Canceled).unwrap();
    assert_eq!(w.case.state(), State::Resolved);
    assert_eq!(code(w.appeal(Side::Agent)), 9112);
}
