//! Appending to a draft buffer: the same for evidence (decision B10) and feedback (decision B13).

use crate::{Result, ensure};
use zx1_interface::Error;

/// Copies `bytes` to the end of what is written and returns the new length. `len` was announced when the
/// draft was begun; `offset` must be the present length, so that a transaction sent twice is refused
/// instead of writing twice.
pub fn append(tail: &mut [u8], len: u32, written: u32, offset: u32, bytes: &[u8]) -> Result<u32> {
    ensure!(offset == written, Error::WrongDraftOffset);
    let added = u32::try_from(bytes.len()).map_err(|_| Error::DraftOverrun)?;
    let end = written.checked_add(added).ok_or(Error::DraftOverrun)?;
    ensure!(end <= len && !bytes.is_empty(), Error::DraftOverrun);
    let target = tail.get_mut(written as usize..end as usize).ok_or(Error::DraftOverrun)?;
    target.copy_from_slice(bytes);
    Ok(end)
}
