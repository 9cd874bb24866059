//! Signatures that the Ed25519 precompile has checked in the same transaction, and hashes.

use pinocchio::{AccountView, Address, error::ProgramError, sysvars::instructions::Instructions};

const ED25519: Address =
    Address::new_from_array(five8_const::decode_32_const("Ed25519SigVerify111111111111111111111111111"));

/// Keccak-256 of the parts, one after the other.
pub(crate) fn keccak(parts: &[&[u8]]) -> [u8; 32] {
    #[cfg(target_os = "solana")]
    {
        let mut hash = [0; 32];
        // SAFETY: the syscall reads the parts and writes 32 bytes.
        unsafe {
            pinocchio::syscalls::sol_keccak256(parts.as_ptr().cast(), parts.len() as u64, hash.as_mut_ptr());
        }
        hash
    }
    #[cfg(not(target_os = "solana"))]
    {
        // The host build exists for the linter only.
        let _ = parts;
        [0; 32]
    }
}

/// The secp256k1 key that signed a hash.
pub(crate) fn recover(hash: &[u8; 32], recovery: u8, signature: &[u8; 64]) -> Option<[u8; 64]> {
    #[cfg(target_os = "solana")]
    {
        let mut key = [0; 64];
        // SAFETY: the syscall reads 32 and 64 bytes and writes 64.
        let result = unsafe {
            pinocchio::syscalls::sol_secp256k1_recover(
                hash.as_ptr(),
                u64::from(recovery),
                signature.as_ptr(),
                key.as_mut_ptr(),
            )
        };
        (result == 0).then_some(key)
    }
    #[cfg(not(target_os = "solana"))]
    {
        let _ = (hash, recovery, signature);
        None
    }
}

/// The signature of this message by this key, if an Ed25519 instruction of the transaction shows one.
/// It counts only where key, signature and message lie in that instruction's own data: else the
/// precompile has checked other bytes than those that are read here.
pub(crate) fn find(
    sysvar: &AccountView,
    signer: &Address,
    message: &[u8],
) -> Result<Option<[u8; 64]>, ProgramError> {
    let instructions = Instructions::try_from(sysvar)?;
    for index in 0..instructions.num_instructions() {
        let instruction = instructions.load_instruction_at(index)?;
        if *instruction.get_program_id() != ED25519 {
            continue;
        }
        let data = instruction.get_instruction_data();
        let count = usize::from(data.first().copied().unwrap_or(0));
        let entries = data.get(2..).unwrap_or(&[]).chunks_exact(14).take(count);
        for entry in entries {
            if let Some(signature) = matches(data, entry, signer, message) {
                return Ok(Some(signature));
            }
        }
    }
    Ok(None)
}

fn matches(data: &[u8], entry: &[u8], signer: &Address, message: &[u8]) -> Option<[u8; 64]> {
    let mut numbers = entry.chunks_exact(2).filter_map(|b| b.try_into().ok().map(u16::from_le_bytes));
    let mut next = || numbers.next().map(usize::from);
    let (signature_at, signature_in) = (next()?, next()?);
    let (key_at, key_in) = (next()?, next()?);
    let (message_at, size, message_in) = (next()?, next()?, next()?);
    let own = usize::from(u16::MAX);
    ((signature_in, key_in, message_in) == (own, own, own)).then_some(())?;
    let key: [u8; 32] = data.get(key_at..)?.first_chunk().copied()?;
    let found = data.get(message_at..)?.get(..size)?;
    (key == *signer.as_array() && found == message).then_some(())?;
    data.get(signature_at..)?.first_chunk().copied()
}
