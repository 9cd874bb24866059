//! What has to be written twice says the same in both places.

use std::fs;
use zx1_house_tests::root;
use zx1_market::chain::{Author, EntryType};
use zx1_net::steers;
use zx1_scrub::neutral::{neutral, one_line};

/// What steers a terminal is defined once, in `zx1_net`. `zx1_scrub` is pure and does not need that crate; what it
/// hides from models is a larger set.
#[test]
fn whatever_steers_a_terminal_is_hidden_in_neutral_text() {
    for c in ('\0'..=char::MAX).filter(|c| steers(*c)) {
        let text = format!("a{c}b");
        if !matches!(c, '\n' | '\t') {
            assert!(!neutral(&text, None).text.contains(c), "U+{:04X}", u32::from(c));
        }
        assert!(!one_line(&text, 100).contains(steers), "U+{:04X}", u32::from(c));
    }
}

/// The explorer reads transcripts by itself, and refuses a type that it does not know.
#[test]
fn the_explorer_knows_every_type_of_entry_and_who_may_write_it() {
    let source = fs::read_to_string(root().join("indexer/service/explorer/js/transcript.js")).unwrap();
    let (_, table) = source.split_once("export const TYPES = {").unwrap();
    let (table, _) = table.split_once("};").unwrap();
    let listed: Vec<(&str, &str)> = table
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.trim().split_once(": [\"")?;
            Some((name, rest.split_once('"')?.0))
        })
        .collect();
    let known: Vec<(&str, &str)> = EntryType::ALL
        .iter()
        .map(|kind| {
            let author = match kind.author() {
                Author::Principal => "principal",
                Author::Agent => "agent",
                Author::Either => "either",
                Author::Server => "server",
            };
            (kind.as_str(), author)
        })
        .collect();
    assert_eq!(listed, known);
}
