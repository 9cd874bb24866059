//! Archives, chunks and transfers at their limits.

use proptest::prelude::*;
use zx1_relay_rules::client::units;
use zx1_relay_rules::defaults::{CHUNK_CHARS, MAX_FRAME, OFFER_MS, RECEIVE_MS};
use zx1_relay_rules::slurp::{File, apply, check_path, pack, sha256};
use zx1_relay_rules::transfer::{Message, Receiver, State, chunks, in_time};
use zx1_relay_rules::{AgentId, RelayError, server};

#[test]
fn paths_that_leave_the_folder_or_mean_a_device_are_refused() {
    for path in [
        "",
        "/a",
        "../a",
        "a/../b",
        "a//b",
        "./a",
        "a/.",
        "a\\b",
        "c:a",
        "nul",
        "a/CON.txt",
        "com1.x.y",
        "a. ",
        "a.",
        "a\u{0}b",
        "x\n=== b",
    ] {
        assert!(check_path(path).is_err(), "{path:?}");
    }
    for path in ["a", "a/b.txt", "a..b", ".env", "console", "com10", "ünïcødé"] {
        check_path(path).unwrap();
    }
    let file = |path: &str| File { path: path.into(), bytes: b"x\n".to_vec() };
    for pair in [["a", "A"], ["a", "a/b"], ["A/b", "a"], ["x", "x"]] {
        assert_eq!(pack("n", "now", &pair.map(file)), Err(RelayError::SameName), "{pair:?}");
    }
    assert_eq!(
        pack("n", "now", &[File { path: "a".into(), bytes: b"=== END a ===\n".to_vec() }]),
        Err(RelayError::EndLine)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_is_packed_is_read_back(contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 0..5)) {
        let files: Vec<File> = contents.into_iter().enumerate()
            .map(|(at, mut bytes)| { if !bytes.contains(&0) { bytes.push(b'\n'); } File { path: format!("d/{at}"), bytes } })
            .collect();
        prop_assert_eq!(apply(&pack("n", "now", &files).unwrap()).unwrap(), files);
    }

    #[test]
    fn every_chunk_fits_a_frame_and_together_they_are_the_archive(part in "[a\"\n\u{1}é✓😀]{1,40}", times in 1usize..9_000) {
        let archive = part.repeat(times);
        if let Ok(cut) = chunks(&archive) {
            prop_assert_eq!(cut.concat(), archive.as_str());
            let id = AgentId::parse(&format!("@{}", "a".repeat(64)), "to").unwrap();
            for data in cut {
                prop_assert!(units(data) <= CHUNK_CHARS);
                let chunk = Message::Chunk { tid: "t".repeat(64), idx: 9_999, total: 9_999, data: data.into() };
                prop_assert!(server::file_chunk(&id, &id, &chunk.encode(), 1_800_000_000_000).len() <= MAX_FRAME);
            }
        }
    }
}

#[test]
fn a_chunk_is_full_at_131072_units_and_550_chunks_are_the_most() {
    assert_eq!(chunks(&"a".repeat(CHUNK_CHARS)).unwrap().len(), 1);
    assert_eq!(chunks(&"a".repeat(CHUNK_CHARS + 1)).unwrap().len(), 2);
    in_time(550).unwrap();
    assert_eq!(in_time(551), Err(RelayError::TooSlow { ms: 110_200, most: 110_000 }));
}

fn offer(text: &str, chunks: u64) -> Message {
    Message::Offer {
        tid: "t".into(),
        files: vec![],
        total_size: 2,
        sha256: sha256(text),
        chunks,
        sender_nick: "a".into(),
    }
}

#[test]
fn a_transfer_keeps_its_times_its_order_and_its_hash() {
    let new = || Receiver::offered(&offer("ab", 2), 0).unwrap();
    assert!(new().accept(OFFER_MS - 1).is_ok());
    assert_eq!(new().accept(OFFER_MS), Err(RelayError::OfferExpired));
    let mut receiver = new();
    assert_eq!(receiver.chunk(0, 2, "a", 1), Err(RelayError::TransferState));
    receiver.accept(0).unwrap();
    assert_eq!(receiver.chunk(1, 2, "b", 1), Err(RelayError::Chunk));
    receiver.chunk(0, 2, "a", 1).unwrap();
    receiver.chunk(0, 2, "a", 1).unwrap();
    assert_eq!(receiver.complete(&sha256("ab"), 1), Err(RelayError::Chunk));
    // The connection breaks; the same archive is offered again and goes on at the second chunk.
    assert!(receiver.clone().resume(&offer("other", 2), 5).is_err());
    let mut receiver = receiver.resume(&offer("ab", 2), 5).unwrap();
    receiver.accept(6).unwrap();
    assert_eq!(receiver.next(), 1);
    assert_eq!(receiver.clone().chunk(1, 2, "b", 6 + RECEIVE_MS), Err(RelayError::TransferExpired));
    receiver.chunk(1, 2, "b", 5 + RECEIVE_MS).unwrap();
    assert_eq!(receiver.clone().complete(&sha256("ax"), 7), Err(RelayError::Hash));
    assert_eq!(receiver.complete(&sha256("ab"), 7).unwrap(), "ab");
    assert_eq!(receiver.state(7), State::Ended);
}
