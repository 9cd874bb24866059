//! The public feedback log: its chain of hashes and what a text may be (decision B13).

use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use zx1_interface::constants::MAX_FEEDBACK_BYTES;

/// Why a text is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextError {
    /// The text is empty.
    Empty,
    /// More than [`MAX_FEEDBACK_BYTES`] bytes.
    TooLong,
    /// The text is not UTF-8.
    NotUtf8,
}

sentences!(TextError {
    Self::Empty => "The feedback text is empty.";
    Self::TooLong => "The feedback text is longer than {MAX_FEEDBACK_BYTES} bytes.";
    Self::NotUtf8 => "The feedback text is not UTF-8.";
});

/// Whether a text may be logged. Its length counts in bytes, not in characters.
pub fn check_text(text: &[u8]) -> Result<(), TextError> {
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    if text.len() > MAX_FEEDBACK_BYTES {
        return Err(TextError::TooLong);
    }
    core::str::from_utf8(text).map(|_| ()).map_err(|_| TextError::NotUtf8)
}

/// The three numbers at the front of a packed entry: index u64 ‖ timestamp i64 ‖ slot u64, big-endian.
pub fn packed_numbers(index: u64, timestamp: i64, slot: u64) -> [u8; 24] {
    let mut packed = [0; 24];
    crate::bytes::Writer::new(&mut packed)
        .put(&index.to_be_bytes())
        .put(&timestamp.to_be_bytes())
        .put(&slot.to_be_bytes());
    packed
}

/// A packed entry, in the parts that lie one after the other: numbers ([`packed_numbers`]) ‖ sender ‖
/// payer ‖ previous head ‖ text. In parts, so that a program need not copy the text to hash it.
pub fn packed_entry_parts<'a>(
    numbers: &'a [u8; 24],
    sender: &'a [u8; 32],
    payer: &'a [u8; 32],
    previous_head: &'a Hash,
    text: &'a [u8],
) -> [&'a [u8]; 5] {
    [numbers, sender, payer, previous_head, text]
}

/// The log's head after this entry: keccak256(previous head ‖ packed entry). Whoever knows a head knows
/// every entry up to it.
pub fn entry_digest<K: Keccak>(
    previous_head: &Hash,
    index: u64,
    timestamp: i64,
    slot: u64,
    sender: &[u8; 32],
    payer: &[u8; 32],
    text: &[u8],
) -> Hash {
    let numbers = packed_numbers(index, timestamp, slot);
    let [numbers, sender, payer, previous, text] =
        packed_entry_parts(&numbers, sender, payer, previous_head, text);
    K::hashv(&[previous_head, numbers, sender, payer, previous, text])
}
