//! The fuzz targets of this crate, on the stable compiler.

use crate::bodies;
use crate::common::Message;
use crate::harness::{self, draw};
use proptest::test_runner::TestRunner;
use zx1_protocol::batch::BATCH_MESSAGE_LEN;

/// What is said on the owner's socket: requests, answers, a greeting.
fn good(_: &str, runner: &mut TestRunner) -> Vec<u8> {
    let envelope = hex::encode(Message::deliver(1).signed().cbor());
    let fixed = "ab".repeat(32);
    let place = format!(r#"{{"epoch":20000,"index":1,"leaf":"{fixed}","new":true}}"#);
    let look = format!(r#"{{"last_epoch":7,"digest":"{fixed}","current":9}}"#);
    let seen = format!(r#"{{"network":"{fixed}","tenure_from":3,"views":[{look},{look}]}}"#);
    let message = "cd".repeat(BATCH_MESSAGE_LEN);
    let frames = [
        format!(r#"{{"version":2,"agent":"{fixed}"}}"#),
        format!(r#"{{"Admit":[{{"envelope":"{envelope}","arrival_micros":5,"nonce_rule":"AnyOrder"}}]}}"#),
        format!(r#"{{"AppendOwn":{{"envelopes":["{envelope}"],"now_micros":5}}}}"#),
        format!(r#"{{"CheckOwn":{{"envelope":"{envelope}","now_micros":5}}}}"#),
        r#"{"ReserveNonce":{"channel":1,"now_micros":5}}"#.to_owned(),
        format!(r#"{{"SeenNonces":{{"sender":"{fixed}","channel":2}}}}"#),
        format!(r#"{{"FindNear":{{"epoch":20000,"leaf":"{fixed}"}}}}"#),
        r#"{"PutPayload":{"payload":"00ff"}}"#.to_owned(),
        format!(r#"{{"NextBatch":{{"seen":{seen}}}}}"#),
        format!(r#"{{"Adopt":{{"digest":"{fixed}"}}}}"#),
        format!(
            r#"{{"Seal":{{"message":"{message}","signer":"{fixed}","signature":"{fixed}{fixed}","seen":{seen}}}}}"#
        ),
        r#""Done""#.to_owned(),
        r#"{"Nonce":7}"#.to_owned(),
        r#"{"Send":20000}"#.to_owned(),
        format!(r#"{{"Sign":{look}}}"#),
        format!(r#"{{"Seen":{{"strict":false,"highest":null,"window":"{}01"}}}}"#, "00".repeat(23)),
        format!(r#"{{"Hash":"{fixed}"}}"#),
        format!(r#"{{"Places":[{place}]}}"#),
        format!(r#"{{"Admitted":[{{"Ok":{place}}},{{"Ok":null}},{{"Err":{{"Replayed":{{"highest":9}}}}}}]}}"#),
        r#"{"Refused":{"Other":{"code":7212,"sentence":"It is damaged.","of_message":false,"transient":false}}}"#
            .to_owned(),
    ];
    let json = &frames[draw(runner, 0..frames.len())];
    let body = vec![7; draw(runner, 0_usize..4)];
    let lengths = [json.len(), body.len()].map(|len| u32::try_from(len).unwrap().to_le_bytes());
    [lengths.concat(), json.clone().into_bytes(), body].concat()
}

#[test]
fn no_decoder_panics_on_noise_or_on_damaged_bytes() {
    harness::run(&bodies::ALL, good);
}
