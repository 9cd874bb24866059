//! Torn tails are cut off, damage is reported, and the two are never confused.

use crate::common::{AGENT, EPOCH, HEADER, Message, contents, encoded, folder, folder_with, log_file, open};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use zx1_log::{AgentLog, Append, LogError, LogReader, repair};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

fn messages(count: u64) -> Vec<Message> {
    (0..count).map(Message::deliver).collect()
}

/// The file before and after one more message: what a crash can leave lies between them.
fn around_an_append(before: &[Message], next: &Message) -> (Vec<u8>, Vec<u8>) {
    let (_temp, dir) = folder_with(before);
    let file_before = fs::read(log_file(&dir)).unwrap();
    next.append_to(&mut open(&dir)).unwrap();
    (file_before, fs::read(log_file(&dir)).unwrap())
}

#[test]
fn a_torn_record_is_cut_off_wherever_it_ends() {
    let synced = messages(3);
    let (before, after) = around_an_append(&synced, &Message::deliver(3));
    let record = &after[before.len()..];
    let (_temp, dir) = folder_with(&synced);
    for cut in 1..record.len() {
        fs::write(log_file(&dir), [&before, &record[..cut]].concat()).unwrap();
        let mut log = open(&dir);
        let torn = &log.recovery().torn;
        assert_eq!((torn.len(), torn[0].offset, torn[0].bytes), (1, before.len() as u64, cut as u64));
        assert_eq!(contents(&dir), encoded(&synced), "cut after {cut} bytes");
        // The place is free again.
        Message::deliver(9).append_to(&mut log).unwrap();
        drop(log);
        assert!(open(&dir).recovery().is_clean());
        assert_eq!(contents(&dir), encoded(&[synced.clone(), vec![Message::deliver(9)]].concat()));
    }
}

#[test]
fn a_record_that_was_written_but_not_acknowledged_is_kept() {
    let synced = messages(2);
    let (before, after) = around_an_append(&synced, &Message::deliver(2));
    let (_temp, dir) = folder_with(&synced);
    fs::write(log_file(&dir), [&before, &after[before.len()..]].concat()).unwrap();
    assert!(open(&dir).recovery().is_clean());
    assert_eq!(contents(&dir), encoded(&messages(3)));
}

#[test]
fn a_file_that_is_shorter_than_what_was_synced_fails_and_stays_as_it_is() {
    let (_temp, dir) = folder_with(&messages(3));
    let whole = fs::read(log_file(&dir)).unwrap();
    for len in 0..whole.len() {
        fs::write(log_file(&dir), &whole[..len]).unwrap();
        let error = AgentLog::open(&dir, AGENT).unwrap_err();
        assert_eq!(error.code(), 7212, "{len} bytes: {error}");
        assert_eq!(fs::read(log_file(&dir)).unwrap(), whole[..len]);
        assert!(LogReader::new(&dir, AGENT).root(EPOCH, EPOCH).is_err());
    }
}

#[test]
fn a_flipped_bit_anywhere_is_found_or_harmless() {
    let synced = messages(4);
    let (_temp, dir) = folder_with(&synced);
    let whole = fs::read(log_file(&dir)).unwrap();
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(log_file(&dir), &flipped).unwrap();
        let only_the_watermark = (52..HEADER).contains(&at);
        match AgentLog::open(&dir, AGENT) {
            Ok(_) => {
                assert!(only_the_watermark, "byte {at}");
                assert_eq!(contents(&dir), encoded(&synced));
            }
            Err(error) => {
                assert!(!only_the_watermark, "byte {at}");
                assert!(matches!(error.code(), 7202 | 7203 | 7212), "byte {at}: {error}");
                assert_eq!(fs::read(log_file(&dir)).unwrap(), flipped, "byte {at}: changed");
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_a_group_is_found_too() {
    let synced = messages(50);
    let (_temp, dir) = folder();
    let mut log = open(&dir);
    let group: Vec<Append<'_>> = synced
        .iter()
        .map(|m| Append { envelope: m.envelope(), direction: m.direction, arrival_micros: m.timestamp })
        .collect();
    log.append_all(&group).unwrap();
    drop(log);
    let mut bytes = fs::read(log_file(&dir)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(log_file(&dir), &bytes).unwrap();
    let Err(LogError::Damaged { offset, .. }) = AgentLog::open(&dir, AGENT) else { panic!() };
    assert!(offset <= middle as u64 && middle as u64 - offset < 400, "{offset} for {middle}");
}

#[test]
fn without_a_watermark_an_unreadable_rest_is_damage() {
    let (_temp, dir) = folder_with(&messages(4));
    let whole = fs::read(log_file(&dir)).unwrap();
    for bad in [HEADER + 20, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[60] ^= 1;
        bytes[bad] ^= 1;
        fs::write(log_file(&dir), &bytes).unwrap();
        assert_eq!(AgentLog::open(&dir, AGENT).unwrap_err().code(), 7212);
        assert_eq!(fs::read(log_file(&dir)).unwrap(), bytes);
    }
}

#[test]
fn old_bytes_behind_the_end_are_not_taken_for_records() {
    let synced = messages(3);
    let (_temp, dir) = folder_with(&synced);
    let whole = fs::read(log_file(&dir)).unwrap();
    let stale = &whole[HEADER..];
    fs::write(log_file(&dir), [&whole, stale].concat()).unwrap();
    let log = open(&dir);
    assert_eq!(log.recovery().torn[0].bytes, stale.len() as u64);
    assert_eq!(contents(&dir), encoded(&synced));
}

#[test]
fn a_file_of_another_agent_or_epoch_fails() {
    let (_temp, dir) = folder_with(&messages(1));
    assert_eq!(AgentLog::open(&dir, AgentId([1; 32])).unwrap_err().code(), 7202);
    let moved = log_file(&dir).with_file_name("20001.log");
    fs::rename(log_file(&dir), moved).unwrap();
    assert_eq!(AgentLog::open(&dir, AGENT).unwrap_err().code(), 7202);
}

#[test]
fn salvage_keeps_what_is_readable_and_the_damaged_file() {
    let synced = messages(5);
    let (_temp, dir) = folder_with(&synced);
    let mut bytes = fs::read(log_file(&dir)).unwrap();
    let record = (bytes.len() - HEADER) / 5;
    // The length field of the third record.
    bytes[HEADER + 2 * record + 5] ^= 0x40;
    fs::write(log_file(&dir), &bytes).unwrap();
    assert_eq!(AgentLog::open(&dir, AGENT).unwrap_err().code(), 7212);
    let salvaged = repair::salvage(&dir, AGENT, EPOCH).unwrap();
    assert_eq!((salvaged.kept, salvaged.lost_bytes), (4, record as u64));
    assert_eq!(fs::read(&salvaged.damaged_copy).unwrap(), bytes);
    let mut log = open(&dir);
    assert!(synced[3].append_to(&mut log).is_ok_and(|again| !again.new && again.index == 2));
    assert!(synced[2].append_to(&mut log).is_ok_and(|again| again.new && again.index == 4));
}

#[test]
fn files_are_private() {
    let (_temp, dir) = folder_with(&[Message::propose(1, 5)]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for name in ["", "log", "payloads", "batches"] {
        assert_eq!(mode(&dir.join(name)), 0o700, "{name}");
    }
    let payload = fs::read_dir(dir.join("payloads")).unwrap().next().unwrap().unwrap().path();
    for path in [
        dir.join("lock"),
        dir.join("nonces"),
        dir.join("attestations"),
        dir.join("id"),
        log_file(&dir),
        payload,
    ] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    open(&dir);
    assert_eq!(mode(&dir), 0o700);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the pages behind the watermark hold after a crash: what was synced is there, and nothing
    /// that was never written.
    #[test]
    fn any_tail_leaves_what_was_synced(
        tail in prop::collection::vec(any::<u8>(), 0..600),
        torn in 0usize..500,
    ) {
        let synced = messages(2);
        let (before, after) = around_an_append(&synced, &Message::deliver(2));
        let record = &after[before.len()..];
        let part = &record[..torn.min(record.len() - 1)];
        // Then the record is whole, and kept.
        prop_assume!(!tail.starts_with(&record[part.len()..]));
        let (_temp, dir) = folder_with(&synced);
        fs::write(log_file(&dir), [&before, part, &tail].concat()).unwrap();
        open(&dir);
        let found = LogReader::new(&dir, AGENT).len(Epoch(0), Epoch(u64::MAX)).unwrap();
        prop_assert_eq!(found, 2);
        prop_assert_eq!(contents(&dir), encoded(&synced));
    }
}
