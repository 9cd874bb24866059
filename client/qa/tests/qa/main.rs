//! Tests of the rules of the QA loop.
#![allow(clippy::unwrap_used)]

mod bodies;
mod dial;
mod finding;
#[path = "../../../../tests/fuzz/harness.rs"]
mod fuzz;
mod gate;
mod journal;
mod loop_rules;
mod patch;
mod rank;
mod repro;

const FINDING: &str = "qa/v1 source=qa-fuzz sev=high surface=decoder seed=7 extra=kept\nA panic.\nrepro: \
                       qa_decode({\"hex\":\"00ff\",\"kind\":\"envelope\"})";

#[test]
fn every_fuzz_target_holds_on_damaged_input() {
    fuzz::run(&bodies::ALL, |name, _| {
        match name {
            "qa_finding" => FINDING,
            "qa_repro" => "qa_compile(\"enum E{}\")",
            _ => patch::GOOD,
        }
        .as_bytes()
        .to_vec()
    });
}
