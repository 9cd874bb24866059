//! Ed25519 introspection (decision B7): the precompile has verified the signature in the instruction right
//! before this one; here we read who signed what.

use crate::{AccountView, Result, bytes, expect_address};
use zx1_interface::external::{SignatureFault, Signed, preceding_signature};
use zx1_interface::{Error, ids};

/// The signature verified by the instruction before the current one.
#[inline(never)]
pub fn preceding(sysvar: &AccountView) -> Result<Signed<'_>> {
    expect_address(sysvar, &ids::INSTRUCTIONS_SYSVAR)?;
    Ok(preceding_signature(bytes(sysvar)).map_err(|fault| match fault {
        SignatureFault::Missing => Error::SignatureMissing,
        SignatureFault::Count => Error::SignatureCount,
        SignatureFault::Offsets => Error::SignatureOffsets,
    })?)
}
