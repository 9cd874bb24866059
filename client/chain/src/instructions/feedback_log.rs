//! Builds the instructions of FeedbackLog.

use super::accounts;
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;

/// submit_feedback at the log's present count.
pub fn submit_feedback(payer: Address, sender: Address, index: u64, text: Vec<u8>) -> Instruction {
    accounts::SubmitFeedback { payer, sender, entry: pda::feedback_entry(index) }
        .with(&data::SubmitFeedback { index, text })
}

/// Builds the instruction begin_draft.
pub fn begin_draft(
    payer: Address,
    sender: Address,
    nonce: u64,
    len: u32,
    text_hash: [u8; 32],
) -> Instruction {
    accounts::BeginDraft { payer, sender, draft: pda::feedback_draft(&sender, nonce) }
        .with(&data::BeginDraft { nonce, len, text_hash })
}

/// Builds the instruction append_draft.
pub fn append_draft(sender: Address, nonce: u64, offset: u32, bytes: Vec<u8>) -> Instruction {
    accounts::AppendDraft { sender, draft: pda::feedback_draft(&sender, nonce) }.with(&data::AppendDraft {
        nonce,
        offset,
        bytes,
    })
}

/// seal_draft at the log's present count.
pub fn seal_draft(
    payer: Address,
    sender: Address,
    draft_payer: Address,
    nonce: u64,
    index: u64,
) -> Instruction {
    accounts::SealDraft {
        payer,
        sender,
        draft: pda::feedback_draft(&sender, nonce),
        draft_payer,
        entry: pda::feedback_entry(index),
    }
    .with(&data::SealDraft { nonce, index })
}

/// cancel_draft, by the sender or by who paid.
pub fn cancel_draft(authority: Address, sender: Address, draft_payer: Address, nonce: u64) -> Instruction {
    accounts::CancelDraft { authority, draft: pda::feedback_draft(&sender, nonce), draft_payer }
        .with(&data::CancelDraft { nonce })
}

/// resolve_entry, by the maintainer.
pub fn resolve_entry(
    maintainer: Address,
    index: u64,
    contract_hash: [u8; 32],
    commit: [u8; 32],
) -> Instruction {
    accounts::ResolveEntry {
        maintainer,
        entry: pda::feedback_entry(index),
        resolution: pda::feedback_resolution(index),
    }
    .with(&data::ResolveEntry { index, contract_hash, commit })
}
