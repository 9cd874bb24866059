//! Bytes that nobody meant: an error or a log, never a panic, and never another content.

use crate::common::{
    AGENT, EPOCH, Message, contents, covered, encoded, folder_with, log_file, open, opened, seal, seen, view,
};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use zx1_log::{AgentLog, LogReader, repair};
use zx1_protocol::ids::ConversationId;
use zx1_protocol::units::Epoch;

fn use_everything(dir: &Path) {
    let reader = LogReader::new(dir, AGENT);
    let _ = reader.epochs();
    let _ = reader.root(Epoch(0), Epoch(u64::MAX));
    let _ = reader.attestation(&ConversationId([3; 16]), &AGENT);
    let _ = reader.batches().list();
    let _ = reader.batches().bundle_bytes(EPOCH);
    if let Ok(mut log) = AgentLog::open(dir, AGENT) {
        let _ = Message::deliver(77).append_to(&mut log);
        let _ = log.build(covered(0, 0), Default::default(), Default::default());
        let _ = log.next_batch(&seen([view(-1, opened(), 1)]));
    }
    let _ = repair::salvage(dir, AGENT, EPOCH);
}

fn file() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "log/20000.log",
        "log/20001.log",
        "nonces",
        "attestations",
        "id",
        "adopted",
        "batches/20000.sig",
        "batches/20000.zx1batch",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_files_never_panic(
        file in file(),
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        keep in 0usize..200,
    ) {
        let (_temp, dir) = folder_with(&[Message::propose(1, 10), Message::deliver(2)]);
        if file.starts_with("batches") {
            seal(&mut open(&dir), covered(0, 0));
        }
        let path = dir.join(file);
        // Often a good beginning with a bad rest.
        let mut content = fs::read(&path).unwrap_or_default();
        content.truncate(keep);
        content.extend(bytes);
        fs::write(&path, content).unwrap();
        use_everything(&dir);
    }

    #[test]
    fn several_changed_bytes_never_show_another_entry(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let messages = [Message::propose(1, 10), Message::deliver(2), Message::rating(3, 4)];
        let (_temp, dir) = folder_with(&messages);
        let mut bytes = fs::read(log_file(&dir)).unwrap();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        fs::write(log_file(&dir), &bytes).unwrap();
        if AgentLog::open(&dir, AGENT).is_ok() {
            prop_assert_eq!(contents(&dir), encoded(&messages));
        }
        use_everything(&dir);
    }
}

#[test]
fn names_that_are_no_epochs_are_left_alone() {
    let (_temp, dir) = folder_with(&[Message::deliver(1)]);
    let names = ["020000.log", "+5.log", "x.log", "20000.log.damaged-1", "99999999999999999999.log"];
    names.iter().for_each(|name| fs::write(dir.join("log").join(name), b"?").unwrap());
    fs::create_dir(dir.join("log").join("20005.log")).unwrap();
    assert_eq!(contents(&dir).len(), 1);
    drop(open(&dir));
    assert!(names.iter().all(|name| dir.join("log").join(name).exists()));
}
