//! Copies of an agent's folder.

use crate::common::{AGENT, EPOCH, Message, PEER, contents, covered, folder_with, open, seal};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zx1_log::{AgentLog, backup};
use zx1_protocol::channel::Channel;
use zx1_protocol::ids::{AgentId, ConversationId};

fn exported() -> (TempDir, PathBuf, PathBuf) {
    let (temp, dir) = folder_with(&[Message::propose(1, 10), Message::deliver(2).later(1)]);
    let mut log = open(&dir);
    seal(&mut log, covered(0, 0));
    log.put_attestation(&ConversationId([3; 16]), &PEER, [1; 32]).unwrap();
    log.reserve_nonce(Channel::Direct, 500).unwrap();
    drop(log);
    let copy = temp.path().join("copy");
    let manifest = backup::export(&dir, AGENT, &copy).unwrap();
    // Two epochs, two payloads, data and signature, nonces, attestations, the log's id.
    assert_eq!(manifest.files.len(), 9);
    (temp, dir, copy)
}

fn import(from: &Path, to: &Path) -> Result<backup::Manifest, u32> {
    backup::import(from, to, AGENT).map_err(|error| error.code())
}

#[test]
fn a_restored_folder_is_the_same_log() {
    let (temp, dir, copy) = exported();
    let restored = temp.path().join("restored");
    assert_eq!(import(&copy, &restored).unwrap(), backup::verify(&copy).unwrap());
    assert_eq!(contents(&restored), contents(&dir));
    let mut log = open(&restored);
    assert!(log.recovery().is_clean());
    assert_eq!(log.sealed_through(), Some(EPOCH));
    assert!(log.batches().bundle_bytes(EPOCH).unwrap().is_some());
    assert_eq!(log.attestation(&ConversationId([3; 16]), &PEER), Some([1; 32]));
    assert!(log.reserve_nonce(Channel::Direct, 0).unwrap() > 500);
    let message = Message::propose(1, 10);
    assert_eq!(log.payload(message.envelope().header.payload_hash).unwrap(), Some(message.payload.clone()));
}

#[test]
fn a_folder_in_use_or_a_place_that_is_not_empty_fails() {
    let (temp, dir, copy) = exported();
    let log = open(&dir);
    let elsewhere = temp.path().join("elsewhere");
    assert_eq!(backup::export(&dir, AGENT, &elsewhere).unwrap_err().code(), 7201);
    drop(log);
    assert_eq!(backup::export(&dir, AGENT, &copy).unwrap_err().code(), 7240);
    assert_eq!(import(&copy, &dir), Err(7240));
}

#[test]
fn a_changed_or_missing_file_fails_before_anything_is_restored() {
    let (temp, _dir, copy) = exported();
    let restored = temp.path().join("restored");
    let file = copy.join("log").join("20000.log");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(import(&copy, &restored), Err(7242));
    fs::remove_file(&file).unwrap();
    assert_eq!(import(&copy, &restored), Err(7242));
    assert!(!restored.exists());
    fs::write(&file, &whole).unwrap();
    import(&copy, &restored).unwrap();
}

#[test]
fn a_copy_without_a_list_or_of_another_agent_or_with_paths_that_lead_out_fails() {
    let (temp, _dir, copy) = exported();
    let restored = temp.path().join("restored");
    assert_eq!(backup::import(&copy, &restored, AgentId([1; 32])).unwrap_err().code(), 7241);
    let list = copy.join(backup::MANIFEST);
    let text = fs::read_to_string(&list).unwrap();
    for path in ["../nonces", "/etc/passwd", "log/../../x", "log/a/b", "lock", "log", ""] {
        fs::write(&list, text.replace("\"nonces\"", &format!("\"{path}\""))).unwrap();
        assert_eq!(import(&copy, &restored), Err(7241), "{path}");
    }
    fs::write(&list, text.replace("\"version\": 2", "\"version\": 1")).unwrap();
    assert_eq!(import(&copy, &restored), Err(7241));
    fs::remove_file(&list).unwrap();
    assert_eq!(import(&copy, &restored), Err(7241));
    assert!(AgentLog::open(&copy, AGENT).is_ok(), "it is a folder all the same");
}
