//! The audit log, bootstrap.log, status.

use proptest::prelude::*;
use zx1_capsule::audit::{Entry, Event, Head, check};
use zx1_capsule::bootlog::{Line, Word, succeeded};
use zx1_capsule::caps::Budget;
use zx1_capsule::machine::{self, Machine};
use zx1_capsule::status::{BudgetLeft, Status};

fn entry(name: &str) -> Entry {
    Entry {
        seq: 0,
        at_ms: 1_764_300_000_000,
        who: "agent/1".into(),
        repository: "agent.git".into(),
        event: Event::Update,
        name: name.into(),
        old: "0".repeat(40),
        new: "1".repeat(40),
    }
}

fn log(count: usize) -> String {
    let mut head = Head::default();
    (0..count).map(|n| head.append(entry(&format!("refs/heads/bot/{n}")))).collect()
}

#[test]
fn a_log_checks_and_goes_on_where_it_ended() {
    let text = log(3);
    let checked = check(text.as_bytes()).unwrap();
    assert_eq!(checked.entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [0, 1, 2]);
    let mut head = checked.head;
    let more = text.clone() + &head.append(entry("refs/heads/main"));
    assert_eq!(check(more.as_bytes()).unwrap().head, head);
    assert_eq!(check(b"").unwrap().head, Head::default());
}

#[test]
fn the_first_line_has_the_bytes_that_the_documentation_names() {
    use sha2::{Digest as _, Sha256};
    let line = Head::default().append(entry("refs/heads/main"));
    let body = line[65..].trim_end();
    let mut bytes = b"zx1/capsule/audit/v1".to_vec();
    bytes.extend([0; 32]);
    bytes.extend(body.as_bytes());
    assert_eq!(line[..64], hex::encode(Sha256::digest(bytes)));
    assert!(body.starts_with(
        r#"{"seq":0,"at_ms":1764300000000,"who":"agent/1","repository":"agent.git","event":"update","#
    ));
}

#[test]
fn a_log_torn_at_any_byte_keeps_its_whole_lines() {
    let text = log(3);
    for cut in 0..=text.len() {
        let checked = check(&text.as_bytes()[..cut]).unwrap();
        let lines = text[..cut].matches('\n').count();
        assert_eq!(checked.entries.len(), lines, "cut at {cut}");
        assert_eq!(checked.whole, text[..cut].rfind('\n').map_or(0, |at| at + 1));
    }
}

#[test]
fn a_line_that_is_changed_left_out_doubled_or_moved_breaks_the_chain() {
    let text = log(4);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let broken = |lines: &[&str]| check(lines.concat().as_bytes()).unwrap_err().code();
    assert_eq!(broken(&[lines[0], lines[2], lines[3]]), 7940);
    assert_eq!(broken(&[lines[1], lines[2]]), 7940);
    assert_eq!(broken(&[lines[0], lines[0], lines[1]]), 7940);
    assert_eq!(broken(&[lines[0], lines[2], lines[1], lines[3]]), 7940);
    assert_eq!(broken(&[&lines[0].replace("bot/0", "bot/9"), lines[1]]), 7940);
}

proptest! {
    #[test]
    fn one_changed_byte_is_found(at in 0usize..700, flip in 1u8..) {
        let mut bytes = log(3).into_bytes();
        let at = at % bytes.len();
        bytes[at] ^= flip;
        let same = |checked: &zx1_capsule::audit::Checked| checked.entries.len() == 3;
        prop_assert!(!check(&bytes).is_ok_and(|checked| same(&checked)));
    }

    #[test]
    fn any_bytes_as_a_log_are_judged_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = check(&bytes);
    }
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn lines(lines: &[(&str, u64)]) -> String {
    lines.iter().map(|(word, n)| format!("2026-11-28T08:00:00Z {word} bot/x {COMMIT} {n}\n")).collect()
}

#[test]
fn a_line_of_bootstrap_log_reads_as_it_is_written() {
    let text = format!("2026-11-28T08:00:00Z SUCCESS bot/x {COMMIT} 7");
    let line = Line::parse(&text).unwrap();
    assert_eq!((line.word, line.generation, line.branch.as_str()), (Word::Success, 7, "bot/x"));
    assert_eq!(line.to_string(), text);
    for bad in [
        "",
        "x",
        "now SUCCESS a b 1",
        "2026-11-28T08:00:00Z DONE a b 1",
        "2026-11-28T08:00:00Z SUCCESS a b 1 2",
    ] {
        assert_eq!(Line::parse(bad), None, "{bad}");
    }
}

#[test]
fn success_counts_only_after_the_last_bootstrapping_of_the_same_generation() {
    let (boot, done) = ("BOOTSTRAPPING", "SUCCESS");
    assert!(succeeded(&lines(&[(boot, 3), (done, 3)]), 3));
    assert!(succeeded(&lines(&[(boot, 2), (boot, 3), (done, 3)]), 3));
    assert!(!succeeded(&lines(&[(done, 3)]), 3), "without a beginning");
    assert!(!succeeded(&lines(&[(boot, 3), (done, 3), (boot, 3)]), 3), "it began anew");
    assert!(!succeeded(&lines(&[(boot, 3), (done, 2)]), 3), "another generation's");
    assert!(!succeeded(&lines(&[(boot, 2), (done, 2)]), 3), "an old one");
    assert!(!succeeded(lines(&[(boot, 3), (done, 3)]).trim_end(), 3), "its line has no end yet");
    assert!(succeeded(&(lines(&[(boot, 3)]) + "noise\n" + &lines(&[(done, 3)])), 3));
}

#[test]
fn status_has_the_fields_that_programs_read() {
    let mut machine = Machine::default();
    let _ = machine.step(0, machine::Event::Up);
    let budget = Budget::default();
    let left = BudgetLeft { tokens: budget.tokens_left(), seconds: budget.seconds_left(0) };
    let status = Status::of("minifram", &machine, 1_764_316_800_000, left);
    assert_eq!(
        serde_json::to_string(&status).unwrap(),
        r#"{"name":"minifram","state":"starting","branch":"main","commit":null,"generation":1,"since":"2025-11-28T08:00:00Z","budget":{"tokens":1000000,"seconds":3600},"last_error":null}"#
    );
}
