//! What the fuzz targets do with their bytes.

use zx1_relay_rules::client::{Frame, Target};
use zx1_relay_rules::defaults::MAX_DEPTH;
use zx1_relay_rules::event::{Event, Heard};
use zx1_relay_rules::json::Value;
use zx1_relay_rules::transfer::Message;
use zx1_relay_rules::{PublicKey, slurp};

/// One target's body.
pub(crate) type Body = fn(&[u8]);

/// The targets of this crate.
pub(crate) const ALL: [(&str, Body); 4] = [
    ("relay_frame", relay_frame),
    ("relay_event", relay_event),
    ("relay_transfer", relay_transfer),
    ("relay_archive", relay_archive),
];

fn relay_frame(bytes: &[u8]) {
    match Frame::from_bytes(bytes) {
        Ok(frame) => assert_eq!(Frame::parse(&frame.encode()).unwrap(), frame),
        Err(refusal) => assert!(!refusal.wire().as_str().is_empty()),
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(value) = Value::parse(text, MAX_DEPTH) {
        assert_eq!(Value::parse(&value.stringify(), MAX_DEPTH).unwrap(), value);
    }
    if let Ok(key) = PublicKey::from_pem(text) {
        assert_eq!(PublicKey::from_pem(&key.to_pem()).unwrap(), key);
    }
}

fn relay_event(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(Heard { event: Event::Said(said), .. }) = Heard::parse(text) {
        assert_eq!(Target::parse(&said.to.to_string(), "to").unwrap(), said.to);
    }
}

fn relay_transfer(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(message) = Message::parse(text) {
        assert_eq!(Message::parse(&message.encode()).unwrap(), message);
    }
}

fn relay_archive(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(files) = slurp::apply(text) {
        assert_eq!(slurp::list(text).unwrap().len(), files.len());
        for file in files {
            assert!(slurp::check_path(&file.path).is_ok() && !file.path.split('/').any(|part| part == ".."));
        }
    }
}
