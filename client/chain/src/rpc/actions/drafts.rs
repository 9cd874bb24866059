//! Writing an evidence draft in pieces.

use crate::instructions::challenge as build;
use crate::rpc::error::{ChainError, Result};
use crate::rpc::read::Stored;
use crate::rpc::sizes::largest_chunk;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use zx1_interface::accounts::EvidenceDraft;

/// The bytes of one draft.
pub(super) struct Pieces {
    pub(super) owner: Address,
    pub(super) nonce: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) tables: Vec<AddressLookupTableAccount>,
}

impl Pieces {
    /// Bytes of the whole draft. They were bounded before, so they fit.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }

    /// How many bytes a draft holds already.
    ///
    /// # Errors
    ///
    /// [`ChainError::Invalid`] when it holds others. Its nonce is made from the bytes, so somebody chose it so.
    pub(super) fn written(&self, found: &Stored<EvidenceDraft>) -> Result<usize> {
        let written = usize::try_from(found.written).unwrap_or(usize::MAX);
        let same = usize::try_from(found.len) == Ok(self.bytes.len())
            && self.bytes.get(..written).is_some_and(|mine| found.tail.get(..written) == Some(mine));
        let other = || format!("invalid draft {}: it holds other bytes, cancel it", found.address);
        if same { Ok(written) } else { Err(ChainError::Invalid(other())) }
    }

    fn append(&self, at: usize, count: usize) -> Option<Instruction> {
        let bytes = self.bytes.get(at..at.checked_add(count)?)?.to_vec();
        Some(build::append_evidence(self.owner, self.nonce, u32::try_from(at).ok()?, bytes))
    }

    /// Writes everything from `at` on, whether it fits a transaction or not.
    pub(super) fn rest(&self, at: usize) -> Option<Instruction> {
        self.append(at, self.bytes.len().checked_sub(at)?)
    }

    /// The longest piece from `at` on that fits a transaction after `before`.
    pub(super) fn piece(&self, at: usize, before: &[Instruction]) -> Result<Vec<Instruction>> {
        let with = |count: usize| {
            let mut list = before.to_vec();
            list.extend(self.append(at, count));
            list
        };
        let rest = self.bytes.len().saturating_sub(at);
        largest_chunk(rest, &self.owner, &self.tables, with)
            .map(with)
            .ok_or_else(|| ChainError::Invalid("Not even one byte of the evidence fits.".to_owned()))
    }
}
