use crate::FINDING;
use proptest::prelude::*;
use zx1_qa::finding::{Finding, FindingError, Text, halt, is_halt, may_summarize, summary};
use zx1_qa::repro::Repro;
use zx1_qa::severity::Severity;

fn read(text: &str) -> Finding {
    match Text::parse(text) {
        Text::Finding(finding) => *finding,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_finding_is_read_whole_and_written_as_it_was() {
    let finding = read(FINDING);
    assert_eq!((finding.severity(), finding.seed), (Severity::High, Some(7)));
    assert_eq!(finding.other, [("extra".to_owned(), "kept".to_owned())]);
    assert_eq!(finding.summary, "A panic.");
    assert!(finding.repro.is_some());
    assert_eq!(finding.build().unwrap(), FINDING);
}

#[test]
fn only_the_last_line_reproduces() {
    for text in [
        "qa/v1 sev=low\nrepro: qa_decode({})\nmore prose",
        "qa/v1 sev=low\nsummary\nrepro: one\ntwo",
        "qa/v1 sev=low\nsummary\nrepro: rm -rf /",
        "qa/v1 sev=low\nsummary\n repro: qa_decode({})",
    ] {
        let finding = read(text);
        assert_eq!(finding.repro, None, "{text}");
        assert!(finding.summary.contains("repro:"), "what is not run is prose: {text}");
    }
    let two = read("qa/v1 sev=low\nsummary\nrepro: qa_cli({})\nrepro: qa_decode({})");
    assert_eq!(two.repro.unwrap().to_string(), "qa_decode({})");
}

#[test]
fn texts_without_the_tag_are_prose() {
    for text in ["it is slow\nrepro: qa_decode({})", "qa/v2 sev=high", "", "qa/v11 sev=low"] {
        assert_eq!(Text::parse(text), Text::Prose(text.trim().to_owned()));
    }
}

#[test]
fn a_finding_of_768_bytes_is_written_and_one_of_769_is_not() {
    let of =
        |n: usize| Finding { sev: Some("low".to_owned()), summary: "a".repeat(n - 14), ..Finding::default() };
    assert_eq!(of(768).build().unwrap().len(), 768);
    assert_eq!(of(769).build(), Err(FindingError::Long { found: 769, limit: 768 }));
}

#[test]
fn what_would_not_be_read_back_is_not_written() {
    let good = read(FINDING);
    let mut wrong = Vec::new();
    for source in ["", "a b", "a=b", "a\nsev=critical", "a\tb"] {
        wrong.push(Finding { source: Some(source.to_owned()), ..good.clone() });
    }
    for version in ["abc", "ZZ"] {
        wrong.push(Finding { version: Some(version.to_owned()), ..good.clone() });
    }
    for summary in ["", " a", "a\n"] {
        wrong.push(Finding { summary: summary.to_owned(), ..good.clone() });
    }
    wrong.push(Finding { summary: "a\nrepro: qa_decode({})".to_owned(), repro: None, ..good.clone() });
    wrong.push(Finding { other: vec![("sev".to_owned(), "low".to_owned())], ..good.clone() });
    wrong.push(Finding {
        other: vec![("k".to_owned(), "1".to_owned()), ("k".to_owned(), "2".to_owned())],
        ..good
    });
    for finding in wrong {
        assert!(finding.build().is_err(), "{finding:?}");
    }
}

#[test]
fn only_the_maintainer_halts_and_only_with_the_whole_first_line() {
    let (maintainer, other) = ([1; 32], [2; 32]);
    let text = halt("A tool runs wild.");
    assert!(is_halt(&text, &maintainer, &maintainer));
    assert!(is_halt("qa/v1 halt", &maintainer, &maintainer));
    assert!(!is_halt(&text, &other, &maintainer));
    for text in ["qa/v1 halt now", "qa/v1  halt", "note\nqa/v1 halt", " qa/v1 halt", "qa/v1 sev=halt"] {
        assert!(!is_halt(text, &maintainer, &maintainer), "{text}");
    }
}

#[test]
fn a_summary_names_three_and_is_filed_once_a_day() {
    let text = summary("qa-triage", &[(9, "money"), (4, "cli"), (7, "ux"), (1, "docs")], 12).unwrap();
    assert!(text.contains("9 (money), 4 (cli), 7 (ux).") && !text.contains("docs"));
    assert_eq!(read(&text).severity(), Severity::Meta);
    assert!(may_summarize(None, 0));
    assert!(!may_summarize(Some(86_400), 2 * 86_400 - 1));
    assert!(may_summarize(Some(86_400), 2 * 86_400));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        source in proptest::option::of("[a-z][a-z0-9-]{0,20}"), sev in proptest::option::of("[a-z]{1,8}"),
        seed: Option<u64>, regression_of: Option<u64>, version in proptest::option::of("[0-9a-f]{40}"),
        evidence in proptest::option::of("[0-9a-f]{64}"), value in "[!-<>-~]{1,10}",
        summary in "[!-~]{1,10}( [!-~]{1,10}){0,3}(\n[a-z]{1,9}){0,2}", has_repro: bool,
    ) {
        let finding = Finding {
            source, sev, seed, regression_of, version, evidence, summary, surface: Some("cli".to_owned()),
            other: vec![("new-key".to_owned(), value)],
            repro: has_repro.then(|| Repro::parse("qa_cli({})").unwrap()),
        };
        prop_assert_eq!(Text::parse(&finding.build().unwrap()), Text::Finding(Box::new(finding)));
    }

    #[test]
    fn any_text_is_read(text in "\\PC*") {
        crate::bodies::qa_finding(text.as_bytes());
        crate::bodies::qa_finding(format!("qa/v1 {text}").as_bytes());
    }
}
