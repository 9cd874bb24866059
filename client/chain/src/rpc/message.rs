//! Messages and signed transactions as bytes: their addresses, their instructions, who writes what.

use super::error::{ChainError, Result};
use super::moves::Call;
use solana_address::Address;
use solana_message::{AddressLookupTableAccount, VersionedMessage};
use solana_signer::Signer;
use solana_transaction::versioned::VersionedTransaction;
use solana_transaction_status_client_types::{EncodedTransaction, TransactionBinaryEncoding};

/// A key that can sign.
pub type Key<'a> = &'a (dyn Signer + Send + Sync);

/// The signed bytes of a legacy or version-0 transaction.
pub(crate) fn transaction_bytes(transaction: &VersionedTransaction) -> Vec<u8> {
    // At most 127 signatures fit, so their count is one byte.
    let count = u8::try_from(transaction.signatures.len()).unwrap_or(u8::MAX);
    let mut bytes = vec![count];
    for signature in &transaction.signatures {
        bytes.extend_from_slice(signature.as_ref());
    }
    bytes.extend(transaction.message.serialize());
    bytes
}

/// Reads a transaction from base64.
pub(crate) fn parse_transaction(text: &str) -> Result<VersionedTransaction> {
    EncodedTransaction::Binary(text.trim().to_owned(), TransactionBinaryEncoding::Base64)
        .decode()
        .ok_or_else(|| ChainError::BadTransaction { detail: "the base64 holds no transaction".to_owned() })
}

/// The addresses of a message: its own, then those of the lookup tables, the writable ones first.
pub(crate) fn all_keys(message: &VersionedMessage, tables: &[AddressLookupTableAccount]) -> Vec<Address> {
    let lookups = message.address_table_lookups().unwrap_or_default();
    let find = |table: &Address, index: u8| {
        let table = tables.iter().find(|known| known.key == *table)?;
        table.addresses.get(usize::from(index)).copied()
    };
    let mut keys = message.static_account_keys().to_vec();
    for lookup in lookups {
        keys.extend(lookup.writable_indexes.iter().filter_map(|index| find(&lookup.account_key, *index)));
    }
    for lookup in lookups {
        keys.extend(lookup.readonly_indexes.iter().filter_map(|index| find(&lookup.account_key, *index)));
    }
    keys
}

/// The addresses that a message writes to.
pub(crate) fn writable(message: &VersionedMessage, keys: &[Address]) -> Vec<Address> {
    let header = message.header();
    let own = message.static_account_keys().len();
    let signed = usize::from(header.num_required_signatures);
    let signed_end = signed.saturating_sub(header.num_readonly_signed_accounts.into());
    let unsigned_end = own.saturating_sub(header.num_readonly_unsigned_accounts.into());
    let lookups = message.address_table_lookups().unwrap_or_default();
    let loaded: usize = lookups.iter().map(|lookup| lookup.writable_indexes.len()).sum();
    let is_writable = |index: usize| {
        if index < signed {
            index < signed_end
        } else if index < own {
            index < unsigned_end
        } else {
            index - own < loaded
        }
    };
    keys.iter().enumerate().filter(|(index, _)| is_writable(*index)).map(|(_, key)| *key).collect()
}

/// The instructions of a message, with their addresses.
pub(crate) fn top_calls(message: &VersionedMessage, keys: &[Address]) -> Vec<Call> {
    let key = |index: u8| keys.get(usize::from(index)).copied().unwrap_or_default();
    message
        .instructions()
        .iter()
        .map(|instruction| Call {
            program: key(instruction.program_id_index),
            accounts: instruction.accounts.iter().map(|index| key(*index)).collect(),
            data: instruction.data.clone(),
        })
        .collect()
}
