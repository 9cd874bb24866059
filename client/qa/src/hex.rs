//! Texts of hex digits.

/// Lower-case hex of whole bytes.
pub(crate) fn is_hex(text: &str) -> bool {
    text.len().is_multiple_of(2) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The id of a commit of either kind.
pub(crate) fn is_commit(text: &str) -> bool {
    is_hex(text) && matches!(text.len(), 40 | 64)
}
