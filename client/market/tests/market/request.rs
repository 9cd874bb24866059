//! Request signatures: forms, freshness, replay.

use proptest::prelude::*;
use zx1_market::request::{Request, SignedHeaders, authenticate, sign};
use zx1_market::*;

use crate::support::*;

const PATH: &str = "/contracts/0123456789abcdef/fix?x=1";

fn request<'a>(headers: &'a SignedHeaders, path: &'a str, body: &'a [u8]) -> Request<'a> {
    Request {
        method: "POST",
        path,
        body,
        pubkey: Some(&headers.pubkey),
        signature: Some(&headers.signature),
        timestamp: Some(&headers.timestamp),
    }
}

#[test]
fn a_signed_request_is_its_senders_ok() {
    let headers = sign("POST", PATH, b"{}", START, &agent());
    assert_eq!(headers.timestamp, "1708531200");
    let who = authenticate(&request(&headers, PATH, b"{}"), START, false).unwrap();
    assert_eq!(who.party, agent().id());
    assert_eq!(sign("GET", "/", b"", START.plus(Millis(250)), &agent()).timestamp, "1708531200.250");
}

#[test]
fn the_window_is_60_seconds_back_and_5_ahead() {
    let headers = sign("POST", PATH, b"{}", START, &agent());
    let at =
        |now: Millis, compat| authenticate(&request(&headers, PATH, b"{}"), now, compat).map(|a| a.party);
    at(START.plus(Millis(60_000)), false).unwrap();
    assert_eq!(code(at(START.plus(Millis(60_001)), false)), 9092);
    at(START.minus(Millis(5_000)), false).unwrap();
    assert_eq!(code(at(START.minus(Millis(5_001)), false)), 9093);
    at(START.plus(Millis(300_000)), true).unwrap();
    assert_eq!(code(at(START.plus(Millis(300_001)), true)), 9092);
}

#[test]
fn what_is_kept_outlives_the_window() {
    let headers = sign("POST", PATH, b"{}", START, &agent());
    let kept = authenticate(&request(&headers, PATH, b"{}"), START, false).unwrap().replay;
    assert!(authenticate(&request(&headers, PATH, b"{}"), kept.keep_until, false).is_err());
    let again = authenticate(&request(&headers, PATH, b"{}"), START.plus(Millis(9)), false).unwrap().replay;
    assert_eq!(again, kept, "the same request has the same key");
    let other = sign("POST", PATH, b"{ }", START, &agent());
    assert_ne!(
        authenticate(&request(&other, PATH, b"{ }"), START, false).unwrap().replay.digest,
        kept.digest
    );
}

#[test]
fn every_changed_part_fails() {
    let headers = sign("POST", PATH, b"{}", START, &agent());
    let check = |r: Request<'_>| code(authenticate(&r, START, true).map(|a| a.party));
    let good = request(&headers, PATH, b"{}");
    assert_eq!(check(Request { method: "PUT", ..good }), 9094);
    assert_eq!(check(Request { path: "/contracts/0123456789abcdef/halt?x=1", ..good }), 9094);
    assert_eq!(check(Request { body: b"{ }", ..good }), 9094);
    assert_eq!(check(Request { timestamp: Some("1708531201"), ..good }), 9094);
    let other = principal().id().hex();
    assert_eq!(check(Request { pubkey: Some(&other), ..good }), 9094);
    assert_eq!(check(Request { pubkey: None, ..good }), 9090);
    assert_eq!(check(Request { pubkey: Some("00"), ..good }), 9090);
    assert_eq!(check(Request { signature: None, ..good }), 9090);
    assert_eq!(check(Request { signature: Some("00"), ..good }), 9090);
    assert_eq!(check(Request { timestamp: None, ..good }), 9090);
    for time in ["", "now", "-1", "1e9", "1708531200.", ".5", "+1708531200", "1708531200 "] {
        assert_eq!(check(Request { timestamp: Some(time), ..good }), 9091, "{time}");
    }
    for path in ["", "contracts", "/a|b", "/a\nb", "/a b", "/\u{e9}"] {
        assert_eq!(check(Request { path, ..good }), 9096, "{path}");
    }
    assert_eq!(check(Request { method: "post|", ..good }), 9096);
    let large = vec![b' '; defaults::MAX_BODY + 1];
    assert_eq!(check(Request { body: &large, ..good }), 9097);
}

#[test]
fn the_joined_lines_of_older_clients_count_only_with_compat() {
    let key = agent();
    let signature = key.sign(format!("POST\n{PATH}\n{{}}\n1708531200.5").as_bytes());
    let headers = SignedHeaders {
        pubkey: key.id().to_string(),
        signature: signature.iter().map(|b| format!("{b:02x}")).collect(),
        timestamp: "1708531200.5".into(),
    };
    let check = |compat| authenticate(&request(&headers, PATH, b"{}"), START, compat).map(|a| a.party);
    assert_eq!(code(check(false)), 9094);
    assert_eq!(check(true).unwrap(), key.id());
}

proptest! {
    #[test]
    fn headers_never_panic(
        pubkey in ".{0,70}",
        signature in ".{0,130}",
        timestamp in "[0-9.e+-]{0,30}",
        path in ".{0,30}",
    ) {
        let request = Request {
            method: "GET",
            path: &path,
            body: b"",
            pubkey: Some(&pubkey),
            signature: Some(&signature),
            timestamp: Some(&timestamp),
        };
        prop_assert!(authenticate(&request, START, true).is_err());
    }
}
