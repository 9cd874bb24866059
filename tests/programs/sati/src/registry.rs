//! The registry: its one account, agents, and links to EVM addresses.

use alloc::vec::Vec;
use pinocchio::{AccountView, Address, ProgramResult, error::ProgramError};

use crate::{
    ID, SatiError, events, require, require_signer,
    runtime::{Reader, SYSTEM, create, expect_derived, push_bytes, put},
    token::{self, ASSOCIATED, TOKEN_2022},
};

const REGISTRY: [u8; 8] = [0x17, 0x76, 0x0a, 0xf6, 0xad, 0xe7, 0xf3, 0x9c];
const AGENT_INDEX: [u8; 8] = [0xf1, 0x9a, 0x23, 0x67, 0xb4, 0x8d, 0x31, 0xb3];
const REGISTRY_INITIALIZED: [u8; 8] = [0x90, 0x8a, 0x3e, 0x69, 0x3a, 0x26, 0x64, 0xb1];
const AGENT_REGISTERED: [u8; 8] = [0xbf, 0x4e, 0xd9, 0x36, 0xe8, 0x64, 0xbd, 0x55];
const EVM_ADDRESS_LINKED: [u8; 8] = [0x19, 0xe0, 0x7c, 0xd1, 0x19, 0xf0, 0x66, 0xc2];
const SEED: &[u8] = b"registry";

/// What the RegistryConfig says.
pub(crate) struct Registry {
    group_mint: Address,
    authority: Address,
    total_agents: u64,
    bump: u8,
}

impl Registry {
    fn load(account: &AccountView) -> Result<Self, ProgramError> {
        if !account.owned_by(&ID) {
            return Err(ProgramError::InvalidAccountOwner);
        }
        let data = account.try_borrow()?;
        let mut r = Reader(&data);
        require(r.array()? == REGISTRY, SatiError::InvalidAccount)?;
        let (group_mint, authority) = (r.address()?, r.address()?);
        // There is one such account: the discriminator is enough to know its address.
        Ok(Self { group_mint, authority, total_agents: u64::from_le_bytes(r.array()?), bump: r.u8()? })
    }

    /// Checks that the signer is the authority.
    pub(crate) fn check_authority(account: &AccountView, signer: &AccountView) -> ProgramResult {
        let registry = Self::load(account)?;
        require_signer(signer)?;
        // Zeros are how a given-up authority is kept.
        require(registry.authority != SYSTEM, SatiError::ImmutableRegistry)?;
        require(registry.authority == *signer.address(), SatiError::InvalidAuthority)
    }
}

pub(crate) fn initialize(accounts: &[AccountView]) -> ProgramResult {
    let [authority, registry, group_mint, _system, ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    require_signer(authority)?;
    let bump = expect_derived(registry, &[SEED], &ID)?;
    token::check_group_mint(group_mint, registry.address())?;
    create(authority, registry, &ID, (81, 81), &[SEED, &[bump]])?;
    let (mint, authority) = (group_mint.address().as_array(), authority.address().as_array());
    put(registry, 0, &token::concat(&[&REGISTRY, mint, authority, &[0; 8], &[bump]]))?;
    events::log(&token::concat(&[&REGISTRY_INITIALIZED, mint, authority]));
    Ok(())
}

pub(crate) fn update_authority(accounts: &[AccountView], input: &mut Reader) -> ProgramResult {
    let [authority, registry, ..] = accounts else { return Err(ProgramError::NotEnoughAccountKeys) };
    Registry::check_authority(registry, authority)?;
    let new = if input.bool()? { input.address()? } else { SYSTEM };
    put(registry, 40, new.as_array())
}

/// What an agent is called, within the limits.
struct Names<'a> {
    texts: [&'a str; 3],
    fields: Vec<(&'a str, &'a str)>,
    non_transferable: bool,
}

impl<'a> Names<'a> {
    fn read(input: &mut Reader<'a>) -> Result<Self, ProgramError> {
        let texts = [input.text()?, input.text()?, input.text()?];
        let [name, symbol, uri] = texts;
        require(name.len() <= 32, SatiError::NameTooLong)?;
        require(symbol.len() <= 10, SatiError::SymbolTooLong)?;
        require(uri.len() <= 200, SatiError::UriTooLong)?;
        let mut fields = Vec::new();
        if input.bool()? {
            let count = input.u32()?;
            require(count <= 10, SatiError::TooManyMetadataEntries)?;
            for _ in 0..count {
                let (key, value) = (input.text()?, input.text()?);
                require(key.len() <= 32, SatiError::MetadataKeyTooLong)?;
                require(value.len() <= 200, SatiError::MetadataValueTooLong)?;
                fields.push((key, value));
            }
        }
        Ok(Self { texts, fields, non_transferable: input.bool()? })
    }
}

pub(crate) fn register_agent(accounts: &[AccountView], input: &mut Reader) -> ProgramResult {
    let [payer, owner, registry, group_mint, mint, account, token_program, index, associated, system, ..] =
        accounts
    else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    let names = Names::read(input)?;
    require_signer(payer)?;
    require_signer(mint)?;
    // The metadata belong to the owner, so that only the owner can add to them.
    require(names.fields.is_empty() || owner.is_signer(), SatiError::OwnerMustSign)?;
    let config = Registry::load(registry)?;
    require(*group_mint.address() == config.group_mint, SatiError::InvalidGroupMint)?;
    let programs = *token_program.address() == TOKEN_2022
        && *associated.address() == ASSOCIATED
        && *system.address() == SYSTEM;
    require(programs, SatiError::InvalidAccount)?;
    let number = config.total_agents.checked_add(1).ok_or(SatiError::Overflow)?;
    let number_bytes = number.to_le_bytes();
    let index_bump = expect_derived(index, &[b"agent_index", &number_bytes], &ID)?;

    let registry_bump = [config.bump];
    let seeds: &[&[u8]] = &[SEED, &registry_bump];
    let lengths = token::mint_lengths(names.non_transferable, names.texts, &names.fields);
    create(payer, mint, &TOKEN_2022, lengths.ok_or(SatiError::Overflow)?, &[])?;
    token::metadata_pointer(mint)?;
    token::group_member_pointer(mint)?;
    if names.non_transferable {
        token::non_transferable(mint)?;
    }
    token::initialize_mint(mint, registry.address())?;
    token::initialize_metadata(mint, owner, registry, names.texts, seeds)?;
    for (key, value) in &names.fields {
        token::update_field(mint, owner, key, value)?;
    }
    token::initialize_member(mint, group_mint, registry, seeds)?;
    token::create_associated(payer, account, owner, mint, [system, token_program])?;
    token::mint_one(mint, account, registry, seeds)?;
    token::end_minting(mint, registry, seeds)?;

    let index_seeds: &[&[u8]] = &[b"agent_index", &number_bytes, &[index_bump]];
    create(payer, index, &ID, (41, 41), index_seeds)?;
    let mint = mint.address().as_array();
    put(index, 0, &token::concat(&[&AGENT_INDEX, mint, &[index_bump]]))?;
    put(registry, 72, &number_bytes)?;
    let [name, _, uri] = names.texts;
    let mut event = token::concat(&[&AGENT_REGISTERED, mint, owner.address().as_array(), &number_bytes]);
    push_bytes(&mut event, name.as_bytes());
    push_bytes(&mut event, uri.as_bytes());
    event.push(u8::from(names.non_transferable));
    events::log(&event);
    Ok(())
}

pub(crate) fn link_evm_address(accounts: &[AccountView], input: &mut Reader) -> ProgramResult {
    let [owner, mint, account, _token_program, ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    let evm: [u8; 20] = input.array()?;
    let chain = input.text()?;
    let signature: [u8; 64] = input.array()?;
    let recovery = input.u8()?;
    require_signer(owner)?;
    require(!chain.is_empty() && chain.len() <= 64, SatiError::InvalidChainId)?;
    let holder = token::agent_owner(account, mint.address())?;
    require(holder == *owner.address(), SatiError::AgentAtaMissing)?;
    let mint = mint.address().as_array();
    let hash = crate::signatures::keccak(&[b"SATI:evm_link:v1", mint, &evm, chain.as_bytes()]);
    let key =
        crate::signatures::recover(&hash, recovery, &signature).ok_or(SatiError::InvalidEvmSignature)?;
    // An EVM address is the last 20 bytes of the key's hash.
    let found = crate::signatures::keccak(&[&key]);
    require(found.get(12..) == Some(&evm[..]), SatiError::InvalidEvmSignature)?;
    let mut event = token::concat(&[&EVM_ADDRESS_LINKED, mint, &evm]);
    push_bytes(&mut event, chain.as_bytes());
    events::log(&event);
    Ok(())
}
