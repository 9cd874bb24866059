use std::collections::BTreeSet;
use zx1_market::Json;
use zx1_qa::budget::{Amounts, Book, BudgetError};
use zx1_qa::dial::Rung;
use zx1_qa::observation::Observation;
use zx1_qa::repro::Repro;
use zx1_qa::sibling::siblings;
use zx1_qa::suite::{PERSONAS, SUITES, Suite};
use zx1_qa::tool::named;

fn writes(writes: u64) -> Amounts {
    Amounts { writes, ..Amounts::default() }
}

#[test]
fn what_is_reserved_is_gone_until_it_is_settled() {
    let mut book = Book::new(writes(10));
    assert_eq!(book.reserve(1, writes(6)), Ok(()));
    assert_eq!(book.reserve(2, writes(5)), Err(BudgetError::Exceeded { what: "writes", asked: 5, left: 4 }));
    assert_eq!(book.settle(1, writes(1)), Ok(()));
    assert_eq!(book.settle(1, writes(1)), Err(BudgetError::NotReserved(1)));
    assert_eq!(book.reserve(2, writes(9)), Ok(()));
    assert_eq!(book.charge(2), Ok(writes(9)));
    assert_eq!((book.used(), book.open().len()), (writes(10), 0));
    assert!(book.reserve(3, writes(1)).is_err());
}

#[test]
fn every_amount_has_its_own_limit() {
    let limit =
        Amounts { writes: 1, lamports: 2, raw_millionths: 3, micro_usd: 4, cpu_ms: 5, wall_ms: 6, bytes: 7 };
    assert_eq!(Amounts::parse(&limit.json()), Some(limit));
    assert_eq!(Amounts::parse(&Json::object([("bites", 1u64)])), None);
    let mut book = Book::new(limit);
    let over = Amounts { bytes: 8, ..Amounts::default() };
    assert_eq!(book.reserve(0, over), Err(BudgetError::Exceeded { what: "bytes", asked: 8, left: 7 }));
    assert_eq!(book.reserve(0, limit), Ok(()));
}

#[test]
fn an_observation_is_read_back_and_one_that_contradicts_itself_is_not() {
    let fine = Observation { seed: Some(7), latency_ms: 3, ..Observation::fine("v") };
    let wrong = Observation::wrong("v", &format!("a\u{1b}[2Jb{}", "c".repeat(999)));
    for one in [fine.clone(), wrong.clone()] {
        assert_eq!(Observation::parse(one.json().canonical().as_bytes()), Some(one));
    }
    let error = wrong.error.unwrap();
    assert!(error.chars().count() == 300 && error.starts_with("a [2Jb"));
    let both = fine.json().canonical().replace("\"error\":null", "\"error\":\"x\"");
    assert_eq!(Observation::parse(both.as_bytes()), None);
    for bad in ["", "{}", "null", "{\"ok\":true}"] {
        assert_eq!(Observation::parse(bad.as_bytes()), None);
    }
}

#[test]
fn siblings_of_a_call_are_other_calls_of_its_tool_and_always_the_same() {
    for line in [
        "qa_decode({\"hex\":\"80ff00\",\"kind\":\"envelope\"})",
        "qa_decode(\"enum E{}\")",
        "qa_cli({\"arguments\":[\"inspect\",\"tx\",\"00\"],\"program\":\"zx1\"})",
    ] {
        let repro = Repro::parse(line).unwrap();
        let found = siblings(&repro, 12);
        assert_eq!(found.len(), 12, "{line}");
        assert_eq!(found, siblings(&repro, 12));
        let lines: BTreeSet<String> = found.iter().map(Repro::to_string).collect();
        assert!(lines.len() == 12 && !lines.contains(line));
        for one in &found {
            assert_eq!(one.tool(), repro.tool());
            assert_eq!(Repro::parse(&one.to_string()).as_ref(), Ok(one));
        }
    }
    assert_eq!(siblings(&Repro::parse("qa_chain({\"method\":\"getSlot\"})").unwrap(), 12), []);
}

#[test]
fn suites_name_tools_of_the_table_and_a_rung_leaves_out_what_it_may_not_call() {
    for suite in &SUITES {
        assert_eq!(Suite::of(suite.word), Some(suite));
        assert!(suite.tools.iter().all(|tool| named(tool).is_some()), "{}", suite.word);
    }
    let jail = Suite::of("jail").unwrap();
    assert_eq!(jail.tools_at(Rung::Observe).count(), 0);
    assert_eq!(jail.tools_at(Rung::Exercise).collect::<Vec<_>>(), ["qa_attack"]);
    assert!(PERSONAS.iter().all(|persona| Suite::of(persona.suite).is_some()));
}

#[test]
fn a_persona_that_finds_nothing_comes_less_often_and_missed_runs_are_one() {
    let fuzz = PERSONAS.iter().find(|it| it.name == "qa-fuzz").unwrap();
    assert_eq!(fuzz.due(None, 0), i64::MIN);
    let pauses: Vec<i64> = (0..8).map(|quiet| fuzz.due(Some(1_000), quiet) - 1_000).collect();
    assert_eq!(pauses, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    assert_eq!(fuzz.due(Some(i64::MAX), u32::MAX), i64::MAX);
}
