//! Keccak-256, injected: a program passes the syscall, everyone else [`Sha3`].

/// 32 bytes of Keccak-256.
pub type Hash = [u8; 32];

/// Who computes Keccak-256. It is a type parameter so that the rules are the same on chain, where it is
/// a syscall, and off chain, where it is a library.
pub trait Keccak {
    /// Keccak-256 of the concatenation of `parts`.
    fn hashv(parts: &[&[u8]]) -> Hash;
}

/// Keccak-256 of the `sha3` crate (the original padding, as on Ethereum and Solana, not NIST's SHA3).
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Sha3;

#[cfg(feature = "std")]
impl Keccak for Sha3 {
    fn hashv(parts: &[&[u8]]) -> Hash {
        use sha3::Digest;
        let mut hasher = sha3::Keccak256::new();
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

/// Keccak-256 of bytes that come piece by piece.
#[cfg(feature = "std")]
#[derive(Clone, Debug, Default)]
pub(crate) struct KeccakStream(sha3::Keccak256);

#[cfg(feature = "std")]
impl KeccakStream {
    pub(crate) fn update(&mut self, piece: &[u8]) {
        sha3::Digest::update(&mut self.0, piece);
    }

    pub(crate) fn finish(self) -> Hash {
        sha3::Digest::finalize(self.0).into()
    }
}
