//! Input files in a text are kept beside it, once for each hash. The text is put together again byte for byte, wherever
//! in it they stood; so what is found here decides about space only, and never about what is read.

use std::ops::Range;

use super::StoreError;

/// How the array of a contract's input files begins, in JSON without spaces.
const BEGINS: &str = "\"inputs\":[";
/// Shorter arrays stay where they are, in bytes.
pub(super) const LEAST: usize = 256;

/// What was taken out of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inputs {
    /// BLAKE2b-256 of the array.
    pub(super) hash: [u8; 32],
    /// The byte of the remaining text before which the array stood.
    pub(super) at: i64,
    /// The array as JSON.
    pub(super) body: String,
}

/// From an opening bracket to its closing one, quoted brackets aside. `None` when it is never closed.
fn closed(text: &str, from: usize) -> Option<Range<usize>> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (i, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' if !quoted => depth = depth.saturating_add(1),
            b']' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(from..i.saturating_add(1));
                }
            }
            _ => {}
        }
    }
    None
}

/// The longest array of that name.
fn longest(text: &str) -> Option<Range<usize>> {
    let (mut best, mut from) = (None::<Range<usize>>, 0);
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(BEGINS)) {
        let Some(range) = closed(text, from + found + BEGINS.len() - 1) else { break };
        from = range.end;
        if best.as_ref().is_none_or(|best| best.len() < range.len()) {
            best = Some(range);
        }
    }
    best.filter(|range| range.len() >= LEAST)
}

/// Takes the inputs out of a text.
pub(super) fn cut(text: String) -> (String, Option<Inputs>) {
    let Some(range) = longest(&text) else { return (text, None) };
    let parts = (text.get(..range.start), text.get(range.clone()), text.get(range.end..));
    let (Some(before), Some(body), Some(behind)) = parts else { return (text, None) };
    let Ok(at) = i64::try_from(range.start) else { return (text, None) };
    let hash = nano_escrow::blake2b_256(&[body.as_bytes()]);
    let inputs = Inputs { hash, at, body: body.to_owned() };
    ([before, behind].concat(), Some(inputs))
}

/// The text as it was. `at` is NULL for one that nothing was taken out of. Fails with 9415.
pub(super) fn join(text: String, at: Option<i64>, inputs: Option<String>) -> Result<String, StoreError> {
    let Some(at) = at else { return Ok(text) };
    let parts = usize::try_from(at).ok().and_then(|at| text.split_at_checked(at)).zip(inputs);
    let ((before, behind), inputs) =
        parts.ok_or_else(|| StoreError::Corrupt("the inputs of a contract are missing".to_owned()))?;
    Ok([before, &inputs, behind].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(text: &str) -> (String, Option<Inputs>) {
        let (rest, inputs) = cut(text.to_owned());
        let (at, body) = (inputs.as_ref().map(|i| i.at), inputs.as_ref().map(|i| i.body.clone()));
        assert_eq!(join(rest.clone(), at, body).unwrap(), text);
        (rest, inputs)
    }

    #[test]
    fn what_is_cut_out_is_put_back_byte_for_byte() {
        let long = "x".repeat(LEAST);
        let array = format!("[{{\"path\":\"a]\\\"[é\",\"data\":\"{long}\"}},[]]");
        let text = format!("{{\"ä\":\"\\\"inputs\\\":[\",\"task\":{{\"inputs\":{array},\"z\":[1]}}}}");
        let (rest, inputs) = both_ways(&text);
        assert_eq!(rest, "{\"ä\":\"\\\"inputs\\\":[\",\"task\":{\"inputs\":,\"z\":[1]}}");
        assert_eq!(inputs.unwrap().body, array);
        // Of several the longest; and whoever cannot be read stays whole.
        let two = format!("{{\"inputs\":[\"{long}\"],\"b\":{{\"inputs\":[\"{long}y\"]}}}}");
        assert_eq!(both_ways(&two).1.unwrap().body, format!("[\"{long}y\"]"));
        for whole in ["", "{}", "\"inputs\":[", "{\"inputs\":[\"short\"]}", &format!("\"inputs\":[\"{long}")]
        {
            assert_eq!(both_ways(whole), (whole.to_owned(), None));
        }
    }

    #[test]
    fn the_boundary_of_what_is_cut_out() {
        let of = |length: usize| format!("{{\"inputs\":[\"{}\"]}}", "x".repeat(length - 4));
        assert!(both_ways(&of(LEAST)).1.is_some());
        assert!(both_ways(&of(LEAST - 1)).1.is_none());
    }

    #[test]
    fn what_is_lost_is_an_error_and_not_another_text() {
        for at in [0, 3, -1, i64::MAX] {
            assert!(join("é".to_owned(), Some(at), None).is_err());
        }
        assert!(join("é".to_owned(), Some(1), Some("[]".to_owned())).is_err(), "within a character");
        assert!(join("é".to_owned(), Some(3), Some("[]".to_owned())).is_err(), "behind the end");
    }
}
