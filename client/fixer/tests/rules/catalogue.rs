//! What the catalogue promises.

use std::collections::{BTreeMap, BTreeSet};

use zx1_fixer::rules::{Kind, catalogue};

use super::cases;

#[test]
fn there_are_many_rules_for_many_tools() {
    let tools: BTreeSet<&str> = catalogue().iter().map(|rule| rule.tool).collect();
    assert!(catalogue().len() >= 40, "{}", catalogue().len());
    assert!(tools.len() >= 12, "{tools:?}");
    assert!(catalogue().iter().any(|rule| rule.kind == Kind::World));
    assert!(catalogue().iter().any(|rule| rule.kind == Kind::Command));
}

#[test]
fn every_rule_has_its_own_name_and_says_what_it_does() {
    let mut ids = BTreeSet::new();
    for rule in catalogue() {
        assert!(ids.insert(rule.id), "{} stands twice", rule.id);
        assert!(
            rule.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{}",
            rule.id
        );
        assert!(!rule.title.is_empty() && rule.doc.ends_with('.'), "{}", rule.id);
    }
}

#[test]
fn every_rule_has_a_case_that_really_fails() {
    let mut cases: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases::all() {
        *cases.entry(case.rule).or_default() += 1;
    }
    let missing: Vec<&str> =
        catalogue().iter().map(|rule| rule.id).filter(|id| !cases.contains_key(id)).collect();
    assert!(missing.is_empty(), "without a case: {missing:?}");
    let unknown: Vec<&&str> =
        cases.keys().filter(|id| !catalogue().iter().any(|rule| rule.id == **id)).collect();
    assert!(unknown.is_empty(), "cases of no rule: {unknown:?}");
}

/// A typo is always corrected in the command, never by a new file or link that makes the wrong word work.
#[test]
fn a_misspelt_command_is_never_repaired_by_changing_the_world() {
    for rule in catalogue().iter().filter(|rule| rule.id.contains("typo")) {
        assert_eq!(rule.kind, Kind::Command, "{}", rule.id);
    }
}
