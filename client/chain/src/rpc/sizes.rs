//! How many bytes a transaction has before it is signed, and what fits one.
//!
//! Transactions are of version 0. Version 1 allows 4 096 bytes, but this client does not write it: it has no
//! lookup tables, wallets and hardware signers do not sign it yet, a node that does not know it refuses the
//! bytes instead of the transaction, and whatever is longer than a version-0 transaction has a way through
//! a draft buffer that works everywhere (decisions B10 and B13). Version 1 is read wherever it appears.

use super::error::{ChainError, Result};
use solana_address::Address;
use solana_compute_budget_interface::ComputeBudgetInstruction;
use solana_instruction::Instruction;
use solana_message::{AddressLookupTableAccount, VersionedMessage, v0};

/// Most bytes of a version-0 transaction: what fits one packet.
pub const MAX_TRANSACTION: usize = 1_232;

/// Compiles instructions for a payer, after the two of the compute budget.
pub(crate) fn compile(
    instructions: &[Instruction],
    payer: &Address,
    tables: &[AddressLookupTableAccount],
    units: u32,
    price: u64,
    blockhash: [u8; 32],
) -> Result<VersionedMessage> {
    let mut all = vec![ComputeBudgetInstruction::set_compute_unit_limit(units)];
    if price > 0 {
        all.push(ComputeBudgetInstruction::set_compute_unit_price(price));
    }
    all.extend_from_slice(instructions);
    v0::Message::try_compile(payer, &all, tables, blockhash.into())
        .map(VersionedMessage::V0)
        .map_err(|error| ChainError::BadTransaction { detail: error.to_string() })
}

/// Bytes of a message with all its signatures.
pub(crate) fn signed_size(message: &VersionedMessage) -> usize {
    // Fewer than 128 signatures: their count is one byte.
    1 + 64 * usize::from(message.header().num_required_signatures) + message.serialize().len()
}

/// Bytes that these instructions have as a signed version-0 transaction, compute budget included.
///
/// # Errors
///
/// [`ChainError::BadTransaction`] when they name more accounts than a message can.
pub fn transaction_size(
    instructions: &[Instruction],
    payer: &Address,
    tables: &[AddressLookupTableAccount],
) -> Result<usize> {
    Ok(signed_size(&compile(instructions, payer, tables, 1, 1, [0; 32])?))
}

/// Whether these instructions fit one transaction.
pub fn fits(instructions: &[Instruction], payer: &Address, tables: &[AddressLookupTableAccount]) -> bool {
    transaction_size(instructions, payer, tables).is_ok_and(|size| size <= MAX_TRANSACTION)
}

/// The longest chunk, in bytes, with which `with` still fits one transaction: 1 to `longest`. None when not
/// even one byte does.
pub(crate) fn largest_chunk(
    longest: usize,
    payer: &Address,
    tables: &[AddressLookupTableAccount],
    with: impl Fn(usize) -> Vec<Instruction>,
) -> Option<usize> {
    let (mut low, mut high) = (0, longest);
    while low < high {
        let middle = high - (high - low) / 2;
        if fits(&with(middle), payer, tables) { low = middle } else { high = middle - 1 }
    }
    (low > 0).then_some(low)
}
