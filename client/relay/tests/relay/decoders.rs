//! The fuzz targets' bodies, bounded.

use zx1_relay_rules::slurp::{File, pack};

use crate::{bodies, harness};

#[test]
fn no_bytes_make_a_decoder_panic_and_what_is_read_is_written_alike() {
    let archive = pack("x", "now", &[File { path: "a/b".into(), bytes: b"hi\n".to_vec() }]).unwrap();
    harness::run(&bodies::ALL, |name, _| {
        match name {
        "relay_frame" => {
            br##"{"type":"PROPOSAL","to":"@8addfe27","task":"x","amount":1e-7,"sig":"s","elo_stake":5}"##
                .to_vec()
        }
        "relay_event" => {
            br##"{"type":"JOINED","ts":5,"channel":"#a","agents":[{"id":"@8addfe27","name":"x","verified":true},"@b"]}"##
                .to_vec()
        }
        "relay_transfer" => br#"{"_ft":"chunk","tid":"t","idx":0,"total":1,"data":"x"}"#.to_vec(),
        _ => archive.clone().into_bytes(),
    }
    });
}
