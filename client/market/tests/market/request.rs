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
        auth: Some(headers.auth),
        pubkey: Some(&headers.pubkey),
        signature: Some(&headers.signature),
        timestamp: Some(&headers.timestamp),
    }
}

#[test]
fn a_signed_request_is_its_senders_ok() {
    let headers = sign(&server().id(), "POST", PATH, b"{}", START, &agent());
    assert_eq!(headers.timestamp, "1708531200");
    let who = authenticate(&request(&headers, PATH, b"{}"), &server().id(), START, false).unwrap();
    assert_eq!(who.party, agent().id());
    assert_eq!(
        sign(&server().id(), "GET", "/", b"", START.plus(Millis(250)), &agent()).timestamp,
        "1708531200.250"
    );
}

#[test]
fn the_window_is_60_seconds_back_and_5_ahead() {
    let headers = sign(&server().id(), "POST", PATH, b"{}", START, &agent());
    let at = |now: Millis, compat| {
        authenticate(&request(&headers, PATH, b"{}"), &server().id(), now, compat).map(|a| a.party)
    };
    at(START.plus(Millis(60_000)), false).unwrap();
    assert_eq!(code(at(START.plus(Millis(60_001)), false)), 9092);
    at(START.minus(Millis(5_000)), false).unwrap();
    assert_eq!(code(at(START.minus(Millis(5_001)), false)), 9093);
    // Only what older clients sign is good for longer.
    assert_eq!(code(at(START.plus(Millis(60_001)), true)), 9092);
}

#[test]
fn what_is_kept_outlives_the_window() {
    let headers = sign(&server().id(), "POST", PATH, b"{}", START, &agent());
    let kept = authenticate(&request(&headers, PATH, b"{}"), &server().id(), START, false).unwrap().replay;
    assert!(authenticate(&request(&headers, PATH, b"{}"), &server().id(), kept.keep_until, false).is_err());
    let again = authenticate(&request(&headers, PATH, b"{}"), &server().id(), START.plus(Millis(9)), false)
        .unwrap()
        .replay;
    assert_eq!(again, kept, "the same request has the same key");
    let other = sign(&server().id(), "POST", PATH, b"{ }", START, &agent());
    assert_ne!(
        authenticate(&request(&other, PATH, b"{ }"), &server().id(), START, false).unwrap().replay.digest,
        kept.digest
    );
}

#[test]
fn every_changed_part_fails() {
    let headers = sign(&server().id(), "POST", PATH, b"{}", START, &agent());
    let check = |r: Request<'_>| code(authenticate(&r, &server().id(), START, true).map(|a| a.party));
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
fn a_request_for_another_server_fails() {
    let headers = sign(&stranger().id(), "POST", PATH, b"{}", START, &agent());
    let check = |server: PartyId| {
        code(authenticate(&request(&headers, PATH, b"{}"), &server, START, true).map(|a| a.party))
    };
    assert_eq!(check(server().id()), 9094);
    let without = Request { auth: None, ..request(&headers, PATH, b"{}") };
    assert_eq!(code(authenticate(&without, &stranger().id(), START, false)), 9090);
    assert_eq!(code(authenticate(&without, &stranger().id(), START, true)), 9094);
}

#[test]
fn what_a_signature_covers_is_as_documented() {
    let headers = sign(&server().id(), "POST", PATH, b"{}", START, &agent());
    let body = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    let lines = format!("fix-request/v2\n{}\nPOST\n{PATH}\n1708531200\n{body}", server().id().hex());
    let signature = hex(&agent().sign(lines.as_bytes()));
    assert_eq!((headers.signature, headers.auth), (signature, "2"));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn what_older_clients_have_signed_counts_only_with_compat() {
    let vectors = Json::parse(vectors("request_auth").as_bytes()).unwrap();
    let text = |value: &Json, name: &str| value.get(name).unwrap().as_str().unwrap().to_owned();
    let samples = vectors.get("samples").unwrap().as_array().unwrap();
    assert_eq!(samples.len(), 6);
    for sample in samples {
        for headers in ["older server_headers", "seed_headers_literal_pipe"] {
            let Some(headers) = sample.get(headers) else { continue };
            let (pubkey, signature) = (text(headers, "X-Fix-Pubkey"), text(headers, "X-Fix-Signature"));
            let (timestamp, body) = (text(headers, "X-Fix-Timestamp"), text(sample, "body"));
            let (method, path) = (text(sample, "method"), text(sample, "path"));
            let request = Request {
                method: &method,
                path: &path,
                body: body.as_bytes(),
                auth: None,
                pubkey: Some(&pubkey),
                signature: Some(&signature),
                timestamp: Some(&timestamp),
            };
            let at = |seconds: f64| Millis::from_secs_f64(seconds).unwrap();
            let now = at(timestamp.parse().unwrap());
            let check =
                |now, compat| authenticate(&request, &server().id(), now, compat).map(|a| a.party.hex());
            assert_eq!(check(now, true).unwrap(), pubkey, "{sample:?}");
            assert_eq!(code(check(now, false)), 9090);
            assert_eq!(check(now.plus(Millis::secs(300)), true).unwrap(), pubkey);
            assert_eq!(code(check(now.plus(Millis(300_001)), true)), 9092);
            assert_eq!(check(now.minus(Millis::secs(30)), true).unwrap(), pubkey);
            assert_eq!(code(check(now.minus(Millis(30_001)), true)), 9093);
        }
    }
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
            auth: (path.len() % 2 == 0).then_some("2"),
            pubkey: Some(&pubkey),
            signature: Some(&signature),
            timestamp: Some(&timestamp),
        };
        prop_assert!(authenticate(&request, &server().id(), START, true).is_err());
    }
}
