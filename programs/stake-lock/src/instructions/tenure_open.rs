//! open_tenure (decision P1).

use crate::state::Turn;
use anchor_lang::prelude::*;
use zx1_interface::accounts::TenureAccount;
use zx1_interface::events::TenureOpened;
use zx1_interface::{Error, pda, seeds};
use zx1_runtime::{agent, bump, create, emit, key, time};

/// Accounts of open_tenure.
#[event_cpi]
#[derive(Accounts)]
pub struct OpenTenure {
    /// Holds the agent's NFT; pays the rent, which never comes back.
    #[account(mut)]
    pub owner: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for the owner.
    pub agent_token: UncheckedAccount,
    /// Where the tenure goes; checked by address.
    #[account(mut)]
    pub tenure: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl OpenTenure {
    /// Refuses unless the signer holds the named agent's NFT.
    fn validate(&self, agent: &[u8; 32]) -> Result<()> {
        let config = agent::config(&self.config)?;
        let (mint, index, token) = (&self.agent_mint, &self.agent_index, &self.agent_token);
        agent::expect_holder(config, agent, mint, index, token, key(&self.owner))
    }

    pub(crate) fn handle(&mut self, agent_mint: &Address) -> Result<()> {
        let agent = agent_mint.as_array();
        self.validate(agent)?;

        let now = time::now()?;
        let fill = |tenure: &mut TenureAccount, bump| {
            tenure.created_slot = now.slot.0;
            tenure.from_epoch = now.epoch.0;
            tenure.number = 1;
            tenure.bump = bump;
            tenure.agent = *agent;
            tenure.owner = *key(&self.owner);
        };
        let tenure_seeds: &[&[u8]] = &[seeds::TENURE, agent];
        let mut tenure = create(&self.owner, &self.tenure, tenure_seeds, 0, Error::AccountExists, fill)?;
        tenure.invariant()?;
        let event = TenureOpened {
            agent_mint: *agent,
            owner: tenure.owner,
            from_epoch: tenure.from_epoch,
            sequence: bump(&mut tenure.event_sequence)?,
            account_created_slot: tenure.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::STAKE_LOCK_EVENTS, &event)
    }
}
