//! The rules of schemas.

use alloc::{string::String, vec::Vec};
use pinocchio::{AccountView, Address, ProgramResult, error::ProgramError};

use crate::{
    ID, SatiError, events,
    registry::Registry,
    require, require_signer,
    runtime::{Reader, create, expect_derived, push_bytes, put},
    token,
};

const SCHEMA_CONFIG: [u8; 8] = [0xd3, 0x13, 0x69, 0xdc, 0xba, 0x3d, 0xb6, 0x2f];
const SCHEMA_CONFIG_REGISTERED: [u8; 8] = [0xd7, 0x1a, 0xf9, 0x8d, 0x66, 0x66, 0x34, 0x22];
/// Room for the longest name and a delegation schema.
const SPACE: usize = 113;

/// Signature mode: both sides sign.
pub(crate) const DUAL: u8 = 0;
/// Only the counterparty signs.
pub(crate) const COUNTERPARTY: u8 = 1;
/// Only the agent's owner signs.
pub(crate) const AGENT_OWNER: u8 = 2;
/// Storage: kept compressed.
pub(crate) const COMPRESSED: u8 = 0;
/// Kept by SAS.
pub(crate) const REGULAR: u8 = 1;

/// What a SchemaConfig says, as far as attestations need it.
pub(crate) struct SchemaConfig {
    pub(crate) sas_schema: Address,
    pub(crate) mode: u8,
    pub(crate) storage: u8,
    pub(crate) closeable: bool,
    pub(crate) name: String,
}

impl SchemaConfig {
    pub(crate) fn load(account: &AccountView) -> Result<Self, ProgramError> {
        if !account.owned_by(&ID) {
            return Err(ProgramError::InvalidAccountOwner);
        }
        let data = account.try_borrow()?;
        let mut r = Reader(&data);
        require(r.array()? == SCHEMA_CONFIG, SatiError::InvalidAccount)?;
        let (sas_schema, mode, storage) = (r.address()?, r.u8()?, r.u8()?);
        if r.bool()? {
            r.address()?;
        }
        Ok(Self { sas_schema, mode, storage, closeable: r.bool()?, name: r.text()?.into() })
    }
}

pub(crate) fn register(accounts: &[AccountView], input: &mut Reader) -> ProgramResult {
    let [payer, registry, authority, config, _system, ..] = accounts else {
        return Err(ProgramError::NotEnoughAccountKeys);
    };
    require_signer(payer)?;
    Registry::check_authority(registry, authority)?;
    let sas_schema = input.address()?;
    let (mode, storage) = (input.u8()?, input.u8()?);
    require(mode <= AGENT_OWNER && storage <= REGULAR, SatiError::InvalidSchemaConfig)?;
    let delegation = if input.bool()? { Some(input.address()?) } else { None };
    let closeable = input.bool()?;
    let name = input.text()?;
    require(name.len() <= 32, SatiError::SchemaNameTooLong)?;
    let bump = expect_derived(config, &[b"schema_config", sas_schema.as_array()], &ID)?;

    let mut data: Vec<u8> = token::concat(&[&SCHEMA_CONFIG, sas_schema.as_array(), &[mode, storage]]);
    match &delegation {
        None => data.push(0),
        Some(schema) => {
            data.push(1);
            data.extend_from_slice(schema.as_array());
        }
    }
    data.push(u8::from(closeable));
    push_bytes(&mut data, name.as_bytes());
    data.push(bump);
    let seeds: &[&[u8]] = &[b"schema_config", sas_schema.as_array(), &[bump]];
    create(payer, config, &ID, (SPACE, SPACE), seeds)?;
    put(config, 0, &data)?;
    let mut event = token::concat(&[
        &SCHEMA_CONFIG_REGISTERED,
        sas_schema.as_array(),
        &[mode, storage, u8::from(closeable)],
    ]);
    push_bytes(&mut event, name.as_bytes());
    events::log(&event);
    Ok(())
}
