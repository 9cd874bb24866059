//! resolve_entry (decision B13).

use anchor_lang::prelude::*;
use zx1_interface::accounts::{FeedbackEntry, FeedbackLogAccount, FeedbackResolution};
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_interface::events::FeedbackResolved;
use zx1_interface::{Error, pda, seeds};
use zx1_runtime::{Stored, agent, create, emit, ensure, expect_address, key, load_optional, time};

/// Accounts of resolve_entry.
#[event_cpi]
#[derive(Accounts)]
pub struct ResolveEntry {
    /// The configured maintainer; pays the rent.
    #[account(mut)]
    pub maintainer: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The log's head, which knows the entries' number; checked by address.
    pub feedback_log: Stored<FeedbackLogAccount>,
    /// The entry; checked by address.
    pub entry: UncheckedAccount,
    /// Where the resolution goes; checked by address.
    #[account(mut)]
    pub resolution: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl ResolveEntry {
    pub(crate) fn handle(&mut self, index: u64, contract_hash: [u8; 32], commit: [u8; 32]) -> Result<()> {
        let config = agent::config(&self.config)?;
        let maintainer = *key(&self.maintainer);
        ensure!(maintainer == config.maintainer, Error::NotMaintainer);
        expect_address(self.feedback_log.as_ref(), &pda::FEEDBACK_LOG.address)?;
        ensure!(index < self.feedback_log.count, Error::EntryMissing);
        let entry_seeds: &[&[u8]] = &[seeds::ENTRY, &index.to_le_bytes()];
        let entry = load_optional::<FeedbackEntry>(&self.entry, entry_seeds)?.ok_or(Error::EntryMissing)?;
        ensure!(entry.index == index, Error::WrongAddress);

        let slot = time::now()?.slot.0;
        let resolution_seeds: &[&[u8]] = &[seeds::RESOLUTION, &index.to_le_bytes()];
        create(
            &self.maintainer,
            &self.resolution,
            resolution_seeds,
            0,
            Error::ResolutionExists,
            |account: &mut FeedbackResolution, bump| {
                account.index = index;
                account.slot = slot;
                account.contract_hash = contract_hash;
                account.commit = commit;
                account.maintainer = maintainer;
                account.version = LAYOUT_VERSION;
                account.bump = bump;
            },
        )?;
        let event =
            FeedbackResolved { index, contract_hash, commit, sequence: 0, account_created_slot: slot };
        emit(&self.program, &self.event_authority, &pda::FEEDBACK_LOG_EVENTS, &event)
    }
}
