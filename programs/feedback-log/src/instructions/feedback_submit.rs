//! submit_feedback (decision B13).

use crate::state::Append;
use anchor_lang::prelude::*;
use zx1_interface::pda;
use zx1_runtime::emit;

/// Accounts of submit_feedback.
#[event_cpi]
#[derive(Accounts)]
pub struct SubmitFeedback {
    /// Pays; may be the sender (hence the same account twice) or a sponsor.
    #[account(mut, unsafe(dup))]
    pub payer: Signer,
    /// The wallet that writes the text.
    pub sender: Signer,
    /// The log's head; created by the first entry. Checked by address.
    #[account(mut)]
    pub feedback_log: UncheckedAccount,
    /// Where the entry goes; checked by address.
    #[account(mut)]
    pub entry: UncheckedAccount,
    /// The system program, called to create the accounts; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl SubmitFeedback {
    pub(crate) fn handle(&mut self, index: u64, text: &[u8]) -> Result<()> {
        let append = Append {
            payer: &self.payer,
            sender: &self.sender,
            log: &self.feedback_log,
            entry: &self.entry,
            draft: [0; 32],
        };
        let event = append.append(index, text)?;
        emit(&self.program, &self.event_authority, &pda::FEEDBACK_LOG_EVENTS, &event)
    }
}
