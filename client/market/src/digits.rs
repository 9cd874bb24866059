//! Hexadecimal digits as the wire has them.

/// Lower-case hexadecimal digits only: one value has one spelling, so that ids compare as text everywhere.
pub(crate) fn lower_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut out = [0; N];
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    hex::decode_to_slice(text, &mut out).ok().map(|()| out)
}
