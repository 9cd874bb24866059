//! Address lookup tables: addresses that every transaction of the protocol names, so that they take one byte
//! instead of 32.

use super::client::Client;
use super::draft::{Draft, Intent};
use super::error::{ChainError, Result};
use crate::{pda, token};
use solana_address::Address;
use solana_address_lookup_table_interface::instruction::{create_lookup_table, extend_lookup_table};
use solana_address_lookup_table_interface::state::AddressLookupTable;
use solana_message::AddressLookupTableAccount;
use solana_sdk_ids::{address_lookup_table, system_program};
use zx1_interface::accounts::Config;
use zx1_interface::ids;

/// Addresses that one transaction can add to a table.
const EXTEND: usize = 20;

/// The addresses that the protocol's instructions have in common on this cluster.
pub fn common_addresses(config: &Config) -> Vec<Address> {
    let mint = Address::new_from_array(config.usdc_mint);
    let treasury = Address::new_from_array(config.treasury);
    let of = Address::new_from_array;
    vec![
        pda::config(),
        mint,
        token::associated_address(&treasury, &mint, &token::TOKEN_PROGRAM),
        token::TOKEN_PROGRAM,
        token::TOKEN_2022_PROGRAM,
        system_program::ID,
        of(ids::INSTRUCTIONS_SYSVAR),
        pda::challenge_authority(),
        of(ids::STAKE_LOCK),
        pda::event_authority(ids::STAKE_LOCK),
        pda::event_authority(ids::LEASE),
        pda::event_authority(ids::BEHAVIOR_LOG),
        pda::event_authority(ids::CHALLENGE),
        pda::event_authority(ids::FEEDBACK_LOG),
        pda::feedback_log(),
    ]
}

/// A draft that creates a table with these addresses, and the table's address. `recent_slot` must be one of
/// the last few hundred slots ([`Client::time`]).
///
/// # Errors
///
/// [`ChainError::Invalid`] for more addresses than one transaction can add.
pub fn create(authority: Address, recent_slot: u64, addresses: &[Address]) -> Result<(Draft, Address)> {
    if addresses.is_empty() || addresses.len() > EXTEND {
        return Err(ChainError::Invalid(format!("A new table takes 1 to {EXTEND} addresses.")));
    }
    let (create, table) = create_lookup_table(authority, authority, recent_slot);
    let fill = extend_lookup_table(table, authority, Some(authority), addresses.to_vec());
    let intent = Intent::new("create-lookup-table", &[&authority]);
    Ok((Draft::new(intent, "Create an address lookup table", authority, vec![create, fill]), table))
}

/// A draft that adds addresses to a table.
///
/// # Errors
///
/// [`ChainError::Invalid`] for more addresses than one transaction can add.
pub fn extend(authority: Address, table: &AddressLookupTableAccount, addresses: &[Address]) -> Result<Draft> {
    if addresses.is_empty() || addresses.len() > EXTEND {
        return Err(ChainError::Invalid(format!("A table takes 1 to {EXTEND} addresses at once.")));
    }
    let fill = extend_lookup_table(table.key, authority, Some(authority), addresses.to_vec());
    let intent = Intent::new("extend-lookup-table", &[&table.key, &table.addresses.len()]);
    Ok(Draft::new(intent, "Add addresses to a lookup table", authority, vec![fill]))
}

impl Client {
    /// A table as it is now. Addresses added in this very slot serve from the next one on.
    ///
    /// # Errors
    ///
    /// When there is none, or it is deactivated.
    pub async fn lookup_table(&self, address: Address) -> Result<AddressLookupTableAccount> {
        let what = "address lookup table";
        let account = self.account(address).await?;
        let account = account.ok_or(ChainError::AccountMissing { what: what.into(), address })?;
        if account.owner != address_lookup_table::ID {
            return Err(ChainError::WrongOwner { what: what.into(), address, owner: account.owner });
        }
        let size = account.data.len();
        let table = AddressLookupTable::deserialize(&account.data)
            .ok()
            .filter(|table| table.meta.deactivation_slot == u64::MAX)
            .ok_or(ChainError::MalformedAccount { what: what.into(), address, size })?;
        Ok(AddressLookupTableAccount { key: address, addresses: table.addresses.to_vec() })
    }
}
