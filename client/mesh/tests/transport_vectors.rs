//! Names and bytes of the transport, as the second implementation makes them (tests/vectors/transport.py).

#![allow(clippy::unwrap_used)]

use libp2p::futures::FutureExt;
use libp2p::futures::io::Cursor;
use libp2p::request_response::Codec;
use serde_json::Value;
use zx1_mesh::direct::{Answer, DirectCodec, Frame};
use zx1_mesh::wire::*;
use zx1_protocol::ids::WalletKey;

fn section(name: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/zx1/transport.json");
    let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let items = file[name].as_array().unwrap().clone();
    assert!(!items.is_empty());
    items
}

fn bytes(item: &Value, name: &str) -> Vec<u8> {
    hex::decode(item[name].as_str().unwrap()).unwrap()
}

/// Neither frame of a stream waits for anything in a test.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

#[test]
fn names_are_those_of_the_vectors() {
    let ours = TOPICS.map(|it| ("topic", it.topic().unwrap().to_owned()));
    let others = [
        ("direct", DIRECT_PROTOCOL.to_string()),
        ("kad", KAD_PROTOCOL.to_string()),
        ("identify", IDENTIFY_PROTOCOL.to_owned()),
    ];
    let ours: Vec<_> = ours.into_iter().chain(others).collect();
    let given = section("protocol_names");
    let given: Vec<_> = given
        .iter()
        .map(|it| (it["what"].as_str().unwrap(), it["name"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(ours, given);
}

#[test]
fn message_ids_are_those_of_the_vectors() {
    for item in section("message_ids") {
        assert!(channel_of_topic(item["topic"].as_str().unwrap()).is_some());
        assert_eq!(message_id(&bytes(&item, "data"))[..], bytes(&item, "id"));
    }
}

#[test]
fn frames_are_written_and_read_as_in_the_vectors() {
    for item in section("frames") {
        let (envelope, frame) = (bytes(&item, "envelope"), bytes(&item, "frame"));
        let mut io = Cursor::new(Vec::new());
        now(DirectCodec::default().write_request(
            &DIRECT_PROTOCOL,
            &mut io,
            Frame::Envelope(envelope.clone()),
        ))
        .unwrap();
        assert_eq!(io.into_inner(), frame);
        assert_eq!(
            now(DirectCodec::default().read_request(&DIRECT_PROTOCOL, &mut Cursor::new(frame))).unwrap(),
            Frame::Envelope(envelope)
        );
        let mut io = Cursor::new(Vec::new());
        now(DirectCodec::default().write_response(&DIRECT_PROTOCOL, &mut io, Answer::Acknowledge)).unwrap();
        assert_eq!(io.into_inner(), bytes(&item, "answer"));
    }
}

#[test]
fn frames_that_the_vectors_refuse_are_refused() {
    for item in section("refused_frames") {
        let read =
            now(DirectCodec::default()
                .read_request(&DIRECT_PROTOCOL, &mut Cursor::new(bytes(&item, "frame"))));
        assert!(matches!(read.unwrap(), Frame::Broken(_)), "{item}");
    }
}

#[test]
fn peer_ids_are_those_of_the_vectors() {
    for item in section("peer_ids") {
        let key = WalletKey::from(<[u8; 32]>::try_from(bytes(&item, "public_key")).unwrap());
        let peer = peer_of_key(&key).unwrap();
        assert_eq!(peer.to_string(), item["peer_id"].as_str().unwrap());
        assert_eq!(key_of_peer(&peer), Some(key));
    }
}
