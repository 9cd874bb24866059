//! What both stand-ins need from the runtime: calling programs, creating and closing accounts, reading
//! instruction data. `tests/programs/sas` compiles this file too.

use alloc::vec::Vec;
use pinocchio::{
    AccountView, Address, ProgramResult,
    cpi::{Seed, Signer, invoke_signed_with_slice},
    error::ProgramError,
    instruction::{InstructionAccount, InstructionView},
    sysvars::{Sysvar, rent::Rent},
};

/// The system program.
pub const SYSTEM: Address = Address::new_from_array([0; 32]);

/// An account as a called program gets it.
#[derive(Clone)]
pub struct Meta<'a> {
    /// The account to pass.
    pub account: &'a AccountView,
    /// Whether it may be written.
    pub writable: bool,
    /// Whether it signs.
    pub signer: bool,
}

/// An account that is only read.
pub fn read(account: &AccountView) -> Meta<'_> {
    Meta { account, writable: false, signer: false }
}

/// An account that is written.
pub fn write(account: &AccountView) -> Meta<'_> {
    Meta { account, writable: true, signer: false }
}

impl Meta<'_> {
    /// And it signs.
    pub fn signs(self) -> Self {
        Self { signer: true, ..self }
    }
}

/// Calls a program, signing for the address of `seeds` (none if empty; the bump is the last seed).
#[inline(never)]
pub fn call(program: &Address, metas: &[Meta], data: &[u8], seeds: &[&[u8]]) -> ProgramResult {
    let accounts: Vec<InstructionAccount> =
        metas.iter().map(|m| InstructionAccount::new(m.account.address(), m.writable, m.signer)).collect();
    let views: Vec<&AccountView> = metas.iter().map(|m| m.account).collect();
    let seeds: Vec<Seed> = seeds.iter().map(|seed| Seed::from(*seed)).collect();
    let signer = [Signer::from(&seeds[..])];
    let signers = if seeds.is_empty() { &[][..] } else { &signer[..] };
    invoke_signed_with_slice(
        &InstructionView { program_id: program, data, accounts: &accounts },
        &views,
        signers,
    )
}

/// The address of these seeds and its bump.
#[inline(never)]
pub fn derive(seeds: &[&[u8]], program: &Address) -> Result<(Address, u8), ProgramError> {
    #[cfg(target_os = "solana")]
    {
        let (mut address, mut bump) = (Address::new_from_array([0; 32]), 0u8);
        // SAFETY: the syscall reads `seeds` and the program and writes 32 bytes and one byte.
        let result = unsafe {
            pinocchio::syscalls::sol_try_find_program_address(
                seeds.as_ptr().cast(),
                seeds.len() as u64,
                core::ptr::from_ref(program).cast(),
                core::ptr::from_mut(&mut address).cast(),
                core::ptr::from_mut(&mut bump),
            )
        };
        if result == 0 { Ok((address, bump)) } else { Err(ProgramError::InvalidSeeds) }
    }
    #[cfg(not(target_os = "solana"))]
    {
        let _ = (seeds, program);
        Err(ProgramError::InvalidSeeds)
    }
}

/// Checks that an account is at the address of these seeds; gives the bump.
pub fn expect_derived(account: &AccountView, seeds: &[&[u8]], program: &Address) -> Result<u8, ProgramError> {
    let (address, bump) = derive(seeds, program)?;
    if *account.address() == address { Ok(bump) } else { Err(ProgramError::InvalidSeeds) }
}

/// Makes an account of `space` bytes with the rent of `rented` bytes. It may hold lamports before, so
/// that nobody stops it by paying something in. `seeds` are the account's own, with the bump.
#[inline(never)]
pub fn create(
    payer: &AccountView,
    account: &AccountView,
    owner: &Address,
    (space, rented): (usize, usize),
    seeds: &[&[u8]],
) -> ProgramResult {
    if !account.is_data_empty() || !account.owned_by(&SYSTEM) {
        return Err(ProgramError::AccountAlreadyInitialized);
    }
    let missing = Rent::get()?.try_minimum_balance(rented)?.saturating_sub(account.lamports());
    let space = u64::try_from(space).map_err(|_| ProgramError::ArithmeticOverflow)?;
    if missing > 0 {
        let data = [&2u32.to_le_bytes()[..], &missing.to_le_bytes()].concat();
        call(&SYSTEM, &[write(payer).signs(), write(account)], &data, &[])?;
    }
    let allocate = [&8u32.to_le_bytes()[..], &space.to_le_bytes()].concat();
    call(&SYSTEM, &[write(account).signs()], &allocate, seeds)?;
    let assign = [&1u32.to_le_bytes()[..], owner.as_array()].concat();
    call(&SYSTEM, &[write(account).signs()], &assign, seeds)
}

/// Writes over the front of an account's data.
pub fn put(account: &AccountView, at: usize, bytes: &[u8]) -> ProgramResult {
    // A second view of the same account: what the runtime hands out is shared by design, and the borrow
    // is checked at run time.
    let mut account = *account;
    let mut data = account.try_borrow_mut()?;
    let end = at.checked_add(bytes.len()).ok_or(ProgramError::ArithmeticOverflow)?;
    data.get_mut(at..end).ok_or(ProgramError::AccountDataTooSmall)?.copy_from_slice(bytes);
    Ok(())
}

/// Closes an account of this program; its lamports go to `to`.
pub fn close(account: &AccountView, to: &AccountView) -> ProgramResult {
    if account.address() == to.address() {
        return Err(ProgramError::InvalidArgument);
    }
    let (mut account, mut to) = (*account, *to);
    let sum = to.lamports().checked_add(account.lamports()).ok_or(ProgramError::ArithmeticOverflow)?;
    to.set_lamports(sum);
    account.set_lamports(0);
    account.close()
}

/// Reads Borsh off bytes; every read can be refused.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], ProgramError> {
        let (head, tail) = self.0.split_at_checked(n).ok_or(ProgramError::InvalidInstructionData)?;
        self.0 = tail;
        Ok(head)
    }
    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], ProgramError> {
        self.take(N)?.try_into().map_err(|_| ProgramError::InvalidInstructionData)
    }
    /// Reads one byte.
    pub fn u8(&mut self) -> Result<u8, ProgramError> {
        self.array::<1>().map(u8::from_le_bytes)
    }
    /// A 32-bit number.
    pub fn u32(&mut self) -> Result<u32, ProgramError> {
        self.array().map(u32::from_le_bytes)
    }
    /// A truth value; only 0 and 1 are ones.
    pub fn bool(&mut self) -> Result<bool, ProgramError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(ProgramError::InvalidInstructionData),
        }
    }
    /// Bytes with their length before them.
    pub fn bytes(&mut self) -> Result<&'a [u8], ProgramError> {
        let length = usize::try_from(self.u32()?).map_err(|_| ProgramError::InvalidInstructionData)?;
        self.take(length)
    }
    /// Text with its length before it.
    pub fn text(&mut self) -> Result<&'a str, ProgramError> {
        core::str::from_utf8(self.bytes()?).map_err(|_| ProgramError::InvalidInstructionData)
    }
    /// Reads an address.
    pub fn address(&mut self) -> Result<Address, ProgramError> {
        self.array().map(Address::new_from_array)
    }
}

/// Appends bytes with their length before them.
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    // Account and instruction data are far shorter than 4 GiB.
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(bytes);
}
