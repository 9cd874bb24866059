//! Where a page ends. A cursor names the last row by the values of the order, and the list that it is of.

use crate::error::{Error, Result};
use crate::store::{Find, Value};
use std::hash::{Hash, Hasher};

/// A cursor's text: hexadecimal of `list hash ‖ values`, each value a kind byte, a length and its bytes.
pub(super) fn write(list: &str, values: &[Value]) -> String {
    let mut bytes = of_list(list).to_be_bytes().to_vec();
    for value in values {
        let (kind, part): (u8, Vec<u8>) = match value {
            Value::Int(value) => (0, value.to_be_bytes().to_vec()),
            Value::Text(value) => (1, value.as_bytes().to_vec()),
            Value::Bytes(value) => (2, value.clone()),
        };
        bytes.push(kind);
        bytes.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        bytes.extend_from_slice(&part);
    }
    hex::encode(bytes)
}

/// Goes on after this cursor. It must be of this list, with these filters, and of this order's length.
///
/// # Errors
///
/// 9632
pub(super) fn go_on(find: Find, cursor: Option<&str>, list: &str, kinds: &[u8]) -> Result<Find> {
    let Some(text) = cursor else { return Ok(find) };
    let read = || {
        let bytes = hex::decode(text).ok()?;
        let (of, mut rest) = bytes.split_first_chunk::<8>()?;
        (u64::from_be_bytes(*of) == of_list(list)).then_some(())?;
        let mut values = Vec::new();
        for expected in kinds {
            let (kind, after) = rest.split_first()?;
            let (length, after) = after.split_first_chunk::<4>()?;
            let (part, after) = after.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
            (kind == expected).then_some(())?;
            values.push(match kind {
                0 => Value::Int(i64::from_be_bytes(part.try_into().ok()?)),
                1 => Value::Text(String::from_utf8(part.to_vec()).ok()?),
                _ => Value::Bytes(part.to_vec()),
            });
            rest = after;
        }
        rest.is_empty().then_some(values)
    };
    let after = read().ok_or(Error::Cursor)?;
    Ok(Find { after, ..find })
}

/// Which list, in a number that stays the same from build to build.
fn of_list(list: &str) -> u64 {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    list.as_bytes().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_goes_on_in_its_own_list_only() {
        let values = vec![Value::Int(-7), Value::Text("ü".into()), Value::Bytes(vec![1, 2])];
        let cursor = write("agents?a=1", &values);
        let find = go_on(Find::all(), Some(&cursor), "agents?a=1", &[0, 1, 2]).unwrap();
        assert_eq!(find.after, values);
        for (list, kinds) in
            [("agents?a=2", &[0_u8, 1, 2][..]), ("agents?a=1", &[0, 1]), ("agents?a=1", &[0, 2, 2])]
        {
            assert_eq!(go_on(Find::all(), Some(&cursor), list, kinds).unwrap_err().code(), 9632);
        }
    }

    proptest! {
        #[test]
        fn no_cursor_panics(text in "[0-9a-f]{0,80}") {
            let _ = go_on(Find::all(), Some(&text), "x", &[0, 2]);
        }
    }
}
