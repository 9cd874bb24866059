//! A signed block: what goes to the network.

use crate::{BlockHash, Error, Keypair, Signature, StateBlock, Thresholds, Work, WorkKind};

/// A state block with its signature, and its work once that is solved. Work is not part of the hash and can
/// be replaced at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedBlock {
    /// The fields that the hash covers.
    pub block: StateBlock,
    /// Of the account's key over the hash.
    pub signature: Signature,
    /// Proof of work for [`StateBlock::root`].
    pub work: Option<Work>,
}

impl StateBlock {
    /// Sign. Fails with 8034 when the key is not the account's.
    pub fn sign(self, key: &Keypair) -> Result<SignedBlock, Error> {
        if key.public_key() != self.account {
            return Err(Error::WrongKey { key: key.address(), account: self.account.address() });
        }
        Ok(SignedBlock { block: self, signature: key.sign(&self.hash()), work: None })
    }
}

impl SignedBlock {
    /// Bytes on the wire: block, signature, work.
    pub const BYTES: usize = 216;

    /// The block's hash.
    pub fn hash(&self) -> BlockHash {
        self.block.hash()
    }

    /// What the work is made for.
    pub fn root(&self) -> BlockHash {
        self.block.root()
    }

    /// The same block with this work.
    pub fn with_work(mut self, work: Work) -> SignedBlock {
        self.work = Some(work);
        self
    }

    /// Verify the account's signature strictly: for our own blocks. Fails with 8031, 8032 or 8033.
    pub fn verify_strict(&self) -> Result<(), Error> {
        Ok(self.block.account.verify_strict(&self.hash().0, &self.signature)?)
    }

    /// Verify the account's signature as the network does: for other people's blocks. An epoch block is
    /// signed by another key and fails here; see [`crate::Network::epoch_2_signer`].
    pub fn verify_network(&self) -> Result<(), Error> {
        Ok(self.block.account.verify_network(&self.hash().0, &self.signature)?)
    }

    /// Whether the work is there and good for this kind of block.
    pub fn has_work(&self, thresholds: &Thresholds, kind: WorkKind) -> bool {
        self.work.is_some_and(|w| w.is_valid(&self.root(), thresholds.of(kind)))
    }

    /// The wire form: 144 bytes of block, 64 of signature, 8 of work (big-endian). Fails with 8063 without
    /// work.
    pub fn to_bytes(&self) -> Result<[u8; Self::BYTES], Error> {
        let work = self.work.ok_or_else(|| Error::NoWork(self.hash()))?;
        let mut out = [0; Self::BYTES];
        out[..144].copy_from_slice(&self.block.to_bytes());
        out[144..208].copy_from_slice(&self.signature.0);
        out[208..].copy_from_slice(&work.0.to_be_bytes());
        Ok(out)
    }

    /// The reverse of [`to_bytes`](Self::to_bytes). Nothing is verified. Fails with 8062 when the length is
    /// wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<SignedBlock, Error> {
        let wrong = || Error::BlockLength(bytes.len());
        let (block, rest) = bytes.split_first_chunk::<144>().ok_or_else(wrong)?;
        let (signature, rest) = rest.split_first_chunk::<64>().ok_or_else(wrong)?;
        let work: [u8; 8] = rest.try_into().map_err(|_| wrong())?;
        Ok(SignedBlock {
            block: StateBlock::from_bytes(block),
            signature: Signature(*signature),
            work: Some(Work(u64::from_be_bytes(work))),
        })
    }
}
