//! A local stand-in for the Solana Attestation Service at its real address: it creates and closes
//! attestation accounts, byte for byte in the layout that SAS has, for one caller, which is SATI's
//! signing address. Credentials and schemas are addresses here and not accounts. It is for tests and
//! local clusters, and **never deployed**.
//!
//! Instruction 6 creates: payer (writable, signer), authority (signer), credential, schema, attestation
//! (writable), system program; nonce, data with its length, expiry. Instruction 7 closes: payer
//! (writable, signer), authority (signer), credential, attestation (writable).
#![cfg_attr(target_os = "solana", no_std)]

extern crate alloc;
use solana_compiler_builtins as _;

#[allow(dead_code)]
#[path = "../../sati/src/runtime.rs"]
mod runtime;

use alloc::vec::Vec;
use pinocchio::{AccountView, Address, ProgramResult, error::ProgramError};
use runtime::{Reader, close, create, expect_derived, push_bytes, put};

/// SATI's signing address, the one authority that this stand-in knows.
const AUTHORITY: Address =
    Address::new_from_array(five8_const::decode_32_const("HCsBNEUC5afk9HcpAc73bRxMrK1PHWRGZme6Rr2EVdhc"));
const ATTESTATION: u8 = 2;

pinocchio::program_entrypoint!(process);
#[cfg(target_os = "solana")]
pinocchio::default_allocator!();
#[cfg(target_os = "solana")]
pinocchio::nostd_panic_handler!();

fn process(program: &Address, accounts: &mut [AccountView], data: &[u8]) -> ProgramResult {
    match data.split_first() {
        Some((6, rest)) => create_attestation(program, accounts, &mut Reader(rest)),
        Some((7, _)) => close_attestation(program, accounts),
        _ => Err(ProgramError::InvalidInstructionData),
    }
}

fn create_attestation(program: &Address, accounts: &[AccountView], input: &mut Reader) -> ProgramResult {
    let [payer, authority, credential, schema, attestation, _system, ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    check_authority(authority)?;
    let nonce: [u8; 32] = input.array()?;
    let content = input.bytes()?;
    let expiry: [u8; 8] = input.array()?;
    let seeds: [&[u8]; 4] =
        [b"attestation", credential.address().as_array(), schema.address().as_array(), &nonce];
    let bump = expect_derived(attestation, &seeds, program)?;
    let [a, b, c, d] = seeds;
    let mut bytes = Vec::new();
    bytes.push(ATTESTATION);
    bytes.extend_from_slice(&nonce);
    bytes.extend_from_slice(credential.address().as_array());
    bytes.extend_from_slice(schema.address().as_array());
    push_bytes(&mut bytes, content);
    bytes.extend_from_slice(authority.address().as_array());
    bytes.extend_from_slice(&expiry);
    // No token account: this attestation is not tokenized.
    bytes.extend_from_slice(&[0; 32]);
    create(payer, attestation, program, (bytes.len(), bytes.len()), &[a, b, c, d, &[bump]])?;
    put(attestation, 0, &bytes)
}

fn close_attestation(program: &Address, accounts: &[AccountView]) -> ProgramResult {
    let [payer, authority, credential, attestation, ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    check_authority(authority)?;
    if !attestation.owned_by(program) {
        return Err(ProgramError::InvalidAccountOwner);
    }
    {
        let data = attestation.try_borrow()?;
        if data.first() != Some(&ATTESTATION)
            || data.get(33..65) != Some(&credential.address().as_array()[..])
        {
            return Err(ProgramError::InvalidAccountData);
        }
    }
    close(attestation, payer)
}

fn check_authority(authority: &AccountView) -> ProgramResult {
    if !authority.is_signer() {
        return Err(ProgramError::MissingRequiredSignature);
    }
    if *authority.address() != AUTHORITY {
        return Err(ProgramError::InvalidArgument);
    }
    Ok(())
}
