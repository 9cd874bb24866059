//! end_key (decision P1).

use crate::state::{Key, Turn, expect_key};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{KeyAccount, TenureAccount};
use zx1_interface::{Error, pda};
use zx1_runtime::{Stored, agent, emit, ensure, key, same, time};

/// Accounts of end_key.
#[event_cpi]
#[derive(Accounts)]
pub struct EndKey {
    /// Holds the agent's NFT, in a tenure of its own; or the key itself.
    pub authority: Signer,
    /// The configuration; checked by address. Any account when the key signs, and so the next three.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the authority.
    pub agent_token: UncheckedAccount,
    /// The agent's tenure; checked by type and agent.
    #[account(mut)]
    pub tenure: UncheckedAccount,
    /// The key's account; checked by type, agent and key.
    #[account(mut)]
    pub key_account: Stored<KeyAccount>,
}

impl EndKey {
    fn validate(&self, agent: &[u8; 32], named: &[u8; 32]) -> Result<Stored<TenureAccount>> {
        // key_account, tenure: the named agent's, of the named key.
        expect_key(&self.key_account, agent, named)?;
        let tenure = agent::tenure(&self.tenure, agent)?;
        // authority: the key, or who holds the named agent's NFT in a tenure of its own.
        let authority = key(&self.authority);
        if !same(authority, named) {
            let config = agent::config(&self.config)?;
            let (mint, index, token) = (&self.agent_mint, &self.agent_index, &self.agent_token);
            agent::expect_holder(config, agent, mint, index, token, authority)?;
            ensure!(same(&tenure.owner, authority), Error::NotTenureOwner);
        }
        Ok(tenure)
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address, named: &Address) -> Result<()> {
        let mut tenure = self.validate(agent_mint.as_array(), named.as_array())?;

        let event = self.key_account.end(&time::now()?)?;
        if self.key_account.tenure == tenure.number {
            tenure.end_key()?;
        }
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
