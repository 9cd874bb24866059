//! close_key (decision P1).

use crate::state::{expect_key, last_batch};
use anchor_lang::prelude::*;
use zx1_interface::accounts::KeyAccount;
use zx1_interface::events::KeyClosed;
use zx1_interface::{Error, pda};
use zx1_protocol::keys::{Scopes, may_close};
use zx1_protocol::units::{Epoch, Slot};
use zx1_runtime::{Now, Stored, bump, close, emit, ensure, is_at, time};

/// Accounts of close_key. Anyone may call it; the rent goes to whoever paid it.
#[event_cpi]
#[derive(Accounts)]
pub struct CloseKey {
    /// Who paid the rent; checked against the key's account.
    #[account(mut)]
    pub payer: UncheckedAccount,
    /// The key's account; checked by type, agent and key.
    #[account(mut)]
    pub key_account: Stored<KeyAccount>,
    /// The agent's head of batches, or its empty address.
    pub head: UncheckedAccount,
}

impl CloseKey {
    fn validate(&self, agent: &[u8; 32], named: &[u8; 32], now: &Now) -> Result<()> {
        let account = &self.key_account;
        // key_account: the named agent's, of the named key. payer: gets back what it paid.
        expect_key(account, agent, named)?;
        ensure!(is_at(&self.payer, &account.payer), Error::WrongPayer);
        ensure!(account.ended_slot != 0, Error::KeyNotEnded);
        // head: real, or proven absent.
        let head = last_batch(agent, &self.head)?;
        let may = may_close(
            Scopes(account.scopes),
            account.ended_slot != 0,
            account.until_epoch,
            now.epoch,
            head.map(|head| Epoch(head.last_epoch)),
            Slot(head.map_or(0, |head| head.last_slot)),
            now.slot,
        );
        ensure!(may, Error::KeyStillNeeded);
        Ok(())
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, named: &Address) -> Result<()> {
        self.validate(agent_mint.as_array(), named.as_array(), &time::now()?)?;

        let event = KeyClosed {
            agent_mint: self.key_account.agent,
            key: self.key_account.key,
            payer: self.key_account.payer,
            sequence: bump(&mut self.key_account.event_sequence)?,
            account_created_slot: self.key_account.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)?;
        close(&self.key_account.view(), &self.payer)
    }
}
