//! Batches: an agent's daily account of what it did (protocol.md, 8; decisions B7, B9, C6, C7,
//! P2).

mod build;
mod close;
mod data;
mod list;
mod open;
mod sign;
mod submit;

pub use build::{Contents, Plan, Unsigned};
pub use close::Closed;
pub use data::{Fetched, Verified, commitment_of, compare, fetch, is_true};
pub use list::{Availability, Batches, Listed};
pub use open::{Adopted, Opened};
pub use sign::{Signed, message_for, sign_file};
pub use submit::{Outcome, Request, Submitted, Upload, Uploaded, check_signature};

use crate::error::{Error, Result};
use std::path::PathBuf;
use zx1_protocol::bundle::{Bundle, BundleError, Checked};

/// Largest bundle in bytes: 2^20 leaves and as many records fit.
pub const MAX_BUNDLE: u64 = 1 << 28;

/// Decodes a bundle and recomputes everything that it claims.
pub fn checked(bytes: &[u8]) -> Result<Checked<'_>, BundleError> {
    Bundle::decode(bytes)?.check()
}

impl crate::Operator {
    /// Where an unsigned batch is kept.
    fn unsigned_path(&self, agent: &crate::Agent, epoch: zx1_protocol::units::Epoch) -> PathBuf {
        crate::agent_folder(&self.home, agent).join("unsigned").join(format!("{}.zx1batch", epoch.0))
    }

    /// The bytes of the unsigned batch.
    ///
    /// # Errors
    /// 7523 when there is none.
    fn unsigned(&self, agent: &crate::Agent, epoch: zx1_protocol::units::Epoch) -> Result<Vec<u8>> {
        let bytes = crate::files::read(&self.unsigned_path(agent, epoch), MAX_BUNDLE)?;
        bytes.ok_or_else(|| crate::Refusal::BatchMissing { epoch: epoch.0 }.into())
    }

    /// Removes the unsigned file once the signed one is saved.
    fn forget_unsigned(&self, agent: &crate::Agent, epoch: zx1_protocol::units::Epoch) -> Result<()> {
        let path = self.unsigned_path(agent, epoch);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::WriteFailed { path, source })
            }
            _ => Ok(()),
        }
    }
}
