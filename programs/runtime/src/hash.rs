//! keccak256 by syscall.

use zx1_protocol::hash::{Hash, Keccak};

/// The chain's keccak256.
pub struct Syscall;

impl Keccak for Syscall {
    #[cfg(target_os = "solana")]
    #[allow(unsafe_code)]
    #[inline(never)]
    fn hashv(parts: &[&[u8]]) -> Hash {
        let mut hash = core::mem::MaybeUninit::<Hash>::uninit();
        // SAFETY: the syscall reads a slice of slices, which have the same layout here, and writes 32 bytes.
        unsafe {
            let (data, len) = (parts.as_ptr().cast(), parts.len() as u64);
            pinocchio::syscalls::sol_keccak256(data, len, hash.as_mut_ptr().cast());
            hash.assume_init()
        }
    }

    /// Off chain nothing calls this; the IDL build only needs it to link.
    #[cfg(not(target_os = "solana"))]
    fn hashv(_: &[&[u8]]) -> Hash {
        [0; 32]
    }
}
