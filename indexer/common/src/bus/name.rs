//! Names of topics and keys, and the same as NATS takes them.

use super::{BusError, MAX_BYTES, Result};
#[cfg(any(test, feature = "nats"))]
use std::fmt::Write as _;

/// Maximum bytes of a topic or key.
const MAX_NAME: usize = 256;

/// Maximum bytes of a message's id.
const MAX_ID: usize = 128;

/// Refuses what is not a topic or key.
pub(super) fn check(name: &str) -> Result<()> {
    let is_good = name.len() <= MAX_NAME && name.split('.').all(|word| !word.is_empty());
    if is_good { Ok(()) } else { Err(BusError::Name) }
}

/// Refuses what is not a prefix; the empty one is.
pub(super) fn check_prefix(prefix: &str) -> Result<()> {
    if prefix.is_empty() { Ok(()) } else { check(prefix) }
}

/// Refuses what cannot be published.
pub(super) fn check_message(topic: &str, id: &str, bytes: usize) -> Result<()> {
    check(topic)?;
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(BusError::MessageId);
    }
    check_size(bytes)
}

/// Refuses what is too large.
pub(super) fn check_size(bytes: usize) -> Result<()> {
    if bytes > MAX_BYTES { Err(BusError::TooLarge { bytes, most: MAX_BYTES }) } else { Ok(()) }
}

/// A name as a subject: bytes that subjects and keys cannot have become `=` and two hexadecimal digits.
#[cfg(any(test, feature = "nats"))]
pub(super) fn to_subject(name: &str) -> String {
    let mut subject = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            subject.push(char::from(byte));
        } else {
            let _ = write!(subject, "={byte:02X}");
        }
    }
    subject
}

/// The name behind a subject; `None` when [`to_subject`] did not make it.
#[cfg(any(test, feature = "nats"))]
pub(super) fn from_subject(subject: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(subject.len());
    let mut rest = subject.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'=' {
            let mut digit =
                || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let (high, low) = (digit()?, digit()?);
            bytes.push(high << 4 | low);
        } else {
            bytes.push(byte);
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    (to_subject(&name) == subject && check(&name).is_ok()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_becomes_a_subject_and_comes_back() {
        for (name, subject) in [
            ("rooms.general", "rooms.general"),
            ("rooms.#grüße *>", "rooms.=23gr=C3=BC=C3=9Fe=20=2A=3E"),
            ("a=b/c", "a=3Db=2Fc"),
        ] {
            assert_eq!(to_subject(name), subject);
            assert_eq!(from_subject(subject).as_deref(), Some(name));
        }
        for foreign in ["a=2", "a=zz", "a=C3", "a=61", "a..b", "a b", ""] {
            assert_eq!(from_subject(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn names_and_messages_are_refused_at_their_bounds() {
        for name in ["", ".", "a.", ".a", "a..b"] {
            assert_eq!(check(name), Err(BusError::Name), "{name}");
        }
        assert_eq!(check(&"a".repeat(256)), Ok(()));
        assert_eq!(check(&"a".repeat(257)), Err(BusError::Name));
        assert_eq!((check_prefix(""), check_prefix("a.")), (Ok(()), Err(BusError::Name)));
        assert_eq!(check_message("a", &"i".repeat(128), MAX_BYTES), Ok(()));
        for id in ["", "a b", "ä", "a\n", &"i".repeat(129)] {
            assert_eq!(check_message("a", id, 0), Err(BusError::MessageId), "{id}");
        }
        let large = BusError::TooLarge { bytes: MAX_BYTES + 1, most: MAX_BYTES };
        assert_eq!(check_message("a", "i", MAX_BYTES + 1), Err(large));
    }
}
