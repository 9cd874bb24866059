//! The instructions of Token-2022 that registering takes, and reading its accounts.

use alloc::vec::Vec;
use pinocchio::{AccountView, Address, ProgramResult};

use crate::{
    SatiError, require,
    runtime::{call, push_bytes, read, write},
};

/// Program id of Token-2022.
pub(crate) const TOKEN_2022: Address =
    Address::new_from_array(five8_const::decode_32_const("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"));
/// The associated token account program.
pub(crate) const ASSOCIATED: Address =
    Address::new_from_array(five8_const::decode_32_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"));

const METADATA_POINTER: u8 = 39;
const GROUP_MEMBER_POINTER: u8 = 41;
const INITIALIZE_METADATA: [u8; 8] = [210, 225, 30, 162, 88, 184, 77, 141];
const UPDATE_FIELD: [u8; 8] = [221, 233, 49, 45, 181, 202, 220, 200];
const INITIALIZE_MEMBER: [u8; 8] = [152, 32, 222, 176, 223, 237, 116, 134];

fn on_mint(mint: &AccountView, data: &[u8]) -> ProgramResult {
    call(&TOKEN_2022, &[write(mint)], data, &[])
}

/// A pointer extension that points at the mint itself and that nobody can change.
fn pointer(mint: &AccountView, kind: u8) -> ProgramResult {
    on_mint(mint, &[&[kind, 0][..], &[0; 32], mint.address().as_array()].concat())
}

pub(crate) fn metadata_pointer(mint: &AccountView) -> ProgramResult {
    pointer(mint, METADATA_POINTER)
}

pub(crate) fn group_member_pointer(mint: &AccountView) -> ProgramResult {
    pointer(mint, GROUP_MEMBER_POINTER)
}

pub(crate) fn non_transferable(mint: &AccountView) -> ProgramResult {
    on_mint(mint, &[32])
}

/// No decimals, no freeze authority.
pub(crate) fn initialize_mint(mint: &AccountView, authority: &Address) -> ProgramResult {
    on_mint(mint, &[&[20, 0][..], authority.as_array(), &[0]].concat())
}

pub(crate) fn initialize_metadata(
    mint: &AccountView,
    owner: &AccountView,
    authority: &AccountView,
    texts: [&str; 3],
    seeds: &[&[u8]],
) -> ProgramResult {
    let mut data = INITIALIZE_METADATA.to_vec();
    texts.iter().for_each(|text| push_bytes(&mut data, text.as_bytes()));
    call(&TOKEN_2022, &[write(mint), read(owner), read(mint), read(authority).signs()], &data, seeds)
}

/// Sets a field of the metadata; its owner signs.
pub(crate) fn update_field(mint: &AccountView, owner: &AccountView, key: &str, value: &str) -> ProgramResult {
    let mut data = UPDATE_FIELD.to_vec();
    // 3: a field of any name.
    data.push(3);
    push_bytes(&mut data, key.as_bytes());
    push_bytes(&mut data, value.as_bytes());
    call(&TOKEN_2022, &[write(mint), read(owner).signs()], &data, &[])
}

pub(crate) fn initialize_member(
    mint: &AccountView,
    group: &AccountView,
    authority: &AccountView,
    seeds: &[&[u8]],
) -> ProgramResult {
    let authority = read(authority).signs();
    call(
        &TOKEN_2022,
        &[write(mint), read(mint), authority.clone(), write(group), authority],
        &INITIALIZE_MEMBER,
        seeds,
    )
}

pub(crate) fn create_associated(
    payer: &AccountView,
    account: &AccountView,
    owner: &AccountView,
    mint: &AccountView,
    programs: [&AccountView; 2],
) -> ProgramResult {
    let [system, token] = programs;
    let metas = [write(payer).signs(), write(account), read(owner), read(mint), read(system), read(token)];
    call(&ASSOCIATED, &metas, &[0], &[])
}

pub(crate) fn mint_one(
    mint: &AccountView,
    account: &AccountView,
    authority: &AccountView,
    seeds: &[&[u8]],
) -> ProgramResult {
    let data = [&[7][..], &1u64.to_le_bytes()].concat();
    call(&TOKEN_2022, &[write(mint), write(account), read(authority).signs()], &data, seeds)
}

/// Gives the mint authority up.
pub(crate) fn end_minting(mint: &AccountView, authority: &AccountView, seeds: &[&[u8]]) -> ProgramResult {
    call(&TOKEN_2022, &[write(mint), read(authority).signs()], &[6, 0, 0], seeds)
}

/// Bytes of an agent's mint: when it is made, and with metadata and membership.
pub(crate) fn mint_lengths(
    non_transferable: bool,
    texts: [&str; 3],
    fields: &[(&str, &str)],
) -> Option<(usize, usize)> {
    const BASE: usize = 166;
    const POINTER: usize = 68;
    const MEMBER: usize = 76;
    // Type and length, authority and mint, a count.
    const METADATA: usize = 72;
    let made =
        BASE.checked_add(POINTER)?.checked_add(POINTER)?.checked_add(if non_transferable { 4 } else { 0 })?;
    let mut all = made.checked_add(MEMBER)?.checked_add(METADATA)?;
    let field_texts = fields.iter().flat_map(|(key, value)| [*key, *value]);
    for text in texts.into_iter().chain(field_texts) {
        all = all.checked_add(4)?.checked_add(text.len())?;
    }
    Some((made, all))
}

fn address_at(data: &[u8], at: usize) -> Option<Address> {
    let bytes: [u8; 32] = data.get(at..)?.first_chunk().copied()?;
    Some(Address::new_from_array(bytes))
}

/// Who owns the one token of `mint` in this account of Token-2022.
pub(crate) fn agent_owner(account: &AccountView, mint: &Address) -> Result<Address, SatiError> {
    let read = || {
        let data = account.try_borrow().ok()?;
        // Initialized, and a token account if there are extensions.
        let state = (*data.get(108)? == 1) && data.get(165).is_none_or(|kind| *kind == 2);
        let amount = u64::from_le_bytes(data.get(64..)?.first_chunk().copied()?);
        (state && address_at(&data, 0)? == *mint && amount == 1).then(|| address_at(&data, 32))?
    };
    if !account.owned_by(&TOKEN_2022) {
        return Err(SatiError::AgentAtaMissing);
    }
    read().ok_or(SatiError::AgentAtaMissing)
}

/// Checks a group mint: no decimals, and that `registry` alone mints and admits members.
pub(crate) fn check_group_mint(mint: &AccountView, registry: &Address) -> ProgramResult {
    const TOKEN_GROUP: u16 = 21;
    require(mint.owned_by(&TOKEN_2022), SatiError::InvalidGroupMint)?;
    let data = mint.try_borrow()?;
    let check = || {
        let authority = u32::from_le_bytes(data.first_chunk().copied()?) == 1;
        let shape = authority && *data.get(44)? == 0 && *data.get(165)? == 1;
        let group = extension(&data, TOKEN_GROUP)?;
        let is_registrys = address_at(&data, 4)? == *registry && address_at(group, 0)? == *registry;
        Some(shape && is_registrys && address_at(group, 32)? == *mint.address())
    };
    require(check() == Some(true), SatiError::InvalidGroupMint)
}

fn extension(data: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = data.get(166..)?;
    loop {
        let (kind, after) = rest.split_first_chunk::<2>()?;
        let (length, after) = after.split_first_chunk::<2>()?;
        let (value, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
        match u16::from_le_bytes(*kind) {
            0 => return None,
            kind if kind == wanted => return Some(value),
            _ => rest = after,
        }
    }
}

/// Appends an event's or account's fields.
pub(crate) fn concat(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}
