//! Nonces that are derived from a second secret (decision F7), so that seed, secret and what the caller can say of an
//! account restore its key.

use std::fmt;

use blake2::Blake2bMac;
use blake2::digest::consts::U32;
use blake2::digest::{FixedOutput as _, KeyInit as _, Update as _};
use zeroize::Zeroizing;

use super::Keys;
use crate::{Address, blake2b_256};

/// The secret that nonces are derived from. It is not the seed: who knows it can foresee and link addresses, and no key
/// follows from it without the seed. It is zeroized on drop.
#[derive(Clone)]
pub struct NonceSecret(Zeroizing<[u8; 32]>);

impl NonceSecret {
    /// The secret of 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> NonceSecret {
        NonceSecret(Zeroizing::new(bytes))
    }

    /// A public identifier, which the journal keeps: the first 8 hexadecimal digits of its blake2b-256.
    pub fn id(&self) -> String {
        hex::encode(&blake2b_256(&[&*self.0])[..4])
    }

    /// blake2b-256 of `origin` under the secret as key.
    pub fn nonce(&self, origin: &[u8]) -> [u8; 32] {
        // 32 bytes are a valid key of BLAKE2b, which takes up to 64.
        #[allow(clippy::expect_used)]
        let mut mac = Blake2bMac::<U32>::new_from_slice(&*self.0).expect("a key of 32 bytes");
        mac.update(origin);
        mac.finalize_fixed().into()
    }

    /// The address of the account that belongs to `origin`.
    pub fn address(&self, keys: &dyn Keys, origin: &[u8]) -> Address {
        keys.keypair(&self.nonce(origin)).address()
    }
}

impl fmt::Debug for NonceSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NonceSecret({})", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nonce_is_keyed_blake2b() {
        let secret = NonceSecret::from_bytes([7; 32]);
        let other = blake2b_simd::Params::new().hash_length(32).key(&[7; 32]).hash(b"origin");
        assert_eq!(secret.nonce(b"origin"), *other.as_bytes().first_chunk().unwrap());
        assert_eq!(secret.id().len(), 8);
        assert!(!format!("{secret:?}").contains("07070707"));
    }
}
