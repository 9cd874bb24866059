//! Builds the instructions of FeedbackLog.

use super::{evented, plain, read, sign, sign_write, system, write};
use crate::pda;
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_interface::instruction as data;

/// submit_feedback at the log's present count.
pub fn submit_feedback(payer: Address, sender: Address, index: u64, text: Vec<u8>) -> Instruction {
    evented(
        vec![
            sign_write(payer),
            sign(sender),
            write(pda::feedback_log()),
            write(pda::feedback_entry(index)),
            system(),
        ],
        &data::SubmitFeedback { index, text },
    )
}

/// Builds the instruction begin_draft.
pub fn begin_draft(
    payer: Address,
    sender: Address,
    nonce: u64,
    len: u32,
    text_hash: [u8; 32],
) -> Instruction {
    evented(
        vec![sign_write(payer), sign(sender), write(pda::feedback_draft(&sender, nonce)), system()],
        &data::BeginDraft { nonce, len, text_hash },
    )
}

/// Builds the instruction append_draft.
pub fn append_draft(sender: Address, nonce: u64, offset: u32, bytes: Vec<u8>) -> Instruction {
    plain(
        vec![sign(sender), write(pda::feedback_draft(&sender, nonce))],
        &data::AppendDraft { nonce, offset, bytes },
    )
}

/// seal_draft at the log's present count.
pub fn seal_draft(
    payer: Address,
    sender: Address,
    draft_payer: Address,
    nonce: u64,
    index: u64,
) -> Instruction {
    evented(
        vec![
            sign_write(payer),
            sign(sender),
            write(pda::feedback_draft(&sender, nonce)),
            write(draft_payer),
            write(pda::feedback_log()),
            write(pda::feedback_entry(index)),
            system(),
        ],
        &data::SealDraft { nonce, index },
    )
}

/// cancel_draft, by the sender or by who paid.
pub fn cancel_draft(authority: Address, sender: Address, draft_payer: Address, nonce: u64) -> Instruction {
    evented(
        vec![sign(authority), write(pda::feedback_draft(&sender, nonce)), write(draft_payer)],
        &data::CancelDraft { nonce },
    )
}

/// resolve_entry, by the maintainer.
pub fn resolve_entry(
    maintainer: Address,
    index: u64,
    contract_hash: [u8; 32],
    commit: [u8; 32],
) -> Instruction {
    evented(
        vec![
            sign_write(maintainer),
            read(pda::config()),
            read(pda::feedback_log()),
            read(pda::feedback_entry(index)),
            write(pda::feedback_resolution(index)),
            system(),
        ],
        &data::ResolveEntry { index, contract_hash, commit },
    )
}
