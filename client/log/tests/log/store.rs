//! The folder that serves batch data.

use crate::common::{AGENT, EPOCH, Message, covered, folder_with, open, seal};
use std::fs;
use std::future::Future;
use zx1_log::{AnyStore, BatchStore, Folder, Put};
use zx1_protocol::behavior_batch::BatchFormatError;
use zx1_protocol::bundle::{Bundle, BundleError};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// The same log and records under a batch that counts one message more than there are.
pub(crate) fn lying(bundle: &[u8]) -> Vec<u8> {
    let bundle = Bundle::decode(bundle).unwrap();
    let mut batch = bundle.decode_batch().unwrap();
    batch.message_count += 1;
    let bytes = batch.to_cbor();
    let lie = Bundle::new(&bytes, bundle.records_bytes(), bundle.leaves()).unwrap();
    assert_eq!(lie.check().err(), Some(BundleError::Batch(BatchFormatError::Counters)));
    lie.to_vec()
}

/// A bundle of EPOCH.
pub(crate) fn bundle() -> Vec<u8> {
    let (_temp, dir) = folder_with(&[Message::propose(1, 10), Message::deliver(2), Message::rating(3, 9)]);
    seal(&mut open(&dir), covered(0, 0)).bundle().unwrap().to_vec()
}

#[test]
fn a_folder_serves_what_was_put_into_it() {
    let temp = tempfile::tempdir().unwrap();
    let store = AnyStore::parse(temp.path().join("served").to_str().unwrap()).unwrap();
    let bundle = bundle();
    assert_eq!(run(store.get(&AGENT, EPOCH)).unwrap(), None);
    assert_eq!(run(store.put(&AGENT, EPOCH, &bundle)).unwrap(), Put::Created);
    assert_eq!(run(store.put(&AGENT, EPOCH, &bundle)).unwrap(), Put::Same);
    assert_eq!(run(store.get(&AGENT, EPOCH)).unwrap(), Some(bundle));
    let name = AGENT.to_string();
    assert!(temp.path().join("served").join(name).join("20000.zx1batch").is_file());
    assert!(store.describe().contains("served"));
}

#[test]
fn a_folder_takes_nothing_that_does_not_hold_together() {
    let temp = tempfile::tempdir().unwrap();
    let folder = Folder::new(temp.path());
    let bundle = bundle();
    let mut changed = bundle.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(folder.put_now(&AGENT, EPOCH, &changed).unwrap_err().code(), 7233);
    assert_eq!(folder.put_now(&AgentId([1; 32]), EPOCH, &bundle).unwrap_err().code(), 7234);
    assert_eq!(folder.put_now(&AGENT, Epoch(1), &bundle).unwrap_err().code(), 7234);
    folder.put_now(&AGENT, EPOCH, &bundle).unwrap();
    // What somebody else put there is for the caller to compare with the chain, once it has the form.
    fs::write(folder.path(&AGENT, EPOCH), &changed).unwrap();
    assert_eq!(folder.get_now(&AGENT, EPOCH).unwrap(), Some(changed.clone()));
    fs::write(folder.path(&AGENT, EPOCH), &changed[1..]).unwrap();
    assert_eq!(folder.get_now(&AGENT, EPOCH).unwrap_err().code(), 7233);
    // The owner's own upload puts it right.
    assert_eq!(folder.put_now(&AGENT, EPOCH, &bundle).unwrap(), Put::Created);
    assert_eq!(folder.get_now(&AGENT, EPOCH).unwrap(), Some(bundle));
}

#[test]
fn a_folder_serves_a_batch_that_lies_about_itself_and_does_not_take_it() {
    let temp = tempfile::tempdir().unwrap();
    let folder = Folder::new(temp.path());
    let truth = bundle();
    let lie = lying(&truth);
    assert_eq!(folder.put_now(&AGENT, EPOCH, &lie).unwrap_err().code(), 7233);
    folder.put_now(&AGENT, EPOCH, &truth).unwrap();
    fs::write(folder.path(&AGENT, EPOCH), &lie).unwrap();
    let served = folder.get_now(&AGENT, EPOCH).unwrap().unwrap();
    assert_eq!(served, lie);
    // Records and leaves are still those of the commitment: enough for a challenge.
    let commitment = *Bundle::decode(&truth).unwrap().check().unwrap().commitment();
    let checked =
        Bundle::decode(&served).unwrap().check_against(&commitment).map(|checked| checked.log_len());
    assert_eq!(checked, Ok(commitment.log_len));
}

#[test]
fn locations_are_paths_or_addresses() {
    let is_folder = |location: &str| matches!(AnyStore::parse(location), Ok(AnyStore::Folder(_)));
    assert!(is_folder("data") && is_folder("/srv/data") && is_folder("file:///srv/data"));
    for bad in ["", "ftp://example.org", "file://relative"] {
        assert_eq!(AnyStore::parse(bad).unwrap_err().code(), 7267, "{bad}");
    }
    #[cfg(feature = "http")]
    {
        let is_http = |location: &str| matches!(AnyStore::parse(location), Ok(AnyStore::Http(_)));
        assert!(is_http("http://127.0.0.1:1") && is_http("https://example.org/zx1/"));
        for bad in ["http://", "https://example.org/?a=b", "http://a b"] {
            assert_eq!(AnyStore::parse(bad).unwrap_err().code(), 7267, "{bad}");
        }
    }
}
