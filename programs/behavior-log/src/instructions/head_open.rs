//! open_head (decision P2).

use crate::state::Chain;
use anchor_lang::prelude::*;
use zx1_interface::accounts::{Config, HeadAccount};
use zx1_interface::events::HeadOpened;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::batch::{first_open, open_digest};
use zx1_runtime::{Syscall, agent, bump, create, emit, ensure, key, time};

/// Accounts of open_head.
#[event_cpi]
#[derive(Accounts)]
pub struct OpenHead {
    /// Anyone; pays the rent, which never comes back.
    #[account(mut)]
    pub payer: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Where the head goes; checked by address.
    #[account(mut)]
    pub head: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl OpenHead {
    /// Refuses unless the mint is the named agent's, and registered with SATI.
    fn validate(&self, config: &Config, agent: &[u8; 32]) -> Result<()> {
        // agent_mint, agent_index: the named agent.
        ensure!(agent == key(&self.agent_mint), Error::WrongAgent);
        agent::registered(config, &self.agent_mint, &self.agent_index)?;
        Ok(())
    }

    pub(crate) fn handle(&mut self, agent_id: &Address) -> Result<()> {
        let config = agent::config(&self.config)?;
        let agent = agent_id.as_array();
        self.validate(config, agent)?;

        let now = time::now()?;
        let digest = open_digest::<Syscall>(&config.network, agent);
        let mut head = create(
            &self.payer,
            &self.head,
            &[seeds::HEAD, agent],
            0,
            Error::AccountExists,
            |head: &mut HeadAccount, bump| {
                head.last_epoch = first_open(now.epoch).0;
                head.created_slot = now.slot.0;
                head.agent_id = *agent;
                head.digest = digest;
                head.bump = bump;
            },
        )?;
        let event = HeadOpened {
            agent_id: *agent,
            last_epoch: head.last_epoch,
            digest,
            sequence: bump(&mut head.event_sequence)?,
            account_created_slot: head.created_slot,
        };
        head.invariant()?;
        emit(&self.program, &self.event_authority, &pda::BEHAVIOR_LOG_EVENTS, &event)
    }
}
