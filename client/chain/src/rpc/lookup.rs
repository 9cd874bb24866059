//! Address lookup tables: addresses that every transaction of the protocol names, so that they take one byte
//! instead of 32.

use super::client::Client;
use super::draft::{Asked, Draft, Flow, Intent, Step};
use super::error::{ChainError, Result};
use super::refusal::{Foreign, Refusal};
use super::sizes::fits;
use crate::{pda, token};
use solana_address::Address;
use solana_address_lookup_table_interface::instruction::{create_lookup_table, extend_lookup_table};
use solana_address_lookup_table_interface::state::AddressLookupTable;
use solana_instruction::Instruction;
use solana_message::AddressLookupTableAccount;
use solana_sdk_ids::{address_lookup_table, system_program};
use std::sync::{Mutex, PoisonError};
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
        of(ids::BEHAVIOR_LOG),
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

/// A flow that carries a draft out, and makes a lookup table of its accounts first where it is too long for a
/// transaction: a proof of more than 16 hashes, say. The table stays; its rent is its authority's, the payer.
pub fn roomy(draft: Draft) -> impl Flow {
    Roomy { draft, room: Room::default() }
}

struct Roomy {
    draft: Draft,
    room: Room,
}

impl Flow for Roomy {
    fn intent(&self) -> &Intent {
        &self.draft.intent
    }

    fn title(&self) -> String {
        self.draft.title.clone()
    }

    fn next<'a>(&'a self, client: &'a Client) -> Asked<'a, Step> {
        Box::pin(self.room.step(client, self.draft.clone(), true))
    }

    fn is_race(&self, refusal: &Refusal) -> bool {
        is_table_race(refusal)
    }
}

/// The table that a flow made for its own transaction. A run that was interrupted makes another.
#[derive(Debug, Default)]
pub(super) struct Room {
    table: Mutex<Option<Address>>,
}

impl Room {
    /// The draft where it fits; else the step that makes a table, and with that the draft.
    pub(super) async fn step(&self, client: &Client, mut draft: Draft, last: bool) -> Result<Step> {
        if fits(&draft.instructions, &draft.payer, &draft.tables) {
            return Ok(Step::Send { draft, last });
        }
        let made = *self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made {
            match client.lookup_table(made).await {
                Ok(table) => {
                    draft.tables.push(table);
                    return Ok(Step::Send { draft, last });
                }
                // It never landed.
                Err(ChainError::AccountMissing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let addresses = loadable(&draft.instructions, &draft.tables);
        let (mut first, table) = create(draft.payer, client.time().await?.slot, &addresses)?;
        first.intent = draft.intent.step("lookup table");
        *self.table.lock().unwrap_or_else(PoisonError::into_inner) = Some(table);
        Ok(Step::Send { draft: first, last: false })
    }
}

/// Whether a refusal only says that a new table does not serve yet.
pub(super) fn is_table_race(refusal: &Refusal) -> bool {
    refusal.foreign == Some(Foreign::LookupTableUnusable)
}

/// Whether instructions fit one transaction, with a lookup table of their own if need be.
pub(super) fn would_fit(
    instructions: &[Instruction],
    payer: &Address,
    tables: &[AddressLookupTableAccount],
) -> bool {
    let own =
        AddressLookupTableAccount { key: Address::default(), addresses: loadable(instructions, tables) };
    let all: Vec<_> = tables.iter().cloned().chain([own]).collect();
    fits(instructions, payer, &all)
}

/// The addresses of instructions that a table could hold and none of these does, as many as a new one takes.
fn loadable(instructions: &[Instruction], tables: &[AddressLookupTableAccount]) -> Vec<Address> {
    let programs: Vec<Address> = instructions.iter().map(|instruction| instruction.program_id).collect();
    let metas = || instructions.iter().flat_map(|instruction| &instruction.accounts);
    let mut found: Vec<Address> = metas()
        .map(|meta| meta.pubkey)
        .filter(|key| !programs.contains(key) && !metas().any(|meta| meta.is_signer && meta.pubkey == *key))
        .filter(|key| !tables.iter().any(|table| table.addresses.contains(key)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(EXTEND);
    found
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
