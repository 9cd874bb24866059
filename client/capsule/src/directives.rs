//! The part of COMMS.md that only the person edits: what stands between the two markers.

use crate::error::{CapsuleError, Result};

/// The marker before the directives.
pub const OPEN: &[u8] = b"<!-- directives -->";
/// The marker after them.
pub const CLOSE: &[u8] = b"<!-- /directives -->";

/// The bytes between the markers; `None` where there is no marker at all.
///
/// # Errors
/// 7931: the markers are not one pair, in order.
pub fn section(text: &[u8]) -> Result<Option<&[u8]>> {
    let (opens, closes) = (places(text, OPEN), places(text, CLOSE));
    match (&opens[..], &closes[..]) {
        ([], []) => Ok(None),
        ([open], [close]) => {
            let from = open.saturating_add(OPEN.len());
            text.get(from..*close).map(Some).ok_or(CapsuleError::Markers)
        }
        _ => Err(CapsuleError::Markers),
    }
}

fn places(text: &[u8], marker: &[u8]) -> Vec<usize> {
    text.windows(marker.len()).enumerate().filter(|(_, part)| *part == marker).map(|(at, _)| at).collect()
}

/// Whether the directives are the same before and after, byte by byte. A file that is not there has none; one whose
/// markers the person broke must stay as it is.
#[must_use]
pub fn same(before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
    match (section(before.unwrap_or_default()), section(after.unwrap_or_default())) {
        (Ok(before), Ok(after)) => before == after,
        (Err(_), _) => before == after,
        (Ok(_), Err(_)) => false,
    }
}
